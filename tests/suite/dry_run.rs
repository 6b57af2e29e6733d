//! A dry run touches nothing real, and its later reads see its earlier writes.

use crate::support::folder::Folder;
use crate::support::program::Setup;
use crate::support::scene::Scene;
use crate::support::service::Service;
use crate::support::talking::{calls_after, says as answers};
use aye::chat::*;
use aye::llm::scripted::{calls, says};
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
    .has("a.txt", "one\n");
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
    assert_eq!(scene.state.session.rehearsed(), 2);
}

#[tokio::test]
async fn r30_a_command_is_not_run_and_the_model_is_told() {
    let mut scene =
        Scene::dry_run([calls("bash_exec", json!({ "command": "touch made" })), says("Would do.")]);
    scene.say("go").await;
    assert_eq!(scene.file("made"), None);
    assert!(
        matches!(&scene.outcomes()[0], Outcome::Rehearsed(text) if text.contains("touch made")),
        "{:?}",
        scene.outcomes()
    );
    assert!(scene.told().contains("not"), "{}", scene.told());
}

#[tokio::test]
async fn r30_outside_and_secret_files_are_not_touched_either() {
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

/// What is asked for in aye's own folder, which lies in the project, and what was sent of it: which accesses were judged, and
/// everything that the service was told.
fn asks_for_ayes_own(flags: &[&str]) -> (Vec<Access>, String) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let call = |tool: &str, arguments| calls_after(Duration::ZERO, &[(tool, arguments)]);
    let service = runtime.block_on(Service::start(vec![
        call("read_file", json!({ "path": "own/config/notes.txt" })),
        call("search_text", json!({ "pattern": "hunt.r" })),
        call("write_file", json!({ "path": "own/config/rules.toml", "content": "\n" })),
        answers("Done."),
    ]));
    let base = ["-p", "--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&[&base[..], flags, &["go"]].concat());
    let place = setup.place.clone();
    let own = place.path().join("project/own");
    std::fs::create_dir_all(own.join("config")).unwrap();
    std::fs::write(own.join("config/notes.txt"), "hunter2\n").unwrap();
    let (out, err, _) = setup.env("AYE_HOME", own.to_str().unwrap()).print("");
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
fn r14_a_dry_run_asks_about_ayes_own_what_life_asks_and_sends_nothing_of_it() {
    let (live, _) = asks_for_ayes_own(&["--mode", "auto"]);
    let (dry, sent) = asks_for_ayes_own(&["--mode", "auto", "--dry-run"]);
    assert!(matches!(dry[0], Access::ReadSensitive(_)), "{dry:?}");
    assert!(matches!(dry[2], Access::Own(_)), "{dry:?}");
    assert_eq!(dry, live);
    assert!(!sent.contains("hunter2"), "it was sent");
    assert!(sent.contains("skipped, may hold secrets"), "it was left out without a word");
}
