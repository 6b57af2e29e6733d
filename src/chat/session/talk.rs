//! Conversion of a session to messages for the model.

use super::{Call, Session};
use crate::chat::hidden::{escape_hidden, mark_hidden};
use crate::chat::{CallId, Ending, Entry, Message, Preview, escape, shorten, summary};
use std::borrow::Cow;

/// Size limit in bytes of a result with marks, unless it was longer before; the same as the limit of tools.
const LONGEST: usize = 64 * 1024;

impl Session {
    /// Returns whether the last turn has not ended.
    pub fn is_mid_turn(&self) -> bool {
        let last = self.entries.iter().rev().find(|entry| !entry.is_beside());
        last.is_some_and(|entry| !matches!(entry, Entry::Ended { .. }))
    }

    /// Returns how many calls of this dry run the user would have been asked about live.
    pub fn would_ask(&self) -> usize {
        self.would_ask
    }

    /// Restarts the count of calls that would have asked: a copy may be live or a dry run unlike its original.
    pub(super) fn forget_asks(&mut self) {
        self.would_ask = 0;
        for call in self.calls.values_mut() {
            if let Some(shown) = &mut call.shown {
                shown.asks_live = false;
            }
        }
    }

    /// Returns the session as messages. The result is always well formed: the results of a reply's calls follow it in
    /// the same order, and a call without one gets a result that says so. A summary replaces the entries it covers, as
    /// a user message that is marked as a summary.
    pub fn messages(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        self.tell(&mut messages, 0, usize::MAX);
        messages
    }

    /// Appends the session's messages to these. Outcomes before the entry `before` that have more than `most` bytes are
    /// truncated in the middle.
    pub fn tell(&self, messages: &mut Vec<Message>, before: usize, most: usize) {
        let from = self.sent_from();
        // About two of three entries become messages.
        messages.reserve((self.entries.len() - from) * 2 / 3 + 2);
        if let Some(Entry::Compacted { summary, pinned, .. }) =
            self.compacted.and_then(|at| self.entries.get(at))
        {
            messages.push(Message::Person(summary::told(summary, pinned)));
        }
        let mut open = OpenCalls::default();
        for (index, entry) in self.entries.iter().enumerate().skip(from) {
            match entry {
                Entry::Said { text } if open.is_settled() => said(messages, text, self.compacted.is_some()),
                Entry::Said { text } => open.said.push(Message::Person(text.clone())),
                Entry::Replied { text, calls, incomplete, echo, .. } => {
                    open.close(messages);
                    if text.is_empty() && calls.is_empty() {
                        continue;
                    }
                    let text = match incomplete {
                        Some(_) => format!("{text}\n[the reply was cut short here]"),
                        None => text.clone(),
                    };
                    open.results = calls.iter().map(|call| (call.id.clone(), None)).collect();
                    messages.push(Message::Model { text, calls: calls.clone(), echo: echo.clone() });
                }
                Entry::Settled { call, outcome, .. } => {
                    let Some(result) = open.result_of(call) else { continue };
                    let most = if index < before { most } else { usize::MAX };
                    let text = shorten::middle(&escape::strip_colors(outcome.text()), most).into_owned();
                    *result = Some(self.told(call, &text));
                    if open.is_settled() {
                        open.close(messages);
                    }
                }
                Entry::Ended { ending: Ending::Finished | Ending::Interrupted | Ending::Failed(_) }
                | Entry::Planned { .. }
                | Entry::Asked { .. }
                | Entry::Decided { .. }
                | Entry::Answered { .. }
                | Entry::Titled { .. }
                | Entry::TakenBack { .. }
                | Entry::Compacted { .. }
                | Entry::Consulted { .. }
                | Entry::FellBack { .. }
                | Entry::Beneath { .. }
                | Entry::Switched { .. }
                | Entry::Became { .. } => {}
            }
        }
        open.close(messages);
    }

    /// Returns the entry with a readable tool result, as both the user and the model read it: the last state of each
    /// line of a command's output, and marks for everything else that a terminal would execute or not show. This is
    /// done only here; every reader of a result takes it from the session.
    pub(super) fn make_readable(&self, entry: Entry) -> Entry {
        match entry {
            Entry::Settled { call, outcome, took_ms, sha256, staged } => {
                let is_command = self.call(&call).is_some_and(Call::is_command);
                let readable: fn(&str) -> Cow<'_, str> =
                    if is_command { escape::readable_output } else { mark_hidden };
                let outcome = outcome.map_text(|text| match readable(&text) {
                    // Marks are longer than the characters they replace: binary output must not fill the context
                    // window.
                    marked if marked.len() > text.len().max(LONGEST) => {
                        let short = shorten::middle(&marked, text.len().max(LONGEST));
                        readable(&short).into_owned()
                    }
                    marked => marked.into_owned(),
                });
                Entry::Settled { call, outcome, took_ms, sha256, staged }
            }
            Entry::Beneath { call, entry } => {
                Entry::Beneath { call, entry: Box::new(self.make_readable(*entry)) }
            }
            other => other,
        }
    }

    /// Returns the result for the model, after a notice if the user changed the call.
    fn told(&self, call: &CallId, outcome: &str) -> String {
        let edited = self.call(call).and_then(Call::tell_edit).unwrap_or_default();
        format!("{edited}{outcome}")
    }
}

impl Call {
    /// Returns whether the call is a command, whose output was written for a terminal.
    pub fn is_command(&self) -> bool {
        matches!(self.shown.as_ref().map(|shown| &shown.preview), Some(Preview::Command(_)))
    }

    /// Returns the notice for the model that the user changed the arguments of this call.
    pub fn tell_edit(&self) -> Option<String> {
        let arguments = self.edited.as_ref()?.to_string();
        let arguments = escape_hidden(&arguments);
        Some(format!("[The user changed the arguments of this call. It was planned with: {arguments}]\n"))
    }
}

/// Appends a user message, or extends the message of a summary: some providers reject two user messages in a row.
fn said(messages: &mut Vec<Message>, text: &str, summarised: bool) {
    match messages.as_mut_slice() {
        [.., Message::Person(told)] if summarised && told.ends_with(summary::END) => {
            told.push_str("\n\n");
            told.push_str(text);
        }
        _ => messages.push(Message::Person(text.to_owned())),
    }
}

/// Calls of the last reply with their results, until all are settled.
#[derive(Default)]
struct OpenCalls {
    /// In the order of the calls, not of their completion: some chat templates match results to calls by position.
    results: Vec<(CallId, Option<String>)>,
    /// User messages sent meanwhile. Providers expect them after the results.
    said: Vec<Message>,
}

impl OpenCalls {
    fn is_settled(&self) -> bool {
        self.results.iter().all(|(_, result)| result.is_some())
    }

    /// Returns the slot for the result of this call, if it is open and empty.
    fn result_of(&mut self, call: &CallId) -> Option<&mut Option<String>> {
        let open = self.results.iter_mut().find(|(open, result)| open == call && result.is_none());
        open.map(|(_, result)| result)
    }

    /// Appends the results in the order of the calls. A call without one gets a result that says so, which keeps the
    /// request well formed.
    fn close(&mut self, messages: &mut Vec<Message>) {
        for (call, result) in self.results.drain(..) {
            let text = result.unwrap_or_else(|| "No outcome was recorded for this call.".to_owned());
            messages.push(Message::Tool { call, text });
        }
        messages.append(&mut self.said);
    }
}

/// Makes a title of the first line: at most 60 characters.
pub(super) fn title_from(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().filter(|c| !c.is_control()).take(60).collect();
    if line.chars().count() > 60 {
        title.truncate(title.rfind(' ').filter(|&at| at > 30).unwrap_or(title.len()));
        title.push('…');
    }
    Some(title)
}
