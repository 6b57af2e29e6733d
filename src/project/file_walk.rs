//! Walks the live project, respecting ignore files.

use super::path::{locate_path, locate_real};
use super::{Error, Location, Visit, WalkEntry};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder};
use std::path::Path;

/// Maximum depth. Deeper folders are skipped.
const MAX_DEPTH: usize = 64;

/// Walks `under`, sorted by path. If it is a file, only that file is visited. Dot files are visited only if `hidden` is
/// set. Links that lead into the project are visited but not followed. Links that lead out of it, pipes, devices and
/// unreadable folders are skipped.
pub fn walk_disk(root: &Path, under: &Location, hidden: bool, visit: Visit<'_>) -> Result<(), Error> {
    let metadata = std::fs::symlink_metadata(&under.real).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Error::Missing(under.display_path.clone()),
        _ => Error::Io { path: under.display_path.clone(), source },
    })?;
    if metadata.is_file() {
        if let Some(entry) = WalkEntry::new(under.clone(), &metadata) {
            let _ = visit(entry);
        }
        return Ok(());
    }
    let has_repository = under.real.ancestors().any(|folder| folder.join(".git").exists());
    let parent_files = if has_repository { Vec::new() } else { parent_ignore_files(root, &under.real) };
    let start = under.real.clone();
    // The walk itself compares only the ignore files from its start on. The nearest pattern decides.
    let is_ignored_above = move |path: &Path, is_folder: bool| {
        is_ignored(&parent_files, path, is_folder) == Some(true)
            && is_ignored(&parent_ignore_files(&start, path), path, is_folder) != Some(false)
    };
    let mut builder = WalkBuilder::new(&under.real);
    builder
        .standard_filters(true)
        .hidden(!hidden)
        .git_global(false)
        // Outside a repository, the project's ignore files apply too, but those above the project do not.
        .require_git(has_repository)
        .parents(has_repository)
        .max_depth(Some(MAX_DEPTH))
        .sort_by_file_name(std::cmp::Ord::cmp)
        .filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.depth() == 0 || entry.file_name() != ".git" && !is_ignored_above(entry.path(), is_folder)
        });
    for entry in builder.build().flatten().filter(|entry| entry.depth() > 0) {
        if convert_entry(root, &entry).is_some_and(|converted| visit(converted).is_break()) {
            break;
        }
    }
    Ok(())
}

/// Returns whether ignore files, nearest first, ignore a path; `None` if none mentions it.
fn is_ignored(files: &[Gitignore], path: &Path, is_folder: bool) -> Option<bool> {
    let mut matches = files.iter().map(|file| file.matched(path, is_folder));
    matches.find(|found| !found.is_none()).map(|found| found.is_ignore())
}

/// Returns the ignore files of the folders from a path's parent up to `root`, nearest first.
fn parent_ignore_files(root: &Path, path: &Path) -> Vec<Gitignore> {
    let parents = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    let read_ignore_files = |folder: &Path| {
        let mut builder = GitignoreBuilder::new(folder);
        for name in [".gitignore", ".ignore"] {
            // Missing files and invalid lines are skipped.
            let _ = builder.add(folder.join(name));
        }
        builder.build().ok()
    };
    parents.filter_map(read_ignore_files).collect()
}

/// Converts an entry of the walk. Returns `None` for an entry that is skipped.
fn convert_entry(root: &Path, entry: &DirEntry) -> Option<WalkEntry> {
    if entry.file_type()?.is_symlink() {
        let located = locate_path(root, None, entry.path().to_str()?).ok().filter(|located| located.is_inside)?;
        let metadata = std::fs::metadata(&located.real).ok()?;
        let display_path = entry.path().strip_prefix(root).unwrap_or(entry.path()).to_owned();
        return WalkEntry::new(Location { display_path, ..located }, &metadata);
    }
    WalkEntry::new(locate_real(root, entry.path().to_owned()), &entry.metadata().ok()?)
}

#[cfg(test)]
mod tests {
    use crate::project::{Reader, disk::Disk};
    use std::ops::ControlFlow;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    /// Creates a file and its parent folders.
    fn create_file(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn create_tree() -> (tempfile::TempDir, Disk) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        let write_file = |path: &str, text: &str| create_file(&root.join(path), text);
        write_file(".gitignore", "*.log\n/target\n");
        write_file("a.txt", "1");
        write_file("a/b.rs", "22");
        write_file("a/x.log", "");
        write_file("a/target/kept", "");
        write_file("target/out", "");
        write_file(".github/ci.yml", "");
        write_file("z/.git/config", "");
        write_file("z/c", "333");
        std::fs::write(folder.path().join(".gitignore"), "*\n").unwrap();
        std::fs::write(folder.path().join("outside"), "").unwrap();
        symlink("../outside", root.join("leads-out")).unwrap();
        symlink("a", root.join("leads-in")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), 0o600.into()).unwrap();
        let disk = Disk::new(&root).unwrap();
        (folder, disk)
    }

    fn walk_names(disk: &Disk, under: &str, hidden: bool) -> Vec<String> {
        let mut names = Vec::new();
        let under = disk.locate(under).unwrap();
        disk.walk(&under, hidden, &mut |entry| {
            names.push(format!("{}{}", entry.location.display_path.display(), if entry.is_folder { "/" } else { "" }));
            ControlFlow::Continue(())
        })
        .unwrap();
        names
    }

    #[test]
    fn walk_is_sorted_and_skips_ignored_files_even_without_a_repository() {
        let (_folder, disk) = create_tree();
        let expected = ["a/", "a/b.rs", "a/target/", "a/target/kept", "a.txt", "leads-in/", "z/", "z/c"];
        assert_eq!(walk_names(&disk, ".", false), expected);
        assert_eq!(walk_names(&disk, "a", false), ["a/b.rs", "a/target/", "a/target/kept"]);
        assert_eq!(walk_names(&disk, "a.txt", false), ["a.txt"]);
        // An ignored folder is listed if it is requested by name.
        assert_eq!(walk_names(&disk, "target", false), ["target/out"]);
    }

    #[test]
    fn hidden_files_are_optional_and_git_is_never_visited() {
        let (_folder, disk) = create_tree();
        let names = walk_names(&disk, ".", true);
        assert!(names.contains(&".github/ci.yml".to_owned()));
        assert!(!names.iter().any(|name| name.contains(".git/")), "{names:?}");
    }

    #[test]
    fn parent_ignore_files_apply_in_a_repository() {
        let (folder, _) = create_tree();
        std::fs::create_dir(folder.path().join("project/.git")).unwrap();
        let disk = Disk::new(&folder.path().join("project")).unwrap();
        assert_eq!(walk_names(&disk, "a", false), ["a/b.rs", "a/target/", "a/target/kept"]);
    }

    #[test]
    fn break_stops_the_walk_and_missing_paths_are_an_error() {
        let (_folder, disk) = create_tree();
        let mut count = 0;
        let root = disk.locate(".").unwrap();
        disk.walk(&root, false, &mut |_| {
            count += 1;
            ControlFlow::Break(())
        })
        .unwrap();
        assert_eq!(count, 1);
        let missing = disk.locate("gone").unwrap();
        let error = disk.walk(&missing, false, &mut |_| ControlFlow::Continue(())).unwrap_err();
        assert_eq!(error.to_string(), "there is no file gone");
    }

    #[test]
    fn a_nearer_pattern_overrides_the_ignore_file_of_a_parent() {
        let (folder, disk) = create_tree();
        let write_file = |path: &str, text: &str| create_file(&folder.path().join("project").join(path), text);
        write_file("n/.gitignore", "!*.log\n");
        write_file("n/m/.ignore", "!out.tmp\n*.log\n");
        write_file("n/m/x.log", "");
        write_file("n/o/.gitignore", "!x.tmp\n");
        for path in ["n/o/x.log", "n/o/x.tmp", "n/o/y.tmp"] {
            write_file(path, "");
        }
        write_file(".gitignore", "*.log\n*.tmp\n");
        assert_eq!(walk_names(&disk, ".", false).iter().filter(|name| name.starts_with("n/")).count(), 5);
        assert_eq!(walk_names(&disk, "n", false), ["n/m/", "n/o/", "n/o/x.log", "n/o/x.tmp"]);
        assert_eq!(walk_names(&disk, "n/m", false), [""; 0]);
        assert_eq!(walk_names(&disk, "n/o", false), ["n/o/x.log", "n/o/x.tmp"]);
    }
}
