//! Batches: changes of a dry run that are decided in one approval prompt.

use super::access::as_unicode;
use super::edit::describe_line_counts;
use super::{Access, Diff, Digest, join_first, pluralize};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Tool that applies one group. It is not offered to models.
pub const APPLY_GROUP: &str = "apply_group";

/// Maximum number of paths named in a sentence. Further ones are counted.
const MAX_NAMED_PATHS: usize = 3;

/// Files directly in `.git` that hold commits, the index or the state of an operation. Git executes none of them.
#[rustfmt::skip]
const STATE_FILES: &[&str] = &[
    "HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "CHERRY_PICK_HEAD",
    "REVERT_HEAD", "AUTO_MERGE", "SQUASH_MSG", "COMMIT_EDITMSG", "TAG_EDITMSG", "NOTES_EDITMSG", "index",
    "packed-refs", "shallow", "gc.log", "gc.pid",
];

/// A group of changes, in the order in which they are applied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Files that git does not ignore.
    #[default]
    Source,
    /// Files that git ignores, such as build output.
    Ignored,
    /// Files in `.git` that git executes or takes settings from, such as hooks, and every file not known to be state.
    GitSettings,
    /// Commits, branches, tags and the index of one repository.
    Repository,
}

impl Group {
    /// Every group, in the order in which they are applied.
    pub const ALL: [Self; 4] = [Self::Source, Self::Ignored, Self::GitSettings, Self::Repository];

    /// Classifies a path of the project. `is_ignored` is whether git ignores it.
    pub fn classify(path: &Path, is_folder: bool, is_ignored: bool) -> Self {
        let mut parts = path.iter().skip_while(|part| *part != OsStr::new(".git"));
        match parts.next() {
            None if is_ignored => Self::Ignored,
            None => Self::Source,
            Some(_) => {
                let inner_parts: Vec<&OsStr> = parts.collect();
                if is_repository_state(&inner_parts, is_folder) { Self::Repository } else { Self::GitSettings }
            }
        }
    }

    /// Returns the name used in arguments and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Ignored => "ignored",
            Self::GitSettings => "git_settings",
            Self::Repository => "repository",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.as_str() == name)
    }

    /// Returns the name shown on the screen.
    pub fn label(self) -> &'static str {
        match self {
            Self::Source => "source changes",
            Self::Ignored => "ignored files",
            Self::GitSettings => "git settings and hooks",
            Self::Repository => "repository state",
        }
    }
}

/// Returns the `.git` folder that contains a path, relative to the project; `None` if there is none.
pub fn find_repository(path: &Path) -> Option<PathBuf> {
    let position = path.iter().position(|part| part == OsStr::new(".git"))?;
    Some(path.iter().take(position + 1).collect())
}

/// Returns whether a path inside a `.git` folder is only data: git neither executes it nor takes settings from it.
fn is_repository_state(inner_parts: &[&OsStr], is_folder: bool) -> bool {
    let Some((first, rest)) = inner_parts.split_first() else { return is_folder };
    let first = first.to_string_lossy();
    let rest: Vec<_> = rest.iter().map(|part| part.to_string_lossy()).collect();
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match (&*first, rest.as_slice()) {
        ("objects", []) | ("refs" | "logs", _) => is_folder || !rest.is_empty(),
        ("objects", [kind]) => is_folder && (kind == "pack" || kind == "info" || kind.len() == 2 && is_hex(kind)),
        ("objects", [kind, name]) if kind == "pack" => name.starts_with("pack-") || *name == "multi-pack-index",
        ("objects", [kind, name]) if kind == "info" => *name == "packs" || name.starts_with("commit-graph"),
        ("objects", [kind, name]) => kind.len() == 2 && is_hex(kind) && is_hex(name),
        (name, []) => !is_folder && STATE_FILES.contains(&name),
        (_, _) => false,
    }
}

/// Kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Created.
    #[serde(rename = "made")]
    Created,
    /// Existed before, with other content or mode.
    #[serde(rename = "changed")]
    Modified,
    /// Deleted.
    Deleted,
}

impl ChangeKind {
    /// Returns the name in the output for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
        }
    }

    /// Returns the name in version 0.1, which is also the one in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "made",
            Self::Modified => "changed",
            Self::Deleted => "deleted",
        }
    }

    /// Returns the symbol shown before the path.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Created => "+",
            Self::Modified => "~",
            Self::Deleted => "−",
        }
    }
}

/// Changes decided in one approval prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The group of all changes.
    pub group: Group,
    /// Notes on all changes, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The changes, in the order in which they are applied.
    pub items: Vec<Item>,
}

/// A change that can be approved or rejected on its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The changed path, relative to the project; for a move, the target.
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    /// For a move, the source, which is deleted once the target is in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
    #[serde(rename = "did")]
    pub kind: ChangeKind,
    /// True if the path is or was a folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "folder")]
    pub is_folder: bool,
    /// The changed lines, if it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<Diff>,
    /// Facts that lines do not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Reason why it cannot be applied, if so: a conflict or a rule that denies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// Things it destroys, if any, worded to follow “this”.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destroys: Option<String>,
    /// Access of the change, for the policy.
    pub access: Access,
    /// Digest of every path of the item with its bytes and mode before and after.
    pub sha256: Digest,
}

/// A change of a batch that the user rejected as a whole or in part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// Index in [`Batch::items`].
    pub item: usize,
    /// Start lines of the rejected hunks in the new content; empty if the whole item is rejected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<usize>,
}

/// Data that is needed to apply a batch but not shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BatchWork {
    /// The changes of each item, in order.
    pub items: Vec<Vec<Operation>>,
    /// Folders that are deleted once they are empty, deepest first.
    pub folders: Vec<Operation>,
    /// The parts that the user rejected.
    pub rejected: Vec<Rejected>,
    /// Arguments of the call, if the tool needs them again.
    pub source: Value,
}

/// Change of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Relative to the project.
    pub path: PathBuf,
    /// Digest of the path, and of its bytes and mode before and after.
    pub sha256: Digest,
}

impl Item {
    /// Returns whether its hunks can be rejected one by one.
    pub fn has_hunks(&self) -> bool {
        self.kind == ChangeKind::Modified
            && self.from.is_none()
            && self.diff.as_ref().is_some_and(|diff| diff.hunks.len() > 1)
    }

    /// Returns `old → new` or the path, with a slash for a folder.
    pub fn name(&self) -> String {
        let slash = if self.is_folder { "/" } else { "" };
        match &self.from {
            Some(from) => format!("{} → {}{slash}", from.display(), self.path.display()),
            None => format!("{}{slash}", self.path.display()),
        }
    }
}

impl Rejected {
    /// Returns whether the whole item is rejected.
    pub fn is_whole_item(&self) -> bool {
        self.hunks.is_empty()
    }
}

impl Batch {
    /// Returns the items that would be applied, with their indexes.
    pub fn selected_items<'a>(&'a self, rejected: &'a [Rejected]) -> impl Iterator<Item = (usize, &'a Item)> {
        let rejected_items: HashSet<usize> =
            rejected.iter().filter(|rejected| rejected.is_whole_item()).map(|rejected| rejected.item).collect();
        let items = self.items.iter().enumerate();
        items.filter(move |(index, item)| item.blocked.is_none() && !rejected_items.contains(index))
    }

    /// Describes what would be destroyed, worded to follow “this”.
    pub fn destroys(&self, rejected: &[Rejected]) -> Option<String> {
        let descriptions: Vec<&str> =
            self.selected_items(rejected).filter_map(|(_, item)| item.destroys.as_deref()).collect();
        (!descriptions.is_empty()).then(|| join_first(&descriptions, MAX_NAMED_PATHS))
    }

    /// Returns a summary such as `3 changes, +12 −4, 1 cannot be applied`.
    pub fn describe_batch(&self) -> String {
        let blocked = self.items.iter().filter(|item| item.blocked.is_some()).count();
        let noun = if self.group == Group::Ignored { "file" } else { "change" };
        let mut parts = vec![pluralize(self.items.len(), noun)];
        parts.extend(describe_line_counts(self.items.iter().filter_map(|item| item.diff.as_ref())));
        parts.extend((blocked > 0).then(|| format!("{blocked} cannot be applied")));
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_group(path: &str, is_folder: bool, expected: Group) {
        assert_eq!(Group::classify(Path::new(path), is_folder, false), expected, "{path}");
    }

    #[test]
    fn only_files_git_never_executes_or_obeys_are_repository_state() {
        for path in [
            ".git/HEAD",
            ".git/index",
            ".git/refs/heads/topic/one",
            ".git/logs/HEAD",
            ".git/objects/ab/0123456789abcdef0123456789abcdef012345",
            ".git/objects/pack/pack-0123.idx",
            ".git/objects/info/packs",
            "sub/.git/packed-refs",
        ] {
            check_group(path, false, Group::Repository);
        }
        for path in [".git", ".git/objects", ".git/objects/ab", ".git/refs/tags", ".git/logs"] {
            check_group(path, true, Group::Repository);
        }
        for path in [
            ".git/config",
            ".git/config.worktree",
            ".git/hooks/pre-commit",
            ".git/info/attributes",
            ".git/info/exclude",
            ".git/objects/info/alternates",
            ".git/objects/zz/x",
            ".git/rebase-merge/git-rebase-todo",
            ".git/unheard-of",
            ".git/modules/a/HEAD",
            "vendored/.git/config",
        ] {
            check_group(path, false, Group::GitSettings);
        }
        // A file in place of the folder names another repository.
        check_group(".git", false, Group::GitSettings);
        check_group(".git/refs", false, Group::GitSettings);
        check_group(".gitignore", false, Group::Source);
        check_group("src/.github/x", false, Group::Source);
        assert_eq!(Group::classify(Path::new("target/x"), false, true), Group::Ignored);
        assert_eq!(Group::classify(Path::new(".git/hooks/x"), false, true), Group::GitSettings);
    }

    #[test]
    fn a_rejected_item_destroys_nothing() {
        let item = |path: &str| Item {
            path: path.into(),
            from: None,
            kind: ChangeKind::Deleted,
            is_folder: false,
            diff: None,
            notes: vec![],
            blocked: None,
            destroys: Some(format!("deletes {path}")),
            access: Access::Write(path.into()),
            sha256: Digest::default(),
        };
        let mut batch = Batch { group: Group::Source, notes: vec![], items: vec![item("a"), item("b")] };
        assert_eq!(batch.destroys(&[]).as_deref(), Some("deletes a, deletes b"));
        let rejected = |item| Rejected { item, hunks: vec![] };
        assert_eq!(batch.destroys(&[rejected(0)]).as_deref(), Some("deletes b"));
        assert_eq!(batch.destroys(&[rejected(0), rejected(1)]), None);
        batch.items.extend(["c", "d", "e"].map(item));
        assert_eq!(batch.destroys(&[]).as_deref(), Some("deletes a, deletes b, deletes c and 2 more"));
        batch.items[0].blocked = Some("CONFLICT".into());
        assert_eq!(batch.selected_items(&[rejected(1)]).map(|(index, _)| index).collect::<Vec<_>>(), [2, 3, 4]);
    }
}
