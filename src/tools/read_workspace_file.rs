//! Tool that reads a file of a workspace, a range of characters at a time.

use super::arguments::{object_spec, parse_arguments};
use super::workspace_target::{
    PlannedFile, display_path, parse_target, rehearse_in_workspace, run_in_workspace, summarize_path,
};
use super::{Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data};
use crate::chat::{CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::{Reader, Writer};
use crate::text::byte_size::format_bytes;
use crate::text::escaped_path::escape_path;
use crate::text::workspace_address::{AddressTarget, ScopedPath, WorkspaceAddress};
use crate::web::page_text::UNTRUSTED_MARK;
use crate::workspace::{StoredFile, Workspace};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

pub const NAME: &str = "read_workspace_file";

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(NAME, "Read from workspace").with_path();
/// Bytes of text returned per call.
const MAX_BYTES: usize = 48 << 10;

/// Reads files of workspaces.
pub struct ReadWorkspaceFile(pub Arc<Workspace>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    file_id: Option<String>,
    path: Option<String>,
    offset: Option<u64>,
    length: Option<u64>,
    #[serde(default)]
    force_download_url: bool,
}

#[derive(Serialize, Deserialize)]
struct ReadRequest {
    file: PlannedFile,
    offset: u64,
    /// Maximum number of characters; `None` for all.
    length: Option<u64>,
    /// True if only the file is described.
    #[serde(default)]
    without_text: bool,
}

/// Returns the description of the tool for the model.
pub fn tool_spec() -> ToolSpec {
    object_spec(
        NAME,
        "Read text of a workspace file by file_id or path.",
        json!({
            "file_id": { "type": "string", "description": "ID, ID@version or workspace:// address" },
            "path": { "type": "string", "description": "In the workspace" },
            "offset": { "type": "integer", "description": "Characters, default 0" },
            "length": { "type": "integer", "description": "Characters, default all that fit" },
            "force_download_url": { "type": "boolean", "description": "Only size, type and address" },
        }),
        &[],
    )
}

impl ReadWorkspaceFile {
    /// Does what was planned, live or in the workspace of a dry run.
    async fn execute(&self, plan: &Plan, project: Arc<dyn Writer>) -> Result<String, Error> {
        let request: ReadRequest = parse_plan_data(plan)?;
        run_in_workspace(&self.0, project, move |own| {
            let (workspace, file) = request.file.find_again(own)?;
            let bytes = if request.without_text { Vec::new() } else { workspace.read(&file)? };
            let path = display_path(request.file.session.as_ref(), file.path.as_str());
            Ok(describe_content(&escape_path(Path::new(&path)), &file, bytes, &request))
        })
        .await
    }
}

#[async_trait]
impl Tool for ReadWorkspaceFile {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        tool_spec()
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { file_id, path, offset, length, force_download_url } = parse_arguments(&tool_spec(), arguments)?;
        let target = parse_target(&self.0, file_id.as_deref(), path.as_deref())?;
        let file = target.workspace.find(&target.target)?;
        let offset = offset.unwrap_or(0);
        let range = match (force_download_url, offset) {
            (true, _) => ", without its text".to_owned(),
            (false, 0) => String::new(),
            (false, offset) => format!(" from character {offset} on"),
        };
        let summary = summarize_path(target.session.as_ref(), file.path.as_str());
        let preview = Preview::Text(format!("{summary}, version {}{range}", file.version));
        let length = length.filter(|length| *length > 0);
        let request = ReadRequest { file: target.record(&file), offset, length, without_text: force_download_url };
        let (access, work) = (target.read_access(&file), Work::Arguments(json!(request)));
        Ok(Intent::Act(Box::new(Plan::new("Read a file of a workspace?", summary, access, preview, work))))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        self.execute(plan, context.project.clone()).await
    }

    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        rehearse_in_workspace(NAME, plan, context, self.execute(plan, context.project.clone())).await
    }
}

/// Returns the address of a file: with its version if a later one exists. Only paths name files of other sessions.
fn address(planned: &PlannedFile, file: &StoredFile) -> WorkspaceAddress {
    let target = match &planned.session {
        None => AddressTarget::Id(file.id.clone(), (!file.is_latest).then_some(file.version)),
        Some(session) => AddressTarget::Path(ScopedPath { session: Some(session.0.clone()), path: file.path.clone() }),
    };
    WorkspaceAddress { target, media_type: None }
}

/// Describes a content for the model: a line about the file, then its text from a character on.
fn describe_content(path: &str, file: &StoredFile, bytes: Vec<u8>, request: &ReadRequest) -> String {
    let name = format!("{path} · version {} · {}", file.version, file.media_type);
    if request.without_text {
        return format!("{name} · {} · {}", format_bytes(file.size), address(&request.file, file));
    }
    let (offset, length) = (request.offset, request.length);
    let text = match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => text,
        _ => {
            return format!(
                "{name} · {}. It is not text and was not read. The user can open {}.",
                format_bytes(file.size),
                address(&request.file, file)
            );
        }
    };
    let total = text.chars().count();
    let skipped = usize::try_from(offset).unwrap_or(usize::MAX).min(total);
    let start = text.char_indices().nth(skipped).map_or(text.len(), |(position, _)| position);
    let rest = &text[start..];
    let length = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
    let end = rest.char_indices().nth(length).map_or(rest.len(), |(position, _)| position);
    let shown = &rest[..rest.floor_char_boundary(end.min(MAX_BYTES))];
    let next = skipped + shown.chars().count();
    let range = match shown.is_empty() {
        true => format!("no text from character {offset} on, {total} characters"),
        false => format!("characters {skipped}-{} of {total}", next - 1),
    };
    let more = if next < total { format!(" · continue with offset {next}") } else { String::new() };
    let mark = match &file.origin.untrusted_source {
        Some(source) => format!("\n{UNTRUSTED_MARK} It is from {source}."),
        None => String::new(),
    };
    format!("{name} · {range}{more}{mark}\n{shown}")
}
