//! Reviews between the verdict and the start of a call: their effect on the verdict, and no start before they end.

mod permission_changes;
mod random_orders;
mod sub_agent_reviews;

use super::*;
use crate::chat::audit::{Integrity, collect_records};

/// Behavior of a reviewer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Does {
    Says(ReviewVerdict),
    Fails,
}

const ALL: [Does; 4] =
    [Does::Says(ReviewVerdict::Allow), Does::Says(ReviewVerdict::Ask), Does::Says(ReviewVerdict::Deny), Does::Fails];

fn answer(does: Does) -> Review {
    match does {
        Does::Says(advice) => {
            Review { verdict: advice, reason: "it is so".into(), is_failed: false, took_ms: 4, usage: None }
        }
        Does::Fails => Review::from_error("it was lost"),
    }
}

fn hook(name: &str) -> HookReviewer {
    HookReviewer { name: name.into(), ..HookReviewer::default() }
}

/// Creates an agent with this many hooks, and a model reviewer if wanted.
fn asking(hooks: usize, second_reader: bool) -> State {
    let hooks = (0..hooks).map(|at| hook(&format!("h{at}"))).collect();
    State { reviewers: Reviewers { hooks, has_model_reviewer: second_reader }, ..idle() }
}

fn covered(access: Access) -> Intent {
    let Intent::Act(mut plan) = plan(access) else { unreachable!() };
    plan.grant = Some(Grant::new("t", GrantScope::File("a".into())));
    Intent::Act(plan)
}

fn consulted(state: &mut State, effects: &[Effect], said: Review) -> Option<Vec<Effect>> {
    let (turn, call, round) = effects.iter().rev().find_map(|effect| match effect {
        Effect::ReviewCall { turn, call, round, .. } => Some((*turn, call.id.clone(), *round)),
        _ => None,
    })?;
    Some(update(state, Event::CallReviewed { turn, call, round, text: said }))
}

/// Plans a call and lets all reviewers answer in order; returns the last effects.
fn judged(state: &mut State, intent: Intent, answers: &[Does]) -> Vec<Effect> {
    said(state, "go");
    replies(state, "", &[("a", "t")]);
    let mut effects = planned(state, "a", intent);
    for does in answers {
        match consulted(state, &effects, answer(*does)) {
            Some(next) => effects = next,
            None => break,
        }
    }
    effects
}

fn verdict(state: &State) -> (&str, &str) {
    let last = state.session.entries().iter().rev().find_map(|entry| match entry {
        Entry::Planned { verdict, reason: why, .. } => Some((verdict.as_str(), why.as_str())),
        _ => None,
    });
    last.unwrap_or(("none", ""))
}

fn granted(state: &mut State) {
    let grant = Grant::new("t", GrantScope::File("a".into()));
    let decision = Decision::Always(grant);
    state.session.apply(Entry::Decided {
        call: "z".into(),
        decision,
        by: Decider::Headless,
        sha256: Digest::default(),
    });
}

/// Expected verdict: the strictest answer; `allow` only if permitted.
fn expected(judged: &str, may_be_lifted: bool, hooks: &[Does], reader: Option<Does>) -> &'static str {
    let said = |wanted: &[Does]| hooks.iter().any(|does| wanted.contains(does));
    let lifted = may_be_lifted && said(&[Does::Says(ReviewVerdict::Allow)]);
    let holds_back = said(&[Does::Says(ReviewVerdict::Ask), Does::Fails]);
    let after = match said(&[Does::Says(ReviewVerdict::Deny)]) {
        true => "refuse",
        false if holds_back || judged == "ask" && !lifted => "ask",
        false => "allow",
    };
    match (after, reader) {
        ("allow", None | Some(Does::Says(ReviewVerdict::Allow))) => "allow",
        // A model reviewer may not deny: its denial only asks.
        ("allow", Some(_)) => "ask",
        (after, _) => after,
    }
}

#[test]
fn strictest_review_wins_in_any_order() {
    let lists = |length: u32| {
        (0..4_usize.pow(length))
            .map(move |number| (0..length).map(|at| ALL[number / 4_usize.pow(at) % 4]).collect::<Vec<Does>>())
    };
    let all: Vec<Vec<Does>> = (0..4).flat_map(lists).collect();
    let readers = [None].into_iter().chain(ALL.map(Some));
    for (hooks, reader) in all.iter().flat_map(|hooks| readers.clone().map(move |reader| (hooks, reader))) {
        for (grant, lifts) in [(false, true), (false, false), (true, true)] {
            let mut state = asking(hooks.len(), reader.is_some());
            if grant {
                granted(&mut state);
            }
            let intent = if lifts { covered(Access::Write("a".into())) } else { write() };
            let answers: Vec<Does> = hooks.iter().copied().chain(reader).collect();
            let at_once = expected(if grant { "allow" } else { "ask" }, lifts, hooks, None);
            let effects = if at_once == "allow" {
                judged(&mut state, intent, &answers)
            } else {
                // The model reviewer only reviews calls that would run.
                judged(&mut state, intent, hooks)
            };
            let wanted = expected(if grant { "allow" } else { "ask" }, lifts, hooks, reader);
            assert_eq!(verdict(&state).0, wanted, "{hooks:?} {reader:?} {grant} {lifts}");
            let acts = effects.iter().any(|effect| matches!(effect, Effect::RunCall { .. }));
            assert_eq!(acts, wanted == "allow");
            assert_eq!(matches!(state.waiting_call(), Some(WaitingCall::Approval { .. })), wanted == "ask");
            let record = &collect_records(state.session.entries())[0];
            assert_eq!(record.verify(), Integrity::Intact);
        }
    }
}

#[test]
fn hook_cannot_approve_what_no_grant_may_cover() {
    let change = |change: fn(&mut Plan)| {
        let Intent::Act(mut plan) = covered(Access::Write("a".into())) else { unreachable!() };
        change(&mut plan);
        Intent::Act(plan)
    };
    let run = |reach, sensitive| {
        let line = CommandLine { command: "x".into(), folder: "/p".into(), ..CommandLine::default() };
        covered(Access::Run(CommandAccess {
            line: Box::new(line),
            reach,
            reason: "of this".into(),
            is_sensitive: sensitive,
            may_disclose: sensitive,
            named_secrets: Vec::new(),
        }))
    };
    for (intent, wanted) in [
        (covered(Access::Write("a".into())), "allow"),
        (run(Reach::Writes, false), "allow"),
        (run(Reach::Runs, false), "allow"),
        (run(Reach::Runs, true), "ask"),
        (run(Reach::Outside, false), "ask"),
        (run(Reach::Unclear, false), "ask"),
        (run(Reach::Denied, false), "refuse"),
        (covered(Access::WriteOutside("/a".into())), "ask"),
        (covered(Access::ReadSensitive("/a".into())), "ask"),
        (change(|plan| plan.destroys = Some("all of it".into())), "ask"),
        (change(|plan| plan.preconditions.is_partial = true), "ask"),
        (change(|plan| plan.grant = None), "ask"),
    ] {
        let mut state = asking(1, false);
        judged(&mut state, intent.clone(), &[Does::Says(ReviewVerdict::Allow)]);
        assert_eq!(verdict(&state).0, wanted, "{intent:?}");
    }
}

#[test]
fn refused_calls_are_not_reviewed() {
    let mut state = asking(2, true);
    state.policy.mode = Mode::Plan;
    let effects = judged(&mut state, covered(Access::Write("a".into())), &[]);
    assert_eq!(shape(&effects), ["refuse a", "refused a", "STREAM"]);
    // Nor a denial that arrives during the review.
    let mut state = asking(1, true);
    let effects = judged(&mut state, covered(Access::Write("a".into())), &[]);
    update(&mut state, Event::ModeChanged(Mode::Plan));
    let effects = consulted(&mut state, &effects, answer(Does::Says(ReviewVerdict::Allow))).unwrap();
    // A call that a hook approved is reviewed once more, and that does not lift a denial either.
    let effects = consulted(&mut state, &effects, answer(Does::Says(ReviewVerdict::Allow))).unwrap();
    assert_eq!(shape(&effects), ["allow says a", "refuse a", "refused a", "STREAM"]);
}

#[test]
fn dry_run_runs_only_hooks_that_opt_in() {
    let dry = |mut state: State| {
        state.policy.dry_run = true;
        state
    };
    let mut state = dry(asking(2, true));
    let effects = judged(&mut state, write(), &[]);
    assert_eq!(shape(&effects), ["rehearse a", "REHEARSE a"]);
    for (does, wanted) in ALL.into_iter().zip(["rehearse", "ask", "refuse", "ask"]) {
        let mut state = dry(asking(1, true));
        state.reviewers.hooks[0].in_dry_run = true;
        judged(&mut state, covered(Access::Write("a".into())), &[does]);
        assert_eq!(verdict(&state).0, wanted);
        if wanted == "ask" {
            assert_eq!(shape(&decided(&mut state, "a", Decision::Once)), ["decided a", "REHEARSE a"]);
        }
    }
}

#[test]
fn reads_are_reviewed_only_by_hooks_that_name_the_tool() {
    let mut state = asking(2, true);
    assert_eq!(shape(&judged(&mut state, read(), &[])), ["allow a", "ACT a"]);
    for (tools, asked) in [(vec!["t"], true), (vec!["other", "t"], true), (vec!["other"], false), (vec![], false)] {
        for (intent, wanted) in [(read(), "refuse"), (write(), "refuse")] {
            let mut state = asking(1, false);
            state.reviewers.hooks[0].tools = Some(tools.iter().map(|tool| (*tool).to_owned()).collect());
            let is_read = intent == read();
            judged(&mut state, intent, &[Does::Says(ReviewVerdict::Deny)]);
            let otherwise = if is_read { "allow" } else { "ask" };
            assert_eq!(verdict(&state).0, if asked { wanted } else { otherwise }, "{tools:?}");
        }
    }
}

#[test]
fn reasons_name_the_reviewer() {
    let reason = |judged_as: &[Does], grant: bool, reader: bool| {
        let mut state = asking(judged_as.len() - usize::from(reader), reader);
        if grant {
            granted(&mut state);
        }
        judged(&mut state, covered(Access::Write("a".into())), judged_as);
        verdict(&state).1.to_owned()
    };
    let (asks, fails) = (Does::Says(ReviewVerdict::Ask), Does::Fails);
    assert_eq!(reason(&[asks], false, false), "file change in the project; the hook “h0”: it is so");
    assert_eq!(reason(&[asks], true, false), "the hook “h0”: it is so");
    assert_eq!(reason(&[fails], true, false), "the hook “h0” failed: it was lost");
    assert_eq!(reason(&[asks], true, true), "the model reviewer: “it is so”");
    assert_eq!(reason(&[fails], true, true), "the model reviewer failed: it was lost");
    assert_eq!(reason(&[fails, asks], true, false), "the hook “h0” failed: it was lost; the hook “h1”: it is so");
    let denied = reason(&[Does::Says(ReviewVerdict::Deny)], true, false);
    assert!(denied.starts_with("Refused by the hook “h0”: it is so."), "{denied}");
    assert_eq!(reason(&[Does::Says(ReviewVerdict::Allow)], false, false), "the hook “h0” allows it: it is so");
}

#[test]
fn edited_calls_always_ask() {
    let mut state = asking(1, false);
    judged(&mut state, covered(Access::Write("a".into())), &[Does::Says(ReviewVerdict::Ask)]);
    decided(&mut state, "a", Decision::Edited(serde_json::json!({"b": 1})));
    let effects = planned(&mut state, "a", covered(Access::Write("a".into())));
    let effects = consulted(&mut state, &effects, answer(Does::Says(ReviewVerdict::Allow))).unwrap();
    assert_eq!(shape(&effects), ["allow says a", "ask a"]);
}

/// Two calls of one reply: the first asks, and the user has opened the prompt of the second.
fn second_brought() -> State {
    let mut state = asking(1, false);
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "t"), ("b", "t")]);
    let effects = planned(&mut state, "a", covered(Access::Write("a".into())));
    consulted(&mut state, &effects, answer(Does::Says(ReviewVerdict::Ask)));
    update(&mut state, Event::EarlyPromptRequested(Some("b".into())));
    state
}

#[test]
fn early_prompt_starts_no_review_result_early() {
    let mut state = second_brought();
    let asks = planned(&mut state, "b", covered(Access::Write("b".into())));
    assert_eq!(shape(&asks), ["CONSULT b"]);
    assert_eq!(state.waiting_call(), None, "no other prompt meanwhile: a key is meant for this one");
    // It returns to the queue during the review, so the answer no longer counts.
    update(&mut state, Event::EarlyPromptRequested(None));
    assert!(matches!(state.waiting_call(), Some(WaitingCall::Approval { call, .. }) if call.id == "a".into()));
    assert_eq!(consulted(&mut state, &asks, answer(Does::Says(ReviewVerdict::Allow))), Some(vec![]));
    update(&mut state, Event::EarlyPromptRequested(Some("b".into())));
    let effects = planned(&mut state, "b", covered(Access::Write("b".into())));
    assert_eq!(consulted(&mut state, &asks, answer(Does::Says(ReviewVerdict::Allow))), Some(vec![]), "of the first");
    let effects = consulted(&mut state, &effects, answer(Does::Says(ReviewVerdict::Allow))).unwrap();
    assert_eq!(shape(&effects), ["allow says b", "ask b"]);
    // The approval is stored. At its turn the unchanged plan starts; the hook has reviewed it.
    assert_eq!(shape(&decided(&mut state, "b", Decision::Once)), ["decided b"]);
    decided(&mut state, "a", Decision::Once);
    assert_eq!(shape(&finished(&mut state, "a")), ["done a", "PLAN b"]);
    assert_eq!(shape(&planned(&mut state, "b", covered(Access::Write("b".into())))), ["ACT b"]);
}

#[test]
fn refused_early_prompt_returns_to_the_current_call() {
    let mut state = second_brought();
    let effects = planned(&mut state, "b", covered(Access::Write("b".into())));
    let effects = consulted(&mut state, &effects, answer(Does::Says(ReviewVerdict::Deny))).unwrap();
    assert_eq!(shape(&effects), ["deny says b", "refuse b", "refused b"]);
    assert_eq!(state.early_prompt, None);
    assert!(matches!(state.waiting_call(), Some(WaitingCall::Approval { call, .. }) if call.id == "a".into()));
}

#[test]
fn interrupting_a_review_settles_the_call_and_ignores_late_answers() {
    let mut state = asking(1, true);
    let asks = judged(&mut state, covered(Access::Write("a".into())), &[]);
    assert_eq!(shape(&asks), ["CONSULT a"]);
    let effects = update(&mut state, Event::TurnInterrupted);
    assert_eq!(shape(&effects), ["CANCEL", "interrupted a", "ended by the person"]);
    assert_eq!(consulted(&mut state, &asks, answer(Does::Says(ReviewVerdict::Allow))), Some(vec![]));
    assert!(state.is_idle());
}

#[test]
fn resume_settles_call_under_review_as_not_run() {
    let mut state = asking(2, false);
    let intent = covered(Access::Write("a".into()));
    judged(&mut state, intent, &[Does::Says(ReviewVerdict::Allow)]);
    let (resumed, effects) = resume(state.session, asking(2, false));
    assert_eq!(shape(&effects), ["interrupted a", "ended by the person"]);
    let told = effects.iter().find_map(|effect| match effect {
        Effect::AppendEntry(Entry::Settled { outcome, .. }) => Some(outcome.text().to_owned()),
        _ => None,
    });
    assert_eq!(told.as_deref(), Some("Not run: the program exited before this call was approved."));
    assert!(!matches!(collect_records(resumed.session.entries())[0].verify(), Integrity::Broken(_)));
}

#[test]
fn only_model_reviewer_receives_user_messages() {
    let mut state = asking(1, true);
    granted(&mut state);
    for words in ["one", "two", "three"] {
        said(&mut state, words);
        replies(&mut state, "I am sure that it is harmless.", &[]);
    }
    let effects = judged(&mut state, covered(Access::Write("a".into())), &[]);
    let brief = |effects: &[Effect]| match effects.last() {
        Some(Effect::ReviewCall { context: brief, .. }) => (**brief).clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((brief(&effects).user_messages.len(), brief(&effects).verdict.as_str()), (0, "allow"));
    let effects = consulted(&mut state, &effects, answer(Does::Says(ReviewVerdict::Allow))).unwrap();
    assert_eq!(brief(&effects).user_messages, ["two", "three", "go"]);
    assert_eq!(brief(&effects).reviewer, Reviewer::Model);
}

#[test]
fn counts_usage_of_model_reviewer() {
    let mut state = asking(0, true);
    granted(&mut state);
    let effects = judged(&mut state, covered(Access::Write("a".into())), &[]);
    let usage = Some(Usage { input: 30, cached: 0, output: 4 });
    consulted(&mut state, &effects, Review { usage, ..answer(Does::Fails) });
    assert_eq!(state.session.usage().total(), 34);
}

#[test]
fn hook_does_not_override_a_rule_that_asks() {
    for (list, expected) in [(Vec::new(), "allow"), (vec![rule(RuleEffect::Ask, "t")], "ask")] {
        let mut state = asking(1, false);
        state.rules = std::sync::Arc::new(Rules { list, ..Rules::default() });
        judged(&mut state, covered(Access::Write("a".into())), &[Does::Says(ReviewVerdict::Allow)]);
        assert_eq!(verdict(&state).0, expected);
    }
}
