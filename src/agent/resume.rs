//! Resuming a session that ended in the middle of a turn.

use super::ahead::Ahead;
use super::printed::{self, Printed};
use super::state::{Pending, Step};
use super::sub_agent::SubAgent;
use super::{Desk, Effect, Phase, State};
use crate::chat::{CallId, Digest, Ending, Entry, Outcome, Session, ToolCall, TurnId};
use std::collections::HashMap;

/// Resumes a session and returns the entries to append as effects.
///
/// A call that was running is settled as interrupted with unknown outcome and is never rerun. A call that waited for
/// approval is settled as not run. An unanswered question waits again, with the sub-agent that asked it.
pub fn resume(session: Session, blank: State) -> (State, Vec<Effect>) {
    resume_with(session, blank, &HashMap::new())
}

/// Resumes a session like [`resume`]. `printed` is the saved output of calls that were running; it is added to their
/// outcomes.
pub fn resume_with(
    session: Session,
    blank: State,
    printed: &HashMap<CallId, String>,
) -> (State, Vec<Effect>) {
    let mut state = blank;
    if let Some(model) = session.model() {
        model.clone_into(&mut state.model);
    }
    state.session = session;
    let mut ctx = Desk { state: &mut state, above: None, effects: Vec::new() };
    let mut asked = Vec::new();
    // Nothing after a call that had not started has started: an early approval had not taken effect.
    let mut reached = true;
    for id in ctx.state.session.open_calls() {
        let Some(call) = ctx.state.session.call(&id) else { continue };
        let (made, started) = (call.call.clone(), call.started);
        if let Some(questions) = &call.questions {
            asked.push(pending(made, Step::ForAnswer(questions.clone())));
            reached = false;
            continue;
        }
        let words = if ctx.state.session.is_above(&id) {
            if let Some(sub_agent) = sub_agent(&mut ctx, &id, printed) {
                asked.push(pending(made, Step::Delegated(Box::new(sub_agent))));
                continue;
            }
            "The program exited while the sub-agent worked. Its progress is unknown and it will not continue. Changes its calls had made remain."
        } else if started && reached {
            "The program exited while this call ran. Its outcome is unknown. It was not rerun."
        } else if started {
            "Not run: the program exited before this call's turn."
        } else {
            "Not run: the program exited before this call was approved."
        };
        reached &= started;
        let outcome =
            Outcome::Interrupted(printed::outcome(words, printed.get(&id).map_or("", String::as_str)));
        ctx.keep(Entry::Settled { call: id, outcome, took_ms: 0, sha256: Digest::default(), staged: None });
    }
    if !asked.is_empty() {
        ctx.state.turns += 1;
        ctx.state.phase = Phase::Acting { turn: TurnId(ctx.state.turns), calls: asked };
    } else if ctx.state.session.is_mid_turn() {
        ctx.keep(Entry::Ended { ending: Ending::Interrupted });
    }
    let effects = ctx.effects;
    state.line_up();
    (state, effects)
}

/// Restores the sub-agent of a call from its entries; `None` if nothing in it waits for the user, so that it has ended.
fn sub_agent(ctx: &mut Desk<'_>, id: &CallId, printed: &HashMap<CallId, String>) -> Option<SubAgent> {
    let session = &ctx.state.session;
    let name = session.sub_agent(id).unwrap_or_default().to_owned();
    let sha256 = session.allowed(id);
    let talk = Session::replay(session.beneath(id).map(|(_, entry)| entry.clone()));
    // If this process cannot start sub-agents, it still settles those of an earlier one.
    let blank = ctx
        .state
        .beneath()
        .unwrap_or_else(|| State::new(ctx.state.policy, String::new(), String::new(), Vec::new()));
    let (state, effects) = resume_with(talk, blank, printed);
    ctx.state.turns = ctx.state.turns.max(state.turns);
    ctx.take_up(id, effects);
    (!state.is_idle()).then(|| SubAgent::new(name, state, None, sha256))
}

fn pending(call: ToolCall, step: Step) -> Pending {
    Pending {
        call,
        step,
        before: None,
        changes: false,
        ahead: Ahead::default(),
        output: String::new(),
        printed: Printed::default(),
    }
}
