//! Model requests of a turn, from the user message to the complete reply.

use super::compacting::{self, Tries};
use super::draft::{Draft, Purpose, Quiet, Retrying};
use super::{Desk, Effect, Phase, acting, request};
use crate::chat::{CallId, Chunk, Ending, Entry, Finish, ToolCall, TurnId};
use std::time::Duration;

/// Most requests in one turn. A model that still calls tools after this many is in a loop.
const ROUNDS: u32 = 50;

/// Queues a user message. Starts a turn if none runs; an empty message starts one with the messages already queued.
pub(super) fn said(ctx: &mut Desk<'_>, text: String) {
    if !text.trim().is_empty() {
        ctx.state.queue.push(text);
    }
    if ctx.state.is_idle() && !ctx.state.queue.is_empty() {
        begin(ctx);
    }
}

/// Starts a turn with all queued messages.
pub(super) fn begin(ctx: &mut Desk<'_>) {
    let turn = new_turn(ctx);
    ask(ctx, turn);
}

/// Resets the per-turn state and returns the ID of a new turn.
pub(super) fn new_turn(ctx: &mut Desk<'_>) -> TurnId {
    ctx.state.turns += 1;
    ctx.state.rounds = 0;
    ctx.state.handed = 0;
    ctx.state.failures.clear();
    ctx.state.repeats.clear();
    ctx.state.tries = Tries::default();
    ctx.state.offered = false;
    TurnId(ctx.state.turns)
}

/// Requests the next reply, after adding queued messages to the session and making room if needed.
pub(super) fn ask(ctx: &mut Desk<'_>, turn: TurnId) {
    for text in std::mem::take(&mut ctx.state.queue) {
        ctx.keep(Entry::Said { text });
    }
    if ctx.state.rounds == ROUNDS {
        ctx.end(Ending::Failed(format!(
            "Turn stopped: the model made {ROUNDS} requests in a row without finishing"
        )));
        return;
    }
    if compacting::makes_room(ctx, turn) {
        return;
    }
    if ctx.state.is_hopeless() {
        let window = ctx.state.known_window().unwrap_or_default();
        ctx.end(Ending::Failed(format!(
            "Request too long for the model: about {} tokens, {window} fit. Only your own messages remain, and these are never truncated",
            ctx.state.tokens()
        )));
        return;
    }
    ctx.state.rounds += 1;
    send(ctx, turn);
}

/// Sends the request without further checks.
pub(super) fn send(ctx: &mut Desk<'_>, turn: TurnId) {
    ctx.state.sends(ctx.state.ours(), ctx.state.tokens());
    ctx.state.phase = Phase::Thinking(Box::new(Draft::new(turn, Purpose::Reply)));
    let request = Box::new(request::build(ctx.state));
    ctx.effects.push(Effect::Stream { turn, request });
}

/// Handles a part of the reply.
pub(super) fn chunk(ctx: &mut Desk<'_>, chunk: Chunk, after: Duration) {
    let Phase::Thinking(draft) = &mut ctx.state.phase else { return };
    if !matches!(chunk, Chunk::Usage(_) | Chunk::Echo(_)) {
        draft.quiet = None;
        // Before a retry the provider may send nothing, or only signs of life.
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
            compacting::grown(ctx);
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
                ctx.keep(Entry::FellBack { model, why });
            }
        }
        Chunk::Echo(echo) => draft.echo = Some(Box::new(echo)),
        Chunk::Done(finish) => done(ctx, finish),
    }
}

/// Saves the partial reply.
pub(super) fn grew(ctx: &mut Desk<'_>) {
    let Phase::Thinking(draft) = &mut ctx.state.phase else { return };
    if let Some(grown) = draft.grown(&ctx.state.model) {
        ctx.effects.push(Effect::KeepGrown(Box::new(grown)));
    }
}

/// Handles the end of the reply, which may be incomplete.
fn done(ctx: &mut Desk<'_>, finish: Finish) {
    if ctx.state.is_summarising() {
        // A summary cut at the length limit is usable; a filtered one is not.
        return match finish {
            Finish::Stop | Finish::Length => compacting::done(ctx),
            Finish::Filtered(why) => {
                compacting::failed(ctx, &format!("the provider withheld it ({why})"), false);
            }
        };
    }
    let why = match finish {
        Finish::Stop => return whole(ctx),
        Finish::Length => "cut at the provider's length limit".to_owned(),
        Finish::Filtered(why) => format!("the provider withheld the rest ({why})"),
    };
    let called = match &ctx.state.phase {
        Phase::Thinking(draft) => draft.writing.is_some() || !draft.calls.is_empty(),
        Phase::Idle | Phase::Acting { .. } => false,
    };
    let dropped = if called { " Its calls were not run." } else { "" };
    keep_what_came(ctx, &why);
    ctx.end(Ending::Failed(format!("Incomplete reply: {why}.{dropped}")));
}

fn whole(ctx: &mut Desk<'_>) {
    let Some(draft) = ctx.state.take_draft() else { return };
    let turn = draft.turn;
    let calls = named_apart(ctx, &draft.calls);
    let empty = draft.text.trim().is_empty() && calls.is_empty();
    ctx.state.measure.replied(draft.usage);
    ctx.keep(draft.replied(&ctx.state.model, calls.clone(), None));
    if empty {
        return ctx.end(Ending::Failed(
            "The model returned an empty reply. Retry or choose another model.".to_owned(),
        ));
    }
    if calls.is_empty() {
        return ctx.end(Ending::Finished);
    }
    acting::begin(ctx, turn, calls);
}

/// Renames calls whose IDs another call of the session has, sub-agents included. Some providers count from zero in each
/// reply.
pub(super) fn named_apart(ctx: &Desk<'_>, calls: &[ToolCall]) -> Vec<ToolCall> {
    let mut apart: Vec<ToolCall> = Vec::new();
    for call in calls {
        let taken = |id: &CallId, apart: &[ToolCall]| {
            ctx.above.is_some_and(|session| session.call(id).is_some())
                || ctx.state.session.call(id).is_some()
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

/// Handles a failed request or a reply that was cut off.
pub(super) fn failed(ctx: &mut Desk<'_>, why: String, too_long: bool) {
    let Phase::Thinking(draft) = &ctx.state.phase else { return };
    if draft.is_summary() {
        return compacting::failed(ctx, &why, too_long);
    }
    let nothing_came = draft.text.is_empty() && draft.calls.is_empty();
    if too_long && nothing_came {
        if compacting::sends_again(ctx, &why) {
            return;
        }
        let why = why.trim_end_matches('.');
        let why =
            format!("The session exceeds the model's context window and cannot be shortened further: {why}");
        ctx.state.take_draft();
        return ctx.end(Ending::Failed(why));
    }
    keep_what_came(ctx, &why);
    ctx.end(Ending::Failed(why));
}

/// Records an incomplete reply. Its calls are dropped, because an incomplete reply runs nothing.
pub(super) fn keep_what_came(ctx: &mut Desk<'_>, why: &str) {
    let Some(draft) = ctx.state.take_draft() else { return };
    if draft.is_summary() || (draft.text.is_empty() && draft.reasoning.is_empty() && draft.usage.is_none()) {
        return;
    }
    ctx.state.measure.replied(draft.usage);
    ctx.keep(draft.replied(&ctx.state.model, Vec::new(), Some(why.to_owned())));
}
