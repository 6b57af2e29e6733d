//! The card of what a project brings along: shows all of it, and takes a yes only from somebody who can have seen it.

mod looks;

use super::listening::Listening;
use super::status;
use super::transcript::live;
use crate::chat::Instructions;
use crate::config::brought::{Brought, File, What};
use crate::config::trust::Look;
use crate::tui::host::Why;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::laid::Laid;
use crate::tui::text::reveal::{Shown, reveal};
use crossterm::event::{KeyEvent, KeyEventKind};
pub use looks::About;
use std::sync::Arc;
use std::time::Duration;

/// The card.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustCard {
    brought: Arc<Brought>,
    why: Why,
    seen: Option<Duration>,
    end_seen: bool,
    scroll: usize,
    page: usize,
    /// The yes is on its way to the disk.
    keeping: bool,
    laid: Laid<Option<u64>>,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Something within the card, or nothing at all.
    Nothing,
    /// Nothing was done; why, and what would work.
    Says(String),
    /// It was not for the card: it goes on into the composer, and counts as pressed elsewhere.
    Passed,
    /// All of it is trusted.
    Trusted,
    /// None of it is trusted, or no longer.
    Refused,
    /// The card goes, and everything stays as it is.
    Closed,
}

/// What a frame really showed. Hand it to [`TrustCard::drawn`] once the frame is on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    scroll: usize,
    rows: usize,
    readable: bool,
    end: bool,
}

impl TrustCard {
    /// The card of this, before it was drawn.
    pub fn new(brought: Arc<Brought>, why: Why) -> Self {
        Self {
            brought,
            why,
            seen: None,
            end_seen: false,
            scroll: 0,
            page: 1,
            keeping: false,
            laid: Laid::default(),
        }
    }

    /// What it shows.
    pub fn brought(&self) -> &Arc<Brought> {
        &self.brought
    }

    /// When it was first drawn; for [`super::listening::listening`].
    pub fn seen(&self) -> Option<Duration> {
        self.seen
    }

    /// Whether all that can be used is trusted already.
    pub fn stands(&self) -> bool {
        self.brought.untrusted().next().is_none()
    }

    /// A frame is on the screen.
    pub fn drawn(&mut self, now: Duration, seen: Seen) {
        self.scroll = seen.scroll;
        self.page = seen.rows.saturating_sub(1).max(1);
        if seen.readable {
            self.seen.get_or_insert(now);
            self.end_seen |= seen.end;
        }
    }

    /// The yes is being kept: until that is done no other key means anything.
    pub fn keep(&mut self) {
        self.keeping = true;
    }

    /// The wheel.
    pub fn read_on(&mut self, lines: isize) {
        self.scroll = self.scroll.saturating_add_signed(lines);
    }

    /// A key, already asked of [`super::listening::Presses::goes_on`]. Tab is passed on: it moves the keyboard.
    pub fn key(&mut self, key: &KeyEvent, keys: &Keymap, listening: Listening) -> Reply {
        let Some(action) = keys.lookup(Scope::Trust, key) else { return Reply::Passed };
        if listening == Listening::Unsent {
            return Reply::Passed;
        }
        self.scroll = match action {
            Action::Up => self.scroll.saturating_sub(1),
            Action::Down => self.scroll.saturating_add(1),
            Action::PageUp => self.scroll.saturating_sub(self.page),
            Action::PageDown => self.scroll.saturating_add(self.page),
            Action::Top => 0,
            Action::Bottom => usize::MAX,
            // It takes nothing and gives nothing away, so it need not wait until the card listens.
            Action::Close if !self.keeping && self.seen.is_some() => return Reply::Closed,
            _ if !listening.now() => return Reply::Passed,
            // A key that repeats while it is held was pressed for something else.
            _ if key.kind != KeyEventKind::Press || self.keeping => return Reply::Nothing,
            Action::Trust => return self.trusted(keys),
            Action::Refuse => return Reply::Refused,
            _ => return Reply::Passed,
        };
        Reply::Nothing
    }

    fn trusted(&self, keys: &Keymap) -> Reply {
        let key = |action| keys.hint(Scope::Trust, action);
        if self.stands() {
            let (no, back) = (key(Action::Refuse), key(Action::Close));
            Reply::Says(format!("it is trusted as it is · {no} takes that back, {back} leaves it so"))
        } else if self.end_seen {
            Reply::Trusted
        } else {
            Reply::Says(format!("not all of it was seen yet · {} shows the end", key(Action::Bottom)))
        }
    }
}

/// A file of a project in a few words: `AGENTS.md (3.2 kB, about 810 tokens)`, `.aye/rules.toml (1 allow)`.
pub fn short(file: &File) -> String {
    match &file.what {
        What::Words(words) => told(words),
        What::Rules { counted, .. } => format!("{} ({counted})", file.name),
        What::Unread(_) => format!("{} (not used)", file.name),
    }
}

/// The project's words to the model in a few words: `AGENTS.md (3.2 kB, about 810 tokens)`.
pub fn told(words: &Instructions) -> String {
    format!("{} ({})", words.file, measured(words, None))
}

/// How much a file is, with the share of a window where that is known.
fn size(file: &File, window: Option<u64>) -> String {
    match &file.what {
        What::Words(words) => measured(words, window),
        What::Rules { .. } | What::Unread(_) => live::bytes(file.bytes),
    }
}

fn measured(words: &Instructions, window: Option<u64>) -> String {
    let bytes = live::bytes(words.bytes);
    let tokens = words.tokens;
    let share = match window.filter(|window| *window > 0) {
        Some(window) if tokens * 100 >= window => {
            format!(", {} % of the model's window", tokens * 100 / window)
        }
        Some(_) | None => String::new(),
    };
    let cut = if words.left_out() > 0 { "cut to about" } else { "about" };
    format!("{bytes}, {cut} {} tokens{share}", status::tokens(tokens))
}

/// What a file would change, and what has to be known of it: a line each. Those that begin with `careful` are warnings.
pub fn says(file: &File) -> Vec<String> {
    let mut lines = Vec::new();
    match &file.what {
        What::Words(words) => {
            lines.push("its words go to the model with every request, as the project's own".to_owned());
            if words.left_out() > 0 {
                let (rest, sent) = (live::bytes(words.left_out()), live::bytes(words.text.len()));
                lines.push(format!("only its first {sent} are sent; {rest} are left out"));
            }
            match hidden(&words.text) {
                0 => {}
                1 => lines.push("careful: 1 character in it does not show; it is marked".to_owned()),
                many => lines.push(format!("careful: {many} characters in it do not show; they are marked")),
            }
        }
        What::Rules { counted, allows, problems, .. } => {
            lines.push(format!("decides what goes ahead in this project: {counted}"));
            match allows {
                0 => {}
                1 => lines.push("careful: 1 rule lets calls go ahead without asking you".to_owned()),
                many => lines.push(format!("careful: {many} rules let calls go ahead without asking you")),
            }
            lines.extend(problems.iter().map(|problem| format!("careful: {problem}")));
        }
        What::Unread(why) => lines.push(format!("not used: {why}")),
    }
    lines
}

/// How many characters of a text do not show.
fn hidden(text: &str) -> usize {
    let is_mark = |shown: &Shown| matches!(shown, Shown::Mark(mark) if mark.starts_with("<U+"));
    reveal(&text.replace("\r\n", "\n")).iter().filter(|shown| is_mark(shown)).count()
}

/// How a file stands, in a few words.
fn state(file: &File) -> &'static str {
    match (&file.what, file.look) {
        (What::Unread(_), _) => "",
        (What::Words(_) | What::Rules { .. }, Look::Trusted) => "trusted as it is",
        (What::Words(_) | What::Rules { .. }, Look::Changed) => "changed since you trusted it",
        (What::Words(_) | What::Rules { .. }, Look::Unknown) => "new to you",
    }
}

#[cfg(test)]
pub(crate) mod tests;
