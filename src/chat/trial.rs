//! Trials: what a command did when it ran in a throwaway sandbox before it was approved.

use super::batch::Group;
use super::{ChangeKind, Digest, DryRunChange, TrialCounts};
use std::path::PathBuf;
use std::time::Duration;

/// Maximum number of changes of a trial whose contents are compared.
pub const MAX_COMPARED_CHANGES: usize = 500;

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
    /// Returns whether keeping the change destroys something that git cannot restore and that is not build output.
    pub fn destroys(&self) -> bool {
        self.loses_unsaved || self.change.kind == ChangeKind::Deleted && self.change.group != Group::Ignored
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
        let describe = |change: &TrialChange| format!("{} {}", change.change.kind.symbol(), change.display_path());
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
mod tests {
    use super::*;

    #[test]
    fn listed_changes_are_bounded_and_escaped() {
        let change = |number: usize| TrialChange {
            change: DryRunChange {
                path: format!("f\n{number}").into(),
                is_folder: false,
                kind: ChangeKind::Created,
                group: Group::Source,
                diff: None,
                notes: Vec::new(),
                has_conflict: false,
            },
            files_below: 0,
            loses_unsaved: false,
            is_sensitive: false,
            leads_outside: false,
            is_compared: true,
        };
        for (count, last) in [(0, None), (100, Some(r"+ f\n99")), (101, Some("… 1 more")), (250, Some("… 150 more"))]
        {
            let report = TrialReport {
                result: String::new(),
                status: "exit 0".into(),
                duration: Duration::ZERO,
                changes: (0..count).map(change).collect(),
                outside: Vec::new(),
                temporary_files: 0,
                unkeepable: Vec::new(),
                doubt: None,
                digest: Digest::of_bytes(b"x"),
            };
            let listed = report.list_changes();
            assert_eq!((listed.len(), listed.last().map(String::as_str)), (count.min(101), last));
        }
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
