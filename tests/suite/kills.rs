//! The real program killed again and again during replies, tool calls and approvals: it always resumes, loses at most
//! the entry being written, and runs no command twice.

use crate::support::folder::Folder;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::{pick_count, requested_trials};
use aye::chat::{Decision, Entry, Outcome, Session};
use aye::store::{StoredSession, read};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sessions that are killed in parallel.
const SESSIONS: usize = 3;

/// Kills per session. `AYE_TEST_TRIALS=200 cargo test --test suite r51_killed_at_any_moment` makes two hundred in
/// total.
fn kills_per_session() -> usize {
    requested_trials().unwrap_or_else(|| SESSIONS * pick_count(20, 4)).div_ceil(SESSIONS)
}

fn call_reply(id: usize, name: &str, arguments: &Value) -> Answer {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let delta = json!({ "tool_calls": [{ "index": 0, "id": format!("c{id}"), "function": function }] });
    Answer::stream()
        .text("I look. ")
        .with_step(Step::Pause(Duration::from_millis(40)))
        .event(json!({ "choices": [{ "index": 0, "delta": delta }] }))
        .finish("tool_calls")
        .done()
}

/// A hundred turns: a read, a command that records its number, and a slow reply, which takes seconds in some of them.
fn make_turns() -> Vec<Answer> {
    let reply_text = |turn: usize| {
        let pause = Duration::from_millis(if turn.is_multiple_of(3) { 180 } else { 15 });
        let slow = |answer: Answer, n: usize| answer.text(&format!("word {n} ")).with_step(Step::Pause(pause));
        (0..15).fold(Answer::stream(), slow).finish("stop").done()
    };
    let command = |n: usize| json!({ "command": format!("echo {n} >> ran; sleep 0.1") });
    let turn = |n: usize| {
        [
            call_reply(3 * n, "read_file", &json!({ "path": "a.txt" })),
            call_reply(3 * n + 1, "bash_exec", &command(n)),
            reply_text(n),
        ]
    };
    (0..100).flat_map(turn).collect()
}

/// A random number below this.
fn random_below(below: u64) -> u64 {
    RandomState::new().build_hasher().finish() % below
}

/// Sends a message and approves calls, as a user would, until this moment.
fn use_until(program: &mut Program, moment: Instant) {
    let mut is_sent = false;
    while Instant::now() < moment {
        let screen = program.screen();
        if !is_sent && screen.contains("ask mode") {
            program.press_keys("go on\r");
            is_sent = true;
        }
        if screen.contains("Run a command?") && program.has_active_prompt() {
            program.press_keys("y");
        }
        program.wait_ms(8);
    }
}

/// Reads the only session of this home, if any.
fn read_session(root: &Path) -> Option<StoredSession> {
    let mut files = std::fs::read_dir(root.join("home/aye/data/sessions")).ok()?;
    let file = files.next()?.ok()?.path();
    assert!(files.next().is_none(), "there is more than one session");
    Some(read(&file).unwrap())
}

/// Checks that each command that ran was approved before, and ran once.
fn check_commands(root: &Path, entries: &[Entry]) {
    let log = std::fs::read_to_string(root.join("project/ran")).unwrap_or_default();
    let mut seen_before = HashSet::new();
    let session = Session::replay(entries.iter().cloned());
    let decided = |n: &str| {
        entries.iter().any(|entry| match entry {
            Entry::Decided { call, decision: Decision::Once, .. } => {
                let call = session.find_call(call).expect("a decision belongs to a call");
                call.call.arguments.contains(&format!("echo {n} >>"))
            }
            _ => false,
        })
    };
    for n in log.lines() {
        assert!(seen_before.insert(n.to_owned()), "{n} ran twice: {log}");
        assert!(decided(n), "{n} ran, and the session has no approval for it");
    }
}

/// Kills one session again and again; returns its folder.
fn kill_repeatedly(base: &str) -> Arc<Folder> {
    let flags = ["--base-url", base, "--model", "m"];
    let root = Setup::new(&flags).with_file("a.txt", "one\n").root;
    let mut before: Vec<Entry> = Vec::new();
    for kill in 0..kills_per_session() {
        let mut arguments = flags.to_vec();
        arguments.extend(read_session(root.path()).map(|_| "--continue"));
        let mut program = Setup::with_home(&root, &arguments).start();
        // A kill may come before the program is ready; on a slow machine everything after that takes longer too.
        let started = Instant::now();
        if random_below(8) > 0 {
            program.until("ask mode");
        }
        let delay_ms = 80 + random_below(1300 + 4 * started.elapsed().as_millis() as u64);
        use_until(&mut program, Instant::now() + Duration::from_millis(delay_ms));
        assert_eq!(program.try_exit_code(), None, "kill {kill}: {}", program.screen());
        program.signal(Signal::KILL);
        program.wait_for_exit();
        let Some(read) = read_session(root.path()) else { continue };
        assert!(read.entries.starts_with(&before), "kill {kill}: entries were lost");
        assert!(read.notices.len() <= kill + 1, "kill {kill}: {:?}", read.notices);
        before = read.entries;
        check_commands(root.path(), &before);
    }
    root
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r51_killed_at_any_moment_resumes_and_runs_nothing_twice() {
    let running: Vec<_> = (0..SESSIONS)
        .map(|_| {
            tokio::spawn(async {
                let service = Service::start(make_turns()).await;
                let base = service.base_url.clone();
                tokio::task::spawn_blocking(move || kill_repeatedly(&base)).await.unwrap()
            })
        })
        .collect();
    let calm_reply = || Answer::stream().text("Calm.").finish("stop").done();
    let mut settled_count = 0;
    for task in running {
        let place = task.await.unwrap();
        let service = Service::start([calm_reply()]).await;
        let last =
            Setup::with_home(&place, &["-p", "--continue", "--base-url", &service.base_url, "--model", "m", "the end"]);
        let (out, err, code) = tokio::task::spawn_blocking(move || last.run_piped("")).await.unwrap();
        assert_eq!((out.as_str(), code), ("Calm.\n", 0), "{err}");
        let entries = read_session(place.path()).expect("a session was started").entries;
        check_commands(place.path(), &entries);
        let all = Session::replay(entries.iter().cloned());
        assert!(all.open_calls().is_empty() && !all.is_mid_turn());
        let is_settled = |entry: &&Entry| {
            matches!(entry, Entry::Settled { outcome: Outcome::Interrupted(_) | Outcome::Done(_), .. })
        };
        settled_count += entries.iter().filter(is_settled).count();
        check_results(&service.received()[0].body["messages"]);
    }
    assert!(settled_count > SESSIONS, "too few calls were made between the kills");
}

/// Checks that every call in the request has exactly one result.
fn check_results(messages: &Value) {
    let messages = messages.as_array().unwrap();
    let called = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
    let mut called: Vec<&str> = called.map(|call| call["id"].as_str().unwrap()).collect();
    let mut results: Vec<&str> = messages.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    called.sort_unstable();
    results.sort_unstable();
    assert_eq!(called, results);
}
