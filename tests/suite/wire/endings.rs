//! Silence, dropped replies and retries. Other ends of a connection are in `tests/wire/`.

use super::{collect, format_reply, model, request_with};
use crate::support::keyboard::PATIENCE;
use crate::support::service::{Answer, Service, Step};
use crate::support::time_limits::{check_with_slower_times, is_within_limit};
use aye::chat::Chunk;
use aye::llm::{Error, Llm, OpenAi, Settings};
use futures::StreamExt;
use serde_json::json;
use std::time::{Duration, Instant};

/// The idle limit.
const IDLE: Duration = Duration::from_millis(800);

/// A model with a multiple of the idle limit.
fn model_with_idle(service: &Service, factor: u32) -> OpenAi {
    OpenAi::new(Settings { idle_limit: IDLE * factor, ..Settings::new(&service.base_url) })
}

#[tokio::test]
async fn r49_silence_ends_a_reply_but_slowness_does_not() {
    // Returns whether the last item is the error of the idle limit, the number of items, and the number of requests.
    let silent = |answer: Answer| {
        async move |factor| {
            let service = Service::start_strict([answer.clone()]).await;
            let out = collect(&model_with_idle(&service, factor)).await;
            (out.last() == Some(&Err(Error::Idle(IDLE * factor))), out.len(), service.received().len())
        }
    };
    check_with_slower_times((true, 2, 1), silent(Answer::stream().text("a").with_step(Step::Stall))).await;
    check_with_slower_times((true, 1, 1), silent(Answer::default().with_step(Step::Stall))).await;
    // Longer than the idle limit in total, but without a long pause.
    check_with_slower_times("aaaaaaaaaa.".to_owned(), async |factor| {
        let pause = || Step::Pause(IDLE / 8 * factor);
        let slow = (0..10).fold(Answer::stream(), |slow, _| slow.text("a").with_step(pause()));
        let service = Service::start_strict([slow.done()]).await;
        format_reply(&collect(&model_with_idle(&service, factor)).await)
    })
    .await;
}

#[tokio::test]
async fn r62_dropping_a_reply_closes_the_connection_at_once() {
    for (what, answer, has_text) in [
        ("in the middle", Answer::stream().text("a").with_step(Step::Stall), true),
        ("before the answer", Answer::default().with_step(Step::Stall), false),
    ] {
        let service = Service::start_strict([answer]).await;
        let mut reply = OpenAi::new(Settings::new(&service.base_url)).stream(request_with("hi"));
        if has_text {
            reply.next().await.unwrap().unwrap();
        } else {
            let requested = async {
                while service.received().is_empty() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            tokio::select! {
                item = reply.next() => panic!("{what}: {item:?}"),
                () = requested => {}
            }
        }
        let dropped = Instant::now();
        drop(reply);
        let closed = service.closed_early(PATIENCE).await.expect("the connection is closed");
        assert!(closed >= dropped, "{what}: closed before it was dropped");
        assert!(is_within_limit(Duration::from_secs(1), closed - dropped), "{what}: open for {:?}", closed - dropped);
    }
}

#[tokio::test]
async fn r49_lost_connection_is_retried_only_before_any_output() {
    // `format_reply` writes `~2~` for the start of attempt 2, `.` for the end and `!` before an error.
    let good = || Answer::stream().text("b").done();
    for (what, first, expected) in [
        ("reset at once", Answer::default().with_step(Step::Reset), "~2~b."),
        ("closed at once", Answer::default(), "~2~b."),
        ("closed after the head", Answer::stream(), "~2~b."),
        ("closed after an empty event", Answer::stream().event(json!({"choices": []})), "~2~b."),
        ("an error first", Answer::stream().event(json!({"error": {"message": "m", "code": 503}})), "~2~b."),
    ] {
        let service = Service::start_strict([first, good()]).await;
        assert_eq!(format_reply(&collect(&model(&service)).await), expected, "{what}");
    }
    let service = Service::start_strict([Answer::stream().text("a"), good()]).await;
    assert!(format_reply(&collect(&model(&service)).await).starts_with("a!"), "retried after output");
    assert_eq!(service.received().len(), 1);
}

/// Returns one element for each reported silence: true if it was longer than zero.
async fn collect_silences(answer: Answer, factor: u32) -> Vec<bool> {
    let service = Service::start([answer]).await;
    let events: Vec<_> = model_with_idle(&service, factor).stream(request_with("hi")).collect().await;
    let is_longer_than_zero = |item: &Result<Chunk, Error>| match item {
        Ok(Chunk::Silent { silence, limit }) => {
            assert_eq!(*limit, IDLE * factor);
            Some(!silence.is_zero())
        }
        _ => None,
    };
    events.iter().filter_map(is_longer_than_zero).collect()
}

#[tokio::test]
async fn silence_is_reported_before_the_limit_and_keepalives_end_it() {
    let stalled = || Answer::default().with_step(Step::Stall);
    let stalled_after_text = || Answer::stream().text("a").with_step(Step::Stall);
    check_with_slower_times(vec![true], async |factor| collect_silences(stalled(), factor).await).await;
    check_with_slower_times(vec![true], async |factor| collect_silences(stalled_after_text(), factor).await).await;
    check_with_slower_times(vec![true, false], async |factor| {
        let pause = |eighths| Step::Pause(IDLE * factor * eighths / 8);
        let keepalive = Answer::stream().with_step(pause(6)).raw(": still here\n\n").with_step(pause(1));
        collect_silences(keepalive.text("a").done(), factor).await
    })
    .await;
    // No text for longer than the limit, but keepalives all the time.
    check_with_slower_times(vec![], async |factor| {
        let pause = || Step::Pause(IDLE / 8 * factor);
        let alive = (0..10).fold(Answer::stream(), |alive, _| alive.raw(": still here\n\n").with_step(pause()));
        collect_silences(alive.text("a").done(), factor).await
    })
    .await;
}
