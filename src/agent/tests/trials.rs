//! Trials of waiting commands: what starts, stops, keeps and forgets them, and what the log says.

use super::*;
use crate::chat::audit::{Integrity, collect_records};
use proptest::prelude::*;
use std::collections::HashSet;

fn command_intent(command: &str) -> Intent {
    let line = CommandLine { command: command.into(), folder: "/p".into(), seconds: 30, ..CommandLine::default() };
    let preview = Preview::Command(line.clone());
    let access = Access::Run(line.clone().into());
    Intent::Act(Box::new(Plan::new("Run a command?", command.into(), access, preview, Work::Command(line))))
}

fn report(result: &str) -> TrialReport {
    TrialReport {
        result: format!("{result}\nexit 0"),
        status: "exit 0".into(),
        duration: Duration::from_millis(12),
        changes: Vec::new(),
        outside: Vec::new(),
        temporary_files: 0,
        unkeepable: Vec::new(),
        doubt: None,
        digest: Digest::of_bytes(result.as_bytes()),
    }
}

/// A command that waits for approval, on a machine where commands can be tried.
fn waiting_command() -> State {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "bash_exec"), ("b", "bash_exec")]);
    let effects = receive_plan(&mut state, "a", command_intent("make"));
    assert_eq!(describe_effects(&effects), ["ask a", "CHECK_TRIALS a"]);
    update(&mut state, Event::TrialSupportChecked { call: Some("a".into()), result: Ok(()) });
    state
}

fn request_trial(state: &mut State, id: &str) -> Vec<String> {
    describe_effects(&update(state, Event::TrialRequested(id.into())))
}

fn finish_trial(state: &mut State, id: &str, number: u64, result: Result<TrialReport, String>) -> Vec<String> {
    let turn = state.current_turn().unwrap_or(TurnId(0));
    let result = result.map(Box::new);
    describe_effects(&update(state, Event::TrialFinished { turn, call: id.into(), number, result }))
}

fn trial(state: &State) -> &Trial {
    let Some(WaitingCall::Approval { trial, .. }) = state.waiting_call() else { panic!("nothing waits") };
    trial
}

#[test]
fn a_kept_trial_is_recorded_and_its_output_is_the_result() {
    let mut state = waiting_command();
    assert_eq!(request_trial(&mut state, "a"), ["TRY a 1"]);
    assert_eq!(request_trial(&mut state, "a"), Vec::<String>::new(), "it runs already");
    assert!(state.is_busy());
    assert_eq!(finish_trial(&mut state, "a", 1, Ok(report("built"))), ["tried a: exit 0"]);
    assert!(trial(&state).report().is_some());
    let other = Decision::Kept(Digest::of_bytes(b"other"));
    assert_eq!(describe_effects(&decide_call(&mut state, "a", other)), Vec::<String>::new(), "not what was shown");
    let kept = decide_call(&mut state, "a", Decision::Kept(report("built").digest));
    assert_eq!(describe_effects(&kept), ["kept a", "KEEP a 1"]);
    let turn = running_turn(&state);
    let outcome = Outcome::Done(report("built").result);
    let duration = Duration::from_millis(12);
    let finished = Event::CallFinished { turn, call: "a".into(), outcome, result_source: None, duration };
    assert_eq!(describe_effects(&update(&mut state, finished)), ["done a", "PLAN b"]);
    let records = collect_records(state.session.entries());
    assert_eq!(records[0].verify(), Integrity::Intact);
    let mut forged = state.session.entries().to_vec();
    for entry in &mut forged {
        if let Entry::Tried { trial, .. } = entry {
            *trial = Digest::of_bytes(b"forged");
        }
    }
    assert!(matches!(collect_records(&forged)[0].verify(), Integrity::Broken(_)));
}

#[test]
fn every_other_decision_forgets_the_trial() {
    for (decision, expected) in [
        (Decision::Once, vec!["decided a", "DROP a", "RUN a"]),
        (Decision::Deny(String::new()), vec!["decided a", "DROP a", "refused a", "PLAN b"]),
        (Decision::Edited(serde_json::json!({ "of": "x" })), vec!["DROP a", "PLAN a"]),
    ] {
        for finished in [false, true] {
            let mut state = waiting_command();
            request_trial(&mut state, "a");
            if finished {
                finish_trial(&mut state, "a", 1, Ok(report("x")));
            }
            assert_eq!(describe_effects(&decide_call(&mut state, "a", decision.clone())), expected, "{decision:?}");
            assert_eq!(finish_trial(&mut state, "a", 1, Ok(report("late"))), Vec::<String>::new(), "too late");
        }
    }
    let mut state = waiting_command();
    request_trial(&mut state, "a");
    let effects = describe_effects(&update(&mut state, Event::TurnInterrupted));
    assert!(effects.contains(&"DROP a".to_owned()), "{effects:?}");
}

#[test]
fn a_stopped_or_failed_trial_can_be_repeated() {
    let mut state = waiting_command();
    request_trial(&mut state, "a");
    assert_eq!(describe_effects(&update(&mut state, Event::TrialStopped("a".into()))), ["DROP a"]);
    assert_eq!(*trial(&state), Trial::None);
    assert_eq!(request_trial(&mut state, "a"), ["TRY a 2"]);
    assert_eq!(finish_trial(&mut state, "a", 1, Ok(report("old"))), Vec::<String>::new(), "of the stopped trial");
    assert!(trial(&state).is_running());
    assert_eq!(finish_trial(&mut state, "a", 2, Err("no".into())), Vec::<String>::new());
    assert_eq!(*trial(&state), Trial::Failed("no".into()));
    assert_eq!(request_trial(&mut state, "a"), ["TRY a 3"]);
}

#[test]
fn only_a_command_that_waits_for_approval_is_tried() {
    let mut state = waiting_command();
    assert_eq!(request_trial(&mut state, "b"), Vec::<String>::new(), "its prompt is not shown");
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "write")]);
    assert_eq!(describe_effects(&receive_plan(&mut state, "a", write_intent())), ["ask a"]);
    assert_eq!(request_trial(&mut state, "a"), Vec::<String>::new(), "no command");
    let Intent::Act(plan) = command_intent("curl x") else { panic!() };
    assert!(!state.offers_trial(&plan), "not known yet");
    state.trial_support = TrialSupport::Available;
    assert!(state.offers_trial(&plan));
}

#[test]
fn only_the_first_prompt_explains_why_nothing_can_be_tried() {
    let mut state = waiting_command();
    // The check at the start of the session may be answered after that for the prompt.
    for call in [Some("a".into()), None] {
        update(&mut state, Event::TrialSupportChecked { call, result: Err("old kernel".into()) });
    }
    let Intent::Act(plan) = command_intent("make") else { panic!() };
    assert!(!state.offers_trial(&plan));
    assert_eq!(state.missing_trial_reason(&"a".into(), &plan), Some("old kernel"));
    assert_eq!(state.missing_trial_reason(&"b".into(), &plan), None);
    decide_call(&mut state, "a", Decision::Once);
    finish_call(&mut state, "a");
    assert_eq!(describe_effects(&receive_plan(&mut state, "b", command_intent("make"))), ["ask b"]);
}

proptest! {
    /// Whatever happens in whatever order: a trial that was started is forgotten or kept exactly once, and only what was
    /// shown is kept.
    #[test]
    fn each_trial_is_kept_or_forgotten_once(steps in prop::collection::vec((0u8..10, 0u64..4), 0..40)) {
        let mut state = waiting_command();
        let mut open: HashSet<String> = HashSet::new();
        let mut log = Vec::new();
        for (step, selector) in steps {
            let id: &str = if selector % 2 == 0 { "a" } else { "b" };
            let turn = state.current_turn().unwrap_or(TurnId(0));
            let by = Decider::Headless;
            let text = format!("{}", selector / 2);
            let event = match step {
                0 | 1 => Event::TrialRequested(id.into()),
                2 => Event::TrialStopped(id.into()),
                3 | 4 => Event::TrialFinished { turn, call: id.into(), number: 1 + selector, result: Ok(Box::new(report(&text))) },
                5 => Event::CallDecided { call: id.into(), decision: Decision::Kept(report(&text).digest), by },
                6 => Event::CallDecided { call: id.into(), decision: Decision::Once, by },
                7 => Event::CallDecided { call: id.into(), decision: Decision::Edited(serde_json::json!({ "of": selector })), by },
                8 => Event::CallPlanned { turn, call: id.into(), intent: Ok(command_intent(&text)) },
                _ if selector == 3 => Event::TurnInterrupted,
                _ => Event::CallFinished { turn, call: id.into(), outcome: Outcome::Done(text), result_source: None, duration: Duration::ZERO },
            };
            for effect in update(&mut state, event) {
                match effect {
                    Effect::AppendEntry(entry) => log.push(entry),
                    Effect::TryCall { call, .. } => prop_assert!(open.insert(call.id.0), "tried twice at once"),
                    Effect::DropTrial { call } => prop_assert!(open.remove(&call.0), "forgotten without a trial"),
                    Effect::KeepTrial { call, report, .. } => {
                        prop_assert!(open.remove(&call.id.0), "kept without a trial");
                        let tried = log.iter().rev().find_map(|entry| match entry {
                            Entry::Tried { call: tried, trial, .. } if *tried == call.id => Some(trial),
                            _ => None,
                        });
                        prop_assert_eq!(tried, Some(&report.digest));
                    }
                    _ => {}
                }
            }
        }
        update(&mut state, Event::TurnInterrupted).into_iter().for_each(|effect| {
            if let Effect::DropTrial { call } = effect {
                open.remove(&call.0);
            }
        });
        prop_assert!(open.is_empty(), "left: {open:?}");
        for record in collect_records(&log) {
            prop_assert!(!matches!(record.verify(), Integrity::Broken(_)), "{record:?}");
        }
    }
}

/// A command in the sandbox of a live session, which the mode `auto` may try.
fn confined_intent(command: &str) -> Intent {
    let Intent::Act(mut plan) = command_intent(command) else { panic!() };
    let (Access::Run(run), Work::Command(line)) = (&mut plan.access, &mut plan.work) else { panic!() };
    line.sandbox = CommandSandbox::enforced(SandboxAccess::default());
    (run.line, run.reach) = (Box::new(line.clone()), Reach::Runs);
    Intent::Act(plan)
}

/// A command that was planned in the mode `auto`; returns the effects of its plan.
fn planned_in_auto(prepare: impl FnOnce(&mut State)) -> (State, Vec<String>) {
    let mut state = idle_state();
    state.policy.mode = Mode::Auto;
    prepare(&mut state);
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "bash_exec"), ("b", "bash_exec")]);
    let effects = describe_effects(&receive_plan(&mut state, "a", confined_intent("make")));
    (state, effects)
}

#[test]
fn auto_mode_keeps_harmless_effects_without_a_prompt() {
    let (mut state, effects) = planned_in_auto(|_| ());
    assert_eq!(effects, ["ask a", "TRY a 1"]);
    assert!(state.waiting_call().is_none() && state.is_busy());
    assert_eq!(finish_trial(&mut state, "a", 1, Ok(report("built"))), ["tried a: exit 0", "kept a", "KEEP a 1"]);
    assert!(state.waiting_call().is_none());
    let entries = state.session.entries();
    assert!(entries.iter().any(|entry| matches!(entry, Entry::Decided { by: Decider::AutoMode, .. })));
    assert!(entries.iter().any(|entry| matches!(entry, Entry::Tried { is_automatic: true, .. })));
    assert_eq!(finish_call(&mut state, "a").len(), 2, "settled, and the next call is planned");
    assert_eq!(collect_records(state.session.entries())[0].verify(), Integrity::Intact);
}

#[test]
fn auto_mode_asks_about_other_effects_with_the_result_on_the_prompt() {
    let (mut state, _) = planned_in_auto(|_| ());
    let outside = TrialReport { outside: vec!["/home/a/x".into()], ..report("x") };
    assert_eq!(finish_trial(&mut state, "a", 1, Ok(outside)), ["tried a: exit 0"]);
    let Some(WaitingCall::Approval { reason, trial: shown, .. }) = state.waiting_call() else { panic!("no prompt") };
    assert_eq!(reason, "the trial changed /home/a/x, outside the project");
    assert!(shown.report().is_some());
    assert_eq!(
        describe_effects(&decide_call(&mut state, "a", Decision::Kept(report("x").digest))),
        ["kept a", "KEEP a 1"]
    );

    let (mut state, _) = planned_in_auto(|_| ());
    assert_eq!(finish_trial(&mut state, "a", 1, Err("no overlay sandbox".into())), Vec::<String>::new());
    assert_eq!(*trial(&state), Trial::Failed("no overlay sandbox".into()));

    // The user left the mode while the command ran.
    let (mut state, _) = planned_in_auto(|_| ());
    update(&mut state, Event::ModeChanged(Mode::Ask));
    assert_eq!(finish_trial(&mut state, "a", 1, Ok(report("x"))), ["tried a: exit 0"]);
    assert!(trial(&state).report().is_some());
}

#[test]
fn nothing_that_must_ask_is_tried_first() {
    let rule = user_rule(RuleEffect::Ask, "bash_exec");
    let with_rule = |state: &mut State| state.rules = Rules { list: vec![rule], ..Rules::default() }.into();
    let (state, effects) = planned_in_auto(with_rule);
    assert_eq!(effects, ["ask a", "CHECK_TRIALS a"]);
    assert!(state.waiting_call().is_some());
    let unavailable = |state: &mut State| {
        state.trial_support = TrialSupport::Unavailable { reason: "old kernel".into(), call: "x".into() };
    };
    assert_eq!(planned_in_auto(unavailable).1, ["ask a"]);
    let (_, effects) = planned_in_auto(|state| state.policy.mode = Mode::Ask);
    assert_eq!(effects, ["ask a", "CHECK_TRIALS a"]);
    // Stopping the turn forgets the trial.
    let (mut state, _) = planned_in_auto(|_| ());
    let effects = describe_effects(&update(&mut state, Event::TurnInterrupted));
    assert!(effects.contains(&"DROP a".to_owned()), "{effects:?}");
}
