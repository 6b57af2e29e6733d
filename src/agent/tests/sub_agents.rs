//! Sub-agents: routing of events, limits, and outcomes.

use super::*;
use crate::chat::audit::{Integrity, collect_records};

/// Creates an agent that can delegate tasks.
pub(super) fn delegating_state() -> State {
    let mut state = super::idle_state();
    state.config.sub_agent_prompt = Some("You are a sub-agent.".into());
    state
}

pub(super) fn task_intent(name: &str) -> Intent {
    let Intent::Act(mut plan) = plan_intent(Access::Nothing) else { panic!("it is a plan") };
    plan.summary = name.into();
    plan.preview = Preview::Text(format!("do {name}"));
    plan.work = Work::Task(Task { name: name.into(), instructions: format!("do {name}") });
    Intent::Act(plan)
}

/// Starts a turn that delegates a task to a sub-agent for each of these names. Each name is also the ID of the call.
pub(super) fn delegate_tasks(names: &[&str]) -> State {
    let mut state = delegating_state();
    send_user_message(&mut state, "go");
    let calls: Vec<(&str, &str)> = names.iter().map(|name| (*name, "sub_agent")).collect();
    receive_reply(&mut state, "", &calls);
    for name in names {
        receive_plan(&mut state, name, task_intent(name));
    }
    state
}

pub(super) fn sub_agent_state<'a>(state: &'a State, call: &str) -> &'a State {
    let is_call = |pending: &&PendingCall| pending.call.id.0 == call;
    &state.pending().iter().find(is_call).and_then(PendingCall::sub_agent).expect("a sub-agent").state
}

/// Lets the sub-agent of this call reply.
pub(super) fn reply_in_sub_agent(state: &mut State, parent: &str, text: &str, calls: &[(&str, &str)]) -> Vec<Effect> {
    let turn = running_turn(sub_agent_state(state, parent));
    let mut effects = Vec::new();
    let calls = calls.iter().map(|(id, name)| Chunk::Call(tool_call(id, name)));
    let usage = Usage { input: 100, cached: 0, output: 10 };
    let chunks = [Chunk::Text(text.into()), Chunk::Usage(usage)].into_iter().chain(calls);
    for chunk in chunks.chain([Chunk::Done(FinishReason::Stop)]) {
        effects.extend(update(state, Event::ReplyChunk { turn, chunk, elapsed: Duration::from_millis(5) }));
    }
    effects
}

/// Plans a call of the sub-agent.
pub(super) fn plan_in_sub_agent(state: &mut State, parent: &str, id: &str, intent: Intent) -> Vec<Effect> {
    let turn = running_turn(sub_agent_state(state, parent));
    update(state, Event::CallPlanned { turn, call: id.into(), intent: Ok(intent) })
}

pub(super) fn finish_in_sub_agent(state: &mut State, parent: &str, id: &str) -> Vec<Effect> {
    let turn = running_turn(sub_agent_state(state, parent));
    let outcome = Outcome::Done(format!("did {id}"));
    update(
        state,
        Event::CallFinished { turn, call: id.into(), outcome, result_source: None, duration: Duration::from_millis(7) },
    )
}

/// Returns the ID of the call whose prompt is shown, and the name of its sub-agent, if any.
pub(super) fn shown_prompt(state: &State) -> Option<(String, Option<String>)> {
    state.waiting_call().map(|waiting| match waiting {
        WaitingCall::Approval { call, sub_agent, .. } | WaitingCall::Answer { call, sub_agent, .. } => {
            (call.id.0.clone(), sub_agent.map(str::to_owned))
        }
    })
}

/// Returns the value of `shown_prompt` for the prompt of this call.
pub(super) fn prompt_for(call: &str, sub_agent: Option<&str>) -> Option<(String, Option<String>)> {
    Some((call.to_owned(), sub_agent.map(str::to_owned)))
}

fn call_outcome<'a>(state: &'a State, call: &str) -> &'a Outcome {
    let index = state.session.find_call(&call.into()).and_then(|call| call.settled_at).expect("it is settled");
    let Entry::Settled { outcome, .. } = state.session.entries()[index].unwrap_sub_agent() else { panic!("settled") };
    outcome
}

#[test]
fn r17_task_has_its_own_session_and_its_last_reply_is_the_outcome() {
    let mut state = delegating_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("h", "sub_agent")]);
    let effects = receive_plan(&mut state, "h", task_intent("one"));
    assert_eq!(describe_effects(&effects), ["allow h", "h: message do one", "REQUEST_REPLY"]);
    let Some(Effect::RequestReply { request, turn: sub_turn }) = effects.last() else { panic!("it asks") };
    let system = Message::System("You are a sub-agent.".into());
    assert_eq!(request.messages, [system, Message::User("do one".into())], "it does not see the conversation");
    assert_ne!(Some(*sub_turn), state.current_turn());
    assert_eq!(
        describe_effects(&reply_in_sub_agent(&mut state, "h", "", &[("r", "read")])),
        ["h: replied /1", "PLAN r"]
    );
    assert_eq!(describe_effects(&plan_in_sub_agent(&mut state, "h", "r", read_intent())), ["h: allow r", "RUN r"]);
    assert_eq!(describe_effects(&finish_in_sub_agent(&mut state, "h", "r")), ["h: done r", "REQUEST_REPLY"]);
    let effects = reply_in_sub_agent(&mut state, "h", " Found it. ", &[]);
    assert_eq!(describe_effects(&effects), ["h: replied  Found it. /0", "h: turn finished", "done h", "REQUEST_REPLY"]);
    assert_eq!(*call_outcome(&state, "h"), Outcome::Done("Found it.".into()));
    let Some(Effect::RequestReply { request, .. }) = effects.last() else { panic!("the turn goes on") };
    assert!(matches!(request.messages.last(), Some(Message::Tool { text, .. }) if text == "Found it."));
    assert_eq!(request.messages.len(), 4, "without further messages");
    let Some(Entry::Settled { took_ms, sha256, .. }) = state.session.entries().last() else { panic!("settled") };
    // Two replies took 5 ms each, the call of the sub-agent 7 ms.
    assert_eq!((*took_ms, sha256), (5 + 7 + 5, &state.session.last_plan_digest(&"h".into())));
    // Each of the two replies took 100 input tokens and 10 output tokens.
    assert_eq!(state.session.usage().total(), 2 * (100 + 10), "its usage is counted");
}

#[test]
fn r17_sub_agent_depth_and_count_are_limited() {
    let mut state = delegate_tasks(&["a", "b", "c", "d", "e", "f"]);
    let count_started = |state: &State| {
        let has_started = |pending: &&PendingCall| pending.sub_agent().is_some_and(SubAgent::has_started);
        state.pending().iter().filter(has_started).count()
    };
    assert_eq!(count_started(&state), MAX_PARALLEL_SUB_AGENTS);
    // One that has finished frees a slot.
    let effects = reply_in_sub_agent(&mut state, "b", "done", &[]);
    assert_eq!(
        describe_effects(&effects),
        ["b: replied done/0", "b: turn finished", "done b", "e: message do e", "REQUEST_REPLY"]
    );
    assert_eq!(count_started(&state), MAX_PARALLEL_SUB_AGENTS);
    // A sub-agent cannot start another, whatever it calls.
    reply_in_sub_agent(&mut state, "a", "", &[("x", "sub_agent")]);
    let effects = plan_in_sub_agent(&mut state, "a", "x", task_intent("x"));
    assert_eq!(describe_effects(&effects), ["a: refuse x", "a: refused x", "REQUEST_REPLY"]);
    assert!(call_outcome(&state, "x").text().contains("cannot start sub-agents"));
    let names: Vec<String> = (0..=MAX_TASKS_PER_TURN).map(|number| format!("n{number}")).collect();
    let mut state = delegate_tasks(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let last = names.last().unwrap();
    assert!(call_outcome(&state, last).text().contains("12 tasks per turn"), "{:?}", call_outcome(&state, last));
    assert_eq!(
        state.session.calls().filter(|call| state.session.has_sub_agent(&call.call.id)).count(),
        MAX_PARALLEL_SUB_AGENTS
    );
    // The count starts again in the next turn.
    update(&mut state, Event::TurnInterrupted);
    send_user_message(&mut state, "again");
    receive_reply(&mut state, "", &[("z", "sub_agent")]);
    assert_eq!(
        describe_effects(&receive_plan(&mut state, "z", task_intent("z"))),
        ["allow z", "z: message do z", "REQUEST_REPLY"]
    );
}

#[test]
fn r65_sub_agent_requests_are_limited_and_turn_continues() {
    let mut state = delegate_tasks(&["one"]);
    let mut effects = vec![];
    for round in 0..50 {
        let id = format!("r{round}");
        reply_in_sub_agent(&mut state, "one", "on", &[(&id, "read")]);
        plan_in_sub_agent(&mut state, "one", &id, read_intent());
        effects = finish_in_sub_agent(&mut state, "one", &id);
    }
    assert_eq!(describe_effects(&effects)[1..], ["one: turn failed", "failed one", "REQUEST_REPLY"]);
    let text = call_outcome(&state, "one").text();
    assert!(text.starts_with("The sub-agent failed: Turn stopped: the model made 50 requests"), "{text}");
    assert!(text.ends_with("Its last reply:\non"), "{text}");
}

#[test]
fn r17_interrupting_stops_all_sub_agents_and_ignores_late_events() {
    let mut state = delegate_tasks(&["a", "b", "c", "d", "e"]);
    reply_in_sub_agent(&mut state, "a", "", &[("x", "write")]);
    plan_in_sub_agent(&mut state, "a", "x", write_intent());
    reply_in_sub_agent(&mut state, "b", "", &[("y", "read")]);
    plan_in_sub_agent(&mut state, "b", "y", read_intent());
    let turns: Vec<TurnId> = ["a", "b", "c", "d"].map(|parent| running_turn(sub_agent_state(&state, parent))).into();
    let effects = update(&mut state, Event::TurnInterrupted);
    let cancelled = effects.iter().filter_map(|effect| match effect {
        Effect::CancelTurn { turn } => Some(*turn),
        _ => None,
    });
    assert_eq!(cancelled.skip(1).collect::<Vec<_>>(), turns, "each of them, after the turn's own");
    assert!(state.is_idle() && state.session.open_calls().is_empty());
    assert!(call_outcome(&state, "x").text().contains("before this call started"));
    assert!(call_outcome(&state, "y").text().contains("interrupted"));
    assert!(call_outcome(&state, "a").text().contains("interrupted the sub-agent"));
    assert!(call_outcome(&state, "e").text().contains("before this call started"), "it had no slot yet");
    let state_before = state.clone();
    for turn in turns {
        for event in [
            Event::ReplyChunk { turn, chunk: Chunk::Done(FinishReason::Stop), elapsed: Duration::ZERO },
            Event::CallPlanned { turn, call: "x".into(), intent: Ok(write_intent()) },
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
    assert_eq!(state, state_before);
}

#[test]
fn r17_sub_agent_failure_is_an_outcome() {
    let mut state = delegate_tasks(&["one"]);
    let sub_turn = running_turn(sub_agent_state(&state, "one"));
    let effects = update(
        &mut state,
        Event::RequestFailed { turn: sub_turn, reason: "the provider is gone".into(), too_long: false },
    );
    assert_eq!(describe_effects(&effects), ["one: turn failed", "failed one", "REQUEST_REPLY"]);
    let expected = "The sub-agent failed: the provider is gone.";
    assert_eq!(*call_outcome(&state, "one"), Outcome::Failed(expected.into()));
    // The outcome is bounded.
    let mut state = delegate_tasks(&["one"]);
    reply_in_sub_agent(&mut state, "one", &"long ".repeat(20_000), &[]);
    assert!(call_outcome(&state, "one").text().len() < 17_000);
    assert!(call_outcome(&state, "one").text().contains("characters truncated"));
}

#[test]
fn pending_retry_of_a_sub_agent_can_be_sent_now() {
    let mut state = delegate_tasks(&["one", "two"]);
    assert!(!state.has_sub_agent_retry());
    assert_eq!(update(&mut state, Event::RetryNow), []);
    let turn = running_turn(sub_agent_state(&state, "two"));
    let chunk = Chunk::Retrying {
        attempt: 2,
        max_attempts: 5,
        wait: Duration::from_secs(60),
        reason: "busy".into(),
        kind: String::new(),
    };
    update(&mut state, Event::ReplyChunk { turn, chunk, elapsed: Duration::ZERO });
    assert!(state.has_sub_agent_retry());
    assert_eq!(describe_effects(&update(&mut state, Event::RetryNow)), ["RETRY"]);
    assert!(state.current_turn().is_some_and(|current| current != turn));
}

#[test]
fn call_ids_are_unique_across_sub_agents() {
    let mut state = delegate_tasks(&["call_0", "call_1"]);
    let planned_ids = |effects: &[Effect]| -> Vec<String> {
        let planned_id = |effect: &Effect| match effect {
            Effect::PlanCall { call, .. } => Some(call.id.0.clone()),
            _ => None,
        };
        effects.iter().filter_map(planned_id).collect()
    };
    let first = reply_in_sub_agent(&mut state, "call_0", "", &[("call_0", "read")]);
    let second = reply_in_sub_agent(&mut state, "call_1", "", &[("call_0", "read")]);
    assert_eq!(planned_ids(&first), ["call_0-2"]);
    assert_eq!(planned_ids(&second), ["call_0-3"]);
    // An event for one of them does not reach another.
    plan_in_sub_agent(&mut state, "call_1", "call_0-3", write_intent());
    assert_eq!(shown_prompt(&state), prompt_for("call_0-3", Some("call_1")));
    assert_eq!(sub_agent_state(&state, "call_0").pending()[0].stage, CallStage::Planning);
}

#[test]
fn sub_agent_request_that_cannot_be_shortened_fails_its_call() {
    let mut state = delegate_tasks(&["one"]);
    let sub_turn = running_turn(sub_agent_state(&state, "one"));
    let effects =
        update(&mut state, Event::RequestFailed { turn: sub_turn, reason: "too long".into(), too_long: true });
    assert_eq!(describe_effects(&effects), ["one: turn failed", "failed one", "REQUEST_REPLY"]);
    assert!(call_outcome(&state, "one").text().contains("exceeds the model's context window"));
}

#[test]
fn resume_restores_sub_agent_question_without_rerunning_calls() {
    let mut state = delegate_tasks(&["one", "two"]);
    reply_in_sub_agent(&mut state, "one", "", &[("a", "ask")]);
    plan_in_sub_agent(&mut state, "one", "a", question_intent());
    reply_in_sub_agent(&mut state, "two", "", &[("b", "write")]);
    plan_in_sub_agent(&mut state, "two", "b", write_intent());
    let (mut state, effects) = resume(state.session, delegating_state());
    assert_eq!(describe_effects(&effects), ["two: interrupted b", "two: turn interrupted", "interrupted two"]);
    assert_eq!(shown_prompt(&state), prompt_for("a", Some("one")));
    let answer = Answer::from_status(AnswerStatus::Declined);
    let effects = update(&mut state, Event::QuestionsAnswered { call: "a".into(), answer, by: Decider::File });
    assert_eq!(
        describe_effects(&effects),
        ["one: answered a", "one: done a", "REQUEST_REPLY"],
        "and the turn continues"
    );
    let effects = reply_in_sub_agent(&mut state, "one", "through", &[]);
    assert_eq!(
        describe_effects(&effects),
        ["one: replied through/0", "one: turn finished", "done one", "REQUEST_REPLY"]
    );
    for record in collect_records(state.session.entries()) {
        assert!(!matches!(record.verify(), Integrity::Broken(_)), "{record:?}");
    }
    // A process that cannot start sub-agents settles the existing ones.
    let mut state = delegate_tasks(&["one"]);
    reply_in_sub_agent(&mut state, "one", "", &[("a", "write")]);
    let (state, _) = resume(state.session, super::idle_state());
    assert!(state.is_idle() && state.session.open_calls().is_empty());
}
