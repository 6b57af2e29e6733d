//! Paths that a command touches, and how words are shown in reasons.

use crate::policy::command_line::Word;
use crate::text::truncation::escape_beginning;

/// A path that a command touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedPath {
    /// The word: a known path, a pattern, or a path below the user's home.
    pub word: Word,
    /// Possible working directories, relative to the project. More than one if a `cd` may have failed.
    pub folders: Vec<String>,
    pub access: PathAccess,
}

/// Kind of access to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathAccess {
    /// Reads names, sizes and times.
    Names,
    /// Reads the file.
    Contents,
    /// Reads the file, or every file below the folder. Links in it are followed only if `follow_links` is true.
    Recursive {
        /// True if hidden files are included.
        include_hidden: bool,
        /// Names of folders that are skipped.
        skipped_folders: Vec<String>,
        /// True if links to files are followed. Links to folders may then be followed too.
        follow_links: bool,
    },
    /// No access. The file must not exist, because it may select which program runs. If words are listed, it may exist
    /// as long as it contains none of them.
    MustNotSelectProgram(&'static [&'static str]),
    /// No access: a pattern that must match no file, so that the shell leaves it unchanged.
    MustNotMatch,
    /// Runs git, which follows the settings of the repository.
    Repository,
    /// Prints content from the repository: tracked and staged files, and commits.
    Tracked {
        /// Limits the content to these paths, relative to the project; no limit if empty.
        limited_to: Vec<String>,
        /// True if the content may include stashed commits.
        with_stash: bool,
    },
    /// Runs in this folder.
    WorksIn,
    /// Overwrites the file.
    Write,
    /// Appends to the file.
    Append,
    /// Deletes the file.
    Delete,
}

/// Paths that a program touches, or the reason for asking.
pub(super) type ProgramPaths = Result<Vec<(Word, PathAccess)>, String>;

/// Returns the working directory as a word.
pub(super) fn current_folder() -> Word {
    Word::Known(".".to_owned())
}

/// Joins a path to a folder; absolute and home paths stay as they are.
pub fn join_path(folder: &str, name: &str) -> String {
    if folder.is_empty() || name.starts_with('/') || name == "~" || name.starts_with("~/") {
        return name.to_owned();
    }
    format!("{folder}/{name}")
}

/// Converts a path that is only a part of a word, as in `--directory=~/x`. No shell expands a `~` there, but a
/// program may.
pub(super) fn word_from_path(path: &str) -> Word {
    if path.starts_with('~') { Word::Home(path.to_owned()) } else { Word::Known(path.to_owned()) }
}

/// Returns a word for display: shortened and without invisible characters.
pub(super) fn display_word(word: &Word) -> String {
    escape_beginning(word.display_text(), 60)
}

/// Describes a word whose value is not known.
pub(super) fn describe_unknown_word(word: &Word) -> String {
    let displayed = display_word(word);
    match word {
        // Whether the shell ends an unquoted word at a non-ASCII character depends on the locale.
        Word::Unknown(text) if !text.is_ascii() && !text.contains(['$', '`', '{', '~']) => {
            format!("end of “{displayed}” depends on the locale; quote it")
        }
        Word::Pattern(_) => format!("files matching “{displayed}” unknown before it runs"),
        Word::Known(_) | Word::Home(_) | Word::Unknown(_) => {
            format!("value of “{displayed}” unknown before it runs")
        }
    }
}
