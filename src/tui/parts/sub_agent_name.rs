//! Names of sub-agents in prompts and lists.

use crate::text::clean;

/// Returns the line that names the asking sub-agent in a prompt. The name is cleaned and quoted.
pub fn origin_line(name: &str) -> String {
    format!("asked by {}", quote_name(name))
}

/// Returns a sub-agent's cleaned and quoted name on one line.
pub fn quote_name(name: &str) -> String {
    format!("sub-agent “{}”", clean::clean_line(name))
}
