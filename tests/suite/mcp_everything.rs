//! The real program with a third-party MCP server, `@modelcontextprotocol/server-everything`, whose file `AYE_TEST_MCP` names:
//! over stdin and stdout and over HTTP.

use crate::support::keyboard::PATIENCE;
use crate::support::report_skipped;
use crate::support::stored_files::{NO_TITLES, read_session};
use crate::support::terminal_session::{calls_answer_after, text_answer};
use crate::support::user::User;
use aye::chat::{Entry, Outcome};
use serde_json::{Value, json};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The calls, each with a text that its result must have.
fn calls() -> [(&'static str, Value, &'static str); 5] {
    [
        ("echo", json!({ "message": "hello ü" }), "Echo: hello ü"),
        ("get-sum", json!({ "a": 2, "b": 40 }), "42"),
        ("get-tiny-image", json!({}), "[image, image/png, about"),
        ("trigger-long-running-operation", json!({ "duration": 1, "steps": 2 }), "completed"),
        ("get-sum", json!({ "a": "no number" }), "Untrusted text"),
    ]
}

/// Makes each call in a headless session of its own with these settings, and checks the results.
fn check_calls(settings: &str) {
    let mut user = User::new(Vec::new());
    let settings = format!("{NO_TITLES}\n[mcp.test]\n{settings}\ndiscovery_seconds = 60\n");
    fs::write(user.path("home/aye/config/config.toml"), settings).unwrap();
    let mut outcomes = Vec::new();
    for (name, arguments, _) in calls() {
        let tool = format!("mcp__test__{name}");
        let rule = format!("[[rule]]\nverdict = \"allow\"\ntool = \"{tool}\"\nhost = \"mcp:test\"\n");
        let call = calls_answer_after(Duration::ZERO, &[(&tool, arguments)]);
        user = user.with_rules(&rule).with_answers(vec![call, text_answer("Done.")]);
        let _ = fs::remove_dir_all(user.path("home/aye/data/sessions"));
        let (out, err, code) = user.setup(&["-p", "go"]).run_piped("");
        assert!(code == 0 && out.contains("Done."), "{name}: {out}{err}");
        let settled = |entry| if let Entry::Settled { outcome, .. } = entry { Some(outcome) } else { None };
        outcomes.extend(read_session(&user.setup(&[])).into_iter().find_map(settled));
    }
    for ((name, _, expected), outcome) in calls().into_iter().zip(&outcomes) {
        assert!(outcome.text().contains(expected), "{name}: {outcome:?}");
    }
    assert!(matches!(outcomes.last(), Some(Outcome::Failed(_))), "the server checks the arguments: {outcomes:?}");
}

#[test]
fn tools_of_a_third_party_server_work_over_both_transports() {
    let Ok(server) = std::env::var("AYE_TEST_MCP") else {
        return report_skipped("AYE_TEST_MCP names no server; .ci/run installs one if node is installed");
    };
    check_calls(&format!("command = {}", json!(["node", server, "stdio"])));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut command = Command::new("node");
    command.args([&server, "streamableHttp"]).env("PORT", &port).stdout(Stdio::null()).stderr(Stdio::null());
    let _server = Running(command.spawn().unwrap());
    let deadline = Instant::now() + PATIENCE;
    while TcpStream::connect(format!("127.0.0.1:{port}")).is_err() {
        assert!(Instant::now() < deadline, "the server does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    check_calls(&format!("url = \"http://127.0.0.1:{port}/mcp\""));
}
