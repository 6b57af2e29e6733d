//! Which files of a project a command that was not approved must not open: secrets, files with names elsewhere, pipes.
//!
//! The list is kept between commands. A folder is read again only if its identity or the time of its last change (`ctime`,
//! which no program can set) differs from the last look, so every new, renamed or linked name in it is noticed, whoever made
//! it. Times that are too young to tell two changes apart, and file systems whose times are not trusted, are read every time.
//!
//! A file with several names is opened only if all its names are in the project and none of them is sensitive, or if it is in
//! a folder that package managers and build tools fill with links (`is_package_folder`). What is not looked through, because
//! the project is too large, counts as sensitive.

mod folder;
mod mounts;
mod openings;

use folder::{Entry, Folder, are_unchanged};
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Folders that are looked through; the rest of a larger project is withheld.
const MOST_FOLDERS: usize = 20_000;
/// Files and folders that are looked at.
const MOST_ENTRIES: usize = 400_000;
/// How often a list is made again because the project changed meanwhile.
const ATTEMPTS: usize = 3;
/// No projects' files are in these.
const SYSTEM: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];

/// Why a file is withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// Its name says so, or that of a link to it.
    Sensitive,
    /// It is another name of a sensitive file.
    NameOfSensitive,
    /// It has names outside the project, which may be sensitive.
    NamesElsewhere,
    /// Something from elsewhere is mounted there.
    Mounted,
    /// A pipe, a device or a socket.
    NotAFile,
    /// The project has too many files for all to be looked at.
    NotExamined,
    /// A sensitive file is in the same folder, and the folder has too many files for each of the others to be opened by name.
    Crowded,
    /// It holds the content of files that git tracks or has put aside, some of which may hold secrets.
    Committed,
    /// A file tool changed a part of it in a dry run; the rest is that of a real file outside the project.
    Edited,
}

impl Reason {
    /// What is said after the path.
    pub fn words(self) -> &'static str {
        match self {
            Self::Sensitive => "may hold secrets, or other programs obey it",
            Self::NameOfSensitive => "is a hard link to a file that may hold secrets",
            Self::NamesElsewhere => "has hard links outside the project",
            Self::Mounted => "is mounted from outside the project",
            Self::NotAFile => "is not a regular file",
            Self::NotExamined => "was not examined: the project has too many files",
            Self::Crowded => {
                "is in a folder with a sensitive file and too many others for the read-only sandbox"
            }
            Self::Committed => "holds files that git keeps, some of which may hold secrets",
            Self::Edited => "is an edited copy of a file outside the project",
        }
    }
}

/// A file or folder that is withheld, with all below it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Withheld {
    /// Absolute, no links in it.
    pub path: PathBuf,
    /// Why.
    pub reason: Reason,
}

/// What a project's list says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Everything withheld, sorted by path. The folder `.git` is not among it.
    pub withheld: Vec<Withheld>,
    /// Everything that may be opened, with all below it: no path leads to anything withheld, nor into `.git`.
    pub open: Vec<PathBuf>,
    /// The same for the project's own `.git`, for commands that run git.
    pub repository: Vec<PathBuf>,
}

impl Listing {
    /// Why this path, absolute and without links, is withheld; `None` if it is not.
    pub fn reason(&self, path: &Path) -> Option<Reason> {
        path.ancestors().find_map(|above| {
            let at = self.withheld.binary_search_by(|one| one.path.as_path().cmp(above)).ok()?;
            Some(self.withheld[at].reason)
        })
    }
}

/// Keeps the list of one project.
pub struct SensitiveFiles {
    root: PathBuf,
    /// aye's own folders and files.
    own: Vec<PathBuf>,
    known: Mutex<Known>,
}

/// What the last look found.
#[derive(Default)]
struct Known {
    folders: Vec<Folder>,
    /// Sensitive files with several names, and files with unknown names, that were searched for everywhere.
    searched: HashSet<(u64, u64)>,
    /// What is mounted in the project and withheld for that.
    mounted: Vec<PathBuf>,
    listing: Option<Arc<Listing>>,
}

impl SensitiveFiles {
    /// `root` is the project's folder and `own` are aye's own files, all absolute with links resolved.
    pub fn new(root: PathBuf, own: Vec<PathBuf>) -> Self {
        Self { root, own, known: Mutex::default() }
    }

    /// The project's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the list as of now. Blocks while the project's folders are looked at; reads only folders that changed.
    pub fn list(&self) -> Arc<Listing> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mounted = mounts::from_elsewhere(&self.root);
        if mounted != known.mounted {
            (known.mounted, known.listing) = (mounted, None);
        }
        for _ in 0..ATTEMPTS {
            let is_same = !known.folders.is_empty() && are_unchanged(&known.folders);
            if let (true, Some(listing)) = (is_same, &known.listing) {
                return listing.clone();
            }
            let changed = self.look_again(&mut known);
            if let (false, Some(listing)) = (changed, &known.listing) {
                return listing.clone();
            }
            let mut withheld = self.search_names(&mut known);
            let mounted = known.mounted.iter().cloned();
            withheld.extend(mounted.map(|path| Withheld { path, reason: Reason::Mounted }));
            withheld.sort();
            withheld.dedup_by(|one, other| one.path == other.path);
            let is_same = |folder: &Folder| {
                let is_closed = |path: &Path| self.is_closed(path);
                Folder::read(folder.path.clone(), &self.root, &is_closed).holds_the_same(folder)
            };
            if let Some(listing) = openings::listing(&self.root, withheld, &known.folders, &is_same) {
                let listing = Arc::new(listing);
                known.listing = Some(listing.clone());
                return listing;
            }
        }
        // It changes faster than it can be looked at: nothing is opened.
        known.listing = None;
        let all = Withheld { path: self.root.clone(), reason: Reason::NotExamined };
        Arc::new(Listing { withheld: vec![all], ..Listing::default() })
    }

    /// Looks at every folder, breadth first, and reads those that changed. Returns whether anything differs.
    fn look_again(&self, known: &mut Known) -> bool {
        let before = known.folders.len();
        let mut old: HashMap<PathBuf, Folder> =
            known.folders.drain(..).map(|folder| (folder.path.clone(), folder)).collect();
        let (mut changed, mut entries) = (false, 0);
        let mut queue = VecDeque::from([self.root.clone()]);
        if self.is_closed(&self.root) || crate::chat::sensitive::sensitive(&self.root) {
            queue.clear();
            known.folders.push(Folder::withheld(self.root.clone(), Reason::Sensitive));
        }
        while let Some(path) = queue.pop_front() {
            if known.folders.len() >= MOST_FOLDERS || entries >= MOST_ENTRIES {
                known.folders.push(Folder::withheld(path, Reason::NotExamined));
                continue;
            }
            let held = old.remove(&path);
            let folder = match held {
                Some(held) if held.is_unchanged() => held,
                held => {
                    let read = Folder::read(path, &self.root, &|path| self.is_closed(path));
                    changed |= held.is_none_or(|held| !held.holds_the_same(&read));
                    read
                }
            };
            entries += folder.count;
            queue.extend(folder.folders().map(|name| folder.path.join(name)));
            known.folders.push(folder);
        }
        changed || known.folders.len() != before
    }

    /// Whether it is closed wherever it is: aye's own, or the system's.
    fn is_closed(&self, path: &Path) -> bool {
        let is_own = self.own.iter().any(|own| path.starts_with(own));
        is_own || SYSTEM.iter().any(|system| path.starts_with(system))
    }

    /// Everything withheld, after the names of files with several have been found.
    fn search_names(&self, known: &mut Known) -> Vec<Withheld> {
        let found = names(&known.folders);
        if found.unknown.iter().any(|inode| !known.searched.contains(inode)) {
            // A file that had one name when its folder was read may have got another since.
            for folder in &mut known.folders {
                folder.read_again(&self.root, &|path| self.is_closed(path));
            }
            let found = names(&known.folders);
            known.searched.extend(&found.unknown);
            return found.withheld;
        }
        found.withheld
    }
}

/// What the names in all folders say.
struct Names {
    withheld: Vec<Withheld>,
    /// Files some names of which are not known.
    unknown: Vec<(u64, u64)>,
}

/// One name of a file with several: its path, how many names the file has, and whether this one is sensitive.
type OneName = (PathBuf, u64, bool);

fn names(folders: &[Folder]) -> Names {
    let mut withheld = Vec::new();
    let mut several: HashMap<(u64, u64), Vec<OneName>> = HashMap::new();
    for folder in folders {
        withheld.extend(folder.closed.map(|reason| Withheld { path: folder.path.clone(), reason }));
        for (name, entry) in &folder.entries {
            let path = folder.path.join(name);
            match entry {
                Entry::Folder => {}
                Entry::Withheld(reason) => withheld.push(Withheld { path, reason: *reason }),
                Entry::LinkTo(path) => {
                    withheld.push(Withheld { path: path.clone(), reason: Reason::Sensitive });
                }
                Entry::Several { inode, names, sensitive } => {
                    several.entry(*inode).or_default().push((path, *names, *sensitive));
                }
            }
        }
    }
    let mut unknown = Vec::new();
    for (inode, names) in several {
        let all = names.iter().all(|(_, count, _)| *count == names.len() as u64);
        let sensitive = names.iter().any(|(_, _, sensitive)| *sensitive);
        if !all {
            unknown.push(inode);
        }
        for (path, _, itself) in names {
            // Package managers keep one copy of a file for all projects.
            let packaged = is_packaged(&path);
            let reason = match (itself, sensitive, all || packaged) {
                (true, _, _) => Reason::Sensitive,
                (false, true, _) => Reason::NameOfSensitive,
                (false, false, false) => Reason::NamesElsewhere,
                (false, false, true) => continue,
            };
            withheld.push(Withheld { path, reason });
        }
    }
    withheld.sort();
    withheld.dedup_by(|one, other| one.path == other.path);
    Names { withheld, unknown }
}

/// Whether an absolute path is that of a regular file with no other name, and no link is on the way to it.
pub fn is_only_name(path: &Path) -> bool {
    let is_single = |about: std::fs::Metadata| about.is_file() && about.nlink() == 1;
    path.symlink_metadata().is_ok_and(is_single) && path.canonicalize().is_ok_and(|real| real == path)
}

/// Whether a file is in a folder that package managers and build tools fill with hard links to a store of their own.
pub fn is_packaged(file: &Path) -> bool {
    file.ancestors().skip(1).filter_map(Path::file_name).any(is_package_folder)
}

/// Whether package managers and build tools fill a folder of this name with hard links to a store of their own.
fn is_package_folder(name: &OsStr) -> bool {
    ["node_modules", "site-packages", ".pnpm-store", "target"].iter().any(|known| name == *known)
}

#[cfg(test)]
mod tests;
