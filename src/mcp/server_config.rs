//! Configuration of one server.

use super::definition::Definition;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Configuration of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// A name that [`crate::chat::mcp_names::explain_invalid_server`] accepts.
    pub name: String,
    pub endpoint: Endpoint,
    /// Tools to offer, by the server's own names. `None`: all.
    pub tools: Option<Vec<String>>,
    /// True if the user vouches for what the server says about its tools.
    pub is_trusted: bool,
    /// True if the server may ask the model, each time with the user's approval.
    pub allows_sampling: bool,
    /// False if the server is known to have no handshake, so that none is tried.
    pub has_handshake: bool,
    /// Time limit of a call.
    pub call_limit: Duration,
    /// Time limit for the connection and the list of tools.
    pub discovery_limit: Duration,
}

impl ServerConfig {
    /// Explains why an accepted tool is not offered, worded to follow its name; `None` if it is.
    pub fn explain_excluded(&self, tool: &Definition) -> Option<String> {
        match &self.tools {
            Some(names) if !names.contains(&tool.name) => {
                Some("is not among `tools` of the server's settings".to_owned())
            }
            Some(_) | None => tool.explain_unusable(),
        }
    }
}

/// Where a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A program that is started.
    Program {
        /// The program and its arguments; run without a shell.
        command_line: Vec<String>,
        /// Variables in addition to those that every command gets. They may hold secrets.
        variables: BTreeMap<String, String>,
        /// Working directory.
        folder: PathBuf,
    },
    /// An address for streamable HTTP.
    Address {
        url: String,
        /// Headers of every request. They may hold secrets.
        headers: BTreeMap<String, String>,
        /// Name of the credential that is sent to its origin.
        credential: Option<String>,
    },
}

impl Endpoint {
    /// Returns what identifies the server: its command line or its address, as JSON. Variables and headers, which may
    /// hold secrets, are left out.
    pub fn identity(&self) -> String {
        match self {
            Self::Program { command_line, .. } => json!({ "command": command_line }),
            Self::Address { url, .. } => json!({ "url": url }),
        }
        .to_string()
    }

    /// Describes the endpoint for the user: the command line as it is started, or the address without its query, which may
    /// hold a key.
    pub fn describe(&self) -> String {
        match self {
            Self::Program { command_line, .. } => {
                shlex::try_join(command_line.iter().map(String::as_str)).unwrap_or_else(|_| command_line.join(" "))
            }
            Self::Address { url, .. } => match url.split_once('?') {
                Some((address, _)) => format!("{address}?…"),
                None => url.clone(),
            },
        }
    }
}
