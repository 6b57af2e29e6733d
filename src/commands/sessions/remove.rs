//! `aye sessions rm`: removes sessions after confirmation.

use super::list::title_or_reason;
use super::{SessionStore, convert_store_error, print_result};
use crate::chat::SessionId;
use crate::commands::output::{confirm, print_notice};
use crate::project::checkpoints::Checkpoints;
use crate::project::rehearsal;
use crate::store::{Removal, local_time};
use crate::text::clean::clean_line;
use anyhow::Result;
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
        let no_terminal = "Cannot ask before removing: not a terminal. Nothing was removed. Confirm with --yes.";
        if !skip_confirmation && !confirm(|| self.describe_removal(&ids), no_terminal)? {
            return print_result("Nothing was removed.");
        }
        let failures = removal.remove(rehearsal::remove_folder);
        let removed: Vec<SessionId> =
            ids.iter().filter(|id| failures.iter().all(|(failed, _)| failed != *id)).cloned().collect();
        self.remove_checkpoints(&removed)?;
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

    /// Removes the contents of files from before the changes of these sessions.
    fn remove_checkpoints(&self, ids: &[SessionId]) -> Result<()> {
        for folder in std::fs::read_dir(self.places.all_checkpoints()).into_iter().flatten().flatten() {
            // The limit does not matter for a removal.
            if let Err(error) = Checkpoints::new(folder.path(), u64::MAX).remove_sessions(ids) {
                print_notice(&format!("Cannot remove all contents of files in {}: {error}", folder.path().display()))?;
            }
        }
        Ok(())
    }

    fn describe_removal(&self, ids: &[SessionId]) -> Result<String> {
        let mut question = String::new();
        let listed = self.sessions.list_all().map_err(convert_store_error)?;
        for session in listed.iter().filter(|session| ids.contains(&session.id)) {
            let time = local_time::format_time(session.modified);
            question += &clean_line(&format!("{}  {time}  {}", session.id, title_or_reason(session)));
            question.push('\n');
        }
        let subject = if ids.len() == 1 { "this session" } else { "these sessions" };
        question += &format!("To permanently remove {subject} with drafts and rehearsals");
        Ok(question)
    }
}
