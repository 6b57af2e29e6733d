//! The trust prompt: shows the files of the project that change how aye works, and accepts approval only after its end was
//! on the screen.

mod trust_layout;

use crate::chat::{Instructions, pluralize};
use crate::config::folder_instructions::is_folder_file;
use crate::config::project_files::{ProjectFile, ProjectFileKind, ProjectFiles};
use crate::config::trust::TrustState;
use crate::text::byte_size::format_bytes;
use crate::text::reveal::{RevealedPart, reveal_text};
use crate::text::truncation::join_items;
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, InspectionReason};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::{Frame, PromptContext};
use crate::tui::parts::key_hints::explain_unseen_end;
use crate::tui::parts::line_cache::LineCache;
use crate::tui::parts::listening::Listening;
use crate::tui::parts::status_bar;
use crate::tui::prompts::prompt::{DrawnPrompt, KeyResult, Prompt, PromptCommand, PromptFacts, PromptSubject};
use crate::tui::prompts::read_state::{ReadState, framed_height, text_columns};
use crate::tui::text::Page;
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of imported files that are named.
const MAX_LISTED_IMPORTS: usize = 8;

/// Prompt that asks whether the project's files are trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustPrompt {
    files: Arc<ProjectFiles>,
    reason: InspectionReason,
    reading: ReadState,
    /// True while the decision is being written to disk.
    is_storing: bool,
    /// Wrapped lines, cached for a context window in tokens, because they name the share of it that a file takes.
    line_cache: LineCache<Option<u64>, Page>,
}

impl TrustPrompt {
    pub fn new(files: Arc<ProjectFiles>, reason: InspectionReason) -> Self {
        Self { files, reason, reading: ReadState::default(), is_storing: false, line_cache: LineCache::default() }
    }

    /// Returns whether every usable file is trusted already.
    fn is_trusted(&self) -> bool {
        self.files.untrusted().next().is_none()
    }

    /// Trusts the files, if they are not trusted yet and were read to the end.
    fn trust_files(&mut self, keys: &Keymap) -> KeyResult {
        let key = |action| keys.first_chord(Scope::Trust, action);
        if self.is_trusted() {
            let (revoke_key, close_key) = (key(Action::Deny), key(Action::Close));
            KeyResult::Explained(format!("Already trusted · {revoke_key} to revoke, {close_key} to close"))
        } else if self.reading.has_reached_end {
            let (folder, files) = (self.files.folder.clone(), self.files.signature());
            self.store_decision(HostRequest::TrustProject { folder, files })
        } else {
            KeyResult::Explained(explain_unseen_end(&key(Action::Bottom)))
        }
    }

    fn store_decision(&mut self, request: HostRequest) -> KeyResult {
        self.is_storing = true;
        KeyResult::answered(PromptCommand::Effect(Effect::Request(request)))
    }
}

impl Prompt for TrustPrompt {
    fn is_about(&self, subject: PromptSubject<'_>) -> bool {
        matches!(subject, PromptSubject::ProjectFiles(files, _) if Arc::ptr_eq(&self.files, files))
    }

    fn scope(&self) -> Scope {
        Scope::Trust
    }

    fn notification(&self) -> &'static str {
        "aye asks whether you trust this project"
    }

    fn prompt_height(&self, facts: &PromptFacts<'_>, width: u16) -> u16 {
        framed_height(self.lay_out(facts, text_columns(width)).lines.len())
    }

    fn draw_prompt(&self, facts: &PromptFacts<'_>, area: Rect, buffer: &mut Buffer) -> DrawnPrompt {
        let PromptContext { listening, keys, theme, message } = facts.context;
        let line_count = self.lay_out(facts, text_columns(area.width)).lines.len();
        let shows_end = self.reading.shows_end(line_count, area);
        let frame = Frame {
            title: self.title(),
            hints: &self.hints(keys, shows_end),
            message,
            is_listening: listening.is_listening() && !self.is_storing,
            ..Frame::default()
        };
        self.reading.draw(&frame, |columns| self.lay_out(facts, columns), area, buffer, theme)
    }

    fn record_frame(&mut self, now: Duration, drawn: DrawnPrompt) {
        self.reading.record_frame(now, &drawn);
    }

    fn first_drawn(&self) -> Option<Duration> {
        self.reading.first_drawn
    }

    fn handle_prompt_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> KeyResult {
        let PromptContext { keys, listening, .. } = facts.context;
        let Some(action) = keys.lookup(Scope::Trust, key) else { return KeyResult::PassedOn };
        if listening == Listening::Unsent {
            return KeyResult::PassedOn;
        }
        if self.reading.scroll_by(action) {
            return KeyResult::Handled;
        }
        match action {
            // Closing changes nothing, so it works before the prompt accepts answers.
            Action::Close if !self.is_storing && self.reading.first_drawn.is_some() => {
                KeyResult::answered(PromptCommand::SkipProjectFiles)
            }
            _ if !listening.is_listening() => KeyResult::PassedOn,
            // A repeat belongs to an earlier press of a held key.
            _ if key.kind != KeyEventKind::Press || self.is_storing => KeyResult::Handled,
            Action::Trust => self.trust_files(keys),
            Action::Deny if self.is_trusted() => {
                self.store_decision(HostRequest::RevokeTrust(self.files.folder.clone()))
            }
            Action::Deny => KeyResult::answered(PromptCommand::SkipProjectFiles),
            _ => KeyResult::PassedOn,
        }
    }

    fn explain_enter(&self, facts: &PromptFacts<'_>) -> Option<String> {
        let key = |action| facts.context.keys.first_chord(Scope::Trust, action);
        Some(format!("Enter does not answer · {} approve, {} deny", key(Action::Trust), key(Action::Deny)))
    }

    fn scroll_content(&mut self, lines: isize) -> bool {
        self.reading.scroll_lines(lines);
        true
    }
}

/// Describes a file briefly: `AGENTS.md (3.2 kB, about 810 tokens)`, `.aye/rules.toml (1 allow)`.
pub fn describe_file(file: &ProjectFile) -> String {
    match &file.kind {
        ProjectFileKind::Instructions(instructions) => describe_instructions(instructions),
        ProjectFileKind::Rules { counts, .. } => format!("{} ({counts})", file.name),
        ProjectFileKind::McpServers { descriptions, .. } => {
            format!("{} ({})", file.name, pluralize(descriptions.len(), "MCP server"))
        }
        ProjectFileKind::Tool { .. } => format!("{} (a tool)", file.name),
        ProjectFileKind::Command { .. } => format!("{} (a command)", file.name),
        ProjectFileKind::Skill { .. } => format!("{} (a skill)", file.name),
        ProjectFileKind::Unusable(_) => format!("{} (not used)", file.name),
    }
}

/// Describes an instruction file briefly: `AGENTS.md (3.2 kB, about 810 tokens)`.
pub fn describe_instructions(instructions: &Instructions) -> String {
    format!("{} ({})", instructions.file, describe_instruction_size(instructions, None))
}

/// Describes the size of a file: `3.2 kB, about 810 tokens, 2 % of the context window`. The share is omitted if it is
/// unknown or below 1 %.
fn describe_size(file: &ProjectFile, context_window: Option<u64>) -> String {
    match &file.kind {
        ProjectFileKind::Instructions(instructions) => describe_instruction_size(instructions, context_window),
        ProjectFileKind::Rules { .. }
        | ProjectFileKind::McpServers { .. }
        | ProjectFileKind::Tool { .. }
        | ProjectFileKind::Command { .. }
        | ProjectFileKind::Skill { .. }
        | ProjectFileKind::Unusable(_) => format_bytes(file.bytes as u64),
    }
}

fn describe_instruction_size(instructions: &Instructions, context_window: Option<u64>) -> String {
    let bytes = format_bytes(instructions.bytes as u64);
    let tokens = instructions.tokens;
    let share = match context_window.and_then(|window| (tokens * 100).checked_div(window)) {
        Some(percent @ 1..) => format!(", {percent} % of the context window"),
        Some(0) | None => String::new(),
    };
    let approximation = if instructions.omitted_bytes() > 0 { "truncated to about" } else { "about" };
    format!("{bytes}, {approximation} {} tokens{share}", status_bar::format_tokens(tokens))
}

fn warn_of_invisible(file: &ProjectFile) -> Option<String> {
    (count_invisible(&file.text) > 0).then(|| "warning: contains invisible characters, shown as marks".to_owned())
}

/// Describes the effects of a file, one per line. Warnings begin with `warning`.
pub fn describe_effects(file: &ProjectFile) -> Vec<String> {
    let mut lines = Vec::new();
    match &file.kind {
        ProjectFileKind::Instructions(instructions) => {
            lines.push(match file.name.strip_suffix("/AGENTS.md") {
                Some(folder) if is_folder_file(&file.name) => {
                    format!("sent to the model when it reads a file in {folder}, as project instructions")
                }
                Some(_) | None => "sent to the model with every request, as project instructions".to_owned(),
            });
            if instructions.omitted_bytes() > 0 {
                let sent = format_bytes(instructions.text.len() as u64);
                let omitted = format_bytes(instructions.omitted_bytes() as u64);
                lines.push(format!("only the first {sent} are sent; {omitted} are omitted"));
            }
            if !file.imports.is_empty() {
                lines.push(format!("includes the text of {}", join_items(&file.imports, MAX_LISTED_IMPORTS)));
            }
            lines.extend(file.import_problems.iter().map(|problem| format!("warning: not imported, {problem}")));
            match count_invisible(without_byte_order_mark(&file.text)) {
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
        ProjectFileKind::McpServers { descriptions, program_count } => {
            lines
                .push(format!("{}, whose tools are offered to the model", pluralize(descriptions.len(), "MCP server")));
            if *program_count > 0 {
                let programs = pluralize(*program_count, "program");
                lines.push(format!("warning: starts {programs} with your rights and without a sandbox"));
            }
        }
        ProjectFileKind::Tool { effects } => {
            lines.extend(effects.iter().cloned());
            lines.extend(warn_of_invisible(file));
        }
        ProjectFileKind::Command { description } => {
            lines.push(description.clone());
            lines.push("its text is sent as your message when you type the command".to_owned());
            lines.extend(warn_of_invisible(file));
        }
        ProjectFileKind::Skill { description, tokens: (listed, loaded) } => {
            lines.push(description.clone());
            lines.push(format!(
                "the model may load its text, about {} tokens; its description adds {} to every request",
                status_bar::format_tokens(*loaded),
                status_bar::format_tokens(*listed)
            ));
            lines.push(
                "the model may also read the other files in this folder; their changes are not checked".to_owned(),
            );
            lines.extend(warn_of_invisible(file));
        }
        ProjectFileKind::Unusable(reason) => lines.push(format!("not used: {reason}")),
    }
    lines
}

/// Returns the text that is sent, without a byte order mark.
fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Counts the invisible characters of a text. Marks of long blank stretches, such as `<8 empty lines>`, do not count.
fn count_invisible(text: &str) -> usize {
    let is_mark = |part: &RevealedPart| matches!(part, RevealedPart::Mark(mark) if mark.starts_with("<U+"));
    reveal_text(&text.replace("\r\n", "\n")).iter().filter(|part| is_mark(part)).count()
}

fn describe_trust(trust_state: TrustState) -> &'static str {
    match trust_state {
        TrustState::Trusted => "trusted",
        TrustState::Changed => "changed since you trusted it",
        TrustState::Unknown => "not trusted yet",
    }
}

#[cfg(test)]
pub(crate) mod tests;
