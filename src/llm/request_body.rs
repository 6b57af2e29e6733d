//! Serialized body of a request.
//!
//! The parameters remain values, which can be inspected and removed; async-openai serializes and sends them. The
//! conversation, which may take megabytes, is serialized once, message by message, in pieces, and is added to the
//! parameters by the middleware. async-openai would serialize it into one block for each attempt: 10 MB take up to
//! 25 MB of memory and 33 MB of allocations each time, instead of 10.3 MB once and 9 kB for each attempt. An allocator
//! may also never return the memory of one large block.

use bytes::Bytes;
use futures::stream;
use reqwest::header::CONTENT_LENGTH;
use reqwest::{Body, Request};
use serde::Serialize;
use serde_json::{Map, Value};
use std::convert::Infallible;
use std::io::{self, Write};
use std::sync::Arc;

/// Size of a piece in bytes.
const CHUNK_BYTES: usize = 64 << 10;

/// A body ready to send. Cheap to clone except for the tools in its parameters.
#[derive(Debug, Clone)]
pub struct RequestBody {
    /// Everything except the conversation.
    pub parameters: Map<String, Value>,
    pub conversation: Conversation,
}

impl RequestBody {
    /// Serializes the items as the conversation under this key, next to the parameters.
    pub fn new<T: Serialize>(
        parameters: Map<String, Value>,
        conversation_key: &'static str,
        items: impl Iterator<Item = T>,
    ) -> Self {
        let mut writer = ChunkWriter::default();
        for (index, item) in items.enumerate() {
            writer.push_text(if index == 0 { "[" } else { "," });
            writer.push_json(&item);
        }
        if writer.is_empty() {
            writer.push_text("[");
        }
        writer.push_text("]");
        let conversation = Conversation { key: conversation_key, pieces: writer.into_chunks().into() };
        Self { parameters, conversation }
    }
}

/// A serialized conversation. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Its key in the body, such as `messages`.
    key: &'static str,
    pieces: Arc<[Bytes]>,
}

impl Conversation {
    /// Adds the conversation to a request whose body contains the parameters. The length is sent because many
    /// providers require it.
    pub fn add_to(&self, request: &mut Request) {
        let parameters = request.body().and_then(Body::as_bytes).unwrap_or_default();
        let pieces = self.join_parameters(parameters);
        let length: usize = pieces.iter().map(Bytes::len).sum();
        request.headers_mut().insert(CONTENT_LENGTH, length.into());
        *request.body_mut() = Some(Body::wrap_stream(stream::iter(pieces.into_iter().map(Ok::<_, Infallible>))));
    }

    /// Returns the pieces of a body with these parameters, which are a JSON object.
    fn join_parameters(&self, parameters: &[u8]) -> Vec<Bytes> {
        let mut start = parameters.strip_suffix(b"}").unwrap_or(b"{").to_vec();
        if start != b"{" {
            start.push(b',');
        }
        start.extend_from_slice(format!("\"{}\":", self.key).as_bytes());
        let conversation = self.pieces.iter().cloned();
        std::iter::once(start.into()).chain(conversation).chain([Bytes::from_static(b"}")]).collect()
    }
}

/// Returns the parameters of a request of async-openai's types, which can be changed and extended as values.
pub fn to_parameters(request: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(request) {
        Ok(Value::Object(parameters)) => parameters,
        Ok(_) | Err(_) => unreachable!("a request is a struct with names as keys"),
    }
}

/// Writer that cuts its output into pieces.
#[derive(Default)]
struct ChunkWriter {
    chunks: Vec<Bytes>,
    current: Vec<u8>,
}

impl ChunkWriter {
    fn push_text(&mut self, text: &str) {
        self.write_all(text.as_bytes()).expect("writing to memory succeeds");
    }

    fn push_json(&mut self, value: &(impl Serialize + ?Sized)) {
        serde_json::to_writer(self, value).expect("a request can be serialized");
    }

    fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.current.is_empty()
    }

    fn into_chunks(mut self) -> Vec<Bytes> {
        self.current.shrink_to_fit();
        self.chunks.push(self.current.into());
        self.chunks
    }
}

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.current.len() == CHUNK_BYTES {
            let chunk = std::mem::replace(&mut self.current, Vec::with_capacity(CHUNK_BYTES));
            self.chunks.push(chunk.into());
        }
        let written = &bytes[..bytes.len().min(CHUNK_BYTES - self.current.len())];
        self.current.extend_from_slice(written);
        Ok(written.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
impl RequestBody {
    /// Returns the pieces of the body that is sent.
    fn pieces(&self) -> Vec<Bytes> {
        self.conversation.join_parameters(&serde_json::to_vec(&self.parameters).unwrap())
    }

    /// Parses the body as a provider does.
    pub fn to_value(&self) -> Value {
        serde_json::from_slice(&self.pieces().concat()).unwrap()
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
                (0..count).map(|index| format!("\u{6f22}\u{5b57} {index} {}", "x".repeat(100))).collect();
            let body = RequestBody::new(parameters.clone(), "messages", items.iter());
            let expected = json!({"model": "m \"quoted\"", "most": 3, "messages": items});
            assert_eq!(body.to_value(), expected, "{count}");
            let pieces = body.pieces();
            assert!(pieces.iter().all(|piece| piece.len() <= CHUNK_BYTES), "{count}");
            // Besides the full pieces: the parameters, the last piece of the conversation, and the closing brace.
            assert!(pieces.len() <= 3 + expected.to_string().len() / CHUNK_BYTES);
        }
    }

    #[test]
    fn a_piece_may_be_exactly_full() {
        for length in CHUNK_BYTES - 9..CHUNK_BYTES + 9 {
            let items = ["z".repeat(length), "and on".to_owned()];
            let body = RequestBody::new(Map::new(), "input", items.iter());
            assert_eq!(body.to_value()["input"], json!(items), "{length}");
        }
    }

    #[test]
    fn one_long_item_is_split() {
        let body = RequestBody::new(Map::new(), "input", [["y".repeat(5 * CHUNK_BYTES)]].iter());
        assert_eq!(body.to_value()["input"][0][0].as_str().unwrap().len(), 5 * CHUNK_BYTES);
        assert!(body.conversation.pieces.iter().all(|piece| piece.len() <= CHUNK_BYTES));
    }

    #[test]
    fn a_conversation_is_not_copied_to_be_sent() {
        let items = vec!["x".repeat(1000); 10_000];
        let body = RequestBody::new(Map::new(), "messages", items.iter());
        let allocations = allocation_counter::measure(|| drop(body.conversation.join_parameters(b"{\"model\":\"m\"}")));
        assert!(allocations.bytes_total < 100_000, "{allocations:?}");
    }
}
