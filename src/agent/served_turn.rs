//! Served turns: one call of another program, judged like a call of the model. No model request follows it.

use super::event::ServedCall;
use super::update_context::{NextStep, UpdateContext};
use crate::chat::apply_message::SERVED_MESSAGE;
use crate::chat::{CallId, Entry, ToolCall};

/// Starts the turn of a served call. Ignored while a turn runs.
pub(super) fn start_served_turn(ctx: &mut UpdateContext<'_>, served: ServedCall) {
    if !ctx.state.is_idle() {
        return;
    }
    let turn = ctx.new_turn();
    ctx.state.turn.is_served = true;
    let id = CallId(format!("served_{}", ctx.state.session.calls().count() + 1));
    let call = ToolCall { id, name: served.tool, arguments: served.arguments };
    // A model may have used the same ID.
    let calls = ctx.with_unique_ids(&[call]);
    // The message does not contain text of the program, because a model reviewer reads it as one of the user.
    ctx.record_entry(Entry::UserMessage { text: SERVED_MESSAGE.to_owned() });
    ctx.record_entry(Entry::from_calls(calls.clone()));
    ctx.next_steps.push_back(NextStep::StartCalls(turn, calls));
}
