//! From what the person said to a whole reply.

use super::compacting::{self, Tries};
use super::draft::{Draft, Purpose, Quiet, Retrying};
use super::{Desk, Effect, Phase, acting, request};
use crate::chat::{CallId, Chunk, Ending, Entry, Finish, ToolCall, TurnId};
use std::time::Duration;

/// Requests in one turn. A model that still calls tools after this many is going round in circles.
const ROUNDS: u32 = 50;

/// The person said something: it begins a turn, or waits for the next request of the one that runs. With no word more,
/// what was said already and still waits begins a turn.
pub(super) fn said(desk: &mut Desk<'_>, text: String) {
    if !text.trim().is_empty() {
        desk.state.queue.push(text);
    }
    if desk.state.is_idle() && !desk.state.queue.is_empty() {
        begin(desk);
    }
}

/// Begins a turn with everything that was said and not yet sent.
pub(super) fn begin(desk: &mut Desk<'_>) {
    let turn = new_turn(desk);
    ask(desk, turn);
}

/// A turn in which nothing was done yet.
pub(super) fn new_turn(desk: &mut Desk<'_>) -> TurnId {
    desk.state.turns += 1;
    desk.state.rounds = 0;
    desk.state.handed = 0;
    desk.state.failures.clear();
    desk.state.repeats.clear();
    desk.state.tries = Tries::default();
    desk.state.offered = false;
    TurnId(desk.state.turns)
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
    if compacting::makes_room(desk, turn) {
        return;
    }
    if desk.state.is_hopeless() {
        let window = desk.state.known_window().unwrap_or_default();
        desk.end(Ending::Failed(format!(
            "This is too long for the model: about {} tokens, of which {window} fit, and it cannot be made shorter without leaving out what you said",
            desk.state.tokens()
        )));
        return;
    }
    desk.state.rounds += 1;
    send(desk, turn);
}

/// Sends the talk as it is.
pub(super) fn send(desk: &mut Desk<'_>, turn: TurnId) {
    desk.state.sends(desk.state.ours(), desk.state.tokens());
    desk.state.phase = Phase::Thinking(Box::new(Draft::new(turn, Purpose::Reply)));
    let request = Box::new(request::build(desk.state));
    desk.effects.push(Effect::Stream { turn, request });
}

/// A piece of the reply came.
pub(super) fn chunk(desk: &mut Desk<'_>, chunk: Chunk, after: Duration) {
    let Phase::Thinking(draft) = &mut desk.state.phase else { return };
    if !matches!(chunk, Chunk::Usage(_) | Chunk::Echo(_)) {
        draft.quiet = None;
        // After the wait it is asked again, which may be silent or bring signs of life.
        if !matches!(chunk, Chunk::Quiet { .. }) {
            draft.retrying = None;
        }
    }
    if matches!(chunk, Chunk::Text(_) | Chunk::Writing { .. } | Chunk::Call(_) | Chunk::Done(_)) {
        draft.thought.get_or_insert(after);
    }
    match chunk {
        Chunk::Text(text) => {
            draft.text.push_str(&text);
            compacting::grown(desk);
        }
        Chunk::Reasoning(text) => draft.reasoning.push_str(&text),
        Chunk::WasReasoning => {
            let said = std::mem::take(&mut draft.text);
            draft.reasoning.push_str(&said);
            draft.thought = None;
            draft.turned += 1;
        }
        Chunk::Writing { name, bytes } => draft.writing = Some((name, bytes)),
        Chunk::Call(call) => draft.calls.push(call),
        Chunk::Usage(usage) => draft.usage = Some(usage),
        Chunk::Retrying { attempt, of, wait, why, kind: _ } => {
            draft.retrying = Some(Retrying { attempt, of, wait, why });
        }
        Chunk::Quiet { since, limit } => draft.quiet = (!since.is_zero()).then_some(Quiet { since, limit }),
        Chunk::Answering { model, instead } => {
            draft.model = Some(model.clone());
            if let Some(why) = instead {
                desk.keep(Entry::FellBack { model, why });
            }
        }
        Chunk::Echo(echo) => draft.echo = Some(Box::new(echo)),
        Chunk::Done(finish) => done(desk, finish),
    }
}

/// It is time to keep what came so far.
pub(super) fn grew(desk: &mut Desk<'_>) {
    let Phase::Thinking(draft) = &mut desk.state.phase else { return };
    if let Some(grown) = draft.grown(&desk.state.model) {
        desk.effects.push(Effect::KeepGrown(Box::new(grown)));
    }
}

/// The reply is whole, or the service says that it is not.
fn done(desk: &mut Desk<'_>, finish: Finish) {
    if desk.state.is_summarising() {
        // A summary that was cut at its limit is a summary; one that was withheld is none.
        return match finish {
            Finish::Stop | Finish::Length => compacting::done(desk),
            Finish::Filtered(why) => {
                compacting::failed(desk, &format!("the service withheld it ({why})"), false);
            }
        };
    }
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
    desk.state.measure.replied(draft.usage);
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

/// The calls under names that no other call of the session has, sub-agents' included: some services count from zero
/// in each reply.
pub(super) fn named_apart(desk: &Desk<'_>, calls: &[ToolCall]) -> Vec<ToolCall> {
    let mut apart: Vec<ToolCall> = Vec::new();
    for call in calls {
        let taken = |id: &CallId, apart: &[ToolCall]| {
            desk.above.is_some_and(|session| session.call(id).is_some())
                || desk.state.session.call(id).is_some()
                || apart.iter().any(|other| other.id == *id)
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
pub(super) fn failed(desk: &mut Desk<'_>, why: String, too_long: bool) {
    let Phase::Thinking(draft) = &desk.state.phase else { return };
    if draft.is_summary() {
        return compacting::failed(desk, &why, too_long);
    }
    let nothing_came = draft.text.is_empty() && draft.calls.is_empty();
    if too_long && nothing_came {
        if compacting::sends_again(desk, &why) {
            return;
        }
        let why = why.trim_end_matches('.');
        let why = format!(
            "The talk does not fit into the model's window, and no more of it can be left out: {why}"
        );
        desk.state.take_draft();
        return desk.end(Ending::Failed(why));
    }
    keep_what_came(desk, &why);
    desk.end(Ending::Failed(why));
}

/// Keeps what came of a reply that will not be whole. Its calls are dropped: half a reply runs nothing.
pub(super) fn keep_what_came(desk: &mut Desk<'_>, why: &str) {
    let Some(draft) = desk.state.take_draft() else { return };
    if draft.is_summary() || (draft.text.is_empty() && draft.reasoning.is_empty() && draft.usage.is_none()) {
        return;
    }
    desk.state.measure.replied(draft.usage);
    desk.keep(draft.replied(&desk.state.model, Vec::new(), Some(why.to_owned())));
}
