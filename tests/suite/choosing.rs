//! Whom the program talks to: models and profiles changed in a running session, kept, and come back to.

use crate::support::kept::{ALONE, holders};
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::talking::{say, says};
use serde_json::Value;
use std::path::PathBuf;
use tokio::runtime::Runtime;

const KEY_ONE: &str = "sk-first-1234567890";
const KEY_TWO: &str = "sk-second-1234567890";

fn list(body: &str) -> Answer {
    Answer::body(200, "application/json", &[], body)
}

fn serves(runtime: &Runtime, answers: Vec<Answer>) -> Service {
    runtime.block_on(Service::start(answers))
}

fn settings(setup: &Setup) -> PathBuf {
    setup.place.path().join("home/aye/config/config.toml")
}

fn write(setup: &Setup, text: &str) {
    let file = settings(setup);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

fn profiles(one: &Service, two: &Service) -> String {
    format!(
        "# mine\n[model]\nprofile = \"one\" # for now\n\n[profiles.one]\nbase_url = \"{}\"\nkey_env = \"KEY_ONE\"\nmodel = \"a1\"\n\n[profiles.two]\nbase_url = \"{}\"\nkey_env = \"KEY_TWO\"\nmodel = \"b1\"\n",
        one.base_url, two.base_url
    )
}

fn keyed(setup: Setup) -> Setup {
    setup.env("KEY_ONE", KEY_ONE).env("KEY_TWO", KEY_TWO)
}

/// What was said to a service in its requests for replies: the model, and each message in a word.
fn told(service: &Service) -> Vec<String> {
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    let all = service.received().into_iter().filter(|request| request.line.starts_with("POST"));
    all.map(|request| {
        let messages: Vec<String> = request.body["messages"].as_array().unwrap()[1..].iter().map(text).collect();
        format!("{}: {}", request.body["model"].as_str().unwrap(), messages.join(" | "))
    })
    .collect()
}

fn ready(mut program: Program) -> Program {
    program.until("Connected to");
    program
}

/// Leaves once the reply is whole.
fn leave(program: &mut Program) {
    program.until_quiet("");
    program.keys("\x04");
    program.ends();
}

#[test]
fn the_model_and_then_the_profile_are_changed_and_the_talk_goes_on() {
    let runtime = Runtime::new().unwrap();
    let models = r#"{"data":[{"id":"a1","context_length":128000,"pricing":{"prompt":"0.00000025","completion":"0.000002"}},{"id":"a2"},{"id":"embed-1"}]}"#;
    let one = serves(&runtime, vec![says("One."), list(models), says("Two."), list(models), says("never")]);
    let two = serves(&runtime, vec![says("Three."), says("Four.")]);
    let setup = keyed(Setup::new(&[]));
    write(&setup, &profiles(&one, &two));
    let mut program = ready(setup.size(100, 30).start());
    say(&mut program, "first");
    program.until("One.");
    program.keys("\x1bm");
    program.until("128k context · $0.25 / $2");
    program.until("in use");
    program.until("two · b1");
    program.types("a2");
    program.keys("\r");
    program.until("switched to a2");
    say(&mut program, "second");
    program.until("Two.");
    program.keys("\x1bm");
    program.until("two · b1");
    program.types("two");
    program.keys("\r");
    program.until("switched to b1 (profile two)");
    say(&mut program, "third");
    let screen = program.until("Three.");
    assert!(screen.lines().next().unwrap().contains("b1"), "the head names it: {screen}");
    assert_eq!(told(&one), ["a1: first", "a2: first | One. | second"]);
    assert_eq!(told(&two), ["b1: first | One. | second | Two. | third"]);
    leave(&mut program);
    let place = program.place.clone();
    // What comes back is what it was: the profile, its model, and its key.
    let mut program = keyed(Setup::again(&place, &["--continue"])).size(100, 30).start();
    program.until("Three.");
    say(&mut program, "fourth");
    program.until("Four.");
    assert_eq!(told(&two)[1], "b1: first | One. | second | Two. | third | Three. | fourth");
    leave(&mut program);
    // What is named for this run counts more.
    let named = Setup::again(&place, &["--continue", "-p", "fifth"]).env("AYE_PROFILE", "one");
    let (out, err, _) = keyed(named).print("");
    assert!(out.contains("never"), "{out} {err}");
    assert_eq!(told(&two).len(), 2);
    for (service, own) in [(&one, KEY_ONE), (&two, KEY_TWO)] {
        for request in service.received() {
            assert_eq!(request.header("authorization"), Some(format!("Bearer {own}").as_str()), "{}", request.line);
        }
    }
    for key in [KEY_ONE, KEY_TWO] {
        let found = holders(place.path(), key);
        assert!(found.is_empty(), "{key} is in {found:?}");
    }
}

#[test]
fn a_choice_that_is_kept_stands_in_the_settings_and_their_comments_stay() {
    let runtime = Runtime::new().unwrap();
    let one = serves(&runtime, vec![list(r#"{"data":[{"id":"a1"},{"id":"a2"}]}"#)]);
    let two = serves(&runtime, vec![says("From two.")]);
    let setup = keyed(Setup::new(&[]));
    write(&setup, &profiles(&one, &two));
    let file = settings(&setup);
    let mut program = ready(setup.start());
    program.keys("\x1bm");
    program.until("a2");
    program.types("a2");
    program.keys("\x13");
    program.until("aye starts with a2 of one");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# mine\n[model]\nprofile = \"one\" # for now\n"), "{text}");
    assert!(text.contains("model = \"a2\"\n") && !text.contains("a1"), "{text}");
    program.keys("\x1bm");
    program.until("two · b1");
    program.types("two");
    program.keys("\x13");
    program.until("aye starts with b1 of two");
    leave(&mut program);
    let mut program = keyed(Setup::again(&program.place, &[])).start();
    program.until("Connected to b1");
    say(&mut program, "hello");
    program.until("From two.");
}

#[test]
fn a_list_that_fails_says_why_and_a_name_can_be_typed_all_the_same() {
    let runtime = Runtime::new().unwrap();
    let unknown = r#"{"error":{"message":"no model is called nonesuch here","code":"model_not_found"}}"#;
    let one = runtime.block_on(Service::strict([
        list(r#"{"error":"oh no"}"#),
        Answer::body(404, "application/json", &[], unknown),
        says("Here again."),
    ]));
    let setup = Setup::new(&["--base-url", &one.base_url, "--model", "m"]).size(120, 30);
    write(&setup, ALONE);
    let mut program = ready(setup.start());
    program.keys("\x1bm");
    program.until("Cannot list the models");
    program.types("nonesuch");
    program.until("use “nonesuch”");
    program.keys("\r");
    say(&mut program, "hello");
    program.until("no model is called nonesuch here");
    say(&mut program, "/model m");
    program.until("switched to m");
    say(&mut program, "still there?");
    program.until("Here again.");
    assert_eq!(told(&one), ["nonesuch: hello", "m: hello\n\nstill there?"]);
}

#[test]
fn while_a_turn_runs_the_model_is_for_the_next_request_and_the_profile_waits() {
    let runtime = Runtime::new().unwrap();
    let slow = Answer::stream().says("Slow").then(Step::Stall);
    let models = list(r#"{"data":[{"id":"a1"},{"id":"a2"}]}"#);
    let one = serves(&runtime, vec![slow, models.clone(), models, says("Quick.")]);
    let two = serves(&runtime, vec![says("never")]);
    let setup = keyed(Setup::new(&[]));
    write(&setup, &profiles(&one, &two));
    let mut program = ready(setup.size(100, 30).start());
    say(&mut program, "first");
    program.until("Slow");
    program.keys("\x1bm");
    program.until("two · b1");
    program.types("two");
    program.keys("\r");
    program.until("Stop it first");
    program.keys("\x1bm");
    program.until("a2");
    program.types("a2");
    program.keys("\r");
    program.until_gone("two · b1");
    program.keys("\x1b");
    program.until("stopped");
    say(&mut program, "second");
    program.until("Quick.");
    assert!(told(&one)[1].starts_with("a2: first | Slow"), "{:?}", told(&one));
    assert!(two.received().is_empty());
}

#[test]
fn a_session_whose_profile_is_gone_says_so_and_goes_on_with_the_one_there_is() {
    let runtime = Runtime::new().unwrap();
    let (one, two) = (serves(&runtime, vec![says("One.")]), serves(&runtime, vec![says("Two.")]));
    let setup = keyed(Setup::new(&[]));
    write(&setup, &profiles(&one, &two));
    let mut program = ready(setup.start());
    say(&mut program, "first");
    program.until("One.");
    leave(&mut program);
    let file = program.place.path().join("home/aye/config/config.toml");
    std::fs::write(&file, profiles(&one, &two).replace("profiles.one", "profiles.gone").replace("\"one\"", "\"two\""))
        .unwrap();
    let mut program = keyed(Setup::again(&program.place, &["--continue"])).size(100, 30).start();
    program.until("This session used one, which is not available");
    say(&mut program, "second");
    program.until("Two.");
    assert_eq!(told(&two), ["b1: first | One. | second"]);
    assert_eq!(told(&one).len(), 1);
}

#[test]
fn the_name_of_the_servers_first_model_is_in_the_head_and_in_the_session() {
    let runtime = Runtime::new().unwrap();
    let models = list(r#"{"data":[{"id":"embed-1"},{"id":"talker-7b"}]}"#);
    let one = serves(&runtime, vec![models, says("One."), says("Two.")]);
    let setup = Setup::new(&[]);
    write(&setup, &format!("[model]\nprofile = \"p\"\n[profiles.p]\nbase_url = \"{}\"\n", one.base_url));
    let mut program = ready(setup.start());
    say(&mut program, "first");
    let screen = program.until("One.");
    assert!(screen.lines().next().unwrap().contains("talker-7b"), "{screen}");
    leave(&mut program);
    let mut program = Setup::again(&program.place, &["--continue"]).start();
    let screen = program.until("One.");
    assert!(screen.lines().next().unwrap().contains("talker-7b"), "{screen}");
    say(&mut program, "second");
    program.until("Two.");
    assert_eq!(told(&one), ["talker-7b: first", "talker-7b: first | One. | second"]);
}

#[test]
fn the_models_of_a_service_are_listed_without_a_screen() {
    let runtime = Runtime::new().unwrap();
    let models = r#"{"data":[{"id":"a1","context_length":9},{"id":"embed-1"}]}"#;
    let answers = [list(models), list(models), Answer::body(500, "text/plain", &[], "oh no")];
    let service = runtime.block_on(Service::strict(answers));
    let asks = |more: &[&str]| {
        let arguments = [&["models", "--base-url", &service.base_url], more].concat();
        Setup::new(&arguments).env("OPENAI_API_KEY", KEY_ONE).print("")
    };
    assert_eq!(asks(&[]), ("a1\nembed-1\n".into(), String::new(), 0));
    let (out, err, code) = asks(&["--json"]);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((err.as_str(), code, lines.len()), ("", 0, 2));
    assert_eq!((lines[0]["model"].as_str(), lines[0]["context"].as_u64()), (Some("a1"), Some(9)));
    assert_eq!(lines[1]["talks"], false);
    let (out, err, code) = asks(&[]);
    assert_eq!((out.as_str(), code), ("", 1), "{err}");
    assert!(err.contains("Cannot list the models") && err.contains("oh no") && !err.contains(KEY_ONE), "{err}");
    let (_, err, code) = Setup::new(&["models"]).print("");
    assert_eq!(code, 2);
    assert!(err.contains("no provider is configured"), "{err}");
    let (_, err, code) = Setup::new(&["--json", "hello"]).print("");
    assert!(code == 2 && err.contains("--json can only be used with"), "{err}");
}
