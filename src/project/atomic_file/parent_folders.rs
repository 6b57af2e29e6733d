//! Opens the parent folders of a file step by step without following links, and creates missing ones.

use crate::project::path_handle::PATH_ONLY;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

/// Flags for opening a folder. On Linux they require no permission to list it.
const FOLDER_FLAGS: OFlags = PATH_ONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open folder, and the parent folders that were created for it.
#[derive(Debug)]
pub struct ParentFolders {
    pub folder: OwnedFd,
    /// Each created folder, with its parent.
    created: Vec<(OwnedFd, OsString)>,
}

impl ParentFolders {
    /// Removes the created folders that are empty.
    pub fn remove_created(self) {
        remove_folders(self.created);
    }
}

/// Opens a folder component by component from the root, so that a folder that was replaced by a link is not followed.
/// Missing folders below the folder `create_below` are created; if that fails, all of them are removed.
pub fn open_parents(path: &Path, create_below: Option<&Path>) -> Result<ParentFolders, Errno> {
    let existing_depth = create_below.map(|top| top.components().count());
    let mut folder = rustix::fs::openat(CWD, "/", FOLDER_FLAGS, Mode::empty())?;
    let mut created = Vec::new();
    for (depth, part) in path.components().enumerate() {
        let Component::Normal(name) = part else { continue };
        let open = || rustix::fs::openat(&folder, name, FOLDER_FLAGS, Mode::empty());
        let opened = match open() {
            Err(Errno::NOENT) if existing_depth.is_some_and(|existing_depth| depth >= existing_depth) => {
                match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                    // Another process may create it at the same time.
                    Err(errno) if errno != Errno::EXIST => Err(errno),
                    result => open().map(|opened| (opened, result.is_ok())),
                }
            }
            opened => opened.map(|opened| (opened, false)),
        };
        match opened {
            Ok((next, is_new)) => {
                let parent = std::mem::replace(&mut folder, next);
                if is_new {
                    created.push((parent, name.to_owned()));
                }
            }
            Err(errno) => {
                remove_folders(created);
                return Err(errno);
            }
        }
    }
    Ok(ParentFolders { folder, created })
}

fn remove_folders(created: Vec<(OwnedFd, OsString)>) {
    for (parent, name) in created.into_iter().rev() {
        let _ = rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_created_only_below_the_top_and_removed_on_undo() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        let (top, deep) = (root.join("top"), root.join("top/a/b/c"));
        assert_eq!(open_parents(&deep, Some(&top)).unwrap_err(), Errno::NOENT);
        assert!(!top.exists(), "the top folder itself is not created");
        std::fs::create_dir(&top).unwrap();
        assert_eq!(open_parents(&deep, None).unwrap_err(), Errno::NOENT);
        open_parents(&deep, Some(&top)).unwrap().remove_created();
        assert!(!top.join("a").exists() && top.exists());
        // A file created in the meantime stays.
        let parents = open_parents(&deep, Some(&top)).unwrap();
        std::fs::write(top.join("a/mine"), "").unwrap();
        parents.remove_created();
        assert!(top.join("a/mine").exists() && !top.join("a/b").exists());
        // A name that is too long for a folder, after valid names.
        let long = top.join("x/y").join("l".repeat(300));
        assert_eq!(open_parents(&long, Some(&top)).unwrap_err(), Errno::NAMETOOLONG);
        assert!(!top.join("x").exists());
        std::os::unix::fs::symlink(&root, top.join("link")).unwrap();
        assert!(open_parents(&top.join("link/a"), Some(&top)).is_err());
    }
}
