//! Tests of incomplete replies in a session's file.

use super::super::session_reader;
use super::*;
use crate::chat::partial_reply::TextPart;
use crate::chat::{Digest, Ending, Outcome, SessionId};
use crate::store::{Header, Log, SessionLog};
use std::path::Path;

fn header() -> Header {
    Header::new(SessionId("01J".into()), Path::new("/p"), "m", false)
}

fn reply_piece(from: usize, part: &str) -> PartialReply {
    let (text, reasoning) = (TextPart(from, part.into()), TextPart::default());
    PartialReply { sub_agent_call: None, model: "m".into(), text, reasoning }
}

fn replied(text: &str, reason: Option<&str>) -> Entry {
    Entry::Replied {
        text: text.into(),
        reasoning: String::new(),
        calls: vec![],
        incomplete: reason.map(str::to_owned),
        model: "m".into(),
        usage: None,
        thought_ms: 0,
        echo: None,
    }
}

fn user_message(text: &str) -> Entry {
    Entry::UserMessage { text: text.into() }
}

fn sub_agent_entry(call: &str, entry: Entry) -> Entry {
    Entry::SubAgent { call: call.into(), entry: Box::new(entry) }
}

/// A step that is written.
enum Step {
    Logged(Entry),
    Piece(PartialReply),
}
use Step::{Logged, Piece};

/// Writes the steps, reads the session and compares the entries.
#[track_caller]
fn check_steps(steps: &[Step], expected: &[Entry], incomplete_count: usize) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let mut log = SessionLog::new(home.path(), &header());
    for step in steps {
        match step {
            Logged(entry) => log.append(entry).unwrap(),
            Piece(piece) => log.append_reply_piece(piece).unwrap(),
        }
    }
    let session = session_reader::read(log.path()).unwrap();
    assert_eq!(session.entries, expected);
    assert_eq!(
        (session.incomplete_count, session.times.len(), session.notices.len()),
        (incomplete_count, expected.len(), 0)
    );
    home
}

#[test]
fn r51_restores_incomplete_reply() {
    let (first_piece, second_piece) = (|| Piece(reply_piece(0, "one ")), || Piece(reply_piece(4, "two")));
    let incomplete = || replied("one two", Some(INCOMPLETE_REASON));
    check_steps(&[Logged(user_message("a")), first_piece(), second_piece()], &[user_message("a"), incomplete()], 1);
    check_steps(
        &[Logged(user_message("a")), first_piece(), second_piece(), Logged(replied("one two three", None))],
        &[user_message("a"), replied("one two three", None)],
        0,
    );
    // An unrelated entry does not complete the reply.
    let fallback = || Entry::FellBack { model: "n".into(), reason: "busy".into() };
    check_steps(
        &[Logged(user_message("a")), first_piece(), Logged(fallback()), second_piece()],
        &[user_message("a"), fallback(), incomplete()],
        1,
    );
    let ended = || Entry::Ended { ending: Ending::Interrupted };
    check_steps(&[Logged(user_message("a")), first_piece(), Logged(ended())], &[user_message("a"), ended()], 0);
    // A second reply is independent of the first.
    check_steps(
        &[first_piece(), Logged(replied("one", None)), Piece(reply_piece(0, "more"))],
        &[replied("one", None), replied("more", Some(INCOMPLETE_REASON))],
        1,
    );
}

#[test]
fn r51_incomplete_replies_of_sub_agents_are_separate() {
    let sub_agent_piece =
        |call: &str, text: &str| Piece(PartialReply { sub_agent_call: Some(call.into()), ..reply_piece(0, text) });
    let settled = Entry::Settled {
        call: "b".into(),
        outcome: Outcome::Done(String::new()),
        took_ms: 0,
        staged: None,
        sha256: Digest::default(),
        usage: None,
    };
    check_steps(
        &[
            sub_agent_piece("a", "of a"),
            sub_agent_piece("b", "of b"),
            sub_agent_piece("c", "of c"),
            Logged(settled.clone()),
            Logged(sub_agent_entry("c", replied("c", None))),
        ],
        &[
            settled,
            sub_agent_entry("c", replied("c", None)),
            sub_agent_entry("a", replied("of a", Some(INCOMPLETE_REASON))),
        ],
        1,
    );
}

#[test]
fn r51_continuing_stores_incomplete_reply_once_and_first() {
    let home = check_steps(
        &[Logged(user_message("a")), Piece(reply_piece(0, "half"))],
        &[user_message("a"), replied("half", Some(INCOMPLETE_REASON))],
        1,
    );
    let id = header().id;
    let before = std::fs::read(super::super::session_header::session_path(home.path(), &id)).unwrap();
    let (mut log, session) = SessionLog::open(home.path(), &id).unwrap();
    assert_eq!(std::fs::read(log.path()).unwrap(), before, "opening alone writes nothing");
    assert_eq!(session.entries.len(), 2);
    log.append(&Entry::Ended { ending: Ending::Interrupted }).unwrap();
    drop(log);
    for _ in 0..2 {
        let (_, reopened) = SessionLog::open(home.path(), &id).unwrap();
        let ended = Entry::Ended { ending: Ending::Interrupted };
        assert_eq!(reopened.entries, [user_message("a"), replied("half", Some(INCOMPLETE_REASON)), ended]);
        assert_eq!((reopened.incomplete_count, reopened.last_seq, reopened.notices.len()), (0, 4, 0));
    }
}

#[test]
fn r52_damaged_piece_loses_only_itself() {
    let home = check_steps(
        &[
            Logged(user_message("a")),
            Piece(reply_piece(0, "one ")),
            Piece(reply_piece(4, "two ")),
            Piece(reply_piece(8, "three")),
        ],
        &[user_message("a"), replied("one two three", Some(INCOMPLETE_REASON))],
        1,
    );
    let path = super::super::session_header::session_path(home.path(), &header().id);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("two ", "t\u{0}o")).unwrap();
    let damaged = session_reader::read(&path).unwrap();
    assert_eq!(damaged.entries[1], replied("one …three", Some(INCOMPLETE_REASON)));
    assert_eq!(damaged.notices.len(), 1, "{:?}", damaged.notices);
    std::fs::write(&path, &text[..text.len() - 4]).unwrap();
    let torn = session_reader::read(&path).unwrap();
    assert_eq!((torn.entries[1].clone(), torn.notices.len()), (replied("one two ", Some(INCOMPLETE_REASON)), 1));
}

#[test]
fn older_versions_skip_pieces_by_kind() {
    #[derive(serde::Deserialize)]
    struct Outline {
        seq: u64,
        entry: serde_json::Value,
    }
    let line =
        serde_json::to_string(&Line { at: 1, ..Line::now(7, super::Piece::Reply(Cow::Owned(reply_piece(0, "x")))) })
            .unwrap();
    let outline: Outline = serde_json::from_str(&line).unwrap();
    assert_eq!((outline.seq, outline.entry["kind"].as_str()), (7, Some("grown")));
    assert!(is_piece(line.as_bytes()) && serde_json::from_value::<Entry>(outline.entry).is_err());
}

#[test]
fn restores_output_of_unsettled_calls() {
    let home = tempfile::tempdir().unwrap();
    let mut log = SessionLog::new(home.path(), &header());
    log.append(&user_message("go")).unwrap();
    let append_output = |log: &mut SessionLog, call: &str, text: &str| {
        log.append_output_piece(&PartialOutput { call: call.into(), text: text.into() }).unwrap();
    };
    let append_entry = |log: &mut SessionLog, entry: Entry| log.append(&entry).unwrap();
    let settled = |call: &str| Entry::Settled {
        call: call.into(),
        outcome: Outcome::Done("x".into()),
        took_ms: 0,
        sha256: Digest::default(),
        staged: None,
        usage: None,
    };
    append_output(&mut log, "a", "one\n");
    append_output(&mut log, "b", "of b\n");
    append_output(&mut log, "c", "of c\n");
    append_output(&mut log, "a", "two \u{1b}[31m\n");
    append_entry(&mut log, settled("b"));
    append_entry(&mut log, sub_agent_entry("t", settled("c")));
    let session = session_reader::read(log.path()).unwrap();
    assert_eq!(session.unfinished_outputs, HashMap::from([("a".into(), "one\ntwo \u{1b}[31m\n".to_owned())]));
    assert_eq!(
        (session.entries.len(), session.incomplete_count, session.notices.len(), session.last_seq),
        (3, 0, 0, 7)
    );
}

#[test]
fn r52_in_a_file_with_every_line_twice_a_piece_counts_once() {
    let home = tempfile::tempdir().unwrap();
    let mut log = SessionLog::new(home.path(), &header());
    log.append(&user_message("go")).unwrap();
    for text in ["one\n", "one\n", "two\n"] {
        log.append_output_piece(&PartialOutput { call: "a".into(), text: text.into() }).unwrap();
    }
    log.append_reply_piece(&reply_piece(0, "half ")).unwrap();
    log.append_reply_piece(&reply_piece(5, "a reply")).unwrap();
    let once = std::fs::read_to_string(log.path()).unwrap();
    let twice: String = once.lines().map(|line| format!("{line}\n{line}\n")).collect();
    for content in [once.clone(), twice, once.repeat(2)] {
        std::fs::write(log.path(), content).unwrap();
        let session = session_reader::read(log.path()).unwrap();
        assert_eq!(session.unfinished_outputs, HashMap::from([("a".into(), "one\none\ntwo\n".to_owned())]));
        assert_eq!(session.entries, [user_message("go"), replied("half a reply", Some(INCOMPLETE_REASON))]);
    }
}
