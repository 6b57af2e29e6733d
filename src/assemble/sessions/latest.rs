//! The newest session of a folder, if it is certain which that is.

use super::say;
use crate::assemble::Mistake;
use crate::store::{Latest, Sessions, explain_unreadable};
use anyhow::Result;
use std::path::Path;

/// Finds the newest session that can be read, and says on standard error which newer ones cannot.
pub fn find_latest(sessions: &Sessions, folder: &Path) -> Result<crate::chat::SessionId> {
    let Latest { id, unreadable } = sessions.latest(folder).map_err(Mistake::of)?;
    if !unreadable.is_empty() {
        say(&format!(
            "{}; this is {id}, the newest session that can be read",
            explain_unreadable(&unreadable)
        ))?;
    }
    Ok(id)
}

/// Finds the session to continue.
///
/// # Errors
/// If a newer one cannot be read: an older one is never continued in its place without being named.
pub fn find_continued(sessions: &Sessions, folder: &Path) -> Result<crate::chat::SessionId> {
    let latest = sessions.latest(folder).map_err(Mistake::of)?;
    match explain_doubt(&latest) {
        None => Ok(latest.id),
        Some(doubt) => Err(Mistake(format!("cannot tell which session to continue: {doubt}")).into()),
    }
}

/// Explains why it is not certain which session is the newest. `None` if it is.
pub fn explain_doubt(Latest { id, unreadable }: &Latest) -> Option<String> {
    let explain = || {
        let newer = if unreadable.len() == 1 { "It is newer than" } else { "They are newer than" };
        let unreadable = explain_unreadable(unreadable);
        format!(
            "{unreadable}. {newer} {id}, the newest session of this folder that can be read. To continue that: aye --resume {id}"
        )
    };
    (!unreadable.is_empty()).then(explain)
}
