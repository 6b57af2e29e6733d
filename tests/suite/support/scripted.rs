//! A model with scripted replies.

use aye::chat::{CallId, Chunk, FinishReason, Request, ToolCall};
use aye::llm::scripted_model::play_items;
use aye::llm::{Error, Llm, ReplyStream};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// A model with one scripted reply for each request, in order.
#[derive(Debug, Clone, Default)]
pub struct Scripted {
    replies: Arc<Mutex<VecDeque<Reply>>>,
    requests: Arc<Mutex<Vec<Request>>>,
    speed: Option<u32>,
}

impl Scripted {
    /// Creates a model. Calls without an id are numbered across all replies: `call_1`, `call_2`, …
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let mut count = 0;
        let replies = replies.into_iter().map(|reply| reply.number_calls(&mut count)).collect();
        Self { replies: Arc::new(Mutex::new(replies)), ..Self::default() }
    }

    /// Streams text in small pieces at this speed, in graphemes per second, instead of at once.
    #[must_use]
    pub fn paced(mut self, speed: u32) -> Self {
        self.speed = Some(speed);
        self
    }

    /// Returns the requests so far, oldest first. Clones share them.
    pub fn requests(&self) -> Arc<Mutex<Vec<Request>>> {
        self.requests.clone()
    }
}

impl Llm for Scripted {
    fn stream(&self, request: Request) -> ReplyStream {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        let reply = self.replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let no_reply_left = || fails(Error::InvalidReply("The script has no reply left".to_owned()));
        let mut reply = reply.unwrap_or_else(no_reply_left);
        let is_open = !matches!(reply.items.last(), Some(Err(_) | Ok(Chunk::Done(_))));
        if is_open && !reply.is_cut {
            reply.items.push(Ok(Chunk::Done(FinishReason::Stop)));
        }
        play_items(reply.items, self.speed)
    }
}

/// A scripted reply. It ends normally unless it fails or is cut.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    items: Vec<Result<Chunk, Error>>,
    is_cut: bool,
}

/// Creates a reply with text.
pub fn says(text: &str) -> Reply {
    Reply::default().says(text)
}

/// Creates a reply with a tool call.
pub fn calls(name: &str, arguments: Value) -> Reply {
    Reply::default().calls(name, arguments)
}

/// Creates a reply that fails immediately.
pub fn fails(error: Error) -> Reply {
    Reply::default().fails(error)
}

impl Reply {
    /// Appends text.
    #[must_use]
    pub fn says(self, text: &str) -> Self {
        self.push_chunk(Chunk::Text(text.to_owned()))
    }

    /// Appends a tool call. Invalid JSON arguments can be given with `push_chunk`.
    #[must_use]
    pub fn calls(self, name: &str, arguments: Value) -> Self {
        let call = ToolCall { id: CallId(String::new()), name: name.to_owned(), arguments: arguments.to_string() };
        self.push_chunk(Chunk::Call(call))
    }

    /// Appends an error.
    #[must_use]
    pub fn fails(mut self, error: Error) -> Self {
        self.items.push(Err(error));
        self
    }

    /// Ends the stream without an end marker.
    #[must_use]
    pub fn without_end(mut self) -> Self {
        self.is_cut = true;
        self
    }

    /// Appends a chunk.
    #[must_use]
    pub fn push_chunk(mut self, chunk: Chunk) -> Self {
        self.items.push(Ok(chunk));
        self
    }

    fn number_calls(mut self, count: &mut usize) -> Self {
        for item in &mut self.items {
            if let Ok(Chunk::Call(call)) = item
                && call.id.0.is_empty()
            {
                *count += 1;
                call.id = CallId(format!("call_{count}"));
            }
        }
        self
    }
}
