//! Fallback: a second model answers if the first one fails and the user configured one.
//!
//! | error of the first, before anything was shown and after its retries | fall back |
//! |---|---|
//! | no connection, no response, proxy error, invalid address, untrusted, connection lost, idle | yes |
//! | an error reported inside the stream | yes |
//! | 408, 429, no quota left, 500 and above | yes |
//! | 401, 402, 403, 404, 410, a redirect, a response that is not a reply | yes |
//! | 400, 413, 422 and every other rejection of the request itself | no |
//! | a conversation that is too long or not allowed, with any status | no |

use super::chunk_queue::is_visible;
use super::{Error, Llm, ReplyStream, retry};
use crate::chat::{Chunk, Message, Request};
use futures::stream::{self, StreamExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A model and its fallback. Each has its own address, key and settings; the second receives only the conversation of
/// the first.
#[derive(Clone)]
pub struct Fallback {
    primary: Arc<dyn Llm>,
    fallback: Arc<dyn Llm>,
    /// Model requested from the fallback.
    model: String,
    /// Display name of the fallback.
    name: String,
    /// True if the second model gave the last answer.
    used_fallback: Arc<AtomicBool>,
}

impl Fallback {
    /// Combines two models. `model` is the model requested from the second, empty for its default; `name` is its
    /// display name.
    pub fn new(primary: Arc<dyn Llm>, fallback: Arc<dyn Llm>, model: String, name: String) -> Self {
        Self { primary, fallback, model, name, used_fallback: Arc::default() }
    }

    /// Returns the chunk which announces that the second model answers. `reason` is the error of the first one.
    fn answering_chunk(&self, reason: Option<String>) -> Chunk {
        Chunk::ModelChosen { model: self.name.clone(), reason }
    }
}

impl Llm for Fallback {
    fn stream(&self, request: Request) -> ReplyStream {
        // Results of calls go to the model that made them; the next user message tries the first one again.
        let has_tool_result = matches!(request.messages.last(), Some(Message::Tool { .. }));
        let fallback_request = Request { model: self.model.clone(), ..request.clone() };
        let (chosen, reply, fallback_request) = if has_tool_result && self.used_fallback.load(Ordering::Relaxed) {
            (Some(self.answering_chunk(None)), self.fallback.stream(fallback_request), None)
        } else {
            (None, self.primary.stream(request), Some(fallback_request))
        };
        let reply = Reply { models: self.clone(), reply, fallback_request, is_shown: false };
        let chosen = stream::iter(chosen.map(Ok));
        chosen.chain(stream::unfold(reply, |mut reply| async move { Some((reply.next_chunk().await?, reply)) })).boxed()
    }

    fn accepts_images(&self) -> bool {
        self.primary.accepts_images() || self.fallback.accepts_images()
    }

    fn end_wait(&self) {
        self.primary.end_wait();
        self.fallback.end_wait();
    }
}

struct Reply {
    models: Fallback,
    reply: ReplyStream,
    /// Request for the second model, until it is sent.
    fallback_request: Option<Request>,
    is_shown: bool,
}

impl Reply {
    async fn next_chunk(&mut self) -> Option<Result<Chunk, Error>> {
        let item = self.reply.next().await?;
        match &item {
            Ok(chunk) if !is_visible(chunk) => {}
            Ok(_) => {
                self.is_shown = true;
                self.models.used_fallback.store(self.fallback_request.is_none(), Ordering::Relaxed);
            }
            Err(error) if !self.is_shown && may_succeed_elsewhere(error) => {
                if let Some(request) = self.fallback_request.take() {
                    self.reply = self.models.fallback.stream(request);
                    return Some(Ok(self.models.answering_chunk(Some(error.reason_text()))));
                }
                self.models.used_fallback.store(false, Ordering::Relaxed);
            }
            Err(_) => self.models.used_fallback.store(false, Ordering::Relaxed),
        }
        Some(item)
    }
}

/// Returns whether another provider may succeed with the same conversation.
pub(super) fn may_succeed_elsewhere(error: &Error) -> bool {
    match error.last_error() {
        Error::Provider { code, message, .. } if retry::is_about_conversation(code.as_deref(), message) => false,
        Error::Provider { status, .. } => {
            matches!(status, 200..=399 | 401..=404 | 408 | 410 | 429 | 500..)
        }
        Error::InStream(message) => !retry::is_about_conversation(None, message),
        Error::MissingKey { .. }
        | Error::Unreachable { .. }
        | Error::NoResponse { .. }
        | Error::Proxy { .. }
        | Error::InvalidAddress(_)
        | Error::RetriesExhausted { .. }
        | Error::Untrusted { .. }
        | Error::ConnectionLost(_)
        | Error::Idle(_)
        | Error::InvalidReply(_) => true,
    }
}

#[cfg(test)]
mod tests;
