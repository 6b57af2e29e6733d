//! Copies that other programs open: what is saved in them becomes a version, and nothing of it is lost.

use super::*;

fn latest(workspace: &Workspace, path: &str) -> (u64, Vec<u8>) {
    let file = workspace.find(&target(path)).unwrap();
    (file.version, workspace.read(&file).unwrap())
}

/// Stores the changed copies and returns their names and new versions; a failure has no version.
fn store(workspace: &Workspace) -> Vec<(String, Option<u64>)> {
    let copies = workspace.store_changed_copies().unwrap();
    copies.into_iter().map(|copy| (copy.name, copy.stored.ok().map(|file| file.version))).collect()
}

#[test]
fn pruning_removes_the_copies_that_were_opened_and_stores_their_changes_first() {
    let scene = Scene::new();
    let file = write(&scene.workspace, "a", b"one").unwrap();
    let copy = scene.workspace.copy_to_open(&file, true).unwrap();
    scene.workspace.prune().unwrap();
    assert!(!copy.exists());
    let copy = scene.workspace.copy_to_open(&file, true).unwrap();
    fs::write(&copy, "two").unwrap();
    scene.workspace.prune().unwrap();
    assert!(!copy.exists());
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
    for (saved, version) in [("two", 2), ("one", 3), ("", 4)] {
        fs::write(&copy, saved).unwrap();
        assert_eq!(store(workspace), [("reports/a.md".to_owned(), Some(version))], "{saved}");
        assert_eq!(latest(workspace, "reports/a.md"), (version, saved.into()));
        assert!(store(workspace).is_empty(), "stored once: {saved}");
    }
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
    fs::write(&copy, "of the user").unwrap();
    assert_eq!(store(workspace), [("a".to_owned(), Some(3))]);
    let versions = workspace.list_versions(&target("a")).unwrap();
    let contents: Vec<Vec<u8>> = versions.iter().map(|(file, _)| workspace.read(file).unwrap()).collect();
    assert_eq!(contents, [&b"one"[..], b"of the model", b"of the user"]);
    workspace.delete(&target("a"), Origin::default()).unwrap();
    fs::write(&copy, "after the deletion").unwrap();
    assert_eq!(store(workspace).len(), 1);
    assert_eq!(latest(workspace, "a").1, b"after the deletion");
}

#[test]
fn opening_again_keeps_changes_that_are_not_stored() {
    let scene = Scene::with_limits(Limits { file_bytes: 5, ..Limits::default() });
    let workspace = &scene.workspace;
    let file = write(workspace, "a", b"one").unwrap();
    let copy = workspace.copy_to_open(&file, true).unwrap();
    fs::write(&copy, "too long").unwrap();
    assert_eq!(store(workspace), [("a".to_owned(), None)]);
    assert_eq!(store(workspace), [("a".to_owned(), None)], "said again, because it is still not stored");
    assert!(matches!(workspace.prune(), Err(Error::TooLarge { .. })));
    assert_eq!(fs::read(workspace.copy_to_open(&file, true).unwrap()).unwrap(), b"too long");
    fs::write(&copy, "short").unwrap();
    assert_eq!(store(workspace), [("a".to_owned(), Some(2))]);
}

#[test]
fn only_what_aye_copied_is_stored_and_an_unsaved_copy_is_replaced() {
    let scene = Scene::new();
    let workspace = &scene.workspace;
    let file = write(workspace, "a", b"one").unwrap();
    let copy = workspace.copy_to_open(&file, false).unwrap();
    assert!(fs::metadata(&copy).unwrap().permissions().readonly());
    fs::remove_file(copy.with_file_name(".known")).unwrap();
    fs::remove_file(&copy).unwrap();
    fs::write(&copy, "of unknown origin").unwrap();
    fs::create_dir(copy.parent().unwrap().with_file_name("no-copy")).unwrap();
    fs::write(copy.parent().unwrap().with_file_name("a file"), "x").unwrap();
    assert!(store(workspace).is_empty());
    let copy = workspace.copy_to_open(&file, true).unwrap();
    assert_eq!(fs::read(&copy).unwrap(), b"one");
    // A link is not followed.
    fs::write(scene.home.path().join("secret"), "secret").unwrap();
    fs::remove_file(&copy).unwrap();
    std::os::unix::fs::symlink(scene.home.path().join("secret"), &copy).unwrap();
    assert!(workspace.store_changed_copies().is_err());
    assert_eq!(latest(workspace, "a"), (1, b"one".to_vec()));
}

#[test]
fn a_changed_text_from_outside_stays_one() {
    let scene = Scene::new();
    let source = Some("a page of docs.rs".to_owned());
    let origin = Origin { untrusted_source: source.clone(), ..Origin::default() };
    let path = WorkspacePath::parse("page.md").unwrap();
    let file = NewFile { path: &path, bytes: b"one", origin, overwrite: false };
    let file = scene.workspace.write(&file).unwrap();
    fs::write(scene.workspace.copy_to_open(&file, true).unwrap(), "two").unwrap();
    store(&scene.workspace);
    assert_eq!(scene.workspace.find(&target("page.md")).unwrap().origin.untrusted_source, source);
}
