//! Session titles by the model, in the real program over a real socket.

use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step, TITLE};
use crate::support::terminal_session::{say, says};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Delay of a slow title.
const SLOW: Duration = Duration::from_millis(1000);

fn start(answers: Vec<Answer>, title: Answer, more: &[&str]) -> (Runtime, Service, Program) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start_with_title(answers, title));
    let mut arguments = vec!["--base-url", service.base_url.as_str(), "--model", "scripted-7b"];
    arguments.extend(more);
    let mut program = Setup::new(&arguments).size(100, 24).start();
    program.until("ask mode");
    (runtime, service, program)
}

fn title_reply(text: &str) -> Answer {
    Answer::stream().says(text).finish("stop").done()
}

/// Waits until this many titles were requested.
fn until_title_requested(program: &mut Program, service: &Service, count: usize) {
    program.until_that("a title is requested", |_| service.titles().len() >= count);
}

#[test]
fn model_titles_the_session_after_its_first_turn() {
    let (_runtime, service, mut program) = start(vec![says("It is the clock.")], title_reply(TITLE), &[]);
    say(&mut program, "why is the test flaky?");
    program.until("It is the clock.");
    program.until(TITLE);
    let asked = &service.titles()[0].body;
    assert!(asked.get("tools").is_none());
    let messages = asked["messages"].to_string();
    assert!(messages.contains("why is the test flaky?") && messages.contains("It is the clock."), "{messages}");
    say(&mut program, "sure?");
    program.until_that("the second turn start", |_| service.received().len() == 2);
    program.until_quiet("sure?");
    program.wait_ms(200);
    assert_eq!(service.titles().len(), 1, "the title is requested once");
    assert_eq!(service.received().len(), 2);
    program.keys("\x03");
    program.keys("\x03");
    program.wait_for_exit();
    assert!(program.screen().contains(TITLE), "{}", program.screen());
}

#[test]
fn title_of_the_user_wins_over_a_pending_title_of_the_model() {
    let slow = Answer::stream().then(Step::Pause(SLOW)).says(TITLE).finish("stop").done();
    let (_runtime, service, mut program) = start(vec![says("It is the clock.")], slow, &[]);
    say(&mut program, "why is the test flaky?");
    until_title_requested(&mut program, &service, 1);
    // Pasted, because typing would take a while.
    program.keys("\x1b[200~/title mine alone\x1b[201~");
    program.keys("\r");
    program.until("aye · mine alone");
    program.wait_ms(SLOW.as_millis() as u64 + 100);
    let screen = program.screen();
    assert!(screen.contains("aye · mine alone") && !screen.contains(TITLE), "{screen}");
}

#[test]
fn next_message_cancels_the_title_request() {
    let stalled = Answer::stream().says("A ti").then(Step::Stall);
    let (_runtime, service, mut program) = start(vec![says("One."), says("Two.")], stalled, &[]);
    say(&mut program, "first");
    until_title_requested(&mut program, &service, 1);
    program.types("second");
    program.until("❯ second");
    assert_eq!(service.titles()[0].closed_early, None);
    program.keys("\r");
    program.until_that("the socket is closed", |_| service.titles()[0].closed_early.is_some());
    program.until("Two.");
    let screen = program.screen();
    assert!(screen.contains("aye · first"), "the first message stays the title: {screen}");
}

#[test]
fn endless_title_is_cut_off() {
    let endless = (0..400).fold(Answer::stream(), |answer, _| answer.says("words ")).then(Step::Stall);
    let (_runtime, service, mut program) = start(vec![says("One.")], endless, &[]);
    say(&mut program, "first");
    until_title_requested(&mut program, &service, 1);
    program.until_that("the connection is closed", |_| service.titles()[0].closed_early.is_some());
    program.wait_ms(100);
    assert!(program.screen().contains("aye · first"), "the endless title was used");
}

#[test]
fn failed_title_request_is_silent() {
    let refusal = Answer::body(500, "application/json", &[], r#"{"error":{"message":"no titles here"}}"#);
    let (_runtime, service, mut program) = start(vec![says("One."), says("Two.")], refusal, &[]);
    say(&mut program, "first");
    until_title_requested(&mut program, &service, 1);
    program.wait_ms(300);
    let screen = program.screen();
    assert!(screen.contains("aye · first") && !screen.contains("no titles here"), "{screen}");
    assert_eq!(service.titles().len(), 1, "the request was retried");
    say(&mut program, "second");
    program.until("Two.");
}

#[test]
fn hostile_titles_are_one_plain_line() {
    let hostile = "\u{1b}]0;owned\u{7}**\"Evil\u{202e} name\"**\nrm -rf /";
    let (_runtime, _service, mut program) = start(vec![says("One.")], title_reply(hostile), &[]);
    say(&mut program, "first");
    let screen = program.until("Evil name");
    assert!(!screen.contains("rm -rf"), "{screen}");
    let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
    assert!(!bytes.contains("\u{1b}]0;owned") && !bytes.contains('\u{202e}'));
}

#[test]
fn no_title_request_in_headless_mode_or_if_disabled() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([says("One.")]));
    let arguments = ["--base-url", service.base_url.as_str(), "--model", "m"];
    let (out, _, _) = Setup::new(&[&arguments[..], &["-p", "hello"]].concat()).print("");
    assert_eq!(out, "One.\n");
    let setup = Setup::new(&arguments).size(100, 24);
    let config = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[model]\ntitles = false\n").unwrap();
    let mut program = setup.start();
    program.until("ask mode");
    say(&mut program, "first");
    program.until("One.");
    program.wait_ms(300);
    assert!(service.titles().is_empty());
}
