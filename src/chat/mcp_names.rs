//! Names of MCP servers, and names under which the tools of servers are offered to the model: `mcp__SERVER__TOOL`.

use super::Digest;

/// Beginning of the name of every tool of a server. No built-in tool begins with it.
pub const PREFIX: &str = "mcp__";
/// Maximum bytes of a tool's name, as providers require.
const MAX_NAME_BYTES: usize = 64;
/// Maximum bytes of a server's name.
const MAX_SERVER_BYTES: usize = 24;
/// Hexadecimal digits of the digest at the end of a name that was changed.
const DIGEST_DIGITS: usize = 8;

/// Explains why a server cannot have this name, worded to follow the name; `None` if it can.
pub fn explain_invalid_server(name: &str) -> Option<&'static str> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if name.is_empty() || name.len() > MAX_SERVER_BYTES {
        return Some("has no length from 1 to 24 characters");
    }
    if !name.chars().all(is_allowed) || name.contains("__") || name.starts_with('_') || name.ends_with('_') {
        return Some("may only have lower-case ASCII letters, digits, hyphens, and single underscores inside");
    }
    None
}

/// Returns the name under which a tool is offered. If the tool's own name has characters that providers reject, or is too
/// long, the name ends with digits of its digest.
pub fn offered_name(server: &str, tool: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let clean: String = tool.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect();
    let full_name = format!("{PREFIX}{server}__{clean}");
    if clean == tool && full_name.len() <= MAX_NAME_BYTES {
        return full_name;
    }
    let digest = Digest::of_bytes(tool.as_bytes());
    let kept = full_name.len().min(MAX_NAME_BYTES - DIGEST_DIGITS - 1);
    format!("{}_{}", &full_name[..kept], &digest.as_str()[..DIGEST_DIGITS])
}

/// Returns the server of a tool with this name; `None` if it is no tool of a server.
pub fn server_of(offered_name: &str) -> Option<&str> {
    // The name of a server has no `__`.
    Some(offered_name.strip_prefix(PREFIX)?.split_once("__")?.0)
}

/// Returns the service of a server's calls, as rules and grants name it: `mcp:NAME`.
pub fn service_name(server: &str) -> String {
    format!("mcp:{server}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_unusual_names_stay_distinct_and_valid() {
        assert_eq!(offered_name("files", "read_file"), "mcp__files__read_file");
        assert_eq!(server_of("mcp__files__a__b"), Some("files"));
        assert_eq!((server_of("read_file"), server_of("mcp__files")), (None, None));
        let long = "x".repeat(100);
        let names = ["a.b", "a b", "a_b", "ä", "", &long, &format!("{long}y"), "a\u{202E}b", "A/b"];
        let offered: Vec<String> = names.iter().map(|name| offered_name("a-long_server-name-of-24c", name)).collect();
        for (index, name) in offered.iter().enumerate() {
            assert!(name.len() <= MAX_NAME_BYTES && name.starts_with(PREFIX), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)), "{name}");
            assert!(!offered[..index].contains(name), "{offered:?}");
            assert_eq!(server_of(name), Some("a-long_server-name-of-24c"));
        }
    }

    #[test]
    fn server_names_cannot_imitate_other_servers() {
        for name in ["github", "a", "my-files_2", "7"] {
            assert_eq!(explain_invalid_server(name), None, "{name}");
        }
        for name in ["", "A", "a__b", "_a", "a_", "a b", "a.b", "ä", "a:b", &"x".repeat(25)] {
            assert!(explain_invalid_server(name).is_some(), "{name}");
        }
    }
}
