//! Grants: approvals that last, and their scope. The policy decides what a grant covers.

use super::access::as_unicode;
use super::{By, CallId, Script, script};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A lasting approval of the user for one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub tool: String,
    pub scope: Scope,
    /// Place and duration.
    #[serde(default, skip_serializing_if = "Span::is_session")]
    pub span: Span,
    /// Files it is bound to, sorted, with their digests. If one of them changes, the grant covers nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<Script>,
}

/// Scope of a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
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
    Words {
        /// The words as the shell parses them.
        words: Vec<String>,
        /// Working directory; absolute.
        #[serde(serialize_with = "as_unicode")]
        folder: PathBuf,
    },
    /// Changes of this file, relative to the project.
    File(#[serde(serialize_with = "as_unicode")] PathBuf),
    /// Changes of every file in this folder and below, relative to the project; empty for the whole project.
    Under(#[serde(serialize_with = "as_unicode")] PathBuf),
}

/// Place and duration of a grant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// In the session that logged it.
    #[default]
    Session,
    /// In this project, as a rule of the user's file.
    Project,
    /// In every project, as a rule of the user's file.
    Everywhere,
}

impl Span {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_session(&self) -> bool {
        *self == Self::Session
    }

    /// Describes the span for a prompt.
    pub fn words(self) -> &'static str {
        match self {
            Self::Session => "for this session",
            Self::Project => "in this project",
            Self::Everywhere => "in every project",
        }
    }
}

/// A grant that is in effect in this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub grant: Grant,
    /// Index of the entry that granted it.
    pub entry: usize,
    /// Number of the call on whose prompt it was given, from 1.
    pub number: usize,
    /// Id of that call.
    pub call: CallId,
    /// Source of the approval, with the key.
    pub by: By,
}

impl Standing {
    /// Describes the grant and its origin, worded to follow “you allowed it”.
    pub fn words(&self) -> String {
        let with = match &self.by {
            By::Person { key, .. } => format!(" with {key}"),
            By::File => " in a file of answers".to_owned(),
            By::Nobody => String::new(),
        };
        format!("before{with}, on call {} of this session: {}", self.number, self.grant.words())
    }
}

impl Grant {
    /// Creates a grant for the session that logs it.
    pub fn new(tool: &str, scope: Scope) -> Self {
        Self { tool: tool.to_owned(), scope, span: Span::Session, scripts: Vec::new() }
    }

    /// Binds the grant to these files.
    #[must_use]
    pub fn bound_to(self, scripts: Vec<Script>) -> Self {
        Self { scripts, ..self }
    }

    /// Describes what it covers, for a prompt.
    pub fn words(&self) -> String {
        format!("{}, {}", self.what(), self.span.words())
    }

    /// Describes what it covers, without the span.
    pub fn what(&self) -> String {
        let bound = match self.scripts.is_empty() {
            true => String::new(),
            false => format!(" ({} unchanged)", script::named(&self.scripts)),
        };
        self.plainly() + &bound
    }

    fn plainly(&self) -> String {
        match &self.scope {
            Scope::Command { network: true, .. } => {
                "exactly this command with the network, in this folder".to_owned()
            }
            Scope::Command { .. } if self.span == Span::Everywhere => "exactly this command".to_owned(),
            Scope::Command { .. } => "exactly this command, in this folder".to_owned(),
            Scope::Words { words, .. } => format!("every plain command that begins with {}", words.join(" ")),
            Scope::File(path) => format!("every {} of {}", self.tool, path.display()),
            Scope::Under(path) if path == Path::new("") => {
                format!("every {} of a file of the project", self.tool)
            }
            Scope::Under(path) => format!("every {} of a file below {}/", self.tool, path.display()),
        }
    }
}
