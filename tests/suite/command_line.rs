//! Headless use: what the program prints, what it saves, and its exit codes.

use crate::support::closed_port::reserve_closed_port;
use crate::support::program::Setup;
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{find_files_with, list_all_files};
use serde_json::{Value, json};

fn call_event(name: &str, arguments: &Value) -> Value {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": 0, "id": "c1", "function": function }] } }] })
}

fn call_reply(name: &str, arguments: &Value) -> Answer {
    Answer::stream().event(call_event(name, arguments)).finish("tool_calls").done()
}

fn text_reply(text: &str) -> Answer {
    Answer::stream().text(text).finish("stop").done()
}

/// Runs `aye -p` against a service; returns its output, its errors and its exit code.
async fn run_headless(service: &Service, setup: Setup, input: &str) -> (String, String, i32) {
    let setup = setup
        .env("OPENAI_BASE_URL", &service.base_url)
        .env("OPENAI_API_KEY", "sk-test-key-1234567890")
        .env("AYE_MODEL", "m");
    let input = input.to_owned();
    tokio::task::spawn_blocking(move || setup.run_piped(&input)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prints_the_reply_and_adds_piped_input_to_the_prompt() {
    let service = Service::start([text_reply("Hello.")]).await;
    let (out, err, code) = run_headless(&service, Setup::new(&["-p", "say", "hello"]), "piped words\n").await;
    assert_eq!((out.as_str(), err.as_str(), code), ("Hello.\n", "", 0));
    let request = &service.received()[0];
    let last = request.body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"], "say hello\n\npiped words\n");
    assert_eq!(request.header("authorization"), Some("Bearer sk-test-key-1234567890"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_output_has_one_entry_per_line() {
    let service = Service::start([text_reply("Hello.")]).await;
    let (out, _, code) = run_headless(&service, Setup::new(&["-p", "--json", "hi"]), "").await;
    let kinds: Vec<String> = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((kinds, code), (vec!["said".into(), "replied".into(), "ended".into()], 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r19_denies_calls_that_need_approval_and_exits_with_3() {
    let service = Service::start([
        call_reply("bash_exec", &json!({ "command": "touch made" })),
        text_reply("I was not allowed."),
    ])
    .await;
    let setup = Setup::new(&["-p", "make it"]);
    let root = setup.root.clone();
    let (out, _, code) = run_headless(&service, setup, "").await;
    assert_eq!(code, 3);
    assert!(!root.path().join("project/made").exists());
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
    // A file of answers answers questions; it never approves a call.
    assert_eq!((&last["waits"], &last["answer_with"]), (&Value::Null, &Value::Null), "{out}");
    let ways = last["to_allow"].to_string();
    assert!(["aye --resume", "with a rule", "--mode"].iter().all(|way| ways.contains(way)), "{ways}");
    assert!(ways.contains("--mode full"), "{ways}");
    // The denial must not be attributed to the user, neither in the request nor in the audit.
    let sent = service.received()[1].body["messages"].to_string();
    assert!(sent.contains("Denied: no interactive user") && !sent.contains("The user denied"), "{sent}");
    let (out, _, _) = run_headless(&service, Setup::with_home(&root, &["audit"]), "").await;
    assert!(out.contains("no interactive user: aye denied") && !out.contains("you denied"), "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn denial_suggests_no_mode_if_none_allows_the_call() {
    for mode in ["ask", "full"] {
        let call = call_reply("read_file", &json!({ "path": ".env" }));
        let service = Service::start([call, text_reply("I was not allowed.")]).await;
        let setup = Setup::new(&["-p", "--mode", mode, "read it"]).with_file(".env", "TOKEN=x\n");
        let (out, _, code) = run_headless(&service, setup, "").await;
        assert_eq!(code, 3, "{out}");
        let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        let ways = last["to_allow"].to_string();
        assert!(ways.contains("aye --resume") && !ways.contains("--mode"), "{mode}: {ways}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r16_leaves_a_question_waiting_in_the_session() {
    let question = call_reply("ask_question", &json!({ "question": "Which?", "options": ["a", "b", "c"] }));
    let service = Service::start([question]).await;
    let setup = Setup::new(&["-p", "go"]);
    let root = setup.root.clone();
    let (out, _, code) = run_headless(&service, setup, "").await;
    assert_eq!(code, 3);
    let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!(last["waits"][0]["questions"][0]["text"], "Which?");
    let (out, _, code) = run_headless(&service, Setup::with_home(&root, &["-p", "--continue"]), "").await;
    assert_eq!(code, 3, "the question still waits");
    assert!(out.contains("Which?"), "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_a_providers_refusal_without_the_key() {
    let body = r#"{"error":{"message":"Incorrect API key provided: sk-test-key-1234567890","code":"invalid_api_key"}}"#;
    let service = Service::start([Answer::body(401, "application/json", &[], body)]).await;
    let (out, err, code) = run_headless(&service, Setup::new(&["-p", "hi"]), "").await;
    assert_eq!((out.as_str(), code), ("", 1));
    assert!(err.contains("401") && err.contains("invalid_api_key"), "{err}");
    assert!(!err.contains("sk-test-key-1234567890"), "{err}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prints_an_incomplete_reply_and_reports_it() {
    let service = Service::start([Answer::stream().text("Half a")]).await;
    let (out, err, code) = run_headless(&service, Setup::new(&["-p", "hi"]), "").await;
    assert_eq!((out.as_str(), code), ("Half a\n", 1));
    assert!(err.contains("reply"), "{err}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn continues_a_session() {
    let service = Service::start([text_reply("One."), text_reply("Two.")]).await;
    let first = Setup::new(&["-p", "first"]);
    let root = first.root.clone();
    run_headless(&service, first, "").await;
    let (out, _, code) = run_headless(&service, Setup::with_home(&root, &["-p", "--continue", "second"]), "").await;
    assert_eq!((out.as_str(), code), ("Two.\n", 0));
    let texts: Vec<String> = service.received()[1].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .skip(1)
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(texts, ["first", "One.", "second"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r30_a_resumed_dry_run_is_still_a_dry_run() {
    let write = call_reply("write_file", &json!({ "path": "a.txt", "content": "x\n" }));
    let read = call_reply("read_file", &json!({ "path": "a.txt" }));
    let service = Service::start([
        write.clone(),
        text_reply("Rehearsed."),
        read,
        text_reply("Read."),
        write,
        text_reply("Again."),
    ])
    .await;
    let first = Setup::new(&["--dry-run", "-p", "write"]);
    let root = first.root.clone();
    let (_, _, code) = run_headless(&service, first, "").await;
    assert_eq!(code, 0);
    let (_, _, code) = run_headless(&service, Setup::with_home(&root, &["-p", "--continue", "read"]), "").await;
    assert_eq!(code, 0);
    let sent = service.received()[3].body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert!(sent.as_str().unwrap().contains('x'), "the rehearsed file is there after a resume: {sent}");
    let (_, _, code) = run_headless(&service, Setup::with_home(&root, &["-p", "--continue", "again"]), "").await;
    assert_eq!(code, 0, "a rehearsed write needs no approval");
    assert!(!root.path().join("project/a.txt").exists());
    let sessions = root.path().join("home/aye/data/sessions");
    let file = std::fs::read_dir(sessions).unwrap().next().unwrap().unwrap().path();
    let first_line = std::fs::read_to_string(file).unwrap().lines().next().unwrap().to_owned();
    assert_eq!(serde_json::from_str::<Value>(&first_line).unwrap()["dry_run"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r57_the_key_is_never_written_to_disk() {
    let service = Service::start([call_reply("bash_exec", &json!({ "command": "env" })), text_reply("Hello.")]).await;
    let setup = Setup::new(&["-p", "hi"]);
    let root = setup.root.clone();
    run_headless(&service, setup, "").await;
    assert!(!list_all_files(root.path()).is_empty(), "no file was checked");
    let found = find_files_with(root.path(), "sk-test-key");
    assert!(found.is_empty(), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg(target_os = "linux")]
async fn r57_other_processes_of_the_user_cannot_read_the_key() {
    let service = Service::start([Answer::stream().text("Slowly").with_step(Step::Stall)]).await;
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m-7b"]);
    let mut program = setup.env("OPENAI_API_KEY", "sk-test-key-1234567890").start();
    tokio::task::spawn_blocking(move || {
        program.until("m-7b");
        let environment = std::fs::read(format!("/proc/{}/environ", program.pid()));
        let is_root = rustix::process::geteuid().is_root();
        assert!(is_root || environment.is_err(), "only root may read the environment");
    })
    .await
    .unwrap();
}

#[test]
fn reports_usage_errors_with_exit_code_2() {
    for (arguments, expected) in [
        (&["-p", "hi"][..], "no model is configured"),
        (&["-p", "--tour"], "there is no prompt"),
        (&["help", "aproval"], "Did you mean `aye help approval`?"),
        (&["help", "sesions"], "Did you mean `aye help sessions`?"),
        (&["--nonsense"], "--nonsense"),
        (&["-p", "--mode", "wild", "hi"], "Use plan, ask, auto or full."),
        (&["-p", "--tour", "--resume", "01ZZ", "hi"], "01ZZ"),
        (&["-p", "--tour", "--continue", "hi"], "Cannot find a session of"),
        (&["-p", "--profile", "opnai", "hi"], "openai"),
        (&["-p", "--tour", "--resume"], "--resume has no session ID"),
        (&["-p", "--base-url", "not an address", "hi"], "address"),
        (&["-p", "-C", "/nowhere/at/all", "hi"], "/nowhere/at/all"),
        (&[], "terminal"),
        (
            &["sesions", "list", "--all"],
            "Did you mean `aye sessions list`? To send this to the model, put it in quotes or after --",
        ),
        (&["sessions", "bogus"], "aye sessions takes one of: list, show"),
        (&["doctor", "please"], "aye doctor takes no arguments"),
        // Not a command if it is quoted or after `--`: a message for the model, which needs a terminal here.
        (&["sesions list"], "terminal"),
        (&["--", "doctor", "please"], "terminal"),
        (&["explain", "this", "repo"], "terminal"),
    ] {
        let (out, err, code) = Setup::new(arguments).run_piped("");
        assert_eq!((out.as_str(), code), ("", 2), "{arguments:?}: {err}");
        assert!(err.contains(expected), "{arguments:?}: {err}");
    }
}

#[test]
fn each_command_has_a_help_page_and_is_listed() {
    let run = |arguments: &[&str]| {
        let (out, err, code) = Setup::new(arguments).run_piped("");
        assert_eq!((err.as_str(), code), ("", 0), "{arguments:?}");
        out
    };
    let all = run(&["--help"]);
    assert!(all.contains("Commands:") && all.contains("  doctor ") && !all.contains("--hunks"), "{all}");
    assert_eq!(run(&["help"]), all);
    for arguments in [&["rehearsal", "apply", "--help"][..], &["help", "rehearsal", "apply"]] {
        let page = run(arguments);
        assert!(page.contains("Usage: aye rehearsal apply [OPTIONS] [ID]") && page.contains("--hunks"), "{page}");
        assert!(!page.contains("--theme"), "{page}");
    }
}

#[test]
fn reports_a_server_that_is_not_running() {
    let (_closed, address) = reserve_closed_port();
    let closed = format!("http://{address}/v1");
    let (out, err, code) = Setup::new(&["-p", "--base-url", &closed, "--model", "m", "hi"]).run_piped("");
    assert_eq!((out.as_str(), code), ("", 1));
    assert!(err.contains("Cannot connect to http://127.0.0.1"), "{err}");
}

#[test]
fn tour_says_that_it_is_scripted() {
    let (out, _, _) = Setup::new(&["-p", "--tour", "hello"]).run_piped("");
    assert!(out.to_lowercase().contains("script"), "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uses_the_servers_first_model_if_none_is_configured() {
    let models = Answer::body(200, "application/json", &[], r#"{"object":"list","data":[{"id":"one"},{"id":"two"}]}"#);
    let service = Service::start([models, text_reply("Hello.")]).await;
    let settings = format!("[profiles.mine]\nbase_url = \"{}\"\n", service.base_url);
    let setup = Setup::new(&["-p", "--profile", "mine", "hi"]);
    let config = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), settings).unwrap();
    let (out, err, code) = tokio::task::spawn_blocking(move || setup.run_piped("")).await.unwrap();
    assert_eq!((out.as_str(), err.as_str(), code), ("Hello.\n", "", 0));
    assert_eq!(service.received()[1].body["model"], "one");
}

#[test]
fn tour_reads_its_project_without_approval_if_aye_home_is_unset() {
    let (out, err, code) = Setup::new(&["-p", "--tour", "hello"]).env("AYE_HOME", "").run_piped("");
    let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let kinds: Vec<&Value> = last["waits"].as_array().unwrap().iter().map(|waits| &waits["kind"]).collect();
    assert_eq!((code, kinds), (3, vec![&json!("question")]), "only the question of the tour waits: {out}{err}");
}

#[test]
fn fatal_errors_contain_no_terminal_sequences() {
    let folder = "no\x1b]0;title\x07 \u{202e}such\x1b[2J";
    let setup = Setup::new(&["-p", "--base-url", "http://127.0.0.1:1", "--model", "m", "--folder", folder, "hi"]);
    let (out, err, code) = setup.run_piped("");
    assert!(err.starts_with("aye: ") && err.contains("<U+202E>such<U+001B>[2J: No such file"), "{err:?}");
    let is_control = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(!err.contains(is_control), "{err:?}");
    assert_eq!((out.as_str(), code == 0), ("", false), "{err:?}");
}

#[test]
fn the_detailed_version_says_how_the_program_was_built() {
    for arguments in [&["--version", "--verbose"][..], &["--verbose", "-V"]] {
        let (out, err, code) = Setup::new(arguments).run_piped("");
        assert_eq!((err.as_str(), code), ("", 0));
        for name in ["aye ", "\ncommit: ", "\ntarget: ", "\nprofile: ", "\nfeatures: "] {
            assert!(out.contains(name), "{name}: {out}");
        }
    }
    let (_, err, code) = Setup::new(&["--verbose", "hi"]).run_piped("");
    assert!(code == 2 && err.contains("--version"), "{err}");
    assert_eq!(Setup::new(&["--version"]).run_piped("").0.lines().count(), 1);
}
