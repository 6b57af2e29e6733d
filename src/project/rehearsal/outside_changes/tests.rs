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
        for name in ["project", "out", "own"] {
            fs::create_dir(base.join(name)).unwrap();
        }
        fs::write(base.join("out/real"), "one\n").unwrap();
        fs::write(base.join("out/secret"), "hunter2\n").unwrap();
        let rehearsal = Self::open_rehearsal(&base);
        Self { base, rehearsal, _folder: folder }
    }

    fn open_rehearsal(base: &Path) -> Rehearsal {
        let own_files = OwnFiles::new(vec![base.join("own"), base.join("layer")], Vec::new());
        let disk = Disk::new(&base.join("project")).unwrap().with_own_files(own_files);
        Rehearsal::new(Arc::new(disk), base.join("layer"))
    }

    fn locate_outside(&self, path: &str) -> Location {
        self.rehearsal.locate(self.base.join(path).to_str().unwrap()).unwrap()
    }

    /// Writes like `write_file`.
    fn write_whole(&self, path: &str, text: &str) -> Result<(), Error> {
        let location = self.locate_outside(path);
        let before = self.rehearsal.read(&location).ok();
        self.rehearsal.write_whole(&location, before.as_deref(), text.as_bytes())
    }

    /// Writes like `edit_file`.
    fn edit_file(&self, path: &str, text: &str) {
        let location = self.locate_outside(path);
        let before = self.rehearsal.read(&location).ok();
        self.rehearsal.write(&location, before.as_deref(), text.as_bytes()).unwrap();
    }

    /// Returns a path in the overlay, where commands in the overlay sandbox make changes. Creates its parent folder.
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

/// Returns the path of each visited entry, relative to `under`, and whether it is inside the project: `new/deep false`.
fn walk_names(rehearsal: &Rehearsal, under: &Location) -> Vec<String> {
    let (mut names, hidden) = (Vec::new(), true);
    let result = rehearsal.walk(under, hidden, &mut |entry| {
        assert!(entry.location.display_path.is_absolute(), "{entry:?}");
        let relative = entry.location.display_path.strip_prefix(&under.real).unwrap();
        names.push(format!("{} {}", relative.display(), entry.location.is_inside));
        ControlFlow::Continue(())
    });
    result.unwrap();
    names
}

#[test]
fn r30_all_reads_see_outside_writes_and_live_files_stay_unchanged() {
    let fixture = OutsideFixture::new();
    fixture.write_whole("out/real", "two\n").unwrap();
    fixture.write_whole("out/new/deep", "new\n").unwrap();
    fixture.write_whole("project/in", "in\n").unwrap();
    fs::write(fixture.base.join("project/own"), "").unwrap();
    for rehearsal in [&fixture.rehearsal, &OutsideFixture::open_rehearsal(&fixture.base)] {
        let locate = |path: &str| rehearsal.locate(fixture.base.join(path).to_str().unwrap()).unwrap();
        assert_eq!(rehearsal.read(&locate("out/real")).unwrap(), b"two\n");
        let mut text = String::new();
        io::Read::read_to_string(&mut rehearsal.open(&locate("out/new/deep")).unwrap(), &mut text).unwrap();
        assert_eq!(text, "new\n");
        assert_eq!(rehearsal.file_kind(&locate("out/new")), Some(crate::project::FileKind::Folder));
        assert!(rehearsal.exists(&locate("out/new/deep")) && !rehearsal.exists(&locate("out/new/other")));
        assert_eq!(rehearsal.list_names(&locate("out")).unwrap(), ["new", "real", "secret"]);
        assert_eq!(rehearsal.link_count(&locate("out/real")), 1);
        assert!(!locate("out/real").is_inside && locate("out/real").display_path.is_absolute());
        let expected = ["new false", "new/deep false", "real false", "secret false"];
        assert_eq!(walk_names(rehearsal, &locate("out")), expected);
        // The project is visited as its own overlay shows it.
        let names = walk_names(rehearsal, &locate(""));
        for name in ["out/new/deep false", "project/in true", "project/own true"] {
            assert!(names.iter().any(|visited| visited == name), "{name}: {names:?}");
        }
    }
    assert_eq!((fixture.live_text("out/real").as_deref(), fixture.live_text("out/new/deep")), (Some("one\n"), None));
}

#[test]
fn outside_write_is_refused_if_the_file_changed_or_a_live_write_would_fail() {
    let fixture = OutsideFixture::new();
    let location = fixture.locate_outside("out/real");
    assert!(matches!(fixture.rehearsal.write(&location, Some(b"other"), b"x"), Err(Error::Changed(_))));
    assert!(matches!(fixture.rehearsal.write(&location, None, b"x"), Err(Error::Changed(_))));
    let error = fixture.write_whole("own/config.toml", "x").unwrap_err().to_string();
    assert!(error.ends_with("own/config.toml belongs to aye's own settings, sessions and keys"), "{error}");
    assert!(
        fixture.write_whole("out/real/below", "x").unwrap_err().to_string().to_lowercase().contains("not a directory")
    );
    for path in ["/proc/aye-new", "/sys/aye-new"] {
        let location = fixture.rehearsal.locate(path).unwrap();
        let error = fixture.rehearsal.write(&location, None, b"x").unwrap_err().to_string();
        assert!(error.contains("Permission denied"), "{error}");
    }
    // Read-only folders and files.
    fs::set_permissions(fixture.base.join("out"), std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
    let access = rustix::fs::access(fixture.base.join("out"), rustix::fs::Access::WRITE_OK);
    assert_eq!(fixture.write_whole("out/new", "x").is_ok(), access.is_ok());
    fs::set_permissions(fixture.base.join("out"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(fixture.live_text("out/new"), None);
}

#[test]
fn only_content_of_write_file_counts_as_the_models_own() {
    let fixture = OutsideFixture::new();
    fixture.edit_file("out/real", "one\nedited\n");
    assert!(!fixture.has_only_rehearsed_content("out/real"), "it contains a part of the live file");
    fixture.write_whole("out/real", "mine\n").unwrap();
    assert!(fixture.has_only_rehearsed_content("out/real"));
    fixture.edit_file("out/real", "mine, edited\n");
    assert!(
        fixture.has_only_rehearsed_content("out/real")
            && OutsideFixture::open_rehearsal(&fixture.base)
                .has_only_rehearsed_content(&fixture.locate_outside("out/real"))
    );
    assert!(!fixture.has_only_rehearsed_content("out/secret") && !fixture.has_only_rehearsed_content("out/none"));
    // A command adds a secret to the file.
    fs::write(fixture.upper("out/real"), "mine, edited\nhunter2\n").unwrap();
    assert!(!fixture.has_only_rehearsed_content("out/real"));
    fixture.edit_file("out/real", "hunter2, edited\n");
    assert!(!fixture.has_only_rehearsed_content("out/real"), "an edit does not make the rest the model's own");
    // A hard link created by a command does not count.
    fixture.write_whole("out/mine", "x").unwrap();
    fs::hard_link(fixture.upper("out/mine"), fixture.upper("out/linked")).unwrap();
    assert_eq!(
        (
            fixture.has_only_rehearsed_content("out/mine"),
            fixture.rehearsal.link_count(&fixture.locate_outside("out/mine"))
        ),
        (false, 2)
    );
}

#[test]
fn r13_link_created_by_a_command_outside_does_not_expose_its_target() {
    let fixture = OutsideFixture::new();
    fixture.write_whole("out/mine", "mine\n").unwrap();
    let planned = fixture.locate_outside("out/mine");
    assert!(fixture.rehearsal.has_only_rehearsed_content(&planned));
    fs::remove_file(fixture.upper("out/mine")).unwrap();
    symlink("secret", fixture.upper("out/mine")).unwrap();
    // A new lookup leads to the secret; the old location has no file.
    assert_eq!(fixture.locate_outside("out/mine"), fixture.locate_outside("out/secret"));
    assert!(!fixture.has_only_rehearsed_content("out/mine") && !fixture.rehearsal.has_only_rehearsed_content(&planned));
    assert!(fixture.rehearsal.read(&planned).is_err() && fixture.rehearsal.open(&planned).is_err());
    // A link that leads out of the project through the overlay.
    fs::create_dir_all(&fixture.rehearsal.upper).unwrap();
    symlink(fixture.base.join("out/way"), fixture.rehearsal.upper.join("way")).unwrap();
    symlink("secret", fixture.upper("out/way")).unwrap();
    let location = fixture.rehearsal.locate("way").unwrap();
    assert_eq!((location.real.clone(), location.is_inside), (fixture.base.join("out/secret"), false));
    assert!(!fixture.rehearsal.has_only_rehearsed_content(&location));
    // A link into the project is classified by its target.
    symlink(fixture.base.join("project/.env"), fixture.upper("out/env")).unwrap();
    let location = fixture.locate_outside("out/env");
    assert!(location.is_inside && location.is_sensitive && location.display_path == Path::new(".env"), "{location:?}");
}

#[test]
fn r13_rehearsed_folder_does_not_lead_to_another_folder() {
    let fixture = OutsideFixture::new();
    fixture.write_whole("out/new/secret", "mine\n").unwrap();
    let planned = fixture.locate_outside("out/new/secret");
    assert!(fixture.rehearsal.has_only_rehearsed_content(&planned));
    for path in ["out/new/../secret", "out/new/../../out/secret", "out/new/./../secret"] {
        assert_eq!(fixture.locate_outside(path).real, fixture.base.join("out/secret"), "{path}");
        assert!(!fixture.has_only_rehearsed_content(path), "{path}");
    }
    // The folder is replaced by a link to one that contains a secret of the same name.
    fs::rename(fixture.upper("out/new"), fixture.upper("out/old")).unwrap();
    symlink(".", fixture.upper("out/new")).unwrap();
    assert_eq!(fixture.locate_outside("out/new/secret").real, fixture.base.join("out/secret"));
    assert!(!fixture.has_only_rehearsed_content("out/new/secret"));
    assert!(!fixture.rehearsal.has_only_rehearsed_content(&planned) && fixture.rehearsal.read(&planned).is_err());
    let result = fixture.rehearsal.write(&planned, None, b"x");
    assert!(result.is_err(), "a write to the old location follows no link");
    // The same text in another file does not count either.
    fs::write(fixture.upper("out/copy"), "mine\n").unwrap();
    assert!(!fixture.has_only_rehearsed_content("out/copy") && fixture.read("out/copy").as_deref() == Some("mine\n"));
}

#[test]
fn replacing_a_parent_folder_by_a_link_does_not_move_the_project() {
    let fixture = OutsideFixture::new();
    fs::write(fixture.base.join("project/a"), "a").unwrap();
    // The folder that contains the project.
    let parent = fixture.upper("project").parent().unwrap().to_owned();
    fs::remove_dir(&parent).unwrap();
    symlink("/etc", &parent).unwrap();
    let location = fixture.rehearsal.locate("a").unwrap();
    assert!(location.is_inside && location.display_path == Path::new("a"), "{location:?}");
}

#[test]
fn all_outside_changes_are_listed_with_their_author() {
    let fixture = OutsideFixture::new();
    fixture.write_whole("out/real", "two\n").unwrap();
    fixture.write_whole("out/new/deep", "new\n").unwrap();
    fixture.write_whole("out/overwritten", "mine\n").unwrap();
    fs::write(fixture.upper("out/overwritten"), "by a command\n").unwrap();
    // Changes of commands in a folder for temporary files are only counted. The fixture lies in such a folder.
    fs::write(fixture.upper("out/x"), "").unwrap();
    fs::create_dir(fixture.upper("out/folder")).unwrap();
    fs::write(fixture.upper("out/folder/y"), "").unwrap();
    // Elsewhere each file is listed.
    let opt = fixture.base.join("layer/outside/upper/opt/aye-none");
    fs::create_dir_all(&opt).unwrap();
    fs::write(opt.join("z"), "").unwrap();
    let changes = fixture.rehearsal.outside_changes().unwrap();
    // `/opt` itself is listed if its mode in the overlay differs from the live one.
    let listed: Vec<(String, bool)> = changes
        .changes
        .iter()
        .map(|change| (change.change.path.display().to_string(), change.is_by_tool))
        .filter(|(path, _)| path != "/opt")
        .collect();
    let absolute = |path: &str| fixture.base.join(path).display().to_string();
    let mut expected = vec![
        ("/opt/aye-none/z".to_owned(), false),
        (absolute("out/new/deep"), true),
        (absolute("out/overwritten"), false),
        (absolute("out/real"), true),
    ];
    expected.sort();
    assert_eq!((listed, changes.temporary), (expected, 2));
    // A live change of a file that a file tool wrote is a conflict.
    fs::write(fixture.base.join("out/real"), "changed\n").unwrap();
    let changes = fixture.rehearsal.outside_changes().unwrap();
    let conflicts: Vec<&Path> =
        changes.changes.iter().filter(|change| change.is_conflict).map(|change| change.change.path.as_path()).collect();
    assert_eq!(conflicts, [fixture.base.join("out/real")]);
    // Changes of the project are not included.
    assert!(fixture.rehearsal.list_changes().unwrap().is_empty());
}
