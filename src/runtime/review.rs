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

/// Asks the reviewer named in the context and sends its review to the agent.
pub(super) async fn review_call(
    context: EffectContext,
    turn: TurnId,
    call: ToolCall,
    plan: Box<Plan>,
    round: u64,
    review_context: Box<ReviewContext>,
) {
    let started = Instant::now();
    let review = catch_panic_async(ask_reviewer(&context, &call, &plan, &review_context)).await;
    let mut review =
        review.unwrap_or_else(|| Review::from_error("internal error while asking it; this is a bug in aye"));
    review.took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    context.send_event(Event::CallReviewed { turn, call: call.id, round, review }).await;
}

async fn ask_reviewer(context: &EffectContext, call: &ToolCall, plan: &Plan, review_context: &ReviewContext) -> Review {
    match &review_context.reviewer {
        Reviewer::Hook(name) => {
            let Some(hook) = context.reviewers.hooks.get(name) else {
                return Review::from_error("it is no longer in the settings");
            };
            match hook.ask_hook(&hook_input(context, call, plan, review_context)).await {
                Ok(answer) => Review::from_answer(&review_context.reviewer, &answer),
                Err(error) => Review::from_error(&error),
            }
        }
        Reviewer::Model => match &context.reviewers.model {
            Some(side_model) => model_reviewer::ask_model(context, side_model, call, plan, review_context).await,
            None => Review::from_error("it is no longer in the settings"),
        },
    }
}

/// Returns the input of a hook: one line of JSON.
fn hook_input(context: &EffectContext, call: &ToolCall, plan: &Plan, review_context: &ReviewContext) -> String {
    // The tool may have accepted invalid JSON by its own rules; then the text is passed on.
    let arguments = match unique_keys::parse_unique(&call.arguments) {
        Ok((arguments, None)) => arguments,
        Ok((_, Some(_))) | Err(_) => Value::String(call.arguments.clone()),
    };
    let question = json!({
        "version": HOOK_INPUT_VERSION,
        "session": context.reviewers.session,
        "project": context.project.root().to_string_lossy(),
        "mode": review_context.mode,
        "dry_run": review_context.dry_run,
        "call": call.id.0,
        "tool": call.name,
        "arguments": arguments,
        "summary": plan.summary,
        "access": plan.access,
        "preview": plan.preview_for_reviewers(),
        "references": plan.references_for_reviewers(),
        "destroys": plan.destroys,
        "verdict": review_context.verdict,
        "why": review_context.reason,
    });
    format!("{question}\n")
}
