//! Layout of the form: one row per field, the focused one always visible, and an error or type line at the bottom.

use super::{Field, FieldText, Form};
use crate::text::reveal::reveal_to_string;
use crate::text::width;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Marker of the focused field.
const FOCUS_MARK: &str = "❯ ";

impl Form {
    /// Returns the rows the form needs.
    pub fn preferred_height(&self) -> usize {
        self.fields.len() + 1
    }

    /// Returns whether the focused field can be edited only in `$EDITOR`.
    pub fn is_focused_multiline(&self) -> bool {
        matches!(self.fields.get(self.focused), Some(Field { text: FieldText::Multiline(_), .. }))
    }

    /// Draws the fields that fit, among them the focused one. Returns the cursor position; `None` if the focused
    /// field is edited only in `$EDITOR`, or not drawn.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Option<Position> {
        let rows = usize::from(area.height);
        let footer_rows = usize::from(rows > 1);
        let field_rows = rows.saturating_sub(footer_rows);
        let first = (self.focused + 1).saturating_sub(field_rows);
        let widest = self.fields.iter().map(|field| width::text_width(&field.display_name)).max().unwrap_or(0);
        let name_cells = widest.min(usize::from(area.width) / 3);
        let mut cursor = None;
        for (index, row) in (first..self.fields.len()).zip(area.rows().take(field_rows)) {
            let is_focused = index == self.focused;
            cursor = cursor.or(self.fields[index].draw(is_focused, name_cells, row, buffer, theme));
        }
        if footer_rows > 0 {
            let row = area.bottom() - 1;
            let cells = usize::from(area.width);
            let (text, style) = match (&self.error, self.fields.get(self.focused)) {
                (Some(message), _) => (message.clone(), theme.warning),
                (None, Some(field)) => (field.describe_type(), theme.dim),
                (None, None) => (String::new(), theme.dim),
            };
            buffer.set_stringn(area.x, row, width::fit_start(&text, cells), cells, style);
        }
        cursor
    }
}

impl Field {
    /// Draws the field in a row, with its name in a column of `name_cells`. Returns the cursor position if the field is
    /// focused and has one line.
    fn draw(
        &self,
        is_focused: bool,
        name_cells: usize,
        row: Rect,
        buffer: &mut Buffer,
        theme: &Theme,
    ) -> Option<Position> {
        let draw_text = |buffer: &mut Buffer, x: u16, text: &str, style| {
            let cells = usize::from(row.right().saturating_sub(x));
            buffer.set_stringn(x, row.y, width::fit_start(text, cells), cells, style).0
        };
        let mark = if is_focused { FOCUS_MARK } else { "  " };
        let x = draw_text(buffer, row.x, mark, theme.accent);
        let name = width::fit_start(&self.display_name, name_cells).into_owned();
        let style = if is_focused { theme.prompt } else { theme.dim };
        draw_text(buffer, x, &name, style);
        // Two blanks separate the name from the text.
        let x = (x + u16::try_from(name_cells).unwrap_or(0) + 2).min(row.right());
        let cells = usize::from(row.right() - x);
        match &self.text {
            FieldText::Line(input) if is_focused => {
                let (text, cell) = input.visible_part(cells);
                draw_text(buffer, x, text, theme.text);
                let cursor_x = x + u16::try_from(cell).unwrap_or(0);
                Some(Position { x: cursor_x.min(row.right().saturating_sub(1)), y: row.y })
            }
            FieldText::Line(input) => {
                draw_text(buffer, x, input.text(), theme.text);
                None
            }
            FieldText::Multiline(text) => {
                let count = format!("{} lines: ", text.lines().count());
                let x = draw_text(buffer, x, &count, theme.dim);
                draw_text(buffer, x, &reveal_to_string(text.lines().next().unwrap_or_default()), theme.text);
                None
            }
        }
    }
}
