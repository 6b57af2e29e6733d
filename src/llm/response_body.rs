//! Decompressed body of a response, with an idle limit for each read.

use super::Error;
use super::connection_error::innermost_cause;
use super::decompression::Decompressor;
use super::events::MAX_EVENT_BYTES;
use super::timeouts::Pulse;
use bytes::Bytes;
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;
use std::time::Duration;

/// Time limit for reading the start of a body for an error message.
const START_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum bytes of leading whitespace. A body with more counts as empty.
const MAX_LEADING_BLANKS: usize = 64 << 10;
/// UTF-8 byte order mark, which some servers send first.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Body of a response.
pub struct Body {
    response: Response,
    idle_limit: Duration,
    pulse: Pulse,
    decompressor: Decompressor,
    /// Bytes that were peeked at and not consumed.
    peeked: Vec<u8>,
    has_ended: bool,
}

impl Body {
    /// Wraps the body of a response. Every read may take at most `idle_limit` and is recorded in the pulse.
    ///
    /// # Errors
    /// Fails if the content encoding is not supported.
    pub fn new(response: Response, idle_limit: Duration, pulse: Pulse) -> Result<Self, Error> {
        let header = response.headers().get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
        let decompressor = Decompressor::new(header.unwrap_or_default())?;
        Ok(Self { response, idle_limit, pulse, decompressor, peeked: Vec::new(), has_ended: false })
    }

    /// Returns the next bytes, or `None` at the end.
    ///
    /// # Errors
    /// Fails if no data arrives within the idle limit, or if the connection is lost.
    pub async fn next_bytes(&mut self) -> Result<Option<Bytes>, Error> {
        if !self.peeked.is_empty() {
            return Ok(Some(std::mem::take(&mut self.peeked).into()));
        }
        self.read_more().await
    }

    async fn read_more(&mut self) -> Result<Option<Bytes>, Error> {
        while !self.has_ended {
            if let Some(bytes) = self.decompressor.take_output()? {
                return Ok(Some(bytes));
            }
            match tokio::time::timeout(self.idle_limit, self.response.chunk()).await {
                Err(_) => return Err(Error::Idle(self.idle_limit)),
                Ok(Err(error)) => return Err(Error::ConnectionLost(innermost_cause(&error))),
                Ok(Ok(Some(bytes))) => {
                    self.pulse.record_beat();
                    self.decompressor.push_input(bytes);
                }
                Ok(Ok(None)) => self.has_ended = true,
            }
        }
        self.decompressor.finish()
    }

    /// Returns the first byte after a byte order mark and whitespace, without consuming it.
    ///
    /// # Errors
    /// As `next_bytes`.
    pub async fn peek_first_byte(&mut self) -> Result<Option<u8>, Error> {
        loop {
            // The byte order mark may arrive in pieces.
            if !BYTE_ORDER_MARK.starts_with(&self.peeked)
                && let Some(byte) = self.peeked_content().first()
            {
                return Ok(Some(*byte));
            }
            if self.peeked.len() > MAX_LEADING_BLANKS || !self.peek_more().await? {
                return Ok(self.peeked_content().first().copied());
            }
        }
    }

    /// Reads more bytes into the peek buffer. Returns `false` at the end.
    async fn peek_more(&mut self) -> Result<bool, Error> {
        let Some(bytes) = self.read_more().await? else { return Ok(false) };
        self.peeked.extend_from_slice(&bytes);
        Ok(true)
    }

    /// Returns the peeked bytes without a byte order mark and leading whitespace.
    fn peeked_content(&self) -> &[u8] {
        self.peeked.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.peeked).trim_ascii_start()
    }

    /// Returns the body up to the end of its first non-blank line, without consuming it. Reads at most the size limit
    /// of an event.
    ///
    /// # Errors
    /// As `next_bytes`.
    pub async fn peek_first_line(&mut self) -> Result<String, Error> {
        let mut search_start = self.peeked.len() - self.peeked_content().len();
        while !self.peeked[search_start..].contains(&b'\n') && self.peeked.len() <= MAX_EVENT_BYTES {
            search_start = self.peeked.len();
            if !self.peek_more().await? {
                break;
            }
        }
        let line = self.peeked_content().split(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok(String::from_utf8_lossy(line).into_owned())
    }

    /// Returns the peeked bytes as text, without a byte order mark and leading whitespace.
    pub fn peeked_text(&self) -> String {
        String::from_utf8_lossy(self.peeked_content()).into_owned()
    }

    /// Reads the whole body into the peek buffer.
    ///
    /// # Errors
    /// As `next_bytes`, or if the body exceeds the size limit of an event.
    pub async fn peek_all(&mut self) -> Result<(), Error> {
        while self.peeked.len() <= MAX_EVENT_BYTES {
            if !self.peek_more().await? {
                return Ok(());
            }
        }
        Err(Error::InvalidReply(format!("Cannot read the response: it is larger than {} MB", MAX_EVENT_BYTES >> 20)))
    }

    /// Returns up to `max_bytes` bytes of the body as text. Bytes that arrive too late or cannot be read are omitted.
    pub async fn peek_start(&mut self, max_bytes: usize, limit: Duration) -> String {
        let read_start = async { while self.peeked.len() < max_bytes && matches!(self.peek_more().await, Ok(true)) {} };
        let _ = tokio::time::timeout(limit, read_start).await;
        let content = self.peeked_content();
        String::from_utf8_lossy(&content[..content.len().min(max_bytes)]).into_owned()
    }

    /// Returns the start of the body, for an error message.
    pub async fn peek_for_error(&mut self) -> String {
        self.peek_start(4096, START_TIMEOUT).await
    }

    /// Returns whether the body starts like a stream of events.
    ///
    /// # Errors
    /// As `next_bytes`.
    pub async fn begins_as_events(&mut self) -> Result<bool, Error> {
        let fields = [&b":"[..], b"data", b"event", b"error", b"id", b"retry"];
        while fields
            .iter()
            .any(|field| field.len() > self.peeked_content().len() && field.starts_with(self.peeked_content()))
        {
            if !self.peek_more().await? {
                break;
            }
        }
        Ok(fields.iter().any(|field| self.peeked_content().starts_with(field)))
    }
}
