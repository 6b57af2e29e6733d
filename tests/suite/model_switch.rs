//! Switching models and profiles in a running session: the choice is saved and restored.

use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{NO_TITLES, find_files_with};
use crate::support::terminal_session::{say, says};
use serde_json::Value;
use std::path::PathBuf;
use tokio::runtime::Runtime;

const KEY_ONE: &str = "sk-first-1234567890";
const KEY_TWO: &str = "sk-second-1234567890";

fn list_response(body: &str) -> Answer {
    Answer::body(200, "application/json", &[], body)
}

fn start_service(runtime: &Runtime, answers: Vec<Answer>) -> Service {
    runtime.block_on(Service::start(answers))
}

fn settings_file(setup: &Setup) -> PathBuf {
    setup.place.path().join("home/aye/config/config.toml")
}

fn write_settings(setup: &Setup, text: &str) {
    let file = settings_file(setup);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

fn profile_settings(one: &Service, two: &Service) -> String {
    format!(
        "# mine\n[model]\nprofile = \"one\" # for now\n\n[profiles.one]\nbase_url = \"{}\"\nkey_env = \"KEY_ONE\"\nmodel = \"a1\"\n\n[profiles.two]\nbase_url = \"{}\"\nkey_env = \"KEY_TWO\"\nmodel = \"b1\"\n",
        one.base_url, two.base_url
    )
}

fn with_keys(setup: Setup) -> Setup {
    setup.env("KEY_ONE", KEY_ONE).env("KEY_TWO", KEY_TWO)
}

/// The requests for replies that a service received: the model and the text of each message.
fn list_requests(service: &Service) -> Vec<String> {
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    let all = service.received().into_iter().filter(|request| request.line.starts_with("POST"));
    all.map(|request| {
        let messages: Vec<String> = request.body["messages"].as_array().unwrap()[1..].iter().map(text).collect();
        format!("{}: {}", request.body["model"].as_str().unwrap(), messages.join(" | "))
    })
    .collect()
}

fn wait_until_connected(mut program: Program) -> Program {
    program.until("Connected to");
    program
}

/// Quits once the reply is complete.
fn quit(program: &mut Program) {
    program.until_quiet("");
    program.keys("\x04");
    program.wait_for_exit();
}

#[test]
fn switches_model_and_profile_within_a_session() {
    let runtime = Runtime::new().unwrap();
    let models = r#"{"data":[{"id":"a1","context_length":128000,"pricing":{"prompt":"0.00000025","completion":"0.000002"}},{"id":"a2"},{"id":"embed-1"}]}"#;
    let one = start_service(
        &runtime,
        vec![says("One."), list_response(models), says("Two."), list_response(models), says("never")],
    );
    let two = start_service(&runtime, vec![says("Three."), says("Four.")]);
    let setup = with_keys(Setup::new(&[]));
    write_settings(&setup, &profile_settings(&one, &two));
    let mut program = wait_until_connected(setup.size(100, 30).start());
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
    assert!(screen.lines().next().unwrap().contains("b1"), "the head names the model: {screen}");
    assert_eq!(list_requests(&one), ["a1: first", "a2: first | One. | second"]);
    assert_eq!(list_requests(&two), ["b1: first | One. | second | Two. | third"]);
    quit(&mut program);
    let place = program.place.clone();
    // The resumed session has the same profile, model and key.
    let mut program = with_keys(Setup::again(&place, &["--continue"])).size(100, 30).start();
    program.until("Three.");
    say(&mut program, "fourth");
    program.until("Four.");
    assert_eq!(list_requests(&two)[1], "b1: first | One. | second | Two. | third | Three. | fourth");
    quit(&mut program);
    // A profile named for this run takes precedence.
    let named = Setup::again(&place, &["--continue", "-p", "fifth"]).env("AYE_PROFILE", "one");
    let (out, err, _) = with_keys(named).print("");
    assert!(out.contains("never"), "{out} {err}");
    assert_eq!(list_requests(&two).len(), 2);
    for (service, own) in [(&one, KEY_ONE), (&two, KEY_TWO)] {
        for request in service.received() {
            assert_eq!(request.header("authorization"), Some(format!("Bearer {own}").as_str()), "{}", request.line);
        }
    }
    for key in [KEY_ONE, KEY_TWO] {
        let found = find_files_with(place.path(), key);
        assert!(found.is_empty(), "{key} is in {found:?}");
    }
}

#[test]
fn saves_a_choice_in_the_settings_and_keeps_comments() {
    let runtime = Runtime::new().unwrap();
    let one = start_service(&runtime, vec![list_response(r#"{"data":[{"id":"a1"},{"id":"a2"}]}"#)]);
    let two = start_service(&runtime, vec![says("From two.")]);
    let setup = with_keys(Setup::new(&[]));
    write_settings(&setup, &profile_settings(&one, &two));
    let file = settings_file(&setup);
    let mut program = wait_until_connected(setup.start());
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
    quit(&mut program);
    let mut program = with_keys(Setup::again(&program.place, &[])).start();
    program.until("Connected to b1");
    say(&mut program, "hello");
    program.until("From two.");
}

#[test]
fn accepts_a_typed_model_if_models_cannot_be_listed() {
    let runtime = Runtime::new().unwrap();
    let unknown = r#"{"error":{"message":"no model is called nonesuch here","code":"model_not_found"}}"#;
    let one = runtime.block_on(Service::start_strict([
        list_response(r#"{"error":"oh no"}"#),
        Answer::body(404, "application/json", &[], unknown),
        says("Here again."),
    ]));
    let setup = Setup::new(&["--base-url", &one.base_url, "--model", "m"]).size(120, 30);
    write_settings(&setup, NO_TITLES);
    let mut program = wait_until_connected(setup.start());
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
    assert_eq!(list_requests(&one), ["nonesuch: hello", "m: hello\n\nstill there?"]);
}

#[test]
fn during_a_turn_only_the_model_can_be_switched() {
    let runtime = Runtime::new().unwrap();
    let slow = Answer::stream().says("Slow").then(Step::Stall);
    let models = list_response(r#"{"data":[{"id":"a1"},{"id":"a2"}]}"#);
    let one = start_service(&runtime, vec![slow, models.clone(), models, says("Quick.")]);
    let two = start_service(&runtime, vec![says("never")]);
    let setup = with_keys(Setup::new(&[]));
    write_settings(&setup, &profile_settings(&one, &two));
    let mut program = wait_until_connected(setup.size(100, 30).start());
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
    assert!(list_requests(&one)[1].starts_with("a2: first | Slow"), "{:?}", list_requests(&one));
    assert!(two.received().is_empty());
}

#[test]
fn resumes_with_the_default_profile_if_its_own_is_missing() {
    let runtime = Runtime::new().unwrap();
    let (one, two) = (start_service(&runtime, vec![says("One.")]), start_service(&runtime, vec![says("Two.")]));
    let setup = with_keys(Setup::new(&[]));
    write_settings(&setup, &profile_settings(&one, &two));
    let mut program = wait_until_connected(setup.start());
    say(&mut program, "first");
    program.until("One.");
    quit(&mut program);
    let file = program.place.path().join("home/aye/config/config.toml");
    std::fs::write(
        &file,
        profile_settings(&one, &two).replace("profiles.one", "profiles.gone").replace("\"one\"", "\"two\""),
    )
    .unwrap();
    let mut program = with_keys(Setup::again(&program.place, &["--continue"])).size(100, 30).start();
    program.until("This session used one, which is not available");
    say(&mut program, "second");
    program.until("Two.");
    assert_eq!(list_requests(&two), ["b1: first | One. | second"]);
    assert_eq!(list_requests(&one).len(), 1);
}

#[test]
fn uses_and_saves_the_first_model_of_the_server() {
    let runtime = Runtime::new().unwrap();
    let models = list_response(r#"{"data":[{"id":"embed-1"},{"id":"talker-7b"}]}"#);
    let one = start_service(&runtime, vec![models, says("One."), says("Two.")]);
    let setup = Setup::new(&[]);
    write_settings(&setup, &format!("[model]\nprofile = \"p\"\n[profiles.p]\nbase_url = \"{}\"\n", one.base_url));
    let mut program = wait_until_connected(setup.start());
    say(&mut program, "first");
    let screen = program.until("One.");
    assert!(screen.lines().next().unwrap().contains("talker-7b"), "{screen}");
    quit(&mut program);
    let mut program = Setup::again(&program.place, &["--continue"]).start();
    let screen = program.until("One.");
    assert!(screen.lines().next().unwrap().contains("talker-7b"), "{screen}");
    say(&mut program, "second");
    program.until("Two.");
    assert_eq!(list_requests(&one), ["talker-7b: first", "talker-7b: first | One. | second"]);
}

#[test]
fn lists_models_without_a_screen() {
    let runtime = Runtime::new().unwrap();
    let models = r#"{"data":[{"id":"a1","context_length":9},{"id":"embed-1"}]}"#;
    let answers = [list_response(models), list_response(models), Answer::body(500, "text/plain", &[], "oh no")];
    let service = runtime.block_on(Service::start_strict(answers));
    let list_models = |more: &[&str]| {
        let arguments = [&["models", "--base-url", &service.base_url], more].concat();
        Setup::new(&arguments).env("OPENAI_API_KEY", KEY_ONE).print("")
    };
    assert_eq!(list_models(&[]), ("a1\nembed-1\n".into(), String::new(), 0));
    let (out, err, code) = list_models(&["--json"]);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((err.as_str(), code, lines.len()), ("", 0, 2));
    assert_eq!((lines[0]["model"].as_str(), lines[0]["context"].as_u64()), (Some("a1"), Some(9)));
    assert_eq!(lines[1]["talks"], false);
    let (out, err, code) = list_models(&[]);
    assert_eq!((out.as_str(), code), ("", 1), "{err}");
    assert!(err.contains("Cannot list the models") && err.contains("oh no") && !err.contains(KEY_ONE), "{err}");
    let (_, err, code) = Setup::new(&["models"]).print("");
    assert_eq!(code, 2);
    assert!(err.contains("no provider is configured"), "{err}");
    let (_, err, code) = Setup::new(&["--json", "hello"]).print("");
    assert!(code == 2 && err.contains("--json can only be used with"), "{err}");
}
