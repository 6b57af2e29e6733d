//! The request for a summary of earlier entries, and the parts kept verbatim with the summary.

use super::State;
use crate::chat::summary::escape_tags;
use crate::chat::{Access, AnswerStatus, Ending, Entry, Message, Outcome, Request, ToolCall, message_tokens};
use crate::text::escape_sequences;
use crate::text::truncation::truncate_middle;
use std::fmt::Write;

const SUMMARY_PROMPT: &str = include_str!("summary.md");
/// Most tokens of a summary, …
const MAX_SUMMARY_TOKENS: u64 = 2_000;
/// … limited to this fraction of a small context window.
const SUMMARY_FRACTION: u64 = 4;
/// Tokens to summarize at once if the context window is unknown.
const DEFAULT_SUMMARY_WINDOW: u64 = 100_000;
/// Most bytes of an outcome, of any other text of the model, and of a user message. The first triple for which the
/// request fits is used. User messages are shortened last, and only here: a session whose user messages alone exceed
/// the window could not continue otherwise.
pub(super) const TRUNCATION_LENGTHS: [TruncationSteps; 2] = [
    &[(8_000, usize::MAX, usize::MAX), (2_000, 16_000, usize::MAX), (600, 4_000, usize::MAX)],
    &[(200, 1_000, usize::MAX), (80, 300, usize::MAX), (0, 80, usize::MAX), (0, 80, 4_000), (0, 80, 600)],
];
/// Texts with more bytes per token than this are rejected without counting.
const MAX_BYTES_PER_TOKEN: u64 = 16;

/// Limits for each kind of text in bytes, longest first.
type TruncationSteps = &'static [(usize, usize, usize)];
/// Fraction of the context window within which user messages are kept verbatim, with a limit in tokens that also
/// applies if the window is unknown. Without it one long paste would displace everything else.
const VERBATIM_FRACTION: u64 = 4;
const MAX_VERBATIM_TOKENS: u64 = 12_000;
/// Most recent user messages kept verbatim.
const MAX_RECENT: usize = 3;
/// Most files listed.
const MAX_LISTED_FILES: usize = 60;

/// Builds the request for a summary of the entries before `upto`. Also returns its tokens, estimated and corrected.
/// `None` if it does not fit, however much is truncated.
pub(super) fn build_summary_request(
    state: &State,
    upto: usize,
    smaller: Option<u64>,
    lengths: TruncationSteps,
) -> Option<(Request, u64, u64)> {
    let window = state.effective_context_window();
    let most = window.map_or(MAX_SUMMARY_TOKENS, |window| MAX_SUMMARY_TOKENS.min(window / SUMMARY_FRACTION)).max(1);
    let room = window.unwrap_or(DEFAULT_SUMMARY_WINDOW).min(smaller.unwrap_or(u64::MAX)).saturating_sub(most);
    let bytes = usize::try_from(room.saturating_mul(MAX_BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
    lengths.iter().find_map(|lengths| {
        let told = render_entries(state, upto, *lengths, bytes)?;
        let messages = vec![Message::System(SUMMARY_PROMPT.trim().to_owned()), Message::User(told)];
        let ours = messages.iter().map(message_tokens::estimate_message).sum();
        let tokens = state.correct_estimate(ours);
        (tokens <= room).then(|| {
            let most = u32::try_from(most).ok();
            (
                Request {
                    model: state.model.clone(),
                    messages,
                    tools: Vec::new(),
                    max_tokens: most,
                    pictures: Vec::new(),
                },
                ours,
                tokens,
            )
        })
    })
}

/// Renders the earlier entries as data; `None` if the text exceeds `most` bytes.
fn render_entries(
    state: &State,
    upto: usize,
    (outcomes, others, person): (usize, usize, usize),
    most: usize,
) -> Option<String> {
    let session = &state.session;
    let mut talk = String::new();
    fn add(talk: &mut String, who: &str, text: &str) {
        // Writing to a string cannot fail.
        let _ = write!(talk, "[{who}]\n{}\n\n", escape_tags(text.trim()));
    }
    if let Some(summary) = session.summary() {
        add(&mut talk, "Summary of earlier entries", summary);
    }
    for entry in session.entries().get(session.first_sent_entry()..upto).unwrap_or_default() {
        if talk.len() > most {
            return None;
        }
        match entry {
            Entry::UserMessage { text } => add(&mut talk, "User", &truncate_middle(text, person)),
            Entry::Replied { text, calls, incomplete, .. } => {
                if !text.trim().is_empty() {
                    let cut = if incomplete.is_some() { " (incomplete)" } else { "" };
                    add(&mut talk, &format!("Model{cut}"), &truncate_middle(text, others));
                }
                for ToolCall { name, arguments, .. } in calls {
                    add(
                        &mut talk,
                        &format!("Call of {}", truncate_middle(name, 80)),
                        &truncate_middle(arguments, others.min(4_000)),
                    );
                }
            }
            Entry::Settled { outcome, .. } => {
                let word = match outcome {
                    Outcome::Done(_) => "Done",
                    Outcome::Failed(_) => "Failed",
                    Outcome::Refused(_) => "Refused",
                    Outcome::Rehearsed(_) => "Rehearsed, not done",
                    Outcome::Interrupted(_) => "Interrupted",
                };
                add(&mut talk, word, &truncate_middle(&escape_sequences::strip_colors(outcome.text()), outcomes));
            }
            Entry::Ended { ending: Ending::Interrupted } => add(&mut talk, "The user stopped the turn", ""),
            Entry::Ended { ending: Ending::Failed(why) } => {
                add(&mut talk, "The turn failed", &truncate_middle(why, others))
            }
            Entry::Ended { ending: Ending::Finished }
            | Entry::Planned { .. }
            | Entry::Asked { .. }
            | Entry::Decided { .. }
            | Entry::Answered { .. }
            | Entry::Titled { .. }
            | Entry::Revoked { .. }
            | Entry::Compacted { .. }
            | Entry::Reviewed { .. }
            | Entry::FellBack { .. }
            | Entry::SubAgent { .. }
            | Entry::Switched { .. }
            | Entry::DryRunChanged { .. } => {}
        }
    }
    Some(format!("<earlier_talk>\n{}\n</earlier_talk>\n\nWrite the summary now.", talk.trim()))
}

/// Returns the text kept verbatim with a summary up to this entry: the first and the last user messages, open questions
/// and calls, and changed files. Entries after `upto` are not repeated.
pub(super) fn build_verbatim_part(state: &State, upto: usize) -> String {
    let said: Vec<(usize, &str)> = state
        .session
        .entries()
        .iter()
        .enumerate()
        .filter_map(
            |(index, entry)| {
                if let Entry::UserMessage { text } = entry { Some((index, text.as_str())) } else { None }
            },
        )
        .collect();
    let room = state
        .effective_context_window()
        .map_or(MAX_VERBATIM_TOKENS, |window| MAX_VERBATIM_TOKENS.min(window / VERBATIM_FRACTION));
    let each = usize::try_from(room * 3).unwrap_or(usize::MAX) / (MAX_RECENT + 1);
    let mut parts = Vec::new();
    if let Some((_, first)) = said.first().filter(|(index, _)| *index < upto) {
        parts.push(format!("First user message:\n{}", truncate_middle(first.trim(), each)));
    }
    let last: Vec<_> = said.iter().skip(said.len().saturating_sub(MAX_RECENT).max(1)).collect();
    for (_, text) in last.into_iter().filter(|(index, _)| *index < upto) {
        parts.push(format!("Later user message:\n{}", truncate_middle(text.trim(), each)));
    }
    parts.extend(list_open_items(state));
    if state.is_dry_run() {
        parts.push("This session is a dry run: nothing is changed live.".to_owned());
    }
    let (changed, rehearsed) = list_changed_files(state);
    for (word, files) in [("changed", changed), ("rehearsed, not changed", rehearsed)] {
        if !files.is_empty() {
            parts.push(format!("Files {word}:\n{}", format_file_list(&files)));
        }
    }
    parts.join("\n\n")
}

/// Returns unanswered questions and waiting calls.
fn list_open_items(state: &State) -> Vec<String> {
    let mut open = Vec::new();
    for call in state.session.calls().filter(|call| call.parent_call.is_none()) {
        let stopped = || match call.settled_at.and_then(|at| state.session.entries().get(at)) {
            Some(Entry::Settled { outcome, .. }) => {
                matches!(outcome, Outcome::Interrupted(_)) || {
                    let answered = |entry: &Entry| {
                        matches!(entry, Entry::Answered { call: of, answer, .. }
                        if *of == call.call.id && answer.status == AnswerStatus::Deferred)
                    };
                    call.settled_at
                        .and_then(|at| at.checked_sub(1))
                        .and_then(|at| state.session.entries().get(at))
                        .is_some_and(answered)
                }
            }
            Some(_) | None => true,
        };
        match (&call.questions, &call.plan, call.settled_at) {
            (Some(questions), ..) if stopped() => {
                let texts = questions.list.iter().map(|question| format!("- {}", question.text));
                open.push(format!("Unanswered questions to the user:\n{}", texts.collect::<Vec<_>>().join("\n")));
            }
            (None, shown, None) => {
                let what = shown.as_ref().map_or(call.call.name.as_str(), |shown| shown.summary.as_str());
                open.push(format!("Call waiting for the user: {}: {}", call.call.name, truncate_middle(what, 300)));
            }
            (Some(_) | None, ..) => {}
        }
    }
    let old = open.len().saturating_sub(MAX_RECENT);
    open.split_off(old)
}

/// Returns the files that were changed and those that were rehearsed, each once.
fn list_changed_files(state: &State) -> (Vec<String>, Vec<String>) {
    let (mut changed, mut rehearsed) = (Vec::new(), Vec::new());
    for call in state.session.calls() {
        let path = match call.plan.as_ref().map(|shown| &shown.access) {
            Some(Access::Write(path) | Access::WriteOutside(path)) => path.display().to_string(),
            Some(
                Access::Nothing | Access::Read(_) | Access::ReadSensitive(_) | Access::AyeFiles(_) | Access::Run(_),
            )
            | None => continue,
        };
        let settled = call.settled_at.and_then(|at| state.session.entries().get(at));
        let Some(Entry::Settled { outcome, .. }) = settled.map(Entry::unwrap_sub_agent) else {
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
