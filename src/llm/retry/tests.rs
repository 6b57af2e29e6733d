//! Which errors are retried, when, and after which waits.

use super::*;
use crate::chat::FinishReason;
use crate::llm::timeouts::{HEADLESS_MAX_WAIT, INTERACTIVE_MAX_WAIT};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

fn service(status: u16, code: &str, retry_after: Option<u64>) -> Error {
    let code = (!code.is_empty()).then(|| code.to_owned());
    Error::Provider { status, code, message: String::new(), retry_after: retry_after.map(Duration::from_secs) }
}

const IDLE: Duration = Duration::from_secs(90);

type Items = Vec<Result<Chunk, Error>>;

/// Plays these replies with the given longest wait. Returns the chunks, the number of attempts and the elapsed time.
async fn play_by(longest: Duration, replies: Vec<Items>) -> (Items, usize, Duration) {
    let all = replies.len();
    let left = Arc::new(Mutex::new(VecDeque::from(replies)));
    let make = {
        let left = left.clone();
        move |_: &Pulse| stream::iter(left.lock().unwrap().pop_front().expect("no more attempts than replies")).boxed()
    };
    let began = Instant::now();
    let out = stream_with_retries(Timeouts::new(IDLE, longest), make).collect().await;
    let used = all - left.lock().unwrap().len();
    (out, used, began.elapsed())
}

async fn play(replies: Vec<Items>) -> (Items, usize, Duration) {
    play_by(HEADLESS_MAX_WAIT, replies).await
}

fn whole() -> Vec<Result<Chunk, Error>> {
    vec![Ok(Chunk::Text("a".into())), Ok(Chunk::Done(FinishReason::Stop))]
}

#[tokio::test(start_paused = true)]
async fn r49_only_transient_errors_are_retried() {
    for (error, again) in [
        (service(408, "", None), true),
        (service(429, "rate_limit_exceeded", None), true),
        (service(500, "", None), true),
        (service(503, "", None), true),
        (service(529, "", None), true),
        (Error::Unreachable { origin: "o".into(), cause: "c".into() }, true),
        (Error::NoResponse { origin: "o".into(), cause: "c".into() }, true),
        (Error::ConnectionLost("reset".into()), true),
        (service(429, "insufficient_quota", None), false),
        (service(400, "context_length_exceeded", None), false),
        (service(500, "context_length_exceeded", None), false),
        (service(503, "content_filter", None), false),
        (service(401, "", None), false),
        (service(402, "", None), false),
        (service(404, "", None), false),
        (service(413, "", None), false),
        (service(307, "", None), false),
        (Error::Idle(Duration::from_secs(90)), false),
        (Error::InStream("x".into()), false),
        (Error::InvalidReply("x".into()), false),
        (Error::InvalidAddress("x".into()), false),
        (Error::Proxy { origin: "o".into(), cause: "c".into() }, false),
        (Error::Untrusted { origin: "o".into(), cause: "c".into() }, false),
    ] {
        let (out, attempts, _) = play(vec![vec![Err(error.clone())], whole()]).await;
        assert_eq!(attempts, if again { 2 } else { 1 }, "{error:?}");
        if again {
            let Ok(Chunk::Retrying { attempt: 2, max_attempts: 5, wait, why, kind }) = &out[0] else {
                panic!("retry not announced: {out:?}")
            };
            let first =
                if matches!(error, Error::Unreachable { .. }) { FIRST_UNREACHABLE_BACKOFF } else { FIRST_BACKOFF };
            assert!(*wait >= first && *wait <= first.mul_f64(1.25), "{wait:?}");
            assert_eq!((why, kind), (&error.reason_text(), &error.kind_name()));
            assert_eq!(out[1..], whole());
        } else {
            assert_eq!(out, [Err(error)]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn r49_a_reply_that_was_shown_is_not_retried() {
    let lost = || Err(Error::ConnectionLost("reset".into()));
    for seen in
        [Chunk::Text("a".into()), Chunk::Reasoning("r".into()), Chunk::CallProgress { name: "f".into(), bytes: 0 }]
    {
        let (out, attempts, _) = play(vec![vec![Ok(seen.clone()), lost()], whole()]).await;
        assert_eq!((out, attempts), (vec![Ok(seen), lost()], 1));
    }
    let count = Chunk::Usage(crate::chat::Usage::default());
    assert_eq!(play(vec![vec![Ok(count), lost()], whole()]).await.1, 2);
}

#[tokio::test(start_paused = true)]
async fn r49_a_requested_wait_is_exact() {
    let (_, attempts, took) = play(vec![vec![Err(service(429, "", Some(7)))], whole()]).await;
    assert_eq!((attempts, took.as_secs()), (2, 7));
    let (_, attempts, took) = play(vec![vec![Err(service(503, "", Some(60)))], whole()]).await;
    assert_eq!((attempts, took.as_secs()), (2, 60));
    let (out, attempts, took) = play(vec![vec![Err(service(429, "", Some(61)))], whole()]).await;
    assert_eq!((attempts, took.as_secs()), (1, 0));
    let words = out[0].as_ref().unwrap_err().to_string();
    assert!(words.contains("61 s"), "{words}");
}

#[tokio::test(start_paused = true)]
async fn r49_there_are_five_attempts_within_two_minutes() {
    let failing = |retry_after: Option<u64>| -> Vec<Vec<Result<Chunk, Error>>> {
        (0..6).map(|_| vec![Err(service(503, "", retry_after))]).collect()
    };
    let (out, attempts, took) = play(failing(None)).await;
    assert_eq!((attempts, out.len()), (5, 5));
    let last = out[4].as_ref().unwrap_err().to_string();
    assert_eq!(last, "The provider failed (503). Gave up after 5 attempts.");
    assert!(took >= FIRST_BACKOFF * 15 && took <= FIRST_BACKOFF.mul_f64(15.0 * 1.25) + FIRST_BACKOFF, "{took:?}");
    let (_, attempts, took) = play(failing(Some(50))).await;
    assert_eq!((attempts, took.as_secs()), (3, 100));
}

#[tokio::test(start_paused = true)]
async fn r49_with_a_user_requested_waits_up_to_an_hour_are_accepted() {
    let failing = |status: u16, wait: Option<u64>| -> Vec<Items> {
        (0..6).map(|_| vec![Err(service(status, "", wait))]).collect()
    };
    let (out, attempts, took) = play_by(INTERACTIVE_MAX_WAIT, failing(429, Some(3000))).await;
    assert_eq!((attempts, took.as_secs()), (5, 4 * 3000));
    assert!(matches!(&out[0], Ok(Chunk::Retrying { wait, .. }) if wait.as_secs() == 3000), "{out:?}");
    let (_, attempts, took) = play_by(INTERACTIVE_MAX_WAIT, failing(429, Some(3600))).await;
    assert_eq!((attempts, took.as_secs()), (5, 4 * 3600));
    let (out, attempts, took) = play_by(INTERACTIVE_MAX_WAIT, failing(429, Some(3601))).await;
    assert_eq!((attempts, took.as_secs()), (1, 0), "{out:?}");
    let unreachable = Error::Unreachable { origin: "https://example.com".into(), cause: "c".into() };
    let (_, attempts, took) =
        play_by(INTERACTIVE_MAX_WAIT, (0..6).map(|_| vec![Err(unreachable.clone())]).collect()).await;
    assert_eq!(attempts, 5);
    assert!((30..=38).contains(&took.as_secs()), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn r49_an_unreachable_local_server_is_reported_immediately() {
    for (origin, attempts) in
        [("http://127.0.0.1:8080", 1), ("http://localhost:1", 1), ("http://[::1]:1", 1), ("http://10.0.0.7:1", 2)]
    {
        let error = Error::Unreachable { origin: origin.into(), cause: "Connection refused".into() };
        assert_eq!(play(vec![vec![Err(error)], whole()]).await.1, attempts, "{origin}");
    }
}

#[tokio::test(start_paused = true)]
async fn r49_the_user_can_end_a_wait_early() {
    let replies = Mutex::new(VecDeque::from([
        vec![Err(service(429, "", Some(3000)))],
        vec![Err(service(429, "", Some(20)))],
        whole(),
    ]));
    let patience = Timeouts::new(IDLE, INTERACTIVE_MAX_WAIT);
    let mut reply = stream_with_retries(patience.clone(), move |_| {
        stream::iter(replies.lock().unwrap().pop_front().unwrap()).boxed()
    });
    let began = Instant::now();
    assert!(matches!(reply.next().await, Some(Ok(Chunk::Retrying { attempt: 2, .. }))));
    // The user may end the wait before the stream is polled again.
    patience.end_waits();
    assert!(matches!(reply.next().await, Some(Ok(Chunk::Retrying { attempt: 3, .. }))));
    assert_eq!(began.elapsed().as_secs(), 0);
    // Ending a wait affects only current waits, not later ones.
    assert_eq!(reply.next().await, Some(Ok(Chunk::Text("a".into()))));
    assert_eq!(began.elapsed().as_secs(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_silence_is_announced_once_at_half_its_limit_and_ended_by_data() {
    let make = |pulse: &Pulse| {
        let pulse = pulse.clone();
        let after = |seconds: u64| tokio::time::sleep(Duration::from_secs(seconds));
        stream::once(async move {
            after(60).await;
            pulse.record_beat();
            after(60).await;
            Ok(Chunk::Text("a".into()))
        })
        .chain(stream::once(async move {
            after(50).await;
            Ok(Chunk::Done(FinishReason::Stop))
        }))
        .boxed()
    };
    let quiet = |since: u64| Ok(Chunk::Silent { since: Duration::from_secs(since), limit: IDLE });
    let out: Items = stream_with_retries(Timeouts::new(IDLE, HEADLESS_MAX_WAIT), make).collect().await;
    assert_eq!(
        out,
        [quiet(45), quiet(0), quiet(45), Ok(Chunk::Text("a".into())), quiet(45), Ok(Chunk::Done(FinishReason::Stop)),]
    );
}

#[test]
fn r57_the_kind_of_an_error_contains_no_text_from_a_provider() {
    let secret = || "plover".to_owned();
    let (origin, cause) = (secret(), secret());
    for error in [
        Error::Provider { status: 429, code: Some(secret()), message: secret(), retry_after: None },
        Error::Unreachable { origin: origin.clone(), cause: cause.clone() },
        Error::NoResponse { origin: origin.clone(), cause: cause.clone() },
        Error::Untrusted { origin: origin.clone(), cause: cause.clone() },
        Error::RetriesExhausted { attempts: 2, last: Box::new(Error::ConnectionLost(secret())) },
        Error::Proxy { origin, cause },
        Error::InvalidAddress(secret()),
        Error::ConnectionLost(secret()),
        Error::InvalidReply(secret()),
        Error::InStream(secret()),
    ] {
        assert!(error.to_string().contains("plover") && !error.kind_name().contains("plover"), "{error:?}");
    }
}
