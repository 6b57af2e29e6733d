//! Files of a project that a command without approval must not open: secrets, files with hard links elsewhere, pipes.
//!
//! The list is cached between commands. A folder is read again only if its identity or its change time (`ctime`, which
//! no program can set) differs from the last scan, so every new, renamed or linked name in it is noticed, whichever
//! process created it. Folders are read every time if their times are too recent to distinguish two changes, or if the
//! file system's times are not trusted. The folders of a large project are watched, so that not even their times are read
//! for a command unless something changed.
//!
//! A file with several names is opened only if all its names are in the project and none of them is sensitive, or if it
//! is in a folder that package managers and build tools fill with links (`PACKAGE_FOLDERS`). Files that are not
//! scanned because the project is too large count as sensitive.
//!
//! On other systems than Linux, times are not trusted, so every folder is read for each command, and none is watched.

mod folder_watches;
mod listing;
pub(super) mod mount_points;
mod open_paths;
mod scanned_folder;

pub use listing::{Listing, Reason, WithheldPath};

use folder_watches::FolderWatches;
use scanned_folder::{ScannedEntry, ScannedFolder, are_unchanged};
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of folders that are scanned. The rest of a larger project is withheld.
const MAX_FOLDERS: usize = 20_000;
/// Maximum number of files and folders that are scanned.
const MAX_ENTRIES: usize = 400_000;
/// Maximum number of scans for one list. A scan is repeated if the project changed during it.
const MAX_ATTEMPTS: usize = 3;
/// Names of folders that package managers and build tools fill with hard links to their own store.
const PACKAGE_FOLDERS: [&str; 4] = ["node_modules", "site-packages", ".pnpm-store", "target"];
/// Folders that contain no project files.
const SYSTEM_FOLDERS: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];

/// Cached scan of one project.
pub struct SensitiveFiles {
    root: PathBuf,
    /// aye's own folders and files.
    own_files: Vec<PathBuf>,
    cache: Mutex<ScanCache>,
}

/// Results of the last scan.
#[derive(Default)]
struct ScanCache {
    folders: Vec<ScannedFolder>,
    /// Files of which some names were not found although all folders were searched, by device and inode.
    searched: HashSet<(u64, u64)>,
    /// Mount points in the project that are withheld.
    mounted: Vec<PathBuf>,
    listing: Option<Arc<Listing>>,
    watches: FolderWatches,
}

impl SensitiveFiles {
    /// Creates the cache. `root` is the project's folder and `own_files` are aye's own files; all are absolute with
    /// links resolved.
    pub fn new(root: PathBuf, own_files: Vec<PathBuf>) -> Self {
        Self { root, own_files, cache: Mutex::default() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the current list. Blocks while the project's folders are scanned; only changed folders are read.
    pub fn current_listing(&self) -> Arc<Listing> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let cache = &mut *cache;
        let mounted = mount_points::foreign_mount_points(&self.root);
        if mounted != cache.mounted {
            (cache.mounted, cache.listing) = (mounted, None);
        }
        if let (true, Some(listing)) = (cache.watches.prove_unchanged(), &cache.listing) {
            return listing.clone();
        }
        cache.watches.start(&cache.folders);
        for _ in 0..MAX_ATTEMPTS {
            let is_unchanged = !cache.folders.is_empty() && are_unchanged(&cache.folders);
            cache.watches.confirm(is_unchanged);
            if let (true, Some(listing)) = (is_unchanged, &cache.listing) {
                return listing.clone();
            }
            let changed = self.rescan(cache);
            if let (false, Some(listing)) = (changed, &cache.listing) {
                return listing.clone();
            }
            let mut withheld = self.find_withheld(cache);
            let mounted = cache.mounted.iter().cloned();
            withheld.extend(mounted.map(|path| WithheldPath { path, reason: Reason::Mounted }));
            withheld.sort();
            withheld.dedup_by(|one, other| one.path == other.path);
            let is_folder_unchanged = |folder: &ScannedFolder| {
                let is_closed = |path: &Path| self.is_closed(path);
                ScannedFolder::scan(folder.path.clone(), &self.root, &is_closed).has_same_entries(folder)
            };
            if let Some(listing) =
                open_paths::create_listing(&self.root, withheld, &cache.folders, &is_folder_unchanged)
            {
                let listing = Arc::new(listing);
                cache.listing = Some(listing.clone());
                return listing;
            }
        }
        // The project changes faster than it can be scanned, so nothing is opened.
        cache.listing = None;
        let root_entry = WithheldPath { path: self.root.clone(), reason: Reason::NotExamined };
        Arc::new(Listing { withheld: vec![root_entry], ..Listing::default() })
    }

    /// Scans all folders breadth-first and reads those that changed. Returns whether anything differs.
    fn rescan(&self, cache: &mut ScanCache) -> bool {
        let previous_count = cache.folders.len();
        let mut old_folders: HashMap<PathBuf, ScannedFolder> =
            cache.folders.drain(..).map(|folder| (folder.path.clone(), folder)).collect();
        let (mut has_changed, mut entries) = (false, 0);
        let mut queue = VecDeque::from([self.root.clone()]);
        if self.is_closed(&self.root) || crate::chat::sensitive_paths::is_sensitive(&self.root) {
            queue.clear();
            cache.folders.push(ScannedFolder::new_withheld(self.root.clone(), Reason::Sensitive));
        }
        while let Some(path) = queue.pop_front() {
            if cache.folders.len() >= MAX_FOLDERS || entries >= MAX_ENTRIES {
                cache.folders.push(ScannedFolder::new_withheld(path, Reason::NotExamined));
                continue;
            }
            let cached = old_folders.remove(&path);
            let folder = match cached {
                Some(cached) if cached.is_unchanged() => cached,
                cached => {
                    cache.watches.add_folder(&path);
                    let scanned = ScannedFolder::scan(path, &self.root, &|path| self.is_closed(path));
                    has_changed |= cached.is_none_or(|cached| !cached.has_same_entries(&scanned));
                    scanned
                }
            };
            entries += folder.count;
            queue.extend(folder.subfolder_names().map(|name| folder.path.join(name)));
            cache.folders.push(folder);
        }
        has_changed || cache.folders.len() != previous_count
    }

    /// Returns whether a path is always closed: aye's own, or the system's.
    fn is_closed(&self, path: &Path) -> bool {
        let is_own = self.own_files.iter().any(|own_file| path.starts_with(own_file));
        is_own || SYSTEM_FOLDERS.iter().any(|system| path.starts_with(system))
    }

    /// Returns all withheld paths, after finding the names of files that have several.
    fn find_withheld(&self, cache: &mut ScanCache) -> Vec<WithheldPath> {
        let search = group_names(&cache.folders);
        // Forget files of which all names are known now: if a name is missing later, the folders are searched again.
        cache.searched.retain(|inode| search.unknown.contains(inode));
        if search.unknown.iter().all(|inode| cache.searched.contains(inode)) {
            return search.withheld;
        }
        // A file that had one name when its folder was read may have another one now.
        for folder in &mut cache.folders {
            folder.rescan(&self.root, &|path| self.is_closed(path));
        }
        let search = group_names(&cache.folders);
        cache.searched.extend(&search.unknown);
        search.withheld
    }
}

/// Withheld paths found by their names.
struct NameSearch {
    withheld: Vec<WithheldPath>,
    /// Files of which some names were not found, by device and inode.
    unknown: Vec<(u64, u64)>,
}

/// One name of a file that has several.
struct FileName {
    path: PathBuf,
    /// Number of names of the file.
    name_count: u64,
    /// True if this name is sensitive.
    is_sensitive: bool,
}

/// Returns the withheld paths of these folders. The names of a file that has several are compared with each other.
fn group_names(folders: &[ScannedFolder]) -> NameSearch {
    let mut withheld = Vec::new();
    let mut names_by_inode: HashMap<(u64, u64), Vec<FileName>> = HashMap::new();
    for folder in folders {
        withheld.extend(folder.withheld_reason.map(|reason| WithheldPath { path: folder.path.clone(), reason }));
        for (name, entry) in &folder.entries {
            let path = folder.path.join(name);
            match entry {
                ScannedEntry::Folder => {}
                ScannedEntry::Withheld(reason) => withheld.push(WithheldPath { path, reason: *reason }),
                ScannedEntry::LinkTo(path) => {
                    withheld.push(WithheldPath { path: path.clone(), reason: Reason::Sensitive });
                }
                ScannedEntry::Several { inode, name_count, is_sensitive } => {
                    let name = FileName { path, name_count: *name_count, is_sensitive: *is_sensitive };
                    names_by_inode.entry(*inode).or_default().push(name);
                }
            }
        }
    }
    let mut unknown = Vec::new();
    for (inode, names) in names_by_inode {
        let all_known = names.iter().all(|name| name.name_count == names.len() as u64);
        let has_sensitive_name = names.iter().any(|name| name.is_sensitive);
        if !all_known {
            unknown.push(inode);
        }
        for FileName { path, is_sensitive, .. } in names {
            // Package managers keep one copy of a file for all projects.
            let is_packaged = is_in_package_folder(&path);
            let reason = match (is_sensitive, has_sensitive_name, all_known || is_packaged) {
                (true, _, _) => Reason::Sensitive,
                (false, true, _) => Reason::HardLinkToSensitive,
                (false, false, false) => Reason::HardLinkedOutside,
                (false, false, true) => continue,
            };
            withheld.push(WithheldPath { path, reason });
        }
    }
    NameSearch { withheld, unknown }
}

/// Returns whether an absolute path is a regular file without other names, and contains no links.
pub fn is_only_name(path: &Path) -> bool {
    let is_single = |metadata: std::fs::Metadata| metadata.is_file() && metadata.nlink() == 1;
    path.symlink_metadata().is_ok_and(is_single) && path.canonicalize().is_ok_and(|real| real == path)
}

/// Returns whether a file is in a folder that package managers and build tools fill with hard links to their own store.
pub fn is_in_package_folder(file: &Path) -> bool {
    let is_package_folder = |name: &OsStr| PACKAGE_FOLDERS.iter().any(|package_folder| name == *package_folder);
    file.ancestors().skip(1).filter_map(Path::file_name).any(is_package_folder)
}

#[cfg(test)]
mod tests;
