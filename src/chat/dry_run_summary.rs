//! Summary of a dry run for the user: its changes, its commands, and other calls that changed nothing.

mod apply_calls;
mod outside_changes;

pub use apply_calls::ApplyOptions;
pub use outside_changes::{BY_COMMAND_NOTE, OutsideChange, OutsideChanges};

use super::audit::{Record, collect_records};
use super::batch::Group;
use super::edit::describe_line_counts;
use super::tool::parse_failure_status;
use super::{
    Access, ChangeKind, CommandLine, Diff, Entry, MAX_CHANGED_PATHS, Outcome, Preview, ResultOrigin, pluralize,
};
use serde_json::{Value, json};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Words in the reason of a dry run's verdict. The text after them says why the user would have been asked live.
pub const WOULD_ASK_PREFIX: &str = "live, you would have been asked: ";
/// The same words in sessions of older versions.
const OLD_WOULD_ASK_PREFIX: &str = "for real you would have been asked, because ";

/// Summary of a dry run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DryRunSummary {
    /// Changed paths of the project, sorted: a folder comes before its content.
    pub changes: Vec<DryRunChange>,
    /// Other calls, in order: commands, and calls that changed nothing in the project.
    pub calls: Vec<RehearsedCall>,
    /// Changes outside the project.
    pub outside: OutsideChanges,
}

/// One changed path of a dry run.
#[derive(Debug, Clone, PartialEq)]
pub struct DryRunChange {
    /// Relative to the project.
    pub path: PathBuf,
    pub kind: ChangeKind,
    /// True if the path is or was a folder.
    pub is_folder: bool,
    /// Line difference, if the content is text.
    pub diff: Option<Diff>,
    /// Facts that lines do not show: the mode, the target of a link, the size of a binary file.
    pub notes: Vec<String>,
    /// True if the real file changed since, so that the change can no longer be applied as shown.
    pub has_conflict: bool,
    /// The group it is applied with.
    pub group: Group,
}

/// A rehearsed call.
#[derive(Debug, Clone, PartialEq)]
pub struct RehearsedCall {
    /// Name of the tool.
    pub tool: String,
    /// Its arguments, including edits of the user.
    pub arguments: String,
    /// Short description of the call.
    pub summary: String,
    /// The command line, if it is a command.
    pub command: Option<CommandLine>,
    pub origin: Option<ResultOrigin>,
    /// Why the user would have been asked live, if so.
    pub would_ask: Option<String>,
    /// Hooks that match the call but were not run.
    pub hooks_not_run: Vec<String>,
    /// The result that the model received.
    pub result: String,
    /// Paths of the project that the command changed in the overlay, at most [`MAX_CHANGED_PATHS`].
    pub changed_paths: Vec<String>,
    /// True if the call was run live since.
    pub is_run_live: bool,
}

/// A live call that applies a rehearsed one.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveCall {
    /// Name of the tool.
    pub tool: String,
    pub arguments: Value,
    /// Paths changed by the rehearsed command.
    pub changed_paths: Vec<String>,
}

impl RehearsedCall {
    /// Returns the status of a command that ran and failed: `exit 3`.
    pub fn failure_status(&self) -> Option<&str> {
        let has_run = self.command.is_some() && self.origin.as_ref().is_some_and(ResultOrigin::has_run);
        has_run.then(|| parse_failure_status(&self.result)).flatten()
    }
}

impl DryRunChange {
    /// Returns a short description such as `+3 −1`.
    pub fn summarize(&self) -> String {
        let lines = self.diff.as_ref().map(|diff| format!("+{} −{}", diff.added, diff.removed));
        let conflict = self.has_conflict.then(|| "CONFLICT: the real file changed since".to_owned());
        let parts: Vec<String> = conflict.into_iter().chain(lines).chain(self.notes.iter().cloned()).collect();
        parts.join(" · ")
    }

    fn to_json(&self) -> Value {
        let mut object = json!({
            "path": self.path.to_string_lossy(), "change": self.kind.name(), "did": self.kind.as_str(),
            "folder": self.is_folder,
            "diff": self.diff, "notes": self.notes, "conflict": self.has_conflict,
            "group": self.group.as_str(),
        });
        // A name that is not valid Unicode is also given as bytes.
        if self.path.to_str().is_none() {
            object["path_bytes"] = json!(self.path.as_os_str().as_bytes());
        }
        object
    }
}

impl DryRunSummary {
    /// Returns the summary of these changes and of the calls in these entries.
    pub fn new(changes: Vec<DryRunChange>, entries: &[Entry]) -> Self {
        let calls = collect_records(entries).iter().filter_map(rehearsed_call).collect();
        Self { changes, calls, outside: OutsideChanges::default() }
    }

    /// Marks the commands that were run live in a copy of the session. `copy_entries` also contains the entries that
    /// were copied; only commands after them count.
    pub fn mark_run_live(&mut self, copy_entries: &[Entry]) {
        let is_start_of_copy = |entry: &Entry| matches!(entry, Entry::DryRunChanged { dry_run: false, .. });
        let start = copy_entries.iter().rposition(is_start_of_copy).map_or(copy_entries.len(), |index| index + 1);
        let parse_arguments = |arguments: &str| serde_json::from_str::<Value>(arguments).ok();
        for record in collect_records(&copy_entries[start..]) {
            if !record.is_command() || !matches!(record.outcome(), Some(Outcome::Done(_))) {
                continue;
            }
            let arguments = parse_arguments(&record.arguments());
            let is_same_call = |call: &&mut RehearsedCall| {
                !call.is_run_live && call.tool == record.call.name && parse_arguments(&call.arguments) == arguments
            };
            if let Some(call) = self.calls.iter_mut().find(is_same_call) {
                call.is_run_live = true;
            }
        }
    }

    /// Returns whether all changes of a command are applied: `changes` no longer lists any path that it changed. False if
    /// the command changed nothing, or may have changed more paths than are recorded.
    pub fn is_applied(&self, call: &RehearsedCall) -> bool {
        let is_listed = |path: &String| self.changes.iter().any(|change| change.path.starts_with(path));
        (1..MAX_CHANGED_PATHS).contains(&call.changed_paths.len()) && !call.changed_paths.iter().any(is_listed)
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.calls.is_empty() && self.outside.is_empty()
    }

    /// Returns a summary such as `3 files changed, +12 −4, 2 commands`.
    pub fn describe_counts(&self) -> String {
        let files = self.changes.iter().filter(|change| !change.is_folder).count();
        let folders = self.changes.len() - files;
        let commands = self.calls.iter().filter(|call| call.command.is_some()).count();
        let others = self.calls.len() - commands;
        let outside = self.outside.changes.iter().map(|outside_change| &outside_change.change);
        let conflicts = self.changes.iter().chain(outside).filter(|change| change.has_conflict).count();
        let mut parts = vec![format!("{} changed", pluralize(files, "file"))];
        parts.extend(describe_line_counts(self.changes.iter().filter_map(|change| change.diff.as_ref())));
        parts.extend((folders > 0).then(|| pluralize(folders, "folder")));
        parts.extend((commands > 0).then(|| pluralize(commands, "command")));
        parts.extend((others > 0).then(|| pluralize(others, "other call")));
        parts.extend((conflicts > 0).then(|| pluralize(conflicts, "conflict")));
        parts.extend(self.outside.describe_count());
        parts.join(", ")
    }

    /// Returns the summary as JSON. A renamed field is also given under its old name for one release.
    ///
    /// - `groups`, each with `group`, `paths`, `is_excluded`
    /// - `changes`, each with `path`, `change`, `folder`, `diff`, `notes`, `conflict`, `group`
    /// - `outside_project`: `changes`, each with `is_applied` instead of `group`; number of `temporary` files
    /// - `calls`, each with `run_again`, `tool`, `arguments`, `summary`, `command`, `origin`, `simulation`, `would_ask`,
    ///   `hooks_not_run`, `result`, `changed`, `is_run_live`
    ///
    /// Old names: `left_out`, `did`, `staged`, `simulated`, `done`.
    pub fn to_json(&self) -> Value {
        let call_json = |call: &RehearsedCall| {
            json!({
                "tool": call.tool, "arguments": call.arguments, "summary": call.summary,
                "command": call.command.as_ref().map(|line| &line.command),
                "run_again": call.must_run_again(),
                "origin": call.origin.as_ref().map(ResultOrigin::name),
                "simulation": call.origin.as_ref().map(ResultOrigin::to_json),
                "staged": call.origin.as_ref().map(ResultOrigin::as_str),
                "simulated": call.origin.as_ref().map(ResultOrigin::to_old_json),
                "would_ask": call.would_ask, "hooks_not_run": call.hooks_not_run, "result": call.result,
                "changed": call.changed_paths, "is_run_live": call.is_run_live, "done": call.is_run_live,
            })
        };
        json!({
            "groups": self.groups_json(),
            "outside_project": self.outside.to_json(),
            "changes": self.changes.iter().map(DryRunChange::to_json).collect::<Vec<Value>>(),
            "calls": self.calls.iter().map(call_json).collect::<Vec<Value>>(),
        })
    }
}

/// Returns why the user would have been asked live about a call of a dry run, given its verdict and reason; `None` if
/// not asked.
pub fn live_ask_reason<'a>(verdict: &str, reason: &'a str) -> Option<&'a str> {
    match verdict {
        "ask" => Some(reason),
        "rehearse" | "withhold" => reason
            .split_once(WOULD_ASK_PREFIX)
            .or_else(|| reason.split_once(OLD_WOULD_ASK_PREFIX))
            .map(|(_, ask_reason)| ask_reason),
        _ => None,
    }
}

/// Tool that applies one rehearsed change live.
pub const APPLY_CHANGE: &str = "apply_change";

/// Returns the rehearsed call of a record; `None` if it was not rehearsed, or if its change is listed with the files.
fn rehearsed_call(record: &Record<'_>) -> Option<RehearsedCall> {
    let (Outcome::Rehearsed(result), origin) = record.settlement()? else { return None };
    let Some(Entry::Planned { summary, access, preview, verdict, reason, hooks_not_run, .. }) = record.last_plan()
    else {
        return None;
    };
    let command = match &**preview {
        Preview::Command(line) => Some(line.clone()),
        // Its change is listed with the files of the project.
        Preview::Edit(_) if origin.is_some_and(ResultOrigin::has_run) && !matches!(access, Access::Workspace(_)) => {
            return None;
        }
        Preview::Edit(_) | Preview::Text(_) | Preview::Batch(_) => None,
    };
    let changed_paths = match origin {
        Some(ResultOrigin::Ran(changed)) => changed.clone(),
        Some(ResultOrigin::Simulated(_)) | None => Vec::new(),
    };
    Some(RehearsedCall {
        tool: record.call.name.clone(),
        arguments: record.arguments().into_owned(),
        summary: summary.clone(),
        command,
        origin: origin.cloned(),
        would_ask: live_ask_reason(verdict, reason).map(str::to_owned),
        hooks_not_run: hooks_not_run.clone(),
        result: result.clone(),
        changed_paths,
        is_run_live: false,
    })
}

/// A row of the tree of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeRow {
    /// Number of folders above it.
    pub depth: usize,
    /// File or folder name.
    pub name: PathBuf,
    /// Change symbol; empty for a folder that only contains changes.
    pub symbol: &'static str,
    pub is_folder: bool,
    /// Indexes of the changes at this path and inside it.
    pub changes: Range<usize>,
}

/// Builds the tree of changed paths: each folder once, with the changes inside it below.
pub fn build_tree(changes: &[DryRunChange]) -> Vec<TreeRow> {
    let find_descendants = |index: usize, path: &Path| {
        // The paths are sorted, so the content of a folder is contiguous.
        index..index + changes[index..].partition_point(|change| change.path.starts_with(path))
    };
    let mut rows: Vec<TreeRow> = Vec::new();
    let mut open_folders: Vec<PathBuf> = Vec::new();
    for (index, change) in changes.iter().enumerate() {
        while open_folders.last().is_some_and(|folder| !change.path.starts_with(folder)) {
            open_folders.pop();
        }
        let mut parents: Vec<&Path> = change.path.ancestors().skip(1).filter(|path| *path != Path::new("")).collect();
        parents.reverse();
        // The parents that are open folders have rows already.
        for folder in parents.into_iter().skip(open_folders.len()) {
            let name = folder.file_name().map(PathBuf::from).unwrap_or_default();
            let depth = folder.components().count() - 1;
            rows.push(TreeRow { depth, name, symbol: "", is_folder: true, changes: find_descendants(index, folder) });
            open_folders.push(folder.to_owned());
        }
        // The project's root folder is `.`.
        let name = change.path.file_name().map_or_else(|| change.path.clone(), PathBuf::from);
        let depth = change.path.components().count().saturating_sub(1);
        let descendants = find_descendants(index, &change.path);
        rows.push(TreeRow {
            depth,
            name,
            symbol: change.kind.symbol(),
            is_folder: change.is_folder,
            changes: descendants,
        });
        if change.is_folder {
            open_folders.push(change.path.clone());
        }
    }
    rows
}

#[cfg(test)]
mod tests;
