//! An editor for tests of `aye serve --acp`: the real program over real pipes.

use super::mcp_client::McpClient;
use super::program::Setup;
use super::user::User;
use agent_client_protocol_schema::v1::{RequestPermissionRequest, SessionNotification, SessionUpdate};
use serde_json::{Value, json};
use std::ops::{Deref, DerefMut};

/// An editor and the program that serves it.
pub struct AcpClient {
    pipes: McpClient,
}

/// A request for a permission.
pub struct Asked {
    id: Value,
    /// The parameters, with the types of the protocol.
    pub request: RequestPermissionRequest,
}

impl Asked {
    /// The IDs of the options.
    pub fn option_ids(&self) -> Vec<String> {
        self.request.options.iter().map(|option| option.option_id.0.to_string()).collect()
    }

    pub fn title(&self) -> String {
        self.request.tool_call.fields.title.clone().unwrap()
    }

    /// The content as JSON text.
    pub fn content(&self) -> String {
        serde_json::to_string(&self.request.tool_call.fields.content).unwrap()
    }
}

impl AcpClient {
    /// Starts the program with more arguments, and makes the handshake.
    pub fn start(user: &User, extra_arguments: &[&str]) -> Self {
        let address = ["serve", "--acp", "--base-url", &user.service.base_url, "--model", "scripted-7b"];
        let arguments: Vec<&str> = address.iter().chain(extra_arguments).copied().collect();
        let mut client = Self { pipes: McpClient::start(&Setup::with_home(&user.root, &arguments)) };
        let response = client.request("initialize", Self::introduction());
        assert_eq!(response["result"]["protocolVersion"], 1, "{response}");
        client
    }

    pub fn introduction() -> Value {
        json!({ "protocolVersion": 1, "clientCapabilities": {}, "clientInfo": { "name": "test", "version": "1" } })
    }

    /// Opens a session in the project of the user; returns its ID.
    pub fn open_session(&mut self, user: &User) -> String {
        let response = self.request("session/new", json!({ "cwd": user.project(), "mcpServers": [] }));
        response["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
    }

    /// Sends a prompt; returns the ID of the request.
    pub fn send_prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.send_request("session/prompt", json!({ "sessionId": session, "prompt": prompt }))
    }

    /// Waits for the end of a turn; returns why it stopped.
    pub fn stop_reason(&mut self, prompt: u64) -> String {
        let response = self.response(prompt);
        response["result"]["stopReason"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
    }

    pub fn cancel(&mut self, session: &str) {
        let parameters = json!({ "sessionId": session });
        self.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": parameters }));
    }

    /// Waits for a request for a permission.
    pub fn asked(&mut self) -> Asked {
        let message = self.find_method("session/request_permission");
        let request = serde_json::from_value(message["params"].clone()).unwrap();
        Asked { id: message["id"].clone(), request }
    }

    /// Selects an option.
    pub fn select(&mut self, asked: &Asked, option: &str) {
        self.answer(asked, json!({ "outcome": { "outcome": "selected", "optionId": option } }));
    }

    pub fn answer(&mut self, asked: &Asked, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": asked.id, "result": result }));
    }

    pub fn answer_with_error(&mut self, asked: &Asked) {
        let error = json!({ "code": -32603, "message": "no" });
        self.send(&json!({ "jsonrpc": "2.0", "id": asked.id, "error": error }));
    }

    /// The updates of a session so far, which are not returned again. All of them have arrived before a response that a
    /// test has waited for.
    pub fn updates(&mut self, session: &str) -> Vec<SessionUpdate> {
        let is_update =
            |message: &Value| message["method"] == "session/update" && message["params"]["sessionId"] == session;
        let mut updates = Vec::new();
        while self.unread_messages().iter().any(is_update) {
            let message = self.find(is_update);
            let notification: SessionNotification = serde_json::from_value(message["params"].clone()).unwrap();
            updates.push(notification.update);
        }
        updates
    }
}

impl Deref for AcpClient {
    type Target = McpClient;

    fn deref(&self) -> &McpClient {
        &self.pipes
    }
}

impl DerefMut for AcpClient {
    fn deref_mut(&mut self) -> &mut McpClient {
        &mut self.pipes
    }
}

/// The text of the replies among these updates.
pub fn reply_text(updates: &[SessionUpdate]) -> String {
    let text = |update: &SessionUpdate| match serde_json::to_value(update).unwrap() {
        update if update["sessionUpdate"] == "agent_message_chunk" => {
            update["content"]["text"].as_str().unwrap().to_owned()
        }
        _ => String::new(),
    };
    updates.iter().map(text).collect()
}

/// The updates of this kind, as JSON.
pub fn updates_of_kind(updates: &[SessionUpdate], kind: &str) -> Vec<Value> {
    let updates = updates.iter().map(|update| serde_json::to_value(update).unwrap());
    updates.filter(|update| update["sessionUpdate"] == kind).collect()
}
