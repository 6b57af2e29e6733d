//! Finds the newest session of a folder. Unreadable sessions can make it uncertain which one is the newest.

use crate::cli::UsageError;
use crate::store::{Latest, Sessions, explain_unreadable};
use crate::text::clean::clean_text;
use anyhow::Result;
use std::io::{self, Write};
use std::path::Path;

/// Finds the newest readable session, and reports newer unreadable ones on standard error.
pub fn find_latest(sessions: &Sessions, folder: &Path) -> Result<crate::chat::SessionId> {
    let Latest { id, unreadable } = sessions.find_latest(folder).map_err(UsageError::from_error)?;
    if !unreadable.is_empty() {
        let message = format!("{}. Using {id}, the newest readable session", explain_unreadable(&unreadable));
        writeln!(io::stderr(), "aye: {}", clean_text(&message))?;
    }
    Ok(id)
}

/// Finds the session to continue.
///
/// # Errors
/// Fails if a newer session is unreadable: an older one is only continued if it is named.
pub fn find_continued(sessions: &Sessions, folder: &Path) -> Result<crate::chat::SessionId> {
    let latest = sessions.find_latest(folder).map_err(UsageError::from_error)?;
    match explain_doubt(&latest) {
        None => Ok(latest.id),
        Some(doubt) => Err(UsageError(format!("cannot tell which session to continue: {doubt}")).into()),
    }
}

/// Explains why it is uncertain which session is the newest. `None` if it is certain.
pub fn explain_doubt(Latest { id, unreadable }: &Latest) -> Option<String> {
    let explain = || {
        let newer = if unreadable.len() == 1 { "It is newer than" } else { "They are newer than" };
        let unreadable = explain_unreadable(unreadable);
        format!(
            "{unreadable}. {newer} {id}, the newest readable session of this folder. To continue that one: aye --resume {id}"
        )
    };
    (!unreadable.is_empty()).then(explain)
}
