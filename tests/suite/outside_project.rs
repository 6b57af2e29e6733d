//! A dry run rehearses file tools outside the project, lists the changes there and discloses nothing of real files.

use crate::rehearsal_apply::{open_apply_screen, rehearse, write_call};
use crate::support::folder::Folder;
use crate::support::program::Setup;
use crate::support::scene::Scene;
use crate::support::scripted::{calls, says};
use crate::support::service::Service;
use crate::support::terminal_session::calls_answer_after;
use aye::chat::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Runs these calls in one dry run and returns their outcomes.
async fn run_calls(all: Vec<(&str, Value)>) -> Vec<Outcome> {
    let replies: Vec<_> = all.into_iter().map(|(tool, arguments)| calls(tool, arguments)).collect();
    let mut scene = Scene::dry_run(replies.into_iter().chain([says("Would do.")]));
    scene.say("go").await;
    assert!(scene.state.is_idle(), "nothing asks in a dry run: {:?}", scene.outcomes());
    scene.outcomes()
}

#[tokio::test]
async fn r30_a_file_outside_is_rehearsed_and_read_back() {
    let outside = Folder::new();
    let folder = outside.path().canonicalize().unwrap();
    std::fs::write(folder.join("real"), "one\n").unwrap();
    let (new, real) = (folder.join("new/file"), folder.join("real"));
    let outcomes = run_calls(vec![
        ("write_file", json!({ "path": new, "content": "fresh\n" })),
        ("edit_file", json!({ "path": new, "old_text": "fresh", "new_text": "ripe" })),
        ("read_file", json!({ "path": new })),
        ("search_text", json!({ "path": new, "pattern": "ripe" })),
        ("write_file", json!({ "path": real, "content": "two\n" })),
        ("read_file", json!({ "path": real })),
    ])
    .await;
    assert!(matches!(outcomes[0], Outcome::Rehearsed(_)), "{outcomes:?}");
    assert!(outcomes[1].text().ends_with("new/file: +1 −1"), "{outcomes:?}");
    assert!(matches!(&outcomes[2], Outcome::Done(text) if text == "1\tripe\n"), "{outcomes:?}");
    assert!(outcomes[3].text().contains("file:1: ripe"), "{outcomes:?}");
    assert!(matches!(&outcomes[5], Outcome::Done(text) if text == "1\ttwo\n"), "{outcomes:?}");
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "one\n");
    assert!(!new.exists() && !folder.join("new").exists());
}

#[tokio::test]
async fn r13_changes_outside_disclose_no_real_file_content() {
    let outside = Folder::new();
    let folder = outside.path().canonicalize().unwrap();
    let names = ["a", "b", "c", "d"];
    let path = |name: &str| folder.join(name);
    for name in names {
        std::fs::write(path(name), "PIN = 4711\nhunter2\n").unwrap();
    }
    let edit = |name: &str, old: &str| ("edit_file", json!({ "path": path(name), "old_text": old, "new_text": "x" }));
    let write = |name: &str, content: &str| ("write_file", json!({ "path": path(name), "content": content }));
    let outcomes = run_calls(vec![
        edit("a", "4711"),
        edit("b", "4712"),
        write("c", "PIN = 4711\nhunter2\n"),
        write("d", "PIN = 4711\n"),
        ("read_file", json!({ "path": path("a") })),
        ("search_text", json!({ "path": folder, "pattern": "PIN" })),
        // Secrets of the project are not disclosed either.
        ("edit_file", json!({ "path": ".env", "old_text": "x", "new_text": "y" })),
    ])
    .await;
    let assert_same = |one: usize, other: usize, names: [&str; 2]| {
        let bare = |index: usize, name: &str| outcomes[index].text().replace(path(name).to_str().unwrap(), "F");
        assert_eq!(bare(one, names[0]), bare(other, names[1]));
        assert!(matches!((&outcomes[one], &outcomes[other]), (Outcome::Rehearsed(_), Outcome::Rehearsed(_))));
    };
    // A right guess and a wrong guess of the content have the same outcome.
    assert_same(0, 1, ["a", "b"]);
    assert_same(2, 3, ["c", "d"]);
    for outcome in &outcomes {
        assert!(!outcome.text().contains("4711") && !outcome.text().contains("hunter2"), "{outcome:?}");
    }
    assert!(matches!(outcomes[6], Outcome::Rehearsed(_)), "{outcomes:?}");
}

/// A home with a rehearsal, and a folder outside the project.
struct TestHome {
    _runtime: tokio::runtime::Runtime,
    service: Service,
    root: Arc<Folder>,
    _outside: Folder,
    /// The file outside.
    path: PathBuf,
}

/// Creates a home with a rehearsal that writes `note.txt` outside the project and `a.txt` in it. `real` is the content
/// of the real `note.txt`, if it exists.
fn create_home(real: Option<&str>) -> TestHome {
    let outside = Folder::new();
    let path = outside.path().canonicalize().unwrap().join("note.txt");
    if let Some(real) = real {
        std::fs::write(&path, real).unwrap();
    }
    let calls = [write_call(path.to_str().unwrap(), "rehearsed\n"), write_call("a.txt", "two\n")];
    let (_runtime, service, place) = rehearse(&calls, &[("a.txt", "one\n")]);
    TestHome { _runtime, service, root: place, _outside: outside, path }
}

fn run_headless(place: &Arc<Folder>, arguments: &[&str]) -> (String, String) {
    let (out, err, code) = Setup::with_home(place, arguments).run_piped("");
    assert_eq!(code, 0, "{out}{err}");
    (out, err)
}

/// Creates files in the overlay as a command would leave them; the paths are absolute.
fn create_overlay_files(place: &Arc<Folder>, files: &[&str]) {
    let rehearsals = place.path().join("home/aye/data/rehearsal");
    let overlay = std::fs::read_dir(rehearsals).unwrap().next().unwrap().unwrap().path();
    for file in files {
        let upper = overlay.join("outside/upper").join(Path::new(file).strip_prefix("/").unwrap());
        std::fs::create_dir_all(upper.parent().unwrap()).unwrap();
        std::fs::write(upper, "x").unwrap();
    }
}

#[test]
fn r30_changes_outside_are_in_the_plan_the_list_the_patch_and_the_json() {
    let TestHome { root: place, path, .. } = &create_home(None);
    let shown = path.to_str().unwrap();
    create_overlay_files(place, &["/tmp/aye-none/one", "/tmp/aye-none/two", "/opt/aye-none/three"]);
    let (out, _) = run_headless(place, &["rehearsal", "show"]);
    assert!(out.contains("4 changes outside the project"), "{out}");
    assert!(out.contains("note.txt") && out.contains("rehearsed"), "{out}");
    assert!(out.contains("/opt/aye-none/three") && out.contains("not applied, run the command live"), "{out}");
    assert!(out.contains("2 temporary files in folders such as /tmp"), "{out}");
    assert!(out.contains("To apply, 2 prompts") && out.contains("outside the project: "), "{out}");
    let (out, _) = run_headless(place, &["rehearsal", "diff"]);
    let listed: Vec<&str> = out.lines().take_while(|line| line.starts_with('#')).collect();
    let own = format!("#   {shown}: outside the project, made; applied with its own approval prompt");
    assert!(listed.contains(&own.as_str()), "{out}");
    assert!(listed.iter().any(|line| line.contains("/opt/aye-none/three")), "{out}");
    assert!(listed.iter().any(|line| line.contains("2 temporary files")), "{out}");
    assert!(out.contains("diff --git a/a.txt b/a.txt") && !out.contains("+rehearsed"), "{out}");
    let (out, _) = run_headless(place, &["rehearsal", "show", "--json"]);
    let json: Value = serde_json::from_str(out.trim()).unwrap();
    let outside = &json["outside_project"];
    let changes = outside["changes"].as_array().unwrap();
    let own = changes.iter().find(|change| change["path"] == shown).unwrap();
    assert_eq!((&own["is_applied"], &outside["temporary"]), (&json!(true), &json!(2)));
}

#[test]
fn r30_a_file_outside_has_its_own_prompt_when_applied() {
    let TestHome { service, root: place, path, .. } = &create_home(None);
    let mut program = open_apply_screen(service, place, &[], (100, 30));
    program.until_prompt("Apply source changes?");
    program.press_keys("n");
    program.until_prompt("Apply: create note.txt?");
    assert!(program.screen().contains("outside the project"), "{}", program.screen());
    assert!(!path.exists());
    program.press_until("Y", "✓ Apply");
    program.until_condition("the file is created", |_| {
        std::fs::read_to_string(path).is_ok_and(|text| text == "rehearsed\n")
    });
    assert_eq!(program.file("a.txt").as_deref(), Some("one\n"));
    drop(program);
    let (out, _) = run_headless(place, &["rehearsal", "diff"]);
    assert!(!out.contains("outside the project"), "an applied file is still listed: {out}");
}

#[test]
fn r30_a_file_outside_that_changed_since_is_a_conflict_and_stays() {
    let TestHome { service, root: place, path, .. } = &create_home(Some("one\n"));
    std::fs::write(path, "mine\n").unwrap();
    let (out, _) = run_headless(place, &["rehearsal", "show"]);
    assert!(out.contains("CONFLICT") && out.contains("1 conflict"), "{out}");
    let mut program = open_apply_screen(service, place, &[], (100, 30));
    program.until_prompt("Apply source changes?");
    program.press_keys("y");
    program.until("CONFLICT");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "mine\n");
    drop(program);
}

#[test]
fn r13_ayes_own_files_are_refused_as_live() {
    let home = Folder::new();
    let refused = |flags: &[&str]| {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let own = home.path().join("own/config/rules.toml");
        let call = [write_call(own.to_str().unwrap(), "\n")];
        let answers =
            vec![calls_answer_after(Duration::ZERO, &call), crate::support::terminal_session::text_answer("Done.")];
        let service = runtime.block_on(Service::start(answers));
        let base = ["-p", "--base-url", &service.base_url, "--model", "m"];
        let setup = Setup::new(&[&base[..], flags, &["go"]].concat());
        setup.env("AYE_HOME", home.path().join("own").to_str().unwrap()).run_piped("");
        assert!(!own.exists());
        let body = service.received().last().unwrap().body.clone();
        let messages = body["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].to_string()
    };
    let live = refused(&[]);
    assert!(live.contains("belongs to aye's own settings"), "{live}");
    assert_eq!(refused(&["--dry-run"]), live);
}

#[test]
fn r30_as_live_a_write_outside_asks_and_rehearses_nothing_without_an_approval() {
    let outside = Folder::new();
    let path = outside.path().canonicalize().unwrap().join("note.txt");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let answers = vec![
        calls_answer_after(Duration::ZERO, &[write_call(path.to_str().unwrap(), "x\n")]),
        crate::support::terminal_session::text_answer("Done."),
    ];
    let service = runtime.block_on(Service::start(answers));
    let setup = Setup::new(&["-p", "--dry-run", "--base-url", &service.base_url, "--model", "m", "go"]);
    let root = setup.root.clone();
    let config = root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[dry_run]\nask = \"as live\"\n").unwrap();
    let (out, err, _) = setup.run_piped("");
    assert!(!path.exists(), "{out}{err}");
    let body = service.received().last().unwrap().body.clone();
    let last = body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(last.contains("was not run"), "{last}");
    let (out, _) = run_headless(&root, &["rehearsal", "show"]);
    assert!(!out.contains("outside the project"), "{out}");
}
