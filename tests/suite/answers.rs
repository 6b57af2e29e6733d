//! Questions answered without a screen: from a file given in advance or later, and never by the program on its own.

use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use crate::support::terminal_session::{calls_answer_after, text_answer};
use aye::chat::{AnswerOrigin, Entry, Outcome};
use aye::store::read;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn question_reply() -> Answer {
    let questions = json!([
        { "question": "Which clock?", "keyword": "clock", "options": ["paused", "a trait", "real"] },
        { "question": "Where?", "keyword": "os", "options": ["Linux", "macOS"], "multi": true, "allow_text": false },
    ]);
    calls_answer_after(Duration::ZERO, &[("ask_question", json!({ "questions": questions }))])
}

/// Runs the program headless; returns its output, its errors and its exit code.
async fn run_headless(service: &Service, setup: Setup, input: &str) -> (String, String, i32) {
    let setup = setup.env("OPENAI_BASE_URL", &service.base_url).env("OPENAI_API_KEY", "sk-test-key-1234567890");
    let (setup, input) = (setup.env("AYE_MODEL", "m"), input.to_owned());
    tokio::task::spawn_blocking(move || setup.run_piped(&input)).await.unwrap()
}

/// Reads the entries of the only session.
fn read_session_entries(root: &Path) -> Vec<Entry> {
    let folder = root.join("home/aye/data/sessions");
    let file: PathBuf = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .unwrap();
    read(&file).unwrap().entries
}

/// Reads the result of the question call that the model received.
fn read_result(root: &Path) -> Value {
    let settled = read_session_entries(root).into_iter().find_map(|entry| match entry {
        Entry::Settled { outcome: Outcome::Done(text), .. } => Some(text),
        _ => None,
    });
    serde_json::from_str(&settled.expect("the call is settled")).unwrap()
}

fn parse_last_line(out: &str) -> Value {
    serde_json::from_str(out.lines().last().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r16_uses_answers_given_in_advance_and_records_their_origin() {
    let service = Service::start([question_reply(), text_answer("Good.")]).await;
    let file = r#"{ "clock": "a trait", "os": ["Linux", "macOS"], "later": "x" }"#;
    let setup = Setup::new(&["-p", "go", "--answers", "answers.json"]).with_file("answers.json", file);
    let root = setup.root.clone();
    let (out, err, code) = run_headless(&service, setup, "").await;
    assert_eq!((out.as_str(), err.as_str(), code), ("Good.\n", "aye: unused answers: later\n", 0));
    let result = read_result(root.path());
    assert_eq!(result["answers"][0]["option_index"], 1);
    assert_eq!(result["answers"][1]["answer"], json!(["Linux", "macOS"]));
    let by_file =
        |entry: &Entry| matches!(entry, Entry::Answered { answer, .. } if answer.origin == AnswerOrigin::File);
    assert!(read_session_entries(root.path()).iter().any(by_file));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn printed_questions_can_be_filled_in_and_given_back() {
    let service = Service::start([question_reply(), text_answer("Good.")]).await;
    let setup = Setup::new(&["-p", "go"]);
    let root = setup.root.clone();
    let (out, _, code) = run_headless(&service, setup, "").await;
    assert_eq!(code, 3);
    let mut last_line = parse_last_line(&out);
    let id = last_line["session"].as_str().unwrap().to_owned();
    assert_eq!(last_line["answer_with"], format!("aye -p --resume {id} --answers FILE"));
    // The output given back unchanged answers nothing and loses nothing.
    let resume_with = |file: &Value| {
        let setup = Setup::with_home(&root, &["-p", "--resume", &id, "--answers", "-"]);
        (setup, file.to_string())
    };
    let (setup, text) = resume_with(&last_line);
    let (_, err, code) = run_headless(&service, setup, &text).await;
    assert!(code == 2 && err.contains("no answer to \"clock\", \"os\""), "{code} {err}");
    assert_eq!((&last_line["state"], &last_line["waiting"]), (&json!("waiting"), &last_line["waits"]));
    last_line["waiting"][0]["questions"][0]["answer"] = json!("my own");
    last_line["waits"][0]["questions"][1]["answer"] = json!({ "skipped": true });
    let (setup, text) = resume_with(&last_line);
    let (out, err, code) = run_headless(&service, setup, &text).await;
    assert_eq!((out.as_str(), err.as_str(), code), ("Good.\n", "", 0));
    let result = read_result(root.path());
    assert_eq!(
        (&result["answers"][0]["source"], &result["answers"][0]["answer"]),
        (&json!("written"), &json!("my own"))
    );
    assert_eq!((&result["answers"][1]["source"], &result["answers"][1]["answer"]), (&json!("skipped"), &Value::Null));
    let (setup, text) = resume_with(&last_line);
    let (_, err, code) = run_headless(&service, setup, &text).await;
    assert!(code == 2 && err.contains("has no waiting question"), "{code} {err}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refuses_answers_that_do_not_fit_and_keeps_the_question_waiting() {
    let service = Service::start([question_reply(), text_answer("Good.")]).await;
    let setup = Setup::new(&["-p", "go", "--answers", "-"]);
    let root = setup.root.clone();
    let (out, err, code) = run_headless(&service, setup, r#"{"clock": 0, "os": "Windows"}"#).await;
    assert!(code == 2 && err.contains("os: \"Windows\" is none of the options. Use any of"), "{code} {err}");
    assert_eq!(parse_last_line(&out)["waits"][0]["questions"][0]["keyword"], "clock");
    let before = read_session_entries(root.path()).len();
    for (file, part) in [
        (r#"{"clock": ["paused", "real"], "os": "Linux"}"#, "clock: 2 options are selected, but only one is allowed"),
        (r#"{"clok": 1, "os": "Linux"}"#, "no question has the keyword \"clok\""),
        ("{\"clock\":\n  real}", "not JSON: expected value at line 2 column 3"),
        ("", "it is empty"),
        ("\u{1}\u{2}", "not JSON"),
    ] {
        let setup = Setup::with_home(&root, &["-p", "-c", "--answers", "-"]);
        let (out, err, code) = run_headless(&service, setup, file).await;
        assert!(code == 2 && out.is_empty() && err.contains(part), "{file}: {code} {out} {err}");
    }
    let setup = Setup::with_home(&root, &["-p", "-c", "--answers", "nowhere.json"]);
    let (_, err, code) = run_headless(&service, setup, "").await;
    assert!(code == 2 && err.contains("nowhere.json"), "{code} {err}");
    assert_eq!(read_session_entries(root.path()).len(), before);
    let setup = Setup::with_home(&root, &["-p", "-c", "--answers", "-"]);
    let (out, _, code) = run_headless(&service, setup, r#"{"clock": 0, "os": "linux"}"#).await;
    assert_eq!((out.as_str(), code), ("Good.\n", 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn question_keeps_waiting_if_an_answer_is_missing() {
    let service = Service::start([question_reply()]).await;
    let setup = Setup::new(&["-p", "go", "--answers", "-"]);
    let (out, err, code) = run_headless(&service, setup, r#"{"clock": 0}"#).await;
    assert!(code == 3 && err.contains("no answer to os; the question is still waiting"), "{code} {err}");
    assert_eq!(parse_last_line(&out)["waits"][0]["questions"][1]["answer"], Value::Null);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_a_resumed_session_on_the_screen_from_a_file() {
    let service = Service::start([question_reply(), text_answer("Good.")]).await;
    let setup =
        Setup::new(&["-p", "go"]).with_file("a.json", r#"{"clock": "real", "os": "Linux"}"#).with_file("b.json", "{}");
    let root = setup.root.clone();
    run_headless(&service, setup, "").await;
    let base = service.base_url.clone();
    tokio::task::spawn_blocking(move || {
        let arguments = ["--base-url", &base, "--model", "m", "-c", "--answers"];
        let mut program = Setup::with_home(&root, &[&arguments[..], &["b.json"]].concat()).start();
        assert_eq!(program.wait_for_exit(), 2);
        let mut program = Setup::with_home(&root, &[&arguments[..], &["a.json"]].concat()).start();
        let screen = program.until("Good.");
        assert!(screen.contains("Which clock?") && screen.contains("answered by a file"), "{screen}");
    })
    .await
    .unwrap();
    assert!(service.received()[1].body.to_string().contains("real"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refuses_answers_without_a_session_to_resume() {
    let service = Service::start([]).await;
    for arguments in [&["--answers", "a.json"][..], &["-c", "--answers", "-"], &["--resume", "--answers", "a.json"]] {
        let setup = Setup::new(arguments);
        let root = setup.root.clone();
        let (base, arguments) = (service.base_url.clone(), arguments.join(" "));
        tokio::task::spawn_blocking(move || {
            let mut program = setup.env("OPENAI_BASE_URL", &base).env("OPENAI_API_KEY", "k").start();
            assert_eq!(program.wait_for_exit(), 2, "{arguments}");
            assert!(program.screen().contains("--answers"), "{arguments}: {}", program.screen());
            let sessions = root.path().join("home/aye/data/sessions");
            assert!(std::fs::read_dir(sessions).into_iter().flatten().next().is_none(), "a session was created");
        })
        .await
        .unwrap();
    }
}

/// A reply with a command between two question calls.
fn questions_around_a_command() -> Answer {
    let ask = |keyword: &str| json!({ "question": "Which?", "keyword": keyword, "options": ["a", "b", "c"] });
    calls_answer_after(
        Duration::ZERO,
        &[
            ("ask_question", ask("first")),
            ("bash_exec", json!({ "command": "touch made" })),
            ("ask_question", ask("last")),
        ],
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r19_denies_a_command_between_questions_and_reports_both() {
    let service = Service::start([questions_around_a_command(), text_answer("Good.")]).await;
    let setup = Setup::new(&["-p", "go", "--answers", "-"]);
    let root = setup.root.clone();
    let (out, err, code) = run_headless(&service, setup, r#"{"first": "b", "last": 2}"#).await;
    assert_eq!((err.as_str(), code), ("", 3), "{out}");
    let waiting = parse_last_line(&out);
    assert_eq!(
        (&waiting["denied"][0]["kind"], &waiting["denied"][0]["what"]),
        (&json!("denied"), &json!("touch made"))
    );
    assert_eq!((&waiting["kind"], &waiting["waits"]), (&json!("denied"), &Value::Null), "both questions were answered");
    assert_eq!((&waiting["state"], &waiting["denied"][0]["summary"]), (&json!("denied"), &json!("touch made")));
    assert!(out.starts_with("Good.\n") && !root.path().join("project/made").exists(), "{out}");
    let result = service.received()[1].body["messages"].to_string();
    assert!(result.contains(r#"\"option_index\":1"#) && result.contains(r#"\"option_index\":2"#), "{result}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r16_calls_after_a_waiting_question_never_run() {
    let service = Service::start([questions_around_a_command(), text_answer("Good.")]).await;
    let setup = Setup::new(&["-p", "go"]);
    let root = setup.root.clone();
    let (out, _, code) = run_headless(&service, setup, "").await;
    let waiting = parse_last_line(&out);
    assert_eq!((code, waiting["waits"].as_array().map(Vec::len)), (3, Some(1)));
    assert_eq!(waiting["waits"][0]["questions"][0]["keyword"], "first");
    let id = waiting["session"].as_str().unwrap().to_owned();
    let setup = Setup::with_home(&root, &["-p", "--resume", &id, "--answers", "-"]);
    let (_, err, code) = run_headless(&service, setup, r#"{"first": "a", "first": "b"}"#).await;
    assert!(code == 2 && err.contains("the key “first” is given twice"), "{code} {err}");
    let setup = Setup::with_home(&root, &["-p", "--resume", &id, "--answers", "-"]);
    let note = r#"{"first": {"answer": "b", "notes": {"b": "the small one"}}}"#;
    let (out, err, code) = run_headless(&service, setup, note).await;
    assert_eq!((out.as_str(), err.as_str(), code), ("Good.\n", "", 0));
    let result = service.received()[1].body["messages"].to_string();
    assert!(result.contains("the small one") && result.matches("Not run").count() == 2, "{result}");
    assert!(!root.path().join("project/made").exists());
}
