//! What the model is sent.

use super::{CallId, Picture, ToolCall, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One message of a request, in the order of the talk.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// The standing words.
    System(String),
    /// What the person said.
    Person(String),
    /// What the model replied, with its calls.
    Model {
        /// May be empty where there are calls.
        text: String,
        /// Each is answered by one `Tool` message that follows.
        calls: Vec<ToolCall>,
        /// What the service wants to see again with it.
        echo: Option<Box<Echo>>,
    },
    /// What came of a call.
    Tool {
        /// Which call.
        call: CallId,
        /// Its outcome in words.
        text: String,
    },
}

/// Everything one reply is asked for with.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The model's name as the service knows it.
    pub model: String,
    /// The talk so far; every call in it is answered.
    pub messages: Vec<Message>,
    /// What may be called.
    pub tools: Vec<ToolSpec>,
    /// The pictures that the person named, where the model can see. Each goes with every message that names it.
    pub pictures: Vec<Picture>,
    /// Tokens of the reply at most; `None`: whatever the settings and the service allow.
    pub most: Option<u32>,
}

/// What a service wants to see again with a reply of its own: signatures, sealed reasoning. Made and read by `llm`
/// alone, and sent to the service it came from and to no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Echo {
    /// Which service and dialect it came from.
    pub from: String,
    /// Whatever that service sent.
    pub held: Value,
}
