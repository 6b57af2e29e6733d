//! Searches sessions for the screen's list, on another thread, and sends results as they are found.

use super::files::Wanted;
use crate::chat::SessionId;
use crate::store::Sessions;
use crate::store::search::{Scope, Words};
use crate::tui::host::Reply;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;

/// Sessions sent at most.
const MOST: usize = 500;
/// Interval between batches of results.
const EVERY: Duration = Duration::from_millis(100);

/// Searches the sessions of a project for these words and sends the lines found. Blocks until done, or until a newer
/// search starts.
pub(super) fn find(
    sessions: &Sessions,
    project: &Path,
    typed: &str,
    wanted: &Wanted,
    number: u64,
    replies: &Sender<Reply>,
) {
    let Some(words) = Words::new(typed.split_whitespace()) else { return };
    let mut lines: Vec<(SessionId, String)> = Vec::new();
    let mut told = Instant::now();
    // The screen may be closed.
    let tell = |lines: &[(SessionId, String)], whole| {
        let found = Reply::Found { words: typed.to_owned(), lines: lines.to_vec(), whole };
        let _ = replies.blocking_send(found);
    };
    let is_wanted = || wanted.is_last(number);
    let scope = Scope { project: Some(project), most: 1, wanted: &is_wanted };
    let searched = sessions.search(&words, &scope, &mut |found| {
        if let Some(hit) = found.hits.first() {
            lines.push((found.listed.id, format!("{}: {}", hit.whose.word(), words.from_word(&hit.line))));
        }
        if told.elapsed() > EVERY {
            tell(&lines, false);
            told = Instant::now();
        }
        if lines.len() < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
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
            sessions.begin(&header).append(&Entry::Said { text: text.into() }).unwrap();
        }
        let (tell, mut told) = channel(64);
        let wanted = Wanted::default();
        let number = wanted.anew();
        find(&sessions, Path::new("/p"), "needle", &wanted, number, &tell);
        // A slow machine sends partial results first.
        let (words, mut lines, whole) = loop {
            let Some(Reply::Found { words, lines, whole }) = told.blocking_recv() else { panic!() };
            if whole {
                break (words, lines, whole);
            }
        };
        lines.sort();
        let expected = [("01A", "you: a needle"), ("01C", "you: Needles and pins")];
        let expected = expected.map(|(id, line)| (SessionId(id.into()), line.to_owned()));
        assert_eq!((words.as_str(), lines, whole), ("needle", expected.to_vec(), true));
        wanted.anew();
        find(&sessions, Path::new("/p"), "needle", &wanted, number, &tell);
        find(&sessions, Path::new("/p"), "  ", &wanted, number, &tell);
        assert!(told.try_recv().is_err());
    }
}
