//! A user who has tools of files, and the responses that such tools receive.

use super::service::Answer;
use super::stored_files::read_session;
use super::terminal_session::calls_answer_after;
use super::user::User;
use aye::chat::{Entry, Outcome};
use serde_json::Value;
use std::time::Duration;

pub fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

pub fn json_response(status: &str, body: &str) -> String {
    response(status, "Content-Type: application/json\r\n", body)
}

pub fn call(tool: &str, arguments: Value) -> Answer {
    calls_answer_after(Duration::ZERO, &[(tool, arguments)])
}

/// A user with a tool file.
pub fn user_with_tool(answers: Vec<Answer>, name: &str, text: &str) -> User {
    let user = User::new(answers);
    write_user_tool(&user, name, text);
    user
}

pub fn write_user_tool(user: &User, name: &str, text: &str) {
    let folder = user.path("home/aye/config/tools");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
}

pub fn add_settings(user: &User, lines: &str) {
    let settings = user.path("home/aye/config/config.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, format!("{text}\n{lines}")).unwrap();
}

/// The outcomes of the calls so far.
pub fn outcomes(user: &User) -> Vec<Outcome> {
    let settled = |entry| match entry {
        Entry::Settled { outcome, .. } => Some(outcome),
        _ => None,
    };
    read_session(&user.setup(&[])).into_iter().filter_map(settled).collect()
}

/// The tools of each request to the model.
pub fn offered_tools(user: &User) -> Vec<Vec<String>> {
    let name = |tool: &Value| tool["function"]["name"].as_str().unwrap_or_default().to_owned();
    let tools = |body: &Value| body["tools"].as_array().map(|tools| tools.iter().map(name).collect());
    user.service.received().iter().map(|request| tools(&request.body).unwrap_or_default()).collect()
}

/// Runs `aye` with these arguments in the user's project, without a terminal.
pub fn run(user: &User, arguments: &[&str]) -> (String, String, i32) {
    user.run_headless(arguments)
}
