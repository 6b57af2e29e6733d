//! Computes the paths to list in Landlock rules so that a folder is open except for certain paths in it.
//!
//! Landlock rules only grant access, and always to a folder with everything below it. A folder that contains a closed
//! path is therefore not listed itself; instead its other entries are listed one by one. Nothing new can be created
//! directly in such a folder.

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Maximum number of entries listed individually. In a larger folder the remaining entries stay closed.
const MAX_ENTRIES: usize = 20_000;

/// Returns the paths to list in rules so that `path` is open except for the `closed` paths. They may change before they
/// are used, so open them with `open_without_links`.
pub fn paths_without(path: &Path, closed: &[PathBuf]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    gather_paths(path, closed, &mut paths);
    paths
}

fn gather_paths(path: &Path, closed: &[PathBuf], paths: &mut Vec<PathBuf>) {
    if closed.iter().any(|closed| path.starts_with(closed)) {
        return;
    }
    if !closed.iter().any(|closed| closed.starts_with(path)) {
        paths.push(path.to_owned());
        return;
    }
    let Ok(entries) = fs::read_dir(path) else { return };
    for entry in entries.flatten().take(MAX_ENTRIES) {
        // A link needs no rule: the rules for its target apply.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            gather_paths(&entry.path(), closed, paths);
        }
    }
}

/// Opens a path for a rule without following any link, and returns whether it is a folder.
pub fn open_without_links(path: &Path) -> io::Result<(OwnedFd, bool)> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match openat2(rustix::fs::CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Some containers forbid this call; then only the last component is checked.
        Err(Errno::NOSYS | Errno::PERM) => open(path, flags, Mode::empty())?,
        opened => opened?,
    };
    match FileType::from_raw_mode(fstat(&opened)?.st_mode) {
        FileType::Symlink => Err(Errno::LOOP.into()),
        kind => Ok((opened, kind == FileType::Directory)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r25_folder_is_listed_whole_unless_it_contains_a_closed_path() {
        let root = tempfile::tempdir().unwrap();
        let path_to = |path: &str| root.path().join(path);
        for folder in ["a/b/keep/in", "a/b/beside", "a/c", "d"] {
            fs::create_dir_all(path_to(folder)).unwrap();
        }
        fs::write(path_to("a/file"), "").unwrap();
        std::os::unix::fs::symlink(path_to("a/b/keep"), path_to("a/link")).unwrap();
        let closed = [path_to("a/b/keep")];
        let list_paths = |name: &str| {
            let mut paths = paths_without(&path_to(name), &closed);
            paths.sort();
            paths
        };
        assert_eq!(list_paths("d"), [path_to("d")]);
        assert_eq!(list_paths("a"), [path_to("a/b/beside"), path_to("a/c"), path_to("a/file")]);
        assert!(list_paths("a/b/keep").is_empty());
        assert!(list_paths("a/b/keep/in").is_empty());
        assert_eq!(list_paths("a/b/beside"), [path_to("a/b/beside")]);
    }

    #[test]
    fn r25_path_replaced_by_a_link_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let root_path = root.path().canonicalize().unwrap();
        fs::create_dir_all(root_path.join("outside/in")).unwrap();
        fs::create_dir_all(root_path.join("place/in")).unwrap();
        assert!(open_without_links(&root_path.join("place/in")).is_ok_and(|(_, folder)| folder));
        fs::remove_dir_all(root_path.join("place")).unwrap();
        std::os::unix::fs::symlink(root_path.join("outside"), root_path.join("place")).unwrap();
        assert!(open_without_links(&root_path.join("place")).is_err());
        assert!(open_without_links(&root_path.join("place/in")).is_err());
        assert!(open_without_links(&root_path.join("none")).is_err());
    }
}
