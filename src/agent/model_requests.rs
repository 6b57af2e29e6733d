//! Model requests of a turn, from the user message to the complete reply.

use super::streaming_reply::{PendingRetry, ProviderSilence};
use super::update_context::{NextStep, UpdateContext};
use super::{Effect, Phase, compaction, offered_tools, reply_request};
use crate::chat::deferred_tools::unwrap_call;
use crate::chat::{Chunk, Ending, Entry, FinishReason, TurnId};
use std::time::Duration;

/// Maximum number of requests in one turn. A model that still calls tools after this many is in a loop.
const MAX_TURN_REQUESTS: u32 = 50;

/// Queues a user message. Starts a turn if none runs; an empty message starts one with the messages already queued.
pub(super) fn queue_user_message(ctx: &mut UpdateContext<'_>, text: String) {
    if !text.trim().is_empty() {
        ctx.state.queued_messages.push(text);
    }
    if ctx.state.is_idle() && !ctx.state.queued_messages.is_empty() {
        start_turn(ctx);
    }
}

/// Starts a turn with all queued messages.
pub(super) fn start_turn(ctx: &mut UpdateContext<'_>) {
    let turn = ctx.new_turn();
    request_reply(ctx, turn);
}

/// Requests the next reply, after adding queued messages to the session and making room if needed.
pub(super) fn request_reply(ctx: &mut UpdateContext<'_>, turn: TurnId) {
    for text in std::mem::take(&mut ctx.state.queued_messages) {
        ctx.state.turn.untrusted_text.record_attachments(&text);
        ctx.record_entry(Entry::UserMessage { text });
    }
    if ctx.state.turn.requests == MAX_TURN_REQUESTS {
        ctx.fail_turn(format!("Turn stopped: the model made {MAX_TURN_REQUESTS} requests in a row without finishing"));
        return;
    }
    if compaction::compact_if_needed(ctx, turn) {
        return;
    }
    if ctx.state.is_certainly_too_long() {
        let window = ctx.state.effective_context_window().unwrap_or_default();
        ctx.fail_turn(format!(
            "Request too long for the model: about {} tokens, {window} fit. Only your own messages remain, and these are never truncated",
            ctx.state.next_request_tokens()
        ));
        return;
    }
    ctx.state.turn.requests += 1;
    offered_tools::record_deferred_tools(ctx);
    reply_request::send_request(ctx, turn);
}

/// Handles a part of the reply.
pub(super) fn handle_chunk(ctx: &mut UpdateContext<'_>, chunk: Chunk, elapsed: Duration) {
    let Phase::Replying(reply) = &mut ctx.state.phase else { return };
    if !matches!(chunk, Chunk::Usage(_) | Chunk::Echo(_)) {
        reply.silence = None;
        // A retry stays pending until its reply begins; silence is no part of a reply.
        if !matches!(chunk, Chunk::Silent { .. }) {
            reply.pending_retry = None;
        }
    }
    if matches!(chunk, Chunk::Text(_) | Chunk::CallProgress { .. } | Chunk::Call(_) | Chunk::Done(_)) {
        reply.thinking_time.get_or_insert(elapsed);
    }
    match chunk {
        Chunk::Text(text) => {
            reply.text.push_str(&text);
            compaction::limit_summary(ctx);
        }
        Chunk::Reasoning(text) => reply.reasoning.push_str(&text),
        Chunk::WasReasoning => {
            let text = std::mem::take(&mut reply.text);
            reply.reasoning.push_str(&text);
            reply.thinking_time = None;
            reply.reclassified += 1;
        }
        Chunk::CallProgress { name, bytes } => reply.call_in_progress = Some((name, bytes)),
        Chunk::Call(call) => reply.calls.push(call),
        Chunk::Usage(usage) => reply.usage = Some(usage),
        Chunk::Retrying { attempt, max_attempts, wait, reason: why, kind: _ } => {
            reply.pending_retry = Some(PendingRetry { attempt, max_attempts, wait, reason: why });
        }
        Chunk::Silent { silence, limit } => {
            reply.silence = (!silence.is_zero()).then_some(ProviderSilence { elapsed: silence, limit })
        }
        Chunk::ModelChosen { model, reason: fallback_reason } => {
            reply.model = Some(model.clone());
            if let Some(reason) = fallback_reason {
                ctx.record_entry(Entry::FellBack { model, reason });
            }
        }
        Chunk::Echo(echo) => reply.echo = Some(Box::new(echo)),
        Chunk::Done(finish) => finish_reply(ctx, finish),
    }
}

/// Saves the partial reply.
pub(super) fn save_partial_reply(ctx: &mut UpdateContext<'_>) {
    let Phase::Replying(reply) = &mut ctx.state.phase else { return };
    if let Some(partial_reply) = reply.take_unsaved(&ctx.state.model.name) {
        ctx.effects.push(Effect::SavePartialReply(Box::new(partial_reply)));
    }
}

/// Handles the end of the reply, which may be incomplete.
fn finish_reply(ctx: &mut UpdateContext<'_>, finish: FinishReason) {
    if ctx.state.is_summarizing() {
        // A summary cut at the length limit is usable; a filtered one is not.
        return match finish {
            FinishReason::Stop | FinishReason::Length => compaction::finish_summary(ctx),
            FinishReason::Filtered(why) => {
                let too_long = false;
                compaction::handle_summary_failure(ctx, &format!("the provider withheld it ({why})"), too_long);
            }
        };
    }
    let why = match finish {
        FinishReason::Stop => return handle_complete_reply(ctx),
        FinishReason::Length => "cut at the provider's length limit".to_owned(),
        FinishReason::Filtered(why) => format!("the provider withheld the rest ({why})"),
    };
    let has_calls = matches!(&ctx.state.phase, Phase::Replying(reply) if reply.call_in_progress.is_some() || !reply.calls.is_empty());
    let calls_note = if has_calls { " Its calls were not run." } else { "" };
    record_incomplete_reply(ctx, &why);
    ctx.fail_turn(format!("Incomplete reply: {why}.{calls_note}"));
}

fn handle_complete_reply(ctx: &mut UpdateContext<'_>) {
    let Some(reply) = ctx.state.take_streaming_reply() else { return };
    let turn = reply.turn;
    let calls: Vec<_> = ctx.with_unique_ids(&reply.calls).into_iter().map(unwrap_call).collect();
    let is_empty = reply.text.trim().is_empty() && calls.is_empty();
    ctx.state.estimate.record_usage(reply.usage);
    ctx.record_entry(reply.into_reply_entry(&ctx.state.model.name, calls.clone(), None));
    if is_empty {
        return ctx.fail_turn("The model returned an empty reply. Retry or choose another model.");
    }
    if calls.is_empty() {
        return ctx.end_turn(Ending::Finished);
    }
    ctx.next_steps.push_back(NextStep::StartCalls(turn, calls));
}

/// Handles a failed request or a reply that was cut off.
pub(super) fn handle_request_failure(ctx: &mut UpdateContext<'_>, why: String, too_long: bool) {
    let Phase::Replying(reply) = &ctx.state.phase else { return };
    if reply.is_summary() {
        return compaction::handle_summary_failure(ctx, &why, too_long);
    }
    let is_empty = reply.text.is_empty() && reply.calls.is_empty();
    if too_long && is_empty {
        if compaction::retry_too_long_request(ctx, &why) {
            return;
        }
        let why = why.trim_end_matches('.');
        let why = format!("The session exceeds the model's context window and cannot be shortened further: {why}");
        ctx.state.take_streaming_reply();
        return ctx.fail_turn(why);
    }
    record_incomplete_reply(ctx, &why);
    ctx.fail_turn(why);
}

/// Records an incomplete reply. Its calls are dropped, because an incomplete reply runs nothing.
pub(super) fn record_incomplete_reply(ctx: &mut UpdateContext<'_>, why: &str) {
    let Some(reply) = ctx.state.take_streaming_reply() else { return };
    if reply.is_summary() || (reply.text.is_empty() && reply.reasoning.is_empty() && reply.usage.is_none()) {
        return;
    }
    ctx.state.estimate.record_usage(reply.usage);
    ctx.record_entry(reply.into_reply_entry(&ctx.state.model.name, Vec::new(), Some(why.to_owned())));
}
