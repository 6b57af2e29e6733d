//! Tools of an MCP server that are not offered until the user accepts them.

use super::pluralize;
use crate::text::truncation::join_items;
use serde::{Deserialize, Serialize};

/// Names shown in one line.
const MAX_NAMES: usize = 3;

/// New or changed tools, not offered until accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnacceptedTools {
    pub server: String,
    /// Names without control characters.
    pub tools: Vec<String>,
}

impl UnacceptedTools {
    /// Describes the tools in one line, with what to do.
    pub fn describe(&self) -> String {
        format!("{} in /mcp", self.describe_state())
    }

    /// Describes the tools for a user without a screen.
    pub fn describe_headless(&self) -> String {
        format!("{}. Review {} with: aye mcp check {}", self.describe_state(), self.pronoun(), self.server)
    }

    fn describe_state(&self) -> String {
        let Self { server, tools } = self;
        let (count, names) = (pluralize(tools.len(), "new or changed tool"), join_items(tools, MAX_NAMES));
        format!("MCP server {server} has {count} ({names}), not offered until you accept {}", self.pronoun())
    }

    fn pronoun(&self) -> &'static str {
        if self.tools.len() == 1 { "it" } else { "them" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unaccepted(names: &[&str]) -> UnacceptedTools {
        let tools = names.iter().map(|name| (*name).to_owned()).collect();
        UnacceptedTools { server: "files".to_owned(), tools }
    }

    #[test]
    fn the_tools_are_one_line_with_what_to_do() {
        let line = "MCP server files has 1 new or changed tool (a), not offered until you accept it";
        assert_eq!(unaccepted(&["a"]).describe(), format!("{line} in /mcp"));
        let many = unaccepted(&["a", "b", "c", "d"]).describe();
        assert!(many.starts_with("MCP server files has 4 new or changed tools (a, b"), "{many}");
        assert!(many.ends_with("), not offered until you accept them in /mcp"), "{many}");
        // With `--accept` they would be accepted before they are shown.
        let headless = unaccepted(&["a"]).describe_headless();
        assert_eq!(headless, format!("{line}. Review it with: aye mcp check files"));
    }
}
