//! A session's file: whatever stands in it, it is read, can be gone on with, and nothing that could be read is lost.

use aye::agent::{self, State};
use aye::chat::{Entry, Message, Session, SessionId};
use aye::policy::Policy;
use aye::store::{Log, SessionLog, read, session_log};
use tempfile::TempDir;

thread_local! {
    /// Where the bytes are put: they are read from a file, as always.
    static FOLDER: TempDir = tempfile::tempdir().expect("there is a folder for temporary files");
}

/// Bytes of a session's file.
pub fn check(bytes: &[u8]) {
    FOLDER.with(|folder| {
        let id = SessionId("01FUZZ".to_owned());
        let file = session_log::session_path(folder.path(), &id);
        std::fs::write(&file, bytes).expect("it can be written");
        let before = read(&file).expect("it can be read");
        assert_eq!(before.entries.len(), before.times.len());
        talks(Session::replay(before.entries.iter().cloned()));

        // One more is said in it, and everything is there the next time.
        let (mut log, opened) = SessionLog::open(folder.path(), &id).expect("it can be opened");
        assert_eq!(opened.entries, before.entries, "opened it is another session");
        log.append(&Entry::UserMessage { text: "one more".to_owned() }).expect("it can be added to");
        drop(log);
        let after = read(&file).expect("it can be read again");
        let (last, rest) = after.entries.split_last().expect("something was added");
        assert_eq!(rest, before.entries, "something was lost");
        assert_eq!(last, &Entry::UserMessage { text: "one more".to_owned() });
        let kept = std::fs::read(&file).expect("it can be read");
        assert!(kept.starts_with(bytes), "bytes that stood in the file were changed");
    });
}

/// The session as it is and gone on with makes a talk that a service takes.
fn talks(session: Session) {
    is_well_formed(&session.messages());
    let blank = State::new(Policy::default(), "m".to_owned(), "words".to_owned(), Vec::new());
    let (state, _) = agent::resume(session, blank);
    is_well_formed(&state.session.messages());
    if state.is_idle() {
        assert!(state.session.open_calls().is_empty() && !state.session.is_mid_turn(), "something is open");
    }
}

/// Every call is followed by its outcome, before anybody says anything else. Two calls of a damaged file may have one id.
fn is_well_formed(messages: &[Message]) {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            Message::Tool { call, .. } => {
                let at = open.iter().position(|id| *id == call.0);
                open.remove(at.unwrap_or_else(|| panic!("an outcome of no call: {}", call.0)));
            }
            Message::Model { calls, .. } => {
                assert!(open.is_empty(), "calls without an outcome: {open:?}");
                open.extend(calls.iter().map(|call| call.id.0.as_str()));
            }
            Message::User(_) | Message::System(_) => {
                assert!(open.is_empty(), "calls without an outcome: {open:?}");
            }
        }
    }
    assert!(open.is_empty(), "calls without an outcome: {open:?}");
}
