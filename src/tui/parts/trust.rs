//! The trust prompt: shows the project's files that change how aye works, and accepts approval only once all of it was
//! shown.

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

/// Prompt that asks whether the project's files are trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustCard {
    brought: Arc<Brought>,
    why: Why,
    seen: Option<Duration>,
    end_seen: bool,
    scroll: usize,
    page: usize,
    /// True while the decision is being written to disk.
    keeping: bool,
    laid: Laid<Option<u64>>,
}

/// Effect of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The key was used within the prompt, or ignored.
    Nothing,
    /// Nothing was done. Holds the reason and what would work.
    Says(String),
    /// The key was not for the prompt: it goes to the composer and counts as pressed elsewhere.
    Passed,
    /// Trust all files.
    Trusted,
    /// Trust none of the files, or no longer.
    Refused,
    /// Close the prompt and change nothing.
    Closed,
}

/// Part of the prompt that a frame showed. Pass it to `TrustPrompt::record_frame` once the frame is on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    scroll: usize,
    rows: usize,
    readable: bool,
    end: bool,
}

impl TrustCard {
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

    pub fn brought(&self) -> &Arc<Brought> {
        &self.brought
    }

    /// Time at which the prompt was first drawn, for [`super::listening::listening`].
    pub fn seen(&self) -> Option<Duration> {
        self.seen
    }

    /// True if every usable file is trusted already.
    pub fn stands(&self) -> bool {
        self.brought.untrusted().next().is_none()
    }

    /// Records that a frame is on the screen.
    pub fn drawn(&mut self, now: Duration, seen: Seen) {
        self.scroll = seen.scroll;
        self.page = seen.rows.saturating_sub(1).max(1);
        if seen.readable {
            self.seen.get_or_insert(now);
            self.end_seen |= seen.end;
        }
    }

    /// Marks the decision as being stored. Until it is, no other key has an effect.
    pub fn keep(&mut self) {
        self.keeping = true;
    }

    /// Scrolls by lines of the mouse wheel.
    pub fn read_on(&mut self, lines: isize) {
        self.scroll = self.scroll.saturating_add_signed(lines);
    }

    /// Handles a key that [`super::listening::Presses::goes_on`] has let through. Tab is passed on: it moves the focus.
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
            // Closing changes nothing, so it works before the prompt accepts answers.
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
            Reply::Says(format!("Already trusted · {no} to revoke, {back} to close"))
        } else if self.end_seen {
            Reply::Trusted
        } else {
            Reply::Says(format!("Read to the end first · {} to jump there", key(Action::Bottom)))
        }
    }
}

/// Describes a file briefly: `AGENTS.md (3.2 kB, about 810 tokens)`, `.aye/rules.toml (1 allow)`.
pub fn short(file: &File) -> String {
    match &file.what {
        What::Words(words) => told(words),
        What::Rules { counted, .. } => format!("{} ({counted})", file.name),
        What::Unread(_) => format!("{} (not used)", file.name),
    }
}

/// Describes an instruction file briefly: `AGENTS.md (3.2 kB, about 810 tokens)`.
pub fn told(words: &Instructions) -> String {
    format!("{} ({})", words.file, measured(words, None))
}

/// Describes the size of a file, with its share of the context window if known.
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
            format!(", {} % of the context window", tokens * 100 / window)
        }
        Some(_) | None => String::new(),
    };
    let cut = if words.left_out() > 0 { "truncated to about" } else { "about" };
    format!("{bytes}, {cut} {} tokens{share}", status::tokens(tokens))
}

/// Describes the effects of a file, one per line. Lines that begin with `careful` are warnings.
pub fn says(file: &File) -> Vec<String> {
    let mut lines = Vec::new();
    match &file.what {
        What::Words(words) => {
            lines.push("sent to the model with every request, as project instructions".to_owned());
            if words.left_out() > 0 {
                let (rest, sent) = (live::bytes(words.left_out()), live::bytes(words.text.len()));
                lines.push(format!("only the first {sent} are sent; {rest} are truncated"));
            }
            match hidden(&words.text) {
                0 => {}
                1 => lines.push("careful: contains 1 invisible character, shown as a mark".to_owned()),
                many => lines.push(format!("careful: contains {many} invisible characters, shown as marks")),
            }
        }
        What::Rules { counted, allows, problems, .. } => {
            lines.push(format!("rules for tool calls in this project: {counted}"));
            match allows {
                0 => {}
                1 => lines.push("careful: 1 rule allows calls without approval".to_owned()),
                many => lines.push(format!("careful: {many} rules allow calls without approval")),
            }
            lines.extend(problems.iter().map(|problem| format!("careful: {problem}")));
        }
        What::Unread(why) => lines.push(format!("not used: {why}")),
    }
    lines
}

/// Counts the invisible characters of a text.
fn hidden(text: &str) -> usize {
    let is_mark = |shown: &Shown| matches!(shown, Shown::Mark(mark) if mark.starts_with("<U+"));
    reveal(&text.replace("\r\n", "\n")).iter().filter(|shown| is_mark(shown)).count()
}

/// Describes the trust state of a file.
fn state(file: &File) -> &'static str {
    match (&file.what, file.look) {
        (What::Unread(_), _) => "",
        (What::Words(_) | What::Rules { .. }, Look::Trusted) => "trusted",
        (What::Words(_) | What::Rules { .. }, Look::Changed) => "changed since you trusted it",
        (What::Words(_) | What::Rules { .. }, Look::Unknown) => "not trusted yet",
    }
}

#[cfg(test)]
pub(crate) mod tests;
