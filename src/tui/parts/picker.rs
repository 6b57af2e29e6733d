//! A list with a filter and a cursor, used for sessions, themes, commands, models and files.

mod draw;

use super::filter::Filter;
use super::line::{Line, Reply};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::text::clean;
use crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use std::cell::Cell;

/// An open list.
#[derive(Debug, Clone)]
pub struct Picker {
    title: String,
    /// Text shown if there are no rows.
    nothing: String,
    rows: Vec<Row>,
    filter: Line,
    /// Indices into `rows` of the matching rows, best first.
    found: Vec<usize>,
    /// Position of the cursor in `found`.
    at: usize,
    /// First visible position. Stored so that the list scrolls only if the cursor leaves it.
    top: Cell<usize>,
    /// Rows visible when the list was last drawn, the size of a page.
    page: Cell<usize>,
    /// Text above the rows, such as a progress message or an error.
    note: String,
    /// Text before the typed name, if a name that no row has can be chosen.
    offers: Option<&'static str>,
    /// Text in the empty filter.
    invites: &'static str,
    /// Name of the key that picks a row and stores the choice, if the list supports it.
    keeps: Option<String>,
}

/// Detail of the row that is in use.
pub const IN_USE: &str = "in use";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    key: String,
    text: String,
    more: String,
    detail: String,
    paths: bool,
    /// True if the row stays in the list whatever the filter is.
    found: bool,
    /// Text the filter matches.
    searched: String,
    /// In a tree: name below its parent, and full name while filtering.
    tree: Option<(String, String)>,
    signed: bool,
}

/// Effect of a key or click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// A row was picked; its index among the given rows.
    Picked(usize),
    /// A row was picked and is to be stored for the next start.
    Kept(usize),
    /// The typed name was picked. True if it is to be stored for the next start.
    Typed(bool),
    /// The cursor moved to this row, for a preview.
    Moved(usize),
    /// The user closed the list.
    Closed,
    /// Nothing for the caller to do.
    Nothing,
}

impl Row {
    /// Creates a row with this main text. All texts of a row are sanitized.
    pub fn new(text: &str) -> Self {
        let text = clean::one_line(text).into_owned();
        Self { key: text.clone(), searched: text.clone(), text, ..Self::default() }
    }

    /// Creates a row whose text is a path, which is cut at its beginning rather than its end.
    pub fn path(path: &str) -> Self {
        Self { paths: true, ..Self::new(path) }
    }

    /// Sets the identity of the row when rows are replaced; needed if texts can be equal. Never shown.
    pub fn key(self, key: impl Into<String>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// Sets the second column, which is dim and also matched by the filter.
    pub fn more(self, more: &str) -> Self {
        let more = clean::one_line(more).into_owned();
        let searched = if more.is_empty() { self.text.clone() } else { format!("{} {more}", self.text) };
        Self { more, searched, ..self }
    }

    /// Makes the row part of a tree: unless filtered, it is indented by `steps` levels and shows only this name.
    pub fn within(self, steps: usize, name: &str) -> Self {
        let name = format!("{}{}", "  ".repeat(steps), clean::one_line(name));
        Self { tree: Some((name, self.text.clone())), ..self }
    }

    /// Colours the sign at the start of the row and the counts in its detail as added, removed or changed.
    pub fn signed(self) -> Self {
        Self { signed: true, ..self }
    }

    /// Keeps the row in the list whatever the filter is, because it was found by other text than its own. Its second
    /// column, which holds the match, gets most room.
    pub fn found(self) -> Self {
        Self { found: true, ..self }
    }

    /// Sets the text at the right edge, such as a time or a size. Not matched by the filter.
    pub fn detail(self, detail: &str) -> Self {
        Self { detail: clean::one_line(detail).into_owned(), ..self }
    }
}

impl Picker {
    /// Creates a list of these rows with the cursor on the first. `nothing` is shown if there are none.
    pub fn new(title: &str, nothing: &str, rows: Vec<Row>) -> Self {
        let mut picker = Self {
            title: title.to_owned(),
            nothing: nothing.to_owned(),
            rows,
            filter: Line::default(),
            found: Vec::new(),
            at: 0,
            top: Cell::new(0),
            page: Cell::new(10),
            note: String::new(),
            offers: None,
            invites: "type to filter",
            keeps: None,
        };
        picker.search();
        picker
    }

    /// Lets a typed name be picked; `words` is the verb shown before it, such as `use`.
    pub fn offering(self, words: &'static str) -> Self {
        Self { offers: Some(words), ..self }
    }

    /// Sets the text in the empty filter.
    pub fn inviting(self, words: &'static str) -> Self {
        Self { invites: words, ..self }
    }

    /// Lets picked rows be stored, with this key.
    pub fn keeping(self, key: String) -> Self {
        Self { keeps: Some(key), ..self }
    }

    /// Sets the text above the rows.
    pub fn set_note(&mut self, words: &str) {
        self.note = clean::one_line(words).into_owned();
    }

    /// Sets the text shown if there are no rows.
    pub fn set_nothing(&mut self, words: &str) {
        words.clone_into(&mut self.nothing);
    }

    /// Returns the filter text.
    pub fn typed(&self) -> &str {
        self.filter.text().trim()
    }

    /// Returns the filter text if it can be picked and no row has it.
    fn offered(&self) -> Option<&str> {
        let typed = Some(self.typed()).filter(|typed| !typed.is_empty() && self.offers.is_some())?;
        let is_row = self.found.iter().any(|row| self.rows[*row].text == typed);
        (!is_row).then_some(typed)
    }

    /// Returns the number of cursor positions.
    fn places(&self) -> usize {
        self.found.len() + usize::from(self.offered().is_some())
    }

    /// Moves the cursor to a row, by its index among the given rows.
    pub fn select(&mut self, row: usize) {
        self.at = self.found.iter().position(|found| *found == row).unwrap_or(self.at);
    }

    /// Replaces the rows. The cursor stays on its row if that still exists.
    pub fn set_rows(&mut self, rows: Vec<Row>) {
        let key = self.current().map(|row| self.rows[row].key.clone());
        self.rows = rows;
        self.search();
        let same = self.found.iter().position(|row| Some(&self.rows[*row].key) == key.as_ref());
        self.at = same.unwrap_or(self.at.min(self.places().saturating_sub(1)));
    }

    /// Returns the row under the cursor, by its index among the given rows.
    pub fn current(&self) -> Option<usize> {
        self.found.get(self.at).copied()
    }

    /// Handles a key. Keys without a meaning in the list go to the filter.
    pub fn key(&mut self, key: &KeyEvent, keys: &Keymap) -> Pick {
        let last = self.places().saturating_sub(1);
        match keys.lookup(Scope::List, key) {
            Some(Action::Accept) => self.take(false),
            Some(Action::Keep) if self.keeps.is_some() => self.take(true),
            Some(Action::Close) => Pick::Closed,
            Some(Action::Up) => self.go(self.at.checked_sub(1).unwrap_or(last)),
            Some(Action::Down) => self.go(if self.at >= last { 0 } else { self.at + 1 }),
            Some(Action::PageUp) => self.go(self.at.saturating_sub(self.page.get())),
            Some(Action::PageDown) => self.go((self.at + self.page.get()).min(last)),
            Some(Action::Top) => self.go(0),
            Some(Action::Bottom) => self.go(last),
            _ => self.write(key, keys),
        }
    }

    /// Inserts pasted text into the filter.
    pub fn paste(&mut self, text: &str) -> Pick {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.filter.insert(&text);
        self.searched_anew()
    }

    /// Picks the row at a cell of the screen, for a list drawn in `area`.
    pub fn click(&mut self, area: Rect, column: u16, row: u16) -> Pick {
        match self.row_at(area, column, row) {
            Some(at) => {
                self.at = at;
                self.take(false)
            }
            None => Pick::Nothing,
        }
    }

    /// Moves the cursor by rows of the mouse wheel; negative values move up.
    pub fn scroll(&mut self, rows: isize) -> Pick {
        let last = self.places().saturating_sub(1);
        self.go(self.at.saturating_add_signed(rows).min(last))
    }

    fn take(&self, keep: bool) -> Pick {
        match (self.current(), keep) {
            (Some(row), true) => Pick::Kept(row),
            (Some(row), false) => Pick::Picked(row),
            (None, _) if self.offered().is_some() => Pick::Typed(keep),
            (None, _) => Pick::Nothing,
        }
    }

    fn write(&mut self, key: &KeyEvent, keys: &Keymap) -> Pick {
        let last = self.places().saturating_sub(1);
        // With an empty filter, the keys for the ends of a line move to the ends of the list.
        let at_ends = if self.filter.text().is_empty() { keys.lookup(Scope::Line, key) } else { None };
        match at_ends {
            Some(Action::LineStart) => return self.go(0),
            Some(Action::LineEnd) => return self.go(last),
            _ => {}
        }
        match self.filter.key(key, keys) {
            Reply::Changed => self.searched_anew(),
            Reply::Closed => Pick::Closed,
            Reply::Accepted => self.take(false),
            Reply::Passed | Reply::Moved => Pick::Nothing,
        }
    }

    fn go(&mut self, to: usize) -> Pick {
        let before = std::mem::replace(&mut self.at, to);
        match self.current() {
            Some(row) if before != to => Pick::Moved(row),
            _ => Pick::Nothing,
        }
    }

    /// Updates the matches after the filter changed and moves the cursor to the best one.
    fn searched_anew(&mut self) -> Pick {
        let before = self.current();
        self.search();
        (self.at, _) = (0, self.top.set(0));
        match self.current() {
            Some(row) if before != Some(row) => Pick::Moved(row),
            _ => Pick::Nothing,
        }
    }

    fn search(&mut self) {
        let typed = self.filter.text();
        let looks = !typed.trim().is_empty();
        for row in &mut self.rows {
            if let Some((name, whole)) = &row.tree {
                row.text.clone_from(if looks { whole } else { name });
            }
        }
        self.found = if !looks {
            (0..self.rows.len()).collect()
        } else {
            let mut found = self.filter().found(self.rows.iter().map(|row| row.searched.as_str()));
            let others = |at: &usize| self.rows[*at].found && !found.contains(at);
            let others: Vec<usize> = (0..self.rows.len()).filter(others).collect();
            found.extend(others);
            found
        };
    }

    fn filter(&self) -> Filter {
        let paths = self.rows.first().is_some_and(|row| row.paths);
        if paths { Filter::of_paths(self.filter.text()) } else { Filter::new(self.filter.text()) }
    }
}

#[cfg(test)]
mod tests;
