//! Commands that the user runs between turns. No policy judges them; in a dry run they run in the overlay sandbox.

use super::call_output::CallOutput;
use super::state::RunningUserCommand;
use super::update_context::{NextStep, UpdateContext};
use super::{Effect, Phase, State};
use crate::chat::user_command::STOPPED_STATUS;
use crate::chat::{Entry, UserCommand};
use crate::text::truncation;
use std::time::Duration;

/// Maximum bytes recorded of the output of a command that was stopped.
const MAX_STOPPED_BYTES: usize = 64 << 10;

impl State {
    /// Returns why a command of the user cannot run now; `None` if it can.
    pub fn explain_no_user_command(&self) -> Option<String> {
        match (&self.phase, &self.config.dry_run.no_sandbox_reason) {
            (Phase::RunningUserCommand(_), _) => Some("another command is running".to_owned()),
            (Phase::Replying(_) | Phase::RunningCalls { .. }, _) => Some("a turn is running".to_owned()),
            (Phase::Idle, Some(reason)) if self.is_dry_run() => Some(format!("no overlay sandbox: {reason}")),
            (Phase::Idle, _) => None,
        }
    }
}

/// Starts a command of the user.
pub(super) fn start_command(ctx: &mut UpdateContext<'_>, command: String, is_shared: bool) {
    if ctx.state.explain_no_user_command().is_some() || command.trim().is_empty() {
        return;
    }
    let turn = ctx.state.next_turn_id();
    ctx.effects.push(Effect::RunUserCommand { turn, command: command.clone() });
    ctx.state.phase = Phase::RunningUserCommand(Box::new(RunningUserCommand {
        turn,
        command,
        is_shared,
        needs_terminal: false,
        latest_output: String::new(),
        full_output: CallOutput::default(),
    }));
}

pub(super) fn handle_progress(ctx: &mut UpdateContext<'_>, output: String, new_output: &str) {
    if let Phase::RunningUserCommand(running) = &mut ctx.state.phase {
        running.full_output.push_output(new_output);
        running.latest_output = output;
    }
}

pub(super) fn record_terminal_need(ctx: &mut UpdateContext<'_>) {
    if let Phase::RunningUserCommand(running) = &mut ctx.state.phase {
        running.needs_terminal = true;
    }
}

/// Records a command that has ended. Messages queued meanwhile start a turn.
pub(super) fn finish_command(ctx: &mut UpdateContext<'_>, output: String, status: String, duration: Duration) {
    let took_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    record_command(ctx, Some(output), status, took_ms);
    if !ctx.state.queued_messages.is_empty() {
        ctx.next_steps.push_back(NextStep::StartTurn);
    }
}

/// Records a command that the user stopped, with its output so far. Its processes are killed when its effect is
/// cancelled.
pub(super) fn stop_command(ctx: &mut UpdateContext<'_>) {
    let (output, took_ms) = (None, 0);
    record_command(ctx, output, STOPPED_STATUS.to_owned(), took_ms);
}

/// Records the running command. Without `output`, its output so far is used.
fn record_command(ctx: &mut UpdateContext<'_>, output: Option<String>, status: String, took_ms: u64) {
    let running = match std::mem::replace(&mut ctx.state.phase, Phase::Idle) {
        Phase::RunningUserCommand(running) => *running,
        other @ (Phase::Idle | Phase::Replying(_) | Phase::RunningCalls { .. }) => return ctx.state.phase = other,
    };
    let output_so_far = || truncation::truncate_middle(running.full_output.text(), MAX_STOPPED_BYTES).into_owned();
    let output = output.unwrap_or_else(output_so_far);
    let RunningUserCommand { command, is_shared, .. } = running;
    let is_rehearsed = ctx.state.is_dry_run();
    let command = UserCommand { command, output, status, is_shared, is_rehearsed, took_ms };
    ctx.record_entry(Entry::UserCommand(Box::new(command)));
}
