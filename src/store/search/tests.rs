//! Tests of searches, also in damaged and crowded folders.

use super::*;
use crate::chat::partial_reply::TextPart;
use crate::chat::{
    Answer, AnswerStatus, CallId, Digest, Outcome, PartialReply, Question, QuestionAnswer, QuestionOption, Questions,
    TitleSource,
};
use crate::store::{Header, Log};
use std::fs;

fn sessions() -> (tempfile::TempDir, Sessions) {
    let home = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(home.path().to_owned());
    (home, sessions)
}

fn said(text: &str) -> Entry {
    Entry::UserMessage { text: text.into() }
}

fn replied(text: &str) -> Entry {
    let line = serde_json::json!({ "kind": "replied", "text": text });
    serde_json::from_value(line).unwrap()
}

fn create_session(sessions: &Sessions, id: &str, folder: &str, entries: &[Entry]) {
    let mut lines = sessions.begin_session(&Header::new(SessionId(id.into()), Path::new(folder), "m", false));
    for entry in entries {
        lines.append(entry).unwrap();
    }
}

/// A session, its hits, and whether there are more.
type Finding = (String, Vec<(HitSource, String)>, bool);

/// Returns the sessions with hits.
fn find_hits(sessions: &Sessions, words: &[&str]) -> Vec<Finding> {
    let mut all = Vec::new();
    let scope = Scope { project: None, max_hits: 3, is_wanted: &|| true };
    let unread = sessions.search(&SearchWords::new(words.iter().copied()).unwrap(), &scope, &mut |found| {
        let hits = found.hits.into_iter().map(|hit| (hit.source, hit.line)).collect();
        all.push((found.listed.id.0, hits, found.more));
        ControlFlow::Continue(())
    });
    assert_eq!(unread.unwrap().len(), 0);
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[track_caller]
fn check_hits(sessions: &Sessions, words: &[&str], expected: &[(&str, HitSource, &str)]) {
    let found = find_hits(sessions, words);
    let found: Vec<_> = found
        .iter()
        .flat_map(|(id, hits, _)| hits.iter().map(move |(whose, line)| (id.as_str(), *whose, line.as_str())))
        .collect();
    assert_eq!(found, expected, "{words:?}");
}

#[test]
fn all_words_must_occur_in_one_message_ignoring_case() {
    let (_home, sessions) = sessions();
    create_session(
        &sessions,
        "01A",
        "/p",
        &[said("why does\nthe Retry test flake?"), replied("The clock.\nÉTÉ \"quoted\" a\\b")],
    );
    create_session(&sessions, "01B", "/q", &[said("retry"), said("test")]);
    check_hits(&sessions, &["retry", "TEST"], &[("01A", HitSource::Person, "the Retry test flake?")]);
    check_hits(&sessions, &["retry test"], &[("01A", HitSource::Person, "the Retry test flake?")]);
    check_hits(&sessions, &["flake", "why"], &[("01A", HitSource::Person, "the Retry test flake?")]);
    check_hits(&sessions, &["été"], &[("01A", HitSource::Model, "ÉTÉ \"quoted\" a\\b")]);
    check_hits(&sessions, &["\"quoted\" a\\b"], &[("01A", HitSource::Model, "ÉTÉ \"quoted\" a\\b")]);
    check_hits(&sessions, &["kind"], &[]);
    check_hits(&sessions, &[".*"], &[]);
    assert!(SearchWords::new(["", "  "]).is_none());
}

#[test]
fn searches_questions_answers_titles_commands_but_no_outputs() {
    let (_home, sessions) = sessions();
    let call: CallId = "c".into();
    let question = Question {
        keyword: "k".into(),
        text: "Which needle?".into(),
        options: vec![QuestionOption::new("needle one")],
        is_multiple: false,
        allow_text: true,
        recommended: None,
    };
    let questions = Questions { list: vec![question], dropped: Default::default() };
    let mut answer = Answer::from_status(AnswerStatus::Answered);
    answer.answers.push(QuestionAnswer::new("k", AnswerValue::Text("my own needle".into())));
    let planned = serde_json::json!({ "kind": "planned", "call": "c", "title": "run a command?", "summary": "x",
        "access": { "reach": "nothing" }, "verdict": "ask",
        "preview": { "as": "command", "what": { "command": "grep needle a", "folder": "/p", "seconds": 3 } } });
    create_session(
        &sessions,
        "01A",
        "/p",
        &[
            Entry::Asked { call: call.clone(), questions, sha256: Digest::default() },
            Entry::Answered { call: call.clone(), answer, by: None, sha256: Digest::default() },
        ],
    );
    create_session(
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
            Entry::SubAgent { call, entry: Box::new(replied("beneath: needle")) },
            Entry::Titled { title: "The needle".into(), by: TitleSource::User, usage: None },
        ],
    );
    check_hits(
        &sessions,
        &["needle"],
        &[
            ("01A", HitSource::Question, "Which needle?"),
            ("01A", HitSource::Person, "my own needle"),
            ("01B", HitSource::Call, "grep needle a"),
            ("01B", HitSource::Model, "beneath: needle"),
            ("01B", HitSource::Title, "The needle"),
        ],
    );
}

#[test]
fn r52_damaged_files_hide_no_other_hits() {
    let (home, sessions) = sessions();
    create_session(&sessions, "01A", "/p", &[said("needle one"), said("needle two")]);
    let file = home.path().join("01A.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    // An incomplete line with another joined to it, no header, and invalid bytes.
    let broken = text.replace("needle one\"}}\n", "needle o").split_once('\n').unwrap().1.to_owned();
    fs::write(&file, [&b"\xff\xfe\0\n"[..], broken.as_bytes()].concat()).unwrap();
    fs::write(home.path().join("01B.jsonl"), [0; 4096]).unwrap();
    fs::create_dir(home.path().join("01C.jsonl")).unwrap();
    create_session(&sessions, "01D", "/p", &[said("needle three")]);
    let mut found = Vec::new();
    let scope = Scope { project: None, max_hits: 3, is_wanted: &|| true };
    let unread = sessions
        .search(&SearchWords::new(["needle"]).unwrap(), &scope, &mut |hit| {
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
    create_session(&sessions, "01A", "/p", &[said("a needle"), replied(&long), said("hay")]);
    create_session(&sessions, "01B", "/p", &[said("other needle")]);
    let path = home.path().join("01B.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.repeat(2)).unwrap();
    let expected = [
        ("01A", HitSource::Person, "a needle"),
        ("01A", HitSource::Model, "the \"needle\" there"),
        ("01B", HitSource::Person, "other needle"),
    ];
    check_hits(&sessions, &["needle"], &expected);
    check_hits(&sessions, &["\"needle\""], &expected[1..2]);
}

#[test]
fn finds_incomplete_reply_and_complete_one_once() {
    let (_home, sessions) = sessions();
    let grown = |text: &str| PartialReply {
        sub_agent_call: None,
        model: "m".into(),
        text: TextPart(0, text.into()),
        reasoning: TextPart::default(),
    };
    let begin = |id: &str| sessions.begin_session(&Header::new(SessionId(id.into()), Path::new("/p"), "m", false));
    let mut half = begin("01A");
    half.append(&said("go")).unwrap();
    half.append_reply_piece(&grown("a needle")).unwrap();
    let mut whole = begin("01B");
    whole.append_reply_piece(&grown("a needle")).unwrap();
    whole.append(&replied("a needle and more")).unwrap();
    drop((half, whole));
    check_hits(
        &sessions,
        &["needle"],
        &[("01A", HitSource::Model, "a needle"), ("01B", HitSource::Model, "a needle and more")],
    );
}

#[test]
fn stops_at_limits_and_when_cancelled() {
    let (_home, sessions) = sessions();
    let many: Vec<Entry> = (0..9).map(|n| said(&format!("needle {n}"))).collect();
    create_session(&sessions, "01A", "/p", &many);
    create_session(&sessions, "01B", "/q", &many[..3]);
    let found = find_hits(&sessions, &["needle"]);
    assert_eq!((found[0].1.len(), found[0].2, found[1].1.len(), found[1].2), (3, true, 3, false));
    let count = |scope: &Scope<'_>, stops: bool| {
        let mut count = 0;
        let words = SearchWords::new(["needle"]).unwrap();
        let each = &mut |_| {
            count += 1;
            if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        sessions.search(&words, scope, each).unwrap();
        count
    };
    let all = Scope { project: None, max_hits: 1, is_wanted: &|| true };
    assert_eq!((count(&all, false), count(&all, true)), (2, 1));
    assert_eq!(count(&Scope { project: Some(Path::new("/q")), ..all }, false), 1);
    assert_eq!(count(&Scope { project: None, max_hits: 1, is_wanted: &|| false }, false), 0);
}

#[test]
fn shortens_long_line_around_the_word() {
    let words = SearchWords::new(["needle"]).unwrap();
    let line = format!("{}needle{}", "é ".repeat(300), " z".repeat(300));
    let shown = words.shorten_line(&line);
    assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("needle"), "{shown}");
    assert_eq!(shown.chars().count(), MAX_LINE_CHARS + 2);
    assert_eq!(words.shorten_line("  a needle "), "a needle");
    assert_eq!(words.from_word("a needle and more"), "a needle and more");
    assert_eq!(words.from_word("far in a haystack lies a Needle and more"), "…lies a Needle and more");
    assert_eq!(words.from_word(&("漢".repeat(40) + "needle")), format!("…{}needle", "漢".repeat(8)));
}
