//! `aye audit`: lists every call of a session, who approved it, and its outcome.

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

/// Maximum line width, for narrow terminals and pipes.
const WIDEST: u16 = 80;

/// Prints the named session, or the newest of this folder.
pub(super) fn run(cli: &Cli, named: Option<&str>) -> Result<ExitCode> {
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let sessions = Sessions::new(places.sessions());
    let folder = if cli.tour { places.tour() } else { folder(cli.folder.as_deref())? };
    let id = match named {
        Some(name) => sessions.find(name).map_err(|error| {
            Mistake(format!("{error}. To send this to the model, quote it: aye \"audit {name}\""))
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
        // The reader of the pipe has closed it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        written => {
            written?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Prints one JSON object per call, starting with the session's ID.
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

/// Prints a heading for the session, then a block for each call.
fn in_words(id: &SessionId, read: &Read) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let columns = crossterm::terminal::size().map_or(WIDEST, |(columns, _)| columns);
    let columns = if out.is_terminal() { columns.clamp(20, WIDEST) } else { WIDEST };
    let when = |at: usize| read.times.get(at).copied().map(facts::clock).unwrap_or_default();
    let records = records(&read.entries);
    let session = Session::replay(read.entries.iter().cloned());
    let columns = usize::from(columns);
    let title = one_line(session.title().unwrap_or("empty session")).into_owned();
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

/// Formats the number of calls, and how many differ from their record.
fn counted(records: &[Record<'_>]) -> String {
    let wrong = records.iter().filter(|record| matches!(record.holds(), Holds::No(_))).count();
    let calls = match records.len() {
        0 => "no calls".to_owned(),
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    };
    if wrong > 0 { format!("{calls}, WARNING: {wrong} not as recorded") } else { calls }
}
