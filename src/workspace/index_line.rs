//! Lines of the index.

use crate::chat::Digest;
use serde::{Deserialize, Serialize};

/// A line: a new version of a file, its deletion, or that an earlier version is no longer kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IndexLine {
    /// Id of the file: a ULID, which it keeps when it is overwritten.
    pub id: String,
    /// Number of the version, from 1.
    pub version: u64,
    pub change: Change,
    /// Normalized path.
    pub path: String,
    /// Milliseconds since 1970.
    pub time: u64,
    /// Content of a stored version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    #[serde(default, skip_serializing_if = "Origin::is_unknown")]
    pub origin: Origin,
}

/// What a line records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Change {
    Stored,
    Deleted,
    /// The content of the version is no longer kept.
    Dropped,
}

/// Content of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Content {
    /// Bytes.
    pub size: u64,
    pub sha256: Digest,
    #[serde(rename = "type")]
    pub media_type: String,
}

/// Origin of a version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Name of the tool, or of the command of the user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// Id of the call; empty if none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// Source of a text from outside, which may contain untrusted instructions: `a page of docs.rs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted_source: Option<String>,
    /// True for a change that a dry run rehearsed: a live copy of the session does not have it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearsed: bool,
    #[serde(default, skip_serializing_if = "Secrecy::is_none")]
    pub secrecy: Secrecy,
}

/// Whether a file may hold secrets, and who has read them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Secrecy {
    /// It holds none, as far as is known.
    #[default]
    None,
    /// It may: it is the result of a call that the user approved for the model of this session.
    Result,
    /// It may: it is a copy of such a file, which no model has read.
    Copy,
}

impl Secrecy {
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

impl Origin {
    /// Returns whether a model must not read the file without approval. `is_own_session` is true for the model of the session
    /// that has the file.
    pub fn needs_approval(&self, is_own_session: bool) -> bool {
        match self.secrecy {
            Secrecy::None => false,
            Secrecy::Result => !is_own_session,
            Secrecy::Copy => true,
        }
    }

    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}
