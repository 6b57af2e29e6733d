//! What the user sees of an MCP server.

use super::{Digest, pluralize};

/// State of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerReport {
    pub name: String,
    /// Where it is reached: its command line or address.
    pub place: String,
    /// Number of tools and state of the connection.
    pub status: String,
    /// Description of the accepted tools.
    pub tools: Vec<String>,
    /// Number of tools that are new or changed, and not offered.
    pub changed_count: usize,
    /// How they changed; `None` if nothing changed or the difference cannot be shown.
    pub change: Option<ToolsChange>,
    /// Why the difference cannot be shown; empty if it can, or if there is none.
    pub note: String,
}

/// Difference between the accepted tools of a server and those that it has now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsChange {
    /// Identifies the difference.
    pub digest: Digest,
    /// Number of tools that are new or changed.
    pub tool_count: usize,
    /// The difference as text. Hidden characters are marked.
    pub lines: Vec<String>,
}

/// Describes how many tools of a server are offered: `2 tools`, or `1 of 2 tools`.
pub fn describe_tool_count(offered: usize, total: usize) -> String {
    let tools = pluralize(total, "tool");
    if offered == total { tools } else { format!("{offered} of {tools}") }
}
