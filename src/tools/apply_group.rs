//! Applies one group of a dry run's changes with one prompt, in which the user can reject files and hunks. Never
//! offered to the model.

use super::arguments::{object_spec, parse_arguments};
use super::batch_call::{apply_items, list_names, plan_batch};
use super::{Error, LiveContext, Tool, run_blocking};
use crate::chat::batch::{APPLY_GROUP, Group};
use crate::chat::{CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::Reader;
use crate::project::batch;
use crate::project::output::CommandProgress;
use crate::project::rehearsal::Rehearsal;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(APPLY_GROUP, "Apply");

/// Applies groups of rehearsed changes.
pub struct ApplyGroup(pub Arc<Rehearsal>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    group: String,
    repository: Option<String>,
}

#[async_trait]
impl Tool for ApplyGroup {
    fn tool_spec(&self) -> ToolSpec {
        let groups: Vec<&str> = Group::ALL.into_iter().map(Group::as_str).collect();
        object_spec(
            APPLY_GROUP,
            "Apply one group of the changes of a dry run.",
            json!({
                "group": { "type": "string", "enum": groups, "description": "Group to apply" },
                "repository": { "type": "string", "description": "For the group repository: its .git folder, relative to the project" },
            }),
            &["group"],
        )
    }

    fn is_offered(&self) -> bool {
        false
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { group, repository } = parse_arguments(&self.tool_spec(), arguments)?;
        let group = Group::from_name(&group).ok_or_else(|| Error::Arguments(format!("There is no group {group}.")))?;
        let (batch, work) = batch::draft_batch(&self.0, group, repository.as_deref().map(Path::new))?;
        let blocked: Vec<&str> = batch.items.iter().filter_map(|item| item.blocked.as_deref()).collect();
        if blocked.len() == batch.items.len() {
            let why = match blocked.as_slice() {
                [] => format!("There are no {} to apply.", group.label()),
                [reason] => format!("{reason}."),
                reasons => format!("None of the {} can be applied:\n{}", group.label(), list_names(reasons)),
            };
            return Err(Error::Failed(why));
        }
        let title = match group {
            Group::Source => "Apply source changes?",
            Group::Ignored => "Apply ignored files?",
            Group::GitSettings => "Apply git settings and hooks?",
            Group::Repository => "Apply the commits?",
        };
        let summary = format!("{}: {}", group.label(), batch.describe_batch());
        Ok(plan_batch(title, summary, batch, work))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        let (Preview::Batch(batch), Work::Batch(work)) = (&plan.preview, &plan.work) else {
            return Err(Error::Internal("the plan belongs to another tool".to_owned()));
        };
        let (rehearsal, batch, work) = (self.0.clone(), batch.clone(), work.clone());
        let (progress, recorder) = (context.progress.clone(), context.recorder.clone());
        run_blocking(context.project.clone(), move |_| {
            let report = |count| {
                progress(CommandProgress::from_status(&format!("{count} of {} applied", batch.items.len())));
            };
            let outcome = apply_items(&batch, &work, &report, &|operations, rejected| {
                batch::apply_item(&rehearsal, operations, rejected, &recorder)
            });
            batch::delete_empty(&rehearsal, &work.folders, &recorder);
            let text = outcome.to_text(batch.group.label(), "applied");
            if outcome.is_failure() { Err(Error::Failed(text)) } else { Ok(text) }
        })
        .await
    }
}

#[cfg(test)]
mod tests;
