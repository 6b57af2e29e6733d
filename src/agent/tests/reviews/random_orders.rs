//! Reviews under any order of events, and their log entries.

use super::*;
use proptest::prelude::*;

#[test]
fn log_records_reviews_and_detects_mismatches() {
    let mut state = asking(1, true);
    judged(&mut state, covered(Access::Write("a".into())), &[Does::Says(ReviewVerdict::Allow), Does::Fails]);
    let mut entries = state.session.entries().to_vec();
    let record = &collect_records(&entries)[0];
    let json = record.to_json(&|_| None);
    let said = |at: usize, key: &str| json["consulted"][at][key].clone();
    assert_eq!((said(0, "who"), said(0, "name"), said(0, "verdict")), ("hook".into(), "h0".into(), "allow".into()));
    assert_eq!((said(0, "before"), said(0, "why"), said(0, "failed")), ("ask".into(), "it is so".into(), false.into()));
    assert_eq!(
        (said(1, "who"), said(1, "verdict"), said(1, "failed")),
        ("second_reader".into(), "ask".into(), true.into())
    );
    assert_eq!(json["holds"], true);
    for entry in &mut entries {
        if let Entry::Reviewed { sha256, .. } = entry {
            *sha256 = Digest::of_bytes(b"another");
        }
    }
    let wrong = collect_records(&entries)[0].verify();
    assert_eq!(wrong, Integrity::Broken("the reviewed plan is not the plan that was shown"));
    for (does, who) in [(Does::Says(ReviewVerdict::Allow), "hook"), (Does::Says(ReviewVerdict::Deny), "hook")] {
        let mut state = asking(1, false);
        judged(&mut state, covered(Access::Write("a".into())), &[does]);
        assert_eq!(collect_records(state.session.entries())[0].decider_name(), Some(who));
    }
    let mut state = asking(1, false);
    granted(&mut state);
    judged(&mut state, covered(Access::Write("a".into())), &[Does::Says(ReviewVerdict::Allow)]);
    assert_eq!(collect_records(state.session.entries())[0].decider_name(), Some("policy"));
}

/// Several calls in any order of events, with stops and resumes: nothing that changes anything starts unless every
/// reviewer of it allowed it, or the user approved it.
fn in_any_order(steps: &[(u8, u8)]) {
    let blank = || {
        let mut state = asking(2, true);
        state.reviewers.hooks[1].tools = Some(vec!["t".into()]);
        state
    };
    let mut state = blank();
    granted(&mut state);
    let mut open: Vec<Effect> = Vec::new();
    let mut made = 0;
    for &(what, which) in steps {
        let pick = |open: &[Effect]| (!open.is_empty()).then(|| usize::from(which) % open.len());
        let effects = match what % 8 {
            0 if state.is_idle() => {
                said(&mut state, "go");
                made += 3;
                let ids: Vec<String> = (made - 3..made).map(|at| format!("c{at}")).collect();
                let calls: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "t")).collect();
                replies(&mut state, "", &calls)
            }
            1 => update(&mut state, Event::QueueOpened),
            2 => update(&mut state, Event::EarlyPromptRequested(Some(format!("c{}", which % 9).as_str().into()))),
            3 if which % 9 == 0 => {
                open.clear();
                let (resumed, effects) = resume(state.session.clone(), blank());
                state = resumed;
                effects
            }
            3 if which % 9 == 1 => update(&mut state, Event::TurnInterrupted),
            3 if which % 9 == 2 => {
                let mode = [Mode::Plan, Mode::Ask][usize::from(which) / 9 % 2];
                update(&mut state, Event::ModeChanged(mode))
            }
            4 => match state.waiting_call() {
                Some(WaitingCall::Approval { call, .. }) => {
                    let id = call.id.clone();
                    let decision = if which % 2 == 0 { Decision::Once } else { Decision::Deny(String::new()) };
                    update(&mut state, Event::CallDecided { call: id, decision, by: Decider::Headless })
                }
                _ => Vec::new(),
            },
            _ => match pick(&open).map(|at| if which % 5 == 0 { open[at].clone() } else { open.remove(at) }) {
                Some(Effect::PlanCall { turn, call }) => {
                    let intent = match which % 3 {
                        0 => read(),
                        1 => covered(Access::Write("a".into())),
                        _ => covered(Access::Write("b".into())),
                    };
                    update(&mut state, Event::CallPlanned { turn, call: call.id, intent: Ok(intent) })
                }
                Some(Effect::ReviewCall { turn, call, round, .. }) => {
                    let said = answer(ALL[usize::from(which / 3) % 4]);
                    update(&mut state, Event::CallReviewed { turn, call: call.id, round, text: said })
                }
                Some(Effect::RunCall { turn, call, .. }) => {
                    let outcome = Outcome::Done(String::new());
                    let took = Duration::ZERO;
                    update(
                        &mut state,
                        Event::CallFinished { turn, call: call.id, outcome, result_source: None, duration: took },
                    )
                }
                Some(_) | None => Vec::new(),
            },
        };
        for effect in &effects {
            if let Effect::RunCall { call, plan, .. } = effect {
                was_let(&state, &call.id, plan);
            }
        }
        open.extend(effects.into_iter().filter(|effect| {
            matches!(effect, Effect::PlanCall { .. } | Effect::ReviewCall { .. } | Effect::RunCall { .. })
        }));
    }
    let (resumed, _) = resume(state.session, idle());
    for record in collect_records(resumed.session.entries()) {
        assert!(!matches!(record.verify(), Integrity::Broken(_)), "{:?}: {record:?}", record.verify());
        let ends = record.steps.iter().filter(|(_, entry)| matches!(entry, Entry::Settled { .. })).count();
        assert_eq!(ends, 1, "{record:?}");
    }
}

fn was_let(state: &State, id: &CallId, plan: &Plan) {
    let entries = state.session.entries();
    let all = collect_records(entries);
    let record = all.iter().find(|record| record.call.id == *id).unwrap();
    if matches!(plan.access, Access::Read(_)) {
        // The second hook names the tool.
        let hooks = record.reviews().len();
        assert!(hooks >= 1, "it reviews reads too");
        return;
    }
    let yes = matches!(record.last_decision(), Some(Entry::Decided { decision: Decision::Once, .. }));
    let said = record.reviews();
    let allows = |entry: &&Entry| matches!(entry, Entry::Reviewed { verdict: ReviewVerdict::Allow, .. });
    // Earlier reviews were of a previous plan, which was given up.
    let last = said.get(said.len().saturating_sub(3)..).unwrap_or_default();
    assert!(yes || last.len() == 3 && last.iter().all(allows), "{record:?}");
    let denied = |entry: &&Entry| matches!(entry, Entry::Reviewed { verdict: ReviewVerdict::Deny, .. });
    assert!(!said.iter().any(denied), "{record:?}");
}

proptest! {
    #[test]
    fn nothing_starts_against_a_review_in_any_order(
        steps in prop::collection::vec(any::<(u8, u8)>(), 0..160),
    ) {
        in_any_order(&steps);
    }
}

#[test]
fn r08_review_of_an_outdated_plan_is_no_mismatch() {
    // Three calls, of which the last is brought and a hook answers; then the mode changes, and its turn comes.
    in_any_order(&[
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
