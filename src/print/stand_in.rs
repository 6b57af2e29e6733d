//! Answers for a person who is not there: to a call a no that is said to be nobody's, to a question only what they wrote
//! down before.

use super::answers::{Answers, Held};
use crate::agent::{Event, State, Waiting};
use crate::chat::{By, Decision, SessionId};
use serde_json::{Value, json};

/// Says no to every approval and keeps a list of what was asked; answers questions from what was known before.
pub(super) struct StandIn {
    denied: Vec<Value>,
    /// Whether a rule may let some of that go ahead.
    rule: bool,
    answers: Answers,
    wrong: Option<String>,
    missing: Vec<String>,
}

impl StandIn {
    pub(super) fn new(answers: Answers) -> Self {
        Self { denied: Vec::new(), rule: false, answers, wrong: None, missing: Vec::new() }
    }

    /// The answer to something that waits, where it can be given without a person.
    pub(super) fn answer(&mut self, state: &State) -> Option<Event> {
        (self.wrong, self.missing) = (None, Vec::new());
        for waiting in state.all_waiting() {
            match waiting {
                Waiting::Approval { call, plan, reason, by } => {
                    self.denied.push(json!({
                        "kind": "denied", "why": "nobody was there to say yes", "call": call.id.0, "tool": call.name, "title": plan.title,
                        "what": plan.summary, "access": plan.access, "reason": reason, "sub_agent": by,
                    }));
                    // No rule ever covers what destroys, nor what nothing lasting is offered for.
                    self.rule |= plan.always.is_some() && plan.destroys.is_none();
                    let decision = Decision::Deny(String::new());
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

    /// Everything that needed a person, as one object: what was denied and how that may go ahead, and the questions that
    /// wait, which can be answered later. `None` where there is nothing of either.
    pub(super) fn told(self, state: &State, session: &SessionId) -> Option<Value> {
        let mut waits = Vec::new();
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
        let (asks, denies) = (!waits.is_empty(), !self.denied.is_empty());
        let kind = if asks { "waits" } else { "denied" };
        let mut told =
            json!({ "kind": kind, "session": session.0, "resume": format!("aye --resume {session}") });
        if asks {
            told["waits"] = waits.into();
            told["answer_with"] = format!("aye -p --resume {session} --answers FILE").into();
        }
        if denies {
            let terminal = format!(
                "at a terminal, with aye --resume {session}: say that it is to try again, and it asks"
            );
            let mut ways = vec![terminal];
            if self.rule {
                let words =
                    "by a rule of yours that allows it: aye rules explain 'COMMAND' tells what holds now";
                ways.push(words.to_owned());
            }
            ways.push("by a wider --mode, as far as that goes".to_owned());
            (told["denied"], told["to_allow"]) = (self.denied.into(), ways.into());
        }
        (asks || denies).then_some(told)
    }
}
