//! Working directories of the commands of a line.

use super::path_access::join_path;
use crate::policy::command_line::{Connector, Nesting, ParsedLine, SimpleCommand, Word};

/// Returns the possible working directories of each command of a line, relative to the project.
pub fn working_directories(parsed_line: &ParsedLine) -> Vec<Vec<String>> {
    let mut state = WorkingDirectories::default();
    let directories_before = |simple: &SimpleCommand| {
        let directories = state.directories_of(simple);
        state.apply_cd(simple);
        directories
    };
    parsed_line.commands.iter().map(directories_before).collect()
}

/// Tracks the working directory of each command: a `cd` affects later commands of the same shell.
pub(super) struct WorkingDirectories {
    /// Open shells, outermost first, each with the constructs that it is nested in.
    shells: Vec<(Vec<ShellLevel>, PossibleDirectories)>,
}

/// Identifies a subshell.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ShellLevel {
    /// Inside this construct.
    Within(Nesting),
    /// In a pipeline: its number, and the stage.
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

/// Maximum number of directories tracked.
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
        let nesting = shell_nesting(simple);
        // `(a); (b)` are two shells with the same nesting.
        let is_new_shell = simple.connector == Connector::First && !nesting.is_empty();
        while self
            .shells
            .last()
            .is_some_and(|(shell, _)| !nesting.starts_with(shell) || (is_new_shell && shell.len() == nesting.len()))
        {
            self.shells.pop();
        }
        let Some((shell, directories)) = self.shells.last_mut() else { return vec![String::new()] };
        // The first command of a subshell has no connector to what came before it.
        if !matches!(simple.connector, Connector::And | Connector::Pipe | Connector::PipeWithStderr) {
            directories.certain = None;
        }
        let current = directories.current().to_vec();
        if shell.len() < nesting.len() {
            self.shells.push((nesting, PossibleDirectories { possible: current.clone(), certain: None }));
        }
        current
    }

    /// Applies a `cd`. Later commands may run in the new directory or, if it failed, in the old one.
    pub(super) fn apply_cd(&mut self, simple: &SimpleCommand) {
        let Some((_, directories)) = self.shells.last_mut() else { return };
        let targets: Vec<String> = match cd_target(simple) {
            Some(target) => directories.current().iter().map(|folder| join_path(folder, target)).collect(),
            // Unknown target: treated as outside the project.
            None if matches!(simple.program(), Some("cd" | "pushd" | "popd")) => vec!["..".to_owned()],
            None => return,
        };
        for target in &targets {
            // Too many to track: treated as outside the project, which asks.
            let is_tracked = directories.possible.contains(target) || directories.possible.len() < MAX_DIRECTORIES;
            let directory = if is_tracked { target.as_str() } else { ".." };
            if !directories.possible.iter().any(|known| known == directory) {
                directories.possible.push(directory.to_owned());
            }
        }
        directories.certain = Some(targets);
    }
}

fn shell_nesting(simple: &SimpleCommand) -> Vec<ShellLevel> {
    let levels =
        simple.nesting.iter().filter(|construct| **construct != Nesting::Group).cloned().map(ShellLevel::Within);
    levels.chain(simple.pipes.iter().map(|(number, stage)| ShellLevel::Pipe(*number, *stage))).collect()
}

/// Returns the target of a `cd`. `None` if it is unknown, or if the command is not a `cd`.
pub(super) fn cd_target(simple: &SimpleCommand) -> Option<&str> {
    if simple.program() != Some("cd") {
        return None;
    }
    match simple.arguments() {
        [Word::Home(target)] => Some(target),
        [Word::Known(target)] if !target.is_empty() && !target.starts_with(['-', '~']) => Some(target),
        [] => Some("~"),
        _ => None,
    }
}
