//! Session titles by the model, in the real program over a real socket.

use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step, TITLE};
use crate::support::terminal_session::{submit_message, text_answer};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Delay of a slow title.
const SLOW: Duration = Duration::from_millis(1000);

/// Starts a service that replies with `answers` and answers each title request with `title`, and the program.
fn start(answers: Vec<Answer>, title: Answer, extra_arguments: &[&str]) -> (Runtime, Service, Program) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start_with_title(answers, title));
    let mut arguments = vec!["--base-url", service.base_url.as_str(), "--model", "scripted-7b"];
    arguments.extend(extra_arguments);
    let mut program = Setup::new(&arguments).size(100, 24).start();
    program.until("ask mode");
    (runtime, service, program)
}

fn title_reply(text: &str) -> Answer {
    Answer::stream().text(text).finish("stop").done()
}

/// Waits until this many titles were requested.
fn wait_for_title_request(program: &mut Program, service: &Service, count: usize) {
    program.until_condition("a title is requested", |_| service.titles().len() >= count);
}

#[test]
fn model_titles_the_session_after_its_first_turn() {
    let (_runtime, service, mut program) = start(vec![text_answer("It is the clock.")], title_reply(TITLE), &[]);
    submit_message(&mut program, "why is the test flaky?");
    program.until("It is the clock.");
    program.until(TITLE);
    let request = &service.titles()[0].body;
    assert!(request.get("tools").is_none());
    let messages = request["messages"].to_string();
    assert!(messages.contains("why is the test flaky?") && messages.contains("It is the clock."), "{messages}");
    submit_message(&mut program, "sure?");
    program.until_condition("the second turn starts", |_| service.received().len() == 2);
    program.until_idle("sure?");
    program.wait_ms(200);
    assert_eq!(service.titles().len(), 1, "the title is requested once");
    assert_eq!(service.received().len(), 2);
    program.press_keys("\x03");
    program.press_keys("\x03");
    program.wait_for_exit();
    assert!(program.screen().contains(TITLE), "{}", program.screen());
}

#[test]
fn title_of_the_user_wins_over_a_pending_title_of_the_model() {
    let slow = Answer::stream().with_step(Step::Pause(SLOW)).text(TITLE).finish("stop").done();
    let (_runtime, service, mut program) = start(vec![text_answer("It is the clock.")], slow, &[]);
    submit_message(&mut program, "why is the test flaky?");
    wait_for_title_request(&mut program, &service, 1);
    // Pasted, because typing would take a while.
    program.press_keys("\x1b[200~/title mine alone\x1b[201~");
    program.press_keys("\r");
    program.until("aye · mine alone");
    program.wait_ms(SLOW.as_millis() as u64 + 100);
    let screen = program.screen();
    assert!(screen.contains("aye · mine alone") && !screen.contains(TITLE), "{screen}");
}

#[test]
fn next_message_cancels_the_title_request() {
    let stalled = Answer::stream().text("A ti").with_step(Step::Stall);
    let (_runtime, service, mut program) = start(vec![text_answer("One."), text_answer("Two.")], stalled, &[]);
    submit_message(&mut program, "first");
    wait_for_title_request(&mut program, &service, 1);
    program.type_text("second");
    program.until("❯ second");
    assert_eq!(service.titles()[0].closed_early, None);
    program.press_keys("\r");
    program.until_condition("the socket is closed", |_| service.titles()[0].closed_early.is_some());
    program.until("Two.");
    let screen = program.screen();
    assert!(screen.contains("aye · first"), "the first message stays the title: {screen}");
}

#[test]
fn endless_title_is_cut_off() {
    let endless = (0..400).fold(Answer::stream(), |answer, _| answer.text("words ")).with_step(Step::Stall);
    let (_runtime, service, mut program) = start(vec![text_answer("One.")], endless, &[]);
    submit_message(&mut program, "first");
    wait_for_title_request(&mut program, &service, 1);
    program.until_condition("the connection is closed", |_| service.titles()[0].closed_early.is_some());
    program.wait_ms(100);
    assert!(program.screen().contains("aye · first"), "the endless title was used");
}

#[test]
fn failed_title_request_is_silent() {
    let refusal = Answer::body(500, "application/json", &[], r#"{"error":{"message":"no titles here"}}"#);
    let (_runtime, service, mut program) = start(vec![text_answer("One."), text_answer("Two.")], refusal, &[]);
    submit_message(&mut program, "first");
    wait_for_title_request(&mut program, &service, 1);
    program.wait_ms(300);
    let screen = program.screen();
    assert!(screen.contains("aye · first") && !screen.contains("no titles here"), "{screen}");
    assert_eq!(service.titles().len(), 1, "the request was retried");
    submit_message(&mut program, "second");
    program.until("Two.");
}

#[test]
fn hostile_titles_are_one_plain_line() {
    let hostile = "\u{1b}]0;owned\u{7}**\"Evil\u{202e} name\"**\nrm -rf /";
    let (_runtime, _service, mut program) = start(vec![text_answer("One.")], title_reply(hostile), &[]);
    submit_message(&mut program, "first");
    let screen = program.until("Evil name");
    assert!(!screen.contains("rm -rf"), "{screen}");
    let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
    assert!(!bytes.contains("\u{1b}]0;owned") && !bytes.contains('\u{202e}'));
}

#[test]
fn no_title_request_in_headless_mode_or_if_disabled() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([text_answer("One.")]));
    let arguments = ["--base-url", service.base_url.as_str(), "--model", "m"];
    let (out, _, _) = Setup::new(&[&arguments[..], &["-p", "hello"]].concat()).run_piped("");
    assert_eq!(out, "One.\n");
    let setup = Setup::new(&arguments).size(100, 24);
    let config = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[model]\ntitles = false\n").unwrap();
    let mut program = setup.start();
    program.until("ask mode");
    submit_message(&mut program, "first");
    program.until("One.");
    program.wait_ms(300);
    assert!(service.titles().is_empty());
}
