//! Which errors are retried, when, and after which waits.

use super::*;
use crate::chat::FinishReason;
use crate::llm::timeouts::{HEADLESS_MAX_WAIT, INTERACTIVE_MAX_WAIT};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

fn provider_error(status: u16, code: &str, retry_after: Option<u64>) -> Error {
    let code = (!code.is_empty()).then(|| code.to_owned());
    Error::Provider { status, code, message: String::new(), retry_after: retry_after.map(Duration::from_secs) }
}

const IDLE: Duration = Duration::from_secs(90);

type Items = Vec<Result<Chunk, Error>>;

/// Plays these replies with the given longest wait. Returns the chunks, the number of attempts and the elapsed time.
async fn play_with_max_wait(longest_wait: Duration, replies: Vec<Items>) -> (Items, usize, Duration) {
    let reply_count = replies.len();
    let remaining = Arc::new(Mutex::new(VecDeque::from(replies)));
    let start_attempt = {
        let remaining = remaining.clone();
        move |_: &Pulse| {
            stream::iter(remaining.lock().unwrap().pop_front().expect("no more attempts than replies")).boxed()
        }
    };
    let start = Instant::now();
    let chunks = stream_with_retries(Timeouts::new(IDLE, longest_wait), start_attempt).collect().await;
    let attempts = reply_count - remaining.lock().unwrap().len();
    (chunks, attempts, start.elapsed())
}

async fn play_headless(replies: Vec<Items>) -> (Items, usize, Duration) {
    play_with_max_wait(HEADLESS_MAX_WAIT, replies).await
}

fn complete_reply() -> Vec<Result<Chunk, Error>> {
    vec![Ok(Chunk::Text("a".into())), Ok(Chunk::Done(FinishReason::Stop))]
}

#[tokio::test(start_paused = true)]
async fn r49_only_transient_errors_are_retried() {
    for (error, is_retried) in [
        (provider_error(408, "", None), true),
        (provider_error(429, "rate_limit_exceeded", None), true),
        (provider_error(500, "", None), true),
        (provider_error(503, "", None), true),
        (provider_error(529, "", None), true),
        (Error::Unreachable { origin: "o".into(), cause: "c".into() }, true),
        (Error::NoResponse { origin: "o".into(), cause: "c".into() }, true),
        (Error::ConnectionLost("reset".into()), true),
        (provider_error(429, "insufficient_quota", None), false),
        (provider_error(400, "context_length_exceeded", None), false),
        (provider_error(500, "context_length_exceeded", None), false),
        (provider_error(503, "content_filter", None), false),
        (provider_error(401, "", None), false),
        (provider_error(402, "", None), false),
        (provider_error(404, "", None), false),
        (provider_error(413, "", None), false),
        (provider_error(307, "", None), false),
        (Error::Idle(Duration::from_secs(90)), false),
        (Error::InStream("x".into()), false),
        (Error::InvalidReply("x".into()), false),
        (Error::InvalidAddress("x".into()), false),
        (Error::Proxy { origin: "o".into(), cause: "c".into() }, false),
        (Error::Untrusted { origin: "o".into(), cause: "c".into() }, false),
    ] {
        let (chunks, attempts, _) = play_headless(vec![vec![Err(error.clone())], complete_reply()]).await;
        assert_eq!(attempts, if is_retried { 2 } else { 1 }, "{error:?}");
        if is_retried {
            let Ok(Chunk::Retrying { attempt: 2, max_attempts: 5, wait, reason, kind }) = &chunks[0] else {
                panic!("retry not announced: {chunks:?}")
            };
            let first_backoff =
                if matches!(error, Error::Unreachable { .. }) { FIRST_UNREACHABLE_BACKOFF } else { FIRST_BACKOFF };
            assert!(*wait >= first_backoff && *wait <= first_backoff.mul_f64(1.25), "{wait:?}");
            assert_eq!((reason, kind), (&error.reason_text(), &error.kind_name()));
            assert_eq!(chunks[1..], complete_reply());
        } else {
            assert_eq!(chunks, [Err(error)]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn r49_a_reply_that_was_shown_is_not_retried() {
    let connection_lost = || Err(Error::ConnectionLost("reset".into()));
    for visible in
        [Chunk::Text("a".into()), Chunk::Reasoning("r".into()), Chunk::CallProgress { name: "f".into(), bytes: 0 }]
    {
        let (chunks, attempts, _) =
            play_headless(vec![vec![Ok(visible.clone()), connection_lost()], complete_reply()]).await;
        assert_eq!((chunks, attempts), (vec![Ok(visible), connection_lost()], 1));
    }
    let usage = Chunk::Usage(crate::chat::Usage::default());
    assert_eq!(play_headless(vec![vec![Ok(usage), connection_lost()], complete_reply()]).await.1, 2);
}

#[tokio::test(start_paused = true)]
async fn r49_a_requested_wait_is_exact() {
    let (_, attempts, elapsed) =
        play_headless(vec![vec![Err(provider_error(429, "", Some(7)))], complete_reply()]).await;
    assert_eq!((attempts, elapsed.as_secs()), (2, 7));
    let (_, attempts, elapsed) =
        play_headless(vec![vec![Err(provider_error(503, "", Some(60)))], complete_reply()]).await;
    assert_eq!((attempts, elapsed.as_secs()), (2, 60));
    // Longer than `HEADLESS_MAX_WAIT`.
    let (chunks, attempts, elapsed) =
        play_headless(vec![vec![Err(provider_error(429, "", Some(61)))], complete_reply()]).await;
    assert_eq!((attempts, elapsed.as_secs()), (1, 0));
    let error_text = chunks[0].as_ref().unwrap_err().to_string();
    assert!(error_text.contains("61 s"), "{error_text}");
}

#[tokio::test(start_paused = true)]
async fn r49_there_are_five_attempts_within_two_minutes() {
    let failing_replies = |retry_after: Option<u64>| -> Vec<Vec<Result<Chunk, Error>>> {
        (0..6).map(|_| vec![Err(provider_error(503, "", retry_after))]).collect()
    };
    let (chunks, attempts, elapsed) = play_headless(failing_replies(None)).await;
    assert_eq!((attempts, chunks.len()), (5, 5));
    let error_text = chunks[4].as_ref().unwrap_err().to_string();
    assert_eq!(
        error_text,
        "The provider failed (503). Gave up after 5 attempts. Try again later, or use another profile."
    );
    // Four waits: 1 + 2 + 4 + 8 = 15 times the first one, plus up to a quarter of jitter and some slack.
    assert!(
        elapsed >= FIRST_BACKOFF * 15 && elapsed <= FIRST_BACKOFF.mul_f64(15.0 * 1.25) + FIRST_BACKOFF,
        "{elapsed:?}"
    );
    let (_, attempts, elapsed) = play_headless(failing_replies(Some(50))).await;
    assert_eq!((attempts, elapsed.as_secs()), (3, 100));
}

#[tokio::test(start_paused = true)]
async fn r49_with_a_user_requested_waits_up_to_an_hour_are_accepted() {
    let failing_replies = |status: u16, retry_after: Option<u64>| -> Vec<Items> {
        (0..6).map(|_| vec![Err(provider_error(status, "", retry_after))]).collect()
    };
    let (chunks, attempts, elapsed) = play_with_max_wait(INTERACTIVE_MAX_WAIT, failing_replies(429, Some(3000))).await;
    assert_eq!((attempts, elapsed.as_secs()), (5, 4 * 3000));
    assert!(matches!(&chunks[0], Ok(Chunk::Retrying { wait, .. }) if wait.as_secs() == 3000), "{chunks:?}");
    let (_, attempts, elapsed) = play_with_max_wait(INTERACTIVE_MAX_WAIT, failing_replies(429, Some(3600))).await;
    assert_eq!((attempts, elapsed.as_secs()), (5, 4 * 3600));
    let (chunks, attempts, elapsed) = play_with_max_wait(INTERACTIVE_MAX_WAIT, failing_replies(429, Some(3601))).await;
    assert_eq!((attempts, elapsed.as_secs()), (1, 0), "{chunks:?}");
    let unreachable = Error::Unreachable { origin: "https://example.com".into(), cause: "c".into() };
    let (_, attempts, elapsed) =
        play_with_max_wait(INTERACTIVE_MAX_WAIT, (0..6).map(|_| vec![Err(unreachable.clone())]).collect()).await;
    assert_eq!(attempts, 5);
    // 15 times `FIRST_UNREACHABLE_BACKOFF`, plus up to a quarter of jitter.
    assert!((30..=38).contains(&elapsed.as_secs()), "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn r49_an_unreachable_local_server_is_reported_immediately() {
    for (origin, attempts) in
        [("http://127.0.0.1:8080", 1), ("http://localhost:1", 1), ("http://[::1]:1", 1), ("http://10.0.0.7:1", 2)]
    {
        let error = Error::Unreachable { origin: origin.into(), cause: "Connection refused".into() };
        assert_eq!(play_headless(vec![vec![Err(error)], complete_reply()]).await.1, attempts, "{origin}");
    }
}

#[tokio::test(start_paused = true)]
async fn r49_the_user_can_end_a_wait_early() {
    let replies = Mutex::new(VecDeque::from([
        vec![Err(provider_error(429, "", Some(3000)))],
        vec![Err(provider_error(429, "", Some(20)))],
        complete_reply(),
    ]));
    let timeouts = Timeouts::new(IDLE, INTERACTIVE_MAX_WAIT);
    let mut reply = stream_with_retries(timeouts.clone(), move |_| {
        stream::iter(replies.lock().unwrap().pop_front().unwrap()).boxed()
    });
    let start = Instant::now();
    assert!(matches!(reply.next().await, Some(Ok(Chunk::Retrying { attempt: 2, .. }))));
    // The user may end the wait before the stream is polled again.
    timeouts.end_waits();
    assert!(matches!(reply.next().await, Some(Ok(Chunk::Retrying { attempt: 3, .. }))));
    assert_eq!(start.elapsed().as_secs(), 0);
    // Ending a wait affects only current waits, not later ones.
    assert_eq!(reply.next().await, Some(Ok(Chunk::Text("a".into()))));
    assert_eq!(start.elapsed().as_secs(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_silence_is_announced_once_at_half_its_limit_and_ended_by_data() {
    let start_attempt = |pulse: &Pulse| {
        let pulse = pulse.clone();
        let sleep_seconds = |seconds: u64| tokio::time::sleep(Duration::from_secs(seconds));
        stream::once(async move {
            sleep_seconds(60).await;
            pulse.record_beat();
            sleep_seconds(60).await;
            Ok(Chunk::Text("a".into()))
        })
        .chain(stream::once(async move {
            sleep_seconds(50).await;
            Ok(Chunk::Done(FinishReason::Stop))
        }))
        .boxed()
    };
    let silent_chunk = |seconds: u64| Ok(Chunk::Silent { silence: Duration::from_secs(seconds), limit: IDLE });
    let chunks: Items = stream_with_retries(Timeouts::new(IDLE, HEADLESS_MAX_WAIT), start_attempt).collect().await;
    assert_eq!(
        chunks,
        [
            silent_chunk(45),
            silent_chunk(0),
            silent_chunk(45),
            Ok(Chunk::Text("a".into())),
            silent_chunk(45),
            Ok(Chunk::Done(FinishReason::Stop)),
        ]
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
