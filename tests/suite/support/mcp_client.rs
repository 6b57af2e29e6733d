//! A client of `aye serve --mcp` for tests: the real program over real pipes.

use super::keyboard::PATIENCE;
use super::program::Setup;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The capability to show forms.
pub fn elicitation() -> Value {
    json!({ "elicitation": { "form": {} } })
}

/// A client and the program that serves it.
pub struct McpClient {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages that no test has asked for yet.
    unread: Vec<Value>,
    last_id: u64,
}

impl McpClient {
    /// Starts the program; sends nothing.
    pub fn start(setup: &Setup) -> Self {
        let mut child = setup.spawn_piped(Stdio::piped());
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, messages, unread: Vec::new(), last_id: 0 }
    }

    /// Starts the program, and makes the handshake as a client with these capabilities.
    pub fn connect(setup: &Setup, capabilities: Value) -> Self {
        let mut client = Self::start(setup);
        let result = client.request("initialize", Self::introduction(capabilities));
        assert_eq!(result["result"]["serverInfo"]["name"], "aye", "{result}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    pub fn introduction(capabilities: Value) -> Value {
        let info = json!({ "name": "test\u{1B}[2J-client", "version": "1" });
        json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info })
    }

    pub fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").and_then(|()| input.flush()).unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Sends a request without waiting; returns its ID.
    pub fn send_request(&mut self, method: &str, parameters: Value) -> u64 {
        self.last_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": parameters }));
        self.last_id
    }

    /// Sends a request, and returns its response.
    pub fn request(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.send_request(method, parameters);
        self.response(id)
    }

    pub fn send_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send_request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Calls a tool; returns its text, and whether it is an error.
    pub fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let id = self.send_call(tool, arguments);
        self.result(id)
    }

    /// Waits for the result of a call.
    pub fn result(&mut self, id: u64) -> (String, bool) {
        let response = self.response(id);
        let result = &response["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{response}"));
        (text.to_owned(), result["isError"].as_bool().unwrap())
    }

    /// Waits for the response to a request.
    pub fn response(&mut self, id: u64) -> Value {
        self.find(|message| message["id"] == id && message["method"].is_null())
    }

    /// Waits for the error of a message without an ID; returns its code.
    pub fn error_code(&mut self) -> i64 {
        let error = self.find(|message| message["id"].is_null() && message["method"].is_null());
        error["error"]["code"].as_i64().unwrap()
    }

    /// Waits for a request or notification of the program.
    pub fn find_method(&mut self, method: &str) -> Value {
        self.find(|message| message["method"] == method)
    }

    /// Takes the first message, received before or later, for which this is true.
    pub fn find(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.unread.iter().position(&is_wanted) {
            return self.unread.remove(index);
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left) {
                Ok(message) if is_wanted(&message) => return message,
                Ok(message) => self.unread.push(message),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let errors = self.errors();
                    panic!("no such message among {:?}; {errors}", self.unread)
                }
            }
        }
    }

    /// All messages that were received and not asked for.
    pub fn unread_messages(&mut self) -> &[Value] {
        self.unread.extend(self.messages.try_iter());
        &self.unread
    }

    fn errors(&mut self) -> String {
        let _ = self.child.kill();
        let mut text = String::new();
        let _ = self.child.stderr.take().map(|mut errors| errors.read_to_string(&mut text));
        text
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Closes the input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for the end of the program; returns its exit code, or -1 after a signal.
    pub fn wait_for_exit(&mut self) -> i32 {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            assert!(Instant::now() < deadline, "the program still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
