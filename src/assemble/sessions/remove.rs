//! `aye sessions rm`: removes sessions after confirmation.

use super::list::title;
use super::{Desk, Mistake, fault, say, say_done};
use crate::assemble::facts;
use crate::chat::SessionId;
use crate::project::rehearsal;
use crate::store::Removal;
use crate::tui::text::clean::{clean, one_line};
use anyhow::Result;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

impl Desk<'_> {
    pub(super) fn remove(&self, named: &[&str]) -> Result<ExitCode> {
        let mut ids: Vec<SessionId> = Vec::new();
        for name in named {
            let id = self.find(Some(name))?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let removal = Removal::hold(&self.places, &ids).map_err(fault)?;
        if !self.cli.kept.yes && !self.is_sure(&ids)? {
            return say_done("Nothing was removed.");
        }
        let wrong = removal.remove(rehearsal::empty);
        for (id, error) in &wrong {
            say(&format!("Cannot remove {id} completely: {error}"))?;
        }
        match ids.len() - wrong.len() {
            0 => {}
            1 => drop(say_done("1 session was removed.")?),
            count => drop(say_done(&format!("{count} sessions were removed."))?),
        }
        Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Asks for confirmation.
    fn is_sure(&self, ids: &[SessionId]) -> Result<bool> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            let words = "Cannot ask before removing: not a terminal. Nothing was removed. Confirm with --yes";
            return Err(Mistake(words.to_owned()).into());
        }
        let listed = self.sessions.all().map_err(fault)?;
        let mut out = io::stdout().lock();
        for session in listed.iter().filter(|session| ids.contains(&session.id)) {
            let line = format!("{}  {}  {}", session.id, facts::when(session.modified), title(session));
            writeln!(out, "{}", clean(&one_line(&line)))?;
        }
        let what = if ids.len() == 1 { "this session" } else { "these sessions" };
        write!(out, "To permanently remove {what} with drafts and rehearsals, type yes: ")?;
        out.flush()?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(answer.trim() == "yes")
    }
}
