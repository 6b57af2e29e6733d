//! Tools of an MCP server whose definitions changed while a session was open.

use super::pluralize;
use crate::text::truncation::join_items;
use serde::{Deserialize, Serialize};

/// Names shown in one line.
const MAX_NAMES: usize = 3;

/// Tools that are not offered any more, because their definitions are new or differ from those that the user accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedTools {
    pub server: String,
    /// Names without control characters.
    pub tools: Vec<String>,
}

impl ChangedTools {
    /// Describes the change in one line, with what to do.
    pub fn describe(&self) -> String {
        let Self { server, tools } = self;
        let (are, changes) = if tools.len() == 1 { ("it is", "change") } else { ("they are", "changes") };
        format!(
            "MCP server {server} changed {} ({}); {are} off until you approve the {changes} in /mcp",
            pluralize(tools.len(), "tool"),
            join_items(tools, MAX_NAMES)
        )
    }

    /// Describes the change for a user without a screen.
    pub fn describe_headless(&self) -> String {
        format!("{} or with: aye mcp check {} --accept", self.describe(), self.server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_one_line_with_what_to_do() {
        let describe = |names: &[&str]| {
            let tools = names.iter().map(|name| (*name).to_owned()).collect();
            ChangedTools { server: "files".to_owned(), tools }.describe()
        };
        assert_eq!(
            describe(&["a"]),
            "MCP server files changed 1 tool (a); it is off until you approve the change in /mcp"
        );
        let many = describe(&["a", "b", "c", "d"]);
        assert!(many.starts_with("MCP server files changed 4 tools (a, b"), "{many}");
        assert!(many.ends_with("; they are off until you approve the changes in /mcp"), "{many}");
    }
}
