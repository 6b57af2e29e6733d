//! Two models: the second answers where the first cannot, because the person said so.
//!
//! | what the first came to, before anything was seen and after its retries | the second is asked |
//! |---|---|
//! | no connection, no answer, not trusted, cut off, silent | yes |
//! | 408, 429, a used-up account, 500 and above | yes |
//! | 401, 402, 403, 404, 410, a redirect, something that is no model | yes |
//! | 400, 413, 422 and every other refusal of the request itself | no |
//! | a talk that is too long or not allowed, whatever the status | no |

use super::gather::is_visible;
use super::{Error, Llm, retry};
use crate::chat::{Chunk, Message, Request};
use futures::stream::{self, BoxStream, StreamExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A model, and another one in its place. Each keeps its own address, key and settings: nothing of the first goes to
/// the second but the talk.
#[derive(Clone)]
pub struct Fallback {
    first: Arc<dyn Llm>,
    second: Arc<dyn Llm>,
    model: String,
    name: String,
    /// The second answered last.
    stands_in: Arc<AtomicBool>,
}

impl Fallback {
    /// The second is asked for `model`, which may be empty as in any request, and is called `name`.
    pub fn new(first: Arc<dyn Llm>, second: Arc<dyn Llm>, model: String, name: String) -> Self {
        Self { first, second, model, name, stands_in: Arc::default() }
    }

    fn answering(&self, instead: Option<String>) -> Chunk {
        Chunk::Answering { model: self.name.clone(), instead }
    }
}

impl Llm for Fallback {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, Error>> {
        // The outcomes of calls go to the one that made them; whatever the person says next tries the first again.
        let goes_on = matches!(request.messages.last(), Some(Message::Tool { .. }));
        let second = Request { model: self.model.clone(), ..request.clone() };
        let (said, reply, second) = if goes_on && self.stands_in.load(Ordering::Relaxed) {
            (Some(self.answering(None)), self.second.stream(second), None)
        } else {
            (None, self.first.stream(request), Some(second))
        };
        let reply = Reply { two: self.clone(), reply, second, seen: false };
        let said = stream::iter(said.map(Ok));
        said.chain(stream::unfold(reply, |mut reply| async move { Some((reply.next().await?, reply)) }))
            .boxed()
    }

    fn sees(&self) -> bool {
        self.first.sees() || self.second.sees()
    }

    fn hurry(&self) {
        self.first.hurry();
        self.second.hurry();
    }
}

struct Reply {
    two: Fallback,
    reply: BoxStream<'static, Result<Chunk, Error>>,
    /// What the second would be asked, as long as it was not.
    second: Option<Request>,
    seen: bool,
}

impl Reply {
    async fn next(&mut self) -> Option<Result<Chunk, Error>> {
        let item = self.reply.next().await?;
        match &item {
            Ok(chunk) if !is_visible(chunk) => {}
            Ok(_) => {
                self.seen = true;
                self.two.stands_in.store(self.second.is_none(), Ordering::Relaxed);
            }
            Err(error) if !self.seen && may_be_better(error) => {
                if let Some(request) = self.second.take() {
                    self.reply = self.two.second.stream(request);
                    return Some(Ok(self.two.answering(Some(error.to_string()))));
                }
                self.two.stands_in.store(false, Ordering::Relaxed);
            }
            Err(_) => self.two.stands_in.store(false, Ordering::Relaxed),
        }
        Some(item)
    }
}

/// Whether another service could do better with the same talk.
pub(super) fn may_be_better(error: &Error) -> bool {
    match error.last() {
        Error::Service { code, words, .. } if retry::is_about_the_talk(code.as_deref(), words) => false,
        Error::Service { status, .. } => {
            matches!(status, 200..=399 | 401..=404 | 408 | 410 | 429 | 500..)
        }
        Error::InStream(words) => !retry::is_about_the_talk(None, words),
        Error::Unreachable { .. }
        | Error::Unanswered { .. }
        | Error::Proxy { .. }
        | Error::Misaddressed(_)
        | Error::Repeated { .. }
        | Error::Untrusted { .. }
        | Error::Cut(_)
        | Error::Idle(_)
        | Error::NotAModel(_) => true,
    }
}

#[cfg(test)]
mod tests;
