//! Dry runs and live sessions stay separate: the flag persists, every output is marked, and a live fork takes over
//! nothing.

use crate::support::folder::Folder;
use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use crate::support::terminal_session::{calls_answer_after, text_answer};
use aye::chat::{Decider, Decision, Digest, Entry, Grant, GrantScope, SessionId, ToolCall};
use aye::store::{Header, Log, SessionLog};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn write_call(path: &str, content: &str) -> Answer {
    calls_answer_after(Duration::ZERO, &[("write_file", json!({ "path": path, "content": content }))])
}

fn start_service(answers: Vec<Answer>) -> (tokio::runtime::Runtime, Service) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    (runtime, service)
}

/// Runs `aye -p` with these arguments in this home, with this provider.
fn run_print(place: &Arc<Folder>, service: &Service, arguments: &[&str]) -> (String, String, i32) {
    let base = ["-p", "--base-url", &service.base_url, "--model", "m"];
    let arguments: Vec<&str> = base.iter().chain(arguments).copied().collect();
    Setup::with_home(place, &arguments).run_piped("")
}

/// The header of every session, oldest first.
fn read_headers(root: &Path) -> Vec<Value> {
    let folder = root.join("home/aye/data/sessions");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let first = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        serde_json::from_str(text.lines().next().unwrap()).unwrap()
    };
    files.iter().map(first).collect()
}

/// The system prompt of the last request.
fn sent_system_prompt(service: &Service) -> String {
    service.received().last().unwrap().body["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn r30_live_fork_needs_its_own_flag_and_takes_over_no_rehearsal() {
    let (_runtime, service) = start_service(vec![
        write_call("a.txt", "rehearsed\n"),
        text_answer("One."),
        text_answer("Two."),
        text_answer("Three."),
    ]);
    let root = Setup::new(&[]).root;
    let (_, err, code) = run_print(&root, &service, &["--dry-run", "first"]);
    assert_eq!(code, 0, "{err}");
    assert!(sent_system_prompt(&service).contains("This session is a dry run."), "{}", sent_system_prompt(&service));
    let dry = read_headers(root.path())[0]["id"].as_str().unwrap().to_owned();
    // Without a flag a fork of a dry run is a dry run too.
    let (_, err, code) = run_print(&root, &service, &["--resume", &dry, "--fork", "second"]);
    assert!(err.contains("is a dry run and stays one") && code == 0, "{err}");
    let (_, err, code) = run_print(&root, &service, &["--resume", &dry, "--fork", "--live", "third"]);
    assert!(!err.contains("stays one") && code == 0, "{err}");
    assert!(
        sent_system_prompt(&service).contains("began as a dry run and is now live"),
        "{}",
        sent_system_prompt(&service)
    );
    let flags: Vec<bool> =
        read_headers(root.path()).iter().map(|header| header["dry_run"].as_bool().unwrap()).collect();
    assert_eq!(flags, [true, true, false]);
    let live = read_headers(root.path())[2]["id"].as_str().unwrap().to_owned();
    let overlays = root.path().join("home/aye/data/rehearsal");
    assert!(overlays.join(&dry).exists() && !overlays.join(&live).exists());
    assert!(!root.path().join("project/a.txt").exists());
}

#[test]
fn r30_grants_of_a_live_session_are_revoked_in_a_dry_run_fork() {
    let (_runtime, service) = start_service(vec![text_answer("One.")]);
    let root = Setup::new(&[]).root;
    let sessions = root.path().join("home/aye/data/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    let project = root.path().join("project").canonicalize().unwrap();
    let scope = GrantScope::Command { command: "make".into(), folder: project.clone(), network: false };
    let call = ToolCall { id: "a".into(), name: "bash_exec".into(), arguments: "{}".into() };
    let replied = Entry::from_calls(vec![call]);
    let decided = Entry::Decided {
        call: "a".into(),
        decision: Decision::Always(Grant::new("bash_exec", scope)),
        by: Decider::Headless,
        sha256: Digest::default(),
    };
    let dry_run = false;
    let mut log = SessionLog::new(&sessions, &Header::new(SessionId("01LIVE".into()), &project, "m", dry_run));
    for entry in [Entry::UserMessage { text: "x".into() }, replied, decided] {
        log.append(&entry).unwrap();
    }
    drop(log);
    let (out, err, code) = run_print(&root, &service, &["--json", "--resume", "01LIVE", "--fork", "--dry-run", "go"]);
    assert_eq!(code, 0, "{err}");
    let revoked = |line: &&str| line.contains(r#""kind":"taken_back""#) && line.contains(r#""given_on":"a""#);
    assert_eq!(out.lines().filter(revoked).count(), 1, "{out}");
    // A live fork keeps the grant.
    let (out, _, _) = run_print(&root, &service, &["--json", "--resume", "01LIVE", "--fork", "go"]);
    assert!(!out.contains("taken_back"), "{out}");
}

#[test]
fn r30_live_session_can_be_forked_as_a_dry_run() {
    let (_runtime, service) = start_service(vec![text_answer("One."), write_call("a.txt", "x\n"), text_answer("Two.")]);
    let root = Setup::new(&[]).root;
    run_print(&root, &service, &["first"]);
    let (_, err, code) = run_print(&root, &service, &["--continue", "--dry-run", "--fork", "second"]);
    assert_eq!(code, 0, "a rehearsed write does not ask: {err}");
    assert!(!root.path().join("project/a.txt").exists());
    assert_eq!(
        (read_headers(root.path())[0]["dry_run"].clone(), read_headers(root.path())[1]["dry_run"].clone()),
        (json!(false), json!(true))
    );
}

#[test]
fn r30_tool_arguments_and_sub_agents_cannot_leave_the_dry_run() {
    let unknown_argument = calls_answer_after(
        Duration::ZERO,
        &[("write_file", json!({ "path": "a.txt", "content": "x", "dry_run": false }))],
    );
    let delegation =
        calls_answer_after(Duration::ZERO, &[("sub_agent", json!({ "name": "one", "task": "write b.txt" }))]);
    let (_runtime, service) = start_service(vec![
        unknown_argument,
        delegation,
        write_call("b.txt", "y\n"),
        text_answer("It is done."),
        text_answer("All done."),
    ]);
    let root = Setup::new(&[]).root;
    let (out, err, code) = run_print(&root, &service, &["--dry-run", "--json", "go"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("unknown field `dry_run`"), "{out}");
    let rehearsed = |line: &&str| line.contains(r#""kind":"beneath""#) && line.contains(r#""staged":"ran""#);
    assert_eq!(out.lines().filter(rehearsed).count(), 1, "{out}");
    let project = root.path().join("project");
    assert_eq!(std::fs::read_dir(project).unwrap().count(), 0);
}

#[test]
fn r30_setting_controls_which_messages_mention_the_dry_run() {
    for (setting, in_system_prompt, in_each_result) in
        [("never", false, false), ("once", true, false), ("each_result", true, true)]
    {
        let (_runtime, service) = start_service(vec![write_call("a.txt", "x\n"), text_answer("One.")]);
        let root = Setup::new(&[]).root;
        let config = root.path().join("home/aye/config");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("config.toml"), format!("[dry_run]\ntell_model = \"{setting}\"\n")).unwrap();
        let (_, err, code) = run_print(&root, &service, &["--dry-run", "go"]);
        assert_eq!(code, 0, "{err}");
        assert_eq!(sent_system_prompt(&service).contains("dry run"), in_system_prompt, "{setting}");
        let messages = service.received().last().unwrap().body["messages"].clone();
        let content = messages.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        let result = "a.txt: +1 −0";
        match in_each_result {
            true => assert_eq!(content, format!("[dry run: done in the overlay only]\n{result}")),
            false => assert_eq!(content, result),
        }
    }
}

/// Rehearses several writes and a command with `-p` in this home and returns the output.
fn rehearse_calls(place: &Arc<Folder>, extra_arguments: &[&str]) -> (String, String, i32) {
    // Without the overlay sandbox the result of the command is the same on every system.
    let config = place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[dry_run]\noverlay_sandbox = \"off\"\n").unwrap();
    let project = place.path().join("project");
    std::fs::create_dir_all(project.join("src")).unwrap();
    std::fs::write(project.join("src/a.txt"), "one\ntwo\n").unwrap();
    let (_runtime, service) = start_service(vec![
        calls_answer_after(
            Duration::ZERO,
            &[
                ("write_file", json!({ "path": "src/a.txt", "content": "one\n2\n" })),
                ("write_file", json!({ "path": "new/b.txt", "content": "fresh\n" })),
                ("bash_exec", json!({ "command": "touch made" })),
            ],
        ),
        text_answer("Would do."),
    ]);
    let arguments: Vec<&str> = ["--dry-run"].iter().chain(extra_arguments).copied().chain(["go"]).collect();
    run_print(place, &service, &arguments)
}

fn run_aye(place: &Arc<Folder>, arguments: &[&str]) -> (String, String, i32) {
    Setup::with_home(place, arguments).run_piped("")
}

#[test]
fn r30_headless_dry_run_ends_with_the_plan() {
    let root = Setup::new(&[]).root;
    let (out, err, code) = rehearse_calls(&root, &[]);
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
    let root = Setup::new(&[]).root;
    let (out, _, code) = rehearse_calls(&root, &["--json"]);
    assert_eq!(code, 0);
    let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!((last["kind"].as_str(), last["dry_run"].as_bool()), (Some("plan"), Some(true)));
    assert_eq!((last["rehearsed"].as_u64(), last["outside"].as_u64()), (Some(3), Some(0)));
    let paths: Vec<&str> =
        last["changes"].as_array().unwrap().iter().map(|change| change["path"].as_str().unwrap()).collect();
    assert_eq!(&paths[..2], ["new", "new/b.txt"]);
    assert_eq!(last["calls"][0]["command"], "touch made");
    // An empty rehearsal is a success, a failing provider is not.
    let (_runtime, service) = start_service(vec![text_answer("Nothing to do.")]);
    let root = Setup::new(&[]).root;
    let (out, _, code) = run_print(&root, &service, &["--dry-run", "go"]);
    assert!(code == 0 && out.contains("0 calls rehearsed; nothing changed on disk"), "{out}");
    let broken = Answer::body(500, "text/plain", &[], "no");
    let (_runtime, service) = start_service(vec![broken]);
    let (_, _, code) = run_print(&Setup::new(&[]).root, &service, &["--dry-run", "go"]);
    assert_eq!(code, 1);
}

#[test]
fn rehearsal_is_shown_as_tree_patch_and_json() {
    let root = Setup::new(&[]).root;
    rehearse_calls(&root, &[]);
    let (out, err, code) = run_aye(&root, &["rehearsal"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("[dry run] go\n01") && out.contains("    ~ a.txt  +1 −1\n"), "{out}");
    assert_eq!(run_aye(&root, &["rehearsal", "show"]).0, out);
    let id = out.lines().nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert_eq!(run_aye(&root, &["rehearsal", "show", &id[..12].to_lowercase()]).0, out);
    let (json, _, _) = run_aye(&root, &["rehearsal", "show", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["session"].as_str(), json["kind"].as_str()), (Some(id.as_str()), Some("rehearsal")));
    let (patch, _, code) = run_aye(&root, &["rehearsal", "diff", &id, "src"]);
    assert_eq!(code, 0);
    assert!(
        patch.starts_with("diff --git a/src/a.txt b/src/a.txt\nindex ")
            && patch.contains("\n--- a/src/a.txt\n+++ b/src/a.txt\n@@ "),
        "{patch}"
    );
    assert!(!patch.contains("new/b.txt"), "{patch}");
    assert_eq!(run_aye(&root, &["rehearsal", "diff", "src/"]).0, patch, "a single argument may be the path");
    let (whole, _, _) = run_aye(&root, &["rehearsal", "diff", &id, "--json"]);
    for arguments in [&["rehearsal", "diff", &id, "src", "--json"][..], &["rehearsal", "diff", "src", "--json"]] {
        let (json, err, _) = run_aye(&root, arguments);
        let json: Value = serde_json::from_str(&json).unwrap_or_else(|_| panic!("{json}{err}"));
        let paths: Vec<&str> =
            json["changes"].as_array().unwrap().iter().map(|change| change["path"].as_str().unwrap()).collect();
        assert!(paths.contains(&"src/a.txt") && paths.iter().all(|path| path.starts_with("src")), "{paths:?}");
    }
    assert!(whole.contains("new/b.txt"), "{whole}");
    let (patch, _, _) = run_aye(&root, &["rehearsal", "diff"]);
    assert!(
        patch.contains("new file mode 100644\nindex 0000000")
            && patch.contains("\n--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1 @@\n+fresh\n"),
        "{patch}"
    );
    for (arguments, message) in [
        (&["rehearsal", "diff", &id, "nowhere"][..], "Cannot show nowhere: no rehearsed change is there"),
        (&["rehearsal", "diff", &id, "nowhere", "--json"][..], "Cannot show nowhere: no rehearsed change is there"),
        (&["rehearsal", "diff", "nowhere"], "Cannot show nowhere: it matches no session and no rehearsed change"),
        (&["rehearsal", "show", "01NONE"], "Cannot find the session \"01NONE\": no ID begins with it"),
        (&["rehearsal", "show", &id, "more"], "takes [ID]. To send this to the model, quote it."),
        (
            &["rehearsal", "show", "--yes"],
            "Cannot use --yes here: it is an option of another command. Use it with: aye rehearsal drop",
        ),
        (
            &["rehearsal", "show", "--hunks"],
            "Cannot use --hunks here: it is an option of another command. Use it with: aye rehearsal apply",
        ),
        (&["rehearsal", "drop", "--json"], "Cannot use --json here: it is an option of another command. Use it with: "),
        (&["rehearsal", "apply"], "not a terminal"),
        (&["rehearsal", "drop"], "Confirm with --yes"),
    ] {
        let (_, err, code) = run_aye(&root, arguments);
        assert!(err.contains(message) && code == 2, "{arguments:?}: {err}");
    }
    let other_setup = Setup::new(&["rehearsal"]);
    let (_, err, code) = other_setup.run_piped("");
    assert!(err.contains("Cannot find a dry run of") && code == 2, "{err}");
    // A live session has no rehearsal.
    let (_runtime, service) = start_service(vec![text_answer("One.")]);
    run_print(&root, &service, &["first"]);
    let live = read_headers(root.path()).last().unwrap()["id"].as_str().unwrap().to_owned();
    let (_, err, code) = run_aye(&root, &["rehearsal", "show", &live]);
    assert!(err.contains("the session is live. Name a dry run") && code == 2, "{err}");
    // The project folder is gone.
    std::fs::remove_dir_all(root.path().join("project")).unwrap();
    std::fs::create_dir(root.path().join("elsewhere")).unwrap();
    let elsewhere = root.path().join("elsewhere");
    let output = std::process::Command::new(crate::support::program::program())
        .args(["rehearsal", "show", &id])
        .env("AYE_HOME", root.path().join("home/aye"))
        .current_dir(&elsewhere)
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("no longer exists") && output.status.code() == Some(2), "{err}");
}

#[test]
fn rehearsal_is_discarded_only_after_confirmation() {
    let root = Setup::new(&[]).root;
    rehearse_calls(&root, &[]);
    let overlays = root.path().join("home/aye/data/rehearsal");
    let count = || std::fs::read_dir(&overlays).unwrap().count();
    assert_eq!(count(), 1);
    for (answer, left) in [("\r", 1), ("y\r", 1), ("yes\r", 0)] {
        let mut program = Setup::with_home(&root, &["rehearsal", "drop"]).start();
        program.until("type yes:");
        program.press_keys(answer);
        program.until(if left == 1 { "Nothing was discarded." } else { "Discarded the rehearsal" });
        assert_eq!((program.wait_for_exit(), count()), (0, left), "{answer:?}");
    }
    let (out, _, code) = run_aye(&root, &["rehearsal", "drop", "--yes"]);
    assert!(code == 0 && out.contains("has no rehearsal"), "{out}");
    // The session still exists and can rehearse again.
    let (_runtime, service) = start_service(vec![write_call("c.txt", "c\n"), text_answer("One.")]);
    run_print(&root, &service, &["--continue", "more"]);
    assert_eq!(count(), 1);
    let (out, _, _) = run_aye(&root, &["rehearsal", "diff"]);
    assert!(out.contains("b/c.txt") && !out.contains("b.txt\n@@"), "{out}");
    let (out, _, code) = run_aye(&root, &["rehearsal", "drop", "--yes"]);
    assert!(code == 0 && out.contains("Discarded the rehearsal"), "{out}");
}
