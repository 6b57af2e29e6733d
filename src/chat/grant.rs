//! Grants: approvals that last, and their scope. The policy decides what a grant covers.

use super::access::as_unicode;
use super::{CallId, Decider, Script, script};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A lasting approval of the user for one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub tool: String,
    pub scope: GrantScope,
    /// Place and duration.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub span: GrantSpan,
    /// Files it is bound to, sorted, with their digests. If one of them changes, the grant covers nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<Script>,
    /// True if a command that it covers may read the output of other commands, which may decide what it does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_input: bool,
}

/// Scope of a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantScope {
    /// Exactly this command, in this folder.
    Command {
        /// The argument of the shell's `-c`.
        command: String,
        /// Working directory; absolute.
        #[serde(serialize_with = "as_unicode")]
        folder: PathBuf,
        /// True if it includes the network access that the command asks for.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        network: bool,
    },
    /// A simple command that begins with these words, in this folder. Never a part of a compound command.
    #[serde(rename = "words")]
    Prefix {
        /// The words as the shell parses them.
        words: Vec<String>,
        /// Working directory; absolute.
        #[serde(serialize_with = "as_unicode")]
        folder: PathBuf,
    },
    /// Changes of this file, relative to the project.
    File(#[serde(serialize_with = "as_unicode")] PathBuf),
    /// Changes of every file in this folder and below, relative to the project; empty for the whole project.
    #[serde(rename = "under")]
    Folder(#[serde(serialize_with = "as_unicode")] PathBuf),
    /// Changes of every file of the project by any of [`FILE_TOOLS`].
    FileChanges,
    /// Requests that read from this host.
    Host(String),
    /// Calls of this service, as [`super::ExternalAccess::service`].
    Service(String),
    /// Changes of files of the session's workspace.
    Workspace,
}

/// Tools that [`GrantScope::FileChanges`] covers together.
pub const FILE_TOOLS: [&str; 2] = ["edit_file", "write_file"];

/// Place and duration of a grant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantSpan {
    /// In the session that logged it.
    #[default]
    Session,
    /// In this project, as a rule of the user's file.
    Project,
    /// In every project, as a rule of the user's file.
    Everywhere,
}

impl GrantSpan {
    /// Describes the span for a prompt.
    pub fn describe_span(self) -> &'static str {
        match self {
            Self::Session => "for this session",
            Self::Project => "in this project",
            Self::Everywhere => "in every project",
        }
    }

    /// Describes where the grant is kept.
    pub fn describe_place(self) -> &'static str {
        match self {
            Self::Session => "kept in this session",
            Self::Project => "kept in your rules for this project",
            Self::Everywhere => "kept in your rules for every project",
        }
    }
}

/// A grant that is in effect in this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionGrant {
    pub grant: Grant,
    /// Index of the entry that granted it.
    pub entry_index: usize,
    /// Number of the call on whose prompt it was given, from 1.
    pub call_number: usize,
    pub call: CallId,
    /// Source of the approval, with the key.
    pub by: Decider,
}

impl SessionGrant {
    /// Describes the grant and its origin, worded to follow “you allowed it”.
    pub fn describe_origin(&self) -> String {
        let key_note = match &self.by {
            Decider::User { key, .. } => format!(" with {key}"),
            Decider::File => " in a file of answers".to_owned(),
            Decider::Client | Decider::AutoMode | Decider::Headless => String::new(),
        };
        format!("before{key_note}, on call {} of this session: {}", self.call_number, self.grant.describe_grant())
    }
}

impl Grant {
    /// Creates a grant for the session that logs it.
    pub fn new(tool: &str, scope: GrantScope) -> Self {
        Self { tool: tool.to_owned(), scope, span: GrantSpan::Session, scripts: Vec::new(), takes_input: false }
    }

    /// Binds the grant to these files.
    #[must_use]
    pub fn with_scripts(self, scripts: Vec<Script>) -> Self {
        Self { scripts, ..self }
    }

    /// Sets whether it also covers commands that read the output of others.
    #[must_use]
    pub fn with_input(self, takes_input: bool) -> Self {
        Self { takes_input, ..self }
    }

    /// Returns whether it covers a command with or without input, which is the output of another command.
    pub fn covers_input(&self, has_input: bool) -> bool {
        self.takes_input || !has_input
    }

    /// Returns whether it is for this tool.
    pub fn is_for_tool(&self, tool: &str) -> bool {
        let is_file_tool = |tool: &str| FILE_TOOLS.contains(&tool);
        match self.scope {
            GrantScope::FileChanges => is_file_tool(&self.tool) && is_file_tool(tool),
            GrantScope::Command { .. }
            | GrantScope::Prefix { .. }
            | GrantScope::File(_)
            | GrantScope::Folder(_)
            | GrantScope::Host(_)
            | GrantScope::Service(_)
            | GrantScope::Workspace => self.tool == tool,
        }
    }

    /// Names the tools that it is for.
    pub fn describe_tools(&self) -> String {
        match self.scope {
            GrantScope::FileChanges => FILE_TOOLS.join(" and "),
            GrantScope::Command { .. }
            | GrantScope::Prefix { .. }
            | GrantScope::File(_)
            | GrantScope::Folder(_)
            | GrantScope::Host(_)
            | GrantScope::Service(_)
            | GrantScope::Workspace => self.tool.clone(),
        }
    }

    /// Describes what it covers, for a prompt.
    pub fn describe_grant(&self) -> String {
        format!("{}, {}", self.describe_coverage(), self.span.describe_span())
    }

    /// Describes what it covers, without the span.
    pub fn describe_coverage(&self) -> String {
        let script_note = match self.scripts.is_empty() {
            true => String::new(),
            false => format!(" ({} unchanged)", script::join_names(&self.scripts)),
        };
        let input_note = if self.takes_input { ", also with the output of other commands as input" } else { "" };
        self.describe_scope() + &script_note + input_note
    }

    fn describe_scope(&self) -> String {
        match &self.scope {
            GrantScope::Command { network, .. } => {
                let command = if *network { "exactly this command with the network" } else { "exactly this command" };
                // A rule names no folder: it covers the command in the project, or in every one.
                let folder = if self.span == GrantSpan::Session { ", in this folder" } else { "" };
                format!("{command}{folder}")
            }
            GrantScope::Prefix { words, .. } => {
                format!("every plain command that begins with {}", words.join(" "))
            }
            GrantScope::File(path) => format!("every {} of {}", self.tool, path.display()),
            GrantScope::Folder(path) if path == Path::new("") => {
                format!("every {} of a file of the project", self.tool)
            }
            GrantScope::Folder(path) => format!("every {} of a file below {}/", self.tool, path.display()),
            GrantScope::FileChanges => format!("every file change of the project, by {}", FILE_TOOLS.join(" or ")),
            GrantScope::Host(host) => format!("every {} from {host}", self.tool),
            GrantScope::Service(service) => format!("every {} call to {service}", self.tool),
            GrantScope::Workspace => format!("every {} call in the session's workspace", self.tool),
        }
    }
}
