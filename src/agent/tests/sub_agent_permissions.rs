//! Permissions of a sub-agent: the rules, grants and mode of the turn, and no wider ones; and its prompts.

use super::sub_agents::{
    delegate_tasks, delegating_state, finish_in_sub_agent, plan_in_sub_agent, prompt_for, reply_in_sub_agent,
    shown_prompt, sub_agent_state, task_intent,
};
use super::*;
use crate::chat::audit::{Integrity, collect_records};

#[test]
fn r17_sub_agent_has_the_rules_of_the_turn() {
    let rules_event = |list, read_error: Option<&str>| {
        let rules = std::sync::Arc::new(Rules { list, read_error: read_error.map(str::to_owned), ..Rules::default() });
        Event::RulesLoaded { rules, notices: Vec::new() }
    };
    for (effect, read_error, mode, expected) in [
        (None, None, Mode::Ask, "ask"),
        (Some(RuleEffect::Allow), None, Mode::Ask, "allow"),
        (Some(RuleEffect::Ask), None, Mode::Full, "ask"),
        (Some(RuleEffect::Deny), None, Mode::Full, "refuse"),
        (Some(RuleEffect::Allow), Some("rules.toml:1"), Mode::Full, "ask"),
        (Some(RuleEffect::Allow), None, Mode::Plan, "refuse"),
        (None, None, Mode::Auto, "allow"),
    ] {
        let mut state = delegate_tasks(&["one"]);
        // Rules and mode that change while the sub-agent works apply to its later calls.
        reply_in_sub_agent(&mut state, "one", "", &[("a", "write")]);
        update(
            &mut state,
            rules_event(effect.map(|effect| user_rule(effect, "write")).into_iter().collect(), read_error),
        );
        update(&mut state, Event::ModeChanged(mode));
        let described = describe_effects(&plan_in_sub_agent(&mut state, "one", "a", write_intent()));
        assert_eq!(described[0], format!("one: {expected} a"), "{effect:?} {read_error:?} {mode:?}");
        assert_eq!(sub_agent_state(&state, "one").session.grants(), [], "grants belong to the session");
    }
    // A revoked grant is revoked for sub-agents too.
    let mut state = delegate_tasks(&["one"]);
    reply_in_sub_agent(&mut state, "one", "", &[("a", "write")]);
    plan_in_sub_agent(&mut state, "one", "a", write_intent());
    decide_call(&mut state, "a", Decision::Always(Grant::new("write", GrantScope::File("a".into()))));
    finish_in_sub_agent(&mut state, "one", "a");
    let by = Decider::Headless;
    update(
        &mut state,
        Event::GrantRevoked { granting_call: Some("a".into()), description: "it".into(), replacement: None, by },
    );
    reply_in_sub_agent(&mut state, "one", "", &[("b", "write")]);
    assert_eq!(describe_effects(&plan_in_sub_agent(&mut state, "one", "b", write_intent()))[0], "one: ask b");
}

#[test]
fn r17_sub_agent_calls_are_judged_and_prompts_name_the_sub_agent() {
    let mut state = delegate_tasks(&["one", "two"]);
    reply_in_sub_agent(&mut state, "one", "", &[("a", "write")]);
    assert_eq!(describe_effects(&plan_in_sub_agent(&mut state, "one", "a", write_intent())), ["one: ask a"]);
    assert_eq!(shown_prompt(&state), prompt_for("a", Some("one")));
    reply_in_sub_agent(&mut state, "two", "", &[("b", "ask")]);
    assert_eq!(describe_effects(&plan_in_sub_agent(&mut state, "two", "b", question_intent())), ["two: asked b"]);
    assert_eq!((shown_prompt(&state), state.waiting_position()), (prompt_for("a", Some("one")), (1, 2)));
    // A decision on a call without a prompt is ignored.
    assert_eq!(describe_effects(&decide_call(&mut state, "b", Decision::Once)), [""; 0]);
    assert_eq!(describe_effects(&decide_call(&mut state, "a", Decision::Once)), ["one: decided a", "RUN a"]);
    assert_eq!(shown_prompt(&state), prompt_for("b", Some("two")));
    let answer = Answer::from_status(AnswerStatus::Declined);
    let answer_event = Event::QuestionsAnswered { call: "b".into(), answer, by: Decider::Headless };
    assert_eq!(
        describe_effects(&update(&mut state, answer_event)),
        ["two: answered b", "two: done b", "REQUEST_REPLY"]
    );
    assert_eq!(shown_prompt(&state), None);
    for record in collect_records(state.session.entries()) {
        assert_ne!(record.verify(), Integrity::Broken("it ran without approval"), "{record:?}");
        let sub_agent = match record.call.id.0.as_str() {
            "a" => Some("one"),
            "b" => Some("two"),
            _ => None,
        };
        assert_eq!(record.sub_agent, sub_agent);
    }
}

#[test]
fn r17_mode_and_dry_run_apply_to_sub_agents() {
    for (policy, expected) in [
        (Policy { dry_run: true, ..Policy::default() }, ["one: rehearse a", "REHEARSE a"]),
        (Policy { mode: Mode::Plan, ..Policy::default() }, ["one: refuse a", "one: refused a"]),
    ] {
        let mut state = delegating_state();
        state.policy = policy;
        send_user_message(&mut state, "go");
        receive_reply(&mut state, "", &[("one", "sub_agent")]);
        receive_plan(&mut state, "one", task_intent("one"));
        reply_in_sub_agent(&mut state, "one", "", &[("a", "write")]);
        let effects = plan_in_sub_agent(&mut state, "one", "a", write_intent());
        assert_eq!(describe_effects(&effects)[..2], expected);
    }
    // A mode that changes while the sub-agent works applies to its later calls.
    let mut state = delegate_tasks(&["one"]);
    reply_in_sub_agent(&mut state, "one", "", &[("a", "write")]);
    update(&mut state, Event::ModeChanged(Mode::Plan));
    assert_eq!(describe_effects(&plan_in_sub_agent(&mut state, "one", "a", write_intent()))[0], "one: refuse a");
}

#[test]
fn r17_grant_is_valid_for_turn_and_sub_agents() {
    let grant = || Grant::new("write", GrantScope::File("a".into()));
    let mut state = delegate_tasks(&["one", "two"]);
    reply_in_sub_agent(&mut state, "one", "", &[("a", "write")]);
    plan_in_sub_agent(&mut state, "one", "a", write_intent());
    reply_in_sub_agent(&mut state, "two", "", &[("b", "write")]);
    plan_in_sub_agent(&mut state, "two", "b", write_intent());
    // The other sub-agent was waiting already: its call is planned again and needs no prompt any more.
    let effects = decide_call(&mut state, "a", Decision::Always(grant()));
    assert_eq!(describe_effects(&effects), ["one: decided a", "RUN a", "PLAN b"]);
    assert_eq!(shown_prompt(&state), None);
    assert_eq!(describe_effects(&plan_in_sub_agent(&mut state, "two", "b", write_intent())), ["two: allow b", "RUN b"]);
    finish_in_sub_agent(&mut state, "one", "a");
    finish_in_sub_agent(&mut state, "two", "b");
    reply_in_sub_agent(&mut state, "one", "done", &[]);
    reply_in_sub_agent(&mut state, "two", "done", &[]);
    receive_reply(&mut state, "", &[("c", "write")]);
    assert_eq!(
        describe_effects(&receive_plan(&mut state, "c", write_intent())),
        ["allow c", "RUN c"],
        "and for the turn itself"
    );
    let replayed = Session::replay(state.session.entries().to_vec());
    let grants: Vec<Grant> = replayed.grants().iter().map(|session_grant| session_grant.grant.clone()).collect();
    assert_eq!(grants, [grant()]);
}

#[test]
fn prompt_stays_until_answered() {
    let mut state = delegate_tasks(&["one", "two"]);
    reply_in_sub_agent(&mut state, "two", "", &[("b", "write")]);
    plan_in_sub_agent(&mut state, "two", "b", write_intent());
    reply_in_sub_agent(&mut state, "one", "", &[("a", "write")]);
    plan_in_sub_agent(&mut state, "one", "a", write_intent());
    assert_eq!(shown_prompt(&state), prompt_for("b", Some("two")), "it was first, though its sub-agent is the second");
    // The edit is being planned: no other prompt appears in its place.
    decide_call(&mut state, "b", Decision::Edited(serde_json::json!({ "of": "mine" })));
    assert_eq!(shown_prompt(&state), None);
    plan_in_sub_agent(&mut state, "two", "b", write_intent());
    assert_eq!(shown_prompt(&state), prompt_for("b", Some("two")));
    // The prompt of the other sub-agent follows once the first call is denied, also if the queue is open.
    update(&mut state, Event::QueueOpened);
    decide_call(&mut state, "b", Decision::Deny(String::new()));
    assert_eq!(shown_prompt(&state), prompt_for("a", Some("one")));
}

#[test]
fn queue_opens_prompt_of_a_sub_agent() {
    let mut state = delegate_tasks(&["one"]);
    reply_in_sub_agent(&mut state, "one", "", &[("a", "write"), ("b", "write"), ("c", "write")]);
    plan_in_sub_agent(&mut state, "one", "a", write_intent());
    assert_eq!((shown_prompt(&state), state.waiting_position()), (prompt_for("a", Some("one")), (1, 3)));
    update(&mut state, Event::EarlyPromptRequested(Some("c".into())));
    assert_eq!(shown_prompt(&state), None, "its tool plans first");
    plan_in_sub_agent(&mut state, "one", "c", write_intent());
    assert_eq!((shown_prompt(&state), state.waiting_position()), (prompt_for("c", Some("one")), (3, 3)));
    assert_eq!(describe_effects(&decide_call(&mut state, "a", Decision::Once)), [""; 0], "that prompt is not shown");
    assert_eq!(
        describe_effects(&decide_call(&mut state, "c", Decision::Once)),
        ["one: decided c"],
        "it waits for its turn after the approval"
    );
    assert_eq!(shown_prompt(&state), prompt_for("a", Some("one")));
    update(&mut state, Event::EarlyPromptRequested(Some("b".into())));
    plan_in_sub_agent(&mut state, "one", "b", write_intent());
    update(&mut state, Event::EarlyPromptRequested(None));
    assert_eq!(shown_prompt(&state), prompt_for("a", Some("one")));
}
