//! Programs that may be those of the project, because `PATH` has a folder of it.

use crate::chat::{CommandPart, PartEffect, Preconditions, RestrictedPath};
use crate::policy::command_line::{ParsedLine, SimpleCommand, Word, parse_command_line};
use crate::policy::is_builtin;
use crate::project::{folders_before_project, has_program};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Names of programs that the project may provide.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectPrograms {
    /// Folders of `PATH` before the first one in the project; `None` if it has none there.
    folders_before: Option<Vec<PathBuf>>,
}

impl ProjectPrograms {
    /// Creates it for a project and a `PATH`.
    pub fn new(project: &Path, path: Option<&OsStr>) -> Self {
        Self { folders_before: folders_before_project(project, path) }
    }

    /// Returns whether a program of this name may be one of the project now, or once it creates one.
    fn may_provide(&self, name: &str) -> bool {
        self.folders_before.as_ref().is_some_and(|folders| !has_program(folders, name))
    }

    /// Returns the first program around or in a command that the project may provide. Without `is_ruled` the command itself
    /// counts too; otherwise a rule names it.
    fn find_in(&self, simple: &SimpleCommand, is_ruled: bool) -> Option<String> {
        let wrappers = simple.wrappers.iter().filter_map(|words| words.first()?.known_text());
        // Builtins are not searched in `PATH`, unless a wrapper runs them.
        let is_builtin = |name: &&str| simple.wrappers.is_empty() && is_builtin(name);
        let own = simple.words.first().and_then(Word::known_text).filter(|name| !is_ruled && !is_builtin(name));
        wrappers.chain(own).find(|name| self.may_provide(name)).map(str::to_owned)
    }

    /// Returns the parts of a line, or none if a program that no rule names may be one of the project.
    pub(super) fn check_parts(&self, parts: Vec<CommandPart>) -> Vec<CommandPart> {
        let may_replace = |part: &CommandPart| {
            let is_ruled = part.effect == PartEffect::Runs;
            parse_command_line(&part.command).commands.iter().any(|simple| self.find_in(simple, is_ruled).is_some())
        };
        if parts.iter().any(may_replace) { Vec::new() } else { parts }
    }

    /// Limits the rules for a command to those for exactly its line if a wrapper around it may be a program of the project.
    pub(super) fn check_wrappers(&self, preconditions: Preconditions, line: &str) -> Preconditions {
        let ParsedLine { commands, .. } = parse_command_line(line);
        let wrapper = commands.iter().find_map(|simple| self.find_in(simple, true));
        let to_restricted =
            |name: String| RestrictedPath { path: name.into(), is_sensitive: false, is_project_program: true };
        Preconditions { restricted_path: preconditions.restricted_path.or(wrapper.map(to_restricted)), ..preconditions }
    }
}
