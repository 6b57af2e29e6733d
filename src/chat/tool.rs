//! Tool descriptions, tool calls and outcomes.

use super::{CallId, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Added to the description of a parameter that may hold references to files. The system prompt explains them.
const REFERENCE_NOTE: &str = "(@@file: allowed)";

/// Description of a tool for the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolSpec {
    /// `[A-Za-z0-9_-]{1,64}`, as providers require.
    pub name: String,
    pub description: String,
    /// Of type `object`.
    pub parameters: Schema,
    /// True if a file or an MCP server defines it.
    pub is_custom: bool,
    /// True if sub-agents do not get it.
    pub is_main_only: bool,
    /// Names of the parameters whose values may hold references to files, and what a reference there stands for.
    pub file_references: Vec<(String, ReferenceUse)>,
    /// Text that the system prompt has while the tool is offered, such as a list of what it can load; usually empty. It may be
    /// longer than providers allow for a description.
    pub prompt_section: String,
}

/// What a reference to a file in an argument stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceUse {
    /// Text.
    Text,
    /// Data, if the reference is the whole argument and the file has a known format; else text.
    Data,
}

impl ToolSpec {
    /// Allows references to files in these parameters, and says so in their descriptions.
    #[must_use]
    pub fn with_file_references<N: AsRef<str>>(mut self, parameters: &[(N, ReferenceUse)]) -> Self {
        let mut schemas = self.parameters.to_value();
        for (name, usage) in parameters {
            let name = name.as_ref();
            let schema = schemas.get_mut("properties").and_then(|properties| properties.get_mut(name));
            if let Some(Value::Object(schema)) = schema {
                let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
                let description = format!("{description} {REFERENCE_NOTE}");
                schema.insert("description".to_owned(), description.trim_start().into());
            }
            self.file_references.push((name.to_owned(), *usage));
        }
        self.parameters = schemas.into();
        self
    }
}

/// A tool call, as the model made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique in its session.
    pub id: CallId,
    /// Name as the model wrote it; there may be no such tool. For a call through `run_tool`, the name of the
    /// deferred tool.
    pub name: String,
    /// Exactly the text the model sent, which may not be valid JSON. For a call through `run_tool`, the arguments of
    /// the deferred tool.
    pub arguments: String,
}

/// Outcome of a call. The text is the tool result that the model receives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", content = "text", rename_all = "snake_case")]
pub enum Outcome {
    /// The call succeeded.
    Done(String),
    /// The call failed, or its arguments are invalid.
    Failed(String),
    /// The user or the policy denied the call; it did not run.
    Refused(String),
    /// The call was rehearsed in a dry run: it ran only in the overlay, or its result is simulated.
    Rehearsed(String),
    /// The call was stopped or never started. The text says which.
    Interrupted(String),
}

impl Outcome {
    pub fn text(&self) -> &str {
        match self {
            Self::Done(text)
            | Self::Failed(text)
            | Self::Refused(text)
            | Self::Rehearsed(text)
            | Self::Interrupted(text) => text,
        }
    }

    /// Changes the text of the outcome.
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

/// Returns the status of a command that failed, from the last line of its outcome: `exit 3`. Returns `None` if the
/// command succeeded or the outcome has no status.
pub fn parse_failure_status(outcome: &str) -> Option<&str> {
    let last_line = outcome.lines().next_back().filter(|last| *last != "exit 0")?;
    let status_prefixes = ["exit ", "stopped ", "killed by ", "ended, "];
    status_prefixes.iter().any(|prefix| last_line.starts_with(prefix)).then_some(last_line)
}
