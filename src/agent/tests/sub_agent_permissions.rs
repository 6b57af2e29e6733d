//! Permissions of a sub-agent: the rules, grants and mode of the turn, and no wider ones; and its prompts.

use super::sub_agents::{beneath, card, handed, idle, is, looked, ran, says, task};
use super::*;
use crate::chat::audit::{Integrity, collect_records};

#[test]
fn r17_sub_agent_has_the_rules_of_the_turn() {
    let read = |list, broken: Option<&str>| {
        let rules = std::sync::Arc::new(Rules { list, read_error: broken.map(str::to_owned), ..Rules::default() });
        Event::RulesLoaded { rules, notices: Vec::new() }
    };
    for (says_, broken, mode, expected) in [
        (None, None, Mode::Ask, "ask"),
        (Some(RuleEffect::Allow), None, Mode::Ask, "allow"),
        (Some(RuleEffect::Ask), None, Mode::Full, "ask"),
        (Some(RuleEffect::Deny), None, Mode::Full, "refuse"),
        (Some(RuleEffect::Allow), Some("rules.toml:1"), Mode::Full, "ask"),
        (Some(RuleEffect::Allow), None, Mode::Plan, "refuse"),
        (None, None, Mode::Auto, "allow"),
    ] {
        let mut state = handed(&["one"]);
        // Changes to rules and mode while it works apply to its later calls.
        says(&mut state, "one", "", &[("a", "write")]);
        update(&mut state, read(says_.map(|says| rule(says, "write")).into_iter().collect(), broken));
        update(&mut state, Event::ModeChanged(mode));
        let shown = shape(&looked(&mut state, "one", "a", write()));
        assert_eq!(shown[0], format!("one: {expected} a"), "{says_:?} {broken:?} {mode:?}");
        assert_eq!(beneath(&state, "one").session.grants(), [], "grants belong to the session");
    }
    // A revoked grant is revoked for sub-agents too.
    let mut state = handed(&["one"]);
    says(&mut state, "one", "", &[("a", "write")]);
    looked(&mut state, "one", "a", write());
    decided(&mut state, "a", Decision::Always(Grant::new("write", GrantScope::File("a".into()))));
    ran(&mut state, "one", "a");
    let by = Decider::Headless;
    update(&mut state, Event::GrantRevoked { given_on: Some("a".into()), what: "it".into(), by });
    says(&mut state, "one", "", &[("b", "write")]);
    assert_eq!(shape(&looked(&mut state, "one", "b", write()))[0], "one: ask b");
}

#[test]
fn r17_sub_agent_calls_are_judged_and_prompts_name_the_sub_agent() {
    let mut state = handed(&["one", "two"]);
    says(&mut state, "one", "", &[("a", "write")]);
    assert_eq!(shape(&looked(&mut state, "one", "a", write())), ["one: ask a"]);
    assert_eq!(card(&state), is("a", Some("one")));
    says(&mut state, "two", "", &[("b", "ask")]);
    assert_eq!(shape(&looked(&mut state, "two", "b", question())), ["two: asked b"]);
    assert_eq!((card(&state), state.waiting_position()), (is("a", Some("one")), (1, 2)));
    // A decision on a call without a prompt is ignored.
    assert_eq!(shape(&decided(&mut state, "b", Decision::Once)), [""; 0]);
    assert_eq!(shape(&decided(&mut state, "a", Decision::Once)), ["one: decided a", "ACT a"]);
    assert_eq!(card(&state), is("b", Some("two")));
    let answer = Answer::from_status(AnswerStatus::Declined);
    let answered = Event::QuestionsAnswered { call: "b".into(), answer, by: Decider::Headless };
    assert_eq!(shape(&update(&mut state, answered)), ["two: answered b", "two: done b", "STREAM"]);
    assert_eq!(card(&state), None);
    for record in collect_records(state.session.entries()) {
        assert_ne!(record.verify(), Integrity::Broken("it ran without approval"), "{record:?}");
        let by = match record.call.id.0.as_str() {
            "a" => Some("one"),
            "b" => Some("two"),
            _ => None,
        };
        assert_eq!(record.sub_agent, by);
    }
}

#[test]
fn r17_mode_and_dry_run_apply_to_sub_agents() {
    for (policy, expected) in [
        (Policy { dry_run: true, ..Policy::default() }, ["one: rehearse a", "REHEARSE a"]),
        (Policy { mode: Mode::Plan, ..Policy::default() }, ["one: refuse a", "one: refused a"]),
    ] {
        let mut state = idle();
        state.policy = policy;
        said(&mut state, "go");
        replies(&mut state, "", &[("one", "sub_agent")]);
        planned(&mut state, "one", task("one"));
        says(&mut state, "one", "", &[("a", "write")]);
        let effects = looked(&mut state, "one", "a", write());
        assert_eq!(shape(&effects)[..2], expected);
    }
    // Changes of the mode while it works apply from then on.
    let mut state = handed(&["one"]);
    says(&mut state, "one", "", &[("a", "write")]);
    update(&mut state, Event::ModeChanged(Mode::Plan));
    assert_eq!(shape(&looked(&mut state, "one", "a", write()))[0], "one: refuse a");
}

#[test]
fn r17_grant_is_valid_for_turn_and_sub_agents() {
    let grant = || Grant::new("write", GrantScope::File("a".into()));
    let mut state = handed(&["one", "two"]);
    says(&mut state, "one", "", &[("a", "write")]);
    looked(&mut state, "one", "a", write());
    says(&mut state, "two", "", &[("b", "write")]);
    looked(&mut state, "two", "b", write());
    // The other sub-agent was waiting already: its call is planned again and needs no prompt any more.
    let effects = decided(&mut state, "a", Decision::Always(grant()));
    assert_eq!(shape(&effects), ["one: decided a", "ACT a", "PLAN b"]);
    assert_eq!(card(&state), None);
    assert_eq!(shape(&looked(&mut state, "two", "b", write())), ["two: allow b", "ACT b"]);
    ran(&mut state, "one", "a");
    ran(&mut state, "two", "b");
    says(&mut state, "one", "done", &[]);
    says(&mut state, "two", "done", &[]);
    replies(&mut state, "", &[("c", "write")]);
    assert_eq!(shape(&planned(&mut state, "c", write())), ["allow c", "ACT c"], "and for the turn itself");
    let replayed = Session::replay(state.session.entries().to_vec());
    let granted: Vec<Grant> = replayed.grants().iter().map(|standing| standing.grant.clone()).collect();
    assert_eq!(granted, [grant()]);
}

#[test]
fn prompt_stays_until_answered() {
    let mut state = handed(&["one", "two"]);
    says(&mut state, "two", "", &[("b", "write")]);
    looked(&mut state, "two", "b", write());
    says(&mut state, "one", "", &[("a", "write")]);
    looked(&mut state, "one", "a", write());
    assert_eq!(card(&state), is("b", Some("two")), "it was first, though its sub-agent is the second");
    // The edit is being planned: no other prompt appears in its place.
    decided(&mut state, "b", Decision::Edited(serde_json::json!({ "of": "mine" })));
    assert_eq!(card(&state), None);
    looked(&mut state, "two", "b", write());
    assert_eq!(card(&state), is("b", Some("two")));
    // The queue opens another prompt first, and no approval goes to the previous one.
    update(&mut state, Event::QueueOpened);
    decided(&mut state, "b", Decision::Deny(String::new()));
    assert_eq!(card(&state), is("a", Some("one")));
}

#[test]
fn queue_opens_prompt_of_a_sub_agent() {
    let mut state = handed(&["one"]);
    says(&mut state, "one", "", &[("a", "write"), ("b", "write"), ("c", "write")]);
    looked(&mut state, "one", "a", write());
    assert_eq!((card(&state), state.waiting_position()), (is("a", Some("one")), (1, 3)));
    update(&mut state, Event::EarlyPromptRequested(Some("c".into())));
    assert_eq!(card(&state), None, "its tool plans first");
    looked(&mut state, "one", "c", write());
    assert_eq!((card(&state), state.waiting_position()), (is("c", Some("one")), (3, 3)));
    assert_eq!(shape(&decided(&mut state, "a", Decision::Once)), [""; 0], "that prompt is not shown");
    assert_eq!(
        shape(&decided(&mut state, "c", Decision::Once)),
        ["one: decided c"],
        "it waits for its turn after the approval"
    );
    assert_eq!(card(&state), is("a", Some("one")));
    update(&mut state, Event::EarlyPromptRequested(Some("b".into())));
    looked(&mut state, "one", "b", write());
    update(&mut state, Event::EarlyPromptRequested(None));
    assert_eq!(card(&state), is("a", Some("one")));
}
