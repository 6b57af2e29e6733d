//! Tests of copies of sessions, also damaged ones.

use super::*;
use crate::chat::{Entry, UnsentText};
use crate::project::rehearsal::remove_folder;
use crate::store::draft::Owner;
use crate::store::{Log, SessionLog, Sessions, StoredSession, session_reader};
use std::path::PathBuf;

fn user_message(text: &str) -> Entry {
    Entry::UserMessage { text: text.into() }
}

fn old_id() -> SessionId {
    SessionId("01J".into())
}

/// Creates a home with one session file of this content.
fn create_home(bytes: &[u8]) -> (tempfile::TempDir, Places) {
    let home = tempfile::tempdir().unwrap();
    let places = Places::within(home.path());
    places.prepare().unwrap();
    fs::write(places.session(&old_id()), bytes).unwrap();
    (home, places)
}

fn copy_session(places: &Places, folder: &str) -> Result<Fork, Error> {
    fork_session(places, &old_id(), Path::new(folder), ForkMode::Unchanged.into(), remove_folder)
}

fn read_session(places: &Places, id: &SessionId) -> StoredSession {
    session_reader::read(&places.session(id)).unwrap()
}

fn header_line() -> String {
    let header = Header { profile: "p".into(), ..Header::new(old_id(), Path::new("/project"), "m", false) };
    serde_json::to_string(&header).unwrap()
}

fn entry_line(seq: u64, text: &str) -> String {
    format!(r#"{{"seq":{seq},"at":{},"entry":{}}}"#, seq * 1000, serde_json::to_string(&user_message(text)).unwrap())
}

#[test]
fn copy_is_independent_of_the_open_session() {
    let (_home, places) = create_home(b"");
    let sessions = Sessions::new(places.sessions());
    fs::remove_file(places.session(&old_id())).unwrap();
    let header = Header { profile: "p".into(), ..Header::new(old_id(), Path::new("/project"), "m", false) };
    let mut original_log = sessions.begin_session(&header);
    original_log.append(&user_message("a")).unwrap();
    original_log
        .append(&Entry::Titled { title: "the name".into(), by: crate::chat::TitleSource::User, usage: None })
        .unwrap();
    let before = fs::read(original_log.path()).unwrap();
    let copy = copy_session(&places, "/elsewhere").unwrap();
    let id = copy.id.clone();
    assert!(copy.has_header);
    copy.keep();
    let (mut log, session) = sessions.open(&id).unwrap();
    let new_header = session.header.unwrap();
    assert_eq!((&new_header.id, &new_header.from, new_header.aye), (&id, &Some(old_id()), session_header::VERSION));
    assert_eq!(
        (new_header.folder, new_header.model, new_header.profile, new_header.dry_run),
        (header.folder, "m".into(), "p".into(), false)
    );
    assert_eq!(
        (&session.entries, &session.times),
        (&read_session(&places, &old_id()).entries, &read_session(&places, &old_id()).times)
    );
    log.append(&user_message("only in the copy")).unwrap();
    assert_eq!(read_session(&places, &id).last_seq, 3);
    assert_eq!(fs::read(original_log.path()).unwrap(), before);
    original_log.append(&user_message("only in the old one")).unwrap();
    assert_eq!((read_session(&places, &id).entries.len(), read_session(&places, &old_id()).entries.len()), (3, 3));
    let listed = sessions.list_all().unwrap();
    let listed = listed.iter().find(|listed| listed.id == id).unwrap();
    assert_eq!((listed.title.as_deref(), &listed.from), (Some("the name"), &Some(old_id())));
}

#[test]
fn r51_copies_damaged_session_as_it_reads() {
    let (head, a, b) = (header_line(), entry_line(1, "a"), entry_line(2, "b"));
    let newer = r#"{"seq":2,"at":1,"entry":{"kind":"from_the_future","x":1}}"#;
    for (case, text) in [
        ("whole", format!("{head}\n{a}\n{b}\n")),
        ("no end", format!("{head}\n{a}\n{b}")),
        ("torn", format!("{head}\n{a}\n{}", &b[..b.len() / 2])),
        ("damaged between", format!("{head}\n{a}\n\u{1}\u{2}{{\n{b}\n")),
        ("glued", format!("{head}{a}{b}\n")),
        ("glued and torn", format!("{head}{a}{}", &b[..b.len() - 3])),
        ("after a wrong beginning", format!("\u{1}{head}\n{a}\n")),
        ("of a newer version", format!("{head}\n{a}\n{newer}\n")),
        ("with CRLF line ends", format!("{head}\r\n{a}\r\n{b}\r\n")),
        ("only begun", head.clone()),
        ("half a header", format!("{}\n{a}\n", &head[..head.len() / 2])),
        ("half a header, glued", format!("{}{a}\n{b}\n", &head[..head.len() / 2])),
        ("no header", format!("{a}\n{b}\n")),
        ("noise", "noise\n".repeat(3)),
        ("empty", String::new()),
    ] {
        let (_home, places) = create_home(text.as_bytes());
        let before = read_session(&places, &old_id());
        let copy = copy_session(&places, "/here").unwrap();
        let session = read_session(&places, &copy.id);
        assert_eq!((&session.entries, &session.times), (&before.entries, &before.times), "{case}");
        assert_eq!(session.last_seq, before.last_seq, "{case}");
        let new_header = session.header.unwrap();
        assert_eq!((new_header.id, new_header.from), (copy.id.clone(), Some(old_id())), "{case}");
        assert_eq!(copy.has_header, before.header.is_some(), "{case}");
        let expected = before.header.map_or(("/here".into(), true), |header| (header.folder, header.dry_run));
        assert_eq!((new_header.folder, new_header.dry_run), expected, "{case}");
        let (mut log, _) = SessionLog::open(&places.sessions(), &copy.id).unwrap();
        log.append(&user_message("more")).unwrap();
        assert_eq!(read_session(&places, &copy.id).entries.last(), Some(&user_message("more")), "{case}");
        let original = fs::read(places.session(&old_id())).unwrap();
        assert_eq!(original, text.as_bytes(), "{case}");
    }
}

#[test]
fn keeps_unknown_header_fields() {
    let newer = header_line().replacen("\"aye\":1", "\"aye\":9", 1).replacen('}', ",\"later\":[1,2]}", 1);
    let (_home, places) = create_home(format!("{newer}\n").as_bytes());
    let copy = copy_session(&places, "/").unwrap();
    let text = fs::read_to_string(places.session(&copy.id)).unwrap();
    let new_header: Value = serde_json::from_str(&text).unwrap();
    assert!(text.starts_with("{\"aye\":9,"), "{text}");
    assert_eq!((&new_header["later"], &new_header["from"]), (&serde_json::json!([1, 2]), &"01J".into()));
}

#[test]
fn copies_draft_and_rehearsal_independently() {
    let (_home, places) = create_home(format!("{}\n", header_line()).as_bytes());
    let drafts = Drafts::new(&places);
    let (from, overlay) = (old_id(), places.rehearsal(&old_id()));
    let draft = UnsentText { questions: vec!["half".into()], ..UnsentText::from_text("unsent") };
    drafts.save(&Owner::Session(from.clone()), &draft).unwrap();
    fs::create_dir_all(overlay.join("upper/a")).unwrap();
    fs::write(overlay.join("upper/a/b"), "rehearsed").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", overlay.join("upper/link")).unwrap();
    let copy = copy_session(&places, "/").unwrap();
    let copy_owner = Owner::Session(copy.id.clone());
    assert_eq!(drafts.load(&copy_owner).unsent, draft);
    let copied_overlay = places.rehearsal(&copy.id);
    assert_eq!(fs::read_to_string(copied_overlay.join("upper/a/b")).unwrap(), "rehearsed");
    assert_eq!(
        fs::read_link(copied_overlay.join("upper/link")).unwrap(),
        Path::new("/etc/passwd"),
        "a link, not what it leads to"
    );
    drafts.save(&copy_owner, &UnsentText::default()).unwrap();
    fs::write(copied_overlay.join("upper/a/b"), "otherwise").unwrap();
    assert_eq!(drafts.load(&Owner::Session(from)).unsent, draft);
    assert_eq!(fs::read_to_string(overlay.join("upper/a/b")).unwrap(), "rehearsed");
}

/// Returns every file and folder of sessions, drafts and rehearsals.
fn all_files(places: &Places) -> Vec<PathBuf> {
    // With an empty id, `rehearsal` returns the folder of all overlays.
    let folders = [places.sessions(), places.drafts(), places.rehearsal(&SessionId(String::new()))];
    let paths = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let mut paths: Vec<_> = paths.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn discarded_or_failed_copy_leaves_no_files() {
    let (_home, places) = create_home(format!("{}\n", header_line()).as_bytes());
    Drafts::new(&places).save(&Owner::Session(old_id()), &UnsentText::from_text("unsent")).unwrap();
    fs::create_dir_all(places.rehearsal(&old_id()).join("upper")).unwrap();
    let before = all_files(&places);
    let copy = copy_session(&places, "/").unwrap();
    // The copy's session file, draft and overlay.
    assert_eq!(all_files(&places).len(), before.len() + 3);
    drop(copy);
    assert_eq!(all_files(&places), before);

    // The path of the drafts folder is a file, so the copy fails after the overlay and before the session.
    fs::remove_dir_all(places.drafts()).unwrap();
    fs::write(places.drafts(), "in the way").unwrap();
    let before = all_files(&places);
    let error = copy_session(&places, "/").unwrap_err();
    assert!(matches!(error, Error::Copy { .. }), "{error}");
    assert!(error.to_string().starts_with("Cannot copy session 01J: /"), "{error}");
    assert_eq!(all_files(&places), before);
}

#[test]
fn rejects_files_that_are_not_sessions() {
    let (_home, places) = create_home(b"");
    let error = |name: &str| {
        let from = SessionId(name.into());
        fork_session(&places, &from, Path::new("/"), ForkMode::Unchanged.into(), remove_folder).unwrap_err()
    };
    assert!(error("01X").to_string().starts_with("Cannot find the session \"01X\": "));
    fs::create_dir(places.sessions().join("01D.jsonl")).unwrap();
    let pipe = places.sessions().join("01P.jsonl");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", places.sessions().join("01L.jsonl")).unwrap();
    for name in ["01D", "01P", "01L"] {
        assert!(matches!(error(name), Error::Io { .. }), "{name}: {}", error(name));
    }
}
