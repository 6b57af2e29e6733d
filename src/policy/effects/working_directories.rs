//! Working directories of the commands of a line.

use super::path_access::join_path;
use crate::policy::command_line::{Connector, ParsedLine, SimpleCommand, Word};

/// Returns the possible working directories of each command of a line, relative to the project.
pub fn working_directories(parsed_line: &ParsedLine) -> Vec<Vec<String>> {
    let project = PossibleDirectories { possible: vec![String::new()], certain: None };
    let mut state = WorkingDirectories { shells: vec![(Vec::new(), project)] };
    let directories_before = |simple: &SimpleCommand| {
        let directories = state.directories_of(simple);
        state.apply_cd(simple);
        directories
    };
    parsed_line.commands.iter().map(directories_before).collect()
}

/// Tracks the working directory of each command: a `cd` affects later commands of the same shell.
struct WorkingDirectories {
    /// Open shells, outermost first, each with [`SimpleCommand::shells`] of its commands.
    shells: Vec<(Vec<usize>, PossibleDirectories)>,
}

/// Possible working directories of a shell.
#[derive(Debug, Clone, Default)]
struct PossibleDirectories {
    /// All possible directories.
    possible: Vec<String>,
    /// The only possible ones of the next command if it follows `&&`, because it runs only if a `cd` succeeded.
    certain: Option<Vec<String>>,
}

/// Maximum number of directories tracked.
const MAX_DIRECTORIES: usize = 8;

impl PossibleDirectories {
    fn current(&self) -> &[String] {
        self.certain.as_ref().unwrap_or(&self.possible)
    }
}

impl WorkingDirectories {
    /// Returns the possible working directories of a command.
    fn directories_of(&mut self, simple: &SimpleCommand) -> Vec<String> {
        while self.shells.last().is_some_and(|(shells, _)| !simple.shells.starts_with(shells)) {
            self.shells.pop();
        }
        let Some((shells, directories)) = self.shells.last_mut() else { return vec![String::new()] };
        // The first command of a subshell has the connector `First` even after `&&`, so it ends the certainty too.
        if !matches!(simple.connector, Connector::And | Connector::Pipe | Connector::PipeWithStderr) {
            directories.certain = None;
        }
        let current = directories.current().to_vec();
        if shells.len() < simple.shells.len() {
            self.shells.push((simple.shells.clone(), PossibleDirectories { possible: current.clone(), certain: None }));
        }
        current
    }

    /// Applies a `cd`. Later commands may run in the new directory or, if it failed, in the old one.
    fn apply_cd(&mut self, simple: &SimpleCommand) {
        let Some((_, directories)) = self.shells.last_mut() else { return };
        let targets: Vec<String> = match cd_target(simple) {
            Some(target) => directories.current().iter().map(|folder| enter_folder(folder, target)).collect(),
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
        // A `cd` that `env` or a path runs is another program.
        let is_builtin = simple.wrappers.is_empty() && simple.words.first().and_then(Word::known_text) == Some("cd");
        directories.certain = Some(targets).filter(|_| is_builtin && !simple.is_skippable && !simple.is_background);
    }
}

/// Returns the working directory after a successful `cd` to a target.
///
/// For `..`, `cd` removes the last part of the path, also if that is a link. In a longer target such as `a/../b` it stays: if
/// `b` does not exist, `cd` tries the path with links followed.
pub fn enter_folder(folder: &str, target: &str) -> String {
    let is_upward = target.split('/').all(|part| matches!(part, ".." | "." | "")) && !target.starts_with('/');
    if !is_upward {
        return join_path(folder, target);
    }
    let mut parts: Vec<&str> = folder.split('/').collect();
    parts.retain(|part| *part != ".");
    for _ in target.split('/').filter(|part| *part == "..") {
        if matches!(parts.last(), None | Some(&("" | ".." | "~"))) {
            return join_path(folder, target);
        }
        parts.pop();
    }
    // The project is the empty path, not the root of the file system.
    if folder.starts_with('/') && parts.iter().all(|part| part.is_empty()) {
        return join_path(folder, target);
    }
    parts.join("/")
}

/// Returns the target of a `cd`. `None` if it is unknown, or if the command is not a `cd`.
pub fn cd_target(simple: &SimpleCommand) -> Option<&str> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::command_line::parse_command_line;
    use proptest::prelude::*;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    /// Generates lines of `cd` and `WHERE` commands. `WHERE` stands for a program that prints its number and its
    /// working directory.
    fn line_strategy() -> impl Strategy<Value = String> {
        let commands = [
            "WHERE",
            "WHERE",
            "true",
            "false",
            "cd a",
            "cd b",
            "cd ..",
            "cd a/b",
            "cd missing",
            "env cd a",
            "command cd b",
            "cd a > out",
            "cd ./a",
        ];
        let command = prop::sample::select(commands.map(str::to_owned).to_vec());
        command.prop_recursive(4, 24, 5, |inner| {
            let separator = prop::sample::select(vec![" && ", " && ", " || ", "; ", " & ", " | "]);
            let list = prop::collection::vec((inner.clone(), separator), 1..5).prop_map(|items| {
                let mut line = String::new();
                for (index, (item, separator)) in items.into_iter().enumerate() {
                    line.push_str(if index > 0 { separator } else { "" });
                    line.push_str(&item);
                }
                line
            });
            prop_oneof![
                4 => list.clone(),
                1 => list.clone().prop_map(|list| format!("( {list} )")),
                2 => list.clone().prop_map(|list| format!("{{ {list}; }}")),
                1 => inner.prop_map(|item| format!("! {item}")),
            ]
        })
    }

    /// Runs the line in bash. Returns what each `WHERE` printed: its number, and its directory relative to `root`, or
    /// `..` if it is outside `root`.
    fn run_in_bash(root: &Path, line: &str) -> Vec<(String, String)> {
        let output = Command::new("bash").args(["-c", line]).current_dir(root).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let runs = text.lines().filter_map(|line| line.split_once(' '));
        runs.map(|(number, folder)| {
            let folder = Path::new(folder).strip_prefix(root).map_or("..", |inside| inside.to_str().unwrap());
            (number.to_owned(), folder.to_owned())
        })
        .collect()
    }

    /// Returns the parts of a relative path without `.` and inner `..`.
    fn normalize(path: &str) -> Vec<&str> {
        path.split('/').filter(|part| !matches!(*part, "" | ".")).fold(Vec::new(), |mut parts, part| {
            if part == ".." && parts.last().is_some_and(|last| *last != "..") {
                parts.pop();
            } else {
                parts.push(part);
            }
            parts
        })
    }

    #[test]
    fn upward_target_removes_parts_of_the_path() {
        for (folder, target, expected) in [
            ("", "a", "a"),
            ("a", "..", ""),
            ("a/b", "..", "a"),
            ("a/b", "../..", ""),
            ("./a/./b", "../", "a"),
            ("a", ".", "a"),
            ("/a/b", "..", "/a"),
            // Outside the project, or unknown.
            ("", "..", ".."),
            ("a", "../..", "a/../.."),
            (".", "..", "./.."),
            ("/a", "..", "/a/.."),
            ("//a", "..", "//a/.."),
            ("/a", "../..", "/a/../.."),
            ("~", "..", "~/.."),
            ("~/a", "..", "~"),
            ("a", "../b", "a/../b"),
            ("a", "b/..", "a/b/.."),
            ("a/..", "..", "a/../.."),
            ("a", "/..", "/.."),
        ] {
            assert_eq!(enter_folder(folder, target), expected, "{folder} {target}");
        }
    }

    #[test]
    fn r12_directory_is_uncertain_if_a_cd_may_be_skipped_or_fail() {
        for line in [
            "true || cd a/b && cat x",
            "true || { cd a/b; } && cat x",
            "{ true || cd a/b; } && cat x",
            "! cd a/b && cat x",
            "env cd a/b && cat x",
            "/usr/bin/cd a/b && cat x",
            "{ cd a/b & } && cat x",
        ] {
            let directories = working_directories(&parse_command_line(line));
            assert!(directories.last().unwrap().contains(&String::new()), "{line}");
        }
        for line in [
            "cd a/b && cat x",
            "cd a/b && ls > /dev/null | cat x",
            "(cd a/b && { cat x; })",
            "ls | wc | sort && cd a/b && cat x",
        ] {
            let directories = working_directories(&parse_command_line(line));
            assert!(directories.last().unwrap().contains(&"a/b".to_owned()), "{line}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
        #[test]
        fn r12_bash_runs_each_command_in_a_possible_directory(line in line_strategy()) {
            let temporary = tempfile::tempdir().unwrap();
            let root = temporary.path().canonicalize().unwrap().join("p");
            for folder in ["a/b/a", "a/a/b", "b/a/b", "b/b"] {
                fs::create_dir_all(root.join(folder)).unwrap();
            }
            let script = temporary.path().join("where");
            fs::write(&script, "#!/bin/sh\nprintf '%s\\n' \"$1 $(pwd -P)\"\n").unwrap();
            fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            let mut parts = line.split("WHERE");
            let mut numbered = parts.next().unwrap_or_default().to_owned();
            for (number, part) in parts.enumerate() {
                numbered.push_str(&format!("{} {number}{part}", script.display()));
            }
            let parsed_line = parse_command_line(&numbered);
            // An unclear line asks, whatever its directories are.
            prop_assume!(parsed_line.unclear.is_none());
            let directories = working_directories(&parsed_line);
            for (number, folder) in run_in_bash(&root, &numbered) {
                let command = parsed_line.commands.iter().position(|simple| {
                    simple.arguments().first().and_then(Word::known_text) == Some(&*number)
                        && simple.program().is_some_and(|program| program.ends_with("where"))
                });
                let Some(command) = command else {
                    return Err(TestCaseError::fail(format!("{numbered}: command {number} is not listed")));
                };
                let is_possible = directories[command].iter().any(|known| {
                    let parts: Vec<&str> = normalize(known);
                    parts.first() == Some(&"..") || parts.join("/") == folder
                });
                prop_assert!(is_possible, "{numbered}: {number} ran in {folder:?} and not in {:?}", directories[command]);
            }
        }
    }
}
