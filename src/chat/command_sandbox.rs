//! Sandbox of a command: shown in its prompt and set up before the command starts. If that fails, the command does not
//! run.

use super::access::all_as_unicode;
use crate::text::truncation::{abbreviate_home, join_items};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Sandbox of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "walls", content = "as", rename_all = "snake_case")]
pub enum CommandSandbox {
    /// Not specified: the call is only judged, and no command runs, as when rules are checked.
    #[default]
    #[serde(rename = "unsaid")]
    Unspecified,
    /// There is none; with the reason, worded to follow “no sandbox here: ”.
    #[serde(rename = "absent")]
    Unavailable(Box<str>),
    /// The command can access only this.
    #[serde(rename = "raised")]
    Enforced(Box<SandboxAccess>),
}

/// Access that a sandboxed command has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SandboxAccess {
    /// Folders it may write besides its working directory; absolute, links resolved.
    #[serde(serialize_with = "all_as_unicode")]
    pub write: Vec<PathBuf>,
    /// True if it may use the network.
    pub network: bool,
    /// True if it may connect to sockets of other programs of this machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sockets: bool,
}

impl CommandSandbox {
    /// Creates a sandbox that allows only this access.
    pub fn enforced(access: SandboxAccess) -> Self {
        Self::Enforced(Box::new(access))
    }

    /// Returns whether neither the command nor a program it can connect to can use the network.
    pub fn is_offline(&self) -> bool {
        match self {
            Self::Unspecified | Self::Unavailable(_) => false,
            Self::Enforced(access) => !access.network && !access.sockets,
        }
    }

    /// Returns whether the command itself can use the network.
    pub fn has_network(&self) -> bool {
        match self {
            Self::Unspecified | Self::Unavailable(_) => true,
            Self::Enforced(access) => access.network,
        }
    }

    /// Returns the sandbox for one call; `network` is whether the call asks for the network.
    pub fn with_network(&self, network: bool) -> Self {
        match self {
            Self::Unspecified => Self::Unspecified,
            Self::Unavailable(reason) => Self::Unavailable(reason.clone()),
            Self::Enforced(access) => {
                Self::enforced(SandboxAccess { network: access.network || network, ..(**access).clone() })
            }
        }
    }

    /// Describes the sandbox for the prompt in parts such as `network off` and `may write here and in /tmp`, each with
    /// whether it names access that is normally denied. Returns no part if the sandbox is not specified.
    /// `network_reason` is the reason why the call wants the network, if it does.
    pub fn describe_parts(&self, network_reason: Option<&str>, home: Option<&Path>) -> Vec<(String, bool)> {
        let reason_note = network_reason.map(|reason| format!(" (“{reason}”)")).unwrap_or_default();
        let mut parts = Vec::new();
        match self {
            Self::Unspecified => {}
            Self::Unavailable(reason) => {
                let text = format!("no sandbox here: {reason}; it may write and reach whatever you may");
                parts.push((text, true));
                if network_reason.is_some() {
                    parts.push((format!("requests network access{reason_note}"), true));
                }
            }
            Self::Enforced(access) => {
                parts.push(match access.network {
                    true => (format!("network ON{reason_note}"), true),
                    false => ("network off".to_owned(), false),
                });
                if access.sockets {
                    parts.push(("sockets of other programs ON".to_owned(), true));
                }
                parts.push((format!("may write {}", describe_writable(&access.write, home)), false));
            }
        }
        parts
    }
}

/// Describes the writable folders: `here`, `here and in /tmp`, `here, in /tmp and in ~/.cache`.
fn describe_writable(write: &[PathBuf], home: Option<&Path>) -> String {
    let folders = write.iter().map(|folder| format!("in {}", abbreviate_home(folder, home)));
    join_items(&std::iter::once("here".to_owned()).chain(folders).collect::<Vec<_>>(), usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r21_describes_the_sandbox_of_a_command() {
        let sandbox = |write: &[&str], network, sockets| {
            let write = write.iter().map(PathBuf::from).collect();
            CommandSandbox::enforced(SandboxAccess { write, network, sockets })
        };
        let home = Some(Path::new("/home/ada"));
        for (sandbox, network_reason, expected) in [
            (sandbox(&[], false, false), None, "network off · may write here"),
            (sandbox(&["/tmp"], false, false), None, "network off · may write here and in /tmp"),
            (
                sandbox(&["/tmp", "/home/ada/.cargo"], true, false),
                Some("to fetch crates"),
                "network ON (“to fetch crates”) · may write here, in /tmp and in ~/.cargo",
            ),
            (
                sandbox(&["/tmp"], true, true),
                None,
                "network ON · sockets of other programs ON · may write here and in /tmp",
            ),
            (
                CommandSandbox::Unavailable("this kernel has no Landlock".into()),
                None,
                "no sandbox here: this kernel has no Landlock; it may write and reach whatever you may",
            ),
            (
                CommandSandbox::Unavailable("x".into()),
                Some("y"),
                "no sandbox here: x; it may write and reach whatever you may · requests network access (“y”)",
            ),
            (CommandSandbox::Unspecified, Some("y"), ""),
        ] {
            let parts: Vec<String> =
                sandbox.describe_parts(network_reason, home).into_iter().map(|(words, _)| words).collect();
            assert_eq!(parts.join(" · "), expected);
        }
    }

    #[test]
    fn the_network_is_on_for_a_call_that_asks_or_if_always_allowed() {
        let off = CommandSandbox::enforced(SandboxAccess::default());
        let on = CommandSandbox::enforced(SandboxAccess { network: true, ..SandboxAccess::default() });
        assert_eq!(off.with_network(false), off);
        assert_eq!(off.with_network(true), on);
        let sockets = CommandSandbox::enforced(SandboxAccess { sockets: true, ..SandboxAccess::default() });
        let offline = [&off, &on, &sockets, &CommandSandbox::Unspecified, &CommandSandbox::Unavailable("x".into())]
            .map(CommandSandbox::is_offline);
        assert_eq!(offline, [true, false, false, false, false]);
        assert_eq!(on.with_network(false), on);
    }
}
