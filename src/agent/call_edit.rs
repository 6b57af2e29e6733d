//! Edits of a call's arguments on its approval prompt.

use super::call_judgement::judge_call;
use super::call_settlement::digest_call;
use super::call_state::PendingEdit;
use super::state::CallStage;
use super::trials;
use super::update_context::UpdateContext;
use crate::chat::{CallId, Decider, Decision, Entry, Intent};
use serde_json::Value;

/// Separates the reason for asking from the reason why the last edit was rejected.
const EDIT_REJECTED: &str = ". Edit rejected: ";

/// Plans a waiting call again with the user's arguments.
pub(super) fn start_edit(ctx: &mut UpdateContext<'_>, id: &CallId, arguments: Value, by: Decider) {
    trials::drop_trial(ctx, id);
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let CallStage::AwaitingApproval(plan, reason) = &pending.stage else { return };
    let (plan, reason) = (plan.clone(), reason.clone());
    let original_call = pending.call.clone();
    pending.call.arguments = arguments.to_string();
    pending.pending_edit = Some(Box::new(PendingEdit { call: original_call, plan, reason, arguments, by }));
    ctx.request_plan(id);
}

/// Handles the plan of an edit. An invalid edit changes nothing: the call waits as before, and its prompt shows the
/// error.
pub(super) fn handle_edit_plan(ctx: &mut UpdateContext<'_>, edit: PendingEdit, intent: Result<Intent, String>) {
    let id = edit.call.id.clone();
    let error = match intent {
        Ok(Intent::Act(plan)) => {
            let decision = Decision::Edited(edit.arguments);
            let sha256 = digest_call(&edit.call, &edit.plan);
            ctx.record_entry(Entry::Decided { call: id.clone(), decision, by: edit.by, sha256 });
            return judge_call(ctx, &id, plan);
        }
        Ok(Intent::Ask(_)) => "these arguments would ask you a question instead of running the tool".to_owned(),
        Err(error) => error,
    };
    let Some(pending) = ctx.state.pending_mut(&id) else { return };
    pending.call = edit.call;
    let reason = edit.reason.split(EDIT_REJECTED).next().unwrap_or_default();
    let reason = format!("{reason}{EDIT_REJECTED}{error}");
    pending.stage = CallStage::AwaitingApproval(edit.plan, reason);
}
