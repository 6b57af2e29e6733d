//! Judges the parts of a command line one by one, each as if it were given alone in its folder.

use super::command_access::command_access;
use super::read_only_commands::{BlockedCommands, EXACT_COMMANDS, runs_git};
use super::{losses, scripts};
use crate::chat::{Access, CommandLine, CommandPart, CommandSandbox, PartEffect, Reach};
use crate::policy::chains::{ChainPart, group_pipelines, split_chain};
use crate::policy::command_line::parse_command_line;
use crate::policy::effects::{cd_target, enter_folder};
use crate::policy::{has_known_words_or_patterns, is_plain_reader, prints_by_script, reads_only_input};
use crate::project::{FileKind, Location, Reader};
use std::ops::Range;
use std::path::Path;

/// Returns the parts of a command line. Empty if it has none that can be judged alone, or if one of them destroys
/// something, is never allowed, or runs in a folder that is not known or not in the project.
pub fn command_parts(line: &CommandLine, files: &dyn Reader, blocked: &BlockedCommands) -> Vec<CommandPart> {
    if line.network.is_some() {
        return Vec::new();
    }
    let chain = split_chain(&parse_command_line(&line.command));
    // Without its pipelines a line could not run in steps.
    if group_pipelines(&line.command, &chain).is_none() {
        return Vec::new();
    }
    judge_chain_parts(chain, line, files, blocked).unwrap_or_default()
}

/// Returns whether these parts, by index, would be judged as before.
pub fn are_judged_as_before(
    line: &CommandLine,
    files: &dyn Reader,
    blocked: &BlockedCommands,
    before: &[CommandPart],
    checked: Range<usize>,
) -> bool {
    let chain = split_chain(&parse_command_line(&line.command));
    let current_parts =
        judge_chain_parts(chain.into_iter().take(checked.end).skip(checked.start), line, files, blocked);
    let before = before.get(checked).unwrap_or_default();
    current_parts.is_some_and(|now| are_same_parts(before, &now))
}

fn are_same_parts(before: &[CommandPart], now: &[CommandPart]) -> bool {
    let is_same = |(before, now): (&CommandPart, &CommandPart)| {
        let (known, current) = (&before.preconditions, &now.preconditions);
        (&before.command, &before.folder, before.effect) == (&now.command, &now.folder, now.effect)
            && before.paths == now.paths
            && before.is_in_other_repository == now.is_in_other_repository
            && known.hard_links == current.hard_links
            && known.is_partial == current.is_partial
            && known.restricted_path == current.restricted_path
            && known.scripts_to_bind() == current.scripts_to_bind()
            && are_same_parts(&before.alternatives, &now.alternatives)
    };
    before.len() == now.len() && before.iter().zip(now).all(is_same)
}

fn judge_chain_parts(
    chain: impl IntoIterator<Item = ChainPart>,
    line: &CommandLine,
    files: &dyn Reader,
    blocked: &BlockedCommands,
) -> Option<Vec<CommandPart>> {
    chain.into_iter().map(|part| PartJudge { line, files, blocked }.judge_part(part)).collect()
}

struct PartJudge<'a> {
    line: &'a CommandLine,
    files: &'a dyn Reader,
    blocked: &'a BlockedCommands,
}

impl PartJudge<'_> {
    /// Judges a part in each folder in which it may run.
    fn judge_part(&self, part: ChainPart) -> Option<CommandPart> {
        // A command without files does the same in any folder.
        let needs_no_folder = !part.changes_folder && reads_only_input(&part.command);
        let project_folder = [String::new()];
        let folders = match self.line.sandbox {
            _ if needs_no_folder => &project_folder[..],
            CommandSandbox::Unavailable(_) => &part.folders,
            CommandSandbox::Unspecified | CommandSandbox::Enforced(_) => &part.step_folders,
        };
        if part.changes_folder {
            // Commands after it rely on its success.
            let parsed_part = parse_command_line(&part.command);
            let target = parsed_part.commands.first().and_then(cd_target)?;
            let targets: Vec<String> = folders.iter().map(|folder| enter_folder(folder, target)).collect();
            self.find_folders(&targets)?;
        }
        let folders = self.find_folders(folders)?;
        let mut judged = folders.into_iter().map(|folder| self.judge_in_folder(&part, folder));
        let first = judged.next()??;
        let alternatives = judged.collect::<Option<Vec<CommandPart>>>()?;
        let has_one_effect = alternatives.iter().all(|alternative| alternative.effect == first.effect);
        has_one_effect.then_some(CommandPart { alternatives, ..first })
    }

    fn judge_in_folder(&self, part: &ChainPart, folder: Location) -> Option<CommandPart> {
        let is_root = folder.real == self.files.root();
        let command_in_folder =
            if is_root { part.command.clone() } else { format!("cd {} && {}", quote(&folder)?, part.command) };
        if losses::find_losses(&command_in_folder, self.files).is_some() {
            return None;
        }
        let line_in_folder = CommandLine { command: command_in_folder.clone(), ..self.line.clone() };
        let access = command_access(line_in_folder, self.files);
        let effect = match &access {
            Access::Run(run) if run.reach == Reach::Denied || run.is_sensitive => return None,
            // The folder may be missing or outside; the line then asks as a whole.
            _ if part.changes_folder && !matches!(access, Access::Read(_)) => return None,
            Access::Read(_) if part.changes_folder => PartEffect::ChangesFolder,
            Access::Read(_) => self.reading_effect(part),
            _ => PartEffect::Runs,
        };
        let paths = match access {
            Access::Read(paths) if effect != PartEffect::Runs => paths,
            _ => Vec::new(),
        };
        let preconditions = match effect {
            PartEffect::Runs | PartEffect::ReadsAlone => scripts::command_preconditions(&command_in_folder, self.files),
            PartEffect::ChangesFolder | PartEffect::ReadsInput | PartEffect::ReadsFiles => Default::default(),
        };
        let is_in_other_repository = self.is_in_other_repository(&folder);
        let folder = if is_root { self.line.folder.clone() } else { folder.real };
        Some(CommandPart {
            command: part.command.clone(),
            folder,
            effect,
            paths,
            has_input: part.has_input,
            is_in_other_repository,
            preconditions,
            alternatives: Vec::new(),
        })
    }

    /// Returns whether git would find another repository than that of the project in this folder: `.git`, or a bare one.
    fn is_in_other_repository(&self, folder: &Location) -> bool {
        let root = self.files.root();
        let has = |folder: &Path, name: &str| {
            let location = folder.join(name).to_str().and_then(|path| self.files.locate(path).ok());
            location.is_none_or(|location| self.files.exists(&location))
        };
        let mut folders = folder.real.ancestors().take_while(|folder| *folder != root && folder.starts_with(root));
        folders.any(|folder| has(folder, ".git") || (has(folder, "HEAD") && has(folder, "objects")))
    }

    /// Returns the effect of a part that only reads in the read-only sandbox. Only there git ignores the user's settings,
    /// which may name programs and decrypt content.
    fn reading_effect(&self, part: &ChainPart) -> PartEffect {
        let command = part.command.as_str();
        let has_sandbox = !matches!(self.line.sandbox, CommandSandbox::Unavailable(_));
        let (is_git, is_exact) = (runs_git(command), EXACT_COMMANDS.contains(&command));
        match has_sandbox {
            _ if self.blocked.contains(command) => PartEffect::Runs,
            _ if !is_git && reads_only_input(command) => PartEffect::ReadsInput,
            // Should a script be misread, a sandbox limits what it does.
            true if prints_by_script(command) => PartEffect::ReadsInput,
            true if !is_git && is_plain_reader(command, part.has_input) => PartEffect::ReadsFiles,
            true if has_known_words_or_patterns(command) => PartEffect::ReadsAlone,
            true => PartEffect::Runs,
            false if !is_git && is_exact => PartEffect::ReadsFiles,
            false => PartEffect::Runs,
        }
    }

    /// Returns the folders in which a part can run. `None` if it never runs, or if one of them is not certain, not in the
    /// project, or sensitive.
    fn find_folders(&self, folders: &[String]) -> Option<Vec<Location>> {
        let mut found: Vec<Location> = Vec::new();
        for folder in folders {
            // Such a folder is above the project, or unknown.
            if folder.split('/').any(|part| part == "..") {
                return None;
            }
            let location = self.files.locate(if folder.is_empty() { "." } else { folder }).ok()?;
            let is_folder = self.files.file_kind(&location) == Some(FileKind::Folder);
            if !(location.is_inside && !location.is_sensitive && is_folder) {
                return None;
            }
            if found.iter().all(|known| known.real != location.real) {
                found.push(location);
            }
        }
        (!found.is_empty()).then_some(found)
    }
}

/// Quotes a folder for the shell; `None` if its name has a quote or is not UTF-8.
fn quote(folder: &Location) -> Option<String> {
    folder.real.to_str().filter(|path| !path.contains('\'')).map(|path| format!("'{path}'"))
}

#[cfg(test)]
mod tests;
