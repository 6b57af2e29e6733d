//! `aye sessions rm`: removes sessions after confirmation.

use super::list::title_or_reason;
use super::{SessionStore, UsageError, convert_store_error, print_result};
use crate::chat::SessionId;
use crate::commands::output::print_notice;
use crate::project::rehearsal;
use crate::store::Removal;
use crate::store::local_time;
use crate::text::clean::{clean_line, clean_text};
use anyhow::Result;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

impl SessionStore {
    pub(super) fn remove_sessions(&self, names: &[String], skip_confirmation: bool) -> Result<ExitCode> {
        let mut ids: Vec<SessionId> = Vec::new();
        for name in names {
            let id = self.find_session(Some(name))?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let removal = Removal::lock_all(&self.places, &ids).map_err(convert_store_error)?;
        if !skip_confirmation && !self.confirm_removal(&ids)? {
            return print_result("Nothing was removed.");
        }
        let failures = removal.remove(rehearsal::remove_folder);
        for (id, error) in &failures {
            print_notice(&format!("Cannot remove {id} completely: {error}"))?;
        }
        match ids.len() - failures.len() {
            0 => {}
            1 => drop(print_result("1 session was removed.")?),
            count => drop(print_result(&format!("{count} sessions were removed."))?),
        }
        Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Asks for confirmation.
    fn confirm_removal(&self, ids: &[SessionId]) -> Result<bool> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            let message = "Cannot ask before removing: not a terminal. Nothing was removed. Confirm with --yes";
            return Err(UsageError(message.to_owned()).into());
        }
        let listed = self.sessions.list_all().map_err(convert_store_error)?;
        let mut out = io::stdout().lock();
        for session in listed.iter().filter(|session| ids.contains(&session.id)) {
            let line =
                format!("{}  {}  {}", session.id, local_time::format_time(session.modified), title_or_reason(session));
            writeln!(out, "{}", clean_text(&clean_line(&line)))?;
        }
        let subject = if ids.len() == 1 { "this session" } else { "these sessions" };
        write!(out, "To permanently remove {subject} with drafts and rehearsals, type yes: ")?;
        out.flush()?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(answer.trim() == "yes")
    }
}
