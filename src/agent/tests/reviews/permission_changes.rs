//! Permissions that the user narrows during a review apply to the reviewed call too.

use super::*;

/// Returns the verdict on a write that a hook allows. `prepare` runs before the call is planned, `during_review` while
/// the hook reviews it.
fn verdict_after(prepare: fn(&mut State), during_review: impl Fn(&mut State)) -> &'static str {
    let mut state = state_with_hooks(1);
    prepare(&mut state);
    let review_effects = plan_and_review(&mut state, grantable_intent(Access::Write("a".into())), &[]);
    assert_eq!(describe_effects(&review_effects), ["REVIEW a"]);
    during_review(&mut state);
    let effects =
        finish_review(&mut state, &review_effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow)))
            .unwrap();
    match describe_effects(&effects)[1].as_str() {
        "allow a" => "allow",
        "ask a" => "ask",
        "refuse a" => "refuse",
        other => panic!("{other}"),
    }
}

fn change_mode(mode: Mode) -> impl Fn(&mut State) {
    move |state| {
        update(state, Event::ModeChanged(mode));
    }
}

fn add_rule(effect: RuleEffect) -> impl Fn(&mut State) {
    move |state| {
        let rule = Rule::new(effect, RuleTarget::Path("a".into()));
        let rules = std::sync::Arc::new(Rules { list: vec![rule], ..Rules::default() });
        update(state, Event::RulesLoaded { rules, notices: Vec::new() });
    }
}

#[test]
fn r20_mode_narrowed_during_review_applies() {
    let set_full_mode: fn(&mut State) = |state| state.policy.mode = Mode::Full;
    assert_eq!(verdict_after(set_full_mode, |_| {}), "allow");
    assert_eq!(verdict_after(set_full_mode, change_mode(Mode::Auto)), "allow", "this mode allows it too");
    assert_eq!(verdict_after(set_full_mode, change_mode(Mode::Ask)), "ask");
    assert_eq!(verdict_after(set_full_mode, change_mode(Mode::Plan)), "refuse");
    assert_eq!(verdict_after(set_full_mode, add_rule(RuleEffect::Ask)), "ask");
    assert_eq!(verdict_after(set_full_mode, add_rule(RuleEffect::Deny)), "refuse");
}

#[test]
fn r20_mode_narrowed_during_review_asks_in_a_dry_run_that_asks_as_live() {
    let mut state = state_with_hooks(1);
    state.policy = Policy { mode: Mode::Full, dry_run: true, asks_as_live: true };
    state.config.reviewers.hooks[0].in_dry_run = true;
    let review_effects = plan_and_review(&mut state, grantable_intent(Access::Write("a".into())), &[]);
    update(&mut state, Event::ModeChanged(Mode::Ask));
    let review = build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow));
    let effects = finish_review(&mut state, &review_effects, review).unwrap();
    assert_eq!(describe_effects(&effects)[1], "ask a");
}

#[test]
fn r11_grant_revoked_during_review_no_longer_applies() {
    let revoke_grant = |state: &mut State| {
        update(
            state,
            Event::GrantRevoked {
                granting_call: Some("z".into()),
                description: String::new(),
                replacement: None,
                by: Decider::Headless,
            },
        );
    };
    assert_eq!(verdict_after(add_grant, |_| {}), "allow");
    assert_eq!(verdict_after(add_grant, revoke_grant), "ask");
}

#[test]
fn r11_hook_approval_yields_to_a_new_rule_that_asks() {
    assert_eq!(verdict_after(|_| {}, |_| {}), "allow");
    assert_eq!(verdict_after(|_| {}, change_mode(Mode::Auto)), "allow");
    assert_eq!(verdict_after(|_| {}, add_rule(RuleEffect::Ask)), "ask");
    assert_eq!(verdict_after(|_| {}, add_rule(RuleEffect::Deny)), "refuse");
}

#[test]
fn r01_hook_cannot_approve_apply_calls() {
    let mut state = state_with_hooks(1);
    let calls = vec![LiveCall { tool: "t".into(), arguments: serde_json::json!({}), changed_paths: vec![] }];
    update(&mut state, Event::ApplyRequested(ApplyRequest { message: "apply it".into(), calls }));
    let turn = running_turn(&state);
    let intent = Ok(grantable_intent(Access::Write("a".into())));
    let review_effects = update(&mut state, Event::CallPlanned { turn, call: "offered_1".into(), intent });
    let effects =
        finish_review(&mut state, &review_effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow)))
            .unwrap();
    assert_eq!(describe_effects(&effects), ["review allow offered_1", "ask offered_1"]);
}
