//! The terminal window and what it shows.

use super::overlay::Overlay;
use super::parts::transcript::Transcript;

/// The terminal window and what it shows.
#[derive(Debug, Clone)]
pub struct Viewport {
    /// Size in columns and rows.
    pub size: (u16, u16),
    /// True if the terminal has the focus, as far as it reports that.
    pub has_focus: bool,
    /// Title of the terminal window.
    pub(super) window_title: String,
    /// Scroll position and selection of the transcript.
    pub transcript: Transcript,
    /// Open overlays; the last one is in front.
    pub overlays: Vec<Overlay>,
}

impl Default for Viewport {
    fn default() -> Self {
        Self {
            size: (80, 24),
            has_focus: true,
            window_title: String::new(),
            transcript: Transcript::default(),
            overlays: Vec::new(),
        }
    }
}
