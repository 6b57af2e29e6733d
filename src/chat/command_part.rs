//! Parts of a command line such as `a && b | c`, which rules and grants can allow one by one.

use super::Preconditions;
use super::access::as_unicode;
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
    /// True if it reads the output of another part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_input: bool,
    /// Its own preconditions; default if it needs no approval.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub preconditions: Preconditions,
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
    /// Needs approval, a grant or a rule.
    Runs,
}
