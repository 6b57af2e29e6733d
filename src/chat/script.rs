//! Scripts that a command runs. A lasting approval is valid only while they are unchanged.

use super::Digest;
use super::access::as_unicode;
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

impl Scripts {
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// Describes the differences between the bound files and the present ones, one by one.
pub fn describe_changes(kept: &[Script], now: &[Script]) -> Vec<String> {
    let of = |all: &[Script], path: &PathBuf| all.iter().find(|script| script.path == *path).cloned();
    let gone = kept.iter().filter(|script| of(now, &script.path).is_none());
    let mut words: Vec<String> = gone.map(|script| format!("it no longer uses {}", script.path.display())).collect();
    for script in now {
        let path = script.path.display();
        match of(kept, &script.path) {
            Some(before) if before == *script => {}
            Some(Script { sha256: None, .. }) => words.push(format!("{path} did not exist then")),
            Some(_) if script.sha256.is_none() => words.push(format!("{path} was deleted")),
            Some(_) => words.push(format!("{path} has changed")),
            None => words.push(format!("it also uses {path}")),
        }
    }
    words
}

/// Names the scripts for a sentence: `a, b and 3 more`.
pub fn join_names(scripts: &[Script]) -> String {
    const SHOWN: usize = 3;
    let there = || scripts.iter().filter(|script| script.sha256.is_some());
    let mut names: Vec<String> = there().take(SHOWN).map(|script| script.path.display().to_string()).collect();
    let more = there().count().saturating_sub(SHOWN);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        Some((last, _)) => last.clone(),
        None => "its scripts".to_owned(),
    }
}
