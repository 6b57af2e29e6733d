//! How a connection can end, and that each way is told apart from a good end.

use super::{asks, collect, model, once, told};
use crate::support::service::{Answer, Service, Step};
use aye::chat::Chunk;
use aye::llm::{Error, Llm, OpenAi, Settings};
use futures::StreamExt;
use serde_json::json;
use std::time::{Duration, Instant};

fn is_cut(item: Option<&Result<Chunk, Error>>) -> bool {
    matches!(item, Some(Err(Error::Cut(_))))
}

#[tokio::test]
async fn r48_a_reply_that_just_ends_is_cut() {
    let chunked = Answer::head(200, &["content-type: text/event-stream", "transfer-encoding: chunked"]);
    let event = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let chunk = format!("{:x}\r\n{event}\r\n", event.len());
    for (what, answer) in [
        ("closed", Answer::stream().says("a")),
        ("closed within an event", Answer::stream().says("a").raw("data: {\"choices\":[{\"del")),
        ("chunks broken off", chunked.clone().raw(&chunk)),
        ("chunks ended", chunked.raw(&chunk).raw("0\r\n\r\n")),
        (
            "length not reached",
            Answer::head(200, &["content-type: text/event-stream", "content-length: 9999"]).raw(event),
        ),
        ("reset", Answer::stream().says("a").then(Step::Pause(Duration::from_millis(50))).then(Step::Reset)),
    ] {
        let out = once(answer).await;
        assert_eq!(out[0], Ok(Chunk::Text("a".into())), "{what}");
        assert!(is_cut(out.last()) && out.len() == 2, "{what}: {out:?}");
    }
    let half =
        Answer::head(200, &["content-type: application/json", "content-length: 999"]).raw("{\"choices\": [");
    let service = Service::start([half, Answer::stream().says("b").done()]).await;
    assert_eq!(told(&collect(&model(&service)).await), "~2~b.", "half a body");
}

#[tokio::test]
async fn the_words_tell_a_reset_from_a_close() {
    let words = |out: Vec<Result<Chunk, Error>>| out.into_iter().last().unwrap().unwrap_err().to_string();
    let closed = words(once(Answer::stream().says("a")).await);
    let reset = words(once(Answer::stream().says("a").then(Step::Reset)).await);
    assert!(closed.contains("without saying that the reply was over"), "{closed}");
    assert!(reset.to_lowercase().contains("reset"), "{reset}");
}

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
        let service = Service::start([answer]).await;
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
        let service = Service::start([first, good()]).await;
        assert_eq!(told(&collect(&model(&service)).await), expected, "{what}");
    }
    let service = Service::start([Answer::stream().says("a"), good()]).await;
    assert!(told(&collect(&model(&service)).await).starts_with("a!"), "asked again after something was seen");
    assert_eq!(service.received().len(), 1);
}

#[tokio::test]
async fn r48_an_error_inside_a_stream_is_told_in_the_words_of_the_service() {
    for (what, answer) in [
        (
            "an object",
            Answer::stream().says("a").event(json!({"error": {"message": "overloaded", "code": 502}})),
        ),
        ("a string", Answer::stream().says("a").event(json!({"error": "overloaded"}))),
        ("bare", Answer::stream().says("a").raw("{\"error\": \"overloaded\"}\n\n")),
        ("named", Answer::stream().says("a").raw("event: error\ndata: {\"message\": \"overloaded\"}\n\n")),
        ("named, no JSON", Answer::stream().says("a").raw("event: error\ndata: overloaded\n\n")),
    ] {
        let out = once(answer.says("b").done()).await;
        assert_eq!(out, [Ok(Chunk::Text("a".into())), Err(Error::InStream("overloaded".into()))], "{what}");
    }
    let out = once(Answer::stream().says("a").raw("data: upstream died\n\n").says("b").done()).await;
    assert_eq!(
        told(&out),
        "a!the service sent something that is no reply of a model: upstream died",
        "nothing after a broken event is taken for the rest"
    );
}
