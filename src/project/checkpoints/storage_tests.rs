//! Tests of what is stored: its limit, its permissions, several programs at once, and damage.

use super::tests::{Fixture, LIMIT};
use super::*;
use crate::chat::{CallId, SessionId};
use crate::project::batch::ItemOutcome;
use crate::project::{Reader, Writer};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

#[test]
fn the_oldest_contents_are_removed_first() {
    let fixture = Fixture::new(1 << 20);
    let text = |number: usize| format!("{number}").repeat(150_000);
    for number in 0..30 {
        fixture.write(&format!("call-{number:02}"), "a", &text(number % 10));
    }
    let checkpoints = &fixture.session.checkpoints;
    let (objects, _) = checkpoints.objects().list();
    let total: u64 = objects.iter().map(|(_, size)| size).sum();
    assert!(total <= 1 << 20, "{total} bytes");
    let calls = checkpoints.read_calls();
    assert!(calls.len() > 3 && calls.len() < 30, "{}", calls.len());
    assert_eq!(calls.last().unwrap().call, CallId("call-29".into()));
    // Everything that is listed can still be restored.
    assert_eq!(fixture.undo("call", "undo"), [ItemOutcome::Applied]);
    let oldest: usize = calls[0].call.0["call-".len()..].parse().unwrap();
    assert_eq!(fs::read_to_string(fixture.path("a")).unwrap(), text((oldest + 9) % 10));
}

#[test]
fn a_change_that_cannot_be_recorded_is_named() {
    let fixture = Fixture::new(100);
    let recorder = Arc::new(fixture.recorder("call"));
    fs::write(fixture.path("a"), "x".repeat(1000)).unwrap();
    let project = RecordedProject::new(fixture.disk.clone(), recorder.clone());
    let location = project.locate("a").unwrap();
    project.write(&location, Some("x".repeat(1000).as_bytes()), b"two\n").unwrap();
    assert_eq!(fs::read_to_string(fixture.path("a")).unwrap(), "two\n", "it is made");
    assert_eq!(recorder.failure().as_deref(), Some("it exceeds undo.max_mb"));
    // The same if the folder cannot be written.
    let blocked = fixture.path("../blocked");
    fs::write(&blocked, "").unwrap();
    let session = Fixture::open_session(&blocked, fixture.disk.root(), LIMIT);
    let recorder = session.recorder(&"call".into(), "write_file");
    recorder.record_write(&fixture.path("a"), Some(b"two\n"), b"three\n");
    assert!(recorder.failure().is_some());
}

#[test]
fn two_programs_record_at_once() {
    let fixture = Fixture::new(1 << 20);
    let folder = fixture.session.checkpoints.folder().to_owned();
    let root = fixture.disk.root().to_owned();
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let session = Fixture::open_session(&folder, &root, 1 << 20);
            std::thread::spawn(move || {
                for number in 0..50 {
                    let recorder = session.recorder(&format!("{writer}-{number}").as_str().into(), "write_file");
                    let text = format!("{writer} {number} ").repeat(100);
                    recorder.record_write(&session.root.join(format!("{writer}")), Some(text.as_bytes()), b"");
                    assert_eq!(recorder.failure(), None);
                }
            })
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let calls = fixture.session.checkpoints.read_calls();
    assert_eq!(calls.len(), 200);
    for call in calls {
        let PathState::File(state) = &call.paths[0].before else { panic!("{call:?}") };
        fixture.session.checkpoints.objects().load(state.sha256.as_ref().unwrap()).unwrap();
    }
}

#[test]
fn only_the_owner_can_read_what_is_stored() {
    let fixture = Fixture::new(LIMIT);
    fs::write(fixture.path(".env"), "KEY=1\n").unwrap();
    fixture.write("call", ".env", "KEY=2\n");
    let mut folders = vec![fixture.session.checkpoints.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700, "{}", folder.display());
        for entry in fs::read_dir(&folder).unwrap() {
            let (path, metadata) = (entry.as_ref().unwrap().path(), entry.unwrap().metadata().unwrap());
            if metadata.is_dir() {
                folders.push(path);
            } else {
                assert_eq!(metadata.mode() & 0o777, 0o600, "{}", path.display());
            }
        }
    }
}

#[test]
fn removed_sessions_leave_no_content() {
    let fixture = Fixture::new(LIMIT);
    fs::write(fixture.path("a"), "one\n").unwrap();
    fixture.write("call", "a", "two\n");
    let other = SessionCheckpoints { session: SessionId("01T".into()), ..fixture.session.clone() };
    other.recorder(&"other".into(), "write_file").record_write(&fixture.path("a"), Some(b"two\n"), b"three\n");
    let checkpoints = &fixture.session.checkpoints;
    checkpoints.remove_sessions(&[SessionId("01S".into())]).unwrap();
    assert_eq!(checkpoints.read_calls().len(), 1);
    let (objects, _) = checkpoints.objects().list();
    assert_eq!(objects.len(), 1);
    assert_eq!(checkpoints.objects().load(&objects[0].0).unwrap(), b"two\n");
}

#[test]
fn a_damaged_or_missing_content_blocks_only_its_file() {
    let fixture = Fixture::new(LIMIT);
    for name in ["a", "b", "c"] {
        fs::write(fixture.path(name), name).unwrap();
        fixture.write("call", name, "two\n");
    }
    let digest = |name: &str| crate::chat::Digest::of_bytes(name.as_bytes());
    let object = |name: &str| {
        let (folder, file) = (digest(name).as_str()[..2].to_owned(), digest(name).as_str()[2..].to_owned());
        fixture.session.checkpoints.folder().join("objects").join(folder).join(file)
    };
    fs::write(object("a"), "x").unwrap();
    fs::remove_file(object("b")).unwrap();
    let (_, batch, _) = fixture.draft("call");
    let reasons: Vec<Option<String>> = batch.items.into_iter().map(|item| item.blocked).collect();
    assert!(reasons[0].as_ref().unwrap().contains("is damaged"), "{reasons:?}");
    assert!(reasons[1].as_ref().unwrap().contains("no longer stored"), "{reasons:?}");
    assert_eq!(reasons[2], None);
    fixture.undo("call", "undo");
    assert_eq!(fs::read_to_string(fixture.path("c")).unwrap(), "c");
}
