//! Keys are sent to their own provider only, and appear nowhere else.

use crate::support::keyboard::PATIENCE;
use crate::support::processes::read_process_files;
use crate::support::program::{Program, Setup, list_descendants};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{find_files_with, write_script, write_settings};
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use rustix::process::Signal;
use serde_json::json;
use std::path::Path;
use tokio::runtime::Runtime;

const KEY: &str = "odd-name-1234567890";
const HEADER: &str = "header-1234567890";
const OTHER: &str = "router-1234567890";

fn call_answer(name: &str, arguments: &serde_json::Value) -> Answer {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let delta = json!({ "tool_calls": [{ "index": 0, "id": "c1", "function": function }] });
    Answer::stream().event(json!({ "choices": [{ "index": 0, "delta": delta }] })).finish("tool_calls").done()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r57_no_key_reaches_a_command_the_screen_the_session_or_an_error() {
    let env = json!({ "command": "env; tr '\\0' '\\n' < /proc/$PPID/environ; echo ran-to-the-end" });
    let echoed = format!(r#"{{"error":{{"message":"bad {KEY} {HEADER}"}}}}"#);
    let service =
        Service::start([call_answer("bash_exec", &env), Answer::body(400, "application/json", &[], &echoed)]).await;
    let setup = Setup::new(&["--profile", "mine"])
        .size(100, 30)
        .env("MY_MODEL", KEY)
        .env("OPENROUTER_API_KEY", OTHER)
        .env("OPENAI_API_KEY", OTHER);
    let config = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let settings = format!(
        "[profiles.mine]\nbase_url = \"{}\"\nmodel = \"m\"\nkey_env = \"MY_MODEL\"\nheaders = {{ \"x-api-key\" = \"{HEADER}\" }}\n",
        service.base_url
    );
    std::fs::write(config.join("config.toml"), settings).unwrap();
    let root = setup.root.clone();
    let mut program = setup.start();
    let bytes = tokio::task::spawn_blocking(move || {
        program.until("ask mode");
        program.type_text("go");
        program.press_keys("\r");
        program.until_prompt("Run a command?");
        program.press_keys("y");
        program.until("(400)");
        program.press_keys("\u{4}");
        program.wait_for_exit();
        program.bytes()
    })
    .await
    .unwrap();
    let requests = service.received();
    assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(requests[0].header("x-api-key"), Some(HEADER));
    let request = requests[1].body.to_string();
    assert!(request.contains("ran-to-the-end"), "{request}");
    std::fs::remove_file(config.join("config.toml")).unwrap();
    for key in [KEY, HEADER, OTHER] {
        assert!(!request.contains(key), "{key} reached a command");
        assert!(!String::from_utf8_lossy(&bytes).contains(key), "{key} is on the screen");
        let files = find_files_with(root.path(), key);
        assert!(files.is_empty(), "{key} is in {files:?}");
    }
}

/// The command line of every process of this machine, as far as it can be read.
fn read_command_lines() -> String {
    let lines = read_process_files("cmdline");
    lines.iter().map(|(_, line)| String::from_utf8_lossy(line).replace('\0', " ") + "\n").collect()
}

#[test]
fn r57_key_of_a_profile_is_sent_to_its_provider_only() {
    use crate::support::terminal_session::{command_answer, submit_message, text_answer};
    const PRINTED: &str = "printed-1234567890-by-a-command";
    const ENTERED: &str = "entered-1234567890";
    let env =
        "env; cat /proc/$PPID/environ; until [ -e seen ]; do sleep 0.05; done; mv seen seen.$$; echo ran-to-the-end";
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let [one, two, three] = [
        vec![command_answer(env), text_answer("One.")],
        vec![command_answer(env), text_answer("Two.")],
        vec![text_answer("Three.")],
    ]
    .map(|answers| runtime.block_on(Service::start(answers)));
    let setup = Setup::new(&["--profile", "one"]).size(100, 30).env("MY_MODEL", KEY).env("OTHER_KEY", OTHER);
    let home = setup.root.path().join("home");
    let config = home.join("aye/config");
    std::fs::create_dir_all(&config).unwrap();
    // No file contains the whole key.
    let waits = format!("until [ -e '{}' ]; do sleep 0.05; done", home.join("seen").display());
    write_script(&home.join("give"), &format!("{waits}; printf '%s-%s\\n' printed 1234567890-by-a-command"));
    let profile = |name: &str, service: &Service, key: &str| {
        format!("[profiles.{name}]\nbase_url = \"{}\"\nmodel = \"m-{name}\"\n{key}\n", service.base_url)
    };
    let settings = profile("one", &one, "key_env = \"MY_MODEL\"")
        + &profile("two", &two, "key_command = \"~/give\"\nkey_env = \"NOT_SET_KEY\"")
        + &profile("three", &three, "key_env = \"NOT_SET_EITHER_KEY\"")
        + "[profiles.other]\nbase_url = \"https://other.example/v1\"\nkey_env = \"OTHER_KEY\"\n";
    std::fs::write(config.join("config.toml"), settings).unwrap();
    let origin = three.base_url.trim_end_matches("/v1");
    std::fs::write(config.join("credentials.toml"), format!("\"{origin}\" = \"{ENTERED}\"\n")).unwrap();
    let root = setup.root.clone();
    let mut program = setup.start();
    program.until("Messages go to");
    let mut lines = String::new();
    let wait_for_line = |lines: &mut String, part: &str| {
        let end = std::time::Instant::now() + PATIENCE;
        let seen = lines.len();
        while !lines[seen..].contains(part) && std::time::Instant::now() < end {
            *lines += &read_command_lines();
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        // The lines are not printed, because they are those of every program of the machine.
        assert!(lines[seen..].contains(part), "{part} was never on a command line");
    };
    let give = root.path().join("home/give").display().to_string();
    for (profile, reply) in [("one", "One."), ("two", "Two."), ("three", "Three.")] {
        if profile != "one" {
            program.press_keys("\x1bm");
            program.until(&format!("{profile} · m-{profile}"));
            program.type_text(&format!("m-{profile}"));
            program.press_keys("\r");
            program.until(&format!("switched to m-{profile} (profile {profile})"));
        }
        submit_message(&mut program, "go");
        if profile != "three" {
            if profile == "two" {
                wait_for_line(&mut lines, &give);
                std::fs::write(home.join("seen"), "").unwrap();
            }
            program.until_prompt("Run a command?");
            program.press_keys("y");
            wait_for_line(&mut lines, "guard --");
            std::fs::write(program.project().join("seen"), "").unwrap();
        }
        program.until(reply);
    }
    program.press_keys("\x04");
    program.wait_for_exit();
    let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
    std::fs::remove_file(config.join("credentials.toml")).unwrap();
    let services = [(&one, KEY), (&two, PRINTED), (&three, ENTERED)];
    for (service, own) in services {
        let requests = service.received();
        assert!(!requests.is_empty());
        for request in &requests {
            assert_eq!(request.header("authorization"), Some(format!("Bearer {own}").as_str()));
            let all = format!("{} {:?} {}", request.line, request.headers, request.body);
            for key in [KEY, PRINTED, ENTERED, OTHER].iter().filter(|key| **key != own) {
                assert!(!all.contains(key), "{key} was sent to another service");
            }
        }
        let request = requests.iter().rfind(|request| request.line.starts_with("POST")).unwrap().body.to_string();
        assert!(request.contains("ran-to-the-end") && !request.contains(own), "{request}");
    }
    for key in [KEY, PRINTED, ENTERED, OTHER] {
        assert!(!bytes.contains(key), "{key} is on the screen");
        assert!(!lines.contains(key), "{key} is on a command line");
        let files = find_files_with(root.path(), key);
        assert!(files.is_empty(), "{key} is in {files:?}");
    }
}

const JSON: &str = "application/json";

/// Answers that repeat the key and the value of a header in every place where a provider can.
fn key_echoes() -> Vec<Answer> {
    let text = format!("bad {KEY}, {HEADER}");
    let error = json!({ "error": { "message": text, "code": KEY, "type": HEADER } });
    vec![
        Answer::body(401, JSON, &[], &error.to_string()),
        // A retry after so long a time is not waited for, so the error appears at once.
        Answer::body(
            500,
            "text/plain",
            &["retry-after: 9000"],
            &format!("authorization: Bearer {KEY}\nx-api-key: {HEADER}"),
        ),
        Answer::body(400, "text/html", &[], &format!("<html><title>{text}</title>")),
        Answer::body(200, JSON, &[], &error.to_string()),
        Answer::body(200, "text/plain", &[], &text),
        Answer::stream().text("Half").event(error),
        Answer::stream().text("Half").raw(format!("data: {text}\n\n")),
        Answer::head(
            307,
            &[&format!("location: http://{KEY}:{HEADER}@127.0.0.1:9/{KEY}?key={HEADER}"), "content-length: 0"],
        ),
        Answer::head(302, &[&format!("location: http://{KEY}.example.test/"), "content-length: 0"]),
    ]
}

/// A setup with a profile for this provider, which has `KEY` as its key and `HEADER` as the value of a header.
fn with_keys(service: &Service, arguments: &[&str]) -> Setup {
    let setup = Setup::new(&[&["--profile", "mine"], arguments].concat()).size(100, 30).env("MY_MODEL", KEY);
    write_settings(&setup, &profile_settings(service));
    setup
}

fn profile_settings(service: &Service) -> String {
    let base = &service.base_url;
    format!(
        "[profiles.mine]\nbase_url = \"{base}\"\nmodel = \"m\"\nkey_env = \"MY_MODEL\"\n[profiles.mine.headers]\nx-api-key = \"{HEADER}\"\n"
    )
}

fn assert_no_key(text: &[u8], description: &str) {
    let text = String::from_utf8_lossy(text);
    for key in [KEY, HEADER] {
        assert!(!text.contains(key), "{key} is in {description}: {text}");
    }
}

/// Checks that no file contains a key, except the settings, where the user wrote it.
fn assert_no_key_in_files(root: &Path) {
    for key in [KEY, HEADER] {
        let mut found = find_files_with(root, key);
        found.retain(|file| !file.ends_with("config.toml"));
        assert!(found.is_empty(), "{key} is in {found:?}");
    }
}

#[test]
fn r57_key_repeated_by_the_provider_is_neither_printed_nor_stored() {
    let runtime = Runtime::new().unwrap();
    for answer in key_echoes() {
        let service = runtime.block_on(Service::start([answer]));
        for arguments in [&["-p", "hi"][..], &["-p", "--json", "hi"]] {
            let setup = with_keys(&service, arguments);
            let (out, err, code) = setup.run_piped("");
            assert_eq!(code, 1, "{err}");
            assert_no_key(out.as_bytes(), "the output");
            assert_no_key(err.as_bytes(), "the errors");
            assert_no_key_in_files(setup.root.path());
        }
        let requests = service.received();
        assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        assert_eq!(requests[0].header("x-api-key"), Some(HEADER));
    }
}

#[test]
fn r57_no_process_that_the_program_starts_can_read_a_key() {
    let runtime = Runtime::new().unwrap();
    let service =
        runtime.block_on(Service::start([command_answer("echo $((40 + 2))up; sleep 20"), text_answer("Over.")]));
    let mut program = with_keys(&service, &[]).start();
    program.until("ask mode");
    submit_message(&mut program, "go");
    program.until_prompt("Run a command?");
    program.press_keys("y");
    program.until("42up");
    let processes = list_descendants(program.pid());
    assert!(processes.len() >= 2, "the guard and the command: {processes:?}");
    for pid in processes {
        for file in ["cmdline", "environ"] {
            assert_no_key(&std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default(), file);
        }
    }
    assert_no_key(&std::fs::read(format!("/proc/{}/cmdline", program.pid())).unwrap(), "its own command line");
    program.press_keys("\x1b");
    program.until("stopped");
}

/// Checks that nothing of a key is on the screen or on disk.
fn assert_no_key_left(program: &mut Program) {
    assert_no_key(&program.bytes(), "the screen");
    assert_no_key_in_files(&program.root.path().join("home"));
    assert_no_key_in_files(&program.project());
}

#[test]
fn r57_key_repeated_by_the_provider_is_never_drawn() {
    let runtime = Runtime::new().unwrap();
    let mut answers = key_echoes();
    let count = answers.len();
    answers.push(Answer::stream().text("It begins").with_step(Step::Stall));
    let service = runtime.block_on(Service::start(answers));
    let mut program = with_keys(&service, &[]).start();
    program.until("ask mode");
    for at in 0..count {
        submit_message(&mut program, &format!("words {at}"));
        program.until_condition("the provider received the request", |_| service.received().len() > at);
        program.until_idle("");
    }
    submit_message(&mut program, "and now");
    program.until("It begins");
    // A draft, and then a kill.
    program.type_text("a draft");
    program.until("a draft");
    program.signal(Signal::KILL);
    program.wait_for_exit();
    assert_no_key_left(&mut program);
}

#[test]
fn r57_a_crash_discloses_no_key() {
    let runtime = Runtime::new().unwrap();
    for place in ["main", "thread"] {
        let service = runtime.block_on(Service::start([text_answer("Hello.")]));
        let mut program = with_keys(&service, &[]).env("AYE_PANIC", place).start();
        program.wait_for_exit();
        assert_no_key_left(&mut program);
    }
}
