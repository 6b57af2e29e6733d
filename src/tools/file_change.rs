//! Shared code of edit_file and write_file: reads the text, plans the change and writes it.

use super::{Error, RehearsalOutcome, planned_path, run_blocking, summary_line};
use crate::chat::{
    Access, Digest, Edit, FileContent, FileSnapshot, Grant, GrantScope, Intent, Plan, Preconditions, Preview, Work,
};
use crate::project::{self, Location, Reader, Writer};
use serde_json::json;
use std::sync::Arc;

/// Largest file that can be changed, in bytes, before and after.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

const BOM: char = '\u{feff}';

/// Reads a file as text; `None` if it does not exist. Fails if it is too large, binary or not UTF-8.
pub fn read_text(files: &dyn Reader, location: &Location) -> Result<Option<String>, Error> {
    let bytes = match files.read(location) {
        Ok(bytes) => bytes,
        Err(project::Error::Missing(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let displayed_path = planned_path::display_path(location);
    check_size(&displayed_path, bytes.len())?;
    match String::from_utf8(bytes) {
        Ok(text) if text.contains('\0') => {
            Err(Error::Failed(format!("{displayed_path} is a binary file; only text can be changed.")))
        }
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(Error::Failed(format!("{displayed_path} is not UTF-8 text; it cannot be changed."))),
    }
}

/// Returns `error` if the model may read the file without approval. Otherwise the details of the error would disclose
/// something about the file, and `hidden_message` takes its place; in a dry run the call then does nothing.
pub fn hide_read_error(
    files: &dyn Reader,
    location: &Location,
    error: Error,
    hidden_message: &str,
) -> Result<Intent, Error> {
    if matches!(planned_path::read_access(files, location), Access::Read(_)) {
        return Err(error);
    }
    match is_undisclosed(files, location) {
        true => Ok(plan_no_change(location, hidden_message)),
        false => Err(Error::Failed(format!("{hidden_message} Call read_file first; the user is asked."))),
    }
}

fn check_size(displayed_path: &str, bytes: usize) -> Result<(), Error> {
    if bytes <= MAX_FILE_BYTES {
        return Ok(());
    }
    Err(Error::Failed(format!("Cannot change {displayed_path}: {bytes} bytes; the limit is {MAX_FILE_BYTES}.")))
}

/// Returns whether most lines end in CRLF.
pub fn is_crlf(text: &str) -> bool {
    let crlf = text.matches("\r\n").count();
    crlf * 2 > text.matches('\n').count()
}

/// Converts all line endings to CRLF.
pub fn to_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// Adapts new content to the old file's byte order mark, line endings and final newline.
pub fn match_file_style(before: &str, content: &str) -> String {
    let mut text = content.to_owned();
    if is_crlf(before) {
        text = to_crlf(&text);
    }
    if before.starts_with(BOM) && !text.starts_with(BOM) {
        text.insert(0, BOM);
    }
    if before.ends_with('\n') && !text.is_empty() && !text.ends_with('\n') {
        text.push_str(if is_crlf(before) { "\r\n" } else { "\n" });
    }
    text
}

/// Removes the byte order mark, which models do not see.
pub fn strip_bom(text: &str) -> &str {
    text.strip_prefix(BOM).unwrap_or(text)
}

/// Plans the change. `is_full_replacement` is true if the model gave the whole file.
pub fn plan_change(
    tool: &str,
    files: &dyn Reader,
    location: &Location,
    before: Option<String>,
    after: String,
    is_full_replacement: bool,
) -> Result<Intent, Error> {
    let displayed_path = planned_path::display_path(location);
    check_size(&displayed_path, after.len())?;
    if before.as_deref() == Some(after.as_str()) {
        if is_undisclosed(files, location) {
            return Ok(plan_no_change(location, "The file already has exactly this content."));
        }
        // For a file that the model may not read, an error would confirm a guess of its content: the user is asked instead.
        if matches!(planned_path::read_access(files, location), Access::Read(_)) {
            let message = format!("{displayed_path} already has exactly this content; nothing would change.");
            return Err(Error::Failed(message));
        }
    }
    let lines = before.as_deref().map_or(0, |text| text.lines().count());
    let is_new = before.is_none();
    let edit = Edit { path: location.display_path.clone(), before, after };
    let diff = edit.diff();
    let snapshot = FileSnapshot {
        path: edit.path.clone(),
        content: FileContent::from_bytes(edit.before.as_deref().map(str::as_bytes)),
        new_sha256: Some(Digest::of_bytes(edit.after.as_bytes())),
        may_grow: false,
    };
    let access = planned_path::write_access(location);
    let hard_links = planned_path::hard_links(files, location);
    let can_be_granted = matches!(access, Access::Write(_)) && hard_links.is_none();
    let destroys = if !location.is_inside {
        Some(format!("{} {displayed_path}, outside the project", if is_new { "creates" } else { "changes" }))
    } else if is_full_replacement && lines > 0 && diff.removed * 2 > lines {
        // More than half of the lines are lost.
        Some(match diff.removed {
            1 if lines == 1 => format!("replaces the only line of {displayed_path}"),
            removed if removed == lines => format!("replaces all {lines} lines of {displayed_path}"),
            removed => format!("replaces {removed} of {lines} lines of {displayed_path}"),
        })
    } else {
        None
    };
    Ok(Intent::Act(Box::new(Plan {
        title: if is_new { "Create a file?" } else { "Change a file?" }.to_owned(),
        summary: summary_line::first_line(&displayed_path, 120),
        access,
        preview: Preview::Edit(diff),
        full_preview: None,
        grant: can_be_granted.then(|| Grant::new(tool, GrantScope::File(location.display_path.clone()))),
        destroys,
        preconditions: Preconditions { files: vec![snapshot], hard_links, ..Preconditions::default() },
        work: Work::Edit(edit),
    })))
}

/// Returns whether the content must not be disclosed in a dry run: the file is outside the project or may hold secrets,
/// and the user is not asked. Even whether an edit matches would disclose content.
pub fn is_undisclosed(files: &dyn Reader, location: &Location) -> bool {
    files.is_rehearsal() && !matches!(planned_path::read_access(files, location), Access::Read(_))
}

/// Plans a rehearsed change that changes nothing, for a file whose content must not be disclosed. The model receives
/// the same text as for a successful change.
pub fn plan_no_change(location: &Location, why: &str) -> Intent {
    let displayed_path = planned_path::display_path(location);
    Intent::Act(Box::new(Plan::new(
        "Change a file?",
        summary_line::first_line(&displayed_path, 120),
        planned_path::write_access(location),
        Preview::Text(format!("{displayed_path}\n{why}")),
        Work::Arguments(json!({ "path": displayed_path })),
    )))
}

/// Rehearses the change. `is_full_replacement` is true if the model gave the whole file.
pub async fn rehearse_change(
    plan: &Plan,
    project: Arc<dyn Writer>,
    is_full_replacement: bool,
) -> Result<RehearsalOutcome, Error> {
    // A plan that changes nothing, from `plan_no_change`.
    if let Work::Arguments(work) = &plan.work {
        let displayed_path = work["path"].as_str().unwrap_or_default();
        return Ok(RehearsalOutcome::Ran(undisclosed_outcome(displayed_path, is_full_replacement)));
    }
    write_change(plan, project, is_full_replacement).await.map(RehearsalOutcome::Ran)
}

/// Returns the outcome for a file whose content must not be disclosed.
fn undisclosed_outcome(displayed_path: &str, is_full_replacement: bool) -> String {
    let status = if is_full_replacement {
        "rehearsed. Its previous content"
    } else {
        "rehearsed if old_text occurs in it exactly once. Whether it does"
    };
    format!("{displayed_path}: {status} is not disclosed, because live the user would have been asked.")
}

/// Writes the change if the file and its location are unchanged. Returns the outcome for the model.
/// `is_full_replacement` is true if the model gave the whole file.
pub async fn write_change(plan: &Plan, project: Arc<dyn Writer>, is_full_replacement: bool) -> Result<String, Error> {
    let (Work::Edit(edit), Preview::Edit(diff)) = (plan.work.clone(), &plan.preview) else {
        return Err(Error::Internal("the plan holds no change".to_owned()));
    };
    let (access, hard_links) = (plan.access.clone(), plan.preconditions.hard_links.clone());
    let (added, removed) = (diff.added, diff.removed);
    let writer = project.clone();
    run_blocking(project, move |files| {
        let path = edit.path.to_str();
        let path = path.ok_or_else(|| project::Error::Invalid("the path is not UTF-8".to_owned()))?;
        let location = files.locate(path)?;
        if location.display_path != edit.path
            || planned_path::write_access(&location) != access
            || planned_path::hard_links(files, &location) != hard_links
        {
            return Err(project::Error::Changed(edit.path).into());
        }
        let (must_not_disclose, displayed_path) =
            (is_undisclosed(files, &location), planned_path::display_path(&location));
        let (before, after) = (edit.before.as_deref().map(str::as_bytes), edit.after.as_bytes());
        let result = match is_full_replacement {
            true => writer.write_whole(&location, before, after),
            false => writer.write(&location, before, after),
        };
        let undisclosed = || undisclosed_outcome(&displayed_path, is_full_replacement);
        match (must_not_disclose, is_full_replacement) {
            (false, _) => result?,
            (true, true) => return result.map(|()| undisclosed()).map_err(Error::from),
            // An error would disclose that the text was found.
            (true, false) => return Ok(undisclosed()),
        }
        Ok(format!("{displayed_path}: +{added} −{removed}"))
    })
    .await
}
