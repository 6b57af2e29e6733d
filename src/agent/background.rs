//! Background commands: moves running commands out of their turn, and records how they end.

use super::running_background::RunningBackground;
use super::state::{CallStage, State};
use super::update_context::UpdateContext;
use super::{Effect, Event, call_execution};
use crate::chat::background::{
    ENDED_WITH_SESSION, STOPPED_BY_MODEL, STOPPED_BY_USER, STOPPED_ON_REQUEST, moved_outcome,
};
use crate::chat::{BackgroundEnd, CallId, Entry, Outcome, Work};
use std::time::Duration;

impl State {
    /// Returns why the running command of a call cannot be moved to the background; `None` if it can.
    pub fn explain_not_movable(&self, call: &CallId) -> Option<&'static str> {
        let pending = self.pending().iter().find(|pending| pending.call.id == *call);
        match pending.map(|pending| &pending.stage) {
            _ if self.is_dry_run() => Some("Not in a dry run: its overlay belongs to one command at a time"),
            _ if self.background.iter().any(|command| command.call == *call) => Some("It is in the background already"),
            Some(CallStage::Running(plan)) if matches!(plan.work, Work::Command(_)) => None,
            Some(CallStage::OnTrial(..)) => Some("Not possible: the command is on trial"),
            Some(CallStage::Running(_)) => Some("Only a running command can be moved to the background"),
            None | Some(CallStage::Settled) => Some("Not possible: the call has ended"),
            Some(CallStage::Delegated(_)) => Some("Not possible for a sub-agent"),
            Some(
                CallStage::AwaitingTurn
                | CallStage::Planning
                | CallStage::UnderReview(_)
                | CallStage::AwaitingApproval(..)
                | CallStage::AwaitingAnswer(_),
            ) => Some("Not possible: the call does not run yet"),
        }
    }

    /// Offers the tools for background commands to the model from the next request on.
    fn offer_background_tools(&mut self) {
        let tools = std::mem::take(&mut self.config.background_tools);
        if !tools.is_empty() {
            self.config.tools.extend(tools);
            self.update_fixed_estimate();
        }
    }
}

/// Moves the running command of a call to the background. Its call is settled at once, and the turn continues.
pub(super) fn move_to_background(ctx: &mut UpdateContext<'_>, call: &CallId, elapsed: Duration) {
    if ctx.state.explain_not_movable(call).is_some() {
        return;
    }
    let number = ctx.state.session.next_background_number();
    let Some(pending) = ctx.state.pending_mut(call) else { return };
    let CallStage::Running(plan) = &pending.stage else { return };
    let Work::Command(line) = &plan.work else { return };
    let (command, output) = (line.command.clone(), std::mem::take(&mut pending.full_output));
    let latest_output = pending.latest_output.clone();
    ctx.record_entry(Entry::BackgroundStarted { call: call.clone(), number });
    let seen_bytes = output.received();
    ctx.effects.push(Effect::DetachCall { call: call.clone(), number, command, seen_bytes });
    ctx.state.offer_background_tools();
    let outcome = moved_outcome(number, output.text());
    let is_stopped_by_user = false;
    ctx.state.background.push(RunningBackground {
        number,
        call: call.clone(),
        latest_output,
        is_stopped_by_user,
        output,
    });
    call_execution::finish_call(ctx, call, (outcome, None), elapsed);
}

/// Handles events of background commands, and returns any other event. Their turn may have ended.
pub(super) fn take_background_event(ctx: &mut UpdateContext<'_>, event: Event) -> Option<Event> {
    let find = |state: &State, call: &CallId| state.background.iter().position(|command| command.call == *call);
    match event {
        Event::CallProgressed { call, output, new_output, .. } if let Some(index) = find(ctx.state, &call) => {
            let command = &mut ctx.state.background[index];
            command.latest_output = output;
            command.output.push_output(&new_output);
        }
        Event::OutputSaveDue { call, .. } if find(ctx.state, &call).is_some() => {}
        Event::CallFinished { call, outcome, duration, .. } if let Some(index) = find(ctx.state, &call) => {
            end_command(ctx, index, &outcome, duration);
        }
        event => return Some(event),
    }
    None
}

/// Requests the end of a background command for the user.
pub(super) fn stop_command(ctx: &mut UpdateContext<'_>, number: u32) {
    if let Some(command) = ctx.state.background.iter_mut().find(|command| command.number == number) {
        command.is_stopped_by_user = true;
        ctx.effects.push(Effect::StopBackground { number });
    }
}

/// Records the end of all background commands, because the session is left.
pub(super) fn end_all_commands(ctx: &mut UpdateContext<'_>) {
    for command in std::mem::take(&mut ctx.state.background) {
        let RunningBackground { number, call, output, .. } = command;
        let (status, output) = (ENDED_WITH_SESSION.to_owned(), output.text().to_owned());
        ctx.record_entry(Entry::BackgroundEnded(BackgroundEnd { call, number, status, output, took_ms: 0 }));
    }
}

/// Records the end of the background commands that an earlier process left open: they ended with it.
pub(super) fn settle_open_commands(ctx: &mut UpdateContext<'_>) {
    let open_commands = ctx.state.session.background_commands().iter().filter(|command| command.ended_at.is_none());
    for command in open_commands.cloned().collect::<Vec<_>>() {
        let (status, output) = (ENDED_WITH_SESSION.to_owned(), String::new());
        let end = BackgroundEnd { call: command.call, number: command.number, status, output, took_ms: 0 };
        ctx.record_entry(Entry::BackgroundEnded(end));
    }
}

fn end_command(ctx: &mut UpdateContext<'_>, index: usize, outcome: &Outcome, duration: Duration) {
    let command = ctx.state.background.remove(index);
    let took_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut end = BackgroundEnd::from_outcome(command.call, command.number, outcome, took_ms);
    if end.status == STOPPED_ON_REQUEST {
        end.status = if command.is_stopped_by_user { STOPPED_BY_USER } else { STOPPED_BY_MODEL }.to_owned();
    }
    ctx.record_entry(Entry::BackgroundEnded(end));
}
