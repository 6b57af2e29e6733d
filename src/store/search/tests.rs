//! Tests of searches, also in damaged and crowded folders.

use super::*;
use crate::chat::partial_reply::TextPart;
use crate::chat::{
    Answer, AnswerStatus, CallId, Digest, Outcome, PartialReply, Question, QuestionAnswer, QuestionOption, Questions,
    TitleSource,
};
use crate::store::{Header, Log};
use std::fs;

fn create_sessions() -> (tempfile::TempDir, Sessions) {
    let home = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(home.path().to_owned());
    (home, sessions)
}

fn user_message(text: &str) -> Entry {
    Entry::UserMessage { text: text.into() }
}

fn replied(text: &str) -> Entry {
    let line = serde_json::json!({ "kind": "replied", "text": text });
    serde_json::from_value(line).unwrap()
}

fn create_session(sessions: &Sessions, id: &str, folder: &str, entries: &[Entry]) {
    let mut log = sessions.begin_session(&Header::new(SessionId(id.into()), Path::new(folder), "m", false));
    for entry in entries {
        log.append(entry).unwrap();
    }
}

/// A session, its hits, and whether there are more.
type Finding = (String, Vec<(HitSource, String)>, bool);

/// Returns the sessions with hits.
fn find_hits(sessions: &Sessions, words: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let scope = Scope { project: None, max_hits: 3, is_wanted: &|| true };
    let unreadable = sessions.search(&SearchWords::new(words.iter().copied()).unwrap(), &scope, &mut |session_hits| {
        let hits = session_hits.hits.into_iter().map(|hit| (hit.source, hit.line)).collect();
        findings.push((session_hits.listed.id.0, hits, session_hits.has_more));
        ControlFlow::Continue(())
    });
    assert_eq!(unreadable.unwrap().len(), 0);
    findings.sort_by(|a, b| a.0.cmp(&b.0));
    findings
}

#[track_caller]
fn check_hits(sessions: &Sessions, words: &[&str], expected: &[(&str, HitSource, &str)]) {
    let findings = find_hits(sessions, words);
    let findings: Vec<_> = findings
        .iter()
        .flat_map(|(id, hits, _)| hits.iter().map(move |(source, line)| (id.as_str(), *source, line.as_str())))
        .collect();
    assert_eq!(findings, expected, "{words:?}");
}

#[test]
fn all_words_must_occur_in_one_message_ignoring_case() {
    let (_home, sessions) = create_sessions();
    create_session(
        &sessions,
        "01A",
        "/p",
        &[user_message("why does\nthe Retry test flake?"), replied("The clock.\nÉTÉ \"quoted\" a\\b")],
    );
    create_session(&sessions, "01B", "/q", &[user_message("retry"), user_message("test")]);
    check_hits(&sessions, &["retry", "TEST"], &[("01A", HitSource::User, "the Retry test flake?")]);
    check_hits(&sessions, &["retry test"], &[("01A", HitSource::User, "the Retry test flake?")]);
    check_hits(&sessions, &["flake", "why"], &[("01A", HitSource::User, "the Retry test flake?")]);
    check_hits(&sessions, &["été"], &[("01A", HitSource::Model, "ÉTÉ \"quoted\" a\\b")]);
    check_hits(&sessions, &["\"quoted\" a\\b"], &[("01A", HitSource::Model, "ÉTÉ \"quoted\" a\\b")]);
    check_hits(&sessions, &["kind"], &[]);
    check_hits(&sessions, &[".*"], &[]);
    assert!(SearchWords::new(["", "  "]).is_none());
}

#[test]
fn searches_questions_answers_titles_commands_but_no_outputs() {
    let (_home, sessions) = create_sessions();
    let call: CallId = "c".into();
    let question = Question {
        keyword: "k".into(),
        text: "Which needle?".into(),
        options: vec![QuestionOption::new("needle one")],
        is_multiple: false,
        allow_text: true,
        text_description: String::new(),
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
                usage: None,
            },
            Entry::SubAgent { call, entry: Box::new(replied("sub-agent: needle")) },
            Entry::Titled { title: "The needle".into(), by: TitleSource::User, usage: None },
        ],
    );
    check_hits(
        &sessions,
        &["needle"],
        &[
            ("01A", HitSource::Question, "Which needle?"),
            ("01A", HitSource::User, "my own needle"),
            ("01B", HitSource::Call, "grep needle a"),
            ("01B", HitSource::Model, "sub-agent: needle"),
            ("01B", HitSource::Title, "The needle"),
        ],
    );
}

#[test]
fn r52_damaged_files_hide_no_other_hits() {
    let (home, sessions) = create_sessions();
    create_session(&sessions, "01A", "/p", &[user_message("needle one"), user_message("needle two")]);
    let file = home.path().join("01A.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    // An incomplete line with another joined to it, no header, and invalid bytes.
    let broken = text.replace("needle one\"}}\n", "needle o").split_once('\n').unwrap().1.to_owned();
    fs::write(&file, [&b"\xff\xfe\0\n"[..], broken.as_bytes()].concat()).unwrap();
    fs::write(home.path().join("01B.jsonl"), [0; 4096]).unwrap();
    fs::create_dir(home.path().join("01C.jsonl")).unwrap();
    create_session(&sessions, "01D", "/p", &[user_message("needle three")]);
    let mut lines = Vec::new();
    let scope = Scope { project: None, max_hits: 3, is_wanted: &|| true };
    let unreadable = sessions
        .search(&SearchWords::new(["needle"]).unwrap(), &scope, &mut |session_hits| {
            lines.extend(session_hits.hits.into_iter().map(|hit| hit.line));
            ControlFlow::Continue(())
        })
        .unwrap();
    lines.sort();
    assert_eq!(lines, ["needle three", "needle two"]);
    assert_eq!(unreadable, [(SessionId("01C".into()), "it is not a file".to_owned())]);
}

#[test]
fn finds_words_in_split_lines_and_once_in_duplicates() {
    let (home, sessions) = create_sessions();
    // The word spans two parts and follows a quotation mark.
    let long = format!("{}\nthe \"needle\" there", "\u{1b}".repeat(2 << 20));
    create_session(&sessions, "01A", "/p", &[user_message("a needle"), replied(&long), user_message("hay")]);
    create_session(&sessions, "01B", "/p", &[user_message("other needle")]);
    let path = home.path().join("01B.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.repeat(2)).unwrap();
    let expected = [
        ("01A", HitSource::User, "a needle"),
        ("01A", HitSource::Model, "the \"needle\" there"),
        ("01B", HitSource::User, "other needle"),
    ];
    check_hits(&sessions, &["needle"], &expected);
    check_hits(&sessions, &["\"needle\""], &expected[1..2]);
}

#[test]
fn finds_incomplete_reply_and_complete_one_once() {
    let (_home, sessions) = create_sessions();
    let reply_piece = |text: &str| PartialReply {
        sub_agent_call: None,
        model: "m".into(),
        text: TextPart(0, text.into()),
        reasoning: TextPart::default(),
    };
    let begin_log = |id: &str| sessions.begin_session(&Header::new(SessionId(id.into()), Path::new("/p"), "m", false));
    let mut incomplete_log = begin_log("01A");
    incomplete_log.append(&user_message("go")).unwrap();
    incomplete_log.append_reply_piece(&reply_piece("a needle")).unwrap();
    let mut complete_log = begin_log("01B");
    complete_log.append_reply_piece(&reply_piece("a needle")).unwrap();
    complete_log.append(&replied("a needle and more")).unwrap();
    drop((incomplete_log, complete_log));
    check_hits(
        &sessions,
        &["needle"],
        &[("01A", HitSource::Model, "a needle"), ("01B", HitSource::Model, "a needle and more")],
    );
}

#[test]
fn stops_at_limits_and_when_cancelled() {
    let (_home, sessions) = create_sessions();
    let many: Vec<Entry> = (0..9).map(|n| user_message(&format!("needle {n}"))).collect();
    create_session(&sessions, "01A", "/p", &many);
    create_session(&sessions, "01B", "/q", &many[..3]);
    let findings = find_hits(&sessions, &["needle"]);
    assert_eq!((findings[0].1.len(), findings[0].2, findings[1].1.len(), findings[1].2), (3, true, 3, false));
    let count_hits = |scope: &Scope<'_>, stops_at_first: bool| {
        let mut count = 0;
        let words = SearchWords::new(["needle"]).unwrap();
        let visit = &mut |_| {
            count += 1;
            if stops_at_first { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        sessions.search(&words, scope, visit).unwrap();
        count
    };
    let all_scope = Scope { project: None, max_hits: 1, is_wanted: &|| true };
    assert_eq!((count_hits(&all_scope, false), count_hits(&all_scope, true)), (2, 1));
    assert_eq!(count_hits(&Scope { project: Some(Path::new("/q")), ..all_scope }, false), 1);
    assert_eq!(count_hits(&Scope { project: None, max_hits: 1, is_wanted: &|| false }, false), 0);
}

#[test]
fn shortens_long_line_around_the_word() {
    let words = SearchWords::new(["needle"]).unwrap();
    let line = format!("{}needle{}", "é ".repeat(300), " z".repeat(300));
    let shortened = words.shorten_line(&line);
    assert!(shortened.starts_with('…') && shortened.ends_with('…') && shortened.contains("needle"), "{shortened}");
    assert_eq!(shortened.chars().count(), MAX_LINE_CHARS + 2);
    assert_eq!(words.shorten_line("  a needle "), "a needle");
    assert_eq!(words.trim_before_match("a needle and more"), "a needle and more");
    assert_eq!(words.trim_before_match("far in a haystack lies a Needle and more"), "…lies a Needle and more");
    assert_eq!(words.trim_before_match(&("漢".repeat(40) + "needle")), format!("…{}needle", "漢".repeat(8)));
}

#[test]
fn an_incomplete_reply_is_found_once_across_its_pieces_and_counts_towards_the_limit() {
    let (_home, sessions) = create_sessions();
    let reply_piece = |start: usize, text: &str| PartialReply {
        sub_agent_call: None,
        model: "m".into(),
        text: TextPart(start, text.into()),
        reasoning: TextPart::default(),
    };
    let begin_log = |id: &str| sessions.begin_session(&Header::new(SessionId(id.into()), Path::new("/p"), "m", false));
    // The first reply was completed, the second one was not and matches nothing.
    let mut completed_log = begin_log("01A");
    completed_log.append_reply_piece(&reply_piece(0, "a needle")).unwrap();
    completed_log.append(&replied("a needle and more")).unwrap();
    completed_log.append_reply_piece(&reply_piece(0, "hay")).unwrap();
    let mut split_log = begin_log("01B");
    split_log.append_reply_piece(&reply_piece(0, "a nee")).unwrap();
    split_log.append_reply_piece(&reply_piece(5, "dle in")).unwrap();
    split_log.append_reply_piece(&reply_piece(11, " the hay")).unwrap();
    let mut full_log = begin_log("01C");
    for number in 0..3 {
        full_log.append(&user_message(&format!("needle {number}"))).unwrap();
    }
    full_log.append_reply_piece(&reply_piece(0, "the last needle")).unwrap();
    drop((completed_log, split_log, full_log));
    let findings = find_hits(&sessions, &["needle"]);
    let hits: Vec<_> = findings.iter().map(|(id, hits, has_more)| (id.as_str(), hits.len(), *has_more)).collect();
    assert_eq!(hits, [("01A", 1, false), ("01B", 1, false), ("01C", 3, true)]);
    check_hits(&sessions, &["hay", "needle"], &[("01B", HitSource::Model, "a needle in the hay")]);
}
