//! Inputs of the transcript's layout, and the layout of plain text and Markdown.

use super::link_lookups::LinkLookups;
use super::picture_caption;
use crate::agent;
use crate::chat::CallId;
use crate::text::clean;
use crate::text::link::LinkTarget;
use crate::tui::keys::Keymap;
use crate::tui::parts::reply_timing::ReplyTiming;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece, markdown};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use std::time::Duration;

/// Inputs of a layout.
#[derive(Clone, Copy)]
pub struct LayoutContext<'a> {
    /// The session and the running turn.
    pub agent: &'a agent::State,
    pub theme: &'a Theme,
    /// Width of a line in cells.
    pub width: usize,
    /// Time since program start.
    pub now: Duration,
    /// Start of the current activity: the last time a turn started or ended, an entry was added or a call was settled.
    pub activity_start: Duration,
    /// Start of each running sub-agent.
    pub sub_agent_starts: &'a [(CallId, Duration)],
    /// The selected running command, if any.
    pub selected_call: Option<&'a CallId>,
    /// Timing of the current or last reply.
    pub timing: &'a ReplyTiming,
    /// Key bindings, for hints.
    pub keys: &'a Keymap,
    pub lookups: &'a LinkLookups,
}

impl LayoutContext<'_> {
    /// Lays out text in one style. `first_prefix` precedes the first line; the other lines have blanks of the same
    /// width.
    pub fn lay_out_plain(&self, text: &str, style: Style, first_prefix: &str) -> Page {
        let shape = Shape::with_hanging_prefix(self.width, vec![Piece::new(first_prefix, style)]);
        wrap_pieces(&[Piece::new(clean::clean_text(text), style)], &shape)
    }

    /// Lays out dim text, as `lay_out_plain` does.
    pub fn lay_out_note(&self, text: &str, first_prefix: &str) -> Page {
        self.lay_out_plain(text, self.theme.dim, first_prefix)
    }

    /// Lays out Markdown and records pending lookups.
    pub fn lay_out_markdown(&self, text: &str) -> Page {
        let lookups = self.lookups;
        let exists = |target: &LinkTarget| lookups.target_exists(target);
        let caption =
            |target: &LinkTarget| lookups.picture_size(target).map(|size| picture_caption::caption(self, size));
        markdown::lay_out_markdown(text, self.width, self.theme, &exists, &caption)
    }

    /// Lays out a part of a reply. Also returns [`LinkLookups::arrivals`] if the layout waits for a lookup.
    pub fn lay_out_part(&self, text: &str) -> (Page, Option<u64>) {
        let (page, waiting_since) = self.lookups.track_pending(|| self.lay_out_markdown(text));
        self.lookups.reply_lines.set(self.lookups.reply_lines.get() + page.lines.len());
        (page, waiting_since)
    }
}
