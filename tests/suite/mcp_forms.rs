//! Questions of MCP servers to the user: what is shown, what the server receives, and what is refused.

use crate::mcp_servers::{allow, call, last_outcome, start_session, user_with};
use crate::support::keyboard::PATIENCE;
use crate::support::mcp_server::McpServer;
use crate::support::program::Program;
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::user::User;
use serde_json::{Value, json};
use std::time::Instant;

fn form(properties: &Value) -> Value {
    let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
    let schema = json!({ "type": "object", "properties": properties, "required": names });
    json!({ "message": "Which order?", "requestedSchema": schema })
}

/// A session in which a call of the server asks this question.
fn session_with(parameters: &Value) -> (McpServer, User, Program) {
    let server = McpServer::new(&[("form", "Asks"), ("late", "Asks too late")]);
    server.set_form(parameters);
    let answers = vec![call("mcp__test__form", ""), text_answer("Done.")];
    let user = user_with(answers, &server.stdio_settings("test")).with_rules(&allow("mcp__test__form"));
    let mut program = start_session(&user, &server);
    submit_message(&mut program, "go");
    (server, user, program)
}

fn size_and_name() -> Value {
    form(&json!({
        "size": { "type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Medium \u{202E}x"] },
        "name": { "type": "string", "title": "Name on the box", "maxLength": 5 },
    }))
}

#[test]
fn a_question_of_a_server_is_answered_and_the_model_never_sees_it() {
    let (server, user, mut program) = session_with(&size_and_name());
    let screen = program.until_prompt("server test asks");
    for part in ["MCP server test asks: Which order?", "Small", "Medium <U+202E>x", "esc cancel"] {
        assert!(screen.contains(part), "{part}:\n{screen}");
    }
    assert!(!screen.contains("n note"), "a server receives no notes:\n{screen}");
    // A key that comes too early goes to the composer, and on a busy machine the prompt may be drawn late.
    program.wait_ms(600);
    // Enter right after other keys may be part of a paste, so it is pressed as often as it takes.
    program.press_keys("2");
    program.press_until("\r", "Name on the box");
    program.type_text("Ada Lovelace");
    program.press_until("\r", "Your answers");
    program.press_until("\r", "“name” must be a text of 0 to 5 characters");
    program.press_until("2", "Question · name");
    program.press_until("\r", "keep text");
    program.press_keys("\x15");
    program.type_text("Ada");
    program.press_until("\r", "Your answers");
    program.press_until("\r", "Sent to MCP server test");
    program.until_idle("Done.");
    assert_eq!(server.wait_for_reply(), json!({ "action": "accept", "content": { "size": "m", "name": "Ada" } }));
    assert!(last_outcome(&user).contains("the user replied {\"action\":\"accept\""), "{}", last_outcome(&user));
    let sent: String = user.service.received().iter().map(|request| request.body.to_string()).collect();
    assert!(!sent.contains("Which order?") && !sent.contains("Name on the box"), "the model was asked");
    let initialize = server.received().remove(0);
    assert_eq!(initialize["params"]["capabilities"]["elicitation"], json!({ "form": {} }));
}

#[test]
fn a_question_is_declined_and_cancelled() {
    for (key, action) in [("\x1b", "cancel"), ("x", "decline")] {
        let (server, _user, mut program) = session_with(&form(&json!({ "go_on": { "type": "boolean" } })));
        program.until_prompt("server test asks");
        program.press_keys(key);
        if key == "x" {
            program.until("again to decline");
            // A key that follows too soon is a repeat, and does not answer.
            program.press_until("x", "Declined to answer MCP server test");
        }
        assert_eq!(server.wait_for_reply(), json!({ "action": action }));
        program.until_idle("Done.");
    }
}

#[test]
fn questions_for_secrets_and_addresses_are_refused_with_the_reason() {
    let secret = |property: Value| form(&json!({ "value": property }));
    for (parameters, reason) in [
        (form(&json!({ "apiToken": { "type": "string" } })), "it asks for “apiToken”, which looks like a secret"),
        (secret(json!({ "type": "string", "format": "password" })), "it asks for “value”, which looks like a secret"),
        (secret(json!({ "type": "string", "title": "Passphrase" })), "it asks for “value”, which looks like a secret"),
        (
            json!({ "mode": "url", "message": "Log in", "url": "https://a.example", "elicitationId": "1" }),
            "open an address",
        ),
        (secret(json!({ "type": "object" })), "the form of “value” is unknown"),
    ] {
        let (server, _user, mut program) = session_with(&parameters);
        program.until(reason);
        assert_eq!(server.wait_for_reply(), json!({ "action": "decline" }), "{reason}");
        let screen = program.until_idle("Done.");
        assert!(!screen.contains("server test asks"), "{screen}");
    }
}

#[test]
fn stopping_the_turn_or_losing_the_server_withdraws_the_question() {
    let (server, _user, mut program) = session_with(&size_and_name());
    program.until_prompt("server test asks");
    program.press_keys("\x03");
    assert_eq!(server.wait_for_reply(), json!({ "action": "cancel" }));
    program.until_condition("the end of the prompt", |program| !program.screen().contains("server test asks"));
    let (server, _user, mut program) = session_with(&size_and_name());
    program.until_prompt("server test asks");
    let pid = rustix::process::Pid::from_raw(server.pids()[0]).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let screen = program.until_idle("Done.");
    assert!(!screen.contains("server test asks"), "{screen}");
}

#[test]
fn a_question_without_a_call_or_without_a_screen_is_not_asked() {
    let server = McpServer::new(&[("form", "Asks"), ("late", "Asks too late")]);
    server.set_form(&size_and_name());
    let answers = vec![call("mcp__test__late", ""), text_answer("Done.")];
    let user = user_with(answers, &server.stdio_settings("test")).with_rules(&allow("mcp__test__late"));
    let mut program = start_session(&user, &server);
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    let action = server.wait_for_reply()["action"].clone();
    assert!(action == "decline" || action == "cancel", "{action}");
    program.until_condition("no prompt", |program| !program.screen().contains("server test asks"));
    drop(program);
    let user = user.with_answers(vec![call("mcp__test__form", ""), text_answer("Done.")]);
    let user = user.with_rules(&allow("mcp__test__form"));
    let start = Instant::now();
    let (out, err, _) = user.setup(&["-p", "go"]).run_piped("");
    assert!(out.contains("Done.") && start.elapsed() < PATIENCE, "{out}{err}");
    assert!(last_outcome(&user).contains("the user replied {\"action\":\"decline\"}"), "{}", last_outcome(&user));
    let initialize = server.received().into_iter().rfind(|message| message["method"] == "initialize").unwrap();
    assert!(initialize["params"]["capabilities"]["elicitation"].is_null(), "{initialize}");
}
