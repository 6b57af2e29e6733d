//! Possible working directories of the commands of a line that runs in steps.
//!
//! A step does not run if a `cd` before it fails, so its folder depends only on which of them are skipped.

use super::command_line::{Connector, SimpleCommand};
use super::effects::{cd_target, enter_folder};
use std::collections::BTreeSet;

/// Maximum number of possible folders of a command. With more it is unknown.
const MAX_FOLDERS: usize = 4;

/// A state of the shell before a pipeline.
type State = (String, LastStatus);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LastStatus {
    Succeeded,
    Failed,
}

/// Returns the possible working directories of each plain command of a line, relative to the project: none for one that
/// never runs, and `..` if they are unknown.
pub(super) fn step_folders(commands: &[SimpleCommand]) -> Vec<Vec<String>> {
    let mut states: BTreeSet<State> = BTreeSet::from([(String::new(), LastStatus::Succeeded)]);
    let mut folders = Vec::new();
    let is_piped = |simple: &SimpleCommand| matches!(simple.connector, Connector::Pipe | Connector::PipeWithStderr);
    for pipeline in commands.chunk_by(|_, next| is_piped(next)) {
        let is_due = |(_, status): &State| match pipeline[0].connector {
            Connector::And => *status == LastStatus::Succeeded,
            Connector::Or => *status == LastStatus::Failed,
            _ => true,
        };
        let (due, mut next): (BTreeSet<State>, BTreeSet<State>) = states.into_iter().partition(is_due);
        let current: BTreeSet<String> = due.into_iter().map(|(folder, _)| folder).collect();
        for folder in &current {
            match pipeline {
                [simple] if simple.program() == Some("cd") => {
                    let target =
                        cd_target(simple).map_or_else(|| "..".to_owned(), |target| enter_folder(folder, target));
                    next.insert((target, LastStatus::Succeeded));
                }
                _ => next.extend([LastStatus::Succeeded, LastStatus::Failed].map(|status| (folder.clone(), status))),
            }
        }
        states = next;
        let is_known = current.len() <= MAX_FOLDERS;
        let current = if is_known { current.into_iter().collect() } else { vec!["..".to_owned()] };
        folders.extend(std::iter::repeat_n(current, pipeline.len()));
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::command_line::parse_command_line;

    #[test]
    fn folder_depends_on_the_skipped_commands() {
        for (line, expected) in [
            ("cd web && a", vec!["", "web"]),
            ("cd web; a", vec!["", "web"]),
            ("cd web && a; b", vec!["", "web", "web"]),
            ("cd web && a || b", vec!["", "web", "web"]),
            ("cd web && cd .. && a", vec!["", "web", ""]),
            ("cd web; cd b; a | c", vec!["", "web", "web/b", "web/b"]),
            ("cd web || a", vec!["", "-"]),
            ("a && cd web; b", vec!["", "", ",web"]),
            ("a && cd web && b", vec!["", "", "web"]),
            ("a || cd web; b", vec!["", "", ",web"]),
            ("a | b && cd web; b && c", vec!["", "", "", ",web", ",web"]),
            ("a && cd w; b && cd x; c", vec!["", "", ",w", ",w", ",w,w/x,x"]),
            ("cd ..; a", vec!["", ".."]),
            ("cd -; a", vec!["", ".."]),
            ("cd /x; cd ..; a", vec!["", "/x", "/x/.."]),
            (
                "a && cd b; a && cd c; a && cd d; a && cd e; f",
                vec!["", "", ",b", ",b", ",b,b/c,c", ",b,b/c,c", "..", "..", ".."],
            ),
        ] {
            let folders = step_folders(&parse_command_line(line).commands);
            let joined = |folders: &Vec<String>| if folders.is_empty() { "-".to_owned() } else { folders.join(",") };
            assert_eq!(folders.iter().map(joined).collect::<Vec<_>>(), expected, "{line}");
        }
    }
}
