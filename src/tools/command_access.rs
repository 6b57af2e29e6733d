//! Determines the access that a command needs in this project. The paths that it names are looked up, with links
//! followed, before it counts as reading.

use crate::chat::sensitive_paths::is_system_file;
use crate::chat::{Access, CommandAccess, CommandLine, Reach};
use crate::policy::command_line::{self, Word, WordPosition};
use crate::policy::effects::{AskReasons, PathAccess, TouchedPath, analyze_effects, join_path};
use crate::project::{FileKind, Location, OwnFile, Reader};
use crate::text::truncation::escape_beginning;
use globset::GlobBuilder;
use named_files::{hard_link_reason, named_paths, own_file_reason, refuse_own_file};
use std::path::PathBuf;

mod named_files;
mod named_secrets;
mod repository;

pub(super) use named_files::{path_spellings, written_hard_links};
pub(super) use named_secrets::command_access;

/// Names that a pattern may match, and files visited below a folder.
const MAX_NAMES: usize = 20_000;
/// Depth to which a folder is visited.
const MAX_DEPTH: usize = 64;

/// Files that list ignored paths.
const IGNORE_FILES: [&str; 4] = [".ignore", ".rgignore", ".gitignore", ".git/info/exclude"];

/// Returns the access of the command if the files in `excused` (absolute, without links) hold no secrets.
fn access_with_excused(line: CommandLine, files: &dyn Reader, excused: &[PathBuf]) -> Access {
    let reading = command_line::parse_command_line(&line.command);
    let mut all = analyze_effects(&reading);
    let mut found = PathFindings { files, excused, paths: Vec::new(), worst: AskReasons::default(), sensitive: false };
    let written = named_files::only_written(&reading, &line.command);
    let mut discloses = false;
    for touch in &all.touches {
        let before = std::mem::take(&mut found.sensitive);
        found.check_touch(touch);
        let writes = matches!(touch.access, PathAccess::Write | PathAccess::Append) && written.contains(&&touch.word);
        discloses |= found.sensitive && !writes;
        found.sensitive |= before;
    }
    let names = named_paths(&reading);
    if let Some(why) = names.iter().find_map(|(name, place)| refuse_own_file(name, *place, files)) {
        found.add_finding(Reach::Denied, why);
    }
    match found.worst.widest() {
        Some((reach, why)) if reach > all.reach => (all.reach, all.reason) = (reach, why),
        // Both are reported: what the program may do, and the secrets that its redirections give it.
        Some((reach, why)) if reach == all.reach && found.sensitive && !all.reason.contains(&why) => {
            all.reason = if all.reason.is_empty() { why } else { format!("{}; {why}", all.reason) };
        }
        Some(_) | None => {}
    }
    if line.network.is_some() && all.reach < Reach::Outside {
        (all.reach, all.reason) = (Reach::Outside, "network access requested".to_owned());
    }
    if all.reach > Reach::Reads {
        let is_secret = |(name, _): &(String, WordPosition)| files.locate(name).is_ok_and(|at| at.is_sensitive);
        let sensitive = found.sensitive || names.iter().any(is_secret);
        let is_read = |(name, _): &(String, WordPosition)| !written.iter().any(|word| word.display_text() == name);
        let discloses = discloses || names.iter().any(|name| is_read(name) && is_secret(name));
        return Access::Run(CommandAccess {
            line: Box::new(line),
            reach: all.reach,
            reason: all.reason,
            is_sensitive: sensitive,
            may_disclose: discloses,
            named_secrets: Vec::new(),
        });
    }
    found.paths.dedup();
    Access::Read(found.paths)
}

/// Findings about the files of a command.
struct PathFindings<'a> {
    files: &'a dyn Reader,
    excused: &'a [PathBuf],
    paths: Vec<PathBuf>,
    worst: AskReasons,
    sensitive: bool,
}

/// Options for reading a folder recursively.
#[derive(Clone, Copy)]
struct WalkOptions<'a> {
    hidden: bool,
    without: &'a [String],
    links: bool,
}

impl PathFindings<'_> {
    fn add_finding(&mut self, reach: Reach, why: String) {
        self.worst.push_reason(reach, why);
    }

    /// Records a path that is unknown or outside the project: reading it needs approval, and changing it may be
    /// irreversible.
    fn add_unknown(&mut self, how: &PathAccess, why: String) {
        self.add_finding(if is_change(how) { Reach::Outside } else { Reach::Runs }, why);
    }

    fn check_touch(&mut self, touch: &TouchedPath) {
        if touch.access == PathAccess::Repository {
            let here = touch.folders.iter().all(String::is_empty);
            let plain = if here {
                repository::is_plain(self.files)
            } else {
                Err("git runs in another folder, whose settings apply".to_owned())
            };
            if let Err(why) = plain {
                self.add_finding(Reach::Runs, why);
            }
            return;
        }
        if let PathAccess::Tracked { below, stashed } = &touch.access {
            if let Err(why) = repository::check_tracked_files(self.files, below, *stashed) {
                self.sensitive = true;
                self.add_finding(Reach::Runs, why);
            }
            return;
        }
        if matches!(touch.access, PathAccess::MustNotDecide(_)) && touch.folders.iter().any(|folder| !folder.is_empty())
        {
            return self.add_finding(Reach::Runs, "it runs in another folder".to_owned());
        }
        for folder in &touch.folders {
            if folder.split('/').any(|part| part == "..") {
                // The shell removes the last part of the path, but the system would follow a link.
                self.sensitive = true;
                let why = "it uses “..”, or its folder is not known";
                return self.add_unknown(&touch.access, why.to_owned());
            }
            match &touch.word {
                Word::Known(name) if name.is_empty() => {}
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

    fn check_path(&mut self, path: &str, how: &PathAccess) {
        let shown = |path: &str| escape_beginning(path, 120);
        let at = match self.files.locate(path) {
            Ok(at) => Location { is_sensitive: at.is_sensitive && !self.excused.contains(&at.real), ..at },
            Err(error) => return self.add_unknown(how, format!("{}: {error}", shown(path))),
        };
        if let PathAccess::MustNotDecide(words) = how {
            let says = |bytes: Vec<u8>| {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                words.is_empty() || words.iter().any(|word| text.contains(word))
            };
            if self.files.exists(&at) && self.files.read(&at).map_or(true, says) {
                self.add_finding(Reach::Runs, format!("{} may set which program runs", shown(path)));
            }
            return;
        }
        let (verb, reach) = match how {
            PathAccess::Names => ("looks at", Reach::Runs),
            PathAccess::Contents
            | PathAccess::Recursive { .. }
            | PathAccess::Repository
            | PathAccess::Tracked { .. }
            | PathAccess::MustNotDecide(_)
            | PathAccess::MustNotMatch => ("reads", Reach::Runs),
            PathAccess::Write | PathAccess::Append => ("writes to", Reach::Outside),
            PathAccess::Delete => ("deletes", Reach::Outside),
            PathAccess::WorksIn => ("works in", Reach::Outside),
        };
        let is_public = at.is_inside || is_system_file(&at.real);
        self.sensitive |= at.is_sensitive || !is_public;
        let is_refused = match at.own_file {
            None => false,
            Some(OwnFile::Credentials) => *how != PathAccess::Names,
            // Working in a folder of the settings asks instead.
            Some(OwnFile::Settings) if *how == PathAccess::WorksIn => {
                self.files.file_kind(&at) != Some(FileKind::Folder)
            }
            Some(OwnFile::Settings) => is_change(how),
        };
        if is_refused {
            return self.add_finding(Reach::Denied, own_file_reason(&at));
        }
        if !at.is_inside {
            return self
                .add_finding(reach, format!("it {verb} {}, outside the project", shown(&at.real.to_string_lossy())));
        }
        if at.is_sensitive {
            let why = if is_change(how) {
                "which may hold secrets or configure other programs"
            } else {
                "which may hold secrets"
            };
            return self.add_finding(reach, format!("it {verb} {}, {why}", shown(path)));
        }
        match how {
            PathAccess::Contents if self.files.file_kind(&at) == Some(FileKind::Other) => {
                self.add_finding(Reach::Runs, not_regular(&shown(path)));
            }
            PathAccess::Contents => {
                if let Some(why) = hard_link_reason(self.files, &at) {
                    self.sensitive = true;
                    self.add_finding(Reach::Runs, why);
                }
            }
            PathAccess::Names
            | PathAccess::Append
            | PathAccess::Repository
            | PathAccess::Tracked { .. }
            | PathAccess::WorksIn
            | PathAccess::MustNotDecide(_)
            | PathAccess::MustNotMatch => {}
            PathAccess::Delete if at.real == self.files.root() => {
                self.add_finding(Reach::Outside, "it deletes the project folder".to_owned());
            }
            PathAccess::Delete => {}
            PathAccess::Write if self.files.exists(&at) => {
                self.add_finding(Reach::Runs, format!("it overwrites {}", shown(path)));
            }
            PathAccess::Write => {}
            PathAccess::Recursive { hidden, without, links } => {
                let mut left = MAX_NAMES;
                let above = at.display_path.ancestors().map(|folder| folder.join(".ignore"));
                let kept: Vec<PathBuf> =
                    above.flat_map(|file| IGNORE_FILES.map(|name| file.with_file_name(name))).collect();
                let hidden = &(*hidden || kept.iter().any(|file| self.includes_hidden(&file.to_string_lossy())));
                if let Err(why) = self.check_folder(
                    &at,
                    WalkOptions { hidden: *hidden, without, links: *links },
                    MAX_DEPTH,
                    &mut left,
                ) {
                    self.sensitive = true;
                    self.add_finding(Reach::Runs, why);
                }
            }
        }
        self.paths.push(at.display_path);
    }

    /// Checks that nothing below may hold secrets. Links to folders are not followed.
    fn check_folder(&self, at: &Location, how: WalkOptions<'_>, deep: usize, left: &mut usize) -> Result<(), String> {
        match self.files.file_kind(at) {
            Some(FileKind::File(_)) => return hard_link_reason(self.files, at).map_or(Ok(()), Err),
            Some(FileKind::Other) => {
                return Err(not_regular(&at.display_path.display().to_string().escape_debug().to_string()));
            }
            Some(FileKind::Folder) | None => {}
        }
        let names = match self.files.list_names(at) {
            Ok(names) => names,
            Err(error) if error.is_missing_folder() => return Ok(()),
            Err(error) => return Err(format!("its files cannot all be listed: {error}")),
        };
        let WalkOptions { hidden, without, links } = how;
        if !hidden && IGNORE_FILES.iter().any(|name| self.includes_hidden(&at.real.join(name).to_string_lossy())) {
            return Err("an ignore file in it may include hidden files".to_owned());
        }
        for name in names.iter().filter(|name| hidden || !name.starts_with('.')) {
            *left =
                left.checked_sub(1).filter(|_| deep > 0).ok_or("it reads more files than can be checked in advance")?;
            let path = at.real.join(name);
            let Some(child) = path.to_str().and_then(|path| self.files.locate(path).ok()) else {
                return Err(format!("it reads a file whose name is invalid: {}", name.escape_debug()));
            };
            // A file of this name is still read.
            if without.iter().any(|other| other == name) && self.files.file_kind(&child) == Some(FileKind::Folder) {
                continue;
            }
            if child.is_sensitive {
                return Err(format!(
                    "it reads {}, which may hold secrets",
                    child.display_path.display().to_string().escape_debug()
                ));
            }
            if child.real == path {
                self.check_folder(&child, how, deep - 1, left)?;
            } else if links && !child.is_inside {
                return Err(format!("it reads {}, outside the project", child.display_path.display()));
            } else if links {
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
        let held = self.files.locate(path).ok().filter(|at| self.files.exists(at));
        let Some(held) = held.map(|at| self.files.read(&at)) else { return false };
        let Ok(Ok(text)) = held.map(String::from_utf8) else { return true };
        let hides = |part: &str| part.starts_with(['.', '*', '?', '[', '{', '\\']);
        let mut taken_in = text.lines().filter_map(|line| line.trim().strip_prefix('!'));
        taken_in.any(|line| line.split('/').any(hides))
    }

    /// Checks every name that matches, and possibly more: none of them may need approval.
    fn check_pattern(&mut self, folder: &str, pattern: &str, how: &PathAccess) {
        let mut names = vec![if pattern.starts_with('/') { "/".to_owned() } else { String::new() }];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            let mut next = Vec::new();
            for before in &names {
                let join = |name: &str| match before.as_str() {
                    "" => name.to_owned(),
                    "/" => format!("/{name}"),
                    before => format!("{before}/{name}"),
                };
                if !part.contains(['*', '?', '[']) {
                    next.push(join(part));
                    continue;
                }
                let at = if before.is_empty() { join_path(folder, ".") } else { join_path(folder, before) };
                let held = self.files.locate(&at).map_err(|error| error.to_string());
                let held = held
                    .and_then(|at| if at.is_inside { Ok(at) } else { Err("it looks outside the project".to_owned()) });
                match held.map(|at| self.files.list_names(&at)) {
                    Ok(Ok(held)) => {
                        next.extend(held.iter().filter(|name| may_match(name, part)).map(|name| join(name)))
                    }
                    Ok(Err(error)) if error.is_missing_folder() => {}
                    Ok(Err(error)) => {
                        self.sensitive = true;
                        return self.add_unknown(how, format!("the matching files cannot all be listed: {error}"));
                    }
                    Err(why) => {
                        self.sensitive = true;
                        return self.add_unknown(how, why);
                    }
                }
            }
            names = next;
            if names.len() > MAX_NAMES {
                return self.add_unknown(how, format!("“{}” matches too many files", pattern.escape_debug()));
            }
        }
        if *how == PathAccess::MustNotMatch {
            if !names.is_empty() {
                self.add_finding(Reach::Runs, "a file name would be read as an option".to_owned());
            }
            return;
        }
        if pattern.starts_with('-') || names.iter().any(|name| name.starts_with('-')) {
            return self.add_unknown(how, "a file name would be read as an option".to_owned());
        }
        for name in names {
            self.check_path(&join_path(folder, &name), how);
        }
    }
}

/// Returns the reason for a file that is not regular: reading a pipe blocks until something is written, and takes what
/// another program should receive.
fn not_regular(shown: &str) -> String {
    format!("it reads {shown}, which is a pipe, a socket or a device")
}

/// Returns whether the use changes something.
fn is_change(how: &PathAccess) -> bool {
    match how {
        PathAccess::WorksIn | PathAccess::Write | PathAccess::Append | PathAccess::Delete => true,
        PathAccess::Names
        | PathAccess::Contents
        | PathAccess::Recursive { .. }
        | PathAccess::MustNotDecide(_)
        | PathAccess::MustNotMatch
        | PathAccess::Tracked { .. }
        | PathAccess::Repository => false,
    }
}

/// Returns whether the shell may match this name. Brackets are not parsed: they match everything.
fn may_match(name: &str, pattern: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with(['.', '[']) {
        return false;
    }
    if pattern.contains('[') {
        return true;
    }
    let glob = GlobBuilder::new(pattern).backslash_escape(false).build();
    glob.map_or(true, |glob| glob.compile_matcher().is_match(name))
}

#[cfg(test)]
mod tests;
