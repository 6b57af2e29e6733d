//! The program without a screen: what it prints, what it keeps, and its exit codes.

use crate::support::closed::closed_port;
use crate::support::program::Setup;
use crate::support::service::{Answer, Service, Step};
use serde_json::{Value, json};

fn call(name: &str, arguments: &Value) -> Value {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": 0, "id": "c1", "function": function }] } }] })
}

fn calls(name: &str, arguments: &Value) -> Answer {
    Answer::stream().event(call(name, arguments)).finish("tool_calls").done()
}

fn says(text: &str) -> Answer {
    Answer::stream().says(text).finish("stop").done()
}

/// Runs `aye -p` against a service; what it printed, its errors, its exit code.
async fn prints(service: &Service, setup: Setup, input: &str) -> (String, String, i32) {
    let setup = setup
        .env("OPENAI_BASE_URL", &service.base_url)
        .env("OPENAI_API_KEY", "sk-test-key-1234567890")
        .env("AYE_MODEL", "m");
    let input = input.to_owned();
    tokio::task::spawn_blocking(move || setup.print(&input)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_is_printed_and_a_pipe_is_added_to_the_prompt() {
    let service = Service::start([says("Hello.")]).await;
    let (out, err, code) = prints(&service, Setup::new(&["-p", "say", "hello"]), "piped words\n").await;
    assert_eq!((out.as_str(), err.as_str(), code), ("Hello.\n", "", 0));
    let request = &service.received()[0];
    let last = request.body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"], "say hello\n\npiped words\n");
    assert_eq!(request.header("authorization"), Some("Bearer sk-test-key-1234567890"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_is_one_entry_a_line() {
    let service = Service::start([says("Hello.")]).await;
    let (out, _, code) = prints(&service, Setup::new(&["-p", "--json", "hi"]), "").await;
    let kinds: Vec<String> = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((kinds, code), (vec!["said".into(), "replied".into(), "ended".into()], 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r19_what_needs_a_yes_is_denied_and_the_exit_code_says_so() {
    let service =
        Service::start([calls("bash_exec", &json!({ "command": "touch made" })), says("I was not allowed.")]).await;
    let setup = Setup::new(&["-p", "make it"]);
    let place = setup.place.clone();
    let (out, _, code) = prints(&service, setup, "").await;
    assert_eq!(code, 3);
    assert!(!place.path().join("project/made").exists());
    let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let denied = &last["denied"][0];
    assert_eq!(
        (&last["kind"], &denied["kind"], &denied["why"], &denied["what"]),
        (
            &json!("denied"),
            &json!("denied"),
            &json!("no interactive user was available to approve this call"),
            &json!("touch made")
        )
    );
    // A file of answers answers questions; it never says yes.
    assert_eq!((&last["waits"], &last["answer_with"]), (&Value::Null, &Value::Null), "{out}");
    let ways = last["to_allow"].to_string();
    assert!(["aye --resume", "with a rule", "--mode"].iter().all(|way| ways.contains(way)), "{ways}");
    // Nobody said no in the name of the person: not to the model, and not in the record.
    let told = service.received()[1].body["messages"].to_string();
    assert!(told.contains("Denied: no interactive user") && !told.contains("The user denied"), "{told}");
    let (out, _, _) = prints(&service, Setup::again(&place, &["audit"]), "").await;
    assert!(out.contains("no interactive user: aye denied") && !out.contains("person said no"), "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r16_a_question_is_never_answered_and_waits_in_the_session() {
    let asks = calls("ask_question", &json!({ "question": "Which?", "options": ["a", "b", "c"] }));
    let service = Service::start([asks]).await;
    let setup = Setup::new(&["-p", "go"]);
    let place = setup.place.clone();
    let (out, _, code) = prints(&service, setup, "").await;
    assert_eq!(code, 3);
    let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!(last["waits"][0]["questions"][0]["text"], "Which?");
    let (out, _, code) = prints(&service, Setup::again(&place, &["-p", "--continue"]), "").await;
    assert_eq!(code, 3, "it still waits");
    assert!(out.contains("Which?"), "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_refuses_is_said_in_its_words_and_the_key_is_not() {
    let body = r#"{"error":{"message":"Incorrect API key provided: sk-test-key-1234567890","code":"invalid_api_key"}}"#;
    let service = Service::start([Answer::body(401, "application/json", &[], body)]).await;
    let (out, err, code) = prints(&service, Setup::new(&["-p", "hi"]), "").await;
    assert_eq!((out.as_str(), code), ("", 1));
    assert!(err.contains("401") && err.contains("invalid_api_key"), "{err}");
    assert!(!err.contains("sk-test-key-1234567890"), "{err}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_a_stream_is_printed_and_said_to_be_half() {
    let service = Service::start([Answer::stream().says("Half a")]).await;
    let (out, err, code) = prints(&service, Setup::new(&["-p", "hi"]), "").await;
    assert_eq!((out.as_str(), code), ("Half a\n", 1));
    assert!(err.contains("reply"), "{err}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_gone_on_with() {
    let service = Service::start([says("One."), says("Two.")]).await;
    let first = Setup::new(&["-p", "first"]);
    let place = first.place.clone();
    prints(&service, first, "").await;
    let (out, _, code) = prints(&service, Setup::again(&place, &["-p", "--continue", "second"]), "").await;
    assert_eq!((out.as_str(), code), ("Two.\n", 0));
    let said: Vec<String> = service.received()[1].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .skip(1)
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(said, ["first", "One.", "second"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r30_a_dry_run_stays_one_when_it_is_gone_on_with() {
    let write = calls("write_file", &json!({ "path": "a.txt", "content": "x\n" }));
    let read = calls("read_file", &json!({ "path": "a.txt" }));
    let service = Service::start([write.clone(), says("Rehearsed."), read, says("Read."), write, says("Again.")]).await;
    let first = Setup::new(&["--dry-run", "-p", "write"]);
    let place = first.place.clone();
    let (_, _, code) = prints(&service, first, "").await;
    assert_eq!(code, 0);
    let (_, _, code) = prints(&service, Setup::again(&place, &["-p", "--continue", "read"]), "").await;
    assert_eq!(code, 0);
    let told = service.received()[3].body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert!(told.as_str().unwrap().contains('x'), "the rehearsed file is there after a resume: {told}");
    let (_, _, code) = prints(&service, Setup::again(&place, &["-p", "--continue", "again"]), "").await;
    assert_eq!(code, 0, "a rehearsed write asks nobody");
    assert!(!place.path().join("project/a.txt").exists());
    let sessions = place.path().join("home/aye/data/sessions");
    let file = std::fs::read_dir(sessions).unwrap().next().unwrap().unwrap().path();
    let first_line = std::fs::read_to_string(file).unwrap().lines().next().unwrap().to_owned();
    assert_eq!(serde_json::from_str::<Value>(&first_line).unwrap()["dry_run"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r57_the_key_is_nowhere_but_on_the_wire() {
    let service = Service::start([calls("bash_exec", &json!({ "command": "env" })), says("Hello.")]).await;
    let setup = Setup::new(&["-p", "hi"]);
    let place = setup.place.clone();
    prints(&service, setup, "").await;
    let (mut folders, mut files) = (vec![place.path().to_owned()], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files += 1;
                let bytes = std::fs::read(&path).unwrap();
                assert!(!bytes.windows(11).any(|part| part == b"sk-test-key"), "{}", path.display());
            }
        }
    }
    assert!(files > 0, "the session is kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg(target_os = "linux")]
async fn r57_no_other_process_of_the_person_reads_the_key_out_of_the_program() {
    let service = Service::start([Answer::stream().says("Slowly").then(Step::Stall)]).await;
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m-7b"]);
    let mut program = setup.env("OPENAI_API_KEY", "sk-test-key-1234567890").start();
    tokio::task::spawn_blocking(move || {
        program.until("m-7b");
        let environment = std::fs::read(format!("/proc/{}/environ", program.pid()));
        let is_root = rustix::process::geteuid().is_root();
        assert!(is_root || environment.is_err(), "root alone may look");
    })
    .await
    .unwrap();
}

#[test]
fn the_callers_mistakes_are_told_in_a_sentence_with_exit_code_two() {
    for (arguments, words) in [
        (&["-p", "hi"][..], "no model is configured"),
        (&["-p", "--tour"], "no prompt"),
        (&["--nonsense"], "--nonsense"),
        (&["-p", "--mode", "wild", "hi"], "expected"),
        (&["-p", "--tour", "--resume", "01ZZ", "hi"], "01ZZ"),
        (&["-p", "--tour", "--continue", "hi"], "no session"),
        (&["-p", "--profile", "opnai", "hi"], "openai"),
        (&["-p", "--tour", "--resume"], "needs a session ID"),
        (&["-p", "--base-url", "not an address", "hi"], "address"),
        (&["-p", "-C", "/nowhere/at/all", "hi"], "/nowhere/at/all"),
        (&[], "terminal"),
        (
            &["sesions", "list", "--all"],
            "did you mean: aye sessions list. To send this to the model, put it in quotes or after --",
        ),
        (&["sessions", "bogus"], "aye sessions takes one of: list, show"),
        (&["doctor", "please"], "aye doctor takes no arguments"),
        // No command, in quotes or behind --: words for a model, which need a screen here.
        (&["sesions list"], "terminal"),
        (&["--", "doctor", "please"], "terminal"),
        (&["explain", "this", "repo"], "terminal"),
    ] {
        let (out, err, code) = Setup::new(arguments).print("");
        assert_eq!((out.as_str(), code), ("", 2), "{arguments:?}: {err}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    }
}

#[test]
fn each_command_has_help_of_its_own_and_the_program_lists_them() {
    let told = |arguments: &[&str]| {
        let (out, err, code) = Setup::new(arguments).print("");
        assert_eq!((err.as_str(), code), ("", 0), "{arguments:?}");
        out
    };
    let all = told(&["--help"]);
    assert!(all.contains("Commands:") && all.contains("  doctor ") && !all.contains("--hunks"), "{all}");
    assert_eq!(told(&["help"]), all);
    for arguments in [&["rehearsal", "apply", "--help"][..], &["help", "rehearsal", "apply"]] {
        let page = told(arguments);
        assert!(page.contains("Usage: aye rehearsal apply [ID]") && page.contains("--hunks"), "{page}");
        assert!(!page.contains("--theme"), "{page}");
    }
}

#[test]
fn no_server_is_told_in_a_sentence() {
    let (_closed, address) = closed_port();
    let closed = format!("http://{address}/v1");
    let (out, err, code) = Setup::new(&["-p", "--base-url", &closed, "--model", "m", "hi"]).print("");
    assert_eq!((out.as_str(), code), ("", 1));
    assert!(err.contains("Cannot connect to http://127.0.0.1"), "{err}");
}

#[test]
fn the_tour_says_that_it_is_a_script() {
    let (out, _, _) = Setup::new(&["-p", "--tour", "hello"]).print("");
    assert!(out.to_lowercase().contains("script"), "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_no_model_is_named_the_servers_first_is_asked() {
    let models = Answer::body(200, "application/json", &[], r#"{"object":"list","data":[{"id":"one"},{"id":"two"}]}"#);
    let service = Service::start([models, says("Hello.")]).await;
    let settings = format!("[profiles.mine]\nbase_url = \"{}\"\n", service.base_url);
    let setup = Setup::new(&["-p", "--profile", "mine", "hi"]);
    let config = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), settings).unwrap();
    let (out, err, code) = tokio::task::spawn_blocking(move || setup.print("")).await.unwrap();
    assert_eq!((out.as_str(), err.as_str(), code), ("Hello.\n", "", 0));
    assert_eq!(service.received()[1].body["model"], "one");
}

#[test]
fn the_tour_reads_its_project_without_asking_where_nobody_set_a_home_for_it() {
    let (out, err, code) = Setup::new(&["-p", "--tour", "hello"]).env("AYE_HOME", "").print("");
    let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let kinds: Vec<&Value> = last["waits"].as_array().unwrap().iter().map(|waits| &waits["kind"]).collect();
    assert_eq!((code, kinds), (3, vec![&json!("question")]), "only its question waits: {out}{err}");
}

#[test]
fn what_ends_the_program_is_told_without_what_a_terminal_would_obey() {
    let folder = "no\x1b]0;title\x07 \u{202e}such\x1b[2J";
    let setup = Setup::new(&["-p", "--base-url", "http://127.0.0.1:1", "--model", "m", "--folder", folder, "hi"]);
    let (out, err, code) = setup.print("");
    assert!(err.starts_with("aye: ") && err.contains("<U+202E>such<U+001B>[2J: No such file"), "{err:?}");
    let obeyed = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(!err.contains(obeyed), "{err:?}");
    assert_eq!((out.as_str(), code == 0), ("", false), "{err:?}");
}
