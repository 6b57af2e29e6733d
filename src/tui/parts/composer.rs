//! The composer: a multi-line input with wrapping, message history and folded pastes.

mod composer_layout;
mod message_history;
mod pastes;
mod text_buffer;
mod wrapped_rows;

use crate::chat::DraftPart;
use crate::text::word_edges::is_punctuation;
use crate::tui::keys::{Action, Chord, Keymap, Scope};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use message_history::{History, Search};
use std::cell::Cell;
use std::ops::Range;
use text_buffer::TextBuffer;
pub(in crate::tui::parts) use wrapped_rows::WrappedRows;

/// Input for messages.
pub struct Composer {
    draft: TextBuffer,
    history: History,
    /// Open search of the history, if any.
    search: Option<Search>,
    /// Text shown while the composer is empty.
    placeholder: String,
    /// Width of the last frame, which determines the rows that the up and down keys move by.
    width: Cell<u16>,
    /// First visible row. Kept between frames so that the view scrolls only when the cursor leaves it.
    first_row: Cell<usize>,
    /// Column in which repeated up and down keys try to stay.
    preferred_column: Option<usize>,
    /// True right after a completed name and its blank, which gives way to punctuation.
    has_added_blank: bool,
}

/// Result of a key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyResult {
    /// The key is not for the composer; the caller handles it. An empty composer also passes on Enter, Ctrl-D, the help key
    /// and the arrows.
    PassedOn,
    /// The composer handled the key. Its text may have changed.
    Handled,
    /// The user sends the text: call [`Composer::take_text`]. Never returned for blank text.
    Send,
}

impl Composer {
    /// Creates an empty composer. The caller must remove control characters from the placeholder.
    pub fn new(placeholder: &str) -> Self {
        Self {
            draft: TextBuffer::default(),
            history: History::default(),
            search: None,
            placeholder: placeholder.to_owned(),
            width: Cell::new(80),
            first_row: Cell::new(0),
            preferred_column: None,
            has_added_blank: false,
        }
    }

    /// Replaces the history, oldest first, and shows the user's draft.
    pub fn set_history(&mut self, messages: Vec<String>) {
        self.search = None;
        self.history.replace_messages(messages, &mut self.draft);
    }

    /// Adds a sent message to the history.
    pub fn remember(&mut self, message: &str) {
        if self.history.push_message(message)
            && let Some(search) = &mut self.search
        {
            search.shift_match();
        }
    }

    /// Returns the text with pastes unfolded, as it is sent and saved.
    pub fn text(&self) -> String {
        self.draft.text()
    }

    /// Returns the text with each folded paste as one character, and the byte offset of the cursor in it, for completion.
    pub fn folded_text(&self) -> (String, usize) {
        self.draft.folded_text()
    }

    /// Returns whether there is no text, not even a blank.
    pub fn is_empty(&self) -> bool {
        self.draft.is_empty()
    }

    /// Returns whether the draft is a command of the user. One that is hidden in a folded paste is none.
    pub fn is_command(&self) -> bool {
        self.draft.lines().first().is_some_and(|line| line.starts_with('!'))
    }

    /// Returns the number of lines of the draft.
    pub fn line_count(&self) -> usize {
        self.draft.lines().len()
    }

    /// Returns whether the draft contains a folded paste.
    pub fn has_folded_paste(&self) -> bool {
        self.draft.lines().iter().any(|line| line.chars().any(|c| self.draft.get_paste(c).is_some()))
    }

    /// Returns whether the history search is open. The composer then receives its keys.
    pub fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    /// Replaces the text and moves the cursor to its end. Clears the undo history; long text is not folded.
    pub fn set(&mut self, text: &str) {
        self.replace_draft(TextBuffer::from_text(text));
    }

    /// Restores a saved draft with its folded pastes.
    pub fn restore(&mut self, parts: &[DraftPart]) {
        self.replace_draft(TextBuffer::from_parts(parts));
    }

    /// Returns the draft to save; empty if there is no text.
    pub fn to_parts(&self) -> Vec<DraftPart> {
        self.draft.to_parts()
    }

    /// Returns the text and empties the composer.
    pub fn take_text(&mut self) -> String {
        let text = self.text();
        let emptied = self.draft.cleared();
        self.replace_draft(emptied);
        text
    }

    /// Inserts text at the cursor without folding it.
    pub fn insert(&mut self, text: &str) {
        self.accept_match();
        (self.preferred_column, self.has_added_blank) = (None, false);
        self.draft.insert(text);
    }

    /// Inserts pasted text without control characters and escape sequences. Long text is folded.
    pub fn paste(&mut self, text: &str) {
        self.preferred_column = None;
        self.replace_added_blank(text.chars().next());
        match &mut self.search {
            Some(search) => search.extend_query(&pastes::clean_paste(text), &self.history),
            None => self.draft.paste(text),
        }
    }

    /// Replaces a byte range of [`Composer::folded_text`] and moves the cursor after the new text. A blank at its end gives
    /// way to punctuation that is typed next, so that lines can follow the name of a file: `@name:12`.
    pub fn replace(&mut self, range: Range<usize>, new_text: &str) {
        self.preferred_column = None;
        self.draft.replace(range, new_text);
        self.has_added_blank = new_text.ends_with(' ');
    }

    /// Replaces like [`Self::replace`], so that one undo restores the text before. The cursor stays where it is after the range.
    pub fn replace_in_one_step(&mut self, range: Range<usize>, new_text: &str) {
        (self.preferred_column, self.has_added_blank) = (None, false);
        self.draft.replace_in_one_step(range, new_text);
    }

    /// Deletes the blank after a completed name if punctuation follows at once.
    fn replace_added_blank(&mut self, next: Option<char>) {
        if std::mem::take(&mut self.has_added_blank) && next.is_some_and(is_punctuation) {
            self.draft.delete_blank();
        }
    }

    /// Handles a key while the composer has the keyboard focus.
    pub fn handle_key(&mut self, key: &KeyEvent, keys: &Keymap) -> KeyResult {
        if self.search.is_some() {
            return self.handle_search_key(key, keys);
        }
        let column = self.preferred_column.take();
        self.replace_added_blank(Chord::from(key).typed_character());
        let Some(action) = keys.lookup(Scope::Composer, key) else { return self.insert_typed(key) };
        match action {
            Action::Send if self.draft.is_blank() => KeyResult::PassedOn,
            Action::Send => KeyResult::Send,
            Action::HistoryUp => self.move_up(column),
            Action::HistoryDown => self.move_down(column),
            Action::DeleteOrQuit | Action::HelpWhenEmpty if self.is_empty() => KeyResult::PassedOn,
            Action::HelpWhenEmpty => self.insert_typed(key),
            Action::SearchHistory => {
                self.search = Some(Search::default());
                KeyResult::Handled
            }
            action if self.draft.run_edit_action(action) => KeyResult::Handled,
            _ => KeyResult::PassedOn,
        }
    }

    /// Inserts a typed character. Chords with Ctrl or Alt are not text, except AltGr (both) for a character that is not
    /// ASCII alphanumeric.
    fn insert_typed(&mut self, key: &KeyEvent) -> KeyResult {
        let modifiers = key.modifiers - KeyModifiers::SHIFT;
        let alt_gr = KeyModifiers::CONTROL | KeyModifiers::ALT;
        match key.code {
            KeyCode::Char(c) if modifiers.is_empty() || (modifiers == alt_gr && !c.is_ascii_alphanumeric()) => {
                let typed = Chord::from(key).typed_character().unwrap_or(c);
                self.draft.type_char(typed);
                KeyResult::Handled
            }
            _ => KeyResult::PassedOn,
        }
    }

    /// Moves up a row. In an empty composer, and in the first row of a message of the history, shows the previous message.
    fn move_up(&mut self, column: Option<usize>) -> KeyResult {
        let rows = self.draft.wrap_rows(self.row_width());
        let (row, cursor_column) = rows.cell_at_offset(self.draft.cursor());
        if self.is_empty() || (row == 0 && self.history.is_browsing()) {
            let has_moved = self.history.show_older(&mut self.draft);
            return if has_moved || !self.is_empty() { KeyResult::Handled } else { KeyResult::PassedOn };
        }
        match row.checked_sub(1) {
            Some(row) => self.go_to_row(&rows, row, column.unwrap_or(cursor_column)),
            None => self.draft.move_to(0, 0),
        }
        KeyResult::Handled
    }

    /// Moves down a row. In the last row, shows the next message of the history, or moves to the end of the text.
    fn move_down(&mut self, column: Option<usize>) -> KeyResult {
        let rows = self.draft.wrap_rows(self.row_width());
        let (row, cursor_column) = rows.cell_at_offset(self.draft.cursor());
        if row + 1 < rows.len() {
            self.go_to_row(&rows, row + 1, column.unwrap_or(cursor_column));
        } else if self.history.is_browsing() {
            self.history.show_newer(&mut self.draft);
        } else if self.is_empty() {
            return KeyResult::PassedOn;
        } else {
            self.draft.move_to_end();
        }
        KeyResult::Handled
    }

    fn go_to_row(&mut self, rows: &WrappedRows, row: usize, column: usize) {
        let (line, offset) = rows.offset_at_cell(row, column);
        self.draft.move_to(line, offset);
        self.preferred_column = Some(column);
    }

    /// Handles a key while the history is searched. Characters extend the query; keys that edit or move accept the match.
    fn handle_search_key(&mut self, key: &KeyEvent, keys: &Keymap) -> KeyResult {
        let Some(search) = &mut self.search else { return KeyResult::PassedOn };
        match keys.lookup(Scope::Composer, key) {
            Some(Action::SearchHistory | Action::HistoryUp) => search.find_older(&self.history),
            Some(Action::HistoryDown) => search.find_newer(&self.history),
            Some(Action::DeleteBack) => search.shorten_query(&self.history),
            Some(Action::Send | Action::Right) => self.accept_match(),
            Some(Action::HelpWhenEmpty) | None => {
                let is_close_key =
                    keys.lookup(Scope::List, key) == Some(Action::Close) || Chord::from(key).to_string() == "ctrl-g";
                match Chord::from(key).typed_character() {
                    Some(c) => search.extend_query(c.encode_utf8(&mut [0; 4]), &self.history),
                    None if is_close_key => self.search = None,
                    None => return KeyResult::PassedOn,
                }
            }
            Some(Action::OpenEditor) => self.search = None,
            Some(_) => {
                self.accept_match();
                return self.handle_key(key, keys);
            }
        }
        KeyResult::Handled
    }

    /// Closes the search, if it is open, and shows its match. The down key leads back to the text before.
    fn accept_match(&mut self) {
        if let Some(steps_back) = self.search.take().and_then(|search| search.match_steps_back) {
            self.history.show_message(steps_back, &mut self.draft);
        }
    }

    fn replace_draft(&mut self, draft: TextBuffer) {
        (self.draft, self.search, self.preferred_column) = (draft, None, None);
        self.has_added_blank = false;
        self.history.reset_position();
        self.first_row.set(0);
    }
}

#[cfg(test)]
mod tests;
