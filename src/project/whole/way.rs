//! The way to a file: its folders from the top, no link followed, and those that were made for it.

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

/// What a folder is opened with: on Linux a mere place, which needs no right to list it.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A folder, and which of those on the way to it were made for it.
#[derive(Debug)]
pub struct Way {
    /// The folder itself.
    pub folder: OwnedFd,
    /// Each that was made, with the folder it stands in.
    made: Vec<(OwnedFd, OsString)>,
}

impl Way {
    /// Takes away again what was made, as far as nothing is in it.
    pub fn undo(self) {
        undo(self.made);
    }
}

/// Opens a folder from the top, one name after the other, so that one that became a link since is not followed. Those that
/// are missing are made where they are below the folder `make`; where that fails, none of them stays.
pub fn way(path: &Path, make: Option<&Path>) -> Result<Way, Errno> {
    let stays = make.map(|top| top.components().count());
    let mut folder = rustix::fs::openat(CWD, "/", FOLDER, Mode::empty())?;
    let mut made = Vec::new();
    for (at, part) in path.components().enumerate() {
        let Component::Normal(name) = part else { continue };
        let opened = match rustix::fs::openat(&folder, name, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) if stays.is_some_and(|stays| at >= stays) => {
                match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) => rustix::fs::openat(&folder, name, FOLDER, Mode::empty()).map(|new| (new, true)),
                    Err(Errno::EXIST) => {
                        rustix::fs::openat(&folder, name, FOLDER, Mode::empty()).map(|new| (new, false))
                    }
                    Err(errno) => Err(errno),
                }
            }
            opened => opened.map(|opened| (opened, false)),
        };
        match opened {
            Ok((next, new)) => {
                let above = std::mem::replace(&mut folder, next);
                if new {
                    made.push((above, name.to_owned()));
                }
            }
            Err(errno) => {
                undo(made);
                return Err(errno);
            }
        }
    }
    Ok(Way { folder, made })
}

fn undo(made: Vec<(OwnedFd, OsString)>) {
    for (above, name) in made.into_iter().rev() {
        let _ = rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_below_is_made_and_none_of_it_stays_where_it_is_undone() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let (top, deep) = (root.join("top"), root.join("top/a/b/c"));
        assert_eq!(way(&deep, Some(&top)).unwrap_err(), Errno::NOENT);
        assert!(!top.exists(), "the top itself is not made");
        std::fs::create_dir(&top).unwrap();
        assert_eq!(way(&deep, None).unwrap_err(), Errno::NOENT);
        way(&deep, Some(&top)).unwrap().undo();
        assert!(!top.join("a").exists() && top.exists());
        // What somebody put there since stays.
        let made = way(&deep, Some(&top)).unwrap();
        std::fs::write(top.join("a/mine"), "").unwrap();
        made.undo();
        assert!(top.join("a/mine").exists() && !top.join("a/b").exists());
        // A name that no folder can have, after some that can.
        let long = top.join("x/y").join("l".repeat(300));
        assert_eq!(way(&long, Some(&top)).unwrap_err(), Errno::NAMETOOLONG);
        assert!(!top.join("x").exists());
        std::os::unix::fs::symlink(&root, top.join("link")).unwrap();
        assert!(way(&top.join("link/a"), Some(&top)).is_err());
    }
}
