//! Computes the paths to list so that a project is open except for its withheld paths.
//!
//! Landlock rules only grant access, and always to a folder with everything below it, so the siblings of each withheld
//! path are listed.

use super::scanned_folder::ScannedFolder;
use super::{Listing, Reason, WithheldPath};
use crate::chat::sensitive_paths::is_sensitive;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of listed paths, which limits the cost of a command. In a folder that would exceed it, the siblings
/// of a withheld file are withheld too.
const MAX_PATHS: usize = 4000;

/// Creates the listing. Returns `None` if a folder cannot be read, or if it changed since it was read, because new
/// entries must be examined first. `is_unchanged` reads a folder again to check this.
pub(super) fn create_listing(
    root: &Path,
    withheld: Vec<WithheldPath>,
    folders: &[ScannedFolder],
    is_unchanged: &dyn Fn(&ScannedFolder) -> bool,
) -> Option<Listing> {
    let closed: HashSet<&Path> = withheld.iter().map(|entry| entry.path.as_path()).collect();
    let git = root.join(".git");
    let parents = closed.iter().copied().chain([git.as_path()]).flat_map(|path| path.ancestors().skip(1));
    // Folders whose entries are listed one by one instead of the folder itself.
    let split: HashSet<&Path> = parents.filter(|path| path.starts_with(root)).collect();
    let scanned: HashMap<&Path, &ScannedFolder> =
        folders.iter().map(|folder| (folder.path.as_path(), folder)).collect();
    let (mut open_paths, mut crowded) = (Vec::new(), Vec::new());
    // The walk never reaches the folders of `split` inside a withheld folder.
    let mut queue: VecDeque<PathBuf> =
        [root.to_owned()].into_iter().filter(|root| !closed.contains(root.as_path())).collect();
    while let Some(path) = queue.pop_front() {
        let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let entries: Vec<fs::DirEntry> = fs::read_dir(&path).ok()?.collect::<Result<_, _>>().ok()?;
        let mut listed = Vec::new();
        for entry in &entries {
            let child = entry.path();
            if closed.contains(child.as_path()) || child == git {
                continue;
            }
            match is_folder(entry) && split.contains(child.as_path()) {
                true => queue.push_back(child),
                // A link needs no rule: the rules for its target apply.
                false if entry.file_type().is_ok_and(|kind| kind.is_symlink()) => {}
                false => listed.push(child),
            }
        }
        // Read the folder again after its names were listed, so that every sensitive name among them has been seen.
        if !scanned.get(path.as_path()).is_some_and(|folder| is_unchanged(folder)) {
            return None;
        }
        match open_paths.len() + listed.len() > MAX_PATHS {
            true => crowded.extend(listed.into_iter().map(|path| WithheldPath { path, reason: Reason::Crowded })),
            false => open_paths.append(&mut listed),
        }
    }
    let mut withheld = withheld;
    withheld.append(&mut crowded);
    withheld.sort();
    Some(Listing { withheld, open_paths, repository: open_git_paths(&git) })
}

/// Returns the parts of the project's `.git` that git reads: not its hooks, and no sensitive files.
fn open_git_paths(git: &Path) -> Vec<PathBuf> {
    let is_folder = fs::symlink_metadata(git).is_ok_and(|metadata| metadata.is_dir());
    let Some(entries) = is_folder.then(|| fs::read_dir(git).ok()).flatten() else { return Vec::new() };
    let is_read = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        name != OsStr::new("hooks") && !is_sensitive(Path::new(&name))
    };
    entries.flatten().filter(is_read).map(|entry| entry.path()).collect()
}
