//! Calls that make a batch of changes: one plan with one prompt, carried out item by item, and the outcome.

use crate::chat::batch::{Batch, BatchWork, Operation};
use crate::chat::{Access, Intent, Plan, Preview, Work};
use crate::project::batch::ItemOutcome;
use std::path::PathBuf;

/// Paths listed per kind in an outcome; the rest are counted.
const MAX_LISTED: usize = 20;

/// Outcome of a batch: the names of its items by result, with the reason if an item was not applied.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BatchOutcome {
    pub applied: Vec<String>,
    rejected: Vec<String>,
    /// Items in conflict, and items that a rule denies.
    conflicts: Vec<String>,
    failed: Vec<String>,
}

/// Plans a batch. It has no preconditions: each item is compared right before it is applied, so that one conflict does not
/// stop the others.
pub fn plan_batch(title: &str, summary: String, batch: Batch, work: BatchWork) -> Intent {
    // The user has rejected nothing yet.
    let (access, destroys) = (strictest_access(&batch), batch.destroys(&[]));
    let plan = Plan::new(title, summary, access, Preview::Batch(batch), Work::Batch(work));
    Intent::Act(Box::new(Plan { destroys, ..plan }))
}

/// Returns the strictest access of the changes that can be applied. The policy has judged each change separately.
fn strictest_access(batch: &Batch) -> Access {
    // The user has rejected no items yet.
    let accesses = || batch.selected_items(&[]).map(|(_, item)| &item.access);
    let outside_access = accesses().find(|access| matches!(access, Access::WriteOutside(_)));
    outside_access.or(accesses().next()).cloned().unwrap_or(Access::WriteOutside(PathBuf::new()))
}

/// Applies the items that were not rejected, one by one. `apply` gets the changes of an item and the lines at which its
/// rejected hunks begin.
pub fn apply_items(
    batch: &Batch,
    work: &BatchWork,
    progress: &dyn Fn(usize),
    apply: &dyn Fn(&[Operation], &[usize]) -> ItemOutcome,
) -> BatchOutcome {
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
        match apply(operations, rejected_hunks) {
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
    outcome
}

impl BatchOutcome {
    /// Returns whether something had to be applied and nothing was.
    pub fn is_failure(&self) -> bool {
        self.applied.is_empty() && !(self.conflicts.is_empty() && self.failed.is_empty())
    }

    /// Returns whether everything that was not rejected is applied.
    pub fn is_complete(&self) -> bool {
        self.conflicts.is_empty() && self.failed.is_empty()
    }

    /// Describes the outcome: `source changes: 2 of 3 applied.`, then the names. `verb` is `applied`.
    pub fn to_text(&self, label: &str, verb: &str) -> String {
        let total = self.applied.len() + self.rejected.len() + self.conflicts.len() + self.failed.len();
        let mut text = format!("{label}: {} of {total} {verb}.", self.applied.len());
        let mut capitalized = verb.to_owned();
        capitalized[..1].make_ascii_uppercase();
        for (heading, names) in [
            (capitalized, &self.applied),
            ("Rejected by the user".to_owned(), &self.rejected),
            (format!("Not {verb}"), &self.conflicts),
            ("Failed".to_owned(), &self.failed),
        ] {
            if !names.is_empty() {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                text.push_str(&format!("\n{heading}: {}\n{}", names.len(), list_names(&names)));
            }
        }
        text
    }
}

/// Lists one name per line, then the count of the rest.
pub fn list_names(names: &[&str]) -> String {
    let mut lines: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("  {name}")).collect();
    lines.extend((names.len() > MAX_LISTED).then(|| format!("  and {} more", names.len() - MAX_LISTED)));
    lines.join("\n")
}
