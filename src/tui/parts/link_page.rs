//! The page of a file that a link names: its beginning, or the lines around the one that the link names.

use super::file_page::{PreviewLayout, lay_out_preview};
use super::link_lookups::LinkLookups;
use crate::text::link::LinkTarget;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::key_hints::{Hint, key_hint};
use crate::tui::theme::Theme;
use crate::tui::workspace_data::{FilePreview, PreviewContent};
use std::sync::Arc;

/// The page of a link.
#[derive(Debug, Clone)]
pub struct LinkPage {
    pub target: Arc<LinkTarget>,
    /// What is shown, or why it cannot be read; `None` until it is loaded.
    pub preview: Option<Arc<Result<FilePreview, String>>>,
}

impl LinkPage {
    /// Returns the page in this width.
    pub fn lay_out(&self, width: usize, theme: &Theme, lookups: &LinkLookups) -> PreviewLayout {
        lay_out_preview(self.preview.as_deref(), &self.target, width, theme, lookups)
    }

    /// Returns what is known about the file if the page begins with its lines, such as its type and size; empty otherwise.
    pub fn facts_in_title(&self) -> String {
        match self.preview.as_deref() {
            Some(Ok(FilePreview { content: PreviewContent::Lines(_), facts, .. })) => facts.join(" · "),
            Some(Ok(_) | Err(_)) | None => String::new(),
        }
    }

    /// Returns the hints for the keys of the page.
    pub fn key_hints(keys: &Keymap) -> Vec<Option<Hint>> {
        // The numbers are the priorities of removal: the highest is removed first.
        let copy_key = keys.first_chord(Scope::Files, Action::CopyAddress);
        vec![key_hint(2, "enter", &["open"]), key_hint(4, &copy_key, &["copy link"])]
    }
}
