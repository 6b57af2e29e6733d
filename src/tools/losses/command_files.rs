//! Files that a command can reach, looked up a limited number of times.

use crate::policy::command_line::Word;
use crate::policy::effects::join_path;
use crate::policy::grammar::{self, ParsedArguments, Program};
use crate::project::{FileKind, Reader};
use crate::text::truncation::{join_items, truncate_end};
use std::cell::Cell;

/// Names listed per command; the rest are counted.
const MAX_LISTED_NAMES: usize = 3;
/// Characters shown of a name.
const MAX_NAME_CHARS: usize = 60;

/// Characters that a shell may expand, so that a name with one of them may stand for others.
const EXPANDED_CHARS: [char; 6] = ['*', '?', '[', '{', '$', '~'];

/// The files, and the number of lookups left.
pub(super) struct FileLookups<'a> {
    pub(super) files: &'a dyn Reader,
    pub(super) remaining: Cell<usize>,
}

impl FileLookups<'_> {
    /// Returns the kind of the file at a path; `None` if there is none, or if no lookups are left.
    fn look_up(&self, path: &str) -> Option<FileKind> {
        self.remaining.set(self.remaining.get().checked_sub(1)?);
        self.files.file_kind(&self.files.locate(path).ok()?)
    }
}

/// Files and directories that one command can reach.
pub(super) struct CommandFiles<'a> {
    /// `None` if files cannot be looked up: the command runs on another machine, or could not be parsed to its end.
    pub(super) files: Option<&'a FileLookups<'a>>,
    /// Directories that relative names may start from.
    pub(super) folders: &'a [String],
}

/// The kind of file at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// No file, or one without content: an empty file, a pipe or a device.
    Nothing,
    /// A file that is not empty.
    File,
    Folder,
    /// It cannot be looked up.
    Unknown,
}

impl CommandFiles<'_> {
    /// Returns the kind of the first target with this name in the directories. `File` once no lookups are left,
    /// `Unknown` if nothing can be looked up.
    pub(super) fn kind_at(&self, name: &str) -> TargetKind {
        let Some(lookups) = self.files else { return TargetKind::Unknown };
        let kind_in = |folder: &String| {
            if lookups.remaining.get() == 0 {
                return Some(TargetKind::File);
            }
            match lookups.look_up(&join_path(folder, name))? {
                FileKind::File(0) | FileKind::Other => None,
                FileKind::File(_) => Some(TargetKind::File),
                FileKind::Folder => Some(TargetKind::Folder),
            }
        };
        self.folders.iter().find_map(kind_in).unwrap_or(TargetKind::Nothing)
    }

    /// Returns whether `name` is known to be a file, and no folder, in whichever directory it starts from.
    pub(super) fn is_known_file(&self, name: &str) -> bool {
        let Some(lookups) = self.files.filter(|_| !name.contains(EXPANDED_CHARS)) else { return false };
        let is_file = |folder: &String| matches!(lookups.look_up(&join_path(folder, name)), Some(FileKind::File(_)));
        !self.folders.is_empty() && self.folders.iter().all(is_file)
    }

    /// Returns whether a file that is not empty is known to exist at `name`.
    pub(super) fn has_content_at(&self, name: &str) -> bool {
        self.kind_at(name) == TargetKind::File
    }
}

/// Formats names for the prompt: the first few, shortened and escaped.
pub(super) fn format_names(names: &[&str]) -> String {
    let format_name = |name: &&str| truncate_end(name, MAX_NAME_CHARS).escape_debug().to_string();
    let names: Vec<String> = names.iter().map(format_name).collect();
    if names.is_empty() { "the files it is given".to_owned() } else { join_items(&names, MAX_LISTED_NAMES) }
}

/// Parses the arguments of a program by its grammar.
pub(super) fn parse_program_arguments(program: &'static Program, words: &[&str]) -> ParsedArguments {
    let words: Vec<Word> = words.iter().map(|word| Word::Known((*word).to_owned())).collect();
    grammar::parse_arguments(program, &words)
}
