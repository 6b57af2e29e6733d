//! Parts of a command line such as `a && b | c`, which rules and grants can allow one by one.

use super::Preconditions;
use super::access::{all_as_unicode, as_unicode};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One command of a command line, as if it were given alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandPart {
    /// Its text without redirections.
    pub command: String,
    /// Directory in which it runs; absolute, links resolved.
    #[serde(serialize_with = "as_unicode")]
    pub folder: PathBuf,
    pub effect: PartEffect,
    /// Paths that it reads, relative to the project, links resolved; empty if it does more than reading.
    #[serde(default, skip_serializing_if = "Vec::is_empty", serialize_with = "all_as_unicode")]
    pub paths: Vec<PathBuf>,
    /// True if it reads the output of another part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_input: bool,
    /// True if its folder is in another git repository than the project.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_in_other_repository: bool,
    /// Its own preconditions; default if it needs no approval.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub preconditions: Preconditions,
    /// The same command in each other folder in which it may run, with the same effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<CommandPart>,
}

impl CommandPart {
    /// Returns the command in each folder in which it may run.
    pub fn in_each_folder(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.alternatives)
    }
}

/// Effect of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartEffect {
    /// `cd` to a folder of the project.
    ChangesFolder,
    /// Reads its input at most, or shows only what no file decides: `tail -n 5`, `echo done`.
    ReadsInput,
    /// Reads files of the project that hold no secrets.
    ReadsFiles,
    /// Only reads if it runs in the read-only sandbox, as every command of git and one with a file-name pattern does; needs
    /// approval, a grant or a rule elsewhere.
    ReadsAlone,
    /// Needs approval, a grant or a rule.
    Runs,
}
