//! Applies the rehearsed change of one path to the real files. Never offered to the model; the user starts it.

use super::arguments::{object_spec, parse_arguments};
use super::planned_path::{self, write_access};
use super::{Error, LiveContext, Tool, run_blocking, summary_line};
use crate::chat::batch::Operation;
use crate::chat::dry_run_summary::{APPLY_CHANGE, DryRunChange};
use crate::chat::{
    CallWords, ChangeKind, Diff, Digest, FileContent, FileSnapshot, HardLinks, Intent, Plan, Preconditions, Preview,
    ToolSpec, Work,
};
use crate::project::checkpoints::CallRecorder;
use crate::project::rehearsal::{Change, FileNode, Rehearsal};
use crate::project::{Location, Reader, batch, change_summary};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(APPLY_CHANGE, "Apply");

/// Longest file name in a title, in characters.
const MAX_NAME_CHARS: usize = 40;

/// Applies the rehearsed change of one path.
pub struct ApplyChange(pub Arc<Rehearsal>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    line: Option<usize>,
}

/// The approved changes, compared with the current ones before anything is applied.
#[derive(Serialize, Deserialize)]
struct ApprovedChange {
    /// Path as bytes, because it need not be UTF-8.
    path: Vec<u8>,
    line: Option<usize>,
    /// Digest of all changes, from `digest_changes`.
    all: Digest,
}

#[async_trait]
impl Tool for ApplyChange {
    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            APPLY_CHANGE,
            "Apply the rehearsed change of one path.",
            json!({
                "path": { "type": "string", "description": "Relative to the project" },
                "line": { "type": "integer", "minimum": 1, "description": "First line of the hunk to apply, in the rehearsed file; omit to apply all" },
            }),
            &["path"],
        )
    }

    fn is_offered(&self) -> bool {
        false
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { path, line } = parse_arguments(&self.tool_spec(), arguments)?;
        let overlay = ChangeOverlay::for_path(&self.0, Path::new(&path));
        let path = overlay.find_path(&path)?;
        let changes = overlay.find_changes(&path, line)?;
        let Some((change, entries)) = changes.split_first() else {
            return Err(Error::Failed(format!(
                "{} already matches the rehearsal; there is nothing to do.",
                path.display()
            )));
        };
        let location = overlay.locate_changes(&changes)?;
        let dry_run_change = change_summary::describe_change(&self.0, change);
        let approved =
            ApprovedChange { path: path.as_os_str().as_bytes().to_vec(), line, all: digest_changes(&changes) };
        let approved = serde_json::to_value(approved).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Intent::Act(Box::new(Plan {
            title: prompt_title(&dry_run_change),
            summary: summary_line::first_line(&path.to_string_lossy(), 120),
            access: write_access(&location),
            preview: preview_change(change, &dry_run_change, entries),
            full_preview: None,
            grant: None,
            destroys: describe_loss(change, entries, &location),
            preconditions: Preconditions {
                hard_links: hard_links(&changes, &location, files),
                ..preconditions(&changes)
            },
            work: Work::Arguments(approved),
        })))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        let ApprovedChange { path, line, all } = super::parse_plan_data(plan)?;
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(&path));
        let (rehearsal, recorder) = (self.0.clone(), context.recorder.clone());
        let access = plan.access.clone();
        run_blocking(context.project.clone(), move |_| {
            let overlay = ChangeOverlay::for_path(&rehearsal, &path);
            let changes = overlay.find_changes(&path, line)?;
            if digest_changes(&changes) != all || write_access(&overlay.locate_changes(&changes)?) != access {
                return Err(crate::project::Error::Changed(path).into());
            }
            let count = changes.len();
            // The entries of a deleted folder are deleted before the folder.
            for change in changes.into_iter().rev() {
                overlay.apply_change(change, &recorder)?;
            }
            Ok(match count {
                0 | 1 => format!("{}: applied", path.display()),
                count => format!("{}: applied, {count} paths", path.display()),
            })
        })
        .await
    }
}

/// The overlay that holds a change: the project's, or the one for paths outside the project.
struct ChangeOverlay<'a> {
    rehearsal: &'a Rehearsal,
    /// Overlay over `/`, set for an absolute path.
    outside: Option<&'a Rehearsal>,
}

impl<'a> ChangeOverlay<'a> {
    fn for_path(rehearsal: &'a Rehearsal, path: &Path) -> Self {
        Self { rehearsal, outside: rehearsal.outside_overlay().filter(|_| path.is_absolute()) }
    }

    /// Finds the changed path whose displayed name is `path`.
    fn find_path(&self, path: &str) -> Result<PathBuf, Error> {
        if self.outside.is_some() {
            return Ok(path.into());
        }
        let overlay_paths = self.rehearsal.overlay_paths()?;
        if overlay_paths.iter().any(|overlay_path| overlay_path == Path::new(path)) {
            return Ok(path.into());
        }
        let mut candidates = overlay_paths.into_iter().filter(|overlay_path| overlay_path.to_string_lossy() == path);
        match (candidates.next(), candidates.next()) {
            (Some(changed_path), None) => Ok(changed_path),
            (Some(_), Some(_)) => Err(Error::Failed(format!(
                "{path} is ambiguous: several names that are not Unicode are displayed like this. Rename them by hand."
            ))),
            (None, _) => Err(Error::Failed(format!("Nothing was rehearsed at {path}."))),
        }
    }

    /// Returns the changes to apply: one change, limited to one hunk if `line` is set; or a deleted folder and
    /// everything in it. Empty if the change is already applied.
    fn find_changes(&self, path: &Path, line: Option<usize>) -> Result<Vec<Change>, Error> {
        if self.outside.is_some() {
            return self.find_outside_change(path, line);
        }
        let Some(mut change) = self.rehearsal.change_at(path)? else { return Ok(Vec::new()) };
        if self.rehearsal.is_conflict(path) {
            return Err(conflict_error(path));
        }
        if let Some(line) = line {
            change.after = only_hunk(&change, line)?;
            return Ok(vec![change]);
        }
        let deletes_folder =
            matches!(change.before, FileNode::Folder { .. }) && !matches!(change.after, FileNode::Folder { .. });
        let mut changes = vec![change];
        if deletes_folder {
            let is_in_folder = |inner_path: &&PathBuf| inner_path.starts_with(path) && *inner_path != path;
            for inner_path in self.rehearsal.overlay_paths()?.iter().filter(is_in_folder) {
                let Some(change) = self.rehearsal.change_at(inner_path)? else { continue };
                if self.rehearsal.is_conflict(inner_path) {
                    return Err(conflict_error(inner_path));
                }
                changes.push(change);
            }
        }
        Ok(changes)
    }

    /// Returns the change of a path outside the project. Only a whole file that a file tool wrote can be applied.
    fn find_outside_change(&self, path: &Path, line: Option<usize>) -> Result<Vec<Change>, Error> {
        let outside_changes = self.rehearsal.outside_changes()?;
        let display_path = path.display();
        match outside_changes.changes.into_iter().find(|outside_change| outside_change.change.path == path) {
            None => Ok(Vec::new()),
            Some(outside_change) if outside_change.is_conflict => Err(conflict_error(path)),
            Some(outside_change) if outside_change.is_by_tool && line.is_none() => Ok(vec![outside_change.change]),
            Some(_) => Err(Error::Failed(format!(
                "{display_path} was changed by a command outside the project. It is not applied; run the command live."
            ))),
        }
    }

    /// Locates the target of the first change. The location counts as sensitive, outside or aye's own if that of any
    /// change is.
    fn locate_changes(&self, changes: &[Change]) -> Result<Location, Error> {
        if let (Some(outside), Some(change)) = (self.outside, changes.first()) {
            let location = outside.locate_live(&change.path)?;
            return Ok(Location { display_path: location.real.clone(), is_inside: false, ..location });
        }
        let mut locations = changes.iter().map(|change| self.rehearsal.locate_live(&change.path));
        let mut location = locations.next().unwrap_or_else(|| self.rehearsal.locate_live(Path::new("")))?;
        for other_location in locations {
            let other_location = other_location?;
            location.is_sensitive |= other_location.is_sensitive;
            location.is_inside &= other_location.is_inside;
            location.own_file = location.own_file.or(other_location.own_file);
        }
        Ok(location)
    }

    fn apply_change(&self, change: Change, recorder: &CallRecorder) -> Result<(), Error> {
        let Some(outside) = self.outside else { return Ok(self.rehearsal.apply_change(&change, recorder)?) };
        let path = change.path.strip_prefix("/").unwrap_or(&change.path).to_owned();
        Ok(outside.apply_change(&Change { path, ..change }, recorder)?)
    }
}

fn conflict_error(path: &Path) -> Error {
    Error::Failed(format!(
        "CONFLICT: {} changed since it was rehearsed. Nothing was applied. Compare both versions with aye rehearsal diff.",
        path.display()
    ))
}

/// Returns the file with only the hunk at `line` applied.
fn only_hunk(change: &Change, line: usize) -> Result<FileNode, Error> {
    let missing_hunk_error = || Error::Failed(format!("No hunk starts at line {line} of {}.", change.path.display()));
    let full_edit = change_summary::diff_change(change).ok_or_else(missing_hunk_error)?;
    let hunk_edit = full_edit.only_hunk(line).ok_or_else(missing_hunk_error)?;
    match &change.before {
        FileNode::File { mode, .. } => Ok(FileNode::File { bytes: hunk_edit.after.into_bytes(), mode: *mode }),
        _ => Err(missing_hunk_error()),
    }
}

/// Returns the title of the prompt. It names the file only if the name is plain; any other name could be mistaken for
/// text of the prompt.
fn prompt_title(dry_run_change: &DryRunChange) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '/');
    let name = dry_run_change
        .path
        .file_name()
        .and_then(|name| name.to_str())
        .filter(|name| name.chars().all(is_plain) && name.chars().count() <= MAX_NAME_CHARS);
    let verb = match dry_run_change.kind {
        ChangeKind::Created => "create",
        ChangeKind::Modified => "change",
        ChangeKind::Deleted => "delete",
    };
    let noun = if dry_run_change.is_folder { "a folder" } else { "a file" };
    let slash = if dry_run_change.is_folder && name.is_some() { "/" } else { "" };
    format!("Apply: {verb} {}{slash}?", name.unwrap_or(noun))
}

/// Returns the target's hard links if it has several and the change replaces its content. Deleting one name of a file
/// does not change the others.
fn hard_links(changes: &[Change], location: &Location, files: &dyn Reader) -> Option<HardLinks> {
    let replaces = changes.first().is_some_and(|change| {
        matches!((&change.before, &change.after), (FileNode::File { .. }, FileNode::File { .. }))
    });
    planned_path::hard_links(files, location).filter(|_| replaces)
}

fn preview_change(change: &Change, dry_run_change: &DryRunChange, entries: &[Change]) -> Preview {
    match change_summary::diff_change(change).map(|edit| edit.diff()) {
        Some(diff) => {
            let notes: Vec<String> = diff.note.iter().cloned().chain(change_notes(dry_run_change)).collect();
            let note = (!notes.is_empty()).then(|| notes.join("; "));
            Preview::Edit(Diff { note, ..diff })
        }
        None => {
            let notes: Vec<String> = change_notes(dry_run_change).collect();
            let mut text = format!("{}\n{}", change.path.display(), notes.join("\n"));
            if !entries.is_empty() {
                text.push_str("\nincludes:");
                entries.iter().for_each(|entry| text.push_str(&format!("\n  {}", entry.path.display())));
            }
            Preview::Text(text)
        }
    }
}

/// Returns notes on changes that a diff does not show, worded so that they are true before and after applying.
fn change_notes(dry_run_change: &DryRunChange) -> impl Iterator<Item = String> {
    let deletes = if dry_run_change.is_folder { "deletes the folder" } else { "deletes the file" };
    dry_run_change.notes.iter().map(|note| if note == "deleted" { deletes.to_owned() } else { note.clone() })
}

/// Describes what applying the change destroys, if anything. `entries` are the changes in a deleted folder.
fn describe_loss(change: &Change, entries: &[Change], location: &Location) -> Option<String> {
    let display_path = change.path.display();
    let contents_note = match entries.len() {
        0 => String::new(),
        1 => " and its contents".to_owned(),
        count => format!(" and the {count} files and folders in it"),
    };
    match (&change.before, &change.after) {
        (FileNode::Nothing, _) => None,
        (_, FileNode::Nothing) => Some(format!("deletes {display_path}{contents_note}")),
        (FileNode::File { .. }, FileNode::File { .. }) | (FileNode::Folder { .. }, FileNode::Folder { .. }) => None,
        (_, _) => Some(format!("replaces {display_path}{contents_note} with another type of file")),
    }
    .or_else(|| (!location.is_inside).then(|| format!("changes {display_path}, outside the project")))
}

/// Returns the preconditions: the files that are compared again before the change is applied.
fn preconditions(changes: &[Change]) -> Preconditions {
    // A file to delete is listed only if its path is UTF-8 without control characters. Any other path is left out:
    // `Rehearsal::apply_change` compares every path again.
    let has_plain_name = |path: &Path| path.to_str().is_some_and(|path| !path.contains(char::is_control));
    let is_compared = |change: &&Change| match (&change.before, &change.after) {
        (FileNode::Folder { .. } | FileNode::Link(_) | FileNode::Other(_), _) => false,
        (FileNode::Nothing | FileNode::File { .. }, FileNode::File { .. }) => true,
        (FileNode::Nothing | FileNode::File { .. }, _) => has_plain_name(&change.path),
    };
    let snapshot = |change: &Change| FileSnapshot {
        path: change.path.clone(),
        content: FileContent::from_bytes(change.before.file_bytes()),
        new_sha256: change.after.file_bytes().map(Digest::of_bytes),
        may_grow: false,
    };
    let files = changes.iter().filter(is_compared).map(snapshot).collect();
    Preconditions { files, ..Preconditions::default() }
}

/// Returns the digest of all changes.
fn digest_changes(changes: &[Change]) -> Digest {
    let operations: Vec<Operation> = changes.iter().map(batch::describe_operation).collect();
    batch::digest_operations(&operations)
}

#[cfg(test)]
mod tests;
