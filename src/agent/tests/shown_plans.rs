//! Calls run exactly as shown, under any order of plans, prompts, edits, answers and ends; something can always
//! proceed.

use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

/// Simulated runtime: plans in progress, running calls, and a folder that changes.
struct Simulation {
    state: State,
    log: Vec<Entry>,
    open_plans: Vec<ToolCall>,
    running_calls: Vec<CallId>,
    /// Plan shown on the last prompt of each call.
    shown_plans: HashMap<CallId, Plan>,
    /// Number of changes of the folder.
    folder_version: u8,
    reply_count: u32,
}

impl Simulation {
    fn new() -> Self {
        Self {
            state: idle_state(),
            log: vec![],
            open_plans: vec![],
            running_calls: vec![],
            shown_plans: HashMap::new(),
            folder_version: 0,
            reply_count: 0,
        }
    }

    fn apply_event(&mut self, event: Event) {
        for effect in update(&mut self.state, event) {
            match effect {
                Effect::AppendEntry(entry) => self.log.push(entry),
                Effect::PlanCall { call, .. } => self.open_plans.push(call),
                Effect::RunCall { call, plan, .. } => {
                    self.check_permitted(&call, &plan);
                    self.running_calls.push(call.id);
                }
                Effect::CancelTurn { .. } => {
                    self.open_plans.clear();
                    self.running_calls.clear();
                }
                Effect::RehearseCall { .. } => panic!("not a dry run"),
                Effect::CheckTrialSupport { .. }
                | Effect::TryCall { .. }
                | Effect::KeepTrial { .. }
                | Effect::DropTrial { .. }
                | Effect::RunUserCommand { .. }
                | Effect::RequestReply { .. }
                | Effect::ReviewCall { .. }
                | Effect::RequestTitle { .. }
                | Effect::SavePartialReply(_)
                | Effect::SaveOutput(_)
                | Effect::DetachCall { .. }
                | Effect::StopBackground { .. }
                | Effect::SwitchProfile { .. }
                | Effect::RetryNow => {}
            }
        }
        if let Some(WaitingCall::Approval { call, plan, .. }) = self.state.waiting_call() {
            assert_eq!(
                plan.summary,
                self.expected_summary(plan, &call.arguments),
                "the prompt shows the plan of its call"
            );
            self.shown_plans.insert(call.id.clone(), plan.clone());
        }
        assert!(self.can_proceed(), "nothing can proceed: {:?}", self.state.phase);
    }

    /// Returns whether a tool, a command, the model or the user has something to do.
    fn can_proceed(&self) -> bool {
        let is_running = matches!(self.state.phase, Phase::RunningCalls { .. });
        !is_running
            || !self.open_plans.is_empty()
            || !self.running_calls.is_empty()
            || self.state.waiting_call().is_some()
    }

    /// Returns the plan summary for these arguments at the folder state in which the plan was made.
    fn expected_summary(&self, plan: &Plan, arguments: &str) -> String {
        let version = plan.summary.rsplit(' ').next().unwrap_or_default();
        format!("{arguments} {version}")
    }

    /// Returns the plan of a call. Only the plans of the tool `lists` depend on the folder state.
    fn intent_for(&self, call: &ToolCall) -> Result<Intent, String> {
        let version = if call.name == "lists" { self.folder_version } else { 0 };
        let intent = match (call.name.as_str(), call.arguments.len() % 5) {
            (_, 4) => return Err("it does not fit".into()),
            ("asks", _) => return Ok(question_intent()),
            ("reads", _) => read_intent(),
            (_, _) => write_intent(),
        };
        let Intent::Act(mut plan) = intent else { return Ok(intent) };
        plan.summary = format!("{} {version}", call.arguments);
        Ok(Intent::Act(plan))
    }

    /// Checks R8: exactly this plan was on the prompt of the call when the user last approved it. Reads need none.
    fn check_permitted(&self, call: &ToolCall, plan: &Plan) {
        assert_eq!(plan.summary, self.expected_summary(plan, &call.arguments), "the plan is of these arguments");
        if matches!(plan.access, Access::Read(_)) && !self.shown_plans.contains_key(&call.id) {
            return;
        }
        assert_eq!(self.shown_plans.get(&call.id), Some(plan), "what runs was shown");
        let is_plan_or_decision = |entry: &&Entry| match entry {
            Entry::Planned { call: entry_call, .. } | Entry::Decided { call: entry_call, .. } => *entry_call == call.id,
            _ => false,
        };
        let Some(Entry::Decided { decision: Decision::Once, sha256, .. }) =
            self.log.iter().rev().find(is_plan_or_decision)
        else {
            panic!("not approved: {call:?}")
        };
        assert_eq!(*sha256, Digest::of_plan(&call.name, &call.arguments, plan.displayed_plan()));
        let mut earlier_calls = self.state.pending().iter().take_while(|other| other.call.id != call.id);
        assert!(earlier_calls.all(|other| other.stage == CallStage::Settled), "before its turn");
    }

    fn step(&mut self, action: u8, selector: u8) {
        let Some(turn) = self.state.current_turn() else {
            return self.apply_event(Event::UserMessage("go".into()));
        };
        if matches!(self.state.phase, Phase::Replying(_)) {
            self.reply_count += 1;
            for number in 0..4_u8 {
                let name = ["lists", "writes", "reads", "asks", "lists"][usize::from((selector / 7 + number) % 5)];
                let chunk = Chunk::Call(tool_call(&format!("{}-{number}", self.reply_count), name));
                self.apply_event(Event::ReplyChunk { turn, chunk, elapsed: Duration::ZERO });
            }
            let chunk = Chunk::Done(FinishReason::Stop);
            return self.apply_event(Event::ReplyChunk { turn, chunk, elapsed: Duration::ZERO });
        }
        let id = CallId(format!("{}-{}", self.reply_count, selector % 4));
        let shown_approval = self.state.waiting_call().and_then(|waiting| match waiting {
            WaitingCall::Approval { call, .. } => Some(call.id.clone()),
            WaitingCall::Answer { .. } => None,
        });
        let by = Decider::Headless;
        match action % 12 {
            0..=2 if !self.open_plans.is_empty() => {
                let call = self.open_plans.remove(usize::from(selector) % self.open_plans.len());
                let intent = self.intent_for(&call);
                self.apply_event(Event::CallPlanned { turn, call: call.id, intent });
            }
            3 if !self.running_calls.is_empty() => {
                let call = self.running_calls.remove(usize::from(selector) % self.running_calls.len());
                self.folder_version += selector % 2;
                let outcome = Outcome::Done(String::new());
                self.apply_event(Event::CallFinished {
                    turn,
                    call,
                    outcome,
                    result_source: None,
                    duration: Duration::ZERO,
                });
            }
            4 | 5 => {
                let call = shown_approval.unwrap_or(id);
                self.apply_event(Event::CallDecided { call, decision: Decision::Once, by });
            }
            6 => {
                let arguments = serde_json::json!({ "n": "x".repeat(usize::from(selector % 5)) });
                let (call, decision) = (shown_approval.unwrap_or(id), Decision::Edited(arguments));
                self.apply_event(Event::CallDecided { call, decision, by });
            }
            7 => self.apply_event(Event::CallDecided { call: id, decision: Decision::Deny(String::new()), by }),
            8 => self.apply_event(Event::QueueOpened),
            9 => self.apply_event(Event::EarlyPromptRequested(Some(id))),
            10 => self.apply_event(Event::EarlyPromptRequested(None)),
            11 if selector < 8 => self.apply_event(Event::TurnInterrupted),
            _ => {
                let answer = Answer::from_status(AnswerStatus::Declined);
                self.apply_event(Event::QuestionsAnswered { call: id, answer, by });
            }
        }
    }
}

proptest! {
    #[test]
    fn r08_calls_run_as_shown_and_always_proceed(
        steps in prop::collection::vec(any::<(u8, u8)>(), 0..160)
    ) {
        let mut simulation = Simulation::new();
        for (action, selector) in steps {
            simulation.step(action, selector);
        }
    }
}
