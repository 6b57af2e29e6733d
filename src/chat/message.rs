//! Requests to a model.

use super::{CallId, Image, ToolCall, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One message of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// The system prompt.
    System(String),
    /// A user message.
    User(String),
    /// A reply of the model with its calls.
    Model {
        /// May be empty if there are calls.
        text: String,
        /// Each is followed by one `Tool` message with its result.
        calls: Vec<ToolCall>,
        /// Data that the provider wants back with this reply.
        echo: Option<Box<Echo>>,
    },
    /// The result of a call.
    Tool { call: CallId, text: String },
}

/// A request for one reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Name of the model, as the provider knows it.
    pub model: String,
    /// The conversation so far; every call in it has a result.
    pub messages: Vec<Message>,
    /// The tools that may be called.
    pub tools: Vec<ToolSpec>,
    /// Images mentioned by the user, if the model accepts images. Each is sent with every message that mentions it.
    pub images: Vec<Image>,
    /// Maximum tokens of the reply; `None` for the limit of the settings and the provider.
    pub max_tokens: Option<u32>,
    /// JSON schema of the reply, if it must be JSON. Providers may ignore it.
    pub answer_schema: Option<Value>,
}

/// Data that a provider wants back with its own reply: signatures, encrypted reasoning. Created and used only by `llm`,
/// and sent only to the provider it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Echo {
    /// Provider and API dialect it came from.
    #[serde(rename = "from")]
    pub origin: String,
    /// The data as the provider sent it.
    #[serde(rename = "held")]
    pub data: Value,
}
