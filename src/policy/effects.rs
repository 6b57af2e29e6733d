//! Effects of a command line: either it only reads certain paths, or a reason why it needs approval.

mod ask_reasons;
mod folder_options;
mod git_commands;
mod path_access;
mod read_only_programs;
mod refusals;
pub mod script_files;
mod script_languages;
mod search_programs;
mod stated_paths;
mod version_queries;
mod working_directories;

pub use path_access::{PathAccess, TouchedPath, join_path};
pub(super) use refusals::refuse_own_path;
pub use working_directories::working_directories;

use super::command_line::{ParsedLine, Redirect, SimpleCommand, UnclearReason, Word};
use crate::chat::Reach;
use crate::text::truncation::join_items;
use path_access::{describe_unknown_word, display_word};
use working_directories::WorkingDirectories;

/// Effects of a command line, as far as its words show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineEffects {
    /// Widest reach of its parts.
    pub reach: Reach,
    /// Reason for asking; empty if the line only reads.
    pub reason: String,
    /// Paths that have to be checked against the file system. Complete if the line only reads and writes.
    pub touches: Vec<TouchedPath>,
}

/// Analyzes the effects of a command line.
pub fn analyze_effects(reading: &ParsedLine) -> LineEffects {
    if let Some(why) = refusals::refusal_reason(reading) {
        return LineEffects { reach: Reach::Denied, reason: why, touches: Vec::new() };
    }
    if let Some(UnclearReason(why)) = &reading.unclear {
        return LineEffects { reach: Reach::Unclear, reason: why.clone(), touches: Vec::new() };
    }
    let mut all = LineEffects { reach: Reach::Reads, reason: String::new(), touches: Vec::new() };
    let mut folders = WorkingDirectories::default();
    let mut whys = AskReasons::default();
    for simple in &reading.commands {
        let at = folders.directories_of(simple);
        let redirected = judge_redirections(simple, &at);
        all.touches.extend(redirected.touches);
        redirected.whys.into_iter().for_each(|(reach, why)| whys.push_reason(reach, why));
        match judge_command(simple, &at) {
            Ok(part) => {
                all.touches.extend(part.touches);
                whys.push_reason(part.reach, part.reason);
            }
            Err(why) => {
                whys.push_reason(ask_reasons::effect_range(simple), why);
                all.touches.extend(ask_reasons::touched_paths(simple, &at));
            }
        }
        folders.apply_cd(simple);
    }
    if let Some((reach, why)) = whys.widest() {
        all.worsen(reach, why);
    }
    all
}

/// Most reasons that are listed; the others are counted.
const MAX_REASONS: usize = 3;

/// Reasons for asking; only those with the widest reach are kept.
#[derive(Debug, Default)]
pub struct AskReasons {
    reach: Option<Reach>,
    reasons: Vec<String>,
}

impl AskReasons {
    /// Adds a reason. Reasons with a narrower reach than another one are dropped.
    pub fn push_reason(&mut self, reach: Reach, why: String) {
        if self.reach.is_none_or(|worst| reach > worst) {
            (self.reach, self.reasons) = (Some(reach), Vec::new());
        }
        if self.reach == Some(reach) && !self.reasons.contains(&why) {
            self.reasons.push(why);
        }
    }

    /// Returns the widest reach and its reasons.
    pub fn widest(&self) -> Option<(Reach, String)> {
        Some((self.reach?, join_items(&self.reasons, MAX_REASONS)))
    }
}

impl LineEffects {
    fn worsen(&mut self, reach: Reach, why: String) {
        if reach > self.reach {
            (self.reach, self.reason) = (reach, why);
        }
    }
}

/// Paths touched by the redirections of one command.
#[derive(Default)]
struct Redirections {
    touches: Vec<TouchedPath>,
    whys: Vec<(Reach, String)>,
}

/// Judges the redirections of one command. The shell opens these files before it starts any program.
fn judge_redirections(simple: &SimpleCommand, folders: &[String]) -> Redirections {
    let mut found = Redirections::default();
    for redirect in &simple.redirects {
        let (word, how) = match redirect {
            Redirect::Descriptor | Redirect::Text(Word::Known(_)) => continue,
            Redirect::Text(word) => {
                found.whys.push((ask_reasons::effect_range(simple), describe_unknown_word(word)));
                continue;
            }
            Redirect::Read(word) => (word, PathAccess::Contents),
            Redirect::Write(word) => (word, PathAccess::Write),
            Redirect::Append(word) => (word, PathAccess::Append),
        };
        if word.known_text().is_some_and(|name| matches!(name, "/dev/null" | "/dev/stdout" | "/dev/stderr")) {
            continue;
        }
        let reads = how == PathAccess::Contents;
        match word {
            Word::Known(_) | Word::Home(_) if reads => {}
            Word::Known(_) | Word::Home(_) => {
                found.whys.push((Reach::Writes, format!("write to {}", display_word(word))));
            }
            // The file to read or overwrite is only known once the shell opens it.
            Word::Pattern(_) | Word::Unknown(_) => {
                let reach = if reads { Reach::Unclear } else { Reach::Outside };
                found.whys.push((reach, describe_unknown_word(word)));
                continue;
            }
        }
        found.touches.push(TouchedPath { word: word.clone(), folders: folders.to_vec(), access: how });
    }
    found
}

/// Returns the effects of the program of one command, or the reason for asking if it does more than read.
fn judge_command(simple: &SimpleCommand, folders: &[String]) -> Result<LineEffects, String> {
    let mut all = LineEffects { reach: Reach::Reads, reason: String::new(), touches: Vec::new() };
    if simple.is_background {
        return Err("background process".to_owned());
    }
    for wrapper in &simple.wrappers {
        read_only_programs::check_wrapper(wrapper)?;
    }
    for (name, value) in &simple.assignments {
        let Some(value) = value.known_text() else { return Err(describe_unknown_word(value)) };
        if simple.words.is_empty() || !read_only_programs::is_harmless_variable(name, value) {
            return Err(format!("assignment to {name}"));
        }
    }
    if simple.words.is_empty() {
        return Ok(all);
    }
    let touched = read_only_programs::judge_program(simple)?;
    let deleted: Vec<String> =
        touched.iter().filter(|(_, how)| *how == PathAccess::Delete).map(|(word, _)| display_word(word)).collect();
    if !deleted.is_empty() {
        all.worsen(Reach::Runs, format!("deletion of {}", join_items(&deleted, MAX_REASONS)));
    }
    for (word, how) in touched {
        all.touches.push(TouchedPath { word, folders: folders.to_vec(), access: how });
    }
    Ok(all)
}

/// Programs that only change the files they are given and have no network access.
const LOCAL: &[&str] = &["mkdir", "touch", "cp", "mv", "ln", "chmod", "tee", "truncate", "mktemp", "sleep"];

/// Returns whether all programs of a line are known to stay off the network: they only read, delete or change files.
pub(super) fn stays_local(reading: &ParsedLine) -> bool {
    let mut folders = WorkingDirectories::default();
    let is_local = |simple: &SimpleCommand| {
        let at = folders.directories_of(simple);
        folders.apply_cd(simple);
        // A name with a slash may be any program.
        let named = simple.words.first().and_then(Word::known_text);
        let bare = SimpleCommand { words: vec![Word::Known("true".to_owned())], ..simple.clone() };
        judge_command(simple, &at).is_ok()
            || (named.is_some_and(|name| LOCAL.contains(&name)) && judge_command(&bare, &at).is_ok())
    };
    reading.unclear.is_none() && reading.commands.iter().all(is_local)
}
