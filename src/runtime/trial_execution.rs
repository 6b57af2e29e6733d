//! Trials of commands: running them, keeping what they did, and forgetting it.

use super::call_execution::with_failure;
use super::call_planning::{panic_error, truncate_error};
use super::{EffectContext, FIRST_FRAME_DELAY, journal_events};
use crate::agent::Event;
use crate::chat::trial::format_kept_result;
use crate::chat::{CallId, Outcome, Plan, ToolCall, TrialReport, TurnId, join_first};
use crate::project::output::CommandProgress;
use crate::project::trial::{KeepError, Trial};
use crate::store::clock;
use crate::text::escaped_path::escape_path;
use crate::text::known_secrets::KnownSecrets;
use crate::tools::panic_guard::catch_panic_async;
use crate::tools::{ResultFiles, TrialContext};
use std::sync::Arc;

/// Maximum number of paths that a message names.
const MAX_NAMED_PATHS: usize = 8;

/// Finds out whether commands can be tried. Unless a call waits for the answer, the check leaves the processors to the first
/// frame and the first keys, because it starts several programs.
pub(super) async fn check_support(context: EffectContext, call: Option<CallId>) {
    let Some(runner) = context.trials.runner.clone() else { return };
    if call.is_none() && !clock::is_demo() {
        tokio::time::sleep(FIRST_FRAME_DELAY).await;
    }
    let check = tokio::task::spawn_blocking(move || runner.check_support());
    let result = check.await.unwrap_or_else(|_| Err("the check failed".into()));
    context.send_event(Event::TrialSupportChecked { call, result }).await;
}

/// Runs a call on trial.
pub(super) async fn try_call(
    context: EffectContext,
    turn: TurnId,
    call: ToolCall,
    plan: Box<Plan>,
    (number, is_automatic): (u64, bool),
) {
    journal_events::note_step(&context, turn, &call, "trial started");
    let result = match catch_panic_async(run_trial(&context, turn, &call, (&plan, is_automatic))).await {
        Some(result) => result,
        None => Err(panic_error(&call.name)),
    };
    let result = match result {
        Ok((trial, report)) => {
            // A trial that was dropped meanwhile has no one to report to.
            if !context.trials.store_finished(&call.id, number, Box::new(trial)) {
                return;
            }
            Ok(Box::new(report))
        }
        Err(error) => Err(error),
    };
    context.send_event(Event::TrialFinished { turn, call: call.id, number, result }).await;
}

async fn run_trial(
    context: &EffectContext,
    turn: TurnId,
    call: &ToolCall,
    (plan, is_automatic): (&Plan, bool),
) -> Result<(Trial, TrialReport), String> {
    let runner = context.trials.runner.clone().ok_or("a dry run has no trials")?;
    let supporter = runner.clone();
    let support = tokio::task::spawn_blocking(move || supporter.check_support()).await;
    support.map_err(|_| "the check failed")?.map_err(|reason| reason.to_string())?;
    let (events, id) = (context.events.clone(), call.id.clone());
    let progress = Arc::new(move |progress: CommandProgress<'_>| {
        let (call, output) = (id.clone(), progress.latest.to_owned());
        // The next progress has the same output and more.
        let _ = events.try_send(Event::CallProgressed { turn, call, output, new_output: String::new() });
    });
    let tool = context.tools.find_tool(&call.name).map_err(|error| truncate_error(error.to_string()))?;
    let trial_context = TrialContext { runner, is_automatic, progress };
    tool.try_run(plan, &trial_context).await.map_err(|error| truncate_error(error.to_string()))
}

/// Makes the effects of a finished trial real. The output of its command becomes the outcome.
pub(super) async fn keep_trial(
    context: EffectContext,
    turn: TurnId,
    call: ToolCall,
    number: u64,
    report: Box<TrialReport>,
) {
    journal_events::note_step(&context, turn, &call, "keeping the trial");
    let recorder = context.recorder(&call);
    let task_recorder = recorder.clone();
    // Only now may the model read the output.
    let mut long_output = None;
    let kept = match context.trials.take_finished(&call.id, number) {
        Some(mut trial) => {
            long_output = trial.outcome.long_output.take();
            tokio::task::spawn_blocking(move || trial.keep(&task_recorder)).await.ok()
        }
        None => None,
    };
    let outcome = match kept {
        Some(Ok(unkept)) => {
            let unmade = unkept.describe_each();
            let results = ResultFiles::new(context.workspace.clone(), &call, KnownSecrets::default());
            let mut result = report.result;
            // The plan with the command line is no longer at hand.
            results.attach_long_output(&call.name, long_output, &mut result).await;
            Outcome::Done(format_kept_result(with_failure(&recorder, result), &unmade))
        }
        Some(Err(error)) => Outcome::Failed(describe_failure(&error)),
        None => Outcome::Failed("The trial is gone; nothing was changed. Call it again.".to_owned()),
    };
    journal_events::note_outcome(&context, turn, &call, &outcome, report.duration);
    let (call, duration) = (call.id, report.duration);
    context.send_event(Event::CallFinished { turn, call, outcome, result_source: None, duration }).await;
}

fn describe_failure(error: &KeepError) -> String {
    match error {
        KeepError::Conflicts(paths) => format!(
            "Nothing was kept: {} changed since the trial. Nothing was overwritten. Call it again.",
            join_first(&paths.iter().map(|path| escape_path(path)).collect::<Vec<_>>(), MAX_NAMED_PATHS)
        ),
        KeepError::Altered => {
            "Nothing was kept: what the trial wrote changed after it was shown. Call it again.".to_owned()
        }
        KeepError::Io(source) => format!(
            "The changes of the trial could not all be made: {source}. The next start of aye makes the others. Check the project before you go on."
        ),
    }
}
