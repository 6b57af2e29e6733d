//! How much of a prompt was on the screen, for prompts of wrapped text that are read to their end before an answer.

use super::prompt::DrawnPrompt;
use super::scrolled_body::draw_scrolled_body;
use crate::tui::keys::Action;
use crate::tui::parts::frame::{Frame, scroll_position};
use crate::tui::text::Page;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// Rows of the frame.
const FRAME_ROWS: usize = 2;

/// Scroll position of a prompt, and what of it was on the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadState {
    /// First visible row.
    pub scroll: usize,
    /// Time since program start of the first frame in which the prompt was readable.
    pub first_drawn: Option<Duration>,
    /// True if the end was on the screen.
    pub has_reached_end: bool,
    /// Rows that a page key scrolls.
    page_rows: usize,
}

impl ReadState {
    /// Draws the frame and the text in it; `lay_out` wraps it to a number of columns.
    pub fn draw(
        &self,
        frame: &Frame<'_>,
        lay_out: impl FnOnce(usize) -> Arc<Page>,
        area: Rect,
        buffer: &mut Buffer,
        theme: &Theme,
    ) -> DrawnPrompt {
        let inner = frame.draw(area, buffer, theme);
        if inner.is_empty() {
            return DrawnPrompt::default();
        }
        let (page, links) = (lay_out(usize::from(inner.width)), RefCell::new(Vec::new()));
        let body = (page.lines.len(), self.scroll);
        let drawn = draw_scrolled_body(body, area, inner, buffer, theme, |index, row, buffer| {
            buffer.set_line(row.x, row.y, &page.lines[index], row.width);
            links.borrow_mut().extend(page.place_links(index, row));
        });
        DrawnPrompt { links: links.into_inner(), ..drawn }
    }

    /// Returns whether the end was on the screen, or is on a frame of a prompt with this many lines of text. The first frame
    /// that shows the end must say so, since no later frame is guaranteed.
    pub fn shows_end(&self, line_count: usize, area: Rect) -> bool {
        let needed_rows = line_count.saturating_add(FRAME_ROWS);
        self.has_reached_end || self.scroll.saturating_add(usize::from(area.height)) >= needed_rows
    }

    /// Records what a frame has shown.
    pub fn record_frame(&mut self, now: Duration, drawn: &DrawnPrompt) {
        self.scroll = drawn.scroll;
        self.page_rows = drawn.visible_rows.saturating_sub(1).max(1);
        if drawn.is_readable {
            self.first_drawn.get_or_insert(now);
            self.has_reached_end |= drawn.is_at_end;
        }
    }

    /// Scrolls by an action that moves; returns false for any other action.
    pub fn scroll_by(&mut self, action: Action) -> bool {
        let row = scroll_position(action, self.scroll, self.page_rows.max(1));
        row.inspect(|row| self.scroll = *row).is_some()
    }

    /// Scrolls by lines, as the mouse wheel does.
    pub fn scroll_lines(&mut self, lines: isize) {
        self.scroll = self.scroll.saturating_add_signed(lines);
    }
}

/// Returns the columns of the text in a prompt of this width: the frame takes 4.
pub fn text_columns(width: u16) -> usize {
    usize::from(width.saturating_sub(4)).max(1)
}

/// Returns the height of a prompt with this many lines of text, at most 65,535.
pub fn framed_height(line_count: usize) -> u16 {
    u16::try_from(line_count + FRAME_ROWS).unwrap_or(u16::MAX)
}
