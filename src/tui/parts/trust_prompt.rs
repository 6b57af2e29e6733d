//! The trust prompt: shows the project's files that change how aye works, and accepts approval only once all of it was
//! shown.

mod trust_layout;

use super::listening::Listening;
use super::status_bar;
use crate::chat::Instructions;
use crate::config::project_files::{ProjectFile, ProjectFileKind, ProjectFiles};
use crate::config::trust::TrustState;
use crate::text::reveal::{RevealedPart, reveal_text};
use crate::tui::host::InspectionReason;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::line_cache::LineCache;
use crate::tui::parts::quantities::format_bytes;
use crossterm::event::{KeyEvent, KeyEventKind};
use std::sync::Arc;
use std::time::Duration;
pub use trust_layout::TrustContext;

/// Prompt that asks whether the project's files are trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustPrompt {
    files: Arc<ProjectFiles>,
    why: InspectionReason,
    first_drawn: Option<Duration>,
    end_seen: bool,
    scroll: usize,
    page_rows: usize,
    /// True while the decision is being written to disk.
    is_storing: bool,
    line_cache: LineCache<Option<u64>>,
}

/// Effect of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyResult {
    /// The key was used within the prompt, or ignored.
    Handled,
    /// Nothing was done. Holds the reason and what would work.
    Explained(String),
    /// The key was not for the prompt: it goes to the composer and counts as pressed elsewhere.
    PassedOn,
    /// Trust all files.
    Trust,
    /// Trust none of the files, or no longer.
    Refuse,
    /// Close the prompt and change nothing.
    Close,
}

/// Part of the prompt that a frame showed. Pass it to `TrustPrompt::record_frame` once the frame is on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DrawnFrame {
    scroll: usize,
    visible_rows: usize,
    is_readable: bool,
    is_at_end: bool,
}

impl TrustPrompt {
    pub fn new(files: Arc<ProjectFiles>, why: InspectionReason) -> Self {
        Self {
            files,
            why,
            first_drawn: None,
            end_seen: false,
            scroll: 0,
            page_rows: 1,
            is_storing: false,
            line_cache: LineCache::default(),
        }
    }

    pub fn files(&self) -> &Arc<ProjectFiles> {
        &self.files
    }

    /// Time at which the prompt was first drawn, for [`super::listening::listening`].
    pub fn first_drawn(&self) -> Option<Duration> {
        self.first_drawn
    }

    /// True if every usable file is trusted already.
    pub fn is_trusted(&self) -> bool {
        self.files.untrusted().next().is_none()
    }

    /// Records that a frame is on the screen.
    pub fn record_frame(&mut self, now: Duration, seen: DrawnFrame) {
        self.scroll = seen.scroll;
        self.page_rows = seen.visible_rows.saturating_sub(1).max(1);
        if seen.is_readable {
            self.first_drawn.get_or_insert(now);
            self.end_seen |= seen.is_at_end;
        }
    }

    /// Marks the decision as being stored. Until it is, no other key has an effect.
    pub fn mark_storing(&mut self) {
        self.is_storing = true;
    }

    /// Scrolls by lines of the mouse wheel.
    pub fn scroll_content(&mut self, lines: isize) {
        self.scroll = self.scroll.saturating_add_signed(lines);
    }

    /// Handles a key that [`super::listening::Presses::goes_on`] has let through. Tab is passed on: it moves the focus.
    pub fn key(&mut self, key: &KeyEvent, keys: &Keymap, listening: Listening) -> KeyResult {
        let Some(action) = keys.lookup(Scope::Trust, key) else { return KeyResult::PassedOn };
        if listening == Listening::Unsent {
            return KeyResult::PassedOn;
        }
        self.scroll = match action {
            Action::Up => self.scroll.saturating_sub(1),
            Action::Down => self.scroll.saturating_add(1),
            Action::PageUp => self.scroll.saturating_sub(self.page_rows),
            Action::PageDown => self.scroll.saturating_add(self.page_rows),
            Action::Top => 0,
            Action::Bottom => usize::MAX,
            // Closing changes nothing, so it works before the prompt accepts answers.
            Action::Close if !self.is_storing && self.first_drawn.is_some() => return KeyResult::Close,
            _ if !listening.is_listening() => return KeyResult::PassedOn,
            // A key that repeats while it is held was pressed for something else.
            _ if key.kind != KeyEventKind::Press || self.is_storing => return KeyResult::Handled,
            Action::Trust => return self.handle_trust_action(keys),
            Action::Deny => return KeyResult::Refuse,
            _ => return KeyResult::PassedOn,
        };
        KeyResult::Handled
    }

    fn handle_trust_action(&self, keys: &Keymap) -> KeyResult {
        let key = |action| keys.first_chord(Scope::Trust, action);
        if self.is_trusted() {
            let (no, back) = (key(Action::Deny), key(Action::Close));
            KeyResult::Explained(format!("Already trusted · {no} to revoke, {back} to close"))
        } else if self.end_seen {
            KeyResult::Trust
        } else {
            KeyResult::Explained(format!("Read to the end first · {} to jump there", key(Action::Bottom)))
        }
    }
}

/// Describes a file briefly: `AGENTS.md (3.2 kB, about 810 tokens)`, `.aye/rules.toml (1 allow)`.
pub fn describe_file(file: &ProjectFile) -> String {
    match &file.kind {
        ProjectFileKind::Instructions(words) => describe_instructions(words),
        ProjectFileKind::Rules { counts: counted, .. } => format!("{} ({counted})", file.name),
        ProjectFileKind::Unusable(_) => format!("{} (not used)", file.name),
    }
}

/// Describes an instruction file briefly: `AGENTS.md (3.2 kB, about 810 tokens)`.
pub fn describe_instructions(words: &Instructions) -> String {
    format!("{} ({})", words.file, describe_instruction_size(words, None))
}

/// Describes the size of a file, with its share of the context window if known.
fn describe_size(file: &ProjectFile, window: Option<u64>) -> String {
    match &file.kind {
        ProjectFileKind::Instructions(words) => describe_instruction_size(words, window),
        ProjectFileKind::Rules { .. } | ProjectFileKind::Unusable(_) => format_bytes(file.bytes),
    }
}

fn describe_instruction_size(words: &Instructions, window: Option<u64>) -> String {
    let bytes = format_bytes(words.bytes);
    let tokens = words.tokens;
    let share = match window.filter(|window| *window > 0) {
        Some(window) if tokens * 100 >= window => {
            format!(", {} % of the context window", tokens * 100 / window)
        }
        Some(_) | None => String::new(),
    };
    let cut = if words.omitted_bytes() > 0 { "truncated to about" } else { "about" };
    format!("{bytes}, {cut} {} tokens{share}", status_bar::format_tokens(tokens))
}

/// Describes the effects of a file, one per line. Lines that begin with `warning` are warnings.
pub fn describe_effects(file: &ProjectFile) -> Vec<String> {
    let mut lines = Vec::new();
    match &file.kind {
        ProjectFileKind::Instructions(words) => {
            lines.push("sent to the model with every request, as project instructions".to_owned());
            if words.omitted_bytes() > 0 {
                let (rest, sent) = (format_bytes(words.omitted_bytes()), format_bytes(words.text.len()));
                lines.push(format!("only the first {sent} are sent; {rest} are truncated"));
            }
            match count_invisible(&words.text) {
                0 => {}
                1 => lines.push("warning: contains 1 invisible character, shown as a mark".to_owned()),
                many => lines.push(format!("warning: contains {many} invisible characters, shown as marks")),
            }
        }
        ProjectFileKind::Rules { counts: counted, allow_count: allows, problems, .. } => {
            lines.push(format!("rules for tool calls in this project: {counted}"));
            match allows {
                0 => {}
                1 => lines.push("warning: 1 rule allows calls without approval".to_owned()),
                many => lines.push(format!("warning: {many} rules allow calls without approval")),
            }
            lines.extend(problems.iter().map(|problem| format!("warning: {problem}")));
        }
        ProjectFileKind::Unusable(why) => lines.push(format!("not used: {why}")),
    }
    lines
}

/// Counts the invisible characters of a text.
fn count_invisible(text: &str) -> usize {
    let is_mark = |shown: &RevealedPart| matches!(shown, RevealedPart::Mark(mark) if mark.starts_with("<U+"));
    reveal_text(&text.replace("\r\n", "\n")).iter().filter(|shown| is_mark(shown)).count()
}

/// Describes the trust state of a file.
fn trust_state(file: &ProjectFile) -> &'static str {
    match (&file.kind, file.trust_state) {
        (ProjectFileKind::Unusable(_), _) => "",
        (ProjectFileKind::Instructions(_) | ProjectFileKind::Rules { .. }, TrustState::Trusted) => "trusted",
        (ProjectFileKind::Instructions(_) | ProjectFileKind::Rules { .. }, TrustState::Changed) => {
            "changed since you trusted it"
        }
        (ProjectFileKind::Instructions(_) | ProjectFileKind::Rules { .. }, TrustState::Unknown) => "not trusted yet",
    }
}

#[cfg(test)]
pub(crate) mod tests;
