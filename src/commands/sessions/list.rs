//! `aye sessions list`: lists sessions, one per line.

use super::SessionStore;
use crate::cli::sessions::ListSessions;
use crate::commands::output::{print_notice, terminal_columns};
use crate::print::json_line;
use crate::project::folder_facts;
use crate::store::{Listed, local_time};
use crate::text::clean::clean_line;
use crate::text::width;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

impl SessionStore {
    pub(super) fn list_sessions(&self, options: &ListSessions) -> Result<ExitCode> {
        let listed = if options.all { self.sessions.list_all() } else { self.sessions.list_by_project(&self.folder) };
        let listed = listed.map_err(super::convert_store_error)?;
        let open: HashSet<_> = self.sessions.open_elsewhere().into_iter().collect();
        let mut out = io::stdout().lock();
        let time_width = listed
            .iter()
            .map(|session| width::text_width(&local_time::format_time(session.modified)))
            .max()
            .unwrap_or(0);
        for session in &listed {
            let is_open = open.contains(&session.id);
            if options.json {
                writeln!(out, "{}", json_line(&session_json(session, is_open)))?;
            } else {
                let columns = line_width();
                writeln!(out, "{}", format_row(session, is_open, options.all, time_width, columns))?;
            }
        }
        out.flush()?;
        drop(out);
        if !options.json && !options.all {
            self.mention_others(listed.len())?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn mention_others(&self, listed_count: usize) -> Result<()> {
        let others = self.sessions.count().saturating_sub(listed_count);
        match (listed_count, others) {
            (0, 0) => print_notice("no sessions yet")?,
            (0, 1) => print_notice("no sessions in this folder; 1 in another folder, listed with --all")?,
            (0, others) => {
                print_notice(&format!("no sessions in this folder; {others} in other folders, listed with --all"))?
            }
            (_, 0) => {}
            (_, 1) => print_notice("1 more in another folder, listed with --all")?,
            (_, others) => print_notice(&format!("{others} more in other folders, listed with --all"))?,
        }
        Ok(())
    }
}

/// Returns the maximum line width; `None` for a pipe.
pub(super) fn line_width() -> Option<usize> {
    terminal_columns(80).map(|columns| usize::from(columns).max(40))
}

/// Returns the title of a session, why it cannot be read, or both.
pub(super) fn title_or_reason(session: &Listed) -> String {
    match (&session.problem, &session.title) {
        (Some(problem), None) => format!("cannot be read: {problem}"),
        (Some(problem), Some(title)) => format!("{title} ({problem})"),
        (None, Some(title)) => title.clone(),
        (None, None) => "empty session".to_owned(),
    }
}

/// Formats one line. The title is truncated if necessary, the state never. `time_width` is the width of the time
/// column.
fn format_row(session: &Listed, is_open: bool, with_folder: bool, time_width: usize, columns: Option<usize>) -> String {
    let marks = [
        (is_open, "open elsewhere"),
        (session.from.is_some(), "copy"),
        (session.dry_run, "dry run"),
        (session.has_open_prompt, "waiting for you"),
    ];
    let mut state = String::new();
    for (_, label) in marks.iter().filter(|(is_set, _)| *is_set) {
        state.push_str(&format!(" · {label}"));
    }
    if let Some(note) = &session.parked_note {
        let note = clean_line(note);
        state.push_str(&format!(" · handed to you: {}", width::fit_start(&note, MAX_NOTE_COLUMNS)));
    }
    let folder = match with_folder && !session.folder.as_os_str().is_empty() {
        true => format!(" · {}", clean_line(&folder_facts::shorten_home(&session.folder))),
        false => String::new(),
    };
    let time = local_time::format_time(session.modified);
    let padding = " ".repeat(time_width.saturating_sub(width::text_width(&time)));
    let head = format!("{}  {time}{padding}  ", clean_line(&session.id.0));
    let title = title_or_reason(session);
    let title = clean_line(&title);
    let Some(columns) = columns else { return format!("{head}{title}{state}{folder}") };
    let available = columns.saturating_sub(width::text_width(&head) + width::text_width(&state));
    // The folder gets the space that a title of reasonable length leaves.
    let title_columns = width::text_width(&title).min(MIN_TITLE_COLUMNS);
    let folder = width::fit_start(&folder, available.saturating_sub(title_columns));
    let title = width::fit_start(&title, available.saturating_sub(width::text_width(&folder)));
    format!("{head}{title}{state}{folder}")
}

/// Maximum columns of the note with which the model handed a session to the user.
const MAX_NOTE_COLUMNS: usize = 40;

/// Columns that the title gets before the folder.
const MIN_TITLE_COLUMNS: usize = 24;

/// Returns a session as JSON.
pub(super) fn session_json(session: &Listed, is_open: bool) -> Value {
    let modified = session.modified.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    json!({
        "session": session.id.0, "title": session.title, "folder": session.folder.to_string_lossy(),
        "time": session.time, "modified": modified, "model": session.model, "dry_run": session.dry_run,
        "is_served": session.is_served, "copied_from": session.from, "bytes": session.bytes,
        "is_waiting": session.has_open_prompt, "is_open": is_open,
        "parked_note": session.parked_note, "error": session.problem,
        // The names of version 0.1, kept for one release.
        "from": session.from, "waits": session.has_open_prompt, "open": is_open, "broken": session.problem,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SessionId;

    fn listed_session(title: &str) -> Listed {
        Listed {
            id: SessionId("01M81F62QPHKEA5H30JB3CTTFR".into()),
            title: Some(title.into()),
            time: String::new(),
            modified: UNIX_EPOCH,
            folder: "/home/somebody/src/app".into(),
            model: String::new(),
            dry_run: true,
            is_served: false,
            from: None,
            bytes: 0,
            has_open_prompt: true,
            parked_note: None,
            problem: None,
        }
    }

    #[test]
    fn truncates_title_but_not_state() {
        let long_title = "why the retry test flakes on a machine that is busy with other things";
        let time_width = 5;
        for with_folder in [false, true] {
            let is_open = false;
            let line = format_row(&listed_session(long_title), is_open, with_folder, time_width, Some(80));
            assert!(line.contains("… · dry run · waiting for you"), "{line}");
            assert!(width::text_width(&line) <= 80 && line.contains("  why the"), "{line}");
        }
        let (is_open, with_folder) = (true, false);
        let line = format_row(&listed_session("漢字"), is_open, with_folder, time_width, None);
        assert!(line.ends_with("漢字 · open elsewhere · dry run · waiting for you"), "{line}");
    }

    #[test]
    fn time_column_is_as_wide_as_needed() {
        let time = local_time::format_time(listed_session("x").modified);
        let (is_open, with_folder) = (false, false);
        let line = format_row(&listed_session("short"), is_open, with_folder, width::text_width(&time), Some(100));
        assert!(line.contains(&format!("FR  {time}  short · dry run")), "{line}");
    }
}
