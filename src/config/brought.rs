//! What a project brings along that would change what aye does: files that are data until the person has trusted them.

use super::file as disk;
use super::rules::{self, OF_PROJECT, read::Sheet};
use super::trust::{self, Known, Look};
use super::{Origin, Problem};
use crate::chat::{Diff, Digest, Edit, Instructions, sensitive};
use crate::policy::{Holds, Says};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of a file that a project may bring; of a longer one nothing is used, trusted or not.
pub const LONGEST: u64 = 256 << 10;

/// The files with words for the model, in the order in which they are sent.
pub const WORDS: [&str; 2] = ["AGENTS.md", ".aye/instructions.md"];

/// So many other names in `.aye` are told.
const BESIDE: usize = 6;

/// Where to look, and what has to be known for it.
#[derive(Debug, Clone)]
pub struct Place {
    /// The project's folder, its links resolved.
    pub folder: PathBuf,
    /// What the person trusts.
    pub trusted: PathBuf,
    /// The tools there are: a rule for another one is a mistake.
    pub tools: Vec<String>,
    /// Bytes of its words that are sent at most; 0: they are not even read.
    pub most: usize,
}

/// What a project brings along.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Brought {
    /// The project's folder.
    pub folder: PathBuf,
    /// The files that would change something, and those in their place that cannot be used.
    pub files: Vec<File>,
    /// What else is in `.aye`: aye reads none of it, trusted or not.
    pub beside: Vec<String>,
    /// The day on which something of it was trusted last.
    pub day: String,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name in the project.
    pub name: String,
    /// What it is.
    pub what: What,
    /// What the person thinks of it.
    pub look: Look,
    /// Of all of it.
    pub sha256: Digest,
    /// Bytes.
    pub bytes: usize,
    /// Where it has changed since it was trusted, and what it said then is known: the difference.
    pub changed: Option<Diff>,
}

/// What a file of a project is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Words for the model.
    Words(Instructions),
    /// Rules.
    Rules {
        /// How many of each kind.
        counted: String,
        /// How many of them let a call go ahead unasked.
        allows: usize,
        /// Each in words.
        told: Vec<String>,
        /// What is wrong with them.
        problems: Vec<String>,
    },
    /// Nothing that can be used; why.
    Unread(String),
}

impl Brought {
    /// Looks at all of it. Executes and obeys nothing.
    pub fn look(place: &Place) -> Self {
        let known = Known::of(&place.trusted, &place.folder);
        let mut files = words(place, &known);
        match text(&place.folder, OF_PROJECT) {
            Ok(None) => {}
            Ok(Some(text)) => {
                let sheet = rules::read::read(&text, OF_PROJECT, &place.tools, &Holds::Trusted);
                // A file that says nothing changes nothing.
                if !sheet.rules.is_empty() || !sheet.problems.is_empty() {
                    files.push(file(place, &known, OF_PROJECT, &text, of_rules(&sheet)));
                }
            }
            Err(why) => files.push(unread(OF_PROJECT, why)),
        }
        Self { folder: place.folder.clone(), files, beside: beside(&place.folder), day: known.day }
    }

    /// The words of the project that the person trusts. Where they never trusted anything in it, nothing of it is read.
    pub fn trusted_words(place: &Place) -> Vec<Instructions> {
        let known = Known::of(&place.trusted, &place.folder);
        if known.files.is_empty() {
            return Vec::new();
        }
        words(place, &known).into_iter().filter_map(File::trusted_words).collect()
    }

    /// Those that could be trusted and are not, as they are.
    pub fn untrusted(&self) -> impl Iterator<Item = &File> {
        self.usable().filter(|file| file.look != Look::Trusted)
    }

    /// Those that can be used once they are trusted.
    pub fn usable(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| !matches!(file.what, What::Unread(_)))
    }

    /// What it is known again by: what a person who saw it would trust.
    pub fn signature(&self) -> Vec<(String, Digest)> {
        self.usable().map(|file| (file.name.clone(), file.sha256.clone())).collect()
    }

    /// Trusts what a person saw, if that still is what the project brings. Whether it is.
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

/// Every rule in the order of the file, the wrong ones in their place.
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

/// A rule that cannot be read.
fn off(problem: &Problem) -> String {
    if let Origin::File { line, .. } = &problem.at {
        return format!("line {line}, wrong: {}", problem.words);
    }
    problem.to_string()
}

/// What else stands in `.aye`, in the order of its names; a link that leads out of the project is not followed.
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

/// The text of a file that a project brings; nothing where there is none. Fails, in words, where it is no plain file of the
/// project with text in it. Never waits for a pipe.
pub fn text(folder: &Path, name: &str) -> Result<Option<String>, String> {
    let Some(real) = inside(folder, name)? else { return Ok(None) };
    match disk::text(&real, LONGEST)? {
        Some(text) if text.contains('\0') => Err("this is no text".to_owned()),
        text => Ok(text),
    }
}

/// Where a name in the project really is.
fn inside(folder: &Path, name: &str) -> Result<Option<PathBuf>, String> {
    let path = folder.join(name);
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if disk::is_missing(&error) && !is_link => return Ok(None),
        Err(_) if is_link => return Err("it is a link that leads nowhere".to_owned()),
        Err(error) => return Err(format!("the file cannot be read ({error})")),
    };
    let home = folder.canonicalize().map_err(|error| format!("the folder cannot be read ({error})"))?;
    match real.strip_prefix(&home) {
        Err(_) => Err("it is a link that leads out of the project".to_owned()),
        Ok(own) if own != Path::new(name) && sensitive::sensitive(own) => Err(format!(
            "it is a link to {}, which may hold secrets or is obeyed by other programs",
            own.display()
        )),
        Ok(_) => Ok(Some(real)),
    }
}

#[cfg(test)]
mod tests;
