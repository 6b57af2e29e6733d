//! One file before and after, and the difference.

use super::access::as_unicode;
use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};
use std::path::PathBuf;
use std::time::Duration;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// Past this the difference is coarser, never wrong: a card must not wait for a perfect one.
const PATIENCE: Duration = Duration::from_millis(250);

/// One file before and after. The change is made only if the file still is `before`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Relative to the project where it is inside, absolute elsewhere.
    pub path: PathBuf,
    /// What the file held when the plan was made; `None` where there was none.
    pub before: Option<String>,
    /// What it will hold.
    pub after: String,
}

/// The difference an edit makes, as the person sees it and the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// The file, as in its edit.
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    /// Whether the file is new.
    pub created: bool,
    /// Lines added in all.
    pub added: usize,
    /// Lines removed in all.
    pub removed: usize,
    /// The places that change, in the order of the file.
    pub hunks: Vec<Hunk>,
    /// Something a line-by-line view would hide, such as a missing final newline or changed line ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One place that changes, with a little of what stays around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The first line's number before; 1 is the first, 0 where the file was empty.
    pub before: usize,
    /// The first line's number after.
    pub after: usize,
    /// Its lines, without their ends.
    pub lines: Vec<Line>,
}

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// It stays.
    #[serde(rename = "=")]
    Same(String),
    /// It comes.
    #[serde(rename = "+")]
    Added(String),
    /// It goes.
    #[serde(rename = "-")]
    Removed(String),
}

impl Edit {
    /// The difference, line by line.
    pub fn diff(&self) -> Diff {
        let before = self.before.as_deref().unwrap_or_default();
        let text = TextDiff::configure().timeout(PATIENCE).diff_lines(before, &self.after);
        let (mut added, mut removed) = (0, 0);
        let mut hunks = Vec::new();
        for group in text.grouped_ops(CONTEXT) {
            let Some(first) = group.first() else { continue };
            let start = |range: std::ops::Range<usize>| {
                range.start + usize::from(!range.is_empty() || range.start > 0)
            };
            let (old, new) = (first.old_range(), first.new_range());
            let mut hunk = Hunk { before: start(old), after: start(new), lines: Vec::new() };
            for change in group.iter().flat_map(|op| text.iter_changes(op)) {
                let line = change.value().trim_end_matches(['\n', '\r']).to_owned();
                hunk.lines.push(match change.tag() {
                    ChangeTag::Equal => Line::Same(line),
                    ChangeTag::Insert => {
                        added += 1;
                        Line::Added(line)
                    }
                    ChangeTag::Delete => {
                        removed += 1;
                        Line::Removed(line)
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
            note: self.note(),
        }
    }

    /// The same edit with one place of it alone: the hunk whose first line after is this one; `None` where there is none.
    pub fn only(&self, after: usize) -> Option<Self> {
        self.diff().hunks.iter().find(|hunk| hunk.after == after)?;
        self.keeping(|hunk| hunk == after)
    }

    /// The same edit without the hunks whose first lines after are these; `None` if one of them is no hunk.
    pub fn without(&self, rejected: &[usize]) -> Option<Self> {
        let hunks: Vec<usize> = self.diff().hunks.iter().map(|hunk| hunk.after).collect();
        rejected
            .iter()
            .all(|hunk| hunks.contains(hunk))
            .then(|| self.keeping(|hunk| !rejected.contains(&hunk)))?
    }

    /// The same edit with those hunks alone whose first line after is kept.
    fn keeping(&self, is_kept: impl Fn(usize) -> bool) -> Option<Self> {
        let before = self.before.as_deref()?;
        let text = TextDiff::configure().timeout(PATIENCE).diff_lines(before, &self.after);
        let lines: Vec<&str> = text.iter_old_slices().collect();
        let (mut whole, mut at) = (String::new(), 0);
        for (group, hunk) in text.grouped_ops(CONTEXT).iter().zip(self.diff().hunks) {
            let (first, last) = (group.first()?.old_range().start, group.last()?.old_range().end);
            whole.push_str(&lines[at..first].concat());
            for change in group.iter().flat_map(|op| text.iter_changes(op)) {
                let left_out = if is_kept(hunk.after) { ChangeTag::Delete } else { ChangeTag::Insert };
                if change.tag() != left_out {
                    whole.push_str(change.value());
                }
            }
            at = last;
        }
        whole.push_str(&lines[at..].concat());
        Some(Self { path: self.path.clone(), before: self.before.clone(), after: whole })
    }

    /// What the lines alone would not show.
    fn note(&self) -> Option<String> {
        let before = self.before.as_deref()?;
        let mut notes = Vec::new();
        let (had, has) = (before.contains("\r\n"), self.after.contains("\r\n"));
        if had != has {
            notes.push(if has { "line ends become CRLF" } else { "line ends become LF" });
        }
        let ends = |text: &str| text.is_empty() || text.ends_with('\n');
        if ends(before) != ends(&self.after) {
            notes.push(if ends(before) { "the final newline goes" } else { "a final newline is added" });
        }
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: Option<&str>, after: &str) -> Diff {
        Edit { path: "a".into(), before: before.map(str::to_owned), after: after.to_owned() }.diff()
    }

    #[test]
    fn a_changed_line_is_one_removed_and_one_added_with_context() {
        let diff = diff(Some("a\nb\nc\nd\ne\n"), "a\nb\nC\nd\ne\n");
        assert_eq!((diff.added, diff.removed, diff.hunks.len()), (1, 1, 1));
        assert_eq!((diff.hunks[0].before, diff.hunks[0].after), (1, 1));
        assert_eq!(diff.hunks[0].lines[2..4], [Line::Removed("c".into()), Line::Added("C".into())]);
        assert_eq!(diff.note, None);
    }

    #[test]
    fn a_new_file_is_all_added_and_counts_from_one() {
        let diff = diff(None, "x\ny\n");
        assert!(diff.created);
        assert_eq!((diff.added, diff.removed), (2, 0));
        assert_eq!((diff.hunks[0].before, diff.hunks[0].after), (0, 1));
    }

    #[test]
    fn what_lines_would_hide_is_said() {
        assert_eq!(diff(Some("a\n"), "a").note.as_deref(), Some("the final newline goes"));
        assert_eq!(diff(Some("a\r\nb\r\n"), "a\nb\n").note.as_deref(), Some("line ends become LF"));
    }

    #[test]
    fn one_place_of_an_edit_is_made_without_the_others_and_known_by_its_line() {
        let before: String = (1..=40).map(|n| format!("{n}\n")).collect();
        let after =
            before.replace("\n5\n", "\nfive\nand more\n").replace("\n30\n", "\n").replace("40\n", "40");
        let mut edit = Edit { path: "a".into(), before: Some(before.clone()), after: after.clone() };
        let starts: Vec<usize> = edit.diff().hunks.iter().map(|hunk| hunk.after).collect();
        assert_eq!(starts.len(), 3);
        let second = edit.only(starts[1]).unwrap();
        assert_eq!(second.after, before.replace("\n30\n", "\n"));
        // What was made is no hunk any more; the others keep their names, in whatever order they are made.
        for start in [starts[2], starts[0], starts[1]] {
            let one = edit.only(start).unwrap();
            edit.before = Some(one.after);
            assert_eq!(edit.only(start), None);
        }
        assert_eq!(edit.before, Some(after));
        assert_eq!(Edit { path: "a".into(), before: None, after: "x".into() }.only(1), None);
    }

    #[test]
    fn distant_changes_are_hunks_of_their_own() {
        let before: String = (1..=40).map(|n| format!("{n}\n")).collect();
        let after = before.replace("5\n", "five\n");
        let diff = diff(Some(&before), &after);
        assert!(diff.hunks.len() > 1);
        assert_eq!(diff.hunks[0].before, 2);
    }
}
