//! Changes of a dry run and the calls that changed nothing, as shown to the user.

mod offers;
mod outside;

pub use offers::Wanted;
pub use outside::{BY_COMMAND, Outside, OutsideAltered};

use super::audit::{Record, records};
use super::batch::Group;
use super::tool::bad_end;
use super::{CommandLine, Diff, Entry, Outcome, PATHS_KEPT, Preview, Staged};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// In the reason of a dry run's verdict, the words before why the user would have been asked live.
pub const ASKED: &str = "live, you would have been asked: ";
/// The same words in sessions of older versions.
const ASKED_BEFORE: &str = "for real you would have been asked, because ";

/// Summary of a dry run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Staging {
    /// Changed paths of the project, sorted: a folder comes before its content.
    pub altered: Vec<Altered>,
    /// Other calls, in order: commands, and calls that changed nothing in the project.
    pub steps: Vec<Played>,
    /// Changes outside the project.
    pub outside: Outside,
}

/// One changed path of a dry run.
#[derive(Debug, Clone, PartialEq)]
pub struct Altered {
    /// Relative to the project.
    pub path: PathBuf,
    pub did: Did,
    /// True if the path is or was a folder.
    pub folder: bool,
    /// Line difference, if the content is text.
    pub diff: Option<Diff>,
    /// Facts that lines do not show: the mode, the target of a link, the size of a binary file.
    pub notes: Vec<String>,
    /// True if the real file changed since, so that the change can no longer be applied as shown.
    pub conflict: bool,
    /// The group it is applied with.
    pub group: Group,
}

/// Kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Did {
    /// Created.
    Made,
    /// Existed before, with other content or mode.
    Changed,
    /// Deleted.
    Deleted,
}

/// A rehearsed call.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// Name of the tool.
    pub tool: String,
    /// Its arguments, including edits of the user.
    pub arguments: String,
    /// Short description of the call.
    pub summary: String,
    /// The command line, if it is a command.
    pub command: Option<CommandLine>,
    /// Origin of the result.
    pub staged: Option<Staged>,
    /// Why the user would have been asked live, if so.
    pub asks: Option<String>,
    /// Hooks that match the call but were not run.
    pub hooks_not_run: Vec<String>,
    /// The result that the model received.
    pub result: String,
    /// Paths of the project that the command changed, if these changes still exist or are applied.
    pub changed: Vec<String>,
    /// True if the call was run live since.
    pub done: bool,
}

/// A live call that applies a rehearsed one.
#[derive(Debug, Clone, PartialEq)]
pub struct ForReal {
    /// Name of the tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// Paths changed by the rehearsed command.
    pub changed: Vec<String>,
}

impl Played {
    /// Returns the status of a command that ran and failed: `exit 3`.
    pub fn bad_end(&self) -> Option<&str> {
        let ran = self.command.is_some() && self.staged.as_ref().is_some_and(Staged::is_ran);
        ran.then(|| bad_end(&self.result)).flatten()
    }
}

impl Did {
    pub fn word(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }

    /// Returns the symbol shown before the path.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Made => "+",
            Self::Changed => "~",
            Self::Deleted => "−",
        }
    }
}

impl Altered {
    /// Returns a short description such as `+3 −1`.
    pub fn brief(&self) -> String {
        let lines = self.diff.as_ref().map(|diff| format!("+{} −{}", diff.added, diff.removed));
        let conflict = self.conflict.then(|| "CONFLICT: the real file changed since".to_owned());
        let parts: Vec<String> =
            conflict.into_iter().chain(lines).chain(self.notes.iter().cloned()).collect();
        parts.join(" · ")
    }

    fn json(&self) -> Value {
        let mut object = json!({
            "path": self.path.to_string_lossy(), "did": self.did.word(), "folder": self.folder,
            "diff": self.diff, "notes": self.notes, "conflict": self.conflict,
            "group": self.group.word(),
        });
        // A name that is not valid Unicode is also given as bytes.
        if self.path.to_str().is_none() {
            object["path_bytes"] = json!(self.path.as_os_str().as_bytes());
        }
        object
    }
}

impl Staging {
    /// Returns the summary of these changes and of the calls in these entries.
    pub fn new(altered: Vec<Altered>, entries: &[Entry]) -> Self {
        let steps = records(entries).iter().filter_map(played).collect();
        Self { altered, steps, outside: Outside::default() }
    }

    /// Marks the commands that were run live in a copy of the session. Commands from before the copy are ignored,
    /// because they are in its log too.
    pub fn done_in(&mut self, copy: &[Entry]) {
        let is_made = |entry: &Entry| matches!(entry, Entry::Became { dry_run: false, .. });
        let since = copy.iter().rposition(is_made).map_or(copy.len(), |at| at + 1);
        let value = |arguments: &str| serde_json::from_str::<Value>(arguments).ok();
        for record in records(&copy[since..]) {
            let is_command = matches!(record.planned(), Some(Entry::Planned { preview, .. })
                if matches!(**preview, Preview::Command(_)));
            if !is_command || !matches!(record.outcome(), Some(Outcome::Done(_))) {
                continue;
            }
            let arguments = value(&record.arguments());
            let same = |step: &&mut Played| {
                !step.done && step.tool == record.call.name && value(&step.arguments) == arguments
            };
            if let Some(step) = self.steps.iter_mut().find(same) {
                step.done = true;
            }
        }
    }

    /// Returns whether all changes of a command are applied: no path it changed, or inside of it, is still listed.
    /// False if the command changed more paths than are recorded.
    pub fn is_applied(&self, step: &Played) -> bool {
        let open = |path: &String| self.altered.iter().any(|altered| altered.path.starts_with(path));
        (1..PATHS_KEPT).contains(&step.changed.len()) && !step.changed.iter().any(open)
    }

    pub fn is_empty(&self) -> bool {
        self.altered.is_empty() && self.steps.is_empty() && self.outside.is_empty()
    }

    /// Returns a summary such as `3 files changed, +12 −4, 2 commands`.
    pub fn words(&self) -> String {
        let diffs = || self.altered.iter().filter_map(|altered| altered.diff.as_ref());
        let (added, removed) =
            diffs().fold((0, 0), |(added, removed), diff| (added + diff.added, removed + diff.removed));
        let files = self.altered.iter().filter(|altered| !altered.folder).count();
        let folders = self.altered.len() - files;
        let commands = self.steps.iter().filter(|step| step.command.is_some()).count();
        let others = self.steps.len() - commands;
        let outside = self.outside.changes.iter().map(|one| &one.altered);
        let conflicts = self.altered.iter().chain(outside).filter(|altered| altered.conflict).count();
        let mut parts = vec![format!("{} changed", plural(files, "file"))];
        parts.extend((added + removed > 0).then(|| format!("+{added} −{removed}")));
        parts.extend((folders > 0).then(|| plural(folders, "folder")));
        parts.extend((commands > 0).then(|| plural(commands, "command")));
        parts.extend((others > 0).then(|| plural(others, "other call")));
        parts.extend((conflicts > 0).then(|| plural(conflicts, "conflict")));
        parts.extend(self.outside.words());
        parts.join(", ")
    }

    /// Returns the summary as JSON. Fields may be added and are never renamed. `groups` (each with `group`, `paths`,
    /// `left_out`), `changes` (each with `path`, `did`, `folder`, `diff`, `notes`, `conflict`, `group`),
    /// `outside_project` (`changes`, each with `is_applied` instead of `group`, and the number of `temporary` files),
    /// `calls` (each with `run_again`, `tool`, `arguments`, `summary`, `command`, `staged`, `simulated`, `would_ask`,
    /// `hooks_not_run`, `result`, `changed`, `done`).
    pub fn json(&self) -> Value {
        let step = |step: &Played| {
            json!({
                "tool": step.tool, "arguments": step.arguments, "summary": step.summary,
                "command": step.command.as_ref().map(|line| &line.command),
                "run_again": step.must_run_again(),
                "staged": step.staged.as_ref().map(Staged::word), "simulated": step.staged.as_ref().map(Staged::json),
                "would_ask": step.asks, "hooks_not_run": step.hooks_not_run, "result": step.result, "changed": step.changed, "done": step.done,
            })
        };
        json!({
            "groups": self.groups_json(),
            "outside_project": self.outside.json(),
            "changes": self.altered.iter().map(Altered::json).collect::<Vec<Value>>(),
            "calls": self.steps.iter().map(step).collect::<Vec<Value>>(),
        })
    }
}

fn plural(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// Returns why the user would have been asked live about a call of a dry run, given its verdict and reason; `None` if
/// not asked.
pub fn live_ask<'a>(verdict: &str, why: &'a str) -> Option<&'a str> {
    match verdict {
        "ask" => Some(why),
        "rehearse" | "withhold" => {
            why.split_once(ASKED).or_else(|| why.split_once(ASKED_BEFORE)).map(|(_, why)| why)
        }
        _ => None,
    }
}

/// Tool that applies one rehearsed change live.
pub const APPLY: &str = "apply_change";

/// Returns a rehearsed call, unless it is fully described by the files it changed.
fn played(record: &Record<'_>) -> Option<Played> {
    let Some(Outcome::Rehearsed(result)) = record.outcome() else { return None };
    let Some(Entry::Planned { summary, preview, verdict, why, hooks_not_run, .. }) = record.planned() else {
        return None;
    };
    let staged = record.steps.iter().rev().find_map(|(_, entry)| match entry {
        Entry::Settled { staged, .. } => Some(staged.clone()),
        _ => None,
    });
    let staged = staged.flatten();
    let command = match &**preview {
        Preview::Command(line) => Some(line.clone()),
        // Its change is listed with the files.
        Preview::Edit(_) if staged.as_ref().is_some_and(Staged::is_ran) => return None,
        Preview::Edit(_) | Preview::Text(_) | Preview::Batch(_) => None,
    };
    let changed = match &staged {
        Some(Staged::Ran(changed)) => changed.clone(),
        Some(Staged::Simulated(_)) | None => Vec::new(),
    };
    Some(Played {
        tool: record.call.name.clone(),
        arguments: record.arguments().into_owned(),
        summary: summary.clone(),
        command,
        staged,
        asks: live_ask(verdict, why).map(str::to_owned),
        hooks_not_run: hooks_not_run.clone(),
        result: result.clone(),
        changed,
        done: false,
    })
}

/// A row of the tree of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Number of folders above it.
    pub depth: usize,
    /// File or folder name.
    pub name: PathBuf,
    /// Change symbol; empty for a folder that only contains changes.
    pub sign: &'static str,
    /// True if it is a folder.
    pub folder: bool,
    /// Indexes of the changes at this path and below it.
    pub of: Range<usize>,
}

/// Builds the tree of changed paths: each folder once, with the changes inside it below.
pub fn tree(altered: &[Altered]) -> Vec<Branch> {
    let below = |at: usize, path: &Path| {
        // The paths are sorted, so the content of a folder is contiguous.
        at..at + altered[at..].partition_point(|other| other.path.starts_with(path))
    };
    let mut branches: Vec<Branch> = Vec::new();
    let mut open: Vec<PathBuf> = Vec::new();
    for (at, one) in altered.iter().enumerate() {
        while open.last().is_some_and(|folder| !one.path.starts_with(folder)) {
            open.pop();
        }
        let mut above: Vec<&Path> =
            one.path.ancestors().skip(1).filter(|path| *path != Path::new("")).collect();
        above.reverse();
        // The first of them are already open.
        for folder in above.into_iter().skip(open.len()) {
            let name = folder.file_name().map(PathBuf::from).unwrap_or_default();
            let depth = folder.components().count() - 1;
            branches.push(Branch { depth, name, sign: "", folder: true, of: below(at, folder) });
            open.push(folder.to_owned());
        }
        // The project's root folder is `.`.
        let name = one.path.file_name().map_or_else(|| one.path.clone(), PathBuf::from);
        let depth = one.path.components().count().saturating_sub(1);
        let of = below(at, &one.path);
        branches.push(Branch { depth, name, sign: one.did.sign(), folder: one.folder, of });
        if one.folder {
            open.push(one.path.clone());
        }
    }
    branches
}

#[cfg(test)]
mod tests;
