//! A list with a filter and a cursor, used for sessions, themes, commands, models and files.

mod folding;
mod picker_layout;
mod row;
mod row_columns;
mod selected_text;

use super::filter::Filter;
use super::text_field::{KeyResult, TextField};
use crate::text::clean;
use crate::tui::keys::{Action, Keymap, Scope};
use crossterm::event::KeyEvent;
use folding::Folds;
pub use row::Row;
use std::cell::Cell;

/// An open list.
#[derive(Debug, Clone)]
pub struct Picker {
    title: String,
    /// Text shown if there are no rows.
    empty_text: Box<str>,
    rows: Vec<Row>,
    filter: TextField,
    /// Indices into `rows` of the matching rows, best first.
    matches: Vec<usize>,
    /// Position of the cursor: an index into `matches`, or its length for the typed name.
    cursor: usize,
    /// First visible position. Stored so that the list scrolls only if the cursor leaves it.
    first_visible: Cell<usize>,
    /// Rows visible when the list was last drawn, the size of a page.
    page_rows: Cell<usize>,
    /// Text above the rows, such as a progress message or an error.
    note: String,
    /// Verb shown before the typed name, such as `use`; `None` if only rows can be picked.
    typed_verb: Option<&'static str>,
    /// Text in the empty filter.
    filter_hint: &'static str,
    /// Name of the key that picks a row and saves the choice, if the list supports it.
    save_key: Option<Box<str>>,
    /// What Enter does, and other keys of the list, for the key hints.
    action_hint: Box<str>,
    /// What the list counts while nothing is filtered; empty for its number of rows.
    count_text: Box<str>,
    /// True if the rank of a matching row comes before its score.
    ranks_starts: bool,
    /// True if the whole text of the selected row is shown below rows that are cut.
    shows_selected_text: bool,
    /// Name of the key that opens the whole text of the selected row; empty if there is none.
    text_key: Box<str>,
    /// Collapsed folders and key names of a tree.
    folds: Box<Folds>,
}

/// Detail of the row that is in use.
pub const IN_USE: &str = "in use";

/// Result of a key press. Rows are given by their index in the rows of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// A row was picked. `save` is true if the choice is to be saved for the next start.
    Row { row: usize, save: bool },
    /// The typed name was picked.
    Typed { save: bool },
    /// The cursor moved to this row.
    Moved(usize),
    /// The user closed the list.
    Close,
    /// Nothing for the caller to do.
    Handled,
}

impl Picker {
    /// Creates a list of these rows with the cursor on the first. `empty_text` is shown if there are none.
    pub fn new(title: &str, empty_text: &str, rows: Vec<Row>) -> Self {
        let mut picker = Self {
            title: title.to_owned(),
            empty_text: empty_text.into(),
            rows,
            filter: TextField::default(),
            matches: Vec::new(),
            cursor: 0,
            first_visible: Cell::new(0),
            page_rows: Cell::new(10),
            note: String::new(),
            typed_verb: None,
            filter_hint: "Type to filter",
            save_key: None,
            action_hint: "enter select".into(),
            count_text: Box::default(),
            ranks_starts: false,
            shows_selected_text: false,
            text_key: Box::default(),
            folds: Box::default(),
        };
        picker.update_matches();
        picker.cursor = picker.selectable_from(0, 1);
        picker
    }

    /// Lets a typed name be picked; `verb` is shown before it, such as `use`.
    pub fn with_typed_choice(self, verb: &'static str) -> Self {
        Self { typed_verb: Some(verb), ..self }
    }

    /// Lists matching rows first whose texts or words start with what is typed, whatever their order was.
    pub fn with_starts_first(self) -> Self {
        Self { ranks_starts: true, ..self }
    }

    /// Sets the text in the empty filter.
    pub fn with_filter_hint(self, hint: &'static str) -> Self {
        Self { filter_hint: hint, ..self }
    }

    /// Lets this key pick a row and save the choice.
    pub fn with_save_key(self, key: String) -> Self {
        Self { save_key: Some(key.into()), ..self }
    }

    /// Sets the key hint for what Enter does and for other keys, such as `enter open · x revoke`.
    pub fn with_action_hint(self, hint: String) -> Self {
        Self { action_hint: hint.into(), ..self }
    }

    /// Sets what is counted in the title while nothing is filtered, such as `2 in force · 9 calls`.
    pub fn set_count_text(&mut self, text: String) {
        self.count_text = text.into();
    }

    /// Sets the text above the rows.
    pub fn set_note(&mut self, note: &str) {
        self.note = clean::clean_line(note).into_owned();
    }

    /// Sets the text shown if there are no rows.
    pub fn set_empty_text(&mut self, text: &str) {
        self.empty_text = text.into();
    }

    /// Returns whether a choice can be saved as the default.
    pub fn can_save(&self) -> bool {
        self.save_key.is_some()
    }

    /// Returns the filter text.
    pub fn filter_text(&self) -> &str {
        self.filter.text().trim()
    }

    /// Returns the filter text if it can be picked and is not the text of a row.
    fn typed_choice(&self) -> Option<&str> {
        let typed = Some(self.filter_text()).filter(|typed| !typed.is_empty() && self.typed_verb.is_some())?;
        let is_row = self.matches.iter().any(|row| self.rows[*row].text == typed);
        (!is_row).then_some(typed)
    }

    /// Returns the number of cursor positions.
    fn position_count(&self) -> usize {
        self.matches.len() + usize::from(self.typed_choice().is_some())
    }

    fn last_position(&self) -> usize {
        self.position_count().saturating_sub(1)
    }

    /// Moves the cursor to a row, unless the filter hides it.
    pub fn select(&mut self, row: usize) {
        let position = self.matches.iter().position(|matched| *matched == row).unwrap_or(self.cursor);
        self.cursor = self.selectable_from(position, 1);
    }

    /// Replaces the rows. The cursor stays on its row if that still exists.
    pub fn set_rows(&mut self, rows: Vec<Row>) {
        let key = self.selected_row().map(|row| self.rows[row].key.clone());
        self.rows = rows;
        self.update_matches();
        let same_row = self.matches.iter().position(|row| Some(&self.rows[*row].key) == key.as_ref());
        self.cursor = self.selectable_from(same_row.unwrap_or(self.cursor.min(self.last_position())), 1);
    }

    /// Returns the index of the row under the cursor.
    pub fn selected_row(&self) -> Option<usize> {
        self.matches.get(self.cursor).copied()
    }

    /// Handles a key. Keys without a meaning in the list go to the filter.
    pub fn handle_key(&mut self, key: &KeyEvent, keys: &Keymap) -> Pick {
        let last_position = self.last_position();
        match keys.lookup(Scope::List, key) {
            Some(Action::Accept) => self.pick_selected(false),
            Some(Action::AcceptAndSave) if self.save_key.is_some() => self.pick_selected(true),
            Some(Action::Close) => Pick::Close,
            Some(Action::Up) => self.move_cursor(self.cursor.checked_sub(1).unwrap_or(last_position), -1),
            Some(Action::Down) => self.move_cursor(if self.cursor >= last_position { 0 } else { self.cursor + 1 }, 1),
            Some(Action::PageUp) => self.move_cursor(self.cursor.saturating_sub(self.page_rows.get()), -1),
            Some(Action::PageDown) => self.move_cursor((self.cursor + self.page_rows.get()).min(last_position), 1),
            Some(Action::Top) => self.move_cursor(0, 1),
            Some(Action::Bottom) => self.move_cursor(last_position, -1),
            _ => self.handle_filter_key(key, keys),
        }
    }

    /// Inserts pasted text into the filter.
    pub fn paste(&mut self, text: &str) -> Pick {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.filter.insert(&text);
        self.update_filter()
    }

    /// Moves the cursor by rows of the mouse wheel; negative values move up.
    pub fn scroll(&mut self, rows: isize) -> Pick {
        self.move_cursor(self.cursor.saturating_add_signed(rows).min(self.last_position()), rows)
    }

    fn pick_selected(&self, save: bool) -> Pick {
        match self.selected_row() {
            Some(row) if self.rows[row].is_heading => Pick::Handled,
            Some(row) => Pick::Row { row, save },
            None if self.typed_choice().is_some() => Pick::Typed { save },
            None => Pick::Handled,
        }
    }

    fn handle_filter_key(&mut self, key: &KeyEvent, keys: &Keymap) -> Pick {
        // With an empty filter, the keys for the ends of a line move to the ends of the list.
        let line_action = if self.filter.text().is_empty() { keys.lookup(Scope::TextField, key) } else { None };
        match line_action {
            Some(Action::LineStart) => return self.move_cursor(0, 1),
            Some(Action::LineEnd) => return self.move_cursor(self.last_position(), -1),
            _ => {}
        }
        match self.filter.handle_key(key, keys) {
            KeyResult::Changed => self.update_filter(),
            KeyResult::Cancelled => Pick::Close,
            KeyResult::Accepted => self.pick_selected(false),
            KeyResult::PassedOn | KeyResult::Handled => Pick::Handled,
        }
    }

    /// Moves the cursor to a position, or beyond headings there in the direction of the sign of `step`.
    fn move_cursor(&mut self, position: usize, step: isize) -> Pick {
        let position = self.selectable_from(position, step);
        let previous = std::mem::replace(&mut self.cursor, position);
        match self.selected_row() {
            Some(row) if previous != position => Pick::Moved(row),
            _ => Pick::Handled,
        }
    }

    /// Returns the first position from this one on that is not a heading, in the direction of the sign of `step`, from
    /// the other end if there is none. Returns the position itself if all are headings.
    fn selectable_from(&self, position: usize, step: isize) -> usize {
        let is_heading = |position: usize| self.matches.get(position).is_some_and(|row| self.rows[*row].is_heading);
        let count = self.position_count().max(1);
        let advance = |distance: usize| match step < 0 {
            true => (position + count - distance) % count,
            false => (position + distance) % count,
        };
        (0..count).map(advance).find(|candidate| !is_heading(*candidate)).unwrap_or(position)
    }

    /// Updates the matches after the filter changed and moves the cursor to the best one.
    fn update_filter(&mut self) -> Pick {
        let previous_row = self.selected_row();
        self.update_matches();
        self.cursor = self.selectable_from(0, 1);
        self.first_visible.set(0);
        match self.selected_row() {
            Some(row) if previous_row != Some(row) => Pick::Moved(row),
            _ => Pick::Handled,
        }
    }

    fn update_matches(&mut self) {
        let is_filtering = !self.filter_text().is_empty();
        for index in 0..self.rows.len() {
            let is_collapsed = self.is_collapsed(index);
            self.rows[index].update_tree_text(is_filtering, is_collapsed);
        }
        if !is_filtering {
            self.matches = self.expanded_rows();
            return;
        }
        let search_texts = self.rows.iter().map(|row| row.search_text.as_str());
        let mut matching = Filter::new(self.filter.text()).matching_rows(search_texts);
        if self.ranks_starts {
            let typed = self.filter_text().to_lowercase();
            matching.sort_by_cached_key(|row| self.rows[*row].rank_match(&typed));
        }
        let is_pinned_only = |row: &usize| self.rows[*row].is_pinned && !matching.contains(row);
        let pinned: Vec<usize> = (0..self.rows.len()).filter(is_pinned_only).collect();
        matching.extend(pinned);
        self.matches = matching;
    }
}

#[cfg(test)]
mod tests;
