//! Tests of searches, also in damaged and crowded folders.

use super::*;
use crate::chat::grown::More;
use crate::chat::{
    Answer, CallId, Choice, Digest, Given, Grown, Namer, Outcome, Question, Questions, Status,
};
use crate::store::{Header, Log};
use std::fs;

fn sessions() -> (tempfile::TempDir, Sessions) {
    let home = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(home.path().to_owned());
    (home, sessions)
}

fn said(text: &str) -> Entry {
    Entry::Said { text: text.into() }
}

fn replied(text: &str) -> Entry {
    let line = serde_json::json!({ "kind": "replied", "text": text });
    serde_json::from_value(line).unwrap()
}

fn held(sessions: &Sessions, id: &str, folder: &str, entries: &[Entry]) {
    let mut lines = sessions.begin(&Header::new(SessionId(id.into()), Path::new(folder), "m", false));
    for entry in entries {
        lines.append(entry).unwrap();
    }
}

/// A session, its hits, and whether there are more.
type Finding = (String, Vec<(Whose, String)>, bool);

/// Returns the sessions with hits.
fn finds(sessions: &Sessions, words: &[&str]) -> Vec<Finding> {
    let mut all = Vec::new();
    let scope = Scope { project: None, most: 3, wanted: &|| true };
    let unread = sessions.search(&Words::new(words.iter().copied()).unwrap(), &scope, &mut |found| {
        let hits = found.hits.into_iter().map(|hit| (hit.whose, hit.line)).collect();
        all.push((found.listed.id.0, hits, found.more));
        ControlFlow::Continue(())
    });
    assert_eq!(unread.unwrap().len(), 0);
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[track_caller]
fn check(sessions: &Sessions, words: &[&str], expected: &[(&str, Whose, &str)]) {
    let found = finds(sessions, words);
    let found: Vec<_> = found
        .iter()
        .flat_map(|(id, hits, _)| hits.iter().map(move |(whose, line)| (id.as_str(), *whose, line.as_str())))
        .collect();
    assert_eq!(found, expected, "{words:?}");
}

#[test]
fn all_words_must_occur_in_one_message_ignoring_case() {
    let (_home, sessions) = sessions();
    held(
        &sessions,
        "01A",
        "/p",
        &[said("why does\nthe Retry test flake?"), replied("The clock.\nÉTÉ \"quoted\" a\\b")],
    );
    held(&sessions, "01B", "/q", &[said("retry"), said("test")]);
    check(&sessions, &["retry", "TEST"], &[("01A", Whose::Person, "the Retry test flake?")]);
    check(&sessions, &["retry test"], &[("01A", Whose::Person, "the Retry test flake?")]);
    check(&sessions, &["flake", "why"], &[("01A", Whose::Person, "the Retry test flake?")]);
    check(&sessions, &["été"], &[("01A", Whose::Model, "ÉTÉ \"quoted\" a\\b")]);
    check(&sessions, &["\"quoted\" a\\b"], &[("01A", Whose::Model, "ÉTÉ \"quoted\" a\\b")]);
    check(&sessions, &["kind"], &[]);
    check(&sessions, &[".*"], &[]);
    assert!(Words::new(["", "  "]).is_none());
}

#[test]
fn searches_questions_answers_titles_commands_but_no_outputs() {
    let (_home, sessions) = sessions();
    let call: CallId = "c".into();
    let question = Question {
        keyword: "k".into(),
        text: "Which needle?".into(),
        options: vec![Choice::new("needle one")],
        multi: false,
        allow_text: true,
        recommended: None,
    };
    let questions = Questions { list: vec![question], dropped: Default::default() };
    let mut answer = Answer::without(Status::Answered);
    answer.given.push(Given::new("k", Source::Written("my own needle".into())));
    let planned = serde_json::json!({ "kind": "planned", "call": "c", "title": "run a command?", "summary": "x",
        "access": { "reach": "nothing" }, "verdict": "ask",
        "preview": { "as": "command", "what": { "command": "grep needle a", "folder": "/p", "seconds": 3 } } });
    held(
        &sessions,
        "01A",
        "/p",
        &[
            Entry::Asked { call: call.clone(), questions, sha256: Digest::default() },
            Entry::Answered { call: call.clone(), answer, by: None, sha256: Digest::default() },
        ],
    );
    held(
        &sessions,
        "01B",
        "/p",
        &[
            serde_json::from_value(planned).unwrap(),
            Entry::Settled {
                call: call.clone(),
                outcome: Outcome::Done("needle".into()),
                took_ms: 1,
                staged: None,
                sha256: Digest::default(),
            },
            Entry::Beneath { call, entry: Box::new(replied("beneath: needle")) },
            Entry::Titled { title: "The needle".into(), by: Namer::Person, usage: None },
        ],
    );
    check(
        &sessions,
        &["needle"],
        &[
            ("01A", Whose::Question, "Which needle?"),
            ("01A", Whose::Person, "my own needle"),
            ("01B", Whose::Call, "grep needle a"),
            ("01B", Whose::Model, "beneath: needle"),
            ("01B", Whose::Title, "The needle"),
        ],
    );
}

#[test]
fn r52_damaged_files_hide_no_other_hits() {
    let (home, sessions) = sessions();
    held(&sessions, "01A", "/p", &[said("needle one"), said("needle two")]);
    let file = home.path().join("01A.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    // An incomplete line with another joined to it, no header, and invalid bytes.
    let broken = text.replace("needle one\"}}\n", "needle o").split_once('\n').unwrap().1.to_owned();
    fs::write(&file, [&b"\xff\xfe\0\n"[..], broken.as_bytes()].concat()).unwrap();
    fs::write(home.path().join("01B.jsonl"), [0; 4096]).unwrap();
    fs::create_dir(home.path().join("01C.jsonl")).unwrap();
    held(&sessions, "01D", "/p", &[said("needle three")]);
    let mut found = Vec::new();
    let scope = Scope { project: None, most: 3, wanted: &|| true };
    let unread = sessions
        .search(&Words::new(["needle"]).unwrap(), &scope, &mut |hit| {
            found.extend(hit.hits.into_iter().map(|hit| hit.line));
            ControlFlow::Continue(())
        })
        .unwrap();
    found.sort();
    assert_eq!(found, ["needle three", "needle two"]);
    assert_eq!(unread, [(SessionId("01C".into()), "it is not a file".to_owned())]);
}

#[test]
fn finds_words_in_split_lines_and_once_in_duplicates() {
    let (home, sessions) = sessions();
    // The word spans two parts and follows a quotation mark.
    let long = format!("{}\nthe \"needle\" there", "\u{1b}".repeat(2 << 20));
    held(&sessions, "01A", "/p", &[said("a needle"), replied(&long), said("hay")]);
    held(&sessions, "01B", "/p", &[said("other needle")]);
    let path = home.path().join("01B.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.repeat(2)).unwrap();
    let expected = [
        ("01A", Whose::Person, "a needle"),
        ("01A", Whose::Model, "the \"needle\" there"),
        ("01B", Whose::Person, "other needle"),
    ];
    check(&sessions, &["needle"], &expected);
    check(&sessions, &["\"needle\""], &expected[1..2]);
}

#[test]
fn finds_incomplete_reply_and_complete_one_once() {
    let (_home, sessions) = sessions();
    let grown = |text: &str| Grown {
        beneath: None,
        model: "m".into(),
        text: More(0, text.into()),
        reasoning: More::default(),
    };
    let begin = |id: &str| sessions.begin(&Header::new(SessionId(id.into()), Path::new("/p"), "m", false));
    let mut half = begin("01A");
    half.append(&said("go")).unwrap();
    half.grew(&grown("a needle")).unwrap();
    let mut whole = begin("01B");
    whole.grew(&grown("a needle")).unwrap();
    whole.append(&replied("a needle and more")).unwrap();
    drop((half, whole));
    check(
        &sessions,
        &["needle"],
        &[("01A", Whose::Model, "a needle"), ("01B", Whose::Model, "a needle and more")],
    );
}

#[test]
fn stops_at_limits_and_when_cancelled() {
    let (_home, sessions) = sessions();
    let many: Vec<Entry> = (0..9).map(|n| said(&format!("needle {n}"))).collect();
    held(&sessions, "01A", "/p", &many);
    held(&sessions, "01B", "/q", &many[..3]);
    let found = finds(&sessions, &["needle"]);
    assert_eq!((found[0].1.len(), found[0].2, found[1].1.len(), found[1].2), (3, true, 3, false));
    let count = |scope: &Scope<'_>, stops: bool| {
        let mut count = 0;
        let words = Words::new(["needle"]).unwrap();
        let each = &mut |_| {
            count += 1;
            if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        sessions.search(&words, scope, each).unwrap();
        count
    };
    let all = Scope { project: None, most: 1, wanted: &|| true };
    assert_eq!((count(&all, false), count(&all, true)), (2, 1));
    assert_eq!(count(&Scope { project: Some(Path::new("/q")), ..all }, false), 1);
    assert_eq!(count(&Scope { project: None, most: 1, wanted: &|| false }, false), 0);
}

#[test]
fn shortens_long_line_around_the_word() {
    let words = Words::new(["needle"]).unwrap();
    let line = format!("{}needle{}", "é ".repeat(300), " z".repeat(300));
    let shown = words.excerpt(&line);
    assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("needle"), "{shown}");
    assert_eq!(shown.chars().count(), SHOWN + 2);
    assert_eq!(words.excerpt("  a needle "), "a needle");
    assert_eq!(words.from_word("a needle and more"), "a needle and more");
    assert_eq!(words.from_word("far in a haystack lies a Needle and more"), "…lies a Needle and more");
    assert_eq!(words.from_word(&("漢".repeat(40) + "needle")), format!("…{}needle", "漢".repeat(8)));
}
