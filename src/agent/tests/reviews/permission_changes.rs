//! Permissions that the user narrows during a review apply to the reviewed call too.

use super::*;

/// Returns the verdict on a write that a hook allows, after this event during the review.
fn after(set: fn(&mut State), meanwhile: impl Fn(&mut State)) -> &'static str {
    let mut state = asking(1, false);
    set(&mut state);
    let asks = judged(&mut state, covered(Access::Write("a".into())), &[]);
    assert_eq!(shape(&asks), ["CONSULT a"]);
    meanwhile(&mut state);
    let effects = consulted(&mut state, &asks, answer(Does::Says(ReviewVerdict::Allow))).unwrap();
    match shape(&effects)[1].as_str() {
        "allow a" => "allow",
        "ask a" => "ask",
        "refuse a" => "refuse",
        other => panic!("{other}"),
    }
}

fn mode(mode: Mode) -> impl Fn(&mut State) {
    move |state| {
        update(state, Event::ModeChanged(mode));
    }
}

fn ruled(says: RuleEffect) -> impl Fn(&mut State) {
    move |state| {
        let rule = Rule {
            effect: says,
            tool: None,
            target: RuleTarget::Path("a".into()),
            scope: RuleHolds::EveryProject,
            created: String::new(),
            expires: String::new(),
            scripts: Vec::new(),
            saved_with_key: String::new(),
            location: RuleLocation::default(),
        };
        let rules = std::sync::Arc::new(Rules { list: vec![rule], ..Rules::default() });
        update(state, Event::RulesLoaded { rules, notices: Vec::new() });
    }
}

#[test]
fn r20_mode_narrowed_during_review_applies() {
    let full: fn(&mut State) = |state| state.policy.mode = Mode::Full;
    assert_eq!(after(full, |_| {}), "allow");
    assert_eq!(after(full, mode(Mode::Auto)), "allow", "this mode allows it too");
    assert_eq!(after(full, mode(Mode::Ask)), "ask");
    assert_eq!(after(full, mode(Mode::Plan)), "refuse");
    assert_eq!(after(full, ruled(RuleEffect::Ask)), "ask");
    assert_eq!(after(full, ruled(RuleEffect::Deny)), "refuse");
}

#[test]
fn r11_grant_revoked_during_review_no_longer_applies() {
    let take_back = |state: &mut State| {
        update(state, Event::GrantRevoked { given_on: Some("z".into()), what: String::new(), by: Decider::Headless });
    };
    assert_eq!(after(granted, |_| {}), "allow");
    assert_eq!(after(granted, take_back), "ask");
}

#[test]
fn r11_hook_approval_yields_to_a_new_rule_that_asks() {
    assert_eq!(after(|_| {}, |_| {}), "allow");
    assert_eq!(after(|_| {}, mode(Mode::Auto)), "allow");
    assert_eq!(after(|_| {}, ruled(RuleEffect::Ask)), "ask");
    assert_eq!(after(|_| {}, ruled(RuleEffect::Deny)), "refuse");
}

#[test]
fn r01_hook_cannot_approve_apply_calls() {
    let mut state = asking(1, false);
    let calls = vec![LiveCall { tool: "t".into(), arguments: serde_json::json!({}), changed_paths: vec![] }];
    update(&mut state, Event::ApplyRequested(ApplyRequest { message: "apply it".into(), calls }));
    let turn = turn(&state);
    let intent = Ok(covered(Access::Write("a".into())));
    let asks = update(&mut state, Event::CallPlanned { turn, call: "offered_1".into(), intent });
    let effects = consulted(&mut state, &asks, answer(Does::Says(ReviewVerdict::Allow))).unwrap();
    assert_eq!(shape(&effects), ["allow says offered_1", "ask offered_1"]);
}
