//! Notices about a session for the user, one sentence each.

use crate::agent::Event;
use crate::chat::{Chunk, Conclusion, Entry};

/// Returns the notices of an event.
pub(super) fn describe_event(event: &Event) -> Vec<String> {
    match event {
        Event::FolderInstructionsFound { found, .. } => found.untrusted_notices().collect(),
        Event::RulesLoaded { notices, .. } => notices.clone(),
        Event::ToolsChanged { notices, unaccepted, .. } => {
            let unaccepted = unaccepted.iter().map(|tools| tools.describe_headless());
            notices.iter().cloned().chain(unaccepted).collect()
        }
        Event::ReplyChunk { chunk: Chunk::Retrying { wait, reason, .. }, .. } => {
            vec![format!("{reason}; trying again in {} s", wait.as_secs_f64().ceil())]
        }
        _ => Vec::new(),
    }
}

/// Describes an entry that the user should know of, if it is not shown otherwise.
pub(super) fn describe_entry(entry: &Entry) -> Option<String> {
    match entry {
        Entry::Compacted { tokens: (before, after), .. } => {
            Some(format!("earlier messages were summarised · {before} → {after} tokens"))
        }
        Entry::UnacceptedTools(unaccepted) => Some(unaccepted.describe_headless()),
        Entry::FellBack { model, reason } => Some(format!("{}; fell back to {model}", reason.trim_end_matches('.'))),
        Entry::Concluded(conclusion @ (Conclusion::Finished { .. } | Conclusion::Parked { .. })) => {
            Some(format!("{} {}", conclusion.message(), conclusion.describe()))
        }
        _ => None,
    }
}
