//! Reviews between the verdict and the start of a call: their effect on the verdict, and no start before they end.

mod early_prompts;
mod permission_changes;
mod random_orders;
mod sub_agent_reviews;

use super::*;
use crate::chat::audit::{Integrity, collect_records};

/// Behavior of a reviewer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ReviewerBehavior {
    Answers(ReviewVerdict),
    Fails,
}

const ALL_BEHAVIORS: [ReviewerBehavior; 4] = [
    ReviewerBehavior::Answers(ReviewVerdict::Allow),
    ReviewerBehavior::Answers(ReviewVerdict::Ask),
    ReviewerBehavior::Answers(ReviewVerdict::Deny),
    ReviewerBehavior::Fails,
];

fn build_review(behavior: ReviewerBehavior) -> Review {
    match behavior {
        ReviewerBehavior::Answers(verdict) => {
            Review { verdict, reason: "it is so".into(), is_failed: false, took_ms: 4, usage: None }
        }
        ReviewerBehavior::Fails => Review::from_error("it was lost"),
    }
}

fn hook(name: &str) -> HookReviewer {
    HookReviewer { name: name.into(), ..HookReviewer::default() }
}

/// Creates an agent with this many hooks, and a model reviewer if wanted.
fn state_with_reviewers(hooks: usize, has_model_reviewer: bool) -> State {
    let hooks = (0..hooks).map(|index| hook(&format!("h{index}"))).collect();
    with_reviewers(idle_state(), Reviewers { hooks, has_model_reviewer })
}

/// Creates an agent with this many hooks and no model reviewer.
fn state_with_hooks(hooks: usize) -> State {
    state_with_reviewers(hooks, false)
}

/// Creates an agent with this many hooks and a model reviewer.
fn state_with_hooks_and_model(hooks: usize) -> State {
    state_with_reviewers(hooks, true)
}

/// Returns a plan for which the user could give a grant.
fn grantable_intent(access: Access) -> Intent {
    let Intent::Act(mut plan) = plan_intent(access) else { unreachable!() };
    plan.grant = Some(Grant::new("t", GrantScope::File("a".into())));
    Intent::Act(plan)
}

/// Answers the last review requested by these effects; `None` if they request none.
fn finish_review(state: &mut State, effects: &[Effect], review: Review) -> Option<Vec<Effect>> {
    let (turn, call, round) = effects.iter().rev().find_map(|effect| match effect {
        Effect::ReviewCall { turn, call, round, .. } => Some((*turn, call.id.clone(), *round)),
        _ => None,
    })?;
    Some(update(state, Event::CallReviewed { turn, call, round, review }))
}

/// Plans a call and lets all reviewers answer in order; returns the last effects.
fn plan_and_review(state: &mut State, intent: Intent, behaviors: &[ReviewerBehavior]) -> Vec<Effect> {
    send_user_message(state, "go");
    receive_reply(state, "", &[("a", "t")]);
    let mut effects = receive_plan(state, "a", intent);
    for behavior in behaviors {
        match finish_review(state, &effects, build_review(*behavior)) {
            Some(next) => effects = next,
            None => break,
        }
    }
    effects
}

/// Returns the last recorded verdict and its reason.
fn last_verdict(state: &State) -> (&str, &str) {
    let last = state.session.entries().iter().rev().find_map(|entry| match entry {
        Entry::Planned { verdict, reason, .. } => Some((verdict.as_str(), reason.as_str())),
        _ => None,
    });
    last.unwrap_or(("none", ""))
}

fn add_grant(state: &mut State) {
    let grant = Grant::new("t", GrantScope::File("a".into()));
    let (call, sha256) = (CallId::from("z"), Digest::default());
    let tool_call = ToolCall { id: call.clone(), name: "t".into(), arguments: String::new() };
    let (decision, by) = (Decision::Always(grant), Decider::Headless);
    let outcome = Outcome::Done(String::new());
    state.session.apply(Entry::from_calls(vec![tool_call]));
    state.session.apply(Entry::Decided { call: call.clone(), decision, by, sha256: sha256.clone() });
    state.session.apply(Entry::Settled { call, outcome, took_ms: 0, sha256, staged: None, usage: None });
}

/// Returns the expected verdict: the strictest answer. If `can_be_lifted`, a hook's `allow` lifts an `initial` verdict
/// of `ask`.
fn expected_verdict(
    initial: &str,
    can_be_lifted: bool,
    hooks: &[ReviewerBehavior],
    model_reviewer: Option<ReviewerBehavior>,
) -> &'static str {
    let has_any = |behaviors: &[ReviewerBehavior]| hooks.iter().any(|behavior| behaviors.contains(behavior));
    let is_lifted = can_be_lifted && has_any(&[ReviewerBehavior::Answers(ReviewVerdict::Allow)]);
    let must_ask = has_any(&[ReviewerBehavior::Answers(ReviewVerdict::Ask), ReviewerBehavior::Fails]);
    let after_hooks = match has_any(&[ReviewerBehavior::Answers(ReviewVerdict::Deny)]) {
        true => "refuse",
        false if must_ask || initial == "ask" && !is_lifted => "ask",
        false => "allow",
    };
    match (after_hooks, model_reviewer) {
        ("allow", None | Some(ReviewerBehavior::Answers(ReviewVerdict::Allow))) => "allow",
        // A model reviewer may not deny: its denial only asks.
        ("allow", Some(_)) => "ask",
        (after_hooks, _) => after_hooks,
    }
}

#[test]
fn strictest_review_wins_in_any_order() {
    let behavior_lists = |length: u32| {
        (0..4_usize.pow(length)).map(move |number| {
            (0..length).map(|index| ALL_BEHAVIORS[number / 4_usize.pow(index) % 4]).collect::<Vec<ReviewerBehavior>>()
        })
    };
    let hook_lists: Vec<Vec<ReviewerBehavior>> = (0..4).flat_map(behavior_lists).collect();
    let model_reviewers = [None].into_iter().chain(ALL_BEHAVIORS.map(Some));
    for (hooks, model_reviewer) in
        hook_lists.iter().flat_map(|hooks| model_reviewers.clone().map(move |model_reviewer| (hooks, model_reviewer)))
    {
        for (has_grant, is_grantable) in [(false, true), (false, false), (true, true)] {
            let mut state = state_with_reviewers(hooks.len(), model_reviewer.is_some());
            if has_grant {
                add_grant(&mut state);
            }
            let intent = if is_grantable { grantable_intent(Access::Write("a".into())) } else { write_intent() };
            let answers: Vec<ReviewerBehavior> = hooks.iter().copied().chain(model_reviewer).collect();
            let after_hooks = expected_verdict(if has_grant { "allow" } else { "ask" }, is_grantable, hooks, None);
            let effects = if after_hooks == "allow" {
                plan_and_review(&mut state, intent, &answers)
            } else {
                // The model reviewer only reviews calls that would run.
                plan_and_review(&mut state, intent, hooks)
            };
            let final_verdict =
                expected_verdict(if has_grant { "allow" } else { "ask" }, is_grantable, hooks, model_reviewer);
            assert_eq!(
                last_verdict(&state).0,
                final_verdict,
                "{hooks:?} {model_reviewer:?} {has_grant} {is_grantable}"
            );
            let is_run = effects.iter().any(|effect| matches!(effect, Effect::RunCall { .. }));
            assert_eq!(is_run, final_verdict == "allow");
            assert_eq!(matches!(state.waiting_call(), Some(WaitingCall::Approval { .. })), final_verdict == "ask");
            let records = collect_records(state.session.entries());
            assert_eq!(records.last().unwrap().verify(), Integrity::Intact);
        }
    }
}

#[test]
fn hook_cannot_approve_what_no_grant_may_cover() {
    let with_change = |change: fn(&mut Plan)| {
        let Intent::Act(mut plan) = grantable_intent(Access::Write("a".into())) else { unreachable!() };
        change(&mut plan);
        Intent::Act(plan)
    };
    let command_intent = |reach, is_sensitive| {
        let line = CommandLine { command: "x".into(), folder: "/p".into(), ..CommandLine::default() };
        grantable_intent(Access::Run(CommandAccess {
            line: Box::new(line),
            reach,
            reason: "of this".into(),
            is_sensitive,
            may_disclose: is_sensitive,
            named_secrets: Vec::new(),
        }))
    };
    for (intent, expected) in [
        (grantable_intent(Access::Write("a".into())), "allow"),
        (command_intent(Reach::Writes, false), "allow"),
        (command_intent(Reach::Runs, false), "allow"),
        (command_intent(Reach::Runs, true), "ask"),
        (command_intent(Reach::Outside, false), "ask"),
        (command_intent(Reach::Unclear, false), "ask"),
        (command_intent(Reach::Denied, false), "refuse"),
        (grantable_intent(Access::WriteOutside("/a".into())), "ask"),
        (grantable_intent(Access::ReadSensitive("/a".into())), "ask"),
        (with_change(|plan| plan.destroys = Some("all of it".into())), "ask"),
        (with_change(|plan| plan.preconditions.is_partial = true), "ask"),
        (with_change(|plan| plan.grant = None), "ask"),
    ] {
        let mut state = state_with_hooks(1);
        plan_and_review(&mut state, intent.clone(), &[ReviewerBehavior::Answers(ReviewVerdict::Allow)]);
        assert_eq!(last_verdict(&state).0, expected, "{intent:?}");
    }
}

#[test]
fn refused_calls_are_not_reviewed() {
    let mut state = state_with_hooks_and_model(2);
    state.policy.mode = Mode::Plan;
    let effects = plan_and_review(&mut state, grantable_intent(Access::Write("a".into())), &[]);
    assert_eq!(describe_effects(&effects), ["refuse a", "refused a", "REQUEST_REPLY"]);
    // A mode change during the review also denies the call.
    let mut state = state_with_hooks_and_model(1);
    let effects = plan_and_review(&mut state, grantable_intent(Access::Write("a".into())), &[]);
    update(&mut state, Event::ModeChanged(Mode::Plan));
    let effects =
        finish_review(&mut state, &effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow))).unwrap();
    // A call that a hook approved is reviewed once more, and that does not lift a denial either.
    let effects =
        finish_review(&mut state, &effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow))).unwrap();
    assert_eq!(describe_effects(&effects), ["review allow a", "refuse a", "refused a", "REQUEST_REPLY"]);
}

#[test]
fn dry_run_runs_only_hooks_that_opt_in() {
    let as_dry_run = |mut state: State| {
        state.policy.dry_run = true;
        state
    };
    let mut state = as_dry_run(state_with_hooks_and_model(2));
    let effects = plan_and_review(&mut state, write_intent(), &[]);
    assert_eq!(describe_effects(&effects), ["rehearse a", "REHEARSE a"]);
    for (behavior, expected) in ALL_BEHAVIORS.into_iter().zip(["rehearse", "ask", "refuse", "ask"]) {
        let mut state = as_dry_run(state_with_hooks_and_model(1));
        state.config.reviewers.hooks[0].in_dry_run = true;
        plan_and_review(&mut state, grantable_intent(Access::Write("a".into())), &[behavior]);
        assert_eq!(last_verdict(&state).0, expected);
        if expected == "ask" {
            assert_eq!(describe_effects(&decide_call(&mut state, "a", Decision::Once)), ["decided a", "REHEARSE a"]);
        }
    }
}

#[test]
fn reads_are_reviewed_only_by_hooks_that_name_the_tool() {
    let mut state = state_with_hooks_and_model(2);
    assert_eq!(describe_effects(&plan_and_review(&mut state, read_intent(), &[])), ["allow a", "RUN a"]);
    for (tools, is_reviewed) in [(vec!["t"], true), (vec!["other", "t"], true), (vec!["other"], false), (vec![], false)]
    {
        for intent in [read_intent(), write_intent()] {
            let mut state = state_with_hooks(1);
            state.config.reviewers.hooks[0].tools = Some(tools.iter().map(|tool| (*tool).to_owned()).collect());
            let is_read = intent == read_intent();
            plan_and_review(&mut state, intent, &[ReviewerBehavior::Answers(ReviewVerdict::Deny)]);
            let unreviewed = if is_read { "allow" } else { "ask" };
            assert_eq!(last_verdict(&state).0, if is_reviewed { "refuse" } else { unreviewed }, "{tools:?}");
        }
    }
}

#[test]
fn reasons_name_the_reviewer() {
    let reason_for = |behaviors: &[ReviewerBehavior], has_grant: bool, has_model_reviewer: bool| {
        let mut state = state_with_reviewers(behaviors.len() - usize::from(has_model_reviewer), has_model_reviewer);
        if has_grant {
            add_grant(&mut state);
        }
        plan_and_review(&mut state, grantable_intent(Access::Write("a".into())), behaviors);
        last_verdict(&state).1.to_owned()
    };
    let without_grant = |behaviors: &[ReviewerBehavior]| reason_for(behaviors, false, false);
    let with_grant = |behaviors: &[ReviewerBehavior]| reason_for(behaviors, true, false);
    let with_grant_and_model = |behaviors: &[ReviewerBehavior]| reason_for(behaviors, true, true);
    let (ask, fail) = (ReviewerBehavior::Answers(ReviewVerdict::Ask), ReviewerBehavior::Fails);
    let (allow, deny) =
        (ReviewerBehavior::Answers(ReviewVerdict::Allow), ReviewerBehavior::Answers(ReviewVerdict::Deny));
    assert_eq!(without_grant(&[ask]), "file change in the project; the hook “h0”: it is so");
    assert_eq!(with_grant(&[ask]), "the hook “h0”: it is so");
    assert_eq!(with_grant(&[fail]), "the hook “h0” failed: it was lost");
    assert_eq!(with_grant_and_model(&[ask]), "the model reviewer: “it is so”");
    assert_eq!(with_grant_and_model(&[fail]), "the model reviewer failed: it was lost");
    assert_eq!(with_grant(&[fail, ask]), "the hook “h0” failed: it was lost; the hook “h1”: it is so");
    let denial = with_grant(&[deny]);
    assert!(denial.starts_with("Refused by the hook “h0”: it is so."), "{denial}");
    assert_eq!(without_grant(&[allow]), "the hook “h0” allows it: it is so");
}

#[test]
fn edited_calls_always_ask() {
    let mut state = state_with_hooks(1);
    plan_and_review(
        &mut state,
        grantable_intent(Access::Write("a".into())),
        &[ReviewerBehavior::Answers(ReviewVerdict::Ask)],
    );
    decide_call(&mut state, "a", Decision::Edited(serde_json::json!({"b": 1})));
    let effects = receive_plan(&mut state, "a", grantable_intent(Access::Write("a".into())));
    let effects =
        finish_review(&mut state, &effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow))).unwrap();
    assert_eq!(describe_effects(&effects), ["review allow a", "ask a"]);
}

#[test]
fn interrupting_a_review_settles_the_call_and_ignores_late_answers() {
    let mut state = state_with_hooks_and_model(1);
    let review_effects = plan_and_review(&mut state, grantable_intent(Access::Write("a".into())), &[]);
    assert_eq!(describe_effects(&review_effects), ["REVIEW a"]);
    let effects = update(&mut state, Event::TurnInterrupted);
    assert_eq!(describe_effects(&effects), ["CANCEL", "interrupted a", "turn interrupted"]);
    assert_eq!(
        finish_review(&mut state, &review_effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow))),
        Some(vec![])
    );
    assert!(state.is_idle());
}

#[test]
fn resume_settles_call_under_review_as_not_run() {
    let mut state = state_with_hooks(2);
    let intent = grantable_intent(Access::Write("a".into()));
    plan_and_review(&mut state, intent, &[ReviewerBehavior::Answers(ReviewVerdict::Allow)]);
    let (resumed, effects) = resume(state.session, state_with_hooks(2));
    assert_eq!(describe_effects(&effects), ["interrupted a", "turn interrupted"]);
    let outcome_text = effects.iter().find_map(|effect| match effect {
        Effect::AppendEntry(Entry::Settled { outcome, .. }) => Some(outcome.text().to_owned()),
        _ => None,
    });
    assert_eq!(outcome_text.as_deref(), Some("Not run: the program exited before this call was approved."));
    assert!(!matches!(collect_records(resumed.session.entries())[0].verify(), Integrity::Broken(_)));
}

#[test]
fn only_model_reviewer_receives_user_messages() {
    let mut state = state_with_hooks_and_model(1);
    add_grant(&mut state);
    for text in ["one", "two", "three"] {
        send_user_message(&mut state, text);
        receive_reply(&mut state, "I am sure that it is harmless.", &[]);
    }
    let effects = plan_and_review(&mut state, grantable_intent(Access::Write("a".into())), &[]);
    let review_context = |effects: &[Effect]| match effects.last() {
        Some(Effect::ReviewCall { context, .. }) => (**context).clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((review_context(&effects).user_messages.len(), review_context(&effects).verdict.as_str()), (0, "allow"));
    let effects =
        finish_review(&mut state, &effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow))).unwrap();
    assert_eq!(review_context(&effects).user_messages, ["two", "three", "go"]);
    assert_eq!(review_context(&effects).reviewer, Reviewer::Model);
}

#[test]
fn counts_usage_of_model_reviewer() {
    let mut state = state_with_hooks_and_model(0);
    add_grant(&mut state);
    let effects = plan_and_review(&mut state, grantable_intent(Access::Write("a".into())), &[]);
    let usage = Some(Usage { input: 30, cached: 0, output: 4 });
    finish_review(&mut state, &effects, Review { usage, ..build_review(ReviewerBehavior::Fails) });
    assert_eq!(state.session.usage().total(), 34);
}

#[test]
fn hook_does_not_override_a_rule_that_asks() {
    for (list, expected) in [(Vec::new(), "allow"), (vec![user_rule(RuleEffect::Ask, "t")], "ask")] {
        let mut state = state_with_hooks(1);
        state.rules = std::sync::Arc::new(Rules { list, ..Rules::default() });
        plan_and_review(
            &mut state,
            grantable_intent(Access::Write("a".into())),
            &[ReviewerBehavior::Answers(ReviewVerdict::Allow)],
        );
        assert_eq!(last_verdict(&state).0, expected);
    }
}
