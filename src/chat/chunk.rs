//! Parts of a reply as they are received.

use super::{Echo, ToolCall, Usage};

/// One part of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    /// More text.
    Text(String),
    /// More reasoning, if the provider shows it.
    Reasoning(String),
    /// All text so far in this reply was reasoning: the provider marks only the end of it.
    WasReasoning,
    /// A call is being received. Only for display.
    CallProgress {
        /// Name of the tool, as far as received.
        name: String,
        /// Bytes of arguments received so far.
        bytes: usize,
    },
    /// A complete call.
    Call(ToolCall),
    /// Token usage reported by the provider. The last one of a reply counts.
    Usage(Usage),
    /// The request failed before any output and will be sent again. Only for display.
    Retrying {
        /// Number of the next attempt; the first one was 1.
        attempt: u32,
        /// Maximum number of attempts.
        max_attempts: u32,
        /// Delay before the next attempt.
        wait: std::time::Duration,
        /// The provider's error, one line.
        reason: String,
        /// The kind of error in our own words, without text from the provider.
        kind: String,
    },
    /// The provider is silent. Only for display.
    Silent {
        /// Duration so far; zero if something arrived that is not part of the reply, such as a keep-alive.
        silence: std::time::Duration,
        /// Silence after which the request is aborted.
        limit: std::time::Duration,
    },
    /// The model that answers is not the requested one, or no model was requested by name. Sent before any part of the
    /// reply.
    ModelChosen {
        /// Name of the model, as its provider knows it.
        model: String,
        /// Reason why the requested model does not answer, in one sentence; `None` if no model was requested by name, or
        /// if the reason was given earlier in the turn.
        reason: Option<String>,
    },
    /// Data that the provider wants back with this reply.
    Echo(Echo),
    /// The reply is complete. Nothing follows.
    Done(FinishReason),
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishReason {
    /// The model finished, with or without calls.
    Stop,
    /// The provider truncated it at a length limit: the reply is incomplete, and its calls are not run.
    Length,
    /// The provider withheld the reply. Holds the reason that it gave.
    Filtered(String),
}
