//! Records the screen. Each frame is copied, its secrets are masked, and it is drawn on a separate canvas: a recording begins with a
//! whole frame, and has no links, window titles or clipboard contents.

mod chapters;
mod masking;
mod session_secrets;

use super::canvas::Canvas;
use super::state::State;
use crate::recording::cast::{CastEvent, CastHeader, CastVersion};
use crate::recording::cast_writer::CastWriter;
use crate::text::known_secrets::KnownSecrets;
use chapters::Chapters;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use session_secrets::SessionSecrets;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Settings of a recording.
#[derive(Debug, Clone, Default)]
pub struct RecordingOptions {
    pub version: CastVersion,
    /// Secrets to mask, also those that are added during the recording.
    pub secrets: KnownSecrets,
    /// Title; `None` for that of the session.
    pub title: Option<String>,
    /// Start in seconds since 1970; `None` for now.
    pub timestamp: Option<u64>,
}

/// The recording of a closed screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    pub file: PathBuf,
    /// Why its end is missing.
    pub failure: Option<String>,
}

/// A recording in progress.
pub struct Recorder {
    canvas: Canvas,
    secrets: SessionSecrets,
    chapters: Chapters,
    writer: CastWriter,
    size: (u16, u16),
    /// Time since program start at which the recording begins.
    start: Duration,
}

impl Recorder {
    /// Creates the file. Frames before `start`, the time since program start, are not recorded.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn start(path: &Path, options: &RecordingOptions, state: &State, start: Duration) -> io::Result<Self> {
        let mut secrets = SessionSecrets::new(options.secrets.clone());
        // The title is the cut beginning of a message.
        secrets.learn(state);
        let title = options.title.as_deref().or(state.agent.session.title());
        let header = CastHeader {
            version: options.version,
            size: state.viewport.size,
            timestamp: options.timestamp.unwrap_or_else(|| {
                SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
            }),
            title: title.map(|title| secrets.masker.mask_text(title)),
            colours: state.theme.default_colours(),
        };
        let writer = CastWriter::create(path, &header)?;
        Ok(Self {
            // Players erase with the current background colour.
            canvas: Canvas::new(true),
            secrets,
            chapters: Chapters::default(),
            writer,
            size: header.size,
            start,
        })
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        self.writer.path()
    }

    /// Returns whether frames are recorded at this time since program start.
    pub fn has_begun(&self, now: Duration) -> bool {
        now >= self.start
    }

    /// Records a frame that shows this state, at this time since program start.
    ///
    /// # Errors
    /// If an earlier line could not be written. The error is returned once; later calls do nothing.
    pub fn record_frame(
        &mut self,
        state: &State,
        frame: &Buffer,
        cursor: Option<Position>,
        now: Duration,
    ) -> io::Result<()> {
        let Some(time) = now.checked_sub(self.start) else { return Ok(()) };
        self.secrets.learn(state);
        for name in self.chapters.new_names(state) {
            let name = self.secrets.masker.mask_text(&name);
            self.writer.write(time, CastEvent::Marker(&name))?;
        }
        let size = (frame.area.width, frame.area.height);
        if size != self.size {
            self.size = size;
            self.writer.write(time, CastEvent::Resized(size.0, size.1))?;
        }
        let mut masked = self.canvas.empty_buffer(size.0, size.1);
        masked.content.clone_from(&frame.content);
        self.secrets.masker.mask_frame(&mut masked);
        // Drawn last: a secret that is partly covered might not be found.
        state.draw_key_caps(&mut masked);
        let bytes = self.canvas.encode_frame(masked, &[], cursor);
        if bytes.is_empty() {
            return Ok(());
        }
        self.writer.write(time, CastEvent::Output(&String::from_utf8_lossy(bytes)))
    }

    /// Marks a chapter at this time since program start.
    ///
    /// # Errors
    /// As [`Self::record_frame`].
    pub fn mark(&mut self, name: &str, now: Duration) -> io::Result<()> {
        let name = self.secrets.masker.mask_text(name);
        self.writer.write(now.saturating_sub(self.start), CastEvent::Marker(&name))
    }

    /// Lets the recording last until this time since program start.
    ///
    /// # Errors
    /// As [`Self::record_frame`].
    pub fn record_end(&mut self, now: Duration) -> io::Result<()> {
        self.writer.write(now.saturating_sub(self.start), CastEvent::Output(""))
    }

    /// Waits up to 2 seconds until everything is written.
    ///
    /// # Errors
    /// Why the end is missing.
    pub fn finish(self) -> io::Result<()> {
        self.writer.finish()
    }
}

#[cfg(test)]
mod tests;
