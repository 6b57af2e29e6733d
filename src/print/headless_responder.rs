//! Headless responses: calls that need approval are denied, and questions are answered only from a file.

use super::answers::{AnswerMatch, Answers};
use crate::agent::{Event, State, WaitingCall};
use crate::chat::{Decider, Decision, SessionId};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Denies every call that needs approval, records it, and answers questions from a file.
#[derive(Default)]
pub(super) struct HeadlessResponder {
    denied_calls: Vec<Value>,
    /// True if a rule could allow one of the denied calls.
    may_use_rule: bool,
    /// Modes that would allow one of the denied calls.
    modes: BTreeSet<&'static str>,
    answers: Answers,
    /// Why the answers do not match the waiting question, if they do not.
    mismatch: Option<String>,
    /// Keywords of the waiting questions without an answer.
    missing_keywords: Vec<String>,
}

impl HeadlessResponder {
    pub(super) fn new(answers: Answers) -> Self {
        Self { answers, ..Self::default() }
    }

    /// Returns the response to a waiting call, if one is possible without a user.
    pub(super) fn respond(&mut self, state: &State) -> Option<Event> {
        (self.mismatch, self.missing_keywords) = (None, Vec::new());
        for waiting in state.waiting_calls() {
            match waiting {
                WaitingCall::Approval { call, plan, reason, sub_agent, .. } => {
                    self.denied_calls.push(json!({
                        "kind": "denied", "why": "no interactive user was available to approve this call", "call": call.id.0, "tool": call.name, "title": plan.title,
                        "summary": plan.summary, "access": plan.access, "reason": reason, "sub_agent": sub_agent,
                        // Key of version 0.1, kept for one release.
                        "what": plan.summary,
                    }));
                    // No rule covers a destructive call, or one for which no grant is offered.
                    self.may_use_rule |= plan.grant.is_some() && plan.destroys.is_none();
                    self.modes.extend(state.mode_allowing(&call.name, plan).map(|mode| mode.as_str()));
                    let decision = Decision::Deny(String::new());
                    return Some(Event::CallDecided { call: call.id.clone(), decision, by: Decider::Headless });
                }
                WaitingCall::Answer { call, questions, .. } => {
                    match self.answers.match_questions(&call.id, questions) {
                        AnswerMatch::Answered(answer) => {
                            return Some(Event::QuestionsAnswered { call: call.id.clone(), answer, by: Decider::File });
                        }
                        AnswerMatch::Missing(keywords) => self.missing_keywords.extend(keywords),
                        AnswerMatch::Mismatch(why) => self.mismatch = Some(why),
                    }
                }
            }
        }
        None
    }

    /// Returns whether the file of answers does not match the waiting question.
    pub(super) fn has_mismatch(&self) -> bool {
        self.mismatch.is_some()
    }

    /// Describes problems with the answers, one sentence each.
    pub(super) fn describe_problems(&self, state: &State) -> Vec<String> {
        let mut problems = Vec::new();
        if self.answers == Answers::default() {
            return problems;
        }
        if let Some(why) = &self.mismatch {
            problems.push(format!("the answers do not match; the question is still waiting. {why}"));
        } else if !self.missing_keywords.is_empty() && state.waiting_call().is_some() {
            problems.push(format!("no answer to {}; the question is still waiting", self.missing_keywords.join(", ")));
        }
        let unused = self.answers.unused_keywords();
        if !unused.is_empty() {
            problems.push(format!("unused answers: {}", unused.join(", ")));
        }
        problems
    }

    /// Returns everything that needed a user as one object: denied calls with ways to allow them, and questions that
    /// can be answered later. `None` if there is neither.
    pub(super) fn into_json(self, state: &State, session: &SessionId) -> Option<Value> {
        let mut open_questions = Vec::new();
        for waiting in state.waiting_calls() {
            let WaitingCall::Answer { call, questions, sub_agent } = waiting else { continue };
            let mut list = json!(questions.list);
            for question in list.as_array_mut().into_iter().flatten() {
                // An empty field for the answer, so that the output can be filled in and used as a file of answers.
                question["answer"] = Value::Null;
            }
            open_questions.push(json!({
                "kind": "question", "call": call.id.0, "sub_agent": sub_agent, "questions": list,
            }));
        }
        let (has_questions, has_denied) = (!open_questions.is_empty(), !self.denied_calls.is_empty());
        let (state, kind) = if has_questions { ("waiting", "waits") } else { ("denied", "denied") };
        let mut report = json!({
            "kind": kind, "state": state, "session": session.0, "resume": format!("aye --resume {session}"),
        });
        if has_questions {
            // Key of version 0.1, kept for one release.
            report["waits"] = open_questions.clone().into();
            report["waiting"] = open_questions.into();
            report["answer_with"] = format!("aye -p --resume {session} --answers FILE").into();
        }
        if has_denied {
            let interactive_hint = format!("interactively: run aye --resume {session} and tell the model to try again");
            let mut remedies = vec![interactive_hint];
            if self.may_use_rule {
                let rule_hint = "with a rule that allows it: aye rules explain 'COMMAND' shows the present verdict";
                remedies.push(rule_hint.to_owned());
            }
            // The names sort from the narrower mode to the wider: auto, full.
            if let Some(mode) = self.modes.last() {
                remedies.push(format!("with a --mode that allows it: --mode {mode}"));
            }
            (report["denied"], report["to_allow"]) = (self.denied_calls.into(), remedies.into());
        }
        (has_questions || has_denied).then_some(report)
    }
}
