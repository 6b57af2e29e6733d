//! Running and rehearsing calls. A panic of a tool fails only its call.

use super::call_planning::{panic_error, truncate_error};
use super::{EffectContext, journal_events, precondition_check, simulator};
use crate::agent::Event;
use crate::chat::{Outcome, Plan, ResultOrigin, SimulationSource, ToolCall, TurnId};
use crate::policy::ExcludedPaths;
use crate::project::output::CommandProgress;
use crate::text::truncation;
use crate::tools::panic_guard::{catch_panic, catch_panic_async};
use crate::tools::{Error, LiveContext, Progress, RehearsalContext, RehearsalOutcome};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Time limit of every call. A command has its own, shorter limit.
const CALL_TIMEOUT: Duration = Duration::from_secs(180);

/// Runs a call as planned.
pub(super) async fn run_call(
    means: EffectContext,
    turn: TurnId,
    call: ToolCall,
    plan: Box<Plan>,
    left_out: ExcludedPaths,
) {
    let printed = Arc::new(Notify::new());
    let done = async {
        let tool = means.tools.find_tool(&call.name)?;
        let Some(shell) = means.shell.clone() else {
            return Err(Error::Broken("calls cannot run live in a dry run".to_owned()));
        };
        if precondition_check::has_preconditions(&plan) {
            let (looks, shown) = (means.clone(), plan.clone());
            let holds = tokio::task::spawn_blocking(move || {
                catch_panic(|| precondition_check::check_preconditions(&looks, &shown))
            });
            let broken = || Err(Error::Broken("its preconditions could not be checked".to_owned()));
            holds.await.ok().flatten().unwrap_or_else(broken)?;
        }
        let (project, progress) = (means.project.clone(), progress_sender(&means, turn, &call, printed.clone()));
        let hands = LiveContext { project, shell, excluded: left_out, progress };
        tool.run(&plan, &hands).await.map(|text| (Outcome::Done(text), None))
    };
    finish_call(&means, turn, &call, done, &printed).await;
}

/// Rehearses a call in the overlay. `approved` is that of [`crate::agent::Effect::RehearseCall`].
pub(super) async fn rehearse_call(
    means: EffectContext,
    turn: TurnId,
    call: ToolCall,
    plan: Box<Plan>,
    left_out: ExcludedPaths,
    approved: bool,
) {
    let printed = Arc::new(Notify::new());
    let done = async {
        let (project, commands) = (means.project.clone(), means.rehearsal.clone());
        let progress = progress_sender(&means, turn, &call, printed.clone());
        let untold = means.simulator.hides_dry_run;
        let simulates = means.simulator.has_model();
        let stage = RehearsalContext {
            project,
            commands,
            is_hidden: untold,
            is_approved: approved,
            has_simulator: simulates,
            excluded: left_out,
            progress: progress.clone(),
        };
        let tool = means.tools.find_tool(&call.name)?;
        let (text, staged) = match tool.rehearse(&plan, &stage).await? {
            RehearsalOutcome::Ran(text) => (text, ResultOrigin::ran()),
            RehearsalOutcome::RanCommand(text, paths) => (text, ResultOrigin::Ran(paths)),
            RehearsalOutcome::NotRun(text) => (text, ResultOrigin::simulated(SimulationSource::NotRun)),
            RehearsalOutcome::Simulate(why) => {
                let (text, how) = simulator::simulate_result(&means, &call, &tool, &plan, &why, &progress).await?;
                (text, ResultOrigin::Simulated(Box::new(how)))
            }
        };
        Ok((Outcome::Rehearsed(text), Some(staged)))
    };
    finish_call(&means, turn, &call, done, &printed).await;
}

async fn finish_call(
    means: &EffectContext,
    turn: TurnId,
    call: &ToolCall,
    work: impl Future<Output = Result<(Outcome, Option<ResultOrigin>), Error>>,
    printed: &Notify,
) {
    let started = Instant::now();
    journal_events::note_step(means, turn, call, "started");
    let (outcome, staged) = tokio::select! {
        settled = await_outcome(&call.name, work) => settled,
        never = keep_output(means, turn, call, printed) => match never {},
    };
    journal_events::note_outcome(means, turn, call, &outcome, started.elapsed());
    let event = Event::CallFinished {
        turn,
        call: call.id.clone(),
        outcome,
        result_source: staged,
        duration: started.elapsed(),
    };
    means.send_event(event).await;
}

/// Waits for a call, at most [`CALL_TIMEOUT`]. Errors, panics and a timeout are outcomes too.
async fn await_outcome(
    name: &str,
    work: impl Future<Output = Result<(Outcome, Option<ResultOrigin>), Error>>,
) -> (Outcome, Option<ResultOrigin>) {
    match tokio::time::timeout(CALL_TIMEOUT, catch_panic_async(work)).await {
        Ok(Some(Ok(done))) => done,
        Ok(Some(Err(error))) => (Outcome::Failed(truncate_error(error.to_string())), None),
        Ok(None) => (Outcome::Failed(panic_error(name)), None),
        Err(_) => (Outcome::Failed(format!("{name} was stopped after {} s", CALL_TIMEOUT.as_secs())), None),
    }
}

/// Delay between new output and its record in the session: a kill loses less than a second of output.
const OUTPUT_SAVE_DELAY: Duration = Duration::from_millis(800);

/// Tells the agent when new output of the call has to be recorded.
async fn keep_output(means: &EffectContext, turn: TurnId, call: &ToolCall, printed: &Notify) -> Infallible {
    loop {
        printed.notified().await;
        tokio::time::sleep(OUTPUT_SAVE_DELAY).await;
        means.send_event(Event::OutputSaveDue { turn, call: call.id.clone() }).await;
    }
}

/// Sends the output of a call to the frontend. While its channel is full, new output is collected for the next event.
fn progress_sender(means: &EffectContext, turn: TurnId, call: &ToolCall, printed: Arc<Notify>) -> Progress {
    let (events, id) = (means.events.clone(), call.id.clone());
    let untold = Mutex::new(String::new());
    Arc::new(move |shown: CommandProgress<'_>| {
        let mut untold = untold.lock().unwrap_or_else(PoisonError::into_inner);
        untold.push_str(shown.new_output);
        if untold.len() > MAX_PENDING_OUTPUT {
            *untold = truncation::truncate_middle(&untold, MAX_PENDING_OUTPUT / 2).into_owned();
        }
        let (call, output, more) = (id.clone(), shown.latest.to_owned(), untold.clone());
        let event = Event::CallProgressed { turn, call, output, more };
        if events.try_send(event).is_ok() && !untold.is_empty() {
            untold.clear();
            printed.notify_one();
        }
    })
}

/// Maximum bytes of collected output.
const MAX_PENDING_OUTPUT: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn r27_a_call_that_never_ends_is_stopped_after_three_minutes() {
        let began = tokio::time::Instant::now();
        let (outcome, staged) = await_outcome("x", std::future::pending()).await;
        assert_eq!((outcome, staged), (Outcome::Failed("x was stopped after 180 s".to_owned()), None));
        let took = began.elapsed().as_secs();
        assert!((179..=181).contains(&took), "{took} s");
    }
}
