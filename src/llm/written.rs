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
const PIECE: usize = 64 << 10;

/// A body ready to send. Cheap to clone except for its tools.
#[derive(Debug, Clone)]
pub struct Written {
    /// Everything except the conversation.
    pub parameters: Map<String, Value>,
    /// Key of the conversation, such as `messages`.
    name: &'static str,
    talk: Arc<[Bytes]>,
}

impl Written {
    /// Serializes the items as the conversation under this key, next to the parameters.
    pub fn new<T: Serialize>(
        parameters: Map<String, Value>,
        name: &'static str,
        items: impl Iterator<Item = T>,
    ) -> Self {
        let mut pieces = Pieces::default();
        for (at, item) in items.enumerate() {
            pieces.put(if at == 0 { "[" } else { "," });
            pieces.json(&item);
        }
        if pieces.is_empty() {
            pieces.put("[");
        }
        pieces.put("]");
        Self { parameters, name, talk: pieces.finish().into() }
    }

    /// Returns the body for sending.
    pub fn sending(&self) -> Sending {
        let mut head = Pieces::default();
        head.put("{");
        for (name, value) in &self.parameters {
            head.json(name);
            head.put(":");
            head.json(value);
            head.put(",");
        }
        head.json(self.name);
        head.put(":");
        let talk = self.talk.iter().cloned();
        let pieces: VecDeque<Bytes> =
            head.finish().into_iter().chain(talk).chain([Bytes::from_static(b"}")]).collect();
        Sending { left: pieces.iter().map(|piece| piece.len() as u64).sum(), pieces }
    }
}

/// Writer that cuts its output into pieces.
#[derive(Default)]
struct Pieces {
    full: Vec<Bytes>,
    last: Vec<u8>,
}

impl Pieces {
    fn put(&mut self, text: &str) {
        self.write_all(text.as_bytes()).expect("writing to memory succeeds");
    }

    fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        serde_json::to_writer(self, value).expect("a request can be serialized");
    }

    fn is_empty(&self) -> bool {
        self.full.is_empty() && self.last.is_empty()
    }

    fn finish(mut self) -> Vec<Bytes> {
        self.last.shrink_to_fit();
        self.full.push(self.last.into());
        self.full
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.last.len() == PIECE {
            let full = std::mem::replace(&mut self.last, Vec::with_capacity(PIECE));
            self.full.push(full.into());
        }
        let now = &bytes[..bytes.len().min(PIECE - self.last.len())];
        self.last.extend_from_slice(now);
        Ok(now.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A body being sent. Its length is known, as many providers require.
pub struct Sending {
    pieces: VecDeque<Bytes>,
    left: u64,
}

impl Body for Sending {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
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
impl Written {
    /// Parses the body as a provider does.
    pub fn read(&self) -> Value {
        let bytes: Vec<u8> = self.sending().pieces.into_iter().flatten().collect();
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
            let written = Written::new(parameters.clone(), "messages", items.iter());
            let expected = json!({"model": "m \"quoted\"", "most": 3, "messages": items});
            assert_eq!(written.read(), expected, "{count}");
            let sending = written.sending();
            assert_eq!(sending.size_hint().exact(), Some(expected.to_string().len() as u64));
            assert!(sending.pieces.iter().all(|piece| piece.len() <= PIECE), "{count}");
            assert!(sending.pieces.len() <= 3 + expected.to_string().len() / PIECE);
        }
    }

    #[test]
    fn a_piece_may_be_exactly_full() {
        for length in PIECE - 9..PIECE + 9 {
            let items = ["z".repeat(length), "and on".to_owned()];
            let written = Written::new(Map::new(), "input", items.iter());
            assert_eq!(written.read()["input"], json!(items), "{length}");
        }
    }

    #[test]
    fn one_long_item_is_split() {
        let written = Written::new(Map::new(), "input", [["y".repeat(5 * PIECE)]].iter());
        assert_eq!(written.read()["input"][0][0].as_str().unwrap().len(), 5 * PIECE);
        assert!(written.talk.iter().all(|piece| piece.len() <= PIECE));
    }
}
