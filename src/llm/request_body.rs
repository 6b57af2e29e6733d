//! Serialized body of a request. The parameters remain values, which can be inspected and removed. The conversation,
//! which may take megabytes, is serialized once, message by message, in pieces: an allocator may never return the
//! memory of one large block.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Size of a piece in bytes.
const CHUNK_BYTES: usize = 64 << 10;

/// A body ready to send. Cheap to clone except for its tools.
#[derive(Debug, Clone)]
pub struct RequestBody {
    /// Everything except the conversation.
    pub parameters: Map<String, Value>,
    /// Key of the conversation, such as `messages`.
    conversation_key: &'static str,
    conversation: Arc<[Bytes]>,
}

impl RequestBody {
    /// Serializes the items as the conversation under this key, next to the parameters.
    pub fn new<T: Serialize>(
        parameters: Map<String, Value>,
        conversation_key: &'static str,
        items: impl Iterator<Item = T>,
    ) -> Self {
        let mut pieces = ChunkWriter::default();
        for (at, item) in items.enumerate() {
            pieces.push_text(if at == 0 { "[" } else { "," });
            pieces.push_json(&item);
        }
        if pieces.is_empty() {
            pieces.push_text("[");
        }
        pieces.push_text("]");
        Self { parameters, conversation_key, conversation: pieces.into_chunks().into() }
    }

    /// Returns the body for sending.
    pub fn to_sending(&self) -> SendingBody {
        let mut head = ChunkWriter::default();
        head.push_text("{");
        for (name, value) in &self.parameters {
            head.push_json(name);
            head.push_text(":");
            head.push_json(value);
            head.push_text(",");
        }
        head.push_json(self.conversation_key);
        head.push_text(":");
        let talk = self.conversation.iter().cloned();
        let pieces: VecDeque<Bytes> =
            head.into_chunks().into_iter().chain(talk).chain([Bytes::from_static(b"}")]).collect();
        SendingBody { left: pieces.iter().map(|piece| piece.len() as u64).sum(), pieces }
    }
}

/// Returns the parameters of a request of async-openai's types, which can be changed and extended as values.
pub fn parameters_of(request: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(request) {
        Ok(Value::Object(parameters)) => parameters,
        Ok(_) | Err(_) => unreachable!("a request is a struct with names as keys"),
    }
}

/// Writer that cuts its output into pieces.
#[derive(Default)]
struct ChunkWriter {
    full: Vec<Bytes>,
    last: Vec<u8>,
}

impl ChunkWriter {
    fn push_text(&mut self, text: &str) {
        self.write_all(text.as_bytes()).expect("writing to memory succeeds");
    }

    fn push_json(&mut self, value: &(impl Serialize + ?Sized)) {
        serde_json::to_writer(self, value).expect("a request can be serialized");
    }

    fn is_empty(&self) -> bool {
        self.full.is_empty() && self.last.is_empty()
    }

    fn into_chunks(mut self) -> Vec<Bytes> {
        self.last.shrink_to_fit();
        self.full.push(self.last.into());
        self.full
    }
}

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.last.len() == CHUNK_BYTES {
            let full = std::mem::replace(&mut self.last, Vec::with_capacity(CHUNK_BYTES));
            self.full.push(full.into());
        }
        let now = &bytes[..bytes.len().min(CHUNK_BYTES - self.last.len())];
        self.last.extend_from_slice(now);
        Ok(now.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A body being sent. Its length is known, as many providers require.
pub struct SendingBody {
    pieces: VecDeque<Bytes>,
    left: u64,
}

impl Body for SendingBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.pop_front();
        self.left -= piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
impl RequestBody {
    /// Parses the body as a provider does.
    pub fn to_value(&self) -> Value {
        let bytes: Vec<u8> = self.to_sending().pieces.into_iter().flatten().collect();
        serde_json::from_slice(&bytes).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pieces_form_the_complete_body() {
        let parameters = json!({"model": "m \"quoted\"", "most": 3}).as_object().unwrap().clone();
        for count in [0, 1, 2, 5000] {
            let items: Vec<String> =
                (0..count).map(|at| format!("\u{6f22}\u{5b57} {at} {}", "x".repeat(100))).collect();
            let written = RequestBody::new(parameters.clone(), "messages", items.iter());
            let expected = json!({"model": "m \"quoted\"", "most": 3, "messages": items});
            assert_eq!(written.to_value(), expected, "{count}");
            let sending = written.to_sending();
            assert_eq!(sending.size_hint().exact(), Some(expected.to_string().len() as u64));
            assert!(sending.pieces.iter().all(|piece| piece.len() <= CHUNK_BYTES), "{count}");
            assert!(sending.pieces.len() <= 3 + expected.to_string().len() / CHUNK_BYTES);
        }
    }

    #[test]
    fn a_piece_may_be_exactly_full() {
        for length in CHUNK_BYTES - 9..CHUNK_BYTES + 9 {
            let items = ["z".repeat(length), "and on".to_owned()];
            let written = RequestBody::new(Map::new(), "input", items.iter());
            assert_eq!(written.to_value()["input"], json!(items), "{length}");
        }
    }

    #[test]
    fn one_long_item_is_split() {
        let written = RequestBody::new(Map::new(), "input", [["y".repeat(5 * CHUNK_BYTES)]].iter());
        assert_eq!(written.to_value()["input"][0][0].as_str().unwrap().len(), 5 * CHUNK_BYTES);
        assert!(written.conversation.iter().all(|piece| piece.len() <= CHUNK_BYTES));
    }
}
