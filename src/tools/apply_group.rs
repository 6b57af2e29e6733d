//! Applies one group of a dry run's changes with one prompt, in which the user can reject files and hunks. Never
//! offered to the model.

use super::arguments::{object_spec, parse_arguments};
use super::{Error, LiveContext, Tool, run_blocking};
use crate::chat::batch::{APPLY_GROUP, Batch, BatchWork, Group};
use crate::chat::{Access, Intent, Plan, Preconditions, Preview, ToolSpec, Work};
use crate::project::Reader;
use crate::project::batch::{self, ItemOutcome};
use crate::project::output::CommandProgress;
use crate::project::rehearsal::Rehearsal;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Paths listed per kind in an outcome; the rest are counted.
const MAX_LISTED: usize = 20;

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
        Ok(Intent::Act(Box::new(Plan {
            title: title.to_owned(),
            summary: format!("{}: {}", group.label(), batch.describe_batch()),
            access: strictest_access(&batch),
            // The user has rejected nothing yet.
            destroys: batch.destroys(&[]),
            preview: Preview::Batch(batch),
            grant: None,
            // Each item is compared right before it is applied, so that one conflict does not stop the others.
            preconditions: Preconditions::default(),
            work: Work::Batch(work),
        })))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        let (Preview::Batch(batch), Work::Batch(work)) = (&plan.preview, &plan.work) else {
            return Err(Error::Internal("the plan belongs to another tool".to_owned()));
        };
        let (rehearsal, batch, work) = (self.0.clone(), batch.clone(), work.clone());
        let progress = context.progress.clone();
        run_blocking(context.project.clone(), move |_| {
            let outcome = apply_items(&rehearsal, &batch, &work, &|count| {
                progress(CommandProgress::from_status(&format!("{count} of {} applied", batch.items.len())));
            });
            if outcome.applied.is_empty() && !(outcome.conflicts.is_empty() && outcome.failed.is_empty()) {
                return Err(Error::Failed(outcome.to_text(batch.group)));
            }
            Ok(outcome.to_text(batch.group))
        })
        .await
    }
}

/// Returns the strictest access of the changes that can be applied. The policy has judged each change separately.
fn strictest_access(batch: &Batch) -> Access {
    // The user has rejected no items yet.
    let accesses = || batch.selected_items(&[]).map(|(_, item)| &item.access);
    let outside_access = accesses().find(|access| matches!(access, Access::WriteOutside(_)));
    outside_access.or(accesses().next()).cloned().unwrap_or(Access::WriteOutside(PathBuf::new()))
}

/// Outcome of a batch: the names of its items by result, with the reason if an item was not applied.
#[derive(Debug, Default, PartialEq, Eq)]
struct BatchOutcome {
    applied: Vec<String>,
    rejected: Vec<String>,
    /// Items in conflict, and items that a rule denies.
    conflicts: Vec<String>,
    failed: Vec<String>,
}

/// Applies the items that were not rejected, one by one.
fn apply_items(rehearsal: &Rehearsal, batch: &Batch, work: &BatchWork, progress: &dyn Fn(usize)) -> BatchOutcome {
    let mut outcome = BatchOutcome::default();
    for (index, (item, operations)) in batch.items.iter().zip(&work.items).enumerate() {
        let name = item.name();
        let rejected = work.rejected.iter().find(|rejected| rejected.item == index);
        if let Some(why) = &item.blocked {
            outcome.conflicts.push(format!("{name}: {why}"));
            continue;
        }
        let rejected_hunks = match rejected {
            Some(rejected) if rejected.is_whole_item() => {
                outcome.rejected.push(name);
                continue;
            }
            Some(rejected) => rejected.hunks.as_slice(),
            None => &[],
        };
        match batch::apply_item(rehearsal, operations, rejected_hunks) {
            ItemOutcome::Applied if rejected_hunks.is_empty() => outcome.applied.push(name),
            ItemOutcome::Applied => {
                let hunk_count = item.diff.as_ref().map_or(0, |diff| diff.hunks.len());
                let applied_count = hunk_count.saturating_sub(rejected_hunks.len());
                outcome.applied.push(format!("{name} ({applied_count} of {hunk_count} hunks)"));
            }
            ItemOutcome::AlreadyApplied => outcome.applied.push(format!("{name} (already applied)")),
            ItemOutcome::Conflict(why) => outcome.conflicts.push(format!("{name}: CONFLICT: {why}")),
            ItemOutcome::Failed(why) => outcome.failed.push(format!("{name}: {why}")),
        }
        progress(outcome.applied.len());
    }
    batch::delete_empty(rehearsal, &work.folders);
    outcome
}

impl BatchOutcome {
    fn to_text(&self, group: Group) -> String {
        let total = self.applied.len() + self.rejected.len() + self.conflicts.len() + self.failed.len();
        let mut text = format!("{}: {} of {total} applied.", group.label(), self.applied.len());
        for (label, names) in [
            ("Applied", &self.applied),
            ("Rejected by the user", &self.rejected),
            ("Not applied", &self.conflicts),
            ("Failed", &self.failed),
        ] {
            if !names.is_empty() {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                text.push_str(&format!("\n{label}: {}\n{}", names.len(), list_names(&names)));
            }
        }
        text
    }
}

/// Lists one name per line, then the count of the rest.
fn list_names(names: &[&str]) -> String {
    let mut lines: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("  {name}")).collect();
    lines.extend((names.len() > MAX_LISTED).then(|| format!("  and {} more", names.len() - MAX_LISTED)));
    lines.join("\n")
}

#[cfg(test)]
mod tests;
