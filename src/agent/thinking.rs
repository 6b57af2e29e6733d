//! From what the person said to a whole reply.

use super::state::{Draft, Retrying};
use super::{Desk, Effect, Phase, acting, request};
use crate::chat::{CallId, Chunk, Ending, Entry, Finish, ToolCall, TurnId};
use std::time::Duration;

/// Requests in one turn. A model that still calls tools after this many is going round in circles.
const ROUNDS: u32 = 50;

/// The person said something: it begins a turn, or waits for the next request of the one that runs.
pub(super) fn said(desk: &mut Desk<'_>, text: String) {
    if text.trim().is_empty() {
        return;
    }
    desk.state.queue.push(text);
    if desk.state.is_idle() {
        begin(desk);
    }
}

/// Begins a turn with everything that was said and not yet sent.
pub(super) fn begin(desk: &mut Desk<'_>) {
    desk.state.turns += 1;
    desk.state.rounds = 0;
    desk.state.failures.clear();
    ask(desk, TurnId(desk.state.turns));
}

/// Asks the model, with what was said meanwhile.
pub(super) fn ask(desk: &mut Desk<'_>, turn: TurnId) {
    for text in std::mem::take(&mut desk.state.queue) {
        desk.keep(Entry::Said { text });
    }
    if desk.state.rounds == ROUNDS {
        desk.end(Ending::Failed(format!(
            "The model called tools {ROUNDS} times in a row without coming to an end, so the turn was stopped."
        )));
        return;
    }
    desk.state.rounds += 1;
    desk.state.phase = Phase::Thinking(Draft::new(turn));
    let request = Box::new(request::build(desk.state));
    desk.effects.push(Effect::Stream { turn, request });
}

/// A piece of the reply came.
pub(super) fn chunk(desk: &mut Desk<'_>, chunk: Chunk, after: Duration) {
    let Phase::Thinking(draft) = &mut desk.state.phase else { return };
    if !matches!(chunk, Chunk::Retrying { .. } | Chunk::Usage(_)) {
        draft.retrying = None;
    }
    if matches!(chunk, Chunk::Text(_) | Chunk::Writing { .. } | Chunk::Call(_) | Chunk::Done(_)) {
        draft.thought.get_or_insert(after);
    }
    match chunk {
        Chunk::Text(text) => draft.text.push_str(&text),
        Chunk::Reasoning(text) => draft.reasoning.push_str(&text),
        Chunk::Writing { name, bytes } => draft.writing = Some((name, bytes)),
        Chunk::Call(call) => draft.calls.push(call),
        Chunk::Usage(usage) => draft.usage = Some(usage),
        Chunk::Retrying { attempt, wait, why } => draft.retrying = Some(Retrying { attempt, wait, why }),
        Chunk::Done(finish) => done(desk, finish),
    }
}

/// The reply is whole, or the service says that it is not.
fn done(desk: &mut Desk<'_>, finish: Finish) {
    let why = match finish {
        Finish::Stop => return whole(desk),
        Finish::Length => "the service cut it at its length limit".to_owned(),
        Finish::Filtered(why) => format!("the service withheld the rest ({why})"),
    };
    let called = match &desk.state.phase {
        Phase::Thinking(draft) => draft.writing.is_some() || !draft.calls.is_empty(),
        Phase::Idle | Phase::Acting { .. } => false,
    };
    let dropped = if called { " Calls in it were not run." } else { "" };
    keep_what_came(desk, &why);
    desk.end(Ending::Failed(format!("The reply is not whole: {why}.{dropped}")));
}

fn whole(desk: &mut Desk<'_>) {
    let Some(draft) = desk.state.take_draft() else { return };
    let turn = draft.turn;
    let calls = named_apart(desk, &draft.calls);
    let empty = draft.text.trim().is_empty() && calls.is_empty();
    desk.keep(draft.replied(&desk.state.model, calls.clone(), None));
    if empty {
        return desk.end(Ending::Failed(
            "The model replied with nothing at all. Ask again, or choose another model.".to_owned(),
        ));
    }
    if calls.is_empty() {
        return desk.end(Ending::Finished);
    }
    acting::begin(desk, turn, calls);
}

/// The calls under names that no other call of the session has: some services count from zero in each reply.
fn named_apart(desk: &Desk<'_>, calls: &[ToolCall]) -> Vec<ToolCall> {
    let mut apart: Vec<ToolCall> = Vec::new();
    for call in calls {
        let taken = |id: &CallId, apart: &[ToolCall]| {
            desk.state.session.call(id).is_some() || apart.iter().any(|other| other.id == *id)
        };
        let mut id = call.id.clone();
        let mut count = 2;
        while id.0.is_empty() || taken(&id, &apart) {
            id = CallId(format!("{}-{count}", call.id));
            count += 1;
        }
        apart.push(ToolCall { id, ..call.clone() });
    }
    apart
}

/// The request failed, or the reply was cut short.
pub(super) fn failed(desk: &mut Desk<'_>, why: String) {
    if !matches!(desk.state.phase, Phase::Thinking(_)) {
        return;
    }
    keep_what_came(desk, &why);
    desk.end(Ending::Failed(why));
}

/// Keeps what came of a reply that will not be whole. Its calls are dropped: half a reply runs nothing.
pub(super) fn keep_what_came(desk: &mut Desk<'_>, why: &str) {
    let Some(draft) = desk.state.take_draft() else { return };
    if draft.text.is_empty() && draft.reasoning.is_empty() && draft.usage.is_none() {
        return;
    }
    desk.keep(draft.replied(&desk.state.model, Vec::new(), Some(why.to_owned())));
}
