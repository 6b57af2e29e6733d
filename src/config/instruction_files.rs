//! Instruction files for the model: the user's own, those of the project, and those of the folders between the root of
//! the project's git repository and the project.

use super::instruction_imports::{ExpandedText, ImportFolder, expand_imports};
use super::project_text::{MAX_FILE_BYTES, read_text, resolve_in_folder};
use super::rules::ProjectSource;
use super::settings_file::read_bounded_text;
use crate::chat::Instructions;
use crate::text::clean::clean_line;
use crate::text::truncation::abbreviate_home;
use std::path::{Path, PathBuf};

/// Instruction files of the project, in the order in which they are sent. Those of its parents precede them.
const PROJECT_FILES: [&str; 2] = [AGENTS_FILE, ".aye/instructions.md"];

/// Name of the file that many programs read.
pub(super) const AGENTS_FILE: &str = "AGENTS.md";

/// An instruction file that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InstructionFile {
    /// Name relative to the project, such as `../AGENTS.md`; for the user's file its path.
    pub name: String,
    /// The text with its imports, or the reason why the file is not used.
    pub content: Result<ExpandedText, String>,
    /// Real path, to recognize a file that has two names.
    real: PathBuf,
}

/// The instruction files that exist, as they are now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct InstructionFiles {
    /// The user's own file.
    pub user: Option<InstructionFile>,
    /// Files of the project, in the order in which they are sent: from the root of its repository inwards.
    pub project: Vec<InstructionFile>,
}

impl InstructionFiles {
    /// Reads the user's file only.
    pub(super) fn read_user_file(source: &ProjectSource) -> Self {
        if source.max_instruction_bytes == 0 {
            return Self::default();
        }
        Self { user: read_user_file(source), project: Vec::new() }
    }

    /// Reads all files.
    pub(super) fn read_all(source: &ProjectSource) -> Self {
        let Self { user, .. } = Self::read_user_file(source);
        if source.max_instruction_bytes == 0 {
            return Self::default();
        }
        let mut known: Vec<PathBuf> = user.iter().map(|file| file.real.clone()).collect();
        let mut own = Vec::new();
        for name in PROJECT_FILES {
            own.extend(read_project_file(source, name).filter(|file| is_new(&mut known, &file.real)));
        }
        // The nearest is read first: of two names of the same file, that one counts.
        let mut parents = Vec::new();
        let root = repository_root(&source.folder).unwrap_or(&source.folder);
        let folders = source.folder.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
        for (index, folder) in folders.enumerate() {
            let relative = folder.strip_prefix(root).unwrap_or(folder).join(AGENTS_FILE);
            let name = format!("{}{AGENTS_FILE}", "../".repeat(index + 1));
            let file = read_file(root, "the repository", &relative, name);
            parents.extend(file.filter(|file| is_new(&mut known, &file.real)));
        }
        let project = parents.into_iter().rev().chain(own).collect();
        Self { user, project }
    }

    /// Returns the instructions of the user's file and, in order, of the usable files of the project, with the parts that
    /// are sent. If they exceed the limit, the user's file has priority, then the project's own ones, then the nearest
    /// parent.
    pub(super) fn to_instructions(&self, max_bytes: usize) -> (Option<Instructions>, Vec<Instructions>) {
        let is_usable = |file: &&InstructionFile| file.content.as_ref().is_ok_and(|content| !content.is_blank());
        let user = self.user.as_ref().filter(is_usable);
        let (parents, own): (Vec<_>, Vec<_>) =
            self.project.iter().filter(is_usable).partition(|file| file.name.starts_with("../"));
        let parent_count = parents.len();
        let files = user.into_iter().chain(own).chain(parents.into_iter().rev());
        let texts = files.filter_map(|file| Some((file.name.as_str(), file.content.as_ref().ok()?.text.as_str())));
        let mut instructions = Instructions::from_files(texts, max_bytes);
        let mut project = instructions.split_off(usize::from(user.is_some()));
        project.rotate_right(parent_count);
        project[..parent_count].reverse();
        (instructions.pop().map(Instructions::into_user_instructions), project)
    }
}

impl ExpandedText {
    /// Returns whether the text has no instructions.
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// Reads the user's own file. It may be a symlink to any file.
fn read_user_file(source: &ProjectSource) -> Option<InstructionFile> {
    let path = &source.user_instructions;
    let text = match read_bounded_text(path, MAX_FILE_BYTES) {
        Ok(text) => Ok(text?),
        Err(reason) => Err(reason),
    };
    let name = clean_line(&abbreviate_home(path, source.home.as_deref())).into_owned();
    let real = path.canonicalize().unwrap_or_default();
    let content = match text {
        Ok(text) if text.contains('\0') => Err("it is not a text file".to_owned()),
        Ok(text) => {
            let folder = path.parent().and_then(|folder| folder.canonicalize().ok()).unwrap_or_default();
            let folder = ImportFolder { path: &folder, label: "the settings folder", has_settings: true };
            Ok(expand_imports(folder, Path::new(path.file_name().unwrap_or_default()), &real, text))
        }
        Err(reason) => Err(reason),
    };
    Some(InstructionFile { name, content, real })
}

/// Reads a file of the project; `None` if it does not exist.
pub(super) fn read_project_file(source: &ProjectSource, name: &str) -> Option<InstructionFile> {
    read_file(&source.folder, "the project", Path::new(name), name.to_owned())
}

/// Reads a file inside a folder; `None` if it does not exist.
fn read_file(folder: &Path, label: &str, relative: &Path, name: String) -> Option<InstructionFile> {
    let real = match resolve_in_folder(folder, label, relative) {
        Ok(real) => real?,
        Err(reason) => return Some(InstructionFile { name, content: Err(reason), real: PathBuf::new() }),
    };
    let content = match read_text(&real) {
        Ok(text) => {
            let import_folder = ImportFolder { path: folder, label, has_settings: false };
            Ok(expand_imports(import_folder, relative, &real, text?))
        }
        Err(reason) => Err(reason),
    };
    Some(InstructionFile { name, content, real })
}

/// Records the path. Returns false if it was recorded before.
fn is_new(known: &mut Vec<PathBuf>, real: &Path) -> bool {
    let is_new = real.as_os_str().is_empty() || !known.iter().any(|path| path == real);
    known.push(real.to_owned());
    is_new
}

/// Returns the root of the git repository that a folder belongs to.
fn repository_root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

#[cfg(test)]
mod tests;
