//! System prompts, and the request for the next reply.

use super::context_estimate::RequestSize;
use super::streaming_reply::{ReplyPurpose, StreamingReply};
use super::update_context::UpdateContext;
use super::{Effect, Phase, State};
use crate::chat::{Message, Request, Session, TurnId};

/// System prompt, before the facts about the project.
const SYSTEM_PROMPT: &str = include_str!("system.md");
/// Added in a dry run with an overlay sandbox.
pub const DRY_RUN_SANDBOXED: &str = "This session is a dry run. File changes go to an overlay that later reads see. Commands run in an overlay sandbox without network access; nothing outside it changes. Work as you would live. Do not claim that anything was changed live.";
/// Added in a dry run without an overlay sandbox.
pub const DRY_RUN_SIMULATED: &str = "This session is a dry run. File changes go to an overlay that later reads see. Commands and all other calls are not run; you receive a labelled simulated result. Work as you would live. Do not claim that anything was changed live.";

/// Added in a live session that began as a dry run.
pub const WAS_REHEARSED: &str = "This session began as a dry run and is now live. Earlier calls were only rehearsed; their effects exist only if the user applied them. Check before you rely on them.";

/// Added for a sub-agent.
const SUB_AGENT_PROMPT: &str = "You are a sub-agent with one task from the main model. You do not see its conversation. Do only that task. Your last reply is the result: report what you found or did, with path:line, and what you did not do. The user sees and approves your calls as usual; do not retry what they deny.";

/// Builds the system prompt of a session. `facts` are lines such as `Project: ~/src/app`; `dry_run_note` is the text
/// about the dry run, if any.
pub fn build_system_prompt(facts: &[String], dry_run_note: Option<&str>) -> String {
    let facts = Some(facts.join("\n")).filter(|facts| !facts.is_empty());
    let parts = [Some(SYSTEM_PROMPT.trim().to_owned()), facts, dry_run_note.map(str::to_owned)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Returns the parts of system prompts by name, as `budgets.toml` limits them. Facts about the project and its instructions
/// are added to the first one.
pub fn system_prompt_texts() -> [(&'static str, &'static str); 5] {
    [
        ("session", SYSTEM_PROMPT.trim()),
        ("dry_run", DRY_RUN_SANDBOXED),
        ("dry_run_simulated", DRY_RUN_SIMULATED),
        ("former_dry_run", WAS_REHEARSED),
        ("sub_agent", SUB_AGENT_PROMPT),
    ]
}

/// Builds the system prompt of a sub-agent.
pub fn build_sub_agent_prompt(prompt: &str) -> String {
    format!("{prompt}\n\n{SUB_AGENT_PROMPT}")
}

/// Builds the request for the next reply.
pub(super) fn build_reply_request(state: &State) -> Request {
    let (before_entry, max_bytes) =
        state.estimate.truncation.map_or((0, usize::MAX), |truncation| (truncation.before_entry, truncation.max_bytes));
    let mut messages = state.session.messages(before_entry, max_bytes);
    messages.insert(0, Message::System(state.full_system_prompt()));
    drop_retried_replies(&mut messages);
    state.wrap_deferred_calls(&mut messages);
    if state.config.dry_run.labels_results {
        label_rehearsed_results(&state.session, &mut messages);
    }
    let (model, tools) = (state.model.name.clone(), state.offered_tools());
    Request { model, messages, tools, ..Request::default() }
}

/// Labels each rehearsed result with its source.
fn label_rehearsed_results(session: &Session, messages: &mut [Message]) {
    for message in messages {
        if let Message::Tool { call, text } = message
            && let Some(origin) = session.result_origin(call)
        {
            *text = format!("{}\n{text}", origin.model_mark());
        }
    }
}

/// Removes replies that the user retried: a reply without calls that is followed by another reply of the
/// model, or by nothing because the new reply is requested now.
fn drop_retried_replies(messages: &mut Vec<Message>) {
    let is_final_reply = |message: &Message| matches!(message, Message::Model { calls, .. } if calls.is_empty());
    let is_new_reply = |message: Option<&Message>| matches!(message, None | Some(Message::Model { .. }));
    let is_replaced = |index: &usize| is_final_reply(&messages[*index]) && is_new_reply(messages.get(index + 1));
    let replaced: Vec<usize> = (0..messages.len()).filter(is_replaced).collect();
    if !replaced.is_empty() {
        let mut indices = 0..;
        messages.retain(|_| indices.next().is_none_or(|index| replaced.binary_search(&index).is_err()));
    }
}

/// Sends the request without further checks.
pub(super) fn send_request(ctx: &mut UpdateContext<'_>, turn: TurnId) {
    let size = RequestSize { estimated: ctx.state.estimate_next_request(), corrected: ctx.state.next_request_tokens() };
    ctx.state.record_sent_size(size);
    ctx.state.phase = Phase::Replying(Box::new(StreamingReply::new(turn, ReplyPurpose::Reply)));
    let request = Box::new(build_reply_request(ctx.state));
    ctx.effects.push(Effect::RequestReply { turn, request });
}
