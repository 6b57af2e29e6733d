//! Snapshot comparison for an overlay that lies inside the project: finds the changes of a command by comparing
//! metadata before and after it. Such an overlay cannot be mounted, so a command's changes are not separate from
//! earlier ones (see `overlay::is_inside`).

use super::Rehearsal;
use super::overlay::{self, OverlayEntry};
use crate::chat::MAX_CHANGED_PATHS;
use crate::project::Reader;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Metadata of all paths of an overlay. File contents are not read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Snapshot(HashMap<PathBuf, PathMetadata>);

/// Metadata of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PathMetadata {
    Deleted,
    /// A folder. Its entries have their own metadata, so its times are not compared.
    Folder {
        /// True if the content of the project's folder is not visible.
        hides_project: bool,
        mode: u32,
    },
    /// Anything else. Times are seconds and nanoseconds.
    Other {
        inode: u64,
        mode: u32,
        size: u64,
        modified: (i64, i64),
        changed: (i64, i64),
    },
}

/// Returns the metadata of one entry; `None` if it is absent or unreadable.
fn entry_metadata(entry: io::Result<OverlayEntry>) -> Option<PathMetadata> {
    match entry {
        // Unreadable entries are reported when the overlay is read.
        Ok(OverlayEntry::Absent) | Err(_) => None,
        Ok(OverlayEntry::Deleted) => Some(PathMetadata::Deleted),
        Ok(OverlayEntry::Folder { hides_project, meta }) => {
            Some(PathMetadata::Folder { hides_project: hides_project.unwrap_or(true), mode: meta.mode() })
        }
        Ok(OverlayEntry::Other(meta)) => Some(PathMetadata::Other {
            inode: meta.ino(),
            mode: meta.mode(),
            size: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }),
    }
}

impl Rehearsal {
    /// Takes a snapshot if commands write in `upper` directly; `None` if they write in a separate folder.
    pub fn snapshot_inside(&self) -> Option<Snapshot> {
        overlay::is_inside(self.root(), &self.overlay_folder).then(|| self.take_snapshot())
    }

    fn take_snapshot(&self) -> Snapshot {
        let mut paths = HashMap::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            for (name, entry) in overlay::read_entries(&self.upper.join(&folder)).unwrap_or_default() {
                let path = folder.join(name);
                let Some(metadata) = entry_metadata(entry) else { continue };
                if matches!(metadata, PathMetadata::Folder { .. }) {
                    folders.push(path.clone());
                }
                paths.insert(path, metadata);
            }
        }
        Snapshot(paths)
    }

    /// Returns the sorted paths of the project that changed in the overlay since `before`. For a folder that was
    /// created or deleted only the folder itself is listed, and the list is limited to the first `MAX_CHANGED_PATHS`
    /// paths. A folder that exists in the overlay only because of its entries did not change.
    pub fn changed_since(&self, before: &Snapshot) -> Vec<PathBuf> {
        let current = self.take_snapshot();
        let new = current.0.iter().filter(|(path, metadata)| before.0.get(*path) != Some(*metadata));
        let deleted = before.0.keys().filter(|path| !current.0.contains_key(*path));
        let paths: BTreeSet<&Path> = new.map(|(path, _)| path).chain(deleted).map(PathBuf::as_path).collect();
        let mut changed: Vec<PathBuf> = Vec::new();
        // The last folder that was created or deleted with all its entries.
        let mut whole_folder: Option<&Path> = None;
        for path in paths {
            let (old_metadata, new_metadata) = (before.0.get(path), current.0.get(path));
            if whole_folder.is_some_and(|whole_folder| path.starts_with(whole_folder)) {
                continue;
            }
            match (old_metadata, new_metadata) {
                (None, Some(PathMetadata::Folder { hides_project: false, mode })) => {
                    match self.root().join(path).symlink_metadata() {
                        Ok(real) if real.is_dir() && real.mode() == *mode => continue,
                        Ok(real) if real.is_dir() => {}
                        Ok(_) | Err(_) => whole_folder = Some(path),
                    }
                }
                (Some(PathMetadata::Folder { .. }), None | Some(PathMetadata::Deleted)) => whole_folder = Some(path),
                (_, _) => {}
            }
            changed.push(path.to_owned());
            if changed.len() == MAX_CHANGED_PATHS {
                break;
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::disk::Disk;
    use std::fs;
    use std::sync::Arc;

    #[test]
    fn r30_changes_since_a_snapshot_are_exactly_the_created_deleted_and_modified_paths() {
        let temporary = tempfile::tempdir().unwrap();
        let project = temporary.path().join("project");
        fs::create_dir_all(project.join("src")).unwrap();
        fs::write(project.join("src/a"), "one").unwrap();
        let disk = Arc::new(Disk::new(&project.canonicalize().unwrap()).unwrap());
        let rehearsal = Rehearsal::new(disk, temporary.path().join("layer"));
        let upper = rehearsal.upper.clone();
        let changes_of = |change: &dyn Fn()| -> Vec<String> {
            let before = rehearsal.take_snapshot();
            change();
            let changed = rehearsal.changed_since(&before);
            changed.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
        };
        assert_eq!(changes_of(&|| ()), [""; 0]);
        // The overlay has the folder only because of the file in it.
        let copied_up = || {
            fs::create_dir_all(upper.join("src")).unwrap();
            fs::write(upper.join("src/a"), "two").unwrap();
        };
        assert_eq!(changes_of(&copied_up), ["src/a"]);
        let same_size = || {
            fs::remove_file(upper.join("src/a")).unwrap();
            fs::write(upper.join("src/a"), "ten").unwrap();
        };
        assert_eq!(changes_of(&same_size), ["src/a"]);
        let create = || {
            fs::create_dir_all(upper.join("new/deep")).unwrap();
            fs::write(upper.join("new/deep/x"), "").unwrap();
            fs::write(upper.join("new.txt"), "").unwrap();
        };
        assert_eq!(changes_of(&create), ["new", "new.txt"]);
        assert_eq!(changes_of(&|| fs::write(upper.join("new/y"), "").unwrap()), ["new/y"]);
        let delete = || {
            fs::remove_dir_all(upper.join("new")).unwrap();
            fs::remove_file(upper.join("src/a")).unwrap();
            let kind = rustix::fs::FileType::CharacterDevice;
            rustix::fs::mknodat(rustix::fs::CWD, upper.join("src/a"), kind, 0o600.into(), 0).unwrap();
        };
        assert_eq!(changes_of(&delete), ["new", "src/a"]);
        let many = || (0..200).for_each(|n| fs::write(upper.join(format!("m{n:03}")), "").unwrap());
        assert_eq!(changes_of(&many).len(), MAX_CHANGED_PATHS);
    }
}
