//! Reads the MCP servers of settings files of other programs: `.mcp.json` and `.claude.json` of Claude Code, `mcp.json` of
//! VS Code, and `config.toml` of codex. The `.mcp.json` of a project is used once the user trusts it.

use crate::chat::mcp_names::explain_invalid_server;
use crate::config::McpServer;
use serde_json::Value;
use std::collections::BTreeMap;

/// A server of such a file.
#[derive(Debug, PartialEq)]
pub struct ForeignServer {
    /// Its name, changed if aye could not use it.
    pub name: String,
    /// `None` if it cannot be used.
    pub server: Option<McpServer>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl ForeignServer {
    /// Describes what using the server does: the whole command line with its variables, or the address.
    pub fn describe(&self) -> String {
        let name = &self.name;
        let Some(server) = &self.server else { return format!("{name}: {}", self.notes.join(", ")) };
        let set = |values: &BTreeMap<String, String>, label: &str| -> String {
            values.iter().map(|(name, value)| format!(", {label} {name}={value:?}")).collect()
        };
        match &server.url {
            Some(url) => format!("{name}: connects to {url}{}", set(&server.headers, "with the header")),
            None => {
                let words = server.command.iter().map(String::as_str);
                let command = shlex::try_join(words).unwrap_or_else(|_| server.command.join(" "));
                format!("{name}: starts {command}{}", set(&server.env, "with the variable"))
            }
        }
    }
}

/// Reads the servers of a settings file in JSON, also with comments, or TOML.
///
/// # Errors
/// The reason, if the text is neither, or has no servers.
pub fn read_foreign_settings(text: &str) -> Result<Vec<ForeignServer>, String> {
    let settings: Value = match serde_json::from_str(text) {
        Ok(settings) => settings,
        Err(json_error) => match serde_json::from_str(&remove_comments(text)) {
            Ok(settings) => settings,
            Err(_) => toml::from_str(text).map_err(|_| format!("it is neither JSON nor TOML ({json_error})"))?,
        },
    };
    let sections = ["mcpServers", "servers", "mcp_servers"];
    let servers = sections.iter().find_map(|section| settings[section].as_object());
    let servers = servers.ok_or("it has none of the sections mcpServers, servers and mcp_servers")?;
    Ok(servers.iter().map(|(name, settings)| read_server(name, settings)).collect())
}

fn read_server(name: &str, settings: &Value) -> ForeignServer {
    let (valid_name, mut notes) = valid_name(name);
    let texts = |name: &str| -> Vec<String> {
        settings[name].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let table = |name: &str| -> BTreeMap<String, String> {
        let fields = settings[name].as_object().into_iter().flatten();
        fields.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
    };
    let url = ["url", "serverUrl"].iter().find_map(|name| settings[name].as_str()).map(str::to_owned);
    let mut headers = table("headers");
    headers.extend(table("http_headers"));
    let server = McpServer {
        command: settings["command"].as_str().map(str::to_owned).into_iter().chain(texts("args")).collect(),
        url,
        env: table("env"),
        headers,
        enabled: settings["disabled"] != true && settings["enabled"] != false,
        ..McpServer::default()
    };
    let variables: Vec<&str> = server
        .command
        .iter()
        .chain(&server.url)
        .chain(server.env.values())
        .chain(server.headers.values())
        .filter(|text| text.contains("${"))
        .map(String::as_str)
        .collect();
    if settings["type"] == "sse" {
        notes.push("not used: its transport is sse, which is not supported".to_owned());
        return ForeignServer { name: valid_name, server: None, notes };
    }
    if server.command.is_empty() == server.url.is_none() {
        notes.push("not used: it has not exactly one of command and url".to_owned());
        return ForeignServer { name: valid_name, server: None, notes };
    }
    if !variables.is_empty() {
        notes.push("not used: it uses variables such as ${NAME}, which are not replaced".to_owned());
        return ForeignServer { name: valid_name, server: None, notes };
    }
    if !server.enabled {
        notes.push("not used: it is disabled".to_owned());
        return ForeignServer { name: valid_name, server: None, notes };
    }
    ForeignServer { name: valid_name, server: Some(server), notes }
}

/// Returns the name, or a valid one made of it, with a note.
fn valid_name(name: &str) -> (String, Vec<String>) {
    if explain_invalid_server(name).is_none() {
        return (name.to_owned(), Vec::new());
    }
    let mut valid = String::new();
    for c in name.to_lowercase().chars() {
        let c = if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        if valid.len() < 24 && !(c == '_' && (valid.is_empty() || valid.ends_with('_'))) {
            valid.push(c);
        }
    }
    let valid = valid.trim_end_matches('_').to_owned();
    let valid = if valid.is_empty() { "server".to_owned() } else { valid };
    (valid, vec![format!("the name was {name:?}")])
}

/// Removes comments and trailing commas, which VS Code allows in JSON. Text in quotes is unchanged.
fn remove_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(c) = chars.next() {
        match (is_quoted, c, chars.peek()) {
            (true, '\\', Some(_)) => {
                out.push(c);
                out.extend(chars.next());
            }
            (_, '"', _) => {
                is_quoted = !is_quoted;
                out.push(c);
            }
            (false, '/', Some('/')) => while chars.next_if(|c| *c != '\n').is_some() {},
            (false, '/', Some('*')) => {
                let mut last = ' ';
                for c in chars.by_ref().skip(1) {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            (false, ']' | '}', _) => {
                let end = out.trim_end().len();
                if out[..end].ends_with(',') {
                    out.truncate(end - 1);
                }
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<(String, Vec<String>)> {
        let servers = read_foreign_settings(text).unwrap();
        servers.into_iter().map(|found| (found.name, found.server.unwrap_or_default().command)).collect()
    }

    #[test]
    fn files_of_three_programs_are_read() {
        let expected = [("files".to_owned(), vec!["npx".to_owned(), "-y".to_owned(), "x // y".to_owned()])];
        let claude = r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "x // y"], "env": {"A": "1"}}}}"#;
        let code = "{ // mine\n \"servers\": {\"files\": {\"type\": \"stdio\", \"command\": \"npx\", /* a */ \"args\": [\"-y\", \"x // y\",],},},}";
        let codex = "[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"x // y\"]\n";
        for text in [claude, code, codex] {
            assert_eq!(commands(text), expected, "{text}");
        }
        assert_eq!(read_foreign_settings(claude).unwrap()[0].server.as_ref().unwrap().env["A"], "1");
        assert!(read_foreign_settings("{}").unwrap_err().contains("mcpServers"));
        assert!(read_foreign_settings("\u{1}").unwrap_err().contains("neither JSON nor TOML"));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let text = r#"{"mcpServers": {
            "A b__c": {"url": "https://a.example/mcp", "headers": {"x-key": "k"}},
            "old": {"type": "sse", "url": "https://a.example/sse"},
            "both": {"command": "x", "url": "https://a.example"},
            "variable": {"command": "x", "env": {"KEY": "${KEY}"}},
            "off": {"command": "x", "disabled": true}
        }}"#;
        let servers = read_foreign_settings(text).unwrap();
        let notes: Vec<(&str, bool, &str)> = servers
            .iter()
            .map(|found| (found.name.as_str(), found.server.is_some(), found.notes.last().map_or("", String::as_str)))
            .collect();
        assert_eq!((notes[0].0, notes[0].1), ("a_b_c", true));
        assert_eq!(servers[0].server.as_ref().unwrap().headers["x-key"], "k");
        for (note, part) in notes[1..].iter().zip(["sse", "exactly one", "${NAME}", "disabled"]) {
            assert!(!note.1 && note.2.contains(part), "{note:?}");
        }
    }
}
