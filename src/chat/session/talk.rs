//! The talk as the model is told it.

use super::Session;
use crate::chat::{CallId, Ending, Entry, Message, Preview, escape, shorten, summary};
use std::borrow::Cow;

impl Session {
    /// Whether the last turn has not ended.
    pub fn is_mid_turn(&self) -> bool {
        let last = self.entries.iter().rev().find(|entry| !entry.is_beside());
        last.is_some_and(|entry| !matches!(entry, Entry::Ended { .. }))
    }

    /// How many calls of this dry run the user would have been asked about live.
    pub fn would_ask(&self) -> usize {
        self.would_ask
    }

    /// Counts what would have been asked from here on: a copy of a session may be what the session was not.
    pub(super) fn forget_asks(&mut self) {
        self.would_ask = 0;
        for call in self.calls.values_mut() {
            if let Some(shown) = &mut call.shown {
                shown.asks_live = false;
            }
        }
    }

    /// The talk as the model is told it. Well formed whatever happened: every call is followed by its outcome, and a
    /// call without one is said to have none. What a summary covers is told by it, as words of the person's side
    /// that say they are a summary.
    pub fn messages(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        self.tell(&mut messages, 0, usize::MAX);
        messages
    }

    /// The same behind these messages, with the middle left out of every outcome before the entry `before` that has
    /// more than `most` bytes.
    pub fn tell(&self, messages: &mut Vec<Message>, before: usize, most: usize) {
        let from = self.sent_from();
        // Room for most: of three entries about two are told.
        messages.reserve((self.entries.len() - from) * 2 / 3 + 2);
        if let Some(Entry::Compacted { summary, pinned, .. }) =
            self.compacted.and_then(|at| self.entries.get(at))
        {
            messages.push(Message::Person(summary::told(summary, pinned)));
        }
        // What is said while calls are open goes behind their outcomes, where a service expects it.
        let mut waiting = Vec::new();
        let mut unsettled: Vec<CallId> = Vec::new();
        for (index, entry) in self.entries.iter().enumerate().skip(from) {
            match entry {
                Entry::Said { text } if unsettled.is_empty() => {
                    said(messages, text, self.compacted.is_some())
                }
                Entry::Said { text } => waiting.push(Message::Person(text.clone())),
                Entry::Replied { text, calls, incomplete, echo, .. } => {
                    close(messages, &mut unsettled, &mut waiting);
                    if text.is_empty() && calls.is_empty() {
                        continue;
                    }
                    let text = match incomplete {
                        Some(_) => format!("{text}\n[the reply was cut short here]"),
                        None => text.clone(),
                    };
                    unsettled = calls.iter().map(|call| call.id.clone()).collect();
                    messages.push(Message::Model { text, calls: calls.clone(), echo: echo.clone() });
                }
                Entry::Settled { call, outcome, .. } => {
                    let Some(at) = unsettled.iter().position(|open| open == call) else { continue };
                    unsettled.remove(at);
                    let most = if index < before { most } else { usize::MAX };
                    let text = self.told(call, &shorten::middle(&self.readable(call, outcome.text()), most));
                    messages.push(Message::Tool { call: call.clone(), text });
                    if unsettled.is_empty() {
                        messages.append(&mut waiting);
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
        close(messages, &mut unsettled, &mut waiting);
    }

    /// A command writes for a terminal, which the model is not. What stands in a file is told as it is.
    fn readable<'a>(&self, call: &CallId, outcome: &'a str) -> Cow<'a, str> {
        let shown = self.call(call).and_then(|call| call.shown.as_ref());
        match shown.map(|shown| &shown.preview) {
            Some(Preview::Command(_)) => escape::plain(outcome),
            Some(Preview::Text(_) | Preview::Edit(_) | Preview::Batch(_)) | None => Cow::Borrowed(outcome),
        }
    }

    /// What the model is told of a call's end, and that it was not quite the call it made.
    fn told(&self, call: &CallId, outcome: &str) -> String {
        match self.call(call).and_then(|call| call.edited.as_ref()) {
            Some(arguments) => format!(
                "[The person changed the arguments of this call. It was looked at with: {arguments}]\n{outcome}"
            ),
            None => outcome.to_owned(),
        }
    }
}

/// What the person said. Right behind a summary it goes into the same message: some services refuse two in a row.
fn said(messages: &mut Vec<Message>, text: &str, summarised: bool) {
    match messages.as_mut_slice() {
        [.., Message::Person(told)] if summarised && told.ends_with(summary::END) => {
            told.push_str("\n\n");
            told.push_str(text);
        }
        _ => messages.push(Message::Person(text.to_owned())),
    }
}

/// Answers what nothing answered, so that the request is well formed.
fn close(messages: &mut Vec<Message>, unsettled: &mut Vec<CallId>, waiting: &mut Vec<Message>) {
    for call in unsettled.drain(..) {
        messages.push(Message::Tool { call, text: "No outcome was recorded for this call.".to_owned() });
    }
    messages.append(waiting);
}

/// The first words, as a name: one line, 60 characters at most.
pub(super) fn title_from(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().filter(|c| !c.is_control()).take(60).collect();
    if line.chars().count() > 60 {
        title.truncate(title.rfind(' ').filter(|&at| at > 30).unwrap_or(title.len()));
        title.push('…');
    }
    Some(title)
}
