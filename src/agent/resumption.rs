//! Resuming a session that ended in the middle of a turn.

use super::state::{CallStage, PendingCall, SubAgent};
use super::update_context::UpdateContext;
use super::{Effect, Phase, State, background, call_output};
use crate::chat::{CallId, Digest, Ending, Entry, Outcome, Session};
use std::collections::HashMap;

/// Resumes a session and returns the entries to append as effects.
///
/// A call that was running is settled as interrupted with unknown outcome and is never rerun; `saved_outputs` has the
/// output to add to its outcome. A call that waited for approval is settled as not run. An unanswered question waits
/// again, with the sub-agent that asked it.
pub fn resume_session(
    session: Session,
    fresh_state: State,
    saved_outputs: &HashMap<CallId, String>,
) -> (State, Vec<Effect>) {
    let mut state = fresh_state;
    if let Some(model) = session.model() {
        model.clone_into(&mut state.model.name);
    }
    state.session = session;
    let mut ctx = UpdateContext::new(&mut state, None);
    background::settle_open_commands(&mut ctx);
    let mut pending_calls = Vec::new();
    // False after the first call that had not started. The calls after it did not start either, even if they were
    // approved early.
    let mut is_turn_reached = true;
    for id in ctx.state.session.open_calls() {
        let Some(call) = ctx.state.session.find_call(&id) else { continue };
        let (tool_call, is_started) = (call.call.clone(), call.is_started);
        if let Some(questions) = &call.questions {
            pending_calls.push(PendingCall::new(tool_call, CallStage::AwaitingAnswer(questions.clone())));
            is_turn_reached = false;
            continue;
        }
        let reason = if ctx.state.session.has_sub_agent(&id) {
            if let Some(sub_agent) = restore_sub_agent(&mut ctx, &id, saved_outputs) {
                pending_calls.push(PendingCall::new(tool_call, CallStage::Delegated(Box::new(sub_agent))));
                continue;
            }
            "The program exited while the sub-agent worked. Its progress is unknown and it will not continue. Changes its calls had made remain."
        } else if is_started && is_turn_reached {
            "The program exited while this call ran. Its outcome is unknown. It was not rerun."
        } else if is_started {
            "Not run: the program exited before this call's turn."
        } else {
            "Not run: the program exited before this call was approved."
        };
        is_turn_reached &= is_started;
        let outcome = Outcome::Interrupted(call_output::format_interrupted_outcome(
            reason,
            saved_outputs.get(&id).map_or("", String::as_str),
        ));
        ctx.record_entry(Entry::Settled {
            call: id,
            outcome,
            took_ms: 0,
            sha256: Digest::default(),
            staged: None,
            usage: None,
        });
    }
    if !pending_calls.is_empty() {
        ctx.state.phase = Phase::RunningCalls { turn: ctx.state.next_turn_id(), calls: pending_calls };
    } else if ctx.state.session.is_mid_turn() {
        ctx.record_entry(Entry::Ended { ending: Ending::Interrupted });
    }
    let effects = ctx.effects;
    state.update_approval_queue();
    (state, effects)
}

/// Restores the sub-agent of a call from its entries and settles its open calls. Returns `None` if none of its calls
/// waits for the user: then it does not continue.
fn restore_sub_agent(
    ctx: &mut UpdateContext<'_>,
    id: &CallId,
    saved_outputs: &HashMap<CallId, String>,
) -> Option<SubAgent> {
    let session = &ctx.state.session;
    let name = session.sub_agent_name(id).unwrap_or_default().to_owned();
    let sha256 = session.last_plan_digest(id);
    let sub_session = Session::replay(session.sub_agent_entries(id).map(|(_, entry)| entry.clone()));
    // If this process cannot start sub-agents, it still settles the calls of an earlier process's sub-agents.
    let fresh_state = ctx
        .state
        .new_sub_agent_state()
        .unwrap_or_else(|| State::new(ctx.state.policy, String::new(), String::new(), Vec::new()));
    let (state, effects) = resume_session(sub_session, fresh_state, saved_outputs);
    // Turn IDs are unique across the turn and its sub-agents.
    ctx.state.counts.turns = ctx.state.counts.turns.max(state.counts.turns);
    ctx.adopt_effects(id, effects);
    (!state.is_idle()).then(|| SubAgent::new(name, state, None, sha256))
}
