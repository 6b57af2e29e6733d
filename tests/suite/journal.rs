//! The journal of the real program: it tells what happened and when, and neither content nor keys.

use crate::support::kept::settings;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service};
use crate::support::talking::{calls_after, say, says};
use rustix::process::Signal;
use serde_json::json;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

pub const KEY: &str = "journal-key-1234567890";
pub const HEADER: &str = "header-1234567890";
/// What is said, read, run, answered, refused and said by a hook in the session.
pub const CONTENT: [&str; 8] =
    ["plover", "xyzzy", "quuxword", "frobword", "grueword", "blurbword", "hookword", "a.txt"];

/// A token as one that a person may have in a file.
pub fn token() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}

/// The journals in a home, the oldest first.
fn journals(place: &Path) -> Vec<String> {
    let folder = place.join("home/aye/data/journal");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in &files {
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600, "{}", file.display());
    }
    assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// A session in which a service fails, tools read and run, a hook has its say, a reply is cut and a key is echoed; and its
/// program.
pub fn session(arguments: &[&str]) -> (Runtime, Service, Program) {
    let runtime = Runtime::new().unwrap();
    let calls = [
        ("read_file", json!({ "path": "a.txt" })),
        ("bash_exec", json!({ "command": "sleep 0; echo quuxword; exit 3" })),
        ("frobword", json!({ "grueword": 1 })),
    ];
    let busy = format!(r#"{{"error":{{"message":"blurbword {KEY}","code":"blurbword"}}}}"#);
    let service = runtime.block_on(Service::start([
        Answer::body(503, "application/json", &["retry-after-ms: 50"], &busy),
        calls_after(Duration::ZERO, &calls),
        says("It is plover."),
        Answer::body(400, "application/json", &[], &busy),
    ]));
    let setup = Setup::new(&[&["--profile", "mine"], arguments].concat())
        .size(100, 30)
        .env("MY_MODEL", KEY)
        .has("a.txt", &format!("xyzzy {}\n", token()));
    let hook =
        format!("echo hookword {KEY} >&2; echo '{{\\\"verdict\\\":\\\"ask\\\",\\\"why\\\":\\\"hookword {KEY}\\\"}}'");
    let profile = format!(
        "[profiles.mine]\nbase_url = \"{}\"\nmodel = \"m\"\nkey_env = \"MY_MODEL\"\nheaders = {{ x-own = \"{HEADER}\" }}\n\
         [hooks.check]\ncommand = [\"sh\", \"-c\", \"{hook}\"]\ntools = [\"bash_exec\"]\n",
        service.base_url
    );
    settings(&setup, &profile);
    let mut program = setup.start();
    program.until("ask mode");
    say(&mut program, "say plover");
    program.until_asked("$ sleep 0");
    program.keys("y");
    program.until_quiet("It is plover.");
    say(&mut program, "xyzzy");
    program.until("(400");
    (runtime, service, program)
}

#[test]
fn r57_a_session_leaves_neither_keys_nor_content_in_its_journal() {
    let (_runtime, _service, mut program) = session(&[]);
    program.keys("\x04");
    assert_eq!(program.ends(), 0);
    let all = journals(program.place.path());
    assert_eq!(all.len(), 1);
    let journal = &all[0];
    for never in CONTENT.into_iter().chain([KEY, HEADER, &token()]) {
        assert!(!journal.contains(never), "{never} is in it:\n{journal}");
    }
    let told = [
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
    for words in told {
        let at = journal[from..].find(words);
        from += at.unwrap_or_else(|| panic!("{words:?} is not in it, or comes too early:\n{journal}"));
    }
    let is_told = |line: &str| line.split_once("Z ").is_some_and(|(time, words)| time.len() == 23 && !words.is_empty());
    assert!(journal.lines().all(is_told), "{journal}");
}

#[test]
fn r57_content_that_is_asked_for_is_there_without_keys() {
    let (_runtime, _service, mut program) = session(&["--debug-content"]);
    program.signal(Signal::TERM);
    assert_eq!(program.ends(), 143);
    let journal = &journals(program.place.path())[0];
    for there in CONTENT {
        assert!(journal.contains(there), "{there} is not in it:\n{journal}");
    }
    for never in [KEY, HEADER, &token()] {
        assert!(!journal.contains(never), "{never} is in it:\n{journal}");
    }
    assert!(journal.contains("ended by signal 15"), "{journal}");
}

#[test]
fn a_panic_and_a_run_without_a_screen_are_noted_and_a_folder_that_cannot_be_is_not_missed() {
    let mut program = Setup::new(&[]).env("AYE_PANIC", "other").start();
    assert_eq!(program.ends(), 101);
    let place = program.place.clone();
    let (_, _, code) = Setup::again(&place, &["-p", "--tour", "hello"]).print("");
    let all = journals(place.path());
    assert!(all[0].contains("a panic at src/") && !all[0].contains("aye ends"), "{}", all[0]);
    assert!(all[1].contains("begins, printing") && all[1].contains(&format!("exit code {code}")), "{}", all[1]);
    let folder = place.path().join("home/aye/data/journal");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "in its place").unwrap();
    let (out, _, again) = Setup::again(&place, &["-p", "--tour", "hello"]).print("");
    assert!(out.contains("This is the tour") && again == code);
}
