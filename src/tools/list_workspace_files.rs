//! Tool that lists the files of a workspace.

use super::arguments::{object_spec, parse_arguments};
use super::workspace_target::{display_path, open_workspace, rehearse_in_workspace, run_in_workspace, summarize_path};
use super::{Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data};
use crate::chat::{Access, Intent, Plan, Preview, ToolSpec, Work, WorkspaceAccess, pluralize};
use crate::project::{Reader, Writer};
use crate::text::byte_size::format_bytes;
use crate::text::escaped_path::escape_path;
use crate::text::workspace_address::PathPrefix;
use crate::workspace::{StoredFile, Workspace};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

pub const NAME: &str = "list_workspace_files";
/// Maximum number of files listed.
const MAX_FILES: usize = 100;

/// Lists files of workspaces.
pub struct ListWorkspaceFiles(pub Arc<Workspace>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path_prefix: Option<String>,
}

/// Returns the description of the tool for the model.
pub fn tool_spec() -> ToolSpec {
    object_spec(
        NAME,
        "List files of the session's workspace: generated files and long results, not the project. Newest first.",
        json!({
            "path_prefix": {
                "type": "string",
                "description": "Folder; /sessions/ID/ for another session",
            },
        }),
        &[],
    )
}

impl ListWorkspaceFiles {
    /// Does what was planned, live or in the workspace of a dry run.
    async fn execute(&self, plan: &Plan, project: Arc<dyn Writer>) -> Result<String, Error> {
        let text: String = parse_plan_data(plan)?;
        run_in_workspace(&self.0, project, move |own| {
            let prefix = parse_prefix(&text)?;
            let (workspace, session) = open_workspace(own, prefix.session.clone())?;
            let files = workspace.list(&prefix)?;
            let name = |file: &StoredFile| display_path(session.as_ref(), file.path.as_str());
            Ok(format_list(&files, &name))
        })
        .await
    }
}

#[async_trait]
impl Tool for ListWorkspaceFiles {
    fn name(&self) -> Cow<'_, str> {
        NAME.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        tool_spec()
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { path_prefix } = parse_arguments(&tool_spec(), arguments)?;
        let text = path_prefix.unwrap_or_default();
        let prefix = parse_prefix(&text)?;
        let (_, session) = open_workspace(&self.0, prefix.session.clone())?;
        let path = prefix.folder().to_owned();
        let summary = match path.is_empty() {
            true => "all files".to_owned(),
            false => summarize_path(session.as_ref(), &path),
        };
        let preview = Preview::Text(format!("files of the workspace: {summary}"));
        let access = WorkspaceAccess { path, session, ..WorkspaceAccess::default() };
        let (access, work) = (Access::Workspace(Box::new(access)), Work::Arguments(json!(text)));
        Ok(Intent::Act(Box::new(Plan::new("List files of a workspace?", summary, access, preview, work))))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        self.execute(plan, context.project.clone()).await
    }

    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        rehearse_in_workspace(NAME, plan, context, self.execute(plan, context.project.clone())).await
    }
}

fn parse_prefix(text: &str) -> Result<PathPrefix, Error> {
    PathPrefix::parse(text.trim()).map_err(|reason| Error::Arguments(format!("Cannot use this path_prefix: {reason}.")))
}

/// Formats the list: counts, then a line for each file.
fn format_list(files: &[StoredFile], name: &dyn Fn(&StoredFile) -> String) -> String {
    let bytes: u64 = files.iter().map(|file| file.size).sum();
    let mut lines = vec![match files.len() {
        0 => "No files.".to_owned(),
        count => format!("{}, {}", pluralize(count, "file"), format_bytes(bytes)),
    }];
    lines.extend(files.iter().take(MAX_FILES).map(|file| {
        let version = if file.version > 1 { format!(" · version {}", file.version) } else { String::new() };
        let path = escape_path(Path::new(&name(file)));
        format!("{}  {path}  {} · {}{version}", file.id, format_bytes(file.size), file.media_type)
    }));
    if files.len() > MAX_FILES {
        lines.push(format!("{} more; narrow them with path_prefix", files.len() - MAX_FILES));
    }
    lines.join("\n")
}
