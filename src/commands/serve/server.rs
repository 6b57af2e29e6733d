//! Handles the messages of the client.

use super::call_queue::CallQueue;
use super::client_link::ClientLink;
use super::served_tools::{ServedTool, explain_unknown_tool, list_served_tools};
use super::standard_streams::MAX_MESSAGE_BYTES;
use crate::agent::ServedCall;
use crate::assemble::Start;
use crate::mcp::serving::bounded_lines::Line;
use crate::mcp::serving::handshake::accept_client;
use crate::mcp::serving::message::{
    INVALID_PARAMETERS, INVALID_REQUEST, Incoming, OVERLOADED, RequestId, UNKNOWN_METHOD, error_response,
    parse_message, result_response,
};
use crate::store::Journal;
use serde_json::{Value, json};

/// Maximum bytes of the arguments of a call.
const MAX_ARGUMENT_BYTES: usize = 256 << 10;
/// Text for the model of the client.
const INSTRUCTIONS: &str = "Reads the project and asks its user. Each call is judged by the user's rules. A denied call stays denied: do not retry it in another form.";

/// Serves one client.
pub(super) struct Server<'a> {
    link: ClientLink,
    /// Calls that read the project.
    pub(super) reads: CallQueue<'a>,
    /// Questions. They wait for the user, while reads go on.
    pub(super) questions: CallQueue<'a>,
    journal: Journal,
}

/// Error of a request: its code and message.
type RequestError = (i32, String);

impl<'a> Server<'a> {
    pub(super) fn new(start: &'a Start) -> Self {
        Self {
            link: ClientLink::default(),
            reads: CallQueue::new(start, "Calls"),
            questions: CallQueue::new(start, "Questions"),
            journal: start.session_builder.journal.clone(),
        }
    }

    /// Handles a line of the client.
    pub(super) fn handle_line(&mut self, line: Line) {
        let text = match line {
            Line::Text(text) if text.trim_ascii().is_empty() => return,
            Line::Text(text) => text,
            Line::TooLong => {
                let reason = format!("The message has more than {MAX_MESSAGE_BYTES} bytes");
                return self.link.send(error_response(None, INVALID_REQUEST, &reason));
            }
        };
        match parse_message(&text) {
            Ok(Incoming::Request { id, method, parameters }) => {
                if self.reads.contains(&id) || self.questions.contains(&id) {
                    // A response would be taken for that of the running call.
                    let reason = "The id belongs to a call that has not ended";
                    return self.link.send(error_response(None, INVALID_REQUEST, reason));
                }
                match self.handle_request(&id, &method, &parameters) {
                    Ok(Some(result)) => self.link.send(result_response(&id, result)),
                    Ok(None) => {}
                    Err((code, reason)) => self.link.send(error_response(Some(&id), code, &reason)),
                }
            }
            Ok(Incoming::Notification { method, parameters }) => {
                if method == "notifications/cancelled"
                    && let Some(id) = RequestId::from_json(&parameters["requestId"])
                {
                    self.reads.cancel(&id, &mut self.link);
                    self.questions.cancel(&id, &mut self.link);
                }
            }
            Ok(Incoming::Response { id, result }) => self.questions.receive_answer(&id, Some(result)),
            Err(response) => {
                self.journal.note("a message of the client cannot be read");
                self.link.send(response);
            }
        }
    }

    /// Returns the result of a request; `None` if it is sent later.
    fn handle_request(
        &mut self,
        id: &RequestId,
        method: &str,
        parameters: &Value,
    ) -> Result<Option<Value>, RequestError> {
        let is_known = self.link.facts.is_some();
        match method {
            "ping" => Ok(Some(json!({}))),
            "initialize" if is_known => Err((INVALID_REQUEST, "The client is already initialized".to_owned())),
            "initialize" => {
                let (facts, result) = accept_client(parameters, INSTRUCTIONS);
                self.link.facts = Some(facts);
                Ok(Some(result))
            }
            "tools/list" | "tools/call" if !is_known => {
                Err((INVALID_REQUEST, "The first request must be initialize".to_owned()))
            }
            "tools/list" => Ok(Some(list_served_tools())),
            "tools/call" => self.queue_call(id, parameters).map(|()| None),
            _ => Err((UNKNOWN_METHOD, "Unknown method".to_owned())),
        }
    }

    fn queue_call(&mut self, id: &RequestId, parameters: &Value) -> Result<(), RequestError> {
        let invalid = |reason: String| (INVALID_PARAMETERS, reason);
        let tool = parameters["name"].as_str().and_then(ServedTool::from_name);
        let tool = tool.ok_or_else(|| invalid(explain_unknown_tool()))?;
        let arguments = match &parameters["arguments"] {
            Value::Null => "{}".to_owned(),
            arguments @ Value::Object(_) => arguments.to_string(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(invalid("The arguments must be an object".to_owned()));
            }
        };
        if arguments.len() > MAX_ARGUMENT_BYTES {
            return Err(invalid(format!("The arguments have more than {MAX_ARGUMENT_BYTES} bytes")));
        }
        let queue = match tool {
            ServedTool::AskQuestion => &mut self.questions,
            ServedTool::ReadFile | ServedTool::ListFiles | ServedTool::SearchText => &mut self.reads,
        };
        let call = ServedCall { tool: tool.name().to_owned(), arguments };
        match queue.push(id.clone(), call) {
            true => Ok(()),
            false => Err((OVERLOADED, "Too many calls wait. Call again once some of them have ended".to_owned())),
        }
    }

    /// Answers what waits, and starts what can start.
    pub(super) fn advance(&mut self) {
        self.reads.advance(&mut self.link);
        self.questions.advance(&mut self.link);
    }

    /// Takes the messages to send.
    pub(super) fn take_messages(&mut self) -> Vec<Value> {
        self.link.take_messages()
    }

    /// Returns whether no call runs or waits.
    pub(super) fn is_idle(&self) -> bool {
        self.reads.is_idle() && self.questions.is_idle()
    }

    /// Gives up questions: the client has closed the input, so no answer can arrive.
    pub(super) fn end_input(&mut self) {
        self.link.is_closed = true;
        self.questions.abandon_question();
    }

    /// Stops all calls, and saves their sessions.
    pub(super) fn stop_calls(&mut self) {
        self.reads.stop();
        self.questions.stop();
    }
}
