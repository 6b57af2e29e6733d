//! Tests of draft files: owners, recovery after a crash, and damaged files.

use super::*;
use std::os::unix::fs::MetadataExt;

fn create_home() -> (tempfile::TempDir, Places) {
    let home = tempfile::tempdir().unwrap();
    let places = Places::within(home.path());
    places.prepare().unwrap();
    (home, places)
}

fn session_owner(id: &str) -> Owner {
    Owner::Session(SessionId(id.into()))
}

fn unstarted_owner(id: &str) -> Owner {
    Owner::New(SessionId(id.into()), "/a".into())
}

fn list_files(places: &Places) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(places.drafts()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn draft_is_kept_until_it_is_sent() {
    let (_home, places) = create_home();
    let drafts = Drafts::new(&places);
    assert!(drafts.load(&session_owner("01J")).unsent.is_empty());
    drafts.save(&session_owner("01J"), &UnsentText::from_text("one\ntwo")).unwrap();
    assert_eq!(drafts.load(&session_owner("01J")).unsent.text(), "one\ntwo");
    assert!(drafts.load(&session_owner("01K")).unsent.is_empty());
    drafts.save(&session_owner("01J"), &UnsentText::default()).unwrap();
    drafts.save(&session_owner("01J"), &UnsentText::default()).unwrap();
    assert!(drafts.load(&session_owner("01J")).unsent.is_empty() && list_files(&places).is_empty());
}

#[test]
fn files_of_a_session_without_entries_follow_its_draft() {
    let (_home, places) = create_home();
    let drafts = Drafts::new(&places);
    let workspace = |id: &str| places.workspace(&SessionId(id.into()));
    for (old, new) in [("01J", "01K"), ("01L", "01M")] {
        drafts.save(&unstarted_owner(old), &UnsentText::from_text("see @workspace:///pasted-1.png")).unwrap();
        fs::create_dir_all(workspace(old)).unwrap();
        fs::write(workspace(old).join("index"), old).unwrap();
        if new == "01M" {
            fs::create_dir_all(workspace(new)).unwrap();
        }
        assert!(!drafts.load(&unstarted_owner(new)).unsent.is_empty());
        drafts.save(&unstarted_owner(new), &UnsentText::default()).unwrap();
    }
    assert_eq!(fs::read_to_string(workspace("01K").join("index")).unwrap(), "01J");
    assert!(!workspace("01J").exists());
    // Files of another session are never replaced.
    assert!(workspace("01L").exists() && !workspace("01M").join("index").exists());
}

#[test]
fn r56_draft_is_readable_by_its_owner_only() {
    let (_home, places) = create_home();
    let drafts = Drafts::new(&places);
    for owner in [session_owner("01J"), unstarted_owner("01K")] {
        drafts.save(&owner, &UnsentText::from_text("x")).unwrap();
    }
    for file in fs::read_dir(places.drafts()).unwrap() {
        assert_eq!(file.unwrap().metadata().unwrap().mode() & 0o777, 0o600);
    }
}

/// Loads the draft of a program that has ended. A process that another test starts holds a copy of the lock until it
/// executes its program.
fn load_released(writer: &DraftWriter, id: &str) -> String {
    for _ in 0..200 {
        let text = writer.load(&unstarted_owner(id)).unsent.text().to_owned();
        if !text.is_empty() {
            return text;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the draft stayed locked");
}

#[test]
fn programs_without_a_session_have_separate_drafts() {
    let (_home, places) = create_home();
    let (first, second) = (DraftWriter::new(&places), DraftWriter::new(&places));
    first.save(unstarted_owner("01A"), UnsentText::from_text("one"));
    second.save(unstarted_owner("01B"), UnsentText::from_text("two"));
    assert!(first.write().is_ok() && second.write().is_ok());
    // Both are running, so the next program finds neither.
    let next = DraftWriter::new(&places);
    assert!(next.load(&unstarted_owner("01C")).unsent.is_empty());
    drop(first);
    assert_eq!(load_released(&next, "01C"), "one");
    let another = DraftWriter::new(&places);
    assert!(another.load(&unstarted_owner("01D")).unsent.is_empty(), "it has one owner");
    drop(second);
    assert_eq!(load_released(&another, "01D"), "two");
    assert_eq!(list_files(&places).len(), 2);
    // Another project has its own drafts.
    drop((next, another));
    let elsewhere = Owner::New(SessionId("01E".into()), "/b".into());
    assert!(DraftWriter::new(&places).load(&elsewhere).unsent.is_empty());
}

#[test]
fn draft_moves_to_its_session_with_the_first_entry() {
    let (_home, places) = create_home();
    let writer = DraftWriter::new(&places);
    writer.save(unstarted_owner("01A"), UnsentText::from_text("more"));
    writer.rename_new(SessionId("01A".into()), "/a".into());
    writer.write().unwrap();
    assert_eq!(list_files(&places), ["01A.json"]);
    // If the program was killed after the first entry and before `rename_new`, the draft still has its old name.
    let drafts = Drafts::new(&places);
    fs::rename(places.drafts().join("01A.json"), drafts.draft_path(&unstarted_owner("01A"))).unwrap();
    fs::write(places.session(&SessionId("01A".into())), "").unwrap();
    drop(writer);
    assert!(drafts.load(&unstarted_owner("01B")).unsent.is_empty(), "it belongs to no new session");
    assert_eq!(drafts.load(&session_owner("01A")).unsent.text(), "more");
    drafts.remove(&SessionId("01A".into())).unwrap();
    assert!(list_files(&places).is_empty());
}

#[test]
fn damaged_draft_is_reported_and_renamed() {
    let (_home, places) = create_home();
    let drafts = Drafts::new(&places);
    for owner in [session_owner("01A"), unstarted_owner("01B")] {
        for damage in ["", "{", "[1]", "{\"draft\":[{\"drawn\":\"x\"}]}"] {
            fs::write(drafts.draft_path(&owner), damage).unwrap();
            let next = if let Owner::New(..) = &owner { unstarted_owner("01C") } else { owner.clone() };
            let loaded = drafts.load(&next);
            assert!(loaded.unsent.is_empty());
            let notice = loaded.notices.concat();
            assert!(notice.starts_with("Cannot read the unsent draft: ") && notice.contains(".damaged"), "{notice}");
            assert!(drafts.load(&next).notices.is_empty(), "it is reported once");
        }
    }
    assert_eq!(list_files(&places).len(), 2);
}

#[test]
fn drafts_of_earlier_versions_are_read_and_replaced() {
    let (_home, places) = create_home();
    let drafts = Drafts::new(&places);
    let write_draft = |name: String, text: &str| fs::write(places.drafts().join(name), text).unwrap();
    write_draft("01A.txt".into(), "half a thought");
    write_draft("01A-card.txt".into(), "{\"call\":\"q\"}");
    write_draft(format!("new-{}.txt", short_name(Path::new("/a"))), "first words");
    let unsent = drafts.load(&session_owner("01A")).unsent;
    assert_eq!((unsent.text().as_str(), &*unsent.questions.concat()), ("half a thought", "{\"call\":\"q\"}"));
    assert_eq!(drafts.load(&unstarted_owner("01B")).unsent.text(), "first words");
    drafts.save(&session_owner("01A"), &unsent).unwrap();
    drafts.save(&unstarted_owner("01B"), &UnsentText::from_text("first words")).unwrap();
    assert!(list_files(&places).iter().all(|name| name.ends_with(".json")), "{:?}", list_files(&places));
}

#[test]
fn unchanged_draft_is_not_written_and_failed_write_is_retried() {
    let (_home, places) = create_home();
    let writer = DraftWriter::new(&places);
    let path = places.drafts().join("01A.json");
    let read_inode = || fs::metadata(&path).unwrap().ino();
    writer.save(session_owner("01A"), UnsentText::from_text("one"));
    writer.write().unwrap();
    let inode_before = read_inode();
    // While the file is open, no new file can get its inode number.
    let open_file = File::open(&path).unwrap();
    writer.save(session_owner("01A"), UnsentText::from_text("one"));
    writer.write().unwrap();
    assert_eq!(read_inode(), inode_before);
    drop(open_file);
    // The folder's path is blocked: nothing is lost.
    let moved = places.drafts().with_extension("away");
    fs::rename(places.drafts(), &moved).unwrap();
    fs::write(places.drafts(), "").unwrap();
    writer.save(session_owner("01A"), UnsentText::from_text("two"));
    assert!(writer.write().is_err());
    writer.save(session_owner("01A"), UnsentText::from_text("three"));
    assert!(writer.write().is_err());
    fs::remove_file(places.drafts()).unwrap();
    fs::rename(moved, places.drafts()).unwrap();
    drop(writer);
    assert_eq!(Drafts::new(&places).load(&session_owner("01A")).unsent.text(), "three");
}
