//! The bytes of an answer, unpacked, none of which may be long in coming.

use super::Error;
use super::events::LARGEST;
use super::fault;
use super::patience::Pulse;
use super::unpack::Unpack;
use bytes::Bytes;
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;
use std::time::Duration;

/// How long the rest of a page is waited for, of which the start says enough.
const MOMENT: Duration = Duration::from_secs(2);
/// So many blanks and nothing else are as good as nothing.
const BLANKS: usize = 64 << 10;
/// Some put it before what they send.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The body of an answer.
pub struct Body {
    response: Response,
    idle: Duration,
    pulse: Pulse,
    unpack: Unpack,
    /// What was looked at and not taken.
    first: Vec<u8>,
    ended: bool,
}

impl Body {
    /// The body of this answer, of which no byte may take longer than `idle`; each beats the pulse.
    ///
    /// # Errors
    /// Where it is packed in a way that was not asked for.
    pub fn new(response: Response, idle: Duration, pulse: Pulse) -> Result<Self, Error> {
        let header = response.headers().get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
        let unpack = Unpack::new(header.unwrap_or_default())?;
        Ok(Self { response, idle, pulse, unpack, first: Vec::new(), ended: false })
    }

    /// More of it; `None` at its end.
    ///
    /// # Errors
    /// Where nothing comes for too long, or the connection is lost.
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

    /// The first byte that is neither a blank nor a mark, without taking it.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub async fn peek(&mut self) -> Result<Option<u8>, Error> {
        loop {
            // A mark may come in pieces, and is none before it is whole.
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

    /// Looks at more. `false` at the end.
    async fn grow(&mut self) -> Result<bool, Error> {
        let Some(bytes) = self.more().await? else { return Ok(false) };
        self.first.extend_from_slice(&bytes);
        Ok(true)
    }

    /// What was looked at, without a mark and blanks before it.
    fn bare(&self) -> &[u8] {
        self.first.strip_prefix(MARK).unwrap_or(&self.first).trim_ascii_start()
    }

    /// The start of it up to the end of its first line that is not blank, without taking it. A line that has no end is
    /// not waited for beyond what an event may have.
    ///
    /// # Errors
    /// As [`Self::next`].
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

    /// What was looked at, as text, without a mark at its start.
    pub fn seen(&self) -> String {
        String::from_utf8_lossy(self.bare()).into_owned()
    }

    /// Looks at all of it, without taking it.
    ///
    /// # Errors
    /// As [`Self::next`], or where there is more than an event may have.
    pub async fn all(&mut self) -> Result<(), Error> {
        while self.first.len() <= LARGEST {
            if !self.grow().await? {
                return Ok(());
            }
        }
        Err(Error::NotAModel(format!("the answer has more than {} MB", LARGEST >> 20)))
    }

    /// Up to so many bytes of its start, as text. What does not come soon, or cannot be read, is left out.
    pub async fn start(&mut self, most: usize, limit: Duration) -> String {
        let read = async { while self.first.len() < most && matches!(self.grow().await, Ok(true)) {} };
        let _ = tokio::time::timeout(limit, read).await;
        let bare = self.bare();
        String::from_utf8_lossy(&bare[..bare.len().min(most)]).into_owned()
    }

    /// Enough of its start for a person to see what it is.
    pub async fn glance(&mut self) -> String {
        self.start(4096, MOMENT).await
    }

    /// Whether it begins as a stream of events does.
    ///
    /// # Errors
    /// As [`Self::next`].
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
