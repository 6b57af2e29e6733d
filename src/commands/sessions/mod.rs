//! `aye sessions`: lists, shows, searches, renames, removes, copies and exports sessions. No model is needed.

mod document;
mod export;
mod list;
mod remove;
mod search;

use crate::assemble::newest_session::find_latest;
use crate::assemble::{UsageError, resolve_folder};
use crate::chat::SessionId;
use crate::cli::Cli;
use crate::cli::commands::subcommand_names;
use crate::project::rehearsal;
use crate::store::{self, Places, Sessions, StoredSession};
use crate::text::clean::{clean_line, clean_text};
use crate::text::escape_sequences;
use crate::text::hidden_chars::remove_hidden;
use anyhow::Result;
use document::{Document, text_page};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Maximum line width in a terminal.
const MAX_COLUMNS: u16 = 100;
/// Maximum characters of a title.
const MAX_TITLE_CHARS: usize = 200;

/// Inputs shared by all subcommands.
struct SessionsCommand<'a> {
    cli: &'a Cli,
    places: Places,
    sessions: Sessions,
    folder: PathBuf,
}

/// Runs the subcommand.
pub(super) fn run(cli: &Cli, words: &[&str]) -> Result<ExitCode> {
    let does = words.first().copied().unwrap_or("list");
    for (flag, with) in cli.sessions.set_options() {
        if !with.contains(&does) {
            let with = with.join(", aye sessions ");
            return Err(UsageError(format!("{flag} can only be used with: aye sessions {with}")).into());
        }
    }
    if cli.json && !matches!(does, "list" | "search") {
        let instead = if does == "export" || does == "show" { "; for export use --format json" } else { "" };
        return Err(UsageError(format!(
            "--json can only be used with: aye sessions list, aye sessions search{instead}"
        ))
        .into());
    }
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let sessions = Sessions::new(places.sessions());
    let folder = if cli.tour { places.tour() } else { resolve_folder(cli.folder.as_deref())? };
    let desk = SessionsCommand { cli, places, sessions, folder };
    let rest = words.get(1..).unwrap_or_default();
    let done = match (does, rest) {
        ("list", []) => desk.list_sessions(),
        ("show", [] | [_]) => desk.show_session(rest.first().copied()),
        ("search", [_, ..]) => desk.search_sessions(rest),
        ("rename", [id, title @ ..]) if !title.is_empty() => desk.rename_session(id, &title.join(" ")),
        ("rm", [_, ..]) => desk.remove_sessions(rest),
        ("fork", [id]) => desk.fork_session(id),
        ("export", [] | [_]) => desk.export_session(rest.first().copied()),
        _ => Err(UsageError(expected_arguments(does)).into()),
    };
    match done {
        // The reader of the pipe has closed it.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        done => done,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Returns the expected arguments.
fn expected_arguments(does: &str) -> String {
    let takes = match does {
        "list" => "no arguments; --all lists the sessions of every folder",
        "show" => "one session ID or its beginning, or none for the newest of this folder",
        "search" => "words to search for: aye sessions search retry test",
        "rename" => "a session ID and a new title: aye sessions rename ID the flaky test",
        "rm" => "one or more session IDs or their beginnings",
        "fork" => "one session ID or its beginning",
        "export" => "one session ID or its beginning, or none for the newest of this folder",
        _ => {
            return format!(
                "aye sessions takes one of: {}",
                subcommand_names("sessions").collect::<Vec<_>>().join(", ")
            );
        }
    };
    format!("aye sessions {does} takes {takes}; to send this to the model, quote it")
}

impl SessionsCommand<'_> {
    /// Returns the named session, or the newest of this folder.
    fn find_session(&self, named: Option<&str>) -> Result<SessionId> {
        let found = match named {
            Some(name) => self.sessions.find_id(name),
            None => return find_latest(&self.sessions, &self.folder),
        };
        Ok(found.map_err(UsageError::from_error)?)
    }

    /// Reads a session, and prints notices about unreadable parts.
    fn read_session(&self, id: &SessionId) -> Result<StoredSession> {
        let read = self.sessions.read(id).map_err(UsageError::from_error)?;
        for notice in &read.notices {
            print_notice(&notice.to_string())?;
        }
        Ok(read)
    }

    fn show_session(&self, named: Option<&str>) -> Result<ExitCode> {
        let id = self.find_session(named)?;
        let document = Document::from_session(&id, &self.read_session(&id)?);
        let mut out = io::stdout().lock();
        let columns = match out.is_terminal() {
            true => crossterm::terminal::size().map_or(80, |(columns, _)| columns).clamp(20, MAX_COLUMNS).into(),
            // The reader of a pipe wraps lines as needed.
            false => usize::MAX / 2,
        };
        for line in text_page::format_lines(&document, columns) {
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }

    fn rename_session(&self, named: &str, title: &str) -> Result<ExitCode> {
        let id = self.find_session(Some(named))?;
        let title = clean_line(&remove_hidden(&escape_sequences::strip_controls(title))).trim().to_owned();
        if title.is_empty() {
            return Err(UsageError("the title has no visible characters".to_owned()).into());
        }
        if title.chars().count() > MAX_TITLE_CHARS {
            return Err(UsageError(format!("the title has more than {MAX_TITLE_CHARS} characters")).into());
        }
        self.sessions.rename(&id, &title).map_err(convert_store_error)?;
        print_result(&format!("renamed {id} to “{title}”"))
    }

    fn fork_session(&self, named: &str) -> Result<ExitCode> {
        let from = self.find_session(Some(named))?;
        self.places.prepare().map_err(convert_store_error)?;
        let copy = store::fork_session(&self.places, &from, &self.folder, rehearsal::remove_folder)
            .map_err(convert_store_error)?;
        let id = copy.id.clone();
        if !copy.has_header {
            print_notice(&format!("the first line of {from} is damaged, so the copy is a dry run in this folder"))?;
        }
        copy.keep();
        print_result(&format!("{id} is a copy of {from}, which is unchanged\naye --resume {id}"))
    }
}

/// Converts an error of the store: the caller's mistake, or an error of the system.
fn convert_store_error(error: store::Error) -> anyhow::Error {
    match error {
        store::Error::Io { .. } | store::Error::Copy { .. } | store::Error::NoHome => error.into(),
        store::Error::Busy(_)
        | store::Error::Missing(_)
        | store::Error::NoSessions(_)
        | store::Error::NoneReadable { .. }
        | store::Error::Ambiguous { .. } => UsageError::from_error(error).into(),
    }
}

/// Prints a notice to standard error.
fn print_notice(words: &str) -> io::Result<()> {
    writeln!(io::stderr(), "aye: {}", clean_text(words))
}

/// Prints the result.
fn print_result(words: &str) -> Result<ExitCode> {
    writeln!(io::stdout(), "{}", clean_text(words))?;
    Ok(ExitCode::SUCCESS)
}
