//! Calls run exactly as shown, under any order of plans, prompts, edits, answers and ends; something can always
//! proceed.

use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

/// Simulated runtime: plans in progress, running calls, and a folder that changes.
struct World {
    state: State,
    log: Vec<Entry>,
    looks: Vec<ToolCall>,
    runs: Vec<CallId>,
    /// Plan shown on the last prompt of each call.
    shown: HashMap<CallId, Plan>,
    /// Number of changes of the folder.
    age: u8,
    replies: u32,
}

impl World {
    fn new() -> Self {
        Self { state: idle(), log: vec![], looks: vec![], runs: vec![], shown: HashMap::new(), age: 0, replies: 0 }
    }

    fn happens(&mut self, event: Event) {
        for effect in update(&mut self.state, event) {
            match effect {
                Effect::AppendEntry(entry) => self.log.push(entry),
                Effect::PlanCall { call, .. } => self.looks.push(call),
                Effect::RunCall { call, plan, .. } => {
                    self.allowed(&call, &plan);
                    self.runs.push(call.id);
                }
                Effect::CancelTurn { .. } => {
                    self.looks.clear();
                    self.runs.clear();
                }
                Effect::RehearseCall { .. } => panic!("not a dry run"),
                Effect::RequestReply { .. }
                | Effect::ReviewCall { .. }
                | Effect::RequestTitle { .. }
                | Effect::SavePartialReply(_)
                | Effect::SaveOutput(_)
                | Effect::RetryNow => {}
            }
        }
        if let Some(WaitingCall::Approval { call, plan, .. }) = self.state.waiting_call() {
            assert_eq!(plan.summary, self.summary(plan, &call.arguments), "the prompt shows the plan of its call");
            self.shown.insert(call.id.clone(), plan.clone());
        }
        assert!(self.moves(), "nothing moves: {:?}", self.state.phase);
    }

    /// Returns whether a tool, a command, the model or the user has something to do.
    fn moves(&self) -> bool {
        let acting = matches!(self.state.phase, Phase::RunningCalls { .. });
        !acting || !self.looks.is_empty() || !self.runs.is_empty() || self.state.waiting_call().is_some()
    }

    /// Returns the plan summary for these arguments at the folder state in which the plan was made.
    fn summary(&self, plan: &Plan, arguments: &str) -> String {
        let age = plan.summary.rsplit(' ').next().unwrap_or_default();
        format!("{arguments} {age}")
    }

    /// Returns the plan of a call. Only some tools depend on the folder state.
    fn intent(&self, call: &ToolCall) -> Result<Intent, String> {
        let age = if call.name == "minds" { self.age } else { 0 };
        let intent = match (call.name.as_str(), call.arguments.len() % 5) {
            (_, 4) => return Err("it does not fit".into()),
            ("asks", _) => return Ok(question()),
            ("reads", _) => read(),
            (_, _) => write(),
        };
        let Intent::Act(mut plan) = intent else { return Ok(intent) };
        plan.summary = format!("{} {age}", call.arguments);
        Ok(Intent::Act(plan))
    }

    /// R8: exactly this plan was on the prompt of the call when the user approved it last.
    fn allowed(&self, call: &ToolCall, plan: &Plan) {
        assert_eq!(plan.summary, self.summary(plan, &call.arguments), "the plan is of these arguments");
        if matches!(plan.access, Access::Read(_)) && !self.shown.contains_key(&call.id) {
            return;
        }
        assert_eq!(self.shown.get(&call.id), Some(plan), "what runs was shown");
        let of = |entry: &&Entry| match entry {
            Entry::Planned { call: of, .. } | Entry::Decided { call: of, .. } => *of == call.id,
            _ => false,
        };
        let Some(Entry::Decided { decision: Decision::Once, sha256, .. }) = self.log.iter().rev().find(of) else {
            panic!("not approved: {call:?}")
        };
        assert_eq!(*sha256, Digest::of_plan(&call.name, &call.arguments, plan.displayed_plan()));
        let mut earlier = self.state.pending().iter().take_while(|other| other.call.id != call.id);
        assert!(earlier.all(|other| other.step == CallStage::Settled), "before its turn");
    }

    fn step(&mut self, what: u8, which: u8) {
        let Some(turn) = self.state.current_turn() else {
            return self.happens(Event::UserMessage("go".into()));
        };
        if matches!(self.state.phase, Phase::Replying(_)) {
            self.replies += 1;
            for at in 0..4_u8 {
                let name = ["minds", "writes", "reads", "asks", "minds"][usize::from((which / 7 + at) % 5)];
                let chunk = Chunk::Call(call(&format!("{}-{at}", self.replies), name));
                self.happens(Event::ReplyChunk { turn, chunk, after: Duration::ZERO });
            }
            let chunk = Chunk::Done(FinishReason::Stop);
            return self.happens(Event::ReplyChunk { turn, chunk, after: Duration::ZERO });
        }
        let id = CallId(format!("{}-{}", self.replies, which % 4));
        let card = self.state.waiting_call().and_then(|waiting| match waiting {
            WaitingCall::Approval { call, .. } => Some(call.id.clone()),
            WaitingCall::Answer { .. } => None,
        });
        let by = Decider::Headless;
        match what % 12 {
            0..=2 if !self.looks.is_empty() => {
                let call = self.looks.remove(usize::from(which) % self.looks.len());
                let intent = self.intent(&call);
                self.happens(Event::CallPlanned { turn, call: call.id, intent });
            }
            3 if !self.runs.is_empty() => {
                let call = self.runs.remove(usize::from(which) % self.runs.len());
                self.age += which % 2;
                let outcome = Outcome::Done(String::new());
                self.happens(Event::CallFinished {
                    turn,
                    call,
                    outcome,
                    result_source: None,
                    duration: Duration::ZERO,
                });
            }
            4 | 5 => {
                let call = card.unwrap_or(id);
                self.happens(Event::CallDecided { call, decision: Decision::Once, by });
            }
            6 => {
                let arguments = serde_json::json!({ "n": "x".repeat(usize::from(which % 5)) });
                let (call, decision) = (card.unwrap_or(id), Decision::Edited(arguments));
                self.happens(Event::CallDecided { call, decision, by });
            }
            7 => self.happens(Event::CallDecided { call: id, decision: Decision::Deny(String::new()), by }),
            8 => self.happens(Event::QueueOpened),
            9 => self.happens(Event::EarlyPromptRequested(Some(id))),
            10 => self.happens(Event::EarlyPromptRequested(None)),
            11 if which < 8 => self.happens(Event::TurnInterrupted),
            _ => {
                let answer = Answer::from_status(AnswerStatus::Declined);
                self.happens(Event::QuestionsAnswered { call: id, answer, by });
            }
        }
    }
}

proptest! {
    #[test]
    fn r08_calls_run_as_shown_and_always_proceed(
        steps in prop::collection::vec(any::<(u8, u8)>(), 0..160)
    ) {
        let mut world = World::new();
        for (what, which) in steps {
            world.step(what, which);
        }
    }
}
