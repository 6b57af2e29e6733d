//! How far a call reaches: the one thing the policy reads.

use super::Walls;
use serde::{Deserialize, Serialize, Serializer};
use std::path::{Path, PathBuf};

/// How far a call reaches. What is undeclared or in doubt is given the worst that fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reach", content = "of", rename_all = "snake_case")]
pub enum Access {
    /// Asks the person, keeps a list: touches nothing.
    Nothing,
    /// Reads these, inside the project. Relative to it.
    Read(#[serde(serialize_with = "all_as_unicode")] Vec<PathBuf>),
    /// Reads something outside the project, or something that holds secrets.
    ReadSensitive(#[serde(serialize_with = "as_unicode")] PathBuf),
    /// Changes this file inside the project. Relative to it.
    Write(#[serde(serialize_with = "as_unicode")] PathBuf),
    /// Changes something outside the project, or something that other programs obey (`.git`, start-up files).
    WriteOutside(#[serde(serialize_with = "as_unicode")] PathBuf),
    /// Reads aye's own keys, or changes its own settings, rules or sessions. Refused in every mode.
    Own(#[serde(serialize_with = "as_unicode")] PathBuf),
    /// Runs a command.
    Run(Run),
}

/// A command that does more than read inside the project, and what is known of that before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// What is run.
    #[serde(flatten)]
    pub line: Box<CommandLine>,
    /// How far it reaches. Left out where that is unclear, as in what was kept before it was told.
    #[serde(default, skip_serializing_if = "Reach::is_unclear")]
    pub reach: Reach,
    /// Why it reaches so far, in words that follow “because”.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Whether it names something that may hold secrets, or reads outside the project.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sensitive: bool,
    /// Whether it may read such a thing. What a redirection only writes to is not read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discloses: bool,
    /// Files of the project that may hold secrets, relative to it, if the command only reads and would run without approval if
    /// these held none. It names each of them as it is spelled here. Empty if there is any doubt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named_secrets: Vec<PathBuf>,
}

/// How far a command reaches, from the least to the worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// It only reads, as far as its words say.
    Reads,
    /// It also writes files of the project that were not there, or at their end.
    Writes,
    /// It runs programs that can do more, inside the project as far as its words say.
    Runs,
    /// It reaches the network or others, or changes something outside the project: beyond taking back.
    Outside,
    /// It cannot be told before it runs.
    #[default]
    Unclear,
    /// It is refused whoever allowed it.
    Never,
}

impl Reach {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like that")]
    fn is_unclear(&self) -> bool {
        *self == Self::Unclear
    }
}

impl From<CommandLine> for Run {
    fn from(line: CommandLine) -> Self {
        Self {
            line: Box::new(line),
            reach: Reach::default(),
            why: String::new(),
            sensitive: false,
            discloses: false,
            named_secrets: Vec::new(),
        }
    }
}

/// Most of what is asked of it is asked of the command itself.
impl std::ops::Deref for Run {
    type Target = CommandLine;

    fn deref(&self) -> &CommandLine {
        &self.line
    }
}

/// A command as it will be run: nothing else is added to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CommandLine {
    /// What the shell is given after `-c`.
    pub command: String,
    /// Where it runs; absolute. The log keeps the nearest name that is Unicode.
    #[serde(serialize_with = "as_unicode")]
    pub folder: PathBuf,
    /// Seconds until it is stopped.
    pub seconds: u64,
    /// What it wants the network for, in the model's words; `None` where it does not ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Box<str>>,
    /// What holds it back while it runs.
    #[serde(default, skip_serializing_if = "Walls::is_unsaid")]
    pub walls: Walls,
}

/// Writes a path as the nearest that is Unicode: a fact with a strange name in it is kept all the same. Read back it
/// names nothing that is there, so it allows nothing.
pub(super) fn as_unicode<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

fn all_as_unicode<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Diff, Grant, Preview, Scope};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_name_that_is_not_unicode_is_kept_as_near_as_can_be() {
        let strange = || PathBuf::from(OsStr::from_bytes(b"/a\xff"));
        let line =
            CommandLine { command: "ls".into(), folder: strange(), seconds: 1, ..CommandLine::default() };
        let command = Scope::Command { command: "ls".into(), folder: strange(), network: false };
        let grant = |scope| serde_json::to_string(&Grant::new("t", scope));
        let edit =
            Diff { path: strange(), created: false, added: 0, removed: 0, hunks: Vec::new(), note: None };
        for written in [
            serde_json::to_string(&Access::Run(line.clone().into())),
            serde_json::to_string(&Access::Read(vec![strange()])),
            serde_json::to_string(&Access::ReadSensitive(strange())),
            serde_json::to_string(&Access::Write(strange())),
            serde_json::to_string(&Access::WriteOutside(strange())),
            serde_json::to_string(&Access::Own(strange())),
            serde_json::to_string(&Preview::Command(line)),
            serde_json::to_string(&Preview::Edit(edit)),
            grant(command),
            grant(Scope::File(strange())),
        ] {
            let written = written.unwrap();
            assert!(written.contains("/a\u{fffd}"), "{written}");
        }
        let back: Access = serde_json::from_str(r#"{"reach":"read","of":["a"]}"#).unwrap();
        assert_eq!(back, Access::Read(vec!["a".into()]));
    }
}
