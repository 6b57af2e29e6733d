//! Copies what a dry run kept, in the form that the kernel's overlay has: devices that stand for what is gone, marked
//! folders, links and modes with the rest.

use super::private;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The mark of a folder that hides what the project holds in it.
const OPAQUE: &str = "user.overlay.opaque";
/// What is the kernel's own, or no other process's, beside a layer.
const LEFT: [&str; 3] = ["work", "lock", "unfinished"];

/// Copies the layers of a session, where there are some.
pub fn copy(old: &Path, new: &Path) -> io::Result<()> {
    if !old.is_dir() {
        return Ok(());
    }
    private::folder(new)?;
    for entry in fs::read_dir(old)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        let to = new.join(&name);
        if LEFT.iter().any(|left| name == *left) {
            continue;
        }
        if name == "places" && path.is_dir() {
            fs::create_dir(&to)?;
            for place in fs::read_dir(&path)? {
                let place = place?;
                copy(&place.path(), &to.join(place.file_name()))?;
            }
        } else {
            exactly(&path, &to)?;
        }
    }
    Ok(())
}

/// Copies whatever is at a path, as it is.
fn exactly(old: &Path, new: &Path) -> io::Result<()> {
    // Modes of folders come last: one may allow nothing to be made in it.
    let mut modes: Vec<(PathBuf, Metadata)> = Vec::new();
    let mut waiting = vec![(old.to_owned(), new.to_owned())];
    while let Some((old, new)) = waiting.pop() {
        let meta = old.symlink_metadata()?;
        let kind = meta.file_type();
        if kind.is_dir() {
            private::folder(&new)?;
            let mut mark = [0; 8];
            if let Ok(bytes) = rustix::fs::lgetxattr(&old, OPAQUE, &mut mark[..]) {
                rustix::fs::lsetxattr(&new, OPAQUE, &mark[..bytes], rustix::fs::XattrFlags::empty())?;
            }
            for entry in fs::read_dir(&old)? {
                let entry = entry?;
                waiting.push((entry.path(), new.join(entry.file_name())));
            }
            modes.push((new.clone(), meta.clone()));
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&old)?, &new)?;
        } else if kind.is_file() {
            fs::copy(&old, &new)?;
        } else if kind.is_char_device() || kind.is_fifo() {
            node(&new, &meta)?;
        }
        owned(&new, &meta);
    }
    for (folder, meta) in modes.iter().rev() {
        fs::set_permissions(folder, fs::Permissions::from_mode(meta.mode() & 0o7777))?;
    }
    Ok(())
}

/// Makes a pipe, or the device that stands for nothing; no other device is made.
fn node(new: &Path, meta: &Metadata) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, FileType, makedev, mknodat};
        let kind = match meta.file_type() {
            kind if kind.is_fifo() => FileType::Fifo,
            _ if meta.rdev() == 0 => FileType::CharacterDevice,
            _ => return Ok(()),
        };
        mknodat(CWD, new, kind, (meta.mode() & 0o7777).into(), makedev(0, 0))?;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (new, meta);
    Ok(())
}

/// Gives it to whoever the old one belongs to, where that may be.
fn owned(new: &Path, meta: &Metadata) {
    let _ = std::os::unix::fs::lchown(new, Some(meta.uid()), Some(meta.gid()));
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, XattrFlags, lgetxattr, lsetxattr, makedev, mkfifoat, mknodat};

    #[test]
    fn r30_a_copy_of_a_layer_says_the_same_as_the_layer() {
        let root = tempfile::tempdir().unwrap();
        let (old, new) = (root.path().join("old"), root.path().join("new"));
        for folder in ["upper/hides/deep", "upper/shut", "work/work", "places/1/upper", "places/1/work"] {
            fs::create_dir_all(old.join(folder)).unwrap();
        }
        fs::write(old.join("upper/file"), "held").unwrap();
        fs::write(old.join("upper/shut/in"), "in").unwrap();
        fs::write(old.join("places/1/upper/note"), "n").unwrap();
        fs::write(old.join("origins"), "o").unwrap();
        fs::write(old.join("lock"), "").unwrap();
        fs::set_permissions(old.join("upper/file"), fs::Permissions::from_mode(0o751)).unwrap();
        fs::set_permissions(old.join("upper/shut"), fs::Permissions::from_mode(0o500)).unwrap();
        fs::set_permissions(old.join("work/work"), fs::Permissions::from_mode(0o000)).unwrap();
        std::os::unix::fs::symlink("nowhere", old.join("upper/link")).unwrap();
        mknodat(CWD, old.join("upper/gone"), FileType::CharacterDevice, 0.into(), makedev(0, 0)).unwrap();
        mkfifoat(CWD, old.join("upper/pipe"), 0o600.into()).unwrap();
        lsetxattr(old.join("upper/hides"), OPAQUE, b"y", XattrFlags::empty()).unwrap();
        copy(&old, &new).unwrap();

        let at = |path: &str| new.join(path).symlink_metadata().unwrap();
        assert_eq!(fs::read(new.join("upper/file")).unwrap(), b"held");
        assert_eq!((at("upper/file").mode() & 0o777, at("upper/shut").mode() & 0o777), (0o751, 0o500));
        assert_eq!(fs::read_link(new.join("upper/link")).unwrap(), Path::new("nowhere"));
        assert!(at("upper/gone").file_type().is_char_device() && at("upper/gone").rdev() == 0);
        assert!(at("upper/pipe").file_type().is_fifo());
        let mut mark = [0; 8];
        assert_eq!(lgetxattr(new.join("upper/hides"), OPAQUE, &mut mark[..]), Ok(1));
        for path in ["upper/shut/in", "upper/hides/deep", "places/1/upper/note", "origins"] {
            assert!(new.join(path).exists(), "{path}");
        }
        assert!(
            !new.join("work").exists() && !new.join("places/1/work").exists() && !new.join("lock").exists()
        );
        copy(&root.path().join("none"), &root.path().join("nor this")).unwrap();
        assert!(!root.path().join("nor this").exists());
    }
}
