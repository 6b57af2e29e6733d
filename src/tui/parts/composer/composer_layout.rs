//! Layout and drawing of the composer.

use super::wrapped_rows::{Glyph, GlyphKind, WrappedRows};
use super::{Composer, TextBuffer};
use crate::text::{clean, width};
use crate::tui::parts::frame::set_lines;
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

/// Sign before the first row.
const PROMPT_SIGN: &str = "❯ ";
/// Sign before the first row of a command, whose text begins with its own sign.
const COMMAND_SIGN: &str = "$ ";
/// Minimum width in cells for the sign.
const MIN_SIGN_WIDTH: u16 = 12;

impl Composer {
    /// Returns the rows needed at this width, from 1 to `max`.
    pub fn preferred_height(&self, width: u16, max: u16) -> u16 {
        let columns = row_columns(width);
        let matched = self.matched_buffer();
        let text_rows = matched.as_ref().unwrap_or(&self.draft).wrap_rows(columns).len();
        let rows = text_rows + usize::from(self.search.is_some());
        u16::try_from(rows).unwrap_or(u16::MAX).min(max).max(1)
    }

    /// Draws the composer, with the arguments of the command that it contains, if any. Returns the position of the terminal's
    /// cursor if `is_active`, that is, if the composer has the keyboard focus.
    pub fn draw(
        &self,
        area: Rect,
        buffer: &mut Buffer,
        theme: &Theme,
        is_active: bool,
        argument_hint: &str,
    ) -> Option<Position> {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return None;
        }
        self.width.set(area.width);
        buffer.set_style(area, theme.background.patch(theme.text));
        let cursor = match &self.search {
            Some(_) => self.draw_search(area, buffer, theme),
            None => self.draw_text(area, buffer, theme, is_active, argument_hint),
        };
        is_active.then_some(cursor)
    }

    /// Returns the columns for the text of a row in the last frame.
    pub(super) fn row_width(&self) -> usize {
        row_columns(self.width.get())
    }

    fn draw_text(
        &self,
        area: Rect,
        buffer: &mut Buffer,
        theme: &Theme,
        is_active: bool,
        argument_hint: &str,
    ) -> Position {
        let rows = self.draft.wrap_rows(row_columns(area.width));
        let (row, cell) = rows.cell_at_offset(self.draft.cursor());
        let height = usize::from(area.height);
        let min_top = (row + 1).saturating_sub(height);
        let top = self.first_row.get().clamp(min_top, row).min(rows.len().saturating_sub(height).max(min_top));
        self.first_row.set(top);
        let indent = sign_width(area.width);
        let text_area = Rect { x: area.x + indent, width: area.width - indent, ..area };
        if indent > 0 {
            let (sign, style) = match self.is_command() {
                true => (COMMAND_SIGN, theme.warning),
                false => (PROMPT_SIGN, theme.accent),
            };
            buffer.set_string(area.x, area.y, sign, if is_active { style } else { theme.dim });
        }
        if self.draft.is_empty() {
            let placeholder_lines = wrap::wrap_plain(&self.placeholder, theme.dim, usize::from(text_area.width));
            set_lines(&placeholder_lines, text_area, buffer);
        }
        draw_rows(&rows, top, text_area, buffer, theme);
        if !argument_hint.is_empty() && cell == width::text_width(&self.draft.text()) {
            let free_columns = usize::from(text_area.width).saturating_sub(cell + 1);
            let hint = width::fit_start(argument_hint, free_columns);
            buffer.set_stringn(text_area.x + cell as u16, text_area.y, &*hint, free_columns, theme.dim);
        }
        // The marks are in the last column, which is reserved for the cursor and rarely contains it.
        let edge = area.right() - 1;
        let marks = [(top > 0, area.y, "↑"), (top + height < rows.len(), area.bottom() - 1, "↓")];
        for (is_hidden, y, mark) in marks {
            if is_hidden && indent > 0 {
                buffer.set_string(edge, y, mark, theme.dim);
            }
        }
        let cell = u16::try_from(cell).unwrap_or(u16::MAX).min(text_area.width - 1);
        Position::new(text_area.x + cell, area.y + (row - top) as u16)
    }

    /// Draws the match, or the draft if there is none, and the query below it.
    fn draw_search(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Position {
        let Some(search) = &self.search else { return area.as_position() };
        let query_row = Rect { y: area.bottom() - 1, height: 1, ..area };
        let match_area = Rect { height: area.height - 1, ..area };
        let matched = self.matched_buffer();
        let draft = matched.as_ref().unwrap_or(&self.draft);
        let rows = draft.wrap_rows(row_columns(area.width));
        let indent = sign_width(area.width);
        let text_area = Rect { x: match_area.x + indent, width: match_area.width - indent, ..match_area };
        let row_text = |row: usize| rows.row_glyphs(row).iter().map(|glyph| glyph.text.as_str()).collect::<String>();
        let first_match = (0..rows.len()).find(|row| search.match_range(&row_text(*row)).is_some()).unwrap_or(0);
        let last_top = rows.len().saturating_sub(usize::from(text_area.height));
        draw_rows(&rows, first_match.min(last_top), text_area, buffer, theme);
        if matched.is_some() {
            highlight_query(search, text_area, buffer, theme);
        }
        let columns = usize::from(query_row.width);
        let status = match (search.is_exhausted, search.match_steps_back) {
            (true, None) => "  no match",
            (true, Some(_)) => "  no older match",
            (false, _) => "",
        };
        let (x, _) = buffer.set_stringn(query_row.x, query_row.y, "search: ", columns, theme.accent);
        let free_columns = usize::from(query_row.right() - x);
        let query = width::fit_end(&search.query, free_columns.saturating_sub(1));
        let (cursor, _) = buffer.set_stringn(x, query_row.y, &*query, free_columns, theme.text);
        let free_columns = usize::from(query_row.right() - cursor);
        if width::text_width(status) < free_columns {
            buffer.set_stringn(cursor, query_row.y, status, free_columns, theme.dim);
        }
        Position::new(cursor.min(query_row.right() - 1), query_row.y)
    }

    /// Returns the match of the search, if any.
    fn matched_buffer(&self) -> Option<TextBuffer> {
        let steps_back = self.search.as_ref()?.match_steps_back?;
        self.history.message(steps_back).map(TextBuffer::from_text)
    }
}

/// Highlights the query in every visible row.
fn highlight_query(search: &super::Search, area: Rect, buffer: &mut Buffer, theme: &Theme) {
    for row in area.rows() {
        let cells: Vec<(u16, String)> =
            row.columns().map(|cell| (cell.x, buffer[(cell.x, cell.y)].symbol().to_owned())).collect();
        let row_text: String = cells.iter().map(|(_, symbol)| symbol.as_str()).collect();
        let Some(range) = search.match_range(&row_text) else { continue };
        let mut offset = 0;
        for (x, symbol) in &cells {
            if offset < range.end && offset + symbol.len() > range.start {
                buffer[(*x, row.y)].set_style(theme.search_match);
            }
            offset += symbol.len();
        }
    }
}

/// Draws the rows from `top` on.
fn draw_rows(rows: &WrappedRows, top: usize, area: Rect, buffer: &mut Buffer, theme: &Theme) {
    for (row, row_area) in (top..rows.len()).zip(area.rows()) {
        let mut x = row_area.x;
        for glyph in rows.row_glyphs(row) {
            let columns = usize::from(row_area.right() - x);
            if columns == 0 {
                break;
            }
            x = draw_glyph(glyph, x, row_area.y, columns, buffer, theme);
        }
    }
}

/// Draws one glyph. Returns the column of the next one.
fn draw_glyph(glyph: &Glyph, x: u16, y: u16, columns: usize, buffer: &mut Buffer, theme: &Theme) -> u16 {
    let style: Style = match glyph.kind {
        GlyphKind::Text | GlyphKind::Blank => theme.text,
        GlyphKind::Paste => theme.accent,
        GlyphKind::Mark => theme.mark,
    };
    let text = match glyph.kind {
        GlyphKind::Paste | GlyphKind::Mark => width::fit_start(&glyph.text, columns),
        GlyphKind::Text | GlyphKind::Blank => clean::clean_text(&glyph.text),
    };
    buffer.set_stringn(x, y, &*text, columns, style).0
}

/// Returns the width of the sign before the text.
fn sign_width(width: u16) -> u16 {
    if width < MIN_SIGN_WIDTH { 0 } else { 2 }
}

/// Returns the columns for the text of a row in a composer of this width: without the sign, and without the last column,
/// which is reserved for the cursor.
fn row_columns(width: u16) -> usize {
    usize::from(width.saturating_sub(sign_width(width) + 1).max(1))
}
