//! Planning of calls, off the async threads.

use super::{EffectContext, journal_events, precondition_check};
use crate::agent::Event;
use crate::chat::{Intent, ToolCall, TurnId};
use crate::tools::panic_guard::catch_panic;

/// Maximum bytes of an error for the model.
const MAX_ERROR_BYTES: usize = 16 << 10;

/// Plans a call and sends the plan to the agent, or an error for the model.
pub(super) async fn plan_call(means: EffectContext, turn: TurnId, call: ToolCall) {
    let id = call.id.clone();
    let (name, noted) = (call.name.clone(), call.clone());
    let looking = {
        let means = means.clone();
        tokio::task::spawn_blocking(move || {
            // Check for changed rules first: the verdict must not rest on older ones than the plan.
            let anew = catch_panic(|| (means.plan_check)()).flatten();
            (anew, catch_panic(|| run_planner(&means, &call)).unwrap_or_else(|| Err(panic_error(&call.name))))
        })
    };
    let (anew, intent) = looking.await.unwrap_or_else(|_| (None, Err(panic_error(&name))));
    journal_events::note_step(&means, turn, &noted, if intent.is_ok() { "planned" } else { "cannot be planned" });
    if let Some(anew) = anew {
        means.send_event(anew).await;
    }
    means.send_event(Event::CallPlanned { turn, call: id, intent }).await;
}

fn run_planner(means: &EffectContext, call: &ToolCall) -> Result<Intent, String> {
    let mut intent =
        means.tools.plan_call(call, means.project.as_ref()).map_err(|error| truncate_error(error.to_string()))?;
    if let Intent::Act(plan) = &mut intent {
        precondition_check::add_environment(means, plan);
    }
    Ok(intent)
}

/// Truncates an error, which may quote arguments of any length.
pub(super) fn truncate_error(mut words: String) -> String {
    if words.len() > MAX_ERROR_BYTES {
        words.truncate(words.floor_char_boundary(MAX_ERROR_BYTES));
        words.push('…');
    }
    words
}

/// Returns the error for the model if a tool panicked.
pub(super) fn panic_error(tool: &str) -> String {
    format!("Internal error in {tool}: a bug in aye, not in the call. Continue without it.")
}
