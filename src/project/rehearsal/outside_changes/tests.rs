//! Tests: writes outside the project stay in the overlay, and none of them reaches a live file.

use super::*;
use crate::project::OwnFiles;
use crate::project::disk::Disk;
use std::os::unix::fs::symlink;

struct OutsideFixture {
    base: PathBuf,
    rehearsal: Rehearsal,
    _folder: tempfile::TempDir,
}

impl OutsideFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for made in ["project", "out", "own"] {
            fs::create_dir(base.join(made)).unwrap();
        }
        fs::write(base.join("out/real"), "one\n").unwrap();
        fs::write(base.join("out/secret"), "hunter2\n").unwrap();
        let rehearsal = Self::open_rehearsal(&base);
        Self { base, rehearsal, _folder: folder }
    }

    fn open_rehearsal(base: &Path) -> Rehearsal {
        let own = OwnFiles::new(vec![base.join("own"), base.join("layer")], Vec::new());
        let disk = Disk::new(&base.join("project")).unwrap().with_own_files(own);
        Rehearsal::new(Arc::new(disk), base.join("layer"))
    }

    fn locate_outside(&self, path: &str) -> Location {
        self.rehearsal.locate(self.base.join(path).to_str().unwrap()).unwrap()
    }

    /// Writes like `write_file`.
    fn write_whole(&self, path: &str, text: &str) -> Result<(), Error> {
        let at = self.locate_outside(path);
        let before = self.rehearsal.read(&at).ok();
        self.rehearsal.write_whole(&at, before.as_deref(), text.as_bytes())
    }

    /// Writes like `edit_file`.
    fn edit_file(&self, path: &str, text: &str) {
        let at = self.locate_outside(path);
        let before = self.rehearsal.read(&at).ok();
        self.rehearsal.write(&at, before.as_deref(), text.as_bytes()).unwrap();
    }

    /// Returns a path in the overlay, where commands in the overlay sandbox make changes.
    fn upper(&self, path: &str) -> PathBuf {
        let path = self.base.join(path);
        let upper = self.base.join("layer/outside/upper").join(path.strip_prefix("/").unwrap());
        fs::create_dir_all(upper.parent().unwrap()).unwrap();
        upper
    }

    fn read(&self, path: &str) -> Option<String> {
        let bytes = self.rehearsal.read(&self.locate_outside(path)).ok()?;
        Some(String::from_utf8(bytes).unwrap())
    }

    fn has_only_rehearsed_content(&self, path: &str) -> bool {
        self.rehearsal.has_only_rehearsed_content(&self.locate_outside(path))
    }

    fn live_text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.base.join(path)).ok()
    }
}

fn walk_names(rehearsal: &Rehearsal, under: &Location) -> Vec<String> {
    let mut names = Vec::new();
    let walk = rehearsal.walk(under, true, &mut |found| {
        assert!(found.location.display_path.is_absolute(), "{found:?}");
        let shown = found.location.display_path.strip_prefix(&under.real).unwrap();
        names.push(format!("{} {}", shown.display(), found.location.is_inside));
        ControlFlow::Continue(())
    });
    walk.unwrap();
    names
}

#[test]
fn r30_all_reads_see_outside_writes_and_live_files_stay_unchanged() {
    let play = OutsideFixture::new();
    play.write_whole("out/real", "two\n").unwrap();
    play.write_whole("out/new/deep", "new\n").unwrap();
    play.write_whole("project/in", "in\n").unwrap();
    fs::write(play.base.join("project/own"), "").unwrap();
    for rehearsal in [&play.rehearsal, &OutsideFixture::open_rehearsal(&play.base)] {
        let at = |path: &str| rehearsal.locate(play.base.join(path).to_str().unwrap()).unwrap();
        assert_eq!(rehearsal.read(&at("out/real")).unwrap(), b"two\n");
        let mut text = String::new();
        io::Read::read_to_string(&mut rehearsal.open(&at("out/new/deep")).unwrap(), &mut text).unwrap();
        assert_eq!(text, "new\n");
        assert_eq!(rehearsal.file_kind(&at("out/new")), Some(crate::project::FileKind::Folder));
        assert!(rehearsal.exists(&at("out/new/deep")) && !rehearsal.exists(&at("out/new/other")));
        assert_eq!(rehearsal.list_names(&at("out")).unwrap(), ["new", "real", "secret"]);
        assert_eq!(rehearsal.link_count(&at("out/real")), 1);
        assert!(!at("out/real").is_inside && at("out/real").display_path.is_absolute());
        let expected = ["new false", "new/deep false", "real false", "secret false"];
        assert_eq!(walk_names(rehearsal, &at("out")), expected);
        // The project is visited as its own overlay shows it.
        let all = walk_names(rehearsal, &at(""));
        for name in ["out/new/deep false", "project/in true", "project/own true"] {
            assert!(all.iter().any(|one| one == name), "{name}: {all:?}");
        }
    }
    assert_eq!((play.live_text("out/real").as_deref(), play.live_text("out/new/deep")), (Some("one\n"), None));
}

#[test]
fn outside_write_is_refused_if_the_file_changed_or_a_live_write_would_fail() {
    let play = OutsideFixture::new();
    let at = play.locate_outside("out/real");
    assert!(matches!(play.rehearsal.write(&at, Some(b"other"), b"x"), Err(Error::Changed(_))));
    assert!(matches!(play.rehearsal.write(&at, None, b"x"), Err(Error::Changed(_))));
    let error = play.write_whole("own/config.toml", "x").unwrap_err().to_string();
    assert!(error.ends_with("own/config.toml belongs to aye's own settings, sessions and keys"), "{error}");
    assert!(
        play.write_whole("out/real/below", "x").unwrap_err().to_string().to_lowercase().contains("not a directory")
    );
    for path in ["/proc/aye-new", "/sys/aye-new"] {
        let at = play.rehearsal.locate(path).unwrap();
        let error = play.rehearsal.write(&at, None, b"x").unwrap_err().to_string();
        assert!(error.contains("Permission denied"), "{error}");
    }
    // Read-only folders and files.
    fs::set_permissions(play.base.join("out"), std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
    let may = rustix::fs::access(play.base.join("out"), rustix::fs::Access::WRITE_OK);
    assert_eq!(play.write_whole("out/new", "x").is_ok(), may.is_ok());
    fs::set_permissions(play.base.join("out"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(play.live_text("out/new"), None);
}

#[test]
fn only_content_of_write_file_counts_as_the_models_own() {
    let play = OutsideFixture::new();
    play.edit_file("out/real", "one\nedited\n");
    assert!(!play.has_only_rehearsed_content("out/real"), "it contains a part of the live file");
    play.write_whole("out/real", "mine\n").unwrap();
    assert!(play.has_only_rehearsed_content("out/real"));
    play.edit_file("out/real", "mine, edited\n");
    assert!(
        play.has_only_rehearsed_content("out/real")
            && OutsideFixture::open_rehearsal(&play.base).has_only_rehearsed_content(&play.locate_outside("out/real"))
    );
    assert!(!play.has_only_rehearsed_content("out/secret") && !play.has_only_rehearsed_content("out/none"));
    // A command adds a secret to it.
    fs::write(play.upper("out/real"), "mine, edited\nhunter2\n").unwrap();
    assert!(!play.has_only_rehearsed_content("out/real"));
    play.edit_file("out/real", "hunter2, edited\n");
    assert!(!play.has_only_rehearsed_content("out/real"), "an edit does not make the rest the model's own");
    // A hard link created by a command does not count.
    play.write_whole("out/mine", "x").unwrap();
    fs::hard_link(play.upper("out/mine"), play.upper("out/linked")).unwrap();
    assert_eq!(
        (play.has_only_rehearsed_content("out/mine"), play.rehearsal.link_count(&play.locate_outside("out/mine"))),
        (false, 2)
    );
}

#[test]
fn r13_link_created_by_a_command_outside_does_not_expose_its_target() {
    let play = OutsideFixture::new();
    play.write_whole("out/mine", "mine\n").unwrap();
    let planned = play.locate_outside("out/mine");
    assert!(play.rehearsal.has_only_rehearsed_content(&planned));
    fs::remove_file(play.upper("out/mine")).unwrap();
    symlink("secret", play.upper("out/mine")).unwrap();
    // A new lookup leads to the secret; the old location has no file.
    assert_eq!(play.locate_outside("out/mine"), play.locate_outside("out/secret"));
    assert!(!play.has_only_rehearsed_content("out/mine") && !play.rehearsal.has_only_rehearsed_content(&planned));
    assert!(play.rehearsal.read(&planned).is_err() && play.rehearsal.open(&planned).is_err());
    // A link that leads out of the project through the overlay.
    fs::create_dir_all(&play.rehearsal.upper).unwrap();
    symlink(play.base.join("out/way"), play.rehearsal.upper.join("way")).unwrap();
    symlink("secret", play.upper("out/way")).unwrap();
    let led = play.rehearsal.locate("way").unwrap();
    assert_eq!((led.real.clone(), led.is_inside), (play.base.join("out/secret"), false));
    assert!(!play.rehearsal.has_only_rehearsed_content(&led));
    // A link into the project is classified by its target.
    symlink(play.base.join("project/.env"), play.upper("out/env")).unwrap();
    let led = play.locate_outside("out/env");
    assert!(led.is_inside && led.is_sensitive && led.display_path == Path::new(".env"), "{led:?}");
}

#[test]
fn r13_rehearsed_folder_does_not_lead_to_another_folder() {
    let play = OutsideFixture::new();
    play.write_whole("out/new/secret", "mine\n").unwrap();
    let planned = play.locate_outside("out/new/secret");
    assert!(play.rehearsal.has_only_rehearsed_content(&planned));
    for path in ["out/new/../secret", "out/new/../../out/secret", "out/new/./../secret"] {
        assert_eq!(play.locate_outside(path).real, play.base.join("out/secret"), "{path}");
        assert!(!play.has_only_rehearsed_content(path), "{path}");
    }
    // The folder is replaced by a link to one that contains a secret of the same name.
    fs::rename(play.upper("out/new"), play.upper("out/old")).unwrap();
    symlink(".", play.upper("out/new")).unwrap();
    assert_eq!(play.locate_outside("out/new/secret").real, play.base.join("out/secret"));
    assert!(!play.has_only_rehearsed_content("out/new/secret"));
    assert!(!play.rehearsal.has_only_rehearsed_content(&planned) && play.rehearsal.read(&planned).is_err());
    let write = play.rehearsal.write(&planned, None, b"x");
    assert!(write.is_err(), "a write to the old location follows no link");
    // The same text in another file does not count either.
    fs::write(play.upper("out/copy"), "mine\n").unwrap();
    assert!(!play.has_only_rehearsed_content("out/copy") && play.read("out/copy").as_deref() == Some("mine\n"));
}

#[test]
fn replacing_a_parent_folder_by_a_link_does_not_move_the_project() {
    let play = OutsideFixture::new();
    fs::write(play.base.join("project/a"), "a").unwrap();
    // The folder that contains the project.
    let above = play.upper("project").parent().unwrap().to_owned();
    fs::remove_dir(&above).unwrap();
    symlink("/etc", &above).unwrap();
    let at = play.rehearsal.locate("a").unwrap();
    assert!(at.is_inside && at.display_path == Path::new("a"), "{at:?}");
}

#[test]
fn all_outside_changes_are_listed_with_their_author() {
    let play = OutsideFixture::new();
    play.write_whole("out/real", "two\n").unwrap();
    play.write_whole("out/new/deep", "new\n").unwrap();
    play.write_whole("out/overwritten", "mine\n").unwrap();
    fs::write(play.upper("out/overwritten"), "by a command\n").unwrap();
    // Folders for temporary files; the tests' own folder is one.
    fs::write(play.upper("out/x"), "").unwrap();
    fs::create_dir(play.upper("out/folder")).unwrap();
    fs::write(play.upper("out/folder/y"), "").unwrap();
    // Elsewhere each file is listed.
    let opt = play.base.join("layer/outside/upper/opt/aye-none");
    fs::create_dir_all(&opt).unwrap();
    fs::write(opt.join("z"), "").unwrap();
    let all = play.rehearsal.outside_changes().unwrap();
    let listed: Vec<(String, bool)> = all
        .changes
        .iter()
        .map(|one| (one.change.path.display().to_string(), one.is_by_tool))
        .filter(|(path, _)| path != "/opt")
        .collect();
    let of = |path: &str| play.base.join(path).display().to_string();
    let mut expected = vec![
        ("/opt/aye-none/z".to_owned(), false),
        (of("out/new/deep"), true),
        (of("out/overwritten"), false),
        (of("out/real"), true),
    ];
    expected.sort();
    assert_eq!((listed, all.temporary), (expected, 2));
    // Only a live change of a file that was read is a conflict.
    fs::write(play.base.join("out/real"), "changed\n").unwrap();
    let all = play.rehearsal.outside_changes().unwrap();
    let conflicts: Vec<&Path> =
        all.changes.iter().filter(|one| one.is_conflict).map(|one| one.change.path.as_path()).collect();
    assert_eq!(conflicts, [play.base.join("out/real")]);
    // Changes of the project are not included.
    assert!(play.rehearsal.list_changes().unwrap().is_empty());
}
