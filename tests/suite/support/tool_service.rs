//! A server for the tools of files, and a user who has such tools.

use super::service::Answer;
use super::stored_files::read_session;
use super::terminal_session::calls_answer_after;
use super::user::User;
use aye::chat::{Entry, Outcome};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A server that records whole requests and answers every path alike.
pub struct ApiServer {
    pub port: u16,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl ApiServer {
    /// Starts a server that answers with these responses in order, and the last one again. An empty one never answers.
    pub fn start(responses: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (connections, requests) = (Arc::new(AtomicUsize::new(0)), Arc::<Mutex<Vec<String>>>::default());
        let (count, received) = (connections.clone(), requests.clone());
        let responses: Vec<String> = responses.iter().map(|response| (*response).to_owned()).collect();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let index = count.fetch_add(1, Ordering::SeqCst).min(responses.len() - 1);
                let (received, response) = (received.clone(), responses[index].clone());
                std::thread::spawn(move || serve(stream, &received, &response));
            }
        });
        Self { port, connections, requests }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn connection_count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Reads a request with its body, and answers it.
fn serve(mut stream: TcpStream, received: &Mutex<Vec<String>>, response: &str) {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    let is_complete = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
        let length = head
            .to_lowercase()
            .split_once("content-length: ")
            .map_or(0, |(_, rest)| rest.split("\r\n").next().unwrap_or_default().trim().parse::<usize>().unwrap_or(0));
        body.len() >= length
    };
    while !is_complete(&bytes) {
        match stream.read(&mut buffer) {
            Ok(1..) => bytes.extend_from_slice(&buffer[..]),
            Ok(0) | Err(_) => return,
        }
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |end| end + 1);
        bytes.truncate(end);
        buffer = [0; 4096];
    }
    received.lock().unwrap().push(String::from_utf8_lossy(&bytes).into_owned());
    if response.is_empty() {
        std::thread::sleep(Duration::from_secs(600));
    }
    let _ = stream.write_all(response.as_bytes());
}

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
