//! Tests of copies of sessions, also damaged ones.

use super::*;
use crate::chat::{Entry, Unsent};
use crate::project::rehearsal::empty;
use crate::store::draft::Owner;
use crate::store::{Lines, Log, Read, Sessions, read};
use std::path::PathBuf;

fn said(text: &str) -> Entry {
    Entry::Said { text: text.into() }
}

fn old() -> SessionId {
    SessionId("01J".into())
}

/// Creates a home with one session file of this content.
fn home(bytes: &[u8]) -> (tempfile::TempDir, Places) {
    let home = tempfile::tempdir().unwrap();
    let places = Places::under(home.path());
    places.prepare().unwrap();
    fs::write(lines::path(&places.sessions(), &old()), bytes).unwrap();
    (home, places)
}

fn of(places: &Places, id: &SessionId) -> Read {
    read(&lines::path(&places.sessions(), id)).unwrap()
}

fn header() -> String {
    let header = Header { profile: "p".into(), ..Header::new(old(), Path::new("/project"), "m", false) };
    serde_json::to_string(&header).unwrap()
}

fn line(seq: u64, text: &str) -> String {
    format!(r#"{{"seq":{seq},"at":{},"entry":{}}}"#, seq * 1000, serde_json::to_string(&said(text)).unwrap())
}

#[test]
fn copy_is_independent_of_the_open_session() {
    let (_home, places) = home(b"");
    let sessions = Sessions::new(places.sessions());
    fs::remove_file(lines::path(&places.sessions(), &old())).unwrap();
    let header = Header { profile: "p".into(), ..Header::new(old(), Path::new("/project"), "m", false) };
    let mut open = sessions.begin(&header);
    open.append(&said("a")).unwrap();
    open.append(&Entry::Titled { title: "the name".into(), by: crate::chat::Namer::Person, usage: None })
        .unwrap();
    let before = fs::read(open.path()).unwrap();
    let copy = fork(&places, &old(), Path::new("/elsewhere"), empty).unwrap();
    let id = copy.id.clone();
    assert!(copy.headed);
    copy.keep();
    let (mut lines, read) = sessions.open(&id).unwrap();
    let its = read.header.unwrap();
    assert_eq!((&its.id, &its.from, its.aye), (&id, &Some(old()), lines::VERSION));
    assert_eq!(
        (its.folder, its.model, its.profile, its.dry_run),
        (header.folder, "m".into(), "p".into(), false)
    );
    assert_eq!((&read.entries, &read.times), (&of(&places, &old()).entries, &of(&places, &old()).times));
    lines.append(&said("only in the copy")).unwrap();
    assert_eq!(of(&places, &id).last_seq, 3);
    assert_eq!(fs::read(open.path()).unwrap(), before);
    open.append(&said("only in the old one")).unwrap();
    assert_eq!((of(&places, &id).entries.len(), of(&places, &old()).entries.len()), (3, 3));
    let listed = sessions.all().unwrap();
    let listed = listed.iter().find(|listed| listed.id == id).unwrap();
    assert_eq!((listed.title.as_deref(), &listed.from), (Some("the name"), &Some(old())));
}

#[test]
fn r51_copies_damaged_session_as_it_reads() {
    let (head, a, b) = (header(), line(1, "a"), line(2, "b"));
    let newer = r#"{"seq":2,"at":1,"entry":{"kind":"from_the_future","x":1}}"#;
    for (what, text) in [
        ("whole", format!("{head}\n{a}\n{b}\n")),
        ("no end", format!("{head}\n{a}\n{b}")),
        ("torn", format!("{head}\n{a}\n{}", &b[..b.len() / 2])),
        ("damaged between", format!("{head}\n{a}\n\u{1}\u{2}{{\n{b}\n")),
        ("glued", format!("{head}{a}{b}\n")),
        ("glued and torn", format!("{head}{a}{}", &b[..b.len() - 3])),
        ("after a wrong beginning", format!("\u{1}{head}\n{a}\n")),
        ("of a newer version", format!("{head}\n{a}\n{newer}\n")),
        ("with the ends of another system", format!("{head}\r\n{a}\r\n{b}\r\n")),
        ("only begun", head.clone()),
        ("half a header", format!("{}\n{a}\n", &head[..head.len() / 2])),
        ("half a header, glued", format!("{}{a}\n{b}\n", &head[..head.len() / 2])),
        ("no header", format!("{a}\n{b}\n")),
        ("noise", "noise\n".repeat(3)),
        ("empty", String::new()),
    ] {
        let (_home, places) = home(text.as_bytes());
        let before = of(&places, &old());
        let copy = fork(&places, &old(), Path::new("/here"), empty).unwrap();
        let read = of(&places, &copy.id);
        assert_eq!((&read.entries, &read.times), (&before.entries, &before.times), "{what}");
        assert_eq!(read.last_seq, before.last_seq, "{what}");
        let its = read.header.unwrap();
        assert_eq!((its.id, its.from), (copy.id.clone(), Some(old())), "{what}");
        assert_eq!(copy.headed, before.header.is_some(), "{what}");
        let meant = before.header.map_or(("/here".into(), true), |header| (header.folder, header.dry_run));
        assert_eq!((its.folder, its.dry_run), meant, "{what}");
        let (mut lines, _) = Lines::open(&places.sessions(), &copy.id).unwrap();
        lines.append(&said("more")).unwrap();
        assert_eq!(of(&places, &copy.id).entries.last(), Some(&said("more")), "{what}");
        let kept = fs::read(lines::path(&places.sessions(), &old())).unwrap();
        assert_eq!(kept, text.as_bytes(), "{what}");
    }
}

#[test]
fn keeps_unknown_header_fields() {
    let newer = header().replacen("\"aye\":1", "\"aye\":9", 1).replacen('}', ",\"later\":[1,2]}", 1);
    let (_home, places) = home(format!("{newer}\n").as_bytes());
    let copy = fork(&places, &old(), Path::new("/"), empty).unwrap();
    let text = fs::read_to_string(lines::path(&places.sessions(), &copy.id)).unwrap();
    let its: Value = serde_json::from_str(&text).unwrap();
    assert!(text.starts_with("{\"aye\":9,"), "{text}");
    assert_eq!((&its["later"], &its["from"]), (&serde_json::json!([1, 2]), &"01J".into()));
}

#[test]
fn copies_draft_and_rehearsal_independently() {
    let (_home, places) = home(format!("{}\n", header()).as_bytes());
    let drafts = Drafts::new(&places);
    let (from, layer) = (old(), places.rehearsal(&old()));
    let half = Unsent { questions: vec!["half".into()], ..Unsent::from_text("unsent") };
    drafts.save(&Owner::Session(from.clone()), &half).unwrap();
    fs::create_dir_all(layer.join("upper/a")).unwrap();
    fs::write(layer.join("upper/a/b"), "rehearsed").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", layer.join("upper/link")).unwrap();
    let copy = fork(&places, &from, Path::new("/"), empty).unwrap();
    let its_draft = Owner::Session(copy.id.clone());
    assert_eq!(drafts.load(&its_draft).unsent, half);
    let its = places.rehearsal(&copy.id);
    assert_eq!(fs::read_to_string(its.join("upper/a/b")).unwrap(), "rehearsed");
    assert_eq!(
        fs::read_link(its.join("upper/link")).unwrap(),
        Path::new("/etc/passwd"),
        "a link, not what it leads to"
    );
    drafts.save(&its_draft, &Unsent::default()).unwrap();
    fs::write(its.join("upper/a/b"), "otherwise").unwrap();
    assert_eq!(drafts.load(&Owner::Session(from)).unsent, half);
    assert_eq!(fs::read_to_string(layer.join("upper/a/b")).unwrap(), "rehearsed");
}

/// Returns every file and folder of sessions, drafts and rehearsals.
fn all(places: &Places) -> Vec<PathBuf> {
    let folders = [places.sessions(), places.drafts(), places.rehearsal(&SessionId(String::new()))];
    let all = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let mut all: Vec<_> = all.map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

#[test]
fn discarded_or_failed_copy_leaves_no_files() {
    let (_home, places) = home(format!("{}\n", header()).as_bytes());
    Drafts::new(&places).save(&Owner::Session(old()), &Unsent::from_text("unsent")).unwrap();
    fs::create_dir_all(places.rehearsal(&old()).join("upper")).unwrap();
    let before = all(&places);
    let copy = fork(&places, &old(), Path::new("/"), empty).unwrap();
    assert_eq!(all(&places).len(), before.len() + 3);
    drop(copy);
    assert_eq!(all(&places), before);

    // The path of the drafts folder is a file, so the copy fails after the overlay and before the session.
    fs::remove_dir_all(places.drafts()).unwrap();
    fs::write(places.drafts(), "in the way").unwrap();
    let before = all(&places);
    let error = fork(&places, &old(), Path::new("/"), empty).unwrap_err();
    assert!(matches!(error, Error::Copy { .. }), "{error}");
    assert!(error.to_string().starts_with("Cannot copy session 01J: /"), "{error}");
    assert_eq!(all(&places), before);
}

#[test]
fn rejects_files_that_are_not_sessions() {
    let (_home, places) = home(b"");
    let error = |name: &str| fork(&places, &SessionId(name.into()), Path::new("/"), empty).unwrap_err();
    assert_eq!(error("01X").to_string(), "no session matches 01X");
    fs::create_dir(places.sessions().join("01D.jsonl")).unwrap();
    let pipe = places.sessions().join("01P.jsonl");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", places.sessions().join("01L.jsonl")).unwrap();
    for name in ["01D", "01P", "01L"] {
        assert!(matches!(error(name), Error::Io { .. }), "{name}: {}", error(name));
    }
}
