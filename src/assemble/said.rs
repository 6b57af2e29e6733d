//! Finds what was said, for the list of sessions: away from the screen, and told as it is found.

use super::files::Wanted;
use crate::chat::SessionId;
use crate::store::Sessions;
use crate::store::search::{Scope, Words};
use crate::tui::host::Reply;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;

/// Sessions that are told at most: more than anybody reads through.
const MOST: usize = 500;
/// So often what was found is told while more is looked for.
const EVERY: Duration = Duration::from_millis(100);

/// Looks through the sessions of a project for these words, and tells of the lines; blocks until it is through, or until
/// other words are wanted.
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
    // The screen may be gone by now.
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
    // What cannot be read is in the list as such; the words of all others were found.
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
    fn what_is_found_is_told_to_the_end_and_nothing_to_nobody() {
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
        // On a slow machine some of it is told before all of it is found.
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
