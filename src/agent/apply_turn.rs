//! Apply turns: the user decides on each rehearsed call that is to run live. Every call requires approval, and no model
//! request follows the last call.

use super::event::ApplyRequest;
use super::update_context::{NextStep, UpdateContext};
use crate::chat::batch::APPLY_GROUP;
use crate::chat::dry_run_summary::APPLY_CHANGE;
use crate::chat::{
    Access, CallId, Decision, Entry, Intent, Item, LiveCall, Outcome, Plan, Preview, ToolCall, Work, join_first,
};
use crate::policy::Verdict;
use serde_json::Value;
use std::path::Path;

/// Maximum number of changed paths named on an approval prompt.
const MAX_NAMED_PATHS: usize = 4;

/// Starts an apply turn. Ignored while a turn runs, and in a dry run, where nothing can be applied.
pub(super) fn start_apply_turn(ctx: &mut UpdateContext<'_>, request: ApplyRequest) {
    if !ctx.state.is_idle() || ctx.state.is_dry_run() || request.calls.is_empty() {
        return;
    }
    let turn = ctx.new_turn();
    let call_count = ctx.state.session.calls().count();
    let build_call = |(index, live_call): (usize, &LiveCall)| ToolCall {
        id: CallId(format!("offered_{}", call_count + index + 1)),
        name: live_call.tool.clone(),
        arguments: live_call.arguments.to_string(),
    };
    let calls: Vec<ToolCall> = request.calls.iter().enumerate().map(build_call).collect();
    // A model may have used the same ID.
    let calls = ctx.with_unique_ids(&calls);
    let changed_paths = request.calls.into_iter().map(|live_call| live_call.changed_paths);
    ctx.state.turn.rehearsed_paths = Some(calls.iter().map(|call| call.id.clone()).zip(changed_paths).collect());
    ctx.record_entry(Entry::UserMessage { text: request.message });
    ctx.record_entry(Entry::from_calls(calls.clone()));
    ctx.next_steps.push_back(NextStep::StartCalls(turn, calls));
}

/// Adds a warning to the prompt of a command if changes from its rehearsal have already been applied: running the
/// command would make them a second time.
pub(super) fn warn_repeated_changes(
    ctx: &UpdateContext<'_>,
    id: &CallId,
    intent: Result<Intent, String>,
) -> Result<Intent, String> {
    let Ok(Intent::Act(mut plan)) = intent else { return intent };
    let rehearsed_paths = ctx.state.turn.rehearsed_paths.as_ref().and_then(|paths| paths.get(id));
    let paths = rehearsed_paths.into_iter().flatten().map(String::as_str);
    let applied_paths: Vec<&str> = paths.filter(|path| is_change_applied(ctx, path)).collect();
    if matches!(plan.preview, Preview::Command(_)) && !applied_paths.is_empty() {
        let warning = format!("repeats applied changes: {}", join_first(&applied_paths, MAX_NAMED_PATHS));
        plan.destroys = Some(match plan.destroys.take() {
            Some(destroys) => format!("{warning}; it {destroys}"),
            None => warning,
        });
    }
    Ok(Intent::Act(plan))
}

/// Judges each change of a batch on its own, so that a rule that denies one path excludes only that path.
pub(super) fn judge_items(ctx: &UpdateContext<'_>, tool: &str, plan: &mut Plan) {
    let Plan { preview: Preview::Batch(batch), access, destroys, .. } = plan else { return };
    for item in &mut batch.items {
        let (preview, work) = (Preview::Text(String::new()), Work::Arguments(Value::Null));
        let item_plan = Plan {
            destroys: item.destroys.clone(),
            ..Plan::new("", String::new(), item.access.clone(), preview, work)
        };
        let verdict = ctx.judge_plan(tool, &item_plan);
        if let Verdict::Deny(reason) = verdict {
            item.blocked.get_or_insert(reason);
        }
    }
    // The batch is judged by its remaining items.
    let selected_accesses = || batch.selected_items(&[]).map(|(_, item)| &item.access);
    let widest_access = selected_accesses()
        .find(|access| matches!(access, Access::WriteOutside(_)))
        .or_else(|| selected_accesses().next());
    *access = widest_access.cloned().unwrap_or_else(|| access.clone());
    *destroys = batch.destroys(&[]);
}

/// Returns whether this call has applied the path as a part of its group: the call is done, and the user did not reject
/// the path. `None` if the group does not contain the path.
fn is_in_applied_group(ctx: &UpdateContext<'_>, id: &CallId, path: &str) -> Option<bool> {
    let call = ctx.state.session.find_call(id)?;
    let Some(Preview::Batch(batch)) = call.plan.as_ref().map(|plan| &plan.preview) else { return None };
    let entries = ctx.state.session.entries();
    let rejected = entries.iter().rev().find_map(|entry| match entry {
        Entry::Decided { call, decision: Decision::Selected(rejected), .. } if call == id => Some(rejected.as_slice()),
        _ => None,
    });
    let overlaps_path = |item: &Item| Path::new(path).starts_with(&item.path) || item.path.starts_with(path);
    batch.items.iter().any(overlaps_path).then(|| {
        batch.selected_items(rejected.unwrap_or_default()).any(|(_, item)| overlaps_path(item)) && is_call_done(ctx, id)
    })
}

fn is_call_done(ctx: &UpdateContext<'_>, id: &CallId) -> bool {
    let settled_at = ctx.state.session.find_call(id).and_then(|call| call.settled_at);
    let entry = settled_at.and_then(|index| ctx.state.session.entries().get(index));
    matches!(entry, Some(Entry::Settled { outcome: Outcome::Done(_), .. }))
}

/// Returns whether the change of a path is applied live. If this turn has no call for the path, its change was
/// applied before this turn.
fn is_change_applied(ctx: &UpdateContext<'_>, path: &str) -> bool {
    let calls_of = |tool: &'static str| {
        ctx.state.pending().iter().map(|pending| &pending.call).filter(move |call| call.name == tool)
    };
    let changes_path = |call: &&ToolCall| {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        // A folder is applied with its contents, unless they have prompts of their own.
        arguments["path"]
            .as_str()
            .is_some_and(|call_path| Path::new(path).starts_with(call_path) || Path::new(call_path).starts_with(path))
    };
    let by_groups = calls_of(APPLY_GROUP).filter_map(|call| is_in_applied_group(ctx, &call.id, path));
    let by_changes = calls_of(APPLY_CHANGE).filter(changes_path).map(|call| is_call_done(ctx, &call.id));
    let are_applied: Vec<bool> = by_groups.chain(by_changes).collect();
    are_applied.is_empty() || are_applied.contains(&true)
}

/// Requires approval for every call of an apply turn.
pub(super) fn require_decision(is_apply_turn: bool, verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Allow(_) if is_apply_turn => Verdict::Ask("separate decision for each change".to_owned()),
        Verdict::Allow(_) | Verdict::Ask(_) | Verdict::Rehearse(_) | Verdict::Withhold(_) | Verdict::Deny(_) => verdict,
    }
}
