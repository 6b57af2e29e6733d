//! Tool that deletes a file of a workspace. Its versions are kept.

use super::arguments::{object_spec, parse_arguments};
use super::result_files::ResultFiles;
use super::workspace_target::{
    PlannedFile, display_path, parse_target, rehearse_in_workspace, run_in_workspace, summarize_path,
};
use super::{Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data};
use crate::chat::{Access, CallWords, Grant, GrantScope, Intent, Plan, Preview, ToolSpec, Work, WorkspaceAccess};
use crate::project::{Reader, Writer};
use crate::text::byte_size::format_bytes;
use crate::text::workspace_address::AddressTarget;
use crate::workspace::Workspace;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

pub const NAME: &str = "delete_workspace_file";

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(NAME, "Delete from workspace").with_path();

/// Deletes files of workspaces.
pub struct DeleteWorkspaceFile(pub Arc<Workspace>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    file_id: Option<String>,
    path: Option<String>,
}

/// Returns the description of the tool for the model.
pub fn tool_spec() -> ToolSpec {
    object_spec(
        NAME,
        "Delete a workspace file by file_id or path.",
        json!({
            "file_id": { "type": "string", "description": "ID" },
            "path": { "type": "string", "description": "In the workspace" },
        }),
        &[],
    )
}

impl DeleteWorkspaceFile {
    /// Does what was planned, live or in the workspace of a dry run.
    async fn execute(&self, plan: &Plan, project: Arc<dyn Writer>, results: &ResultFiles) -> Result<String, Error> {
        let planned: PlannedFile = parse_plan_data(plan)?;
        let origin = results.origin();
        run_in_workspace(&self.0, project, move |own| {
            let (workspace, file) = planned.find_again(own)?;
            if !file.is_latest {
                return Err(Error::Failed(format!(
                    "{} has changed since the plan was made. Call delete_workspace_file again.",
                    file.path
                )));
            }
            workspace.delete(&AddressTarget::Id(file.id, None), origin)?;
            let path = display_path(planned.session.as_ref(), file.path.as_str());
            let kept = if workspace.limits().keep_old_version(file.size) { " Its versions are kept." } else { "" };
            Ok(format!("Deleted {path}, {}.{kept}", format_bytes(file.size)))
        })
        .await
    }
}

#[async_trait]
impl Tool for DeleteWorkspaceFile {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        tool_spec()
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { file_id, path } = parse_arguments(&tool_spec(), arguments)?;
        let target = parse_target(&self.0, file_id.as_deref(), path.as_deref())?;
        if let AddressTarget::Id(_, Some(_)) = &target.target {
            return Err(Error::Arguments("A single version cannot be deleted. Give the ID without “@”.".to_owned()));
        }
        let file = target.workspace.find(&target.target)?;
        let path = display_path(target.session.as_ref(), file.path.as_str());
        let is_kept = target.workspace.limits().keep_old_version(file.size);
        let preview = format!(
            "{path}\n{}, {}, version {}\n{}",
            format_bytes(file.size),
            file.media_type,
            file.version,
            match is_kept {
                true => "Its versions are kept: aye files restore brings it back",
                false => "Cannot be restored: the settings keep no version of this size",
            }
        );
        let access = WorkspaceAccess {
            path: file.path.to_string(),
            session: target.session.clone(),
            changes: true,
            ..WorkspaceAccess::default()
        };
        let mut plan = Plan::new(
            "Delete a file of the workspace?",
            summarize_path(target.session.as_ref(), file.path.as_str()),
            Access::Workspace(Box::new(access)),
            Preview::Text(preview),
            Work::Arguments(json!(target.record(&file))),
        );
        plan.grant = target.session.is_none().then(|| Grant::new(NAME, GrantScope::Workspace));
        plan.destroys = (!is_kept).then_some(path);
        Ok(Intent::Act(Box::new(plan)))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        self.execute(plan, context.project.clone(), &context.results).await
    }

    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        rehearse_in_workspace(NAME, plan, context, self.execute(plan, context.project.clone(), &context.results)).await
    }
}
