//! The script of a session: its messages, keys, replies and results, so that nothing needs to run again.

use super::script::{Action, Pace, Reply, Script, ScriptedCall, ScriptedPlan, Step, TextPart, UserAct, UserStep};
use super::script_checks::plain_name;
use crate::chat::{Access, Answer, AnswerValue, CallId, Decider, Decision, Ending, Entry, Outcome, ToolCall};
use serde_json::Value;
use std::time::Duration;

/// Longest message that is typed rather than pasted, in characters.
const MAX_TYPED: usize = 200;
/// Longest pause, delay and run time that is kept.
const MAX_PAUSE: Duration = Duration::from_secs(4);
/// Shortest pause before a prompt is answered.
const MIN_PAUSE: Duration = Duration::from_millis(1_000);

/// Facts about a session that its entries do not hold.
#[derive(Debug, Clone, Default)]
pub struct SessionFacts {
    pub title: Option<String>,
    pub model: String,
    /// Name of the project's folder, which may have characters that a script does not allow.
    pub folder: String,
    pub is_dry_run: bool,
}

/// Returns the script of a session, and a sentence for each kind of entry that it leaves out.
pub fn script_of_session(name: &str, facts: SessionFacts, entries: &[Entry]) -> (Script, Vec<String>) {
    let mut writer = Writer { entries, steps: Vec::new(), notices: Vec::new() };
    for entry in entries {
        writer.add_entry(entry);
    }
    let SessionFacts { title, model, folder, is_dry_run } = facts;
    let model = if model.is_empty() { "demo".to_owned() } else { model };
    let (steps, notices, folder) = (writer.steps, writer.notices, plain_name(&folder));
    (Script { name: name.to_owned(), title, model, folder, is_dry_run, steps, ..Script::default() }, notices)
}

struct Writer<'a> {
    entries: &'a [Entry],
    steps: Vec<Step>,
    notices: Vec<String>,
}

impl Writer<'_> {
    fn add_entry(&mut self, entry: &Entry) {
        match entry {
            Entry::UserMessage { text } => {
                let is_typed = text.chars().count() <= MAX_TYPED && !text.contains(char::is_control);
                let act = match is_typed {
                    true => UserAct::Type(text.clone(), Pace::default().typing),
                    false => UserAct::Paste(text.clone()),
                };
                self.add_act(act, Pace::default().pause);
                self.press("enter", Pace::default().pause);
            }
            Entry::Replied { text, reasoning, calls, incomplete, thought_ms, .. } => {
                let pace = Pace::default();
                let reply = Reply {
                    reasoning: reasoning.clone(),
                    text: Some(text.clone())
                        .filter(|text| !text.is_empty())
                        .map(|text| TextPart { conditions: Vec::new(), text })
                        .into_iter()
                        .collect(),
                    calls: calls.iter().map(|call| self.scripted_call(call)).collect(),
                    // A long reply takes at most some seconds.
                    speed: pace.reply.max(u32::try_from(text.chars().count() / 6).unwrap_or(u32::MAX)),
                    delay: Duration::from_millis(*thought_ms).clamp(pace.delay / 2, MAX_PAUSE),
                    error: incomplete.clone(),
                    ..Reply::default()
                };
                self.add(Action::Reply(Box::new(reply)));
            }
            Entry::Decided { call, decision, by: Decider::User { key, after_ms }, .. }
                if is_plain(decision, key) && self.outcome_of(call).is_some() =>
            {
                self.press(key, Duration::from_millis(*after_ms));
            }
            Entry::Answered { call, answer, .. } => match selected_options(answer) {
                Some(keys) => keys.into_iter().for_each(|key| self.press(&key, MIN_PAUSE)),
                None => self.leave_out(&format!("the answer to the question {call}: press its keys instead")),
            },
            Entry::Ended { ending: Ending::Failed(reason) } => {
                let is_said = matches!(self.steps.last(), Some(Step { action: Action::Reply(reply), .. }) if reply.error.is_some());
                if !is_said {
                    let reply = Reply { error: Some(reason.clone()), speed: Pace::default().reply, ..Reply::default() };
                    self.add(Action::Reply(Box::new(reply)));
                }
            }
            Entry::UserCommand(_) => self.leave_out("commands that you ran yourself"),
            Entry::SubAgent { .. } => self.leave_out("what sub-agents did, apart from their results"),
            Entry::Compacted { .. } => self.leave_out("summaries"),
            Entry::BackgroundStarted { .. } | Entry::BackgroundEnded(_) => self.leave_out("commands in the background"),
            _ => {}
        }
    }

    fn scripted_call(&self, call: &ToolCall) -> ScriptedCall {
        let arguments = serde_json::from_str(&call.arguments).ok().filter(Value::is_object);
        let is_question =
            self.entries.iter().any(|entry| matches!(entry, Entry::Asked { call: id, .. } if *id == call.id));
        let settled = self.outcome_of(&call.id);
        let (outcome, millis) =
            settled.unwrap_or((Outcome::Interrupted("The session ended before this call.".to_owned()), 0));
        ScriptedCall {
            id: call.id.0.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect(),
            tool: call.name.clone(),
            arguments: arguments.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
            outcome: (!is_question).then_some(outcome),
            plan: (!is_question).then(|| Box::new(self.plan_of(call))),
            may_fail: false,
            duration: Duration::from_millis(millis).min(MAX_PAUSE),
        }
    }

    /// Returns what the prompt of a call showed. A call that did not ask, asks for nothing now.
    fn plan_of(&self, call: &ToolCall) -> ScriptedPlan {
        let mut plan = ScriptedPlan {
            title: format!("{}?", call.name),
            summary: String::new(),
            access: Access::Nothing,
            preview: crate::chat::Preview::Text(String::new()),
            destroys: None,
        };
        for entry in self.entries {
            match entry {
                Entry::Planned { call: id, title, summary, access, preview, destroys, verdict, .. }
                    if *id == call.id =>
                {
                    let (title, summary, destroys) = (title.clone(), summary.clone(), destroys.clone());
                    let is_judged = matches!(verdict.as_str(), "ask" | "rehearse");
                    let access = if is_judged { access.clone() } else { Access::Nothing };
                    plan = ScriptedPlan { title, summary, access, preview: (**preview).clone(), destroys };
                }
                // What the keys of the script cannot decide again, is not asked.
                Entry::Decided { call: id, decision, by, .. } if *id == call.id => {
                    let is_replayed = matches!(by, Decider::User { key, .. } if is_plain(decision, key));
                    if !is_replayed {
                        plan.access = Access::Nothing;
                    }
                }
                _ => {}
            }
        }
        plan
    }

    /// Returns the outcome of a call and its run time in milliseconds.
    fn outcome_of(&self, call: &CallId) -> Option<(Outcome, u64)> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Settled { call: id, outcome, took_ms, .. } if id == call => Some((outcome.clone(), *took_ms)),
            _ => None,
        })
    }

    fn press(&mut self, key: &str, pause: Duration) {
        self.add_act(UserAct::Press(vec![key.to_owned()]), pause.clamp(MIN_PAUSE, MAX_PAUSE));
    }

    fn add_act(&mut self, act: UserAct, pause: Duration) {
        self.add(Action::User(UserStep { act, pause, is_early: false }));
    }

    fn add(&mut self, action: Action) {
        self.steps.push(Step { line: self.steps.len() + 1, action });
    }

    fn leave_out(&mut self, what: &str) {
        let notice = format!("Omitted: {what}.");
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }
}

/// Returns whether one key press makes this decision again.
fn is_plain(decision: &Decision, key: &str) -> bool {
    let is_decision = match decision {
        Decision::Once => true,
        Decision::Deny(message) => message.is_empty(),
        Decision::Always(_) | Decision::Selected(_) | Decision::Edited(_) | Decision::Kept(_) => false,
    };
    is_decision && !key.is_empty()
}

/// Returns the keys that pick and send the answer, one option of one question; `None` for other answers.
fn selected_options(answer: &Answer) -> Option<Vec<String>> {
    let keys: Option<Vec<String>> = answer
        .answers
        .iter()
        .map(|answer| match &answer.value {
            AnswerValue::Selected(options)
                if options.len() == 1 && answer.note.is_empty() && answer.notes.is_empty() =>
            {
                options.first().filter(|option| **option < 9).map(|option| (option + 1).to_string())
            }
            _ => None,
        })
        .collect();
    // Of several questions, the keys depend on the form in which they are shown.
    keys.filter(|keys| keys.len() == 1).map(|keys| [keys, vec!["enter".to_owned()]].concat())
}
