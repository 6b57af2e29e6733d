//! Silence, dropping and trying again. How else a connection can end is in `tests/wire/`.

use super::{asks, collect, model, once, told};
use crate::support::service::{Answer, Service, Step};
use aye::chat::Chunk;
use aye::llm::{Error, Llm, OpenAi, Settings};
use futures::StreamExt;
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn r49_silence_ends_a_reply_but_slowness_does_not() {
    let out = once(Answer::stream().says("a").then(Step::Stall)).await;
    assert_eq!(out[1], Err(Error::Idle(Duration::from_millis(800))));
    assert_eq!(
        once(Answer::default().then(Step::Stall)).await,
        [Err(Error::Idle(Duration::from_millis(800)))]
    );
    let mut slow = Answer::stream();
    for _ in 0..5 {
        slow = slow.says("a").then(Step::Pause(Duration::from_millis(200)));
    }
    assert_eq!(told(&once(slow.done()).await), "aaaaa.", "a second in all, and no silence too long");
}

#[tokio::test]
async fn r62_dropping_a_reply_closes_the_connection_at_once() {
    for (what, answer, first) in [
        ("in the middle", Answer::stream().says("a").then(Step::Stall), true),
        ("before the answer", Answer::default().then(Step::Stall), false),
    ] {
        let service = Service::strict([answer]).await;
        let mut reply = OpenAi::new(Settings::new(&service.base_url)).stream(asks("hi"));
        if first {
            reply.next().await.unwrap().unwrap();
        } else {
            let _ = tokio::time::timeout(Duration::from_millis(300), reply.next()).await;
            assert_eq!(service.received().len(), 1, "{what}");
        }
        let dropped = Instant::now();
        drop(reply);
        let closed = service.closed_early(Duration::from_secs(1)).await;
        assert!(closed.is_some(), "{what}: open a second later");
        assert!(closed.unwrap() >= dropped, "{what}: closed before it was dropped");
    }
}

#[tokio::test]
async fn r49_a_lost_connection_is_tried_again_only_before_anything_was_seen() {
    let good = || Answer::stream().says("b").done();
    for (what, first, expected) in [
        ("reset at once", Answer::default().then(Step::Reset), "~2~b."),
        ("closed at once", Answer::default(), "~2~b."),
        ("closed after the head", Answer::stream(), "~2~b."),
        ("closed after an empty event", Answer::stream().event(json!({"choices": []})), "~2~b."),
        ("an error first", Answer::stream().event(json!({"error": {"message": "m", "code": 503}})), "~2~b."),
    ] {
        let service = Service::strict([first, good()]).await;
        assert_eq!(told(&collect(&model(&service)).await), expected, "{what}");
    }
    let service = Service::strict([Answer::stream().says("a"), good()]).await;
    assert!(told(&collect(&model(&service)).await).starts_with("a!"), "asked again after something was seen");
    assert_eq!(service.received().len(), 1);
}

/// How often a silence was told in a reply, and whether each was longer than nothing.
async fn silences(answer: Answer) -> Vec<bool> {
    let service = Service::start([answer]).await;
    let all: Vec<_> = model(&service).stream(asks("hi")).collect().await;
    let quiet = |item: &Result<Chunk, Error>| match item {
        Ok(Chunk::Quiet { since, limit }) => {
            assert_eq!(*limit, Duration::from_millis(800));
            Some(!since.is_zero())
        }
        _ => None,
    };
    all.iter().filter_map(quiet).collect()
}

#[tokio::test]
async fn a_silence_is_told_before_it_ends_a_reply_and_a_sign_of_life_ends_the_silence() {
    assert_eq!(silences(Answer::default().then(Step::Stall)).await, [true]);
    assert_eq!(silences(Answer::stream().says("a").then(Step::Stall)).await, [true]);
    let pause = |ms| Step::Pause(Duration::from_millis(ms));
    let sign = Answer::stream().then(pause(600)).raw(": still here\n\n").then(pause(100));
    assert_eq!(silences(sign.says("a").done()).await, [true, false]);
    let mut alive = Answer::stream();
    for _ in 0..8 {
        alive = alive.raw(": still here\n\n").then(Step::Pause(Duration::from_millis(150)));
    }
    let told = silences(alive.says("a").done()).await;
    assert!(told.is_empty(), "nothing of the reply in 1.2 s, but life all the time: {told:?}");
}
