//! Planning of calls, off the async threads.

use super::{EffectContext, journal_events, precondition_check};
use crate::agent::Event;
use crate::chat::{Intent, ToolCall, TurnId};
use crate::tools::panic_guard::catch_panic;

/// Maximum bytes of an error for the model.
const MAX_ERROR_BYTES: usize = 16 << 10;

/// Plans a call and sends the plan to the agent, or an error for the model.
pub(super) async fn plan_call(context: EffectContext, turn: TurnId, call: ToolCall, is_apply_call: bool) {
    let planning = {
        let (context, call) = (context.clone(), call.clone());
        tokio::task::spawn_blocking(move || {
            // First, so that the verdict is based on rules at least as new as the plan.
            let rules_event = catch_panic(|| (context.poll_rules)()).flatten();
            let intent = catch_panic(|| run_planner(&context, &call, is_apply_call));
            (rules_event, intent.unwrap_or_else(|| Err(panic_error(&call.name))))
        })
    };
    let (rules_event, intent) = planning.await.unwrap_or_else(|_| (None, Err(panic_error(&call.name))));
    let step = if intent.is_ok() { "planned" } else { "cannot be planned" };
    journal_events::note_step(&context, turn, &call, step);
    if let Some(rules_event) = rules_event {
        context.send_event(rules_event).await;
    }
    context.send_event(Event::CallPlanned { turn, call: call.id, intent }).await;
}

fn run_planner(context: &EffectContext, call: &ToolCall, is_apply_call: bool) -> Result<Intent, String> {
    let intent = context.tools.plan_call(call, context.project.as_ref(), is_apply_call);
    let mut intent = intent.map_err(|error| truncate_error(error.to_string()))?;
    if let Intent::Act(plan) = &mut intent {
        precondition_check::add_environment(context, plan);
    }
    Ok(intent)
}

/// Truncates an error, which may quote arguments of any length.
pub(super) fn truncate_error(mut error: String) -> String {
    if error.len() > MAX_ERROR_BYTES {
        error.truncate(error.floor_char_boundary(MAX_ERROR_BYTES));
        error.push('…');
    }
    error
}

/// Returns the error for the model if a tool panicked.
pub(super) fn panic_error(tool: &str) -> String {
    format!("Internal error in {tool}: a bug in aye, not in the call. Continue without it.")
}
