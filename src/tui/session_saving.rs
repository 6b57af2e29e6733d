//! Save state of the session, and the schedule of retries.

use crate::chat::entry_counts::describe_entries;
use crate::chat::{Entry, SessionId};
use crate::runtime::Unsaved;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time between two attempts to save a session.
const RETRY_INTERVAL: Duration = Duration::from_secs(3);

/// Unsaved part of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Saving {
    unsaved: Option<Unsaved>,
    /// Time of the next attempt, if anything is unsaved.
    next_attempt: Duration,
    /// True if the program quits as soon as everything is saved.
    pub quits_when_saved: bool,
}

/// Action on quitting with a session that cannot be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnsavedChoice {
    /// Quit once it is saved.
    QuitWhenSaved,
    /// Write it to this file.
    SaveTo(PathBuf),
    /// Discard unsaved entries.
    Discard,
}

impl Saving {
    /// Records the result of an attempt. Returns true if everything is saved now and was not before.
    pub fn record_result(&mut self, unsaved: Option<Unsaved>, now: Duration) -> bool {
        let previous = std::mem::replace(&mut self.unsaved, unsaved);
        self.next_attempt = now.saturating_add(RETRY_INTERVAL);
        previous.is_some() && self.unsaved.is_none()
    }

    /// Returns the unsaved entries, if any.
    pub fn unsaved(&self) -> Option<&Unsaved> {
        self.unsaved.as_ref()
    }

    /// Returns the time of the next attempt, if one is needed.
    pub fn next_attempt(&self) -> Option<Duration> {
        self.unsaved.as_ref().map(|_| self.next_attempt)
    }

    /// Returns whether to save now, and schedules the next attempt.
    pub fn take_due(&mut self, now: Duration) -> bool {
        let is_due = self.next_attempt().is_some_and(|time| time <= now);
        if is_due {
            self.next_attempt = now.saturating_add(RETRY_INTERVAL);
        }
        is_due
    }

    /// Describes the unsaved entries, which are the last ones of `entries`: `1 message, 2 replies`.
    pub fn describe_loss(&self, entries: &[Entry]) -> String {
        let count = self.unsaved.as_ref().map_or(0, |unsaved| unsaved.entries);
        describe_entries(&entries[entries.len().saturating_sub(count)..])
    }
}

/// Returns the files the session can be written to instead: one each in the home directory, in the project and in
/// `/tmp`.
pub fn alternative_files(session: &SessionId, home: Option<&Path>, project: &Path) -> Vec<PathBuf> {
    let folders = home.into_iter().chain([project, Path::new("/tmp")]);
    let mut files: Vec<PathBuf> = Vec::new();
    for file in folders.map(|folder| folder.join(format!("aye-{}.jsonl", session.0))) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}
