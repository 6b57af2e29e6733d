//! Tests of the live project folder.

use super::*;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Command;
use std::time::{Duration, Instant};

fn create_project() -> (tempfile::TempDir, Disk) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    std::fs::create_dir(&root).unwrap();
    let disk = Disk::new(&root).unwrap();
    (folder, disk)
}

fn write_path(disk: &Disk, path: &str, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
    disk.write(&disk.locate(path).unwrap(), before, after)
}

fn read_path(disk: &Disk, path: &str) -> Result<Vec<u8>, Error> {
    disk.read(&disk.locate(path).unwrap())
}

/// Lists the root, to check that no temporary file is left.
fn list_root(disk: &Disk) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(disk.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn r24_files_are_written_byte_for_byte() {
    let (_folder, disk) = create_project();
    for bytes in ["", "a\r\nb\r\n", "\u{feff}bom", "no final newline", "\n"] {
        let before = read_path(&disk, "deep/er/file").ok();
        write_path(&disk, "deep/er/file", before.as_deref(), bytes.as_bytes()).unwrap();
        assert_eq!(read_path(&disk, "deep/er/file").unwrap(), bytes.as_bytes());
    }
    assert_eq!(list_root(&disk), ["deep"]);
    assert_eq!(std::fs::read_dir(disk.root().join("deep/er")).unwrap().count(), 1);
}

#[test]
fn r24_changed_file_is_not_overwritten() {
    let (_folder, disk) = create_project();
    std::fs::write(disk.root().join("a"), "mine").unwrap();
    for before in [None, Some(&b"other"[..]), Some(b""), Some(b"mine ")] {
        let error = write_path(&disk, "a", before, b"new").unwrap_err();
        assert!(matches!(error, Error::Changed(_)), "{before:?}: {error}");
    }
    assert!(matches!(write_path(&disk, "gone", Some(b"was"), b"new"), Err(Error::Changed(_))));
    assert!(matches!(write_path(&disk, "gone/deep", Some(b"was"), b"new"), Err(Error::Changed(_))));
    assert_eq!(std::fs::read(disk.root().join("a")).unwrap(), b"mine");
    assert_eq!(list_root(&disk), ["a"]);
}

#[test]
fn r24_mode_and_owner_are_kept_and_new_files_follow_the_umask() {
    let (_folder, disk) = create_project();
    let path = disk.root().join("run.sh");
    for mode in [0o755, 0o600, 0o664] {
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        write_path(&disk, "run.sh", Some(b"old"), b"new").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, mode);
    }
    write_path(&disk, "new", None, b"x").unwrap();
    std::fs::write(disk.root().join("by-std"), "x").unwrap();
    let mode = |name: &str| std::fs::metadata(disk.root().join(name)).unwrap().mode();
    assert_eq!(mode("new"), mode("by-std"));
}

#[test]
fn r25_pipes_devices_folders_and_sockets_are_refused_at_once() {
    let (_folder, disk) = create_project();
    rustix::fs::mkfifoat(rustix::fs::CWD, disk.root().join("pipe"), 0o600.into()).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(disk.root().join("socket")).unwrap();
    std::fs::create_dir(disk.root().join("folder")).unwrap();
    let start = Instant::now();
    for (path, kind) in [
        ("pipe", "a pipe"),
        ("socket", "a socket"),
        ("folder", "a folder"),
        (".", "a folder"),
        ("/", "a folder"),
        ("/dev/zero", "a device"),
        ("/dev/tty", "a device"),
    ] {
        let location = disk.locate(path).unwrap();
        let expected = format!("{} is {kind}, not a file", location.display_path.display());
        assert_eq!(disk.read(&location).unwrap_err().to_string(), expected);
        assert!(disk.write(&location, Some(b"x"), b"y").is_err());
        assert!(disk.write(&location, None, b"y").is_err());
    }
    assert!(start.elapsed() < Duration::from_secs(60), "none of them blocks");
    assert_eq!(list_root(&disk), ["folder", "pipe", "socket"]);
}

#[test]
fn r25_link_created_after_locating_is_not_followed() {
    let (folder, disk) = create_project();
    let outside = folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("a"), "theirs").unwrap();
    std::fs::create_dir(disk.root().join("sub")).unwrap();
    std::fs::write(disk.root().join("sub/a"), "theirs").unwrap();
    let (file, new) = (disk.locate("sub/a").unwrap(), disk.locate("sub/new").unwrap());
    std::fs::remove_dir_all(disk.root().join("sub")).unwrap();
    symlink(&outside, disk.root().join("sub")).unwrap();
    assert!(disk.read(&file).is_err());
    assert!(disk.write(&file, Some(b"theirs"), b"gotcha").is_err());
    assert!(disk.write(&new, None, b"gotcha").is_err());
    std::fs::remove_file(disk.root().join("sub")).unwrap();
    std::fs::create_dir(disk.root().join("sub")).unwrap();
    symlink(outside.join("a"), disk.root().join("sub/a")).unwrap();
    assert_eq!(disk.read(&file).unwrap_err().to_string(), "sub/a is a link, not a file");
    assert!(disk.write(&file, Some(b"theirs"), b"gotcha").is_err());
    assert_eq!(std::fs::read(outside.join("a")).unwrap(), b"theirs");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn writing_through_a_link_keeps_the_link() {
    let (_folder, disk) = create_project();
    std::fs::write(disk.root().join("real"), "old").unwrap();
    symlink("real", disk.root().join("link")).unwrap();
    write_path(&disk, "link", Some(b"old"), b"new").unwrap();
    assert!(std::fs::symlink_metadata(disk.root().join("link")).unwrap().is_symlink());
    assert_eq!(std::fs::read(disk.root().join("real")).unwrap(), b"new");
}

#[test]
fn too_large_files_are_refused_not_truncated() {
    let (_folder, disk) = create_project();
    let file = std::fs::File::create(disk.root().join("big")).unwrap();
    file.set_len(super::super::READ_LIMIT).unwrap();
    assert_eq!(read_path(&disk, "big").unwrap().len() as u64, super::super::READ_LIMIT);
    file.set_len(super::super::READ_LIMIT + 1).unwrap();
    assert_eq!(read_path(&disk, "big").unwrap_err().to_string(), "big has 10485761 bytes; the limit is 10485760");
    assert_eq!(read_path(&disk, "gone").unwrap_err().to_string(), "there is no file gone");
}

/// Returns whether the tests run as root, who can mount a disk.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn read_only_files_and_folders_are_not_changed() {
    crate::project::unprivileged::run_unprivileged(|folder| {
        let disk = Disk::new(folder).unwrap();
        std::fs::write(disk.root().join("a"), "old").unwrap();
        std::fs::set_permissions(disk.root().join("a"), std::fs::Permissions::from_mode(0o444)).unwrap();
        assert!(matches!(write_path(&disk, "a", Some(b"old"), b"new"), Err(Error::Io { .. })));
        std::fs::set_permissions(disk.root(), std::fs::Permissions::from_mode(0o555)).unwrap();
        assert!(matches!(write_path(&disk, "b", None, b"new"), Err(Error::Io { .. })));
        std::fs::set_permissions(disk.root(), std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(list_root(&disk), ["a"]);
        assert_eq!(std::fs::read(disk.root().join("a")).unwrap(), b"old");
    });
}

#[test]
fn r24_full_disk_leaves_the_old_file_intact() {
    let (_folder, disk) = create_project();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(disk.root()).output();
    if !is_root() || !mounted.is_ok_and(|output| output.status.success()) {
        let _ = writeln!(std::io::stdout(), "LEFT OUT: no small disk can be mounted here");
        return;
    }
    std::fs::write(disk.root().join("a"), "old").unwrap();
    let result = write_path(&disk, "a", Some(b"old"), &vec![b'x'; 1_000_000]);
    let (names, content) = (list_root(&disk), std::fs::read(disk.root().join("a")));
    let unmounted = Command::new("umount").arg(disk.root()).status();
    assert!(unmounted.unwrap().success());
    assert!(matches!(result, Err(Error::Full(_))), "{result:?}");
    assert_eq!(names, ["a"]);
    assert_eq!(content.unwrap(), b"old");
}

#[test]
fn r14_own_files_are_sensitive_anywhere() {
    let (_folder, disk) = create_project();
    let own_folder = disk.root().join("home/config");
    let disk = disk.with_own_files(OwnFiles::new(vec![own_folder.clone()], Vec::new()));
    std::fs::create_dir_all(&own_folder).unwrap();
    std::fs::write(own_folder.join("rules.toml"), "x").unwrap();
    symlink("home/config", disk.root().join("link")).unwrap();
    for (path, expected) in [
        ("home/config/rules.toml", true),
        ("home/config", true),
        ("home/config/new/deep", true),
        ("link/rules.toml", true),
        ("home/../home/config/rules.toml", true),
        ("home/rules.toml", false),
        ("home/configuration", false),
        (".", false),
    ] {
        assert_eq!(disk.locate(path).unwrap().is_sensitive, expected, "{path}");
    }
    let mut visited = Vec::new();
    let result = disk.walk(&disk.locate(".").unwrap(), true, &mut |entry| {
        visited.push((entry.location.display_path.display().to_string(), entry.location.is_sensitive));
        std::ops::ControlFlow::Continue(())
    });
    result.unwrap();
    assert!(visited.contains(&("home/config/rules.toml".to_owned(), true)), "{visited:?}");
    assert!(visited.contains(&("home".to_owned(), false)), "{visited:?}");
}
