//! Determines the access that a command needs in this project. The paths that it names are looked up, with links
//! followed, before it counts as reading.

use crate::chat::sensitive::is_system_file;
use crate::chat::{Access, CommandLine, Reach, Run};
use crate::policy::reach::{How, Touch, Whys, below, reaches};
use crate::policy::shell::{self, Place, Word};
use crate::project::{Kind, Located, Own, Reader};
use globset::GlobBuilder;
use named_files::{belongs_to_aye, named_places, other_names, own_file};
use std::path::PathBuf;

mod named_files;
mod named_secrets;
mod repository;

pub(super) use named_files::hard_links;
pub(super) use named_secrets::access;

/// Names that a pattern may match, and files visited below a folder.
const NAMES: usize = 20_000;
/// Depth to which a folder is visited.
const DEPTH: usize = 64;

/// Files that list ignored paths.
const IGNORE: [&str; 4] = [".ignore", ".rgignore", ".gitignore", ".git/info/exclude"];

/// Returns the access of the command if the files in `excused` (absolute, without links) hold no secrets.
fn access_without(line: CommandLine, files: &dyn Reader, excused: &[PathBuf]) -> Access {
    let reading = shell::read(&line.command);
    let mut all = reaches(&reading);
    let mut found = Found { files, excused, paths: Vec::new(), worst: Whys::default(), sensitive: false };
    let written = named_files::only_written(&reading, &line.command);
    let mut discloses = false;
    for touch in &all.touches {
        let before = std::mem::take(&mut found.sensitive);
        found.touch(touch);
        let writes = matches!(touch.how, How::Write | How::Append) && written.contains(&&touch.word);
        discloses |= found.sensitive && !writes;
        found.sensitive |= before;
    }
    let names = named_places(&reading);
    if let Some(why) = names.iter().find_map(|(name, place)| own_file(name, *place, files)) {
        found.worsen(Reach::Never, why);
    }
    match found.worst.worst() {
        Some((reach, why)) if reach > all.reach => (all.reach, all.why) = (reach, why),
        // Both are reported: what the program may do, and the secrets that its redirections give it.
        Some((reach, why)) if reach == all.reach && found.sensitive && !all.why.contains(&why) => {
            all.why = if all.why.is_empty() { why } else { format!("{}; {why}", all.why) };
        }
        Some(_) | None => {}
    }
    if line.network.is_some() && all.reach < Reach::Outside {
        (all.reach, all.why) = (Reach::Outside, "it asks for the network".to_owned());
    }
    if all.reach > Reach::Reads {
        let is_secret = |(name, _): &(String, Place)| files.locate(name).is_ok_and(|at| at.sensitive);
        let sensitive = found.sensitive || names.iter().any(is_secret);
        let is_read = |(name, _): &(String, Place)| !written.iter().any(|word| word.shown() == name);
        let discloses = discloses || names.iter().any(|name| is_read(name) && is_secret(name));
        return Access::Run(Run {
            line: Box::new(line),
            reach: all.reach,
            why: all.why,
            sensitive,
            discloses,
            named_secrets: Vec::new(),
        });
    }
    found.paths.dedup();
    Access::Read(found.paths)
}

/// Findings about the files of a command.
struct Found<'a> {
    files: &'a dyn Reader,
    excused: &'a [PathBuf],
    paths: Vec<PathBuf>,
    worst: Whys,
    sensitive: bool,
}

/// Options for reading a folder recursively.
#[derive(Clone, Copy)]
struct Below<'a> {
    hidden: bool,
    without: &'a [String],
    links: bool,
}

impl Found<'_> {
    fn worsen(&mut self, reach: Reach, why: String) {
        self.worst.add(reach, why);
    }

    /// Records a path that is unknown or outside the project: reading it needs approval, and changing it may be
    /// irreversible.
    fn lost(&mut self, how: &How, why: String) {
        self.worsen(if changes(how) { Reach::Outside } else { Reach::Runs }, why);
    }

    fn touch(&mut self, touch: &Touch) {
        if touch.how == How::Repository {
            let here = touch.folders.iter().all(String::is_empty);
            let plain = if here {
                repository::is_plain(self.files)
            } else {
                Err("git runs in another folder, whose settings apply".to_owned())
            };
            if let Err(why) = plain {
                self.worsen(Reach::Runs, why);
            }
            return;
        }
        if let How::Tracked { below, stashed } = &touch.how {
            if let Err(why) = repository::shows_no_secrets(self.files, below, *stashed) {
                self.sensitive = true;
                self.worsen(Reach::Runs, why);
            }
            return;
        }
        if matches!(touch.how, How::Silent(_)) && touch.folders.iter().any(|folder| !folder.is_empty()) {
            return self.worsen(Reach::Runs, "it runs in another folder".to_owned());
        }
        for folder in &touch.folders {
            if folder.split('/').any(|part| part == "..") {
                // The shell removes the last part of the path, but the system would follow a link.
                self.sensitive = true;
                let why = "it uses “..”, or its folder is not known";
                return self.lost(&touch.how, why.to_owned());
            }
            match &touch.word {
                Word::Known(name) if name.is_empty() => {}
                Word::Known(name) if name.starts_with('~') => {
                    self.path(&below(folder, &format!("./{name}")), &touch.how)
                }
                Word::Known(name) => self.path(&below(folder, name), &touch.how),
                Word::Home(name) => self.path(name, &touch.how),
                Word::Pattern(pattern) => self.pattern(folder, pattern, &touch.how),
                Word::Unknown(_) => {
                    self.worsen(Reach::Unclear, "the files it uses are not known before it runs".to_owned())
                }
            }
        }
    }

    fn path(&mut self, path: &str, how: &How) {
        let shown = |path: &str| path.chars().take(120).collect::<String>().escape_debug().to_string();
        let at = match self.files.locate(path) {
            Ok(at) => Located { sensitive: at.sensitive && !self.excused.contains(&at.real), ..at },
            Err(error) => return self.lost(how, format!("{}: {error}", shown(path))),
        };
        if let How::Silent(words) = how {
            let says = |bytes: Vec<u8>| {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                words.is_empty() || words.iter().any(|word| text.contains(word))
            };
            if self.files.exists(&at) && self.files.read(&at).map_or(true, says) {
                self.worsen(Reach::Runs, format!("{} may set which program runs", shown(path)));
            }
            return;
        }
        let (verb, reach) = match how {
            How::Names => ("looks at", Reach::Runs),
            How::Contents
            | How::Below { .. }
            | How::Repository
            | How::Tracked { .. }
            | How::Silent(_)
            | How::Unmatched => ("reads", Reach::Runs),
            How::Write | How::Append => ("writes to", Reach::Outside),
            How::Delete => ("deletes", Reach::Outside),
            How::Works => ("works in", Reach::Outside),
        };
        let is_public = at.inside || is_system_file(&at.real);
        self.sensitive |= at.sensitive || !is_public;
        let is_refused = match at.own {
            None => false,
            Some(Own::Credentials) => *how != How::Names,
            // Working in a folder of the settings asks instead.
            Some(Own::Settings) if *how == How::Works => self.files.kind(&at) != Some(Kind::Folder),
            Some(Own::Settings) => changes(how),
        };
        if is_refused {
            return self.worsen(Reach::Never, belongs_to_aye(&at));
        }
        if !at.inside {
            return self.worsen(
                reach,
                format!("it {verb} {}, outside the project", shown(&at.real.to_string_lossy())),
            );
        }
        if at.sensitive {
            let why = if changes(how) {
                "which may hold secrets or configure other programs"
            } else {
                "which may hold secrets"
            };
            return self.worsen(reach, format!("it {verb} {}, {why}", shown(path)));
        }
        match how {
            How::Contents if self.files.kind(&at) == Some(Kind::Other) => {
                self.worsen(Reach::Runs, not_regular(&shown(path)));
            }
            How::Contents => {
                if let Some(why) = other_names(self.files, &at) {
                    self.sensitive = true;
                    self.worsen(Reach::Runs, why);
                }
            }
            How::Names
            | How::Append
            | How::Repository
            | How::Tracked { .. }
            | How::Works
            | How::Silent(_)
            | How::Unmatched => {}
            How::Delete if at.real == self.files.root() => {
                self.worsen(Reach::Outside, "it deletes the project folder".to_owned());
            }
            How::Delete => {}
            How::Write if self.files.exists(&at) => {
                self.worsen(Reach::Runs, format!("it overwrites {}", shown(path)));
            }
            How::Write => {}
            How::Below { hidden, without, links } => {
                let mut left = NAMES;
                let above = at.shown.ancestors().map(|folder| folder.join(".ignore"));
                let kept: Vec<PathBuf> =
                    above.flat_map(|file| IGNORE.map(|name| file.with_file_name(name))).collect();
                let hidden = &(*hidden || kept.iter().any(|file| self.brings_in(&file.to_string_lossy())));
                if let Err(why) =
                    self.below(&at, Below { hidden: *hidden, without, links: *links }, DEPTH, &mut left)
                {
                    self.sensitive = true;
                    self.worsen(Reach::Runs, why);
                }
            }
        }
        self.paths.push(at.shown);
    }

    /// Checks that nothing below may hold secrets. Links to folders are not followed.
    fn below(&self, at: &Located, how: Below<'_>, deep: usize, left: &mut usize) -> Result<(), String> {
        match self.files.kind(at) {
            Some(Kind::File(_)) => return other_names(self.files, at).map_or(Ok(()), Err),
            Some(Kind::Other) => {
                return Err(not_regular(&at.shown.display().to_string().escape_debug().to_string()));
            }
            Some(Kind::Folder) | None => {}
        }
        let names = match self.files.names(at) {
            Ok(names) => names,
            Err(error) if error.is_of_no_folder() => return Ok(()),
            Err(error) => return Err(format!("its files cannot all be listed: {error}")),
        };
        let Below { hidden, without, links } = how;
        if !hidden && IGNORE.iter().any(|name| self.brings_in(&at.real.join(name).to_string_lossy())) {
            return Err("an ignore file in it may include hidden files".to_owned());
        }
        for name in names.iter().filter(|name| hidden || !name.starts_with('.')) {
            *left = left
                .checked_sub(1)
                .filter(|_| deep > 0)
                .ok_or("it reads more files than can be checked in advance")?;
            let path = at.real.join(name);
            let Some(child) = path.to_str().and_then(|path| self.files.locate(path).ok()) else {
                return Err(format!("it reads a file whose name is invalid: {}", name.escape_debug()));
            };
            // A file of this name is still read.
            if without.iter().any(|other| other == name) && self.files.kind(&child) == Some(Kind::Folder) {
                continue;
            }
            if child.sensitive {
                return Err(format!(
                    "it reads {}, which may hold secrets",
                    child.shown.display().to_string().escape_debug()
                ));
            }
            if child.real == path {
                self.below(&child, how, deep - 1, left)?;
            } else if links && !child.inside {
                return Err(format!("it reads {}, outside the project", child.shown.display()));
            } else if links {
                match self.files.kind(&child) {
                    Some(Kind::Folder) => {
                        return Err(format!("it may follow {}, a link to a folder", path.display()));
                    }
                    Some(Kind::Other) => return Err(not_regular(&path.display().to_string())),
                    Some(Kind::File(_)) => other_names(self.files, &child).map_or(Ok(()), Err)?,
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Returns whether an ignore file may include something hidden again: `!.env`.
    fn brings_in(&self, path: &str) -> bool {
        let held = self.files.locate(path).ok().filter(|at| self.files.exists(at));
        let Some(held) = held.map(|at| self.files.read(&at)) else { return false };
        let Ok(Ok(text)) = held.map(String::from_utf8) else { return true };
        let hides = |part: &str| part.starts_with(['.', '*', '?', '[', '{', '\\']);
        let mut taken_in = text.lines().filter_map(|line| line.trim().strip_prefix('!'));
        taken_in.any(|line| line.split('/').any(hides))
    }

    /// Checks every name that matches, and possibly more: none of them may need approval.
    fn pattern(&mut self, folder: &str, pattern: &str, how: &How) {
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
                let at = if before.is_empty() { below(folder, ".") } else { below(folder, before) };
                let held = self.files.locate(&at).map_err(|error| error.to_string());
                let held = held.and_then(|at| {
                    if at.inside { Ok(at) } else { Err("it looks outside the project".to_owned()) }
                });
                match held.map(|at| self.files.names(&at)) {
                    Ok(Ok(held)) => {
                        next.extend(held.iter().filter(|name| fits(name, part)).map(|name| join(name)))
                    }
                    Ok(Err(error)) if error.is_of_no_folder() => {}
                    Ok(Err(error)) => {
                        self.sensitive = true;
                        return self.lost(how, format!("the matching files cannot all be listed: {error}"));
                    }
                    Err(why) => {
                        self.sensitive = true;
                        return self.lost(how, why);
                    }
                }
            }
            names = next;
            if names.len() > NAMES {
                return self.lost(how, format!("“{}” matches too many files", pattern.escape_debug()));
            }
        }
        if *how == How::Unmatched {
            if !names.is_empty() {
                self.worsen(Reach::Runs, "a file name would be read as an option".to_owned());
            }
            return;
        }
        if pattern.starts_with('-') || names.iter().any(|name| name.starts_with('-')) {
            return self.lost(how, "a file name would be read as an option".to_owned());
        }
        for name in names {
            self.path(&below(folder, &name), how);
        }
    }
}

/// Returns the reason for a file that is not regular: reading a pipe blocks until something is written, and takes what
/// another program should receive.
fn not_regular(shown: &str) -> String {
    format!("it reads {shown}, which is a pipe, a socket or a device")
}

/// Returns whether the use changes something.
fn changes(how: &How) -> bool {
    match how {
        How::Works | How::Write | How::Append | How::Delete => true,
        How::Names
        | How::Contents
        | How::Below { .. }
        | How::Silent(_)
        | How::Unmatched
        | How::Tracked { .. }
        | How::Repository => false,
    }
}

/// Returns whether the shell may match this name. Brackets are not parsed: they match everything.
fn fits(name: &str, pattern: &str) -> bool {
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
