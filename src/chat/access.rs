//! Access of a call: the part of its plan that the policy judges.

use super::{CommandSandbox, SessionId};
use serde::{Deserialize, Serialize, Serializer};
use std::path::{Path, PathBuf};

/// Access of a call. Undeclared or doubtful access is classified as the worst that fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reach", content = "of", rename_all = "snake_case")]
pub enum Access {
    /// Nothing, such as the start of a sub-agent.
    Nothing,
    /// Reads these paths inside the project, relative to it.
    Read(#[serde(serialize_with = "all_as_unicode")] Vec<PathBuf>),
    /// Reads a path outside the project, or one that may hold secrets.
    ReadSensitive(#[serde(serialize_with = "as_unicode")] PathBuf),
    /// Changes this file inside the project, relative to it.
    Write(#[serde(serialize_with = "as_unicode")] PathBuf),
    /// Changes a path outside the project, or one that controls other programs (`.git`, start-up files).
    WriteOutside(#[serde(serialize_with = "as_unicode")] PathBuf),
    /// Reads aye's own keys, or changes its own settings, rules or sessions. Denied in every mode.
    #[serde(rename = "own")]
    AyeFiles(#[serde(serialize_with = "as_unicode")] PathBuf),
    /// Ends the background command with this number.
    Background(u32),
    /// Reads or changes files of the workspace of a session.
    Workspace(Box<WorkspaceAccess>),
    /// Runs a command.
    Run(CommandAccess),
    /// Reads from a host on the network, and changes nothing there.
    Fetch(Box<FetchAccess>),
    /// Calls a service that may change something there or is seen by others. Cannot be undone.
    External(Box<ExternalAccess>),
}

/// Access to the workspace of a session: files that are not in the project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceAccess {
    /// Path of the file, or the beginning of the paths of a list.
    pub path: String,
    /// The session whose workspace it is; `None` for the session of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// True if a file is written or deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changes: bool,
    /// File of the project whose content is copied, relative to it.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "option_as_unicode")]
    pub copied_file: Option<PathBuf>,
    /// Source of a file that is read, if it is a text from outside: `a page of docs.rs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted_source: Option<String>,
}

/// A request that only reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchAccess {
    /// The address that is requested.
    pub url: String,
    /// Its host, in lower case and without a port.
    pub host: String,
    /// True if scripts of the host run, which may send requests of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub runs_scripts: bool,
}

/// A call of a service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalAccess {
    /// What is called there: method and address, or the name of a tool.
    pub request: String,
    /// The host in lower case and without a port, or `mcp:NAME` for an MCP server.
    pub service: String,
    /// Host of the page that shows the service in a frame, if it is another one. It knows of the call, so that an allow must
    /// cover both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_host: Option<String>,
}

impl Access {
    /// Returns whether the call reads at most files of the project that hold no secrets or files of a workspace, and has
    /// no other effect.
    pub fn is_inside_read(&self) -> bool {
        match self {
            Self::Nothing | Self::Read(_) => true,
            Self::Workspace(access) => !access.changes,
            Self::ReadSensitive(_)
            | Self::Write(_)
            | Self::WriteOutside(_)
            | Self::AyeFiles(_)
            | Self::Background(_)
            | Self::Run(_)
            | Self::Fetch(_)
            | Self::External(_) => false,
        }
    }

    /// Returns whether the call has no effect but reading, anywhere.
    pub fn is_read(&self) -> bool {
        self.is_inside_read() || matches!(self, Self::ReadSensitive(_))
    }
}

/// A command that does more than read inside the project, and what is known about it before it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandAccess {
    #[serde(flatten)]
    pub line: Box<CommandLine>,
    /// Reach of the command. Not stored if unclear; unclear if missing, as in logs of older versions.
    #[serde(default, skip_serializing_if = "Reach::is_unclear")]
    pub reach: Reach,
    /// Reason for `reach`, worded to follow “because”.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[serde(rename = "why")]
    pub reason: String,
    /// True if it names a path that may hold secrets, or reads outside the project.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "sensitive")]
    pub is_sensitive: bool,
    /// True if it may read such a path, unlike a command that only redirects its output to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "discloses")]
    pub may_disclose: bool,
    /// Files of the project that may hold secrets, relative to it, spelled as the command names them. Set only if they
    /// are the only reason why the command needs approval, and it only reads; empty if in doubt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named_secrets: Vec<PathBuf>,
}

/// Reach of a command, from least to worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Only reads, as far as can be seen from the command line.
    Reads,
    /// Also creates files of the project or appends to them.
    Writes,
    /// Runs programs that can do more, inside the project as far as can be seen.
    Runs,
    /// Uses the network, affects others, or changes something outside the project: cannot be undone.
    Outside,
    /// Cannot be determined before it runs.
    #[default]
    Unclear,
    /// Always denied, whatever was approved or granted.
    #[serde(rename = "never")]
    Denied,
}

impl Reach {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_unclear(&self) -> bool {
        *self == Self::Unclear
    }
}

impl From<CommandLine> for CommandAccess {
    fn from(line: CommandLine) -> Self {
        Self { line: Box::new(line), ..Self::default() }
    }
}

/// Gives direct access to the fields of the command line, which are used most.
impl std::ops::Deref for CommandAccess {
    type Target = CommandLine;

    fn deref(&self) -> &CommandLine {
        &self.line
    }
}

/// A command exactly as it will run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CommandLine {
    /// The argument of the shell's `-c`.
    pub command: String,
    /// Working directory; absolute. The log stores it as lossy Unicode.
    #[serde(serialize_with = "as_unicode")]
    pub folder: PathBuf,
    /// Timeout in seconds.
    pub seconds: u64,
    /// Reason for network access, in the model's words; `None` if it asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[serde(rename = "walls")]
    pub sandbox: CommandSandbox,
}

/// Serializes a path as lossy Unicode, so that an entry with an invalid name can be stored. Read back, such a name
/// matches no file and therefore allows nothing.
pub(super) fn as_unicode<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Serializes a path as [`as_unicode`] does.
#[expect(clippy::ref_option, reason = "serde passes a reference")]
pub(super) fn option_as_unicode<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

/// Serializes each path as [`as_unicode`] does.
pub(super) fn all_as_unicode<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Diff, Grant, GrantScope, Preview};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn serializes_a_name_that_is_not_unicode_with_replacement_characters() {
        let invalid_path = || PathBuf::from(OsStr::from_bytes(b"/a\xff"));
        let line = CommandLine { command: "ls".into(), folder: invalid_path(), seconds: 1, ..CommandLine::default() };
        let command = GrantScope::Command { command: "ls".into(), folder: invalid_path(), network: false };
        let grant = |scope| serde_json::to_string(&Grant::new("t", scope));
        let edit = Diff { path: invalid_path(), created: false, added: 0, removed: 0, hunks: Vec::new(), note: None };
        for json in [
            serde_json::to_string(&Access::Run(line.clone().into())),
            serde_json::to_string(&Access::Read(vec![invalid_path()])),
            serde_json::to_string(&Access::ReadSensitive(invalid_path())),
            serde_json::to_string(&Access::Write(invalid_path())),
            serde_json::to_string(&Access::WriteOutside(invalid_path())),
            serde_json::to_string(&Access::AyeFiles(invalid_path())),
            serde_json::to_string(&Preview::Command(line)),
            serde_json::to_string(&Preview::Edit(edit)),
            grant(command),
            grant(GrantScope::File(invalid_path())),
        ] {
            let json = json.unwrap();
            assert!(json.contains("/a\u{fffd}"), "{json}");
        }
        let parsed: Access = serde_json::from_str(r#"{"reach":"read","of":["a"]}"#).unwrap();
        assert_eq!(parsed, Access::Read(vec!["a".into()]));
    }
}
