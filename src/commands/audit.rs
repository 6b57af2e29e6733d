//! `aye audit`: lists every call of a session, who approved it, and its outcome.

use crate::assemble::newest_session::find_latest;
use crate::assemble::{UsageError, command_folder, run_facts};
use crate::chat::audit::{Integrity, Record, collect_records};
use crate::chat::{Session, SessionId};
use crate::cli::commands::Audit;
use crate::print;
use crate::store::{Places, Sessions, StoredSession};
use crate::text::clean::{clean_line, clean_text};
use crate::text::width;
use crate::tui::parts::audit_page;
use crate::tui::text::wrap;
use anyhow::Result;
use ratatui::style::Style;
use serde_json::json;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Maximum line width, for narrow terminals and pipes.
const MAX_COLUMNS: u16 = 80;

/// Prints the named session, or the newest of this folder.
pub(super) fn run(arguments: &Audit) -> Result<ExitCode> {
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let sessions = Sessions::new(places.sessions());
    let folder = command_folder(&arguments.report.place, &places)?;
    let named = arguments.id.as_deref().or(arguments.resume.as_deref());
    let id = match named {
        Some(name) => sessions.find_id(name).map_err(|error| {
            UsageError(format!("{error}. To send this to the model, quote it: aye \"audit {name}\""))
        })?,
        None => find_latest(&sessions, &folder)?,
    };
    let read = sessions.read(&id).map_err(UsageError::from_error)?;
    let mut err = io::stderr();
    for notice in &read.notices {
        writeln!(err, "aye: {}", clean_text(&notice.to_string()))?;
    }
    let written = if arguments.report.json { print_json(&id, &read) } else { print_text(&id, &read) };
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
fn print_json(id: &SessionId, read: &StoredSession) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let time = |at: usize| read.times.get(at).copied().filter(|at| *at > 0);
    for record in collect_records(&read.entries) {
        let mut object = json!({ "session": id.0 });
        if let (Some(object), serde_json::Value::Object(rest)) = (object.as_object_mut(), record.to_json(&time)) {
            object.extend(rest);
        }
        writeln!(out, "{}", print::escape_json(&object.to_string()))?;
    }
    out.flush()
}

/// Prints a heading for the session, then a block for each call.
fn print_text(id: &SessionId, read: &StoredSession) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let columns = crossterm::terminal::size().map_or(MAX_COLUMNS, |(columns, _)| columns);
    let columns = if out.is_terminal() { columns.clamp(20, MAX_COLUMNS) } else { MAX_COLUMNS };
    let when = |at: usize| read.times.get(at).copied().map(run_facts::format_entry_time).unwrap_or_default();
    let records = collect_records(&read.entries);
    let session = Session::replay(read.entries.iter().cloned());
    let columns = usize::from(columns);
    let title = clean_line(session.title().unwrap_or("empty session")).into_owned();
    let place = read.header.as_ref().map(|header| run_facts::shorten_home(&header.folder)).unwrap_or_default();
    let dry = if read.header.as_ref().is_some_and(|header| header.dry_run) { " · dry run" } else { "" };
    let about = format!("{title}\n{id} · {}{dry}\n{}", clean_line(&place), count_calls(&records));
    for line in wrap::wrap_plain(&about, Style::new(), columns) {
        writeln!(out, "{line}")?;
    }
    for (index, record) in records.iter().enumerate() {
        let summary = clean_line(record.summary());
        let dot = if summary.is_empty() { "" } else { " · " };
        let heading = format!("{}  {}{dot}{summary}", index + 1, clean_line(&record.call.name));
        writeln!(out, "\n{}", width::fit_start(&heading, columns))?;
        for line in audit_page::audit_page_lines(record, &when, columns - 3, false) {
            writeln!(out, "   {line}")?;
        }
    }
    out.flush()
}

/// Formats the number of calls, and how many differ from their record.
fn count_calls(records: &[Record<'_>]) -> String {
    let wrong = records.iter().filter(|record| matches!(record.verify(), Integrity::Broken(_))).count();
    let calls = match records.len() {
        0 => "no calls".to_owned(),
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    };
    if wrong > 0 { format!("{calls}, warning: {wrong} not as recorded") } else { calls }
}
