//! Determines the access that a command needs in this project. The paths that it names are looked up, with links
//! followed, before it counts as reading.

use crate::chat::sensitive_paths::is_system_file;
use crate::chat::{Access, CommandAccess, CommandLine, Reach};
use crate::policy::command_line::{self, Word, WordPosition};
use crate::policy::effects::{AskReasons, PathAccess, TouchedPath, analyze_effects, join_path};
use crate::project::{FileKind, Location, OwnFile, Reader};
use crate::text::truncation::escape_beginning;
use named_files::{hard_link_reason, named_paths, own_file_reason, refuse_own_file};
use std::path::PathBuf;

mod named_files;
mod named_secrets;
mod patterns;
mod repository;

pub(super) use named_files::{path_spellings, written_hard_links};
pub(super) use named_secrets::command_access;

/// Maximum number of names that a pattern may match, and of files visited below a folder.
const MAX_NAMES: usize = 20_000;
/// Maximum depth to which a folder is visited.
const MAX_DEPTH: usize = 64;

/// Files that list ignored paths.
const IGNORE_FILES: [&str; 4] = [".ignore", ".rgignore", ".gitignore", ".git/info/exclude"];

/// Returns the access of the command if the files in `excused` (absolute, without links) hold no secrets.
fn access_with_excused(line: CommandLine, files: &dyn Reader, excused: &[PathBuf]) -> Access {
    let parsed_line = command_line::parse_command_line(&line.command);
    let mut effects = analyze_effects(&parsed_line);
    let mut findings =
        PathFindings { files, excused, paths: Vec::new(), reasons: AskReasons::default(), is_sensitive: false };
    let only_written_words = named_files::only_written(&parsed_line, &line.command);
    let mut may_disclose = false;
    for touch in &effects.touches {
        // Reset, so that it tells only whether this path is sensitive. The earlier value is added again below.
        let was_sensitive = std::mem::take(&mut findings.is_sensitive);
        findings.check_touch(touch);
        let is_only_written =
            matches!(touch.access, PathAccess::Write | PathAccess::Append) && only_written_words.contains(&&touch.word);
        may_disclose |= findings.is_sensitive && !is_only_written;
        findings.is_sensitive |= was_sensitive;
    }
    let names = named_paths(&parsed_line);
    if let Some(why) = names.iter().find_map(|(name, position)| refuse_own_file(name, *position, files)) {
        findings.add_finding(Reach::Denied, why);
    }
    match findings.reasons.widest() {
        Some((reach, why)) if reach > effects.reach => (effects.reach, effects.reason) = (reach, why),
        // Both are reported: what the program may do, and the secrets that its redirections give it.
        Some((reach, why)) if reach == effects.reach && findings.is_sensitive && !effects.reason.contains(&why) => {
            effects.reason = if effects.reason.is_empty() { why } else { format!("{}; {why}", effects.reason) };
        }
        Some(_) | None => {}
    }
    if line.network.is_some() && effects.reach < Reach::Outside {
        (effects.reach, effects.reason) = (Reach::Outside, "network access requested".to_owned());
    }
    if effects.reach > Reach::Reads {
        let is_secret =
            |(name, _): &(String, WordPosition)| files.locate(name).is_ok_and(|location| location.is_sensitive);
        let is_sensitive = findings.is_sensitive || names.iter().any(is_secret);
        let is_read =
            |(name, _): &(String, WordPosition)| !only_written_words.iter().any(|word| word.display_text() == name);
        let may_disclose = may_disclose || names.iter().any(|name| is_read(name) && is_secret(name));
        return Access::Run(CommandAccess {
            line: Box::new(line),
            reach: effects.reach,
            reason: effects.reason,
            is_sensitive,
            may_disclose,
            named_secrets: Vec::new(),
        });
    }
    findings.paths.dedup();
    Access::Read(findings.paths)
}

/// Findings about the files of a command.
struct PathFindings<'a> {
    files: &'a dyn Reader,
    /// Files that count as holding no secrets.
    excused: &'a [PathBuf],
    /// Files and folders in the project that the command uses.
    paths: Vec<PathBuf>,
    reasons: AskReasons,
    /// True if a file that the command uses may hold secrets, is outside the project or is not known.
    is_sensitive: bool,
}

/// Options for reading a folder recursively.
#[derive(Clone, Copy)]
struct WalkOptions<'a> {
    include_hidden: bool,
    skipped_folders: &'a [String],
    follow_links: bool,
}

impl PathFindings<'_> {
    fn add_finding(&mut self, reach: Reach, why: String) {
        self.reasons.push_reason(reach, why);
    }

    /// Records a path that is unknown, sensitive or outside the project: reading it needs approval, and changing it may
    /// be irreversible.
    fn add_restricted(&mut self, access: &PathAccess, why: String) {
        self.add_finding(if is_change(access) { Reach::Outside } else { Reach::Runs }, why);
    }

    fn check_touch(&mut self, touch: &TouchedPath) {
        if touch.access == PathAccess::Repository {
            let is_in_project_folder = touch.folders.iter().all(String::is_empty);
            let check_result = if is_in_project_folder {
                repository::check_plain_repository(self.files)
            } else {
                Err("git runs in another folder, whose settings apply".to_owned())
            };
            if let Err(why) = check_result {
                self.add_finding(Reach::Runs, why);
            }
            return;
        }
        if let PathAccess::Tracked { limited_to, with_stash } = &touch.access {
            if let Err(why) = repository::check_tracked_files(self.files, limited_to, *with_stash) {
                self.is_sensitive = true;
                self.add_finding(Reach::Runs, why);
            }
            return;
        }
        if matches!(touch.access, PathAccess::MustNotSelectProgram(_))
            && touch.folders.iter().any(|folder| !folder.is_empty())
        {
            return self.add_finding(Reach::Runs, "it runs in another folder".to_owned());
        }
        for folder in &touch.folders {
            if folder.split('/').any(|part| part == "..") {
                // For `..`, `cd` removes the last part of the path, but a program that opens the path follows links.
                self.is_sensitive = true;
                let why = "it uses “..”, or its folder is not known";
                return self.add_restricted(&touch.access, why.to_owned());
            }
            match &touch.word {
                Word::Known(name) if name.is_empty() => {}
                // The home folder is a `Word::Home`; here `~` is an ordinary character of a name.
                Word::Known(name) if name.starts_with('~') => {
                    self.check_path(&join_path(folder, &format!("./{name}")), &touch.access)
                }
                Word::Known(name) => self.check_path(&join_path(folder, name), &touch.access),
                Word::Home(name) => self.check_path(name, &touch.access),
                Word::Pattern(pattern) => self.check_pattern(folder, pattern, &touch.access),
                Word::Unknown(_) => {
                    self.add_finding(Reach::Unclear, "the files it uses are not known before it runs".to_owned())
                }
            }
        }
    }

    fn check_path(&mut self, path: &str, access: &PathAccess) {
        let escape_name = |path: &str| escape_beginning(path, 120);
        let location = match self.files.locate(path) {
            Ok(location) => {
                Location { is_sensitive: location.is_sensitive && !self.excused.contains(&location.real), ..location }
            }
            Err(error) => return self.add_restricted(access, format!("{}: {error}", escape_name(path))),
        };
        if let PathAccess::MustNotSelectProgram(words) = access {
            let may_contain = |bytes: Vec<u8>| {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                words.is_empty() || words.iter().any(|word| text.contains(word))
            };
            if self.files.exists(&location) && self.files.read(&location).map_or(true, may_contain) {
                self.add_finding(Reach::Runs, format!("{} may set which program runs", escape_name(path)));
            }
            return;
        }
        let verb = match access {
            PathAccess::Names => "looks at",
            PathAccess::Write | PathAccess::Append => "writes to",
            PathAccess::Delete => "deletes",
            PathAccess::WorksIn => "works in",
            PathAccess::Contents
            | PathAccess::Recursive { .. }
            | PathAccess::MustNotSelectProgram(_)
            | PathAccess::MustNotMatch
            | PathAccess::Repository
            | PathAccess::Tracked { .. } => "reads",
        };
        let is_public = location.is_inside || is_system_file(&location.real);
        self.is_sensitive |= location.is_sensitive || !is_public;
        let is_refused = match location.own_file {
            None => false,
            Some(OwnFile::Credentials) => *access != PathAccess::Names,
            // Working in a folder of the settings asks instead.
            Some(OwnFile::Settings) if *access == PathAccess::WorksIn => {
                self.files.file_kind(&location) != Some(FileKind::Folder)
            }
            Some(OwnFile::Settings) => is_change(access),
        };
        if is_refused {
            return self.add_finding(Reach::Denied, own_file_reason(&location));
        }
        if !location.is_inside {
            let real = escape_name(&location.real.to_string_lossy());
            return self.add_restricted(access, format!("it {verb} {real}, outside the project"));
        }
        if location.is_sensitive {
            let other_risk = if is_change(access) { " or configure other programs" } else { "" };
            let why = format!("it {verb} {}, which may hold secrets{other_risk}", escape_name(path));
            return self.add_restricted(access, why);
        }
        match access {
            PathAccess::Contents if self.files.file_kind(&location) == Some(FileKind::Other) => {
                self.add_finding(Reach::Runs, not_regular(&escape_name(path)));
            }
            PathAccess::Contents => {
                if let Some(why) = hard_link_reason(self.files, &location) {
                    self.is_sensitive = true;
                    self.add_finding(Reach::Runs, why);
                }
            }
            PathAccess::Delete if location.real == self.files.root() => {
                self.add_finding(Reach::Outside, "it deletes the project folder".to_owned());
            }
            PathAccess::Write if self.files.exists(&location) => {
                self.add_finding(Reach::Runs, format!("it overwrites {}", escape_name(path)));
            }
            PathAccess::Recursive { include_hidden, skipped_folders, follow_links } => {
                let mut remaining_names = MAX_NAMES;
                let folders = location.display_path.ancestors();
                let ignore_files: Vec<PathBuf> =
                    folders.flat_map(|folder| IGNORE_FILES.map(|name| folder.join(name))).collect();
                let include_hidden =
                    *include_hidden || ignore_files.iter().any(|file| self.includes_hidden(&file.to_string_lossy()));
                if let Err(why) = self.check_folder(
                    &location,
                    WalkOptions { include_hidden, skipped_folders, follow_links: *follow_links },
                    MAX_DEPTH,
                    &mut remaining_names,
                ) {
                    self.is_sensitive = true;
                    self.add_finding(Reach::Runs, why);
                }
            }
            PathAccess::Names
            | PathAccess::Write
            | PathAccess::Append
            | PathAccess::Delete
            | PathAccess::WorksIn
            | PathAccess::MustNotSelectProgram(_)
            | PathAccess::MustNotMatch
            | PathAccess::Repository
            | PathAccess::Tracked { .. } => {}
        }
        self.paths.push(location.display_path);
    }

    /// Checks that nothing in this file or folder may hold secrets; otherwise returns the reason for asking. Links to
    /// folders are not followed: if the program may follow one, that is a reason.
    fn check_folder(
        &self,
        location: &Location,
        options: WalkOptions<'_>,
        depth: usize,
        remaining_names: &mut usize,
    ) -> Result<(), String> {
        match self.files.file_kind(location) {
            Some(FileKind::File(_)) => return hard_link_reason(self.files, location).map_or(Ok(()), Err),
            Some(FileKind::Other) => {
                return Err(not_regular(&location.display_path.display().to_string().escape_debug().to_string()));
            }
            Some(FileKind::Folder) | None => {}
        }
        let names = match self.files.list_names(location) {
            Ok(names) => names,
            Err(error) if error.is_unlistable_folder() => return Ok(()),
            Err(error) => return Err(format!("its files cannot all be listed: {error}")),
        };
        let WalkOptions { include_hidden, skipped_folders, follow_links } = options;
        if !include_hidden
            && IGNORE_FILES.iter().any(|name| self.includes_hidden(&location.real.join(name).to_string_lossy()))
        {
            return Err("an ignore file in it may include hidden files".to_owned());
        }
        for name in names.iter().filter(|name| include_hidden || !name.starts_with('.')) {
            *remaining_names = remaining_names
                .checked_sub(1)
                .filter(|_| depth > 0)
                .ok_or("it reads more files than can be checked in advance")?;
            let path = location.real.join(name);
            let Some(child) = path.to_str().and_then(|path| self.files.locate(path).ok()) else {
                return Err(format!("it reads a file whose name is invalid: {}", name.escape_debug()));
            };
            // Only folders are skipped: a file of this name is still read.
            if skipped_folders.contains(name) && self.files.file_kind(&child) == Some(FileKind::Folder) {
                continue;
            }
            if child.is_sensitive {
                return Err(format!(
                    "it reads {}, which may hold secrets",
                    child.display_path.display().to_string().escape_debug()
                ));
            }
            if child.real == path {
                self.check_folder(&child, options, depth - 1, remaining_names)?;
            } else if follow_links && !child.is_inside {
                return Err(format!("it reads {}, outside the project", child.display_path.display()));
            } else if follow_links {
                match self.files.file_kind(&child) {
                    Some(FileKind::Folder) => {
                        return Err(format!("it may follow {}, a link to a folder", path.display()));
                    }
                    Some(FileKind::Other) => return Err(not_regular(&path.display().to_string())),
                    Some(FileKind::File(_)) => hard_link_reason(self.files, &child).map_or(Ok(()), Err)?,
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Returns whether an ignore file may include something hidden again: `!.env`.
    fn includes_hidden(&self, path: &str) -> bool {
        let location = self.files.locate(path).ok().filter(|location| self.files.exists(location));
        let Some(content) = location.map(|location| self.files.read(&location)) else { return false };
        let Ok(Ok(text)) = content.map(String::from_utf8) else { return true };
        let may_match_hidden = |part: &str| part.starts_with(['.', '*', '?', '[', '{', '\\']);
        let mut included_patterns = text.lines().filter_map(|line| line.trim().strip_prefix('!'));
        included_patterns.any(|line| line.split('/').any(may_match_hidden))
    }
}

/// Returns the reason for a file that is not regular: reading a pipe blocks until something is written, and takes what
/// another program should receive.
fn not_regular(path: &str) -> String {
    format!("it reads {path}, which is a pipe, a socket or a device")
}

/// Returns whether the use changes something.
fn is_change(access: &PathAccess) -> bool {
    let is_reading = matches!(
        access,
        PathAccess::Names
            | PathAccess::Contents
            | PathAccess::Recursive { .. }
            | PathAccess::Repository
            | PathAccess::Tracked { .. }
            | PathAccess::MustNotSelectProgram(_)
            | PathAccess::MustNotMatch
    );
    !is_reading
}

#[cfg(test)]
mod tests;
