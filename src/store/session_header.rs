//! First line of a session file, and the name of the file.

use super::clock;
use crate::chat::SessionId;
use serde::{Deserialize, Serialize, Serializer};
use std::path::{Path, PathBuf};

/// Format version. An older reader reports a newer version and skips unknown entries.
pub const VERSION: u32 = 1;

/// A session's first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Format version.
    pub aye: u32,
    /// The session's ID, which is also the file name.
    pub id: SessionId,
    /// Absolute path of the project. If it is not Unicode, an approximation.
    #[serde(serialize_with = "serialize_lossy")]
    pub folder: PathBuf,
    /// Creation time in RFC 3339 format.
    pub time: String,
    /// Model at the start.
    #[serde(default)]
    pub model: String,
    /// Profile at the start; empty if the address was given for one run only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub profile: String,
    /// Base address at the start if it was given for one run only. Missing in files of older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub base_url: String,
    /// True for a dry run. Never changes.
    #[serde(default)]
    pub dry_run: bool,
    /// The session that this one was copied from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<SessionId>,
    /// True if its calls come from another program (`aye serve`). No command takes it for the last session of its folder.
    #[serde(default, rename = "served", skip_serializing_if = "std::ops::Not::not")]
    pub is_served: bool,
}

impl Header {
    /// Creates the header of a new session.
    pub fn new(id: SessionId, folder: &Path, model: &str, dry_run: bool) -> Self {
        let time = current_time();
        let (folder, model, profile, base_url) = (folder.to_owned(), model.to_owned(), String::new(), String::new());
        Self { aye: VERSION, id, folder, time, model, profile, base_url, dry_run, from: None, is_served: false }
    }

    /// Returns whether the session belongs to this folder. Compares the displayable names.
    pub fn is_in_project(&self, project: &Path) -> bool {
        self.folder.to_string_lossy() == project.to_string_lossy()
    }
}

/// Returns the current time in the header's format.
pub(super) fn current_time() -> String {
    clock::now().round(jiff::Unit::Second).unwrap_or_default().to_string()
}

fn serialize_lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Creates an ID. IDs sort by creation time.
pub fn new_id() -> SessionId {
    SessionId(clock::new_ulid().to_string())
}

/// Returns the path of a session's file.
pub fn session_path(sessions: &Path, id: &SessionId) -> PathBuf {
    sessions.join(format!("{}.jsonl", id.0))
}
