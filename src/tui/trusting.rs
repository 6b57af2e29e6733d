//! Trust in the project's own files, as far as the screen is concerned.

use super::host::Why;
use crate::chat::Digest;
use crate::config::Brought;
use std::path::PathBuf;
use std::sync::Arc;

/// State of the trust prompt and its results.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trusting {
    /// Files the trust prompt asks about; `None` without a prompt.
    pub asks: Option<(Arc<Brought>, Why)>,
    /// Descriptions of project files that are not used.
    pub left_out: Vec<String>,
    /// Message given at startup; sent once the project was inspected.
    pub says: String,
    /// Projects refused since the start; they are not asked about again automatically.
    refused: Vec<Refused>,
}

/// Folder and files of a project at the time the user refused to trust it.
type Refused = (PathBuf, Vec<(String, Digest)>);

impl Trusting {
    /// Records that the user does not trust these files.
    pub fn refuse(&mut self, brought: &Brought) {
        self.refused.retain(|(folder, _)| *folder != brought.folder);
        self.refused.push((brought.folder.clone(), brought.signature()));
    }

    /// Returns whether the user refused exactly these files before.
    pub fn was_refused(&self, brought: &Brought) -> bool {
        self.refused.iter().any(|(folder, seen)| *folder == brought.folder && *seen == brought.signature())
    }
}
