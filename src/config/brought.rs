//! Files in a project that change the behaviour of aye. They have no effect until the user trusts them.

use super::file as disk;
use super::rules::{self, OF_PROJECT, read::Sheet};
use super::trust::{self, Known, Look};
use super::{Origin, Problem};
use crate::chat::{Diff, Digest, Edit, Instructions, sensitive};
use crate::policy::{Holds, Says};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum size of a project file in bytes. A larger file is ignored, even if it is trusted.
pub const LONGEST: u64 = 256 << 10;

/// Instruction files for the model, in the order in which they are sent.
pub const WORDS: [&str; 2] = ["AGENTS.md", ".aye/instructions.md"];

/// Maximum number of other names in `.aye` that are listed.
const BESIDE: usize = 6;

/// Location of the project files and the data needed to read them.
#[derive(Debug, Clone)]
pub struct Place {
    /// Project directory with symlinks resolved.
    pub folder: PathBuf,
    /// File that records what the user trusts.
    pub trusted: PathBuf,
    /// Names of the available tools. A rule for any other tool is invalid.
    pub tools: Vec<String>,
    /// Maximum bytes of instructions that are sent. 0: the instruction files are not read.
    pub most: usize,
}

/// Project files that affect aye.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Brought {
    pub folder: PathBuf,
    /// Files that have an effect, and files with the same names that cannot be used.
    pub files: Vec<File>,
    /// Other names in `.aye`. aye never reads them.
    pub beside: Vec<String>,
    /// Day on which a file of the project was last trusted.
    pub day: String,
}

/// One project file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Name relative to the project directory.
    pub name: String,
    pub what: What,
    /// Trust state of the file.
    pub look: Look,
    /// Digest of the whole file.
    pub sha256: Digest,
    /// Size in bytes.
    pub bytes: usize,
    /// Difference to the trusted version, if the file changed since and a copy of that version exists.
    pub changed: Option<Diff>,
}

/// Kind and content of a project file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Instructions for the model.
    Words(Instructions),
    Rules {
        /// Number of rules of each kind, such as `2 allow, 1 deny`.
        counted: String,
        /// Number of rules that allow calls.
        allows: usize,
        /// Description of each rule.
        told: Vec<String>,
        /// Errors in the rules.
        problems: Vec<String>,
    },
    /// Unusable file, with the reason.
    Unread(String),
}

impl Brought {
    /// Reads all project files without applying any of them.
    pub fn look(place: &Place) -> Self {
        let known = Known::of(&place.trusted, &place.folder);
        let mut files = words(place, &known);
        match text(&place.folder, OF_PROJECT) {
            Ok(None) => {}
            Ok(Some(text)) => {
                let sheet = rules::read::read(&text, OF_PROJECT, &place.tools, &Holds::Trusted);
                // A file without rules and errors has no effect.
                if !sheet.rules.is_empty() || !sheet.problems.is_empty() {
                    files.push(file(place, &known, OF_PROJECT, &text, of_rules(&sheet)));
                }
            }
            Err(why) => files.push(unread(OF_PROJECT, why)),
        }
        Self { folder: place.folder.clone(), files, beside: beside(&place.folder), day: known.day }
    }

    /// Returns the trusted instructions. Reads no project file if the user never trusted one of this project.
    pub fn trusted_words(place: &Place) -> Vec<Instructions> {
        let known = Known::of(&place.trusted, &place.folder);
        if known.files.is_empty() {
            return Vec::new();
        }
        words(place, &known).into_iter().filter_map(File::trusted_words).collect()
    }

    /// Iterates over the usable files that are not trusted in their current version.
    pub fn untrusted(&self) -> impl Iterator<Item = &File> {
        self.usable().filter(|file| file.look != Look::Trusted)
    }

    /// Iterates over the files that can be used once they are trusted.
    pub fn usable(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| !matches!(file.what, What::Unread(_)))
    }

    /// Returns the name and digest of each usable file, which is what the user trusts by accepting them.
    pub fn signature(&self) -> Vec<(String, Digest)> {
        self.usable().map(|file| (file.name.clone(), file.sha256.clone())).collect()
    }

    /// Trusts the given files if the project still contains exactly these versions. Returns whether it does.
    pub fn trust(place: &Place, seen: &[(String, Digest)], today: &str) -> io::Result<bool> {
        let names: Vec<&str> = WORDS.into_iter().filter(|_| place.most > 0).chain([OF_PROJECT]).collect();
        let now: Vec<(&str, String)> =
            names.iter().filter_map(|name| Some((*name, text(&place.folder, name).ok()??))).collect();
        let same = |(name, sha256): &(String, Digest)| {
            now.iter().find(|(own, text)| own == name && Digest::of(text.as_bytes()) == *sha256)
        };
        let found: Option<Vec<_>> = seen.iter().map(same).collect();
        let Some(found) = found else { return Ok(false) };
        let files: Vec<(&str, &str)> = found.into_iter().map(|(name, text)| (*name, text.as_str())).collect();
        trust::set(&place.trusted, &place.folder, &files, today)?;
        Ok(true)
    }
}

impl File {
    fn trusted_words(self) -> Option<Instructions> {
        match self.what {
            What::Words(words) if self.look == Look::Trusted => Some(words),
            What::Words(_) | What::Rules { .. } | What::Unread(_) => None,
        }
    }
}

fn words(place: &Place, known: &Known) -> Vec<File> {
    if place.most == 0 {
        return Vec::new();
    }
    let read = WORDS.map(|name| (name, text(&place.folder, name)));
    let said = |(name, read): &(&'static str, Result<Option<String>, String>)| match read {
        Ok(Some(text)) if !text.trim().is_empty() => Some((*name, text.clone())),
        Ok(_) | Err(_) => None,
    };
    let texts: Vec<(&str, String)> = read.iter().filter_map(said).collect();
    let sent = Instructions::of(texts.iter().map(|(name, text)| (*name, text.as_str())), place.most);
    let mut files: Vec<File> = texts
        .iter()
        .zip(sent)
        .map(|((name, text), words)| file(place, known, name, text, What::Words(words)))
        .collect();
    let failed = |(name, read): (&str, Result<Option<String>, String>)| Some(unread(name, read.err()?));
    files.extend(read.into_iter().filter_map(failed));
    files
}

fn file(place: &Place, known: &Known, name: &str, text: &str, what: What) -> File {
    let look = known.look(name, text);
    let before = known.files.get(name).filter(|_| look == Look::Changed);
    let before = before.and_then(|sha256| trust::before(&place.trusted, sha256));
    let changed =
        before.map(|before| Edit { path: name.into(), before: Some(before), after: text.to_owned() });
    File {
        name: name.to_owned(),
        what,
        look,
        sha256: Digest::of(text.as_bytes()),
        bytes: text.len(),
        changed: changed.map(|edit| edit.diff()),
    }
}

fn unread(name: &str, why: String) -> File {
    let (look, what) = (Look::Unknown, What::Unread(why));
    File { name: name.to_owned(), what, look, sha256: Digest::default(), bytes: 0, changed: None }
}

fn of_rules(sheet: &Sheet) -> What {
    What::Rules {
        counted: sheet.counted(),
        allows: sheet.rules.iter().filter(|rule| rule.says == Says::Allow).count(),
        told: in_order(sheet),
        problems: sheet.problems.iter().map(ToString::to_string).collect(),
    }
}

/// Describes every rule in file order, invalid ones included.
fn in_order(sheet: &Sheet) -> Vec<String> {
    let line = |problem: &Problem| {
        if let Origin::File { line, .. } = &problem.at { *line } else { usize::MAX }
    };
    let right = sheet.rules.iter().map(|rule| (rule.at.line, rule.told()));
    let mut all: Vec<(usize, String)> =
        right.chain(sheet.problems.iter().map(|problem| (line(problem), off(problem)))).collect();
    all.sort_by_key(|(line, _)| *line);
    all.into_iter().map(|(_, told)| told).collect()
}

/// Describes an invalid rule.
fn off(problem: &Problem) -> String {
    if let Origin::File { line, .. } = &problem.at {
        return format!("line {line}, invalid: {}", problem.words);
    }
    problem.to_string()
}

/// Lists the other names in `.aye`, sorted. A symlink that leads out of the project is not followed.
fn beside(folder: &Path) -> Vec<String> {
    let Ok(Some(own)) = inside(folder, ".aye") else { return Vec::new() };
    let known = [".aye/instructions.md", OF_PROJECT];
    let names = fs::read_dir(own).into_iter().flatten().flatten().take(1_000);
    let mut names: Vec<String> =
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !known.contains(&format!(".aye/{name}").as_str()));
    names.sort();
    let more = names.len().saturating_sub(BESIDE);
    names.truncate(BESIDE);
    names.extend((more > 0).then(|| format!("{more} more")));
    names
}

/// Reads a project file. Returns `None` if it does not exist, and an error text if it is not a regular text file inside
/// the project. Never blocks on a pipe.
pub fn text(folder: &Path, name: &str) -> Result<Option<String>, String> {
    let Some(real) = inside(folder, name)? else { return Ok(None) };
    match disk::text(&real, LONGEST)? {
        Some(text) if text.contains('\0') => Err("it is not a text file".to_owned()),
        text => Ok(text),
    }
}

/// Resolves a name in the project to its real path. Returns `None` if there is no such file.
fn inside(folder: &Path, name: &str) -> Result<Option<PathBuf>, String> {
    let path = folder.join(name);
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if disk::is_missing(&error) && !is_link => return Ok(None),
        Err(_) if is_link => return Err("it is a broken symlink".to_owned()),
        Err(error) => return Err(format!("the file cannot be read ({error})")),
    };
    let home = folder.canonicalize().map_err(|error| format!("the folder cannot be read ({error})"))?;
    match real.strip_prefix(&home) {
        Err(_) => Err("it is a symlink to a path outside the project".to_owned()),
        Ok(own) if own != Path::new(name) && sensitive::sensitive(own) => Err(format!(
            "it is a symlink to {}, which may hold secrets or affect other programs",
            own.display()
        )),
        Ok(_) => Ok(Some(real)),
    }
}

#[cfg(test)]
mod tests;
