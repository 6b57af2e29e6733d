//! Fallback: a second model answers if the first one fails and the user configured one.
//!
//! | error of the first, before anything was shown and after its retries | fall back |
//! |---|---|
//! | no connection, no response, untrusted, connection lost, idle | yes |
//! | 408, 429, no quota left, 500 and above | yes |
//! | 401, 402, 403, 404, 410, a redirect, not a model | yes |
//! | 400, 413, 422 and every other rejection of the request itself | no |
//! | a conversation that is too long or not allowed, with any status | no |

use super::gather::is_visible;
use super::{Error, Llm, retry};
use crate::chat::{Chunk, Message, Request};
use futures::stream::{self, BoxStream, StreamExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A model and its fallback. Each has its own address, key and settings; the second receives only the conversation of
/// the first.
#[derive(Clone)]
pub struct Fallback {
    first: Arc<dyn Llm>,
    second: Arc<dyn Llm>,
    model: String,
    name: String,
    /// True if the second model gave the last answer.
    stands_in: Arc<AtomicBool>,
}

impl Fallback {
    /// Combines two models. `model` is the model requested from the second, empty for its default; `name` is its
    /// display name.
    pub fn new(first: Arc<dyn Llm>, second: Arc<dyn Llm>, model: String, name: String) -> Self {
        Self { first, second, model, name, stands_in: Arc::default() }
    }

    fn answering(&self, instead: Option<String>) -> Chunk {
        Chunk::Answering { model: self.name.clone(), instead }
    }
}

impl Llm for Fallback {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, Error>> {
        // Results of calls go to the model that made them; the next user message tries the first one again.
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
    /// Request for the second model, until it is sent.
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
                    return Some(Ok(self.two.answering(Some(error.reason()))));
                }
                self.two.stands_in.store(false, Ordering::Relaxed);
            }
            Err(_) => self.two.stands_in.store(false, Ordering::Relaxed),
        }
        Some(item)
    }
}

/// Returns whether another provider may succeed with the same conversation.
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
