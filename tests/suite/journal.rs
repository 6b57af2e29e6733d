//! The journal of the real program: it records events and times, and neither content nor keys.

use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service};
use crate::support::stored_files::write_settings;
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use rustix::process::Signal;
use serde_json::json;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

pub const KEY: &str = "journal-key-1234567890";
pub const HEADER: &str = "header-1234567890";
/// Strings that the session sends, reads, runs and receives, and the name of a file.
pub const CONTENT: [&str; 8] =
    ["plover", "xyzzy", "quuxword", "frobword", "grueword", "blurbword", "hookword", "a.txt"];

/// A token as a user may have in a file.
pub fn token() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}

/// The journals of a home, oldest first.
pub fn read_journals(root: &Path) -> Vec<String> {
    let folder = root.join("home/aye/data/journal");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in &files {
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600, "{}", file.display());
    }
    assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// Runs a session in which the provider fails, tools read and run, a hook reviews a call, and the provider echoes the
/// key.
pub fn run_session(arguments: &[&str]) -> (Runtime, Service, Program) {
    let runtime = Runtime::new().unwrap();
    let calls = [
        ("read_file", json!({ "path": "a.txt" })),
        ("bash_exec", json!({ "command": "sleep 0; echo quuxword; exit 3" })),
        ("frobword", json!({ "grueword": 1 })),
    ];
    let busy = format!(r#"{{"error":{{"message":"blurbword {KEY}","code":"blurbword"}}}}"#);
    let service = runtime.block_on(Service::start([
        Answer::body(503, "application/json", &["retry-after-ms: 50"], &busy),
        calls_answer_after(Duration::ZERO, &calls),
        text_answer("It is plover."),
        Answer::body(400, "application/json", &[], &busy),
    ]));
    let setup = Setup::new(&[&["--profile", "mine"], arguments].concat())
        .size(100, 30)
        // The name of this variable does not suggest a secret.
        .env("MY_MODEL", KEY)
        .with_file("a.txt", &format!("xyzzy {}\n", token()));
    let hook =
        format!("echo hookword {KEY} >&2; echo '{{\\\"verdict\\\":\\\"ask\\\",\\\"why\\\":\\\"hookword {KEY}\\\"}}'");
    let profile = format!(
        "[profiles.mine]\nbase_url = \"{}\"\nmodel = \"m\"\nkey_env = \"MY_MODEL\"\nheaders = {{ x-own = \"{HEADER}\" }}\n\
         [hooks.check]\ncommand = [\"sh\", \"-c\", \"{hook}\"]\ntools = [\"bash_exec\"]\n",
        service.base_url
    );
    write_settings(&setup, &profile);
    let mut program = setup.start();
    program.until("ask mode");
    submit_message(&mut program, "say plover");
    program.until_prompt("$ sleep 0");
    program.press_keys("y");
    program.until_idle("It is plover.");
    submit_message(&mut program, "xyzzy");
    program.until("(400");
    (runtime, service, program)
}

#[test]
fn r57_journal_contains_neither_keys_nor_content() {
    let (_runtime, _service, mut program) = run_session(&[]);
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    let all = read_journals(program.root.path());
    assert_eq!(all.len(), 1);
    let journal = &all[0];
    for never in CONTENT.into_iter().chain([KEY, HEADER, &token()]) {
        assert!(!journal.contains(never), "{never} is in the journal:\n{journal}");
    }
    let expected = [
        "begins, with a screen",
        "live, to m at 127.0.0.1",
        "the user sent 10 bytes",
        "turn 1: requested a reply: 2 messages",
        "turn 1: status 503 after",
        "attempt 2 of 5 in 50 ms",
        "0 bytes, 3 calls",
        "turn 1: read_file: planned",
        "turn 1: read_file: done after",
        "a hook says ask after",
        "decided: approved",
        "turn 1: bash_exec: started",
        "turn 1: bash_exec: done after",
        "turn 1: an unknown tool: cannot be planned",
        "turn ended: finished",
        "turn 2: status 400 after",
        "turn ended: failed",
        "aye ends",
    ];
    let mut from = 0;
    for words in expected {
        let offset = journal[from..].find(words);
        from += offset.unwrap_or_else(|| panic!("{words:?} is missing or too early:\n{journal}"));
    }
    let has_time_and_text =
        |line: &str| line.split_once("Z ").is_some_and(|(time, words)| time.len() == 23 && !words.is_empty());
    assert!(journal.lines().all(has_time_and_text), "{journal}");
}

#[test]
fn r57_journal_contains_content_on_request_but_no_keys() {
    let (_runtime, _service, mut program) = run_session(&["--debug-content"]);
    program.signal(Signal::TERM);
    assert_eq!(program.wait_for_exit(), 143);
    let journal = &read_journals(program.root.path())[0];
    for expected in CONTENT {
        assert!(journal.contains(expected), "{expected} is missing:\n{journal}");
    }
    for never in [KEY, HEADER, &token()] {
        assert!(!journal.contains(never), "{never} is in the journal:\n{journal}");
    }
    assert!(journal.contains("ended by signal 15"), "{journal}");
}

#[test]
fn setting_without_a_proxy_is_no_secret() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([text_answer("None of these, none.")]));
    let setup = Setup::new(&["-p", "--profile", "mine", "--debug-content", "hi"]);
    let base_url = &service.base_url;
    write_settings(&setup, &format!("[profiles.mine]\nbase_url = \"{base_url}\"\nmodel = \"m\"\nproxy = \"none\"\n"));
    let root = setup.root.clone();
    assert_eq!(setup.run_piped("").2, 0);
    let journal = &read_journals(root.path())[0];
    assert!(journal.contains("None of these, none."), "{journal}");
}

#[test]
fn records_panics_and_headless_runs_and_works_without_a_journal_folder() {
    let mut program = Setup::new(&[]).env("AYE_PANIC", "other").start();
    assert_eq!(program.wait_for_exit(), 101);
    let root = program.root.clone();
    let (_, _, code) = Setup::with_home(&root, &["-p", "--tour", "hello"]).run_piped("");
    let all = read_journals(root.path());
    assert!(all[0].contains("a panic at src/") && !all[0].contains("aye ends"), "{}", all[0]);
    assert!(all[1].contains("begins, printing") && all[1].contains(&format!("exit code {code}")), "{}", all[1]);
    let folder = root.path().join("home/aye/data/journal");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "in its place").unwrap();
    let (out, _, second_code) = Setup::with_home(&root, &["-p", "--tour", "hello"]).run_piped("");
    assert!(out.contains("This is the tour") && second_code == code);
}
