//! Size of a call's result: lines read or printed, without the tool's own notes.

use crate::chat::batch::APPLY_GROUP;
use crate::chat::output_omission::find_omission;
use crate::chat::session::CallState;
use crate::chat::trial::split_unmade_changes;
use crate::chat::{Access, CallResult, Diff, Outcome, Preview, TrialCounts};
use crate::text::byte_size::format_bytes;
use crate::tui::parts::call_action::result_of;

/// Maximum lines of a diff that is shown without opening its call.
const MAX_INLINE_DIFF_LINES: usize = 12;

/// Size of a call's result as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultSize {
    pub whole: String,
    /// Form for a narrow row; empty if the row can do without the size. Without `kept`, the row of a kept trial looks like
    /// that of a command that ran live.
    pub short: &'static str,
}

impl ResultSize {
    /// Creates a size that a narrow row omits.
    pub fn new(whole: String) -> Self {
        Self { whole, short: "" }
    }
}

/// Returns `240 lines`, `lines 1–200 of 900` for a part of a file, `283.4 kB omitted` for an output of which the result has only a part, `3 of 4 applied` for a
/// batch, or `kept: 2 created` for a command whose trial was kept, if all its changes were made. Returns `None` for fewer
/// than two lines, and for results that are not counted: edits, answers, failures.
pub fn format_result_size(call: &CallState, outcome: &Outcome) -> Option<ResultSize> {
    let Outcome::Done(text) = outcome else { return None };
    if split_unmade(call, outcome).0.is_some() {
        return Some(ResultSize { whole: "kept in part".to_owned(), short: "kept in part" });
    }
    if let (true, Some(changes)) = (call.is_kept, call.trial.as_ref().map(|trial| trial.changes)) {
        let is_unchanged = changes == TrialCounts::default();
        let changes = if is_unchanged { "no changes".to_owned() } else { changes.describe() };
        return Some(ResultSize { whole: format!("kept: {changes}"), short: "kept" });
    }
    let plan = call.plan.as_ref()?;
    if let (Preview::Command(_), Some(bytes)) = (&plan.preview, find_omission(text)) {
        return Some(ResultSize::new(format!("{} omitted", format_bytes(bytes.get()))));
    }
    if let Some(range) = find_read_range(call, text) {
        return Some(ResultSize { whole: range, short: "in part" });
    }
    let lines = match &plan.preview {
        // The last line is the exit status.
        Preview::Command(_) => text.lines().count().saturating_sub(1),
        Preview::Text(_) if matches!(plan.access, Access::Read(_) | Access::ReadSensitive(_)) => {
            text.lines().filter(|line| !is_tool_note(line)).count()
        }
        Preview::Batch(_) => {
            // The first line is `GROUP: 3 of 4 applied.`
            let applied = text.lines().next().and_then(|line| line.rsplit(": ").next());
            return applied.map(|applied| ResultSize::new(applied.trim_end_matches('.').to_owned()));
        }
        Preview::Text(_) | Preview::Edit(_) => 0,
    };
    (lines > 1).then(|| ResultSize::new(format!("{lines} lines")))
}

/// Returns whether a diff is short enough to be shown without opening its call.
pub fn is_short_diff(diff: &Diff) -> bool {
    diff.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>() <= MAX_INLINE_DIFF_LINES
}

/// Splits the text of an outcome into the line about changes of a kept trial that were not made, if any, and the rest.
pub fn split_unmade<'a>(call: &CallState, outcome: &'a Outcome) -> (Option<&'a str>, &'a str) {
    let text = outcome.text();
    match split_unmade_changes(text).filter(|_| call.is_kept) {
        Some((unmade, output)) => (Some(unmade), output),
        None => (None, text),
    }
}

/// Returns the part of a batch's outcome that lists items not applied, with their reasons.
pub fn find_not_applied<'a>(call: &CallState, outcome: &'a Outcome) -> Option<&'a str> {
    if call.call.name != APPLY_GROUP {
        return None;
    }
    if let Outcome::Failed(reason) = outcome {
        return Some(reason);
    }
    let text = outcome.text();
    let start = ["\nNot applied: ", "\nFailed: "].iter().filter_map(|heading| text.find(heading)).min()?;
    Some(text[start..].trim())
}

/// Returns which lines of a file were read, if not all. In the result each line of the file follows its number, so that no
/// other line begins like the note.
fn find_read_range(call: &CallState, text: &str) -> Option<String> {
    let note = text.lines().rev().take(2).find_map(|line| line.strip_prefix("[lines "))?;
    let note = note.strip_suffix(']').filter(|_| result_of(&call.call.name) == CallResult::Lines)?;
    let range = note.split(';').next().unwrap_or(note);
    Some(format!("lines {}", range.replacen('-', "–", 1)))
}

/// Returns whether a line is a tool's note on its result, such as `[lines 1-200 of 900; …]`.
fn is_tool_note(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']')
}
