//! Switching models and profiles in a running session: the choice is saved and restored.

use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{NO_TITLES, find_files_with};
use crate::support::terminal_session::{submit_message, text_answer};
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
    setup.root.path().join("home/aye/config/config.toml")
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

/// The requests for replies that a service received: the model and the text of each message after the system prompt.
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
    program.until("Messages go to");
    program
}

/// Quits once the reply is complete.
fn quit(program: &mut Program) {
    program.until_idle("");
    program.press_keys("\x04");
    program.wait_for_exit();
}

#[test]
fn switches_model_and_profile_within_a_session() {
    let runtime = Runtime::new().unwrap();
    let models = r#"{"data":[{"id":"a1","context_length":128000,"pricing":{"prompt":"0.00000025","completion":"0.000002"}},{"id":"a2"},{"id":"embed-1"}]}"#;
    let first_service = start_service(
        &runtime,
        vec![
            text_answer("One."),
            list_response(models),
            text_answer("Two."),
            list_response(models),
            text_answer("never"),
        ],
    );
    let two = start_service(&runtime, vec![text_answer("Three."), text_answer("Four.")]);
    let setup = with_keys(Setup::new(&[]));
    write_settings(&setup, &profile_settings(&first_service, &two));
    let mut program = wait_until_connected(setup.size(100, 30).start());
    submit_message(&mut program, "first");
    program.until("One.");
    // Alt-M opens the list of models.
    program.press_keys("\x1bm");
    program.until("128k context · $0.25 / $2");
    program.until("in use");
    program.until("two · b1");
    program.type_text("a2");
    program.press_keys("\r");
    program.until("switched to a2");
    submit_message(&mut program, "second");
    program.until("Two.");
    program.press_keys("\x1bm");
    program.until("two · b1");
    program.type_text("two");
    program.press_keys("\r");
    program.until("switched to b1 (profile two)");
    submit_message(&mut program, "third");
    let screen = program.until("Three.");
    assert!(screen.lines().next().unwrap().contains("b1"), "the head names the model: {screen}");
    assert_eq!(list_requests(&first_service), ["a1: first", "a2: first | One. | second"]);
    assert_eq!(list_requests(&two), ["b1: first | One. | second | Two. | third"]);
    quit(&mut program);
    let root = program.root.clone();
    // The resumed session has the same profile, model and key.
    let mut program = with_keys(Setup::with_home(&root, &["--continue"])).size(100, 30).start();
    program.until("Three.");
    submit_message(&mut program, "fourth");
    program.until("Four.");
    assert_eq!(list_requests(&two)[1], "b1: first | One. | second | Two. | third | Three. | fourth");
    quit(&mut program);
    // A profile named for this run takes precedence.
    let named = Setup::with_home(&root, &["--continue", "-p", "fifth"]).env("AYE_PROFILE", "one");
    let (out, err, _) = with_keys(named).run_piped("");
    assert!(out.contains("never"), "{out} {err}");
    assert_eq!(list_requests(&two).len(), 2);
    for (service, own) in [(&first_service, KEY_ONE), (&two, KEY_TWO)] {
        for request in service.received() {
            assert_eq!(request.header("authorization"), Some(format!("Bearer {own}").as_str()), "{}", request.line);
        }
    }
    for key in [KEY_ONE, KEY_TWO] {
        let files = find_files_with(root.path(), key);
        assert!(files.is_empty(), "{key} is in {files:?}");
    }
}

#[test]
fn saves_a_choice_in_the_settings_and_keeps_comments() {
    let runtime = Runtime::new().unwrap();
    let first_service = start_service(&runtime, vec![list_response(r#"{"data":[{"id":"a1"},{"id":"a2"}]}"#)]);
    let two = start_service(&runtime, vec![text_answer("From two.")]);
    let setup = with_keys(Setup::new(&[]));
    write_settings(&setup, &profile_settings(&first_service, &two));
    let file = settings_file(&setup);
    let mut program = wait_until_connected(setup.start());
    program.press_keys("\x1bm");
    program.until("a2");
    program.type_text("a2");
    // Ctrl-S saves the choice in the settings.
    program.press_keys("\x13");
    program.until("aye starts with a2 of one");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# mine\n[model]\nprofile = \"one\" # for now\n"), "{text}");
    assert!(text.contains("model = \"a2\"\n") && !text.contains("a1"), "{text}");
    program.press_keys("\x1bm");
    program.until("two · b1");
    program.type_text("two");
    program.press_keys("\x13");
    program.until("aye starts with b1 of two");
    quit(&mut program);
    let mut program = with_keys(Setup::with_home(&program.root, &[])).start();
    program.until("Messages go to b1");
    submit_message(&mut program, "hello");
    program.until("From two.");
}

#[test]
fn accepts_a_typed_model_if_models_cannot_be_listed() {
    let runtime = Runtime::new().unwrap();
    let unknown = r#"{"error":{"message":"no model is called nonesuch here","code":"model_not_found"}}"#;
    let first_service = runtime.block_on(Service::start_strict([
        list_response(r#"{"error":"oh no"}"#),
        Answer::body(404, "application/json", &[], unknown),
        text_answer("Here again."),
    ]));
    let setup = Setup::new(&["--base-url", &first_service.base_url, "--model", "m"]).size(120, 30);
    write_settings(&setup, NO_TITLES);
    let mut program = wait_until_connected(setup.start());
    program.press_keys("\x1bm");
    program.until("Cannot list the models");
    program.type_text("nonesuch");
    program.until("use “nonesuch”");
    program.press_keys("\r");
    submit_message(&mut program, "hello");
    program.until("no model is called nonesuch here");
    submit_message(&mut program, "/model m");
    program.until("switched to m");
    submit_message(&mut program, "still there?");
    program.until("Here again.");
    assert_eq!(list_requests(&first_service), ["nonesuch: hello", "m: hello\n\nstill there?"]);
}

#[test]
fn during_a_turn_only_the_model_can_be_switched() {
    let runtime = Runtime::new().unwrap();
    let slow = Answer::stream().text("Slow").with_step(Step::Stall);
    let models = list_response(r#"{"data":[{"id":"a1"},{"id":"a2"}]}"#);
    let first_service = start_service(&runtime, vec![slow, models.clone(), models, text_answer("Quick.")]);
    let two = start_service(&runtime, vec![text_answer("never")]);
    let setup = with_keys(Setup::new(&[]));
    write_settings(&setup, &profile_settings(&first_service, &two));
    let mut program = wait_until_connected(setup.size(100, 30).start());
    submit_message(&mut program, "first");
    program.until("Slow");
    program.press_keys("\x1bm");
    program.until("two · b1");
    program.type_text("two");
    program.press_keys("\r");
    program.until("Stop it first");
    program.press_keys("\x1bm");
    program.until("a2");
    program.type_text("a2");
    program.press_keys("\r");
    program.until_gone("two · b1");
    program.press_keys("\x1b");
    program.until("stopped");
    submit_message(&mut program, "second");
    program.until("Quick.");
    assert!(list_requests(&first_service)[1].starts_with("a2: first | Slow"), "{:?}", list_requests(&first_service));
    assert!(two.received().is_empty());
}

#[test]
fn resumes_with_the_default_profile_if_its_own_is_missing() {
    let runtime = Runtime::new().unwrap();
    let (first_service, two) =
        (start_service(&runtime, vec![text_answer("One.")]), start_service(&runtime, vec![text_answer("Two.")]));
    let setup = with_keys(Setup::new(&[]));
    write_settings(&setup, &profile_settings(&first_service, &two));
    let mut program = wait_until_connected(setup.start());
    submit_message(&mut program, "first");
    program.until("One.");
    quit(&mut program);
    let file = program.root.path().join("home/aye/config/config.toml");
    std::fs::write(
        &file,
        profile_settings(&first_service, &two).replace("profiles.one", "profiles.gone").replace("\"one\"", "\"two\""),
    )
    .unwrap();
    let mut program = with_keys(Setup::with_home(&program.root, &["--continue"])).size(100, 30).start();
    program.until("This session used one, which is not available");
    submit_message(&mut program, "second");
    program.until("Two.");
    assert_eq!(list_requests(&two), ["b1: first | One. | second"]);
    assert_eq!(list_requests(&first_service).len(), 1);
}

#[test]
fn uses_and_saves_the_first_model_of_the_server() {
    let runtime = Runtime::new().unwrap();
    let models = list_response(r#"{"data":[{"id":"embed-1"},{"id":"talker-7b"}]}"#);
    let first_service = start_service(&runtime, vec![models, text_answer("One."), text_answer("Two.")]);
    let setup = Setup::new(&[]);
    write_settings(
        &setup,
        &format!("[model]\nprofile = \"p\"\n[profiles.p]\nbase_url = \"{}\"\n", first_service.base_url),
    );
    let mut program = wait_until_connected(setup.start());
    submit_message(&mut program, "first");
    let screen = program.until("One.");
    assert!(screen.lines().next().unwrap().contains("talker-7b"), "{screen}");
    quit(&mut program);
    let mut program = Setup::with_home(&program.root, &["--continue"]).start();
    let screen = program.until("One.");
    assert!(screen.lines().next().unwrap().contains("talker-7b"), "{screen}");
    submit_message(&mut program, "second");
    program.until("Two.");
    assert_eq!(list_requests(&first_service), ["talker-7b: first", "talker-7b: first | One. | second"]);
}

#[test]
fn lists_models_without_a_screen() {
    let runtime = Runtime::new().unwrap();
    let models = r#"{"data":[{"id":"a1","context_length":9},{"id":"embed-1"}]}"#;
    let answers = [list_response(models), list_response(models), Answer::body(500, "text/plain", &[], "oh no")];
    let service = runtime.block_on(Service::start_strict(answers));
    let list_models = |extra_arguments: &[&str]| {
        let arguments = [&["models", "--base-url", &service.base_url], extra_arguments].concat();
        Setup::new(&arguments).env("OPENAI_API_KEY", KEY_ONE).run_piped("")
    };
    assert_eq!(list_models(&[]), ("a1\nembed-1\n".into(), String::new(), 0));
    let (out, err, code) = list_models(&["--json"]);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((err.as_str(), code, lines.len()), ("", 0, 2));
    assert_eq!((lines[0]["model"].as_str(), lines[0]["context"].as_u64()), (Some("a1"), Some(9)));
    assert_eq!((&lines[1]["is_chat"], &lines[1]["talks"]), (&false.into(), &false.into()));
    let (out, err, code) = list_models(&[]);
    assert_eq!((out.as_str(), code), ("", 1), "{err}");
    assert!(err.contains("Cannot list the models") && err.contains("oh no") && !err.contains(KEY_ONE), "{err}");
    let (_, err, code) = Setup::new(&["models"]).run_piped("");
    assert_eq!(code, 2);
    assert!(err.contains("no provider is configured"), "{err}");
    let (_, err, code) = Setup::new(&["--json", "hello"]).run_piped("");
    assert!(code == 2 && err.contains("Cannot use --json here"), "{err}");
}
