//! Summaries of dry runs and the calls that apply them.

use super::*;
use crate::chat::{Edit, SessionId};

const COMMANDS: ApplyOptions = ApplyOptions { hunks: false, ignored: false, commands: true };

fn build_change(path: &str, kind: ChangeKind, is_folder: bool) -> DryRunChange {
    DryRunChange {
        path: path.into(),
        kind,
        is_folder,
        diff: None,
        notes: vec![],
        has_conflict: false,
        group: Group::Source,
    }
}

fn build_edit(path: &str, before: &str, after: &str) -> DryRunChange {
    let edit = Edit { path: path.into(), before: Some(before.into()), after: after.into() };
    DryRunChange { diff: Some(edit.diff()), ..build_change(path, ChangeKind::Modified, false) }
}

#[test]
fn the_project_root_has_its_own_row() {
    let rows =
        build_tree(&[build_change(".", ChangeKind::Modified, true), build_change("a", ChangeKind::Created, false)]);
    let row = |index: usize| (rows[index].name.display().to_string(), rows[index].depth, rows[index].changes.clone());
    assert_eq!((row(0), row(1)), ((".".to_owned(), 0, 0..1), ("a".to_owned(), 0, 1..2)));
}

#[test]
fn the_tree_lists_each_folder_once_with_the_range_of_its_changes() {
    let changes = [
        build_change("a.txt", ChangeKind::Deleted, false),
        build_change("new", ChangeKind::Created, true),
        build_change("new/x", ChangeKind::Created, false),
        build_change("src/deep/b", ChangeKind::Modified, false),
        build_change("src/deep/c", ChangeKind::Modified, false),
        build_change("src/z", ChangeKind::Created, false),
    ];
    let rows: Vec<String> = build_tree(&changes)
        .into_iter()
        .map(|row| {
            let slash = if row.is_folder { "/" } else { "" };
            format!("{}{}{}{slash} {:?}", "  ".repeat(row.depth), row.symbol, row.name.display(), row.changes)
        })
        .collect();
    assert_eq!(
        rows,
        [
            "−a.txt 0..1",
            "+new/ 1..3",
            "  +x 2..3",
            "src/ 3..6",
            "  deep/ 3..5",
            "    ~b 3..4",
            "    ~c 4..5",
            "  +z 5..6"
        ]
    );
}

#[test]
fn hunks_are_applied_after_deletions_and_groups_once() {
    let before: String = (1..=40).map(|n| format!("{n}\n")).collect();
    let after = before.replace("\n5\n", "\nfive\n").replace("\n30\n", "\nthirty\n");
    let command = RehearsedCall {
        tool: "bash_exec".into(),
        arguments: r#"{"command":"make"}"#.into(),
        summary: "make".into(),
        command: Some(CommandLine { command: "make".into(), ..CommandLine::default() }),
        origin: Some(ResultOrigin::ran()),
        would_ask: None,
        hooks_not_run: Vec::new(),
        result: "exit 0".into(),
        changed_paths: vec!["made".into()],
        is_run_live: false,
    };
    let other_call = RehearsedCall { command: None, tool: "write_file".into(), ..command.clone() };
    let summary = DryRunSummary {
        changes: vec![
            build_edit("a", &before, &after),
            build_change("new", ChangeKind::Created, true),
            build_change("new/x", ChangeKind::Created, false),
            build_change("old", ChangeKind::Deleted, true),
            build_change("old/y", ChangeKind::Deleted, false),
            build_change("z", ChangeKind::Deleted, false),
        ],
        calls: vec![other_call, command],
        ..DryRunSummary::default()
    };
    let format_apply_calls = |hunks: bool| -> Vec<String> {
        let format_call = |LiveCall { tool, arguments, .. }| format!("{tool} {arguments}");
        summary
            .apply_calls(ApplyOptions { hunks, ignored: false, commands: true })
            .into_iter()
            .map(format_call)
            .collect()
    };
    assert_eq!(format_apply_calls(false), [r#"apply_group {"group":"source"}"#, r#"bash_exec {"command":"make"}"#]);
    let hunks = format_apply_calls(true);
    assert_eq!(
        hunks,
        [
            r#"apply_change {"path":"z"}"#,
            r#"apply_change {"path":"old"}"#,
            r#"apply_change {"path":"a","line":2}"#,
            r#"apply_change {"path":"a","line":27}"#,
            r#"apply_change {"path":"new"}"#,
            r#"apply_change {"path":"new/x"}"#,
            r#"bash_exec {"command":"make"}"#,
        ]
    );
    assert_eq!(summary.describe_counts(), "4 files changed, +2 −2, 2 folders, 1 command, 1 other call");
}

#[test]
fn each_group_is_applied_once_ignored_files_on_request_and_repositories_one_by_one() {
    let change_in_group = |path: &str, group| DryRunChange { group, ..build_change(path, ChangeKind::Created, false) };
    let mut summary = DryRunSummary {
        changes: vec![
            change_in_group(".git/HEAD", Group::Repository),
            change_in_group(".git/config", Group::GitSettings),
            change_in_group("a", Group::Source),
            change_in_group("b", Group::Source),
            change_in_group("sub/.git/HEAD", Group::Repository),
            change_in_group("sub/.git/index", Group::Repository),
            change_in_group("target/x", Group::Ignored),
        ],
        ..DryRunSummary::default()
    };
    let format_arguments = |summary: &DryRunSummary, options| -> Vec<String> {
        summary.apply_calls(options).into_iter().map(|call| call.arguments.to_string()).collect()
    };
    let repositories =
        [r#"{"group":"repository","repository":".git"}"#, r#"{"group":"repository","repository":"sub/.git"}"#];
    let arguments = format_arguments(&summary, ApplyOptions::default());
    assert_eq!(arguments[..2], [r#"{"group":"source"}"#, r#"{"group":"git_settings"}"#]);
    assert_eq!(arguments[2..], repositories);
    let arguments = format_arguments(&summary, ApplyOptions { ignored: true, ..ApplyOptions::default() });
    assert_eq!(arguments[..2], [r#"{"group":"source"}"#, r#"{"group":"ignored"}"#]);
    assert_eq!(
        summary.describe_prompts(),
        [
            "source changes: 2 paths",
            "ignored files: 1 path, skipped without --ignored",
            "git settings and hooks: 1 path",
            "repository state: 3 paths",
        ]
    );
    summary.changes.truncate(0);
    assert_eq!((format_arguments(&summary, ApplyOptions::default()), summary.describe_prompts()), (vec![], vec![]));
}

#[test]
fn a_command_runs_again_if_it_did_not_run_or_failed_without_the_network() {
    // Returns whether the command must run again, and the number of calls that apply the dry run.
    let run_again = |network: Option<&str>, text: &str, origin: ResultOrigin| {
        let mut entries = command_entries("a", "x", Outcome::Rehearsed(text.into()), Some(origin));
        if let Entry::Planned { preview, .. } = &mut entries[1] {
            let network = network.map(Into::into);
            **preview = Preview::Command(CommandLine { command: "x".into(), network, ..CommandLine::default() });
        }
        let summary = DryRunSummary::new(vec![], &entries);
        (summary.calls[0].must_run_again(), summary.apply_calls(ApplyOptions::default()).len())
    };
    assert_eq!(run_again(None, "exit 0", ResultOrigin::ran()), (false, 0));
    assert_eq!(run_again(None, "exit 3", ResultOrigin::ran()), (false, 0), "live it fails as well");
    assert_eq!(run_again(Some("crates"), "exit 0", ResultOrigin::ran()), (false, 0));
    assert_eq!(run_again(Some("crates"), "exit 6", ResultOrigin::ran()), (true, 1));
    assert_eq!(run_again(None, "exit 0", ResultOrigin::simulated(crate::chat::SimulationSource::Model)), (true, 1));
}

#[test]
fn parses_the_options_after_apply() {
    let some_options = |hunks, ignored, commands| Some(ApplyOptions { hunks, ignored, commands });
    assert_eq!(ApplyOptions::parse("apply"), some_options(false, false, false));
    assert_eq!(ApplyOptions::parse("apply commands  ignored"), some_options(false, true, true));
    assert_eq!(ApplyOptions::parse("apply hunks"), some_options(true, false, false));
    assert_eq!([ApplyOptions::parse("applyhunks"), ApplyOptions::parse("apply x"), ApplyOptions::parse("")], [None; 3]);
}

#[test]
fn a_name_that_is_not_unicode_is_also_given_as_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"a\xff");
    let json = DryRunChange { path: name.into(), ..build_change("", ChangeKind::Created, false) }.to_json();
    assert_eq!((json["path"].as_str(), json["path_bytes"].clone()), (Some("a\u{fffd}"), json!([97, 255])));
    assert_eq!(build_change("a", ChangeKind::Created, false).to_json().get("path_bytes"), None);
}

#[test]
fn a_call_that_would_have_asked_has_the_reason() {
    use crate::chat::{Access, Digest, ToolCall};
    let would_ask_and_origin = |reason: &str| {
        let line = CommandLine { command: "make".into(), ..CommandLine::default() };
        let call = ToolCall { id: "a".into(), name: "bash_exec".into(), arguments: "{}".into() };
        let reply = Entry::from_calls(vec![call]);
        let planned = Entry::Planned {
            call: "a".into(),
            title: String::new(),
            summary: "make".into(),
            access: Access::Run(line.clone().into()),
            preview: Box::new(Preview::Command(line)),
            destroys: None,
            preconditions: Box::default(),
            verdict: "rehearse".into(),
            reason: reason.into(),
            hooks_not_run: Vec::new(),
            sha256: Digest::default(),
        };
        let outcome = Outcome::Rehearsed("exit 0".into());
        let origin = Some(ResultOrigin::ran());
        let settled = Entry::Settled {
            call: "a".into(),
            outcome,
            took_ms: 1,
            sha256: Digest::default(),
            staged: origin,
            usage: None,
        };
        let summary = DryRunSummary::new(vec![], &[reply, planned, settled]);
        (summary.calls[0].would_ask.clone(), summary.calls[0].origin.clone())
    };
    let text = "this is a dry run; live, you would have been asked: make runs project code";
    let expected = (Some("make runs project code".into()), Some(ResultOrigin::ran()));
    assert_eq!(would_ask_and_origin(text), expected);
    let older_text = "this is a dry run; for real you would have been asked, because make runs project code";
    assert_eq!(would_ask_and_origin(older_text), expected, "as older versions wrote it");
    assert_eq!(
        would_ask_and_origin("this is a dry run; for real it would have run, because the session is in full mode").0,
        None
    );
    assert_eq!(would_ask_and_origin("this is a dry run").0, None);
}

/// The entries of a command with this outcome.
fn command_entries(id: &str, line: &str, outcome: Outcome, origin: Option<ResultOrigin>) -> [Entry; 3] {
    use crate::chat::{Access, Digest, ToolCall};
    let arguments = json!({ "command": line }).to_string();
    let call = ToolCall { id: id.into(), name: "bash_exec".into(), arguments };
    let line = CommandLine { command: line.into(), ..CommandLine::default() };
    let planned = Entry::Planned {
        call: id.into(),
        title: String::new(),
        summary: line.command.clone(),
        access: Access::Run(line.clone().into()),
        preview: Box::new(Preview::Command(line)),
        destroys: None,
        preconditions: Box::default(),
        verdict: "ask".into(),
        reason: String::new(),
        hooks_not_run: Vec::new(),
        sha256: Digest::default(),
    };
    let settled =
        Entry::Settled { call: id.into(), outcome, took_ms: 1, sha256: Digest::default(), staged: origin, usage: None };
    [Entry::from_calls(vec![call]), planned, settled]
}

#[test]
fn r30_a_command_that_ran_live_is_not_offered_again_unless_it_was_denied() {
    let origin = || Some(ResultOrigin::Ran(vec!["made".into()]));
    let entries: Vec<Entry> = ["touch made", "make", "make"]
        .into_iter()
        .zip(["a", "b", "c"])
        .flat_map(|(line, id)| command_entries(id, line, Outcome::Rehearsed("exit 0".into()), origin()))
        .collect();
    let mut summary = DryRunSummary::new(vec![], &entries);
    assert_eq!(summary.apply_calls(COMMANDS).len(), 3);
    assert_eq!(summary.apply_calls(COMMANDS)[0].changed_paths, ["made"]);
    assert!(summary.is_applied(&summary.calls[0]), "none of its changes is left to apply");
    summary.changes = vec![build_change("made", ChangeKind::Created, false)];
    assert!(!summary.is_applied(&summary.calls[0]));
    summary.changes.clear();
    summary.changes = vec![build_change("made/deep", ChangeKind::Created, false)];
    assert!(!summary.is_applied(&summary.calls[0]), "a folder with an open change is not applied");
    summary.changes.clear();
    let mut copy_entries = entries;
    // A live run from before the copy does not count.
    copy_entries.extend(command_entries("d", "make", Outcome::Done("exit 0".into()), None));
    copy_entries.push(Entry::DryRunChanged { dry_run: false, copied_from: SessionId("01DRY".into()) });
    summary.mark_run_live(&copy_entries);
    assert_eq!(summary.apply_calls(COMMANDS).len(), 3);
    copy_entries.extend(command_entries("offered_1", "touch made", Outcome::Refused("no".into()), None));
    copy_entries.extend(command_entries("offered_2", "make", Outcome::Done("exit 0".into()), None));
    summary.mark_run_live(&copy_entries);
    let remaining: Vec<String> = summary.apply_calls(COMMANDS).iter().map(|call| call.arguments.to_string()).collect();
    assert_eq!(remaining, [r#"{"command":"touch made"}"#, r#"{"command":"make"}"#], "one `make` is left");
    assert_eq!(summary.to_json()["calls"][1]["done"], json!(true));
    // Another copy ran the other `make` command.
    summary.mark_run_live(&copy_entries);
    assert_eq!(summary.apply_calls(COMMANDS).len(), 1);
}

#[test]
fn a_failed_command_is_recognised_by_its_last_line_if_it_ran() {
    let failure_status = |text: &str, origin: ResultOrigin| {
        let entries = command_entries("a", "x", Outcome::Rehearsed(text.into()), Some(origin));
        DryRunSummary::new(vec![], &entries).calls[0].failure_status().map(str::to_owned)
    };
    assert_eq!(failure_status("out\nexit 3", ResultOrigin::ran()).as_deref(), Some("exit 3"));
    assert_eq!(failure_status("exit 0", ResultOrigin::ran()), None);
    assert_eq!(
        failure_status("exit 3", ResultOrigin::simulated(crate::chat::SimulationSource::Model)),
        None,
        "it did not run"
    );
}
