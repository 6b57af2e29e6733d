//! Tests of lists with complete, long and damaged files.

use super::*;
use crate::chat::{Digest, Dropped, Outcome, Question, QuestionOption, Questions};
use crate::store::Log;
use crate::store::explain_unreadable;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::Duration;

fn create_sessions() -> (tempfile::TempDir, Sessions) {
    let home = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(home.path().to_owned());
    (home, sessions)
}

fn user_message(text: &str) -> Entry {
    Entry::UserMessage { text: text.into() }
}

/// Creates a session whose file was changed this many seconds ago.
fn create_session(sessions: &Sessions, id: &str, folder: &str, ago: u64, entries: &[Entry]) {
    let dry_run = false;
    let header = Header::new(SessionId(id.into()), Path::new(folder), "m", dry_run);
    let mut log = sessions.begin_session(&header);
    for entry in entries {
        log.append(entry).unwrap();
    }
    let file = File::options().append(true).open(log.path()).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(ago)).unwrap();
}

fn listed_ids(list: &[Listed]) -> Vec<&str> {
    list.iter().map(|session| session.id.0.as_str()).collect()
}

#[test]
fn last_changed_session_is_first() {
    let (_home, sessions) = create_sessions();
    assert_eq!(sessions.list_all().unwrap(), []);
    create_session(&sessions, "01A", "/p", 10, &[user_message("fix it")]);
    create_session(&sessions, "01B", "/q", 30, &[user_message("b")]);
    create_session(
        &sessions,
        "01C",
        "/p",
        20,
        &[user_message("c"), Entry::Titled { title: "mine".into(), by: crate::chat::TitleSource::User, usage: None }],
    );
    let listed = sessions.list_all().unwrap();
    assert_eq!(listed_ids(&listed), ["01A", "01C", "01B"]);
    assert_eq!((listed[0].title.as_deref(), listed[1].title.as_deref()), (Some("fix it"), Some("mine")));
    assert_eq!(listed_ids(&sessions.list_by_project(Path::new("/p")).unwrap()), ["01A", "01C"]);
    let latest = Latest { id: SessionId("01B".into()), unreadable: Vec::new() };
    assert_eq!(sessions.find_latest(Path::new("/q")).unwrap(), latest);
    let error = sessions.find_latest(Path::new("/r")).unwrap_err();
    assert!(error.to_string().starts_with("Cannot find a session of /r: there is none. "));
}

#[test]
fn the_calls_of_another_program_are_listed_but_never_the_latest_session() {
    let (_home, sessions) = create_sessions();
    let served = Header { is_served: true, ..Header::new(SessionId("01B".into()), Path::new("/p"), "", false) };
    sessions.begin_session(&served).append(&user_message("call")).unwrap();
    assert!(matches!(sessions.find_latest(Path::new("/p")), Err(Error::NoSessions(_))));
    create_session(&sessions, "01A", "/p", 10, &[user_message("a")]);
    let latest = Latest { id: SessionId("01A".into()), unreadable: Vec::new() };
    assert_eq!(sessions.find_latest(Path::new("/p")).unwrap(), latest);
    let listed = sessions.list_by_project(Path::new("/p")).unwrap();
    let is_served: Vec<(&str, bool)> = listed.iter().map(|listed| (listed.id.0.as_str(), listed.is_served)).collect();
    assert_eq!(is_served, [("01B", true), ("01A", false)]);
}

#[test]
fn r52_damaged_file_hides_no_other() {
    let (home, sessions) = create_sessions();
    create_session(&sessions, "01A", "/p", 10, &[user_message("a")]);
    fs::write(home.path().join("01B.jsonl"), [0; 100]).unwrap();
    fs::write(home.path().join("01C.jsonl"), "").unwrap();
    fs::create_dir(home.path().join("01D.jsonl")).unwrap();
    fs::write(home.path().join("notes.txt"), "").unwrap();
    let mut all_listed = sessions.list_all().unwrap();
    all_listed.sort_by(|a, b| a.id.cmp(&b.id));
    let reasons: Vec<Option<&str>> = all_listed.iter().map(|session| session.problem.as_deref()).collect();
    assert_eq!(
        reasons,
        [None, Some("the first line of the session is damaged"), Some("it is empty"), Some("it is not a file")]
    );
    // They may belong to any project, unless the damaged header names another.
    fs::write(home.path().join("01E.jsonl"), r#"{"aye":1,"id":1,"folder":"/q","ti"#).unwrap();
    fs::write(home.path().join("01F.jsonl"), r#"{"aye":1,"id":1,"folder":"/p","ti"#).unwrap();
    for (project, expected) in [("/p", "01A 01B 01C 01D 01F"), ("/q", "01B 01C 01D 01E"), ("/r", "01B 01C 01D")] {
        let mut listed = sessions.list_by_project(Path::new(project)).unwrap();
        listed.sort_by(|a, b| a.id.cmp(&b.id));
        assert_eq!(listed_ids(&listed).join(" "), expected);
    }
    let latest = sessions.find_latest(Path::new("/p")).unwrap();
    let mut unreadable: Vec<&str> = latest.unreadable.iter().map(|(id, _)| id.0.as_str()).collect();
    unreadable.sort_unstable();
    assert_eq!((latest.id.0.as_str(), unreadable), ("01A", vec!["01B", "01C", "01D", "01F"]));
    let explanation = explain_unreadable(&latest.unreadable);
    assert!(
        explanation.contains("session 01B cannot be read: the first line of the session is damaged"),
        "{explanation}"
    );
    let error = sessions.find_latest(Path::new("/r")).unwrap_err().to_string();
    assert!(
        error.starts_with("Cannot read any session of /r: session ") && error.contains("it is not a file"),
        "{error}"
    );
    // Older files do not matter.
    create_session(&sessions, "01G", "/p", 0, &[user_message("a")]);
    let latest = Latest { id: SessionId("01G".into()), unreadable: Vec::new() };
    assert_eq!(sessions.find_latest(Path::new("/p")).unwrap(), latest);
}

#[test]
fn finds_session_by_beginning_of_its_id() {
    let (_home, sessions) = create_sessions();
    for id in ["01JA", "01JB", "01J"] {
        create_session(&sessions, id, "/p", 1, &[user_message("a")]);
    }
    assert_eq!(sessions.find_id("01jb").unwrap().0, "01JB");
    assert_eq!(sessions.find_id("01J").unwrap().0, "01J");
    assert!(sessions.find_id("02").unwrap_err().to_string().starts_with("Cannot find the session \"02\": "));
    assert!(matches!(sessions.find_id(""), Err(Error::Missing(_))));
    let Err(Error::Ambiguous { candidates, .. }) = sessions.find_id("0") else { panic!() };
    assert_eq!(candidates.len(), 3);
    let message = Error::Ambiguous { prefix: "0".into(), candidates };
    assert!(
        message.to_string().starts_with("Cannot find the session \"0\": several IDs begin with it: 01J"),
        "{message}"
    );
}

#[test]
fn reads_only_head_and_tail_of_a_long_file() {
    let (_home, sessions) = create_sessions();
    let mut entries = vec![user_message("first words")];
    entries.extend((0..600).map(|n| user_message(&format!("{n} {}", "x".repeat(1000)))));
    entries.push(Entry::Switched { model: "other".into(), profile: None });
    create_session(&sessions, "01A", "/p", 1, &entries);
    let listed = sessions.list_all().unwrap();
    assert!(listed[0].bytes > HEAD_BYTES + TAIL_BYTES);
    assert_eq!((listed[0].title.as_deref(), listed[0].model.as_str()), (Some("first words"), "other"));
    assert_eq!(listed[0].problem, None);
}

#[test]
fn question_waits_until_it_is_settled() {
    let (_home, sessions) = create_sessions();
    let option = QuestionOption::new("a");
    let question = Question {
        keyword: "k".into(),
        text: "?".into(),
        options: vec![option],
        is_multiple: false,
        allow_text: true,
        text_description: String::new(),
        recommended: None,
    };
    let asked = Entry::Asked {
        call: "c".into(),
        questions: Questions { list: vec![question], dropped: Dropped::default() },
        sha256: Digest::default(),
    };
    let settled = Entry::Settled {
        call: "c".into(),
        outcome: Outcome::Done("x".into()),
        took_ms: 0,
        sha256: Digest::default(),
        staged: None,
        usage: None,
    };
    create_session(&sessions, "01A", "/p", 2, std::slice::from_ref(&asked));
    create_session(&sessions, "01B", "/p", 1, &[asked, settled]);
    let waiting: Vec<bool> = sessions.list_all().unwrap().iter().map(|session| session.has_open_prompt).collect();
    assert_eq!(waiting, [false, true]);
}

#[test]
fn r56_listing_removes_permissions_of_others() {
    let (home, sessions) = create_sessions();
    create_session(&sessions, "01A", "/p", 1, &[user_message("a")]);
    let path = home.path().join("01A.jsonl");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    sessions.list_all().unwrap();
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
}

#[test]
fn pipe_in_place_of_a_session_does_not_block() {
    let (home, sessions) = create_sessions();
    let path = home.path().join("01A.jsonl");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
    assert_eq!(sessions.list_all().unwrap()[0].problem.as_deref(), Some("it is not a file"));
    assert!(sessions.find_latest(Path::new("/p")).is_err());
}
