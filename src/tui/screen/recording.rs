//! Recording of the screen: starts and stops it, and records each frame.

use super::Screen;
use crate::tui::event::Event;
use crate::tui::host::HostReply;
use crate::tui::parts::frame::is_horizontal_line;
use crate::tui::parts::pictures::Protocol;
use crate::tui::parts::toast::Kind;
use crate::tui::recorder::{Recorded, Recorder};
use crate::tui::screen::external_program::expand_home;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::io;
use std::path::Path;
use std::time::Duration;

/// Delay after which `/record` begins, so that its own notice is not recorded.
const START_DELAY: Duration = Duration::from_secs(4);

/// Option of `/record`, before or after the file.
const SHOW_KEYS: &str = "--show-keys";

/// Mark on a line near the top, such as that below the header, while the screen is recorded.
const MARK: &str = " ● REC ";
const MARK_ASCII: &str = " * REC ";
/// Rows in which the mark is drawn: a page may begin below the header.
const MARK_ROWS: u16 = 5;

impl Screen {
    /// Starts a recording at this time since program start. Pictures are drawn as cells from now on, which every player shows.
    pub(super) fn start_recording(&mut self, file: &Path, start: Duration) -> io::Result<()> {
        let recorder = Recorder::start(file, &self.recording_options, &self.state, start).map_err(|error| {
            let name = self.name_file(file);
            match error.kind() {
                io::ErrorKind::AlreadyExists => io::Error::new(
                    error.kind(),
                    format!("Cannot record: {name} exists. Remove it, or choose another name."),
                ),
                kind => io::Error::new(kind, format!("Cannot record: {name} cannot be created: {error}.")),
            }
        })?;
        let pictures = &mut self.state.lookups.pictures;
        if pictures.protocol.is_some_and(|protocol| protocol != Protocol::Blocks) {
            pictures.protocol = Some(Protocol::Blocks);
            pictures.clear();
            self.send_pictures();
        }
        self.recorder = Some(Box::new(recorder));
        Ok(())
    }

    /// Starts a recording, or stops the current one if no file is named.
    pub(super) fn change_recording(&mut self, file: &str) -> io::Result<()> {
        let usage = "Name a file: /record demo.cast, or /record demo.cast --show-keys. Without a name, /record stops the recording";
        let (file, shows_keys) = match file.strip_prefix(SHOW_KEYS).or_else(|| file.strip_suffix(SHOW_KEYS)) {
            Some(rest) if rest.is_empty() || rest.starts_with(' ') || rest.ends_with(' ') => (rest.trim(), true),
            _ => (file, false),
        };
        match (&self.recorder, file) {
            (None, "") => self.send_info(usage.to_owned()),
            (None, file) => {
                let path = self.state.settings.folder.join(expand_home(file));
                let now = self.started_at.elapsed();
                self.start_recording(&path, now + START_DELAY)?;
                self.state.input.key_caps.is_shown_in_recording = shows_keys;
                let text = format!("Records to {} once this notice is gone · /record stops it", self.name_file(&path));
                // It disappears with the first frame that is recorded.
                self.state.notices.toasts.push_until(Kind::Info, &text, now + START_DELAY, now);
            }
            (Some(_), "") => {
                if let Some(Recorded { file, failure }) = self.finish_recording() {
                    match failure {
                        None => self.send_info(format!("Recorded: {}", self.name_file(&file))),
                        Some(failure) => self.send_notice(describe_failure(&file, &failure)),
                    }
                }
            }
            (Some(recorder), _) => {
                let file = self.name_file(recorder.path());
                return Err(io::Error::other(format!(
                    "Cannot record: the screen is being recorded to {file}. /record stops that."
                )));
            }
        }
        Ok(())
    }

    /// Records a frame, if there is a recording. A failure ends it.
    pub(super) fn record_frame(&mut self, frame: &Buffer, cursor: Option<Position>) {
        let now = self.started_at.elapsed();
        let Some(recorder) = &mut self.recorder else { return };
        if let Err(error) = recorder.record_frame(&self.state, frame, cursor, now) {
            let notice = describe_failure(recorder.path(), &error.to_string());
            self.recorder = None;
            self.state.input.key_caps.is_shown_in_recording = false;
            self.send_notice(notice);
        }
    }

    /// Marks a frame for the user while it is recorded.
    pub(super) fn mark_recording(&self, frame: &mut Buffer) {
        let now = self.started_at.elapsed();
        if self.recorder.as_ref().is_some_and(|recorder| recorder.has_begun(now))
            && let Some(place) = find_line(frame, MARK.chars().count() as u16)
        {
            let mark = if self.state.settings.is_ascii { MARK_ASCII } else { MARK };
            frame.set_string(place.x, place.y, mark, self.state.theme.danger);
        }
    }

    /// Returns the path of a file in the folder of the session, or the whole path of another one.
    fn name_file(&self, file: &Path) -> String {
        file.strip_prefix(&self.state.settings.folder).unwrap_or(file).display().to_string()
    }

    /// Ends the recording, if there is one, and waits until it is written.
    pub(super) fn finish_recording(&mut self) -> Option<Recorded> {
        let recorder = self.recorder.take()?;
        self.state.input.key_caps.is_shown_in_recording = false;
        let file = recorder.path().to_owned();
        Some(Recorded { file, failure: recorder.finish().err().map(|error| error.to_string()) })
    }

    fn send_info(&mut self, text: String) {
        self.handle_event(Event::Host(HostReply::Done(text)));
    }
}

/// Returns where the last horizontal line in the first rows has room for this many columns, so that nothing is covered.
fn find_line(frame: &Buffer, columns: u16) -> Option<Position> {
    let area = frame.area;
    (area.top()..area.bottom().min(area.top() + MARK_ROWS)).find_map(|y| {
        let starts = (area.left() + 1..area.right().saturating_sub(columns + 1)).rev();
        let x = starts.into_iter().find(|x| is_horizontal_line(frame, Rect::new(*x, y, columns, 1)))?;
        Some(Position::new(x, y))
    })
}

fn describe_failure(file: &Path, failure: &str) -> String {
    format!("The recording ended: {failure}. {} holds what came before", file.display())
}
