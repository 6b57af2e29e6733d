//! Dry runs: withheld calls, approvals for reading, and hooks that are not run.

use super::*;

fn dry(as_live: bool) -> State {
    let mut state = idle();
    (state.policy.dry_run, state.policy.asks_as_live) = (true, as_live);
    state
}

fn secret() -> Intent {
    plan(Access::ReadSensitive(".env".into()))
}

/// Plans a call and returns the effects.
fn judged(state: &mut State, intent: Intent) -> Vec<Effect> {
    said(state, "go");
    replies(state, "", &[("a", "t")]);
    planned(state, "a", intent)
}

/// Returns whether the call runs and, if so, whether the model may see what it reads.
fn approved(effects: &[Effect]) -> Option<bool> {
    effects.iter().find_map(|effect| match effect {
        Effect::RehearseCall { approved, .. } => Some(*approved),
        _ => None,
    })
}

fn settled(state: &State) -> (Outcome, Option<ResultOrigin>) {
    let last = state.session.entries().iter().rev().find_map(|entry| match entry {
        Entry::Settled { outcome, staged, .. } => Some((outcome.clone(), staged.clone())),
        _ => None,
    });
    last.expect("the call is settled")
}

fn hooks(state: &State) -> Vec<String> {
    let last = state.session.entries().iter().rev().find_map(|entry| match entry {
        Entry::Planned { hooks_not_run, .. } => Some(hooks_not_run.clone()),
        _ => None,
    });
    last.expect("the call was judged")
}

#[test]
fn r30_withheld_call_starts_nothing_and_turn_continues() {
    let mut state = dry(false);
    let effects = judged(&mut state, secret());
    assert_eq!(shape(&effects), ["withhold a", "rehearsed a", "STREAM"]);
    let (outcome, staged) = settled(&state);
    let told = "Withheld in this dry run: read of .env (may hold secrets). Live, the user would be asked first.";
    assert_eq!(outcome, Outcome::Rehearsed(told.into()));
    assert_eq!(staged, Some(ResultOrigin::simulated(SimulationSource::Withheld)));
    let session = &state.session;
    assert_eq!((session.would_ask_count(), session.rehearsed_count()), (1, 0));
    assert!(!session.call(&"a".into()).unwrap().is_started);
    let read_back = Session::replay(session.entries().iter().cloned());
    assert_eq!(&read_back, session);
    // A model that must not learn of the dry run does not learn of this either.
    let mut untold = dry(false);
    untold.hides_dry_run = true;
    judged(&mut untold, secret());
    assert_eq!(settled(&untold).0, Outcome::Rehearsed("Not readable here: it (t).".into()));
}

#[test]
fn r30_rehearsed_call_discloses_only_with_approval() {
    let mut state = dry(true);
    assert_eq!(shape(&judged(&mut state, secret())), ["ask a"]);
    assert_eq!(approved(&decided(&mut state, "a", Decision::Once)), Some(true));
    // It was read as in a live run, and the outcome shows that.
    let turn = turn(&state);
    let (outcome, staged) = (Outcome::Rehearsed("KEY".into()), Some(ResultOrigin::ran()));
    let took = Duration::ZERO;
    update(&mut state, Event::CallFinished { turn, call: "a".into(), outcome, result_source: staged, duration: took });
    assert_eq!(settled(&state), (Outcome::Done("KEY".into()), None));
    assert_eq!(state.session.would_ask_count(), 1);
    // Without an approval it runs without disclosing.
    assert_eq!(approved(&judged(&mut dry(false), write())), Some(false));
    let mut full = dry(false);
    full.policy.mode = Mode::Full;
    assert_eq!(approved(&judged(&mut full, write())), Some(false));
    // A rule for exactly this file counts as approval.
    let mut ruled = dry(false);
    let exact = Rule { target: RuleTarget::Path(".env".into()), ..rule(RuleEffect::Allow, "t") };
    ruled.rules = std::sync::Arc::new(Rules { list: vec![exact], ..Rules::default() });
    assert_eq!(approved(&judged(&mut ruled, secret())), Some(true));
    assert_eq!(ruled.session.would_ask_count(), 0);
}

#[test]
fn r30_lists_hooks_not_run_in_a_dry_run() {
    let hook = |name: &str, in_dry_run| HookReviewer { name: name.into(), tools: None, in_dry_run };
    let all = vec![hook("one", false), hook("two", true), hook("three", false)];
    let advisers = Reviewers { hooks: all, has_model_reviewer: false };
    let mut state = State { reviewers: advisers.clone(), ..dry(false) };
    let effects = judged(&mut state, write());
    assert_eq!(shape(&effects), ["CONSULT a"], "hook two reviews it");
    let turn = turn(&state);
    let Some(Effect::ReviewCall { round, .. }) = effects.last() else { panic!("{effects:?}") };
    let said =
        Review { verdict: ReviewVerdict::Allow, reason: String::new(), is_failed: false, took_ms: 1, usage: None };
    update(&mut state, Event::CallReviewed { turn, call: "a".into(), round: *round, text: said });
    assert_eq!(hooks(&state), ["one", "three"]);
    // Hooks do not review reads inside the project or refused calls.
    let mut reads = State { reviewers: advisers.clone(), ..dry(false) };
    judged(&mut reads, read());
    assert!(hooks(&reads).is_empty());
    let mut refused = State { reviewers: advisers, ..dry(false) };
    refused.policy.mode = Mode::Plan;
    judged(&mut refused, write());
    assert!(hooks(&refused).is_empty());
    let hooks_live = vec![hook("one", false)];
    let mut live = State { reviewers: Reviewers { hooks: hooks_live, has_model_reviewer: false }, ..idle() };
    assert_eq!(shape(&judged(&mut live, write())), ["CONSULT a"], "reviewed in a live run");
}

#[test]
fn r30_hook_that_asks_does_not_lift_withholding() {
    for (advice, verdict) in
        [(ReviewVerdict::Allow, "withhold"), (ReviewVerdict::Ask, "withhold"), (ReviewVerdict::Deny, "refuse")]
    {
        let hooks = vec![HookReviewer { name: "h".into(), tools: None, in_dry_run: true }];
        let mut state = State { reviewers: Reviewers { hooks, has_model_reviewer: false }, ..dry(false) };
        let effects = judged(&mut state, secret());
        let turn = turn(&state);
        let Some(Effect::ReviewCall { round, .. }) = effects.last() else { panic!("{effects:?}") };
        let said = Review { verdict: advice, reason: String::new(), is_failed: false, took_ms: 1, usage: None };
        let effects = update(&mut state, Event::CallReviewed { turn, call: "a".into(), round: *round, text: said });
        assert!(shape(&effects).contains(&format!("{verdict} a")), "{effects:?}");
        assert_eq!(approved(&effects), None);
    }
}

#[test]
fn r30_copied_session_restarts_count_of_live_prompts() {
    let mut state = dry(false);
    judged(&mut state, secret());
    let mut session = state.session;
    session.apply(Entry::DryRunChanged { dry_run: false, copied_from: SessionId("01J".into()) });
    assert_eq!(session.would_ask_count(), 0);
    // A call planned again in the copy counts once.
    let again = session.entries().iter().find(|entry| matches!(entry, Entry::Planned { .. })).cloned();
    let again = again.expect("it was judged");
    session.apply(again.clone());
    session.apply(again);
    assert_eq!(session.would_ask_count(), 1);
}
