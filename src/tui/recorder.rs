//! Records what the screen shows. A recording has a canvas of its own, so that it begins with a whole frame, holds no secret and
//! none of the sequences that are meant for the user's terminal: links, titles, the clipboard.

mod chapters;
mod masking;

use super::canvas::Canvas;
use super::state::State;
use crate::agent::{self, Phase, WaitingCall};
use crate::chat::{CallId, SessionId};
use crate::recording::cast::{CastEvent, CastHeader, CastVersion};
use crate::recording::cast_writer::CastWriter;
use crate::text::clean::clean_text;
use crate::text::known_secrets::KnownSecrets;
use crate::text::redaction::is_secret_name;
use crate::tui::popup::{Popup, ReaderBody};
use crate::tui::workspace_data::PreviewContent;
use chapters::Chapters;
use masking::FrameMasker;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use serde::Serialize;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Settings of a recording.
#[derive(Debug, Clone, Default)]
pub struct RecordingOptions {
    pub version: CastVersion,
    /// Secrets that it must not hold, also those that are added later.
    pub secrets: KnownSecrets,
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
    masker: FrameMasker,
    chapters: Chapters,
    writer: CastWriter,
    size: (u16, u16),
    /// Time since program start at which the recording begins.
    start: Duration,
    /// Session and number of its entries whose secrets are known.
    learned: (Option<SessionId>, usize),
    /// The call whose preview was searched for secrets last.
    learned_call: Option<CallId>,
    /// Lengths of the texts that are not entries yet, when their secrets were searched.
    live_lengths: Vec<usize>,
}

impl Recorder {
    /// Creates the file. Frames before `start`, the time since program start, are not recorded.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn start(path: &Path, options: &RecordingOptions, state: &State, start: Duration) -> io::Result<Self> {
        let mut masker = FrameMasker::new(options.secrets.clone());
        // The title is the cut beginning of a message.
        state.agent.session.entries().iter().for_each(|entry| learn_serialized(&mut masker, entry));
        let header = CastHeader {
            version: options.version,
            size: state.viewport.size,
            timestamp: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs(),
            title: state.agent.session.title().map(|title| masker.mask_text(title)),
            colours: state.theme.default_colours(),
        };
        let writer = CastWriter::create(path, &header)?;
        Ok(Self {
            // Players erase with the current background colour.
            canvas: Canvas::new(true),
            masker,
            chapters: Chapters::default(),
            writer,
            size: header.size,
            start,
            learned: (Some(state.session.id.clone()), state.agent.session.entries().len()),
            learned_call: None,
            live_lengths: Vec::new(),
        })
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        self.writer.path()
    }

    /// Records a frame that shows this state, at this time since program start.
    ///
    /// # Errors
    /// Why the recording ended. Later frames are not recorded, without an error.
    pub fn record_frame(
        &mut self,
        state: &State,
        frame: &Buffer,
        cursor: Option<Position>,
        now: Duration,
    ) -> io::Result<()> {
        let Some(time) = now.checked_sub(self.start) else { return Ok(()) };
        self.learn_secrets(state);
        for name in self.chapters.new_names(state) {
            let name = self.masker.mask_text(&name);
            self.writer.write(time, CastEvent::Marker(&name))?;
        }
        let size = (frame.area.width, frame.area.height);
        if size != self.size {
            self.size = size;
            self.writer.write(time, CastEvent::Resized(size.0, size.1))?;
        }
        let mut masked = self.canvas.empty_buffer(size.0, size.1);
        masked.content.clone_from(&frame.content);
        self.masker.mask_frame(&mut masked);
        let bytes = self.canvas.encode_frame(masked, &[], cursor);
        if bytes.is_empty() {
            return Ok(());
        }
        self.writer.write(time, CastEvent::Output(&String::from_utf8_lossy(bytes)))
    }

    /// Waits up to 2 seconds until everything is written.
    ///
    /// # Errors
    /// Why the end is missing.
    pub fn finish(self) -> io::Result<()> {
        self.writer.finish()
    }

    /// Searches what the session holds for secrets: the screen may show the end of one without its beginning.
    fn learn_secrets(&mut self, state: &State) {
        let entries = state.agent.session.entries();
        if self.learned.0.as_ref() != Some(&state.session.id) || self.learned.1 > entries.len() {
            self.learned = (Some(state.session.id.clone()), 0);
        }
        for entry in &entries[self.learned.1..] {
            learn_serialized(&mut self.masker, entry);
        }
        self.learned.1 = entries.len();
        if let Some(WaitingCall::Approval { call, plan, .. }) = state.agent.waiting_call()
            && self.learned_call.as_ref() != Some(&call.id)
        {
            self.learned_call = Some(call.id.clone());
            learn_serialized(&mut self.masker, &plan.preview);
        }
        let mut live_texts = live_texts(&state.agent);
        live_texts.extend(state.viewport.popups.last().and_then(page_text));
        for (index, text) in live_texts.iter().enumerate() {
            if self.live_lengths.get(index) != Some(&text.len()) {
                self.masker.learn(text);
            }
        }
        self.live_lengths = live_texts.iter().map(|text| text.len()).collect();
    }
}

/// Learns the secrets in the strings of a value that can be serialized.
fn learn_serialized(masker: &mut FrameMasker, value: &impl Serialize) {
    learn_value(masker, &serde_json::to_value(value).unwrap_or_default());
}

/// Learns the secrets in the strings of a value. Arguments of a call are JSON in a string.
fn learn_value(masker: &mut FrameMasker, value: &Value) {
    match value {
        Value::String(text) => {
            masker.learn(text);
            masker.learn(&clean_text(text));
            if text.starts_with('{')
                && let Ok(arguments) = serde_json::from_str::<Value>(text)
            {
                learn_value(masker, &arguments);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| learn_value(masker, item)),
        Value::Object(fields) => {
            for (name, field) in fields {
                if let Value::String(text) = field
                    && is_secret_name(name)
                {
                    masker.remember(text);
                }
                learn_value(masker, field);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the text of a page with the content of a file or an output.
fn page_text(popup: &Popup) -> Option<&str> {
    let Popup::Reader(reader) = popup else { return None };
    let preview = match &reader.body {
        ReaderBody::File(page) => page.preview.as_deref()?.as_ref().ok()?,
        ReaderBody::Link(page) => page.preview.as_deref()?.as_ref().ok()?,
        _ => return Some(&reader.text),
    };
    match &preview.content {
        PreviewContent::Markdown(text) | PreviewContent::Text { text, .. } => Some(text),
        PreviewContent::Lines(lines) => Some(&lines.text),
        PreviewContent::Json(_) | PreviewContent::Table(_) | PreviewContent::NoText(_) => None,
    }
}

/// Returns the texts of the turn that are not entries yet.
fn live_texts(agent: &agent::State) -> Vec<&str> {
    let mut texts: Vec<&str> = agent.background.iter().map(|command| &*command.latest_output).collect();
    match &agent.phase {
        Phase::Replying(reply) => texts.extend([&*reply.text, &*reply.reasoning]),
        Phase::RunningUserCommand(command) => texts.push(&command.latest_output),
        Phase::RunningCalls { calls, .. } => {
            for call in calls {
                texts.push(call.output());
                texts.extend(call.sub_agent().into_iter().flat_map(|sub_agent| live_texts(&sub_agent.state)));
            }
        }
        Phase::Idle => {}
    }
    texts
}

#[cfg(test)]
mod tests;
