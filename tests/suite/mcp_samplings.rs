//! Requests of MCP servers for the model: what is shown and sent, what the server receives, what is recorded, and what is
//! refused.

use crate::mcp_servers::{allow, call, last_outcome, start_session, user_with};
use crate::support::keyboard::PATIENCE;
use crate::support::mcp_server::McpServer;
use crate::support::program::Program;
use crate::support::service::{Answer, Step};
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::user::User;
use aye::chat::Entry;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

fn message(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": { "type": "text", "text": text } })
}

fn request(text: &str) -> Value {
    json!({ "messages": [message("user", text)], "maxTokens": 300 })
}

/// An answer with its token usage.
fn counted_answer(text: &str) -> Answer {
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42 } });
    Answer::stream().text(text).finish("stop").event(usage).done()
}

/// A server whose calls make these requests, and its user, whose settings allow them or not.
fn server_and_user(requests: &[Value], is_allowed: bool, answers: Vec<Answer>) -> (McpServer, User) {
    let server = McpServer::new(&[("sample", "Asks the model")]);
    server.set_samplings(requests);
    let setting = if is_allowed { "sampling = true\n" } else { "" };
    let settings = format!("{}{setting}", server.stdio_settings("test"));
    let answers = std::iter::once(call("mcp__test__sample", "")).chain(answers).collect();
    let user = user_with(answers, &settings).with_rules(&allow("mcp__test__sample"));
    (server, user)
}

/// A session in which a call makes these requests. The answers are those of the model to them, and to the result.
fn session_with(requests: &[Value], answers: Vec<Answer>) -> (McpServer, User, Program) {
    let (server, user) = server_and_user(requests, true, answers);
    let mut program = start_session(&user, &server);
    submit_message(&mut program, "go");
    (server, user, program)
}

/// The states of the recorded steps.
fn steps(user: &User) -> Vec<&'static str> {
    let name = |entry: Entry| match entry {
        Entry::Sampling(step) => Some(step.state_name()),
        _ => None,
    };
    read_session(&user.setup(&[])).into_iter().filter_map(name).collect()
}

fn approve(program: &mut Program) {
    program.until_prompt("Let an MCP server ask the model?");
    // Once: another press could answer the next prompt.
    program.press_keys("y");
    program.until_prompt("Send this answer to the MCP server?");
}

#[test]
fn a_server_asks_the_model_after_two_approvals() {
    let request = json!({
        "systemPrompt": "Be brief.", "maxTokens": 9_000, "includeContext": "allServers", "temperature": 0.2,
        "messages": [message("user", "One"), message("assistant", "Two"), message("user", "Three?")],
    });
    let (server, user, mut program) = session_with(&[request], vec![counted_answer("Four"), text_answer("Done.")]);
    let screen = program.until_prompt("Let an MCP server ask the model?");
    for part in [
        "MCP server test asks scripted-7b at 127.0.0.1",
        "You pay for",
        "at most 4096",
        "Ignored parts of the request: includeContext, temperature, maxTokens above 4096",
        "System prompt:",
        "│ Be brief.",
        "Model:",
        "│ Three?",
        "y ask the model · n deny",
    ] {
        assert!(screen.contains(part), "{part}:\n{screen}");
    }
    assert_eq!(user.service.received().len(), 1, "nothing is sent before the approval");
    program.press_keys("y");
    program.until_prompt("Send this answer to the MCP server?");
    program.until_all(&["scripted-7b at 127.0.0.1 answered MCP server test", "│ Four", "y send the answer"]);
    assert!(!server.received().iter().any(|message| message["id"] == "sample-0"), "the answer waits for the user");
    program.press_until("y", "You approved the answer for MCP server test");
    program.until_idle("Done.");
    let result = json!({
        "role": "assistant", "content": { "type": "text", "text": "Four" }, "model": "scripted-7b", "stopReason": "endTurn",
    });
    assert_eq!(server.wait_for_samplings(1)[0]["result"], result);
    let sent = user.service.received()[1].body.clone();
    let roles: Vec<&str> =
        sent["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"], "{sent}");
    assert!(sent["tools"].is_null() && !sent.to_string().contains("\"go\""), "no tools, no conversation: {sent}");
    assert!(sent.to_string().contains("4096"), "{sent}");
    let capabilities = server.received().remove(0)["params"]["capabilities"].clone();
    assert_eq!(capabilities["sampling"], json!({}));
    assert_eq!(steps(&user), ["approved", "answered", "answer approved"]);
    let tokens: u64 = read_session(&user.setup(&[])).iter().filter_map(Entry::usage).map(|usage| usage.input).sum();
    assert!(tokens >= 40, "the tokens count in the session: {tokens}");
    drop(program);
    let (audit, err, code) = user.run_headless(&["audit"]);
    assert_eq!(code, 0, "{err}");
    for part in ["request of an MCP server · test", "you approved", "You approved the answer for MCP server test"] {
        assert!(audit.contains(part), "{part}:\n{audit}");
    }
    let (audit, ..) = user.run_headless(&["audit", "--json"]);
    let object = audit.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let object = object.into_iter().find(|object| object["sampling"] == "test").unwrap();
    assert_eq!(object["is_intact"], true, "{object}");
    assert_eq!(object["steps"][0]["request"]["messages"][2]["text"], "Three?", "{object}");
    assert_eq!(object["steps"][1]["text"], "Four", "{object}");
}

#[test]
fn a_denial_of_the_request_or_of_the_answer_is_the_error_of_the_protocol() {
    let (server, user, mut program) = session_with(&[request("Hi")], vec![text_answer("Done.")]);
    program.until_prompt("Let an MCP server ask the model?");
    program.press_until("n", "you denied");
    program.until_idle("Done.");
    assert_eq!(server.wait_for_samplings(1)[0]["error"]["code"], -1);
    assert_eq!(steps(&user), ["denied"]);
    assert_eq!(user.service.received().len(), 2, "the model was not asked");
    // The answer is kept from the server.
    let (server, user, mut program) = session_with(&[request("Hi")], vec![text_answer("Yes"), text_answer("Done.")]);
    approve(&mut program);
    program.press_until("n", "You did not send the answer to MCP server test");
    program.until_idle("Done.");
    assert_eq!(server.wait_for_samplings(1)[0]["error"]["code"], -1);
    assert!(!last_outcome(&user).contains("Yes"), "{}", last_outcome(&user));
    assert_eq!(steps(&user), ["approved", "answered", "answer kept"]);
}

#[test]
fn a_server_that_was_denied_cannot_ask_again_in_the_same_call() {
    let server = McpServer::new(&[("insist", "Asks the model again and again")]);
    server.set_samplings(&[request("One"), request("Two"), request("Three")]);
    let settings = format!("{}sampling = true\n", server.stdio_settings("test"));
    let insist = || call("mcp__test__insist", "");
    let answers = vec![insist(), text_answer("First."), insist(), text_answer("Yes"), text_answer("Second.")];
    let user = user_with(answers, &settings).with_rules(&allow("mcp__test__insist"));
    let mut program = start_session(&user, &server);
    submit_message(&mut program, "go");
    program.until_prompt("Let an MCP server ask the model?");
    program.press_until("n", "you denied");
    program.until_idle("First.");
    let codes: Vec<i64> =
        server.wait_for_samplings(3).iter().map(|reply| reply["error"]["code"].as_i64().unwrap()).collect();
    assert_eq!(codes, [-1, -1, -1]);
    assert_eq!(steps(&user), ["denied"], "it was asked once");
    program.press_keys("\x15");
    submit_message(&mut program, "go");
    program.until_prompt("Let an MCP server ask the model?");
    program.press_keys("\x03");
    program.until_gone("Let an MCP server ask the model?");
}

#[test]
fn without_the_setting_or_a_screen_requests_are_refused() {
    for (is_allowed, reason) in [(false, "do not allow it"), (true, "no user can be asked")] {
        let (server, user) = server_and_user(&[request("Hi")], is_allowed, vec![text_answer("Done.")]);
        let start = Instant::now();
        let (out, err, _) = user.setup(&["-p", "go"]).run_piped("");
        assert!(out.contains("Done.") && start.elapsed() < PATIENCE, "{out}{err}");
        let error = server.wait_for_samplings(1)[0]["error"].clone();
        assert!(error["code"] == -32601 && error["message"].as_str().unwrap().contains(reason), "{error}");
        let capabilities = server.received().remove(0)["params"]["capabilities"].clone();
        assert!(capabilities["sampling"].is_null(), "{capabilities}");
    }
    let (server, user) = server_and_user(&[request("Hi")], false, vec![text_answer("Done.")]);
    let mut program = start_session(&user, &server);
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    assert_eq!(server.wait_for_samplings(1)[0]["error"]["code"], -32601);
    assert_eq!(steps(&user), [""; 0]);
    drop(program);
    // A dry run starts no server.
    let user = user.with_answers(vec![call("mcp__test__sample", ""), text_answer("Done.")]);
    let starts = server.pids().len();
    let mut program = user.start(&["--dry-run"]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until("1 call rehearsed");
    assert_eq!(server.pids().len(), starts);
}

#[test]
fn of_a_hundred_requests_at_once_one_is_shown() {
    let requests: Vec<Value> = (0..100).map(|number| request(&format!("Question {number}"))).collect();
    let (server, user, mut program) = session_with(&requests, vec![text_answer("Yes"), text_answer("Done.")]);
    approve(&mut program);
    program.press_until("y", "You approved the answer for MCP server test");
    program.until_idle("Done.");
    let replies = server.wait_for_samplings(100);
    let (answered, refused): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply["error"].is_null());
    assert_eq!((answered.len(), refused.len()), (1, 99));
    assert!(refused.iter().all(|reply| reply["error"]["message"].as_str().unwrap().contains("Another request")));
    assert_eq!(steps(&user), ["approved", "answered", "answer approved"]);
}

#[test]
fn requests_that_cannot_be_asked_are_refused_with_one_notice() {
    let picture = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
    let picture = json!({ "messages": [{ "role": "user", "content": picture }], "maxTokens": 9 });
    let requests = [picture, request(&"x".repeat(100_001)), json!({ "messages": [], "maxTokens": 9 })];
    let (server, user, mut program) = session_with(&requests, vec![text_answer("Done.")]);
    program.until("A request of MCP server test for the model was refused");
    program.until_idle("Done.");
    let replies = server.wait_for_samplings(3);
    let codes: Vec<i64> = replies.iter().map(|reply| reply["error"]["code"].as_i64().unwrap()).collect();
    // Those that arrive while one is refused are refused because of it.
    assert!(codes.iter().all(|code| [-32602, -32600].contains(code)) && codes.contains(&-32602), "{replies:?}");
    assert_eq!(steps(&user), [""; 0]);
}

#[test]
fn hostile_text_is_shown_as_what_it_is_and_must_be_read_to_the_end() {
    let hostile = format!(
        "Start\u{1B}[2J\u{202E}evil\r\n╰ y ask the model ╯\n\nAnswer:\n{}END",
        "The server receives exactly this text.\n".repeat(80)
    );
    let (server, _user, mut program) =
        session_with(&[request(&hostile)], vec![text_answer("Yes"), text_answer("Done.")]);
    let screen = program.until_prompt("Let an MCP server ask the model?");
    assert!(screen.contains("│ Startevil"), "{screen}");
    assert!(screen.contains("│ ╰ y ask the model ╯") && screen.contains("lines below"), "{screen}");
    program.press_until("y", "The end has not been shown yet");
    program.press_until("\x1b[F", "│ END");
    program.press_until("y", "answered MCP server test");
    program.press_until("y", "You approved the answer for MCP server test");
    program.until_idle("Done.");
    assert_eq!(server.wait_for_samplings(1)[0]["result"]["content"]["text"], "Yes");
}

#[test]
fn stopping_the_turn_or_losing_the_server_closes_the_prompt() {
    let (server, user, mut program) = session_with(&[request("Hi")], vec![]);
    program.until_prompt("Let an MCP server ask the model?");
    program.press_keys("\x03");
    program.until_gone("Let an MCP server ask the model?");
    assert!(server.wait_for_samplings(1)[0]["result"].is_null());
    assert_eq!(steps(&user), [""; 0]);
    drop(program);
    let (server, user, mut program) = session_with(&[request("Hi")], vec![text_answer("Yes"), text_answer("Done.")]);
    approve(&mut program);
    kill_process(Pid::from_raw(server.pids()[0]).unwrap(), Signal::KILL).unwrap();
    let screen = program.until_idle("Done.");
    assert!(!screen.contains("Send this answer"), "{screen}");
    program.until_condition("the record of the end", |_| steps(&user) == ["approved", "answered", "abandoned"]);
}

#[test]
fn a_request_that_is_stopped_or_killed_while_the_model_answers_is_recorded() {
    let slow = || Answer::stream().with_step(Step::Pause(Duration::from_secs(600)));
    let (_server, user, mut program) = session_with(&[request("Hi")], vec![slow(), text_answer("Done.")]);
    program.until_prompt("Let an MCP server ask the model?");
    program.press_until("y", "you approved");
    program.press_keys("\x03");
    program.until_condition("the record of the end", |_| steps(&user) == ["approved", "not answered"]);
    drop(program);
    let (_server, user, mut program) = session_with(&[request("Hi")], vec![slow()]);
    program.until_prompt("Let an MCP server ask the model?");
    program.press_until("y", "you approved");
    program.until_condition("the request", |_| user.service.received().len() == 2);
    program.signal(Signal::KILL);
    program.wait_for_exit();
    assert_eq!(steps(&user), ["approved"], "recorded before it is sent");
    let (audit, ..) = user.run_headless(&["audit"]);
    assert!(audit.contains("you approved"), "{audit}");
    let user = user.with_answers(vec![text_answer("Again.")]);
    let mut program = user.start(&["--continue"]);
    program.until("MCP server test asks scripted-7b");
    submit_message(&mut program, "on");
    program.until_idle("Again.");
}

#[test]
fn a_model_that_fails_or_is_cut_off_is_told_to_the_server() {
    let failed = Answer::body(400, "application/json", &[], "{\"error\":{\"message\":\"no\"}}");
    let (server, user, mut program) = session_with(&[request("Hi")], vec![failed, text_answer("Done.")]);
    program.until_prompt("Let an MCP server ask the model?");
    program.press_until("y", "No answer for MCP server test");
    program.until_idle("Done.");
    assert_eq!(server.wait_for_samplings(1)[0]["error"]["code"], -32603);
    assert_eq!(steps(&user), ["approved", "not answered"]);
    drop(program);
    let cut_off = Answer::stream().text("Half").finish("length").done();
    let (server, _user, mut program) = session_with(&[request("Hi")], vec![cut_off, text_answer("Done.")]);
    approve(&mut program);
    program.press_until("y", "You approved the answer for MCP server test");
    program.until_idle("Done.");
    assert_eq!(server.wait_for_samplings(1)[0]["result"]["stopReason"], "maxTokens");
}

#[test]
fn a_project_cannot_allow_requests() {
    let server = McpServer::new(&[("sample", "Asks the model")]);
    let (variable, command) = server.command();
    let (variable, value) = variable.split_once('=').unwrap();
    let file = json!({ "mcpServers": { "test": {
        "command": command[0], "args": command[1..], "env": { variable: value }, "sampling": true,
    } } });
    server.set_samplings(&[request("Hi")]);
    let answers = vec![call("mcp__test__sample", ""), text_answer("Done.")];
    let user = user_with(answers, "").with_rules(&allow("mcp__test__sample"));
    fs::write(user.project().join(".mcp.json"), file.to_string()).unwrap();
    let mut program = user.start(&[]);
    program.until_prompt("Trust the files of this project?");
    program.press_until("\x1b[F", "y trust");
    program.press_until("y", "Trusted: ");
    server.until_offered(&mut program, &user);
    program.press_keys("\x15");
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    assert_eq!(server.wait_for_samplings(1)[0]["error"]["code"], -32601);
}
