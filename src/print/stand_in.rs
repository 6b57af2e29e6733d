//! Answers for a person who is not there: no, and to a question only what they wrote down before.

use super::answers::{Answers, Held};
use crate::agent::{Event, State, Waiting};
use crate::chat::{By, Decision};
use serde_json::{Value, json};

/// Told to the model with every no.
const NOBODY: &str = "nobody is there to say yes, since the program runs without a screen";

/// Says no to every approval and keeps a list of what was asked; answers questions from what was known before.
pub(super) struct StandIn {
    denied: Vec<Value>,
    answers: Answers,
    wrong: Option<String>,
    missing: Vec<String>,
}

impl StandIn {
    pub(super) fn new(answers: Answers) -> Self {
        Self { denied: Vec::new(), answers, wrong: None, missing: Vec::new() }
    }

    /// The answer to something that waits, where it can be given without a person.
    pub(super) fn answer(&mut self, state: &State) -> Option<Event> {
        (self.wrong, self.missing) = (None, Vec::new());
        for waiting in state.all_waiting() {
            match waiting {
                Waiting::Approval { call, plan, reason, by } => {
                    self.denied.push(json!({
                        "kind": "approval", "call": call.id.0, "tool": call.name, "title": plan.title,
                        "what": plan.summary, "access": plan.access, "reason": reason, "sub_agent": by,
                    }));
                    let decision = Decision::Deny(NOBODY.to_owned());
                    return Some(Event::Decided { call: call.id.clone(), decision, by: By::Nobody });
                }
                Waiting::Answer { call, questions, .. } => match self.answers.hold(&call.id, questions) {
                    Held::Answered(answer) => {
                        return Some(Event::Answered { call: call.id.clone(), answer, by: By::File });
                    }
                    Held::Missing(keywords) => self.missing.extend(keywords),
                    Held::Wrong(why) => self.wrong = Some(why),
                },
            }
        }
        None
    }

    /// Whether what was known before does not fit the question that waits.
    pub(super) fn is_wrong(&self) -> bool {
        self.wrong.is_some()
    }

    /// What the person should know of the answers they gave: a sentence each.
    pub(super) fn troubles(&self, state: &State) -> Vec<String> {
        let mut troubles = Vec::new();
        if self.answers == Answers::default() {
            return troubles;
        }
        if let Some(why) = &self.wrong {
            troubles.push(format!("the answers do not fit, and the question waits. {why}"));
        } else if !self.missing.is_empty() && state.waiting().is_some() {
            troubles.push(format!("there is no answer to {}: the question waits", self.missing.join(", ")));
        }
        let unused = self.answers.unused();
        if !unused.is_empty() {
            troubles.push(format!("nobody asked for {}", unused.join(", ")));
        }
        troubles
    }

    /// Everything that needed a person: what was denied, and the questions that stay open.
    pub(super) fn waits(self, state: &State) -> Vec<Value> {
        let mut waits = self.denied;
        for waiting in state.all_waiting() {
            let Waiting::Answer { call, questions, by } = waiting else { continue };
            let mut list = json!(questions.list);
            for question in list.as_array_mut().into_iter().flatten() {
                // The place for the answer, so that what is printed can be filled in and given back.
                question["answer"] = Value::Null;
            }
            waits.push(json!({
                "kind": "question", "call": call.id.0, "sub_agent": by, "questions": list,
            }));
        }
        waits
    }
}
