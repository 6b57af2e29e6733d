//! State machine of a turn: connects the model, the tools and the user. Independent of the screen.

mod agent_config;
mod apply_turn;
mod background;
mod call_edit;
mod call_execution;
mod call_judgement;
mod call_output;
mod call_settlement;
mod call_start;
mod call_state;
mod compaction;
mod context_estimate;
mod context_parts;
mod context_window;
mod effect;
mod event;
mod folder_notes;
mod grants;
mod interruption;
mod mcp_tools;
mod model_requests;
mod offered_tools;
mod preapproval;
mod repeated_calls;
mod reply_request;
mod resumption;
mod reviewers;
mod reviews;
mod running_background;
mod served_turn;
mod session_title;
mod state;
mod streaming_reply;
mod sub_agent;
mod summary_request;
#[cfg(test)]
mod tests;
mod trials;
mod turn_end;
mod turn_state;
mod untrusted_text;
mod update_context;
mod user_commands;
mod waiting_calls;

pub use agent_config::{AgentConfig, DryRunConfig};
pub use call_state::{Preapproval, QueuePreview, Trial, TrialSupport};
pub use context_parts::{ContextKind, ContextPart};
pub use context_window::ContextUsage;
pub use effect::Effect;
pub use event::{ApplyRequest, Event, ServedCall};
pub use grants::{
    ApprovalSource, GrantOption, LastingApproval, explain_no_grant, grant_options, list_lasting_approvals,
};
pub use reply_request::{
    DRY_RUN_SANDBOXED, DRY_RUN_SIMULATED, WAS_REHEARSED, build_sub_agent_prompt, build_system_prompt,
    system_prompt_texts,
};
pub use resumption::resume_session;
pub use reviewers::{HookReviewer, PendingReview, ReviewContext, Reviewers};
pub use running_background::RunningBackground;
pub use state::{CallStage, CurrentModel, PendingCall, Phase, RunningUserCommand, State, SubAgent};
pub use streaming_reply::{PendingRetry, ProviderSilence, ReplyPurpose, StreamingReply, SummaryCut};
pub use sub_agent::{MAX_PARALLEL_SUB_AGENTS, MAX_TASKS_PER_TURN};
pub use untrusted_text::can_send;
pub use waiting_calls::WaitingCall;

use crate::chat::{CallId, Decision, Ending, Entry, TitleSource};
use update_context::{NextStep, UpdateContext};

/// Applies one event to the state and returns the effects to carry out.
///
/// Never blocks and never fails. An event of a turn that has ended changes nothing.
pub fn update(state: &mut State, event: Event) -> Vec<Effect> {
    let mut ctx = UpdateContext::new(state, None);
    let is_lasting_decision = matches!(&event, Event::CallDecided { decision: Decision::Always(_), .. });
    handle_event(&mut ctx, event);
    if is_lasting_decision {
        call_judgement::replan_covered_calls(&mut ctx);
        run_next_steps(&mut ctx);
    }
    let effects = ctx.effects;
    state.update_approval_queue();
    effects
}

/// Applies an event to the turn or to one of its sub-agents, then runs the queued steps.
fn handle_event(ctx: &mut UpdateContext<'_>, event: Event) {
    let event = background::take_background_event(ctx, event);
    let event = event.and_then(|event| sub_agent::route_to_sub_agent(ctx, event, handle_event));
    if let Some(event) = event {
        handle_turn_event(ctx, event);
    }
    run_next_steps(ctx);
}

/// Runs all queued steps, including those that these steps queue.
fn run_next_steps(ctx: &mut UpdateContext<'_>) {
    while let Some(step) = ctx.next_steps.pop_front() {
        match step {
            NextStep::StartTurn => model_requests::start_turn(ctx),
            NextStep::RequestReply(turn) => model_requests::request_reply(ctx, turn),
            NextStep::StartCalls(turn, calls) => call_execution::start_calls(ctx, turn, calls),
            NextStep::StartReadyCalls => call_execution::start_ready_calls(ctx),
            NextStep::RequestTitle => session_title::request_title_after_turn(ctx),
        }
    }
}

/// Applies an event to the turn itself.
fn handle_turn_event(ctx: &mut UpdateContext<'_>, event: Event) {
    if event.turn().is_some_and(|turn| ctx.state.current_turn() != Some(turn)) {
        return;
    }
    match event {
        Event::UserMessage(text) => model_requests::queue_user_message(ctx, text),
        Event::UserCommandRequested { command, is_shared } => user_commands::start_command(ctx, command, is_shared),
        Event::UserCommandProgressed { output, new_output, .. } => {
            user_commands::handle_progress(ctx, output, &new_output);
        }
        Event::TerminalNeeded { .. } => user_commands::record_terminal_need(ctx),
        Event::UserCommandFinished { output, status, duration, .. } => {
            user_commands::finish_command(ctx, output, status, duration);
        }
        Event::ApplyRequested(request) => apply_turn::start_apply_turn(ctx, request),
        Event::CallServed(call) => served_turn::start_served_turn(ctx, call),
        Event::QueuedMessagesWithdrawn => ctx.state.queued_messages.clear(),
        Event::ReplyChunk { chunk, elapsed, .. } => model_requests::handle_chunk(ctx, chunk, elapsed),
        Event::ReplySaveDue { .. } => model_requests::save_partial_reply(ctx),
        Event::RequestFailed { reason, too_long, .. } => {
            model_requests::handle_request_failure(ctx, reason, too_long);
        }
        Event::CallPlanned { call, intent, .. } => {
            let intent = apply_turn::warn_repeated_changes(ctx, &call, intent);
            call_execution::handle_plan(ctx, &call, intent);
        }
        Event::CallReviewed { call, round, review, .. } => reviews::handle_review(ctx, &call, round, review),
        Event::CallProgressed { call, output, new_output, .. } => {
            call_execution::handle_progress(ctx, &call, output, &new_output);
        }
        Event::OutputSaveDue { call, .. } => call_execution::save_output(ctx, &call),
        Event::CallUsage { call, usage, .. } => {
            if let Some(pending) = ctx.state.pending_mut(&call) {
                pending.usage = Some(usage);
            }
        }
        Event::FolderInstructionsFound { call, found, .. } => {
            if let Some(pending) = ctx.state.pending_mut(&call) {
                pending.folder_instructions = found;
            }
        }
        Event::CallFinished { call, outcome, result_source, duration, .. } => {
            call_execution::finish_call(ctx, &call, (outcome, result_source), duration);
        }
        Event::QueueOpened => preapproval::open_queue(ctx),
        Event::EarlyPromptRequested(call) => preapproval::open_early_prompt(ctx, call),
        Event::CallDecided { .. } if !waiting_calls::is_decision_allowed(ctx.state, &event) => {}
        Event::CallDecided { call, decision, by } => call_execution::handle_decision(ctx, &call, decision, by),
        Event::TrialRequested(_) if !waiting_calls::is_decision_allowed(ctx.state, &event) => {}
        Event::TrialRequested(call) => trials::start_requested_trial(ctx, &call),
        Event::TrialStopped(call) => trials::stop_trial(ctx, &call),
        Event::TrialFinished { call, number, result, .. } => trials::finish_trial(ctx, &call, number, result),
        Event::TrialSupportChecked { call, result } => {
            match (result, call) {
                (Ok(()), _) => ctx.state.trial_support = TrialSupport::Available,
                (Err(reason), Some(call)) => ctx.state.trial_support = TrialSupport::Unavailable { reason, call },
                // The first prompt asks again and explains it. Its answer may have come before this one.
                (Err(_), None) => {}
            }
        }
        Event::QuestionsAnswered { call, answer, by } => call_execution::handle_answer(ctx, &call, answer, by),
        Event::TurnInterrupted => interrupt_turn(ctx),
        Event::SessionTitled(title) => {
            ctx.record_entry(Entry::Titled { title, by: TitleSource::User, usage: None });
        }
        Event::TitleSuggested { text: reply, usage } => session_title::handle_title_reply(ctx, &reply, usage),
        Event::CompactionRequested => compaction::handle_compaction_request(ctx),
        Event::ContextWindowChanged(window) => ctx.state.model.context_window = window,
        Event::ToolLimitChanged(limit) => {
            ctx.state.model.tool_limit = limit;
            ctx.state.update_fixed_estimate();
        }
        Event::RetryNow => {
            if matches!(&ctx.state.phase, Phase::Replying(reply) if reply.pending_retry.is_some()) {
                ctx.effects.push(Effect::RetryNow);
            }
        }
        Event::TurnRetried => {
            if ctx.state.can_retry_turn() {
                model_requests::start_turn(ctx);
            }
        }
        Event::ModelSwitched { model, profile } => {
            ctx.state.model.name.clone_from(&model);
            ctx.state.model.context_window = None;
            ctx.state.estimate.forget_window();
            // An empty session has nothing to resume, so the switch is not recorded.
            if !ctx.state.session.entries().is_empty() {
                ctx.record_entry(Entry::Switched { model, profile });
            }
        }
        Event::SessionCopied { source } => {
            // The entry says whether the copy is a dry run; the session it was copied from was the opposite.
            let dry_run = ctx.state.is_dry_run();
            ctx.record_entry(Entry::DryRunChanged { dry_run, copied_from: source });
        }
        Event::RulesLoaded { rules, notices: _ } => ctx.state.rules = rules,
        Event::ToolsChanged { tools, notices: _, unaccepted } => mcp_tools::change_tools(ctx, &tools, unaccepted),
        Event::SamplingStepped(step) => ctx.record_entry(Entry::Sampling(step)),
        Event::InstructionsChanged(instructions) => ctx.state.set_instructions(instructions),
        Event::ProjectToolsChanged { removed, added } => ctx.state.change_tools(&removed, &added),
        Event::GrantRevoked { granting_call, description, replacement, by } => {
            let has_grant = |call: &CallId| ctx.state.session.grants().iter().any(|grant| grant.call == *call);
            if granting_call.as_ref().is_none_or(has_grant) {
                ctx.record_entry(Entry::Revoked { granting_call, description, replacement, by });
            }
        }
        Event::ModeChanged(mode) => ctx.state.policy.mode = mode,
        Event::BackgroundRequested { call, elapsed } => background::move_to_background(ctx, &call, elapsed),
        Event::BackgroundStopped(number) => background::stop_command(ctx, number),
        Event::SessionLeft => background::end_all_commands(ctx),
    }
}

/// Stops the turn at the user's request. All calls are settled in the same update, so the screen is correct at once.
fn interrupt_turn(ctx: &mut UpdateContext<'_>) {
    let Some(turn) = ctx.state.current_turn() else { return };
    ctx.effects.push(Effect::CancelTurn { turn });
    match ctx.state.phase {
        Phase::Idle => {}
        // A command of the user is no turn.
        Phase::RunningUserCommand(_) => return user_commands::stop_command(ctx),
        Phase::Replying(_) => model_requests::record_incomplete_reply(ctx, "stopped"),
        Phase::RunningCalls { .. } => {
            sub_agent::for_each_sub_agent(ctx, interrupt_turn);
            interruption::settle_open_calls(ctx);
        }
    }
    ctx.end_turn(Ending::Interrupted);
}
