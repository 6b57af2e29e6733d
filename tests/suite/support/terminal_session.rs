//! A user in a terminal session with the real program, and the scripted service that replies.

use super::program::{Program, Setup};
use super::service::{Answer, Service, Step};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::runtime::Runtime;

/// A reply with this text.
pub fn text_answer(text: &str) -> Answer {
    Answer::stream().text(text).finish("stop").done()
}

/// A reply with these calls, after a pause.
pub fn calls_answer_after(pause: Duration, calls: &[(&str, Value)]) -> Answer {
    let tool_calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, (name, arguments))| {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            json!({ "index": index, "id": format!("c{index}"), "type": "function", "function": function })
        })
        .collect();
    let delta = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": tool_calls } }] });
    Answer::stream().with_step(Step::Pause(pause)).event(delta).finish("tool_calls").done()
}

/// A reply with a call of this command.
pub fn command_answer(command: &str) -> Answer {
    calls_answer_after(Duration::ZERO, &[("bash_exec", json!({ "command": command }))])
}

/// Starts a service with these replies, and the program connected to it, in a terminal of this size.
pub fn start_session(
    answers: Vec<Answer>,
    (columns, rows): (u16, u16),
    environment: &[(&str, &str)],
) -> (Runtime, Service, Program) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    let mut setup = Setup::new(&["--base-url", &service.base_url, "--model", "scripted-7b"]).size(columns, rows);
    for (name, value) in environment {
        setup = setup.env(name, value);
    }
    let mut program = setup.start();
    program.until("Messages go to");
    (runtime, service, program)
}

/// Sends a user message.
pub fn submit_message(program: &mut Program, text: &str) {
    program.type_text(text);
    program.press_keys("\r");
}
