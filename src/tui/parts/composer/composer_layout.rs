//! Layout and drawing of the composer.

use super::wrapped_rows::{Glyph, GlyphKind, WrappedRows};
use super::{Composer, TextBuffer};
use crate::text::{clean, width};
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

/// Sign before the first row.
const PROMPT_SIGN: &str = "❯ ";
/// Minimum width in cells for the sign.
const MIN_SIGN_WIDTH: u16 = 12;

impl Composer {
    /// Returns the rows needed at this width, from 1 to `max`.
    pub fn preferred_height(&self, width: u16, max: u16) -> u16 {
        let room = text_width(width);
        let rows = match (self.matched_buffer(), self.search.is_some()) {
            (shown, true) => shown.as_ref().unwrap_or(&self.draft).wrap_rows(room).len() + 1,
            (_, false) => self.draft.wrap_rows(room).len(),
        };
        u16::try_from(rows).unwrap_or(u16::MAX).min(max).max(1)
    }

    /// Draws the composer. Returns the position of the terminal's cursor if `active`, that is, if the composer has the
    /// keyboard focus.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme, active: bool) -> Option<Position> {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return None;
        }
        self.width.set(area.width);
        buffer.set_style(area, theme.ground.patch(theme.text));
        let cursor = match &self.search {
            Some(_) => self.draw_search(area, buffer, theme),
            None => self.draw_text(area, buffer, theme, active),
        };
        active.then_some(cursor)
    }

    /// Moves the cursor to a clicked cell of the composer drawn in `area`.
    pub fn move_cursor_to_click(&mut self, area: Rect, column: u16, row: u16) {
        if self.search.is_some() || !area.contains(Position::new(column, row)) {
            return;
        }
        let rows = self.draft.wrap_rows(text_width(area.width));
        let clicked = (self.first_row.get() + usize::from(row - area.y)).min(rows.len() - 1);
        let cell = usize::from((column - area.x).saturating_sub(sign_width(area.width)));
        let (line, at) = rows.offset_at_cell(clicked, cell);
        self.draft.move_to(line, at);
        self.preferred_column = None;
    }

    /// Returns the width of a row in cells, as last drawn.
    pub(super) fn row_width(&self) -> usize {
        text_width(self.width.get())
    }

    fn draw_text(&self, area: Rect, buffer: &mut Buffer, theme: &Theme, active: bool) -> Position {
        let rows = self.draft.wrap_rows(text_width(area.width));
        let (row, cell) = rows.cursor_cell(&self.draft);
        let height = usize::from(area.height);
        let lowest = (row + 1).saturating_sub(height);
        let top = self.first_row.get().clamp(lowest, row).min(rows.len().saturating_sub(height).max(lowest));
        self.first_row.set(top);
        let indent = sign_width(area.width);
        let text = Rect { x: area.x + indent, width: area.width - indent, ..area };
        if indent > 0 {
            buffer.set_string(area.x, area.y, PROMPT_SIGN, if active { theme.accent } else { theme.dim });
        }
        if self.draft.is_empty() {
            let words = wrap::wrap_plain(&self.placeholder, theme.dim, usize::from(text.width));
            for (line, row) in words.iter().zip(text.rows()) {
                buffer.set_line(row.x, row.y, line, row.width);
            }
        }
        draw_rows(&rows, top, text, buffer, theme);
        // The last column is reserved for the cursor, so the marks rarely collide with it.
        let edge = area.right() - 1;
        let marks = [(top > 0, area.y, "↑"), (top + height < rows.len(), area.bottom() - 1, "↓")];
        for (hides, y, mark) in marks {
            if hides && indent > 0 {
                buffer.set_string(edge, y, mark, theme.dim);
            }
        }
        let cell = u16::try_from(cell).unwrap_or(u16::MAX).min(text.width - 1);
        Position::new(text.x + cell, area.y + (row - top) as u16)
    }

    /// Draws the match and below it the query.
    fn draw_search(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Position {
        let Some(search) = &self.search else { return area.as_position() };
        let line = Rect { y: area.bottom() - 1, height: 1, ..area };
        let above = Rect { height: area.height - 1, ..area };
        let found = self.matched_buffer();
        let draft = found.as_ref().unwrap_or(&self.draft);
        let rows = draft.wrap_rows(text_width(area.width));
        let indent = sign_width(area.width);
        let text = Rect { x: above.x + indent, width: above.width - indent, ..above };
        let words = |row: usize| rows.row_glyphs(row).iter().map(|glyph| glyph.text.as_str()).collect::<String>();
        let first = (0..rows.len()).find(|row| search.match_range(&words(*row)).is_some()).unwrap_or(0);
        let last = rows.len().saturating_sub(usize::from(text.height));
        draw_rows(&rows, first.min(last), text, buffer, theme);
        if found.is_some() {
            highlight_matches(search, text, buffer, theme);
        }
        let room = usize::from(line.width);
        let left = match (search.is_exhausted(), search.found()) {
            (true, None) => "  no match",
            (true, Some(_)) => "  no older match",
            (false, _) => "",
        };
        let (x, _) = buffer.set_stringn(line.x, line.y, "search: ", room, theme.accent);
        let free = usize::from(line.right() - x);
        let typed = width::fit_end(search.query(), free.saturating_sub(1));
        let (cursor, _) = buffer.set_stringn(x, line.y, &*typed, free, theme.text);
        let free = usize::from(line.right() - cursor);
        if width::text_width(left) < free {
            buffer.set_stringn(cursor, line.y, left, free, theme.dim);
        }
        Position::new(cursor.min(line.right() - 1), line.y)
    }

    /// Returns the match of the search as a draft.
    fn matched_buffer(&self) -> Option<TextBuffer> {
        let found = self.search.as_ref()?.found()?;
        self.history.entry(found).map(TextBuffer::from_text)
    }
}

/// Highlights the query in every visible row.
fn highlight_matches(search: &super::Search, text: Rect, buffer: &mut Buffer, theme: &Theme) {
    for row in text.rows() {
        let cells: Vec<(u16, String)> =
            row.columns().map(|cell| (cell.x, buffer[(cell.x, cell.y)].symbol().to_owned())).collect();
        let shown: String = cells.iter().map(|(_, symbol)| symbol.as_str()).collect();
        let Some(place) = search.match_range(&shown) else { continue };
        let mut at = 0;
        for (x, symbol) in &cells {
            if at < place.end && at + symbol.len() > place.start {
                buffer[(*x, row.y)].set_style(theme.found);
            }
            at += symbol.len();
        }
    }
}

/// Draws the rows from `top` on.
fn draw_rows(rows: &WrappedRows, top: usize, area: Rect, buffer: &mut Buffer, theme: &Theme) {
    for (row, place) in (top..rows.len()).zip(area.rows()) {
        let mut x = place.x;
        for glyph in rows.row_glyphs(row) {
            let room = usize::from(place.right() - x);
            if room == 0 {
                break;
            }
            x = draw_glyph(glyph, x, place.y, room, buffer, theme);
        }
    }
}

/// Draws one glyph. Returns the column of the next one.
fn draw_glyph(glyph: &Glyph, x: u16, y: u16, room: usize, buffer: &mut Buffer, theme: &Theme) -> u16 {
    let style: Style = match glyph.kind {
        GlyphKind::Text | GlyphKind::Blank => theme.text,
        GlyphKind::Paste => theme.accent,
        GlyphKind::Mark => theme.mark,
    };
    let shown = match glyph.kind {
        GlyphKind::Paste | GlyphKind::Mark => width::fit_start(&glyph.text, room),
        GlyphKind::Text | GlyphKind::Blank => clean::clean_text(&glyph.text),
    };
    buffer.set_stringn(x, y, &*shown, room, style).0
}

/// Returns the width of the sign before the text.
fn sign_width(width: u16) -> u16 {
    if width < MIN_SIGN_WIDTH { 0 } else { 2 }
}

/// Returns the width of a row in cells. The last column of the area is reserved for the cursor.
fn text_width(width: u16) -> usize {
    usize::from(width.saturating_sub(sign_width(width) + 1).max(1))
}
