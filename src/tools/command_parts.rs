//! Judges the parts of a command line one by one, each as if it were given alone in its folder.

use super::command_access::command_access;
use super::read_only_commands::{BlockedCommands, EXACT_COMMANDS, runs_git};
use super::{losses, scripts};
use crate::chat::{Access, CommandLine, CommandPart, CommandSandbox, PartEffect, Reach};
use crate::policy::chains::{ChainPart, split_chain};
use crate::policy::command_line::parse_command_line;
use crate::policy::{is_plain_git_read, is_plain_reader, reads_only_input};
use crate::project::{FileKind, Location, Reader};

/// Returns the parts of a command line. Empty if it has none that can be judged alone, or if one of them destroys
/// something, is never allowed, or runs in a folder that is not known or not in the project.
pub fn command_parts(line: &CommandLine, files: &dyn Reader, blocked: &BlockedCommands) -> Vec<CommandPart> {
    if line.network.is_some() {
        return Vec::new();
    }
    let chain = split_chain(&parse_command_line(&line.command));
    let parts: Option<Vec<CommandPart>> =
        chain.into_iter().map(|part| PartJudge { line, files, blocked }.judge_part(part)).collect();
    parts.unwrap_or_default()
}

/// Returns whether the parts have the same effects as before.
pub fn have_same_effects(before: &[CommandPart], now: &[CommandPart]) -> bool {
    let effects = |parts: &[CommandPart]| -> Vec<_> {
        parts.iter().map(|part| (part.command.clone(), part.folder.clone(), part.effect)).collect()
    };
    effects(before) == effects(now)
}

struct PartJudge<'a> {
    line: &'a CommandLine,
    files: &'a dyn Reader,
    blocked: &'a BlockedCommands,
}

impl PartJudge<'_> {
    fn judge_part(&self, part: ChainPart) -> Option<CommandPart> {
        // A command without files does the same in any folder.
        let needs_no_folder = !part.changes_folder && reads_only_input(&part.command);
        let project_folder = [String::new()];
        let folder = self.find_folder(if needs_no_folder { &project_folder } else { &part.folders })?;
        let is_root = folder.real == self.files.root();
        let command_in_folder =
            if is_root { part.command.clone() } else { format!("cd {} && {}", quote(&folder)?, part.command) };
        if losses::find_losses(&command_in_folder, self.files).is_some() {
            return None;
        }
        let line_in_folder = CommandLine { command: command_in_folder.clone(), ..self.line.clone() };
        let access = command_access(line_in_folder, self.files);
        let effect = match access {
            Access::Run(run) if run.reach == Reach::Denied => return None,
            // The folder may be missing or outside; the line then asks as a whole.
            _ if part.changes_folder && !matches!(access, Access::Read(_)) => return None,
            Access::Read(_) if part.changes_folder => PartEffect::ChangesFolder,
            Access::Read(_) => self.reading_effect(&part),
            _ => PartEffect::Runs,
        };
        let preconditions = match effect {
            PartEffect::Runs => scripts::command_preconditions(&command_in_folder, self.files),
            PartEffect::ChangesFolder | PartEffect::ReadsInput | PartEffect::ReadsFiles => Default::default(),
        };
        let folder = if is_root { self.line.folder.clone() } else { folder.real };
        Some(CommandPart { command: part.command, folder, effect, has_input: part.has_input, preconditions })
    }

    /// Returns the effect of a part that only reads. It runs outside the read-only sandbox.
    fn reading_effect(&self, part: &ChainPart) -> PartEffect {
        let command = part.command.as_str();
        let is_exact = EXACT_COMMANDS.contains(&command);
        let may_read_files = is_exact || !matches!(self.line.sandbox, CommandSandbox::Unavailable(_));
        match runs_git(command) {
            _ if self.blocked.contains(command) => PartEffect::Runs,
            true if may_read_files && !part.has_input && is_plain_git_read(command) => PartEffect::ReadsFiles,
            true => PartEffect::Runs,
            false if reads_only_input(command) => PartEffect::ReadsInput,
            false if is_exact || may_read_files && is_plain_reader(command, part.has_input) => PartEffect::ReadsFiles,
            false => PartEffect::Runs,
        }
    }

    /// Returns the only folder in which a part can run; `None` if it is not certain, not in the project, or sensitive.
    fn find_folder(&self, folders: &[String]) -> Option<Location> {
        let mut found: Option<Location> = None;
        for folder in folders {
            // For `..`, `cd` removes the last part of the path, but a program that opens the path follows links.
            if folder.split('/').any(|part| part == "..") {
                return None;
            }
            let location = self.files.locate(if folder.is_empty() { "." } else { folder }).ok()?;
            let is_folder = self.files.file_kind(&location) == Some(FileKind::Folder);
            let is_usable = location.is_inside && !location.is_sensitive && is_folder;
            if !is_usable || found.as_ref().is_some_and(|found| found.real != location.real) {
                return None;
            }
            found = Some(location);
        }
        found
    }
}

/// Quotes a folder for the shell; `None` if its name has a quote or is not UTF-8.
fn quote(folder: &Location) -> Option<String> {
    folder.real.to_str().filter(|path| !path.contains('\'')).map(|path| format!("'{path}'"))
}

#[cfg(test)]
mod tests;
