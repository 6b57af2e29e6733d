//! Requests that fail, in the real program: sent again sooner, asked again later, answered by another model.

use crate::support::closed::closed_port;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Received, Service, Step};
use crate::support::talking::{runs, say, says, talks};
use std::time::Duration;
use tokio::runtime::Runtime;

const JSON: &str = "application/json";
const ALT_R: &str = "\x1br";

fn refused(status: u16, headers: &[&str]) -> Answer {
    Answer::body(status, JSON, headers, r#"{"error":{"message":"Not now"}}"#)
}

/// The roles of a request's messages, and what stands in them.
fn told(request: &Received) -> Vec<String> {
    let messages = request.body["messages"].as_array().cloned().unwrap_or_default();
    let word = |message: &serde_json::Value| {
        format!("{} {}", message["role"].as_str().unwrap(), message["content"].as_str().unwrap_or("-"))
    };
    messages.iter().skip(1).map(word).collect()
}

fn log(program: &Program) -> String {
    let sessions = program.place.path().join("home/aye/data/sessions");
    let file = std::fs::read_dir(sessions).unwrap().flatten().next().expect("a session is kept");
    std::fs::read_to_string(file.path()).unwrap()
}

#[test]
fn r49_a_long_wait_is_counted_down_and_skipped_with_a_key() {
    let answers = vec![refused(429, &["retry-after: 3000"]), says("Here I am.")];
    let (_runtime, service, mut program) = talks(answers, (80, 24), &[]);
    say(&mut program, "hello");
    program.until("The provider asks to wait 3000 s (429): Not now");
    program.until("try 2 of 5 in 49 min 5");
    program.keys(ALT_R);
    program.until("Here I am.");
    let screen = program.until("took");
    assert!(!screen.contains("Not now") && !screen.contains("again"), "a wait that is over is no news: {screen}");
    assert_eq!(service.received().len(), 2);
    assert!(!log(&program).contains("Not now"), "nor is it kept");
}

#[test]
fn after_a_failure_a_key_asks_again_without_a_word() {
    let answers = vec![refused(400, &[]), Answer::stream().says("Half a"), says("Here I am."), says("Yes.")];
    let (_runtime, service, mut program) = talks(answers, (80, 24), &[]);
    say(&mut program, "hello");
    program.until("alt-r retry");
    program.keys(ALT_R);
    program.until("cut short");
    program.until("alt-r retry");
    program.keys(ALT_R);
    program.until("Here I am.");
    say(&mut program, "more");
    program.until("Yes.");
    let asked: Vec<Vec<String>> = service.received().iter().map(told).collect();
    assert_eq!(asked[..3], vec![vec!["user hello".to_owned()]; 3], "the same talk, each time");
    assert_eq!(asked[3], ["user hello", "assistant Here I am.", "user more"]);
    let log = log(&program);
    assert_eq!(log.matches("\"hello\"").count(), 1, "it was said once: {log}");
    assert!(log.contains("Half a"), "what came is kept: {log}");
}

#[test]
fn r49_a_command_that_ran_is_not_run_again_by_asking_again() {
    let answers = vec![runs("echo ran >> count.txt"), refused(400, &[]), refused(400, &[]), says("All done.")];
    let (_runtime, service, mut program) = talks(answers, (100, 24), &[]);
    say(&mut program, "go");
    program.until_asked("$ echo ran");
    program.keys("y");
    for failures in 1..=2 {
        // Each has its own line, so that this one is not the last one still.
        program.until_that("another failure", |program| {
            let screen = program.screen();
            screen.contains("alt-r retry") && screen.matches("✗").count() == failures
        });
        program.keys(ALT_R);
    }
    program.until("All done.");
    assert_eq!(program.file("count.txt").as_deref(), Some("ran\n"));
    let last = told(service.received().last().unwrap());
    assert!(last.len() == 3 && last[2].starts_with("tool "), "it goes on from the outcome: {last:?}");
}

/// What `aye -p` printed where a second service stands in: the two services, output, errors, exit code, and the log.
struct Stood {
    first: Service,
    second: Service,
    out: String,
    err: String,
    code: i32,
    log: String,
}

fn stands_in(runtime: &Runtime, first: Vec<Answer>, second: Vec<Answer>) -> Stood {
    let (first, second) = (runtime.block_on(Service::start(first)), runtime.block_on(Service::start(second)));
    let setup = Setup::new(&["-p", "hi"]).env("FIRST_KEY", "sk-first").env("SECOND_KEY", "sk-second");
    let config = setup.place.path().join("home/aye/config");
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
    let (out, err, code) = setup.print("");
    let sessions = setup.place.path().join("home/aye/data/sessions");
    let file = std::fs::read_dir(sessions).unwrap().flatten().next().expect("a session is kept");
    let log = std::fs::read_to_string(file.path()).unwrap();
    Stood { first, second, out, err, code, log }
}

#[test]
fn another_model_answers_where_the_first_cannot_and_gets_nothing_of_its_but_the_talk() {
    let runtime = Runtime::new().unwrap();
    let stood = stands_in(&runtime, vec![refused(401, &[])], vec![says("From the second.")]);
    assert_eq!((stood.out.as_str(), stood.code), ("From the second.\n", 0), "{}", stood.err);
    assert_eq!(
        stood.err,
        "aye: The provider rejected the key or requires one (401): Not now; fell back to model-two\n"
    );
    let (first, second) = (stood.first.received(), stood.second.received());
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_eq!(told(&first[0]), told(&second[0]));
    assert_eq!(second[0].body["model"], "model-two");
    assert_eq!(first[0].header("authorization"), Some("Bearer sk-first"));
    assert_eq!(second[0].header("authorization"), Some("Bearer sk-second"));
    let sent = format!("{:?}", second[0]);
    assert!(!sent.contains("sk-first") && !sent.contains("secret-header"), "{sent}");
    assert!(stood.log.contains("fell_back") && stood.log.contains("\"model\":\"model-two\""), "{}", stood.log);
}

#[test]
fn another_model_answers_after_the_retries_of_the_first_and_only_where_it_could_do_better() {
    let runtime = Runtime::new().unwrap();
    let stood = stands_in(&runtime, vec![refused(503, &["retry-after-ms: 10"])], vec![says("Here.")]);
    assert_eq!((stood.out.as_str(), stood.first.received().len()), ("Here.\n", 5), "{}", stood.err);
    for (what, answer, came) in
        [("a wrong request", refused(400, &[]), ""), ("half a reply", Answer::stream().says("Half"), "Half\n")]
    {
        let stood = stands_in(&runtime, vec![answer], vec![says("Never.")]);
        assert_eq!((stood.out.as_str(), stood.code), (came, 1), "{what}: {}", stood.err);
        assert!(stood.second.received().is_empty(), "{what}");
    }
    let stood = stands_in(&runtime, vec![refused(402, &[])], vec![refused(404, &[])]);
    assert_eq!((stood.out.as_str(), stood.code), ("", 1));
    let lines: Vec<&str> = stood.err.lines().collect();
    assert!(lines[0].contains("(402)") && lines[1].contains("(404)") && lines.len() == 2, "{lines:?}");
}

#[test]
fn a_server_that_is_not_running_is_told_with_what_to_do() {
    let (_closed, address) = closed_port();
    let origin = format!("http://{address}");
    let (_, err, code) = Setup::new(&["--base-url", &format!("{origin}/v1"), "-p", "hi"]).print("");
    assert!(err.contains("Connection refused. The server is not running. Start it and try again."), "{err}");
    assert_eq!(code, 1);
}

#[test]
fn a_fallback_that_cannot_be_is_said_at_the_start_and_the_rest_works() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([says("Hello.")]));
    for (fallback, told) in [
        ("opneai", "config.toml:2: profile \"opneai\" does not exist. Did you mean openai?"),
        ("odd", "config.toml:2: model.fallback names the profile already in use. Set a different profile"),
    ] {
        let setup = Setup::new(&["--profile", "odd", "-p", "hi"]);
        let config = setup.place.path().join("home/aye/config");
        std::fs::create_dir_all(&config).unwrap();
        let text = format!(
            "[model]\nfallback = \"{fallback}\"\n[profiles.odd]\nbase_url = \"{}\"\nmodel = \"m\"\n",
            service.base_url
        );
        std::fs::write(config.join("config.toml"), text).unwrap();
        let (out, err, code) = setup.print("");
        assert!(err.contains(told), "{err}");
        assert_eq!((out.as_str(), code), ("Hello.\n", 0), "{err}");
    }
}

#[test]
fn the_next_turn_tries_the_first_again_and_the_screen_shows_who_answers() {
    let runtime = Runtime::new().unwrap();
    let first = runtime.block_on(Service::start([refused(429, &["retry-after: 3000"]), says("First again.")]));
    let slow = Answer::stream().says("Second says").then(Step::Pause(Duration::from_millis(1000))).says(" this.");
    let second = runtime.block_on(Service::start([slow.finish("stop").done()]));
    let setup = Setup::new(&["--profile", "one"]);
    let config = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let text = format!(
        "[model]\nfallback = \"two\"\n[profiles.one]\nbase_url = \"{}\"\nmodel = \"model-one\"\n[profiles.two]\nbase_url = \"{}\"\nmodel = \"model-two\"\n",
        first.base_url, second.base_url
    );
    std::fs::write(config.join("config.toml"), text).unwrap();
    let mut program = setup.start();
    program.until("Connected to model-one");
    say(&mut program, "hello");
    let screen = program.until("Second says");
    assert!(screen.lines().next().unwrap().contains("model-two"), "{screen}");
    let screen = program.until("Second says this.");
    assert!(screen.contains("fell back to model-two"), "{screen}");
    say(&mut program, "more");
    let screen = program.until("First again.");
    assert!(screen.lines().next().unwrap().contains("model-one"), "{screen}");
    let told = told(first.received().last().unwrap());
    assert_eq!(told, ["user hello", "assistant Second says this.", "user more"]);
}
