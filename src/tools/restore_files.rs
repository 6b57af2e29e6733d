//! Restores files from checkpoints with one prompt, in which the user can reject files and hunks. Never offered to the
//! model.

use super::arguments::{object_spec, parse_arguments};
use super::batch_call::{apply_items, list_names, plan_batch};
use super::{Error, LiveContext, Tool, run_blocking};
use crate::chat::batch::Batch;
use crate::chat::{CallWords, CheckpointSpan, Intent, Plan, Preview, RESTORE_FILES, ToolSpec, Work};
use crate::project::Reader;
use crate::project::checkpoints::{CallRecorder, Checkpoints, Restoration, RestorePlan};
use crate::project::disk::Disk;
use crate::project::output::CommandProgress;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(RESTORE_FILES, "Restore");

/// Restores checkpoints.
pub struct RestoreFiles(Arc<Restoration>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    checkpoints: Vec<CheckpointSpan>,
}

impl RestoreFiles {
    pub fn new(checkpoints: Arc<Checkpoints>, disk: Arc<Disk>) -> Self {
        Self(Arc::new(Restoration::new(checkpoints, disk)))
    }
}

#[async_trait]
impl Tool for RestoreFiles {
    fn tool_spec(&self) -> ToolSpec {
        let span = json!({
            "type": "object",
            "properties": {
                "session": { "type": "string" },
                "first": { "type": "string" },
                "last": { "type": "string" },
            },
        });
        let checkpoints = json!({ "type": "array", "items": span, "description": "Changes to undo" });
        object_spec(
            RESTORE_FILES,
            "Restore files as they were before these changes.",
            json!({ "checkpoints": checkpoints }),
            &["checkpoints"],
        )
    }

    fn is_offered(&self) -> bool {
        false
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { checkpoints } = parse_arguments(&self.tool_spec(), arguments)?;
        let restore_plan = self.0.plan(&checkpoints).map_err(Error::Failed)?;
        let (batch, mut work) = self.0.draft_batch(&restore_plan);
        if let Some(problem) = describe_problem(&restore_plan, &batch) {
            return Err(Error::Failed(problem));
        }
        work.source = arguments.clone();
        let summary = batch.describe_batch();
        Ok(plan_batch("Restore files?", summary, batch, work))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        let (Preview::Batch(batch), Work::Batch(work)) = (&plan.preview, &plan.work) else {
            return Err(Error::Internal("the plan belongs to another tool".to_owned()));
        };
        let Arguments { checkpoints } = parse_arguments(&self.tool_spec(), &work.source)?;
        let (restoration, batch, work) = (self.0.clone(), batch.clone(), work.clone());
        let (progress, recorder) = (context.progress.clone(), context.recorder.clone());
        run_blocking(context.project.clone(), move |_| {
            let restore_plan = restoration.plan(&checkpoints).map_err(Error::Failed)?;
            let recorder = recorder.with_undone(restore_plan.undoes.clone());
            let report = |count| {
                progress(CommandProgress::from_status(&format!("{count} of {} restored", batch.items.len())));
            };
            let outcome = apply_items(&batch, &work, &report, &|operations, rejected| {
                restoration.restore_item(&restore_plan, operations, rejected, &recorder)
            });
            restoration.remove_emptied(&restore_plan, &recorder);
            let text = describe_outcome(outcome.to_text("files", "restored"), &recorder, &batch);
            if outcome.is_failure() { Err(Error::Failed(text)) } else { Ok(text) }
        })
        .await
    }
}

/// Returns why nothing can be restored, if so.
pub fn describe_problem(restore_plan: &RestorePlan, batch: &Batch) -> Option<String> {
    let blocked: Vec<&str> = batch.items.iter().filter_map(|item| item.blocked.as_deref()).collect();
    let notes: String = batch.notes.iter().map(|note| format!("\n{note}")).collect();
    if restore_plan.is_empty() {
        return Some(format!("{}{notes}", describe_empty_plan(&batch.notes)));
    }
    let is_blocked = blocked.len() == batch.items.len() && restore_plan.emptied_folders.is_empty();
    is_blocked.then(|| format!("No file can be restored:\n{}{notes}", list_names(&blocked)))
}

/// Returns why a plan changes nothing. `notes` name what cannot be restored.
pub fn describe_empty_plan(notes: &[String]) -> &'static str {
    match notes.is_empty() {
        true => "There is nothing to restore: the files already have this state.",
        false => "There is nothing that can be restored.",
    }
}

/// Adds to the outcome what could not be restored, and whether it can be undone.
pub fn describe_outcome(mut text: String, recorder: &CallRecorder, batch: &Batch) -> String {
    batch.notes.iter().for_each(|note| text.push_str(&format!("\n{note}")));
    if let Some(reason) = recorder.failure() {
        text.push_str(&format!("\nThis cannot be undone: it could not be recorded: {reason}"));
    }
    text
}
