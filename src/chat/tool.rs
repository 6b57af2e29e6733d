//! What the model is offered, what it calls, and what came of it.

use super::CallId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One tool as the model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// `[A-Za-z0-9_-]{1,64}`, as services demand.
    pub name: String,
    /// Read by the model.
    pub description: String,
    /// A JSON schema of type `object`.
    pub parameters: Value,
}

/// One use of a tool, as the model asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique in its session.
    pub id: CallId,
    /// The tool's name as the model wrote it; it may name none of ours.
    pub name: String,
    /// Exactly the text the model sent, which need not be JSON at all.
    pub arguments: String,
}

/// What came of a call. The text is what the model is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", content = "text", rename_all = "snake_case")]
pub enum Outcome {
    /// It was done.
    Done(String),
    /// It was tried, or could not be understood.
    Failed(String),
    /// A person or the policy said no; nothing was done.
    Refused(String),
    /// A dry run: done on the stage alone.
    Rehearsed(String),
    /// Stopped in the middle, or never started. The text says which.
    Interrupted(String),
}

impl Outcome {
    /// What the model is told.
    pub fn text(&self) -> &str {
        match self {
            Self::Done(text)
            | Self::Failed(text)
            | Self::Refused(text)
            | Self::Rehearsed(text)
            | Self::Interrupted(text) => text,
        }
    }

    /// The same outcome with another text.
    pub fn map_text(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Done(text) => Self::Done(change(text)),
            Self::Failed(text) => Self::Failed(change(text)),
            Self::Refused(text) => Self::Refused(change(text)),
            Self::Rehearsed(text) => Self::Rehearsed(change(text)),
            Self::Interrupted(text) => Self::Interrupted(change(text)),
        }
    }
}

/// How a command ended, where it ran and not to a good end, by what its outcome says last: `exit 3`.
pub fn bad_end(told: &str) -> Option<&str> {
    let last = told.lines().next_back().filter(|last| *last != "exit 0")?;
    let ends = ["exit ", "stopped ", "killed by ", "ended, "];
    ends.iter().any(|begins| last.starts_with(begins)).then_some(last)
}
