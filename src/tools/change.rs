//! Shared code of edit_file and write_file: reads the text, plans the change and writes it.

use super::{Error, Rehearsed, blocking, brief, place};
use crate::chat::{Access, Basis, Digest, Edit, Grant, Held, Intent, Plan, Preview, Scope, Seen, Work};
use crate::project::{self, Located, Reader, Writer};
use serde_json::json;
use std::sync::Arc;

/// Largest file that can be changed, in bytes, before and after.
pub const LIMIT: usize = 1024 * 1024;

const BOM: char = '\u{feff}';

/// Reads a file as text; `None` if it does not exist. Fails if it is too large, binary or not UTF-8.
pub fn text(files: &dyn Reader, at: &Located) -> Result<Option<String>, Error> {
    let bytes = match files.read(at) {
        Ok(bytes) => bytes,
        Err(project::Error::Missing(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    small(&place::shown(at), bytes.len())?;
    match String::from_utf8(bytes) {
        Ok(text) if text.contains('\0') => {
            Err(Error::Failed(format!("{} is a binary file; only text can be changed.", place::shown(at))))
        }
        Ok(text) => Ok(Some(text)),
        Err(_) => {
            Err(Error::Failed(format!("{} is not UTF-8 text; it cannot be changed.", place::shown(at))))
        }
    }
}

fn small(shown: &str, bytes: usize) -> Result<(), Error> {
    if bytes <= LIMIT {
        return Ok(());
    }
    Err(Error::Failed(format!("Cannot change {shown}: {bytes} bytes; the limit is {LIMIT}.")))
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
pub fn dressed(before: &str, content: &str) -> String {
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
pub fn bare(text: &str) -> &str {
    text.strip_prefix(BOM).unwrap_or(text)
}

/// Plans the change. `replaces` is true if the model gave the whole file.
pub fn plan(
    tool: &str,
    files: &dyn Reader,
    at: &Located,
    before: Option<String>,
    after: String,
    replaces: bool,
) -> Result<Intent, Error> {
    let shown = place::shown(at);
    small(&shown, after.len())?;
    if before.as_deref() == Some(after.as_str()) {
        if is_untold(files, at) {
            return Ok(no_change(at, "The file already has exactly this content."));
        }
        return Err(Error::Failed(format!(
            "{shown} already has exactly this content; nothing would change."
        )));
    }
    let lines = before.as_deref().map_or(0, |text| text.lines().count());
    let made = before.is_none();
    let edit = Edit { path: at.shown.clone(), before, after };
    let diff = edit.diff();
    let seen = Seen {
        path: edit.path.clone(),
        held: Held::of(edit.before.as_deref().map(str::as_bytes)),
        becomes: Some(Digest::of(edit.after.as_bytes())),
        grows: false,
    };
    let access = place::writing(at);
    let hard_links = place::hard_links(files, at);
    let safe = matches!(access, Access::Write(_)) && hard_links.is_none();
    let destroys = if !at.inside {
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
        title: if made { "create a file?" } else { "change a file?" }.to_owned(),
        summary: brief::line(&shown, 120),
        access,
        preview: Preview::Edit(diff),
        always: safe.then(|| Grant::new(tool, Scope::File(at.shown.clone()))),
        destroys,
        basis: Basis { files: vec![seen], hard_links, ..Basis::default() },
        work: Work::Edit(edit),
    })))
}

/// Returns whether the content must not be disclosed in a dry run: the file is outside the project or may hold secrets,
/// and the user is not asked. Even whether an edit matches would disclose content.
pub fn is_untold(files: &dyn Reader, at: &Located) -> bool {
    files.is_rehearsal() && !matches!(place::reading(files, at), Access::Read(_))
}

/// Plans a rehearsed edit of such a file that changes nothing. The model receives the same text as for a successful
/// edit.
pub fn no_change(at: &Located, why: &str) -> Intent {
    let shown = place::shown(at);
    Intent::Act(Box::new(Plan {
        title: "change a file?".to_owned(),
        summary: brief::line(&shown, 120),
        access: place::writing(at),
        preview: Preview::Text(format!("{shown}\n{why}")),
        always: None,
        destroys: None,
        basis: Basis::default(),
        work: Work::Arguments(json!({ "path": shown })),
    }))
}

/// Rehearses the change. `replaces` is true if the model gave the whole file.
pub async fn rehearse(plan: &Plan, project: Arc<dyn Writer>, replaces: bool) -> Result<Rehearsed, Error> {
    if let Work::Arguments(work) = &plan.work {
        return Ok(Rehearsed::Ran(untold(work["path"].as_str().unwrap_or_default(), replaces)));
    }
    make(plan, project, replaces).await.map(Rehearsed::Ran)
}

/// Returns the outcome for a file whose content must not be disclosed.
fn untold(shown: &str, replaces: bool) -> String {
    let done = if replaces {
        "rehearsed. Its previous content"
    } else {
        "rehearsed if old_text occurs in it exactly once. Whether it does"
    };
    format!("{shown}: {done} is not disclosed, because live the user would have been asked.")
}

/// Writes the change if the file and its location are unchanged. `replaces` is true if the model gave the whole file.
pub async fn make(plan: &Plan, project: Arc<dyn Writer>, replaces: bool) -> Result<String, Error> {
    let Work::Edit(edit) = plan.work.clone() else {
        return Err(Error::Broken("the plan holds no change".to_owned()));
    };
    let (access, hard_links) = (plan.access.clone(), plan.basis.hard_links.clone());
    let Preview::Edit(diff) = &plan.preview else {
        return Err(Error::Broken("the plan shows no change".to_owned()));
    };
    let (added, removed) = (diff.added, diff.removed);
    let writer = project.clone();
    blocking(project, move |files| {
        let path = edit.path.to_str();
        let path = path.ok_or_else(|| project::Error::BadPath("the path is not UTF-8".to_owned()))?;
        let at = files.locate(path)?;
        if at.shown != edit.path
            || place::writing(&at) != access
            || place::hard_links(files, &at) != hard_links
        {
            return Err(project::Error::Changed(edit.path).into());
        }
        let (is_untold, shown) = (is_untold(files, &at), place::shown(&at));
        let (before, after) = (edit.before.as_deref().map(str::as_bytes), edit.after.as_bytes());
        let written =
            if replaces { writer.write_whole(&at, before, after) } else { writer.write(&at, before, after) };
        match (is_untold, replaces) {
            (false, _) => written?,
            (true, true) => return written.map(|()| untold(&shown, true)).map_err(Error::from),
            // An error would disclose that the text was found.
            (true, false) => return Ok(untold(&shown, false)),
        }
        Ok(format!("{shown}: +{added} −{removed}"))
    })
    .await
}
