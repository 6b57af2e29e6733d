//! Handshake with a client: the version of the protocol, and what the client can do.

use serde_json::{Value, json};

/// Supported versions of the protocol, newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Maximum characters of the client's name.
const MAX_NAME_CHARS: usize = 40;

/// Facts about the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFacts {
    /// Its name, of letters, digits, spaces, hyphens, dots and underscores only.
    pub name: String,
    /// True if it can show a form to its user.
    pub can_show_forms: bool,
    /// True if a field of a form may be a list of values.
    pub accepts_lists: bool,
}

/// Reads the parameters of `initialize`. Also returns the result.
pub fn accept_client(parameters: &Value, instructions: &str) -> (ClientFacts, Value) {
    let requested = parameters["protocolVersion"].as_str().unwrap_or_default();
    // A client that does not support the version of the result ends the connection.
    let version = VERSIONS.into_iter().find(|version| *version == requested).unwrap_or(VERSIONS[0]);
    let forms = parameters["capabilities"]["elicitation"].as_object();
    // An empty object is that of versions without modes.
    let can_show_forms = forms.is_some_and(|modes| modes.is_empty() || modes.contains_key("form"));
    let facts = ClientFacts {
        name: clean_name(parameters["clientInfo"]["name"].as_str().unwrap_or_default()),
        can_show_forms,
        accepts_lists: version == VERSIONS[0],
    };
    let result = json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "aye", "version": env!("CARGO_PKG_VERSION") },
        "instructions": instructions,
    });
    (facts, result)
}

fn clean_name(name: &str) -> String {
    let is_allowed = |c: &char| c.is_ascii_alphanumeric() || " -._".contains(*c);
    let name: String = name.chars().filter(is_allowed).take(MAX_NAME_CHARS).collect();
    match name.trim() {
        "" => "another program".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_requested_one_if_it_is_supported() {
        let version = |requested: Value| {
            let (facts, result) = accept_client(&json!({ "protocolVersion": requested }), "");
            assert_eq!(facts.accepts_lists, result["protocolVersion"] == "2025-11-25");
            result["protocolVersion"].clone()
        };
        assert_eq!(version(json!("2025-06-18")), "2025-06-18");
        assert_eq!(version(json!("2024-11-05")), "2024-11-05");
        for unknown in [json!("2099-01-01"), json!(1), Value::Null] {
            assert_eq!(version(unknown), "2025-11-25");
        }
    }

    #[test]
    fn a_client_is_asked_only_if_it_can_show_forms() {
        let can = |capabilities: Value| accept_client(&json!({ "capabilities": capabilities }), "").0.can_show_forms;
        assert!(can(json!({ "elicitation": {} })));
        assert!(can(json!({ "elicitation": { "form": {}, "url": {} } })));
        for capabilities in [json!({ "elicitation": { "url": {} } }), json!({ "elicitation": true }), json!({})] {
            assert!(!can(capabilities));
        }
    }

    #[test]
    fn the_name_of_the_client_is_short_and_plain() {
        let name = |name: Value| accept_client(&json!({ "clientInfo": { "name": name } }), "").0.name;
        assert_eq!(name(json!("claude-code 2.1")), "claude-code 2.1");
        assert_eq!(name(json!("a\u{1B}[31m\n\u{202E}“b”")), "a31mb");
        assert_eq!(name(json!("x".repeat(1000))).len(), MAX_NAME_CHARS);
        for missing in [json!(""), json!("…"), Value::Null] {
            assert_eq!(name(missing), "another program");
        }
    }
}
