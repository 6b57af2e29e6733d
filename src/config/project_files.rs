//! Files in a project that change the behaviour of aye. They have no effect until the user trusts them.

pub use super::project_text::read_project_text;

use super::Problem;
use super::project_text::resolve_in_project;
use super::rules::{self, PROJECT_RULES_FILE, rules_parser::ParsedRules};
use super::trust::{self, TrustState, TrustedProject};
use crate::chat::{Diff, Digest, Edit, Instructions};
use crate::policy::{RuleEffect, RuleScope};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Instruction files for the model, in the order in which they are sent.
pub const INSTRUCTION_FILES: [&str; 2] = ["AGENTS.md", ".aye/instructions.md"];

/// Maximum number of other names in `.aye` that are listed.
const MAX_OTHER_NAMES: usize = 6;

/// Location of the project files and the data needed to read them.
#[derive(Debug, Clone)]
pub struct ProjectSource {
    /// Project directory with symlinks resolved.
    pub folder: PathBuf,
    /// File that records what the user trusts.
    pub trust_file: PathBuf,
    /// Names of the available tools. A rule for any other tool is invalid.
    pub tools: Vec<String>,
    /// Maximum bytes of instructions that are sent. 0: the instruction files are not read.
    pub max_instruction_bytes: usize,
}

/// Project files that affect aye.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFiles {
    pub folder: PathBuf,
    /// Files that have an effect, and files with the same names that cannot be used.
    pub files: Vec<ProjectFile>,
    /// Other names in `.aye`. aye never reads them.
    pub other_names: Vec<String>,
    /// Day on which a file of the project was last trusted.
    pub trusted_on: String,
}

/// One project file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// Name relative to the project directory.
    pub name: String,
    pub kind: ProjectFileKind,
    /// Trust state of the file.
    pub trust_state: TrustState,
    /// Digest of the whole file.
    pub sha256: Digest,
    /// Size in bytes.
    pub bytes: usize,
    /// Difference to the trusted version, if the file changed since and a copy of that version exists.
    pub diff: Option<Diff>,
}

/// Kind and content of a project file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectFileKind {
    /// Instructions for the model.
    Instructions(Instructions),
    Rules {
        /// Number of rules of each kind, such as `2 allow, 1 deny`.
        counts: String,
        /// Number of rules that allow calls.
        allow_count: usize,
        /// Description of each rule.
        descriptions: Vec<String>,
        /// Errors in the rules.
        problems: Vec<String>,
    },
    /// Unusable file, with the reason.
    Unusable(String),
}

impl ProjectFiles {
    /// Reads all project files without applying any of them.
    pub fn load(place: &ProjectSource) -> Self {
        let known = TrustedProject::find_project(&place.trust_file, &place.folder);
        let mut files = load_instructions(place, &known);
        match read_project_text(&place.folder, PROJECT_RULES_FILE) {
            Ok(None) => {}
            Ok(Some(text)) => {
                let sheet = rules::rules_parser::parse_rules(
                    &text,
                    PROJECT_RULES_FILE,
                    &place.tools,
                    &RuleScope::TrustedProject,
                );
                // A file without rules and errors has no effect.
                if !sheet.rules.is_empty() || !sheet.problems.is_empty() {
                    files.push(build_file(place, &known, PROJECT_RULES_FILE, &text, describe_rules(&sheet)));
                }
            }
            Err(why) => files.push(unusable_file(PROJECT_RULES_FILE, why)),
        }
        Self {
            folder: place.folder.clone(),
            files,
            other_names: list_other_names(&place.folder),
            trusted_on: known.trusted_on,
        }
    }

    /// Returns the trusted instructions. Reads no project file if the user never trusted one of this project.
    pub fn trusted_instructions(place: &ProjectSource) -> Vec<Instructions> {
        let known = TrustedProject::find_project(&place.trust_file, &place.folder);
        if known.files.is_empty() {
            return Vec::new();
        }
        load_instructions(place, &known).into_iter().filter_map(ProjectFile::into_trusted_instructions).collect()
    }

    /// Iterates over the usable files that are not trusted in their current version.
    pub fn untrusted(&self) -> impl Iterator<Item = &ProjectFile> {
        self.usable().filter(|file| file.trust_state != TrustState::Trusted)
    }

    /// Iterates over the files that can be used once they are trusted.
    pub fn usable(&self) -> impl Iterator<Item = &ProjectFile> {
        self.files.iter().filter(|file| !matches!(file.kind, ProjectFileKind::Unusable(_)))
    }

    /// Returns the name and digest of each usable file, which is what the user trusts by accepting them.
    pub fn signature(&self) -> Vec<(String, Digest)> {
        self.usable().map(|file| (file.name.clone(), file.sha256.clone())).collect()
    }

    /// Trusts the given files if the project still contains exactly these versions. Returns whether it does.
    pub fn trust(place: &ProjectSource, seen: &[(String, Digest)], today: &str) -> io::Result<bool> {
        let names: Vec<&str> = INSTRUCTION_FILES
            .into_iter()
            .filter(|_| place.max_instruction_bytes > 0)
            .chain([PROJECT_RULES_FILE])
            .collect();
        let now: Vec<(&str, String)> =
            names.iter().filter_map(|name| Some((*name, read_project_text(&place.folder, name).ok()??))).collect();
        let same = |(name, sha256): &(String, Digest)| {
            now.iter().find(|(own, text)| own == name && Digest::of_bytes(text.as_bytes()) == *sha256)
        };
        let found: Option<Vec<_>> = seen.iter().map(same).collect();
        let Some(found) = found else { return Ok(false) };
        let files: Vec<(&str, &str)> = found.into_iter().map(|(name, text)| (*name, text.as_str())).collect();
        trust::trust_files(&place.trust_file, &place.folder, &files, today)?;
        Ok(true)
    }
}

impl ProjectFile {
    fn into_trusted_instructions(self) -> Option<Instructions> {
        match self.kind {
            ProjectFileKind::Instructions(words) if self.trust_state == TrustState::Trusted => Some(words),
            ProjectFileKind::Instructions(_) | ProjectFileKind::Rules { .. } | ProjectFileKind::Unusable(_) => None,
        }
    }
}

fn load_instructions(place: &ProjectSource, known: &TrustedProject) -> Vec<ProjectFile> {
    if place.max_instruction_bytes == 0 {
        return Vec::new();
    }
    let read = INSTRUCTION_FILES.map(|name| (name, read_project_text(&place.folder, name)));
    let said = |(name, read): &(&'static str, Result<Option<String>, String>)| match read {
        Ok(Some(text)) if !text.trim().is_empty() => Some((*name, text.clone())),
        Ok(_) | Err(_) => None,
    };
    let texts: Vec<(&str, String)> = read.iter().filter_map(said).collect();
    let sent =
        Instructions::from_files(texts.iter().map(|(name, text)| (*name, text.as_str())), place.max_instruction_bytes);
    let mut files: Vec<ProjectFile> = texts
        .iter()
        .zip(sent)
        .map(|((name, text), words)| build_file(place, known, name, text, ProjectFileKind::Instructions(words)))
        .collect();
    let failed = |(name, read): (&str, Result<Option<String>, String>)| Some(unusable_file(name, read.err()?));
    files.extend(read.into_iter().filter_map(failed));
    files
}

fn build_file(
    place: &ProjectSource,
    known: &TrustedProject,
    name: &str,
    text: &str,
    what: ProjectFileKind,
) -> ProjectFile {
    let look = known.trust_state(name, text);
    let before = known.files.get(name).filter(|_| look == TrustState::Changed);
    let before = before.and_then(|sha256| trust::read_trusted_text(&place.trust_file, sha256));
    let changed = before.map(|before| Edit { path: name.into(), before: Some(before), after: text.to_owned() });
    ProjectFile {
        name: name.to_owned(),
        kind: what,
        trust_state: look,
        sha256: Digest::of_bytes(text.as_bytes()),
        bytes: text.len(),
        diff: changed.map(|edit| edit.diff()),
    }
}

fn unusable_file(name: &str, why: String) -> ProjectFile {
    let (look, what) = (TrustState::Unknown, ProjectFileKind::Unusable(why));
    ProjectFile {
        name: name.to_owned(),
        kind: what,
        trust_state: look,
        sha256: Digest::default(),
        bytes: 0,
        diff: None,
    }
}

fn describe_rules(sheet: &ParsedRules) -> ProjectFileKind {
    ProjectFileKind::Rules {
        counts: sheet.count_by_kind(),
        allow_count: sheet.rules.iter().filter(|rule| rule.effect == RuleEffect::Allow).count(),
        descriptions: list_in_order(sheet),
        problems: sheet.problems.iter().map(ToString::to_string).collect(),
    }
}

/// Describes every rule in file order, invalid ones included.
fn list_in_order(sheet: &ParsedRules) -> Vec<String> {
    let right = sheet.rules.iter().map(|rule| (rule.location.line, rule.describe_with_location()));
    let mut all: Vec<(usize, String)> = right
        .chain(sheet.problems.iter().map(|problem| (problem.origin.line(), describe_invalid_rule(problem))))
        .collect();
    all.sort_by_key(|(line, _)| *line);
    all.into_iter().map(|(_, told)| told).collect()
}

/// Describes an invalid rule.
fn describe_invalid_rule(problem: &Problem) -> String {
    format!("line {}, invalid: {}", problem.origin.line(), problem.message)
}

/// Lists the other names in `.aye`, sorted. A symlink that leads out of the project is not followed.
fn list_other_names(folder: &Path) -> Vec<String> {
    let Ok(Some(own)) = resolve_in_project(folder, ".aye") else { return Vec::new() };
    let known = [".aye/instructions.md", PROJECT_RULES_FILE];
    let names = fs::read_dir(own).into_iter().flatten().flatten().take(1_000);
    let mut names: Vec<String> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !known.contains(&format!(".aye/{name}").as_str()));
    names.sort();
    let more = names.len().saturating_sub(MAX_OTHER_NAMES);
    names.truncate(MAX_OTHER_NAMES);
    names.extend((more > 0).then(|| format!("{more} more")));
    names
}

#[cfg(test)]
mod tests;
