//! Copies that other programs open: what is saved in them becomes a version, and nothing of it is lost.

use super::*;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

fn latest(workspace: &Workspace, path: &str) -> (u64, Vec<u8>) {
    let file = workspace.find(&target(path)).unwrap();
    (file.version, workspace.read(&file).unwrap())
}

/// Stores the changed copies and returns their names and new versions; a failure has no version.
fn store(workspace: &Workspace) -> Vec<(String, Option<u64>)> {
    let copies = workspace.store_changed_copies().unwrap();
    copies.into_iter().map(|copy| (copy.name, copy.stored.ok().map(|file| file.version))).collect()
}

/// Saves a copy as it was some seconds ago, so that nothing waits for it.
fn save(copy: &Path, text: &str, seconds_ago: u64) {
    fs::write(copy, text).unwrap();
    let time = SystemTime::now() - Duration::from_secs(seconds_ago);
    fs::File::options().append(true).open(copy).unwrap().set_modified(time).unwrap();
}

#[test]
fn pruning_removes_the_copies_that_were_opened_and_stores_their_changes_first() {
    let scene = Scene::new();
    let file = write(&scene.workspace, "a", b"one").unwrap();
    let copy = scene.workspace.copy_to_open(&file, true).unwrap();
    scene.workspace.prune().unwrap();
    assert!(!copy.exists() && !scene.folder().join("open").exists());
    let copy = scene.workspace.copy_to_open(&file, true).unwrap();
    save(&copy, "two", 9);
    // What the user saved next to it is not aye's to remove.
    fs::write(copy.with_file_name("mine"), "x").unwrap();
    scene.workspace.prune().unwrap();
    assert!(!copy.exists() && copy.with_file_name("mine").exists());
    assert_eq!(latest(&scene.workspace, "a"), (2, b"two".to_vec()));
}

#[test]
fn what_is_saved_in_a_copy_becomes_a_version_once() {
    let scene = Scene::new();
    let workspace = &scene.workspace;
    assert!(store(workspace).is_empty());
    let file = write(workspace, "reports/a.md", b"one").unwrap();
    let copy = workspace.copy_to_open(&file, true).unwrap();
    assert!(store(workspace).is_empty(), "nothing was saved");
    for (number, (saved, version)) in [("two", 2), ("one", 3), ("", 4)].into_iter().enumerate() {
        save(&copy, saved, 90 - number as u64);
        assert_eq!(store(workspace), [("reports/a.md".to_owned(), Some(version))], "{saved}");
        assert_eq!(latest(workspace, "reports/a.md"), (version, saved.into()));
        assert!(store(workspace).is_empty(), "stored once: {saved}");
    }
    save(&copy, "", 1);
    assert!(store(workspace).is_empty(), "only its time has changed");
    // As editors do that replace the file.
    fs::write(copy.with_extension("new"), "five").unwrap();
    fs::remove_file(&copy).unwrap();
    assert!(store(&scene.open_again()).is_empty(), "it is being replaced");
    fs::rename(copy.with_extension("new"), &copy).unwrap();
    assert_eq!(store(&scene.open_again()), [("reports/a.md".to_owned(), Some(5))]);
}

#[test]
fn a_save_after_a_change_by_the_model_keeps_both_versions() {
    let scene = Scene::new();
    let workspace = &scene.workspace;
    let file = write(workspace, "a", b"one").unwrap();
    let copy = workspace.copy_to_open(&file, true).unwrap();
    write(workspace, "a", b"of the model").unwrap();
    save(&copy, "of the user", 9);
    assert_eq!(store(workspace), [("a".to_owned(), Some(3))]);
    let versions = workspace.list_versions(&target("a")).unwrap();
    let contents: Vec<Vec<u8>> = versions.iter().map(|(file, _)| workspace.read(file).unwrap()).collect();
    assert_eq!(contents, [&b"one"[..], b"of the model", b"of the user"]);
    workspace.delete(&target("a"), Origin::default()).unwrap();
    save(&copy, "after the deletion", 8);
    assert_eq!(store(workspace).len(), 1);
    assert_eq!(latest(workspace, "a").1, b"after the deletion");
}

#[test]
fn of_several_copies_of_a_file_the_one_saved_last_is_the_latest() {
    let scene = Scene::new();
    let workspace = &scene.workspace;
    let files: Vec<StoredFile> =
        (1..=6).map(|number| write(workspace, "a", format!("{number}").as_bytes()).unwrap()).collect();
    let copies: Vec<_> = files.iter().map(|file| workspace.copy_to_open(file, true).unwrap()).collect();
    for (number, copy) in copies.iter().enumerate() {
        save(copy, &format!("saved {number}"), 60 + (number as u64 * 7) % 5);
    }
    // 60, 62, 64, 61, 63 and 60 seconds ago: the first and the last one at nearly the same time.
    save(&copies[3], "last", 5);
    assert_eq!(store(workspace).len(), 6);
    assert_eq!(latest(workspace, "a"), (12, b"last".to_vec()));
}

#[test]
fn a_copy_that_is_being_saved_is_waited_for() {
    let scene = Scene::new();
    let workspace = &scene.workspace;
    let file = write(workspace, "a", b"one").unwrap();
    let copy = workspace.copy_to_open(&file, true).unwrap();
    fs::write(&copy, "").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            fs::write(&copy, "all of it").unwrap();
        });
        assert_eq!(store(workspace), [("a".to_owned(), Some(2))]);
    });
    assert_eq!(latest(workspace, "a").1, b"all of it");
}

#[test]
fn opening_again_keeps_changes_that_are_not_stored() {
    let scene = Scene::with_limits(Limits { file_bytes: 5, ..Limits::default() });
    let workspace = &scene.workspace;
    let file = write(workspace, "a", b"one").unwrap();
    let copy = workspace.copy_to_open(&file, true).unwrap();
    save(&copy, "too long", 9);
    assert_eq!(store(workspace), [("a".to_owned(), None)]);
    assert_eq!(store(workspace), [("a".to_owned(), None)], "said again, because it is still not stored");
    assert!(matches!(workspace.prune(), Err(Error::TooLarge { .. })));
    assert_eq!(fs::read(workspace.copy_to_open(&file, true).unwrap()).unwrap(), b"too long");
    save(&copy, "short", 8);
    assert_eq!(store(workspace), [("a".to_owned(), Some(2))]);
    // The first version is opened beside it: a program may still have the copy open.
    let first = workspace.copy_to_open(&file, false).unwrap();
    assert_eq!((fs::read(&first).unwrap(), fs::read(&copy).unwrap()), (b"one".to_vec(), b"short".to_vec()));
    assert!(
        fs::metadata(&first).unwrap().permissions().readonly()
            && !fs::metadata(&copy).unwrap().permissions().readonly()
    );
    assert!(store(workspace).is_empty());
    assert_eq!(workspace.copy_to_open(&file, false).unwrap(), first, "it is opened again as it is");
}

#[test]
fn a_save_is_found_also_if_aye_was_killed_while_it_made_the_copy() {
    let scene = Scene::new();
    let workspace = &scene.workspace;
    let file = write(workspace, "a", b"one").unwrap();
    let copy = workspace.copy_to_open(&file, true).unwrap();
    fs::remove_file(copy.parent().unwrap().with_extension("stored")).unwrap();
    assert!(store(workspace).is_empty());
    fs::remove_file(copy.parent().unwrap().with_extension("stored")).unwrap();
    save(&copy, "two", 9);
    assert_eq!(fs::read(workspace.copy_to_open(&file, true).unwrap()).unwrap(), b"two");
    assert_eq!(store(workspace), [("a".to_owned(), Some(2))]);
}

#[test]
fn names_of_files_and_foreign_files_do_not_matter() {
    let scene = Scene::new();
    let workspace = &scene.workspace;
    let mut copies = Vec::new();
    for name in [".known", "stored", "a.stored", ".stored", "1-1"] {
        let file = write(workspace, name, b"one").unwrap();
        copies.push(workspace.copy_to_open(&file, true).unwrap());
    }
    let open = scene.folder().join("open");
    fs::create_dir(open.join("no-copy")).unwrap();
    fs::write(open.join("a-1"), "x").unwrap();
    fs::write(copies[0].with_file_name("save as"), "x").unwrap();
    assert!(store(workspace).is_empty());
    save(&copies[0], "two", 9);
    // One that cannot be read prevents nothing.
    fs::write(scene.home.path().join("secret"), "secret").unwrap();
    fs::remove_file(&copies[1]).unwrap();
    symlink(scene.home.path().join("secret"), &copies[1]).unwrap();
    let mut stored = store(workspace);
    stored.sort();
    assert_eq!(stored, [(".known".to_owned(), Some(2)), ("stored".to_owned(), None)]);
    assert_eq!(latest(workspace, "stored"), (1, b"one".to_vec()));
    let file = workspace.find(&target("stored")).unwrap();
    assert_ne!(workspace.copy_to_open(&file, true).unwrap(), copies[1], "the link stays for the user to look at");
}

#[test]
fn a_changed_text_from_outside_or_of_a_dry_run_stays_one() {
    let scene = Scene::new();
    let source = Some("a page of docs.rs".to_owned());
    let origin = Origin { untrusted_source: source.clone(), rehearsed: true, ..Origin::default() };
    let path = WorkspacePath::parse("page.md").unwrap();
    let file = NewFile { path: &path, bytes: b"one", origin, replaces: Replaces::Nothing, media_type: None };
    let file = scene.workspace.write(&file).unwrap();
    save(&scene.workspace.copy_to_open(&file, true).unwrap(), "two", 9);
    store(&scene.workspace);
    let origin = scene.workspace.find(&target("page.md")).unwrap().origin;
    assert_eq!((origin.untrusted_source, origin.rehearsed), (source, true));
}
