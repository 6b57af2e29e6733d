//! Layout of the form: one row per field, the focused one always visible, and an error or type line at the bottom.

use super::{Field, FieldText, Form};
use crate::text::width;
use crate::tui::text::revealed_pieces;
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

    /// Draws as many fields as fit. Returns the cursor position.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Option<Position> {
        let rows = usize::from(area.height);
        let below = usize::from(rows > 1);
        let room = rows.saturating_sub(below);
        let first = (self.focused + 1).saturating_sub(room);
        let widest = self.fields.iter().map(|field| width::text_width(&field.display_name)).max().unwrap_or(0);
        let names = widest.min(usize::from(area.width) / 3);
        let mut cursor = None;
        for (at, row) in (first..self.fields.len()).zip(area.rows().take(room)) {
            let open = at == self.focused;
            let found = self.fields[at].draw(open, names, row, buffer, theme);
            cursor = cursor.or(found.filter(|_| open));
        }
        if below > 0 {
            let row = area.bottom() - 1;
            let cells = usize::from(area.width);
            let (words, style) = match (&self.error, self.fields.get(self.focused)) {
                (Some(trouble), _) => (trouble.clone(), theme.warning),
                (None, Some(field)) => (field.describe_type(), theme.dim),
                (None, None) => (String::new(), theme.dim),
            };
            buffer.set_stringn(area.x, row, width::fit_start(&words, cells), cells, style);
        }
        cursor
    }
}

impl Field {
    fn draw(&self, open: bool, names: usize, row: Rect, buffer: &mut Buffer, theme: &Theme) -> Option<Position> {
        let put = |buffer: &mut Buffer, x: u16, text: &str, style| {
            let cells = usize::from(row.right().saturating_sub(x));
            buffer.set_stringn(x, row.y, width::fit_start(text, cells), cells, style).0
        };
        let mark = if open { FOCUS_MARK } else { "  " };
        let x = put(buffer, row.x, mark, theme.accent);
        let name = width::fit_start(&self.display_name, names).into_owned();
        let style = if open { theme.prompt } else { theme.dim };
        put(buffer, x, &name, style);
        let x = (x + u16::try_from(names).unwrap_or(0) + 2).min(row.right());
        let cells = usize::from(row.right() - x);
        match &self.text {
            FieldText::Line(line) if open => {
                let (text, cell) = line.visible_part(cells);
                put(buffer, x, text, theme.text);
                let at = x + u16::try_from(cell).unwrap_or(0);
                Some(Position { x: at.min(row.right().saturating_sub(1)), y: row.y })
            }
            FieldText::Line(line) => {
                put(buffer, x, line.text(), theme.text);
                None
            }
            FieldText::Multiline(text) => {
                let lines = text.lines().count();
                let first = revealed_pieces(text.lines().next().unwrap_or_default(), theme.text, theme.mark);
                let first: String = first.into_iter().map(|piece| piece.text).collect();
                let count = format!("{lines} lines: ");
                let x = put(buffer, x, &count, theme.dim);
                put(buffer, x, &first, theme.text);
                None
            }
        }
    }
}
