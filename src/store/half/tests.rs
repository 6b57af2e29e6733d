//! Tests of incomplete replies in a session's file.

use super::super::read;
use super::*;
use crate::chat::grown::More;
use crate::chat::{Digest, Ending, Outcome, SessionId};
use crate::store::{Header, Lines, Log};
use std::path::Path;

fn header() -> Header {
    Header::new(SessionId("01J".into()), Path::new("/p"), "m", false)
}

fn grown(from: usize, more: &str) -> Grown {
    let (text, reasoning) = (More(from, more.into()), More::default());
    Grown { beneath: None, model: "m".into(), text, reasoning }
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

fn said(text: &str) -> Entry {
    Entry::Said { text: text.into() }
}

fn below(call: &str, entry: Entry) -> Entry {
    Entry::Beneath { call: call.into(), entry: Box::new(entry) }
}

/// A step that is written.
enum Step {
    Fact(Entry),
    Grew(Grown),
}
use Step::{Fact, Grew};

/// Writes the steps and compares what is read back.
#[track_caller]
fn check(steps: &[Step], facts: &[Entry], halves: usize) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let mut lines = Lines::new(home.path(), &header());
    for step in steps {
        match step {
            Fact(entry) => lines.append(entry).unwrap(),
            Grew(grown) => lines.grew(grown).unwrap(),
        }
    }
    let read = read::read(lines.path()).unwrap();
    assert_eq!(read.entries, facts);
    assert_eq!((read.halves, read.times.len(), read.notices.len()), (halves, facts.len(), 0));
    home
}

#[test]
fn r51_restores_incomplete_reply() {
    let (one, two) = (|| Grew(grown(0, "one ")), || Grew(grown(4, "two")));
    let half = || replied("one two", Some(WHY));
    check(&[Fact(said("a")), one(), two()], &[said("a"), half()], 1);
    check(
        &[Fact(said("a")), one(), two(), Fact(replied("one two three", None))],
        &[said("a"), replied("one two three", None)],
        0,
    );
    // An unrelated entry does not complete the reply.
    let beside = || Entry::FellBack { model: "n".into(), why: "busy".into() };
    check(&[Fact(said("a")), one(), Fact(beside()), two()], &[said("a"), beside(), half()], 1);
    let ended = || Entry::Ended { ending: Ending::Interrupted };
    check(&[Fact(said("a")), one(), Fact(ended())], &[said("a"), ended()], 0);
    // A second reply is independent of the first.
    check(
        &[one(), Fact(replied("one", None)), Grew(grown(0, "more"))],
        &[replied("one", None), replied("more", Some(WHY))],
        1,
    );
}

#[test]
fn r51_incomplete_replies_of_sub_agents_are_separate() {
    let of = |call: &str, text: &str| Grew(Grown { beneath: Some(call.into()), ..grown(0, text) });
    let settled = Entry::Settled {
        call: "b".into(),
        outcome: Outcome::Done(String::new()),
        took_ms: 0,
        staged: None,
        sha256: Digest::default(),
    };
    check(
        &[
            of("a", "of a"),
            of("b", "of b"),
            of("c", "of c"),
            Fact(settled.clone()),
            Fact(below("c", replied("c", None))),
        ],
        &[settled, below("c", replied("c", None)), below("a", replied("of a", Some(WHY)))],
        1,
    );
}

#[test]
fn r51_continuing_stores_incomplete_reply_once_and_first() {
    let home = check(&[Fact(said("a")), Grew(grown(0, "half"))], &[said("a"), replied("half", Some(WHY))], 1);
    let id = header().id;
    let before = std::fs::read(super::super::lines::path(home.path(), &id)).unwrap();
    let (mut lines, read) = Lines::open(home.path(), &id).unwrap();
    assert_eq!(std::fs::read(lines.path()).unwrap(), before, "opening alone writes nothing");
    assert_eq!(read.entries.len(), 2);
    lines.append(&Entry::Ended { ending: Ending::Interrupted }).unwrap();
    drop(lines);
    for _ in 0..2 {
        let (_, again) = Lines::open(home.path(), &id).unwrap();
        let ended = Entry::Ended { ending: Ending::Interrupted };
        assert_eq!(again.entries, [said("a"), replied("half", Some(WHY)), ended]);
        assert_eq!((again.halves, again.last_seq, again.notices.len()), (0, 4, 0));
    }
}

#[test]
fn r52_damaged_piece_loses_only_itself() {
    let home = check(
        &[Fact(said("a")), Grew(grown(0, "one ")), Grew(grown(4, "two ")), Grew(grown(8, "three"))],
        &[said("a"), replied("one two three", Some(WHY))],
        1,
    );
    let path = super::super::lines::path(home.path(), &header().id);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("two ", "t\u{0}o")).unwrap();
    let damaged = read::read(&path).unwrap();
    assert_eq!(damaged.entries[1], replied("one …three", Some(WHY)));
    assert_eq!(damaged.notices.len(), 1, "{:?}", damaged.notices);
    std::fs::write(&path, &text[..text.len() - 4]).unwrap();
    let torn = read::read(&path).unwrap();
    assert_eq!((torn.entries[1].clone(), torn.notices.len()), (replied("one two ", Some(WHY)), 1));
}

#[test]
fn older_versions_skip_pieces_by_kind() {
    #[derive(serde::Deserialize)]
    struct Outline {
        seq: u64,
        entry: serde_json::Value,
    }
    let line = serde_json::to_string(&Line::grown(7, 1, &grown(0, "x"))).unwrap();
    let outline: Outline = serde_json::from_str(&line).unwrap();
    assert_eq!((outline.seq, outline.entry["kind"].as_str()), (7, Some("grown")));
    assert!(is_one(line.as_bytes()) && serde_json::from_value::<Entry>(outline.entry).is_err());
}

#[test]
fn restores_output_of_unsettled_calls() {
    let home = tempfile::tempdir().unwrap();
    let mut lines = Lines::new(home.path(), &header());
    lines.append(&said("go")).unwrap();
    let print = |lines: &mut Lines, call: &str, text: &str| {
        lines.printed(&Printed { call: call.into(), text: text.into() }).unwrap();
    };
    let settle = |lines: &mut Lines, entry: Entry| lines.append(&entry).unwrap();
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
    settle(&mut lines, below("t", settled("c")));
    let read = read::read(lines.path()).unwrap();
    assert_eq!(read.printed, HashMap::from([("a".into(), "one\ntwo \u{1b}[31m\n".to_owned())]));
    assert_eq!((read.entries.len(), read.halves, read.notices.len(), read.last_seq), (3, 0, 0, 7));
}
