//! Walks the project as the rehearsal shows it: deleted files are skipped, new files are visited, and visible ignore
//! files apply.

use super::overlay::{self, OverlayEntry};
use super::{Error, Location, Reader, Rehearsal, Visit, WalkEntry};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Maximum depth. Deeper folders are skipped.
const MAX_DEPTH: usize = 64;

/// A visible entry of a folder. A folder may show both the content of the overlay and that of the project.
pub struct VisibleEntry {
    /// Metadata; links are not followed.
    meta: Metadata,
    /// Path in the overlay, if its content is visible.
    overlay: Option<PathBuf>,
    /// Path in the project, if its content is visible.
    project: Option<PathBuf>,
}

/// A folder to be walked: its path relative to the project, and the folders on disk whose entries are visible in it.
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
    visit: Visit<'a>,
}

/// Implements [`Reader::walk`] for the folder `under`.
pub fn walk_overlay(
    rehearsal: &Rehearsal,
    under: &Location,
    shows_hidden: bool,
    visit: Visit<'_>,
) -> Result<(), Error> {
    let relative = rehearsal.path_below(under).unwrap_or(Path::new(""));
    let content = rehearsal.locate_source(under, relative)?;
    let real = rehearsal.root().join(relative);
    let meta = match (&content.overlay_entry, content.shows_project) {
        (Some((_, meta)), _) => meta.clone(),
        (None, true) => real.symlink_metadata().map_err(|_| Error::Missing(under.display_path.clone()))?,
        (None, false) => return Err(Error::Missing(under.display_path.clone())),
    };
    if meta.is_file() {
        if let Some(entry) = WalkEntry::new(under.clone(), &meta) {
            let _ = visit(entry);
        }
        return Ok(());
    }
    let merged = MergedFolder {
        path: relative.to_owned(),
        overlay: content.overlay_entry.map(|(path, _)| path),
        project: content.shows_project.then_some(real),
    };
    let mut ignores = rehearsal.parent_ignore_files(relative);
    let exclude = rehearsal.exclude_file();
    let _ = OverlayWalk { rehearsal, shows_hidden, exclude, visit }.walk_folder(&merged, 0, &mut ignores);
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
        let mut flow = ControlFlow::Continue(());
        for (name, entry) in entries {
            let path = folder.path.join(&name);
            let is_folder = entry.meta.is_dir();
            if name == ".git"
                || (!self.shows_hidden && name.as_encoded_bytes().starts_with(b"."))
                || self.is_ignored(&path, is_folder, ignores)
            {
                continue;
            }
            if let Some(converted) = self.convert_entry(&path, &entry) {
                flow = (self.visit)(converted);
            }
            if flow.is_continue() && is_folder {
                let VisibleEntry { overlay, project, .. } = entry;
                flow = self.walk_folder(&MergedFolder { path, overlay, project }, depth + 1, ignores);
            }
            if flow.is_break() {
                break;
            }
        }
        ignores.pop();
        flow
    }

    fn is_ignored(&self, relative: &Path, is_folder: bool, ignores: &Ignores) -> bool {
        let path = self.rehearsal.root().join(relative);
        // Every `.ignore` file takes precedence over every `.gitignore` file.
        let files = (0..2).flat_map(|kind| ignores.iter().rev().filter_map(move |files| files[kind].as_ref()));
        let mut results = files.chain(&self.exclude).map(|file| file.matched(&path, is_folder));
        results.find(|result| !result.is_none()).is_some_and(|result| result.is_ignore())
    }

    fn convert_entry(&self, relative: &Path, entry: &VisibleEntry) -> Option<WalkEntry> {
        let path = self.rehearsal.root().join(relative);
        if !entry.meta.is_symlink() {
            return WalkEntry::new(self.rehearsal.locate_below(path), &entry.meta);
        }
        // The target may be in the overlay, so it is located like any other path.
        let location = self.rehearsal.locate(path.to_str()?).ok()?;
        let target = self.rehearsal.visible_metadata(&location).filter(|_| location.is_inside)?;
        WalkEntry::new(Location { display_path: relative.to_owned(), ..location }, &target)
    }
}

/// Visible entries of a folder, by name.
type VisibleEntries = BTreeMap<OsString, VisibleEntry>;

/// Returns the visible entries of a folder, and the error if they are incomplete.
pub fn visible_entries(
    overlay_folder: Option<&Path>,
    project_folder: Option<&Path>,
) -> (VisibleEntries, Option<io::Error>) {
    let (mut visible, mut listing_error) = (BTreeMap::new(), None);
    if let Some(project_folder) = project_folder {
        listing_error = list_project_folder(project_folder, &mut visible).err();
    }
    let Some(overlay_folder) = overlay_folder else { return (visible, listing_error) };
    let entries = match overlay::read_entries(overlay_folder) {
        Ok(entries) => entries,
        // Without the overlay's entries nothing is known about any name.
        Err(error) => return (BTreeMap::new(), Some(error)),
    };
    for (name, entry) in entries {
        let path = overlay_folder.join(&name);
        match entry {
            Ok(OverlayEntry::Absent) => {}
            Ok(OverlayEntry::Deleted) => drop(visible.remove(&name)),
            Ok(OverlayEntry::Other(meta)) => {
                visible.insert(name, VisibleEntry { meta, overlay: Some(path), project: None });
            }
            Ok(OverlayEntry::Folder { hides_project, meta }) => {
                // If it is unknown whether the folder hides the project's content, that content is not shown.
                let merges = matches!(hides_project, Ok(false));
                let project_entry = visible.remove(&name).filter(|entry| merges && entry.meta.is_dir());
                let project = project_entry.and_then(|entry| entry.project);
                visible.insert(name, VisibleEntry { meta, overlay: Some(path), project });
            }
            Err(error) => {
                visible.remove(&name);
                listing_error = Some(error);
            }
        }
    }
    (visible, listing_error)
}

/// Lists a folder of the project. Entries deleted in the meantime are skipped.
fn list_project_folder(folder: &Path, visible: &mut VisibleEntries) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut listing_result = Ok(());
    for entry in entries {
        let result = entry.and_then(|entry| entry.metadata().map(|meta| (entry, meta)));
        let (entry, meta) = match result {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            // The other entries are still listed.
            Err(error) => {
                listing_result = Err(error);
                continue;
            }
            Ok(result) => result,
        };
        visible.insert(entry.file_name(), VisibleEntry { meta, overlay: None, project: Some(entry.path()) });
    }
    listing_result
}

impl Rehearsal {
    /// Parses the ignore files among a folder's entries.
    fn folder_ignore_files(&self, relative: &Path, entries: &VisibleEntries) -> [Option<Gitignore>; 2] {
        [".ignore", ".gitignore"].map(|name| {
            entries.get(std::ffi::OsStr::new(name))?;
            self.ignore_file(&self.root().join(relative), name)
        })
    }

    /// Parses the visible ignore file with this name in a folder. Invalid lines are skipped, and a pipe in its place
    /// does not block.
    pub(in crate::project) fn ignore_file(&self, folder: &Path, name: &str) -> Option<Gitignore> {
        let location = self.locate(folder.join(name).to_str()?).ok()?;
        let text = self.read(&location).ok()?;
        let mut builder = GitignoreBuilder::new(folder);
        for line in String::from_utf8_lossy(&text).lines() {
            let _ = builder.add_line(None, line);
        }
        builder.build().ok().filter(|ignore| !ignore.is_empty())
    }

    /// Returns the ignore files of the parent folders within the project, and within a repository also those above the
    /// project.
    fn parent_ignore_files(&self, relative: &Path) -> Ignores {
        let root = self.root();
        let top = self.repository_root().filter(|top| *top != root);
        let outer_folders =
            root.ancestors().skip(1).filter(|folder| top.as_ref().is_some_and(|top| folder.starts_with(top)));
        let inner_folders = relative.ancestors().skip(1).map(|folder| root.join(folder));
        let mut folders: Vec<PathBuf> = inner_folders.chain(outer_folders.map(Path::to_owned)).collect();
        folders.reverse();
        let ignore_files = |folder: &PathBuf| [".ignore", ".gitignore"].map(|name| self.ignore_file(folder, name));
        folders.iter().map(ignore_files).collect()
    }

    /// Returns the root of the repository that contains the project.
    pub(in crate::project) fn repository_root(&self) -> Option<PathBuf> {
        self.root().ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
    }

    /// Parses `.git/info/exclude` of the repository that contains the project.
    pub(in crate::project) fn exclude_file(&self) -> Option<Gitignore> {
        let top = self.repository_root()?;
        self.ignore_file(&top, ".git/info/exclude")
    }
}
