//! Copying to the clipboard: clean text without gutters.

use super::transcript_change::selected_run_texts;
use crate::chat::{CallId, Entry, Outcome, pluralize};
use crate::text::byte_size::format_bytes;
use crate::text::escape_sequences;
use crate::text::hidden_chars::remove_hidden;
use crate::tui::effect::Effect;
use crate::tui::external::MAX_CLIPBOARD;
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::parts::transcript::call_layout::user_text;
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::popup::{List, Popup};
use crate::tui::state::State;

/// Offers texts to copy: the selected output or summary, the last reply, its code blocks, the last output. A single
/// text is copied at once.
pub fn offer_copy(state: &mut State, cache: &mut LayoutCache) {
    // Label of each row, and the text it copies.
    let mut rows: Vec<(String, String)> = Vec::new();
    rows.extend(selected_run_texts(state, cache).map(|(_, text)| ("Output of the selected calls".to_owned(), text)));
    let entries = state.agent.session.entries();
    let selected = state.viewport.transcript.selected().and_then(|index| entries.get(index));
    if let Some(Entry::Settled { call, outcome, .. }) = selected {
        rows.push(("Output of the selected call".into(), output_text(state, call, outcome)));
    }
    if let Some(Entry::UserCommand(command)) = selected {
        rows.push(("Output of your selected command".into(), command.output.clone()));
    }
    if let Some(Entry::Compacted { summary, pinned, .. }) = selected {
        rows.push(("Selected summary".into(), format!("{summary}\n\n{pinned}")));
    }
    if let Some(reply) = super::agent_events::last_reply(state) {
        rows.push(("Last reply".into(), reply.to_owned()));
        for code in code_blocks(reply) {
            let first_line = code.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            rows.push((format!("Code: {}", first_line.trim()), code));
        }
    }
    let output = entries.iter().rev().find_map(|entry| match entry {
        Entry::Settled { call, outcome, .. } => Some(output_text(state, call, outcome)),
        Entry::UserCommand(command) => Some(command.output.clone()),
        _ => None,
    });
    if let Some(text) = output {
        rows.push(("Last output".into(), text));
    }
    match rows.len() {
        0 => state.show_info("Nothing to copy yet"),
        1 => copy_text(state, &rows[0].1.clone()),
        _ => {
            let items = rows.iter().map(|(name, _)| Row::new(name)).collect();
            let texts = rows.into_iter().map(|(_, text)| text).collect();
            state.viewport.popups.push(Popup::List(Picker::new("Copy", "", items), List::CopyTexts(texts)));
        }
    }
}

/// Returns the result of a call without notes for the model about its stored text.
fn output_text(state: &State, call: &CallId, outcome: &Outcome) -> String {
    match state.agent.session.find_call(call) {
        Some(call) => user_text(outcome.text(), call).into_owned(),
        None => outcome.text().to_owned(),
    }
}

/// Copies the target of a link, named as on the key that copies it: `link` or `address`.
pub fn copy_target(state: &mut State, name: &str, target: &str) {
    copy_as(state, target, Some(name));
}

/// Copies a text to the clipboard. If it exceeds the limit, a notice names the command that prints all of it.
pub fn copy_text(state: &mut State, text: &str) {
    copy_as(state, text, None);
}

/// Copies a text, which the notice calls by this name, or else by the number of its lines.
fn copy_as(state: &mut State, text: &str, name: Option<&str>) {
    let text = remove_hidden(&escape_sequences::strip_colors(text)).into_owned();
    if text.len() > MAX_CLIPBOARD {
        let notice = format!(
            "Not copied: the text has {}, the limit of the terminal clipboard is {}. `aye sessions show {}` prints all of it.",
            format_bytes(text.len() as u64),
            format_bytes(MAX_CLIPBOARD as u64),
            state.session.id
        );
        return state.show_warning(&notice);
    }
    let description = name.map_or_else(|| pluralize(text.lines().count(), "line"), |name| format!("the {name}"));
    state.show_info(&format!("Copied {description}"));
    state.push_effect(Effect::CopyText(text));
}

/// Returns the contents of the fenced code blocks of a reply.
fn code_blocks(text: &str) -> Vec<String> {
    let (mut blocks, mut open_block) = (Vec::new(), None::<(String, String)>);
    for line in text.lines() {
        let trimmed = line.trim_start();
        match &mut open_block {
            Some((fence, code)) => {
                if trimmed.starts_with(fence.as_str()) && trimmed.trim_end().chars().all(|c| fence.contains(c)) {
                    blocks.push(std::mem::take(code));
                    open_block = None;
                } else {
                    code.push_str(line);
                    code.push('\n');
                }
            }
            None => {
                let fence_char = if trimmed.starts_with('~') { '~' } else { '`' };
                let fence: String = trimmed.chars().take_while(|&c| c == fence_char).collect();
                // Inline code may stand at the start of a line. A line that opens a block has no backtick after the fence.
                let is_inline_code = fence_char == '`' && trimmed[fence.len()..].contains('`');
                if fence.len() >= 3 && !is_inline_code {
                    open_block = Some((fence, String::new()));
                }
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_blocks_are_copied_without_their_fences() {
        let text = "a\n```rust\nfn x() {}\n```\nb\n~~~\n```\n~~~\n";
        assert_eq!(code_blocks(text), ["fn x() {}\n", "```\n"]);
        assert_eq!(code_blocks("```x``` is inline\n```\ny\n```\n"), ["y\n"]);
    }
}
