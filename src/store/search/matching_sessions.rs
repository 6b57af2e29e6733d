//! The sessions of a project that match, each with the line found, reported in batches.

use super::{Scope, SearchWords};
use crate::chat::SessionId;
use crate::store::Sessions;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// Maximum number of sessions found.
const MAX_SESSIONS: usize = 500;
/// Interval between batches of results.
const INTERVAL: Duration = Duration::from_millis(100);

/// A session, and the line found in it, which begins with its source, such as `you: …`.
pub type MatchingLine = (SessionId, String);

impl Sessions {
    /// Searches the sessions of a project for these words. Blocks until done, or until `is_wanted` returns false.
    /// `send_results` receives all lines found so far, and whether they are complete.
    pub fn search_project(
        &self,
        project: &Path,
        query: &str,
        is_wanted: &dyn Fn() -> bool,
        send_results: &mut dyn FnMut(&[MatchingLine], bool),
    ) {
        let Some(search_words) = SearchWords::new(query.split_whitespace()) else { return };
        let (mut lines, mut last_sent) = (Vec::new(), Instant::now());
        let scope = Scope { project: Some(project), max_hits: 1, is_wanted };
        let result = self.search(&search_words, &scope, &mut |session_hits| {
            if let Some(hit) = session_hits.hits.first() {
                let line = format!("{}: {}", hit.source.label(), search_words.trim_before_match(&hit.line));
                lines.push((session_hits.listed.id, line));
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Entry;
    use crate::store::{Header, Log};

    #[test]
    fn sends_all_results_and_stops_if_outdated() {
        let home = tempfile::tempdir().unwrap();
        let sessions = Sessions::new(home.path().to_owned());
        for (id, text) in [("01A", "a needle"), ("01B", "nothing"), ("01C", "Needles and pins")] {
            let header = Header::new(SessionId(id.into()), Path::new("/p"), "m", false);
            sessions.begin_session(&header).append(&Entry::UserMessage { text: text.into() }).unwrap();
        }
        let search = |query: &str, is_wanted: bool| {
            let mut last = None;
            sessions.search_project(Path::new("/p"), query, &|| is_wanted, &mut |lines, is_complete| {
                last = Some((lines.to_vec(), is_complete));
            });
            last
        };
        let (mut lines, is_complete) = search("needle", true).unwrap();
        lines.sort();
        let expected = [("01A", "you: a needle"), ("01C", "you: Needles and pins")];
        let expected = expected.map(|(id, line)| (SessionId(id.into()), line.to_owned()));
        assert_eq!((lines, is_complete), (expected.to_vec(), true));
        assert_eq!(search("needle", false), None);
        assert_eq!(search("  ", true), None);
    }
}
