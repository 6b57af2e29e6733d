//! A text field within a prompt or above a list: one line, or a few if line breaks are allowed.

use super::composer::Rows;
use crate::chat::escape;
use crate::chat::hidden::without_hidden;
use crate::tui::keys::{Action, Chord, Keymap, Scope};
use crate::tui::text::{clean, width};
use crate::tui::theme::Theme;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

/// A text field. Its cursor is between graphemes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub struct Line {
    text: String,
    /// Bytes before the cursor.
    at: usize,
    /// True if line breaks are allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    breaks: bool,
}

/// A text field as stored in a draft, not yet validated.
#[derive(Deserialize)]
struct Kept {
    text: String,
    #[serde(default)]
    at: usize,
    #[serde(default)]
    breaks: bool,
}

impl From<Kept> for Line {
    fn from(kept: Kept) -> Self {
        let mut line = if kept.breaks { Self::of_lines(&kept.text) } else { Self::new(&kept.text) };
        let mut ends = line.text.grapheme_indices(true).map(|(at, letter)| at + letter.len());
        line.at = if kept.at == 0 { 0 } else { ends.find(|end| *end >= kept.at).unwrap_or(line.text.len()) };
        line
    }
}

/// Effect of a key on a text field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The key has no meaning here.
    Passed,
    /// The cursor moved, or there was nothing to do.
    Moved,
    /// The text changed.
    Changed,
    /// The input is complete.
    Accepted,
    /// The user cancelled.
    Closed,
}

impl Line {
    /// Creates a field with this text and the cursor after it.
    pub fn new(text: &str) -> Self {
        let mut line = Self::default();
        line.insert(text);
        line
    }

    /// Creates a field that allows line breaks, with this text and the cursor after it.
    pub fn of_lines(text: &str) -> Self {
        let mut line = Self { breaks: true, ..Self::default() };
        line.insert(text);
        line
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Inserts text at the cursor without invisible characters. If line breaks are not allowed, they become blanks.
    pub fn insert(&mut self, text: &str) {
        let stripped = escape::strip(text);
        let text = without_hidden(&stripped);
        let text = if self.breaks { clean::clean(&text) } else { clean::one_line(&text) };
        self.text.insert_str(self.at, &text);
        self.at += text.len();
    }

    /// Handles a key while the field has the focus.
    pub fn key(&mut self, key: &KeyEvent, keys: &Keymap) -> Reply {
        let Some(action) = keys.lookup(Scope::Line, key) else {
            return match Chord::from(key).typed() {
                Some(letter) => {
                    self.insert(letter.encode_utf8(&mut [0; 4]));
                    Reply::Changed
                }
                None => Reply::Passed,
            };
        };
        let (back, forward) = (self.before(), self.after());
        match action {
            Action::Accept => return Reply::Accepted,
            Action::Close => return Reply::Closed,
            Action::Left => self.at = back,
            Action::Right => self.at = forward,
            Action::WordLeft => self.at = self.word_before(),
            Action::WordRight => self.at = self.word_after(),
            Action::LineStart => self.at = self.start(),
            Action::LineEnd => self.at = self.end(),
            Action::DeleteBack => return self.delete(back, self.at),
            Action::DeleteForward => return self.delete(self.at, forward),
            Action::DeleteWordBack => return self.delete(self.word_before(), self.at),
            Action::DeleteWordForward => return self.delete(self.at, self.word_after()),
            Action::DeleteToStart => return self.delete(self.start(), self.at),
            Action::DeleteToEnd => return self.delete(self.at, self.end()),
            Action::BreakLine if self.breaks => {
                self.insert("\n");
                return Reply::Changed;
            }
            // In a one-line field the key is not passed on: it would break a line of another field.
            Action::BreakLine => {}
            _ => return Reply::Passed,
        }
        Reply::Moved
    }

    /// Returns the part that fits into `cells` with the cursor in it, and the cursor's cell.
    pub fn shown(&self, cells: usize) -> (&str, usize) {
        let mut from = 0;
        while width::width(&self.text[from..self.at]) >= cells.max(1) {
            let next = self.text[from..].graphemes(true).next().map_or(1, str::len);
            from += next;
        }
        (width::cut(&self.text[from..], cells), width::width(&self.text[from..self.at]))
    }

    /// Draws the field in one row after a label, which takes at most half of the row. Returns the cursor's position.
    pub fn view_behind(&self, label: &str, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Position {
        let label = width::cut(label, usize::from(area.width / 2));
        let taken = width::width(label) as u16;
        let room = usize::from(area.width - taken);
        let (text, cursor) = self.shown(room);
        buffer.set_stringn(area.x, area.y, label, usize::from(taken), theme.prompt);
        buffer.set_stringn(area.x + taken, area.y, text, room, theme.text);
        let x = area.x + taken + u16::try_from(cursor).unwrap_or(0);
        Position { x: x.min(area.right().saturating_sub(1)), y: area.y }
    }

    /// Returns the rows of the field wrapped at `cells`, and the row and cell of the cursor.
    pub fn rows(&self, cells: usize) -> (Vec<String>, (usize, usize)) {
        let rows = self.laid(cells);
        let words = |row: usize| rows.row(row).iter().map(|glyph| glyph.shown.as_str()).collect();
        ((0..rows.len()).map(words).collect(), rows.cell_of(self.line_and_byte()))
    }

    /// Moves the cursor a row up or down in the field wrapped at `cells`.
    pub fn step(&mut self, cells: usize, down: bool) {
        let rows = self.laid(cells);
        let (row, cell) = rows.cell_of(self.line_and_byte());
        let to = if down { row + 1 } else { row.wrapping_sub(1) };
        if to < rows.len() {
            let (line, byte) = rows.at_cell(to, cell);
            let (before, length) = self.line_at(line);
            self.at = before + byte.min(length);
        }
    }

    fn laid(&self, cells: usize) -> Rows {
        let lines: Vec<String> = self.text.split('\n').map(str::to_owned).collect();
        Rows::new(&lines, |_| None, cells)
    }

    /// Returns the line of the cursor and the bytes before it in that line.
    fn line_and_byte(&self) -> (usize, usize) {
        (self.text[..self.at].matches('\n').count(), self.at - self.start())
    }

    /// Returns the start of a line and its length, in bytes.
    fn line_at(&self, line: usize) -> (usize, usize) {
        let mut from = 0;
        for (at, text) in self.text.split('\n').enumerate() {
            if at == line {
                return (from, text.len());
            }
            from += text.len() + 1;
        }
        (self.text.len(), 0)
    }

    /// Returns the start of the cursor's line.
    fn start(&self) -> usize {
        self.text[..self.at].rfind('\n').map_or(0, |end| end + 1)
    }

    fn end(&self) -> usize {
        self.text[self.at..].find('\n').map_or(self.text.len(), |end| self.at + end)
    }

    fn delete(&mut self, from: usize, to: usize) -> Reply {
        self.text.replace_range(from..to, "");
        self.at = from;
        if from == to { Reply::Moved } else { Reply::Changed }
    }

    fn before(&self) -> usize {
        self.at - self.text[..self.at].graphemes(true).next_back().map_or(0, str::len)
    }

    fn after(&self) -> usize {
        self.at + self.text[self.at..].graphemes(true).next().map_or(0, str::len)
    }

    fn word_before(&self) -> usize {
        let start = self.text[..self.at].trim_end();
        start
            .rfind(char::is_whitespace)
            .map_or(0, |blank| blank + start[blank..].chars().next().map_or(1, char::len_utf8))
    }

    fn word_after(&self) -> usize {
        let rest = &self.text[self.at..];
        let blanks = rest.len() - rest.trim_start().len();
        self.at + blanks + rest[blanks..].find(char::is_whitespace).unwrap_or(rest.len() - blanks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyModifiers};

    #[track_caller]
    fn check(start: &str, presses: &[(KeyCode, KeyModifiers)], expected: &str) {
        let mut line = Line::new(start);
        for (code, modifiers) in presses {
            line.key(&KeyEvent::new(*code, *modifiers), &Keymap::default());
        }
        assert_eq!(line.text(), expected);
    }

    #[test]
    fn a_text_field_is_edited_by_graphemes_and_words() {
        const NONE: KeyModifiers = KeyModifiers::NONE;
        const CONTROL: KeyModifiers = KeyModifiers::CONTROL;
        check("a👩\u{200d}👧", &[(KeyCode::Backspace, NONE)], "a");
        check("e\u{301}x", &[(KeyCode::Left, NONE), (KeyCode::Backspace, NONE)], "x");
        check("one two ", &[(KeyCode::Char('w'), CONTROL)], "one ");
        check("one two", &[(KeyCode::Char('u'), CONTROL)], "");
        check("one", &[(KeyCode::Home, NONE), (KeyCode::Char('k'), CONTROL)], "");
        check("ab", &[(KeyCode::Left, NONE), (KeyCode::Char('X'), KeyModifiers::SHIFT)], "aXb");
        check("a\n\x1b[31mb", &[], "a b");
    }

    #[test]
    fn a_field_with_line_breaks_wraps_into_rows() {
        let press = |line: &mut Line, code, modifiers| {
            line.key(&KeyEvent::new(code, modifiers), &Keymap::default());
        };
        let mut line = Line::of_lines("one\r\ntwo three\x1b[2J");
        assert_eq!(line.text(), "one\ntwo three");
        assert_eq!(line.rows(6), (vec!["one".into(), "two ".into(), "three".into()], (2, 5)));
        press(&mut line, KeyCode::Enter, KeyModifiers::ALT);
        press(&mut line, KeyCode::Char('j'), KeyModifiers::CONTROL);
        press(&mut line, KeyCode::Char('x'), KeyModifiers::NONE);
        assert_eq!(line.text(), "one\ntwo three\n\nx");
        line.step(6, false);
        line.step(6, false);
        press(&mut line, KeyCode::Char('u'), KeyModifiers::CONTROL);
        assert_eq!(line.text(), "one\nthree\n\nx", "only to the start of its line");
        line.step(6, false);
        press(&mut line, KeyCode::End, KeyModifiers::NONE);
        press(&mut line, KeyCode::Delete, KeyModifiers::NONE);
        assert_eq!(line.text(), "onethree\n\nx");
        for _ in 0..9 {
            line.step(6, true);
        }
        let (rows, (row, _)) = line.rows(6);
        assert_eq!(row, rows.len() - 1);
        let mut one = Line::new("a");
        press(&mut one, KeyCode::Enter, KeyModifiers::ALT);
        assert_eq!(one.text(), "a");
    }

    #[test]
    fn the_cursor_stays_in_the_visible_part() {
        for cells in 0..12 {
            let line = Line::new("漢字 and more");
            let (text, cursor) = line.shown(cells);
            assert!(width::width(text) <= cells && cursor < cells.max(1), "{cells}: {text} {cursor}");
        }
    }
}
