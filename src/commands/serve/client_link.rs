//! The client for its calls: its capabilities, and the messages to it.

use crate::mcp::serving::handshake::ClientFacts;
use crate::mcp::serving::message::{client_request, request_cancellation};
use crate::mcp::serving::question_form::QuestionForm;
use serde_json::Value;

/// The client, and the messages that are to be sent to it.
#[derive(Default)]
pub(super) struct ClientLink {
    /// `None` before the handshake.
    pub(super) facts: Option<ClientFacts>,
    messages: Vec<Value>,
    /// Number of requests to the client.
    request_count: u64,
    /// True once the client has closed the input: it can answer nothing.
    pub(super) is_closed: bool,
}

impl ClientLink {
    pub(super) fn send(&mut self, message: Value) {
        self.messages.push(message);
    }

    /// Asks the client to show a form to its user. Returns the ID of the request.
    pub(super) fn request_answers(&mut self, form: &QuestionForm) -> u64 {
        self.request_count += 1;
        self.send(client_request(self.request_count, "elicitation/create", form.to_parameters()));
        self.request_count
    }

    /// Tells the client that a request needs no answer any more.
    pub(super) fn withdraw_request(&mut self, request: u64) {
        self.send(request_cancellation(request));
    }

    /// Explains why the user cannot be asked; `None` if the client can ask.
    pub(super) fn explain_no_forms(&self) -> Option<&'static str> {
        match &self.facts {
            Some(_) if self.is_closed => Some("the client has closed the input"),
            Some(facts) if facts.can_show_forms => None,
            Some(_) | None => Some("the client cannot show questions: it did not declare the capability elicitation"),
        }
    }

    /// Takes the messages to send.
    pub(super) fn take_messages(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.messages)
    }
}
