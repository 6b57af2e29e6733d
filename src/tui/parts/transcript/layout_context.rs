//! Inputs of the transcript's layout, and the layout of plain text and Markdown.

use super::picture_caption;
use crate::agent;
use crate::chat::CallId;
use crate::text::clean;
use crate::text::link::{CheckTarget, Existence, LinkTarget};
use crate::tui::keys::Keymap;
use crate::tui::parts::link_lookups::{LinkLookups, UsedLookups};
use crate::tui::parts::pictures::TRANSCRIPT_CELLS;
use crate::tui::parts::reply_timing::ReplyTiming;
use crate::tui::text::markdown::FindPicture;
use crate::tui::text::pieces::wrap_barred;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, PictureKey, Piece, markdown};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use std::sync::Arc;
use std::time::Duration;

/// Inputs of a layout.
#[derive(Clone, Copy)]
pub struct LayoutContext<'a> {
    /// The session and the running turn.
    pub agent: &'a agent::State,
    pub theme: &'a Theme,
    /// Width of a line in cells.
    pub width: usize,
    /// Maximum rows of a picture.
    pub max_picture_rows: u16,
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
    /// True if the model accepts pictures.
    pub accepts_images: bool,
}

impl FindPicture for LayoutContext<'_> {
    fn caption(&self, target: &LinkTarget) -> Option<String> {
        self.lookups.picture_size(target).map(|size| picture_caption::caption(self, size))
    }

    fn find_drawn(&self, target: &LinkTarget, width: usize) -> Option<Arc<PictureKey>> {
        let columns = u16::try_from(width).unwrap_or(u16::MAX).min(TRANSCRIPT_CELLS.0);
        self.lookups.find_picture(target, (columns, self.max_picture_rows))
    }
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

    /// Lays out dim text from outside after an indentation, with a bar before its lines.
    pub fn lay_out_barred(&self, text: &str, indentation: &str) -> Page {
        let styles = [self.theme.dim, self.theme.border_dim, self.theme.link];
        let check = |target: &LinkTarget| self.lookups.check_target(target);
        wrap_barred(text, styles, indentation, self.width, &check)
    }

    /// Lays out Markdown and records pending lookups.
    pub fn lay_out_markdown(&self, text: &str) -> Page {
        let lookups = self.lookups;
        self.lay_out_markdown_with(text, &|target| lookups.check_target(target))
    }

    fn lay_out_markdown_with(&self, text: &str, check: CheckTarget<'_>) -> Page {
        markdown::lay_out_markdown(text, self.width, self.theme, check, self)
    }

    /// Lays out a part of a reply. Also returns the lookups that it used.
    pub fn lay_out_part(&self, text: &str) -> (Page, UsedLookups) {
        self.lay_out_part_with(text, &|target| self.lookups.check_target(target))
    }

    /// Lays out a part of a reply that still grows, as [`Self::lay_out_part`] does. The beginning of an address is not yet
    /// a missing link.
    pub fn lay_out_growing_part(&self, text: &str) -> (Page, UsedLookups) {
        self.lay_out_part_with(text, &|target| match self.lookups.check_target(target) {
            Existence::Exists => Existence::Exists,
            Existence::Missing | Existence::Unknown => Existence::Unknown,
        })
    }

    fn lay_out_part_with(&self, text: &str, check: CheckTarget<'_>) -> (Page, UsedLookups) {
        let (page, used) = self.lookups.track_lookups(|| self.lay_out_markdown_with(text, check));
        self.lookups.reply_lines.set(self.lookups.reply_lines.get() + page.lines.len());
        (page, used)
    }
}
