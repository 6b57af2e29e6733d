//! Whether the session is on disk, and when saving it is tried again.

use crate::chat::entry_count::count_in_words;
use crate::chat::{Entry, SessionId};
use crate::runtime::Unsaved;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Between two tries to save a session.
const AGAIN: Duration = Duration::from_secs(3);

/// What of the session is not saved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Saving {
    unsaved: Option<Unsaved>,
    again: Duration,
    /// The program is left as soon as everything is saved.
    pub leaves: bool,
}

/// What is done with a session that cannot be saved when it is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaving {
    /// The program is left once it is saved.
    Wait,
    /// It is written to this file.
    SaveTo(PathBuf),
    /// What is not saved is lost.
    Lose,
}

impl Saving {
    /// Takes the result of a try. Returns whether everything is saved that was not before.
    pub fn note(&mut self, unsaved: Option<Unsaved>, now: Duration) -> bool {
        let was = std::mem::replace(&mut self.unsaved, unsaved);
        self.again = now.saturating_add(AGAIN);
        was.is_some() && self.unsaved.is_none()
    }

    /// What is not saved, if anything.
    pub fn unsaved(&self) -> Option<&Unsaved> {
        self.unsaved.as_ref()
    }

    /// When saving is tried again, if it has to be.
    pub fn due(&self) -> Option<Duration> {
        self.unsaved.as_ref().map(|_| self.again)
    }

    /// Whether saving is tried now; it is not tried twice.
    pub fn take_due(&mut self, now: Duration) -> bool {
        let is_due = self.due().is_some_and(|at| at <= now);
        if is_due {
            self.again = now.saturating_add(AGAIN);
        }
        is_due
    }

    /// Names what would be lost: `1 message, 2 replies`.
    pub fn loss(&self, entries: &[Entry]) -> String {
        let count = self.unsaved.as_ref().map_or(0, |unsaved| unsaved.entries);
        count_in_words(&entries[entries.len().saturating_sub(count)..])
    }
}

/// Where a session can be written instead: in each of these folders that is given.
pub fn other_files(session: &SessionId, home: Option<&Path>, project: &Path) -> Vec<PathBuf> {
    let folders = home.into_iter().chain([project, Path::new("/tmp")]);
    let mut files: Vec<PathBuf> =
        folders.map(|folder| folder.join(format!("aye-{}.jsonl", session.0))).collect();
    files.dedup();
    files
}
