//! A dry run touches nothing real, and its later reads see its earlier writes.

use crate::support::scene::Scene;
use aye::chat::*;
use aye::llm::scripted::{calls, says};
use serde_json::json;

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
    let outside = tempfile::tempdir().unwrap();
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
