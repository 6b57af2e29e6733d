//! `aye audit`: lists every call of a session, who approved it, and its outcome.

use super::folder::open_places;
use super::output::{page_width, print_lines, print_notices};
use super::sessions::find_latest;
use crate::chat::audit::{AuditItem, Integrity, Record, collect_items, collect_records};
use crate::chat::sampling::SamplingStep;
use crate::chat::{Session, SessionId, extend_object, pluralize};
use crate::cli::UsageError;
use crate::cli::commands::Audit;
use crate::print::json_line;
use crate::project::folder_facts;
use crate::store::{Sessions, StoredSession, local_time};
use crate::text::clean::clean_line;
use crate::text::width;
use crate::tui::parts::audit_page;
use crate::tui::text::wrap;
use anyhow::Result;
use ratatui::style::Style;
use serde_json::json;
use std::process::ExitCode;

/// Prints the named session, or the newest of this folder.
pub(super) fn run(arguments: &Audit) -> Result<ExitCode> {
    let (places, folder) = open_places(&arguments.report.place)?;
    let sessions = Sessions::new(places.sessions());
    let requested_id = arguments.id.as_deref().or(arguments.resume.as_deref());
    let id = match requested_id {
        Some(name) => sessions.find_id(name).map_err(|error| {
            UsageError(format!("{error} To send this to the model, quote it: aye \"audit {name}\""))
        })?,
        None => find_latest(&sessions, &folder)?,
    };
    let stored = sessions.read(&id).map_err(UsageError::from_error)?;
    print_notices(&stored.notices)?;
    match arguments.report.json {
        true => print_lines(json_lines(&id, &stored)),
        false => print_lines(text_lines(&id, &stored)),
    }
}

/// Returns one JSON object per call, per command of the user and per request of an MCP server. Each begins with the session's ID.
fn json_lines(id: &SessionId, stored: &StoredSession) -> impl Iterator<Item = String> {
    let entry_time = move |index: usize| stored.times.get(index).copied().filter(|ms| *ms > 0);
    let item_line = move |item: AuditItem<'_>| {
        let mut object = json!({ "session": id.0 });
        extend_object(&mut object, item.to_json(&entry_time));
        json_line(&object)
    };
    collect_items(&stored.entries).into_iter().map(item_line)
}

/// Returns a heading for the session, then a block for each call and each command of the user.
fn text_lines(id: &SessionId, stored: &StoredSession) -> impl Iterator<Item = String> {
    let columns = page_width();
    let entry_time =
        move |index: usize| stored.times.get(index).copied().map(local_time::format_entry_time).unwrap_or_default();
    let records = collect_records(&stored.entries);
    let session = Session::replay(stored.entries.iter().cloned());
    let title = clean_line(session.title().unwrap_or("empty session")).into_owned();
    let folder = stored.header.as_ref().map(|header| folder_facts::shorten_home(&header.folder)).unwrap_or_default();
    let dry_run_label = if stored.header.as_ref().is_some_and(|header| header.dry_run) { " · dry run" } else { "" };
    let header_text = format!("{title}\n{id} · {}{dry_run_label}\n{}", clean_line(&folder), count_calls(&records));
    let header = wrap::wrap_plain(&header_text, Style::new(), columns);
    let item_lines = move |(index, item): (usize, AuditItem<'_>)| {
        let (name, summary, page_lines) = match &item {
            AuditItem::Call(record) => {
                let is_full = false;
                let page_lines = audit_page::audit_page_lines(record, &entry_time, columns - 3, is_full);
                (clean_line(&record.call.name), clean_line(record.summary()), page_lines)
            }
            AuditItem::Sampling(record) => {
                let step_lines = |(index, step): &(usize, &SamplingStep)| {
                    let line = format!("{}  {}", entry_time(*index), clean_line(&step.describe()));
                    wrap::wrap_plain(line.trim(), Style::new(), columns - 3)
                };
                let lines = record.steps.iter().flat_map(step_lines).map(|line| line.to_string()).collect();
                ("request of an MCP server".into(), clean_line(record.server()), lines)
            }
            AuditItem::UserCommand(entry, command) => {
                let end = format!("{}  {}", entry_time(*entry), audit_page::describe_user_command(command));
                let lines = wrap::wrap_plain(end.trim(), Style::new(), columns - 3);
                let lines = lines.iter().map(ToString::to_string).collect();
                ("your command".into(), clean_line(&command.command), lines)
            }
        };
        let separator = if summary.is_empty() { "" } else { " · " };
        let heading = format!("{}  {name}{separator}{summary}", index + 1);
        let heading = [String::new(), width::fit_start(&heading, columns).into_owned()];
        heading.into_iter().chain(page_lines.into_iter().map(|line| format!("   {line}")))
    };
    let items = collect_items(&stored.entries);
    let command_count = items.iter().filter(|item| matches!(item, AuditItem::UserCommand(..))).count();
    let command_line = (command_count > 0).then(|| pluralize(command_count, "command") + " of yours");
    let header_lines = header.into_iter().map(|line| line.to_string()).chain(command_line);
    header_lines.chain(items.into_iter().enumerate().flat_map(item_lines))
}

/// Formats the number of calls, and how many differ from their record.
fn count_calls(records: &[Record<'_>]) -> String {
    let broken_count = records.iter().filter(|record| matches!(record.verify(), Integrity::Broken(_))).count();
    let calls = if records.is_empty() { "no calls".to_owned() } else { pluralize(records.len(), "call") };
    if broken_count > 0 { format!("{calls}, warning: {broken_count} not as recorded") } else { calls }
}
