//! Messages to the client.

use crate::chat::SessionId;
use crate::mcp::serving::message::{RequestId, client_request, error_response, result_response};
use agent_client_protocol_schema::v1::{RequestPermissionRequest, SessionNotification, SessionUpdate};
use serde::Serialize;
use serde_json::{Value, json};

/// The messages that are to be sent to the client.
#[derive(Default)]
pub(super) struct ClientLink {
    messages: Vec<Value>,
    /// Number of requests to the client.
    request_count: u64,
}

impl ClientLink {
    /// Answers a request.
    pub(super) fn respond(&mut self, request: &RequestId, result: impl Serialize) {
        self.messages.push(result_response(request, to_json(result)));
    }

    /// Answers a request, or without an ID a message that could not be read, with an error.
    pub(super) fn fail(&mut self, request: Option<&RequestId>, code: i32, reason: &str) {
        self.messages.push(error_response(request, code, reason));
    }

    /// Sends a message that is complete.
    pub(super) fn send(&mut self, message: Value) {
        self.messages.push(message);
    }

    pub(super) fn send_update(&mut self, session: &SessionId, update: SessionUpdate) {
        let notification = to_json(SessionNotification::new(session.0.clone(), update));
        self.messages.push(json!({ "jsonrpc": "2.0", "method": "session/update", "params": notification }));
    }

    /// Asks the client for a decision. Returns the number of the request.
    pub(super) fn request_permission(&mut self, request: RequestPermissionRequest) -> u64 {
        self.request_count += 1;
        self.messages.push(client_request(self.request_count, "session/request_permission", to_json(request)));
        self.request_count
    }

    /// Takes the messages to send.
    pub(super) fn take_messages(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.messages)
    }
}

/// Returns the JSON of a message. Its paths are Unicode, so that it always has one.
fn to_json(message: impl Serialize) -> Value {
    serde_json::to_value(message).unwrap_or_default()
}
