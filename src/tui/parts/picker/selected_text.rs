//! The whole text of the selected row, below a list whose rows are cut.

use super::{Picker, Row};
use crate::text::width;
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

/// Minimum rows of the text. Most texts fit, so that the rows of the list stay in place.
const MIN_TEXT_ROWS: usize = 3;
/// Minimum rows that are left to a list of more rows.
const MIN_LIST_ROWS: usize = 5;
/// Rows of the list whose texts are measured for its height.
const MEASURED_ROWS: usize = 100;

impl Picker {
    /// Shows the whole text of the selected row below the list, if any row is cut. Rows then never wrap.
    pub fn with_selected_text(self) -> Self {
        Self { shows_selected_text: true, ..self }
    }

    /// Sets the key that opens a text which does not fit below the list.
    pub fn with_text_key(self, key: String) -> Self {
        Self { text_key: key.into(), ..self }
    }

    /// Returns the whole text of the selected row, for the pager.
    pub fn selected_text(&self) -> Option<String> {
        Some(self.rows.get(self.selected_row()?)?.full_text())
    }

    /// Returns the rows that the text and the line above it take from the area of a list: as many as the text of the selected
    /// row needs, but at least a few rows are left to the list.
    pub(super) fn selected_text_rows(&self, list: Rect) -> u16 {
        if !self.shows_selected_text || !self.has_cut_row(list) {
            return 0;
        }
        let selected = self.selected_row().and_then(|row| self.rows.get(row));
        self.panel_rows(selected.map_or(0, |row| text_line_count(row, list.width)), list.height)
    }

    /// Returns the rows that the longest of the texts takes, so that the list has the same height for every selected row.
    pub(super) fn max_text_rows(&self, list: Rect) -> u16 {
        if !self.shows_selected_text || !self.has_cut_row(list) {
            return 0;
        }
        let lines = self.rows.iter().take(MEASURED_ROWS).map(|row| text_line_count(row, list.width));
        self.panel_rows(lines.max().unwrap_or(0), list.height)
    }

    /// Returns the rows of a text of this many lines and of the line above it in an area of this height. 0 if there is no room.
    fn panel_rows(&self, lines: usize, height: u16) -> u16 {
        let max_rows = usize::from(height).saturating_sub(self.rows.len().min(MIN_LIST_ROWS));
        let rows = if max_rows > MIN_TEXT_ROWS { (lines.max(MIN_TEXT_ROWS) + 1).min(max_rows) } else { 0 };
        u16::try_from(rows).unwrap_or(0)
    }

    /// Draws the text of the selected row.
    pub(super) fn draw_selected_text(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        if area.is_empty() {
            return;
        }
        let cells = usize::from(area.width);
        buffer.set_stringn(area.x, area.y, "─".repeat(cells), cells, theme.border_dim);
        let Some(row) = self.selected_row().and_then(|row| self.rows.get(row)) else { return };
        let mut lines = wrap::wrap_commands(&row.full_text(), theme.text, theme.dim, cells);
        let shown = usize::from(area.height - 1);
        if lines.len() > shown && shown > 0 {
            let hidden = lines.len() - (shown - 1);
            let key = if self.text_key.is_empty() { String::new() } else { format!(" · {} opens all", self.text_key) };
            let note = width::fit_start(&format!("… {hidden} more lines{key}"), cells).into_owned();
            lines.truncate(shown - 1);
            lines.push(Line::styled(note, theme.dim));
        }
        for (line, line_area) in lines.iter().zip(area.rows().skip(1)) {
            buffer.set_line(line_area.x, line_area.y, line, line_area.width);
        }
    }
}

/// Returns the number of lines of the whole text of a row in a number of columns.
fn text_line_count(row: &Row, columns: u16) -> usize {
    wrap::wrap_commands(&row.full_text(), Style::new(), Style::new(), usize::from(columns).max(1)).len()
}
