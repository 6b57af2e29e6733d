//! Scripts that a command runs. A lasting approval is valid only while they are unchanged.

use super::Digest;
use super::access::as_unicode;
use crate::text::truncation::join_items;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Knowledge about the scripts that a command runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "are", content = "why", rename_all = "snake_case")]
pub enum Scripts {
    /// It runs none, as far as can be seen from the command line.
    #[default]
    None,
    /// All scripts that it may run are among its preconditions.
    #[serde(rename = "seen")]
    Known,
    /// Not all could be checked; with the reason, worded to follow “because”. No lasting approval covers the command.
    #[serde(rename = "unseen")]
    Unknown(String),
}

/// A script that a lasting approval is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// Relative to the project if inside, else absolute.
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    /// Digest of its content; `None` if it did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
}

/// Describes the differences between the bound files and the present ones, one by one.
pub fn describe_changes(bound: &[Script], current: &[Script]) -> Vec<String> {
    let find_script = |scripts: &[Script], path: &PathBuf| scripts.iter().find(|script| script.path == *path).cloned();
    let removed = bound.iter().filter(|script| find_script(current, &script.path).is_none());
    let mut changes: Vec<String> =
        removed.map(|script| format!("it no longer uses {}", script.path.display())).collect();
    for script in current {
        let path = script.path.display();
        match find_script(bound, &script.path) {
            Some(bound_script) if bound_script == *script => {}
            Some(Script { sha256: None, .. }) => changes.push(format!("{path} did not exist then")),
            Some(_) if script.sha256.is_none() => changes.push(format!("{path} was deleted")),
            Some(_) => changes.push(format!("{path} has changed")),
            None => changes.push(format!("it also uses {path}")),
        }
    }
    changes
}

/// Names the scripts that exist, for a sentence: `a, b, c and 3 more`; `its scripts` if none of them exists.
pub fn join_names(scripts: &[Script]) -> String {
    let existing = scripts.iter().filter(|script| script.sha256.is_some());
    let names: Vec<String> = existing.map(|script| script.path.display().to_string()).collect();
    let max_items = 4;
    if names.is_empty() { "its scripts".to_owned() } else { join_items(&names, max_items) }
}
