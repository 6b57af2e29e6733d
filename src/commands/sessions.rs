//! `aye sessions`: lists, shows, searches, renames, removes, copies and exports sessions. No model is needed.

mod document;
mod export;
mod list;
mod remove;
mod search;

use super::folder::open_places;
use super::output::{print_lines, print_notice, print_notices, terminal_columns};
use crate::chat::{ForkMode, SessionId};
use crate::cli::sessions::{self as cli, SessionsCommand};
use crate::cli::{FolderOptions, UsageError, bail_usage};
use crate::project::rehearsal;
use crate::store::{self, Latest, Places, Sessions, StoredSession, explain_unreadable};
use crate::text::clean::{clean_line, clean_text};
use crate::text::escape_sequences;
use crate::text::hidden_chars::remove_hidden;
use anyhow::Result;
use document::{Document, text_page};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Maximum line width in a terminal.
const MAX_COLUMNS: u16 = 100;
/// Maximum characters of a title.
const MAX_TITLE_CHARS: usize = 200;

/// Inputs shared by all subcommands.
struct SessionStore {
    places: Places,
    sessions: Sessions,
    folder: PathBuf,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &cli::Sessions) -> Result<ExitCode> {
    let list = SessionsCommand::List(arguments.list.clone());
    let open = SessionStore::open;
    match arguments.command.as_ref().unwrap_or(&list) {
        SessionsCommand::List(options) => open(&options.place)?.list_sessions(options),
        SessionsCommand::Show { id, place } => open(place)?.show_session(id.as_deref()),
        SessionsCommand::Search(options) => open(&options.place)?.search_sessions(options),
        SessionsCommand::Rename { id, name, place } => open(place)?.rename_session(id, &name.join(" ")),
        SessionsCommand::Rm { ids, yes, place } => open(place)?.remove_sessions(ids, *yes),
        SessionsCommand::Fork { id, place } => open(place)?.fork_session(id),
        SessionsCommand::Export(options) => open(&options.place)?.export_session(options),
    }
}

impl SessionStore {
    fn open(place: &FolderOptions) -> Result<Self> {
        let (places, folder) = open_places(place)?;
        let sessions = Sessions::new(places.sessions());
        Ok(Self { places, sessions, folder })
    }

    /// Returns the named session, or the newest of this folder.
    fn find_session(&self, requested: Option<&str>) -> Result<SessionId> {
        let id = match requested {
            Some(name) => self.sessions.find_id(name),
            None => return find_latest(&self.sessions, &self.folder),
        };
        Ok(id.map_err(UsageError::from_error)?)
    }

    /// Reads a session, and prints notices about unreadable parts.
    fn read_session(&self, id: &SessionId) -> Result<StoredSession> {
        let stored = self.sessions.read(id).map_err(UsageError::from_error)?;
        print_notices(&stored.notices)?;
        Ok(stored)
    }

    fn show_session(&self, requested: Option<&str>) -> Result<ExitCode> {
        let id = self.find_session(requested)?;
        let document = Document::from_session(&id, &self.read_session(&id)?);
        // The reader of a pipe wraps lines as needed.
        let columns = terminal_columns(80).map_or(usize::MAX / 2, |columns| columns.clamp(20, MAX_COLUMNS).into());
        print_lines(text_page::format_lines(&document, columns))
    }

    fn rename_session(&self, requested: &str, title: &str) -> Result<ExitCode> {
        let id = self.find_session(Some(requested))?;
        let title = clean_line(&remove_hidden(&escape_sequences::strip_controls(title))).trim().to_owned();
        if title.is_empty() {
            bail_usage!("Cannot rename the session: the title has no visible characters. Use another title.");
        }
        if title.chars().count() > MAX_TITLE_CHARS {
            bail_usage!("Cannot rename the session: the title has more than {MAX_TITLE_CHARS} characters. Shorten it.");
        }
        self.sessions.rename(&id, &title).map_err(convert_store_error)?;
        print_result(&format!("renamed {id} to “{title}”"))
    }

    fn fork_session(&self, requested: &str) -> Result<ExitCode> {
        let from = self.find_session(Some(requested))?;
        self.places.prepare().map_err(convert_store_error)?;
        let copy = store::fork_session(
            &self.places,
            &from,
            &self.folder,
            ForkMode::Unchanged.into(),
            rehearsal::remove_folder,
        )
        .map_err(convert_store_error)?;
        let id = copy.id.clone();
        if !copy.has_header {
            print_notice(&format!("the first line of {from} is damaged, so the copy is a dry run in this folder"))?;
        }
        // A copy that is dropped without this is removed.
        copy.keep();
        print_result(&format!("{id} is a copy of {from}, which is unchanged\naye --resume {id}"))
    }
}

/// Finds the newest readable session of a folder, and reports newer unreadable ones on standard error.
pub(super) fn find_latest(sessions: &Sessions, folder: &Path) -> Result<SessionId> {
    let Latest { id, unreadable } = sessions.find_latest(folder).map_err(UsageError::from_error)?;
    if !unreadable.is_empty() {
        print_notice(&format!("{}. Using {id}, the newest readable session", explain_unreadable(&unreadable)))?;
    }
    Ok(id)
}

/// Converts an error of the store into a `UsageError` if it is a mistake of the user; other errors are kept.
fn convert_store_error(error: store::Error) -> anyhow::Error {
    match error {
        store::Error::Io { .. } | store::Error::Copy { .. } | store::Error::NoHome => error.into(),
        user_error => UsageError::from_error(user_error).into(),
    }
}

/// Prints the result.
fn print_result(message: &str) -> Result<ExitCode> {
    writeln!(io::stdout(), "{}", clean_text(message))?;
    Ok(ExitCode::SUCCESS)
}
