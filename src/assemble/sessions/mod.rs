//! `aye sessions`: lists them, shows one, finds what was said, names, removes, copies and writes them. No model is needed.

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

/// Lines of a page are no longer than this in a terminal, however wide.
const WIDEST: u16 = 100;
/// Characters of a session's name at most.
const TITLE: usize = 200;

/// What all of it is done with.
struct Desk<'a> {
    cli: &'a Cli,
    places: Places,
    sessions: Sessions,
    folder: PathBuf,
}

/// Does what the words behind `sessions` say.
pub(super) fn run(cli: &Cli, words: &[&str]) -> Result<ExitCode> {
    let does = words.first().copied().unwrap_or("list");
    for (flag, with) in cli.kept.set() {
        if !with.contains(&does) {
            let with = with.join(", aye sessions ");
            return Err(Mistake(format!("{flag} goes with: aye sessions {with}")).into());
        }
    }
    if cli.json && !matches!(does, "list" | "search") {
        let instead =
            if does == "export" || does == "show" { "; --format json with export writes one" } else { "" };
        return Err(
            Mistake(format!("--json goes with: aye sessions list, aye sessions search{instead}")).into()
        );
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
        // Whoever read the pipe has enough.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        done => done,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// What would have been right.
fn usage(does: &str) -> String {
    let takes = match does {
        "list" => "nothing behind it; --all lists those of every folder",
        "show" => "one session, by its id or the beginning of it, or none for the last of this folder",
        "search" => "words to look for: aye sessions search retry test",
        "rename" => "a session and its new name: aye sessions rename ID the flaky test",
        "rm" => "one session or more, by id or the beginning of it",
        "fork" => "one session, by its id or the beginning of it",
        "export" => "one session, by its id or the beginning of it, or none for the last of this folder",
        _ => {
            return format!(
                "aye sessions takes one of: {}",
                verbs("sessions").collect::<Vec<_>>().join(", ")
            );
        }
    };
    format!("aye sessions {does} takes {takes}; to say this to a model put it in quotes")
}

impl Desk<'_> {
    /// The session that is named, or the last of this folder.
    fn find(&self, named: Option<&str>) -> Result<SessionId> {
        let found = match named {
            Some(name) => self.sessions.find(name),
            None => return find_latest(&self.sessions, &self.folder),
        };
        Ok(found.map_err(Mistake::of)?)
    }

    /// What a session holds. What was left out of it is said.
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
            // Whoever reads a pipe wraps lines as they like.
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
            return Err(Mistake("a name needs a letter that shows".to_owned()).into());
        }
        if title.chars().count() > TITLE {
            return Err(Mistake(format!("a name has {TITLE} letters at most")).into());
        }
        self.sessions.rename(&id, &title).map_err(fault)?;
        say_done(&format!("{id} is called “{title}” now"))
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
        say_done(&format!("{id} is a copy of {from}, which stays as it was\naye --resume {id}"))
    }
}

/// The person's mistake, or the system's fault.
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

/// Says something beside what is printed.
fn say(words: &str) -> io::Result<()> {
    writeln!(io::stderr(), "aye: {}", clean(words))
}

/// Says that it is done.
fn say_done(words: &str) -> Result<ExitCode> {
    writeln!(io::stdout(), "{}", clean(words))?;
    Ok(ExitCode::SUCCESS)
}
