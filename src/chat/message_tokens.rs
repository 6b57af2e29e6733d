//! Token estimates of messages, entries, calls and tool descriptions.

use super::{Entry, Message, ToolCall, ToolSpec};
use crate::text::tokens::estimate_text;

/// Tokens of a message beyond its text: its role and delimiters.
pub const MESSAGE_OVERHEAD: u64 = 4;
/// Tokens of a call beyond its name and arguments: its ID and delimiters.
const CALL_OVERHEAD: u64 = 8;
/// Tokens of a tool description beyond its texts: its delimiters.
const TOOL_OVERHEAD: u64 = 8;

/// Estimates the tokens of a message, including [`MESSAGE_OVERHEAD`].
pub fn estimate_message(message: &Message) -> u64 {
    MESSAGE_OVERHEAD
        + match message {
            Message::System(text) | Message::User(text) | Message::Tool { text, .. } => estimate_text(text),
            Message::Model { text, calls, .. } => estimate_text(text) + estimate_calls(calls),
        }
}

/// Estimates the tokens of the calls of a reply.
pub fn estimate_calls(calls: &[ToolCall]) -> u64 {
    calls.iter().map(|call| CALL_OVERHEAD + estimate_text(&call.name) + estimate_text(&call.arguments)).sum()
}

/// Estimates the tokens of tool descriptions.
pub fn estimate_tools(tools: &[ToolSpec]) -> u64 {
    let estimate_tool = |tool: &ToolSpec| {
        TOOL_OVERHEAD
            + estimate_text(&tool.name)
            + estimate_text(&tool.description)
            + estimate_text(tool.parameters.as_str())
    };
    tools.iter().map(estimate_tool).sum()
}

/// Estimates the tokens that an entry adds to every later request.
pub fn estimate_entry(entry: &Entry) -> u64 {
    if let Entry::UserMessage { text } = entry {
        MESSAGE_OVERHEAD + estimate_text(text)
    } else if let Entry::BackgroundEnded(end) = entry {
        end.model_note().map_or(0, |note| estimate_text(&note))
    } else if let Entry::Settled { outcome, .. } = entry {
        MESSAGE_OVERHEAD + estimate_text(outcome.text())
    } else if let Entry::Replied { text, calls, .. } = entry
        && !(text.is_empty() && calls.is_empty())
    {
        MESSAGE_OVERHEAD + estimate_text(text) + estimate_calls(calls)
    } else if let Entry::UserCommand(command) = entry
        && command.is_shared
    {
        estimate_text(&command.model_text(usize::MAX))
    } else {
        0
    }
}
