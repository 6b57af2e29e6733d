//! Sorts the changes of a dry run into groups, by git's ignore rules and by paths in `.git`.

use super::branch::git_folder;
use super::rehearsal::Rehearsal;
use super::{Reader, git_index};
use crate::chat::DryRunChange;
use crate::chat::batch::Group;
use ignore::Match;
use ignore::gitignore::Gitignore;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Determines the group of a path. Reads each ignore file once.
pub struct GroupClassifier<'a> {
    rehearsal: &'a Rehearsal,
    /// Work tree that contains the project. Without one no file is ignored.
    work_tree: Option<PathBuf>,
    /// Paths tracked by the repository, live or in the dry run, relative to the work tree. Git's ignore rules do not
    /// apply to them. The index is read when it is first needed.
    tracked: OnceCell<HashSet<PathBuf>>,
    /// Rules in the repository's `info/exclude`.
    exclude: Option<Gitignore>,
    /// Ignore file of each folder, by absolute path.
    ignore_files: HashMap<PathBuf, Option<Gitignore>>,
    /// Cache of examined folders: true if the folder is ignored.
    ignored_folders: HashMap<PathBuf, bool>,
}

impl<'a> GroupClassifier<'a> {
    pub fn new(rehearsal: &'a Rehearsal) -> Self {
        Self {
            rehearsal,
            exclude: rehearsal.exclude_file(),
            work_tree: rehearsal.repository_root(),
            tracked: OnceCell::new(),
            ignore_files: HashMap::new(),
            ignored_folders: HashMap::new(),
        }
    }

    /// Creates a classifier for paths of which none is tracked.
    pub fn for_untracked_paths(rehearsal: &'a Rehearsal) -> Self {
        Self { tracked: OnceCell::from(HashSet::new()), ..Self::new(rehearsal) }
    }

    /// Returns whether the project is in a git repository. Without one no file is ignored.
    pub fn has_repository(&self) -> bool {
        self.work_tree.is_some()
    }

    /// Returns the group of a path of the project.
    pub fn classify(&mut self, path: &Path, is_folder: bool) -> Group {
        let is_ignored = self.is_ignored(path, is_folder);
        Group::classify(path, is_folder, is_ignored)
    }

    /// Returns whether git ignores a path of the project.
    pub fn is_ignored(&mut self, path: &Path, is_folder: bool) -> bool {
        let Some(top) = self.work_tree.clone() else { return false };
        let full_path = self.rehearsal.root().join(path);
        self.is_excluded(&top, &full_path, is_folder) && {
            let tracked = self.tracked.get_or_init(|| tracked_paths(self.rehearsal, &top));
            !full_path.strip_prefix(&top).is_ok_and(|path| tracked.contains(path))
        }
    }

    /// Returns whether the rules ignore this path or a folder above it.
    fn is_excluded(&mut self, top: &Path, full_path: &Path, is_folder: bool) -> bool {
        // Everything in an ignored folder is ignored, whatever ignore files in it contain.
        let parents: Vec<PathBuf> = full_path.ancestors().skip(1).map(Path::to_owned).collect();
        let below_top = parents.iter().rev().filter(|folder| folder.starts_with(top) && **folder != top);
        for folder in below_top {
            let is_ignored = match self.ignored_folders.get(folder) {
                Some(cached) => *cached,
                None => {
                    let matches = self.matches_ignore_rule(top, folder, true);
                    self.ignored_folders.insert(folder.clone(), matches);
                    matches
                }
            };
            if is_ignored {
                return true;
            }
        }
        self.matches_ignore_rule(top, full_path, is_folder)
    }

    /// Returns whether the rules ignore exactly this path. The nearest folder with a matching rule decides.
    fn matches_ignore_rule(&mut self, top: &Path, path: &Path, is_folder: bool) -> bool {
        for parent in path.ancestors().skip(1).take_while(|folder| folder.starts_with(top)) {
            let rehearsal = self.rehearsal;
            let file = self.ignore_files.entry(parent.to_owned());
            let file = file.or_insert_with(|| rehearsal.ignore_file(parent, ".gitignore"));
            let result = file.as_ref().map_or(Match::None, |file| file.matched(path, is_folder));
            if !result.is_none() {
                return result.is_ignore();
            }
        }
        self.exclude.as_ref().is_some_and(|file| file.matched(path, is_folder).is_ignore())
    }
}

/// Returns the paths in the index of the work tree at `top`, live and in the dry run.
fn tracked_paths(rehearsal: &Rehearsal, top: &Path) -> HashSet<PathBuf> {
    let indexes = read_indexes(rehearsal, top);
    let entries = indexes.iter().filter_map(|bytes| git_index::parse_index(bytes)).flatten();
    entries.map(|entry| entry.path).collect()
}

/// Reads the index of the work tree at `top`, live and in the dry run, as far as they exist.
pub(super) fn read_indexes(rehearsal: &Rehearsal, top: &Path) -> Vec<Vec<u8>> {
    let index = git_folder(top.join(".git")).map(|folder| folder.join("index"));
    let Some(index) = index else { return Vec::new() };
    let rehearsed = index.to_str().and_then(|index| rehearsal.locate(index).ok());
    let rehearsed = rehearsed.and_then(|location| rehearsal.read(&location).ok());
    [fs::read(&index).ok(), rehearsed].into_iter().flatten().collect()
}

/// Sets the group of each change.
pub fn assign_groups(rehearsal: &Rehearsal, changes: &mut [DryRunChange]) {
    let mut groups = GroupClassifier::new(rehearsal);
    for change in changes {
        change.group = groups.classify(&change.path, change.is_folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::test_project::RehearsedProject;

    #[track_caller]
    fn assert_group(files: &[(&str, &str)], rehearsed: &[(&str, &str)], path: &str, expected: Group) {
        let project = RehearsedProject::new(files);
        for (path, text) in rehearsed {
            project.rehearse_write(path, text);
        }
        assert_eq!(
            GroupClassifier::new(&project.rehearsal).classify(Path::new(path), false),
            expected,
            "{path} {files:?}"
        );
    }

    #[test]
    fn nearest_ignore_file_wins_and_ignored_folders_are_ignored_entirely() {
        let files = [
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".git/info/exclude", "*.swp\n"),
            (".gitignore", "/target/\n*.log\n!keep.log\n"),
            ("sub/.gitignore", "!inner.log\n/built\n"),
            ("target/.gitignore", "!x\n"),
        ];
        for ignored in ["target/x", "target/deep/y", "a.log", "sub/a.log", "sub/built", "a.swp", "sub/.b.swp"] {
            assert_group(&files, &[], ignored, Group::Ignored);
        }
        for source in ["a.rs", "keep.log", "sub/inner.log", "sub/target/x", "built", ".gitignore"] {
            assert_group(&files, &[], source, Group::Source);
        }
    }

    #[test]
    fn ignore_files_of_the_dry_run_apply_only_in_a_repository() {
        let git = (".git/HEAD", "ref: refs/heads/main\n");
        assert_group(&[git], &[(".gitignore", "/target\n")], "target/x", Group::Ignored);
        assert_group(&[], &[(".gitignore", "/target\n")], "target/x", Group::Source);
    }
}
