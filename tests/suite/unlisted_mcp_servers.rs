//! Servers that are not configured, at an address that the model was given.

use crate::support::mcp_server::McpServer;
use crate::support::oauth_server::OAuthServer;
use crate::support::service::Answer;
use crate::support::stored_files::read_entries;
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use crate::support::tool_service::{ApiServer, response};
use crate::support::user::User;
use aye::chat::{Entry, Outcome};
use serde_json::{Value, json};
use std::time::Duration;

fn run(arguments: Value) -> Answer {
    calls_answer_after(Duration::ZERO, &[("run_mcp_tool", arguments)])
}

fn user_with(answers: Vec<Answer>, settings: &str) -> User {
    let user = User::new(answers);
    std::fs::write(user.path("home/aye/config/config.toml"), settings).unwrap();
    user
}

/// The texts of the outcomes so far, and whether each failed.
fn outcomes(user: &User) -> Vec<(bool, String)> {
    let settled = |entry| match entry {
        Entry::Settled { outcome: Outcome::Done(text), .. } => Some((false, text)),
        Entry::Settled { outcome: Outcome::Failed(text), .. } => Some((true, text)),
        _ => None,
    };
    read_entries(user.root.path()).into_iter().filter_map(settled).collect()
}

#[test]
fn its_tools_are_listed_and_called_after_an_approval() {
    let server = McpServer::new(&[("echo", "Repeats\u{202e} text")]);
    let url = server.start_open();
    let answers = vec![
        run(json!({ "server_url": url })),
        run(json!({ "server_url": url, "tool_name": "echo", "tool_arguments": { "text": "hi" } })),
        run(json!({ "server_url": url, "tool_name": "none" })),
        text_answer("Done."),
    ];
    let user = user_with(answers, "[web]\nprivate_hosts = [\"127.0.0.1\"]\n");
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Use an MCP server?");
    for part in [url.as_str(), "list its tools", "This server is not configured", "allowed by web.private_hosts"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(server.received().is_empty(), "nothing is sent before the approval");
    program.press_keys("y");
    program.until("tool    echo");
    let screen = program.until_prompt("\"text\": \"hi\"");
    assert!(screen.contains("Use an MCP server?"), "{screen}");
    program.press_keys("y");
    program.until("tool    none");
    program.until_prompt("Use an MCP server?");
    program.press_keys("y");
    program.until_idle("Done.");
    program.until_condition("all outcomes are stored", |_| outcomes(&user).len() == 3);
    let texts = outcomes(&user);
    assert!(
        !texts[0].0 && texts[0].1.contains("\"name\":\"echo\"") && texts[0].1.contains("Repeats text"),
        "{texts:?}"
    );
    assert!(texts.iter().all(|(_, text)| text.starts_with("[Untrusted text from MCP server 127.0.0.1")), "{texts:?}");
    assert!(!texts[1].0 && texts[1].1.contains("you said hi"), "{texts:?}");
    assert_eq!(server.calls(), ["echo", "none"]);
    let initialize = server.wait_for("initialize");
    assert_eq!(initialize["params"]["capabilities"], json!({}), "it learns of no folder and no user");
}

/// Redirects are not followed, endless answers end, and a stopped turn leaves no connection.
#[test]
fn hostile_servers_reach_nothing_else_and_can_be_stopped() {
    let secret = ApiServer::start(&[&response("200 OK", "", "secret")]);
    let location = format!("Location: {}\r\n", secret.url("/mcp"));
    let redirecting = ApiServer::start(&[&response("307 Temporary Redirect", &location, "")]);
    let garbage = ApiServer::start(&[&response("200 OK", "Content-Type: application/json\r\n", &"[".repeat(200_000))]);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let answers = vec![
        run(json!({ "server_url": redirecting.url("/mcp") })),
        run(json!({ "server_url": garbage.url("/mcp") })),
        run(json!({ "server_url": silent_url })),
        text_answer("Done."),
    ];
    let user = user_with(answers, "[web]\nprivate_hosts = [\"127.0.0.1\"]\n");
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    for url in [redirecting.url("/mcp"), garbage.url("/mcp"), silent_url] {
        program.until(&url);
        program.until_prompt("Use an MCP server?");
        program.press_keys("y");
    }
    let (mut stream, _) = silent.accept().unwrap();
    program.press_until("\x1b", "stopped by you");
    // The end of the connection, after the request.
    std::io::Read::read_to_end(&mut stream, &mut Vec::new()).unwrap();
    program.until_condition("both failures are stored", |_| outcomes(&user).len() >= 2);
    assert!(outcomes(&user).iter().all(|(is_failed, _)| *is_failed), "{:?}", outcomes(&user));
    assert_eq!(secret.connection_count(), 0);
}

#[test]
fn private_addresses_and_logins_are_refused_and_a_dry_run_connects_to_nothing() {
    let server = McpServer::new(&[("echo", "Repeats text")]);
    let (url, issuer) = (server.start_open(), OAuthServer::start());
    let settings = server.start_protected("x", &issuer);
    let protected_url = settings.split('"').nth(1).unwrap();
    let refused = user_with(vec![run(json!({ "server_url": url })), text_answer("Done.")], "");
    let mut program = refused.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    assert!(program.screen().contains("Refused: 127.0.0.1"), "{}", program.screen());
    let allowed = "[web]\nprivate_hosts = [\"127.0.0.1\"]\n";
    let locked = user_with(vec![run(json!({ "server_url": protected_url })), text_answer("Done.")], allowed);
    let mut program = locked.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Use an MCP server?");
    program.press_keys("y");
    program.until_idle("Done.");
    program.until_condition("the outcome is stored", |_| outcomes(&locked).len() == 1);
    assert!(outcomes(&locked)[0].1.contains("aye mcp login"), "{:?}", outcomes(&locked));
    let dry = user_with(vec![run(json!({ "server_url": url })), text_answer("Done.")], allowed);
    let mut program = dry.start(&["--dry-run"]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until("Done.");
    assert!(server.received().is_empty(), "{:?}", server.received());
}
