//! Decompressed body of a response, with an idle limit for each read.

use super::Error;
use super::events::LARGEST;
use super::fault;
use super::patience::Pulse;
use super::unpack::Unpack;
use bytes::Bytes;
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;
use std::time::Duration;

/// Time limit for reading the rest of a page whose start is enough for an error message.
const MOMENT: Duration = Duration::from_secs(2);
/// Maximum bytes of leading whitespace. A body with more counts as empty.
const BLANKS: usize = 64 << 10;
/// UTF-8 byte order mark, which some servers send first.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Body of a response.
pub struct Body {
    response: Response,
    idle: Duration,
    pulse: Pulse,
    unpack: Unpack,
    /// Bytes that were peeked at and not consumed.
    first: Vec<u8>,
    ended: bool,
}

impl Body {
    /// Wraps the body of a response. Every read may take at most `idle` and beats the pulse.
    ///
    /// # Errors
    /// Fails if the content encoding is not supported.
    pub fn new(response: Response, idle: Duration, pulse: Pulse) -> Result<Self, Error> {
        let header = response.headers().get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
        let unpack = Unpack::new(header.unwrap_or_default())?;
        Ok(Self { response, idle, pulse, unpack, first: Vec::new(), ended: false })
    }

    /// Returns the next bytes, or `None` at the end.
    ///
    /// # Errors
    /// Fails if no data arrives within the idle limit, or if the connection is lost.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        if !self.first.is_empty() {
            return Ok(Some(std::mem::take(&mut self.first).into()));
        }
        self.more().await
    }

    async fn more(&mut self) -> Result<Option<Bytes>, Error> {
        while !self.ended {
            if let Some(piece) = self.unpack.take()? {
                return Ok(Some(piece));
            }
            match tokio::time::timeout(self.idle, self.response.chunk()).await {
                Err(_) => return Err(Error::Idle(self.idle)),
                Ok(Err(error)) => return Err(Error::Cut(fault::innermost(&error))),
                Ok(Ok(Some(bytes))) => {
                    self.pulse.beats();
                    self.unpack.put(bytes);
                }
                Ok(Ok(None)) => self.ended = true,
            }
        }
        self.unpack.end()
    }

    /// Returns the first byte after a byte order mark and whitespace, without consuming it.
    ///
    /// # Errors
    /// As `next_bytes`.
    pub async fn peek(&mut self) -> Result<Option<u8>, Error> {
        loop {
            // The byte order mark may arrive in pieces.
            if !MARK.starts_with(&self.first)
                && let Some(byte) = self.bare().first()
            {
                return Ok(Some(*byte));
            }
            if self.first.len() > BLANKS || !self.grow().await? {
                return Ok(self.bare().first().copied());
            }
        }
    }

    /// Reads more bytes into the peek buffer. Returns `false` at the end.
    async fn grow(&mut self) -> Result<bool, Error> {
        let Some(bytes) = self.more().await? else { return Ok(false) };
        self.first.extend_from_slice(&bytes);
        Ok(true)
    }

    /// Returns the peeked bytes without a byte order mark and leading whitespace.
    fn bare(&self) -> &[u8] {
        self.first.strip_prefix(MARK).unwrap_or(&self.first).trim_ascii_start()
    }

    /// Returns the body up to the end of its first non-blank line, without consuming it. Reads at most the size limit
    /// of an event.
    ///
    /// # Errors
    /// As `next_bytes`.
    pub async fn first_line(&mut self) -> Result<String, Error> {
        let mut from = self.first.len() - self.bare().len();
        while !self.first[from..].contains(&b'\n') && self.first.len() <= LARGEST {
            from = self.first.len();
            if !self.grow().await? {
                break;
            }
        }
        let line = self.bare().split(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok(String::from_utf8_lossy(line).into_owned())
    }

    /// Returns the peeked bytes as text, without a byte order mark.
    pub fn seen(&self) -> String {
        String::from_utf8_lossy(self.bare()).into_owned()
    }

    /// Reads the whole body into the peek buffer.
    ///
    /// # Errors
    /// As `next_bytes`, or if the body exceeds the size limit of an event.
    pub async fn all(&mut self) -> Result<(), Error> {
        while self.first.len() <= LARGEST {
            if !self.grow().await? {
                return Ok(());
            }
        }
        Err(Error::NotAModel(format!("Cannot read the response: it is larger than {} MB", LARGEST >> 20)))
    }

    /// Returns up to `most` bytes of the body as text. Bytes that do not arrive in time or cannot be read are omitted.
    pub async fn start(&mut self, most: usize, limit: Duration) -> String {
        let read = async { while self.first.len() < most && matches!(self.grow().await, Ok(true)) {} };
        let _ = tokio::time::timeout(limit, read).await;
        let bare = self.bare();
        String::from_utf8_lossy(&bare[..bare.len().min(most)]).into_owned()
    }

    /// Returns the start of the body, for an error message.
    pub async fn glance(&mut self) -> String {
        self.start(4096, MOMENT).await
    }

    /// Returns whether the body starts like a stream of events.
    ///
    /// # Errors
    /// As `next_bytes`.
    pub async fn begins_as_events(&mut self) -> Result<bool, Error> {
        let fields = [&b":"[..], b"data", b"event", b"error", b"id", b"retry"];
        while fields.iter().any(|field| field.len() > self.bare().len() && field.starts_with(self.bare())) {
            if !self.grow().await? {
                break;
            }
        }
        Ok(fields.iter().any(|field| self.bare().starts_with(field)))
    }
}
