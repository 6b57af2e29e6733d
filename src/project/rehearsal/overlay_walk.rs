//! Walks the project as the rehearsal shows it: deleted files are skipped, new files are visited, and visible ignore
//! files apply.

use super::overlay::{self, OverlayEntry};
use super::{Error, Location, Reader, Rehearsal, WalkEntry};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Maximum depth. Deeper folders are skipped.
const MAX_DEPTH: usize = 64;

/// A visible entry of a folder: its location on disk and its metadata.
pub struct VisibleEntry {
    /// Path in the overlay or in the project.
    pub path: PathBuf,
    /// Metadata; links are not followed.
    pub meta: Metadata,
}

/// Sources of one folder.
#[derive(Clone)]
struct MergedFolder {
    path: PathBuf,
    overlay: Option<PathBuf>,
    project: Option<PathBuf>,
}

/// Ignore files of the folders so far: `.ignore` and `.gitignore`, the deepest last.
type Ignores = Vec<[Option<Gitignore>; 2]>;

struct OverlayWalk<'a> {
    rehearsal: &'a Rehearsal,
    shows_hidden: bool,
    /// `.git/info/exclude` of the repository, if any.
    exclude: Option<Gitignore>,
    visit: &'a mut dyn FnMut(WalkEntry) -> ControlFlow<()>,
}

/// Implements [`Reader::walk`] for the folder `under`.
pub fn walk_overlay(
    play: &Rehearsal,
    under: &Location,
    hidden: bool,
    visit: &mut dyn FnMut(WalkEntry) -> ControlFlow<()>,
) -> Result<(), Error> {
    let below = play.path_below(under).unwrap_or_default();
    let spot = play.locate_source(under, &below)?;
    let real = play.root().join(&below);
    let meta = match (&spot.overlay_entry, spot.shows_project) {
        (Some((_, meta)), _) => meta.clone(),
        (None, true) => real.symlink_metadata().map_err(|_| Error::Missing(under.display_path.clone()))?,
        (None, false) => return Err(Error::Missing(under.display_path.clone())),
    };
    if meta.is_file() {
        let _ = visit(WalkEntry { location: under.clone(), is_folder: false, size: meta.len() });
        return Ok(());
    }
    let merged = MergedFolder {
        path: below.clone(),
        overlay: spot.overlay_entry.map(|(path, _)| path),
        project: spot.shows_project.then_some(real),
    };
    let mut ignores = play.parent_ignore_files(&below);
    let exclude = play.exclude_file();
    let _ = OverlayWalk { rehearsal: play, shows_hidden: hidden, exclude, visit }.walk_folder(&merged, 0, &mut ignores);
    Ok(())
}

impl OverlayWalk<'_> {
    fn walk_folder(&mut self, folder: &MergedFolder, depth: usize, ignores: &mut Ignores) -> ControlFlow<()> {
        if depth == MAX_DEPTH {
            return ControlFlow::Continue(());
        }
        // Unreadable entries are skipped, as in a live walk.
        let (entries, _) = visible_entries(folder.overlay.as_deref(), folder.project.as_deref());
        ignores.push(self.rehearsal.folder_ignore_files(&folder.path, &entries));
        let mut ended = ControlFlow::Continue(());
        for (name, (entry, merged)) in entries {
            let below = folder.path.join(&name);
            let is_folder = entry.meta.is_dir();
            if name == ".git"
                || (!self.shows_hidden && name.as_encoded_bytes().starts_with(b"."))
                || self.is_ignored(&below, is_folder, ignores)
            {
                continue;
            }
            if let Some(found) = self.convert_entry(&below, &entry) {
                ended = (self.visit)(found);
            }
            if ended.is_continue() && is_folder {
                let (above, real) = merged;
                ended =
                    self.walk_folder(&MergedFolder { path: below, overlay: above, project: real }, depth + 1, ignores);
            }
            if ended.is_break() {
                break;
            }
        }
        ignores.pop();
        ended
    }

    fn is_ignored(&self, below: &Path, folder: bool, ignores: &Ignores) -> bool {
        let path = self.rehearsal.root().join(below);
        for kind in 0..2 {
            for files in ignores.iter().rev() {
                let Some(file) = &files[kind] else { continue };
                match file.matched(&path, folder) {
                    Match::None => {}
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                }
            }
        }
        self.exclude.as_ref().is_some_and(|file| file.matched(&path, folder).is_ignore())
    }

    fn convert_entry(&self, below: &Path, entry: &VisibleEntry) -> Option<WalkEntry> {
        let meta = &entry.meta;
        if meta.is_symlink() {
            // The target may be in the overlay, so it is located like any other path.
            let located = self.rehearsal.locate(self.rehearsal.root().join(below).to_str()?).ok()?;
            let target = self.rehearsal.visible_metadata(&located).filter(|_| located.is_inside)?;
            let (folder, size) = (target.is_dir(), if target.is_file() { target.len() } else { 0 });
            let at = Location { display_path: below.to_owned(), ..located };
            return (folder || target.is_file()).then_some(WalkEntry { location: at, is_folder: folder, size });
        }
        if !meta.is_dir() && !meta.is_file() {
            return None;
        }
        let at = self.rehearsal.locate_below(self.rehearsal.root().join(below));
        Some(WalkEntry { location: at, is_folder: meta.is_dir(), size: if meta.is_file() { meta.len() } else { 0 } })
    }
}

/// Sources of a subfolder: the overlay's path and the project's path.
type FolderPaths = (Option<PathBuf>, Option<PathBuf>);

/// Visible entries of a folder, by name.
type VisibleEntries = BTreeMap<OsString, (VisibleEntry, FolderPaths)>;

/// Returns the visible entries of a folder, and the error if they are incomplete.
pub fn visible_entries(above: Option<&Path>, real: Option<&Path>) -> (VisibleEntries, Option<io::Error>) {
    let (mut seen, mut unseen) = (BTreeMap::new(), None);
    if let Some(real) = real {
        unseen = list_project_folder(real, &mut seen).err();
    }
    let Some(above) = above else { return (seen, unseen) };
    let all = match overlay::read_entries(above) {
        Ok(all) => all,
        // Without the overlay's entries nothing is known about any name.
        Err(error) => return (BTreeMap::new(), Some(error)),
    };
    for (name, said) in all {
        let stands = above.join(&name);
        match said {
            Ok(OverlayEntry::Absent) => {}
            Ok(OverlayEntry::Deleted) => drop(seen.remove(&name)),
            Ok(OverlayEntry::Other(meta)) => {
                seen.insert(name, (VisibleEntry { path: stands.clone(), meta }, (Some(stands), None)));
            }
            Ok(OverlayEntry::Folder { hides, meta }) => {
                // A folder with unknown visibility may not be listable either.
                let merges = matches!(hides, Ok(false));
                let under = seen.remove(&name).filter(|(entry, _)| merges && entry.meta.is_dir());
                let sources = (Some(stands.clone()), under.map(|(entry, _)| entry.path));
                seen.insert(name, (VisibleEntry { path: stands, meta }, sources));
            }
            Err(error) => {
                seen.remove(&name);
                unseen = Some(error);
            }
        }
    }
    (seen, unseen)
}

/// Lists a folder of the project. Entries deleted in the meantime are skipped.
fn list_project_folder(real: &Path, seen: &mut VisibleEntries) -> io::Result<()> {
    let entries = match fs::read_dir(real) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut unseen = Ok(());
    for entry in entries {
        let result = entry.and_then(|entry| entry.metadata().map(|meta| (entry, meta)));
        let (entry, meta) = match result {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            // The other entries are still listed.
            Err(error) => {
                unseen = Err(error);
                continue;
            }
            Ok(result) => result,
        };
        let stands = entry.path();
        seen.insert(entry.file_name(), (VisibleEntry { path: stands.clone(), meta }, (None, Some(stands))));
    }
    unseen
}

impl Rehearsal {
    /// Parses the ignore files among a folder's entries.
    fn folder_ignore_files(&self, below: &Path, entries: &VisibleEntries) -> [Option<Gitignore>; 2] {
        [".ignore", ".gitignore"].map(|name| {
            entries.get(std::ffi::OsStr::new(name))?;
            self.ignore_file(&self.root().join(below), name)
        })
    }

    /// Parses the visible ignore file with this name in a folder. Invalid lines are skipped, and a pipe in its place
    /// does not block.
    pub(in crate::project) fn ignore_file(&self, folder: &Path, name: &str) -> Option<Gitignore> {
        let at = self.locate(folder.join(name).to_str()?).ok()?;
        let text = self.read(&at).ok()?;
        let mut builder = GitignoreBuilder::new(folder);
        for line in String::from_utf8_lossy(&text).lines() {
            let _ = builder.add_line(None, line);
        }
        builder.build().ok().filter(|ignore| !ignore.is_empty())
    }

    /// Returns the ignore files of the parent folders within the project, and within a repository also those above the
    /// project.
    fn parent_ignore_files(&self, below: &Path) -> Ignores {
        let root = self.root();
        let top = self.repository_root().filter(|top| *top != root);
        let outside = root.ancestors().skip(1).filter(|folder| top.as_ref().is_some_and(|top| folder.starts_with(top)));
        let inside = below.ancestors().skip(1).map(|folder| root.join(folder));
        let mut folders: Vec<PathBuf> = inside.chain(outside.map(Path::to_owned)).collect();
        folders.reverse();
        let files = |folder: &PathBuf| [".ignore", ".gitignore"].map(|name| self.ignore_file(folder, name));
        folders.iter().map(files).collect()
    }

    /// Returns the root of the repository that contains the project.
    pub(in crate::project) fn repository_root(&self) -> Option<PathBuf> {
        self.root().ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
    }

    pub(in crate::project) fn exclude_file(&self) -> Option<Gitignore> {
        let top = self.repository_root()?;
        self.ignore_file(&top, ".git/info/exclude")
    }
}
