//! The one list with a filter and a cursor: sessions, themes, commands, models and files.

mod draw;

use super::filter::Filter;
use super::line::{Line, Reply};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::text::clean;
use crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use std::cell::Cell;

/// A list that is open.
#[derive(Debug, Clone)]
pub struct Picker {
    title: String,
    /// What is said where there is no row.
    nothing: String,
    rows: Vec<Row>,
    filter: Line,
    /// The rows that match, best first, by their number in `rows`.
    found: Vec<usize>,
    /// The cursor, as a place in `found`.
    at: usize,
    /// The first place on the screen, kept so that the list only scrolls when the cursor leaves it.
    top: Cell<usize>,
    /// How many rows were on the screen when it was last drawn: what a page is.
    page: Cell<usize>,
    /// Said above the rows: that more are on their way, or why there are none.
    note: String,
    /// What is said before what was typed, where that may be taken though no row says it.
    offers: Option<&'static str>,
    /// What stands in the empty filter.
    invites: &'static str,
    /// The key that takes a row and keeps it, where rows can be kept.
    keeps: Option<String>,
}

/// At a row that is what there is now.
pub const IN_USE: &str = "in use";

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    key: String,
    text: String,
    more: String,
    detail: String,
    paths: bool,
    /// Whether it stays whatever the filter says.
    found: bool,
    /// What the filter reads.
    searched: String,
}

/// What a key or a click did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// This row was taken, by its number among the rows that were given.
    Picked(usize),
    /// This row was taken, and is to be kept for the next start.
    Kept(usize),
    /// What was typed was taken, though no row says it; whether it is to be kept for the next start.
    Typed(bool),
    /// The cursor is on this row now, for what can be shown beforehand.
    Moved(usize),
    /// The person wants back.
    Closed,
    /// Nothing the caller has to act on.
    Nothing,
}

impl Row {
    /// A row with this main text. Cleaned here, as all its texts are.
    pub fn new(text: &str) -> Self {
        let text = clean::one_line(text).into_owned();
        Self { key: text.clone(), searched: text.clone(), text, ..Self::default() }
    }

    /// A row whose text is a path, which is cut at its beginning rather than its end.
    pub fn path(path: &str) -> Self {
        Self { paths: true, ..Self::new(path) }
    }

    /// What it is recognised by when the rows change, where texts may be equal. Never shown.
    pub fn key(self, key: impl Into<String>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// The second column, dim; it is searched too.
    pub fn more(self, more: &str) -> Self {
        let more = clean::one_line(more).into_owned();
        let searched = if more.is_empty() { self.text.clone() } else { format!("{} {more}", self.text) };
        Self { more, searched, ..self }
    }

    /// So many steps further in than others: a row of a tree.
    pub fn indented(self, steps: usize) -> Self {
        Self { text: format!("{}{}", "  ".repeat(steps), self.text), ..self }
    }

    /// It was found by what was typed, otherwise than by its own texts: it stays in the list, and its second column, which
    /// says where, has the most room.
    pub fn found(self) -> Self {
        Self { found: true, ..self }
    }

    /// At the right edge: a time, a size. Not searched.
    pub fn detail(self, detail: &str) -> Self {
        Self { detail: clean::one_line(detail).into_owned(), ..self }
    }
}

impl Picker {
    /// A list of these rows with the cursor on the first. `nothing` is said where there is none at all.
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

    /// A list in which what is typed may be taken too; `words` say what that is, such as `ask for`.
    pub fn offering(self, words: &'static str) -> Self {
        Self { offers: Some(words), ..self }
    }

    /// A list whose empty filter says this.
    pub fn inviting(self, words: &'static str) -> Self {
        Self { invites: words, ..self }
    }

    /// A list whose rows can be kept; by this key, as it is shown.
    pub fn keeping(self, key: String) -> Self {
        Self { keeps: Some(key), ..self }
    }

    /// Says something above the rows; nothing takes it away.
    pub fn set_note(&mut self, words: &str) {
        self.note = clean::one_line(words).into_owned();
    }

    /// Says something else where there is no row at all.
    pub fn set_nothing(&mut self, words: &str) {
        words.clone_into(&mut self.nothing);
    }

    /// What was typed.
    pub fn typed(&self) -> &str {
        self.filter.text().trim()
    }

    /// What was typed, where it may be taken and is no row's own text.
    fn offered(&self) -> Option<&str> {
        let typed = Some(self.typed()).filter(|typed| !typed.is_empty() && self.offers.is_some())?;
        let is_row = self.found.iter().any(|row| self.rows[*row].text == typed);
        (!is_row).then_some(typed)
    }

    /// How many places the cursor has.
    fn places(&self) -> usize {
        self.found.len() + usize::from(self.offered().is_some())
    }

    /// Puts the cursor on a row, by its number among the rows that were given.
    pub fn select(&mut self, row: usize) {
        self.at = self.found.iter().position(|found| *found == row).unwrap_or(self.at);
    }

    /// Other rows, such as those that have arrived by now. The cursor stays on its row where that is still there.
    pub fn set_rows(&mut self, rows: Vec<Row>) {
        let key = self.current().map(|row| self.rows[row].key.clone());
        self.rows = rows;
        self.search();
        let same = self.found.iter().position(|row| Some(&self.rows[*row].key) == key.as_ref());
        self.at = same.unwrap_or(self.at.min(self.places().saturating_sub(1)));
    }

    /// The row under the cursor, by its number among the rows that were given.
    pub fn current(&self) -> Option<usize> {
        self.found.get(self.at).copied()
    }

    /// A key. Everything that is no key of a list is written into the filter.
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

    /// Pasted text goes into the filter.
    pub fn paste(&mut self, text: &str) -> Pick {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.filter.insert(&text);
        self.searched_anew()
    }

    /// A click on a cell of the screen, with the list drawn in `area`: the row there is taken.
    pub fn click(&mut self, area: Rect, column: u16, row: u16) -> Pick {
        match self.row_at(area, column, row) {
            Some(at) => {
                self.at = at;
                self.take(false)
            }
            None => Pick::Nothing,
        }
    }

    /// The mouse wheel: so many rows down, or up where it is negative.
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
        // With nothing written, the ends of the line are the ends of the list.
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

    /// The filter is another: the best row is the one that is meant.
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
        self.found = if typed.trim().is_empty() {
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
