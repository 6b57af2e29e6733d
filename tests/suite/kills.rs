//! The real program killed again and again in the middle of streams, tool calls and approvals: it always comes back,
//! nothing before the record in flight is lost, and nothing runs twice.

use crate::support::folder::Folder;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::{measured, often};
use aye::chat::{Decision, Entry, Outcome, Session};
use aye::store::{StoredSession, read};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sessions that are killed side by side.
const SESSIONS: usize = 3;

/// How often each is killed. `AYE_TEST_TRIALS=200 cargo test --test suite r51_killed_at_any_moment` kills two hundred times.
fn kills() -> usize {
    measured().unwrap_or_else(|| SESSIONS * often(20, 4)).div_ceil(SESSIONS)
}

fn call(id: usize, name: &str, arguments: &Value) -> Answer {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let delta = json!({ "tool_calls": [{ "index": 0, "id": format!("c{id}"), "function": function }] });
    Answer::stream()
        .says("I look. ")
        .then(Step::Pause(Duration::from_millis(40)))
        .event(json!({ "choices": [{ "index": 0, "delta": delta }] }))
        .finish("tool_calls")
        .done()
}

/// Turns without end: a read, a command that leaves its number behind, and words that come slowly, some of them for
/// seconds.
fn turns() -> Vec<Answer> {
    let words = |turn: usize| {
        let pause = Duration::from_millis(if turn.is_multiple_of(3) { 180 } else { 15 });
        let slow = |answer: Answer, n: usize| answer.says(&format!("word {n} ")).then(Step::Pause(pause));
        (0..15).fold(Answer::stream(), slow).finish("stop").done()
    };
    let command = |n: usize| json!({ "command": format!("echo {n} >> ran; sleep 0.1") });
    let turn = |n: usize| {
        [call(3 * n, "read_file", &json!({ "path": "a.txt" })), call(3 * n + 1, "bash_exec", &command(n)), words(n)]
    };
    (0..100).flat_map(turn).collect()
}

/// A number below this, by chance.
fn chance(below: u64) -> u64 {
    RandomState::new().build_hasher().finish() % below
}

/// Says something and approves what is asked, as a person would, until the moment comes.
fn play_until(program: &mut Program, moment: Instant) {
    let mut said = false;
    while Instant::now() < moment {
        let screen = program.screen();
        if !said && screen.contains("ask mode") {
            program.keys("go on\r");
            said = true;
        }
        if screen.contains("run a command?") && program.is_asked() {
            program.keys("y");
        }
        program.lets_pass(8);
    }
}

/// The one session of this home, where it has begun.
fn session(place: &Path) -> Option<StoredSession> {
    let mut files = std::fs::read_dir(place.join("home/aye/data/sessions")).ok()?;
    let file = files.next()?.ok()?.path();
    assert!(files.next().is_none(), "there is one session");
    Some(read(&file).unwrap())
}

/// What ran was decided before it ran, and ran once.
fn check_commands(place: &Path, entries: &[Entry]) {
    let ran = std::fs::read_to_string(place.join("project/ran")).unwrap_or_default();
    let mut once = HashSet::new();
    let session = Session::replay(entries.iter().cloned());
    let decided = |n: &str| {
        entries.iter().any(|entry| match entry {
            Entry::Decided { call, decision: Decision::Once, .. } => {
                let call = session.call(call).expect("what was decided was called");
                call.call.arguments.contains(&format!("echo {n} >>"))
            }
            _ => false,
        })
    };
    for n in ran.lines() {
        assert!(once.insert(n.to_owned()), "{n} ran twice: {ran}");
        assert!(decided(n), "{n} ran, and the session does not know that it was allowed");
    }
}

/// Kills one session again and again; where it lived.
fn siege(base: &str) -> Arc<Folder> {
    let flags = ["--base-url", base, "--model", "m"];
    let place = Setup::new(&flags).has("a.txt", "one\n").place;
    let mut before: Vec<Entry> = Vec::new();
    for kill in 0..kills() {
        let mut arguments = flags.to_vec();
        arguments.extend(session(place.path()).map(|_| "--continue"));
        let mut program = Setup::again(&place, &arguments).start();
        // One kill in a few may come before it is ready; a busy machine is as much longer at everything behind that.
        let began = Instant::now();
        if chance(8) > 0 {
            program.until("ask mode");
        }
        let moment = 80 + chance(1300 + 4 * began.elapsed().as_millis() as u64);
        play_until(&mut program, Instant::now() + Duration::from_millis(moment));
        assert_eq!(program.ends_early(), None, "kill {kill}: {}", program.screen());
        program.signal(Signal::KILL);
        program.ends();
        let Some(read) = session(place.path()) else { continue };
        assert!(read.entries.starts_with(&before), "kill {kill}: something was lost");
        assert!(read.notices.len() <= kill + 1, "kill {kill}: {:?}", read.notices);
        before = read.entries;
        check_commands(place.path(), &before);
    }
    place
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r51_killed_at_any_moment_it_always_comes_back_and_runs_nothing_twice() {
    let running: Vec<_> = (0..SESSIONS)
        .map(|_| {
            tokio::spawn(async {
                let service = Service::start(turns()).await;
                let base = service.base_url.clone();
                tokio::task::spawn_blocking(move || siege(&base)).await.unwrap()
            })
        })
        .collect();
    let calm = || Answer::stream().says("Calm.").finish("stop").done();
    let mut commands = 0;
    for session_killed in running {
        let place = session_killed.await.unwrap();
        let service = Service::start([calm()]).await;
        let last =
            Setup::again(&place, &["-p", "--continue", "--base-url", &service.base_url, "--model", "m", "the end"]);
        let (out, err, code) = tokio::task::spawn_blocking(move || last.print("")).await.unwrap();
        assert_eq!((out.as_str(), code), ("Calm.\n", 0), "{err}");
        let entries = session(place.path()).expect("it was begun").entries;
        check_commands(place.path(), &entries);
        let all = Session::replay(entries.iter().cloned());
        assert!(all.open_calls().is_empty() && !all.is_mid_turn());
        let unknown = |entry: &&Entry| {
            matches!(entry, Entry::Settled { outcome: Outcome::Interrupted(_) | Outcome::Done(_), .. })
        };
        commands += entries.iter().filter(unknown).count();
        answered_once(&service.received()[0].body["messages"]);
    }
    assert!(commands > SESSIONS, "the kills came while there was something to kill");
}

/// Every call of the talk is followed by exactly one outcome.
fn answered_once(messages: &Value) {
    let messages = messages.as_array().unwrap();
    let called = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
    let mut called: Vec<&str> = called.map(|call| call["id"].as_str().unwrap()).collect();
    let mut told: Vec<&str> = messages.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    called.sort_unstable();
    told.sort_unstable();
    assert_eq!(called, told);
}
