//! Tool that writes a file to a workspace.

use super::arguments::{object_spec, parse_arguments};
use super::planned_path::{self, PlannedPath};
use super::result_files::ResultFiles;
use super::workspace_target::{display_path, open_workspace, rehearse_in_workspace, run_in_workspace, summarize_path};
use super::{Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data, summary_line};
use crate::chat::{
    Access, CallWords, Digest, Edit, Grant, GrantScope, Intent, Plan, Preview, ReferenceUse, SessionId, ToolSpec, Work,
    WorkspaceAccess,
};
use crate::project::{self, Location, Reader, Writer};
use crate::text::byte_size::format_bytes;
use crate::text::workspace_address::{AddressTarget, ScopedPath, parse_media_type};
use crate::workspace::{self, NewFile, Replaces, Secrecy, StoredFile, Workspace, detect_media_type, is_text};
use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;

pub const NAME: &str = "write_workspace_file";

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(NAME, "Write to workspace").with_path();
/// Maximum characters of a path in an error.
const MAX_PATH_CHARS: usize = 120;
/// Maximum bytes of each text of a difference.
const MAX_DIFF_BYTES: u64 = 1_000_000;

/// Writes files of workspaces.
pub struct WriteWorkspaceFile(pub Arc<Workspace>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: Option<String>,
    filename: Option<String>,
    mime_type: Option<String>,
    content: Option<String>,
    content_base64: Option<String>,
    source_path: Option<String>,
    #[serde(default)]
    overwrite: bool,
}

/// The write of a plan.
#[derive(Serialize, Deserialize)]
struct PlannedWrite {
    session: Option<SessionId>,
    path: String,
    /// The version that it replaces.
    replaced_version: Option<u64>,
    #[serde(default)]
    media_type: Option<String>,
    content: PlannedContent,
}

/// The content of a planned write.
#[derive(Serialize, Deserialize)]
enum PlannedContent {
    Text(String),
    Base64(String),
    /// A copy of a file of the project.
    Copy {
        place: PlannedPath,
        sha256: Digest,
    },
}

/// Returns the description of the tool for the model.
pub fn tool_spec() -> ToolSpec {
    object_spec(
        NAME,
        "Write a file for the user outside the project. Give content, content_base64 or source_path.",
        json!({
            "filename": { "type": "string", "description": "Name" },
            "path": { "type": "string", "description": "Default /filename" },
            "content": { "type": "string", "description": "Text" },
            "content_base64": { "type": "string", "description": "Bytes" },
            "source_path": { "type": "string", "description": "Project file" },
            "mime_type": { "type": "string", "description": "Default by content" },
            "overwrite": { "type": "boolean", "description": "Default false" },
        }),
        &[],
    )
    .with_file_references(&[("content", ReferenceUse::Text)])
}

impl WriteWorkspaceFile {
    /// Does what was planned, live or in the workspace of a dry run.
    async fn execute(&self, plan: &Plan, project: Arc<dyn Writer>, results: &ResultFiles) -> Result<String, Error> {
        let planned: PlannedWrite = parse_plan_data(plan)?;
        let mut origin = results.origin();
        let files = project.clone();
        run_in_workspace(&self.0, project, move |own| {
            let (workspace, _) = open_workspace(own, planned.session.as_ref().map(|session| session.0.clone()))?;
            let bytes = match planned.content {
                PlannedContent::Text(text) => text.into_bytes(),
                PlannedContent::Base64(text) => decode(&text)?,
                PlannedContent::Copy { place, sha256 } => {
                    let location = place.locate_again(&*files)?;
                    if !matches!(planned_path::read_access(&*files, &location), Access::Read(_)) {
                        origin.secrecy = Secrecy::Copy;
                    }
                    let bytes = read_source(&*files, &location, workspace.limits().file_bytes)?;
                    if Digest::of_bytes(&bytes) != sha256 {
                        return Err(project::Error::Changed(location.display_path).into());
                    }
                    bytes
                }
            };
            let scoped = parse_path(&planned.path)?;
            let replaces = planned.replaced_version.map_or(Replaces::Nothing, Replaces::Version);
            let new_file = NewFile {
                path: &scoped.path,
                bytes: &bytes,
                origin,
                replaces,
                media_type: planned.media_type.as_deref(),
            };
            let stored = workspace.write(&new_file)?;
            let path = display_path(planned.session.as_ref(), stored.path.as_str());
            Ok(format!(
                "Wrote {path}: workspace://{} ({}, {}, version {}). Name this address to the user.",
                stored.id,
                format_bytes(stored.size),
                stored.media_type,
                stored.version
            ))
        })
        .await
    }
}

#[async_trait]
impl Tool for WriteWorkspaceFile {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        tool_spec()
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { path, filename, mime_type, content, content_base64, source_path, overwrite } =
            parse_arguments(&tool_spec(), arguments)?;
        // An empty text counts as absent.
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let Some(path) = given(path).or(given(filename)) else {
            return Err(Error::Arguments("Give path, or filename for a file without a folder.".to_owned()));
        };
        let media_type = given(mime_type).map(|text| parse_mime_type(&text)).transpose()?;
        let scoped = parse_path(&path)?;
        let (workspace, session) = open_workspace(&self.0, scoped.session.clone())?;
        let displayed = display_path(session.as_ref(), scoped.path.as_str());
        let existing = match workspace.find(&AddressTarget::Path(scoped.clone())) {
            Ok(existing) => Some(existing),
            Err(workspace::Error::Missing(_)) => None,
            Err(error) => return Err(error.into()),
        };
        if existing.is_some() && !overwrite {
            return Err(workspace::Error::Exists(displayed).into());
        }
        let max_bytes = workspace.limits().file_bytes;
        // Empty content is written as an empty file if no other source is given.
        let is_empty_file = content.as_deref() == Some("");
        let (content, source) = match (given(content), given(content_base64), given(source_path)) {
            (Some(text), None, None) => (PlannedContent::Text(text), None),
            (None, Some(text), None) => (PlannedContent::Base64(text), None),
            (None, None, Some(source)) => {
                let location = planned_path::locate(files, &source)?;
                let (content, source) = plan_copy(files, &location, max_bytes, session.is_some())?;
                (content, Some(source))
            }
            (None, None, None) if is_empty_file => (PlannedContent::Text(String::new()), None),
            (None, None, None) => {
                return Err(Error::Arguments("Give content, content_base64 or source_path.".to_owned()));
            }
            _ => {
                return Err(Error::Arguments("Give only one of content, content_base64, source_path.".to_owned()));
            }
        };
        let described = match &content {
            PlannedContent::Text(text) => format!("{}\n\n{text}", format_bytes(text.len() as u64)),
            PlannedContent::Base64(text) => {
                let bytes = decode(text)?;
                let detected = || detect_media_type(scoped.path.file_name(), &bytes);
                format!("{}, {}", format_bytes(bytes.len() as u64), media_type.as_deref().unwrap_or_else(detected))
            }
            PlannedContent::Copy { .. } => source.as_ref().map(|source| source.description.clone()).unwrap_or_default(),
        };
        let is_kept = existing.as_ref().is_none_or(|existing| workspace.limits().keep_old_version(existing.size));
        let kept = if is_kept { "which is kept" } else { "which the settings do not keep" };
        let (title, preview) = match existing.as_ref() {
            None => ("Write a file to the workspace?".to_owned(), Preview::Text(format!("{displayed}\n{described}"))),
            Some(existing) => {
                let replaced = format!("{displayed}\nreplaces version {}, {kept}\n{described}", existing.version);
                let preview = diff_preview(&workspace, existing, &displayed, &content);
                let keeping = if is_kept { "and keep" } else { "without keeping" };
                let title = format!("Replace a workspace file {keeping} version {}?", existing.version);
                (title, preview.unwrap_or(Preview::Text(replaced)))
            }
        };
        let access = match source {
            Some(CopiedSource { access: access @ (Access::ReadSensitive(_) | Access::AyeFiles(_)), .. }) => access,
            source => Access::Workspace(Box::new(WorkspaceAccess {
                path: scoped.path.to_string(),
                session: session.clone(),
                changes: true,
                copied_file: source.map(|source| source.path),
                untrusted_source: None,
            })),
        };
        let is_grantable = session.is_none() && matches!(access, Access::Workspace(_));
        let mut plan = Plan::new(
            &title,
            summarize_path(session.as_ref(), scoped.path.as_str()),
            access,
            preview,
            Work::Arguments(json!(PlannedWrite {
                session,
                path: scoped.to_string(),
                replaced_version: existing.map(|existing| existing.version),
                media_type,
                content
            })),
        );
        plan.grant = is_grantable.then(|| Grant::new(NAME, GrantScope::Workspace));
        plan.destroys = (!is_kept).then_some(displayed);
        Ok(Intent::Act(Box::new(plan)))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        self.execute(plan, context.project.clone(), &context.results).await
    }

    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        let run = self.execute(plan, context.project.clone(), &context.results);
        rehearse_in_workspace(NAME, plan, context, run).await
    }
}

/// Returns the difference between a text and the text that replaces it; `None` if one of them is no text or too long.
fn diff_preview(workspace: &Workspace, before: &StoredFile, path: &str, after: &PlannedContent) -> Option<Preview> {
    let PlannedContent::Text(after) = after else { return None };
    if before.size.max(after.len() as u64) > MAX_DIFF_BYTES {
        return None;
    }
    let before = workspace.read(before).ok().filter(|bytes| is_text(bytes))?;
    let before = String::from_utf8(before).ok()?;
    let edit = Edit { path: path.into(), before: Some(before), after: after.clone() };
    Some(Preview::Edit(edit.diff()))
}

fn parse_path(path: &str) -> Result<ScopedPath, Error> {
    ScopedPath::parse(path.trim()).map_err(|reason| {
        Error::Arguments(format!("Cannot use the path “{}”: {reason}.", summary_line::first_line(path, MAX_PATH_CHARS)))
    })
}

fn parse_mime_type(text: &str) -> Result<String, Error> {
    parse_media_type(text).ok_or_else(|| {
        let shown = summary_line::first_line(text, MAX_PATH_CHARS);
        Error::Arguments(format!("Cannot use the mime_type “{shown}”: expected a type such as text/csv."))
    })
}

fn decode(text: &str) -> Result<Vec<u8>, Error> {
    let text: String = text.split_ascii_whitespace().collect();
    BASE64_STANDARD
        .decode(text)
        .map_err(|error| Error::Arguments(format!("Cannot decode content_base64: {error}. Send standard base64.")))
}

/// A file of the project to copy.
struct CopiedSource {
    access: Access,
    path: std::path::PathBuf,
    description: String,
}

/// Plans the copy of a file of the project. A file that may hold secrets asks like a read of it, and is copied to the
/// workspace of the session only.
fn plan_copy(
    files: &dyn Reader,
    location: &Location,
    max_bytes: u64,
    is_other_session: bool,
) -> Result<(PlannedContent, CopiedSource), Error> {
    let access = planned_path::read_access(files, location);
    let displayed = planned_path::display_path(location);
    let is_plain = matches!(access, Access::Read(_));
    if is_other_session && !is_plain {
        return Err(Error::Failed(format!(
            "{displayed} may hold secrets, so it is copied to the workspace of this session only."
        )));
    }
    if is_plain && !files.exists(location) {
        return Err(project::Error::Missing(location.display_path.clone()).into());
    }
    let place = PlannedPath::record(files, location)?;
    // Whether such a file exists is not disclosed before the approval.
    let bytes = match (read_source(files, location, max_bytes), is_plain) {
        (Ok(bytes), _) => bytes,
        (Err(error), true) => return Err(error),
        (Err(_), false) => Vec::new(),
    };
    let size = if is_plain { format!(", {}", format_bytes(bytes.len() as u64)) } else { String::new() };
    let (path, description) = (location.display_path.clone(), format!("a copy of {displayed}{size}"));
    let content = PlannedContent::Copy { place, sha256: Digest::of_bytes(&bytes) };
    Ok((content, CopiedSource { access, path, description }))
}

/// Reads a file of the project of at most `max_bytes`.
fn read_source(files: &dyn Reader, location: &Location, max_bytes: u64) -> Result<Vec<u8>, Error> {
    let displayed = planned_path::display_path(location);
    let mut bytes = Vec::new();
    let read = files.open(location)?.take(max_bytes + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::Failed(format!("Cannot read {displayed}: {error}.")))?;
    match bytes.len() as u64 > max_bytes {
        true => Err(Error::Failed(format!("Cannot copy {displayed}: it has more than {}.", format_bytes(max_bytes)))),
        false => Ok(bytes),
    }
}
