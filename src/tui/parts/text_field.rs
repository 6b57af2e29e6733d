//! A text field within a prompt or above a list: one line, or a few if line breaks are allowed.

use super::composer::WrappedRows;
use crate::text::hidden_chars::remove_hidden;
use crate::text::{clean, escape_sequences, width};
use crate::tui::keys::{Action, Chord, Keymap, Scope};
use crate::tui::theme::Theme;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

/// A text field. Its cursor is between graphemes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SavedField")]
pub struct TextField {
    text: String,
    /// Bytes before the cursor.
    #[serde(rename = "at")]
    cursor: usize,
    /// True if the text may contain line breaks.
    #[serde(rename = "breaks", skip_serializing_if = "std::ops::Not::not")]
    is_multiline: bool,
}

/// A text field of a saved draft, whose cursor can be anywhere.
#[derive(Deserialize)]
struct SavedField {
    text: String,
    #[serde(default)]
    at: usize,
    #[serde(default)]
    breaks: bool,
}

impl From<SavedField> for TextField {
    fn from(saved: SavedField) -> Self {
        let mut field = if saved.breaks { Self::multiline(&saved.text) } else { Self::new(&saved.text) };
        let ends = field.text.grapheme_indices(true).map(|(offset, grapheme)| offset + grapheme.len());
        field.cursor = [0].into_iter().chain(ends).find(|end| *end >= saved.at).unwrap_or(field.text.len());
        field
    }
}

/// Result of a key press in a text field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyResult {
    /// The key has no meaning here.
    PassedOn,
    /// The cursor moved, or there was nothing to do.
    Handled,
    /// The text changed.
    Changed,
    /// The input is complete.
    Accepted,
    /// The user cancelled.
    Cancelled,
}

impl TextField {
    /// Creates a field with this text and the cursor after it.
    pub fn new(text: &str) -> Self {
        let mut field = Self::default();
        field.insert(text);
        field
    }

    /// Creates a field that allows line breaks, with this text and the cursor after it.
    pub fn multiline(text: &str) -> Self {
        let mut field = Self { is_multiline: true, ..Self::default() };
        field.insert(text);
        field
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Inserts text at the cursor, without its invisible characters. In a one-line field, blanks replace line breaks.
    pub fn insert(&mut self, text: &str) {
        let stripped = escape_sequences::strip_controls(text);
        let text = remove_hidden(&stripped);
        let text = if self.is_multiline { clean::clean_text(&text) } else { clean::clean_line(&text) };
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// Handles a key while the field has the focus.
    pub fn handle_key(&mut self, key: &KeyEvent, keys: &Keymap) -> KeyResult {
        let Some(action) = keys.lookup(Scope::TextField, key) else {
            return match Chord::from(key).typed_character() {
                Some(c) => {
                    self.insert(c.encode_utf8(&mut [0; 4]));
                    KeyResult::Changed
                }
                None => KeyResult::PassedOn,
            };
        };
        let (previous, next) = (self.previous_boundary(), self.next_boundary());
        match action {
            Action::Accept => return KeyResult::Accepted,
            Action::Close => return KeyResult::Cancelled,
            Action::Left => self.cursor = previous,
            Action::Right => self.cursor = next,
            Action::WordLeft => self.cursor = self.previous_word(),
            Action::WordRight => self.cursor = self.next_word(),
            Action::LineStart => self.cursor = self.line_start(),
            Action::LineEnd => self.cursor = self.line_end(),
            Action::DeleteBack => return self.delete_range(previous, self.cursor),
            Action::DeleteForward => return self.delete_range(self.cursor, next),
            Action::DeleteWordBack => return self.delete_range(self.previous_word(), self.cursor),
            Action::DeleteWordForward => return self.delete_range(self.cursor, self.next_word()),
            Action::DeleteToStart => return self.delete_range(self.line_start(), self.cursor),
            Action::DeleteToEnd => return self.delete_range(self.cursor, self.line_end()),
            Action::InsertLineBreak if self.is_multiline => {
                self.insert("\n");
                return KeyResult::Changed;
            }
            // In a one-line field the key is ignored. Passed on, it would break a line in the composer.
            Action::InsertLineBreak => {}
            _ => return KeyResult::PassedOn,
        }
        KeyResult::Handled
    }

    /// Returns the part that fits into `cells` with the cursor in it, and the cursor's cell.
    pub fn visible_part(&self, cells: usize) -> (&str, usize) {
        let mut start = 0;
        while width::text_width(&self.text[start..self.cursor]) >= cells.max(1) {
            start += self.text[start..].graphemes(true).next().map_or(1, str::len);
        }
        (width::cut_to_width(&self.text[start..], cells), width::text_width(&self.text[start..self.cursor]))
    }

    /// Draws the field in one row after a label, which takes at most half of the row. Returns the cursor's position.
    pub fn draw_with_label(&self, label: &str, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Position {
        let text_cells = width_after_label(label, area.width);
        let x = draw_label(label, area, buffer, theme);
        let (text, cursor) = self.visible_part(text_cells);
        buffer.set_stringn(x, area.y, text, text_cells, theme.text);
        Position { x: (x + cursor as u16).min(area.right().saturating_sub(1)), y: area.y }
    }

    /// Draws the rows around the cursor that fit after a label, as [`Self::draw_with_label`] does.
    pub fn draw_rows_with_label(&self, label: &str, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Position {
        if !self.is_multiline {
            return self.draw_with_label(label, area, buffer, theme);
        }
        let text_cells = width_after_label(label, area.width);
        let x = draw_label(label, area, buffer, theme);
        let (rows, (row, cell)) = self.wrap_rows(text_cells.max(1));
        let first = (row + 1).saturating_sub(usize::from(area.height));
        for (text, row_area) in rows.iter().skip(first).zip(area.rows()) {
            buffer.set_stringn(x, row_area.y, text, text_cells, theme.text);
        }
        let (x, y) = (x.saturating_add(cell as u16), area.y + (row - first) as u16);
        Position { x: x.min(area.right().saturating_sub(1)), y: y.min(area.bottom().saturating_sub(1)) }
    }

    /// Returns the rows of the field wrapped at `cells`, and the row and cell of the cursor.
    pub fn wrap_rows(&self, cells: usize) -> (Vec<String>, (usize, usize)) {
        let rows = self.lay_out(cells);
        let row_text = |row: usize| rows.row_glyphs(row).iter().map(|glyph| glyph.text.as_str()).collect();
        ((0..rows.len()).map(row_text).collect(), rows.cell_at_offset(self.line_and_byte()))
    }

    /// Moves the cursor by rows, up if negative, in the field wrapped at `cells`. Stays if there is no such row.
    pub fn move_rows(&mut self, cells: usize, delta: isize) {
        let rows = self.lay_out(cells);
        let (row, cell) = rows.cell_at_offset(self.line_and_byte());
        if let Some(target_row) = row.checked_add_signed(delta).filter(|row| *row < rows.len()) {
            let (line, byte) = rows.offset_at_cell(target_row, cell);
            let mut lines = self.text.split('\n');
            let line_start: usize = lines.by_ref().take(line).map(|text| text.len() + 1).sum();
            self.cursor = line_start + byte.min(lines.next().map_or(0, str::len));
        }
    }

    fn lay_out(&self, cells: usize) -> WrappedRows {
        let lines: Vec<String> = self.text.split('\n').map(str::to_owned).collect();
        WrappedRows::new(&lines, |_| None, cells)
    }

    /// Returns the index of the cursor's line, and the bytes before the cursor in it.
    fn line_and_byte(&self) -> (usize, usize) {
        (self.text[..self.cursor].matches('\n').count(), self.cursor - self.line_start())
    }

    /// Returns the byte offset at which the cursor's line starts.
    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |end| end + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |end| self.cursor + end)
    }

    fn delete_range(&mut self, start: usize, end: usize) -> KeyResult {
        self.text.replace_range(start..end, "");
        self.cursor = start;
        if start == end { KeyResult::Handled } else { KeyResult::Changed }
    }

    fn previous_boundary(&self) -> usize {
        self.cursor - self.text[..self.cursor].graphemes(true).next_back().map_or(0, str::len)
    }

    fn next_boundary(&self) -> usize {
        self.cursor + self.text[self.cursor..].graphemes(true).next().map_or(0, str::len)
    }

    fn previous_word(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        before
            .rfind(char::is_whitespace)
            .map_or(0, |blank| blank + before[blank..].chars().next().map_or(1, char::len_utf8))
    }

    fn next_word(&self) -> usize {
        let rest = &self.text[self.cursor..];
        let blank_length = rest.len() - rest.trim_start().len();
        self.cursor + blank_length + rest[blank_length..].find(char::is_whitespace).unwrap_or(rest.len() - blank_length)
    }
}

/// Returns the part of a label that is drawn: at most half of the width.
fn cut_label(label: &str, width: u16) -> &str {
    width::cut_to_width(label, usize::from(width / 2))
}

/// Returns the cells for the text of a field that is drawn after a label.
pub fn width_after_label(label: &str, width: u16) -> usize {
    usize::from(width) - width::text_width(cut_label(label, width))
}

/// Draws a label at the start of an area. Returns the column after it.
fn draw_label(label: &str, area: Rect, buffer: &mut Buffer, theme: &Theme) -> u16 {
    buffer.set_stringn(area.x, area.y, cut_label(label, area.width), usize::from(area.width), theme.prompt).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyModifiers};

    #[track_caller]
    fn check_field(start: &str, presses: &[(KeyCode, KeyModifiers)], expected: &str) {
        let mut field = TextField::new(start);
        for (code, modifiers) in presses {
            field.handle_key(&KeyEvent::new(*code, *modifiers), &Keymap::default());
        }
        assert_eq!(field.text(), expected);
    }

    #[test]
    fn a_text_field_is_edited_by_graphemes_and_words() {
        const NONE: KeyModifiers = KeyModifiers::NONE;
        const CONTROL: KeyModifiers = KeyModifiers::CONTROL;
        check_field("a👩\u{200d}👧", &[(KeyCode::Backspace, NONE)], "a");
        check_field("e\u{301}x", &[(KeyCode::Left, NONE), (KeyCode::Backspace, NONE)], "x");
        check_field("one two ", &[(KeyCode::Char('w'), CONTROL)], "one ");
        check_field("one two", &[(KeyCode::Char('u'), CONTROL)], "");
        check_field("one", &[(KeyCode::Home, NONE), (KeyCode::Char('k'), CONTROL)], "");
        check_field("ab", &[(KeyCode::Left, NONE), (KeyCode::Char('X'), KeyModifiers::SHIFT)], "aXb");
        check_field("a\n\x1b[31mb", &[], "a b");
    }

    #[test]
    fn a_saved_field_is_cleaned_and_its_cursor_put_between_graphemes() {
        for (saved, text, cursor) in [
            (r#"{"text":"e\u0301x","at":1}"#, "e\u{301}x", 3),
            (r#"{"text":"ab","at":9}"#, "ab", 2),
            (r#"{"text":"a\nb"}"#, "a b", 0),
            (r#"{"text":"a\nb","at":1,"breaks":true}"#, "a\nb", 1),
        ] {
            let field: TextField = serde_json::from_str(saved).unwrap();
            assert_eq!((field.text(), field.cursor), (text, cursor), "{saved}");
        }
    }

    #[test]
    fn a_field_with_line_breaks_wraps_into_rows() {
        let press = |field: &mut TextField, code, modifiers| {
            field.handle_key(&KeyEvent::new(code, modifiers), &Keymap::default());
        };
        let mut field = TextField::multiline("one\r\ntwo three\x1b[2J");
        assert_eq!(field.text(), "one\ntwo three");
        assert_eq!(field.wrap_rows(6), (vec!["one".into(), "two ".into(), "three".into()], (2, 5)));
        press(&mut field, KeyCode::Enter, KeyModifiers::ALT);
        press(&mut field, KeyCode::Char('j'), KeyModifiers::CONTROL);
        press(&mut field, KeyCode::Char('x'), KeyModifiers::NONE);
        assert_eq!(field.text(), "one\ntwo three\n\nx");
        field.move_rows(6, -1);
        field.move_rows(6, -1);
        press(&mut field, KeyCode::Char('u'), KeyModifiers::CONTROL);
        assert_eq!(field.text(), "one\nthree\n\nx", "only to the start of its line");
        field.move_rows(6, -1);
        press(&mut field, KeyCode::End, KeyModifiers::NONE);
        press(&mut field, KeyCode::Delete, KeyModifiers::NONE);
        assert_eq!(field.text(), "onethree\n\nx");
        for _ in 0..9 {
            field.move_rows(6, 1);
        }
        let (rows, (row, _)) = field.wrap_rows(6);
        assert_eq!(row, rows.len() - 1);
        let mut single_line = TextField::new("a");
        press(&mut single_line, KeyCode::Enter, KeyModifiers::ALT);
        assert_eq!(single_line.text(), "a");
    }

    #[test]
    fn the_cursor_stays_in_the_visible_part() {
        for cells in 0..12 {
            let field = TextField::new("漢字 and more");
            let (text, cursor) = field.visible_part(cells);
            assert!(width::text_width(text) <= cells && cursor < cells.max(1), "{cells}: {text} {cursor}");
        }
    }
}
