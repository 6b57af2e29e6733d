//! Apply turns: each call asks, and no model request follows.

use super::*;
use serde_json::json;

fn live_call(tool: &str, arguments: serde_json::Value, changed_paths: &[&str]) -> LiveCall {
    LiveCall { tool: tool.into(), arguments, changed_paths: changed_paths.iter().map(|path| (*path).into()).collect() }
}

fn apply_request_event(calls: &[&str]) -> Event {
    let to_live_call = |name: &&str| live_call(name, json!({ "of": name }), &[]);
    Event::ApplyRequested(ApplyRequest { message: "apply it".into(), calls: calls.iter().map(to_live_call).collect() })
}

#[test]
fn apply_calls_always_ask_and_no_request_follows() {
    for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
        let mut state = idle_state();
        state.config.requests_titles = true;
        state.policy.mode = mode;
        update(&mut state, apply_request_event(&["a", "b"]));
        // Even calls that only read, and calls that the mode allows.
        receive_plan(&mut state, "offered_1", read_intent());
        assert!(matches!(state.waiting_call(), Some(WaitingCall::Approval { .. })), "{mode:?}");
        let effects = decide_call(&mut state, "offered_1", Decision::Once);
        assert_eq!(describe_effects(&effects)[..2], ["decided offered_1", "RUN offered_1"]);
        finish_call(&mut state, "offered_1");
        receive_plan(&mut state, "offered_2", write_intent());
        let effects = decide_call(&mut state, "offered_2", Decision::Deny(String::new()));
        assert!(
            !describe_effects(&effects)
                .iter()
                .any(|effect| effect.starts_with("REQUEST_R") || effect.starts_with("REQUEST_T")),
            "{:?}",
            describe_effects(&effects)
        );
        assert!(state.is_idle());
        // The next user message goes to the model again, with the outcomes.
        let effects = send_user_message(&mut state, "go on");
        assert!(describe_effects(&effects).contains(&"REQUEST_REPLY".to_owned()), "{:?}", describe_effects(&effects));
        receive_reply(&mut state, "", &[("x", "write")]);
        receive_plan(&mut state, "x", write_intent());
        assert_eq!(state.waiting_call().is_some(), mode == Mode::Ask, "the next turn is the model's");
    }
}

#[test]
fn r30_apply_is_ignored_in_dry_run_and_during_a_turn() {
    let mut state = idle_state();
    state.policy.dry_run = true;
    assert_eq!(update(&mut state, apply_request_event(&["a"])), []);
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    assert_eq!(update(&mut state, apply_request_event(&["a"])), []);
    // The number in the ID of an apply call counts the calls of the session.
    let mut state = idle_state();
    for _ in 0..2 {
        update(&mut state, apply_request_event(&["a"]));
        update(&mut state, Event::TurnInterrupted);
    }
    let ids: Vec<&str> = state.session.calls().map(|call| call.call.id.0.as_str()).collect();
    assert_eq!(ids, ["offered_1", "offered_2"]);
    assert!(state.is_idle());
    // If a call of the model already has the ID, the apply call gets another one.
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("offered_2", "t")]);
    update(&mut state, Event::TurnInterrupted);
    update(&mut state, apply_request_event(&["a"]));
    let waiting_ids: Vec<&str> = state.pending().iter().map(|pending| pending.call.id.0.as_str()).collect();
    assert_eq!(waiting_ids, ["offered_2-2"]);
}

fn command_intent(line: &str) -> Intent {
    let line = CommandLine { command: line.into(), ..CommandLine::default() };
    let Intent::Act(plan) = plan_intent(Access::Run(line.clone().into())) else { unreachable!() };
    Intent::Act(Box::new(Plan { preview: Preview::Command(line), ..*plan }))
}

/// Returns the warning on the prompt of a command that changed these paths when rehearsed, after these decisions on the
/// changes of `a` and `b/c`.
fn repeat_warning(changed_paths: &[&str], decisions: [Decision; 2]) -> Option<String> {
    let mut state = idle_state();
    let apply_change = |path: &str| live_call(crate::chat::dry_run_summary::APPLY_CHANGE, json!({ "path": path }), &[]);
    let calls = vec![
        apply_change("a"),
        apply_change("b/c"),
        live_call("bash_exec", json!({ "command": "make" }), changed_paths),
    ];
    update(&mut state, Event::ApplyRequested(ApplyRequest { message: "apply it".into(), calls }));
    for (id, decision) in ["offered_1", "offered_2"].into_iter().zip(decisions) {
        receive_plan(&mut state, id, write_intent());
        decide_call(&mut state, id, decision);
        finish_call(&mut state, id);
    }
    receive_plan(&mut state, "offered_3", command_intent("make"));
    match state.waiting_call() {
        Some(WaitingCall::Approval { plan, .. }) => plan.destroys.clone(),
        _ => panic!("no prompt"),
    }
}

#[test]
fn r30_command_warns_about_repeated_changes() {
    let (approve, deny) = (Decision::Once, Decision::Deny(String::new()));
    let warning_for =
        |paths: &[&str], first: &Decision, second: &Decision| repeat_warning(paths, [first.clone(), second.clone()]);
    let warning = |paths: &str| Some(format!("repeats applied changes: {paths}"));
    assert_eq!(warning_for(&["a"], &approve, &deny), warning("a"));
    assert_eq!(warning_for(&["a", "b/c"], &approve, &approve), warning("a, b/c"));
    // The command changed the folder `b`, and a change inside it was applied.
    assert_eq!(warning_for(&["b"], &deny, &approve), warning("b"));
    assert_eq!(warning_for(&["b/c"], &approve, &deny), None, "not applied");
    assert_eq!(warning_for(&[], &approve, &approve), None, "it changed nothing");
    // A change without a prompt of its own was applied earlier.
    assert_eq!(warning_for(&["z"], &deny, &deny), warning("z"));
    assert_eq!(warning_for(&["1", "2", "3", "4", "5", "6"], &deny, &deny), warning("1, 2, 3, 4 and 2 more"));
}

#[test]
fn r30_no_repeat_warning_for_model_calls() {
    let mut state = idle_state();
    let calls = vec![live_call("bash_exec", json!({ "command": "make" }), &["a"])];
    update(&mut state, Event::ApplyRequested(ApplyRequest { message: "apply it".into(), calls }));
    assert!(state.is_applying());
    receive_plan(&mut state, "offered_1", command_intent("make"));
    decide_call(&mut state, "offered_1", Decision::Deny(String::new()));
    assert!(!state.is_applying());
    send_user_message(&mut state, "go on");
    receive_reply(&mut state, "", &[("offered_1", "bash_exec")]);
    let id = state.pending()[0].call.id.clone();
    receive_plan(&mut state, &id.0, command_intent("make"));
    let Some(WaitingCall::Approval { plan, .. }) = state.waiting_call() else { panic!("no prompt") };
    assert_eq!(plan.destroys, None);
}

#[test]
fn r30_live_copy_of_a_dry_run_is_recorded() {
    let mut state = idle_state();
    let effects = update(&mut state, Event::SessionCopied { source: SessionId("01DRY".into()) });
    assert_eq!(describe_effects(&effects), ["live"]);
    state.policy.dry_run = true;
    let effects = update(&mut state, Event::SessionCopied { source: SessionId("01LIVE".into()) });
    assert_eq!(describe_effects(&effects), ["dry run"]);
    let text = serde_json::to_string(&state.session.entries()[0]).unwrap();
    assert_eq!(text, r#"{"kind":"became","dry_run":false,"of":"01DRY"}"#);
    assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), state.session.entries()[0]);
    assert!(state.is_idle() && !state.can_retry_turn());
}

/// Returns a batch that deletes `a`, changes `secrets/b` and changes `c`.
fn batch_intent() -> Intent {
    let item = |path: &str, destroys: bool| Item {
        path: path.into(),
        from: None,
        kind: ChangeKind::Modified,
        is_folder: false,
        diff: None,
        notes: vec![],
        blocked: None,
        destroys: destroys.then(|| format!("deletes {path}")),
        access: Access::Write(path.into()),
        sha256: Digest::default(),
    };
    let items = vec![item("a", true), item("secrets/b", false), item("c", false)];
    let Intent::Act(plan) = write_intent() else { unreachable!() };
    Intent::Act(Box::new(Plan {
        preview: Preview::Batch(Batch { group: Group::Source, notes: vec![], items }),
        destroys: Some("deletes a".into()),
        work: Work::Batch(BatchWork { items: vec![vec![]; 3], ..BatchWork::default() }),
        ..*plan
    }))
}

/// Starts an apply turn with one call, `offered_1`, that applies a group. The call is being planned.
fn state_with_batch() -> State {
    let mut state = idle_state();
    let calls = vec![live_call(crate::chat::batch::APPLY_GROUP, json!({ "group": "source" }), &[])];
    update(&mut state, Event::ApplyRequested(ApplyRequest { message: "apply it".into(), calls }));
    state
}

/// Returns the plan of the call that starts; `None` if no call starts.
fn started_plan(effects: &[Effect]) -> Option<&Plan> {
    effects.iter().find_map(|effect| match effect {
        Effect::RunCall { plan, .. } => Some(&**plan),
        _ => None,
    })
}

#[test]
fn rejected_batch_items_are_recorded_and_passed_to_the_tool() {
    let mut state = state_with_batch();
    receive_plan(&mut state, "offered_1", batch_intent());
    let rejected = vec![Rejected { item: 0, hunks: vec![] }, Rejected { item: 2, hunks: vec![7] }];
    let effects = decide_call(&mut state, "offered_1", Decision::Selected(rejected.clone()));
    let plan = started_plan(&effects).expect("it starts");
    assert!(matches!(&plan.work, Work::Batch(work) if work.rejected == rejected), "{plan:?}");
    let recorded = state.session.entries().iter().find_map(|entry| match entry {
        Entry::Decided { decision, .. } => Some(serde_json::to_value(decision).unwrap()),
        _ => None,
    });
    let expected = json!({ "what": "selected", "with": [{ "item": 0 }, { "item": 2, "hunks": [7] }] });
    assert_eq!(recorded, Some(expected));
}

#[test]
fn only_batches_can_be_approved_in_part() {
    let mut state = idle_state();
    update(&mut state, apply_request_event(&["a"]));
    receive_plan(&mut state, "offered_1", write_intent());
    let effects = decide_call(&mut state, "offered_1", Decision::Selected(vec![]));
    assert_eq!(describe_effects(&effects), [""; 0]);
    assert!(matches!(state.waiting_call(), Some(WaitingCall::Approval { .. })));
}

#[test]
fn deny_rule_excludes_only_its_path_from_a_batch() {
    let deny_rules = |path: &str| {
        let rule = Rule { tool: None, target: RuleTarget::Path(path.into()), ..user_rule(RuleEffect::Deny, "") };
        std::sync::Arc::new(Rules { list: vec![rule], ..Rules::default() })
    };
    let mut state = state_with_batch();
    state.rules = deny_rules("secrets/**");
    receive_plan(&mut state, "offered_1", batch_intent());
    let Some(WaitingCall::Approval { plan, .. }) = state.waiting_call() else { panic!("no prompt") };
    let Preview::Batch(shown_batch) = &plan.preview else { panic!("no batch") };
    let blocked: Vec<bool> = shown_batch.items.iter().map(|item| item.blocked.is_some()).collect();
    assert_eq!(blocked, [false, true, false]);
    // Without remaining items the call is refused.
    let mut state = state_with_batch();
    state.rules = deny_rules("**");
    receive_plan(&mut state, "offered_1", batch_intent());
    assert!(state.waiting_call().is_none() && state.is_idle());
}

#[test]
fn early_partial_approval_applies_that_part() {
    let mut state = idle_state();
    let group_call = |group: &str| live_call(crate::chat::batch::APPLY_GROUP, json!({ "group": group }), &[]);
    let calls = vec![group_call("source"), group_call("ignored")];
    update(&mut state, Event::ApplyRequested(ApplyRequest { message: "apply it".into(), calls }));
    receive_plan(&mut state, "offered_1", batch_intent());
    update(&mut state, Event::EarlyPromptRequested(Some("offered_2".into())));
    receive_plan(&mut state, "offered_2", batch_intent());
    let rejected = vec![Rejected { item: 2, hunks: vec![] }];
    let effects = decide_call(&mut state, "offered_2", Decision::Selected(rejected.clone()));
    assert_eq!(started_plan(&effects), None, "not before its turn");
    decide_call(&mut state, "offered_1", Decision::Deny(String::new()));
    let effects = receive_plan(&mut state, "offered_2", batch_intent());
    let plan = started_plan(&effects).expect("its turn has come");
    assert!(matches!(&plan.work, Work::Batch(work) if work.rejected == rejected), "{plan:?}");
}
