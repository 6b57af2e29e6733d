//! Running and rehearsing calls. A panic of a tool fails only its call.

use super::plan::{bounded, broken};
use super::{Means, basis, noting, simulator};
use crate::agent::Event;
use crate::chat::{How, Outcome, Plan, Staged, ToolCall, TurnId, shorten};
use crate::project::output::Shown;
use crate::tools::crash::{contain, contain_async};
use crate::tools::{Error, Hands, LeftOut, Progress, Rehearsed, Stage};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Time limit of every call. A command has its own, shorter limit.
const LIMIT: Duration = Duration::from_secs(180);

/// Runs a call as planned.
pub(super) async fn act(means: Means, turn: TurnId, call: ToolCall, plan: Box<Plan>, left_out: LeftOut) {
    let printed = Arc::new(Notify::new());
    let done = async {
        let tool = means.tools.find(&call.name)?;
        let Some(shell) = means.shell.clone() else {
            return Err(Error::Broken("calls cannot run live in a dry run".to_owned()));
        };
        if basis::matters(&plan) {
            let (looks, shown) = (means.clone(), plan.clone());
            let holds = tokio::task::spawn_blocking(move || contain(|| basis::holds(&looks, &shown)));
            let broken = || Err(Error::Broken("its preconditions could not be checked".to_owned()));
            holds.await.ok().flatten().unwrap_or_else(broken)?;
        }
        let (project, progress) = (means.project.clone(), progress(&means, turn, &call, printed.clone()));
        let hands = Hands { project, shell, left_out, progress };
        tool.act(&plan, &hands).await.map(|text| (Outcome::Done(text), None))
    };
    finish(&means, turn, &call, done, &printed).await;
}

/// Rehearses a call in the overlay. `approved` is that of [`crate::agent::Effect::Rehearse`].
pub(super) async fn rehearse(
    means: Means,
    turn: TurnId,
    call: ToolCall,
    plan: Box<Plan>,
    left_out: LeftOut,
    approved: bool,
) {
    let printed = Arc::new(Notify::new());
    let done = async {
        let (project, commands) = (means.project.clone(), means.commands.clone());
        let progress = progress(&means, turn, &call, printed.clone());
        let untold = means.simulator.untold;
        let simulates = means.simulator.has_model();
        let stage =
            Stage { project, commands, untold, approved, simulates, left_out, progress: progress.clone() };
        let tool = means.tools.find(&call.name)?;
        let (text, staged) = match tool.rehearse(&plan, &stage).await? {
            Rehearsed::Ran(text) => (text, Staged::ran()),
            Rehearsed::Changed(text, paths) => (text, Staged::Ran(paths)),
            Rehearsed::Told(text) => (text, Staged::simulated(How::NotRun)),
            Rehearsed::Undone(why) => {
                let (text, how) = simulator::simulate(&means, &call, &tool, &plan, &why, &progress).await?;
                (text, Staged::Simulated(Box::new(how)))
            }
        };
        Ok((Outcome::Rehearsed(text), Some(staged)))
    };
    finish(&means, turn, &call, done, &printed).await;
}

async fn finish(
    means: &Means,
    turn: TurnId,
    call: &ToolCall,
    work: impl Future<Output = Result<(Outcome, Option<Staged>), Error>>,
    printed: &Notify,
) {
    let started = Instant::now();
    noting::planned(means, turn, call, "started");
    let (outcome, staged) = tokio::select! {
        settled = settle(&call.name, work) => settled,
        never = keep_output(means, turn, call, printed) => match never {},
    };
    noting::finished(means, turn, call, &outcome, started.elapsed());
    let event = Event::Finished { turn, call: call.id.clone(), outcome, staged, took: started.elapsed() };
    means.tell(event).await;
}

/// Waits for a call, at most [`LIMIT`]. Errors, panics and a timeout are outcomes too.
async fn settle(
    name: &str,
    work: impl Future<Output = Result<(Outcome, Option<Staged>), Error>>,
) -> (Outcome, Option<Staged>) {
    match tokio::time::timeout(LIMIT, contain_async(work)).await {
        Ok(Some(Ok(done))) => done,
        Ok(Some(Err(error))) => (Outcome::Failed(bounded(error.to_string())), None),
        Ok(None) => (Outcome::Failed(broken(name)), None),
        Err(_) => (Outcome::Failed(format!("{name} was stopped after {} s", LIMIT.as_secs())), None),
    }
}

/// Delay between new output and its record in the session: a kill loses less than a second of output.
const KEEP: Duration = Duration::from_millis(800);

/// Tells the agent when new output of the call has to be recorded.
async fn keep_output(means: &Means, turn: TurnId, call: &ToolCall, printed: &Notify) -> Infallible {
    loop {
        printed.notified().await;
        tokio::time::sleep(KEEP).await;
        means.tell(Event::OutputDue { turn, call: call.id.clone() }).await;
    }
}

/// Sends the output of a call to the frontend. While its channel is full, new output is collected for the next event.
fn progress(means: &Means, turn: TurnId, call: &ToolCall, printed: Arc<Notify>) -> Progress {
    let (events, id) = (means.events.clone(), call.id.clone());
    let untold = Mutex::new(String::new());
    Arc::new(move |shown: Shown<'_>| {
        let mut untold = untold.lock().unwrap_or_else(PoisonError::into_inner);
        untold.push_str(shown.more);
        if untold.len() > UNTOLD {
            *untold = shorten::middle(&untold, UNTOLD / 2).into_owned();
        }
        let (call, output, more) = (id.clone(), shown.latest.to_owned(), untold.clone());
        let event = Event::Progressed { turn, call, output, more };
        if events.try_send(event).is_ok() && !untold.is_empty() {
            untold.clear();
            printed.notify_one();
        }
    })
}

/// Maximum bytes of collected output.
const UNTOLD: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn r27_a_call_that_never_ends_is_stopped_after_three_minutes() {
        let began = tokio::time::Instant::now();
        let (outcome, staged) = settle("x", std::future::pending()).await;
        assert_eq!((outcome, staged), (Outcome::Failed("x was stopped after 180 s".to_owned()), None));
        let took = began.elapsed().as_secs();
        assert!((179..=181).contains(&took), "{took} s");
    }
}
