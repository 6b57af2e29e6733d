//! A dry run changes nothing outside its overlay, and its reads see its earlier writes.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::folder::Folder;
use crate::support::overlay_project::open_overlay;
use crate::support::program::Setup;
use crate::support::scene::Scene;
use crate::support::scripted::{Reply, calls, says};
use crate::support::service::Service;
use crate::support::stored_files::read_entries;
use crate::support::terminal_session::{calls_answer_after, text_answer as answers};
use aye::agent::WaitingCall;
use aye::chat::*;
use aye::project::overlay_sandbox::CommandRehearsal;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn r30_a_write_is_rehearsed_and_a_later_read_sees_it() {
    let mut scene = Scene::dry_run([
        calls("edit_file", json!({ "path": "a.txt", "old_text": "one", "new_text": "two" })),
        calls("read_file", json!({ "path": "a.txt" })),
        calls("write_file", json!({ "path": "b/new.txt", "content": "fresh\n" })),
        calls("list_files", json!({})),
        calls("search_text", json!({ "pattern": "fresh|two" })),
        says("Would do."),
    ])
    .with_file("a.txt", "one\n");
    scene.say("go").await;
    assert!(scene.state.is_idle(), "nothing asks in a dry run");
    let outcomes = scene.outcomes();
    assert!(matches!(&outcomes[0], Outcome::Rehearsed(_)), "{outcomes:?}");
    assert!(
        matches!(&outcomes[1], Outcome::Done(text) if text.contains("two") && !text.contains("one")),
        "{outcomes:?}"
    );
    assert!(matches!(&outcomes[3], Outcome::Done(text) if text.contains("b/")), "{outcomes:?}");
    assert!(
        matches!(&outcomes[4], Outcome::Done(text) if text.contains("a.txt") && text.contains("new.txt")),
        "{outcomes:?}"
    );
    assert_eq!(scene.file("a.txt").as_deref(), Some("one\n"));
    assert_eq!(scene.file("b/new.txt"), None);
    assert_eq!(scene.state.session.rehearsed_count(), 2);
}

#[tokio::test]
async fn r30_does_not_run_commands_and_tells_the_model() {
    let mut scene = Scene::dry_run([calls("bash_exec", json!({ "command": "touch made" })), says("Would do.")]);
    scene.say("go").await;
    assert_eq!(scene.file("made"), None);
    assert!(
        matches!(&scene.outcomes()[0], Outcome::Rehearsed(text) if text.contains("touch made")),
        "{:?}",
        scene.outcomes()
    );
    assert!(scene.last_tool_result().contains("not"), "{}", scene.last_tool_result());
}

#[tokio::test]
async fn r30_does_not_change_files_outside_or_protected_files() {
    let outside = Folder::new();
    let file = outside.path().join("x");
    let mut scene = Scene::dry_run([
        calls("write_file", json!({ "path": file, "content": "x" })),
        calls("write_file", json!({ "path": ".git/hooks/pre-commit", "content": "x" })),
        says("Would do."),
    ]);
    scene.say("go").await;
    assert!(!file.exists());
    assert_eq!(scene.file(".git/hooks/pre-commit"), None);
    assert!(scene.state.is_idle());
}

/// Calls file tools on aye's own folder, which lies in the project here. Returns the accesses that were judged, and
/// everything that was sent to the provider.
fn run_calls_on_aye_folder(flags: &[&str]) -> (Vec<Access>, String) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let call = |tool: &str, arguments| calls_answer_after(Duration::ZERO, &[(tool, arguments)]);
    let service = runtime.block_on(Service::start(vec![
        call("read_file", json!({ "path": "own/config/notes.txt" })),
        call("search_text", json!({ "pattern": "hunt.r" })),
        call("write_file", json!({ "path": "own/config/rules.toml", "content": "\n" })),
        answers("Done."),
    ]));
    let base = ["-p", "--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&[&base[..], flags, &["go"]].concat());
    let root = setup.root.clone();
    let own = root.path().join("project/own");
    std::fs::create_dir_all(own.join("config")).unwrap();
    std::fs::write(own.join("config/notes.txt"), "hunter2\n").unwrap();
    let (out, err, _) = setup.env("AYE_HOME", own.to_str().unwrap()).run_piped("");
    let mut log = std::fs::read_dir(own.join("data/sessions")).unwrap().map(|entry| entry.unwrap().path());
    let log = log.find(|path| path.extension().is_some_and(|end| end == "jsonl")).unwrap();
    let entries = aye::store::read(&log).unwrap().entries;
    let accesses = entries.iter().filter_map(|entry| match entry {
        Entry::Planned { access, .. } => Some(access.clone()),
        _ => None,
    });
    let sent: Vec<String> = service.received().iter().map(|request| request.body.to_string()).collect();
    assert!(!own.join("config/rules.toml").exists(), "{out}{err}");
    (accesses.collect(), sent.concat())
}

#[test]
fn r14_protects_ayes_own_files_in_a_dry_run_as_live() {
    let (live, _) = run_calls_on_aye_folder(&["--mode", "auto"]);
    let (dry, sent) = run_calls_on_aye_folder(&["--mode", "auto", "--dry-run"]);
    assert!(matches!(dry[0], Access::ReadSensitive(_)), "{dry:?}");
    assert!(matches!(dry[2], Access::AyeFiles(_)), "{dry:?}");
    assert_eq!(dry, live);
    assert!(!sent.contains("hunter2"), "a secret was sent");
    assert!(sent.contains("skipped, may hold secrets"), "the skipped file was not reported");
}

/// Calls of file tools and commands that ask live because of what they read.
fn list_secret_calls(outside: &std::path::Path) -> Vec<(&'static str, serde_json::Value)> {
    vec![
        ("read_file", json!({ "path": ".env" })),
        ("read_file", json!({ "path": outside.join("x") })),
        ("list_files", json!({ "path": outside })),
        ("search_text", json!({ "pattern": "hunt", "path": outside })),
        ("bash_exec", json!({ "command": "cat .env" })),
        ("bash_exec", json!({ "command": format!("cat {}/x", outside.display()) })),
        ("bash_exec", json!({ "command": "cp .env b && cat b", "network": "to send it" })),
        ("bash_exec", json!({ "command": "grep -rn hunt --hidden . ; cat .en*" })),
    ]
}

#[tokio::test]
async fn r30_withholds_calls_that_would_ask_live_with_and_without_an_overlay_sandbox() {
    for is_sandboxed in [false, true] {
        if is_sandboxed && !has_overlay_sandbox() {
            continue;
        }
        let outside = Folder::new();
        std::fs::write(outside.path().join("x"), "hunter2\n").unwrap();
        let all = list_secret_calls(outside.path());
        let replies: Vec<Reply> = all.iter().map(|(tool, arguments)| calls(tool, arguments.clone())).collect();
        let mut scene =
            Scene::dry_run(replies.into_iter().chain([says("Would do.")])).with_file(".env", "KEY=hunter2\n");
        if is_sandboxed {
            let (_, shell) = open_overlay(&scene.project(), scene.project().parent().unwrap().join("layer"));
            scene.runtime.set_rehearsal(CommandRehearsal::Sandboxed(shell));
        }
        scene.say("go").await;
        assert!(scene.state.is_idle(), "a call asked for approval");
        let outcomes = scene.outcomes();
        for ((tool, arguments), outcome) in all.iter().zip(&outcomes) {
            let Outcome::Rehearsed(text) = outcome else { panic!("{tool} {arguments}: {outcome:?}") };
            assert!(text.starts_with("Withheld in this dry run: "), "{tool} {arguments}: {text}");
            assert!(text.ends_with("Live, the user would be asked first."), "{tool} {arguments}: {text}");
        }
        let session = &scene.state.session;
        assert_eq!((session.would_ask_count(), session.rehearsed_count(), outcomes.len()), (all.len(), 0, all.len()));
        let requests = format!("{:?}", scene.model.requests().lock().unwrap());
        assert!(!requests.contains("hunter2"), "a secret was sent");
    }
}

#[tokio::test]
async fn r30_asks_before_reading_secrets_if_set_to_ask_as_live() {
    let outside = Folder::new();
    std::fs::write(outside.path().join("x"), "elsewhere\n").unwrap();
    let file = outside.path().join("x");
    let mut scene = Scene::dry_run([
        calls("read_file", json!({ "path": ".env" })),
        calls("read_file", json!({ "path": file })),
        calls("read_file", json!({ "path": ".env" })),
        says("Done."),
    ])
    .with_file(".env", "KEY=hunter2\n");
    scene.state.policy.asks_as_live = true;
    scene.say("go").await;
    for _ in 0..2 {
        assert!(matches!(scene.state.waiting_call(), Some(WaitingCall::Approval { .. })));
        // No grant is offered.
        assert!(aye::agent::grant_options(&scene.state).is_empty());
        scene.approve().await;
    }
    scene.decide(Decision::Deny(String::new())).await;
    let outcomes = scene.outcomes();
    assert!(matches!(&outcomes[0], Outcome::Done(text) if text.contains("hunter2")), "{outcomes:?}");
    assert!(matches!(&outcomes[1], Outcome::Done(text) if text.contains("elsewhere")), "{outcomes:?}");
    assert!(matches!(&outcomes[2], Outcome::Refused(_)), "{outcomes:?}");
    assert_eq!(scene.state.session.would_ask_count(), 3);
}

#[tokio::test]
async fn r30_reads_files_written_in_the_dry_run_whatever_their_name() {
    let mut scene = Scene::dry_run([
        calls("write_file", json!({ "path": "new.env", "content": "KEY=made\n" })),
        calls("read_file", json!({ "path": "new.env" })),
        calls("write_file", json!({ "path": ".env", "content": "KEY=other\n" })),
        calls("read_file", json!({ "path": ".env" })),
        calls("edit_file", json!({ "path": "b.env", "old_text": "A=1", "new_text": "A=2" })),
        calls("read_file", json!({ "path": "b.env" })),
        says("Would do."),
    ])
    .with_file(".env", "KEY=hunter2\n")
    .with_file("b.env", "A=1\nKEY=hunter2\n");
    scene.say("go").await;
    let outcomes = scene.outcomes();
    assert!(matches!(&outcomes[1], Outcome::Done(text) if text.contains("KEY=made")), "{outcomes:?}");
    assert!(matches!(&outcomes[3], Outcome::Done(text) if text.contains("KEY=other")), "{outcomes:?}");
    assert!(matches!(&outcomes[5], Outcome::Rehearsed(text) if text.starts_with("Withheld")), "{outcomes:?}");
    assert_eq!(scene.file(".env").as_deref(), Some("KEY=hunter2\n"));
}

#[tokio::test]
async fn r30_asks_about_secrets_copied_by_an_approved_command() {
    if !has_overlay_sandbox() {
        return;
    }
    let mut scene = Scene::dry_run([
        calls("write_file", json!({ "path": "own.env", "content": "KEY=made\n" })),
        calls("bash_exec", json!({ "command": "cp .env copy.env" })),
        calls("read_file", json!({ "path": "own.env" })),
        calls("read_file", json!({ "path": "copy.env" })),
        says("Done."),
    ])
    .with_file(".env", "KEY=hunter2\n");
    let (_, shell) = open_overlay(&scene.project(), scene.project().parent().unwrap().join("layer"));
    scene.runtime.set_rehearsal(CommandRehearsal::Sandboxed(shell));
    scene.state.policy.asks_as_live = true;
    scene.say("go").await;
    scene.approve().await;
    scene.approve().await;
    let outcomes = scene.outcomes();
    assert!(matches!(&outcomes[1], Outcome::Rehearsed(text) if text == "exit 0"), "{outcomes:?}");
    assert!(matches!(&outcomes[2], Outcome::Done(text) if text.contains("KEY=made")), "{outcomes:?}");
    assert_eq!(outcomes.len(), 3, "{outcomes:?}");
    assert!(matches!(scene.state.waiting_call(), Some(WaitingCall::Approval { .. })));
    scene.decide(Decision::Deny(String::new())).await;
    assert!(matches!(&scene.outcomes()[3], Outcome::Refused(_)));
}

#[tokio::test]
async fn r30_links_made_in_the_dry_run_make_no_secret_readable() {
    let links = [("a", ".env"), ("new.env", ".env"), ("up", "/"), ("c", "a")];
    let paths = ["a", "new.env", "up/etc/hostname", "c"];
    let reads = paths.map(|path| calls("read_file", json!({ "path": path })));
    let first = [calls("write_file", json!({ "path": "made", "content": "x" })), says("Made.")];
    let mut scene =
        Scene::dry_run(first.into_iter().chain(reads).chain([says("Would do.")])).with_file(".env", "KEY=hunter2\n");
    scene.say("make").await;
    let upper = scene.project().parent().unwrap().join("layer/upper");
    for (link, target) in links {
        std::os::unix::fs::symlink(target, upper.join(link)).unwrap();
    }
    scene.say("read").await;
    let outcomes = scene.outcomes();
    for outcome in &outcomes[1..] {
        assert!(matches!(outcome, Outcome::Rehearsed(text) if text.starts_with("Withheld")), "{outcomes:?}");
    }
    assert_eq!(outcomes.len(), 1 + paths.len());
}

#[test]
fn r30_withheld_calls_are_printed_saved_and_counted_after_a_resume() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let read_env = || calls_answer_after(Duration::ZERO, &[("read_file", json!({ "path": ".env" }))]);
    let service = runtime.block_on(Service::start(vec![read_env(), answers("One."), read_env(), answers("Two.")]));
    let base = ["-p", "--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&[&base[..], &["--dry-run", "go"]].concat()).with_file(".env", "KEY=hunter2\n");
    let root = setup.root.clone();
    let (out, err, code) = setup.run_piped("");
    assert_eq!(code, 0, "{out}{err}");
    let summary = "0 calls rehearsed, 1 withheld; nothing changed on disk\nwould have asked: 1\n";
    assert!(out.contains(summary), "{out}");
    assert!(out.contains("withheld, not run"), "{out}");
    let log = read_entries(root.path());
    let withheld =
        log.iter().any(|entry| matches!(entry, Entry::Settled { staged: Some(staged), .. } if staged.is_withheld()));
    assert!(withheld, "{log:?}");
    let id = std::fs::read_dir(root.path().join("home/aye/data/sessions")).unwrap();
    let id = id.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let id = id.unwrap().file_stem().unwrap().to_string_lossy().into_owned();
    let (out, err, code) =
        Setup::with_home(&root, &[&base[..], &["--json", "--resume", &id, "again"]].concat()).run_piped("");
    assert_eq!(code, 0, "{out}{err}");
    let report: serde_json::Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!((&report["withheld"], &report["would_have_asked"]), (&json!(2), &json!(2)), "{report}");
    for (new, old) in [("denied", "refused"), ("live_effects", "outside")] {
        assert!(report[new].is_u64() && report[new] == report[old], "{new}: {report}");
    }
    let call = &report["calls"][0];
    assert_eq!((&call["origin"], &call["staged"]), (&json!("withheld"), &json!("withheld")));
    assert_eq!((&call["is_run_live"], &call["simulation"]["is_reused"]), (&call["done"], &call["simulated"]["again"]));
    assert_eq!(report["calls"][0]["would_ask"], "read of .env (may hold secrets)");
    assert!(out.contains(r#""staged":"withheld""#), "{out}");
    let (shown, _, _) = Setup::with_home(&root, &["sessions", "show", &id]).run_piped("");
    assert!(shown.contains("withheld") && shown.contains("read of .env (may hold secrets)"), "{shown}");
    let sent: Vec<String> = service.received().iter().map(|request| request.body.to_string()).collect();
    assert!(!sent.concat().contains("hunter2"), "a secret was sent");
}
