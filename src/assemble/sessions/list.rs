//! `aye sessions list`: lists sessions, one per line.

use super::{Desk, say};
use crate::assemble::facts;
use crate::print::harmless;
use crate::store::Listed;
use crate::tui::text::clean::one_line;
use crate::tui::text::width;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

impl Desk<'_> {
    pub(super) fn list(&self) -> Result<ExitCode> {
        let listed = if self.cli.kept.all { self.sessions.all() } else { self.sessions.of(&self.folder) };
        let listed = listed.map_err(super::fault)?;
        let open: HashSet<_> = self.sessions.open_elsewhere().into_iter().collect();
        let mut out = io::stdout().lock();
        let wide =
            listed.iter().map(|session| width::width(&facts::when(session.modified))).max().unwrap_or(0);
        for session in &listed {
            let is_open = open.contains(&session.id);
            if self.cli.json {
                writeln!(out, "{}", harmless(&object(session, is_open).to_string()))?;
            } else {
                let columns = columns(out.is_terminal());
                writeln!(out, "{}", row(session, is_open, self.cli.kept.all, wide, columns))?;
            }
        }
        out.flush()?;
        drop(out);
        if !self.cli.json && !self.cli.kept.all {
            self.tell_of_others(listed.len())?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn tell_of_others(&self, here: usize) -> Result<()> {
        let others = self.sessions.count().saturating_sub(here);
        match (here, others) {
            (0, 0) => say("no sessions yet")?,
            (0, 1) => say("no sessions in this folder; 1 in another folder, listed with --all")?,
            (0, others) => {
                say(&format!("no sessions in this folder; {others} in other folders, listed with --all"))?
            }
            (_, 0) => {}
            (_, 1) => say("1 more in another folder, listed with --all")?,
            (_, others) => say(&format!("{others} more in other folders, listed with --all"))?,
        }
        Ok(())
    }
}

/// Returns the maximum line width; `None` for a pipe.
pub(super) fn columns(terminal: bool) -> Option<usize> {
    let columns = || crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    terminal.then(|| columns().max(40))
}

/// Returns the title, or why there is none.
pub(super) fn title(session: &Listed) -> String {
    match (&session.broken, &session.title) {
        (Some(why), None) => format!("cannot be read: {why}"),
        (Some(why), Some(title)) => format!("{title} ({why})"),
        (None, Some(title)) => title.clone(),
        (None, None) => "empty session".to_owned(),
    }
}

/// Formats one line. The title is truncated if necessary, the state never. `wide` is the widest time.
fn row(session: &Listed, is_open: bool, all: bool, wide: usize, columns: Option<usize>) -> String {
    let marks = [
        (is_open, "open elsewhere"),
        (session.from.is_some(), "a copy"),
        (session.dry_run, "dry run"),
        (session.waits, "waiting for you"),
    ];
    let mut rest = String::new();
    for (_, words) in marks.iter().filter(|(is, _)| *is) {
        rest.push_str(&format!(" · {words}"));
    }
    let folder = match all && !session.folder.as_os_str().is_empty() {
        true => format!(" · {}", one_line(&facts::in_short(&session.folder))),
        false => String::new(),
    };
    let when = facts::when(session.modified);
    let blank = " ".repeat(wide.saturating_sub(width::width(&when)));
    let head = format!("{}  {when}{blank}  ", one_line(&session.id.0));
    let title = title(session);
    let title = one_line(&title);
    let Some(columns) = columns else { return format!("{head}{title}{rest}{folder}") };
    let room = columns.saturating_sub(width::width(&head) + width::width(&rest));
    // The folder gets the space that a title of reasonable length leaves.
    let least = width::width(&title).min(TITLE);
    let folder = width::fit(&folder, room.saturating_sub(least));
    let title = width::fit(&title, room.saturating_sub(width::width(&folder)));
    format!("{head}{title}{rest}{folder}")
}

/// Columns of a title that are more important than the folder.
const TITLE: usize = 24;

/// Returns a session as JSON.
pub(super) fn object(session: &Listed, is_open: bool) -> Value {
    let modified = session.modified.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    json!({
        "session": session.id.0, "title": session.title, "folder": session.folder.to_string_lossy(),
        "time": session.time, "modified": modified, "model": session.model, "dry_run": session.dry_run,
        "from": session.from, "bytes": session.bytes, "waits": session.waits, "open": is_open,
        "broken": session.broken,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SessionId;

    fn session(title: &str) -> Listed {
        Listed {
            id: SessionId("01M81F62QPHKEA5H30JB3CTTFR".into()),
            title: Some(title.into()),
            time: String::new(),
            modified: UNIX_EPOCH,
            folder: "/home/somebody/src/app".into(),
            model: String::new(),
            dry_run: true,
            from: None,
            bytes: 0,
            waits: true,
            broken: None,
        }
    }

    #[test]
    fn truncates_title_but_not_state() {
        let long = "why the retry test flakes on a machine that is busy with other things";
        for all in [false, true] {
            let line = row(&session(long), false, all, 5, Some(80));
            assert!(line.contains("… · dry run · waiting for you"), "{line}");
            assert!(width::width(&line) <= 80 && line.contains("  why the"), "{line}");
        }
        let line = row(&session("漢字"), true, false, 5, None);
        assert!(line.ends_with("漢字 · open elsewhere · dry run · waiting for you"), "{line}");
    }

    #[test]
    fn time_column_is_as_wide_as_needed() {
        let when = facts::when(session("x").modified);
        let line = row(&session("short"), false, false, width::width(&when), Some(100));
        assert!(line.contains(&format!("FR  {when}  short · dry run")), "{line}");
    }
}
