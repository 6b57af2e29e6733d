//! Completion of files (`@`), commands (`/`) and topics of `/help` while they are typed.

mod columns;
mod completed_word;
mod completion_layout;
mod file_list;

use super::filter::Filter;
use crate::text::clean;
use crate::tui::file_index::{FileIndex, FileMatches, FilterRequest};
use crate::tui::host::ListState;
use crate::tui::keys::{Action, Keymap, Scope};
pub use completed_word::{Kind, Word};
use crossterm::event::KeyEvent;
use file_list::FileList;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// A completion candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Name without the `@` or `/`.
    pub name: String,
    /// Short description; may be empty.
    pub description: String,
    /// What the key that sends does once the name is complete: `run`.
    pub send_label: &'static str,
}

/// List above the composer. It is open while a word that can be completed is typed and a candidate matches.
#[derive(Debug, Clone, Default)]
pub struct Completion {
    files: FileList,
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
    /// Folder that Tab entered: the selection begins inside it.
    entered_folder: Option<String>,
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
        let selected = self.selected_file();
        self.files.set_resources(candidates);
        self.update_file_matches(selected);
    }

    /// Sets the pages of the manual, in reading order.
    pub fn set_topics(&mut self, candidates: Vec<Candidate>) {
        self.topics = candidates;
    }

    /// Sets the files found so far. The selection stays on its file, unless it is in the first row.
    pub fn set_files(&mut self, files: Arc<FileIndex>, progress: ListState) {
        let selected = self.selected_file();
        self.file_progress = progress;
        self.files.set_files(files);
        self.update_file_matches(selected);
    }

    /// Returns a filter of files to run on another thread. Its result goes to [`Self::set_file_matches`].
    pub fn take_filter_request(&mut self) -> Option<FilterRequest> {
        self.files.take_request()
    }

    /// Takes the result of such a filter. One for an earlier text is dropped.
    pub fn set_file_matches(&mut self, request: &FilterRequest, matches: FileMatches) {
        let Some(word) = self.word.as_ref().filter(|word| word.kind == Kind::File) else { return };
        let selected = self.selected_file();
        if let Some(rows) = self.files.finish_filter(request, matches, word.query()) {
            self.matches = rows;
            self.select_file(selected);
        }
    }

    /// Updates the list; called after every key and paste of the composer. `cursor` is a byte offset in `text`. Returns
    /// the kind of the word being completed, if any, so that the caller can fetch candidates.
    pub fn update_word(&mut self, text: &str, cursor: usize) -> Option<Kind> {
        let word = Word::at_cursor(text, cursor);
        let query = |word: &Option<Word>| word.as_ref().map(|word| (word.kind, word.typed.clone()));
        let is_changed = query(&word) != query(&self.word);
        let kind = |word: &Option<Word>| word.as_ref().map(|word| word.kind);
        if kind(&word) != kind(&self.word) {
            self.matches.clear();
        }
        self.word = word;
        if self.word.as_ref().map(|word| &word.typed) != self.entered_folder.as_ref() {
            self.entered_folder = None;
        }
        if is_changed {
            self.update_matches();
        }
        if self.dismissed_word != self.word {
            self.dismissed_word = None;
        }
        self.word.as_ref().map(|word| word.kind)
    }

    /// Returns whether a word is being completed, also if the list is closed.
    pub fn has_word(&self) -> bool {
        self.word.is_some()
    }

    /// Closes the list until the word changes.
    pub fn dismiss(&mut self) {
        self.dismissed_word = self.word.clone();
    }

    /// Returns whether the list is on the screen and receives keys before the composer.
    pub fn is_open(&self) -> bool {
        self.word.is_some() && self.dismissed_word.is_none() && !self.matches.is_empty()
    }

    /// Handles a key before the composer. Enter on a complete name is passed on, so that it sends the message.
    pub fn handle_key(&mut self, key: &KeyEvent, keys: &Keymap) -> KeyResult {
        if !self.is_open() && !self.files.is_waiting() {
            return KeyResult::PassedOn;
        }
        let Some(action) = keys.lookup(Scope::List, key) else { return KeyResult::PassedOn };
        // The key is for the rows of what is typed, which another thread has not found yet.
        if self.files.is_waiting() && action != Action::Close {
            self.find_file_matches();
        }
        let Some(word) = self.word.as_ref().filter(|_| self.is_open()) else { return KeyResult::PassedOn };
        let (last_row, page_size) = (self.matches.len() - 1, self.page_rows.get().max(1));
        match action {
            Action::Up => self.cursor = self.cursor.checked_sub(1).unwrap_or(last_row),
            Action::Down => self.cursor = if self.cursor >= last_row { 0 } else { self.cursor + 1 },
            Action::PageUp => self.cursor = self.cursor.saturating_sub(page_size),
            Action::PageDown => self.cursor = (self.cursor + page_size).min(last_row),
            Action::Close => self.dismiss(),
            Action::Accept => {
                let name = self.name(word.kind, self.matches[self.cursor]).to_owned();
                let is_send_key = keys.lookup(Scope::Composer, key) == Some(Action::Send);
                // `/help ` without a topic is a command of its own: Enter sends it unless another row is selected.
                let is_optional = word.kind == Kind::Topic && word.typed.is_empty() && self.cursor == 0;
                if is_send_key && (word.is_complete(&name) || is_optional) {
                    return KeyResult::PassedOn;
                }
                let (range, mut text) = (word.range.clone(), word.completed_text(&name));
                if word.kind == Kind::File && name.ends_with('/') && !is_send_key {
                    if word.typed != name {
                        text = word.folder_text(&name);
                    } else if self.cursor < last_row {
                        // The folder is entered already.
                        self.cursor += 1;
                        return KeyResult::Handled;
                    }
                    self.entered_folder = Some(name);
                }
                return KeyResult::Replace(range, text);
            }
            _ => return KeyResult::PassedOn,
        }
        KeyResult::Handled
    }

    fn name(&self, kind: Kind, row: usize) -> &str {
        match kind {
            Kind::File => self.files.name(row),
            Kind::Command => &self.commands[row].name,
            Kind::Topic => &self.topics[row].name,
        }
    }

    fn description(&self, kind: Kind, row: usize) -> String {
        match kind {
            Kind::File => self.files.description(row),
            Kind::Command => self.commands[row].description.clone(),
            Kind::Topic => self.topics[row].description.clone(),
        }
    }

    /// Updates the matches and selects the best one. A name that is typed in full is the best match. The matches of many
    /// files come later; until then those of the text before are shown.
    fn update_matches(&mut self) {
        let rows = match &self.word {
            None => Some(Vec::new()),
            Some(word) => match word.kind {
                Kind::File => self.files.start_filter(word.query()),
                Kind::Command => Some(matching_rows(&self.commands, word)),
                Kind::Topic => Some(matching_rows(&self.topics, word)),
            },
        };
        if let Some(rows) = rows {
            self.matches = rows;
        }
        self.cursor = self.first_choice();
    }

    /// Returns the row that is selected at first: the best match, or the first row inside a folder that was entered.
    fn first_choice(&self) -> usize {
        let Some(word) = self.word.as_ref().filter(|word| word.kind == Kind::File) else { return 0 };
        let is_inside = self.entered_folder.as_deref() == Some(&*word.typed)
            && self.matches.len() > 1
            && self.files.name(self.matches[0]) == word.typed;
        usize::from(is_inside)
    }

    /// Updates the matches of changed files. The selection stays on its file.
    fn update_file_matches(&mut self, selected: Option<String>) {
        let Some(word) = self.word.as_ref().filter(|word| word.kind == Kind::File) else { return };
        if let Some(rows) = self.files.start_filter(word.query()) {
            self.matches = rows;
            self.select_file(selected);
        }
    }

    /// Finds the matches of what is typed at once.
    fn find_file_matches(&mut self) {
        if let Some(word) = self.word.as_ref().filter(|word| word.kind == Kind::File) {
            self.matches = self.files.filter_now(word.query());
            self.cursor = self.first_choice();
        }
    }

    /// Returns the name of the selected file, unless it is in the first row.
    fn selected_file(&self) -> Option<String> {
        let is_file = self.word.as_ref().is_some_and(|word| word.kind == Kind::File);
        let row = self.matches.get(self.cursor).filter(|_| is_file && self.cursor > 0)?;
        Some(self.files.name(*row).to_owned())
    }

    fn select_file(&mut self, name: Option<String>) {
        let is_selected = |row: &usize| name.as_deref() == Some(self.files.name(*row));
        self.cursor = self.matches.iter().position(is_selected).unwrap_or_else(|| self.first_choice());
    }
}

/// Returns the rows that match a word, the best first.
fn matching_rows(candidates: &[Candidate], word: &Word) -> Vec<usize> {
    let names = candidates.iter().map(|candidate| candidate.name.as_str());
    let mut rows = Filter::new(&word.typed).matching_rows(names);
    if let Some(exact_row) = rows.iter().position(|row| candidates[*row].name == word.typed) {
        rows[..=exact_row].rotate_right(1);
    }
    rows
}

impl Candidate {
    /// Creates a candidate that is run; both texts are sanitized.
    pub fn new(name: &str, description: &str) -> Self {
        let [name, description] = [name, description].map(|text| clean::clean_line(text).into_owned());
        Self { name, description, send_label: "run" }
    }
}

#[cfg(test)]
mod tests;
