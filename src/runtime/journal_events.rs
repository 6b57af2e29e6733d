//! Journal notes on a session: numbers, times and fixed words, and message content only if requested.

use super::EffectContext;
use crate::chat::mcp_names;
use crate::chat::sampling::SamplingStep;
use crate::chat::{Chunk, Conclusion, Decision, Entry, FinishReason, Outcome, Request, ToolCall, TurnId};
use crate::llm::Error;
use crate::store::Journal;
use tokio::time::{Duration, Instant};

/// Notes an entry.
pub(super) fn note_entry(journal: &Journal, entry: &Entry) {
    if let Some(description) = describe_entry(entry) {
        journal.note(description);
    }
    journal.content("entry", || serde_json::to_string(entry).unwrap_or_default());
}

/// Describes an entry, unless the event that created it was noted.
fn describe_entry(entry: &Entry) -> Option<String> {
    let description = match entry {
        Entry::UserMessage { text } => format!("the user sent {} bytes", text.len()),
        Entry::Decided { decision, .. } => format!(
            "decided: {}",
            match decision {
                Decision::Once => "approved",
                Decision::Selected(_) => "approved in part",
                Decision::Always(_) => "approved always",
                Decision::Edited(_) => "edited",
                Decision::Deny(_) => "denied",
                Decision::Kept(_) => "kept the trial",
            }
        ),
        Entry::Ended { ending } => format!("turn ended: {}", ending.kind_name()),
        Entry::Concluded(Conclusion::Finished { .. }) => "the model ended the conversation".to_owned(),
        Entry::Concluded(Conclusion::Parked { .. }) => "the model handed the session to the user".to_owned(),
        Entry::UserCommand(command) => {
            format!("the user's command ended: {} after {} ms", command.status, command.took_ms)
        }
        Entry::Compacted { .. } => "the conversation was compacted".to_owned(),
        Entry::Switched { .. } => "switched to another model".to_owned(),
        Entry::DryRunChanged { dry_run: true, .. } => "continued in a copy, as a dry run".to_owned(),
        Entry::DryRunChanged { dry_run: false, .. } => "continued in a copy, live".to_owned(),
        Entry::BackgroundStarted { number, .. } => format!("a command was moved to the background as {number}"),
        Entry::BackgroundEnded(end) => format!("background command {} ended after {} ms", end.number, end.took_ms),
        Entry::Answered { .. } => "questions were answered".to_owned(),
        Entry::ToolsDeferred { tools, tokens, limit } => {
            format!("{} tools deferred: about {tokens} tokens of all tools, limit {limit}", tools.len())
        }
        Entry::UnacceptedTools(unaccepted) => {
            format!("an MCP server has {} new or changed tools", unaccepted.tools.len())
        }
        Entry::Sampling(step) => {
            let time = match **step {
                SamplingStep::Answered { took_ms, .. } => format!(" after {took_ms} ms"),
                SamplingStep::Decided { .. } | SamplingStep::Returned { .. } => String::new(),
            };
            format!("a request of an MCP server for the model: {}{time}", step.state_name())
        }
        Entry::FellBack { .. } => "another provider answers after a failure".to_owned(),
        Entry::Reviewed { reviewer, verdict, is_failed, took_ms, .. } => {
            let verdict_text =
                if *is_failed { "gave no valid answer".to_owned() } else { format!("says {}", verdict.as_str()) };
            format!("{} {verdict_text} after {took_ms} ms", reviewer.kind_name())
        }
        _ => return None,
    };
    Some(description)
}

/// Notes on a reply that is being received.
pub(super) struct ReplyNotes {
    journal: Journal,
    turn: TurnId,
    sent_at: Instant,
    first_part_after: Option<Duration>,
    bytes: usize,
    calls: usize,
}

impl ReplyNotes {
    /// Notes the request for a reply.
    pub(super) fn note_request(journal: &Journal, turn: TurnId, request: &Request) -> Self {
        let (messages, tools) = (request.messages.len(), request.tools.len());
        journal.note(format_args!("turn {}: requested a reply: {messages} messages, {tools} tools", turn.0));
        journal.content("request", || format!("{:?}", request.messages));
        Self { journal: journal.clone(), turn, sent_at: Instant::now(), first_part_after: None, bytes: 0, calls: 0 }
    }

    /// Notes a part of the reply, or its end.
    pub(super) fn note_chunk(&mut self, item: Option<&Result<Chunk, Error>>) {
        let (turn, elapsed) = (self.turn.0, self.sent_at.elapsed());
        let ms = elapsed.as_millis();
        match item {
            Some(Ok(Chunk::Retrying { attempt, max_attempts, wait, kind, reason: why })) => {
                let wait_ms = wait.as_millis();
                self.journal.note(format_args!(
                    "turn {turn}: {kind} after {ms} ms; attempt {attempt} of {max_attempts} in {wait_ms} ms"
                ));
                self.journal.content("why", || why.clone());
            }
            Some(Ok(Chunk::Silent { silence, .. })) => {
                self.journal.note(format_args!("turn {turn}: silent for {} ms", silence.as_millis()));
            }
            Some(Ok(Chunk::Done(finish))) => {
                let ending = match finish {
                    FinishReason::Stop => "is complete",
                    FinishReason::Length => "was truncated at a limit",
                    FinishReason::Filtered(_) => "was withheld",
                };
                let (bytes, calls) = (self.bytes, self.calls);
                let first_ms = self.first_part_after.unwrap_or(elapsed).as_millis();
                self.journal.note(format_args!(
                    "turn {turn}: the reply {ending} after {ms} ms, its first part after {first_ms} ms: {bytes} \
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
                if !matches!(chunk, Chunk::ModelChosen { .. } | Chunk::Silent { .. }) {
                    self.first_part_after.get_or_insert(elapsed);
                }
                match chunk {
                    Chunk::Text(text) | Chunk::Reasoning(text) => self.bytes += text.len(),
                    Chunk::Call(_) => self.calls += 1,
                    _ => {}
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
pub(super) fn note_step(context: &EffectContext, turn: TurnId, call: &ToolCall, step: &str) {
    context.journal.note(format_args!("turn {}: {}: {step}", turn.0, tool_name(context, call)));
}

/// Notes the outcome of a call.
pub(super) fn note_outcome(
    context: &EffectContext,
    turn: TurnId,
    call: &ToolCall,
    outcome: &Outcome,
    duration: Duration,
) {
    let result = match outcome {
        Outcome::Done(_) => "done",
        Outcome::Rehearsed(_) => "rehearsed",
        Outcome::Failed(_) => "failed",
        Outcome::Refused(_) => "refused",
        Outcome::Interrupted(_) => "interrupted",
    };
    let (name, bytes) = (tool_name(context, call), outcome.text().len());
    context.journal.note(format_args!(
        "turn {}: {name}: {result} after {} ms, {bytes} bytes",
        turn.0,
        duration.as_millis()
    ));
}

/// Notes whether a model simulated a result.
pub(super) fn note_simulation(context: &EffectContext, is_simulated: bool) {
    let result = if is_simulated { "was simulated by a model" } else { "could not be simulated by a model" };
    context.journal.note(format_args!("the result of a rehearsed call {result}"));
}

/// Returns the name of an existing tool; other names come from the model or a server and are not noted.
fn tool_name<'a>(context: &EffectContext, call: &'a ToolCall) -> &'a str {
    if call.name.starts_with(mcp_names::PREFIX) {
        return "a tool of an MCP server";
    }
    if context.tools.find_tool(&call.name).is_ok() { &call.name } else { "an unknown tool" }
}
