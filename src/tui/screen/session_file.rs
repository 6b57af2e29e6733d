//! Saving the current session again, or to another file.

use super::Screen;
use crate::tui::event::Event;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

impl Screen {
    /// Tries to save the session; the result comes with the next batch.
    pub(super) fn save(&mut self) {
        let _ = self.back.send(Event::Saved(self.line.file.save()));
    }

    /// Writes the session to another file and leaves.
    pub(super) fn save_to(&mut self, file: PathBuf) -> io::Result<()> {
        let saved = self.line.file.save_to(&file);
        saved.map_err(|error| io::Error::other(format!("cannot save to {}: {error}", file.display())))?;
        self.saved_to = Some(file);
        self.left = true;
        Ok(())
    }

    /// Describes the entries that are lost if the session still cannot be saved on leaving.
    pub(super) fn loss(&mut self) -> Option<String> {
        self.state.saving.unsaved()?;
        let unsaved = self.line.file.save();
        self.state.saving.note(unsaved, Duration::ZERO);
        let reason = &self.state.saving.unsaved()?.reason;
        Some(format!("{reason}. Lost: {}", self.state.saving.loss(self.state.agent.session.entries())))
    }
}
