//! Reviews under any order of events, and their log entries.

use super::*;
use proptest::prelude::*;

#[test]
fn log_records_reviews_and_detects_mismatches() {
    let mut state = state_with_hooks_and_model(1);
    plan_and_review(
        &mut state,
        grantable_intent(Access::Write("a".into())),
        &[ReviewerBehavior::Answers(ReviewVerdict::Allow), ReviewerBehavior::Fails],
    );
    let mut entries = state.session.entries().to_vec();
    let record = &collect_records(&entries)[0];
    let json = record.to_json(&|_| None);
    let field = |index: usize, key: &str| json["consulted"][index][key].clone();
    assert_eq!((field(0, "who"), field(0, "name"), field(0, "verdict")), ("hook".into(), "h0".into(), "allow".into()));
    assert_eq!(
        (field(0, "before"), field(0, "why"), field(0, "failed")),
        ("ask".into(), "it is so".into(), false.into())
    );
    assert_eq!(
        (field(1, "who"), field(1, "verdict"), field(1, "failed")),
        ("second_reader".into(), "ask".into(), true.into())
    );
    assert_eq!(json["holds"], true);
    for entry in &mut entries {
        if let Entry::Reviewed { sha256, .. } = entry {
            *sha256 = Digest::of_bytes(b"another");
        }
    }
    let integrity = collect_records(&entries)[0].verify();
    assert_eq!(integrity, Integrity::Broken("the reviewed plan is not the plan that was shown"));
    for (behavior, decider) in [
        (ReviewerBehavior::Answers(ReviewVerdict::Allow), "hook"),
        (ReviewerBehavior::Answers(ReviewVerdict::Deny), "hook"),
    ] {
        let mut state = state_with_hooks(1);
        plan_and_review(&mut state, grantable_intent(Access::Write("a".into())), &[behavior]);
        assert_eq!(collect_records(state.session.entries())[0].decider_name(), Some(decider));
    }
    let mut state = state_with_hooks(1);
    add_grant(&mut state);
    plan_and_review(
        &mut state,
        grantable_intent(Access::Write("a".into())),
        &[ReviewerBehavior::Answers(ReviewVerdict::Allow)],
    );
    assert_eq!(collect_records(state.session.entries()).last().unwrap().decider_name(), Some("policy"));
}

/// Checks several calls in any order of events, with stops and resumes: a call with effects starts only if all its
/// reviewers allowed it or the user approved it.
fn check_any_order(steps: &[(u8, u8)]) {
    let new_state = || {
        let mut state = state_with_hooks_and_model(2);
        state.config.reviewers.hooks[1].tools = Some(vec!["t".into()]);
        state
    };
    let mut state = new_state();
    add_grant(&mut state);
    let mut pending_effects: Vec<Effect> = Vec::new();
    let mut call_count = 0;
    for &(action, selector) in steps {
        let pick_index = |effects: &[Effect]| (!effects.is_empty()).then(|| usize::from(selector) % effects.len());
        let effects = match action % 8 {
            0 if state.is_idle() => {
                send_user_message(&mut state, "go");
                call_count += 3;
                let ids: Vec<String> = (call_count - 3..call_count).map(|number| format!("c{number}")).collect();
                let calls: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "t")).collect();
                receive_reply(&mut state, "", &calls)
            }
            1 => update(&mut state, Event::QueueOpened),
            2 => update(&mut state, Event::EarlyPromptRequested(Some(format!("c{}", selector % 9).as_str().into()))),
            3 if selector % 9 == 0 => {
                pending_effects.clear();
                let (resumed, effects) = resume(state.session.clone(), new_state());
                state = resumed;
                effects
            }
            3 if selector % 9 == 1 => update(&mut state, Event::TurnInterrupted),
            3 if selector % 9 == 2 => {
                let mode = [Mode::Plan, Mode::Ask][usize::from(selector) / 9 % 2];
                update(&mut state, Event::ModeChanged(mode))
            }
            4 => match state.waiting_call() {
                Some(WaitingCall::Approval { call, .. }) => {
                    let id = call.id.clone();
                    let decision = if selector % 2 == 0 { Decision::Once } else { Decision::Deny(String::new()) };
                    update(&mut state, Event::CallDecided { call: id, decision, by: Decider::Headless })
                }
                _ => Vec::new(),
            },
            _ => match pick_index(&pending_effects).map(|index| {
                if selector % 5 == 0 { pending_effects[index].clone() } else { pending_effects.remove(index) }
            }) {
                Some(Effect::PlanCall { turn, call, .. }) => {
                    let intent = match selector % 3 {
                        0 => read_intent(),
                        1 => grantable_intent(Access::Write("a".into())),
                        _ => grantable_intent(Access::Write("b".into())),
                    };
                    update(&mut state, Event::CallPlanned { turn, call: call.id, intent: Ok(intent) })
                }
                Some(Effect::ReviewCall { turn, call, round, .. }) => {
                    let review = build_review(ALL_BEHAVIORS[usize::from(selector / 3) % 4]);
                    update(&mut state, Event::CallReviewed { turn, call: call.id, round, review })
                }
                Some(Effect::RunCall { turn, call, .. }) => {
                    let outcome = Outcome::Done(String::new());
                    let duration = Duration::ZERO;
                    update(
                        &mut state,
                        Event::CallFinished { turn, call: call.id, outcome, result_source: None, duration },
                    )
                }
                Some(_) | None => Vec::new(),
            },
        };
        for effect in &effects {
            if let Effect::RunCall { call, plan, .. } = effect {
                check_permitted(&state, &call.id, plan);
            }
        }
        pending_effects.extend(effects.into_iter().filter(|effect| {
            matches!(effect, Effect::PlanCall { .. } | Effect::ReviewCall { .. } | Effect::RunCall { .. })
        }));
    }
    let (resumed, _) = resume(state.session, idle_state());
    for record in collect_records(resumed.session.entries()) {
        assert!(!matches!(record.verify(), Integrity::Broken(_)), "{:?}: {record:?}", record.verify());
        let outcome_count = record.steps.iter().filter(|(_, entry)| matches!(entry, Entry::Settled { .. })).count();
        assert_eq!(outcome_count, 1, "{record:?}");
    }
}

/// Checks a call that starts: a read was reviewed; a call with effects was allowed by all reviewers, or approved by the
/// user and denied by no reviewer.
fn check_permitted(state: &State, id: &CallId, plan: &Plan) {
    let entries = state.session.entries();
    let records = collect_records(entries);
    let record = records.iter().find(|record| record.call.id == *id).unwrap();
    if matches!(plan.access, Access::Read(_)) {
        // The second hook names the tool, so it reviews reads too.
        assert!(!record.reviews().is_empty(), "{record:?}");
        return;
    }
    let is_approved = matches!(record.last_decision(), Some(Entry::Decided { decision: Decision::Once, .. }));
    let reviews = record.reviews();
    let is_allow = |entry: &&Entry| matches!(entry, Entry::Reviewed { verdict: ReviewVerdict::Allow, .. });
    // The last three are by the two hooks and the model reviewer. Earlier ones are of a previous plan that was dropped.
    let last_reviews = reviews.get(reviews.len().saturating_sub(3)..).unwrap_or_default();
    assert!(is_approved || last_reviews.len() == 3 && last_reviews.iter().all(is_allow), "{record:?}");
    let is_denial = |entry: &&Entry| matches!(entry, Entry::Reviewed { verdict: ReviewVerdict::Deny, .. });
    assert!(!reviews.iter().any(is_denial), "{record:?}");
}

proptest! {
    #[test]
    fn nothing_starts_against_a_review_in_any_order(
        steps in prop::collection::vec(any::<(u8, u8)>(), 0..160),
    ) {
        check_any_order(&steps);
    }
}

#[test]
fn r08_review_of_an_outdated_plan_is_no_mismatch() {
    // Three calls: the prompt of the last is opened early, a hook reviews it, the mode changes, and its turn comes.
    check_any_order(&[
        (88, 0),
        (131, 0),
        (33, 0),
        (24, 0),
        (5, 1),
        (3, 102),
        (242, 32),
        (85, 161),
        (3, 87),
        (202, 60),
        (59, 92),
        (5, 1),
        (3, 43),
        (85, 223),
    ]);
}
