//! Tries again what is worth trying again, and only as long as nothing was seen of the reply.

use super::gather::is_visible;
use super::{Error, address};
use crate::chat::Chunk;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;
use tokio::time::Instant;

/// How often a request is sent at most.
const ATTEMPTS: u32 = 5;
/// No wait is begun that would end later than this after the first attempt.
const ALL: Duration = Duration::from_secs(120);
/// A service that asks for a longer wait than this is not waited for; the person is told.
const LONGEST: Duration = Duration::from_secs(60);
/// The first wait of our own choice; each one after is twice as long.
const FIRST: Duration = Duration::from_millis(500);

type Reply = BoxStream<'static, Result<Chunk, Error>>;

/// A reply made of as many attempts as it takes. Every wait is announced before it begins, and dropping the stream
/// ends it.
pub fn stream(attempt: impl FnMut() -> Reply + Send + 'static) -> Reply {
    let tries = Tries {
        make: Box::new(attempt),
        reply: None,
        began: Instant::now(),
        count: 1,
        wait: None,
        seen: false,
    };
    stream::unfold(Some(tries), |tries| async move {
        let mut tries = tries?;
        let item = tries.next().await?;
        let over = matches!(item, Err(_) | Ok(Chunk::Done(_)));
        Some((item, (!over).then_some(tries)))
    })
    .boxed()
}

struct Tries {
    make: Box<dyn FnMut() -> Reply + Send>,
    reply: Option<Reply>,
    began: Instant,
    /// The attempt under way; the first is 1.
    count: u32,
    wait: Option<Duration>,
    seen: bool,
}

impl Tries {
    async fn next(&mut self) -> Option<Result<Chunk, Error>> {
        if let Some(wait) = self.wait.take() {
            tokio::time::sleep(wait).await;
        }
        let reply = self.reply.get_or_insert_with(|| (self.make)());
        match reply.next().await? {
            Ok(chunk) => {
                self.seen |= is_visible(&chunk);
                Some(Ok(chunk))
            }
            Err(error) => Some(self.after(error)),
        }
    }

    fn after(&mut self, error: Error) -> Result<Chunk, Error> {
        let asked = asked_wait(&error);
        if self.seen
            || self.count >= ATTEMPTS
            || !is_worth_trying(&error)
            || asked.is_some_and(|wait| wait > LONGEST)
        {
            return Err(error);
        }
        let wait = asked.unwrap_or_else(|| own_wait(self.count, chance()));
        if self.began.elapsed() + wait > ALL {
            return Err(error);
        }
        self.reply = None;
        self.count += 1;
        self.wait = Some(wait);
        Ok(Chunk::Retrying { attempt: self.count, wait, why: error.to_string() })
    }
}

fn asked_wait(error: &Error) -> Option<Duration> {
    match error {
        Error::Service { retry_after, .. } => *retry_after,
        Error::Unreachable { .. }
        | Error::Unanswered { .. }
        | Error::Untrusted { .. }
        | Error::Cut(_)
        | Error::Idle(_)
        | Error::NotAModel(_)
        | Error::InStream(_) => None,
    }
}

fn is_worth_trying(error: &Error) -> bool {
    match error {
        Error::Service { status: 429, code, words, .. } => !is_about_money(code.as_deref(), words),
        Error::Service { status, .. } => matches!(status, 408 | 500..),
        // A server on this machine that is not running will not be running in a moment: tell the person at once.
        Error::Unreachable { origin, .. } => {
            !address::parse(origin).is_ok_and(|url| address::is_loopback(&url))
        }
        Error::Unanswered { .. } | Error::Cut(_) => true,
        // It took the request and said nothing: asking again would only put the same work on it twice.
        Error::Idle(_) => false,
        Error::Untrusted { .. } | Error::NotAModel(_) | Error::InStream(_) => false,
    }
}

/// A used-up allowance is told with the status that otherwise means "too fast", but waiting does not fill it.
pub(super) fn is_about_money(code: Option<&str>, words: &str) -> bool {
    let said = format!("{} {words}", code.unwrap_or_default()).to_lowercase();
    ["insufficient", "quota", "billing", "credit", "balance"].iter().any(|word| said.contains(word))
}

/// Half a second, doubled with each attempt, and up to a quarter longer so that many programs do not come back at once.
fn own_wait(attempt: u32, chance: f64) -> Duration {
    (FIRST * 2u32.saturating_pow(attempt - 1)).mul_f64(1.0 + chance / 4.0)
}

/// A number from 0 to 1. The standard library seeds its hashers by chance, which is good enough to spread waits.
fn chance() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Finish;
    use std::collections::VecDeque;

    fn service(status: u16, code: &str, retry_after: Option<u64>) -> Error {
        let code = (!code.is_empty()).then(|| code.to_owned());
        Error::Service {
            status,
            code,
            words: String::new(),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }

    /// Plays these replies one after another; gives what came, how many attempts there were, and how long it took.
    async fn play(replies: Vec<Vec<Result<Chunk, Error>>>) -> (Vec<Result<Chunk, Error>>, usize, Duration) {
        let all = replies.len();
        let left = std::sync::Arc::new(std::sync::Mutex::new(VecDeque::from(replies)));
        let make = {
            let left = left.clone();
            move || {
                stream::iter(left.lock().unwrap().pop_front().expect("no more attempts than replies")).boxed()
            }
        };
        let began = Instant::now();
        let out = stream(make).collect().await;
        let used = all - left.lock().unwrap().len();
        (out, used, began.elapsed())
    }

    fn whole() -> Vec<Result<Chunk, Error>> {
        vec![Ok(Chunk::Text("a".into())), Ok(Chunk::Done(Finish::Stop))]
    }

    #[tokio::test(start_paused = true)]
    async fn r49_only_what_may_pass_is_tried_again() {
        for (error, again) in [
            (service(408, "", None), true),
            (service(429, "rate_limit_exceeded", None), true),
            (service(500, "", None), true),
            (service(503, "", None), true),
            (service(529, "", None), true),
            (Error::Unreachable { origin: "o".into(), cause: "c".into() }, true),
            (Error::Unanswered { origin: "o".into(), cause: "c".into() }, true),
            (Error::Cut("reset".into()), true),
            (service(429, "insufficient_quota", None), false),
            (service(400, "context_length_exceeded", None), false),
            (service(401, "", None), false),
            (service(402, "", None), false),
            (service(404, "", None), false),
            (service(413, "", None), false),
            (service(307, "", None), false),
            (Error::Idle(Duration::from_secs(90)), false),
            (Error::InStream("x".into()), false),
            (Error::NotAModel("x".into()), false),
            (Error::Untrusted { origin: "o".into(), cause: "c".into() }, false),
        ] {
            let (out, attempts, _) = play(vec![vec![Err(error.clone())], whole()]).await;
            assert_eq!(attempts, if again { 2 } else { 1 }, "{error:?}");
            if again {
                let Ok(Chunk::Retrying { attempt: 2, wait, why }) = &out[0] else {
                    panic!("unannounced: {out:?}")
                };
                assert!(*wait >= FIRST && *wait <= FIRST.mul_f64(1.25), "{wait:?}");
                assert_eq!(*why, error.to_string());
                assert_eq!(out[1..], whole());
            } else {
                assert_eq!(out, [Err(error)]);
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn r49_nothing_that_was_seen_is_asked_for_again() {
        let lost = || Err(Error::Cut("reset".into()));
        for seen in [
            Chunk::Text("a".into()),
            Chunk::Reasoning("r".into()),
            Chunk::Writing { name: "f".into(), bytes: 0 },
        ] {
            let (out, attempts, _) = play(vec![vec![Ok(seen.clone()), lost()], whole()]).await;
            assert_eq!((out, attempts), (vec![Ok(seen), lost()], 1));
        }
        let count = Chunk::Usage(crate::chat::Usage::default());
        assert_eq!(play(vec![vec![Ok(count), lost()], whole()]).await.1, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn r49_the_wait_a_service_asks_for_is_kept_exactly() {
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
        assert!(took >= FIRST * 15 && took <= FIRST.mul_f64(15.0 * 1.25) + FIRST, "{took:?}");
        let (_, attempts, took) = play(failing(Some(50))).await;
        assert_eq!((attempts, took.as_secs()), (3, 100));
    }
}
