//! Tests of draft files: owners, recovery after a crash, and damaged files.

use super::*;
use std::os::unix::fs::MetadataExt;

fn home() -> (tempfile::TempDir, Places) {
    let home = tempfile::tempdir().unwrap();
    let places = Places::within(home.path());
    places.prepare().unwrap();
    (home, places)
}

fn session(id: &str) -> Owner {
    Owner::Session(SessionId(id.into()))
}

fn new(id: &str) -> Owner {
    Owner::New(SessionId(id.into()), "/a".into())
}

fn files(places: &Places) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(places.drafts()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn draft_is_kept_until_it_is_sent() {
    let (_home, places) = home();
    let drafts = Drafts::new(&places);
    assert!(drafts.load(&session("01J")).unsent.is_empty());
    drafts.save(&session("01J"), &UnsentText::from_text("one\ntwo")).unwrap();
    assert_eq!(drafts.load(&session("01J")).unsent.text(), "one\ntwo");
    assert!(drafts.load(&session("01K")).unsent.is_empty());
    drafts.save(&session("01J"), &UnsentText::default()).unwrap();
    drafts.save(&session("01J"), &UnsentText::default()).unwrap();
    assert!(drafts.load(&session("01J")).unsent.is_empty() && files(&places).is_empty());
}

#[test]
fn r56_draft_is_readable_by_its_owner_only() {
    let (_home, places) = home();
    let drafts = Drafts::new(&places);
    for owner in [session("01J"), new("01K")] {
        drafts.save(&owner, &UnsentText::from_text("x")).unwrap();
    }
    for file in fs::read_dir(places.drafts()).unwrap() {
        assert_eq!(file.unwrap().metadata().unwrap().mode() & 0o777, 0o600);
    }
}

#[test]
fn programs_without_a_session_have_separate_drafts() {
    let (_home, places) = home();
    let (one, two) = (DraftWriter::new(&places), DraftWriter::new(&places));
    one.save(new("01A"), UnsentText::from_text("one"));
    two.save(new("01B"), UnsentText::from_text("two"));
    assert!(one.write().is_ok() && two.write().is_ok());
    // Both are running, so the next program finds neither.
    let next = DraftWriter::new(&places);
    assert!(next.load(&new("01C")).unsent.is_empty());
    drop(one);
    assert_eq!(next.load(&new("01C")).unsent.text(), "one");
    let another = DraftWriter::new(&places);
    assert!(another.load(&new("01D")).unsent.is_empty(), "it has one owner");
    drop(two);
    assert_eq!(another.load(&new("01D")).unsent.text(), "two");
    assert_eq!(files(&places).len(), 2);
    // Another project has its own drafts.
    drop((next, another));
    let elsewhere = Owner::New(SessionId("01E".into()), "/b".into());
    assert!(DraftWriter::new(&places).load(&elsewhere).unsent.is_empty());
}

#[test]
fn draft_moves_to_its_session_with_the_first_entry() {
    let (_home, places) = home();
    let keeper = DraftWriter::new(&places);
    keeper.save(new("01A"), UnsentText::from_text("more"));
    keeper.rename_new(SessionId("01A".into()), "/a".into());
    keeper.write().unwrap();
    assert_eq!(files(&places), ["01A.json"]);
    // If the program was killed in between, the draft still has its old name.
    let drafts = Drafts::new(&places);
    fs::rename(places.drafts().join("01A.json"), drafts.draft_path(&new("01A"))).unwrap();
    fs::write(session_header::session_path(&places.sessions(), &SessionId("01A".into())), "").unwrap();
    drop(keeper);
    assert!(drafts.load(&new("01B")).unsent.is_empty(), "it belongs to no new session");
    assert_eq!(drafts.load(&session("01A")).unsent.text(), "more");
    drafts.remove(&SessionId("01A".into())).unwrap();
    assert!(files(&places).is_empty());
}

#[test]
fn damaged_draft_is_reported_and_renamed() {
    let (_home, places) = home();
    let drafts = Drafts::new(&places);
    for owner in [session("01A"), new("01B")] {
        for damage in ["", "{", "[1]", "{\"draft\":[{\"drawn\":\"x\"}]}"] {
            fs::write(drafts.draft_path(&owner), damage).unwrap();
            let next = if let Owner::New(..) = &owner { new("01C") } else { owner.clone() };
            let loaded = drafts.load(&next);
            assert!(loaded.unsent.is_empty());
            let told = loaded.notices.concat();
            assert!(told.starts_with("Cannot read the unsent draft: ") && told.contains(".damaged"), "{told}");
            assert!(drafts.load(&next).notices.is_empty(), "it is reported once");
        }
    }
    assert_eq!(files(&places).len(), 2);
}

#[test]
fn drafts_of_earlier_versions_are_read_and_replaced() {
    let (_home, places) = home();
    let drafts = Drafts::new(&places);
    let put = |name: String, text: &str| fs::write(places.drafts().join(name), text).unwrap();
    put("01A.txt".into(), "half a thought");
    put("01A-card.txt".into(), "{\"call\":\"q\"}");
    put(format!("new-{}.txt", short_name(Path::new("/a"))), "first words");
    let kept = drafts.load(&session("01A")).unsent;
    assert_eq!((kept.text().as_str(), &*kept.questions.concat()), ("half a thought", "{\"call\":\"q\"}"));
    assert_eq!(drafts.load(&new("01B")).unsent.text(), "first words");
    drafts.save(&session("01A"), &kept).unwrap();
    drafts.save(&new("01B"), &UnsentText::from_text("first words")).unwrap();
    assert!(files(&places).iter().all(|name| name.ends_with(".json")), "{:?}", files(&places));
}

#[test]
fn unchanged_draft_is_not_written_and_failed_write_is_retried() {
    let (_home, places) = home();
    let keeper = DraftWriter::new(&places);
    let path = places.drafts().join("01A.json");
    let inode = || fs::metadata(&path).unwrap().ino();
    keeper.save(session("01A"), UnsentText::from_text("one"));
    keeper.write().unwrap();
    let before = inode();
    let held = File::open(&path).unwrap();
    keeper.save(session("01A"), UnsentText::from_text("one"));
    keeper.write().unwrap();
    assert_eq!(inode(), before);
    drop(held);
    // The folder's path is blocked: nothing is lost.
    let away = places.drafts().with_extension("away");
    fs::rename(places.drafts(), &away).unwrap();
    fs::write(places.drafts(), "").unwrap();
    keeper.save(session("01A"), UnsentText::from_text("two"));
    assert!(keeper.write().is_err());
    keeper.save(session("01A"), UnsentText::from_text("three"));
    assert!(keeper.write().is_err());
    fs::remove_file(places.drafts()).unwrap();
    fs::rename(away, places.drafts()).unwrap();
    drop(keeper);
    assert_eq!(Drafts::new(&places).load(&session("01A")).unsent.text(), "three");
}
