//! Tests of damaged and lost files of the index.

use super::*;

#[test]
fn the_next_change_removes_what_a_killed_program_left() {
    let scene = Scene::new();
    write(&scene.workspace, "a", b"one").unwrap();
    let left_over = scene.folder().join("bytes").join(Digest::of_bytes(b"never recorded").as_str());
    fs::write(&left_over, "never recorded").unwrap();
    write(&scene.open_again(), "b", b"two").unwrap();
    assert!(!left_over.exists());
    assert_eq!(list(&scene.workspace), ["a@1", "b@1"]);
}

/// A kill while a line is written leaves any part of it in one of the files, or in none.
#[test]
fn an_index_that_ends_anywhere_is_read_and_repaired() {
    let scene = Scene::new();
    write(&scene.workspace, "a", b"one").unwrap();
    write(&scene.workspace, "b", b"two").unwrap();
    let files = [scene.folder().join("index.jsonl"), scene.folder().join("index.copy.jsonl")];
    let whole = fs::read(&files[0]).unwrap();
    assert_eq!(fs::read(&files[1]).unwrap(), whole);
    let first_line = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for (cut, other) in [(&files[0], &files[1]), (&files[1], &files[0])] {
        for length in 0..=whole.len() {
            fs::write(cut, &whole[..length]).unwrap();
            fs::write(other, &whole).unwrap();
            assert_eq!(list(&scene.workspace), ["a@1", "b@1"], "{length} bytes are left");
            // Both programs are still in the middle of the line.
            fs::write(other, &whole[..first_line]).unwrap();
            let expected: &[&str] = if length == whole.len() { &["a@1", "b@1"] } else { &["a@1"] };
            let reader = scene.open_again();
            assert_eq!(list(&reader), expected, "{length} bytes are left");
            write(&scene.open_again(), "c", b"three").unwrap();
            let repaired = fs::read(&files[0]).unwrap();
            assert_eq!(fs::read(&files[1]).unwrap(), repaired);
            assert!(repaired.starts_with(&whole[..first_line]) && repaired.ends_with(b"\n"));
            let expected: Vec<&str> = expected.iter().copied().chain(["c@1"]).collect();
            assert_eq!(list(&reader), expected, "a reader that was open goes on");
        }
    }
}

#[test]
fn the_loss_of_one_index_file_loses_nothing() {
    for lost in ["index.jsonl", "index.copy.jsonl"] {
        let scene = Scene::new();
        write(&scene.workspace, "a", b"one").unwrap();
        fs::remove_file(scene.folder().join(lost)).unwrap();
        assert_eq!(list(&scene.workspace), ["a@1"]);
        assert_eq!(list(&scene.open_again()), ["a@1"]);
        write(&scene.workspace, "b", b"two").unwrap();
        fs::write(scene.folder().join(lost), "{\"damaged").unwrap();
        assert_eq!(list(&scene.open_again()), ["a@1", "b@1"]);
        fs::write(scene.folder().join(lost), fs::read(scene.folder().join(lost)).unwrap().repeat(2)).unwrap();
        write(&scene.open_again(), "a", b"three").unwrap();
        assert_eq!(list(&scene.workspace), ["a@2", "b@1"]);
        let files = ["index.jsonl", "index.copy.jsonl"].map(|file| fs::read(scene.folder().join(file)).unwrap());
        assert_eq!(files[0], files[1]);
    }
}

#[test]
fn the_loss_of_the_whole_index_loses_only_names() {
    for is_removed in [true, false] {
        let scene = Scene::new();
        write(&scene.workspace, "a.md", b"# one").unwrap();
        write(&scene.workspace, "a.md", b"# two").unwrap();
        write(&scene.workspace, "b.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
        for file in ["index.jsonl", "index.copy.jsonl"].map(|name| scene.folder().join(name)) {
            if is_removed { fs::remove_file(&file).unwrap() } else { fs::write(&file, "{\"id\":").unwrap() }
        }
        for workspace in [&scene.workspace, &scene.open_again()] {
            let files = workspace.list(&PathPrefix::parse("recovered").unwrap()).unwrap();
            assert_eq!((files.len(), list(workspace).len()), (3, 3), "{files:?}");
            assert!(files.iter().all(|file| workspace.read(file).is_ok() && file.origin.untrusted_source.is_some()));
            let extensions = files.iter().map(|file| file.path.as_str().rsplit_once('.').unwrap().1);
            assert_eq!(extensions.filter(|extension| *extension == "png").count(), 1);
        }
        write(&scene.open_again(), "a.md", b"# three").unwrap();
        assert_eq!(scene.contents().len(), 4, "nothing is removed");
    }
}

#[test]
fn lines_of_a_later_version_are_kept() {
    let scene = Scene::new();
    write(&scene.workspace, "a", b"one").unwrap();
    for file in ["index.jsonl", "index.copy.jsonl"] {
        let path = scene.folder().join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{text}{{\"id\":\"x\",\"change\":\"renamed\"}}\n")).unwrap();
    }
    // Such a line may name it.
    let content = scene.folder().join("bytes").join(Digest::of_bytes(b"of a later version").as_str());
    fs::write(&content, "of a later version").unwrap();
    write(&scene.open_again(), "b", b"two").unwrap();
    fs::remove_file(scene.folder().join("index.jsonl")).unwrap();
    write(&scene.open_again(), "c", b"three").unwrap();
    let text = fs::read_to_string(scene.folder().join("index.jsonl")).unwrap();
    assert!(text.contains("renamed") && text.lines().count() == 4, "{text}");
    assert!(content.exists());
}

#[test]
fn contents_whose_lines_are_damaged_in_both_files_get_new_names() {
    let scene = Scene::new();
    write(&scene.workspace, "a", b"one").unwrap();
    write(&scene.workspace, "b", b"two").unwrap();
    for name in ["index.jsonl", "index.copy.jsonl"] {
        let path = scene.folder().join(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen('{', "[", 1)).unwrap();
    }
    write(&scene.open_again(), "c", b"three").unwrap();
    write(&scene.open_again(), "c", b"four").unwrap();
    let name = format!("recovered/{}.txt@1", &Digest::of_bytes(b"one").as_str()[..16]);
    assert_eq!(list(&scene.workspace), ["b@1", "c@2", &name]);
    assert_eq!(scene.contents().len(), 4);
}

/// The damage is in one file and leaves it valid, so nobody knows which of both is right.
#[test]
fn a_content_of_one_of_two_different_lines_is_kept() {
    let scene = Scene::new();
    let stored = write(&scene.workspace, "a", b"one").unwrap();
    let path = scene.folder().join("index.jsonl");
    let digest = stored.sha256.as_str();
    let other = if digest.starts_with('0') { "1" } else { "0" };
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace(digest, &format!("{other}{}", &digest[1..]))).unwrap();
    for _ in 0..2 {
        write(&scene.open_again(), "b", b"two").unwrap();
        write(&scene.open_again(), "b", b"three").unwrap();
    }
    assert!(scene.folder().join("bytes").join(digest).exists());
}
