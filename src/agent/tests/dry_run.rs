//! Dry runs: withheld calls, approvals for reading, and hooks that are not run.

use super::*;

/// Creates an agent in a dry run. With `asks_as_live` it asks for the approvals that a live run would need.
fn dry_run_state(asks_as_live: bool) -> State {
    let mut state = idle_state();
    (state.policy.dry_run, state.policy.asks_as_live) = (true, asks_as_live);
    state
}

fn sensitive_read() -> Intent {
    plan_intent(Access::ReadSensitive(".env".into()))
}

/// Plans a call and returns the effects.
fn plan_single_call(state: &mut State, intent: Intent) -> Vec<Effect> {
    send_user_message(state, "go");
    receive_reply(state, "", &[("a", "t")]);
    receive_plan(state, "a", intent)
}

/// Returns whether the model may see what the rehearsed call reads; `None` if no call is rehearsed.
fn rehearsal_approval(effects: &[Effect]) -> Option<bool> {
    effects.iter().find_map(|effect| match effect {
        Effect::RehearseCall { approved, .. } => Some(*approved),
        _ => None,
    })
}

fn last_outcome(state: &State) -> (Outcome, Option<ResultOrigin>) {
    let last = state.session.entries().iter().rev().find_map(|entry| match entry {
        Entry::Settled { outcome, staged, .. } => Some((outcome.clone(), staged.clone())),
        _ => None,
    });
    last.expect("the call is settled")
}

fn skipped_hooks(state: &State) -> Vec<String> {
    let last = state.session.entries().iter().rev().find_map(|entry| match entry {
        Entry::Planned { hooks_not_run, .. } => Some(hooks_not_run.clone()),
        _ => None,
    });
    last.expect("the call was judged")
}

#[test]
fn r30_withheld_call_starts_nothing_and_turn_continues() {
    let mut state = dry_run_state(false);
    let effects = plan_single_call(&mut state, sensitive_read());
    assert_eq!(describe_effects(&effects), ["withhold a", "rehearsed a", "REQUEST_REPLY"]);
    let (outcome, origin) = last_outcome(&state);
    let expected = "Withheld in this dry run: read of .env (may hold secrets). Live, the user would be asked first.";
    assert_eq!(outcome, Outcome::Rehearsed(expected.into()));
    assert_eq!(origin, Some(ResultOrigin::simulated(SimulationSource::Withheld)));
    let session = &state.session;
    assert_eq!((session.would_ask_count(), session.rehearsed_count()), (1, 0));
    assert!(!session.find_call(&"a".into()).unwrap().is_started);
    let replayed = Session::replay(session.entries().iter().cloned());
    assert_eq!(&replayed, session);
    // If the dry run is hidden from the model, the outcome does not mention it.
    let mut hidden = dry_run_state(false);
    hidden.config.dry_run.is_hidden = true;
    plan_single_call(&mut hidden, sensitive_read());
    assert_eq!(last_outcome(&hidden).0, Outcome::Rehearsed("Not readable here: it (t).".into()));
}

#[test]
fn r30_rehearsed_call_discloses_only_with_approval() {
    let mut state = dry_run_state(true);
    assert_eq!(describe_effects(&plan_single_call(&mut state, sensitive_read())), ["ask a"]);
    assert_eq!(rehearsal_approval(&decide_call(&mut state, "a", Decision::Once)), Some(true));
    // A read has the same outcome as in a live run.
    let turn = running_turn(&state);
    let (outcome, origin) = (Outcome::Rehearsed("KEY".into()), Some(ResultOrigin::ran()));
    let duration = Duration::ZERO;
    update(&mut state, Event::CallFinished { turn, call: "a".into(), outcome, result_source: origin, duration });
    assert_eq!(last_outcome(&state), (Outcome::Done("KEY".into()), None));
    assert_eq!(state.session.would_ask_count(), 1);
    // Without an approval it runs without disclosing.
    assert_eq!(rehearsal_approval(&plan_single_call(&mut dry_run_state(false), write_intent())), Some(false));
    let mut full_mode = dry_run_state(false);
    full_mode.policy.mode = Mode::Full;
    assert_eq!(rehearsal_approval(&plan_single_call(&mut full_mode, write_intent())), Some(false));
    // A rule for exactly this file counts as approval.
    let mut with_rule = dry_run_state(false);
    let exact_rule = Rule { target: RuleTarget::Path(".env".into()), ..user_rule(RuleEffect::Allow, "t") };
    with_rule.rules = std::sync::Arc::new(Rules { list: vec![exact_rule], ..Rules::default() });
    assert_eq!(rehearsal_approval(&plan_single_call(&mut with_rule, sensitive_read())), Some(true));
    assert_eq!(with_rule.session.would_ask_count(), 0);
}

#[test]
fn r30_lists_hooks_not_run_in_a_dry_run() {
    let build_hook = |name: &str, in_dry_run| HookReviewer { name: name.into(), tools: None, in_dry_run };
    let hook_list = vec![build_hook("one", false), build_hook("two", true), build_hook("three", false)];
    let reviewers = Reviewers { hooks: hook_list, has_model_reviewer: false };
    let mut state = with_reviewers(dry_run_state(false), reviewers.clone());
    let effects = plan_single_call(&mut state, write_intent());
    assert_eq!(describe_effects(&effects), ["REVIEW a"], "hook two reviews it");
    let turn = running_turn(&state);
    let Some(Effect::ReviewCall { round, .. }) = effects.last() else { panic!("{effects:?}") };
    let review =
        Review { verdict: ReviewVerdict::Allow, reason: String::new(), is_failed: false, took_ms: 1, usage: None };
    update(&mut state, Event::CallReviewed { turn, call: "a".into(), round: *round, review });
    assert_eq!(skipped_hooks(&state), ["one", "three"]);
    // Hooks do not review reads inside the project or refused calls.
    let mut reading = with_reviewers(dry_run_state(false), reviewers.clone());
    plan_single_call(&mut reading, read_intent());
    assert!(skipped_hooks(&reading).is_empty());
    let mut plan_mode = with_reviewers(dry_run_state(false), reviewers);
    plan_mode.policy.mode = Mode::Plan;
    plan_single_call(&mut plan_mode, write_intent());
    assert!(skipped_hooks(&plan_mode).is_empty());
    let hooks_live = vec![build_hook("one", false)];
    let mut live = with_reviewers(idle_state(), Reviewers { hooks: hooks_live, has_model_reviewer: false });
    assert_eq!(describe_effects(&plan_single_call(&mut live, write_intent())), ["REVIEW a"], "reviewed in a live run");
}

#[test]
fn r30_hook_does_not_lift_withholding() {
    for (review_verdict, verdict) in
        [(ReviewVerdict::Allow, "withhold"), (ReviewVerdict::Ask, "withhold"), (ReviewVerdict::Deny, "refuse")]
    {
        let hooks = vec![HookReviewer { name: "h".into(), tools: None, in_dry_run: true }];
        let mut state = with_reviewers(dry_run_state(false), Reviewers { hooks, has_model_reviewer: false });
        let effects = plan_single_call(&mut state, sensitive_read());
        let turn = running_turn(&state);
        let Some(Effect::ReviewCall { round, .. }) = effects.last() else { panic!("{effects:?}") };
        let review =
            Review { verdict: review_verdict, reason: String::new(), is_failed: false, took_ms: 1, usage: None };
        let effects = update(&mut state, Event::CallReviewed { turn, call: "a".into(), round: *round, review });
        assert!(describe_effects(&effects).contains(&format!("{verdict} a")), "{effects:?}");
        assert_eq!(rehearsal_approval(&effects), None);
    }
}

#[test]
fn r30_copied_session_restarts_count_of_live_prompts() {
    let mut state = dry_run_state(false);
    plan_single_call(&mut state, sensitive_read());
    let mut session = state.session;
    session.apply(Entry::DryRunChanged { dry_run: false, copied_from: SessionId("01J".into()) });
    assert_eq!(session.would_ask_count(), 0);
    // A call planned again in the copy counts once.
    let planned_again = session.entries().iter().find(|entry| matches!(entry, Entry::Planned { .. })).cloned();
    let planned_again = planned_again.expect("it was judged");
    session.apply(planned_again.clone());
    session.apply(planned_again);
    assert_eq!(session.would_ask_count(), 1);
}
