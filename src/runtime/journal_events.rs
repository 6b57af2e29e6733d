//! Journal notes on a session: numbers, times and fixed words, and message content only if requested.

use super::EffectContext;
use crate::chat::{
    Chunk, Decision, Ending, Entry, FinishReason, Outcome, Request, ReviewVerdict, Reviewer, ToolCall, TurnId,
};
use crate::llm::Error;
use crate::store::Journal;
use tokio::time::{Duration, Instant};

/// Notes an entry.
pub(super) fn note_entry(journal: &Journal, entry: &Entry) {
    if let Some(words) = describe_entry(entry) {
        journal.note(words);
    }
    journal.content("entry", || serde_json::to_string(entry).unwrap_or_default());
}

/// Describes an entry, unless the event that created it was noted.
fn describe_entry(entry: &Entry) -> Option<String> {
    let words = match entry {
        Entry::UserMessage { text } => format!("the user sent {} bytes", text.len()),
        Entry::Decided { decision, .. } => format!(
            "decided: {}",
            match decision {
                Decision::Once => "approved",
                Decision::Selected(_) => "approved in part",
                Decision::Always(_) => "approved always",
                Decision::Edited(_) => "edited",
                Decision::Deny(_) => "denied",
            }
        ),
        Entry::Ended { ending } => format!(
            "turn ended: {}",
            match ending {
                Ending::Finished => "finished",
                Ending::Interrupted => "interrupted",
                Ending::Failed(_) => "failed",
            }
        ),
        Entry::Compacted { .. } => "the conversation was compacted".to_owned(),
        Entry::Switched { .. } => "switched to another model".to_owned(),
        Entry::DryRunChanged { dry_run: true, .. } => "continued in a copy, as a dry run".to_owned(),
        Entry::DryRunChanged { dry_run: false, .. } => "continued in a copy, live".to_owned(),
        Entry::Answered { .. } => "questions were answered".to_owned(),
        Entry::FellBack { .. } => "another provider answers after a failure".to_owned(),
        Entry::Reviewed { reviewer: by, verdict: advice, is_failed: failed, took_ms, .. } => {
            let by = match by {
                Reviewer::Hook(_) => "a hook",
                Reviewer::Model => "the model reviewer",
            };
            let advice = match (failed, advice) {
                (true, _) => "gave no valid answer",
                (false, ReviewVerdict::Allow) => "says allow",
                (false, ReviewVerdict::Ask) => "says ask",
                (false, ReviewVerdict::Deny) => "says deny",
            };
            format!("{by} {advice} after {took_ms} ms")
        }
        Entry::Replied { .. }
        | Entry::Planned { .. }
        | Entry::Asked { .. }
        | Entry::Settled { .. }
        | Entry::Titled { .. }
        | Entry::Revoked { .. }
        | Entry::SubAgent { .. } => return None,
    };
    Some(words)
}

/// Notes on a reply that is being received.
pub(super) struct ReplyNotes {
    journal: Journal,
    turn: TurnId,
    sent: Instant,
    first: Option<Duration>,
    bytes: usize,
    calls: usize,
}

impl ReplyNotes {
    /// Notes the request for a reply.
    pub(super) fn note_request(journal: &Journal, turn: TurnId, request: &Request) -> Self {
        let (messages, tools) = (request.messages.len(), request.tools.len());
        journal.note(format_args!("turn {}: requested a reply: {messages} messages, {tools} tools", turn.0));
        journal.content("request", || format!("{:?}", request.messages));
        Self { journal: journal.clone(), turn, sent: Instant::now(), first: None, bytes: 0, calls: 0 }
    }

    /// Notes a part of the reply, or its end.
    pub(super) fn note_chunk(&mut self, item: Option<&Result<Chunk, Error>>) {
        let (turn, after) = (self.turn.0, self.sent.elapsed());
        let ms = after.as_millis();
        match item {
            Some(Ok(Chunk::Retrying { attempt, max_attempts: of, wait, kind, why })) => {
                let wait = wait.as_millis();
                self.journal
                    .note(format_args!("turn {turn}: {kind} after {ms} ms; attempt {attempt} of {of} in {wait} ms"));
                self.journal.content("why", || why.clone());
            }
            Some(Ok(Chunk::Silent { since, .. })) => {
                self.journal.note(format_args!("turn {turn}: silent for {} ms", since.as_millis()));
            }
            Some(Ok(Chunk::Done(finish))) => {
                let end = match finish {
                    FinishReason::Stop => "is complete",
                    FinishReason::Length => "was truncated at a limit",
                    FinishReason::Filtered(_) => "was withheld",
                };
                let (bytes, calls) = (self.bytes, self.calls);
                let first = self.first.unwrap_or(after).as_millis();
                self.journal.note(format_args!(
                    "turn {turn}: the reply {end} after {ms} ms, its first part after {first} ms: {bytes} \
                     bytes, {calls} calls"
                ));
            }
            Some(Ok(Chunk::Usage(usage))) => {
                self.journal.note(format_args!(
                    "turn {turn}: {} input tokens, {} of them cached, {} output tokens",
                    usage.input, usage.cached, usage.output
                ));
            }
            Some(Ok(chunk)) => {
                self.first.get_or_insert(after);
                match chunk {
                    Chunk::Text(text) | Chunk::Reasoning(text) => self.bytes += text.len(),
                    Chunk::Call(_) => self.calls += 1,
                    Chunk::WasReasoning
                    | Chunk::CallProgress { .. }
                    | Chunk::Usage(_)
                    | Chunk::Retrying { .. }
                    | Chunk::Silent { .. }
                    | Chunk::ModelChosen { .. }
                    | Chunk::Echo(_)
                    | Chunk::Done(_) => {}
                }
            }
            Some(Err(error)) => {
                self.journal.note(format_args!("turn {turn}: {} after {ms} ms", error.kind_name()));
                self.journal.content("why", || error.to_string());
            }
            None => self.journal.note(format_args!("turn {turn}: the reply was cut off after {ms} ms")),
        }
    }
}

/// Notes a step of a call.
pub(super) fn note_step(means: &EffectContext, turn: TurnId, call: &ToolCall, what: &str) {
    means.journal.note(format_args!("turn {}: {}: {what}", turn.0, tool_name(means, call)));
}

/// Notes the outcome of a call.
pub(super) fn note_outcome(means: &EffectContext, turn: TurnId, call: &ToolCall, outcome: &Outcome, took: Duration) {
    let how = match outcome {
        Outcome::Done(_) => "done",
        Outcome::Rehearsed(_) => "rehearsed",
        Outcome::Failed(_) => "failed",
        Outcome::Refused(_) => "refused",
        Outcome::Interrupted(_) => "interrupted",
    };
    let (name, bytes) = (tool_name(means, call), outcome.text().len());
    means.journal.note(format_args!("turn {}: {name}: {how} after {} ms, {bytes} bytes", turn.0, took.as_millis()));
}

/// Notes whether a model simulated a result.
pub(super) fn note_simulation(means: &EffectContext, answered: bool) {
    let what = if answered { "was simulated by a model" } else { "could not be simulated by a model" };
    means.journal.note(format_args!("the result of a rehearsed call {what}"));
}

/// Returns the name of an existing tool; other names come from the model and are not noted.
fn tool_name<'a>(means: &EffectContext, call: &'a ToolCall) -> &'a str {
    if means.tools.find_tool(&call.name).is_ok() { &call.name } else { "an unknown tool" }
}
