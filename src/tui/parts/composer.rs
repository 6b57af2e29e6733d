//! Where the person writes: lines that wrap, what was said before, and pastes that fold.

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

/// The composer.
pub struct Composer {
    draft: Draft,
    history: History,
    /// The search that is open, if one is.
    search: Option<Search>,
    /// Shown where nothing is written.
    placeholder: String,
    /// How wide it was drawn last: what a row is, for the keys that go up and down.
    width: Cell<u16>,
    /// The first row on the screen, kept so that it only scrolls when the cursor leaves it.
    top: Cell<usize>,
    /// The column that going up and down keeps to.
    column: Option<usize>,
}

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressed {
    /// It is no key of the composer and changed nothing: the caller looks further. So are Enter, Ctrl-D, the help
    /// key and the arrows where nothing is written.
    Passed,
    /// The composer took it; what it holds may be another now.
    Used,
    /// The person sends what is there: [`Composer::take`] it. Never where only blanks are written.
    Send,
}

impl Composer {
    /// An empty composer that shows these words, cleaned by the caller, until something is written.
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

    /// What was said before, oldest first. What is written stays.
    pub fn set_history(&mut self, said: Vec<String>) {
        self.search = None;
        self.history.replace(said, &mut self.draft);
    }

    /// Adds what was just said to what was said before.
    pub fn remember(&mut self, said: &str) {
        if self.history.remember(said)
            && let Some(search) = &mut self.search
        {
            search.shift();
        }
    }

    /// All that is written, pastes in full: what is sent, and what is kept as a draft.
    pub fn text(&self) -> String {
        self.draft.text()
    }

    /// What is written with each folded paste as one letter, and the byte in it where the cursor stands: for what
    /// completes words.
    pub fn written(&self) -> (String, usize) {
        self.draft.written()
    }

    /// Whether not even a blank is written.
    pub fn is_empty(&self) -> bool {
        self.draft.is_empty()
    }

    /// Whether what was said before is being searched, so that its keys belong to the composer.
    pub fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    /// Holds this and nothing else from now on, with the cursor at its end. It cannot be undone. Text that is long
    /// is not folded.
    pub fn set(&mut self, text: &str) {
        self.start_over(Draft::of(text));
    }

    /// Holds this from now on as it was kept, its pastes folded.
    pub fn restore(&mut self, pieces: &[Piece]) {
        self.start_over(Draft::from_pieces(pieces));
    }

    /// What has to be kept of the text; empty where nothing is written.
    pub fn to_pieces(&self) -> Vec<Piece> {
        self.draft.to_pieces()
    }

    /// All that is written, which leaves the composer empty.
    pub fn take(&mut self) -> String {
        let text = self.text();
        let after = self.draft.emptied();
        self.start_over(after);
        text
    }

    /// Writes at the cursor as if it had been typed: never folded.
    pub fn insert(&mut self, text: &str) {
        self.accept_found();
        self.column = None;
        self.draft.insert(text);
    }

    /// Text was pasted: cleaned of what controls a terminal, and folded where it is long.
    pub fn paste(&mut self, text: &str) {
        self.column = None;
        match &mut self.search {
            Some(search) => search.write(&pastes::harmless(text), &self.history),
            None => self.draft.paste(text),
        }
    }

    /// Puts words in the place of these bytes of [`Composer::written`], and the cursor behind them.
    pub fn replace(&mut self, range: Range<usize>, with: &str) {
        self.column = None;
        self.draft.replace(range, with);
    }

    /// A key that was pressed while the composer has the keyboard.
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

    /// A letter, as it is; with ctrl or alt it is none, but where a keyboard makes letters with both.
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

    /// A row up; in an empty composer, or from the first row of what was said before, back to what was said
    /// before that.
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

    /// Keys of the search: letters are looked for, and what moves the cursor takes what was found.
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

    /// Ends the search with what it found in the composer; what was written there is one step down.
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
