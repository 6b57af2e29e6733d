//! Failed requests in the real program: the wait before a retry, retries by the user, and the fallback model.

use crate::support::closed_port::reserve_closed_port;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Received, Service, Step};
use crate::support::terminal_session::{command_answer, start_session, submit_message, text_answer};
use std::time::Duration;
use tokio::runtime::Runtime;

const JSON: &str = "application/json";
const ALT_R: &str = "\x1br";

fn refused(status: u16, headers: &[&str]) -> Answer {
    Answer::body(status, JSON, headers, r#"{"error":{"message":"Not now"}}"#)
}

/// The messages of a request, each with its role, without the system prompt.
fn list_messages(request: &Received) -> Vec<String> {
    let messages = request.body["messages"].as_array().cloned().unwrap_or_default();
    let word = |message: &serde_json::Value| {
        format!("{} {}", message["role"].as_str().unwrap(), message["content"].as_str().unwrap_or("-"))
    };
    messages.iter().skip(1).map(word).collect()
}

fn read_log(program: &Program) -> String {
    let sessions = program.root.path().join("home/aye/data/sessions");
    let file = std::fs::read_dir(sessions).unwrap().flatten().next().expect("a session is kept");
    std::fs::read_to_string(file.path()).unwrap()
}

#[test]
fn r49_counts_down_a_long_wait_and_skips_it_with_a_key() {
    let answers = vec![refused(429, &["retry-after: 3000"]), text_answer("Here I am.")];
    let (_runtime, service, mut program) = start_session(answers, (80, 24), &[]);
    submit_message(&mut program, "hello");
    program.until("The provider asks to wait 3000 s (429): Not now");
    program.until("try 2 of 5 in 49 min 5");
    program.press_keys(ALT_R);
    program.until("Here I am.");
    let screen = program.until("took");
    assert!(!screen.contains("Not now") && !screen.contains("again"), "a wait that is over is not shown: {screen}");
    assert_eq!(service.received().len(), 2);
    assert!(!read_log(&program).contains("Not now"), "the failure is not saved");
}

#[test]
fn retries_after_a_failure_with_a_key() {
    let answers =
        vec![refused(400, &[]), Answer::stream().text("Half a"), text_answer("Here I am."), text_answer("Yes.")];
    let (_runtime, service, mut program) = start_session(answers, (80, 24), &[]);
    submit_message(&mut program, "hello");
    program.until("alt-r retry");
    program.press_keys(ALT_R);
    program.until("cut short");
    program.until("alt-r retry");
    program.press_keys(ALT_R);
    program.until("Here I am.");
    submit_message(&mut program, "more");
    program.until("Yes.");
    let requests: Vec<Vec<String>> = service.received().iter().map(list_messages).collect();
    assert_eq!(requests[..3], vec![vec!["user hello".to_owned()]; 3], "each request has the same messages");
    assert_eq!(requests[3], ["user hello", "assistant Here I am.", "user more"]);
    let log = read_log(&program);
    assert_eq!(log.matches("\"hello\"").count(), 1, "the message is saved once: {log}");
    assert!(log.contains("Half a"), "the partial reply is saved: {log}");
}

#[test]
fn r49_a_retry_does_not_run_a_finished_command_again() {
    let answers =
        vec![command_answer("echo ran >> count.txt"), refused(400, &[]), refused(400, &[]), text_answer("All done.")];
    let (_runtime, service, mut program) = start_session(answers, (100, 24), &[]);
    submit_message(&mut program, "go");
    program.until_prompt("$ echo ran");
    program.press_keys("y");
    for failures in 1..=2 {
        // Each failure has a line, so the number of lines tells this failure from the last.
        program.until_condition("another failure", |program| {
            let screen = program.screen();
            screen.contains("alt-r retry") && screen.matches("✗").count() == failures
        });
        program.press_keys(ALT_R);
    }
    program.until("All done.");
    assert_eq!(program.file("count.txt").as_deref(), Some("ran\n"));
    let last = list_messages(service.received().last().unwrap());
    assert!(last.len() == 3 && last[2].starts_with("tool "), "the request continues after the outcome: {last:?}");
}

/// Outcome of `aye -p` with a fallback model: both services, output, errors, exit code and session log.
struct FallbackRun {
    first: Service,
    second: Service,
    out: String,
    err: String,
    code: i32,
    log: String,
}

fn run_with_fallback(runtime: &Runtime, first: Vec<Answer>, second: Vec<Answer>) -> FallbackRun {
    let (first, second) = (runtime.block_on(Service::start(first)), runtime.block_on(Service::start(second)));
    let setup = Setup::new(&["-p", "hi"]).env("FIRST_KEY", "sk-first").env("SECOND_KEY", "sk-second");
    let config = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let text = format!(
        "[model]\nprofile = \"one\"\nfallback = \"two\"\n\
         [profiles.one]\nbase_url = \"{}\"\nkey_env = \"FIRST_KEY\"\nmodel = \"model-one\"\n\
         headers = {{ X-First = \"secret-header\" }}\n\
         [profiles.two]\nbase_url = \"{}\"\nkey_env = \"SECOND_KEY\"\nmodel = \"model-two\"\n",
        first.base_url, second.base_url
    );
    std::fs::write(config.join("config.toml"), text).unwrap();
    let setup = setup.env("AYE_MODEL", "");
    let (out, err, code) = setup.run_piped("");
    let sessions = setup.root.path().join("home/aye/data/sessions");
    let file = std::fs::read_dir(sessions).unwrap().flatten().next().expect("a session is kept");
    let log = std::fs::read_to_string(file.path()).unwrap();
    FallbackRun { first, second, out, err, code, log }
}

#[test]
fn fallback_model_receives_the_messages_but_no_key_or_header_of_the_first() {
    let runtime = Runtime::new().unwrap();
    let run = run_with_fallback(&runtime, vec![refused(401, &[])], vec![text_answer("From the second.")]);
    assert_eq!((run.out.as_str(), run.code), ("From the second.\n", 0), "{}", run.err);
    assert_eq!(run.err, "aye: The provider rejected the key or requires one (401): Not now; fell back to model-two\n");
    let (first, second) = (run.first.received(), run.second.received());
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_eq!(list_messages(&first[0]), list_messages(&second[0]));
    assert_eq!(second[0].body["model"], "model-two");
    assert_eq!(first[0].header("authorization"), Some("Bearer sk-first"));
    assert_eq!(second[0].header("authorization"), Some("Bearer sk-second"));
    let sent = format!("{:?}", second[0]);
    assert!(!sent.contains("sk-first") && !sent.contains("secret-header"), "{sent}");
    assert!(run.log.contains("fell_back") && run.log.contains("\"model\":\"model-two\""), "{}", run.log);
}

#[test]
fn fallback_model_answers_after_the_retries_and_only_for_errors_it_can_avoid() {
    let runtime = Runtime::new().unwrap();
    let run = run_with_fallback(&runtime, vec![refused(503, &["retry-after-ms: 10"])], vec![text_answer("Here.")]);
    assert_eq!((run.out.as_str(), run.first.received().len()), ("Here.\n", 5), "{}", run.err);
    for (what, answer, expected) in
        [("a wrong request", refused(400, &[]), ""), ("half a reply", Answer::stream().text("Half"), "Half\n")]
    {
        let run = run_with_fallback(&runtime, vec![answer], vec![text_answer("Never.")]);
        assert_eq!((run.out.as_str(), run.code), (expected, 1), "{what}: {}", run.err);
        assert!(run.second.received().is_empty(), "{what}");
    }
    let run = run_with_fallback(&runtime, vec![refused(402, &[])], vec![refused(404, &[])]);
    assert_eq!((run.out.as_str(), run.code), ("", 1));
    let lines: Vec<&str> = run.err.lines().collect();
    assert!(lines[0].contains("(402)") && lines[1].contains("(404)") && lines.len() == 2, "{lines:?}");
}

#[test]
fn reports_a_server_that_is_not_running_with_advice() {
    let (_closed, address) = reserve_closed_port();
    let origin = format!("http://{address}");
    let (_, err, code) = Setup::new(&["--base-url", &format!("{origin}/v1"), "-p", "hi"]).run_piped("");
    assert!(
        err.contains(
            "Connection refused. The server is not running, or the address is wrong. Start it, or correct the address."
        ),
        "{err}"
    );
    assert_eq!(code, 1);
}

#[test]
fn reports_an_invalid_fallback_at_the_start_and_continues() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([text_answer("Hello.")]));
    for (fallback, expected) in [
        ("opneai", "config.toml:2: profile \"opneai\" does not exist. Did you mean openai?"),
        ("odd", "config.toml:2: model.fallback names the profile already in use. Set a different profile"),
    ] {
        let setup = Setup::new(&["--profile", "odd", "-p", "hi"]);
        let config = setup.root.path().join("home/aye/config");
        std::fs::create_dir_all(&config).unwrap();
        let text = format!(
            "[model]\nfallback = \"{fallback}\"\n[profiles.odd]\nbase_url = \"{}\"\nmodel = \"m\"\n",
            service.base_url
        );
        std::fs::write(config.join("config.toml"), text).unwrap();
        let (out, err, code) = setup.run_piped("");
        assert!(err.contains(expected), "{err}");
        assert_eq!((out.as_str(), code), ("Hello.\n", 0), "{err}");
    }
}

#[test]
fn next_turn_tries_the_first_model_again_and_the_head_names_the_model() {
    let runtime = Runtime::new().unwrap();
    let first = runtime.block_on(Service::start([refused(429, &["retry-after: 3000"]), text_answer("First again.")]));
    let slow = Answer::stream().text("Second says").with_step(Step::Pause(Duration::from_millis(1000))).text(" this.");
    let second = runtime.block_on(Service::start([slow.finish("stop").done()]));
    let setup = Setup::new(&["--profile", "one"]);
    let config = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let text = format!(
        "[model]\nfallback = \"two\"\n[profiles.one]\nbase_url = \"{}\"\nmodel = \"model-one\"\n[profiles.two]\nbase_url = \"{}\"\nmodel = \"model-two\"\n",
        first.base_url, second.base_url
    );
    std::fs::write(config.join("config.toml"), text).unwrap();
    let mut program = setup.start();
    program.until("Messages go to model-one");
    submit_message(&mut program, "hello");
    let screen = program.until("Second says");
    assert!(screen.lines().next().unwrap().contains("model-two"), "{screen}");
    let screen = program.until("Second says this.");
    assert!(screen.contains("fell back to model-two"), "{screen}");
    submit_message(&mut program, "more");
    let screen = program.until("First again.");
    assert!(screen.lines().next().unwrap().contains("model-one"), "{screen}");
    let messages = list_messages(first.received().last().unwrap());
    assert_eq!(messages, ["user hello", "assistant Second says this.", "user more"]);
}
