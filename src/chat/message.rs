//! What the model is sent.

use super::{CallId, ToolCall, ToolSpec};

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
}
