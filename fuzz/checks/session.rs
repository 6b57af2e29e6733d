//! Session files: any content can be read and resumed, and no readable entry is lost.

use aye::agent::{self, State};
use aye::chat::{Entry, Message, Session, SessionId};
use aye::policy::Policy;
use aye::store::{Log, SessionLog, read, session_header};
use tempfile::TempDir;

thread_local! {
    /// Folder of the file that the bytes are read from.
    static FOLDER: TempDir = tempfile::tempdir().expect("there is a folder for temporary files");
}

/// Checks these bytes as a session file.
pub fn check(bytes: &[u8]) {
    FOLDER.with(|folder| {
        let id = SessionId("01FUZZ".to_owned());
        let file = session_header::session_path(folder.path(), &id);
        std::fs::write(&file, bytes).expect("the file can be written");
        let before = read(&file).expect("the file can be read");
        assert_eq!(before.entries.len(), before.times.len());
        check_messages(Session::replay(before.entries.iter().cloned()));

        // After another message everything can be read again.
        let (mut log, opened) = SessionLog::open(folder.path(), &id).expect("the session can be opened");
        assert_eq!(opened.entries, before.entries, "opening returned other entries");
        log.append(&Entry::UserMessage { text: "one more".to_owned() }).expect("the session can be appended to");
        drop(log);
        let after = read(&file).expect("the file can be read again");
        let (last, rest) = after.entries.split_last().expect("the message was appended");
        assert_eq!(rest, before.entries, "an entry was lost");
        assert_eq!(last, &Entry::UserMessage { text: "one more".to_owned() });
        let kept = std::fs::read(&file).expect("the file can be read");
        assert!(kept.starts_with(bytes), "existing bytes of the file changed");
    });
}

/// Checks that the session yields valid messages for a provider, also after it was resumed.
fn check_messages(session: Session) {
    assert_well_formed(&session.messages(0, usize::MAX));
    let blank = State::new(Policy::default(), "m".to_owned(), "prompt".to_owned(), Vec::new());
    let (state, _) = agent::resume_session(session, blank, &Default::default());
    assert_well_formed(&state.session.messages(0, usize::MAX));
    if state.is_idle() {
        assert!(state.session.open_calls().is_empty() && !state.session.is_mid_turn(), "a call or a turn is open");
    }
}

/// Checks that the outcome of every call is before the next message. Two calls of a damaged file may share an ID.
fn assert_well_formed(messages: &[Message]) {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            Message::Tool { call, .. } => {
                let at = open.iter().position(|id| *id == call.0);
                open.remove(at.unwrap_or_else(|| panic!("an outcome without a call: {}", call.0)));
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
