//! Servers that are not configured, at an address that the model was given.

use crate::support::mcp_server::McpServer;
use crate::support::oauth_server::OAuthServer;
use crate::support::service::Answer;
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::tool_service::{add_settings, call, outcomes, response};
use crate::support::user::User;
use crate::support::web_server::WebServer;
use aye::chat::Outcome;
use serde_json::{Value, json};

fn run(arguments: Value) -> Answer {
    call("run_mcp_tool", arguments)
}

/// A user who allows servers on this machine.
fn user_with(answers: Vec<Answer>) -> User {
    let user = User::new(answers);
    add_settings(&user, "[web]\nprivate_hosts = [\"127.0.0.1\"]\n");
    user
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
    let user = user_with(answers);
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
    let [Outcome::Done(listed), Outcome::Done(echoed), last] = &outcomes(&user)[..] else { panic!() };
    assert!(listed.contains("\"name\":\"echo\"") && listed.contains("Repeats text"), "{listed}");
    assert!(echoed.contains("you said hi"), "{echoed}");
    for text in [listed, echoed, last.text()] {
        assert!(text.starts_with("[Untrusted text from MCP server 127.0.0.1"), "{text}");
    }
    assert_eq!(server.calls(), ["echo", "none"]);
    let initialize = server.wait_for("initialize");
    assert_eq!(initialize["params"]["capabilities"], json!({}), "it learns of no folder and no user");
}

/// A grant is for the host, whatever tool is called. It does not answer for the first call after a result was read.
#[test]
fn a_grant_covers_every_tool_of_a_host_but_not_the_call_after_its_first_result() {
    let server = McpServer::new(&[("echo", "Repeats text"), ("other", "Repeats it too")]);
    let url = server.start_open();
    let call_of = |tool: &str| run(json!({ "server_url": url, "tool_name": tool, "tool_arguments": { "text": "hi" } }));
    let answers = vec![call_of("echo"), call_of("other"), call_of("echo"), text_answer("Done.")];
    let user = user_with(answers);
    let mut program = user.setup(&[]).size(80, 24).start();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Use an MCP server?");
    program.press_until("a", "Allow without asking:");
    let screen = program.screen();
    for part in [
        "1  any tool of any MCP server at 127.0.0.1",
        "never: another host, also one below it",
        "asks once more in each turn that has read text from outside, such as a page",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(!screen.contains("another tool"), "{screen}");
    program.press_until("\r", "tool    other");
    program.until_prompt("the turn has read a result of 127.0.0.1");
    program.press_until("y", "Done.");
    program.until_condition("all outcomes are stored", |_| outcomes(&user).len() == 3);
    assert_eq!(server.calls(), ["echo", "other", "echo"], "the third call runs by the grant");
}

/// Redirects are not followed, endless answers end, and a stopped turn leaves no connection.
#[test]
fn hostile_servers_reach_nothing_else_and_can_be_stopped() {
    let secret = WebServer::with_responses(&[&response("200 OK", "", "secret")]);
    let location = format!("Location: {}\r\n", secret.url("/mcp"));
    let redirecting = WebServer::with_responses(&[&response("307 Temporary Redirect", &location, "")]);
    let garbage =
        WebServer::with_responses(&[&response("200 OK", "Content-Type: application/json\r\n", &"[".repeat(200_000))]);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let answers = vec![
        run(json!({ "server_url": redirecting.url("/mcp") })),
        run(json!({ "server_url": garbage.url("/mcp") })),
        run(json!({ "server_url": silent_url })),
        text_answer("Done."),
    ];
    let user = user_with(answers);
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
    program.until_condition("all outcomes are stored", |_| outcomes(&user).len() == 3);
    let outcomes = outcomes(&user);
    assert!(matches!(&outcomes[..], [Outcome::Failed(_), Outcome::Failed(_), Outcome::Interrupted(_)]), "{outcomes:?}");
    assert_eq!(secret.connection_count(), 0);
}

#[test]
fn private_addresses_and_logins_are_refused_and_a_dry_run_connects_to_nothing() {
    let server = McpServer::new(&[("echo", "Repeats text")]);
    let (url, issuer) = (server.start_open(), OAuthServer::start());
    let settings = server.start_protected("x", &issuer);
    let protected_url = settings.split('"').nth(1).unwrap();
    let refused = User::new(vec![run(json!({ "server_url": url })), text_answer("Done.")]);
    let mut program = refused.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    assert!(program.screen().contains("Refused: 127.0.0.1"), "{}", program.screen());
    let locked = user_with(vec![run(json!({ "server_url": protected_url })), text_answer("Done.")]);
    let mut program = locked.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Use an MCP server?");
    program.press_keys("y");
    program.until_idle("Done.");
    program.until_condition("the outcome is stored", |_| outcomes(&locked).len() == 1);
    assert!(outcomes(&locked)[0].text().contains("aye mcp login"), "{:?}", outcomes(&locked));
    let dry = user_with(vec![run(json!({ "server_url": url })), text_answer("Done.")]);
    let mut program = dry.start(&["--dry-run"]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until("Done.");
    assert!(server.received().is_empty(), "{:?}", server.received());
}

/// A name is checked by its address, also that of a proxy which is not used for this request.
#[test]
fn names_of_private_addresses_are_refused_with_or_without_a_proxy() {
    let server = McpServer::new(&[("echo", "Repeats text")]);
    let page = WebServer::with_responses(&[&response("200 OK", "Content-Type: text/plain\r\n", "private")]);
    let url = server.start_open().replace("127.0.0.1", "localhost");
    let page_url = page.url("/").replace("127.0.0.1", "localhost");
    for proxy in [None, Some("http://localhost:9")] {
        let answers = vec![
            run(json!({ "server_url": url })),
            call("web_fetch", json!({ "url": page_url })),
            text_answer("Done."),
        ];
        let user = User::new(answers);
        let mut setup = user.setup(&[]).env("HTTPS_PROXY", proxy.unwrap_or_default());
        setup = setup.env("https_proxy", "").env("NO_PROXY", "127.0.0.1").size(110, 34);
        let mut program = setup.start();
        program.until("Messages go to");
        submit_message(&mut program, "go");
        program.until_prompt("Use an MCP server?");
        program.press_keys("y");
        program.until_prompt("Read from the web?");
        program.press_keys("y");
        program.until_idle("Done.");
        program.until_condition("both outcomes are stored", |_| outcomes(&user).len() == 2);
        for outcome in outcomes(&user) {
            let text = outcome.text();
            assert!(text.contains("localhost is the address of") && text.contains("web.private_hosts"), "{text}");
        }
    }
    assert!(server.received().is_empty() && page.connection_count() == 0);
}
