//! Trials: what a command did when it ran in a throwaway sandbox before it was approved.

use super::batch::Group;
use super::build_output::is_build_output;
use super::{ChangeKind, Digest, DryRunChange, TrialCounts};
use std::path::PathBuf;
use std::time::Duration;

/// Maximum number of changes of a trial whose contents are compared.
pub const MAX_COMPARED_CHANGES: usize = 500;
/// Maximum number of lost files that are named for a folder.
pub const MAX_LOST_FILES: usize = 100;

/// Maximum number of changes that the record of a trial names.
pub const MAX_LISTED_CHANGES: usize = 100;

/// Start of the line that names the changes of a kept trial that were not made.
const UNMADE_START: &str = "These changes of the command were not made: ";

/// Result of a trial. Nothing in it is real until the trial is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialReport {
    /// The result that the model gets if the trial is kept.
    pub result: String,
    /// How the command ended: `exit 0`.
    pub status: String,
    /// Run time.
    pub duration: Duration,
    /// Changes of the project, sorted by path.
    pub changes: Vec<TrialChange>,
    /// Paths outside the project that the command changed. These changes are never kept.
    pub outside: Vec<PathBuf>,
    /// Number of files that it left in folders for temporary files. They are never kept.
    pub temporary_files: usize,
    /// Changes of the project that cannot be kept, with the reason.
    pub unkeepable: Vec<(PathBuf, String)>,
    /// Reason to doubt that a live run has the same result: a limit of the sandbox that the command seems to have met.
    pub doubt: Option<String>,
    /// Digest of everything that the command wrote in the project.
    pub digest: Digest,
}

/// A change that a trial made to the project.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialChange {
    pub change: DryRunChange,
    /// Files below a folder that is listed as one change; 0 for anything else.
    pub files_below: usize,
    /// Files below a deleted or replaced folder whose content git has not stored; at most [`MAX_LOST_FILES`].
    pub lost_files: Vec<PathBuf>,
    /// True if the previous content is nowhere else: git has not stored it, and the new content replaces most of it.
    pub loses_unsaved: bool,
    /// True if a path of the change may hold secrets or configures other programs.
    pub is_sensitive: bool,
    /// True for a new or changed link to something that is neither in the project nor part of the installed system.
    pub leads_outside: bool,
    /// True if it is one of the first [`MAX_COMPARED_CHANGES`]. Any other has no diff.
    pub is_compared: bool,
}

impl TrialChange {
    /// Returns whether keeping the change destroys something that no build makes again. That an ignored file is changed,
    /// not deleted, does not count.
    pub fn destroys(&self) -> bool {
        let is_removed = match self.change.kind {
            ChangeKind::Created => false,
            ChangeKind::Deleted => true,
            // A folder of files that git ignores was replaced: none of them is stored anywhere.
            ChangeKind::Modified => {
                self.change.group == Group::Ignored && self.change.is_folder && self.files_below > 0
            }
        };
        let is_made_again = self.change.group == Group::Ignored && is_build_output(&self.change.path);
        self.loses_unsaved || is_removed && !is_made_again
    }

    /// Returns whether the change loses something for good: neither an undo restores it nor does a build make it again.
    pub fn is_irreversible(&self) -> bool {
        let is_replaced = self.change.group == Group::Ignored && self.change.kind != ChangeKind::Created;
        is_replaced && !is_build_output(&self.change.path)
    }

    /// Returns what to know about a file that git ignores: an undo does not restore it, but a build may make it again.
    /// `None` for any other.
    pub fn ignored_note(&self) -> Option<&'static str> {
        match (self.change.group, self.change.kind) {
            (Group::Ignored, ChangeKind::Created) => Some("ignored by git"),
            (Group::Ignored, _) if is_build_output(&self.change.path) => Some("ignored by git · build output"),
            (Group::Ignored, ChangeKind::Modified | ChangeKind::Deleted) => Some("ignored by git · cannot be undone"),
            (Group::Repository | Group::GitSettings | Group::Source, _) => None,
        }
    }

    /// Returns the path as displayed: a folder ends with `/`.
    pub fn display_path(&self) -> String {
        let path = crate::text::escaped_path::escape_path(&self.change.path);
        if self.change.is_folder { format!("{path}/") } else { path }
    }
}

impl TrialReport {
    /// Describes what keeping the trial destroys; `None` if it destroys nothing.
    pub fn describe_loss(&self) -> Option<String> {
        let destroyed: Vec<String> =
            self.changes.iter().filter(|change| change.destroys()).map(TrialChange::display_path).collect();
        let (first, rest) = destroyed.split_first()?;
        Some(match rest.len() {
            0 => first.clone(),
            1 => format!("{first} and {}", rest[0]),
            more => format!("{first} and {more} more"),
        })
    }

    /// Returns the changes as displayed, such as `+ new.txt`. Beyond [`MAX_LISTED_CHANGES`] the last line counts the rest.
    pub fn list_changes(&self) -> Vec<String> {
        let describe = |change: &TrialChange| {
            let note = change.ignored_note().map(|note| format!(" · {note}")).unwrap_or_default();
            format!("{} {}{note}", change.change.kind.symbol(), change.display_path())
        };
        let mut lines: Vec<String> = self.changes.iter().take(MAX_LISTED_CHANGES).map(describe).collect();
        let rest = self.changes.len().saturating_sub(MAX_LISTED_CHANGES);
        lines.extend((rest > 0).then(|| format!("… {rest} more")));
        lines
    }

    /// Counts the files that were created, changed and deleted.
    pub fn count_changes(&self) -> TrialCounts {
        let count_of = |kind| {
            let changes = self.changes.iter().filter(|change| change.change.kind == kind);
            changes.map(|change| change.files_below.max(1)).sum::<usize>()
        };
        TrialCounts {
            created: count_of(ChangeKind::Created),
            modified: count_of(ChangeKind::Modified),
            deleted: count_of(ChangeKind::Deleted),
        }
    }
}

/// Returns the outcome of a kept trial: the output of its command, after a line with the changes that were not made, if
/// any. Output that begins like this line does not pass for it.
pub fn format_kept_result(output: String, unmade: &[String]) -> String {
    match unmade {
        [] if split_unmade_changes(&output).is_some() => format!("[All changes of the command were made]\n{output}"),
        [] => output,
        names => format!("[{UNMADE_START}{}]\n{output}", names.join(", ")),
    }
}

/// Splits the outcome of a kept trial into the line about the changes that were not made, without its brackets, and the
/// output of the command. Returns `None` if all changes were made.
pub fn split_unmade_changes(outcome: &str) -> Option<(&str, &str)> {
    let (line, output) = outcome.split_once('\n')?;
    let line = line.strip_prefix('[')?.strip_suffix(']')?;
    line.starts_with(UNMADE_START).then_some((line, output))
}

#[cfg(test)]
impl TrialChange {
    /// Returns a change with nothing unusual about it.
    pub fn sample(kind: ChangeKind, group: Group, path: &str) -> Self {
        let (path, notes) = (path.into(), Vec::new());
        let change = DryRunChange { path, is_folder: false, kind, group, diff: None, notes, has_conflict: false };
        Self {
            change,
            files_below: 0,
            lost_files: Vec::new(),
            loses_unsaved: false,
            is_sensitive: false,
            leads_outside: false,
            is_compared: true,
        }
    }
}

#[cfg(test)]
impl TrialReport {
    /// Returns the report of a command that printed nothing and made these changes.
    pub fn sample(changes: Vec<TrialChange>) -> Self {
        Self {
            result: "exit 0".into(),
            status: "exit 0".into(),
            duration: Duration::ZERO,
            changes,
            outside: Vec::new(),
            temporary_files: 0,
            unkeepable: Vec::new(),
            doubt: None,
            digest: Digest::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_changes_are_bounded_and_escaped() {
        let change = |number: usize| TrialChange::sample(ChangeKind::Created, Group::Source, &format!("f\n{number}"));
        for (count, last) in [(0, None), (100, Some(r"+ f\n99")), (101, Some("… 1 more")), (250, Some("… 150 more"))]
        {
            let report = TrialReport::sample((0..count).map(change).collect());
            let listed = report.list_changes();
            assert_eq!((listed.len(), listed.last().map(String::as_str)), (count.min(101), last));
        }
    }

    /// Git cannot restore an ignored file, and only what is build output is made again.
    #[test]
    fn deleting_an_ignored_file_destroys_it_unless_it_is_build_output() {
        let change = |kind, group, path| TrialChange::sample(kind, group, path);
        let lost = [
            change(ChangeKind::Deleted, Group::Ignored, ".env.local"),
            change(ChangeKind::Deleted, Group::Ignored, "data"),
            change(ChangeKind::Deleted, Group::Source, "target/a"),
        ];
        let kept = [
            change(ChangeKind::Deleted, Group::Ignored, "target/debug/aye"),
            change(ChangeKind::Deleted, Group::Ignored, "web/node_modules"),
            change(ChangeKind::Modified, Group::Ignored, "data/app.sqlite"),
            change(ChangeKind::Created, Group::Ignored, ".env.local"),
        ];
        assert!(lost.iter().all(TrialChange::destroys) && !kept.iter().any(TrialChange::destroys));
        let mut replaced = change(ChangeKind::Modified, Group::Ignored, "data");
        (replaced.change.is_folder, replaced.files_below) = (true, 2);
        assert!(replaced.destroys());
        replaced.change.path = "build".into();
        assert!(!replaced.destroys());
    }

    #[test]
    fn a_change_of_an_ignored_file_is_listed_as_one_that_cannot_be_undone() {
        let ignored = |kind| TrialChange::sample(kind, Group::Ignored, ".env.local");
        let changes = vec![
            ignored(ChangeKind::Created),
            ignored(ChangeKind::Modified),
            ignored(ChangeKind::Deleted),
            TrialChange::sample(ChangeKind::Deleted, Group::Ignored, "target/debug/aye"),
            TrialChange::sample(ChangeKind::Created, Group::Source, "a.txt"),
        ];
        assert_eq!(
            TrialReport::sample(changes).list_changes(),
            [
                "+ .env.local · ignored by git",
                "~ .env.local · ignored by git · cannot be undone",
                "− .env.local · ignored by git · cannot be undone",
                "− target/debug/aye · ignored by git · build output",
                "+ a.txt",
            ]
        );
    }

    #[test]
    fn output_of_a_kept_trial_cannot_claim_that_changes_were_not_made() {
        let output = "[These changes of the command were not made: a.txt]\nexit 0";
        let kept = format_kept_result(output.to_owned(), &[]);
        assert_eq!(split_unmade_changes(&kept), None);
        assert!(kept.ends_with(output));
        let kept_in_part = format_kept_result(output.to_owned(), &["b]\u{a0}.txt (changed meanwhile)".to_owned()]);
        let line = "These changes of the command were not made: b]\u{a0}.txt (changed meanwhile)";
        assert_eq!(split_unmade_changes(&kept_in_part), Some((line, output)));
        assert_eq!(format_kept_result("ran\nexit 0".to_owned(), &[]), "ran\nexit 0");
    }
}
