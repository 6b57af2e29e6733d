//! A model with scripted replies, for tests.

use super::{Error, Llm, ReplyStream};
use crate::chat::{CallId, Chunk, FinishReason, Request, ToolCall, Usage};
use futures::stream::{self, StreamExt};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use unicode_segmentation::UnicodeSegmentation;

/// Number of graphemes in a piece of a paced reply.
const PIECE_GRAPHEMES: usize = 6;

/// A model with one scripted reply for each request, in order.
#[derive(Debug, Clone, Default)]
pub struct Scripted {
    replies: Arc<Mutex<VecDeque<Reply>>>,
    requests: Arc<Mutex<Vec<Request>>>,
    chars_per_second: Option<u32>,
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
    pub fn paced(mut self, chars_per_second: u32) -> Self {
        self.chars_per_second = Some(chars_per_second);
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
        reply.unwrap_or_else(no_reply_left).play_reply(self.chars_per_second)
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

/// Creates a reply with reasoning, to be followed by text or a call.
pub fn thinks(text: &str) -> Reply {
    Reply::default().thinks(text)
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

    /// Appends reasoning.
    #[must_use]
    pub fn thinks(self, text: &str) -> Self {
        self.push_chunk(Chunk::Reasoning(text.to_owned()))
    }

    /// Appends a tool call. Invalid JSON arguments can be given with `push_chunk`.
    #[must_use]
    pub fn calls(self, name: &str, arguments: Value) -> Self {
        let call = ToolCall { id: CallId(String::new()), name: name.to_owned(), arguments: arguments.to_string() };
        self.push_chunk(Chunk::Call(call))
    }

    /// Appends token usage.
    #[must_use]
    pub fn costs(self, input: u64, output: u64) -> Self {
        self.push_chunk(Chunk::Usage(Usage { input, cached: 0, output }))
    }

    /// Appends an error.
    #[must_use]
    pub fn fails(mut self, error: Error) -> Self {
        self.items.push(Err(error));
        self
    }

    /// Ends the reply for this reason.
    #[must_use]
    pub fn ends(self, finish: FinishReason) -> Self {
        self.push_chunk(Chunk::Done(finish))
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

    /// Inserts text before everything else.
    #[must_use]
    pub(super) fn preceded_by(mut self, text: &str) -> Self {
        self.items.insert(0, Ok(Chunk::Text(text.to_owned())));
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

    /// Streams the reply, at once or paced. Dropping the stream stops it.
    pub(super) fn play_reply(mut self, chars_per_second: Option<u32>) -> ReplyStream {
        let is_open = !matches!(self.items.last(), Some(Err(_) | Ok(Chunk::Done(_))));
        if is_open && !self.is_cut {
            self.items.push(Ok(Chunk::Done(FinishReason::Stop)));
        }
        let Some(speed) = chars_per_second else { return stream::iter(self.items).boxed() };
        let wait = Duration::from_secs(PIECE_GRAPHEMES as u64) / speed.max(1);
        let items = self.items.into_iter().flat_map(split_pieces);
        stream::iter(items)
            .then(move |item| async move {
                if matches!(item, Ok(Chunk::Text(_) | Chunk::Reasoning(_))) {
                    tokio::time::sleep(wait).await;
                }
                item
            })
            .boxed()
    }
}

fn split_pieces(item: Result<Chunk, Error>) -> Vec<Result<Chunk, Error>> {
    let split_text = |text: &str| -> Vec<String> {
        let graphemes: Vec<&str> = text.graphemes(true).collect();
        graphemes.chunks(PIECE_GRAPHEMES).map(|piece| piece.concat()).collect()
    };
    match item {
        Ok(Chunk::Text(text)) => split_text(&text).into_iter().map(|piece| Ok(Chunk::Text(piece))).collect(),
        Ok(Chunk::Reasoning(text)) => split_text(&text).into_iter().map(|piece| Ok(Chunk::Reasoning(piece))).collect(),
        other => vec![other],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn expected_request(model: &str) -> Request {
        Request { model: model.into(), messages: vec![], tools: vec![], max_tokens: None, images: vec![] }
    }

    async fn collect_reply(model: &Scripted) -> Vec<Result<Chunk, Error>> {
        model.stream(expected_request("m")).collect().await
    }

    #[tokio::test]
    async fn scripted_replies_are_streamed_and_requests_recorded() {
        let model = Scripted::new([
            thinks("hm").says("a").costs(1, 2),
            calls("f", json!({})).calls("g", json!({"x": 1})),
            says("half").without_end(),
            fails(Error::InStream("no".into())),
        ]);
        let call_chunk = |id: &str, name: &str, arguments: &str| {
            Ok(Chunk::Call(ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }))
        };
        let done_chunk = Ok(Chunk::Done(FinishReason::Stop));
        let first = collect_reply(&model).await;
        assert_eq!(first[..2], [Ok(Chunk::Reasoning("hm".into())), Ok(Chunk::Text("a".into()))]);
        assert_eq!(first[2..], [Ok(Chunk::Usage(Usage { input: 1, cached: 0, output: 2 })), done_chunk.clone()]);
        assert_eq!(
            collect_reply(&model).await,
            [call_chunk("call_1", "f", "{}"), call_chunk("call_2", "g", r#"{"x":1}"#), done_chunk]
        );
        assert_eq!(collect_reply(&model).await, [Ok(Chunk::Text("half".into()))]);
        assert_eq!(collect_reply(&model).await, [Err(Error::InStream("no".into()))]);
        assert!(collect_reply(&model).await[0].is_err(), "there is no fifth reply");
        assert_eq!(*model.requests().lock().unwrap(), vec![expected_request("m"); 5]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_paced_reply_takes_the_expected_time_and_keeps_graphemes_whole() {
        let text = "👩‍👩‍👧".repeat(150);
        let start = tokio::time::Instant::now();
        let out = collect_reply(&Scripted::new([says(&text)]).paced(150)).await;
        assert_eq!(start.elapsed().as_millis(), 1000);
        let texts: Vec<String> = out
            .into_iter()
            .filter_map(|item| if let Ok(Chunk::Text(text)) = item { Some(text) } else { None })
            .collect();
        assert!(texts.iter().all(|piece| piece.chars().count() % 5 == 0));
        assert_eq!(texts.concat(), text);
    }
}
