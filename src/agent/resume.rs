//! Opening a session that was left in the middle.

use super::ahead::Ahead;
use super::state::{Pending, Step};
use super::{Desk, Effect, Phase, State};
use crate::chat::{Digest, Ending, Entry, Outcome, Session, TurnId};

/// The agent with this session in hand. A call that had been let start is settled as interrupted, its outcome
/// unknown, and is never run again by itself; one that waited for a yes is settled as not done. A question that
/// was not answered waits again. The effects append what this adds to the session.
pub fn resume(session: Session, blank: State) -> (State, Vec<Effect>) {
    let mut state = blank;
    if let Some(model) = session.model() {
        model.clone_into(&mut state.model);
    }
    state.session = session;
    let mut desk = Desk { state: &mut state, effects: Vec::new() };
    let mut asked = Vec::new();
    // Behind a call that had not begun nothing has: a yes that was given before its turn had not come to it.
    let mut reached = true;
    for id in desk.state.session.open_calls() {
        let Some(call) = desk.state.session.call(&id) else { continue };
        let words = match (&call.questions, call.started) {
            (Some(questions), _) => {
                asked.push(Pending {
                    call: call.call.clone(),
                    step: Step::ForAnswer(questions.clone()),
                    before: None,
                    changes: false,
                    ahead: Ahead::default(),
                    output: String::new(),
                });
                reached = false;
                continue;
            }
            (None, true) if reached => {
                "The program ended while this ran: its outcome is unknown. It was not run again."
            }
            (None, true) => "Not done: the program ended before its turn came.",
            (None, false) => "Not done: the program ended before it was allowed.",
        };
        reached &= call.started;
        let outcome = Outcome::Interrupted(words.to_owned());
        desk.keep(Entry::Settled { call: id, outcome, took_ms: 0, sha256: Digest::default() });
    }
    if !asked.is_empty() {
        desk.state.turns += 1;
        desk.state.phase = Phase::Acting { turn: TurnId(desk.state.turns), calls: asked };
    } else if desk.state.session.is_mid_turn() {
        desk.keep(Entry::Ended { ending: Ending::Interrupted });
    }
    let effects = desk.effects;
    (state, effects)
}
