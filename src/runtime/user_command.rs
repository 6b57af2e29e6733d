//! Running a command of the user: live in a terminal of its own, in a dry run in the overlay sandbox.

use super::EffectContext;
use crate::agent::Event;
use crate::chat::{CommandLine, TurnId};
use crate::project::Error;
use crate::project::output::CommandProgress;
use crate::project::overlay_sandbox::{CommandRehearsal, View};
use crate::project::shell::CommandOutcome;
use crate::text::truncation;
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

/// Maximum bytes of output collected while the frontend handles no events.
const MAX_PENDING_OUTPUT: usize = 256 << 10;

/// Runs the command and sends its outcome.
pub(super) async fn run_command(context: EffectContext, turn: TurnId, command: String) {
    let started = Instant::now();
    context.journal.note(format_args!("run {}: the user's command started", turn.0));
    let needs_keys = Notify::new();
    let unsent = Mutex::new(String::new());
    let progress = |progress: CommandProgress<'_>| {
        let mut unsent = unsent.lock().unwrap_or_else(PoisonError::into_inner);
        unsent.push_str(progress.new_output);
        if unsent.len() > MAX_PENDING_OUTPUT {
            *unsent = truncation::truncate_middle(&unsent, MAX_PENDING_OUTPUT / 2).into_owned();
        }
        let (output, new_output) = (progress.latest.to_owned(), unsent.clone());
        if context.events.try_send(Event::UserCommandProgressed { turn, output, new_output }).is_ok() {
            unsent.clear();
        }
    };
    let report_need = async {
        needs_keys.notified().await;
        context.send_event(Event::TerminalNeeded { turn }).await;
        std::future::pending::<Infallible>().await
    };
    let folder = context.project.root().to_owned();
    let run = async {
        match (&context.shell, &context.rehearsal) {
            (Some(shell), _) => {
                shell.run_in_terminal(&command, &folder, &context.terminal, &progress, &needs_keys).await
            }
            // The user typed the command, which is more than an approval: it sees the whole disk, read-only.
            (None, CommandRehearsal::Sandboxed(shell)) => {
                let seconds = u64::MAX;
                let line = CommandLine { command: command.clone(), folder, seconds, ..CommandLine::default() };
                shell.run_in_overlay(&line, View::Live, &progress).await
            }
            (None, CommandRehearsal::Simulated(reason)) => {
                Err(Error::Invalid(format!("no overlay sandbox: {reason}. It was not run")))
            }
        }
    };
    let result = tokio::select! {
        result = run => result,
        never = report_need => match never {},
    };
    let (output, status) = match result {
        Ok(outcome) => (outcome.output.clone(), describe_status(&outcome)),
        Err(error) => (error.to_string(), "not run".to_owned()),
    };
    let duration = started.elapsed();
    context.send_event(Event::UserCommandFinished { turn, output, status, duration }).await;
}

/// Returns how a command ended.
fn describe_status(outcome: &CommandOutcome) -> String {
    match (outcome.exceeded_output, outcome.signal, outcome.exit) {
        (true, _, _) => "stopped because its output exceeded the limit".to_owned(),
        (false, Some(signal), _) => format!("killed by signal {signal}"),
        (false, None, Some(exit)) => format!("exit {exit}"),
        (false, None, None) => "ended, without exit status".to_owned(),
    }
}
