//! Reviews of calls by hooks and the model reviewer. Any failure asks the user.

use super::{EffectContext, model_reviewer};
use crate::agent::{Event, ReviewContext};
use crate::chat::{Plan, Review, Reviewer, ToolCall, TurnId};
use crate::text::unique_keys;
use crate::tools::panic_guard::catch_panic_async;
use serde_json::{Value, json};
use std::time::Instant;

/// Version of the input of hooks. Fields may be added and are never renamed.
const HOOK_INPUT_VERSION: u32 = 1;

/// Asks the reviewer that the brief names.
pub(super) async fn review_call(
    means: EffectContext,
    turn: TurnId,
    call: ToolCall,
    plan: Box<Plan>,
    round: u64,
    brief: Box<ReviewContext>,
) {
    let started = Instant::now();
    let said = catch_panic_async(ask_reviewer(&means, &call, &plan, &brief)).await;
    let mut said = said.unwrap_or_else(|| Review::from_error("internal error while asking it; this is a bug in aye"));
    said.took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    means.send_event(Event::CallReviewed { turn, call: call.id, round, text: said }).await;
}

async fn ask_reviewer(means: &EffectContext, call: &ToolCall, plan: &Plan, brief: &ReviewContext) -> Review {
    match &brief.reviewer {
        Reviewer::Hook(name) => {
            let Some(hook) = means.reviewers.hooks.get(name) else {
                return Review::from_error("it is no longer in the settings");
            };
            match hook.ask_hook(&hook_input(means, call, plan, brief)).await {
                Ok(answer) => Review::from_answer(&brief.reviewer, &answer),
                Err(what) => Review::from_error(&what),
            }
        }
        Reviewer::Model => match &means.reviewers.model {
            Some(reader) => model_reviewer::ask_model(means, reader, call, plan, brief).await,
            None => Review::from_error("it is no longer in the settings"),
        },
    }
}

/// Returns the input of a hook: one line of JSON.
fn hook_input(means: &EffectContext, call: &ToolCall, plan: &Plan, brief: &ReviewContext) -> String {
    // The tool may have accepted invalid JSON by its own rules; then the text is passed on.
    let arguments = match unique_keys::parse_unique(&call.arguments) {
        Ok((arguments, None)) => arguments,
        Ok((_, Some(_))) | Err(_) => Value::String(call.arguments.clone()),
    };
    let question = json!({
        "version": HOOK_INPUT_VERSION,
        "session": means.reviewers.session,
        "project": means.project.root().to_string_lossy(),
        "mode": brief.mode,
        "dry_run": brief.dry_run,
        "call": call.id.0,
        "tool": call.name,
        "arguments": arguments,
        "summary": plan.summary,
        "access": plan.access,
        "preview": plan.preview,
        "destroys": plan.destroys,
        "verdict": brief.verdict,
        "why": brief.reason,
    });
    format!("{question}\n")
}
