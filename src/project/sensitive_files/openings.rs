//! Which paths have to be named so that all of a project is open but for what is withheld.
//!
//! Landlock only opens, and always a folder with all below it: so next to everything withheld its siblings are named.

use super::folder::Folder;
use super::{Listing, Reason, Withheld};
use crate::chat::sensitive::sensitive;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Paths that are named, which bounds what a command costs. In a folder that would take more, the files next to a withheld
/// one are withheld too.
const MOST: usize = 4000;

/// Makes the list. `None` if a folder changed since it was read: what is new in it must be looked at first. `is_same` reads
/// a folder again to say so.
pub(super) fn listing(
    root: &Path,
    withheld: Vec<Withheld>,
    folders: &[Folder],
    is_same: &dyn Fn(&Folder) -> bool,
) -> Option<Listing> {
    let closed: HashSet<&Path> = withheld.iter().map(|one| one.path.as_path()).collect();
    let git = root.join(".git");
    let above = closed.iter().copied().chain([git.as_path()]).flat_map(|path| path.ancestors().skip(1));
    let split: HashSet<&Path> = above.filter(|path| path.starts_with(root)).collect();
    let read: HashMap<&Path, &Folder> =
        folders.iter().map(|folder| (folder.path.as_path(), folder)).collect();
    let (mut open, mut crowded) = (Vec::new(), Vec::new());
    // Folders that must be split and are in one that is withheld are not reached.
    let mut queue = vec![root.to_owned()];
    if closed.contains(root) {
        queue.clear();
    }
    let mut at = 0;
    while let Some(path) = queue.get(at).cloned() {
        at += 1;
        let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let entries: Vec<fs::DirEntry> = fs::read_dir(&path).ok()?.collect::<Result<_, _>>().ok()?;
        let mut named = Vec::new();
        for entry in &entries {
            let below = entry.path();
            if closed.contains(below.as_path()) || below == git {
                continue;
            }
            match is_folder(entry) && split.contains(below.as_path()) {
                true => queue.push(below),
                // A link opens nothing: where it leads is open by itself or is not.
                false if entry.file_type().is_ok_and(|kind| kind.is_symlink()) => {}
                false => named.push(below),
            }
        }
        // Read once more after its names were: whatever is sensitive among them is seen now at the latest.
        if !read.get(path.as_path()).is_some_and(|folder| is_same(folder)) {
            return None;
        }
        match open.len() + named.len() > MOST {
            true => crowded.extend(named.into_iter().map(|path| Withheld { path, reason: Reason::Crowded })),
            false => open.append(&mut named),
        }
    }
    let mut withheld = withheld;
    withheld.append(&mut crowded);
    withheld.sort();
    Some(Listing { withheld, open, repository: repository(&git) })
}

/// What git reads of the project's `.git`: not its hooks, and no file that is sensitive there.
fn repository(git: &Path) -> Vec<PathBuf> {
    let is_folder = fs::symlink_metadata(git).is_ok_and(|about| about.is_dir());
    let Some(entries) = is_folder.then(|| fs::read_dir(git).ok()).flatten() else { return Vec::new() };
    let is_read = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        name != OsStr::new("hooks") && !sensitive(Path::new(&name))
    };
    entries.flatten().filter(is_read).map(|entry| entry.path()).collect()
}
