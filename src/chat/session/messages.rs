//! Conversion of a session to messages for the model.

use super::{CallState, Session};
use crate::chat::{CallId, Entry, Message, UserCommand, summary, user_command};
use crate::text::hidden_chars::mark_hidden;
use crate::text::{escape_sequences, truncation};
use std::borrow::Cow;

/// Size limit in bytes of a result with marks, unless it was longer before; the same as the limit of tools.
const MAX_MARKED_BYTES: usize = 64 * 1024;

impl Session {
    /// Returns whether the last turn has not ended.
    pub fn is_mid_turn(&self) -> bool {
        let last = self.entries.iter().rev().find(|entry| !entry.may_be_outside_turns());
        last.is_some_and(|entry| !matches!(entry, Entry::Ended { .. }))
    }

    /// Returns how many calls of this dry run would have asked the user in a live session.
    pub fn would_ask_count(&self) -> usize {
        self.would_ask_count
    }

    /// Restarts the count of calls that would have asked: a copy may be live or a dry run unlike its original.
    pub(super) fn reset_would_ask(&mut self) {
        self.would_ask_count = 0;
        for call in self.calls.values_mut() {
            if let Some(plan) = &mut call.plan {
                plan.asks_live = false;
            }
        }
    }

    /// Returns the session as messages. A user message begins with the shared commands that the user ran before it. The result is always well formed: the results of a reply's calls follow it in
    /// the same order, and a call without one gets a result that says so. A summary replaces the entries it covers, as
    /// a user message that is marked as a summary. Outcomes before the entry `truncate_before` that exceed `max_bytes`
    /// are truncated in the middle.
    pub fn messages(&self, truncate_before: usize, max_bytes: usize) -> Vec<Message> {
        let first_entry = self.first_sent_entry();
        // About two of three entries become messages. The other three places are for the fraction, the summary and a
        // message that the caller may add before all others.
        let mut messages = Vec::with_capacity((self.entries.len() - first_entry) * 2 / 3 + 3);
        if let Some(Entry::Compacted { summary, pinned, .. }) =
            self.summary_index.and_then(|index| self.entries.get(index))
        {
            messages.push(Message::User(summary::format_summary(summary, pinned)));
        }
        let mut open_calls = OpenCalls::default();
        // Commands of the user and ends of background commands since the last user message. Without a later message they
        // are not sent yet.
        let mut user_commands = Vec::new();
        let mut background_notes = String::new();
        for (index, entry) in self.entries.iter().enumerate().skip(first_entry) {
            let max_entry_bytes = if index < truncate_before { max_bytes } else { usize::MAX };
            if let Entry::BackgroundEnded(end) = entry {
                background_notes.extend(end.model_note().map(|note| note + "\n\n"));
            } else if let Entry::UserMessage { text } = entry {
                let text = user_command::prepend_commands(&std::mem::take(&mut user_commands), text);
                let text = std::mem::take(&mut background_notes) + &text;
                match open_calls.is_settled() {
                    true => append_user_message(&mut messages, &text, self.summary_index.is_some()),
                    false => open_calls.user_messages.push(Message::User(text)),
                }
            } else if let Entry::UserCommand(command) = entry
                && command.is_shared
            {
                user_commands.push(command.model_text(max_entry_bytes));
            } else if let Entry::Replied { text, calls, incomplete, echo, .. } = entry {
                open_calls.append_results(&mut messages);
                if text.is_empty() && calls.is_empty() {
                    continue;
                }
                let text = match incomplete {
                    Some(_) => format!("{text}\n[the reply was cut short here]"),
                    None => text.clone(),
                };
                open_calls.results = calls.iter().map(|call| (call.id.clone(), None)).collect();
                messages.push(Message::Model { text, calls: calls.clone(), echo: echo.clone() });
            } else if let Entry::Settled { call, outcome, .. } = entry
                && let Some(result) = open_calls.result_slot(call)
            {
                let plain_text = escape_sequences::strip_colors(outcome.text());
                let text = truncation::truncate_middle(&plain_text, max_entry_bytes);
                let edit_notice = self.find_call(call).and_then(CallState::edit_notice).unwrap_or_default();
                *result = Some(format!("{edit_notice}{text}"));
                if open_calls.is_settled() {
                    open_calls.append_results(&mut messages);
                }
            }
        }
        open_calls.append_results(&mut messages);
        messages
    }

    /// Returns the entry with a readable tool result, as both the user and the model read it: the last state of each
    /// line of a command's output, and marks for everything else that a terminal would execute or not show. This is
    /// done only here; every reader of a result takes it from the session.
    pub(super) fn make_readable(&self, entry: Entry) -> Entry {
        match entry {
            Entry::Settled { call, outcome, took_ms, sha256, staged, usage } => {
                let is_command = self.find_call(&call).is_some_and(CallState::is_command);
                let readable: fn(&str) -> Cow<'_, str> =
                    if is_command { escape_sequences::readable_output } else { mark_hidden };
                let outcome = outcome.map_text(|text| mark_text(&text, readable));
                Entry::Settled { call, outcome, took_ms, sha256, staged, usage }
            }
            Entry::BackgroundEnded(end) => Entry::BackgroundEnded(end.with_readable_output()),
            Entry::UserCommand(command) => {
                let output = mark_text(&command.output, escape_sequences::readable_output);
                let text = mark_hidden(&command.command).into_owned();
                Entry::UserCommand(Box::new(UserCommand { command: text, output, ..*command }))
            }
            Entry::SubAgent { call, entry } => Entry::SubAgent { call, entry: Box::new(self.make_readable(*entry)) },
            entry => entry,
        }
    }
}

/// Returns a text made readable by `readable`. Marks are longer than the characters they replace: binary output must not
/// fill the context window.
fn mark_text(text: &str, readable: fn(&str) -> Cow<'_, str>) -> String {
    match readable(text) {
        readable_text if readable_text.len() > text.len().max(MAX_MARKED_BYTES) => {
            let truncated = truncation::truncate_middle(&readable_text, text.len().max(MAX_MARKED_BYTES));
            readable(&truncated).into_owned()
        }
        readable_text => readable_text.into_owned(),
    }
}

/// Appends a user message, or extends the message of a summary: some providers reject two user messages in a row.
fn append_user_message(messages: &mut Vec<Message>, text: &str, has_summary: bool) {
    match messages.as_mut_slice() {
        [.., Message::User(previous)] if has_summary && previous.ends_with(summary::SUMMARY_END) => {
            previous.push_str("\n\n");
            previous.push_str(text);
        }
        _ => messages.push(Message::User(text.to_owned())),
    }
}

/// Calls of the last reply with their results, until all are settled.
#[derive(Default)]
struct OpenCalls {
    /// In the order of the calls, not of their completion: some chat templates match results to calls by position.
    results: Vec<(CallId, Option<String>)>,
    /// User messages sent meanwhile. Providers expect them after the results.
    user_messages: Vec<Message>,
}

impl OpenCalls {
    fn is_settled(&self) -> bool {
        self.results.iter().all(|(_, result)| result.is_some())
    }

    /// Returns the slot for the result of this call, if it is open and empty.
    fn result_slot(&mut self, call: &CallId) -> Option<&mut Option<String>> {
        let slot = self.results.iter_mut().find(|(id, result)| id == call && result.is_none());
        slot.map(|(_, result)| result)
    }

    /// Appends the results in the order of the calls. A call without one gets a result that says so, which keeps the
    /// request well formed.
    fn append_results(&mut self, messages: &mut Vec<Message>) {
        for (call, result) in self.results.drain(..) {
            let text = result.unwrap_or_else(|| "No outcome was recorded for this call.".to_owned());
            messages.push(Message::Tool { call, text });
        }
        messages.append(&mut self.user_messages);
    }
}
