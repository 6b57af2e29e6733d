//! Completes `@` files and `/` commands while they are written.

mod draw;
mod word;

use super::filter::Filter;
use crate::tui::host::Gathered;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::text::clean;
use crossterm::event::KeyEvent;
use std::cell::Cell;
use std::ops::Range;
pub use word::{Kind, Word};

/// What a key or a letter can be completed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What is written, without the `@` or `/`.
    pub name: String,
    /// What it is, in a few words; may be empty.
    pub words: String,
}

/// The list above the composer. It is open while a word that can be completed is written and something fits.
#[derive(Debug, Clone, Default)]
pub struct Complete {
    files: Vec<Candidate>,
    /// Whether these are all files.
    gathered: Gathered,
    commands: Vec<Candidate>,
    /// The word under the cursor.
    word: Option<Word>,
    /// What fits, best first, by number.
    found: Vec<usize>,
    /// The cursor, as a place in `found`.
    at: usize,
    /// The word as it was when the person closed the list.
    closed: Option<Word>,
    /// How many rows were on the screen when it was last drawn: what a page is.
    page: Cell<usize>,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completed {
    /// Not a key of the list, or the list is closed: it goes on to the composer.
    Passed,
    /// The list moved or closed.
    Used,
    /// These bytes of the composer's text become this, and the cursor stands behind it.
    Replace(Range<usize>, String),
}

impl Complete {
    /// The commands, in the order in which they are offered before a letter is typed.
    pub fn offer_commands(&mut self, candidates: Vec<Candidate>) {
        self.commands = candidates;
        if self.word.as_ref().is_some_and(|word| word.kind == Kind::Command) {
            self.search();
        }
    }

    /// The files that are known so far, in the same order. The cursor stays on the file it is on.
    pub fn offer_files(&mut self, candidates: Vec<Candidate>, gathered: Gathered) {
        let on_it = self.found.get(self.at).filter(|_| self.at > 0);
        let on_it = on_it.and_then(|at| self.files.get(*at)).map(|file| file.name.clone());
        (self.files, self.gathered) = (candidates, gathered);
        if self.word.as_ref().is_some_and(|word| word.kind == Kind::File) {
            self.search();
            let is_on_it = |at: &usize| on_it.as_ref() == Some(&self.files[*at].name);
            self.at = self.found.iter().position(is_on_it).unwrap_or(0);
        }
    }

    /// Follows what is written, after every key and paste of the composer. Returns what is being completed, so
    /// that the caller can fetch it; also while nothing fits.
    pub fn follow(&mut self, text: &str, cursor: usize) -> Option<Kind> {
        let word = Word::at(text, cursor);
        if word != self.word {
            let same = |a: &Word, b: &Word| a.kind == b.kind && a.typed == b.typed;
            let moved = !matches!((&word, &self.word), (Some(new), Some(old)) if same(new, old));
            self.word = word;
            if moved {
                self.search();
            }
        }
        if self.closed.is_some() && self.closed != self.word {
            self.closed = None;
        }
        self.word.as_ref().map(|word| word.kind)
    }

    /// Whether the list is on the screen, and so gets the keys first.
    pub fn is_open(&self) -> bool {
        self.word.is_some() && self.closed.is_none() && !self.found.is_empty()
    }

    /// A key, before the composer gets it. Enter on what is written in full already passes, so that it sends.
    pub fn key(&mut self, key: &KeyEvent, keys: &Keymap) -> Completed {
        let Some(word) = self.word.as_ref().filter(|_| self.is_open()) else { return Completed::Passed };
        let (last, page) = (self.found.len() - 1, self.page.get().max(1));
        match keys.lookup(Scope::List, key) {
            Some(Action::Up) => self.at = self.at.checked_sub(1).unwrap_or(last),
            Some(Action::Down) => self.at = if self.at >= last { 0 } else { self.at + 1 },
            Some(Action::PageUp) => self.at = self.at.saturating_sub(page),
            Some(Action::PageDown) => self.at = (self.at + page).min(last),
            Some(Action::Close) => self.closed = self.word.clone(),
            Some(Action::Accept) => {
                let name = &self.candidates(word.kind)[self.found[self.at]].name;
                let sends = keys.lookup(Scope::Composer, key) == Some(Action::Send);
                if sends && word.is_whole(name) {
                    return Completed::Passed;
                }
                return Completed::Replace(word.range.clone(), word.written(name));
            }
            _ => return Completed::Passed,
        }
        Completed::Used
    }

    fn candidates(&self, kind: Kind) -> &[Candidate] {
        match kind {
            Kind::File => &self.files,
            Kind::Command => &self.commands,
        }
    }

    /// What fits the word. The cursor goes back to the best, and a name that is written in full is that.
    fn search(&mut self) {
        self.at = 0;
        self.found = match &self.word {
            None => Vec::new(),
            Some(word) => {
                let names = self.candidates(word.kind).iter().map(|candidate| candidate.name.as_str());
                let mut found = self.filter(word).found(names);
                let whole = |at: &usize| self.candidates(word.kind)[*at].name == word.typed;
                if let Some(whole) = found.iter().position(whole) {
                    found[..=whole].rotate_right(1);
                }
                found
            }
        };
    }

    fn filter(&self, word: &Word) -> Filter {
        match word.kind {
            Kind::File => Filter::of_paths(&word.typed),
            Kind::Command => Filter::new(&word.typed),
        }
    }
}

impl Candidate {
    /// A candidate; both texts are cleaned.
    pub fn new(name: &str, words: &str) -> Self {
        Self { name: clean::one_line(name).into_owned(), words: clean::one_line(words).into_owned() }
    }
}

#[cfg(test)]
mod tests;
