//! Sub-agents under random orders of replies, plans, prompts, ends and stops. Some steps resume the session, and each
//! case ends with an interrupted copy and a resumed one.

use super::*;
use crate::chat::audit::{Integrity, collect_records};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

/// Simulated runtime: requests, plans and calls in progress.
struct Simulation {
    state: State,
    log: Vec<Entry>,
    open_requests: Vec<TurnId>,
    open_plans: Vec<(TurnId, ToolCall)>,
    running_calls: Vec<(TurnId, CallId)>,
    /// Interrupted turns, whose events no longer count.
    ended_turns: HashSet<TurnId>,
    /// The last plan that an approval prompt showed, by call.
    shown_plans: HashMap<CallId, Plan>,
}

fn new_state() -> State {
    let mut state = idle_state();
    state.config.sub_agent_prompt = Some("You are a sub-agent.".into());
    state
}

impl Simulation {
    fn from_state(state: State) -> Self {
        let log = state.session.entries().to_vec();
        let (open_requests, open_plans, running_calls) = (vec![], vec![], vec![]);
        Self {
            state,
            log,
            open_requests,
            open_plans,
            running_calls,
            ended_turns: HashSet::new(),
            shown_plans: HashMap::new(),
        }
    }

    fn apply_event(&mut self, event: Event) {
        let effects = update(&mut self.state, event);
        self.apply_effects(effects);
    }

    fn apply_effects(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::AppendEntry(entry) => self.log.push(entry),
                Effect::RequestReply { turn, request } => {
                    super::invariants::check_well_formed(&request.messages);
                    assert!(!self.ended_turns.contains(&turn), "nothing starts for a turn that has ended");
                    self.open_requests.push(turn);
                }
                Effect::PlanCall { turn, call, .. } => self.open_plans.push((turn, call)),
                Effect::RunCall { turn, call, plan, .. } => {
                    self.check_permitted(&call, &plan);
                    self.running_calls.push((turn, call.id));
                }
                Effect::CancelTurn { turn } => {
                    self.ended_turns.insert(turn);
                    self.open_requests.retain(|other| *other != turn);
                    self.open_plans.retain(|(other, _)| *other != turn);
                    self.running_calls.retain(|(other, _)| *other != turn);
                }
                Effect::ReviewCall { .. } => panic!("no reviewers are configured"),
                Effect::RehearseCall { .. } => panic!("not a dry run"),
                Effect::CheckTrialSupport { .. }
                | Effect::TryCall { .. }
                | Effect::KeepTrial { .. }
                | Effect::DropTrial { .. }
                | Effect::RunUserCommand { .. }
                | Effect::RequestTitle { .. }
                | Effect::SavePartialReply(_)
                | Effect::SaveOutput(_)
                | Effect::DetachCall { .. }
                | Effect::StopBackground { .. }
                | Effect::SwitchProfile { .. }
                | Effect::RetryNow => {}
            }
        }
        if let Some(WaitingCall::Approval { call, plan, sub_agent, .. }) = self.state.waiting_call() {
            self.shown_plans.insert(call.id.clone(), plan.clone());
            let expected = self.state.session.sub_agent_name(&call.id);
            assert_eq!(sub_agent, expected, "the prompt names the sub-agent");
        }
        let working = self
            .state
            .pending()
            .iter()
            .filter(|pending| pending.sub_agent().is_some_and(|sub_agent| sub_agent.has_started()));
        assert!(working.count() <= MAX_PARALLEL_SUB_AGENTS);
        let can_proceed =
            !self.open_requests.is_empty() || !self.open_plans.is_empty() || !self.running_calls.is_empty();
        assert!(self.state.is_idle() || can_proceed || self.state.waiting_call().is_some(), "nothing can proceed");
        let (position, count) = self.state.waiting_position();
        assert!(position <= count && (count > 0) == self.state.waiting_call().is_some());
    }

    /// R8 and R17: a call runs only after its own prompt was shown and approved, or if it only reads.
    fn check_permitted(&self, call: &ToolCall, plan: &Plan) {
        if matches!(plan.access, Access::Read(_)) {
            return;
        }
        let is_plan_or_decision = |entry: &&Entry| matches!(entry.unwrap_sub_agent(), Entry::Planned { call: entry_call, .. } | Entry::Decided { call: entry_call, .. } if *entry_call == call.id);
        let last_entry = self.log.iter().rev().find(is_plan_or_decision).map(Entry::unwrap_sub_agent);
        match last_entry {
            Some(Entry::Planned { verdict, .. }) if verdict == "allow" => {
                let subject = crate::policy::Subject::from_plan(&call.name, plan);
                let is_covered =
                    |session_grant: &SessionGrant| crate::policy::grant_covers(&session_grant.grant, &subject);
                assert!(self.state.session.grants().iter().any(is_covered), "covered by a grant");
            }
            Some(Entry::Decided { decision: Decision::Once | Decision::Always(_), .. }) => {
                assert_eq!(self.shown_plans.get(&call.id), Some(plan), "what runs was shown");
            }
            other => panic!("not approved: {other:?}"),
        }
    }

    fn intent_for(call: &ToolCall) -> Intent {
        match call.name.as_str() {
            "delegate" => {
                let Intent::Act(mut plan) = plan_intent(Access::Nothing) else { unreachable!() };
                plan.summary = format!("the one of {}", call.id);
                plan.work = Work::Task(Task { name: plan.summary.clone(), instructions: "do it".into() });
                Intent::Act(plan)
            }
            "asks" => question_intent(),
            "reads" => read_intent(),
            _ => write_intent(),
        }
    }

    /// Makes one random step. `action` chooses its kind, and `selector` everything else.
    fn step(&mut self, action: u8, selector: u8) {
        let pick_index = |count: usize| usize::from(selector) % count;
        let by = Decider::Headless;
        match action % 16 {
            _ if self.state.is_idle() => self.apply_event(Event::UserMessage("go".into())),
            0..=4 if !self.open_requests.is_empty() => {
                let turn = self.open_requests[pick_index(self.open_requests.len())];
                let chunk_event = |chunk| Event::ReplyChunk { turn, chunk, elapsed: Duration::ZERO };
                self.apply_event(chunk_event(Chunk::Text("words".into())));
                for number in 0..selector % 4 {
                    let name =
                        ["delegate", "reads", "writes", "delegate", "asks"][usize::from((selector / 4 + number) % 5)];
                    // Every reply counts its calls from zero, as some providers do.
                    self.apply_event(chunk_event(Chunk::Call(tool_call(&format!("call_{number}"), name))));
                }
                self.open_requests.retain(|other| *other != turn);
                self.apply_event(chunk_event(Chunk::Done(FinishReason::Stop)));
            }
            5 if !self.open_requests.is_empty() && selector < 64 => {
                let turn = self.open_requests.remove(pick_index(self.open_requests.len()));
                self.apply_event(Event::RequestFailed {
                    turn,
                    reason: "no".into(),
                    too_long: selector.is_multiple_of(2),
                });
            }
            6..=8 if !self.open_plans.is_empty() => {
                let (turn, call) = self.open_plans.remove(pick_index(self.open_plans.len()));
                let intent = Ok(Self::intent_for(&call));
                self.apply_event(Event::CallPlanned { turn, call: call.id, intent });
            }
            9 | 10 if !self.running_calls.is_empty() => {
                let (turn, call) = self.running_calls.remove(pick_index(self.running_calls.len()));
                let outcome = Outcome::Done("did it".into());
                self.apply_event(Event::CallFinished {
                    turn,
                    call,
                    outcome,
                    result_source: None,
                    duration: Duration::ZERO,
                });
            }
            11 | 12 => self.answer_prompt(selector),
            13 if selector < 12 => self.apply_event(Event::TurnInterrupted),
            13 => {
                let ids: Vec<CallId> = self.state.active_calls().map(|(_, pending)| pending.call.id.clone()).collect();
                if let Some(call) = ids.get(pick_index(ids.len().max(1))).cloned() {
                    let decision =
                        if selector.is_multiple_of(2) { Decision::Once } else { Decision::Deny(String::new()) };
                    self.apply_event(Event::CallDecided { call, decision, by });
                }
            }
            14 => {
                let ids: Vec<CallId> = self.state.active_calls().map(|(_, pending)| pending.call.id.clone()).collect();
                self.apply_event(Event::EarlyPromptRequested(ids.get(pick_index(ids.len() + 1)).cloned()));
            }
            15 if selector < 40 => self.restart(),
            _ => self.apply_event(Event::QueueOpened),
        }
    }

    /// The user answers the shown prompt.
    fn answer_prompt(&mut self, selector: u8) {
        let by = Decider::Headless;
        let event = match self.state.waiting_call() {
            Some(WaitingCall::Approval { call, .. }) => {
                let decision = match selector % 4 {
                    0 => Decision::Deny(String::new()),
                    1 => Decision::Edited(serde_json::json!({ "n": selector })),
                    2 if selector > 200 => Decision::Always(Grant::new(&call.name, GrantScope::File("a".into()))),
                    _ => Decision::Once,
                };
                Event::CallDecided { call: call.id.clone(), decision, by }
            }
            Some(WaitingCall::Answer { call, .. }) => Event::QuestionsAnswered {
                call: call.id.clone(),
                answer: Answer::from_status(AnswerStatus::Declined),
                by,
            },
            None => return,
        };
        self.apply_event(event);
    }

    /// The program exits here, and another process opens the session.
    fn restart(&mut self) {
        let (state, effects) = resume(Session::replay(self.log.clone()), new_state());
        let starts_work = |effect: &Effect| !matches!(effect, Effect::AppendEntry(_));
        assert!(!effects.iter().any(starts_work), "resuming runs nothing: {effects:?}");
        let log = std::mem::take(&mut self.log);
        *self = Self { log, ..Self::from_state(state) };
        self.apply_effects(effects);
        self.check_invariants();
    }

    fn check_invariants(&self) {
        let mut settled_calls = HashSet::new();
        for entry in &self.log {
            if let Entry::Settled { call, .. } = entry.unwrap_sub_agent() {
                assert!(settled_calls.insert(call.clone()), "{call} is settled twice");
            }
        }
        assert_eq!(Session::replay(self.log.clone()), self.state.session);
        let json = serde_json::to_string(&self.log).unwrap();
        let entries: Vec<Entry> = serde_json::from_str(&json).unwrap();
        let records = collect_records(&entries);
        assert_eq!(records.len(), self.state.session.calls().count(), "call IDs are unique");
        for record in records {
            assert!(!matches!(record.verify(), Integrity::Broken(_)), "{record:?}");
        }
        if self.state.is_idle() {
            let open_count = self.state.session.calls().filter(|call| call.settled_at.is_none()).count();
            assert_eq!(open_count, 0, "no open call in an idle session");
        }
    }
}

proptest! {
    #[test]
    fn r17_sub_agents_run_only_shown_calls_and_always_proceed(
        steps in prop::collection::vec(any::<(u8, u8)>(), 0..200)
    ) {
        let mut simulation = Simulation::from_state(new_state());
        for (action, selector) in steps {
            simulation.step(action, selector);
        }
        simulation.check_invariants();
        let mut interrupted = Simulation { log: simulation.log.clone(), ..Simulation::from_state(simulation.state.clone()) };
        interrupted.ended_turns = simulation.ended_turns.clone();
        if !interrupted.state.is_idle() {
            interrupted.apply_event(Event::TurnInterrupted);
            assert!(interrupted.state.is_idle() || !interrupted.state.queued_messages.is_empty());
            interrupted.check_invariants();
        }
        simulation.restart();
    }
}
