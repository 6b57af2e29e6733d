//! A standing yes, and how wide it is. What it covers is said by the policy.

use super::access::as_unicode;
use super::{By, CallId, Script, script};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A standing yes of the person for one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The tool it is for.
    pub tool: String,
    /// How wide it is.
    pub scope: Scope,
    /// Where and how long it holds.
    #[serde(default, skip_serializing_if = "Span::is_session")]
    pub span: Span,
    /// The files it is bound to, with what they held: changed, it covers nothing. Sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<Script>,
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
    /// One plain command that begins with these words, in this folder. Never one of a chain.
    Words {
        /// As the shell reads them.
        words: Vec<String>,
        /// Where it runs; absolute.
        #[serde(serialize_with = "as_unicode")]
        folder: PathBuf,
    },
    /// Changes to this file, relative to the project.
    File(#[serde(serialize_with = "as_unicode")] PathBuf),
    /// Changes to every file below this folder, relative to the project; empty: all of it.
    Under(#[serde(serialize_with = "as_unicode")] PathBuf),
}

/// Where a grant holds, and how long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// In the session that logged it.
    #[default]
    Session,
    /// In this project: it is a rule of the person's file, and only there does it stand.
    Project,
    /// In every project, as a rule of the person's file.
    Everywhere,
}

impl Span {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like that")]
    fn is_session(&self) -> bool {
        *self == Self::Session
    }

    /// In words for the card.
    pub fn words(self) -> &'static str {
        match self {
            Self::Session => "for this session",
            Self::Project => "in this project",
            Self::Everywhere => "in every project",
        }
    }
}

/// A grant of this session that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// What was granted.
    pub grant: Grant,
    /// The entry that granted it, by index.
    pub entry: usize,
    /// The call on whose card it was given, by its number in the session; 1 is the first.
    pub number: usize,
    /// Which call that was.
    pub call: CallId,
    /// By whom, and with which key.
    pub by: By,
}

impl Standing {
    /// What it is and how it came about, behind “you allowed it”.
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
    /// For the session that logs it.
    pub fn new(tool: &str, scope: Scope) -> Self {
        Self { tool: tool.to_owned(), scope, span: Span::Session, scripts: Vec::new() }
    }

    /// The same, bound to these files.
    #[must_use]
    pub fn bound_to(self, scripts: Vec<Script>) -> Self {
        Self { scripts, ..self }
    }

    /// What it covers, in words for the card.
    pub fn words(&self) -> String {
        format!("{}, {}", self.what(), self.span.words())
    }

    /// What it covers, without where and how long.
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
