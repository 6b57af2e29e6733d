//! A text field for a secret. It draws a dot for each character, never the secret itself.

use super::text_field::{KeyResult, TextField};
use crate::config::Key;
use crate::text::width;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::theme::Theme;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::fmt;

/// Rows of the field and of the blank row after it.
pub const FIELD_ROWS: u16 = 2;

/// A field for a secret.
#[derive(Clone, Default)]
pub struct SecretField(TextField);

/// Without the secret.
impl fmt::Debug for SecretField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretField(…)")
    }
}

impl SecretField {
    /// Returns the secret, without surrounding whitespace.
    pub fn secret(&self) -> &str {
        self.0.text().trim()
    }

    /// Parses the secret.
    ///
    /// # Errors
    /// What is wrong with it, as a clause that does not quote it.
    pub fn parse_secret(&self) -> Result<Key, String> {
        Key::parse_entered(self.0.text()).map_err(|reason| format!("Cannot use this secret: {reason}"))
    }

    /// Inserts pasted text. A line break within it becomes a blank, which no secret may contain.
    pub fn insert_paste(&mut self, text: &str) {
        self.0.insert(text.trim());
    }

    /// Handles a key while the field has the focus.
    pub fn handle_key(&mut self, key: &KeyEvent, keys: &Keymap) -> KeyResult {
        self.0.handle_key(key, keys)
    }

    /// Returns the key hints of the field, longest first.
    pub fn hints(keys: &Keymap) -> Vec<String> {
        let key = |action| keys.first_chord(Scope::TextField, action);
        let (save, back) = (key(Action::Accept), key(Action::Close));
        vec![format!("{save} save and connect · {back} back"), format!("{save} save · {back} back")]
    }

    /// Draws the dots into the first row of `inner`. Returns the position after them, and the rows below the field;
    /// `None` if there is no row.
    pub fn draw_dots(&self, inner: Rect, buffer: &mut Buffer, theme: &Theme) -> Option<(Position, Rect)> {
        let row = inner.rows().next()?;
        let dots = "•".repeat(self.0.text().chars().count());
        // `❯ ` takes two columns, and the cursor after the dots takes one.
        let visible_dots = width::fit_end(&dots, usize::from(row.width).saturating_sub(3));
        let (x, _) = buffer.set_stringn(row.x, row.y, "❯ ", usize::from(row.width), theme.accent);
        let (x, _) = buffer.set_stringn(x, row.y, visible_dots, usize::from(row.right().saturating_sub(x)), theme.text);
        let rows = FIELD_ROWS.min(inner.height);
        let rest = Rect { y: inner.y + rows, height: inner.height - rows, ..inner };
        Some((Position { x: x.min(row.right().saturating_sub(1)), y: row.y }, rest))
    }
}
