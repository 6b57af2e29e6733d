//! Preconditions of a plan: the files it was made from and the environment variables of its command.

use super::access::{as_unicode, option_as_unicode};
use super::{CommandPart, Digest, Script, Scripts};
use crate::text::byte_size::format_bytes;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Preconditions of a plan. They are compared again before the plan runs; if any differs, it does not run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preconditions {
    /// Files with their content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileSnapshot>,
    /// Names of the environment variables that a command receives, sorted; never their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// The first sensitive path that a command names; if it names none, the first one outside the project, or else a program
    /// around it that may be one of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "beyond")]
    pub restricted_path: Option<RestrictedPath>,
    /// True if the command may use more files than were checked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "partial")]
    pub is_partial: bool,
    /// The first file it writes that has several hard links. No rule, grant or mode covers such a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_links: Option<HardLinks>,
    /// Scripts that the command runs, as far as they are known.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub scripts: Scripts,
    /// Commands of a command line that can be judged one by one, in order. Empty if the line is a single plain command,
    /// or if its parts cannot be judged alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<CommandPart>,
    /// Files whose content the arguments contain, because they name them with `@@file:`. They are not compared again:
    /// what runs is what was read for the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<ReferencedFile>,
}

/// A file, or lines of it, whose content the arguments of a call contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReferencedFile {
    /// As it is shown, on one line: relative to the project, or an address of a workspace.
    pub name: String,
    /// Lines, such as `[2-9]`, if not the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// Path relative to the project, if it is a file of the project.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "option_as_unicode")]
    pub path: Option<PathBuf>,
    /// Size of the file or the lines.
    pub bytes: u64,
    /// Digest of the file or the lines.
    pub sha256: Digest,
    /// True if the preview contains only the beginning of the content. A mark in the preview says so too, but the content
    /// could imitate that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "excerpt")]
    pub is_excerpt: bool,
}

impl ReferencedFile {
    /// Describes the file on one line.
    pub fn describe(&self) -> String {
        let lines = self.lines.as_deref().unwrap_or_default();
        let excerpt = if self.is_excerpt { " · only its beginning is shown" } else { "" };
        format!("{}{lines} · {}{excerpt} · sha256 {}", self.name, format_bytes(self.bytes), self.sha256.short_hex())
    }
}

/// A path that limits which rules and grants cover the command that names it: only those for exactly this command, and
/// none if the path is sensitive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestrictedPath {
    /// As it is shown: relative to the project if inside.
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    /// True if it holds secrets or controls other programs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "sensitive")]
    pub is_sensitive: bool,
    /// True if the path is the name of a program that may be one of the project, because `PATH` has a folder of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "program")]
    pub is_project_program: bool,
}

/// A file with several hard links. A write changes the content under its other names too, or leaves the old content
/// there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardLinks {
    /// The name that the plan writes, as it is shown.
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    /// Number of names of the file, including this one.
    pub names: u64,
}

/// A file and its content when the plan was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSnapshot {
    /// Relative to the project if inside, else absolute.
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    #[serde(rename = "held")]
    pub content: FileContent,
    /// Digest of the new content, if the plan changes the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "becomes")]
    pub new_sha256: Option<Digest>,
    /// True if the file may grow until the call runs, as the log of a running program does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "grows")]
    pub may_grow: bool,
}

/// Content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum FileContent {
    /// The file did not exist.
    #[serde(rename = "nothing")]
    Missing,
    /// The content, by length and digest.
    #[serde(rename = "read")]
    Bytes { bytes: u64, sha256: Digest },
    /// Larger than the limit; not compared.
    #[serde(rename = "too_much")]
    TooLarge,
}

impl Preconditions {
    /// Returns the sensitive path that the command names, if any. No grant and no rule for a command covers such a
    /// command. Rules that allow reading exactly the secret files that it names may let it run.
    pub fn sensitive_path(&self) -> Option<&Path> {
        self.restricted_path.as_ref().filter(|restricted| restricted.is_sensitive).map(|restricted| &*restricted.path)
    }

    /// Returns the files that a lasting approval of this command is bound to, sorted: every file that it names if it
    /// runs one of them, else none. Fails if that is unknown, with a reason worded to follow “because”.
    pub fn scripts_to_bind(&self) -> Result<Vec<Script>, String> {
        match &self.scripts {
            Scripts::None => return Ok(Vec::new()),
            Scripts::Unknown(why) => return Err(why.clone()),
            Scripts::Known => {}
        }
        if self.is_partial {
            return Err("it names more files than can be checked".to_owned());
        }
        let to_script = |file: &FileSnapshot| match &file.content {
            FileContent::Missing => Ok(Script { path: file.path.clone(), sha256: None }),
            FileContent::Bytes { sha256, .. } => Ok(Script { path: file.path.clone(), sha256: Some(sha256.clone()) }),
            FileContent::TooLarge => Err(format!("{} is too large to check", file.path.display())),
        };
        let mut scripts = self.files.iter().map(to_script).collect::<Result<Vec<_>, _>>()?;
        scripts.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(scripts)
    }
}

impl FileContent {
    /// Returns the content of a file with these bytes; of a missing file for `None`.
    pub fn from_bytes(bytes: Option<&[u8]>) -> Self {
        match bytes {
            None => Self::Missing,
            Some(bytes) => Self::Bytes { bytes: bytes.len() as u64, sha256: Digest::of_bytes(bytes) },
        }
    }
}

impl FileSnapshot {
    /// Returns whether the file's present content matches. A file above the size limit always does.
    pub fn matches_content(&self, current: Option<&[u8]>) -> bool {
        match (&self.content, current) {
            (FileContent::TooLarge, _) => true,
            (FileContent::Missing, current) => current.is_none(),
            (FileContent::Bytes { .. }, None) => false,
            (FileContent::Bytes { bytes, sha256 }, Some(current)) => {
                let length = usize::try_from(*bytes).unwrap_or(usize::MAX);
                let compared = if self.may_grow { current.get(..length) } else { Some(current) };
                compared.is_some_and(|same| same.len() == length && Digest::of_bytes(same) == *sha256)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r08_a_file_matches_only_with_the_same_bytes() {
        let snapshot = |content: Option<&[u8]>, may_grow| FileSnapshot {
            path: "a".into(),
            content: FileContent::from_bytes(content),
            new_sha256: None,
            may_grow,
        };
        let check = |content: Option<&[u8]>, may_grow: bool, current: Option<&[u8]>, expected: bool| {
            assert_eq!(
                snapshot(content, may_grow).matches_content(current),
                expected,
                "{content:?} {may_grow} {current:?}"
            );
        };
        check(Some(b"ls\n"), false, Some(b"ls\n"), true);
        check(Some(b"ls\n"), false, Some(b"ls\nrm x\n"), false);
        check(Some(b"ls\n"), false, Some(b"LS\n"), false);
        check(Some(b"ls\n"), false, None, false);
        check(Some(b""), false, Some(b""), true);
        check(None, false, None, true);
        check(None, false, Some(b""), false);
        check(Some(b"one\n"), true, Some(b"one\ntwo\n"), true);
        check(Some(b"one\n"), true, Some(b"two\none\n"), false);
        check(Some(b"one\n"), true, Some(b"on"), false);
        assert!(FileSnapshot { content: FileContent::TooLarge, ..snapshot(None, false) }.matches_content(None));
    }
}
