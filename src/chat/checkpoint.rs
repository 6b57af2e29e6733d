//! Checkpoints as sessions and commands list them: which calls changed files, and which turn is undone next.

use super::attachments::own_text;
use super::session::Session;
use super::{CallId, Entry, LiveCall, Preview, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Tool that restores files. It is not offered to models.
pub const RESTORE_FILES: &str = "restore_files";

/// What one call changed, and what of it cannot be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Sorts by time.
    pub id: String,
    pub session: SessionId,
    pub call: CallId,
    pub tool: String,
    /// Time in seconds since 1970.
    pub seconds: u64,
    /// Changed files, escaped for display.
    pub files: Vec<String>,
    /// Calls whose changes this call restored.
    pub undoes: Vec<CallId>,
    /// Effects that cannot be restored, each worded to follow “Not restored: ”.
    pub not_stored: Vec<String>,
}

/// Checkpoints of one session, from the first to the last one, to be restored together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointSpan {
    pub session: SessionId,
    /// IDs of the first and the last checkpoint.
    pub first: String,
    pub last: String,
}

/// A message of the user with the changes of its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewindPoint {
    /// Index of the message in the session's entries.
    pub entry: usize,
    pub text: String,
    /// Checkpoints of its turn.
    pub checkpoints: Vec<Checkpoint>,
    /// Added and removed lines, if they are known of each change.
    pub lines: Option<(usize, usize)>,
    /// True if all its changes have been undone, or if it restored changes itself.
    pub is_undone: bool,
}

/// Returns the messages of a session, oldest first, with the checkpoints of their turns.
pub fn list_rewind_points(session: &Session, checkpoints: &[Checkpoint]) -> Vec<RewindPoint> {
    let entries = session.entries();
    let undone = find_undone(checkpoints);
    let is_message = |entry: &Entry| matches!(entry, Entry::UserMessage { .. });
    let starts: Vec<usize> = (0..entries.len()).filter(|index| is_message(&entries[*index])).collect();
    let ends = starts.iter().skip(1).copied().chain([entries.len()]);
    let by_call: HashMap<&CallId, &Checkpoint> =
        checkpoints.iter().map(|checkpoint| (&checkpoint.call, checkpoint)).collect();
    let mut points = Vec::new();
    for (start, end) in starts.iter().copied().zip(ends) {
        let Some(Entry::UserMessage { text }) = entries.get(start) else { continue };
        let calls = calls_between(entries, start..end);
        let found: Vec<Checkpoint> = calls.iter().filter_map(|call| by_call.get(call).copied()).cloned().collect();
        let is_undone = |checkpoint: &Checkpoint| undone.contains(&checkpoint.id) || checkpoint.tool == RESTORE_FILES;
        points.push(RewindPoint {
            entry: start,
            text: own_text(text).to_owned(),
            lines: count_lines(session, &found),
            is_undone: found.iter().all(is_undone),
            checkpoints: found,
        });
    }
    points
}

/// Returns the changes that can be undone, one item per turn, the last one first: those that are not undone yet.
pub fn list_undo_steps(session: &Session, checkpoints: &[Checkpoint]) -> Vec<Vec<Checkpoint>> {
    let undone = find_undone(checkpoints);
    let points = list_rewind_points(session, checkpoints).into_iter().rev().filter(|point| !point.is_undone);
    let to_step = |point: RewindPoint| {
        let active = point.checkpoints.into_iter().filter(|checkpoint| !undone.contains(&checkpoint.id));
        active.collect()
    };
    points.map(to_step).collect()
}

/// Returns everything that was changed since a message, as what to restore. Empty if nothing was.
pub fn find_changes_since(session: &Session, checkpoints: &[Checkpoint], entry: usize) -> Vec<CheckpointSpan> {
    let points = list_rewind_points(session, checkpoints);
    let since = points.into_iter().filter(|point| point.entry >= entry);
    join_spans(&since.flat_map(|point| point.checkpoints).collect::<Vec<_>>())
}

/// Returns the call that restores these checkpoints.
pub fn restore_call(spans: &[CheckpointSpan]) -> LiveCall {
    LiveCall { tool: RESTORE_FILES.to_owned(), arguments: json!({ "checkpoints": spans }), changed_paths: Vec::new() }
}

/// Returns one span per session.
pub fn join_spans(checkpoints: &[Checkpoint]) -> Vec<CheckpointSpan> {
    let mut spans: Vec<CheckpointSpan> = Vec::new();
    for Checkpoint { id, session, .. } in checkpoints {
        match spans.iter_mut().find(|span| span.session == *session) {
            Some(span) => span.last.clone_from(id),
            None => spans.push(CheckpointSpan { session: session.clone(), first: id.clone(), last: id.clone() }),
        }
    }
    spans
}

/// Returns the IDs of checkpoints whose changes were undone. An undo that was undone itself does not count.
fn find_undone(checkpoints: &[Checkpoint]) -> HashSet<String> {
    let mut undone_calls: HashSet<&CallId> = HashSet::new();
    let mut undone = HashSet::new();
    for checkpoint in checkpoints.iter().rev() {
        if undone_calls.contains(&checkpoint.call) {
            undone.insert(checkpoint.id.clone());
        } else {
            undone_calls.extend(&checkpoint.undoes);
        }
    }
    undone
}

/// Returns the calls made in these entries, also those of sub-agents.
fn calls_between(entries: &[Entry], range: Range<usize>) -> Vec<CallId> {
    let replies = entries.get(range).unwrap_or_default().iter().map(Entry::unwrap_sub_agent);
    let calls = replies.filter_map(|entry| match entry {
        Entry::Replied { calls, .. } => Some(calls.iter().map(|call| call.id.clone())),
        _ => None,
    });
    calls.flatten().collect()
}

/// Adds up the changed lines that the previews of these calls show; `None` if a call without such a preview, such as a
/// command, changed files.
fn count_lines(session: &Session, checkpoints: &[Checkpoint]) -> Option<(usize, usize)> {
    checkpoints.iter().filter(|checkpoint| !checkpoint.files.is_empty()).try_fold(
        (0, 0),
        |(added, removed), checkpoint| match &session.find_call(&checkpoint.call)?.plan.as_ref()?.preview {
            Preview::Edit(diff) => Some((added + diff.added, removed + diff.removed)),
            Preview::Text(_) | Preview::Command(_) | Preview::Batch(_) => None,
        },
    )
}
