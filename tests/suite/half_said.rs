//! A program that is killed in the middle of a reply has kept what came of it.

use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::talking::{say, says};
use rustix::process::Signal;
use std::time::Duration;
use tokio::runtime::Runtime;

fn serves(answers: Vec<Answer>) -> (Runtime, Service) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    (runtime, service)
}

/// What the one session file of this program holds.
fn kept(program: &Program) -> String {
    let files = std::fs::read_dir(program.place.path().join("home/aye/data/sessions"));
    let files: Vec<_> = files.into_iter().flatten().flatten().collect();
    files.first().map(|file| std::fs::read_to_string(file.path()).unwrap_or_default()).unwrap_or_default()
}

#[test]
fn r51_a_kill_in_the_middle_of_a_reply_keeps_the_words_that_came() {
    let slow =
        |answer: Answer, n: usize| answer.says(&format!("word{n} ")).then(Step::Pause(Duration::from_millis(100)));
    let stalls = (0..15).fold(Answer::stream(), slow).then(Step::Stall);
    let (_runtime, service) = serves(vec![stalls, says("Calm.")]);
    let flags = ["--base-url", &service.base_url, "--model", "m"];
    let mut program = Setup::new(&flags).start();
    program.until("Connected to");
    say(&mut program, "go on");
    program.until("word14");
    // Nothing more comes, and no one does anything: it is kept all the same.
    program.until_that("the last word is kept", |program| kept(program).contains("word14"));
    // How often it is written is counted in virtual time, where the machine's load says nothing.
    let pieces = kept(&program).matches("\"kind\":\"grown\"").count();
    assert!((1..=15).contains(&pieces), "no more often than something came: {pieces}");
    assert!(!kept(&program).contains("\"replied\""));
    program.signal(Signal::KILL);
    program.ends();
    let place = program.place.clone();
    let (words, _, code) = Setup::again(&place, &["audit"]).print("");
    assert_eq!(code, 0, "{words}");
    let mut program = Setup::again(&place, &[&flags[..], &["--continue"]].concat()).start();
    let screen = program.until("word14");
    assert!(screen.contains("word0 ") && screen.contains("aye exited before it was"), "{screen}");
    assert_eq!(kept(&program).matches("\"kind\":\"replied\"").count(), 1, "now it is a fact");
    say(&mut program, "and now");
    program.until_quiet("Calm.");
    let received = service.received();
    let told = received[1].body["messages"].to_string();
    assert!(told.contains("word14") && told.contains("the reply was cut short here"), "{told}");
}

#[test]
fn r51_without_a_screen_the_words_that_came_are_kept_too() {
    let (_runtime, service) = serves(vec![Answer::stream().says("Half a reply").then(Step::Stall)]);
    let setup = Setup::new(&["-p", "--base-url", &service.base_url, "--model", "m", "go"]);
    let place = setup.place.clone();
    let mut program = setup.start();
    program.until_that("it is kept", |program| kept(program).contains("Half a reply"));
    program.signal(Signal::KILL);
    program.ends();
    let file = std::fs::read_dir(place.path().join("home/aye/data/sessions")).unwrap().next().unwrap();
    let read = aye::store::read(&file.unwrap().path()).unwrap();
    assert_eq!(read.incomplete_count, 1, "{:?}", read.entries);
}

/// Each character of it takes six bytes in the session's file.
#[test]
fn r51_a_complete_reply_of_megabytes_of_escapes_is_read_back_whole_and_sent_once() {
    const PIECES: usize = 6;
    let piece = "\u{1b}".repeat(512 << 10);
    let stream = (0..PIECES).fold(Answer::stream().says("begin "), |answer, _| answer.says(&piece));
    let (_runtime, service) = serves(vec![stream.says(" end").finish("stop").done(), says("Calm.")]);
    let flags = ["-p", "--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&[&flags[..], &["go"]].concat());
    let place = setup.place.clone();
    assert_eq!(setup.print("").2, 0);
    // Somebody put two copies of the session's file one after the other.
    let files = std::fs::read_dir(place.path().join("home/aye/data/sessions"));
    let file = files.unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read(&file).unwrap();
    assert!(text.len() > 6 * PIECES * piece.len(), "{}", text.len());
    let read = aye::store::read(&file).unwrap();
    let whole = format!("begin {} end", piece.repeat(PIECES));
    let is_whole = |entry: &aye::chat::Entry| matches!(entry, aye::chat::Entry::Replied { text, .. } if *text == whole);
    assert_eq!(read.entries.iter().filter(|entry| is_whole(entry)).count(), 1);
    std::fs::write(&file, text.repeat(2)).unwrap();
    let (_, error, code) = Setup::again(&place, &[&flags[..], &["--continue", "and now"]].concat()).print("");
    assert_eq!(code, 0, "{error}");
    let received = service.received();
    let told: Vec<&serde_json::Value> = received[1].body["messages"].as_array().unwrap().iter().collect();
    let roles: Vec<&str> = told.iter().filter_map(|message| message["role"].as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    let reply = told[2]["content"].as_str().unwrap();
    assert!(reply.starts_with("begin ") && reply.ends_with(" end"));
    // The model is sent hidden characters with a mark.
    assert!(reply.contains(&format!("x{}>", PIECES * piece.len())), "{reply}");
}
