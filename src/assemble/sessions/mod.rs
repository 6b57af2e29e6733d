//! `aye sessions`: lists, shows, searches, renames, removes, copies and exports sessions. No model is needed.

mod export;
mod latest;
mod list;
mod remove;
mod search;

use super::document::{Document, page};
use super::{Mistake, folder};
use crate::chat::hidden::without_hidden;
use crate::chat::{SessionId, escape};
use crate::cli::Cli;
use crate::cli::commands::verbs;
use crate::project::rehearsal;
use crate::store::{self, Places, Read, Sessions};
use crate::tui::text::clean::{clean, one_line};
use anyhow::Result;
pub(super) use latest::{explain_doubt, find_continued, find_latest};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Maximum line width in a terminal.
const WIDEST: u16 = 100;
/// Maximum characters of a title.
const TITLE: usize = 200;

/// Inputs shared by all subcommands.
struct Desk<'a> {
    cli: &'a Cli,
    places: Places,
    sessions: Sessions,
    folder: PathBuf,
}

/// Runs the subcommand.
pub(super) fn run(cli: &Cli, words: &[&str]) -> Result<ExitCode> {
    let does = words.first().copied().unwrap_or("list");
    for (flag, with) in cli.kept.set() {
        if !with.contains(&does) {
            let with = with.join(", aye sessions ");
            return Err(Mistake(format!("{flag} can only be used with: aye sessions {with}")).into());
        }
    }
    if cli.json && !matches!(does, "list" | "search") {
        let instead = if does == "export" || does == "show" { "; for export use --format json" } else { "" };
        return Err(Mistake(format!(
            "--json can only be used with: aye sessions list, aye sessions search{instead}"
        ))
        .into());
    }
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let sessions = Sessions::new(places.sessions());
    let folder = if cli.tour { places.tour() } else { folder(cli.folder.as_deref())? };
    let desk = Desk { cli, places, sessions, folder };
    let rest = words.get(1..).unwrap_or_default();
    let done = match (does, rest) {
        ("list", []) => desk.list(),
        ("show", [] | [_]) => desk.show(rest.first().copied()),
        ("search", [_, ..]) => desk.search(rest),
        ("rename", [id, title @ ..]) if !title.is_empty() => desk.rename(id, &title.join(" ")),
        ("rm", [_, ..]) => desk.remove(rest),
        ("fork", [id]) => desk.fork(id),
        ("export", [] | [_]) => desk.export(rest.first().copied()),
        _ => Err(Mistake(usage(does)).into()),
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
fn usage(does: &str) -> String {
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
                verbs("sessions").collect::<Vec<_>>().join(", ")
            );
        }
    };
    format!("aye sessions {does} takes {takes}; to send this to the model, quote it")
}

impl Desk<'_> {
    /// Returns the named session, or the newest of this folder.
    fn find(&self, named: Option<&str>) -> Result<SessionId> {
        let found = match named {
            Some(name) => self.sessions.find(name),
            None => return find_latest(&self.sessions, &self.folder),
        };
        Ok(found.map_err(Mistake::of)?)
    }

    /// Reads a session, and prints notices about unreadable parts.
    fn read(&self, id: &SessionId) -> Result<Read> {
        let read = self.sessions.read(id).map_err(Mistake::of)?;
        for notice in &read.notices {
            say(&notice.to_string())?;
        }
        Ok(read)
    }

    fn show(&self, named: Option<&str>) -> Result<ExitCode> {
        let id = self.find(named)?;
        let document = Document::of(&id, &self.read(&id)?);
        let mut out = io::stdout().lock();
        let columns = match out.is_terminal() {
            true => crossterm::terminal::size().map_or(80, |(columns, _)| columns).clamp(20, WIDEST).into(),
            // The reader of a pipe wraps lines as needed.
            false => usize::MAX / 2,
        };
        for line in page::lines(&document, columns) {
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }

    fn rename(&self, named: &str, title: &str) -> Result<ExitCode> {
        let id = self.find(Some(named))?;
        let title = one_line(&without_hidden(&escape::strip(title))).trim().to_owned();
        if title.is_empty() {
            return Err(Mistake("the title has no visible characters".to_owned()).into());
        }
        if title.chars().count() > TITLE {
            return Err(Mistake(format!("the title has more than {TITLE} characters")).into());
        }
        self.sessions.rename(&id, &title).map_err(fault)?;
        say_done(&format!("renamed {id} to “{title}”"))
    }

    fn fork(&self, named: &str) -> Result<ExitCode> {
        let from = self.find(Some(named))?;
        self.places.prepare().map_err(fault)?;
        let copy = store::fork(&self.places, &from, &self.folder, rehearsal::empty).map_err(fault)?;
        let id = copy.id.clone();
        if !copy.headed {
            say(&format!("the first line of {from} is damaged, so the copy is a dry run in this folder"))?;
        }
        copy.keep();
        say_done(&format!("{id} is a copy of {from}, which is unchanged\naye --resume {id}"))
    }
}

/// Converts an error of the store: the caller's mistake, or an error of the system.
fn fault(error: store::Error) -> anyhow::Error {
    match error {
        store::Error::Io { .. } | store::Error::Copy { .. } | store::Error::Homeless => error.into(),
        store::Error::Busy(_)
        | store::Error::Missing(_)
        | store::Error::None(_)
        | store::Error::NoneReadable { .. }
        | store::Error::Ambiguous { .. } => Mistake::of(error).into(),
    }
}

/// Prints a notice to standard error.
fn say(words: &str) -> io::Result<()> {
    writeln!(io::stderr(), "aye: {}", clean(words))
}

/// Prints the result.
fn say_done(words: &str) -> Result<ExitCode> {
    writeln!(io::stdout(), "{}", clean(words))?;
    Ok(ExitCode::SUCCESS)
}
