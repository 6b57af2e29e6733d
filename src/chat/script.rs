//! What a command line runs that stands in files: a yes that lasts holds as long as they are what they were.

use super::access::as_unicode;
use super::{Basis, Digest, Held};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How much is known of the scripts that a command runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "are", content = "why", rename_all = "snake_case")]
pub enum Scripts {
    /// It runs none, as far as its words say.
    #[default]
    None,
    /// Every file that it may run is among those it rests on.
    Seen,
    /// Not all of them could be looked at; why, in words that follow “because”. Nothing that lasts covers it.
    Unseen(String),
}

/// A file that a lasting yes is bound to, with what it held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// Relative to the project where it is inside, absolute elsewhere.
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    /// What it held; `None`: there was no such file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
}

impl Scripts {
    /// Whether there are none.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

impl Basis {
    /// What a lasting yes for this command is bound to, sorted: every file that it names where it runs one of them, and
    /// nothing where it runs none. Fails, in words that follow “because”, where that cannot be told.
    pub fn bound(&self) -> Result<Vec<Script>, String> {
        match &self.scripts {
            Scripts::None => return Ok(Vec::new()),
            Scripts::Unseen(why) => return Err(why.clone()),
            Scripts::Seen => {}
        }
        if self.partial {
            return Err("it names more files than are looked at".to_owned());
        }
        let script = |seen: &super::Seen| match &seen.held {
            Held::Nothing => Ok(Script { path: seen.path.clone(), sha256: None }),
            Held::Read { sha256, .. } => Ok(Script { path: seen.path.clone(), sha256: Some(sha256.clone()) }),
            Held::TooMuch => Err(format!("{} is too large to be looked at", seen.path.display())),
        };
        let mut bound = self.files.iter().map(script).collect::<Result<Vec<_>, _>>()?;
        bound.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(bound)
    }
}

/// The files that differ between what a yes was given for and what is there now; each in words.
pub fn changed(kept: &[Script], now: &[Script]) -> Vec<String> {
    let of = |all: &[Script], path: &PathBuf| all.iter().find(|script| script.path == *path).cloned();
    let gone = kept.iter().filter(|script| of(now, &script.path).is_none());
    let mut words: Vec<String> =
        gone.map(|script| format!("it does not rest on {} any more", script.path.display())).collect();
    for script in now {
        let path = script.path.display();
        match of(kept, &script.path) {
            Some(before) if before == *script => {}
            Some(Script { sha256: None, .. }) => words.push(format!("{path} was not there then")),
            Some(_) if script.sha256.is_none() => words.push(format!("{path} is gone")),
            Some(_) => words.push(format!("{path} has changed")),
            None => words.push(format!("it also rests on {path}")),
        }
    }
    words
}

/// Names them for a sentence: `a, b and 3 more`.
pub fn named(scripts: &[Script]) -> String {
    const SHOWN: usize = 3;
    let there = || scripts.iter().filter(|script| script.sha256.is_some());
    let mut names: Vec<String> =
        there().take(SHOWN).map(|script| script.path.display().to_string()).collect();
    let more = there().count().saturating_sub(SHOWN);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        Some((last, _)) => last.clone(),
        None => "what it names".to_owned(),
    }
}
