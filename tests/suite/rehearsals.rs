//! A dry run is kept apart from life: its flag holds, its marks are everywhere, and a copy for real brings nothing of it.

use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use crate::support::talking::{calls_after, says};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn writes(path: &str, content: &str) -> Answer {
    calls_after(Duration::ZERO, &[("write_file", json!({ "path": path, "content": content }))])
}

fn service(answers: Vec<Answer>) -> (tokio::runtime::Runtime, Service) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    (runtime, service)
}

/// Runs `aye -p` with these arguments in this home, against this service.
fn prints(place: &Arc<tempfile::TempDir>, service: &Service, arguments: &[&str]) -> (String, String, i32) {
    let base = ["-p", "--base-url", &service.base_url, "--model", "m"];
    let arguments: Vec<&str> = base.iter().chain(arguments).copied().collect();
    Setup::again(place, &arguments).print("")
}

/// Every session's first line, oldest first.
fn headers(place: &Path) -> Vec<Value> {
    let folder = place.join("home/aye/data/sessions");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let first = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        serde_json::from_str(text.lines().next().unwrap()).unwrap()
    };
    files.iter().map(first).collect()
}

/// What the service was told first in its last request.
fn standing(service: &Service) -> String {
    service.received().last().unwrap().body["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn r30_a_copy_for_real_is_a_word_of_its_own_and_brings_nothing_that_was_rehearsed() {
    let (_runtime, service) =
        service(vec![writes("a.txt", "rehearsed\n"), says("One."), says("Two."), says("Three.")]);
    let place = Setup::new(&[]).place;
    let (_, err, code) = prints(&place, &service, &["--dry-run", "first"]);
    assert_eq!(code, 0, "{err}");
    assert!(standing(&service).contains("This session is a dry run."), "{}", standing(&service));
    let dry = headers(place.path())[0]["id"].as_str().unwrap().to_owned();
    // A copy is what the session is, unless something else is asked for.
    let (_, err, code) = prints(&place, &service, &["--resume", &dry, "--fork", "second"]);
    assert!(err.contains("is a dry run and stays one") && code == 0, "{err}");
    let (_, err, code) = prints(&place, &service, &["--resume", &dry, "--fork", "--live", "third"]);
    assert!(!err.contains("stays one") && code == 0, "{err}");
    assert!(standing(&service).contains("began as a dry run and goes on for real"), "{}", standing(&service));
    let flags: Vec<bool> =
        headers(place.path()).iter().map(|header| header["dry_run"].as_bool().unwrap()).collect();
    assert_eq!(flags, [true, true, false]);
    let live = headers(place.path())[2]["id"].as_str().unwrap().to_owned();
    let layers = place.path().join("home/aye/data/rehearsal");
    assert!(layers.join(&dry).exists() && !layers.join(&live).exists());
    assert!(!place.path().join("project/a.txt").exists());
}

#[test]
fn r30_a_copy_of_a_session_for_real_can_be_a_dry_run() {
    let (_runtime, service) = service(vec![says("One."), writes("a.txt", "x\n"), says("Two.")]);
    let place = Setup::new(&[]).place;
    prints(&place, &service, &["first"]);
    let (_, err, code) = prints(&place, &service, &["--continue", "--dry-run", "--fork", "second"]);
    assert_eq!(code, 0, "a rehearsed write asks nobody: {err}");
    assert!(!place.path().join("project/a.txt").exists());
    assert_eq!(
        (headers(place.path())[0]["dry_run"].clone(), headers(place.path())[1]["dry_run"].clone()),
        (json!(false), json!(true))
    );
}

#[test]
fn r30_no_argument_of_a_tool_leaves_the_dry_run_and_a_sub_agent_is_in_it_too() {
    let odd = calls_after(
        Duration::ZERO,
        &[("write_file", json!({ "path": "a.txt", "content": "x", "dry_run": false }))],
    );
    let hands_on =
        calls_after(Duration::ZERO, &[("sub_agent", json!({ "name": "one", "task": "write b.txt" }))]);
    let (_runtime, service) =
        service(vec![odd, hands_on, writes("b.txt", "y\n"), says("It is done."), says("All done.")]);
    let place = Setup::new(&[]).place;
    let (out, err, code) = prints(&place, &service, &["--dry-run", "--json", "go"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("unknown field `dry_run`"), "{out}");
    let staged = |line: &&str| line.contains(r#""kind":"beneath""#) && line.contains(r#""staged":"ran""#);
    assert_eq!(out.lines().filter(staged).count(), 1, "{out}");
    let project = place.path().join("project");
    assert_eq!(std::fs::read_dir(project).unwrap().count(), 0);
}

#[test]
fn r30_how_often_the_model_is_told_is_a_setting() {
    for (setting, line, each) in [("never", false, false), ("once", true, false), ("each_result", true, true)]
    {
        let (_runtime, service) = service(vec![writes("a.txt", "x\n"), says("One.")]);
        let place = Setup::new(&[]).place;
        let config = place.path().join("home/aye/config");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("config.toml"), format!("[dry_run]\ntell_model = \"{setting}\"\n"))
            .unwrap();
        let (_, err, code) = prints(&place, &service, &["--dry-run", "go"]);
        assert_eq!(code, 0, "{err}");
        assert_eq!(standing(&service).contains("dry run"), line, "{setting}");
        let messages = service.received().last().unwrap().body["messages"].clone();
        let told = messages.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        let result = "a.txt: +1 −0";
        match each {
            true => assert_eq!(told, format!("[dry run: done on the stage alone]\n{result}")),
            false => assert_eq!(told, result),
        }
    }
}
