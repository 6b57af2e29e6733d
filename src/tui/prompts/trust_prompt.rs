//! The trust prompt: shows the project's files that change how aye works, and accepts approval only once all of it was
//! shown.

mod trust_layout;

use crate::chat::Instructions;
use crate::config::project_files::{ProjectFile, ProjectFileKind, ProjectFiles};
use crate::config::trust::TrustState;
use crate::text::reveal::{RevealedPart, reveal_text};
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, InspectionReason, TrustRequest};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::line_cache::LineCache;
use crate::tui::parts::listening::Listening;
use crate::tui::parts::quantities::format_bytes;
use crate::tui::parts::status_bar;
use crate::tui::prompts::prompt::{DrawnPrompt, Prompt, PromptCommand, PromptFacts, PromptSubject};
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;
use std::time::Duration;
use trust_layout::TrustContext;

/// Prompt that asks whether the project's files are trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustPrompt {
    files: Arc<ProjectFiles>,
    reason: InspectionReason,
    first_drawn: Option<Duration>,
    has_reached_end: bool,
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
    /// Do not trust the files, or revoke their trust.
    Refuse,
    /// Close the prompt and change nothing.
    Close,
}

impl TrustPrompt {
    pub fn new(files: Arc<ProjectFiles>, reason: InspectionReason) -> Self {
        Self {
            files,
            reason,
            first_drawn: None,
            has_reached_end: false,
            scroll: 0,
            page_rows: 1,
            is_storing: false,
            line_cache: LineCache::default(),
        }
    }

    /// True if every usable file is trusted already.
    fn is_trusted(&self) -> bool {
        self.files.untrusted().next().is_none()
    }

    /// Marks the decision as being stored. Until it is stored, the prompt's keys only scroll.
    fn mark_storing(&mut self) {
        self.is_storing = true;
    }

    /// Handles a key. Tab is passed on: it moves the focus.
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
            let (revoke_key, close_key) = (key(Action::Deny), key(Action::Close));
            KeyResult::Explained(format!("Already trusted · {revoke_key} to revoke, {close_key} to close"))
        } else if self.has_reached_end {
            KeyResult::Trust
        } else {
            KeyResult::Explained(format!("Read to the end first · {} to jump there", key(Action::Bottom)))
        }
    }
}

impl Prompt for TrustPrompt {
    fn is_about(&self, subject: PromptSubject<'_>) -> bool {
        matches!(subject, PromptSubject::ProjectFiles(files) if Arc::ptr_eq(&self.files, files))
    }

    fn scope(&self) -> Scope {
        Scope::Trust
    }

    fn notification(&self) -> &'static str {
        "aye asks whether you trust this project"
    }

    fn prompt_height(&self, facts: &PromptFacts<'_>, width: u16) -> u16 {
        self.preferred_height(TrustContext::from_facts(facts), width, facts.context.theme)
    }

    fn draw_prompt(&self, facts: &PromptFacts<'_>, area: Rect, buffer: &mut Buffer) -> DrawnPrompt {
        self.draw(TrustContext::from_facts(facts), &facts.context, area, buffer)
    }

    fn record_frame(&mut self, now: Duration, drawn: DrawnPrompt) {
        self.scroll = drawn.scroll;
        self.page_rows = drawn.visible_rows.saturating_sub(1).max(1);
        if drawn.is_readable {
            self.first_drawn.get_or_insert(now);
            self.has_reached_end |= drawn.is_at_end;
        }
    }

    fn first_drawn(&self) -> Option<Duration> {
        self.first_drawn
    }

    fn handle_prompt_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> Option<Vec<PromptCommand>> {
        let folder = self.files.folder.clone();
        let request = match (self.key(key, facts.context.keys, facts.context.listening), self.is_trusted()) {
            (KeyResult::PassedOn, _) => return None,
            (KeyResult::Handled, _) => return Some(Vec::new()),
            (KeyResult::Explained(words), _) => return Some(vec![PromptCommand::Explain(words)]),
            (KeyResult::Close, _) | (KeyResult::Refuse, false) => {
                return Some(vec![PromptCommand::IgnoreRepeats, PromptCommand::SkipProjectFiles]);
            }
            (KeyResult::Trust, _) => TrustRequest::Trust { folder, files: self.files.signature() },
            (KeyResult::Refuse, true) => TrustRequest::Revoke(folder),
        };
        self.mark_storing();
        let effect = Effect::Request(HostRequest::Trust(request));
        Some(vec![PromptCommand::IgnoreRepeats, PromptCommand::Effect(effect)])
    }

    fn explain_enter(&self, facts: &PromptFacts<'_>) -> Option<String> {
        let key = |action| facts.context.keys.first_chord(Scope::Trust, action);
        Some(format!("Enter does not answer · {} approve, {} deny", key(Action::Trust), key(Action::Deny)))
    }

    fn scroll_content(&mut self, lines: isize) -> bool {
        self.scroll = self.scroll.saturating_add_signed(lines);
        true
    }
}

/// Describes a file briefly: `AGENTS.md (3.2 kB, about 810 tokens)`, `.aye/rules.toml (1 allow)`.
pub fn describe_file(file: &ProjectFile) -> String {
    match &file.kind {
        ProjectFileKind::Instructions(instructions) => describe_instructions(instructions),
        ProjectFileKind::Rules { counts, .. } => format!("{} ({counts})", file.name),
        ProjectFileKind::Unusable(_) => format!("{} (not used)", file.name),
    }
}

/// Describes an instruction file briefly: `AGENTS.md (3.2 kB, about 810 tokens)`.
pub fn describe_instructions(instructions: &Instructions) -> String {
    format!("{} ({})", instructions.file, describe_instruction_size(instructions, None))
}

/// Describes the size of a file, with its share of the context window if known.
fn describe_size(file: &ProjectFile, context_window: Option<u64>) -> String {
    match &file.kind {
        ProjectFileKind::Instructions(instructions) => describe_instruction_size(instructions, context_window),
        ProjectFileKind::Rules { .. } | ProjectFileKind::Unusable(_) => format_bytes(file.bytes),
    }
}

fn describe_instruction_size(instructions: &Instructions, context_window: Option<u64>) -> String {
    let bytes = format_bytes(instructions.bytes);
    let tokens = instructions.tokens;
    let share = match context_window.filter(|window| *window > 0) {
        Some(window) if tokens * 100 >= window => {
            format!(", {} % of the context window", tokens * 100 / window)
        }
        Some(_) | None => String::new(),
    };
    let approximation = if instructions.omitted_bytes() > 0 { "truncated to about" } else { "about" };
    format!("{bytes}, {approximation} {} tokens{share}", status_bar::format_tokens(tokens))
}

/// Describes the effects of a file, one per line. Lines that begin with `warning` are warnings.
pub fn describe_effects(file: &ProjectFile) -> Vec<String> {
    let mut lines = Vec::new();
    match &file.kind {
        ProjectFileKind::Instructions(instructions) => {
            lines.push("sent to the model with every request, as project instructions".to_owned());
            if instructions.omitted_bytes() > 0 {
                let (omitted, sent) =
                    (format_bytes(instructions.omitted_bytes()), format_bytes(instructions.text.len()));
                lines.push(format!("only the first {sent} are sent; {omitted} are omitted"));
            }
            match count_invisible(&instructions.text) {
                0 => {}
                1 => lines.push("warning: contains 1 invisible character, shown as a mark".to_owned()),
                count => lines.push(format!("warning: contains {count} invisible characters, shown as marks")),
            }
        }
        ProjectFileKind::Rules { counts, allow_count, problems, .. } => {
            lines.push(format!("rules for tool calls in this project: {counts}"));
            match allow_count {
                0 => {}
                1 => lines.push("warning: 1 rule allows calls without approval".to_owned()),
                count => lines.push(format!("warning: {count} rules allow calls without approval")),
            }
            lines.extend(problems.iter().map(|problem| format!("warning: {problem}")));
        }
        ProjectFileKind::Unusable(reason) => lines.push(format!("not used: {reason}")),
    }
    lines
}

/// Counts the invisible characters of a text.
fn count_invisible(text: &str) -> usize {
    let is_mark = |part: &RevealedPart| matches!(part, RevealedPart::Mark(mark) if mark.starts_with("<U+"));
    reveal_text(&text.replace("\r\n", "\n")).iter().filter(|part| is_mark(part)).count()
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
