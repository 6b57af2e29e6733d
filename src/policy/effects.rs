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
pub fn analyze_effects(parsed_line: &ParsedLine) -> LineEffects {
    if let Some(why) = refusals::refusal_reason(parsed_line) {
        return LineEffects { reach: Reach::Denied, reason: why, touches: Vec::new() };
    }
    if let Some(UnclearReason(why)) = &parsed_line.unclear {
        return LineEffects { reach: Reach::Unclear, reason: why.clone(), touches: Vec::new() };
    }
    let mut effects = LineEffects { reach: Reach::Reads, reason: String::new(), touches: Vec::new() };
    let mut directory_state = WorkingDirectories::default();
    let mut reasons = AskReasons::default();
    for simple in &parsed_line.commands {
        let current_directories = directory_state.directories_of(simple);
        let redirected = judge_redirections(simple, &current_directories);
        effects.touches.extend(redirected.touches);
        redirected.reasons.into_iter().for_each(|(reach, why)| reasons.push_reason(reach, why));
        match judge_command(simple, &current_directories) {
            Ok(program_effects) => {
                effects.touches.extend(program_effects.touches);
                reasons.push_reason(program_effects.reach, program_effects.reason);
            }
            Err(why) => {
                reasons.push_reason(ask_reasons::effect_range(simple), why);
                effects.touches.extend(ask_reasons::touched_paths(simple, &current_directories));
            }
        }
        directory_state.apply_cd(simple);
    }
    if let Some((reach, why)) = reasons.widest() {
        effects.widen(reach, why);
    }
    effects
}

/// Maximum number of reasons listed; the rest are counted.
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
        if self.reach.is_none_or(|widest| reach > widest) {
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
    fn widen(&mut self, reach: Reach, why: String) {
        if reach > self.reach {
            (self.reach, self.reason) = (reach, why);
        }
    }
}

/// Paths touched by the redirections of one command, and reasons for asking.
#[derive(Default)]
struct Redirections {
    touches: Vec<TouchedPath>,
    reasons: Vec<(Reach, String)>,
}

/// Judges the redirections of one command. The shell opens these files before it starts any program.
fn judge_redirections(simple: &SimpleCommand, folders: &[String]) -> Redirections {
    let mut redirections = Redirections::default();
    for redirect in &simple.redirects {
        let (word, access) = match redirect {
            Redirect::Descriptor | Redirect::Text(Word::Known(_)) => continue,
            Redirect::Text(word) => {
                redirections.reasons.push((ask_reasons::effect_range(simple), describe_unknown_word(word)));
                continue;
            }
            Redirect::Read(word) => (word, PathAccess::Contents),
            Redirect::Write(word) => (word, PathAccess::Write),
            Redirect::Append(word) => (word, PathAccess::Append),
        };
        if word.known_text().is_some_and(|name| matches!(name, "/dev/null" | "/dev/stdout" | "/dev/stderr")) {
            continue;
        }
        let is_read = access == PathAccess::Contents;
        match word {
            Word::Known(_) | Word::Home(_) if is_read => {}
            Word::Known(_) | Word::Home(_) => {
                redirections.reasons.push((Reach::Writes, format!("write to {}", display_word(word))));
            }
            // The file to read or overwrite is only known once the shell opens it.
            Word::Pattern(_) | Word::Unknown(_) => {
                let reach = if is_read { Reach::Unclear } else { Reach::Outside };
                redirections.reasons.push((reach, describe_unknown_word(word)));
                continue;
            }
        }
        redirections.touches.push(TouchedPath { word: word.clone(), folders: folders.to_vec(), access });
    }
    redirections
}

/// Returns the effects of the program of one command, or the reason for asking if it does more than read.
fn judge_command(simple: &SimpleCommand, folders: &[String]) -> Result<LineEffects, String> {
    let mut effects = LineEffects { reach: Reach::Reads, reason: String::new(), touches: Vec::new() };
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
        return Ok(effects);
    }
    let touched = read_only_programs::judge_program(simple)?;
    let deleted_paths: Vec<String> = touched
        .iter()
        .filter(|(_, access)| *access == PathAccess::Delete)
        .map(|(word, _)| display_word(word))
        .collect();
    if !deleted_paths.is_empty() {
        effects.widen(Reach::Runs, format!("deletion of {}", join_items(&deleted_paths, MAX_REASONS)));
    }
    for (word, access) in touched {
        effects.touches.push(TouchedPath { word, folders: folders.to_vec(), access });
    }
    Ok(effects)
}

/// Programs that only change the files named in their arguments and never use the network.
const OFFLINE_PROGRAMS: &[&str] = &["mkdir", "touch", "cp", "mv", "ln", "chmod", "tee", "truncate", "mktemp", "sleep"];

/// Returns whether all programs of a line are known to stay off the network: they only read, delete or change files.
pub(super) fn stays_local(parsed_line: &ParsedLine) -> bool {
    let mut directory_state = WorkingDirectories::default();
    let is_local = |simple: &SimpleCommand| {
        let current_directories = directory_state.directories_of(simple);
        directory_state.apply_cd(simple);
        // A name with a slash may be any program.
        let program_name = simple.words.first().and_then(Word::known_text);
        // With a harmless program, only wrappers, assignments and `&` are judged.
        let without_program = SimpleCommand { words: vec![Word::Known("true".to_owned())], ..simple.clone() };
        judge_command(simple, &current_directories).is_ok()
            || (program_name.is_some_and(|name| OFFLINE_PROGRAMS.contains(&name))
                && judge_command(&without_program, &current_directories).is_ok())
    };
    parsed_line.unclear.is_none() && parsed_line.commands.iter().all(is_local)
}
