//! Searches sessions for the screen's list, on another thread, and sends results as they are found.

use super::file_names::LatestRequest;
use crate::chat::SessionId;
use crate::store::Sessions;
use crate::store::search::{Scope, SearchWords};
use crate::tui::host::HostReply;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;

/// Sessions sent at most.
const MAX_SESSIONS: usize = 500;
/// Interval between batches of results.
const INTERVAL: Duration = Duration::from_millis(100);

/// Searches the sessions of a project for these words and sends the lines found. Blocks until done, or until a newer
/// search starts.
pub(super) fn search_sessions(
    sessions: &Sessions,
    project: &Path,
    typed: &str,
    wanted: &LatestRequest,
    number: u64,
    replies: &Sender<HostReply>,
) {
    let Some(words) = SearchWords::new(typed.split_whitespace()) else { return };
    let mut lines: Vec<(SessionId, String)> = Vec::new();
    let mut told = Instant::now();
    // The screen may be closed.
    let tell = |lines: &[(SessionId, String)], whole| {
        let found = HostReply::SearchResults { words: typed.to_owned(), lines: lines.to_vec(), whole };
        let _ = replies.blocking_send(found);
    };
    let is_wanted = || wanted.is_latest(number);
    let scope = Scope { project: Some(project), max_hits: 1, is_wanted: &is_wanted };
    let searched = sessions.search(&words, &scope, &mut |found| {
        if let Some(hit) = found.hits.first() {
            lines.push((found.listed.id, format!("{}: {}", hit.source.label(), words.from_word(&hit.line))));
        }
        if told.elapsed() > INTERVAL {
            tell(&lines, false);
            told = Instant::now();
        }
        if lines.len() < MAX_SESSIONS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    // Unreadable sessions are marked in the list; all others were searched.
    drop(searched);
    if is_wanted() {
        tell(&lines, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Entry;
    use crate::store::{Header, Log};
    use tokio::sync::mpsc::channel;

    #[test]
    fn sends_all_results_and_stops_if_outdated() {
        let home = tempfile::tempdir().unwrap();
        let sessions = Sessions::new(home.path().to_owned());
        for (id, text) in [("01A", "a needle"), ("01B", "nothing"), ("01C", "Needles and pins")] {
            let header = Header::new(SessionId(id.into()), Path::new("/p"), "m", false);
            sessions.begin_session(&header).append(&Entry::UserMessage { text: text.into() }).unwrap();
        }
        let (tell, mut told) = channel(64);
        let wanted = LatestRequest::default();
        let number = wanted.start_request();
        search_sessions(&sessions, Path::new("/p"), "needle", &wanted, number, &tell);
        // A slow machine sends partial results first.
        let (words, mut lines, whole) = loop {
            let Some(HostReply::SearchResults { words, lines, whole }) = told.blocking_recv() else { panic!() };
            if whole {
                break (words, lines, whole);
            }
        };
        lines.sort();
        let expected = [("01A", "you: a needle"), ("01C", "you: Needles and pins")];
        let expected = expected.map(|(id, line)| (SessionId(id.into()), line.to_owned()));
        assert_eq!((words.as_str(), lines, whole), ("needle", expected.to_vec(), true));
        wanted.start_request();
        search_sessions(&sessions, Path::new("/p"), "needle", &wanted, number, &tell);
        search_sessions(&sessions, Path::new("/p"), "  ", &wanted, number, &tell);
        assert!(told.try_recv().is_err());
    }
}
