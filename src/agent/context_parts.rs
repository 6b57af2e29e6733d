//! Parts of the next request, with tokens that add up to the use of the context window.

use super::State;
use crate::chat::attachments::{list_attachments, own_text};
use crate::chat::instructions::append_instructions;
use crate::chat::message_tokens::{MESSAGE_OVERHEAD, estimate_calls, estimate_tools};
use crate::chat::skill::LOAD_SKILL;
use crate::chat::token_budgets::Budgets;
use crate::chat::{CallId, Entry, mcp_names, summary};
use crate::text::tokens::estimate_text;
use crate::text::truncation::truncate_middle;

/// Kind of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContextKind {
    /// The system prompt with facts about the project.
    System,
    /// Descriptions of tools.
    Tools,
    /// Instructions of the project.
    Instructions,
    /// Text of files: results of reading tools, and files attached to messages.
    Files,
    /// Messages, replies, and calls with their other results.
    History,
}

/// Part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextPart {
    pub kind: ContextKind,
    /// Name of the tool, file or kind of message. It may contain text of the model.
    pub name: String,
    pub tokens: u64,
}

/// Tools whose results are the text of files.
const READING_TOOLS: [&str; 2] = ["read_file", "read_workspace_file"];

/// Parts with the same kind and name are one.
#[derive(Default)]
struct PartList(Vec<ContextPart>);

impl PartList {
    fn add(&mut self, kind: ContextKind, name: &str, tokens: u64) {
        if tokens == 0 {
            return;
        }
        match self.0.iter_mut().find(|part| part.kind == kind && part.name == name) {
            Some(part) => part.tokens += tokens,
            None => self.0.push(ContextPart { kind, name: name.to_owned(), tokens }),
        }
    }
}

impl State {
    /// Returns the parts of the next request, largest first within their kinds. Their sum is
    /// [`super::ContextUsage::tokens`]: if the count of the provider differs from the estimate, all parts are
    /// scaled to it. Reads the whole conversation, so it is not for every frame.
    pub fn context_parts(&self) -> Vec<ContextPart> {
        let mut parts = PartList::default();
        self.add_fixed_parts(&mut parts);
        self.add_conversation(&mut parts);
        let PartList(mut parts) = parts;
        scale_tokens(&mut parts, self.context_usage().tokens);
        parts.sort_by_key(|part| (part.kind, std::cmp::Reverse(part.tokens)));
        parts
    }

    /// Adds the system prompt, the instructions, and the tools: those of MCP servers by server.
    fn add_fixed_parts(&self, parts: &mut PartList) {
        parts.add(ContextKind::System, "system prompt", MESSAGE_OVERHEAD + estimate_text(&self.config.system_prompt));
        let whole = estimate_text(&append_instructions("", &self.config.instructions));
        let mut of_files = 0;
        for file in self.config.instructions.iter().filter(|file| !file.text.trim().is_empty()) {
            parts.add(ContextKind::Instructions, &file.file, file.tokens);
            of_files += file.tokens;
        }
        parts.add(ContextKind::Instructions, "introduction", whole.saturating_sub(of_files));
        for tool in self.prompt_sections() {
            parts.add(ContextKind::System, prompt_section_name(&tool.name), estimate_text(&tool.prompt_section));
        }
        let budgets = Budgets::built_in();
        for spec in self.offered_tools() {
            let measured = budgets.measured_tool(&spec).map(|counts| counts.o200k);
            let tokens = measured.unwrap_or_else(|| estimate_tools(std::slice::from_ref(&spec)));
            match mcp_names::server_of(&spec.name) {
                Some(server) => parts.add(ContextKind::Tools, &format!("MCP server {server}"), tokens),
                None => parts.add(ContextKind::Tools, &spec.name, tokens),
            }
        }
    }

    fn add_conversation(&self, parts: &mut PartList) {
        use ContextKind::{Files, History};
        let session = &self.session;
        if let Some(Entry::Compacted { summary, pinned, .. }) =
            session.entries().iter().rev().find(|entry| matches!(entry, Entry::Compacted { .. }))
        {
            parts.add(History, "summary", estimate_text(&summary::format_summary(summary, pinned)));
        }
        let truncation = self.estimate.truncation.map_or((0, usize::MAX), |cut| (cut.before_entry, cut.max_bytes));
        for (index, entry) in session.entries().iter().enumerate().skip(session.first_sent_entry()) {
            let max_bytes = if index < truncation.0 { truncation.1 } else { usize::MAX };
            if let Entry::UserMessage { text } = entry {
                parts.add(History, "your messages", MESSAGE_OVERHEAD + estimate_text(own_text(text)));
                let attached = estimate_text(text).saturating_sub(estimate_text(own_text(text)));
                self.add_attachments(text, attached, parts);
            } else if let Entry::Replied { text, calls, .. } = entry {
                parts.add(History, "replies", estimate_text(text));
                parts.add(History, "calls", estimate_calls(calls));
            } else if let Entry::Settled { call, outcome, .. } = entry {
                let text = truncate_middle(outcome.text(), max_bytes);
                let tokens = MESSAGE_OVERHEAD + estimate_text(&text);
                match self.read_file_name(call) {
                    Some(file) => parts.add(Files, &file, tokens),
                    None => parts.add(History, "results of calls", tokens),
                }
            } else if let Entry::UserCommand(command) = entry
                && command.is_shared
            {
                parts.add(History, "your commands", estimate_text(&command.model_text(max_bytes)));
            } else if let Entry::BackgroundEnded(end) = entry {
                parts.add(History, "background commands", end.model_note().map_or(0, |note| estimate_text(&note)));
            }
        }
        for message in &self.queued_messages {
            parts.add(History, "your messages", MESSAGE_OVERHEAD + estimate_text(message));
        }
    }

    /// Adds the attachments of a message, which share these tokens by their size.
    fn add_attachments(&self, message: &str, tokens: u64, parts: &mut PartList) {
        let attachments = list_attachments(message);
        let total: u64 = attachments.iter().filter_map(|file| file.bytes).map(|bytes| bytes as u64).sum();
        for file in attachments {
            let share = tokens * file.bytes.unwrap_or(0) as u64 / total.max(1);
            parts.add(ContextKind::Files, file.source, share);
        }
    }

    /// Returns the file that a call read, without the lines; `None` if the call did not read one.
    fn read_file_name(&self, call: &CallId) -> Option<String> {
        let state = self.session.find_call(call).filter(|state| READING_TOOLS.contains(&state.call.name.as_str()))?;
        let summary = &state.plan.as_ref()?.summary;
        let (path, lines) = summary.rsplit_once(':').unwrap_or((summary, ""));
        let are_lines = !lines.is_empty() && lines.chars().all(|c| c.is_ascii_digit() || c == '-');
        Some(if are_lines { path } else { summary }.to_owned())
    }
}

/// Returns the name of the part of the system prompt that a tool needs.
fn prompt_section_name(tool: &str) -> &str {
    if tool == LOAD_SKILL { "list of skills" } else { tool }
}

/// Scales the tokens so that their sum is `total`. What rounding leaves is added to the largest part.
fn scale_tokens(parts: &mut [ContextPart], total: u64) {
    let sum: u64 = parts.iter().map(|part| part.tokens).sum();
    if sum == 0 || sum == total {
        return;
    }
    for part in parts.iter_mut() {
        let scaled = u128::from(part.tokens) * u128::from(total) / u128::from(sum);
        part.tokens = u64::try_from(scaled).unwrap_or(u64::MAX);
    }
    let scaled_sum: u64 = parts.iter().map(|part| part.tokens).sum();
    if let Some(largest) = parts.iter_mut().max_by_key(|part| part.tokens) {
        largest.tokens += total.saturating_sub(scaled_sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_parts_have_the_given_sum() {
        for total in [0, 1, 7, 100, 12_345] {
            let part = |tokens| ContextPart { kind: ContextKind::Tools, name: String::new(), tokens };
            let mut parts = [part(3), part(50), part(7)];
            scale_tokens(&mut parts, total);
            assert_eq!(parts.iter().map(|part| part.tokens).sum::<u64>(), total);
        }
    }
}
