//! `[shell]`: limits for commands.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shell {
    /// Default timeout of a command in seconds.
    pub timeout: u64,
    /// Maximum timeout in seconds that the model may request. Never less than `timeout` once settings are loaded.
    pub max_timeout: u64,
    /// Run commands in the sandbox if the kernel supports it.
    pub sandbox: bool,
    /// Network access of commands.
    pub network: Network,
    /// Directories outside the project and the temporary directory that commands may write to: absolute or from `~`.
    pub write: Vec<PathBuf>,
    /// Let commands connect to Unix sockets of other programs.
    pub sockets: bool,
}

/// Network access of commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// No command has network access.
    Off,
    /// Commands that request network access get it if the user approves.
    #[default]
    Ask,
    /// All commands have network access.
    On,
}

impl Default for Shell {
    fn default() -> Self {
        Self {
            timeout: 30,
            max_timeout: 120,
            sandbox: true,
            network: Network::default(),
            write: Vec::new(),
            sockets: false,
        }
    }
}
