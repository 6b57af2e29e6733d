//! Tests: applying the patch of any change gives the state of the rehearsal, except for the listed omissions.

mod tree;

use super::plan::FILE_LIMIT;
use super::*;
use crate::project::Writer;
use crate::project::disk::Disk;
use crate::project::rehearsal::UPPER;
use proptest::prelude::*;
use rustix::fs::CWD;
use std::fs;
use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::Arc;
use tree::{Tree, TreeEntry, tree_pairs};

/// Applies a patch in a folder with the installed git. Returns whether git succeeded, and its stderr; `None` if git is
/// not installed.
fn git_apply(folder: &Path, patch: &[u8], options: &[&str]) -> Option<(bool, String)> {
    let mut command = Command::new("git");
    command.arg("apply").args(options).current_dir(folder).env_clear().env("HOME", folder);
    command.env("PATH", std::env::var_os("PATH")?).env("GIT_CONFIG_NOSYSTEM", "1");
    // Git looks for a repository in the folder and its parent, but not above them.
    command.env("GIT_CEILING_DIRECTORIES", folder.ancestors().nth(2)?);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        let _ = writeln!(io::stderr(), "LEFT OUT: git apply: git is not installed");
        return None;
    };
    child.stdin.take()?.write_all(patch).ok();
    let output = child.wait_with_output().ok()?;
    Some((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

struct PatchFixture {
    temporary: tempfile::TempDir,
    rehearsal: Rehearsal,
}

impl PatchFixture {
    fn new(before: &Tree) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap().join("project");
        before.create_on_disk(&root);
        let rehearsal = Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), temporary.path().join("data/layer"));
        Self { temporary, rehearsal }
    }

    fn create_patch(&self) -> (Patch, Vec<u8>) {
        let patch = Patch::new(&self.rehearsal, |_| true).unwrap();
        let mut bytes = Vec::new();
        patch.write_patch(&mut bytes).unwrap();
        (patch, bytes)
    }

    fn write_rehearsed(&self, path: &str, bytes: &[u8]) {
        let location = self.rehearsal.locate(path).unwrap();
        let before = self.rehearsal.read(&location).ok();
        self.rehearsal.write(&location, before.as_deref(), bytes).unwrap();
    }

    /// Creates the overlay if needed, and returns the path at which it stores a path of the project.
    fn upper(&self, path: &str) -> PathBuf {
        self.rehearsal.prepare_overlay().unwrap();
        self.rehearsal.overlay_folder().join(UPPER).join(path)
    }
}

/// Rehearses `after` over `before`, applies the patch to a copy of `before`, and compares.
fn assert_patch_reproduces(before: &Tree, after: &Tree, seed: u64, in_repository: bool) {
    let fixture = PatchFixture::new(before);
    fixture.rehearsal.prepare_overlay().unwrap();
    after.write_as_overlay(before, &fixture.rehearsal.overlay_folder().join(UPPER), seed);
    let copy = fixture.temporary.path().join("copy");
    before.create_on_disk(&copy);
    if in_repository {
        fs::create_dir(copy.join(".git")).unwrap();
        for folder in ["objects", "refs"] {
            fs::create_dir(copy.join(".git").join(folder)).unwrap();
        }
        fs::write(copy.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }
    let (patch, bytes) = fixture.create_patch();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if text.lines().any(|line| line.starts_with("diff --git")) {
        let Some((applied, err)) = git_apply(&copy, &bytes, &["--whitespace=nowarn"]) else { return };
        assert!(applied, "{err}\n{before:?}\n{after:?}\n{text}");
    }
    let is_listed = |path: &Path| patch.omissions.iter().any(|omission| path == omission.path);
    let patched = Tree::read_from_disk(&copy);
    let paths = patched.0.keys().chain(after.0.keys()).filter(|path| !is_listed(path));
    for path in paths {
        assert_eq!(patched.0.get(path), after.0.get(path), "{}\n{before:?}\n{after:?}\n{text}", path.display());
    }
    for path in after.0.keys().chain(before.0.keys()) {
        let is_plain = before.is_plain(path) && after.is_plain(path);
        assert!(!is_plain || !is_listed(path), "{} is listed\n{before:?}\n{after:?}\n{text}", path.display());
    }
}

/// Returns the requested number of cases, or few by default because each starts git.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(48)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn r30_git_apply_reproduces_the_rehearsal_for_any_tree(
        (before, after) in tree_pairs(), seed: u64, in_repository: bool
    ) {
        assert_patch_reproduces(&before, &after, seed, in_repository);
    }
}

fn build_tree(entries: &[(&str, TreeEntry)]) -> Tree {
    let mut tree = Tree::default();
    entries.iter().for_each(|(path, kind)| tree.put_entry(Path::new(path), kind.clone()));
    tree
}

#[test]
fn r30_git_apply_accepts_every_kind_of_change() {
    let text = |text: &str| TreeEntry::new_file(text.as_bytes());
    let link = |to: &str| TreeEntry::Link(to.into());
    let noise: Vec<u8> = (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for (before, after) in [
        // A lone carriage return does not end a line.
        (build_tree(&[("a", text("one\rtwo\nthree\r\n"))]), build_tree(&[("a", text("one\rTWO\nthree\r\nfour"))])),
        (build_tree(&[("a", text("x"))]), build_tree(&[("a", text("x\n"))])),
        (build_tree(&[("a", text("\n\n\n"))]), build_tree(&[("a", text(""))])),
        (
            build_tree(&[("a", TreeEntry::new_file(b"caf\xe9\n"))]),
            build_tree(&[("a", TreeEntry::new_file(b"th\xe9\n"))]),
        ),
        (build_tree(&[("a", TreeEntry::new_file(&noise))]), build_tree(&[("a", TreeEntry::new_file(&noise[1..]))])),
        (build_tree(&[("a", TreeEntry::new_file(b"\0"))]), build_tree(&[("b c", TreeEntry::new_file(b"\0\xff"))])),
        (build_tree(&[("a", text("x"))]), build_tree(&[("a", link("b"))])),
        (build_tree(&[("a", link("b"))]), build_tree(&[("a", link("c\nd"))])),
        (build_tree(&[("a", link("d")), ("d/x", text("x"))]), build_tree(&[("a/x", text("y")), ("d/x", text("x"))])),
        (build_tree(&[("a/x", text("x")), ("a/y", text("y"))]), build_tree(&[("a", text("x\n"))])),
        (build_tree(&[("a/x/y", text("x"))]), build_tree(&[("a", link("x"))])),
        (build_tree(&[("a", link("a"))]), build_tree(&[("a/a", text("x"))])),
        (build_tree(&[("a", link("."))]), build_tree(&[("a/a/b", text("x"))])),
        (build_tree(&[("a", link("d")), ("d/x", link("y"))]), build_tree(&[("a/x/b", text("x")), ("d/x", link("y"))])),
        (build_tree(&[("a", text("x\n"))]), build_tree(&[("a/a/a", text("x\n"))])),
        (build_tree(&[("a", text("x\n")), ("b", text("y\n"))]), build_tree(&[("a", text("y\n")), ("b", text("x\n"))])),
        (build_tree(&[("d/a", text("x\n"))]), build_tree(&[("e/b", text("x\n"))])),
        (build_tree(&[]), build_tree(&[("x b/x", text("")), (" a ", text("")), ("t\t", text(""))])),
        (build_tree(&[("x b/x", text("")), (" a ", text(""))]), build_tree(&[])),
        (build_tree(&[("a", text("x"))]), build_tree(&[("a", TreeEntry::new_program(b"x"))])),
        (build_tree(&[("a b", TreeEntry::new_file(b"\0"))]), build_tree(&[("a b", TreeEntry::new_program(b"\0"))])),
    ] {
        // Each bit of a seed chooses between two equivalent forms of the overlay.
        for seed in [0, u64::MAX] {
            let in_repository = seed == 0;
            assert_patch_reproduces(&before, &after, seed, in_repository);
        }
    }
}

#[test]
fn r30_changes_that_git_cannot_represent_are_listed_with_a_reason() {
    let before = build_tree(&[
        ("d/f", TreeEntry::new_file(b"x")),
        ("pipe", TreeEntry::Pipe),
        ("dir/only", TreeEntry::new_file(b"x")),
    ]);
    let fixture = PatchFixture::new(&before);
    fs::create_dir_all(fixture.upper(".git/objects")).unwrap();
    fs::write(fixture.upper(".git/HEAD"), "x").unwrap();
    fs::create_dir(fixture.upper("empty")).unwrap();
    fs::create_dir(fixture.upper("dir")).unwrap();
    let whiteout = rustix::fs::FileType::CharacterDevice;
    for deleted in ["dir/only", "pipe"] {
        rustix::fs::mknodat(CWD, fixture.upper(deleted), whiteout, 0o600.into(), 0).unwrap();
    }
    rustix::fs::mknodat(CWD, fixture.upper("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    File::create(fixture.upper("large")).unwrap().set_len(FILE_LIMIT + 1).unwrap();
    fs::write(fixture.upper("git~1"), "x").unwrap();
    fs::write(fixture.upper("secret\n"), "x").unwrap();
    let set_mode = |path: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(fixture.upper(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode("secret\n", 0o4711);
    let (_, bytes) = fixture.create_patch();
    let text = String::from_utf8_lossy(&bytes);
    for line in [
        "# Not in this patch:\n",
        "#   .git: 3 changed paths of the repository's own state, such as commits\n",
        "#   dir: an empty folder: git deletes it with its last file\n",
        "#   empty: an empty folder, which git does not store\n",
        "#   fifo: would be a pipe\n",
        "#   git~1: git refuses this name\n",
        "#   large: a file of 268435457 bytes; a patch holds files of up to 256 MB\n",
        "#   pipe: is a pipe\n",
        "#   \"secret\\n\": mode 4711: git keeps only whether a file is executable\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    let patched: Vec<&str> = text.lines().filter(|line| line.starts_with("diff")).collect();
    assert_eq!(patched, ["diff --git a/dir/only b/dir/only", r#"diff --git "a/secret\n" "b/secret\n""#]);
    let Some((applied, err)) = git_apply(fixture.rehearsal.root(), &bytes, &[]) else { return };
    assert!(applied, "{err}{text}");
}

#[test]
fn r30_large_files_are_streamed_and_renames_take_no_space() {
    let noise: Vec<u8> = (0..12u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 9) as u8).collect();
    let (before, after) = (
        build_tree(&[("a", TreeEntry::new_file(&noise)), ("b", TreeEntry::new_file(b"x"))]),
        build_tree(&[("c", TreeEntry::new_file(&noise)), ("b", TreeEntry::new_file(&noise[1..]))]),
    );
    let (seed, in_repository) = (0, false);
    assert_patch_reproduces(&before, &after, seed, in_repository);
    let fixture = PatchFixture::new(&build_tree(&[]));
    let root = fixture.rehearsal.root();
    for path in [root.join("old"), fixture.upper("new")] {
        File::create(path).unwrap().set_len(FILE_LIMIT + 1).unwrap();
    }
    let whiteout = rustix::fs::FileType::CharacterDevice;
    rustix::fs::mknodat(CWD, fixture.upper("old"), whiteout, 0o600.into(), 0).unwrap();
    let text = String::from_utf8(fixture.create_patch().1).unwrap();
    assert_eq!(text, "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n");
    let Some((applied, err)) = git_apply(root, text.as_bytes(), &[]) else { return };
    assert!(applied && root.join("new").metadata().unwrap().len() == FILE_LIMIT + 1, "{err}");
}

#[test]
fn r30_patch_paths_are_relative_to_the_repository() {
    let temporary = tempfile::tempdir().unwrap();
    let top = temporary.path().canonicalize().unwrap();
    let init = Command::new("git").args(["init", "-q", "--object-format=sha256", "."]).current_dir(&top).output();
    if !init.is_ok_and(|output| output.status.success()) {
        let _ = writeln!(io::stderr(), "LEFT OUT: a project inside a repository: git is not installed");
        return;
    }
    let root = top.join("sub folder");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("binary"), b"\0old").unwrap();
    let rehearsal = Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), top.join(".git/layer"));
    let fixture = PatchFixture { temporary, rehearsal };
    fixture.write_rehearsed("binary", b"\0new");
    fixture.write_rehearsed("text", b"text\n");
    let (_, bytes) = fixture.create_patch();
    let Some((applied, err)) = git_apply(&root, &bytes, &["-v"]) else { return };
    assert!(applied && !err.contains("Skipped"), "{err}");
    assert_eq!(fs::read(root.join("binary")).unwrap(), b"\0new");
    assert_eq!(fs::read(root.join("text")).unwrap(), b"text\n");
    // The patch can be reverted, which requires the old contents.
    let (applied, err) = git_apply(&root, &bytes, &["--reverse"]).unwrap();
    assert!(applied, "{err}");
    assert_eq!(fs::read(root.join("binary")).unwrap(), b"\0old");
}

#[test]
fn unreadable_files_are_neither_deleted_nor_created() {
    let fixture =
        PatchFixture::new(&build_tree(&[("a", TreeEntry::new_file(b"x")), ("sub/b", TreeEntry::new_file(b"x"))]));
    let new_item = |before, after| PatchItem {
        path: "a".into(),
        before,
        after,
        is_same_content: false,
        has_old_side: false,
        has_new_side: false,
        renamed_from: None,
        is_renamed: false,
    };
    let unreadable = || PathState::Other("an unreadable file (Permission denied)".to_owned());
    let link = || PathState::Link("x".into());
    for (before, after, reason) in [
        (link(), unreadable(), "would be an unreadable file (Permission denied)"),
        (unreadable(), link(), "is an unreadable file (Permission denied)"),
        (unreadable(), PathState::Nothing, "is an unreadable file (Permission denied)"),
    ] {
        let mut items = [new_item(before, after)];
        let omissions = plan::plan_items(&fixture.rehearsal, &mut items);
        assert_eq!(omissions, [Omission { path: "a".into(), reason: reason.to_owned() }]);
        assert!(!items[0].is_patched());
    }
}
