//! `aye audit`: every call of a session, who allowed it, and what became of it.

use super::sessions::find_latest;
use super::{Mistake, facts, folder};
use crate::chat::audit::{Holds, Record, records};
use crate::chat::{Session, SessionId};

use crate::cli::Cli;
use crate::print;
use crate::store::{Places, Read, Sessions};
use crate::tui::parts::audit;
use crate::tui::text::clean::{clean, one_line};
use crate::tui::text::{width, wrap};
use anyhow::Result;
use ratatui::style::Style;
use serde_json::json;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Lines are no longer than this: they can be read in the narrowest usual terminal, and from a pipe.
const WIDEST: u16 = 80;

/// Prints the session that the command line names, or the last of this folder.
pub(super) fn run(cli: &Cli, named: Option<&str>) -> Result<ExitCode> {
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let sessions = Sessions::new(places.sessions());
    let folder = if cli.tour { places.tour() } else { folder(cli.folder.as_deref())? };
    let id = match named {
        Some(name) => sessions.find(name).map_err(|error| {
            Mistake(format!("{error}; to say this to a model put it in quotes: aye \"audit {name}\""))
        })?,
        None => find_latest(&sessions, &folder)?,
    };
    let read = sessions.read(&id).map_err(Mistake::of)?;
    let mut err = io::stderr();
    for notice in &read.notices {
        writeln!(err, "aye: {}", clean(&notice.to_string()))?;
    }
    let written = if cli.json { in_json(&id, &read) } else { in_words(&id, &read) };
    match written {
        // Whoever read the pipe has enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        written => {
            written?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// One object for each call, with the session's name in front.
fn in_json(id: &SessionId, read: &Read) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let time = |at: usize| read.times.get(at).copied().filter(|at| *at > 0);
    for record in records(&read.entries) {
        let mut object = json!({ "session": id.0 });
        if let (Some(object), serde_json::Value::Object(rest)) = (object.as_object_mut(), record.json(&time))
        {
            object.extend(rest);
        }
        writeln!(out, "{}", print::harmless(&object.to_string()))?;
    }
    out.flush()
}

/// A page for each call, below what session it is.
fn in_words(id: &SessionId, read: &Read) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let columns = crossterm::terminal::size().map_or(WIDEST, |(columns, _)| columns);
    let columns = if out.is_terminal() { columns.clamp(20, WIDEST) } else { WIDEST };
    let when = |at: usize| read.times.get(at).copied().map(facts::clock).unwrap_or_default();
    let records = records(&read.entries);
    let session = Session::replay(read.entries.iter().cloned());
    let columns = usize::from(columns);
    let title = one_line(session.title().unwrap_or("nothing was said")).into_owned();
    let place = read.header.as_ref().map(|header| facts::in_short(&header.folder)).unwrap_or_default();
    let dry = if read.header.as_ref().is_some_and(|header| header.dry_run) { " · dry run" } else { "" };
    let about = format!("{title}\n{id} · {}{dry}\n{}", one_line(&place), counted(&records));
    for line in wrap::plain(&about, Style::new(), columns) {
        writeln!(out, "{line}")?;
    }
    for (index, record) in records.iter().enumerate() {
        let summary = one_line(record.summary());
        let dot = if summary.is_empty() { "" } else { " · " };
        let heading = format!("{}  {}{dot}{summary}", index + 1, one_line(&record.call.name));
        writeln!(out, "\n{}", width::fit(&heading, columns))?;
        for line in audit::page(record, &when, columns - 3, false) {
            writeln!(out, "   {line}")?;
        }
    }
    out.flush()
}

/// How many calls there are, and how many of them are not as they should be.
fn counted(records: &[Record<'_>]) -> String {
    let wrong = records.iter().filter(|record| matches!(record.holds(), Holds::No(_))).count();
    let calls = match records.len() {
        0 => "the model called nothing".to_owned(),
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    };
    if wrong > 0 { format!("{calls}, CAREFUL: {wrong} not as recorded") } else { calls }
}
