//! Completion of files (`@`), commands (`/`) and topics of `/help` while they are typed.

mod completed_word;
mod completion_layout;

use super::filter::Filter;
use crate::text::clean;
use crate::tui::host::ListState;
use crate::tui::keys::{Action, Keymap, Scope};
pub use completed_word::{Kind, Word};
use crossterm::event::KeyEvent;
use std::cell::Cell;
use std::ops::Range;

/// A completion candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Name without the `@` or `/`.
    pub name: String,
    /// Short description; may be empty.
    pub description: String,
}

/// List above the composer. It is open while a word that can be completed is typed and a candidate matches.
#[derive(Debug, Clone, Default)]
pub struct Completion {
    /// Files, followed by resources.
    files: Vec<Candidate>,
    /// Resources of MCP servers.
    resources: Vec<Candidate>,
    /// Progress of the file search.
    file_progress: ListState,
    commands: Vec<Candidate>,
    topics: Vec<Candidate>,
    /// Word under the cursor.
    word: Option<Word>,
    /// Indices of the matching candidates, best first.
    matches: Vec<usize>,
    /// Selected row, an index into `matches`.
    cursor: usize,
    /// Word at the time the user closed the list.
    dismissed_word: Option<Word>,
    /// Rows visible when the list was last drawn, the size of a page.
    page_rows: Cell<usize>,
}

/// Result of a key press.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyResult {
    /// The key is not for the list: it goes to the composer.
    PassedOn,
    /// The cursor moved, or the list closed.
    Handled,
    /// Replace this byte range of the composer's text by this text.
    Replace(Range<usize>, String),
}

impl Completion {
    /// Sets the commands, in the order shown before anything is typed.
    pub fn set_commands(&mut self, candidates: Vec<Candidate>) {
        self.commands = candidates;
        if self.word.as_ref().is_some_and(|word| word.kind == Kind::Command) {
            self.update_matches();
        }
    }

    /// Sets the resources of MCP servers, which are completed like files.
    pub fn set_resources(&mut self, candidates: Vec<Candidate>) {
        let file_count = self.files.len() - self.resources.len();
        let files = self.files.drain(..file_count).collect();
        self.resources = candidates;
        self.set_files(files, self.file_progress);
    }

    /// Sets the pages of the manual, in reading order.
    pub fn set_topics(&mut self, candidates: Vec<Candidate>) {
        self.topics = candidates;
    }

    /// Sets the files found so far. The selection stays on its file, unless it is in the first row.
    pub fn set_files(&mut self, candidates: Vec<Candidate>, progress: ListState) {
        let selected_index = self.matches.get(self.cursor).filter(|_| self.cursor > 0);
        let selected_name = selected_index.and_then(|index| self.files.get(*index)).map(|file| file.name.clone());
        (self.files, self.file_progress) = (candidates, progress);
        self.files.extend_from_slice(&self.resources);
        if self.word.as_ref().is_some_and(|word| word.kind == Kind::File) {
            self.update_matches();
            let is_selected = |index: &usize| selected_name.as_ref() == Some(&self.files[*index].name);
            self.cursor = self.matches.iter().position(is_selected).unwrap_or(0);
        }
    }

    /// Updates the list; called after every key and paste of the composer. `cursor` is a byte offset in `text`. Returns
    /// the kind of the word being completed, if any, so that the caller can fetch candidates.
    pub fn update_word(&mut self, text: &str, cursor: usize) -> Option<Kind> {
        let word = Word::at_cursor(text, cursor);
        let query = |word: &Option<Word>| word.as_ref().map(|word| (word.kind, word.typed.clone()));
        let is_changed = query(&word) != query(&self.word);
        self.word = word;
        if is_changed {
            self.update_matches();
        }
        if self.dismissed_word != self.word {
            self.dismissed_word = None;
        }
        self.word.as_ref().map(|word| word.kind)
    }

    /// Returns whether the list is on the screen and receives keys before the composer.
    pub fn is_open(&self) -> bool {
        self.word.is_some() && self.dismissed_word.is_none() && !self.matches.is_empty()
    }

    /// Handles a key before the composer. Enter on a complete name is passed on, so that it sends the message.
    pub fn handle_key(&mut self, key: &KeyEvent, keys: &Keymap) -> KeyResult {
        let Some(word) = self.word.as_ref().filter(|_| self.is_open()) else { return KeyResult::PassedOn };
        let (last_row, page_size) = (self.matches.len() - 1, self.page_rows.get().max(1));
        match keys.lookup(Scope::List, key) {
            Some(Action::Up) => self.cursor = self.cursor.checked_sub(1).unwrap_or(last_row),
            Some(Action::Down) => self.cursor = if self.cursor >= last_row { 0 } else { self.cursor + 1 },
            Some(Action::PageUp) => self.cursor = self.cursor.saturating_sub(page_size),
            Some(Action::PageDown) => self.cursor = (self.cursor + page_size).min(last_row),
            Some(Action::Close) => self.dismissed_word = self.word.clone(),
            Some(Action::Accept) => {
                let name = &self.candidates(word.kind)[self.matches[self.cursor]].name;
                let is_send_key = keys.lookup(Scope::Composer, key) == Some(Action::Send);
                // `/help ` without a topic is a command of its own: Enter sends it unless another row is selected.
                let is_optional = word.kind == Kind::Topic && word.typed.is_empty() && self.cursor == 0;
                if is_send_key && (word.is_complete(name) || is_optional) {
                    return KeyResult::PassedOn;
                }
                return KeyResult::Replace(word.range.clone(), word.completed_text(name));
            }
            _ => return KeyResult::PassedOn,
        }
        KeyResult::Handled
    }

    fn candidates(&self, kind: Kind) -> &[Candidate] {
        match kind {
            Kind::File => &self.files,
            Kind::Command => &self.commands,
            Kind::Topic => &self.topics,
        }
    }

    /// Updates the matches and selects the best one. A name that is typed in full is the best match.
    fn update_matches(&mut self) {
        self.cursor = 0;
        self.matches = match &self.word {
            None => Vec::new(),
            Some(word) => {
                let names = self.candidates(word.kind).iter().map(|candidate| candidate.name.as_str());
                let mut rows = self.filter(word).matching_rows(names);
                let is_exact = |row: &usize| self.candidates(word.kind)[*row].name == word.typed;
                if let Some(exact_row) = rows.iter().position(is_exact) {
                    rows[..=exact_row].rotate_right(1);
                }
                rows
            }
        };
    }

    fn filter(&self, word: &Word) -> Filter {
        match word.kind {
            Kind::File => Filter::for_paths(&word.typed),
            Kind::Command | Kind::Topic => Filter::new(&word.typed),
        }
    }
}

impl Candidate {
    /// Creates a candidate; both texts are sanitized.
    pub fn new(name: &str, description: &str) -> Self {
        Self { name: clean::clean_line(name).into_owned(), description: clean::clean_line(description).into_owned() }
    }
}

#[cfg(test)]
mod tests;
