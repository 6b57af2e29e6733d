//! A dry run is kept apart from life: its flag holds, its marks are everywhere, and a copy for real brings nothing of it.

use crate::support::folder::Folder;
use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use crate::support::terminal_session::{calls_after, says};
use aye::chat::{Decider, Decision, Digest, Entry, Grant, GrantScope, SessionId, ToolCall};
use aye::store::{Header, Log, SessionLog};
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
fn prints(place: &Arc<Folder>, service: &Service, arguments: &[&str]) -> (String, String, i32) {
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
    let (_runtime, service) = service(vec![writes("a.txt", "rehearsed\n"), says("One."), says("Two."), says("Three.")]);
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
    assert!(standing(&service).contains("began as a dry run and is now live"), "{}", standing(&service));
    let flags: Vec<bool> = headers(place.path()).iter().map(|header| header["dry_run"].as_bool().unwrap()).collect();
    assert_eq!(flags, [true, true, false]);
    let live = headers(place.path())[2]["id"].as_str().unwrap().to_owned();
    let layers = place.path().join("home/aye/data/rehearsal");
    assert!(layers.join(&dry).exists() && !layers.join(&live).exists());
    assert!(!place.path().join("project/a.txt").exists());
}

#[test]
fn r30_a_yes_that_stands_is_not_brought_from_life_into_a_dry_run() {
    let (_runtime, service) = service(vec![says("One.")]);
    let place = Setup::new(&[]).place;
    let sessions = place.path().join("home/aye/data/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    let project = place.path().join("project").canonicalize().unwrap();
    let scope = GrantScope::Command { command: "make".into(), folder: project.clone(), network: false };
    let call = ToolCall { id: "a".into(), name: "bash_exec".into(), arguments: "{}".into() };
    let replied = Entry::from_calls(vec![call]);
    let decided = Entry::Decided {
        call: "a".into(),
        decision: Decision::Always(Grant::new("bash_exec", scope)),
        by: Decider::Headless,
        sha256: Digest::default(),
    };
    let mut lines = SessionLog::new(&sessions, &Header::new(SessionId("01LIVE".into()), &project, "m", false));
    for entry in [Entry::UserMessage { text: "x".into() }, replied, decided] {
        lines.append(&entry).unwrap();
    }
    drop(lines);
    let (out, err, code) = prints(&place, &service, &["--json", "--resume", "01LIVE", "--fork", "--dry-run", "go"]);
    assert_eq!(code, 0, "{err}");
    let taken = |line: &&str| line.contains(r#""kind":"taken_back""#) && line.contains(r#""given_on":"a""#);
    assert_eq!(out.lines().filter(taken).count(), 1, "{out}");
    // A copy that is what the session is keeps it.
    let (out, _, _) = prints(&place, &service, &["--json", "--resume", "01LIVE", "--fork", "go"]);
    assert!(!out.contains("taken_back"), "{out}");
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
    let odd =
        calls_after(Duration::ZERO, &[("write_file", json!({ "path": "a.txt", "content": "x", "dry_run": false }))]);
    let hands_on = calls_after(Duration::ZERO, &[("sub_agent", json!({ "name": "one", "task": "write b.txt" }))]);
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
    for (setting, line, each) in [("never", false, false), ("once", true, false), ("each_result", true, true)] {
        let (_runtime, service) = service(vec![writes("a.txt", "x\n"), says("One.")]);
        let place = Setup::new(&[]).place;
        let config = place.path().join("home/aye/config");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("config.toml"), format!("[dry_run]\ntell_model = \"{setting}\"\n")).unwrap();
        let (_, err, code) = prints(&place, &service, &["--dry-run", "go"]);
        assert_eq!(code, 0, "{err}");
        assert_eq!(standing(&service).contains("dry run"), line, "{setting}");
        let messages = service.received().last().unwrap().body["messages"].clone();
        let told = messages.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        let result = "a.txt: +1 −0";
        match each {
            true => assert_eq!(told, format!("[dry run: done in the overlay only]\n{result}")),
            false => assert_eq!(told, result),
        }
    }
}

/// Several writes and a command, rehearsed with `-p` in this home; what was printed.
fn rehearsed(place: &Arc<Folder>, more: &[&str]) -> (String, String, i32) {
    // What a command does is the same whether or not the system has a stage.
    let config = place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[dry_run]\nstage = \"off\"\n").unwrap();
    let project = place.path().join("project");
    std::fs::create_dir_all(project.join("src")).unwrap();
    std::fs::write(project.join("src/a.txt"), "one\ntwo\n").unwrap();
    let (_runtime, service) = service(vec![
        calls_after(
            Duration::ZERO,
            &[
                ("write_file", json!({ "path": "src/a.txt", "content": "one\n2\n" })),
                ("write_file", json!({ "path": "new/b.txt", "content": "fresh\n" })),
                ("bash_exec", json!({ "command": "touch made" })),
            ],
        ),
        says("Would do."),
    ]);
    let arguments: Vec<&str> = ["--dry-run"].iter().chain(more).copied().chain(["go"]).collect();
    prints(place, &service, &arguments)
}

fn tells(place: &Arc<Folder>, arguments: &[&str]) -> (String, String, i32) {
    Setup::again(place, arguments).print("")
}

#[test]
fn r30_a_dry_run_without_a_screen_ends_with_the_plan() {
    let place = Setup::new(&[]).place;
    let (out, err, code) = rehearsed(&place, &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.starts_with("Would do.\n\n[dry run] go\n"), "{out}");
    for part in [
        "2 files changed, +2 −1, 1 folder",
        "  src/\n    ~ a.txt  +1 −1\n",
        "  + new/  new folder\n    + b.txt  +1 −0\n",
        "src/a.txt · +1 −1\n",
        "2 − two\n2 + 2\n",
        "$ touch made\n",
        "To apply, 2 prompts: aye rehearsal apply ",
    ] {
        assert!(out.contains(part), "{part:?} is not in:\n{out}");
    }
    let place = Setup::new(&[]).place;
    let (out, _, code) = rehearsed(&place, &["--json"]);
    assert_eq!(code, 0);
    let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!((last["kind"].as_str(), last["dry_run"].as_bool()), (Some("plan"), Some(true)));
    assert_eq!((last["rehearsed"].as_u64(), last["outside"].as_u64()), (Some(3), Some(0)));
    let paths: Vec<&str> =
        last["changes"].as_array().unwrap().iter().map(|change| change["path"].as_str().unwrap()).collect();
    assert_eq!(&paths[..2], ["new", "new/b.txt"]);
    assert_eq!(last["calls"][0]["command"], "touch made");
    // Nothing rehearsed is a good end too, and a service that fails is none.
    let (_runtime, service) = service(vec![says("Nothing to do.")]);
    let place = Setup::new(&[]).place;
    let (out, _, code) = prints(&place, &service, &["--dry-run", "go"]);
    assert!(
        code == 0 && out.contains("0 calls rehearsed, 0 ran in the overlay sandbox, nothing changed on disk"),
        "{out}"
    );
    let broken = Answer::body(500, "text/plain", &[], "no");
    let (_runtime, service) = self::service(vec![broken]);
    let (_, _, code) = prints(&Setup::new(&[]).place, &service, &["--dry-run", "go"]);
    assert_eq!(code, 1);
}

#[test]
fn what_was_rehearsed_is_told_as_a_tree_as_a_patch_and_as_json() {
    let place = Setup::new(&[]).place;
    rehearsed(&place, &[]);
    let (out, err, code) = tells(&place, &["rehearsal"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("[dry run] go\n01") && out.contains("    ~ a.txt  +1 −1\n"), "{out}");
    assert_eq!(tells(&place, &["rehearsal", "show"]).0, out);
    let id = out.lines().nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert_eq!(tells(&place, &["rehearsal", "show", &id[..12].to_lowercase()]).0, out);
    let (json, _, _) = tells(&place, &["rehearsal", "show", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["session"].as_str(), json["kind"].as_str()), (Some(id.as_str()), Some("rehearsal")));
    let (patch, _, code) = tells(&place, &["rehearsal", "diff", &id, "src"]);
    assert_eq!(code, 0);
    assert!(
        patch.starts_with("diff --git a/src/a.txt b/src/a.txt\nindex ")
            && patch.contains("\n--- a/src/a.txt\n+++ b/src/a.txt\n@@ "),
        "{patch}"
    );
    assert!(!patch.contains("new/b.txt"), "{patch}");
    let (patch, _, _) = tells(&place, &["rehearsal", "diff"]);
    assert!(
        patch.contains("new file mode 100644\nindex 0000000")
            && patch.contains("\n--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1 @@\n+fresh\n"),
        "{patch}"
    );
    for (arguments, says) in [
        (&["rehearsal", "diff", &id, "nowhere"][..], "no rehearsed change at nowhere"),
        (&["rehearsal", "show", "01NONE"], "no session matches 01NONE"),
        (&["rehearsal", "show", &id, "more"], "takes [ID]; to send this to the model, quote it"),
        (&["rehearsal", "show", "--yes"], "--yes can only be used with aye rehearsal drop"),
        (&["rehearsal", "show", "--hunks"], "--hunks can only be used with aye rehearsal apply"),
        (&["rehearsal", "drop", "--json"], "--json can only be used with"),
        (&["rehearsal", "apply"], "not a terminal"),
        (&["rehearsal", "drop"], "Confirm with --yes"),
    ] {
        let (_, err, code) = tells(&place, arguments);
        assert!(err.contains(says) && code == 2, "{arguments:?}: {err}");
    }
    let other = Setup::new(&["rehearsal"]);
    let (_, err, code) = other.print("");
    assert!(err.contains("no dry run in") && code == 2, "{err}");
    // What is rehearsed of a session for real is nothing.
    let (_runtime, service) = service(vec![says("One.")]);
    prints(&place, &service, &["first"]);
    let live = headers(place.path()).last().unwrap()["id"].as_str().unwrap().to_owned();
    let (_, err, code) = tells(&place, &["rehearsal", "show", &live]);
    assert!(err.contains("is live: it has no rehearsal") && code == 2, "{err}");
    // Its project is gone.
    std::fs::remove_dir_all(place.path().join("project")).unwrap();
    std::fs::create_dir(place.path().join("elsewhere")).unwrap();
    let elsewhere = place.path().join("elsewhere");
    std::fs::create_dir(place.path().join("project")).unwrap();
    std::fs::remove_dir(place.path().join("project")).unwrap();
    let done = std::process::Command::new(crate::support::program::program())
        .args(["rehearsal", "show", &id])
        .env("AYE_HOME", place.path().join("home/aye"))
        .current_dir(&elsewhere)
        .output()
        .unwrap();
    let err = String::from_utf8(done.stderr).unwrap();
    assert!(err.contains("no longer exists") && done.status.code() == Some(2), "{err}");
}

#[test]
fn what_was_rehearsed_is_thrown_away_once_that_is_said() {
    let place = Setup::new(&[]).place;
    rehearsed(&place, &[]);
    let layers = place.path().join("home/aye/data/rehearsal");
    let count = || std::fs::read_dir(&layers).unwrap().count();
    assert_eq!(count(), 1);
    for (answer, left) in [("\r", 1), ("y\r", 1), ("yes\r", 0)] {
        let mut program = Setup::again(&place, &["rehearsal", "drop"]).start();
        program.until("type yes:");
        program.keys(answer);
        program.until(if left == 1 { "Nothing was discarded." } else { "Discarded the rehearsal" });
        assert_eq!((program.wait_for_exit(), count()), (0, left), "{answer:?}");
    }
    let (out, _, code) = tells(&place, &["rehearsal", "drop", "--yes"]);
    assert!(code == 0 && out.contains("has no rehearsal"), "{out}");
    // The session is there, and rehearses again.
    let (_runtime, service) = service(vec![writes("c.txt", "c\n"), says("One.")]);
    prints(&place, &service, &["--continue", "more"]);
    assert_eq!(count(), 1);
    let (out, _, _) = tells(&place, &["rehearsal", "diff"]);
    assert!(out.contains("b/c.txt") && !out.contains("b.txt\n@@"), "{out}");
    let (out, _, code) = tells(&place, &["rehearsal", "drop", "--yes"]);
    assert!(code == 0 && out.contains("Discarded the rehearsal"), "{out}");
}
