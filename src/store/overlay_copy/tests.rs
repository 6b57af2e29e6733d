//! Tests that a copy of an overlay equals the original, whatever commands left in it.

use super::*;
use crate::project::{rehearsal::remove_folder, unprivileged};
use crate::test_folder::Folder;
use rustix::fs::{CWD, FileType, Mode, OFlags, XattrFlags, lgetxattr, lsetxattr, makedev, mkfifoat, mknodat};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};

const OPAQUE: &str = "user.overlay.opaque";

/// Creates nested folders deeper than the longest path, with a file in the last.
pub fn create_deep_folders(folder: &Path) {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut current = rustix::fs::openat(CWD, folder, flags, Mode::empty()).unwrap();
    for _ in 0..60 {
        let name = "d".repeat(200);
        rustix::fs::mkdirat(&current, &*name, Mode::RWXU).unwrap();
        current = rustix::fs::openat(&current, &*name, flags, Mode::empty()).unwrap();
    }
    let create_flags = OFlags::CREATE | OFlags::WRONLY;
    let file = rustix::fs::openat(&current, "last", create_flags, Mode::RUSR).unwrap();
    rustix::io::write(file, b"deep").unwrap();
}

/// Lists a folder recursively, with modes and file contents. Makes everything accessible.
fn list_recursively(folder: &Path) -> Vec<String> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut lines = Vec::new();
    let mut pending = vec![(PathBuf::new(), rustix::fs::openat(CWD, folder, flags, Mode::empty()).unwrap())];
    while let Some((path, current)) = pending.pop() {
        for entry in rustix::fs::Dir::read_from(&current).unwrap() {
            let name = entry.unwrap().file_name().to_str().unwrap().to_owned();
            if name == "." || name == ".." {
                continue;
            }
            let stat = rustix::fs::statat(&current, &*name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).unwrap();
            rustix::fs::chmodat(&current, &*name, Mode::RWXU, rustix::fs::AtFlags::empty()).unwrap();
            let (mut bytes, inner) = (Vec::new(), path.join(&name));
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                pending.push((inner.clone(), rustix::fs::openat(&current, &*name, flags, Mode::empty()).unwrap()));
            } else {
                let file = rustix::fs::openat(&current, &*name, OFlags::RDONLY, Mode::empty()).unwrap();
                io::Read::read_to_end(&mut fs::File::from(file), &mut bytes).unwrap();
            }
            let content = String::from_utf8(bytes).unwrap();
            lines.push(format!("{} {:o} {content}", inner.display(), stat.st_mode & 0o7777));
        }
    }
    lines.sort();
    lines
}

#[test]
fn r30_copies_overlay_with_any_permissions() {
    unprivileged::run_unprivileged(|home| {
        let (old, new) = (home.join("old"), home.join("new"));
        let (upper, set_mode) = (old.join("upper"), |path: PathBuf, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        });
        for modes in [0o000, 0o100, 0o200, 0o300, 0o400, 0o500, 0o600] {
            let closed = upper.join(format!("{modes:o}"));
            fs::create_dir_all(closed.join("deep/er")).unwrap();
            fs::write(closed.join("deep/file"), "in it").unwrap();
            set_mode(closed.join("deep/file"), modes);
            set_mode(closed.join("deep"), modes);
            set_mode(closed, modes);
        }
        create_deep_folders(&upper);
        set_mode(upper.clone(), 0o000);
        copy_overlays(&old, &new).unwrap();
        // The original is unchanged.
        assert_eq!(old.join("upper").metadata().unwrap().mode() & 0o777, 0o000);
        let expected = list_recursively(&old);
        // `upper`, four entries for each of seven modes, sixty nested folders and the file in the last.
        assert_eq!(expected.len(), 1 + 7 * 4 + 61, "{expected:#?}");
        assert!(expected.iter().any(|line| line == "upper/0/deep/file 0 in it"), "{expected:#?}");
        assert_eq!(list_recursively(&new), expected);
        // A path that cannot be copied is reported and left unchanged.
        set_mode(upper.clone(), 0o000);
        let (path, error) = copy_overlays(&old, &new).unwrap_err();
        assert_eq!((path, error.kind()), (upper.clone(), io::ErrorKind::AlreadyExists));
        assert_eq!(upper.metadata().unwrap().mode() & 0o777, 0o000);
        for overlay in [old, new] {
            remove_folder(&overlay).unwrap();
        }
    });
}

#[test]
fn r30_copy_of_an_overlay_equals_the_original() {
    let root = Folder::new();
    let (old, new) = (root.path().join("old"), root.path().join("new"));
    for folder in
        ["upper/hides/deep", "upper/shut", "work/work", "outside/upper/tmp", "outside/work/1", "root", "discarded/d"]
    {
        fs::create_dir_all(old.join(folder)).unwrap();
    }
    fs::write(old.join("upper/file"), "held").unwrap();
    fs::write(old.join("upper/shut/in"), "in").unwrap();
    fs::write(old.join("outside/upper/tmp/note"), "n").unwrap();
    fs::write(old.join("origins"), "o").unwrap();
    fs::write(old.join("lock"), "").unwrap();
    fs::set_permissions(old.join("upper/file"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::set_permissions(old.join("upper/shut"), fs::Permissions::from_mode(0o500)).unwrap();
    fs::set_permissions(old.join("work/work"), fs::Permissions::from_mode(0o000)).unwrap();
    std::os::unix::fs::symlink("nowhere", old.join("upper/link")).unwrap();
    mknodat(CWD, old.join("upper/gone"), FileType::CharacterDevice, 0.into(), makedev(0, 0)).unwrap();
    mkfifoat(CWD, old.join("upper/pipe"), 0o600.into()).unwrap();
    lsetxattr(old.join("upper/hides"), OPAQUE, b"y", XattrFlags::empty()).unwrap();
    fs::write(old.join("upper/nothing"), "").unwrap();
    lsetxattr(old.join("upper/nothing"), "user.overlay.whiteout", b"", XattrFlags::empty()).unwrap();
    copy_overlays(&old, &new).unwrap();

    let metadata_of = |path: &str| new.join(path).symlink_metadata().unwrap();
    assert_eq!(fs::read(new.join("upper/file")).unwrap(), b"held");
    assert_eq!((metadata_of("upper/file").mode() & 0o777, metadata_of("upper/shut").mode() & 0o777), (0o751, 0o500));
    assert_eq!(fs::read_link(new.join("upper/link")).unwrap(), Path::new("nowhere"));
    assert!(metadata_of("upper/gone").file_type().is_char_device() && metadata_of("upper/gone").rdev() == 0);
    assert!(metadata_of("upper/pipe").file_type().is_fifo());
    let mut value = [0; 8];
    assert_eq!(lgetxattr(new.join("upper/hides"), OPAQUE, &mut value[..]), Ok(1));
    assert_eq!(lgetxattr(new.join("upper/nothing"), "user.overlay.whiteout", &mut value[..]), Ok(0));
    for path in ["upper/shut/in", "upper/hides/deep", "outside/upper/tmp/note", "origins"] {
        assert!(new.join(path).exists(), "{path}");
    }
    for path in ["work", "outside/work", "root", "lock", "discarded"] {
        assert!(!new.join(path).exists(), "{path}");
    }
    copy_overlays(&root.path().join("none"), &root.path().join("nor this")).unwrap();
    assert!(!root.path().join("nor this").exists());
}
