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

/// Maximum number of sessions sent.
const MAX_SESSIONS: usize = 500;
/// Interval between batches of results.
const INTERVAL: Duration = Duration::from_millis(100);

/// Searches the sessions of a project for these words and sends the lines found. Blocks until done, or until a newer
/// search starts.
pub(super) fn search_sessions(
    sessions: &Sessions,
    project: &Path,
    query: &str,
    latest: &LatestRequest,
    number: u64,
    replies: &Sender<HostReply>,
) {
    let Some(search_words) = SearchWords::new(query.split_whitespace()) else { return };
    let mut lines: Vec<(SessionId, String)> = Vec::new();
    let mut last_sent = Instant::now();
    // The screen may be closed.
    let send_results = |lines: &[(SessionId, String)], is_complete| {
        let reply = HostReply::SearchResults { query: query.to_owned(), matches: lines.to_vec(), is_complete };
        let _ = replies.blocking_send(reply);
    };
    let is_wanted = || latest.is_latest(number);
    let scope = Scope { project: Some(project), max_hits: 1, is_wanted: &is_wanted };
    let result = sessions.search(&search_words, &scope, &mut |session_hits| {
        if let Some(hit) = session_hits.hits.first() {
            lines.push((
                session_hits.listed.id,
                format!("{}: {}", hit.source.label(), search_words.from_word(&hit.line)),
            ));
        }
        if last_sent.elapsed() > INTERVAL {
            send_results(&lines, false);
            last_sent = Instant::now();
        }
        if lines.len() < MAX_SESSIONS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    // Unreadable sessions are marked in the list; all others were searched.
    drop(result);
    if is_wanted() {
        send_results(&lines, true);
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
        let (sender, mut receiver) = channel(64);
        let latest = LatestRequest::default();
        let number = latest.start_request();
        search_sessions(&sessions, Path::new("/p"), "needle", &latest, number, &sender);
        // A slow machine sends partial results first.
        let (query, mut lines, is_complete) = loop {
            let Some(HostReply::SearchResults { query, matches: lines, is_complete }) = receiver.blocking_recv() else {
                panic!()
            };
            if is_complete {
                break (query, lines, is_complete);
            }
        };
        lines.sort();
        let expected = [("01A", "you: a needle"), ("01C", "you: Needles and pins")];
        let expected = expected.map(|(id, line)| (SessionId(id.into()), line.to_owned()));
        assert_eq!((query.as_str(), lines, is_complete), ("needle", expected.to_vec(), true));
        latest.start_request();
        search_sessions(&sessions, Path::new("/p"), "needle", &latest, number, &sender);
        search_sessions(&sessions, Path::new("/p"), "  ", &latest, number, &sender);
        assert!(receiver.try_recv().is_err());
    }
}
