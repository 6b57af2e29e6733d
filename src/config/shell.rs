//! `[shell]`: how commands run.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How commands run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shell {
    /// Seconds until a command is stopped, where the model asks for no other time.
    pub timeout: u64,
    /// The longest the model may ask for, in seconds; never less than `timeout` once settings are loaded.
    pub max_timeout: u64,
    /// Whether commands run in the sandbox, where the kernel has one.
    pub sandbox: bool,
    /// Whether they get the network.
    pub network: Network,
    /// Where they may write beside the project and the folder for temporary files: whole paths, or from `~`.
    pub write: Vec<PathBuf>,
    /// Whether they may talk to other programs of this machine through their sockets.
    pub sockets: bool,
}

/// Whether commands get the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// None does, whatever it asks for.
    Off,
    /// Those that ask for it on their card.
    #[default]
    Ask,
    /// All of them.
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
