//! The composer: a multi-line input with wrapping, prompt history and folded pastes.

mod draft;
mod draw;
mod history;
mod pastes;
mod rows;

use crate::chat::Piece;
use crate::tui::keys::{Action, Chord, Keymap, Scope};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use draft::Draft;
use history::{History, Search};
pub(in crate::tui::parts) use rows::Rows;
use std::cell::Cell;
use std::ops::Range;

pub struct Composer {
    draft: Draft,
    history: History,
    /// Open search of the history, if any.
    search: Option<Search>,
    /// Text shown while the composer is empty.
    placeholder: String,
    /// Width of the last frame. Determines the rows that the up and down keys move by.
    width: Cell<u16>,
    /// First visible row. Kept between frames so that the view scrolls only when the cursor leaves it.
    top: Cell<usize>,
    /// Column that the up and down keys try to stay in.
    column: Option<usize>,
}

/// Result of a key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressed {
    /// The composer does not use the key; the caller handles it. An empty composer also passes on Enter, Ctrl-D, the help
    /// key and the arrows.
    Passed,
    /// The composer handled the key. Its text may have changed.
    Used,
    /// The user sends the text: call [`Composer::take`]. Never returned for blank text.
    Send,
}

impl Composer {
    /// Creates an empty composer. The caller must remove control characters from the placeholder.
    pub fn new(placeholder: &str) -> Self {
        Self {
            draft: Draft::default(),
            history: History::default(),
            search: None,
            placeholder: placeholder.to_owned(),
            width: Cell::new(80),
            top: Cell::new(0),
            column: None,
        }
    }

    /// Replaces the history, oldest first. The text stays.
    pub fn set_history(&mut self, said: Vec<String>) {
        self.search = None;
        self.history.replace(said, &mut self.draft);
    }

    /// Adds a sent message to the history.
    pub fn remember(&mut self, said: &str) {
        if self.history.remember(said)
            && let Some(search) = &mut self.search
        {
            search.shift();
        }
    }

    /// Returns the text with pastes unfolded, as it is sent and saved.
    pub fn text(&self) -> String {
        self.draft.text()
    }

    /// Returns the text with each folded paste as one character, and the byte offset of the cursor in it. Used for
    /// completion.
    pub fn written(&self) -> (String, usize) {
        self.draft.written()
    }

    /// Returns whether there is no text, not even a blank.
    pub fn is_empty(&self) -> bool {
        self.draft.is_empty()
    }

    /// Returns whether the history search is open. The composer then receives its keys.
    pub fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    /// Replaces the text and moves the cursor to its end. Clears the undo history; long text is not folded.
    pub fn set(&mut self, text: &str) {
        self.start_over(Draft::of(text));
    }

    /// Restores a saved draft with its folded pastes.
    pub fn restore(&mut self, pieces: &[Piece]) {
        self.start_over(Draft::from_pieces(pieces));
    }

    /// Returns the draft to save; empty if there is no text.
    pub fn to_pieces(&self) -> Vec<Piece> {
        self.draft.to_pieces()
    }

    /// Returns the text and empties the composer.
    pub fn take(&mut self) -> String {
        let text = self.text();
        let after = self.draft.emptied();
        self.start_over(after);
        text
    }

    /// Inserts text at the cursor without folding it.
    pub fn insert(&mut self, text: &str) {
        self.accept_found();
        self.column = None;
        self.draft.insert(text);
    }

    /// Inserts pasted text without control characters and escape sequences. Long text is folded.
    pub fn paste(&mut self, text: &str) {
        self.column = None;
        match &mut self.search {
            Some(search) => search.write(&pastes::harmless(text), &self.history),
            None => self.draft.paste(text),
        }
    }

    /// Replaces a byte range of [`Composer::written`] and moves the cursor after the new text.
    pub fn replace(&mut self, range: Range<usize>, with: &str) {
        self.column = None;
        self.draft.replace(range, with);
    }

    /// Handles a key while the composer has the keyboard focus.
    pub fn key(&mut self, key: &KeyEvent, keys: &Keymap) -> Pressed {
        if self.search.is_some() {
            return self.key_of_search(key, keys);
        }
        let column = self.column.take();
        let Some(action) = keys.lookup(Scope::Composer, key) else { return self.typed(key) };
        match action {
            Action::Send if self.draft.is_blank() => return Pressed::Passed,
            Action::Send => return Pressed::Send,
            Action::HistoryUp => return self.up(column),
            Action::HistoryDown => return self.down(column),
            Action::DeleteOrQuit | Action::HelpWhenEmpty if self.is_empty() => return Pressed::Passed,
            Action::HelpWhenEmpty => return self.typed(key),
            Action::SearchHistory => self.search = Some(Search::default()),
            Action::BreakLine => self.draft.insert("\n"),
            Action::Left => self.draft.left(),
            Action::Right => self.draft.right(),
            Action::WordLeft => self.draft.word_left(),
            Action::WordRight => self.draft.word_right(),
            Action::LineStart => self.draft.line_start(),
            Action::LineEnd => self.draft.line_end(),
            Action::DeleteBack => self.draft.delete_back(),
            Action::DeleteForward | Action::DeleteOrQuit => self.draft.delete_forward(),
            Action::DeleteWordBack => self.draft.delete_word_back(),
            Action::DeleteWordForward => self.draft.delete_word_forward(),
            Action::DeleteToStart => self.draft.delete_to_start(),
            Action::DeleteToEnd => self.draft.delete_to_end(),
            Action::Yank => self.draft.yank(),
            Action::Transpose => self.draft.transpose(),
            Action::Undo => self.draft.undo(),
            Action::Redo => self.draft.redo(),
            Action::OpenPaste if !self.draft.open_paste() => return Pressed::Passed,
            Action::OpenPaste => {}
            _ => return Pressed::Passed,
        }
        Pressed::Used
    }

    /// Inserts a typed character. Chords with Ctrl or Alt are not text, except AltGr (both) for a character that is not
    /// ASCII alphanumeric.
    fn typed(&mut self, key: &KeyEvent) -> Pressed {
        let held = key.modifiers - KeyModifiers::SHIFT;
        let alt_gr = KeyModifiers::CONTROL | KeyModifiers::ALT;
        match key.code {
            KeyCode::Char(letter)
                if held.is_empty() || (held == alt_gr && !letter.is_ascii_alphanumeric()) =>
            {
                let letter = Chord::from(key).typed().unwrap_or(letter);
                self.draft.type_letter(letter);
                Pressed::Used
            }
            _ => Pressed::Passed,
        }
    }

    /// Moves up a row. In an empty composer, or in the first row of a history entry, moves to the previous entry.
    fn up(&mut self, column: Option<usize>) -> Pressed {
        let rows = self.draft.rows(self.room());
        let (row, at) = rows.cursor(&self.draft);
        if self.is_empty() || (row == 0 && self.history.is_back()) {
            return if self.history.back(&mut self.draft) || !self.is_empty() {
                Pressed::Used
            } else {
                Pressed::Passed
            };
        }
        match row.checked_sub(1) {
            Some(row) => self.go_to_row(&rows, row, column.unwrap_or(at)),
            None => self.draft.go(0, 0),
        }
        Pressed::Used
    }

    fn down(&mut self, column: Option<usize>) -> Pressed {
        let rows = self.draft.rows(self.room());
        let (row, at) = rows.cursor(&self.draft);
        if row + 1 < rows.len() {
            self.go_to_row(&rows, row + 1, column.unwrap_or(at));
        } else if self.history.is_back() {
            self.history.forward(&mut self.draft);
        } else if self.is_empty() {
            return Pressed::Passed;
        } else {
            self.draft.go_to_end();
        }
        Pressed::Used
    }

    fn go_to_row(&mut self, rows: &rows::Rows, row: usize, column: usize) {
        let (line, at) = rows.at_cell(row, column);
        self.draft.go(line, at);
        self.column = Some(column);
    }

    /// Handles a key of the history search: characters extend the query, cursor keys accept the match.
    fn key_of_search(&mut self, key: &KeyEvent, keys: &Keymap) -> Pressed {
        let Some(search) = &mut self.search else { return Pressed::Passed };
        match keys.lookup(Scope::Composer, key) {
            Some(Action::SearchHistory | Action::HistoryUp) => search.older(&self.history),
            Some(Action::HistoryDown) => search.newer(&self.history),
            Some(Action::DeleteBack) => search.delete(&self.history),
            Some(Action::Send | Action::Right) => self.accept_found(),
            Some(Action::HelpWhenEmpty) | None => {
                let close = keys.lookup(Scope::List, key) == Some(Action::Close)
                    || Chord::from(key).to_string() == "ctrl-g";
                match Chord::from(key).typed() {
                    Some(letter) => search.write(letter.encode_utf8(&mut [0; 4]), &self.history),
                    None if close => self.search = None,
                    None => return Pressed::Passed,
                }
            }
            Some(Action::OpenEditor) => self.search = None,
            Some(_) => {
                self.accept_found();
                return self.key(key, keys);
            }
        }
        Pressed::Used
    }

    /// Closes the search and shows its match. The previous text stays reachable with the down key.
    fn accept_found(&mut self) {
        if let Some(found) = self.search.take().and_then(|search| search.found()) {
            self.history.go(found, &mut self.draft);
        }
    }

    fn start_over(&mut self, draft: Draft) {
        (self.draft, self.search, self.column) = (draft, None, None);
        self.history.rest();
        self.top.set(0);
    }
}

#[cfg(test)]
mod tests;
