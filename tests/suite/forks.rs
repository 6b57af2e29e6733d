//! Forking a session: the copy continues, and the original stays unchanged.

use crate::support::folder::Folder;
use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use crate::support::terminal_session::{calls_answer_after, start_session, submit_message, text_answer};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The files in a data folder, by name.
fn read_files(root: &Path, folder: &str) -> BTreeMap<String, String> {
    let files = std::fs::read_dir(root.join("home/aye/data").join(folder)).unwrap();
    let file = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        Some((name, std::fs::read_to_string(path).ok()?))
    };
    files.filter_map(|entry| file(entry.unwrap().path())).collect()
}

/// The only session: its ID and its content.
fn read_only_session(root: &Path) -> (String, String) {
    let all = read_files(root, "sessions");
    assert_eq!(all.len(), 1, "{:?}", all.keys());
    let (name, text) = all.into_iter().next().unwrap();
    (name.trim_end_matches(".jsonl").to_owned(), text)
}

#[test]
fn r51_a_fork_copies_selected_answers_and_leaves_the_original_unanswered() {
    let ask = json!({ "questions": [
        { "question": "Which clock?", "keyword": "clock", "options": ["paused", "a trait", "real"] },
        { "question": "Where?", "keyword": "os", "options": ["Linux", "macOS"], "multi": true },
    ]});
    let (_runtime, service, mut program) = start_session(
        vec![calls_answer_after(Duration::ZERO, &[("ask_question", ask)]), text_answer("Good.")],
        (80, 24),
        &[],
    );
    submit_message(&mut program, "go");
    program.until_prompt("Which clock?");
    program.press_keys("2");
    program.until("✓ a trait");
    program.press_keys("\r");
    program.until_prompt("2 of 2 · 1 answered");
    program.wait_ms(600);
    program.press_keys("1");
    program.until("[x] Linux");
    program.press_keys("\x1b");
    program.until("2 questions wait");
    let root = program.root.clone();
    let (old, before) = read_only_session(root.path());
    submit_message(&mut program, "/fork");
    program.until("this is a copy");
    program.until("2 questions wait");
    let read_draft = |id: &str| read_files(root.path(), "drafts").get(&format!("{id}.json")).cloned();
    let draft = read_draft(&old).expect("the selection is saved with the old session");
    let copy = read_files(root.path(), "sessions").into_keys().find(|name| !name.starts_with(&old)).unwrap();
    let copy = copy.trim_end_matches(".jsonl");
    assert_eq!(read_draft(copy), Some(draft.clone()));
    // Ctrl-Q opens the parked questions.
    program.press_keys("\x11");
    program.until_prompt("[x] Linux");
    program.press_keys("\r");
    program.until("Your answers");
    program.press_until("\r", "Good.");
    let request = service.received()[1].body.to_string();
    assert!(request.contains("a trait") && request.contains("Linux"), "{request}");
    program.until_condition("the draft of the answered prompt is removed", |_| read_draft(copy).is_none());
    assert_eq!(read_draft(&old), Some(draft));
    assert_eq!(read_files(root.path(), "sessions")[&format!("{old}.jsonl")], before);

    // The session can also be forked from the shell while the copy is open.
    let again = ["--resume", &old, "--fork", "--base-url", &service.base_url, "--model", "scripted-7b"];
    let mut third = Setup::with_home(&root, &again).start();
    third.until("2 questions wait");
    third.press_keys("\x11");
    third.until("[x] Linux");
    assert_eq!(read_files(root.path(), "sessions").len(), 3);
    assert_eq!(read_files(root.path(), "sessions")[&format!("{old}.jsonl")], before);
}

/// Runs `aye -p` with these arguments in this home, against this service.
fn run_headless(place: &std::sync::Arc<Folder>, service: &Service, arguments: &[&str]) -> (String, String, i32) {
    let base = ["-p", "--base-url", &service.base_url, "--model", "m"];
    let arguments: Vec<&str> = base.iter().chain(arguments).copied().collect();
    Setup::with_home(place, &arguments).run_piped("")
}

fn start_service(answers: Vec<Answer>) -> (tokio::runtime::Runtime, Service) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    (runtime, service)
}

#[test]
fn continues_a_fork_without_a_screen() {
    let (_runtime, service) = start_service(vec![text_answer("One."), text_answer("Two."), text_answer("Three.")]);
    let root = Setup::new(&[]).root;
    run_headless(&root, &service, &["first"]);
    let (old, before) = read_only_session(root.path());
    let (out, err, code) = run_headless(&root, &service, &["--continue", "--fork", "second"]);
    assert_eq!((out.as_str(), code), ("Two.\n", 0), "{err}");
    assert!(err.contains(&format!("is a copy of {old}, which is unchanged")), "{err}");
    let all = read_files(root.path(), "sessions");
    assert_eq!((all.len(), &all[&format!("{old}.jsonl")]), (2, &before));
    let request = service.received()[1].body.to_string();
    assert!(request.contains("first") && request.contains("One.") && request.contains("second"), "{request}");
    // The copy was used last, so `--continue` opens it.
    run_headless(&root, &service, &["--continue", "third"]);
    assert!(service.received()[2].body.to_string().contains("second"));
}

#[test]
fn a_failed_fork_is_reported_and_leaves_no_files() {
    let (_runtime, service) = start_service(vec![text_answer("One.")]);
    let root = Setup::new(&[]).root;
    run_headless(&root, &service, &["first"]);
    let (old, before) = read_only_session(root.path());
    std::fs::write(root.path().join("project/answers.json"), r#"{"clock": "real"}"#).unwrap();
    for (arguments, expected) in [
        (&["--fork", "x"][..], "Cannot copy a session: --fork names none"),
        (&["--fork", "--resume", "01NONE", "x"], "Cannot find the session \"01NONE\": no ID begins with it"),
        (&["--fork", "--continue", "--answers", "answers.json"], "has no waiting question"),
        (&["--live", "--continue", "x"], "--fork"),
        (&["--fork", "--continue", "--dry-run", "--live", "x"], "cannot be used with"),
    ] {
        let (out, err, code) = run_headless(&root, &service, arguments);
        assert!(err.contains(expected), "{arguments:?}: {err}");
        assert_eq!((out.as_str(), code), ("", 2), "{arguments:?}");
        assert_eq!(read_only_session(root.path()), (old.clone(), before.clone()), "{arguments:?}");
    }
    // A file in place of the drafts folder makes the copy fail.
    let drafts = root.path().join("home/aye/data/drafts");
    std::fs::remove_dir_all(&drafts).unwrap();
    std::fs::write(&drafts, "").unwrap();
    let (_, err, code) = run_headless(&root, &service, &["--fork", "--resume", &old, "x"]);
    assert!(err.contains(&format!("Cannot copy session {old}")), "{err}");
    assert_eq!(err.matches("os error").count(), 1, "the cause appears once: {err}");
    assert_eq!(code, 1, "{err}");
    assert_eq!(read_only_session(root.path()), (old, before));
}

#[test]
fn r30_forks_and_removes_a_dry_run_with_very_deep_folders() {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let write = json!({ "path": "a.txt", "content": "new\n" });
    let (_runtime, service) =
        start_service(vec![calls_answer_after(Duration::ZERO, &[("write_file", write)]), text_answer("Would do.")]);
    let root = Setup::new(&[]).root;
    run_headless(&root, &service, &["--dry-run", "go"]);
    let (old, _) = read_only_session(root.path());
    let layers = root.path().join("home/aye/data/rehearsal");
    let how = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = openat(CWD, layers.join(&old).join("upper"), how, Mode::empty()).unwrap();
    for _ in 0..60 {
        let name = "d".repeat(200);
        mkdirat(&at, &*name, Mode::RWXU).unwrap();
        at = openat(&at, &*name, how, Mode::empty()).unwrap();
    }
    let run_sessions = |arguments: &[&str]| {
        let (out, err, code) = Setup::with_home(&root, &[&["sessions"], arguments].concat()).run_piped("");
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        out
    };
    let output = run_sessions(&["fork", &old]);
    let copy = output.split_whitespace().next().unwrap();
    assert_eq!(std::fs::read_to_string(layers.join(copy).join("upper/a.txt")).unwrap(), "new\n");
    let output = run_sessions(&[]);
    assert!(output.contains(" · copy · dry run\n"), "the words of the list on the screen: {output}");
    let output = run_sessions(&["rm", "--yes", &old, copy]);
    assert_eq!(output, "2 sessions were removed.\n");
    assert_eq!(std::fs::read_dir(&layers).unwrap().count(), 0);
}
