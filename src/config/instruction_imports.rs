//! Imports in instruction files: a line `@path` stands for the text of that file. Nothing outside a folder is read.

use super::project_text::{MAX_FILE_BYTES, read_text, resolve_in_folder};
use crate::chat::sensitive_paths::is_sensitive;
use crate::text::clean::clean_line;
use crate::text::truncation::truncate_end;
use pulldown_cmark::{Event, Parser, Tag};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// Maximum nesting of imports.
const MAX_DEPTH: usize = 5;

/// Maximum imports of an instruction file, with those of imported files and those that fail.
const MAX_IMPORTS: usize = 64;

/// Maximum characters of a path in a message.
const MAX_PATH_CHARS: usize = 80;

/// Folder that imports must not leave.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImportFolder<'a> {
    /// Path of the folder, with symlinks resolved.
    pub path: &'a Path,
    /// Name in messages, such as `the project`.
    pub label: &'a str,
    /// True if it is the folder of the user's settings, whose settings files may hold keys.
    pub has_settings: bool,
}

/// Text of an instruction file with the texts of its imports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ExpandedText {
    pub text: String,
    /// Imported files, relative to the folder, in the order of their first import.
    pub imports: Vec<String>,
    /// Imports that failed. Their lines are unchanged.
    pub problems: Vec<String>,
}

/// Replaces the imports in a text. `file` is the file's path relative to the folder, and `real` its real path.
pub(super) fn expand_imports(folder: ImportFolder<'_>, file: &Path, real: &Path, text: String) -> ExpandedText {
    if !text.contains('@') {
        return ExpandedText { text, ..ExpandedText::default() };
    }
    let mut importer = Importer {
        folder,
        open_files: vec![real.to_owned()],
        attempt_count: 0,
        has_too_many: false,
        remaining_bytes: (MAX_FILE_BYTES as usize).saturating_sub(text.len()),
        imports: Vec::new(),
        problems: Vec::new(),
    };
    let text = importer.expand_text(file, &text);
    ExpandedText { text, imports: importer.imports, problems: importer.problems }
}

struct Importer<'a> {
    folder: ImportFolder<'a>,
    /// Real paths of the files that are being expanded, outermost first.
    open_files: Vec<PathBuf>,
    attempt_count: usize,
    /// True once an import was one too many.
    has_too_many: bool,
    /// Bytes that may still be imported.
    remaining_bytes: usize,
    imports: Vec<String>,
    problems: Vec<String>,
}

impl Importer<'_> {
    fn expand_text(&mut self, file: &Path, text: &str) -> String {
        let mut expanded = String::with_capacity(text.len());
        let code_blocks = find_code_blocks(text);
        let mut next_offset = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let offset = next_offset;
            next_offset += line.len();
            let block = code_blocks.partition_point(|block| block.end <= offset);
            let is_code = code_blocks.get(block).is_some_and(|block| block.start <= offset);
            let Some(path) = import_path(line).filter(|_| !is_code) else {
                expanded.push_str(line);
                continue;
            };
            match self.import_file(file, path) {
                Ok(imported) => {
                    expanded.push_str(&imported);
                    if line.ends_with('\n') && !imported.is_empty() && !imported.ends_with('\n') {
                        expanded.push('\n');
                    }
                }
                Err(error) => {
                    self.add_problem(file, index + 1, path, error);
                    expanded.push_str(line);
                }
            }
        }
        expanded
    }

    /// Records why an import failed. That there are too many is recorded once.
    fn add_problem(&mut self, file: &Path, line: usize, path: &str, error: ImportError) {
        let is_repeated = error == ImportError::TooMany && self.has_too_many;
        self.has_too_many |= error == ImportError::TooMany;
        if !is_repeated {
            let (file, path) = (display_path(file), display_path(Path::new(path)));
            self.problems.push(format!("line {line} of {file}: @{path}: {}", error.describe(self.folder)));
        }
    }

    fn import_file(&mut self, importing_file: &Path, path: &str) -> Result<String, ImportError> {
        if self.attempt_count >= MAX_IMPORTS {
            return Err(ImportError::TooMany);
        }
        self.attempt_count += 1;
        if self.open_files.len() > MAX_DEPTH {
            return Err(ImportError::TooDeep);
        }
        let name = join_inside(importing_file, path).ok_or(ImportError::Outside)?;
        let resolved = resolve_in_folder(self.folder.path, self.folder.label, &name);
        let real = resolved.map_err(ImportError::Unreadable)?.ok_or(ImportError::Missing)?;
        if self.is_private(&name) || real.strip_prefix(self.folder.path).map_or(true, |real| self.is_private(real)) {
            return Err(ImportError::Sensitive);
        }
        if self.open_files.contains(&real) {
            return Err(ImportError::Cycle);
        }
        let text = read_text(&real).map_err(ImportError::Unreadable)?.ok_or(ImportError::Missing)?;
        self.remaining_bytes = self.remaining_bytes.checked_sub(text.len()).ok_or(ImportError::TooLong)?;
        let displayed_name = display_path(&name);
        if !self.imports.contains(&displayed_name) {
            self.imports.push(displayed_name);
        }
        self.open_files.push(real);
        let expanded = self.expand_text(&name, text.strip_prefix('\u{feff}').unwrap_or(&text));
        self.open_files.pop();
        Ok(expanded)
    }

    /// Returns whether a file may hold secrets. Text in `.aye` of a project is no secret: its instructions are there.
    fn is_private(&self, relative: &Path) -> bool {
        let extension = relative.extension().unwrap_or_default();
        match relative.strip_prefix(".aye") {
            _ if self.folder.has_settings && extension.eq_ignore_ascii_case("toml") => true,
            Ok(rest) if extension == "md" => is_sensitive(rest),
            Ok(_) | Err(_) => is_sensitive(relative),
        }
    }
}

/// Reason why a file is not imported.
#[derive(Debug, PartialEq, Eq)]
enum ImportError {
    TooMany,
    TooDeep,
    Outside,
    Missing,
    Sensitive,
    Cycle,
    TooLong,
    Unreadable(String),
}

impl ImportError {
    fn describe(&self, folder: ImportFolder<'_>) -> String {
        match self {
            Self::TooMany => format!("there are more than {MAX_IMPORTS} imports"),
            Self::TooDeep => format!("imports are nested deeper than {MAX_DEPTH} levels"),
            Self::Outside => format!("it is outside {}", folder.label),
            Self::Missing => "there is no such file".to_owned(),
            Self::Sensitive => "the file may hold secrets or affect other programs".to_owned(),
            Self::Cycle => "the file imports itself".to_owned(),
            Self::TooLong => format!("the text would be longer than {} KiB", MAX_FILE_BYTES >> 10),
            Self::Unreadable(reason) => reason.clone(),
        }
    }
}

/// Returns the path of an import, if the line is one: `@` and a path without blanks, and nothing else.
fn import_path(line: &str) -> Option<&str> {
    let line = line.trim_start_matches('\u{feff}').trim_end();
    let (indent, path) = line.split_once('@')?;
    let has_margin = indent.len() <= 3 && indent.bytes().all(|byte| byte == b' ');
    let is_path =
        !path.is_empty() && !path.starts_with('@') && !path.chars().any(|c| c.is_whitespace() || c.is_control());
    (has_margin && is_path).then_some(path)
}

/// Joins a path to the folder of a file. Returns `None` if it is absolute, begins in the home folder, or leaves the folder
/// that `file` is relative to.
fn join_inside(file: &Path, path: &str) -> Option<PathBuf> {
    if path == "~" || path.starts_with("~/") {
        return None;
    }
    let mut joined = file.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => joined.push(name),
            Component::CurDir => {}
            Component::ParentDir if joined.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(joined)
}

fn display_path(path: &Path) -> String {
    truncate_end(&clean_line(&path.to_string_lossy()), MAX_PATH_CHARS)
}

/// Returns the byte ranges of the code blocks of a Markdown text, in order.
fn find_code_blocks(text: &str) -> Vec<Range<usize>> {
    let events = Parser::new(text).into_offset_iter();
    events.filter_map(|(event, range)| matches!(event, Event::Start(Tag::CodeBlock(_))).then_some(range)).collect()
}

#[cfg(test)]
mod tests;
