//! The request for a summary of earlier entries, and the parts kept verbatim with the summary.

use super::State;
use super::context_estimate::RequestSize;
use crate::chat::attachments::own_text;
use crate::chat::summary::escape_tags;
use crate::chat::{Access, AnswerStatus, Ending, Entry, Message, Outcome, Request, ToolCall, message_tokens};
use crate::text::escape_sequences;
use crate::text::truncation::truncate_middle;
use std::borrow::Cow;
use std::fmt::Write;

const SUMMARY_PROMPT: &str = include_str!("summary.md");
/// Maximum tokens of a summary.
const MAX_SUMMARY_TOKENS: u64 = 2_000;
/// Divisor of the context window: a summary takes at most a quarter of it.
const SUMMARY_DIVISOR: u64 = 4;
/// Tokens to summarize at once if the context window is unknown.
const DEFAULT_SUMMARY_WINDOW: u64 = 100_000;
/// Limits for the texts in a summary request, in two lists, longest first. The second list, whose texts are too short
/// for details, is used only if no request with the first one fits. Only its last limits shorten user
/// messages: a session whose user messages alone exceed the window could not continue otherwise.
pub(super) const TEXT_LIMITS: [&[TextLimits]; 2] = [
    &[
        TextLimits { outcome: 8_000, other: usize::MAX, user_message: usize::MAX },
        TextLimits { outcome: 2_000, other: 16_000, user_message: usize::MAX },
        TextLimits { outcome: 600, other: 4_000, user_message: usize::MAX },
    ],
    &[
        TextLimits { outcome: 200, other: 1_000, user_message: usize::MAX },
        TextLimits { outcome: 80, other: 300, user_message: usize::MAX },
        TextLimits { outcome: 0, other: 80, user_message: usize::MAX },
        TextLimits { outcome: 0, other: 80, user_message: 4_000 },
        TextLimits { outcome: 0, other: 80, user_message: 600 },
    ],
];
/// A text with more bytes than this per available token is rejected without an estimate.
const MAX_BYTES_PER_TOKEN: u64 = 16;
/// Divisor of the context window: user messages kept verbatim take at most a quarter of it. Without a limit one long
/// paste would displace everything else.
const VERBATIM_DIVISOR: u64 = 4;
/// Maximum tokens of the user messages kept verbatim, also if the context window is unknown.
const MAX_VERBATIM_TOKENS: u64 = 12_000;
/// Maximum number of recent user messages kept verbatim, not counting the first one; also the maximum number of open
/// items kept verbatim.
const MAX_RECENT: usize = 3;
/// Maximum number of files listed.
const MAX_LISTED_FILES: usize = 60;

/// Maximum bytes of the texts in a summary request.
#[derive(Clone, Copy)]
pub(super) struct TextLimits {
    /// Of an outcome.
    outcome: usize,
    /// Of any other text that is no user message.
    other: usize,
    user_message: usize,
}

/// Builds the request for a summary of the entries before `upto`, of at most `request_limit` tokens, with the first of
/// `limits` with which it fits; `None` if there is none. Also returns the size of the request.
pub(super) fn build_summary_request(
    state: &State,
    upto: usize,
    request_limit: Option<u64>,
    limits: &[TextLimits],
) -> Option<(Request, RequestSize)> {
    let window = state.effective_context_window();
    let max_tokens =
        window.map_or(MAX_SUMMARY_TOKENS, |window| MAX_SUMMARY_TOKENS.min(window / SUMMARY_DIVISOR)).max(1);
    let available_tokens =
        window.unwrap_or(DEFAULT_SUMMARY_WINDOW).min(request_limit.unwrap_or(u64::MAX)).saturating_sub(max_tokens);
    let max_bytes = usize::try_from(available_tokens.saturating_mul(MAX_BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
    limits.iter().find_map(|limits| {
        let text = render_entries(state, upto, *limits, max_bytes)?;
        let messages = vec![Message::System(SUMMARY_PROMPT.trim().to_owned()), Message::User(text)];
        let estimated = messages.iter().map(message_tokens::estimate_message).sum();
        let corrected = state.correct_estimate(estimated);
        (corrected <= available_tokens).then(|| {
            let (model, max_tokens) = (state.model.name.clone(), u32::try_from(max_tokens).ok());
            (Request { model, messages, max_tokens, ..Request::default() }, RequestSize { estimated, corrected })
        })
    })
}

/// Renders the earlier entries as data; `None` if the text exceeds `max_bytes`.
fn render_entries(state: &State, upto: usize, limits: TextLimits, max_bytes: usize) -> Option<String> {
    let session = &state.session;
    let earlier_summary = session.summary().map(|summary| ("Summary of earlier entries".to_owned(), summary.into()));
    let entries = session.entries().get(session.first_sent_entry()..upto).unwrap_or_default();
    let sections = entries.iter().flat_map(|entry| entry_sections(entry, limits));
    let mut rendered = String::new();
    for (heading, text) in earlier_summary.into_iter().chain(sections) {
        if rendered.len() > max_bytes {
            return None;
        }
        // Writing to a string cannot fail.
        let _ = write!(rendered, "[{heading}]\n{}\n\n", escape_tags(text.trim()));
    }
    Some(format!("<earlier_conversation>\n{}\n</earlier_conversation>\n\nWrite the summary now.", rendered.trim()))
}

/// Returns the headings and texts by which an entry is summarized.
fn entry_sections(entry: &Entry, limits: TextLimits) -> Vec<(String, Cow<'_, str>)> {
    let mut sections = Vec::new();
    let mut add = |heading: &str, text| sections.push((heading.to_owned(), text));
    if let Entry::UserMessage { text } = entry {
        add("User", truncate_middle(text, limits.user_message));
    } else if let Entry::Replied { text, calls, incomplete, .. } = entry {
        if !text.trim().is_empty() {
            let heading = if incomplete.is_some() { "Model (incomplete)" } else { "Model" };
            add(heading, truncate_middle(text, limits.other));
        }
        for ToolCall { name, arguments, .. } in calls {
            let heading = format!("Call of {}", truncate_middle(name, 80));
            add(&heading, truncate_middle(arguments, limits.other.min(4_000)));
        }
    } else if let Entry::Settled { outcome, .. } = entry {
        let status = match outcome {
            Outcome::Done(_) => "Done",
            Outcome::Failed(_) => "Failed",
            Outcome::Refused(_) => "Refused",
            Outcome::Rehearsed(_) => "Rehearsed, not done",
            Outcome::Interrupted(_) => "Interrupted",
        };
        let text = escape_sequences::strip_colors(outcome.text());
        add(status, truncate_middle(&text, limits.outcome).into_owned().into());
    } else if let Entry::BackgroundEnded(end) = entry
        && let Some(note) = end.model_note()
    {
        add("Event", note.into());
    } else if let Entry::UserCommand(command) = entry
        && command.is_shared
    {
        add("Command of the user", command.model_text(limits.outcome).into());
    } else if let Entry::Ended { ending: Ending::Interrupted } = entry {
        add("The user stopped the turn", "".into());
    } else if let Entry::Ended { ending: Ending::Failed(why) } = entry {
        add("The turn failed", truncate_middle(why, limits.other));
    }
    sections
}

/// Returns the text kept verbatim with a summary of the entries before `upto`: the first and the last user messages among
/// these entries, open questions and calls, and changed files.
pub(super) fn build_verbatim_part(state: &State, upto: usize) -> String {
    let mut user_messages = Vec::new();
    for (index, entry) in state.session.entries().iter().enumerate() {
        if let Entry::UserMessage { text } = entry {
            user_messages.push((index, own_text(text)));
        }
    }
    let max_tokens = state
        .effective_context_window()
        .map_or(MAX_VERBATIM_TOKENS, |window| MAX_VERBATIM_TOKENS.min(window / VERBATIM_DIVISOR));
    // Three bytes per token, shared equally by the first and the recent messages.
    let max_bytes = usize::try_from(max_tokens * 3).unwrap_or(usize::MAX) / (MAX_RECENT + 1);
    let mut parts = Vec::new();
    if let Some((_, first_message)) = user_messages.first().filter(|(index, _)| *index < upto) {
        parts.push(format!("First user message:\n{}", truncate_middle(first_message.trim(), max_bytes)));
    }
    let recent_messages = user_messages.iter().skip(user_messages.len().saturating_sub(MAX_RECENT).max(1));
    for (_, text) in recent_messages.filter(|(index, _)| *index < upto) {
        parts.push(format!("Later user message:\n{}", truncate_middle(text.trim(), max_bytes)));
    }
    parts.extend(list_open_items(state));
    if state.session.todos().is_open() {
        parts.push(format!("Todo list:\n{}", state.session.todos().to_text().trim_end()));
    }
    if state.is_dry_run() {
        parts.push("This session is a dry run: nothing is changed live.".to_owned());
    }
    let (changed, rehearsed) = list_changed_files(state);
    for (label, files) in [("changed", changed), ("rehearsed, not changed", rehearsed)] {
        if !files.is_empty() {
            parts.push(format!("Files {label}:\n{}", format_file_list(&files)));
        }
    }
    parts.join("\n\n")
}

/// Returns unanswered questions and waiting calls.
fn list_open_items(state: &State) -> Vec<String> {
    let mut open_items = Vec::new();
    for call in state.session.calls().filter(|call| call.parent_call.is_none()) {
        let is_unanswered = || match call.settled_at.and_then(|index| state.session.entries().get(index)) {
            Some(Entry::Settled { outcome, .. }) => {
                matches!(outcome, Outcome::Interrupted(_)) || {
                    // An answer is recorded directly before the outcome of its call.
                    let is_deferred = |entry: &Entry| {
                        matches!(entry, Entry::Answered { call: answered_call, answer, .. }
                        if *answered_call == call.call.id && answer.status == AnswerStatus::Deferred)
                    };
                    call.settled_at
                        .and_then(|index| index.checked_sub(1))
                        .and_then(|index| state.session.entries().get(index))
                        .is_some_and(is_deferred)
                }
            }
            Some(_) | None => true,
        };
        match (&call.questions, &call.plan, call.settled_at) {
            (Some(questions), ..) if is_unanswered() => {
                let texts = questions.list.iter().map(|question| format!("- {}", question.text));
                open_items.push(format!("Unanswered questions to the user:\n{}", texts.collect::<Vec<_>>().join("\n")));
            }
            (None, plan, None) => {
                let description = plan.as_ref().map_or(call.call.name.as_str(), |plan| plan.summary.as_str());
                open_items.push(format!(
                    "Call waiting for the user: {}: {}",
                    call.call.name,
                    truncate_middle(description, 300)
                ));
            }
            (Some(_) | None, ..) => {}
        }
    }
    let first_kept = open_items.len().saturating_sub(MAX_RECENT);
    open_items.split_off(first_kept)
}

/// Returns the files that were changed and those that were rehearsed, each once.
fn list_changed_files(state: &State) -> (Vec<String>, Vec<String>) {
    let (mut changed, mut rehearsed) = (Vec::new(), Vec::new());
    for call in state.session.calls() {
        let access = call.plan.as_ref().map(|plan| &plan.access);
        let Some(Access::Write(path) | Access::WriteOutside(path)) = access else { continue };
        let path = path.display().to_string();
        let settled_entry = call.settled_at.and_then(|index| state.session.entries().get(index));
        let Some(Entry::Settled { outcome, .. }) = settled_entry.map(Entry::unwrap_sub_agent) else {
            continue;
        };
        let list = match outcome {
            Outcome::Done(_) => &mut changed,
            Outcome::Rehearsed(_) => &mut rehearsed,
            Outcome::Failed(_) | Outcome::Refused(_) | Outcome::Interrupted(_) => continue,
        };
        if !list.contains(&path) {
            list.push(path);
        }
    }
    (changed, rehearsed)
}

fn format_file_list(files: &[String]) -> String {
    let newest = &files[files.len().saturating_sub(MAX_LISTED_FILES)..];
    let mut lines: Vec<String> = newest.iter().map(|file| format!("- {file}")).collect();
    if newest.len() < files.len() {
        lines.push(format!("- and {} earlier files", files.len() - newest.len()));
    }
    lines.join("\n")
}
