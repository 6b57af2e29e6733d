//! Edits of one file and their diffs.

use super::access::as_unicode;
use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};
use std::path::PathBuf;
use std::time::Duration;

/// Unchanged lines around a change.
const CONTEXT_LINES: usize = 3;
/// Time limit of the diff. Past it the result is coarser but correct; a prompt must not wait for a minimal one.
const DIFF_TIMEOUT: Duration = Duration::from_millis(250);

/// New content of one file. It is written only if the file still is `before`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Relative to the project if inside, else absolute.
    pub path: PathBuf,
    /// Content when the plan was made; `None` if the file did not exist.
    pub before: Option<String>,
    pub after: String,
}

/// Diff of an edit, as shown to the user and stored in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    /// True if the file is new.
    pub created: bool,
    /// Total of added lines.
    pub added: usize,
    /// Total of removed lines.
    pub removed: usize,
    /// The hunks, in the order of the file.
    pub hunks: Vec<Hunk>,
    /// Changes that lines do not show, such as a missing final newline or other line endings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A changed range of lines with some context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// First line in the old file, from 1; 0 if it was empty.
    pub before: usize,
    /// First line in the new file, from 1; 0 if it is empty.
    pub after: usize,
    /// The lines, without line endings.
    pub lines: Vec<DiffLine>,
}

/// A line of a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffLine {
    /// Unchanged.
    #[serde(rename = "=")]
    Same(String),
    /// Added.
    #[serde(rename = "+")]
    Added(String),
    /// Removed.
    #[serde(rename = "-")]
    Removed(String),
}

impl DiffLine {
    pub fn text(&self) -> &str {
        match self {
            Self::Same(text) | Self::Added(text) | Self::Removed(text) => text,
        }
    }

    pub fn is_same(&self) -> bool {
        matches!(self, Self::Same(_))
    }
}

/// Returns the total of added and removed lines, such as `+12 −4`; `None` if there are none.
pub(super) fn describe_line_counts<'a>(diffs: impl Iterator<Item = &'a Diff>) -> Option<String> {
    let (added, removed) = diffs.fold((0, 0), |(added, removed), diff| (added + diff.added, removed + diff.removed));
    (added + removed > 0).then(|| format!("+{added} −{removed}"))
}

impl Edit {
    /// Computes the diff by lines.
    pub fn diff(&self) -> Diff {
        self.describe_changes(&self.compare_lines())
    }

    fn compare_lines(&self) -> TextDiff<'_, '_, str> {
        let before = self.before.as_deref().unwrap_or_default();
        TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(before, &self.after)
    }

    fn describe_changes(&self, text_diff: &TextDiff<'_, '_, str>) -> Diff {
        let (mut added, mut removed) = (0, 0);
        let mut hunks = Vec::new();
        for group in text_diff.grouped_ops(CONTEXT_LINES) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            // Ranges count lines from 0. The range of an empty file ends at 0.
            let first_line = |start: usize, end: usize| start + usize::from(end > 0);
            let mut hunk = Hunk {
                before: first_line(first.old_range().start, last.old_range().end),
                after: first_line(first.new_range().start, last.new_range().end),
                lines: Vec::new(),
            };
            for change in group.iter().flat_map(|op| text_diff.iter_changes(op)) {
                let line = change.value().trim_end_matches(['\n', '\r']).to_owned();
                hunk.lines.push(match change.tag() {
                    ChangeTag::Equal => DiffLine::Same(line),
                    ChangeTag::Insert => {
                        added += 1;
                        DiffLine::Added(line)
                    }
                    ChangeTag::Delete => {
                        removed += 1;
                        DiffLine::Removed(line)
                    }
                });
            }
            hunks.push(hunk);
        }
        Diff {
            path: self.path.clone(),
            created: self.before.is_none(),
            added,
            removed,
            hunks,
            note: self.describe_line_endings(),
        }
    }

    /// Returns the edit reduced to the hunk that begins at this line of the new content; `None` if no hunk does, or if
    /// the file is new.
    pub fn only_hunk(&self, start: usize) -> Option<Self> {
        self.retain_hunks(|all_starts| all_starts.contains(&start), |hunk_start| hunk_start == start)
    }

    /// Returns the edit without the hunks that begin at these lines of the new content; `None` unless a hunk begins at
    /// each of them, or if the file is new.
    pub fn without_hunks(&self, rejected_starts: &[usize]) -> Option<Self> {
        let has_rejected = |all_starts: &[usize]| rejected_starts.iter().all(|start| all_starts.contains(start));
        self.retain_hunks(has_rejected, |start| !rejected_starts.contains(&start))
    }

    /// Returns the edit with only the hunks for which `is_kept` is true. Both predicates receive the start lines of hunks
    /// in the new content. Returns `None` if the file is new, or if `are_valid` is false for the start lines of all hunks.
    /// The diff is computed once, because a diff that reaches its time limit may have other hunks each time.
    fn retain_hunks(&self, are_valid: impl Fn(&[usize]) -> bool, is_kept: impl Fn(usize) -> bool) -> Option<Self> {
        self.before.as_ref()?;
        let text_diff = self.compare_lines();
        let starts: Vec<usize> = self.describe_changes(&text_diff).hunks.iter().map(|hunk| hunk.after).collect();
        if !are_valid(&starts) {
            return None;
        }
        let lines: Vec<&str> = text_diff.iter_old_slices().collect();
        let (mut content, mut position) = (String::new(), 0);
        for (group, start) in text_diff.grouped_ops(CONTEXT_LINES).iter().zip(starts) {
            let (first, last) = (group.first()?.old_range().start, group.last()?.old_range().end);
            content.push_str(&lines[position..first].concat());
            for change in group.iter().flat_map(|op| text_diff.iter_changes(op)) {
                let skipped_tag = if is_kept(start) { ChangeTag::Delete } else { ChangeTag::Insert };
                if change.tag() != skipped_tag {
                    content.push_str(change.value());
                }
            }
            position = last;
        }
        content.push_str(&lines[position..].concat());
        Some(Self { path: self.path.clone(), before: self.before.clone(), after: content })
    }

    /// Describes changes that lines do not show.
    fn describe_line_endings(&self) -> Option<String> {
        let before = self.before.as_deref()?;
        let mut notes = Vec::new();
        let (had_crlf, has_crlf) = (before.contains("\r\n"), self.after.contains("\r\n"));
        if had_crlf != has_crlf {
            notes.push(if has_crlf { "line endings change to CRLF" } else { "line endings change to LF" });
        }
        let ends_line = |text: &str| text.is_empty() || text.ends_with('\n');
        if ends_line(before) != ends_line(&self.after) {
            notes.push(if ends_line(before) { "the final newline is removed" } else { "a final newline is added" });
        }
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compute_diff(before: Option<&str>, after: &str) -> Diff {
        Edit { path: "a".into(), before: before.map(str::to_owned), after: after.to_owned() }.diff()
    }

    #[test]
    fn a_changed_line_is_removed_and_added_with_context() {
        let diff = compute_diff(Some("a\nb\nc\nd\ne\n"), "a\nb\nC\nd\ne\n");
        assert_eq!((diff.added, diff.removed, diff.hunks.len()), (1, 1, 1));
        assert_eq!((diff.hunks[0].before, diff.hunks[0].after), (1, 1));
        assert_eq!(diff.hunks[0].lines[2..4], [DiffLine::Removed("c".into()), DiffLine::Added("C".into())]);
        assert_eq!(diff.note, None);
    }

    #[test]
    fn a_new_file_is_all_added_and_starts_at_line_one() {
        let diff = compute_diff(None, "x\ny\n");
        assert!(diff.created);
        assert_eq!((diff.added, diff.removed), (2, 0));
        assert_eq!((diff.hunks[0].before, diff.hunks[0].after), (0, 1));
    }

    #[test]
    fn notes_changes_of_line_endings() {
        assert_eq!(compute_diff(Some("a\n"), "a").note.as_deref(), Some("the final newline is removed"));
        assert_eq!(compute_diff(Some("a\r\nb\r\n"), "a\nb\n").note.as_deref(), Some("line endings change to LF"));
    }

    #[test]
    fn a_single_hunk_is_applied_and_identified_by_its_new_line() {
        let before: String = (1..=40).map(|n| format!("{n}\n")).collect();
        let after = before.replace("\n5\n", "\nfive\nand more\n").replace("\n30\n", "\n").replace("40\n", "40");
        let mut edit = Edit { path: "a".into(), before: Some(before.clone()), after: after.clone() };
        let starts: Vec<usize> = edit.diff().hunks.iter().map(|hunk| hunk.after).collect();
        assert_eq!(starts.len(), 3);
        let second = edit.only_hunk(starts[1]).unwrap();
        assert_eq!(second.after, before.replace("\n30\n", "\n"));
        // Once a hunk is applied, no hunk begins at its line; the others keep their lines, whatever the order.
        for start in [starts[2], starts[0], starts[1]] {
            let applied = edit.only_hunk(start).unwrap();
            edit.before = Some(applied.after);
            assert_eq!(edit.only_hunk(start), None);
        }
        assert_eq!(edit.before, Some(after));
        assert_eq!(Edit { path: "a".into(), before: None, after: "x".into() }.only_hunk(1), None);
    }

    #[test]
    fn a_hunk_at_the_top_starts_at_line_one_on_both_sides() {
        for (before, after) in [("a\nb\nc\nd\ne\n", "b\nc\nd\ne\n"), ("b\nc\nd\ne\n", "a\nb\nc\nd\ne\n")] {
            let diff = compute_diff(Some(before), after);
            assert_eq!((diff.hunks[0].before, diff.hunks[0].after), (1, 1), "{before:?}");
        }
        let emptied = compute_diff(Some("a\n"), "");
        assert_eq!((emptied.hunks[0].before, emptied.hunks[0].after), (1, 0));
    }

    #[test]
    fn distant_changes_are_separate_hunks() {
        let before: String = (1..=40).map(|n| format!("{n}\n")).collect();
        let after = before.replace("5\n", "five\n");
        let diff = compute_diff(Some(&before), &after);
        assert!(diff.hunks.len() > 1);
        assert_eq!(diff.hunks[0].before, 2);
    }
}
