//! Talks that outgrow the model's window, in the real program over a real socket.

use crate::support::folder::Folder;
use crate::support::kept::ended;
use crate::support::program::{Program, Setup};
use crate::support::promise::kept;
use crate::support::service::{Answer, Service, Step};
use crate::support::talking::{say, says};
use aye::chat::{Entry, Session};
use aye::store::read;
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Tokens of the small window that these talks outgrow; the words and tools of the program take a part of it.
const WINDOW: u32 = 6_200;

/// Starts the service and the program; with a window, as the settings say it.
fn begins(answers: Vec<Answer>, window: Option<u32>) -> (Runtime, Service, Setup) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    let setup = Setup::new(&["--profile", "small"]).size(100, 30);
    settle(&setup, &service, window);
    (runtime, service, setup)
}

fn settle(setup: &Setup, service: &Service, window: Option<u32>) {
    let config = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let window = window.map(|tokens| format!("context_window = {tokens}\n")).unwrap_or_default();
    let profile = format!("[profiles.small]\nbase_url = \"{}\"\nmodel = \"scripted-7b\"\n{window}", service.base_url);
    std::fs::write(config.join("config.toml"), profile).unwrap();
}

fn starts(setup: Setup) -> Program {
    let mut program = setup.start();
    program.until("ask mode");
    program
}

/// A reply of about so many tokens that begins and ends with its name.
fn long(name: &str, tokens: usize) -> Answer {
    says(&format!("{name}-begins {} {name}-ends", "word ".repeat(tokens)))
}

fn summary() -> Answer {
    says("## What is wanted\nA tea pot in the colour blue.\n\n## Where things stand\nIt is in src/pot.rs:7.")
}

/// A refusal of 9000 tokens, of which so many fit.
fn too_long(fit: u32) -> Answer {
    let words = format!(
        r#"{{"error":{{"message":"This model's maximum context length is {fit} tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}}}"#
    );
    Answer::body(400, "application/json", &[], &words)
}

/// The talk of a request as text, and its size in bytes.
fn told(body: &Value) -> (String, usize) {
    let text = body["messages"].to_string();
    let size = text.len();
    (text, size)
}

fn entries(place: &Path) -> Vec<Entry> {
    let folder = place.join("home/aye/data/sessions");
    let Some(Ok(file)) = std::fs::read_dir(folder).ok().and_then(|mut files| files.next()) else {
        return Vec::new();
    };
    read(&file.path()).unwrap().entries
}

fn summaries(place: &Path) -> usize {
    entries(place).iter().filter(|entry| matches!(entry, Entry::Compacted { .. })).count()
}

/// Says three things with long replies; the fourth would not fit any more.
fn outgrows(program: &mut Program) {
    for (said, seen) in [("make a pot", "one-ends"), ("paint it", "two-ends"), ("never sell it", "three-ends")] {
        say(program, said);
        program.until_quiet(seen);
    }
}

/// Waits until so many requests have come.
fn until_received(program: &mut Program, service: &Service, count: usize) {
    program.until_that(&format!("request {count}"), |_| service.received().len() >= count);
}

fn three() -> Vec<Answer> {
    vec![long("one", 1_500), long("two", 1_500), long("three", 1_500)]
}

#[test]
fn a_long_talk_is_summarised_and_goes_on() {
    let slow = Answer::stream()
        .says("## What is wanted\nA tea pot ")
        .then(Step::Pause(Duration::from_millis(400)))
        .says("in the colour blue.")
        .finish("stop")
        .done();
    let answers = three().into_iter().chain([slow, says("Four it is.")]).collect();
    let (_runtime, service, setup) = begins(answers, Some(WINDOW));
    let place = setup.place.clone();
    let mut program = starts(setup);
    outgrows(&mut program);
    say(&mut program, "and a lid");
    let screen = program.until("summarizing earlier turns…");
    assert!(!screen.contains("A tea pot"), "{screen}");
    let screen = program.until("Four it is.");
    assert!(screen.contains("earlier turns summarized · "), "{screen}");
    assert!(screen.contains("→") && screen.contains("tokens"), "{screen}");
    let received = service.received();
    assert_eq!(received.len(), 5);
    let (asked, _) = told(&received[3].body);
    assert!(asked.contains("one-begins") && asked.contains("make a pot"), "{asked}");
    assert!(received[3].body.get("tools").is_none(), "a summary calls nothing");
    let (before, was) = told(&received[2].body);
    let (after, is) = told(&received[4].body);
    assert!(before.contains("one-ends") && !after.contains("one-ends"), "{after}");
    assert!(is < was, "{is} bytes after {was}");
    for kept in ["A tea pot in the colour blue.", "make a pot", "and a lid"] {
        assert!(after.contains(kept), "{kept} in {after}");
    }
    assert!(received[4].body.get("tools").is_some());
    // It can be read, found and is there again.
    program.keys("\x06");
    program.types("colour blue");
    program.until("A tea pot in the colour blue.");
    program.keys("\x1b");
    program.until_quiet("");
    let kept = entries(place.path());
    assert_eq!(summaries(place.path()), 1);
    let said = |entry: &&Entry| matches!(entry, Entry::UserMessage { .. });
    assert_eq!(kept.iter().filter(said).count(), 4, "nothing is deleted");
    program.keys("\x03");
    program.keys("\x03");
    assert_eq!(program.ends(), 0);
    let mut program = starts(Setup::again(&place, &["--profile", "small", "--continue"]).size(100, 30));
    say(&mut program, "still there?");
    program.until("still there?");
    until_received(&mut program, &service, 6);
    let (again, _) = told(&service.received()[5].body);
    assert!(again.contains("A tea pot in the colour blue.") && !again.contains("one-ends"), "{again}");
}

#[test]
fn the_person_has_it_summarised_by_hand() {
    let (_runtime, service, setup) = begins(vec![long("one", 900), summary(), says("Two.")], None);
    let mut program = starts(setup);
    say(&mut program, "/compact");
    program.until("Nothing to summarize yet");
    say(&mut program, "make a pot");
    program.until_quiet("one-ends");
    say(&mut program, "/compact");
    let screen = program.until_quiet("earlier turns summarized");
    assert!(!screen.contains("## What"), "{screen}");
    say(&mut program, "go on");
    program.until("Two.");
    let (after, _) = told(&service.received()[2].body);
    assert!(after.contains("src/pot.rs:7") && after.contains("make a pot") && after.contains("go on"), "{after}");
    assert!(!after.contains("one-ends"), "{after}");
    assert_eq!(service.received()[2].body["messages"].as_array().unwrap().len(), 2, "{after}");
}

#[test]
fn a_refusal_as_too_long_is_answered_by_a_summary_and_a_second_try() {
    let answers =
        vec![long("one", 900), long("two", 900), too_long(8800), summary(), says("It fits now."), says("And on.")];
    let (_runtime, service, setup) = begins(answers, None);
    let mut program = starts(setup);
    say(&mut program, "make a pot");
    program.until_quiet("one-ends");
    say(&mut program, "paint it");
    program.until_quiet("two-ends");
    say(&mut program, "a lid");
    let screen = program.until("It fits now.");
    assert!(!screen.contains("maximum context length"), "{screen}");
    let received = service.received();
    let (first, first_size) = told(&received[2].body);
    let (second, second_size) = told(&received[4].body);
    assert!(first.contains("one-ends") && !second.contains("one-ends") && second_size < first_size);
    assert!(second.contains("A tea pot in the colour blue.") && second.contains("a lid"), "{second}");
}

#[test]
fn a_service_that_always_refuses_ends_the_turn_with_one_sentence() {
    let (_runtime, service, setup) = begins(vec![long("one", 900), too_long(4096)], None);
    let place = setup.place.clone();
    let mut program = starts(setup);
    say(&mut program, "make a pot");
    program.until_quiet("one-ends");
    say(&mut program, "a lid");
    program.until_quiet("No reply received");
    program.until_that("both turns have ended on disk", |_| ended(&entries(place.path())) == 2);
    program.lets_pass(100);
    assert!(service.received().len() <= 7, "{}", service.received().len());
    assert_eq!(ended(&entries(place.path())), 2);
}

#[test]
fn r62_esc_while_it_summarises_stops_it_at_once() {
    let stalls = Answer::stream().says("## What is wanted\n").then(Step::Stall);
    let answers = three().into_iter().chain([stalls, summary(), says("Four.")]).collect();
    let (_runtime, service, setup) = begins(answers, Some(WINDOW));
    let mut program = starts(setup);
    outgrows(&mut program);
    say(&mut program, "and a lid");
    program.until("summarizing earlier turns…");
    until_received(&mut program, &service, 4);
    let pressed = Instant::now();
    program.keys("\x1b");
    program.until("stopped");
    program.until_that("the connection is closed", |_| service.received()[3].closed_early.is_some());
    let closed = service.received()[3].closed_early.expect("it is closed");
    let took = closed.saturating_duration_since(pressed);
    assert!(kept(Duration::from_millis(500), took), "it was closed after {took:?}");
    say(&mut program, "go on");
    program.until("Four.");
    let (after, _) = told(&service.received()[5].body);
    assert!(after.contains("and a lid") && after.contains("go on"), "what was said is kept: {after}");
}

#[test]
fn killed_while_it_summarises_it_comes_back_with_everything() {
    let stalls = Answer::stream().says("## What is wanted\n").then(Step::Stall);
    let answers = three().into_iter().chain([stalls, summary(), says("Four.")]).collect();
    let (_runtime, service, setup) = begins(answers, Some(WINDOW));
    let place = setup.place.clone();
    let mut program = starts(setup);
    outgrows(&mut program);
    say(&mut program, "and a lid");
    program.until("summarizing earlier turns…");
    until_received(&mut program, &service, 4);
    program.signal(Signal::KILL);
    program.ends();
    let kept = Session::replay(entries(place.path()));
    assert!(matches!(kept.entries().last(), Some(Entry::UserMessage { text }) if text == "and a lid"));
    let mut program = starts(Setup::again(&place, &["--profile", "small", "--continue"]).size(100, 30));
    say(&mut program, "go on");
    program.until("Four.");
    assert_eq!(summaries(place.path()), 1);
    let (after, _) = told(&service.received()[5].body);
    assert!(after.contains("A tea pot in the colour blue.") && after.contains("go on"), "{after}");
}

#[test]
fn a_summary_that_fails_is_told_and_nothing_is_lost() {
    let refusal = Answer::body(403, "application/json", &[], r#"{"error":{"message":"not today"}}"#);
    let answers = three().into_iter().chain([refusal, summary(), says("Four.")]).collect();
    let (_runtime, _service, setup) = begins(answers, Some(WINDOW));
    let mut program = starts(setup);
    outgrows(&mut program);
    say(&mut program, "and a lid");
    let screen = program.until("Cannot summarize the session");
    assert!(screen.contains("not today"), "{screen}");
    say(&mut program, "try again");
    program.until("Four.");
}

/// Without a screen the same.
#[test]
fn without_a_screen_a_long_talk_is_summarised_as_well() {
    let answers = three().into_iter().chain([summary(), says("Four.")]).collect();
    let (_runtime, service, setup) = begins(answers, Some(WINDOW));
    let place: Arc<Folder> = setup.place.clone();
    for (number, said) in ["make a pot", "paint it", "never sell it", "and a lid"].into_iter().enumerate() {
        let mut arguments = vec!["--profile", "small", "-p"];
        arguments.extend((number > 0).then_some("--continue"));
        arguments.extend((number == 3).then_some("--json"));
        arguments.push(said);
        let (out, err, code) = Setup::again(&place, &arguments).print("");
        assert_eq!(code, 0, "{out}{err}");
        if number == 3 {
            let kinds: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert!(kinds.iter().any(|line| line["kind"] == "compacted"), "{out}");
            assert!(out.contains("Four.") && err.contains("earlier messages were summarised"), "{out}{err}");
        }
    }
    let (after, _) = told(&service.received()[4].body);
    assert!(after.contains("A tea pot in the colour blue.") && after.contains("and a lid"), "{after}");
}

#[test]
fn the_window_is_learned_from_the_service_and_its_share_is_shown_where_nothing_was_counted() {
    let list = r#"{"object":"list","data":[{"id":"scripted-7b","max_model_len":20000}]}"#;
    let uncounted = || Answer::stream().says("Hello.").finish("stop").done();
    let answers = vec![uncounted(), Answer::body(200, "application/json", &[], list), uncounted()];
    let (_runtime, _service, setup) = begins(answers, None);
    let mut program = starts(setup);
    say(&mut program, "hello");
    program.until("Hello.");
    program.until("ctx ~");
}
