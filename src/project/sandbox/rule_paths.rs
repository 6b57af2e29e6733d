//! Computes the paths to list in Landlock rules so that a folder is open except for certain paths in it.
//!
//! Landlock rules only grant access, and always to a folder with everything below it. A folder that contains a closed
//! path is therefore not listed itself; instead its other entries are listed one by one. Nothing new can be created
//! directly in such a folder.
//! closed is not named itself; what else is in it is, one by one. In such a folder itself nothing new can be made.

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Maximum number of entries listed individually. In a larger folder the remaining entries stay closed.
const MAX_ENTRIES: usize = 20_000;

/// Returns the paths that open `place` except for `closed`. They may change before they are used, so open them with
/// `open_without_links`.
pub fn paths_without(place: &Path, closed: &[PathBuf]) -> Vec<PathBuf> {
    let mut named = Vec::new();
    gather_paths(place, closed, &mut named);
    named
}

fn gather_paths(place: &Path, closed: &[PathBuf], named: &mut Vec<PathBuf>) {
    if closed.iter().any(|closed| place.starts_with(closed)) {
        return;
    }
    if !closed.iter().any(|closed| closed.starts_with(place)) {
        named.push(place.to_owned());
        return;
    }
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten().take(MAX_ENTRIES) {
        // A link needs no rule: its target is open, or not, by itself.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            gather_paths(&entry.path(), closed, named);
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
        let at = |path: &str| root.path().join(path);
        for folder in ["a/b/keep/in", "a/b/beside", "a/c", "d"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("a/file"), "").unwrap();
        std::os::unix::fs::symlink(at("a/b/keep"), at("a/link")).unwrap();
        let keep = [at("a/b/keep")];
        let names = |place: &str| {
            let mut names = paths_without(&at(place), &keep);
            names.sort();
            names
        };
        assert_eq!(names("d"), [at("d")]);
        assert_eq!(names("a"), [at("a/b/beside"), at("a/c"), at("a/file")]);
        assert!(names("a/b/keep").is_empty());
        assert!(names("a/b/keep/in").is_empty());
        assert_eq!(names("a/b/beside"), [at("a/b/beside")]);
    }

    #[test]
    fn r25_path_replaced_by_a_link_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        fs::create_dir_all(real.join("outside/in")).unwrap();
        fs::create_dir_all(real.join("place/in")).unwrap();
        assert!(open_without_links(&real.join("place/in")).is_ok_and(|(_, folder)| folder));
        fs::remove_dir_all(real.join("place")).unwrap();
        std::os::unix::fs::symlink(real.join("outside"), real.join("place")).unwrap();
        assert!(open_without_links(&real.join("place")).is_err());
        assert!(open_without_links(&real.join("place/in")).is_err());
        assert!(open_without_links(&real.join("none")).is_err());
    }
}
