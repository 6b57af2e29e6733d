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
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: &str = "01JDXA0000000000000000000Z";

    fn parse_path(text: &str) -> Result<String, AddressError> {
        ScopedPath::parse(text).map(|path| path.to_string())
    }

    #[test]
    fn a_path_has_one_spelling() {
        for (text, expected) in [
            ("reports/q1.md", "reports/q1.md"),
            ("/reports/q1.md", "reports/q1.md"),
            ("cafe\u{301}.txt", "café.txt"),
            ("a b/…/.hidden", "a b/…/.hidden"),
            (&format!("/sessions/{ID}/a"), &format!("/sessions/{ID}/a")),
            (&format!("sessions/{ID}/a/b"), &format!("/sessions/{ID}/a/b")),
        ] {
            assert_eq!(parse_path(text).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(WorkspacePath::parse(&format!("/sessions/{ID}/a")), Err(AddressError::Session));
    }

    #[test]
    fn a_path_leaves_no_folder() {
        let long = "x".repeat(MAX_NAME_BYTES + 1);
        for (text, error) in [
            ("", AddressError::Empty),
            ("/", AddressError::Empty),
            ("//a", AddressError::EmptyName),
            ("a//b", AddressError::EmptyName),
            ("a/", AddressError::EmptyName),
            ("..", AddressError::Dots),
            ("a/../b", AddressError::Dots),
            ("./a", AddressError::Dots),
            ("a\\b", AddressError::Backslash),
            ("a\0", AddressError::Control),
            ("a\n", AddressError::Control),
            ("a\u{85}", AddressError::Control),
            (&long, AddressError::LongName),
            (&["x".repeat(200).as_str(); 6].join("/"), AddressError::Long),
            ("/sessions", AddressError::Session),
            ("/sessions/", AddressError::EmptyName),
            ("sessions/a/b", AddressError::Session),
            (&format!("/sessions/{ID}"), AddressError::Session),
            (&format!("/sessions/{ID}/../x"), AddressError::Dots),
        ] {
            assert_eq!(parse_path(text), Err(error), "{text}");
        }
    }

    #[test]
    fn a_prefix_ends_between_names() {
        let matches =
            |prefix: &str, path: &str| PathPrefix::parse(prefix).unwrap().matches(&WorkspacePath::parse(path).unwrap());
        for prefix in ["", "/", "doc", "/doc/", "doc/a.md"] {
            assert!(matches(prefix, "doc/a.md"), "{prefix}");
        }
        for prefix in ["doc", "documents/a", "documents/a.m"] {
            assert!(!matches(prefix, "documents/a.md"), "{prefix}");
        }
        assert_eq!(PathPrefix::parse(&format!("/sessions/{ID}/")).unwrap().session.as_deref(), Some(ID));
        assert_eq!(PathPrefix::parse("/sessions/"), Err(AddressError::Session));
        assert_eq!(PathPrefix::parse("../"), Err(AddressError::Dots));
    }

    #[test]
    fn addresses_name_an_id_or_a_path() {
        for text in [
            format!("workspace://{ID}"),
            format!("workspace://{ID}@12#text/csv"),
            "workspace:///reports/q1.md".to_owned(),
            "workspace:///a b#image/svg+xml".to_owned(),
            format!("workspace:///sessions/{ID}/a"),
        ] {
            assert_eq!(text.parse::<WorkspaceAddress>().map(|address| address.to_string()), Ok(text));
        }
        for (text, error) in [
            ("workspace://reports/q1.md".to_owned(), AddressError::Id),
            ("workspace://".to_owned(), AddressError::Id),
            ("workspace:///".to_owned(), AddressError::Empty),
            ("https://a".to_owned(), AddressError::Scheme),
            ("workspacé://".to_owned(), AddressError::Scheme),
            (format!("workspace://{}", ID.to_lowercase()), AddressError::Id),
            (format!("workspace://{ID}@0"), AddressError::Version),
            (format!("workspace://{ID}@"), AddressError::Version),
            (format!("workspace://{ID}@+1"), AddressError::Version),
            (format!("workspace://{ID}#csv"), AddressError::MediaType),
            (format!("workspace://{ID}#text/csv; charset=x"), AddressError::MediaType),
        ] {
            assert_eq!(text.parse::<WorkspaceAddress>(), Err(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_parsed_path_is_safe_and_stays_as_it_is(text in "[a-zé\u{301}./\\\\@#\u{0}\n ]{0,24}|(/?sessions/)?01JDXA0000000000000000000Z(/[a./]{0,6})?|\\PC{0,40}") {
            if let Ok(parsed) = ScopedPath::parse(&text) {
                let path = parsed.path.as_str();
                prop_assert!(!path.is_empty() && !path.contains(['\\', '\0']) && path.len() <= MAX_PATH_BYTES);
                prop_assert!(path.split('/').all(|name| !matches!(name, "" | "." | "..") && name.len() <= MAX_NAME_BYTES));
                prop_assert_eq!(ScopedPath::parse(&parsed.to_string()), Ok(parsed.clone()));
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                // A folder with this name at the top would name a session.
                prop_assume!(folder != SESSIONS && !folder.starts_with("sessions/"));
                prop_assert!(PathPrefix::parse(folder).unwrap().matches(&parsed.path));
                let longer = PathPrefix::parse(&[path, "x"].concat());
                prop_assert!(!longer.is_ok_and(|prefix| prefix.matches(&parsed.path)));
            }
            let _ = PathPrefix::parse(&text);
        }

        #[test]
        fn a_parsed_address_is_written_as_it_was_read(text in "(workspace|WorkSpace|http)://(01JDXA0000000000000000000Z|/?[a-z./@#]{0,12})?(@[0-9+]{0,3})?(#[a-z/+]{0,8})?|\\PC{0,40}") {
            if let Ok(address) = text.parse::<WorkspaceAddress>() {
                prop_assert_eq!(address.to_string().parse::<WorkspaceAddress>(), Ok(address));
            }
        }
    }
}
