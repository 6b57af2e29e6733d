//! Sessions that outgrow the context window of the model, in the real program over a real socket.

use crate::support::folder::Folder;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::count_ended_turns;
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::time_limits::is_within_limit;
use aye::chat::{Entry, Session};
use aye::store::read;
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Size of a small context window in tokens; system prompt and tools take a part of it.
const WINDOW: u32 = 7_300;

/// Starts the service and sets up the program, with a context window in the settings if given.
fn start_service(answers: Vec<Answer>, window: Option<u32>) -> (Runtime, Service, Setup) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    let setup = Setup::new(&["--profile", "small"]).size(100, 30);
    write_settings(&setup, &service, window);
    (runtime, service, setup)
}

fn write_settings(setup: &Setup, service: &Service, window: Option<u32>) {
    let config = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let window = window.map(|tokens| format!("context_window = {tokens}\n")).unwrap_or_default();
    let profile = format!("[profiles.small]\nbase_url = \"{}\"\nmodel = \"scripted-7b\"\n{window}", service.base_url);
    std::fs::write(config.join("config.toml"), profile).unwrap();
}

fn start_session(setup: Setup) -> Program {
    let mut program = setup.start();
    program.until("ask mode");
    program
}

/// A reply of about this many tokens that begins and ends with its name.
fn long_reply(name: &str, tokens: usize) -> Answer {
    text_answer(&format!("{name}-begins {} {name}-ends", "word ".repeat(tokens)))
}

fn summary_reply() -> Answer {
    text_answer("## What is wanted\nA tea pot in the colour blue.\n\n## Where things stand\nIt is in src/pot.rs:7.")
}

/// A provider error for a request of 9000 tokens, with this many as the limit.
fn too_long_error(fit: u32) -> Answer {
    let text = format!(
        r#"{{"error":{{"message":"This model's maximum context length is {fit} tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}}}"#
    );
    Answer::body(400, "application/json", &[], &text)
}

/// The messages of a request as text, and their size in bytes.
fn read_messages(body: &Value) -> (String, usize) {
    let text = body["messages"].to_string();
    let size = text.len();
    (text, size)
}

fn read_entries(root: &Path) -> Vec<Entry> {
    let folder = root.join("home/aye/data/sessions");
    let Some(Ok(file)) = std::fs::read_dir(folder).ok().and_then(|mut files| files.next()) else {
        return Vec::new();
    };
    read(&file.path()).unwrap().entries
}

fn count_summaries(root: &Path) -> usize {
    read_entries(root).iter().filter(|entry| matches!(entry, Entry::Compacted { .. })).count()
}

/// Sends three messages with long replies; a fourth would not fit.
fn fill_window(program: &mut Program) {
    for (message, seen) in [("make a pot", "one-ends"), ("paint it", "two-ends"), ("never sell it", "three-ends")] {
        submit_message(program, message);
        program.until_idle(seen);
    }
}

/// Waits for this many requests.
fn until_received(program: &mut Program, service: &Service, count: usize) {
    program.until_condition(&format!("request {count}"), |_| service.received().len() >= count);
}

fn three_long_replies() -> Vec<Answer> {
    vec![long_reply("one", 1_500), long_reply("two", 1_500), long_reply("three", 1_500)]
}

#[test]
fn summarizes_a_long_session_and_continues() {
    let slow = Answer::stream()
        .text("## What is wanted\nA tea pot ")
        .with_step(Step::Pause(Duration::from_millis(400)))
        .text("in the colour blue.")
        .finish("stop")
        .done();
    let answers = three_long_replies().into_iter().chain([slow, text_answer("Four it is.")]).collect();
    let (_runtime, service, setup) = start_service(answers, Some(WINDOW));
    let root = setup.root.clone();
    let mut program = start_session(setup);
    fill_window(&mut program);
    submit_message(&mut program, "and a lid");
    let screen = program.until("summarizing earlier turns…");
    assert!(!screen.contains("A tea pot"), "{screen}");
    let screen = program.until("Four it is.");
    assert!(screen.contains("earlier turns summarized · "), "{screen}");
    assert!(screen.contains("→") && screen.contains("tokens"), "{screen}");
    let received = service.received();
    assert_eq!(received.len(), 5);
    let (asked, _) = read_messages(&received[3].body);
    assert!(asked.contains("one-begins") && asked.contains("make a pot"), "{asked}");
    assert!(received[3].body.get("tools").is_none(), "a summary request offers no tools");
    let (before, size_before) = read_messages(&received[2].body);
    let (after, size_after) = read_messages(&received[4].body);
    assert!(before.contains("one-ends") && !after.contains("one-ends"), "{after}");
    assert!(size_after < size_before, "{size_after} bytes after {size_before}");
    for kept in ["A tea pot in the colour blue.", "make a pot", "and a lid"] {
        assert!(after.contains(kept), "{kept} in {after}");
    }
    assert!(received[4].body.get("tools").is_some());
    // The summary can be read and found, and is there after a resume.
    program.press_keys("\x06");
    program.type_text("colour blue");
    program.until("A tea pot in the colour blue.");
    program.press_keys("\x1b");
    program.until_idle("");
    let stored = read_entries(root.path());
    assert_eq!(count_summaries(root.path()), 1);
    let message = |entry: &&Entry| matches!(entry, Entry::UserMessage { .. });
    assert_eq!(stored.iter().filter(message).count(), 4, "nothing is deleted");
    program.press_keys("\x03");
    program.press_keys("\x03");
    assert_eq!(program.wait_for_exit(), 0);
    let mut program = start_session(Setup::with_home(&root, &["--profile", "small", "--continue"]).size(100, 30));
    submit_message(&mut program, "still there?");
    program.until("still there?");
    until_received(&mut program, &service, 6);
    let (again, _) = read_messages(&service.received()[5].body);
    assert!(again.contains("A tea pot in the colour blue.") && !again.contains("one-ends"), "{again}");
}

#[test]
fn compact_command_summarizes_the_session() {
    let (_runtime, service, setup) =
        start_service(vec![long_reply("one", 900), summary_reply(), text_answer("Two.")], None);
    let mut program = start_session(setup);
    submit_message(&mut program, "/compact");
    program.until("Nothing to summarize yet");
    submit_message(&mut program, "make a pot");
    program.until_idle("one-ends");
    submit_message(&mut program, "/compact");
    let screen = program.until_idle("earlier turns summarized");
    assert!(!screen.contains("## What"), "{screen}");
    submit_message(&mut program, "go on");
    program.until("Two.");
    let (after, _) = read_messages(&service.received()[2].body);
    assert!(after.contains("src/pot.rs:7") && after.contains("make a pot") && after.contains("go on"), "{after}");
    assert!(!after.contains("one-ends"), "{after}");
    assert_eq!(service.received()[2].body["messages"].as_array().unwrap().len(), 2, "{after}");
}

#[test]
fn summarizes_and_retries_if_the_provider_rejects_a_long_request() {
    let answers = vec![
        long_reply("one", 900),
        long_reply("two", 900),
        too_long_error(8800),
        summary_reply(),
        text_answer("It fits now."),
        text_answer("And on."),
    ];
    let (_runtime, service, setup) = start_service(answers, None);
    let mut program = start_session(setup);
    submit_message(&mut program, "make a pot");
    program.until_idle("one-ends");
    submit_message(&mut program, "paint it");
    program.until_idle("two-ends");
    submit_message(&mut program, "a lid");
    let screen = program.until("It fits now.");
    assert!(!screen.contains("maximum context length"), "{screen}");
    let received = service.received();
    let (first, first_size) = read_messages(&received[2].body);
    let (second, second_size) = read_messages(&received[4].body);
    assert!(first.contains("one-ends") && !second.contains("one-ends") && second_size < first_size);
    assert!(second.contains("A tea pot in the colour blue.") && second.contains("a lid"), "{second}");
}

#[test]
fn ends_the_turn_if_the_provider_rejects_every_request() {
    let (_runtime, service, setup) = start_service(vec![long_reply("one", 900), too_long_error(4096)], None);
    let root = setup.root.clone();
    let mut program = start_session(setup);
    submit_message(&mut program, "make a pot");
    program.until_idle("one-ends");
    submit_message(&mut program, "a lid");
    program.until_idle("No reply received");
    program.until_condition("both turns have ended on disk", |_| count_ended_turns(&read_entries(root.path())) == 2);
    program.wait_ms(100);
    assert!(service.received().len() <= 7, "{}", service.received().len());
    assert_eq!(count_ended_turns(&read_entries(root.path())), 2);
}

#[test]
fn r62_esc_stops_a_summary_at_once() {
    let stalls = Answer::stream().text("## What is wanted\n").with_step(Step::Stall);
    let answers = three_long_replies().into_iter().chain([stalls, summary_reply(), text_answer("Four.")]).collect();
    let (_runtime, service, setup) = start_service(answers, Some(WINDOW));
    let mut program = start_session(setup);
    fill_window(&mut program);
    submit_message(&mut program, "and a lid");
    program.until("summarizing earlier turns…");
    until_received(&mut program, &service, 4);
    let pressed = Instant::now();
    program.press_keys("\x1b");
    program.until("stopped");
    program.until_condition("the connection is closed", |_| service.received()[3].closed_early.is_some());
    let closed = service.received()[3].closed_early.expect("it is closed");
    let elapsed = closed.saturating_duration_since(pressed);
    assert!(is_within_limit(Duration::from_millis(500), elapsed), "it was closed after {elapsed:?}");
    submit_message(&mut program, "go on");
    program.until("Four.");
    let (after, _) = read_messages(&service.received()[5].body);
    assert!(after.contains("and a lid") && after.contains("go on"), "the messages are kept: {after}");
}

#[test]
fn killed_during_a_summary_resumes_without_loss() {
    let stalls = Answer::stream().text("## What is wanted\n").with_step(Step::Stall);
    let answers = three_long_replies().into_iter().chain([stalls, summary_reply(), text_answer("Four.")]).collect();
    let (_runtime, service, setup) = start_service(answers, Some(WINDOW));
    let root = setup.root.clone();
    let mut program = start_session(setup);
    fill_window(&mut program);
    submit_message(&mut program, "and a lid");
    program.until("summarizing earlier turns…");
    until_received(&mut program, &service, 4);
    program.signal(Signal::KILL);
    program.wait_for_exit();
    let stored = Session::replay(read_entries(root.path()));
    assert!(matches!(stored.entries().last(), Some(Entry::UserMessage { text }) if text == "and a lid"));
    let mut program = start_session(Setup::with_home(&root, &["--profile", "small", "--continue"]).size(100, 30));
    submit_message(&mut program, "go on");
    program.until("Four.");
    assert_eq!(count_summaries(root.path()), 1);
    let (after, _) = read_messages(&service.received()[5].body);
    assert!(after.contains("A tea pot in the colour blue.") && after.contains("go on"), "{after}");
}

#[test]
fn reports_a_failed_summary_and_loses_nothing() {
    let refusal = Answer::body(403, "application/json", &[], r#"{"error":{"message":"not today"}}"#);
    let answers = three_long_replies().into_iter().chain([refusal, summary_reply(), text_answer("Four.")]).collect();
    let (_runtime, _service, setup) = start_service(answers, Some(WINDOW));
    let mut program = start_session(setup);
    fill_window(&mut program);
    submit_message(&mut program, "and a lid");
    let screen = program.until("Cannot summarize the session");
    assert!(screen.contains("not today"), "{screen}");
    submit_message(&mut program, "try again");
    program.until("Four.");
}

/// Headless: each message is sent by another run of the program.
#[test]
fn summarizes_a_long_session_without_a_screen() {
    let answers = three_long_replies().into_iter().chain([summary_reply(), text_answer("Four.")]).collect();
    let (_runtime, service, setup) = start_service(answers, Some(WINDOW));
    let root: Arc<Folder> = setup.root.clone();
    for (number, message) in ["make a pot", "paint it", "never sell it", "and a lid"].into_iter().enumerate() {
        let mut arguments = vec!["--profile", "small", "-p"];
        arguments.extend((number > 0).then_some("--continue"));
        arguments.extend((number == 3).then_some("--json"));
        arguments.push(message);
        let (out, err, code) = Setup::with_home(&root, &arguments).run_piped("");
        assert_eq!(code, 0, "{out}{err}");
        if number == 3 {
            let kinds: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert!(kinds.iter().any(|line| line["kind"] == "compacted"), "{out}");
            assert!(out.contains("Four.") && err.contains("earlier messages were summarised"), "{out}{err}");
        }
    }
    let (after, _) = read_messages(&service.received()[4].body);
    assert!(after.contains("A tea pot in the colour blue.") && after.contains("and a lid"), "{after}");
}

#[test]
fn learns_the_context_window_from_the_provider_and_estimates_its_use() {
    let list = r#"{"object":"list","data":[{"id":"scripted-7b","max_model_len":20000}]}"#;
    let reply_without_usage = || Answer::stream().text("Hello.").finish("stop").done();
    let answers = vec![reply_without_usage(), Answer::body(200, "application/json", &[], list), reply_without_usage()];
    let (_runtime, _service, setup) = start_service(answers, None);
    let mut program = start_session(setup);
    submit_message(&mut program, "hello");
    program.until("Hello.");
    // The share is shown only if the window is known; `~` marks an estimate.
    program.until("ctx ~");
}
