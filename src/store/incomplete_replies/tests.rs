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

fn grown(from: usize, more: &str) -> PartialReply {
    let (text, reasoning) = (TextPart(from, more.into()), TextPart::default());
    PartialReply { sub_agent_call: None, model: "m".into(), text, reasoning }
}

fn replied(text: &str, why: Option<&str>) -> Entry {
    Entry::Replied {
        text: text.into(),
        reasoning: String::new(),
        calls: vec![],
        incomplete: why.map(str::to_owned),
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
    Fact(Entry),
    Grew(PartialReply),
}
use Step::{Fact, Grew};

/// Writes the steps and compares what is read back.
#[track_caller]
fn check_steps(steps: &[Step], facts: &[Entry], halves: usize) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let mut lines = SessionLog::new(home.path(), &header());
    for step in steps {
        match step {
            Fact(entry) => lines.append(entry).unwrap(),
            Grew(grown) => lines.append_reply_piece(grown).unwrap(),
        }
    }
    let read = session_reader::read(lines.path()).unwrap();
    assert_eq!(read.entries, facts);
    assert_eq!((read.incomplete_count, read.times.len(), read.notices.len()), (halves, facts.len(), 0));
    home
}

#[test]
fn r51_restores_incomplete_reply() {
    let (one, two) = (|| Grew(grown(0, "one ")), || Grew(grown(4, "two")));
    let half = || replied("one two", Some(INCOMPLETE_REASON));
    check_steps(&[Fact(user_message("a")), one(), two()], &[user_message("a"), half()], 1);
    check_steps(
        &[Fact(user_message("a")), one(), two(), Fact(replied("one two three", None))],
        &[user_message("a"), replied("one two three", None)],
        0,
    );
    // An unrelated entry does not complete the reply.
    let beside = || Entry::FellBack { model: "n".into(), reason: "busy".into() };
    check_steps(&[Fact(user_message("a")), one(), Fact(beside()), two()], &[user_message("a"), beside(), half()], 1);
    let ended = || Entry::Ended { ending: Ending::Interrupted };
    check_steps(&[Fact(user_message("a")), one(), Fact(ended())], &[user_message("a"), ended()], 0);
    // A second reply is independent of the first.
    check_steps(
        &[one(), Fact(replied("one", None)), Grew(grown(0, "more"))],
        &[replied("one", None), replied("more", Some(INCOMPLETE_REASON))],
        1,
    );
}

#[test]
fn r51_incomplete_replies_of_sub_agents_are_separate() {
    let of = |call: &str, text: &str| Grew(PartialReply { sub_agent_call: Some(call.into()), ..grown(0, text) });
    let settled = Entry::Settled {
        call: "b".into(),
        outcome: Outcome::Done(String::new()),
        took_ms: 0,
        staged: None,
        sha256: Digest::default(),
    };
    check_steps(
        &[
            of("a", "of a"),
            of("b", "of b"),
            of("c", "of c"),
            Fact(settled.clone()),
            Fact(sub_agent_entry("c", replied("c", None))),
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
        &[Fact(user_message("a")), Grew(grown(0, "half"))],
        &[user_message("a"), replied("half", Some(INCOMPLETE_REASON))],
        1,
    );
    let id = header().id;
    let before = std::fs::read(super::super::session_header::session_path(home.path(), &id)).unwrap();
    let (mut lines, read) = SessionLog::open(home.path(), &id).unwrap();
    assert_eq!(std::fs::read(lines.path()).unwrap(), before, "opening alone writes nothing");
    assert_eq!(read.entries.len(), 2);
    lines.append(&Entry::Ended { ending: Ending::Interrupted }).unwrap();
    drop(lines);
    for _ in 0..2 {
        let (_, again) = SessionLog::open(home.path(), &id).unwrap();
        let ended = Entry::Ended { ending: Ending::Interrupted };
        assert_eq!(again.entries, [user_message("a"), replied("half", Some(INCOMPLETE_REASON)), ended]);
        assert_eq!((again.incomplete_count, again.last_seq, again.notices.len()), (0, 4, 0));
    }
}

#[test]
fn r52_damaged_piece_loses_only_itself() {
    let home = check_steps(
        &[Fact(user_message("a")), Grew(grown(0, "one ")), Grew(grown(4, "two ")), Grew(grown(8, "three"))],
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
    let line = serde_json::to_string(&Line::reply_piece(7, 1, &grown(0, "x"))).unwrap();
    let outline: Outline = serde_json::from_str(&line).unwrap();
    assert_eq!((outline.seq, outline.entry["kind"].as_str()), (7, Some("grown")));
    assert!(is_piece(line.as_bytes()) && serde_json::from_value::<Entry>(outline.entry).is_err());
}

#[test]
fn restores_output_of_unsettled_calls() {
    let home = tempfile::tempdir().unwrap();
    let mut lines = SessionLog::new(home.path(), &header());
    lines.append(&user_message("go")).unwrap();
    let print = |lines: &mut SessionLog, call: &str, text: &str| {
        lines.append_output_piece(&PartialOutput { call: call.into(), text: text.into() }).unwrap();
    };
    let settle = |lines: &mut SessionLog, entry: Entry| lines.append(&entry).unwrap();
    let settled = |call: &str| Entry::Settled {
        call: call.into(),
        outcome: Outcome::Done("x".into()),
        took_ms: 0,
        sha256: Digest::default(),
        staged: None,
    };
    print(&mut lines, "a", "one\n");
    print(&mut lines, "b", "of b\n");
    print(&mut lines, "c", "of c\n");
    print(&mut lines, "a", "two \u{1b}[31m\n");
    settle(&mut lines, settled("b"));
    settle(&mut lines, sub_agent_entry("t", settled("c")));
    let read = session_reader::read(lines.path()).unwrap();
    assert_eq!(read.printed, HashMap::from([("a".into(), "one\ntwo \u{1b}[31m\n".to_owned())]));
    assert_eq!((read.entries.len(), read.incomplete_count, read.notices.len(), read.last_seq), (3, 0, 0, 7));
}
