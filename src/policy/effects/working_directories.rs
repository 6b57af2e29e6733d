//! Working directories of the commands of a line.

use super::path_access::join_path;
use crate::policy::command_line::{Connector, Nesting, ParsedLine, SimpleCommand, Word};

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

/// Tracks the working directory of each command: a `cd` affects later commands of the same shell.
pub(super) struct WorkingDirectories {
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
    pub(super) fn directories_of(&mut self, simple: &SimpleCommand) -> Vec<String> {
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
    pub(super) fn apply_cd(&mut self, simple: &SimpleCommand) {
        let Some((_, places)) = self.shells.last_mut() else { return };
        let there: Vec<String> = match cd_target(simple) {
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

/// Returns the target of a `cd`.
pub(super) fn cd_target(simple: &SimpleCommand) -> Option<&str> {
    if simple.program() != Some("cd") {
        return None;
    }
    match simple.arguments() {
        [Word::Home(to)] => Some(to),
        [Word::Known(to)] if !to.is_empty() && !to.starts_with(['-', '~']) => Some(to),
        [] => Some("~"),
        _ => None,
    }
}
