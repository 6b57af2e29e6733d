//! What the project brings along, as far as it concerns the screen: what the person is asked about, what they said no to,
//! and what is said once that is settled.

use super::host::Why;
use crate::chat::Digest;
use crate::config::Brought;
use std::path::PathBuf;
use std::sync::Arc;

/// What is known of the project's own files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trusting {
    /// What the card shows; no card without it.
    pub asks: Option<(Arc<Brought>, Why)>,
    /// What stands in the project and is not used, in words.
    pub left_out: Vec<String>,
    /// What was to be said when the program began: it waits until the project was looked at.
    pub says: String,
    /// What was refused since the program began: it is not asked about again by itself.
    refused: Vec<Refused>,
}

/// A project as it was when the person did not trust it.
type Refused = (PathBuf, Vec<(String, Digest)>);

impl Trusting {
    /// The person does not trust this.
    pub fn refuse(&mut self, brought: &Brought) {
        self.refused.retain(|(folder, _)| *folder != brought.folder);
        self.refused.push((brought.folder.clone(), brought.signature()));
    }

    /// Whether they said so before, and it is what it was then.
    pub fn was_refused(&self, brought: &Brought) -> bool {
        self.refused.iter().any(|(folder, seen)| *folder == brought.folder && *seen == brought.signature())
    }
}
