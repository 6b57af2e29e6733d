//! Editable text on top of `tui_textarea`: moves by graphemes and folds each long paste into one character.

use super::pastes::{Pastes, harmless, label};
use super::rows::Rows;
use crate::chat::Piece;
use std::ops::Range;
use tui_textarea::{CursorMove, TextArea};
use unicode_segmentation::UnicodeSegmentation;

/// Maximum number of undo steps.
const STEPS: usize = 2000;

/// A text and its cursor, which is always on a grapheme boundary.
pub(super) struct Draft {
    area: TextArea<'static>,
    /// Kept even after deletion, so that undo can restore them.
    pastes: Pastes,
}

impl Default for Draft {
    fn default() -> Self {
        let mut area = TextArea::default();
        area.set_max_histories(STEPS);
        Self { area, pastes: Pastes::default() }
    }
}

impl Draft {
    /// Creates a draft with the cursor at its end and no undo history.
    pub fn of(text: &str) -> Self {
        let mut draft = Self::default();
        let text = draft.pastes.guarded(&harmless(text));
        let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
        area.set_max_histories(STEPS);
        draft.area = area;
        draft.go_to_end();
        draft
    }

    /// Restores a saved draft with folded pastes, the cursor at its end and no undo history.
    pub fn from_pieces(pieces: &[Piece]) -> Self {
        let mut draft = Self::default();
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Typed(typed) => text.push_str(&draft.pastes.guarded(&harmless(typed))),
                Piece::Pasted(paste) => match draft.pastes.fold(harmless(paste)) {
                    Ok(letter) => text.push(letter),
                    Err(paste) => text.push_str(&paste),
                },
            }
        }
        let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
        area.set_max_histories(STEPS);
        draft.area = area;
        draft.go_to_end();
        draft
    }

    /// Returns the draft to save; empty if there is no text.
    pub fn to_pieces(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut typed = String::new();
        for (at, line) in self.lines().iter().enumerate() {
            if at > 0 {
                typed.push('\n');
            }
            for part in line.split_inclusive(|letter| self.pastes.get(letter).is_some()) {
                let paste =
                    part.chars().next_back().and_then(|letter| Some((letter, self.pastes.get(letter)?)));
                let Some((letter, paste)) = paste else {
                    typed.push_str(part);
                    continue;
                };
                typed.push_str(&part[..part.len() - letter.len_utf8()]);
                if !typed.is_empty() {
                    pieces.push(Piece::Typed(std::mem::take(&mut typed).into()));
                }
                pieces.push(Piece::Pasted(paste.clone()));
            }
        }
        if !typed.is_empty() {
            pieces.push(Piece::Typed(typed.into()));
        }
        pieces
    }

    /// Returns an empty draft that keeps the yank buffer.
    pub fn emptied(&self) -> Self {
        let mut draft = Self::default();
        let yank = self.pastes.unfolded(&self.area.yank_text());
        let yank = draft.pastes.guarded(&yank);
        draft.area.set_yank_text(yank);
        draft
    }

    pub fn text(&self) -> String {
        self.pastes.unfolded(&self.area.lines().join("\n"))
    }

    pub fn written(&self) -> (String, usize) {
        let (line, at) = self.cursor();
        let before: usize = self.lines()[..line].iter().map(|line| line.len() + 1).sum();
        (self.lines().join("\n"), before + at)
    }

    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Returns whether the text is empty or blank.
    pub fn is_blank(&self) -> bool {
        self.lines().iter().all(|line| line.trim().is_empty())
    }

    pub fn lines(&self) -> &[String] {
        self.area.lines()
    }

    /// Returns the paste that a character represents.
    pub fn paste_of(&self, letter: char) -> Option<&str> {
        self.pastes.of(letter)
    }

    pub fn rows(&self, width: usize) -> Rows {
        Rows::new(self.lines(), |letter| self.paste_of(letter).map(label), width)
    }

    /// Returns the line of the cursor and the byte offset in it.
    pub fn cursor(&self) -> (usize, usize) {
        let at = self.area.cursor();
        let line = &self.lines()[at.0];
        (at.0, line.char_indices().nth(at.1).map_or(line.len(), |(byte, _)| byte))
    }

    /// Moves the cursor to a byte offset of a line.
    pub fn go(&mut self, line: usize, byte: usize) {
        let text = &self.lines()[line];
        let column = text[..byte.min(text.len())].chars().count();
        let length = text.chars().count();
        // `Jump` reaches only the first 65,535 lines and columns. Beyond them the cursor moves step by step from the
        // nearest reachable position.
        let reached = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        let beyond = column - usize::from(reached(column));
        let here = self.area.cursor();
        if here.0 != line || here.1.abs_diff(column) >= beyond {
            self.area.move_cursor(CursorMove::Jump(reached(line), reached(column)));
            while self.area.cursor().0 < line {
                self.area.move_cursor(CursorMove::End);
                self.area.move_cursor(CursorMove::Forward);
            }
            if length - column < column.abs_diff(self.area.cursor().1) {
                self.area.move_cursor(CursorMove::End);
            }
        }
        while self.area.cursor().1 < column {
            self.area.move_cursor(CursorMove::Forward);
        }
        while self.area.cursor().1 > column {
            self.area.move_cursor(CursorMove::Back);
        }
    }

    pub fn go_to_end(&mut self) {
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
    }

    /// Inserts text. Folds only characters that could be taken for a folded paste.
    pub fn insert(&mut self, text: &str) {
        let text = self.pastes.guarded(&harmless(text));
        self.area.insert_str(text);
    }

    /// Inserts a typed character, including combining characters.
    pub fn type_letter(&mut self, letter: char) {
        if !letter.is_control() {
            self.insert(letter.encode_utf8(&mut [0; 4]));
        }
    }

    /// Inserts pasted text, folded if it is long.
    pub fn paste(&mut self, text: &str) {
        let text = harmless(text);
        match self.pastes.folded(text) {
            Ok(letter) => self.area.insert_char(letter),
            Err(text) => self.insert(&text),
        }
    }

    /// Unfolds the paste before the cursor, otherwise the one under it, otherwise the first one. Returns false if there is
    /// no folded paste.
    pub fn open_paste(&mut self) -> bool {
        let (line, at) = self.cursor();
        let here = &self.lines()[line];
        let opens = |c: &char| self.paste_of(*c).is_some_and(|paste| paste.chars().nth(1).is_some());
        let before = here[..at].chars().next_back().filter(opens);
        let under = here[at..].chars().next().filter(opens);
        let anywhere = || {
            self.lines().iter().enumerate().find_map(|(line, text)| {
                text.char_indices().find(|(_, c)| opens(c)).map(|(at, c)| (line, at, c))
            })
        };
        let found = match (before, under) {
            (Some(letter), _) => Some((line, at - letter.len_utf8(), letter)),
            (None, Some(letter)) => Some((line, at, letter)),
            (None, None) => anywhere(),
        };
        let Some((line, at, letter)) = found else { return false };
        let Some(paste) = self.paste_of(letter).map(str::to_owned) else { return false };
        self.go(line, at);
        self.delete(1);
        let paste = self.pastes.guarded(&paste);
        self.area.insert_str(paste);
        true
    }

    pub fn replace(&mut self, range: Range<usize>, with: &str) {
        let (text, _) = self.written();
        let (Some(before), Some(inside)) = (text.get(..range.start), text.get(range)) else { return };
        let line = before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let (byte, characters) = (before.len() - start, inside.chars().count());
        self.go(line, byte);
        self.delete(characters);
        self.insert(with);
    }

    pub fn left(&mut self) {
        for _ in 0..self.before().max(1) {
            self.area.move_cursor(CursorMove::Back);
        }
    }

    pub fn right(&mut self) {
        for _ in 0..self.after().max(1) {
            self.area.move_cursor(CursorMove::Forward);
        }
    }

    pub fn word_left(&mut self) {
        self.area.move_cursor(CursorMove::WordBack);
    }

    /// Moves to the end of the word, as in a shell.
    pub fn word_right(&mut self) {
        let (line, at) = self.cursor();
        let text = &self.lines()[line];
        let word = |c: char| c.is_alphanumeric() || c == '_';
        match text[at..].find(word) {
            None if line + 1 < self.lines().len() => self.go(line + 1, 0),
            None => self.go(line, text.len()),
            Some(start) => {
                let start = at + start;
                let end = text[start..]
                    .find(|c: char| !word(c) && !is_mark(c))
                    .map_or(text.len(), |end| start + end);
                self.go(line, end);
            }
        }
    }

    pub fn line_start(&mut self) {
        self.area.move_cursor(CursorMove::Head);
    }

    pub fn line_end(&mut self) {
        self.area.move_cursor(CursorMove::End);
    }

    pub fn delete_back(&mut self) {
        let characters = self.before();
        if characters == 0 {
            self.area.delete_newline();
            return;
        }
        for _ in 0..characters {
            self.area.move_cursor(CursorMove::Back);
        }
        self.delete(characters);
    }

    pub fn delete_forward(&mut self) {
        // At the end of the text the text area would record an empty undo step.
        match self.after() {
            0 if self.area.cursor().0 + 1 == self.lines().len() => {}
            characters => self.delete(characters.max(1)),
        }
    }

    pub fn delete_word_back(&mut self) {
        self.area.delete_word();
    }

    pub fn delete_word_forward(&mut self) {
        let (line, at) = self.cursor();
        self.word_right();
        let (to_line, to) = self.cursor();
        self.go(line, at);
        let characters = if to_line == line { self.lines()[line][at..to].chars().count() } else { 1 };
        self.area.delete_str(characters);
    }

    pub fn delete_to_start(&mut self) {
        self.area.delete_line_by_head();
    }

    pub fn delete_to_end(&mut self) {
        self.area.delete_line_by_end();
    }

    pub fn yank(&mut self) {
        self.area.paste();
    }

    /// Swaps the graphemes around the cursor, or the last two at the end of a line.
    pub fn transpose(&mut self) {
        let (line, at) = self.cursor();
        let text = &self.lines()[line];
        let at = if at == text.len() { at - last(&text[..at]).len() } else { at };
        let (first, second) = (last(&text[..at]), text[at..].graphemes(true).next().unwrap_or(""));
        if first.is_empty() || second.is_empty() {
            return;
        }
        let (from, swapped) = (at - first.len(), format!("{second}{first}"));
        self.go(line, from);
        self.delete(swapped.chars().count());
        self.area.insert_str(swapped);
    }

    pub fn undo(&mut self) {
        self.area.undo();
    }

    pub fn redo(&mut self) {
        self.area.redo();
    }

    /// Deletes characters after the cursor without changing the yank buffer.
    fn delete(&mut self, characters: usize) {
        let yank = self.area.yank_text();
        self.area.delete_str(characters);
        self.area.set_yank_text(yank);
    }

    /// Returns the length in characters of the grapheme before the cursor; 0 at the line start.
    fn before(&self) -> usize {
        let (line, at) = self.cursor();
        last(&self.lines()[line][..at]).chars().count()
    }

    /// Returns the length in characters of the grapheme after the cursor; 0 at the line end.
    fn after(&self) -> usize {
        let (line, at) = self.cursor();
        self.lines()[line][at..].graphemes(true).next().map_or(0, |grapheme| grapheme.chars().count())
    }
}

fn last(text: &str) -> &str {
    text.graphemes(true).next_back().unwrap_or("")
}

/// Returns whether a character combines with the one before it.
fn is_mark(c: char) -> bool {
    unicode_width::UnicodeWidthChar::width(c) == Some(0)
}
