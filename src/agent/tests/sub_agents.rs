//! Sub-agents: routing of events, limits, and outcomes.

use super::*;
use crate::chat::audit::{Integrity, collect_records};

/// Creates an agent that can delegate tasks.
pub(super) fn idle() -> State {
    let mut state = super::idle();
    state.sub_agent_config = Some(SubAgentConfig { system_prompt: "beneath".into(), tools: vec![] });
    state
}

pub(super) fn task(name: &str) -> Intent {
    let Intent::Act(mut plan) = plan(Access::Nothing) else { panic!("it is a plan") };
    plan.summary = name.into();
    plan.preview = Preview::Text(format!("do {name}"));
    plan.work = Work::Task(Task { name: name.into(), instructions: format!("do {name}") });
    Intent::Act(plan)
}

/// Starts a turn that has delegated a task to a sub-agent of each of these names; their calls have the same names.
pub(super) fn handed(names: &[&str]) -> State {
    let mut state = idle();
    said(&mut state, "go");
    let calls: Vec<(&str, &str)> = names.iter().map(|name| (*name, "sub_agent")).collect();
    replies(&mut state, "", &calls);
    for name in names {
        planned(&mut state, name, task(name));
    }
    state
}

pub(super) fn beneath<'a>(state: &'a State, call: &str) -> &'a State {
    let of = |pending: &&PendingCall| pending.call.id.0 == call;
    &state.pending().iter().find(of).and_then(PendingCall::sub_agent).expect("a sub-agent").state
}

/// Lets the sub-agent of this call reply.
pub(super) fn says(state: &mut State, of: &str, text: &str, calls: &[(&str, &str)]) -> Vec<Effect> {
    let turn = turn(beneath(state, of));
    let mut effects = Vec::new();
    let calls = calls.iter().map(|(id, name)| Chunk::Call(call(id, name)));
    let usage = Usage { input: 100, cached: 0, output: 10 };
    let chunks = [Chunk::Text(text.into()), Chunk::Usage(usage)].into_iter().chain(calls);
    for chunk in chunks.chain([Chunk::Done(FinishReason::Stop)]) {
        effects.extend(update(state, Event::ReplyChunk { turn, chunk, after: Duration::from_millis(5) }));
    }
    effects
}

/// Plans a call of the sub-agent.
pub(super) fn looked(state: &mut State, of: &str, id: &str, intent: Intent) -> Vec<Effect> {
    let turn = turn(beneath(state, of));
    update(state, Event::CallPlanned { turn, call: id.into(), intent: Ok(intent) })
}

pub(super) fn ran(state: &mut State, of: &str, id: &str) -> Vec<Effect> {
    let turn = turn(beneath(state, of));
    let outcome = Outcome::Done(format!("did {id}"));
    update(
        state,
        Event::CallFinished { turn, call: id.into(), outcome, result_source: None, duration: Duration::from_millis(7) },
    )
}

pub(super) fn card(state: &State) -> Option<(String, Option<String>)> {
    state.waiting_call().map(|waiting| match waiting {
        WaitingCall::Approval { call, by, .. } | WaitingCall::Answer { call, by, .. } => {
            (call.id.0.clone(), by.map(str::to_owned))
        }
    })
}

pub(super) fn is(call: &str, by: Option<&str>) -> Option<(String, Option<String>)> {
    Some((call.to_owned(), by.map(str::to_owned)))
}

fn outcome<'a>(state: &'a State, call: &str) -> &'a Outcome {
    let settled = state.session.call(&call.into()).and_then(|call| call.settled_at).expect("it is settled");
    let Entry::Settled { outcome, .. } = state.session.entries()[settled].unwrap_sub_agent() else { panic!("settled") };
    outcome
}

#[test]
fn r17_task_has_its_own_session_and_its_last_reply_is_the_outcome() {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("h", "sub_agent")]);
    let effects = planned(&mut state, "h", task("one"));
    assert_eq!(shape(&effects), ["allow h", "h: said do one", "STREAM"]);
    let Some(Effect::RequestReply { request, turn: below }) = effects.last() else { panic!("it asks") };
    let system = Message::System("beneath".into());
    assert_eq!(request.messages, [system, Message::User("do one".into())], "it does not see the conversation");
    assert_ne!(Some(*below), state.current_turn());
    assert_eq!(shape(&says(&mut state, "h", "", &[("r", "read")])), ["h: replied /1", "PLAN r"]);
    assert_eq!(shape(&looked(&mut state, "h", "r", read())), ["h: allow r", "ACT r"]);
    assert_eq!(shape(&ran(&mut state, "h", "r")), ["h: done r", "STREAM"]);
    let effects = says(&mut state, "h", " Found it. ", &[]);
    assert_eq!(shape(&effects), ["h: replied  Found it. /0", "h: ended", "done h", "STREAM"]);
    assert_eq!(*outcome(&state, "h"), Outcome::Done("Found it.".into()));
    let Some(Effect::RequestReply { request, .. }) = effects.last() else { panic!("the turn goes on") };
    assert!(matches!(request.messages.last(), Some(Message::Tool { text, .. }) if text == "Found it."));
    assert_eq!(request.messages.len(), 4, "without further messages");
    let Some(Entry::Settled { took_ms, sha256, .. }) = state.session.entries().last() else { panic!("settled") };
    assert_eq!((*took_ms, sha256), (5 + 7 + 5, &state.session.last_plan_digest(&"h".into())));
    assert_eq!(state.session.usage().total(), 220, "its usage is counted");
}

#[test]
fn r17_sub_agent_depth_and_count_are_limited() {
    let mut state = handed(&["a", "b", "c", "d", "e", "f"]);
    let begun = |state: &State| {
        let has = |pending: &&PendingCall| pending.sub_agent().is_some_and(SubAgent::has_started);
        state.pending().iter().filter(has).count()
    };
    assert_eq!(begun(&state), MAX_PARALLEL_SUB_AGENTS);
    // One that has finished frees a slot.
    let effects = says(&mut state, "b", "done", &[]);
    assert_eq!(shape(&effects), ["b: replied done/0", "b: ended", "done b", "e: said do e", "STREAM"]);
    assert_eq!(begun(&state), MAX_PARALLEL_SUB_AGENTS);
    // A sub-agent cannot start another, whatever it calls.
    says(&mut state, "a", "", &[("x", "sub_agent")]);
    let effects = looked(&mut state, "a", "x", task("x"));
    assert_eq!(shape(&effects), ["a: refuse x", "a: refused x", "STREAM"]);
    assert!(outcome(&state, "x").text().contains("cannot start sub-agents"));
    let names: Vec<String> = (0..=MAX_TASKS_PER_TURN).map(|at| format!("n{at}")).collect();
    let mut state = handed(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let last = names.last().unwrap();
    assert!(outcome(&state, last).text().contains("12 tasks per turn"), "{:?}", outcome(&state, last));
    assert_eq!(
        state.session.calls().filter(|call| state.session.has_sub_agent(&call.call.id)).count(),
        MAX_PARALLEL_SUB_AGENTS
    );
    // The count starts again in the next turn.
    update(&mut state, Event::TurnInterrupted);
    said(&mut state, "again");
    replies(&mut state, "", &[("z", "sub_agent")]);
    assert_eq!(shape(&planned(&mut state, "z", task("z"))), ["allow z", "z: said do z", "STREAM"]);
}

#[test]
fn r65_sub_agent_requests_are_limited_and_turn_continues() {
    let mut state = handed(&["one"]);
    let mut effects = vec![];
    for round in 0..50 {
        let id = format!("r{round}");
        says(&mut state, "one", "on", &[(&id, "read")]);
        looked(&mut state, "one", &id, read());
        effects = ran(&mut state, "one", &id);
    }
    assert_eq!(shape(&effects)[1..], ["one: ended badly", "failed one", "STREAM"]);
    let words = outcome(&state, "one").text();
    assert!(words.starts_with("The sub-agent failed: Turn stopped: the model made 50 requests"), "{words}");
    assert!(words.ends_with("Its last reply:\non"), "{words}");
}

#[test]
fn r17_interrupting_stops_all_sub_agents_and_ignores_late_events() {
    let mut state = handed(&["a", "b", "c", "d", "e"]);
    says(&mut state, "a", "", &[("x", "write")]);
    looked(&mut state, "a", "x", write());
    says(&mut state, "b", "", &[("y", "read")]);
    looked(&mut state, "b", "y", read());
    let turns: Vec<TurnId> = ["a", "b", "c", "d"].map(|of| turn(beneath(&state, of))).into();
    let effects = update(&mut state, Event::TurnInterrupted);
    let cancelled = effects.iter().filter_map(|effect| match effect {
        Effect::CancelTurn { turn } => Some(*turn),
        _ => None,
    });
    assert_eq!(cancelled.skip(1).collect::<Vec<_>>(), turns, "each of them, after the turn's own");
    assert!(state.is_idle() && state.session.open_calls().is_empty());
    assert!(outcome(&state, "x").text().contains("before this call started"));
    assert!(outcome(&state, "y").text().contains("interrupted"));
    assert!(outcome(&state, "a").text().contains("interrupted the sub-agent"));
    assert!(outcome(&state, "e").text().contains("before this call started"), "it had no slot yet");
    let before = state.clone();
    for turn in turns {
        for event in [
            Event::ReplyChunk { turn, chunk: Chunk::Done(FinishReason::Stop), after: Duration::ZERO },
            Event::CallPlanned { turn, call: "x".into(), intent: Ok(write()) },
            Event::CallFinished {
                turn,
                call: "y".into(),
                outcome: Outcome::Done(String::new()),
                result_source: None,
                duration: Duration::ZERO,
            },
            Event::RequestFailed { turn, reason: "late".into(), too_long: false },
        ] {
            assert_eq!(update(&mut state, event), []);
        }
    }
    assert_eq!(state, before);
}

#[test]
fn r17_sub_agent_failure_is_an_outcome() {
    let mut state = handed(&["one"]);
    let below = turn(beneath(&state, "one"));
    let effects = update(
        &mut state,
        Event::RequestFailed { turn: below, reason: "the provider is gone".into(), too_long: false },
    );
    assert_eq!(shape(&effects), ["one: ended badly", "failed one", "STREAM"]);
    let words = "The sub-agent failed: the provider is gone.";
    assert_eq!(*outcome(&state, "one"), Outcome::Failed(words.into()));
    // The outcome is bounded, and its entries are no messages of the turn.
    let mut state = handed(&["one"]);
    says(&mut state, "one", &"long ".repeat(20_000), &[]);
    assert!(outcome(&state, "one").text().len() < 17_000);
    assert!(outcome(&state, "one").text().contains("characters truncated"));
}

#[test]
fn pending_retry_of_a_sub_agent_can_be_sent_now() {
    let mut state = handed(&["one", "two"]);
    assert!(!state.has_sub_agent_retry());
    assert_eq!(update(&mut state, Event::RetryNow), []);
    let turn = turn(beneath(&state, "two"));
    let chunk = Chunk::Retrying {
        attempt: 2,
        max_attempts: 5,
        wait: Duration::from_secs(60),
        why: "busy".into(),
        kind: String::new(),
    };
    update(&mut state, Event::ReplyChunk { turn, chunk, after: Duration::ZERO });
    assert!(state.has_sub_agent_retry());
    assert_eq!(shape(&update(&mut state, Event::RetryNow)), ["HURRY"]);
    assert!(state.current_turn().is_some_and(|own| own != turn));
}

#[test]
fn call_ids_are_unique_across_sub_agents() {
    let mut state = handed(&["call_0", "call_1"]);
    let ids = |effects: &[Effect]| -> Vec<String> {
        let plan = |effect: &Effect| match effect {
            Effect::PlanCall { call, .. } => Some(call.id.0.clone()),
            _ => None,
        };
        effects.iter().filter_map(plan).collect()
    };
    let first = says(&mut state, "call_0", "", &[("call_0", "read")]);
    let second = says(&mut state, "call_1", "", &[("call_0", "read")]);
    assert_eq!(ids(&first), ["call_0-2"]);
    assert_eq!(ids(&second), ["call_0-3"]);
    // An event for one of them does not reach another.
    looked(&mut state, "call_1", "call_0-3", write());
    assert_eq!(card(&state), is("call_0-3", Some("call_1")));
    assert_eq!(beneath(&state, "call_0").pending()[0].step, CallStage::Planning);
}

#[test]
fn sub_agent_session_is_summarized_like_a_turn() {
    let mut state = handed(&["one"]);
    let below = turn(beneath(&state, "one"));
    let effects = update(&mut state, Event::RequestFailed { turn: below, reason: "too long".into(), too_long: true });
    assert_eq!(shape(&effects), ["one: ended badly", "failed one", "STREAM"]);
    assert!(outcome(&state, "one").text().contains("exceeds the model's context window"));
}

#[test]
fn resume_restores_sub_agent_question_without_rerunning_calls() {
    let mut state = handed(&["one", "two"]);
    says(&mut state, "one", "", &[("a", "ask")]);
    looked(&mut state, "one", "a", question());
    says(&mut state, "two", "", &[("b", "write")]);
    looked(&mut state, "two", "b", write());
    let (mut state, effects) = resume(state.session, idle());
    assert_eq!(shape(&effects), ["two: interrupted b", "two: ended by the person", "interrupted two"]);
    assert_eq!(card(&state), is("a", Some("one")));
    let answer = Answer::from_status(AnswerStatus::Declined);
    let effects = update(&mut state, Event::QuestionsAnswered { call: "a".into(), answer, by: Decider::File });
    assert_eq!(shape(&effects), ["one: answered a", "one: done a", "STREAM"], "and the turn continues");
    let effects = says(&mut state, "one", "through", &[]);
    assert_eq!(shape(&effects), ["one: replied through/0", "one: ended", "done one", "STREAM"]);
    for record in collect_records(state.session.entries()) {
        assert!(!matches!(record.verify(), Integrity::Broken(_)), "{record:?}");
    }
    // A process that cannot start sub-agents settles the existing ones.
    let mut state = handed(&["one"]);
    says(&mut state, "one", "", &[("a", "write")]);
    let (state, _) = resume(state.session, super::idle());
    assert!(state.is_idle() && state.session.open_calls().is_empty());
}
