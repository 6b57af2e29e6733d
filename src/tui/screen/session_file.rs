//! Saving the current session again, or to another file.

use super::Screen;
use crate::tui::event::Event;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

impl Screen {
    /// Tries to save the session and sends the result as `Event::Saved`.
    pub(super) fn save_session(&mut self) {
        let _ = self.event_sender.send(Event::Saved(self.link.file.save()));
    }

    /// Writes the session to another file and leaves.
    pub(super) fn save_session_to(&mut self, file: PathBuf) -> io::Result<()> {
        let result = self.link.file.save_to(&file);
        result.map_err(|error| io::Error::other(format!("cannot save to {}: {error}", file.display())))?;
        self.saved_to = Some(file);
        self.has_quit = true;
        Ok(())
    }

    /// Tries once more to save the session on leaving, also if its file was removed meanwhile. Returns a description of
    /// the lost entries if that fails.
    pub(super) fn save_or_describe_loss(&mut self) -> Option<String> {
        // `save` returns the entries that it could not save.
        let unsaved = self.link.file.save();
        // `now` only sets the time of the next attempt, and no further attempt follows.
        let now = Duration::ZERO;
        self.state.session.saving.record_result(unsaved, now);
        let reason = &self.state.session.saving.unsaved()?.reason;
        Some(format!("{reason}. Lost: {}", self.state.session.saving.describe_loss(self.state.agent.session.entries())))
    }
}
