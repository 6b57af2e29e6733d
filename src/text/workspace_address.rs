//! Paths in the workspace of a session, and `workspace://` addresses.

use std::fmt;
use std::str::FromStr;
use unicode_normalization::UnicodeNormalization;

/// Beginning of every address.
pub const SCHEME: &str = "workspace://";
/// First name of a path that names another session.
const SESSIONS: &str = "sessions";
/// Length of the ids of files and sessions, which are ULIDs.
const ID_CHARS: usize = 26;
/// Maximum bytes of a name between two slashes.
const MAX_NAME_BYTES: usize = 255;
/// Maximum bytes of a path.
const MAX_PATH_BYTES: usize = 1024;

/// A normalized path of a file in a workspace, without a leading slash: `reports/q1.md`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspacePath(String);

/// A path in the workspace of the current session, or of the one that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopedPath {
    /// Id of the session that the path names: `/sessions/ID/…`.
    pub session: Option<String>,
    pub path: WorkspacePath,
}

/// Beginning of the paths that a listing shows. The default begins every path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathPrefix {
    /// Id of the session that the prefix names.
    pub session: Option<String>,
    /// Names that the paths begin with; empty for all paths.
    folder: String,
}

/// An address: `workspace://ID`, `workspace://ID@3`, `workspace:///reports/q1.md`, each with an optional
/// `#media/type`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceAddress {
    pub target: AddressTarget,
    /// Hint after `#`. It never changes what is read.
    pub media_type: Option<String>,
}

/// What an address or an argument names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressTarget {
    /// A file by its id, and a version of it. Without a version, the latest one.
    Id(String, Option<u64>),
    Path(ScopedPath),
}

impl AddressTarget {
    /// Returns the id of the session that a path names.
    pub fn session(&self) -> Option<&str> {
        match self {
            Self::Path(scoped) => scoped.session.as_deref(),
            Self::Id(..) => None,
        }
    }
}

/// Reason why a text is no path or address, worded to follow a colon.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("it is empty")]
    Empty,
    #[error("it has an empty name between two slashes, or a slash at the end")]
    EmptyName,
    #[error("“.” and “..” are not names of files")]
    Dots,
    #[error("it has a backslash; folders end with “/”")]
    Backslash,
    #[error("it has a control character")]
    Control,
    #[error("a name in it is longer than {MAX_NAME_BYTES} bytes")]
    LongName,
    #[error("it is longer than {MAX_PATH_BYTES} bytes")]
    Long,
    #[error("“/sessions/” must be followed by the id of a session and a path in it")]
    Session,
    #[error("it is no file ID: an ID has {ID_CHARS} characters, digits and capital letters")]
    Id,
    #[error("the version after “@” is not a positive number")]
    Version,
    #[error("an address begins with {SCHEME}")]
    Scheme,
    #[error("the text after “#” is no media type, such as text/csv")]
    MediaType,
}

impl WorkspacePath {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text after the last slash.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Parses a path of the current session. A leading slash is optional.
    ///
    /// # Errors
    /// Also for a path that names a session.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        match ScopedPath::parse(text)? {
            ScopedPath { session: None, path } => Ok(path),
            ScopedPath { session: Some(_), .. } => Err(AddressError::Session),
        }
    }
}

impl ScopedPath {
    /// Parses a path. A leading slash is optional.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let path = normalize(text.strip_prefix('/').unwrap_or(text))?;
        let (session, path) = split_session(&path)?;
        match path {
            "" if session.is_some() => Err(AddressError::Session),
            path => Ok(Self { session, path: WorkspacePath(path.to_owned()) }),
        }
    }
}

impl PathPrefix {
    /// Parses the beginning of paths, which ends between two names: `reports` begins `reports/q1.md`, and not
    /// `reports-old/q1.md`. Slashes at both ends are optional. An empty text begins every path.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let names = text.strip_prefix('/').unwrap_or(text);
        let names = names.strip_suffix('/').unwrap_or(names);
        if names.is_empty() {
            return Ok(Self::default());
        }
        let path = normalize(names)?;
        let (session, folder) = split_session(&path)?;
        Ok(Self { session, folder: folder.to_owned() })
    }

    /// Returns the folder, normalized and without slashes at both ends; empty for all paths.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns whether a path is in the folder, or is the file that the prefix names.
    pub fn matches(&self, path: &WorkspacePath) -> bool {
        let rest = path.0.strip_prefix(&self.folder);
        self.folder.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Checks each name of a path and composes its characters (NFC), so that a name has one spelling.
fn normalize(path: &str) -> Result<String, AddressError> {
    if path.is_empty() {
        return Err(AddressError::Empty);
    }
    let path: String = path.nfc().collect();
    if path.len() > MAX_PATH_BYTES {
        return Err(AddressError::Long);
    }
    for name in path.split('/') {
        match name {
            "" => return Err(AddressError::EmptyName),
            "." | ".." => return Err(AddressError::Dots),
            name if name.len() > MAX_NAME_BYTES => return Err(AddressError::LongName),
            name if name.contains('\\') => return Err(AddressError::Backslash),
            name if name.contains(char::is_control) => return Err(AddressError::Control),
            _ => {}
        }
    }
    Ok(path)
}

/// Splits a normalized path into the session that it names, if any, and the rest, which may be empty.
fn split_session(path: &str) -> Result<(Option<String>, &str), AddressError> {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    if first != SESSIONS {
        return Ok((None, path));
    }
    let (session, rest) = rest.split_once('/').unwrap_or((rest, ""));
    if is_id(session) { Ok((Some(session.to_owned()), rest)) } else { Err(AddressError::Session) }
}

/// Returns whether a text is an id of a file or a session: a ULID.
pub fn is_id(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() && !b"ILOU".contains(&byte);
    text.len() == ID_CHARS && text.bytes().all(is_digit)
}

impl FromStr for AddressTarget {
    type Err = AddressError;

    /// Parses `ID` or `ID@3`.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let (id, version) = match text.split_once('@') {
            Some((id, version)) => (id, Some(version)),
            None => (text, None),
        };
        if !is_id(id) {
            return Err(AddressError::Id);
        }
        let parse_version = |digits: &str| {
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
            digits.parse().ok().filter(|_| is_plain).ok_or(AddressError::Version)
        };
        Ok(Self::Id(id.to_owned(), version.map(parse_version).transpose()?))
    }
}

impl FromStr for WorkspaceAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let scheme = text.get(..SCHEME.len()).filter(|scheme| scheme.eq_ignore_ascii_case(SCHEME));
        let rest = &text[scheme.ok_or(AddressError::Scheme)?.len()..];
        let (target, media_type) = match rest.split_once('#') {
            Some((target, media_type)) => (target, Some(media_type).filter(|media_type| !media_type.is_empty())),
            None => (rest, None),
        };
        if media_type.is_some_and(|media_type| !is_media_type(media_type)) {
            return Err(AddressError::MediaType);
        }
        let target = match target.strip_prefix('/') {
            Some(path) => AddressTarget::Path(ScopedPath::parse(path)?),
            None => target.parse()?,
        };
        Ok(Self { target, media_type: media_type.map(str::to_owned) })
    }
}

/// Parses a media type, as in `text/csv; charset=utf-8`: in lower case and without parameters.
pub fn parse_media_type(text: &str) -> Option<String> {
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    is_media_type(&essence).then_some(essence)
}

/// Returns whether a text has the form `type/subtype`, without parameters.
fn is_media_type(text: &str) -> bool {
    let is_token = |token: &str| {
        !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!$&-^_.+".contains(&byte))
    };
    text.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ScopedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.session {
            None => f.write_str(self.path.as_str()),
            Some(session) => write!(f, "/{SESSIONS}/{session}/{}", self.path),
        }
    }
}

impl fmt::Display for AddressTarget {
    /// Formats the target as an address has it after the scheme.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id, None) => f.write_str(id),
            Self::Id(id, Some(version)) => write!(f, "{id}@{version}"),
            Self::Path(ScopedPath { session: None, path }) => write!(f, "/{path}"),
            Self::Path(scoped) => scoped.fmt(f),
        }
    }
}

impl fmt::Display for WorkspaceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.target)?;
        self.media_type.iter().try_for_each(|media_type| write!(f, "#{media_type}"))
    }
}

#[cfg(test)]
mod tests;
