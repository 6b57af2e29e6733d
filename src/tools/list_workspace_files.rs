//! Tool that lists the files of a workspace.

use super::arguments::{object_spec, parse_arguments};
use super::workspace_target::{display_path, open_workspace, rehearse_in_workspace, run_in_workspace, summarize_path};
use super::{Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data};
use crate::chat::{Access, CallWords, Intent, Plan, Preview, SessionId, ToolSpec, Work, WorkspaceAccess, pluralize};
use crate::project::{Reader, Writer};
use crate::text::byte_size::format_bytes;
use crate::text::escaped_path::escape_path;
use crate::text::workspace_address::PathPrefix;
use crate::workspace::{StoredFile, Workspace};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::Path;
use std::sync::Arc;

pub const NAME: &str = "list_workspace_files";

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(NAME, "List workspace");
/// Number of files listed if the call does not say it.
const DEFAULT_LIMIT: usize = 50;
/// Maximum number of files listed.
const MAX_LIMIT: usize = 100;

/// Lists files of workspaces.
pub struct ListWorkspaceFiles(pub Arc<Workspace>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path_prefix: Option<String>,
    limit: Option<usize>,
    #[serde(default)]
    include_all_sessions: bool,
}

#[derive(Serialize, Deserialize)]
struct ListRequest {
    path_prefix: String,
    limit: usize,
    all_sessions: bool,
}

/// A file of a workspace.
struct ListedFile {
    file: StoredFile,
    /// The session if it is not the one of the call.
    session: Option<SessionId>,
}

/// Returns the description of the tool for the model.
pub fn tool_spec() -> ToolSpec {
    object_spec(
        NAME,
        "List the workspace: generated files and long results. Newest first.",
        json!({
            "path_prefix": {
                "type": "string",
                "description": "Folder; /sessions/ID/ of another session",
            },
            "limit": { "type": "integer", "description": "1-100, default 50" },
            "include_all_sessions": { "type": "boolean", "description": "All sessions" },
        }),
        &[],
    )
}

impl ListWorkspaceFiles {
    /// Does what was planned, live or in the workspace of a dry run.
    async fn execute(&self, plan: &Plan, project: Arc<dyn Writer>) -> Result<String, Error> {
        let request: ListRequest = parse_plan_data(plan)?;
        run_in_workspace(&self.0, project, move |own| {
            let prefix = parse_prefix(&request.path_prefix)?;
            let (workspace, session) = open_workspace(own, prefix.session.clone())?;
            let mut files = list_files(&workspace, session.as_ref(), &prefix)?;
            let mut unread = 0;
            if request.all_sessions {
                for session in own.other_sessions()? {
                    let listed = own.of_session(&session).map_err(Error::from);
                    match listed.and_then(|workspace| list_files(&workspace, Some(&session), &prefix)) {
                        Ok(listed) => files.extend(listed),
                        Err(_) => unread += 1,
                    }
                }
                files.sort_by_key(|listed| Reverse(listed.file.time));
            }
            let mut list = format_list(&files, request.limit);
            if unread > 0 {
                list.push_str(&format!(
                    "
{} could not be read",
                    pluralize(unread, "session")
                ));
            }
            Ok(list)
        })
        .await
    }
}

#[async_trait]
impl Tool for ListWorkspaceFiles {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        tool_spec()
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { path_prefix, limit, include_all_sessions: all_sessions } =
            parse_arguments(&tool_spec(), arguments)?;
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Error::Arguments(format!("limit is {limit}; expected 1 to {MAX_LIMIT}.")));
        }
        let text = path_prefix.unwrap_or_default();
        let prefix = parse_prefix(&text)?;
        if all_sessions && prefix.session.is_some() {
            return Err(Error::Arguments(
                "path_prefix names a session: leave out include_all_sessions, or give only a folder.".to_owned(),
            ));
        }
        let (_, session) = open_workspace(&self.0, prefix.session.clone())?;
        let path = prefix.folder().to_owned();
        let summary = match (path.is_empty(), all_sessions) {
            (true, true) => "all sessions".to_owned(),
            (true, false) => "all files".to_owned(),
            (false, true) => format!("{} of all sessions", summarize_path(None, &path)),
            (false, false) => summarize_path(session.as_ref(), &path),
        };
        let preview = Preview::Text(format!("files of the workspace: {summary}"));
        let access = WorkspaceAccess { path, session, ..WorkspaceAccess::default() };
        let request = ListRequest { path_prefix: text, limit, all_sessions };
        let (access, work) = (Access::Workspace(Box::new(access)), Work::Arguments(json!(request)));
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

/// Lists the files of a workspace.
fn list_files(
    workspace: &Workspace,
    session: Option<&SessionId>,
    prefix: &PathPrefix,
) -> Result<Vec<ListedFile>, Error> {
    let files = workspace.list(prefix)?;
    Ok(files.into_iter().map(|file| ListedFile { file, session: session.cloned() }).collect())
}

/// Formats the list: counts, then a line for each of the first files.
fn format_list(files: &[ListedFile], limit: usize) -> String {
    let bytes: u64 = files.iter().map(|listed| listed.file.size).sum();
    let mut lines = vec![match files.len() {
        0 => "No files.".to_owned(),
        count => format!("{}, {}", pluralize(count, "file"), format_bytes(bytes)),
    }];
    lines.extend(files.iter().take(limit).map(|ListedFile { file, session }| {
        let version = if file.version > 1 { format!(" · version {}", file.version) } else { String::new() };
        let path = display_path(session.as_ref(), file.path.as_str());
        // An id finds files of this session only.
        let id = if session.is_none() { format!("{}  ", file.id) } else { String::new() };
        let (path, size) = (escape_path(Path::new(&path)), format_bytes(file.size));
        format!("{id}{path}  {size} · {}{version}", file.media_type)
    }));
    if files.len() > limit {
        lines.push(format!("{} more; raise limit or use path_prefix", files.len() - limit));
    }
    lines.join("\n")
}
