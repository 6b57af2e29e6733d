//! Chapters of a recording: each message of the user, and each prompt.

use crate::agent::WaitingCall;
use crate::chat::{CallId, Entry, SessionId};
use crate::text::truncation::truncate_end;
use crate::tui::parts::call_action::{PlannedCall, describe_call};
use crate::tui::state::State;

/// Maximum characters of the name of a chapter.
const MAX_NAME_CHARS: usize = 60;

/// Remembers which chapters have begun.
#[derive(Debug, Default)]
pub(super) struct Chapters {
    /// The session and its entries that were seen; `None` before the first frame.
    seen: Option<(SessionId, usize)>,
    /// The call whose prompt was shown last, and the notification of the prompt.
    prompt: Option<(Option<CallId>, String)>,
}

impl Chapters {
    /// Returns the names of the chapters that begin with the next frame.
    pub(super) fn new_names(&mut self, state: &State) -> Vec<String> {
        let entries = state.agent.session.entries();
        let id = &state.session.id;
        // The messages of a session that was opened are no chapters.
        let seen = self.seen.replace((id.clone(), entries.len())).filter(|(seen_id, _)| seen_id == id);
        let seen = seen.map_or(entries.len(), |(_, count)| count.min(entries.len()));
        let messages = entries[seen..].iter().filter_map(|entry| match entry {
            Entry::UserMessage { text } => Some(shorten(text)),
            _ => None,
        });
        let mut names: Vec<String> = messages.collect();
        let prompt = state.prompts.front().map(|prompt| (prompt.call().cloned(), prompt.notification().to_owned()));
        if prompt.is_some() && prompt != self.prompt {
            names.push(name_prompt(state));
        }
        self.prompt = prompt;
        names
    }
}

/// Returns the name of the chapter of the open prompt.
fn name_prompt(state: &State) -> String {
    let Some(prompt) = state.prompts.front() else { return String::new() };
    let waiting = state.agent.waiting_call().filter(|waiting| prompt.call() == Some(waiting.call_id()));
    match waiting {
        Some(WaitingCall::Approval { call, plan, .. }) => {
            shorten(&format!("Approval: {}", describe_call(&call.name, Some(PlannedCall::from(plan)))))
        }
        Some(WaitingCall::Answer { questions, .. }) => {
            shorten(&format!("Question: {}", questions.list.first().map_or("", |question| &question.text)))
        }
        None => prompt.notification().to_owned(),
    }
}

/// Returns the beginning of the first line.
fn shorten(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    truncate_end(line, MAX_NAME_CHARS)
}
