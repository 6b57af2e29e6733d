//! Which files there are: the walk through the project, ignore files respected.

use super::path::{at, locate};
use super::{Error, Found, Located};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder};
use std::ops::ControlFlow;
use std::path::Path;

/// Folders deeper than this are left out: nobody made them by hand.
const DEPTH: usize = 64;

/// Walks `under`, sorted by path; a file is its own walk. Links that lead into the project are met but not walked
/// through; those that lead out, pipes, devices and folders that cannot be listed are left out.
pub fn walk(
    root: &Path,
    under: &Located,
    hidden: bool,
    visit: &mut dyn FnMut(Found) -> ControlFlow<()>,
) -> Result<(), Error> {
    let meta = std::fs::symlink_metadata(&under.real).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Error::Missing(under.shown.clone()),
        _ => Error::Io { path: under.shown.clone(), source },
    })?;
    if meta.is_file() {
        let _ = visit(Found { at: under.clone(), folder: false, size: meta.len() });
        return Ok(());
    }
    let versioned = under.real.ancestors().any(|folder| folder.join(".git").exists());
    let above = if versioned { Vec::new() } else { ignores_above(root, &under.real) };
    let mut builder = WalkBuilder::new(&under.real);
    builder
        .standard_filters(true)
        .hidden(!hidden)
        .git_global(false)
        // Outside a repository, the ignore files of folders above the project are none of its business.
        .require_git(versioned)
        .parents(versioned)
        .max_depth(Some(DEPTH))
        .sort_by_file_name(std::cmp::Ord::cmp)
        .filter_entry(move |entry| {
            let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.depth() == 0
                || entry.file_name() != ".git"
                    && !above.iter().any(|file| file.matched(entry.path(), folder).is_ignore())
        });
    for entry in builder.build().flatten().filter(|entry| entry.depth() > 0) {
        if found(root, &entry).is_some_and(|found| visit(found).is_break()) {
            break;
        }
    }
    Ok(())
}

/// The ignore files between the project's root and a folder in it, which a walk that begins in the folder would not see.
fn ignores_above(root: &Path, under: &Path) -> Vec<Gitignore> {
    let above = under.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    let read = |folder: &Path| {
        let mut builder = GitignoreBuilder::new(folder);
        for name in [".gitignore", ".ignore"] {
            // One that is not there, or has a bad line, leaves the rest as it is.
            let _ = builder.add(folder.join(name));
        }
        builder.build().ok()
    };
    above.filter_map(read).collect()
}

/// What the walk met.
fn found(root: &Path, entry: &DirEntry) -> Option<Found> {
    let kind = entry.file_type()?;
    if kind.is_symlink() {
        let located = locate(root, None, entry.path().to_str()?).ok().filter(|located| located.inside)?;
        let meta = std::fs::metadata(&located.real).ok()?;
        let shown = entry.path().strip_prefix(root).unwrap_or(entry.path()).to_owned();
        let (folder, size) = (meta.is_dir(), if meta.is_file() { meta.len() } else { 0 });
        return (folder || meta.is_file()).then_some(Found {
            at: Located { shown, ..located },
            folder,
            size,
        });
    }
    if !kind.is_dir() && !kind.is_file() {
        return None;
    }
    let size = if kind.is_file() { entry.metadata().ok()?.len() } else { 0 };
    Some(Found { at: at(root, entry.path().to_owned()), folder: kind.is_dir(), size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::{Reader, disk::Disk};
    use std::os::unix::fs::symlink;

    fn tree() -> (tempfile::TempDir, Disk) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        let make = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        make(".gitignore", "*.log\n/target\n");
        make("a.txt", "1");
        make("a/b.rs", "22");
        make("a/x.log", "");
        make("a/target/kept", "");
        make("target/out", "");
        make(".github/ci.yml", "");
        make("z/.git/config", "");
        make("z/c", "333");
        std::fs::write(folder.path().join(".gitignore"), "*\n").unwrap();
        std::fs::write(folder.path().join("outside"), "").unwrap();
        symlink("../outside", root.join("leads-out")).unwrap();
        symlink("a", root.join("leads-in")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), 0o600.into()).unwrap();
        let disk = Disk::new(&root).unwrap();
        (folder, disk)
    }

    fn names(disk: &Disk, under: &str, hidden: bool) -> Vec<String> {
        let mut names = Vec::new();
        let under = disk.locate(under).unwrap();
        disk.walk(&under, hidden, &mut |found| {
            names.push(format!("{}{}", found.at.shown.display(), if found.folder { "/" } else { "" }));
            ControlFlow::Continue(())
        })
        .unwrap();
        names
    }

    #[test]
    fn the_walk_is_sorted_and_leaves_out_what_is_ignored_even_without_a_repository() {
        let (_folder, disk) = tree();
        let all = ["a/", "a/b.rs", "a/target/", "a/target/kept", "a.txt", "leads-in/", "z/", "z/c"];
        assert_eq!(names(&disk, ".", false), all);
        assert_eq!(names(&disk, "a", false), ["a/b.rs", "a/target/", "a/target/kept"]);
        assert_eq!(names(&disk, "a.txt", false), ["a.txt"]);
        // Asked for by name, an ignored folder is shown.
        assert_eq!(names(&disk, "target", false), ["target/out"]);
    }

    #[test]
    fn hidden_files_come_by_choice_and_git_never() {
        let (_folder, disk) = tree();
        let names = names(&disk, ".", true);
        assert!(names.contains(&".github/ci.yml".to_owned()));
        assert!(!names.iter().any(|name| name.contains(".git/")), "{names:?}");
    }

    #[test]
    fn in_a_repository_the_ignore_files_above_count() {
        let (folder, _) = tree();
        std::fs::create_dir(folder.path().join("project/.git")).unwrap();
        let disk = Disk::new(&folder.path().join("project")).unwrap();
        assert_eq!(names(&disk, "a", false), ["a/b.rs", "a/target/", "a/target/kept"]);
    }

    #[test]
    fn break_ends_the_walk_and_nothing_there_is_said() {
        let (_folder, disk) = tree();
        let mut count = 0;
        let root = disk.locate(".").unwrap();
        disk.walk(&root, false, &mut |_| {
            count += 1;
            ControlFlow::Break(())
        })
        .unwrap();
        assert_eq!(count, 1);
        let gone = disk.locate("gone").unwrap();
        let error = disk.walk(&gone, false, &mut |_| ControlFlow::Continue(())).unwrap_err();
        assert_eq!(error.to_string(), "there is no file gone");
    }
}
