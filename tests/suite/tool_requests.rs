//! Requests of tool files in the real program: repetition, proxies, credentials, long answers, and their rows in the list.

use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::tool_service::{add_settings, call, outcomes, response, run, user_with_tool};
use crate::support::user::User;
use crate::support::web_server::WebServer;
use aye::chat::Outcome;
use serde_json::{Value, json};

/// A tool without parameters, which may reach this machine, with further lines for its file.
fn tool_with(method: &str, url: &str, lines: &str) -> String {
    format!(
        "name = \"status\"\ntype = \"http_api\"\nmethod = \"{method}\"\nurl = \"{url}\"\nallow_private = true\n{lines}\n"
    )
}

/// Calls the tool once, approves the call, and returns its outcome.
fn call_once(user: &User, variables: &[(&str, &str)]) -> (String, Outcome) {
    let setup = variables.iter().fold(user.setup(&[]), |setup, (name, value)| setup.env(name, value));
    let mut program = setup.start();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_prompt("status ·");
    program.press_keys("y");
    program.until_idle("Done.");
    (screen, outcomes(user).pop().unwrap())
}

fn status_user(text: &str) -> User {
    user_with_tool(vec![call("status", json!({})), text_answer("Done.")], "status.toml", text)
}

#[test]
fn only_idempotent_requests_are_repeated_and_at_most_twice() {
    let now = "Retry-After: 0\r\n";
    for (method, status, attempts) in [
        ("GET", "503 Busy", 3),
        ("PUT", "502 Bad", 3),
        ("DELETE", "504 Late", 3),
        ("PATCH", "503 Busy", 1),
        ("POST", "504 Late", 1),
        ("GET", "500 Broken", 1),
    ] {
        // The last response is given again and again.
        let server = WebServer::with_responses(&[&response(status, now, "no")]);
        let (_, outcome) = call_once(&status_user(&tool_with(method, &server.url("/s"), "")), &[]);
        assert!(matches!(&outcome, Outcome::Failed(text) if text.contains(&status[..3])), "{method}: {outcome:?}");
        assert_eq!(server.connection_count(), attempts, "{method} {status}");
    }
}

#[test]
fn the_prompt_says_that_a_proxy_prevents_the_check_of_the_address() {
    let proxy =
        WebServer::start().with_page("http://api.example/s", "200 OK\r\nContent-Type: text/plain", b"through it");
    let text = tool_with("GET", "http://api.example/s", "").replace("allow_private = true", "");
    let (screen, outcome) =
        call_once(&status_user(&text), &[("HTTP_PROXY", &format!("http://127.0.0.1:{}", proxy.port))]);
    assert!(screen.contains("through the proxy of HTTP_PROXY, so aye cannot check"), "{screen}");
    assert!(matches!(&outcome, Outcome::Done(text) if text.contains("through it")), "{outcome:?}");
    assert!(proxy.requests()[0].starts_with("GET http://api.example/s "), "{:?}", proxy.requests());
}

#[test]
fn r57_a_credential_of_the_environment_is_sent_and_not_stored() {
    let server = WebServer::with_responses(&[&response("200 OK", "", "fine")]);
    let user = status_user(&tool_with("GET", &server.url("/s"), "credential = \"token\""));
    let added = run(&user, &["credentials", "add", "token", "--origin", &server.url(""), "--env", "MY_TOKEN"]);
    assert_eq!(added.2, 0, "{added:?}");
    let secret = "s3cret-of-the-environment";
    let (screen, outcome) = call_once(&user, &[("MY_TOKEN", secret)]);
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    assert!(server.requests()[0].contains(&format!("authorization: Bearer {secret}\r\n")), "{:?}", server.requests());
    assert!(!screen.contains(secret));
    let stored = std::process::Command::new("grep").args(["-rl", secret]).arg(user.path("home")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&stored.stdout), "", "files with the secret");
}

#[test]
fn the_rest_of_a_long_answer_is_a_file_of_the_workspace() {
    let body: String = (0..9_000).map(|number| format!("row {number}\n")).collect();
    let server = WebServer::with_responses(&[&response("200 OK", "Content-Type: text/plain\r\n", &body)]);
    let user = status_user(&tool_with("GET", &server.url("/s"), ""));
    let (_, outcome) = call_once(&user, &[]);
    let Outcome::Done(text) = &outcome else { panic!("{outcome:?}") };
    assert!(text.len() < 20 << 10 && !text.contains("row 8000\n"), "{} bytes", text.len());
    assert!(text.contains("full text (") && text.contains("workspace://"), "the result does not name the file");
    let listed = user.run_headless(&["files"]).0;
    let path = listed.split_whitespace().find(|word| word.starts_with("results/"));
    let path = path.unwrap_or_else(|| panic!("{listed}"));
    let (whole, error, _) = user.run_headless(&["files", "cat", path]);
    assert!(whole.contains("row 8000\n"), "{error}");
}

#[test]
fn rows_of_the_list_say_kind_effect_file_and_tokens() {
    let user = user_with_tool(vec![], "status.toml", &tool_with("GET", "https://h.example/", ""));
    crate::support::tool_service::write_user_tool(
        &user,
        "send.toml",
        &tool_with("POST", "https://h.example/", "").replace("status", "send"),
    );
    add_settings(&user, "");
    let rows: Vec<Value> =
        run(&user, &["tools", "--json"]).0.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (name, effect) in [("status", "read"), ("send", "external")] {
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        assert_eq!((&row["kind"], &row["state"]), (&json!("http_api"), &json!("on")), "{row}");
        assert!(row["effect"].as_str().unwrap().contains(effect), "{row}");
        assert!(row["file"].as_str().unwrap().ends_with(&format!("{name}.toml")), "{row}");
        assert!(row["tokens"].as_u64().unwrap() > 10, "{row}");
    }
}
