//! The popup for the secret of a credential that the user chose in a list. The secret is never drawn.

use super::scrolled_body::draw_scrolled_body;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::{Frame, scroll_position};
use crate::tui::parts::secret_field::{FIELD_ROWS, SecretField};
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::cell::Cell;

/// Maximum width in cells, including the frame.
const MAX_WIDTH: u16 = 80;

/// Popup for the secret of a credential.
#[derive(Debug, Clone)]
pub struct CredentialEntry {
    pub name: String,
    /// The only origins it will be sent to.
    pub origins: Vec<String>,
    pub field: SecretField,
    /// Why the secret cannot be saved; empty if it was not tried.
    pub problem: String,
    /// First visible line of the text.
    top: Cell<usize>,
    /// Visible lines of the text.
    visible_rows: Cell<usize>,
}

impl CredentialEntry {
    pub fn new(name: String, origins: Vec<String>) -> Self {
        let (top, visible_rows) = (Cell::default(), Cell::default());
        Self { name, origins, field: SecretField::default(), problem: String::new(), top, visible_rows }
    }

    /// Draws the popup over the middle of `area`. Returns the area it takes and the position of the cursor.
    pub fn draw(&self, keys: &Keymap, area: Rect, buffer: &mut Buffer, theme: &Theme) -> (Rect, Option<Position>) {
        let width = area.width.min(MAX_WIDTH);
        let columns = usize::from(width.saturating_sub(4)).max(1);
        let mut lines = Vec::new();
        // An empty text would be a blank line.
        if !self.problem.is_empty() {
            lines.extend(wrap::wrap_plain(&self.problem, theme.danger, columns));
        }
        lines.extend(wrap::wrap_plain(&describe_recipients(&self.name, &self.origins), theme.text, columns));
        lines.extend(wrap::wrap_plain(
            &explain_storage(&keys.first_chord(Scope::TextField, Action::Close)),
            theme.dim,
            columns,
        ));
        // The frame takes two rows.
        let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(FIELD_ROWS + 2);
        let height = area.height.min(rows);
        let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 3);
        let area = Rect { x, y, width, height };
        let frame = Frame {
            title: "Enter the secret",
            hints: &SecretField::hints(keys),
            is_listening: true,
            ..Frame::default()
        };
        let inner = frame.draw(area, buffer, theme);
        let Some((cursor, rest)) = self.field.draw_dots(inner, buffer, theme) else { return (area, None) };
        let body = (lines.len(), self.top.get());
        let drawn = draw_scrolled_body(body, area, rest, buffer, theme, |index, row, buffer| {
            buffer.set_line(row.x, row.y, &lines[index], row.width);
        });
        self.top.set(drawn.scroll);
        self.visible_rows.set(drawn.visible_rows);
        (area, Some(cursor))
    }

    /// Scrolls the text by an action that moves.
    pub fn scroll_by(&self, action: Action) {
        let page_rows = self.visible_rows.get().saturating_sub(1).max(1);
        self.top.set(scroll_position(action, self.top.get(), page_rows).unwrap_or(self.top.get()));
    }

    /// Scrolls the text by lines of the mouse wheel.
    pub fn scroll_lines(&self, lines: isize) {
        self.top.set(self.top.get().saturating_add_signed(lines));
    }

    /// Inserts pasted text into the field.
    pub fn insert_paste(&mut self, text: &str) {
        self.field.insert_paste(text);
        self.problem.clear();
    }

    /// Shows why the secret cannot be saved, at the start of the text.
    pub fn show_problem(&mut self, problem: &str) {
        self.problem = problem.to_owned();
        self.top.set(0);
    }
}

/// Names a credential and the only origins that will receive it.
pub fn describe_recipients(name: &str, origins: &[String]) -> String {
    format!("{name}, sent only to {}", origins.join(", "))
}

/// Says where the secret is kept, and what to do for another kind of credential; `leave_keys` close the field.
pub fn explain_storage(leave_keys: &str) -> String {
    format!(
        "Sent as a bearer token and stored only for your user; the model never sees it. For an API key or a password \
        press {leave_keys}, then run `aye credentials add`."
    )
}
