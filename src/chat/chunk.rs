//! A piece of what comes back from a model.

use super::{Echo, ToolCall, Usage};

/// One step of a reply that is being received.
#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    /// More of what the model says.
    Text(String),
    /// More of what the model thinks, where the service shows it.
    Reasoning(String),
    /// All that was said so far in this reply was thought: only the end of the thoughts was marked.
    WasReasoning,
    /// A call is being written: its tool, and how many bytes of arguments so far. For the screen alone.
    Writing {
        /// The tool's name as far as it is known.
        name: String,
        /// Bytes of arguments received so far.
        bytes: usize,
    },
    /// A whole call.
    Call(ToolCall),
    /// What the service counted. The last one of a reply is right.
    Usage(Usage),
    /// The request failed before anything was seen and will be sent again. For the screen alone.
    Retrying {
        /// The attempt that comes next; the first try was 1.
        attempt: u32,
        /// How many there are at most.
        of: u32,
        /// How long until then.
        wait: std::time::Duration,
        /// The service's words, one line.
        why: String,
        /// The same in words of ours alone: nothing in them came from a service.
        kind: String,
    },
    /// The service is silent. For the screen alone.
    Quiet {
        /// For so long up to now; zero says that something came which is no part of the reply, such as a sign of life.
        since: std::time::Duration,
        /// The silence after which the request is given up.
        limit: std::time::Duration,
    },
    /// Another model answers than the one that was named, or none was named and this one does. Comes before anything
    /// of the reply.
    Answering {
        /// The model's name as its service knows it.
        model: String,
        /// Why it is another one, in one sentence; nothing where no model was named.
        instead: Option<String>,
    },
    /// What the service wants to see again with this reply.
    Echo(Echo),
    /// The reply is whole. Nothing follows.
    Done(Finish),
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// The model was done, with or without calls.
    Stop,
    /// The service cut it at a length limit: what there is, is incomplete and its calls are not run.
    Length,
    /// The service withheld it; its word for why.
    Filtered(String),
}
