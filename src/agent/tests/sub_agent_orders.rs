//! Sub-agents under random orders of replies, plans, prompts, ends and stops; stopped and resumed after every step.

use super::*;
use crate::chat::audit::{Integrity, collect_records};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

/// Simulated runtime: requests, plans and calls in progress.
struct World {
    state: State,
    log: Vec<Entry>,
    streams: Vec<TurnId>,
    looks: Vec<(TurnId, ToolCall)>,
    runs: Vec<(TurnId, CallId)>,
    /// Interrupted turns, whose events no longer count.
    over: HashSet<TurnId>,
    shown: HashMap<CallId, Plan>,
    replies: u32,
}

fn blank() -> State {
    let mut state = idle();
    state.sub_agent_config = Some(SubAgentConfig { system_prompt: "beneath".into(), tools: vec![] });
    state
}

impl World {
    fn of(state: State) -> Self {
        let log = state.session.entries().to_vec();
        let (streams, looks, runs) = (vec![], vec![], vec![]);
        Self { state, log, streams, looks, runs, over: HashSet::new(), shown: HashMap::new(), replies: 0 }
    }

    fn happens(&mut self, event: Event) {
        let effects = update(&mut self.state, event);
        self.takes(effects);
    }

    fn takes(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::AppendEntry(entry) => self.log.push(entry),
                Effect::RequestReply { turn, request } => {
                    super::invariants::well_formed(&request.messages);
                    assert!(!self.over.contains(&turn), "nothing starts for a turn that has ended");
                    self.streams.push(turn);
                }
                Effect::PlanCall { turn, call } => self.looks.push((turn, call)),
                Effect::RunCall { turn, call, plan, .. } => {
                    self.allowed(&call, &plan);
                    self.runs.push((turn, call.id));
                }
                Effect::CancelTurn { turn } => {
                    self.over.insert(turn);
                    self.streams.retain(|other| *other != turn);
                    self.looks.retain(|(other, _)| *other != turn);
                    self.runs.retain(|(other, _)| *other != turn);
                }
                Effect::ReviewCall { .. } => panic!("no reviewers are configured"),
                Effect::RehearseCall { .. } => panic!("not a dry run"),
                Effect::RequestTitle { .. }
                | Effect::SavePartialReply(_)
                | Effect::SaveOutput(_)
                | Effect::RetryNow => {}
            }
        }
        if let Some(WaitingCall::Approval { call, plan, by, .. }) = self.state.waiting_call() {
            self.shown.insert(call.id.clone(), plan.clone());
            let whose = self.state.session.sub_agent_name(&call.id);
            assert_eq!(by, whose, "the prompt names the sub-agent");
        }
        let at_work = self
            .state
            .pending()
            .iter()
            .filter(|pending| pending.sub_agent().is_some_and(|sub_agent| sub_agent.has_started()));
        assert!(at_work.count() <= MAX_PARALLEL_SUB_AGENTS);
        let moves = !self.streams.is_empty() || !self.looks.is_empty() || !self.runs.is_empty();
        assert!(self.state.is_idle() || moves || self.state.waiting_call().is_some(), "nothing can proceed");
        let (at, of) = self.state.waiting_position();
        assert!(at <= of && (of > 0) == self.state.waiting_call().is_some());
    }

    /// R8 and R17: a call runs only after its own prompt was shown and approved, or if it only reads.
    fn allowed(&self, call: &ToolCall, plan: &Plan) {
        if matches!(plan.access, Access::Read(_)) {
            return;
        }
        let of = |entry: &&Entry| matches!(entry.unwrap_sub_agent(), Entry::Planned { call: of, .. } | Entry::Decided { call: of, .. } if *of == call.id);
        let last = self.log.iter().rev().find(of).map(Entry::unwrap_sub_agent);
        match last {
            Some(Entry::Planned { verdict, .. }) if verdict == "allow" => {
                let of = crate::policy::Subject::from_plan(&call.name, plan);
                let covers = |standing: &SessionGrant| crate::policy::grant_covers(&standing.grant, &of);
                assert!(self.state.grants().iter().any(covers), "covered by a grant");
            }
            Some(Entry::Decided { decision: Decision::Once | Decision::Always(_), .. }) => {
                assert_eq!(self.shown.get(&call.id), Some(plan), "what runs was shown");
            }
            other => panic!("not approved: {other:?}"),
        }
    }

    fn intent(call: &ToolCall) -> Intent {
        match call.name.as_str() {
            "hands on" => {
                let Intent::Act(mut plan) = plan(Access::Nothing) else { unreachable!() };
                plan.summary = format!("the one of {}", call.id);
                plan.work = Work::Task(Task { name: plan.summary.clone(), instructions: "do it".into() });
                Intent::Act(plan)
            }
            "asks" => question(),
            "reads" => read(),
            _ => write(),
        }
    }

    fn step(&mut self, what: u8, which: u8) {
        let pick = |count: usize| usize::from(which) % count;
        let by = Decider::Headless;
        match what % 16 {
            _ if self.state.is_idle() => self.happens(Event::UserMessage("go".into())),
            0..=4 if !self.streams.is_empty() => {
                let turn = self.streams[pick(self.streams.len())];
                self.replies += 1;
                let chunk = |chunk| Event::ReplyChunk { turn, chunk, after: Duration::ZERO };
                self.happens(chunk(Chunk::Text("words".into())));
                for at in 0..which % 4 {
                    let name = ["hands on", "reads", "writes", "hands on", "asks"][usize::from((which / 4 + at) % 5)];
                    // Every reply counts its calls from zero, as some providers do.
                    self.happens(chunk(Chunk::Call(call(&format!("call_{at}"), name))));
                }
                self.streams.retain(|other| *other != turn);
                self.happens(chunk(Chunk::Done(FinishReason::Stop)));
            }
            5 if !self.streams.is_empty() && which < 64 => {
                let turn = self.streams.remove(pick(self.streams.len()));
                self.happens(Event::RequestFailed { turn, reason: "no".into(), too_long: which.is_multiple_of(2) });
            }
            6..=8 if !self.looks.is_empty() => {
                let (turn, call) = self.looks.remove(pick(self.looks.len()));
                let intent = Ok(Self::intent(&call));
                self.happens(Event::CallPlanned { turn, call: call.id, intent });
            }
            9 | 10 if !self.runs.is_empty() => {
                let (turn, call) = self.runs.remove(pick(self.runs.len()));
                let outcome = Outcome::Done("did it".into());
                self.happens(Event::CallFinished {
                    turn,
                    call,
                    outcome,
                    result_source: None,
                    duration: Duration::ZERO,
                });
            }
            11 | 12 => self.answer(which),
            13 if which < 12 => self.happens(Event::TurnInterrupted),
            13 => {
                let all: Vec<CallId> = self.state.active_calls().map(|(_, it)| it.call.id.clone()).collect();
                if let Some(call) = all.get(pick(all.len().max(1))).cloned() {
                    let decision = if which.is_multiple_of(2) { Decision::Once } else { Decision::Deny(String::new()) };
                    self.happens(Event::CallDecided { call, decision, by });
                }
            }
            14 => {
                let all: Vec<CallId> = self.state.active_calls().map(|(_, it)| it.call.id.clone()).collect();
                self.happens(Event::EarlyPromptRequested(all.get(pick(all.len() + 1)).cloned()));
            }
            15 if which < 40 => self.resumes(),
            _ => self.happens(Event::QueueOpened),
        }
    }

    /// The user answers the shown prompt.
    fn answer(&mut self, which: u8) {
        let by = Decider::Headless;
        let event = match self.state.waiting_call() {
            Some(WaitingCall::Approval { call, .. }) => {
                let decision = match which % 4 {
                    0 => Decision::Deny(String::new()),
                    1 => Decision::Edited(serde_json::json!({ "n": which })),
                    2 if which > 200 => Decision::Always(Grant::new(&call.name, GrantScope::File("a".into()))),
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
        self.happens(event);
    }

    /// The program exits here, and another process opens the session.
    fn resumes(&mut self) {
        let (state, effects) = resume(Session::replay(self.log.clone()), blank());
        let runs = |effect: &Effect| !matches!(effect, Effect::AppendEntry(_));
        assert!(!effects.iter().any(runs), "resuming runs nothing: {effects:?}");
        let log = std::mem::take(&mut self.log);
        *self = Self { log, replies: self.replies, ..Self::of(state) };
        self.takes(effects);
        self.holds();
    }

    fn holds(&self) {
        let mut settled = HashSet::new();
        for entry in &self.log {
            if let Entry::Settled { call, .. } = entry.unwrap_sub_agent() {
                assert!(settled.insert(call.clone()), "{call} is settled twice");
            }
        }
        assert_eq!(Session::replay(self.log.clone()), self.state.session);
        let kept = serde_json::to_string(&self.log).unwrap();
        let kept: Vec<Entry> = serde_json::from_str(&kept).unwrap();
        let all = collect_records(&kept);
        assert_eq!(all.len(), self.state.session.calls().count(), "call IDs are unique");
        for record in all {
            assert!(!matches!(record.verify(), Integrity::Broken(_)), "{record:?}");
        }
        if self.state.is_idle() {
            let open = self.state.session.calls().filter(|call| call.settled_at.is_none()).count();
            assert_eq!(open, 0, "at most one open call");
        }
    }
}

proptest! {
    #[test]
    fn r17_sub_agents_run_only_shown_calls_and_always_proceed(
        steps in prop::collection::vec(any::<(u8, u8)>(), 0..200)
    ) {
        let mut world = World::of(blank());
        for (what, which) in steps {
            world.step(what, which);
        }
        world.holds();
        let mut stopped = World { log: world.log.clone(), ..World::of(world.state.clone()) };
        stopped.over = world.over.clone();
        stopped.state = world.state.clone();
        if !stopped.state.is_idle() {
            stopped.happens(Event::TurnInterrupted);
            assert!(stopped.state.is_idle() || !stopped.state.queued_messages.is_empty());
            stopped.holds();
        }
        world.resumes();
    }
}
