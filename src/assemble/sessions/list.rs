//! The sessions, a line each.

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
        for session in &listed {
            let is_open = open.contains(&session.id);
            if self.cli.json {
                writeln!(out, "{}", harmless(&object(session, is_open).to_string()))?;
            } else {
                let columns = columns(out.is_terminal());
                writeln!(out, "{}", row(session, is_open, self.cli.kept.all, columns))?;
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
            (0, 0) => say("there is no session yet")?,
            (0, 1) => say("no session was held in this folder; --all lists the one of another")?,
            (0, others) => {
                say(&format!("no session was held in this folder; --all lists the {others} of others"))?
            }
            (_, 0) => {}
            (_, 1) => say("1 more was held elsewhere; --all lists it too")?,
            (_, others) => say(&format!("{others} more were held elsewhere; --all lists them too"))?,
        }
        Ok(())
    }
}

/// How wide a line may be; into a pipe it is as long as it is.
pub(super) fn columns(terminal: bool) -> Option<usize> {
    let columns = || crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    terminal.then(|| columns().max(40))
}

/// What a session is called, or why it is called nothing.
pub(super) fn title(session: &Listed) -> String {
    match (&session.broken, &session.title) {
        (Some(why), None) => format!("cannot be read: {why}"),
        (Some(why), Some(title)) => format!("{title} ({why})"),
        (None, Some(title)) => title.clone(),
        (None, None) => "nothing was said".to_owned(),
    }
}

fn row(session: &Listed, is_open: bool, all: bool, columns: Option<usize>) -> String {
    let marks = [
        (is_open, "open elsewhere"),
        (session.from.is_some(), "a copy"),
        (session.dry_run, "dry run"),
        (session.waits, "waits for you"),
    ];
    let mut parts = vec![title(session)];
    parts.extend(marks.iter().filter(|(is, _)| *is).map(|(_, words)| (*words).to_owned()));
    if all && !session.folder.as_os_str().is_empty() {
        parts.push(facts::in_short(&session.folder));
    }
    let when = facts::when(session.modified);
    let line = format!("{}  {when:15}  {}", one_line(&session.id.0), one_line(&parts.join(" · ")));
    match columns {
        Some(columns) => width::fit(&line, columns).into_owned(),
        None => line,
    }
}

/// A session for programs.
pub(super) fn object(session: &Listed, is_open: bool) -> Value {
    let modified = session.modified.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    json!({
        "session": session.id.0, "title": session.title, "folder": session.folder.to_string_lossy(),
        "time": session.time, "modified": modified, "model": session.model, "dry_run": session.dry_run,
        "from": session.from, "bytes": session.bytes, "waits": session.waits, "open": is_open,
        "broken": session.broken,
    })
}
