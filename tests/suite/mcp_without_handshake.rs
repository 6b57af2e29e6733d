//! MCP servers of the protocol version 2026-07-28, which has no handshake: they are connected, ask as part of calls, and tell
//! of changes on a subscription.

use crate::mcp_servers::{allow, call, last_outcome, offered, run_turn, start_session, user_with};
use crate::support::mcp_server::McpServer;
use crate::support::mcp_without_handshake::VERSION;
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::tool_service::{self, add_settings, outcomes};
use crate::support::user::User;
use serde_json::{Value, json};

fn server(tools: &[(&str, &str)]) -> McpServer {
    McpServer::new(tools).without_handshake()
}

/// The methods of the requests that the server received, in their order, without repetitions.
fn methods(server: &McpServer) -> Vec<String> {
    let received = server.received();
    let mut methods: Vec<String> =
        received.iter().filter_map(|message| message["method"].as_str()).map(str::to_owned).collect();
    methods.dedup();
    methods
}

#[test]
fn a_server_that_rejects_the_handshake_is_connected_without_it() {
    for has_setting in [false, true] {
        let server = server(&[("echo", "Repeats text")]);
        let setting = if has_setting { "handshake = false\n" } else { "" };
        let settings = format!("{}{setting}", server.stdio_settings("test"));
        let answers = vec![call("mcp__test__echo", "hello"), text_answer("Done.")];
        let user = user_with(answers, &settings).with_rules(&allow("mcp__test__echo"));
        let mut program = start_session(&user, &server);
        submit_message(&mut program, "go");
        program.until_idle("Done.");
        assert_eq!(offered(&user), ["mcp__test__echo"]);
        assert!(last_outcome(&user).ends_with("\nyou said hello"), "{}", last_outcome(&user));
        let methods = methods(&server);
        assert_eq!(methods.contains(&"initialize".to_owned()), !has_setting, "{methods:?}");
        assert_eq!(server.pids().len(), 2 - usize::from(has_setting), "the program is started once more");
        // Every request says what the handshake would have said.
        for message in server.received().iter().filter(|message| message["method"] != "initialize") {
            let meta = &message["params"]["_meta"];
            if message["id"].is_null() {
                continue;
            }
            assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], VERSION, "{message}");
            let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
            assert_eq!(capabilities["elicitation"], json!({ "form": {} }), "{message}");
            assert!(capabilities["sampling"].is_null(), "{message}");
        }
    }
}

#[test]
fn a_server_at_an_address_is_connected_without_a_handshake() {
    let server = server(&[("echo", "Repeats text")]);
    let settings = server.start_http("test", "s3cret");
    let user = user_with(vec![call("mcp__test__echo", "hello"), text_answer("Done.")], &settings);
    let user = user.with_rules(&allow("mcp__test__echo"));
    let mut program = start_session(&user, &server);
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    assert!(last_outcome(&user).ends_with("\nyou said hello"), "{}", last_outcome(&user));
}

#[test]
fn an_unlisted_server_without_a_handshake_is_used() {
    let server = server(&[("echo", "Repeats text")]);
    let url = server.start_open();
    let arguments = json!({ "server_url": url, "tool_name": "echo", "tool_arguments": { "text": "hi" } });
    let user = User::new(vec![tool_service::call("run_mcp_tool", arguments), text_answer("Done.")]);
    add_settings(&user, "[web]\nprivate_hosts = [\"127.0.0.1\"]\n");
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Use an MCP server?");
    program.press_keys("y");
    program.until_idle("Done.");
    program.until_condition("the outcome is stored", |_| outcomes(&user).len() == 1);
    assert!(outcomes(&user)[0].text().contains("you said hi"), "{:?}", outcomes(&user));
    let capabilities =
        server.wait_for("tools/call")["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"].clone();
    assert_eq!(capabilities, json!({}), "it learns of no folder and no user");
}

#[test]
fn a_call_that_asks_the_user_is_repeated_with_the_answer_and_its_state() {
    let server = server(&[("form", "Asks")]);
    let schema = json!({ "type": "object", "properties": { "size": { "type": "string", "enum": ["s", "m"] } } });
    server.set_form(&json!({ "message": "Which \u{202E}size?", "requestedSchema": schema }));
    let user = user_with(vec![call("mcp__test__form", ""), text_answer("Done.")], &server.stdio_settings("test"))
        .with_rules(&allow("mcp__test__form"));
    let mut program = start_session(&user, &server);
    submit_message(&mut program, "go");
    let screen = program.until_prompt("server test asks");
    assert!(screen.contains("Which <U+202E>size?"), "{screen}");
    assert_eq!(server.calls(), ["form"], "the call is repeated after the answer");
    program.press_keys("2");
    program.press_until("\r", "Sent to MCP server test");
    program.until_idle("Done.");
    let outcome = last_outcome(&user);
    assert!(outcome.contains(r#""question":{"action":"accept","content":{"size":"m"}}"#), "{outcome}");
    assert!(outcome.contains(r#""roots":{"roots":[{"uri":"file:///"#), "{outcome}");
    assert_eq!(server.calls(), ["form", "form"]);
}

/// The library does not know the format of the field.
#[test]
fn a_form_for_a_secret_is_declined() {
    let server = server(&[("form", "Asks")]);
    let password = json!({ "type": "string", "format": "password" });
    let schema = json!({ "type": "object", "properties": { "password": password } });
    server.set_form(&json!({ "message": "Your password?", "requestedSchema": schema }));
    let user = user_with(vec![call("mcp__test__form", ""), text_answer("Done.")], &server.stdio_settings("test"))
        .with_rules(&allow("mcp__test__form"));
    let mut program = start_session(&user, &server);
    submit_message(&mut program, "go");
    program.until_all(&["A question of MCP server test was declined", "Done."]);
    let outcome = last_outcome(&user);
    assert!(outcome.contains(r#""question":{"action":"decline"}"#) && outcome.contains("file:///"), "{outcome}");
}

#[test]
fn a_call_that_asks_the_model_needs_two_approvals_and_a_denial_ends_it() {
    for is_approved in [true, false] {
        let server = server(&[("sample", "Asks the model")]);
        let message = json!({ "role": "user", "content": { "type": "text", "text": "Three?" } });
        server.set_samplings(&[json!({ "messages": [message], "maxTokens": 300 })]);
        let settings = format!("{}sampling = true\n", server.stdio_settings("test"));
        let mut answers = vec![call("mcp__test__sample", ""), text_answer("Four"), text_answer("Done.")];
        if !is_approved {
            answers.remove(1);
        }
        let user = user_with(answers, &settings).with_rules(&allow("mcp__test__sample"));
        let mut program = start_session(&user, &server);
        submit_message(&mut program, "go");
        program.until_prompt("Let an MCP server ask the model?");
        if is_approved {
            program.press_keys("y");
            program.until_prompt("Send this answer to the MCP server?");
            program.press_keys("y");
            program.until_idle("Done.");
            assert!(
                last_outcome(&user).contains(r#""content":{"type":"text","text":"Four"}"#),
                "{}",
                last_outcome(&user)
            );
        } else {
            program.press_keys("n");
            program.until_idle("Done.");
            let outcome = last_outcome(&user);
            assert!(outcome.ends_with("\nThe call was not continued. User rejected sampling request"), "{outcome}");
            assert_eq!(server.calls(), ["sample"], "the call is not repeated");
        }
    }
}

#[test]
fn a_server_that_never_stops_asking_ends_the_call() {
    let server = server(&[("insist", "Asks again"), ("silent", "Wants to be called again"), ("many", "Asks much")]);
    server.set_form(&json!({ "message": "Again?", "requestedSchema": { "type": "object", "properties": {} } }));
    let too_long = "The server gave no result in 10 rounds. The call was ended.";
    let too_many = "The server asked more than 20 questions in one call. The call was ended.";
    for (tool, expected, count) in [("insist", too_long, 10), ("silent", too_long, 10), ("many", too_many, 1)] {
        let name = format!("mcp__test__{tool}");
        let user = user_with(vec![call(&name, ""), text_answer("Done.")], &server.stdio_settings("test"));
        let user = user.with_rules(&allow(&name));
        assert!(user.run_headless(&["mcp", "check", "test"]).0.contains("accepted 3 tools"));
        let before = server.calls().len();
        run_turn(&user);
        assert!(last_outcome(&user).ends_with(&format!("\n{expected}")), "{}", last_outcome(&user));
        assert_eq!(server.calls().len() - before, count);
    }
}

#[test]
fn changes_of_tools_arrive_on_a_subscription() {
    let server = server(&[("announce", "Says that tools changed")]);
    let user = user_with(vec![call("mcp__test__announce", ""), text_answer("Done.")], &server.stdio_settings("test"))
        .with_rules(&allow("mcp__test__announce"));
    let mut program = start_session(&user, &server);
    let filter: Value = server.wait_for("subscriptions/listen")["params"]["notifications"].clone();
    assert_eq!(filter, json!({ "toolsListChanged": true }));
    let tool = |name: &str| json!({ "name": name, "description": name, "inputSchema": { "type": "object" } });
    server.set_tools(&json!([tool("announce"), tool("new")]));
    submit_message(&mut program, "go");
    program.until("MCP server test has 2 new or changed tools (announce and new), not offered");
}

#[test]
fn a_subscription_that_ends_is_opened_again() {
    let server = server(&[("unsubscribe", "Ends the subscription")]);
    let user =
        user_with(vec![call("mcp__test__unsubscribe", ""), text_answer("Done.")], &server.stdio_settings("test"))
            .with_rules(&allow("mcp__test__unsubscribe"));
    let mut program = start_session(&user, &server);
    server.wait_for("subscriptions/listen");
    server.set_tools(&json!([{ "name": "new", "description": "new", "inputSchema": { "type": "object" } }]));
    submit_message(&mut program, "go");
    program.until("MCP server test has 1 new or changed tool (new), not offered");
    let count = server.received().iter().filter(|message| message["method"] == "subscriptions/listen").count();
    assert_eq!(count, 2);
}
