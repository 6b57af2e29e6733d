//! Answers for a person who is not there: no, and never anything else.

use crate::agent::{Event, State, Waiting};
use crate::chat::{By, Decision};
use serde_json::{Value, json};

/// Told to the model with every no.
const NOBODY: &str = "nobody is there to say yes, since the program runs without a screen";

/// Says no to every approval and keeps a list of what was asked.
#[derive(Default)]
pub(super) struct StandIn {
    denied: Vec<Value>,
}

impl StandIn {
    /// The answer to what waits, where it can be given without a person.
    pub(super) fn answer(&mut self, state: &State) -> Option<Event> {
        match state.waiting()? {
            Waiting::Approval { call, plan, reason } => {
                self.denied.push(json!({
                    "kind": "approval", "call": call.id.0, "tool": call.name, "title": plan.title,
                    "what": plan.summary, "access": plan.access, "reason": reason,
                }));
                let decision = Decision::Deny(NOBODY.to_owned());
                Some(Event::Decided { call: call.id.clone(), decision, by: By::Nobody })
            }
            Waiting::Answer { .. } => None,
        }
    }

    /// Everything that needed a person: what was denied, and the questions that stay open.
    pub(super) fn waits(self, state: &State) -> Vec<Value> {
        let mut waits = self.denied;
        if let Some(Waiting::Answer { call, questions }) = state.waiting() {
            waits.push(json!({ "kind": "question", "call": call.id.0, "questions": questions.list }));
        }
        waits
    }
}
