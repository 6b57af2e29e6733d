//! Instruction files of folders below the project. They are looked for when a file there is read, and not at the start.

use super::instruction_files::{AGENTS_FILE, InstructionFile, read_project_file};
use super::rules::ProjectSource;
use super::trust::{TrustState, TrustedProject};
use crate::chat::Instructions;
use crate::chat::folder_instructions::{FolderInstructions, FoundInstructions};
use crate::text::clean::clean_line;
use crate::text::reveal::mark_invisible;
use std::path::{Component, Path};

/// Maximum folders above a file that are looked at, the outermost ones.
const MAX_FOLDERS: usize = 32;

/// Returns whether a name is that of an instruction file of a folder below the project. Names that cannot be shown as they
/// are do not count.
pub fn is_folder_file(name: &str) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let has_folder = name.strip_suffix(AGENTS_FILE).is_some_and(|folder| folder.len() > 1 && folder.ends_with('/'));
    has_folder && Path::new(name).components().all(is_plain) && clean_line(name) == name && mark_invisible(name) == name
}

/// Returns the instructions of the folders between the project and a file in it, the outermost first. `file` is relative to
/// the project.
pub fn find_folder_instructions(source: &ProjectSource, file: &Path) -> FoundInstructions {
    let max_bytes = source.max_instruction_bytes;
    if max_bytes == 0 {
        return FoundInstructions::default();
    }
    let mut folders: Vec<&Path> = file.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()).collect();
    folders.reverse();
    let names = folders.into_iter().take(MAX_FOLDERS);
    let names = names.filter_map(|folder| folder.join(AGENTS_FILE).to_str().map(str::to_owned));
    let files: Vec<InstructionFile> = names.filter_map(|name| read_folder_file(source, &name)).collect();
    if files.is_empty() {
        return FoundInstructions::default();
    }
    let trusted = TrustedProject::find_project(&source.trust_file, &source.folder);
    let folders = files.into_iter().filter_map(|file| {
        let content = file.content.ok().filter(|content| !content.is_blank())?;
        let is_trusted = trusted.trust_state(&file.name, &content.text) == TrustState::Trusted;
        let read = || Instructions::from_files([(file.name.as_str(), content.text.as_str())], max_bytes).pop();
        let trusted = is_trusted.then(read).flatten();
        Some(FolderInstructions { file: file.name, trusted })
    });
    FoundInstructions { folders: folders.collect(), max_bytes }
}

/// Reads the instruction file of a folder; `None` if it does not exist, or if its name cannot be shown.
pub(super) fn read_folder_file(source: &ProjectSource, name: &str) -> Option<InstructionFile> {
    is_folder_file(name).then(|| read_project_file(source, name)).flatten()
}

#[cfg(test)]
mod tests;
