//! Effects of a command line: either it only reads certain paths, or a reason why it needs approval.

mod ask_reasons;
mod folder_options;
mod git_commands;
mod read_only_programs;
mod refusals;
pub mod script_files;
mod script_languages;
mod search_programs;
mod stated_paths;
mod version_queries;

pub(super) use ask_reasons::stays_local;
pub(super) use refusals::refuse_own_path;

use super::command_line::{Connector, Nesting, ParsedLine, Redirect, SimpleCommand, UnclearReason, Word};
use crate::chat::Reach;
use crate::chat::truncation::join_items;

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

/// A path that a command touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedPath {
    /// The word: a known path, a pattern, or a path below the user's home.
    pub word: Word,
    /// Possible working directories, relative to the project. More than one if a `cd` may have failed.
    pub folders: Vec<String>,
    pub access: PathAccess,
}

/// Kind of access to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathAccess {
    /// Reads names, sizes and times.
    Names,
    /// Reads the file.
    Contents,
    /// Reads the file, or every file below the folder. Links inside it are not followed.
    Recursive {
        /// True if hidden files are included.
        hidden: bool,
        /// Names of folders that are skipped.
        without: Vec<String>,
        /// True if a link to a file is followed, and one to a folder may be.
        links: bool,
    },
    /// No access, but the file must not exist, or must not contain any of these words if there are some: it would
    /// decide what runs.
    MustNotDecide(&'static [&'static str]),
    /// No access: a pattern that must match no file, so that the shell leaves it unchanged.
    MustNotMatch,
    /// Runs git, which follows the settings of the repository.
    Repository,
    /// Prints content from the repository: tracked and staged files, and commits.
    Tracked {
        /// Limits the content to these paths, relative to the project; no limit if empty.
        below: Vec<String>,
        /// True if the content may include stashed commits.
        stashed: bool,
    },
    /// Runs in this folder.
    WorksIn,
    /// Overwrites the file.
    Write,
    /// Appends to the file.
    Append,
    /// Deletes the file.
    Delete,
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

/// Returns the possible working directories of each command of a line, relative to the project.
pub fn working_directories(reading: &ParsedLine) -> Vec<Vec<String>> {
    let mut folders = WorkingDirectories::default();
    let place = |simple: &SimpleCommand| {
        let at = folders.directories_of(simple);
        folders.apply_cd(simple);
        at
    };
    reading.commands.iter().map(place).collect()
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

/// Returns a word for display: shortened and without invisible characters.
fn display_word(word: &Word) -> String {
    word.display_text().chars().take(60).collect::<String>().escape_debug().to_string()
}

/// Describes a word whose value is not known.
fn describe_unknown_word(word: &Word) -> String {
    let shown = display_word(word);
    match word {
        Word::Unknown(text) if !text.is_ascii() && !text.contains(['$', '`', '{', '~']) => {
            format!("end of “{shown}” depends on the locale; quote it")
        }
        Word::Pattern(_) => format!("files matching “{shown}” unknown before it runs"),
        Word::Known(_) | Word::Home(_) | Word::Unknown(_) => {
            format!("value of “{shown}” unknown before it runs")
        }
    }
}

/// Tracks the working directory of each command: a `cd` affects later commands of the same shell.
struct WorkingDirectories {
    /// Open shells, outermost first.
    shells: Vec<(Vec<ShellLevel>, PossibleDirectories)>,
}

/// Identifies a subshell.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ShellLevel {
    Within(Nesting),
    Pipe(usize, usize),
}

/// Possible working directories of a shell.
#[derive(Debug, Clone, Default)]
struct PossibleDirectories {
    /// All possible directories.
    possible: Vec<String>,
    /// The certain ones, while a `cd` is followed by `&&` only.
    certain: Option<Vec<String>>,
}

/// Most directories that are tracked.
const MAX_DIRECTORIES: usize = 8;

impl PossibleDirectories {
    fn current(&self) -> &[String] {
        self.certain.as_ref().unwrap_or(&self.possible)
    }
}

impl Default for WorkingDirectories {
    fn default() -> Self {
        Self { shells: vec![(Vec::new(), PossibleDirectories { possible: vec![String::new()], certain: None })] }
    }
}

impl WorkingDirectories {
    /// Returns the possible working directories of a command.
    fn directories_of(&mut self, simple: &SimpleCommand) -> Vec<String> {
        let own = shell_nesting(simple);
        // `(a); (b)` are two shells with the same nesting.
        let fresh = simple.connector == Connector::First && !own.is_empty();
        while self
            .shells
            .last()
            .is_some_and(|(shell, _)| !own.starts_with(shell) || (fresh && shell.len() == own.len()))
        {
            self.shells.pop();
        }
        let Some((shell, places)) = self.shells.last_mut() else { return vec![String::new()] };
        // The first command of a subshell has no connector to what came before it.
        if !matches!(simple.connector, Connector::And | Connector::Pipe | Connector::PipeWithStderr) {
            places.certain = None;
        }
        let now = places.current().to_vec();
        if shell.len() < own.len() {
            self.shells.push((own, PossibleDirectories { possible: now.clone(), certain: None }));
        }
        now
    }

    /// Applies a `cd`. Later commands may run in the new directory or, if it failed, in the old one.
    fn apply_cd(&mut self, simple: &SimpleCommand) {
        let Some((_, places)) = self.shells.last_mut() else { return };
        let there: Vec<String> = match read_only_programs::cd_target(simple) {
            Some(to) => places.current().iter().map(|from| join_path(from, to)).collect(),
            // Unknown target: treated as outside the project.
            None if matches!(simple.program(), Some("cd" | "pushd" | "popd")) => vec!["..".to_owned()],
            None => return,
        };
        for place in &there {
            // Too many to track: treated as outside the project, which asks.
            let followed = places.possible.contains(place) || places.possible.len() < MAX_DIRECTORIES;
            let place = if followed { place.as_str() } else { ".." };
            if !places.possible.iter().any(|known| known == place) {
                places.possible.push(place.to_owned());
            }
        }
        places.certain = Some(there);
    }
}

fn shell_nesting(simple: &SimpleCommand) -> Vec<ShellLevel> {
    let within = simple.nesting.iter().filter(|within| **within != Nesting::Group).cloned().map(ShellLevel::Within);
    within.chain(simple.pipes.iter().map(|(number, stage)| ShellLevel::Pipe(*number, *stage))).collect()
}

/// Joins a path to a folder; absolute and home paths stay as they are.
pub fn join_path(folder: &str, name: &str) -> String {
    if folder.is_empty() || name.starts_with('/') || name == "~" || name.starts_with("~/") {
        return name.to_owned();
    }
    format!("{folder}/{name}")
}
