//! Apply turns: each call asks, and no model request follows.

use super::*;
use serde_json::json;

fn offer(tool: &str, arguments: serde_json::Value, changed: &[&str]) -> LiveCall {
    LiveCall { tool: tool.into(), arguments, changed_paths: changed.iter().map(|path| (*path).into()).collect() }
}

fn offered(calls: &[&str]) -> Event {
    let call = |name: &&str| offer(name, json!({ "of": name }), &[]);
    Event::ApplyRequested(ApplyRequest { message: "apply it".into(), calls: calls.iter().map(call).collect() })
}

fn looked(state: &mut State, id: &str, intent: Intent) -> Vec<Effect> {
    let turn = turn(state);
    update(state, Event::CallPlanned { turn, call: id.into(), intent: Ok(intent) })
}

#[test]
fn apply_calls_always_ask_and_no_request_follows() {
    for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
        let mut state = idle();
        state.requests_titles = true;
        state.policy.mode = mode;
        update(&mut state, offered(&["a", "b"]));
        // Even calls that only read, and calls that the mode allows.
        looked(&mut state, "offered_1", read());
        assert!(matches!(state.waiting_call(), Some(WaitingCall::Approval { .. })), "{mode:?}");
        let effects = decided(&mut state, "offered_1", Decision::Once);
        assert_eq!(shape(&effects)[..2], ["decided offered_1", "ACT offered_1"]);
        finished(&mut state, "offered_1");
        looked(&mut state, "offered_2", write());
        let effects = decided(&mut state, "offered_2", Decision::Deny(String::new()));
        assert!(
            !shape(&effects).iter().any(|effect| effect.starts_with("STREAM") || effect.starts_with("NAME")),
            "{:?}",
            shape(&effects)
        );
        assert!(state.is_idle());
        // The next user message goes to the model again, with the outcomes.
        let effects = said(&mut state, "go on");
        assert!(shape(&effects).contains(&"STREAM".to_owned()), "{:?}", shape(&effects));
        replies(&mut state, "", &[("x", "write")]);
        planned(&mut state, "x", write());
        assert_eq!(state.waiting_call().is_some(), mode == Mode::Ask, "the next turn is the model's");
    }
}

#[test]
fn r30_apply_is_ignored_in_dry_run_and_during_a_turn() {
    let mut state = idle();
    state.policy.dry_run = true;
    assert_eq!(update(&mut state, offered(&["a"])), []);
    let mut state = idle();
    said(&mut state, "go");
    assert_eq!(update(&mut state, offered(&["a"])), []);
    let mut state = idle();
    for _ in 0..2 {
        update(&mut state, offered(&["a"]));
        update(&mut state, Event::TurnInterrupted);
    }
    let ids: Vec<&str> = state.session.calls().map(|call| call.call.id.0.as_str()).collect();
    assert_eq!(ids, ["offered_1", "offered_2"]);
    assert!(state.is_idle());
    // A model that uses such an ID for its own call does not affect the next one.
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("offered_2", "t")]);
    update(&mut state, Event::TurnInterrupted);
    update(&mut state, offered(&["a"]));
    let waits: Vec<&str> = state.pending().iter().map(|pending| pending.call.id.0.as_str()).collect();
    assert_eq!(waits, ["offered_2-2"]);
}

fn runs(line: &str) -> Intent {
    let line = CommandLine { command: line.into(), ..CommandLine::default() };
    let Intent::Act(plan) = plan(Access::Run(line.clone().into())) else { unreachable!() };
    Intent::Act(Box::new(Plan { preview: Preview::Command(line), ..*plan }))
}

/// Returns the warning on the prompt of a command that changed these paths when rehearsed, after these decisions on the
/// changes of `a` and `b/c`.
fn says(changed: &[&str], decisions: [Decision; 2]) -> Option<String> {
    let mut state = idle();
    let apply = |path: &str| offer(crate::chat::dry_run_summary::APPLY_CHANGE, json!({ "path": path }), &[]);
    let calls = vec![apply("a"), apply("b/c"), offer("bash_exec", json!({ "command": "make" }), changed)];
    update(&mut state, Event::ApplyRequested(ApplyRequest { message: "apply it".into(), calls }));
    for (id, decision) in ["offered_1", "offered_2"].into_iter().zip(decisions) {
        looked(&mut state, id, write());
        decided(&mut state, id, decision);
        finished(&mut state, id);
    }
    looked(&mut state, "offered_3", runs("make"));
    match state.waiting_call() {
        Some(WaitingCall::Approval { plan, .. }) => plan.destroys.clone(),
        _ => panic!("no prompt"),
    }
}

#[test]
fn r30_command_warns_about_repeated_changes() {
    let (yes, no) = (Decision::Once, Decision::Deny(String::new()));
    let of = |changed: &[&str], one: &Decision, two: &Decision| says(changed, [one.clone(), two.clone()]);
    let again = |paths: &str| Some(format!("repeats applied changes: {paths}"));
    assert_eq!(of(&["a"], &yes, &no), again("a"));
    assert_eq!(of(&["a", "b/c"], &yes, &yes), again("a, b/c"));
    // A folder applied as a whole includes its contents; one changed separately is another change.
    assert_eq!(of(&["b"], &no, &yes), again("b"));
    assert_eq!(of(&["b/c"], &yes, &no), None, "not applied");
    assert_eq!(of(&[], &yes, &yes), None, "it changed nothing");
    // A change without a prompt of its own was applied earlier.
    assert_eq!(of(&["z"], &no, &no), again("z"));
    assert_eq!(of(&["1", "2", "3", "4", "5", "6"], &no, &no), again("1, 2, 3, 4 and 2 more"));
}

#[test]
fn r30_no_repeat_warning_for_model_calls() {
    let mut state = idle();
    let calls = vec![offer("bash_exec", json!({ "command": "make" }), &["a"])];
    update(&mut state, Event::ApplyRequested(ApplyRequest { message: "apply it".into(), calls }));
    assert!(state.is_applying());
    looked(&mut state, "offered_1", runs("make"));
    decided(&mut state, "offered_1", Decision::Deny(String::new()));
    assert!(!state.is_applying());
    said(&mut state, "go on");
    replies(&mut state, "", &[("offered_1", "bash_exec")]);
    let id = state.pending()[0].call.id.clone();
    planned(&mut state, &id.0, runs("make"));
    let Some(WaitingCall::Approval { plan, .. }) = state.waiting_call() else { panic!("no prompt") };
    assert_eq!(plan.destroys, None);
}

#[test]
fn r30_live_copy_of_a_dry_run_is_recorded() {
    let mut state = idle();
    let effects = update(&mut state, Event::SessionCopied { source: SessionId("01DRY".into()) });
    assert_eq!(shape(&effects), ["real"]);
    state.policy.dry_run = true;
    let effects = update(&mut state, Event::SessionCopied { source: SessionId("01LIVE".into()) });
    assert_eq!(shape(&effects), ["dry"]);
    let text = serde_json::to_string(&state.session.entries()[0]).unwrap();
    assert_eq!(text, r#"{"kind":"became","dry_run":false,"of":"01DRY"}"#);
    assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), state.session.entries()[0]);
    assert!(state.is_idle() && !state.can_retry_turn());
}

/// Returns a batch that deletes `a`, changes `secrets/b` and changes `c`.
fn batch() -> Intent {
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
    let Intent::Act(plan) = write() else { unreachable!() };
    Intent::Act(Box::new(Plan {
        preview: Preview::Batch(Batch { group: Group::Source, notes: vec![], items }),
        destroys: Some("deletes a".into()),
        work: Work::Batch(BatchWork { items: vec![vec![]; 3], ..BatchWork::default() }),
        ..*plan
    }))
}

fn offers_batch() -> State {
    let mut state = idle();
    let calls = vec![offer(crate::chat::batch::APPLY_GROUP, json!({ "group": "source" }), &[])];
    update(&mut state, Event::ApplyRequested(ApplyRequest { message: "apply it".into(), calls }));
    state
}

fn acted(effects: &[Effect]) -> Option<&Plan> {
    effects.iter().find_map(|effect| match effect {
        Effect::RunCall { plan, .. } => Some(&**plan),
        _ => None,
    })
}

#[test]
fn rejected_batch_items_are_recorded_and_passed_to_the_tool() {
    let mut state = offers_batch();
    looked(&mut state, "offered_1", batch());
    let rejected = vec![Rejected { item: 0, hunks: vec![] }, Rejected { item: 2, hunks: vec![7] }];
    let effects = decided(&mut state, "offered_1", Decision::Selected(rejected.clone()));
    let plan = acted(&effects).expect("it starts");
    assert!(matches!(&plan.work, Work::Batch(work) if work.rejected == rejected), "{plan:?}");
    let kept = state.session.entries().iter().find_map(|entry| match entry {
        Entry::Decided { decision, .. } => Some(serde_json::to_value(decision).unwrap()),
        _ => None,
    });
    let expected = json!({ "what": "selected", "with": [{ "item": 0 }, { "item": 2, "hunks": [7] }] });
    assert_eq!(kept, Some(expected));
}

#[test]
fn only_batches_can_be_approved_in_part() {
    let mut state = idle();
    update(&mut state, offered(&["a"]));
    looked(&mut state, "offered_1", write());
    let effects = decided(&mut state, "offered_1", Decision::Selected(vec![]));
    assert_eq!(shape(&effects), [""; 0]);
    assert!(matches!(state.waiting_call(), Some(WaitingCall::Approval { .. })));
}

#[test]
fn deny_rule_excludes_only_its_path_from_a_batch() {
    let deny = |path: &str| {
        let rule = Rule { tool: None, target: RuleTarget::Path(path.into()), ..rule(RuleEffect::Deny, "") };
        std::sync::Arc::new(Rules { list: vec![rule], ..Rules::default() })
    };
    let mut state = offers_batch();
    state.rules = deny("secrets/**");
    looked(&mut state, "offered_1", batch());
    let Some(WaitingCall::Approval { plan, .. }) = state.waiting_call() else { panic!("no prompt") };
    let Preview::Batch(shown) = &plan.preview else { panic!("no batch") };
    let blocked: Vec<bool> = shown.items.iter().map(|item| item.blocked.is_some()).collect();
    assert_eq!(blocked, [false, true, false]);
    // Without remaining items the call is refused.
    let mut state = offers_batch();
    state.rules = deny("**");
    looked(&mut state, "offered_1", batch());
    assert!(state.waiting_call().is_none() && state.is_idle());
}

#[test]
fn early_partial_approval_applies_that_part() {
    let mut state = idle();
    let group = |group: &str| offer(crate::chat::batch::APPLY_GROUP, json!({ "group": group }), &[]);
    let calls = vec![group("source"), group("ignored")];
    update(&mut state, Event::ApplyRequested(ApplyRequest { message: "apply it".into(), calls }));
    looked(&mut state, "offered_1", batch());
    update(&mut state, Event::EarlyPromptRequested(Some("offered_2".into())));
    looked(&mut state, "offered_2", batch());
    let rejected = vec![Rejected { item: 2, hunks: vec![] }];
    let effects = decided(&mut state, "offered_2", Decision::Selected(rejected.clone()));
    assert_eq!(acted(&effects), None, "not before its turn");
    decided(&mut state, "offered_1", Decision::Deny(String::new()));
    let effects = looked(&mut state, "offered_2", batch());
    let plan = acted(&effects).expect("its turn has come");
    assert!(matches!(&plan.work, Work::Batch(work) if work.rejected == rejected), "{plan:?}");
}
