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
pub fn read_text(files: &dyn Reader, at: &Location) -> Result<Option<String>, Error> {
    let bytes = match files.read(at) {
        Ok(bytes) => bytes,
        Err(project::Error::Missing(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    check_size(&planned_path::display_path(at), bytes.len())?;
    match String::from_utf8(bytes) {
        Ok(text) if text.contains('\0') => Err(Error::Failed(format!(
            "{} is a binary file; only text can be changed.",
            planned_path::display_path(at)
        ))),
        Ok(text) => Ok(Some(text)),
        Err(_) => {
            Err(Error::Failed(format!("{} is not UTF-8 text; it cannot be changed.", planned_path::display_path(at))))
        }
    }
}

fn check_size(shown: &str, bytes: usize) -> Result<(), Error> {
    if bytes <= MAX_FILE_BYTES {
        return Ok(());
    }
    Err(Error::Failed(format!("Cannot change {shown}: {bytes} bytes; the limit is {MAX_FILE_BYTES}.")))
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

/// Plans the change. `replaces` is true if the model gave the whole file.
pub fn plan_change(
    tool: &str,
    files: &dyn Reader,
    at: &Location,
    before: Option<String>,
    after: String,
    replaces: bool,
) -> Result<Intent, Error> {
    let shown = planned_path::display_path(at);
    check_size(&shown, after.len())?;
    if before.as_deref() == Some(after.as_str()) {
        if is_undisclosed(files, at) {
            return Ok(plan_no_change(at, "The file already has exactly this content."));
        }
        return Err(Error::Failed(format!("{shown} already has exactly this content; nothing would change.")));
    }
    let lines = before.as_deref().map_or(0, |text| text.lines().count());
    let made = before.is_none();
    let edit = Edit { path: at.display_path.clone(), before, after };
    let diff = edit.diff();
    let seen = FileSnapshot {
        path: edit.path.clone(),
        content: FileContent::from_bytes(edit.before.as_deref().map(str::as_bytes)),
        new_sha256: Some(Digest::of_bytes(edit.after.as_bytes())),
        may_grow: false,
    };
    let access = planned_path::write_access(at);
    let hard_links = planned_path::hard_links(files, at);
    let safe = matches!(access, Access::Write(_)) && hard_links.is_none();
    let destroys = if !at.is_inside {
        Some(format!("{} {shown}, outside the project", if made { "creates" } else { "changes" }))
    } else if replaces && lines > 0 && diff.removed * 2 > lines {
        Some(match diff.removed {
            1 if lines == 1 => format!("replaces the only line of {shown}"),
            removed if removed == lines => format!("replaces all {lines} lines of {shown}"),
            removed => format!("replaces {removed} of {lines} lines of {shown}"),
        })
    } else {
        None
    };
    Ok(Intent::Act(Box::new(Plan {
        title: if made { "Create a file?" } else { "Change a file?" }.to_owned(),
        summary: summary_line::first_line(&shown, 120),
        access,
        preview: Preview::Edit(diff),
        grant: safe.then(|| Grant::new(tool, GrantScope::File(at.display_path.clone()))),
        destroys,
        preconditions: Preconditions { files: vec![seen], hard_links, ..Preconditions::default() },
        work: Work::Edit(edit),
    })))
}

/// Returns whether the content must not be disclosed in a dry run: the file is outside the project or may hold secrets,
/// and the user is not asked. Even whether an edit matches would disclose content.
pub fn is_undisclosed(files: &dyn Reader, at: &Location) -> bool {
    files.is_rehearsal() && !matches!(planned_path::read_access(files, at), Access::Read(_))
}

/// Plans a rehearsed edit of such a file that changes nothing. The model receives the same text as for a successful
/// edit.
pub fn plan_no_change(at: &Location, why: &str) -> Intent {
    let shown = planned_path::display_path(at);
    Intent::Act(Box::new(Plan {
        title: "Change a file?".to_owned(),
        summary: summary_line::first_line(&shown, 120),
        access: planned_path::write_access(at),
        preview: Preview::Text(format!("{shown}\n{why}")),
        grant: None,
        destroys: None,
        preconditions: Preconditions::default(),
        work: Work::Arguments(json!({ "path": shown })),
    }))
}

/// Rehearses the change. `replaces` is true if the model gave the whole file.
pub async fn rehearse_change(plan: &Plan, project: Arc<dyn Writer>, replaces: bool) -> Result<RehearsalOutcome, Error> {
    if let Work::Arguments(work) = &plan.work {
        return Ok(RehearsalOutcome::Ran(undisclosed_outcome(work["path"].as_str().unwrap_or_default(), replaces)));
    }
    write_change(plan, project, replaces).await.map(RehearsalOutcome::Ran)
}

/// Returns the outcome for a file whose content must not be disclosed.
fn undisclosed_outcome(shown: &str, replaces: bool) -> String {
    let done = if replaces {
        "rehearsed. Its previous content"
    } else {
        "rehearsed if old_text occurs in it exactly once. Whether it does"
    };
    format!("{shown}: {done} is not disclosed, because live the user would have been asked.")
}

/// Writes the change if the file and its location are unchanged. `replaces` is true if the model gave the whole file.
pub async fn write_change(plan: &Plan, project: Arc<dyn Writer>, replaces: bool) -> Result<String, Error> {
    let Work::Edit(edit) = plan.work.clone() else {
        return Err(Error::Broken("the plan holds no change".to_owned()));
    };
    let (access, hard_links) = (plan.access.clone(), plan.preconditions.hard_links.clone());
    let Preview::Edit(diff) = &plan.preview else {
        return Err(Error::Broken("the plan shows no change".to_owned()));
    };
    let (added, removed) = (diff.added, diff.removed);
    let writer = project.clone();
    run_blocking(project, move |files| {
        let path = edit.path.to_str();
        let path = path.ok_or_else(|| project::Error::BadPath("the path is not UTF-8".to_owned()))?;
        let at = files.locate(path)?;
        if at.display_path != edit.path
            || planned_path::write_access(&at) != access
            || planned_path::hard_links(files, &at) != hard_links
        {
            return Err(project::Error::Changed(edit.path).into());
        }
        let (is_untold, shown) = (is_undisclosed(files, &at), planned_path::display_path(&at));
        let (before, after) = (edit.before.as_deref().map(str::as_bytes), edit.after.as_bytes());
        let written = if replaces { writer.write_whole(&at, before, after) } else { writer.write(&at, before, after) };
        match (is_untold, replaces) {
            (false, _) => written?,
            (true, true) => return written.map(|()| undisclosed_outcome(&shown, true)).map_err(Error::from),
            // An error would disclose that the text was found.
            (true, false) => return Ok(undisclosed_outcome(&shown, false)),
        }
        Ok(format!("{shown}: +{added} −{removed}"))
    })
    .await
}
