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
pub use working_directories::{cd_target, enter_folder, working_directories};

use super::command_line::{ParsedLine, Redirect, SimpleCommand, Word};
use super::neutral_wrappers::is_neutral_variable;
use crate::chat::Reach;
use crate::text::truncation::join_items;
use path_access::{describe_unknown_word, display_word};

/// Effects of a command line, as far as its words show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineEffects {
    /// Widest reach of its parts.
    pub reach: Reach,
    /// Reason for asking or refusing; empty if the line only reads.
    pub reason: String,
    /// Paths that have to be checked against the file system. Complete if the line only reads and writes.
    pub touches: Vec<TouchedPath>,
}

/// Analyzes the effects of a command line.
pub fn analyze_effects(parsed_line: &ParsedLine) -> LineEffects {
    if let Some(reason) = refusals::refusal_reason(parsed_line) {
        return LineEffects { reach: Reach::Denied, reason, touches: Vec::new() };
    }
    if let Some(reason) = parsed_line.unclear.clone() {
        return LineEffects { reach: Reach::Unclear, reason, touches: Vec::new() };
    }
    let mut touches = Vec::new();
    let mut reasons = AskReasons::default();
    for (simple, folders) in parsed_line.commands.iter().zip(working_directories(parsed_line)) {
        judge_redirections(simple, &folders, &mut touches, &mut reasons);
        match judge_command(simple, &folders) {
            Ok(program_touches) => {
                let deletions = program_touches.iter().filter(|touch| touch.access == PathAccess::Delete);
                let deleted_paths: Vec<String> = deletions.map(|touch| display_word(&touch.word)).collect();
                if !deleted_paths.is_empty() {
                    let why = format!("deletes {}", join_items(&deleted_paths, MAX_REASONS));
                    reasons.push_reason(Reach::Runs, why);
                }
                touches.extend(program_touches);
            }
            Err(why) => {
                reasons.push_reason(ask_reasons::effect_range(simple), why);
                touches.extend(ask_reasons::touched_paths(simple, &folders));
            }
        }
    }
    let (reach, reason) = reasons.widest().unwrap_or((Reach::Reads, String::new()));
    LineEffects { reach, reason, touches }
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

    /// Returns the widest reach and its reasons; `None` if no reason was added.
    pub fn widest(&self) -> Option<(Reach, String)> {
        Some((self.reach?, ask_reasons::join_reasons(&self.reasons, MAX_REASONS)))
    }
}

/// Judges the redirections of one command: adds the paths that they touch and the reasons for asking. The shell opens
/// these files before it starts any program.
fn judge_redirections(
    simple: &SimpleCommand,
    folders: &[String],
    touches: &mut Vec<TouchedPath>,
    reasons: &mut AskReasons,
) {
    for redirect in &simple.redirects {
        let (word, access) = match redirect {
            Redirect::Descriptor | Redirect::Text(Word::Known(_)) => continue,
            Redirect::Text(word) => {
                reasons.push_reason(ask_reasons::effect_range(simple), describe_unknown_word(word));
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
                reasons.push_reason(Reach::Writes, format!("writes to {}", display_word(word)));
            }
            // The file to read or overwrite is only known once the shell opens it.
            Word::Pattern(_) | Word::Unknown(_) => {
                let reach = if is_read { Reach::Unclear } else { Reach::Outside };
                reasons.push_reason(reach, describe_unknown_word(word));
                continue;
            }
        }
        touches.push(TouchedPath { word: word.clone(), folders: folders.to_vec(), access });
    }
}

/// Returns the paths that the program of one command touches if it only reads or deletes, otherwise the reason for
/// asking.
fn judge_command(simple: &SimpleCommand, folders: &[String]) -> Result<Vec<TouchedPath>, String> {
    if simple.is_background {
        return Err("runs in the background".to_owned());
    }
    for wrapper in &simple.wrappers {
        read_only_programs::check_wrapper(wrapper)?;
    }
    for (name, value) in &simple.assignments {
        let Some(value) = value.known_text() else { return Err(describe_unknown_word(value)) };
        if simple.words.is_empty() || !is_neutral_variable(name, value) {
            return Err(format!("sets the variable {name}"));
        }
    }
    if simple.words.is_empty() {
        return Ok(Vec::new());
    }
    let touched = read_only_programs::judge_program(simple)?;
    Ok(touched.into_iter().map(|(word, access)| TouchedPath { word, folders: folders.to_vec(), access }).collect())
}

/// Programs that only change the files named in their arguments and never use the network.
const OFFLINE_PROGRAMS: &[&str] = &["mkdir", "touch", "cp", "mv", "ln", "chmod", "tee", "truncate", "mktemp", "sleep"];

/// Returns whether all programs of a line are known to stay off the network: they only read, delete or change files.
pub(super) fn stays_local(parsed_line: &ParsedLine) -> bool {
    let is_local = |(simple, folders): (&SimpleCommand, Vec<String>)| {
        // The name as written: with a slash in it, it may be any program.
        let program_name = simple.words.first().and_then(Word::known_text);
        // With a harmless program instead, only wrappers, assignments and `&` are judged.
        let without_program = SimpleCommand { words: vec![Word::Known("true".to_owned())], ..simple.clone() };
        judge_command(simple, &folders).is_ok()
            || (program_name.is_some_and(|name| OFFLINE_PROGRAMS.contains(&name))
                && judge_command(&without_program, &folders).is_ok())
    };
    parsed_line.unclear.is_none() && parsed_line.commands.iter().zip(working_directories(parsed_line)).all(is_local)
}
