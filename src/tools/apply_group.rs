//! Applies one group of a dry run's changes with one prompt, in which the user can reject files and hunks. Never
//! offered to the model.

use super::arguments::checked;
use super::{Error, Hands, Tool, blocking};
use crate::chat::batch::{APPLY_GROUP, Batch, BatchWork, Group};
use crate::chat::{Access, Basis, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::Reader;
use crate::project::batch::{self, Applied};
use crate::project::output::Shown;
use crate::project::rehearsal::Rehearsal;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Paths listed per kind in an outcome; the rest are counted.
const NAMED: usize = 20;

/// Applies groups of rehearsed changes.
pub struct ApplyGroup {
    rehearsal: Arc<Rehearsal>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    group: String,
    repository: Option<String>,
}

impl ApplyGroup {
    pub fn new(rehearsal: Arc<Rehearsal>) -> Self {
        Self { rehearsal }
    }
}

#[async_trait]
impl Tool for ApplyGroup {
    fn spec(&self) -> ToolSpec {
        let groups: Vec<&str> = Group::ALL.into_iter().map(Group::word).collect();
        ToolSpec {
            name: APPLY_GROUP.to_owned(),
            description: "Apply one group of the changes of a dry run.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "group": { "type": "string", "enum": groups, "description": "Group to apply" },
                    "repository": { "type": "string", "description": "For the group repository: its .git folder, relative to the project" },
                },
                "required": ["group"],
                "additionalProperties": false,
            }),
        }
    }

    fn is_offered(&self) -> bool {
        false
    }

    fn plan(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { group, repository } = checked(&self.spec(), arguments)?;
        let group = Group::from_word(&group)
            .ok_or_else(|| Error::Arguments(format!("There is no group {group}.")))?;
        let (batch, work) = batch::draft(&self.rehearsal, group, repository.as_deref().map(Path::new))?;
        let blocked: Vec<&str> = batch.items.iter().filter_map(|item| item.blocked.as_deref()).collect();
        if blocked.len() == batch.items.len() {
            let why = match blocked.as_slice() {
                [] => format!("There are no {} to apply.", group.label()),
                [one] => format!("{one}."),
                many => format!("None of the {} can be applied:\n{}", group.label(), listed(many)),
            };
            return Err(Error::Failed(why));
        }
        let title = match group {
            Group::Source => "apply source changes?",
            Group::Ignored => "apply ignored files?",
            Group::GitSettings => "apply git settings and hooks?",
            Group::Repository => "apply the commits?",
        };
        Ok(Intent::Act(Box::new(Plan {
            title: title.to_owned(),
            summary: format!("{}: {}", group.label(), batch.words()),
            access: access(&batch),
            destroys: batch.destroys(&[]),
            preview: Preview::Batch(batch),
            always: None,
            // Each item is compared right before it is applied, so that one conflict does not stop the others.
            basis: Basis::default(),
            work: Work::Batch(work),
        })))
    }

    async fn act(&self, plan: &Plan, hands: &Hands) -> Result<String, Error> {
        let (Preview::Batch(batch), Work::Batch(work)) = (&plan.preview, &plan.work) else {
            return Err(Error::Broken("the plan belongs to another tool".to_owned()));
        };
        let (rehearsal, batch, work) = (self.rehearsal.clone(), batch.clone(), work.clone());
        let progress = hands.progress.clone();
        blocking(hands.project.clone(), move |_| {
            let done = apply(&rehearsal, &batch, &work, &|at| {
                progress(Shown::status(&format!("{at} of {} applied", batch.items.len())));
            });
            if done.applied.is_empty() && !(done.conflicts.is_empty() && done.failed.is_empty()) {
                return Err(Error::Failed(done.words(batch.group)));
            }
            Ok(done.words(batch.group))
        })
        .await
    }
}

/// Returns the strictest access of the changes that can be applied. The policy has judged each change separately.
fn access(batch: &Batch) -> Access {
    let all = || batch.selected(&[]).map(|(_, item)| &item.access);
    let careful = all().find(|access| matches!(access, Access::WriteOutside(_)));
    careful.or(all().next()).cloned().unwrap_or(Access::WriteOutside(PathBuf::new()))
}

/// Outcome of a batch: the names of its items by result.
#[derive(Debug, Default, PartialEq, Eq)]
struct Done {
    applied: Vec<String>,
    rejected: Vec<String>,
    conflicts: Vec<String>,
    failed: Vec<String>,
}

/// Applies the items that were not rejected, one by one.
fn apply(rehearsal: &Rehearsal, batch: &Batch, work: &BatchWork, progress: &dyn Fn(usize)) -> Done {
    let mut done = Done::default();
    for (at, (item, operations)) in batch.items.iter().zip(&work.items).enumerate() {
        let name = item.name();
        let rejected = work.rejected.iter().find(|rejected| rejected.item == at);
        if let Some(why) = &item.blocked {
            done.conflicts.push(format!("{name}: {why}"));
            continue;
        }
        let hunks = match rejected {
            Some(rejected) if rejected.is_whole() => {
                done.rejected.push(name);
                continue;
            }
            Some(rejected) => rejected.hunks.as_slice(),
            None => &[],
        };
        match batch::apply(rehearsal, operations, hunks) {
            Applied::Done if hunks.is_empty() => done.applied.push(name),
            Applied::Done => {
                let all = item.diff.as_ref().map_or(0, |diff| diff.hunks.len());
                done.applied.push(format!("{name} ({} of {all} hunks)", all.saturating_sub(hunks.len())));
            }
            Applied::Already => done.applied.push(format!("{name} (already so)")),
            Applied::Conflict(why) => done.conflicts.push(format!("{name}: CONFLICT: {why}")),
            Applied::Failed(why) => done.failed.push(format!("{name}: {why}")),
        }
        progress(done.applied.len());
    }
    batch::delete_empty(rehearsal, &work.folders);
    done
}

impl Done {
    fn words(&self, group: Group) -> String {
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
                text.push_str(&format!("\n{label}: {}\n{}", names.len(), listed(&names)));
            }
        }
        text
    }
}

/// Lists one name per line, then the count of the rest.
fn listed(names: &[&str]) -> String {
    let mut lines: Vec<String> = names.iter().take(NAMED).map(|name| format!("  {name}")).collect();
    lines.extend((names.len() > NAMED).then(|| format!("  and {} more", names.len() - NAMED)));
    lines.join("\n")
}

#[cfg(test)]
mod tests;
