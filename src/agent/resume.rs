//! Opening a session that was left in the middle.

use super::ahead::Ahead;
use super::printed::{self, Printed};
use super::state::{Pending, Step};
use super::sub_agent::SubAgent;
use super::{Desk, Effect, Phase, State};
use crate::chat::{CallId, Digest, Ending, Entry, Outcome, Session, ToolCall, TurnId};
use std::collections::HashMap;

/// The agent with this session in hand. A call that had been let start is settled as interrupted, its outcome
/// unknown, and is never run again by itself; one that waited for a yes is settled as not done. A question that
/// was not answered waits again, and with it the sub-agent that asked it. The effects append what this adds to the
/// session.
pub fn resume(session: Session, blank: State) -> (State, Vec<Effect>) {
    resume_with(session, blank, &HashMap::new())
}

/// The same, with what calls had printed that ran when the program ended: it is in their outcomes.
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
    let mut desk = Desk { state: &mut state, above: None, effects: Vec::new() };
    let mut asked = Vec::new();
    // Behind a call that had not begun nothing has: a yes that was given before its turn had not come to it.
    let mut reached = true;
    for id in desk.state.session.open_calls() {
        let Some(call) = desk.state.session.call(&id) else { continue };
        let (made, started) = (call.call.clone(), call.started);
        if let Some(questions) = &call.questions {
            asked.push(pending(made, Step::ForAnswer(questions.clone())));
            reached = false;
            continue;
        }
        let words = if desk.state.session.is_above(&id) {
            if let Some(sub_agent) = sub_agent(&mut desk, &id, printed) {
                asked.push(pending(made, Step::Delegated(Box::new(sub_agent))));
                continue;
            }
            "The program ended while the sub-agent worked: how far it came is unknown, and it does not go on. What its calls had done by then stays done."
        } else if started && reached {
            "The program ended while this ran: its outcome is unknown. It was not run again."
        } else if started {
            "Not done: the program ended before its turn came."
        } else {
            "Not done: the program ended before it was allowed."
        };
        reached &= started;
        let outcome =
            Outcome::Interrupted(printed::outcome(words, printed.get(&id).map_or("", String::as_str)));
        desk.keep(Entry::Settled { call: id, outcome, took_ms: 0, sha256: Digest::default(), staged: None });
    }
    if !asked.is_empty() {
        desk.state.turns += 1;
        desk.state.phase = Phase::Acting { turn: TurnId(desk.state.turns), calls: asked };
    } else if desk.state.session.is_mid_turn() {
        desk.keep(Entry::Ended { ending: Ending::Interrupted });
    }
    let effects = desk.effects;
    state.line_up();
    (state, effects)
}

/// The sub-agent of a call as its own talk makes it; `None` where nothing of it waits for the person, so that it is over.
fn sub_agent(desk: &mut Desk<'_>, id: &CallId, printed: &HashMap<CallId, String>) -> Option<SubAgent> {
    let session = &desk.state.session;
    let name = session.sub_agent(id).unwrap_or_default().to_owned();
    let sha256 = session.allowed(id);
    let talk = Session::replay(session.beneath(id).map(|(_, entry)| entry.clone()));
    // A program that hands nothing on settles what another one handed on.
    let blank = desk
        .state
        .beneath()
        .unwrap_or_else(|| State::new(desk.state.policy, String::new(), String::new(), Vec::new()));
    let (state, effects) = resume_with(talk, blank, printed);
    desk.state.turns = desk.state.turns.max(state.turns);
    desk.take_up(id, effects);
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
