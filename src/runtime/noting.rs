//! What of a session stands in the journal: numbers, times and words of ours, and content beside them where that is wanted.

use super::Means;
use crate::chat::{
    Advice, Adviser, Chunk, Decision, Ending, Entry, Finish, Outcome, Request, ToolCall, TurnId,
};
use crate::llm::Error;
use crate::store::Journal;
use tokio::time::{Duration, Instant};

/// A fact of the session.
pub(super) fn entry(journal: &Journal, entry: &Entry) {
    if let Some(words) = of(entry) {
        journal.note(words);
    }
    journal.content("entry", || serde_json::to_string(entry).unwrap_or_default());
}

/// What is noted of an entry beside what is noted when it comes about.
fn of(entry: &Entry) -> Option<String> {
    let words = match entry {
        Entry::Said { text } => format!("the person says {} bytes", text.len()),
        Entry::Decided { decision, .. } => format!(
            "decided: {}",
            match decision {
                Decision::Once => "yes",
                Decision::Selected(_) => "yes in part",
                Decision::Always(_) => "always",
                Decision::Edited(_) => "other arguments",
                Decision::Deny(_) => "no",
            }
        ),
        Entry::Ended { ending } => format!(
            "the turn ends: {}",
            match ending {
                Ending::Finished => "finished",
                Ending::Interrupted => "interrupted",
                Ending::Failed(_) => "failed",
            }
        ),
        Entry::Compacted { .. } => "the talk was summarised".to_owned(),
        Entry::Switched { .. } => "another model is talked to".to_owned(),
        Entry::Became { dry_run: true, .. } => "a copy goes on as a dry run".to_owned(),
        Entry::Became { dry_run: false, .. } => "a copy goes on for real".to_owned(),
        Entry::Answered { .. } => "questions were answered".to_owned(),
        Entry::FellBack { .. } => "another service answers in place of one that failed".to_owned(),
        Entry::Consulted { by, advice, failed, took_ms, .. } => {
            let by = match by {
                Adviser::Hook(_) => "a hook",
                Adviser::SecondReader => "the second reader",
            };
            let advice = match (failed, advice) {
                (true, _) => "gave no answer that counts",
                (false, Advice::Allow) => "says allow",
                (false, Advice::Ask) => "says ask",
                (false, Advice::Deny) => "says deny",
            };
            format!("{by} {advice} after {took_ms} ms")
        }
        Entry::Replied { .. }
        | Entry::Planned { .. }
        | Entry::Asked { .. }
        | Entry::Settled { .. }
        | Entry::Titled { .. }
        | Entry::TakenBack { .. }
        | Entry::Beneath { .. } => return None,
    };
    Some(words)
}

/// A reply that is being received.
pub(super) struct Reply {
    journal: Journal,
    turn: TurnId,
    sent: Instant,
    first: Option<Duration>,
    bytes: usize,
    calls: usize,
}

impl Reply {
    /// One that is asked for now.
    pub(super) fn asked(journal: &Journal, turn: TurnId, request: &Request) -> Self {
        let (messages, tools) = (request.messages.len(), request.tools.len());
        journal.note(format_args!("turn {}: asks for a reply: {messages} messages, {tools} tools", turn.0));
        journal.content("request", || format!("{:?}", request.messages));
        Self { journal: journal.clone(), turn, sent: Instant::now(), first: None, bytes: 0, calls: 0 }
    }

    /// Takes note of what came, or of its end.
    pub(super) fn came(&mut self, item: Option<&Result<Chunk, Error>>) {
        let (turn, after) = (self.turn.0, self.sent.elapsed());
        let ms = after.as_millis();
        match item {
            Some(Ok(Chunk::Retrying { attempt, of, wait, kind, why })) => {
                let wait = wait.as_millis();
                self.journal.note(format_args!(
                    "turn {turn}: {kind} after {ms} ms; attempt {attempt} of {of} in {wait} ms"
                ));
                self.journal.content("why", || why.clone());
            }
            Some(Ok(Chunk::Quiet { since, .. })) => {
                self.journal.note(format_args!("turn {turn}: silent for {} ms", since.as_millis()));
            }
            Some(Ok(Chunk::Done(finish))) => {
                let end = match finish {
                    Finish::Stop => "is whole",
                    Finish::Length => "was cut at its limit",
                    Finish::Filtered(_) => "was withheld",
                };
                let (bytes, calls) = (self.bytes, self.calls);
                let first = self.first.unwrap_or(after).as_millis();
                self.journal.note(format_args!(
                    "turn {turn}: the reply {end} after {ms} ms, the first of it after {first} ms: {bytes} \
                     bytes, {calls} calls"
                ));
            }
            Some(Ok(Chunk::Usage(usage))) => {
                self.journal.note(format_args!(
                    "turn {turn}: {} tokens asked, {} of them kept by the service, {} answered",
                    usage.input, usage.cached, usage.output
                ));
            }
            Some(Ok(chunk)) => {
                self.first.get_or_insert(after);
                match chunk {
                    Chunk::Text(text) | Chunk::Reasoning(text) => self.bytes += text.len(),
                    Chunk::Call(_) => self.calls += 1,
                    Chunk::WasReasoning
                    | Chunk::Writing { .. }
                    | Chunk::Usage(_)
                    | Chunk::Retrying { .. }
                    | Chunk::Quiet { .. }
                    | Chunk::Answering { .. }
                    | Chunk::Echo(_)
                    | Chunk::Done(_) => {}
                }
            }
            Some(Err(error)) => {
                self.journal.note(format_args!("turn {turn}: {} after {ms} ms", error.kind()));
                self.journal.content("why", || error.to_string());
            }
            None => {
                self.journal.note(format_args!("turn {turn}: the reply ended in the middle after {ms} ms"))
            }
        }
    }
}

/// What a tool's look at a call came to.
pub(super) fn planned(means: &Means, turn: TurnId, call: &ToolCall, what: &str) {
    means.journal.note(format_args!("turn {}: {}: {what}", turn.0, name(means, call)));
}

/// What came of a call.
pub(super) fn finished(means: &Means, turn: TurnId, call: &ToolCall, outcome: &Outcome, took: Duration) {
    let how = match outcome {
        Outcome::Done(_) => "done",
        Outcome::Rehearsed(_) => "rehearsed",
        Outcome::Failed(_) => "failed",
        Outcome::Refused(_) => "refused",
        Outcome::Interrupted(_) => "interrupted",
    };
    let (name, bytes) = (name(means, call), outcome.text().len());
    means.journal.note(format_args!(
        "turn {}: {name}: {how} after {} ms, {bytes} bytes",
        turn.0,
        took.as_millis()
    ));
}

/// What came of asking a model what might have come of a call.
pub(super) fn imagined(means: &Means, answered: bool) {
    let what = if answered { "was imagined by a model" } else { "could not be imagined by a model" };
    means.journal.note(format_args!("the result of a rehearsed call {what}"));
}

/// The name of a tool that there is: what a model makes up is not noted.
fn name<'a>(means: &Means, call: &'a ToolCall) -> &'a str {
    if means.tools.find(&call.name).is_ok() { &call.name } else { "a tool that there is not" }
}
