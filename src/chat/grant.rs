//! A standing yes, and what it covers.

use super::access::as_unicode;
use super::{Access, Plan};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A standing yes of the person for one tool. It lasts as long as the session that logged it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The tool it is for.
    pub tool: String,
    /// How wide it is.
    pub scope: Scope,
}

/// How wide a grant is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This command, byte for byte, in this folder.
    Command {
        /// What the shell is given.
        command: String,
        /// Where it runs; absolute.
        #[serde(serialize_with = "as_unicode")]
        folder: PathBuf,
        /// Whether with the network it asks for.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        network: bool,
    },
    /// Changes to this file, relative to the project.
    File(#[serde(serialize_with = "as_unicode")] PathBuf),
}

impl Grant {
    /// Whether this grant lets the plan of `tool` go ahead. What is sensitive or destroys something is covered by
    /// no grant.
    pub fn covers(&self, tool: &str, plan: &Plan) -> bool {
        if self.tool != tool || plan.destroys.is_some() {
            return false;
        }
        match (&self.scope, &plan.access) {
            (Scope::Command { command, folder, network }, Access::Run(line)) => {
                *command == line.command && *folder == line.folder && *network == line.network.is_some()
            }
            (Scope::File(file), Access::Write(path)) => file == path,
            (
                Scope::Command { .. } | Scope::File(_),
                Access::Nothing
                | Access::Read(_)
                | Access::ReadSensitive(_)
                | Access::Write(_)
                | Access::WriteOutside(_)
                | Access::Run(_),
            ) => false,
        }
    }

    /// What it covers, in words for the card.
    pub fn words(&self) -> String {
        match &self.scope {
            Scope::Command { network: true, .. } => {
                "exactly this command with the network, in this folder, for this session".to_owned()
            }
            Scope::Command { .. } => "exactly this command, in this folder, for this session".to_owned(),
            Scope::File(path) => {
                format!("every {} of {}, for this session", self.tool, path.display())
            }
        }
    }
}
