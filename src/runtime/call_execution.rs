//! Running and rehearsing calls. A panic of a tool fails only its call.

use super::call_planning::{panic_error, truncate_error};
use super::folder_lookup::send_folder_instructions;
use super::{EffectContext, journal_events, precondition_check, simulator};
use crate::agent::Event;
use crate::chat::{Access, BackgroundEnd, Outcome, Plan, ResultOrigin, SimulationSource, ToolCall, TurnId, Work};
use crate::policy::ExcludedPaths;
use crate::project::checkpoints::{CallRecorder, CommandSnapshot, RecordedProject};
use crate::project::output::CommandProgress;
use crate::project::shell::command_control::CommandControl;
use crate::text::known_secrets::KnownSecrets;
use crate::text::truncation;
use crate::tools::panic_guard::{catch_panic, catch_panic_async};
use crate::tools::{Error, LiveContext, Progress, RehearsalContext, RehearsalOutcome, ResultFiles, Tool};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Time limit of every call, without the time that a command may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(180);

/// Time limit of a call that waits for the user, who may be away.
const USER_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 3600);

/// Returns the time limit of a call. A command and some tools have a limit of their own, which keeps the output when it
/// stops the call, so the limit of the call is later.
fn time_limit(tool: Option<&dyn Tool>, work: &Work) -> Duration {
    if let Some(limit) = tool.and_then(Tool::time_limit) {
        return CALL_TIMEOUT + limit;
    }
    match work {
        Work::Command(line) => CALL_TIMEOUT + Duration::from_secs(line.seconds),
        Work::UserInput(_) => USER_TIMEOUT,
        Work::Edit(_) | Work::Task(_) | Work::Arguments(_) | Work::Batch(_) | Work::EndTurn(_) => CALL_TIMEOUT,
    }
}

/// A call that runs or is rehearsed.
pub(super) struct RunningCall {
    context: EffectContext,
    turn: TurnId,
    call: ToolCall,
    output_added: Arc<Notify>,
    /// Control of a live command.
    control: Option<Arc<CommandControl>>,
}

impl RunningCall {
    pub(super) fn new(context: EffectContext, turn: TurnId, call: ToolCall) -> Self {
        Self { context, turn, call, output_added: Arc::default(), control: None }
    }

    /// Lets the command of the call be moved to the background through this control.
    pub(super) fn with_control(self, control: Arc<CommandControl>) -> Self {
        Self { control: Some(control), ..self }
    }

    /// Runs the call as planned. `runs_in_parts` is that of [`LiveContext`].
    pub(super) async fn run(self, plan: Box<Plan>, excluded: ExcludedPaths, runs_in_parts: bool) {
        let work = async {
            let tool = self.context.tools.find_tool(&self.call.name)?;
            let Some(shell) = self.context.shell.clone() else {
                return Err(Error::Internal("calls cannot run live in a dry run".to_owned()));
            };
            if precondition_check::has_preconditions(&plan) {
                let (task_context, task_plan) = (self.context.clone(), plan.clone());
                let check = tokio::task::spawn_blocking(move || {
                    catch_panic(|| precondition_check::check_preconditions(&task_context, &task_plan))
                });
                let check_error = || Err(Error::Internal("its preconditions could not be checked".to_owned()));
                check.await.ok().flatten().unwrap_or_else(check_error)?;
            }
            let shell = match &self.control {
                Some(control) => Arc::new(shell.with_control(control.clone())),
                None => shell,
            };
            let (recorder, progress) = (self.context.recorder(&self.call), self.progress_sender());
            let project = Arc::new(RecordedProject::new(self.context.project.clone(), recorder.clone()));
            let results = self.result_files(&plan);
            let live_context =
                LiveContext { project, shell, excluded, runs_in_parts, recorder: recorder.clone(), results, progress };
            if let Access::External(external) = &plan.access {
                let effect = format!("effects of {} at {}", self.call.name, external.service);
                let recorder = recorder.clone();
                let _ = tokio::task::spawn_blocking(move || recorder.record_effect(effect)).await;
            }
            let snapshot = CommandGuard::start(&recorder, &plan).await;
            let (result, usage) = tool.run_counted(&plan, &live_context).await;
            if let Some(usage) = usage {
                self.context.send_event(Event::CallUsage { turn: self.turn, call: self.call.id.clone(), usage }).await;
            }
            snapshot.finish().await;
            let text = mask_secrets(&self.context, &plan, result)?;
            send_folder_instructions(&self.context, self.turn, &self.call, &plan).await;
            Ok((Outcome::Done(with_failure(&recorder, text)), None))
        };
        let tool = self.context.tools.find_tool(&self.call.name).ok();
        self.finish(time_limit(tool.as_deref(), &plan.work), work).await;
    }

    /// Rehearses the call in the overlay. `approved` is that of [`crate::agent::Effect::RehearseCall`].
    pub(super) async fn rehearse(self, plan: Box<Plan>, excluded_paths: ExcludedPaths, approved: bool) {
        let (context, call) = (&self.context, &self.call);
        let work = async {
            let progress = self.progress_sender();
            let rehearsal_context = RehearsalContext {
                project: context.project.clone(),
                commands: context.rehearsal.clone(),
                is_hidden: context.simulator.hides_dry_run,
                is_approved: approved,
                has_simulator: context.simulator.model.is_some(),
                excluded: excluded_paths,
                results: self.result_files(&plan).in_rehearsal(),
                progress: progress.clone(),
            };
            let tool = context.tools.find_tool(&call.name)?;
            let (text, origin) = match tool.rehearse(&plan, &rehearsal_context).await? {
                RehearsalOutcome::Ran(text) => (text, ResultOrigin::ran()),
                RehearsalOutcome::RanCommand(text, paths) => (text, ResultOrigin::Ran(paths)),
                RehearsalOutcome::NotRun(text) => (text, ResultOrigin::simulated(SimulationSource::NotRun)),
                RehearsalOutcome::Simulate(why) => {
                    let (text, simulated) =
                        simulator::simulate_result(context, call, &tool, &plan, &why, &progress).await?;
                    (text, ResultOrigin::Simulated(Box::new(simulated)))
                }
            };
            send_folder_instructions(context, self.turn, call, &plan).await;
            Ok((Outcome::Rehearsed(text), Some(origin)))
        };
        self.finish(time_limit(None, &plan.work), work).await;
    }

    /// Returns what stores a long result of the call. Known secrets are removed as from the result itself.
    fn result_files(&self, plan: &Plan) -> ResultFiles {
        let secrets = if is_request(plan) { self.context.secrets.clone() } else { KnownSecrets::default() };
        ResultFiles::new(self.context.workspace.clone(), &self.call, secrets).with_access(&plan.access)
    }

    /// Waits for `work` and sends its outcome to the agent. Meanwhile, requests that new output is saved.
    async fn finish(
        &self,
        time_limit: Duration,
        work: impl Future<Output = Result<(Outcome, Option<ResultOrigin>), Error>>,
    ) {
        let Self { context, turn, call, .. } = self;
        let (turn, started) = (*turn, Instant::now());
        journal_events::note_step(context, turn, call, "started");
        let (outcome, result_source) = tokio::select! {
            settled = await_outcome(&call.name, wait_for_limit(time_limit, self.control.as_deref()), work) => settled,
            never = self.request_output_saves() => match never {},
        };
        let duration = started.elapsed();
        journal_events::note_outcome(context, turn, call, &outcome, duration);
        if let Some(control) = &self.control {
            control.record_end(BackgroundEnd::from_outcome(call.id.clone(), 0, &outcome, 0).status);
        }
        context.send_event(Event::CallFinished { turn, call: call.id.clone(), outcome, result_source, duration }).await;
    }

    /// Tells the agent when new output of the call has to be saved. Never returns.
    async fn request_output_saves(&self) -> Infallible {
        loop {
            self.output_added.notified().await;
            tokio::time::sleep(OUTPUT_SAVE_DELAY).await;
            self.context.send_event(Event::OutputSaveDue { turn: self.turn, call: self.call.id.clone() }).await;
        }
    }

    /// Returns a function that sends the output of the call to the frontend. While the event channel is full, new
    /// output is collected for the next event.
    fn progress_sender(&self) -> Progress {
        let (events, turn, id) = (self.context.events.clone(), self.turn, self.call.id.clone());
        let (output_added, control) = (self.output_added.clone(), self.control.clone());
        let unsent = Mutex::new(String::new());
        Arc::new(move |progress: CommandProgress<'_>| {
            if let Some(control) = &control {
                control.push_output(progress.new_output);
            }
            let mut unsent = unsent.lock().unwrap_or_else(PoisonError::into_inner);
            unsent.push_str(progress.new_output);
            if unsent.len() > MAX_PENDING_OUTPUT {
                *unsent = truncation::truncate_middle(&unsent, MAX_PENDING_OUTPUT / 2).into_owned();
            }
            let (call, output, new_output) = (id.clone(), progress.latest.to_owned(), unsent.clone());
            let event = Event::CallProgressed { turn, call, output, new_output };
            if events.try_send(event).is_ok() && !unsent.is_empty() {
                unsent.clear();
                output_added.notify_one();
            }
        })
    }
}

/// Returns whether the call sends a request.
fn is_request(plan: &Plan) -> bool {
    matches!(plan.access, Access::Fetch(_) | Access::External(_))
}

/// Removes known secrets from the result of a request: a server may repeat the credential that it received. Results of
/// other calls keep them, because the model may write back what it read from a file.
fn mask_secrets(context: &EffectContext, plan: &Plan, result: Result<String, Error>) -> Result<String, Error> {
    if !is_request(plan) {
        return result;
    }
    let mask = |text: String| context.secrets.mask(&text).into_owned();
    result.map(mask).map_err(|error| match error {
        Error::Arguments(text) => Error::Arguments(mask(text)),
        Error::Failed(text) => Error::Failed(mask(text)),
        Error::Internal(text) => Error::Internal(mask(text)),
        Error::Project(error) => Error::Project(error),
    })
}

/// Records what a live command changes, also if the turn is interrupted while it runs.
struct CommandGuard(Option<CommandSnapshot>);

impl CommandGuard {
    /// Records the state before a command that may change something. Other calls have nothing to record here.
    async fn start(recorder: &Arc<CallRecorder>, plan: &Plan) -> Self {
        let (Work::Command(line), Access::Run(_)) = (&plan.work, &plan.access) else { return Self(None) };
        let (recorder, line) = (recorder.clone(), line.clone());
        let taken = tokio::task::spawn_blocking(move || CommandSnapshot::take(recorder, &line)).await;
        Self(taken.ok().flatten())
    }

    /// Records the state after the command.
    async fn finish(mut self) {
        if let Some(snapshot) = self.0.take() {
            let _ = tokio::task::spawn_blocking(move || snapshot.finish()).await;
        }
    }
}

impl Drop for CommandGuard {
    fn drop(&mut self) {
        if let Some(snapshot) = self.0.take() {
            std::thread::spawn(move || {
                // The command is being killed.
                std::thread::sleep(KILL_TIME);
                snapshot.finish();
            });
        }
    }
}

/// Time in which an interrupted command ends.
const KILL_TIME: Duration = Duration::from_millis(200);

/// Returns the outcome of a call, after a notice if its changes could not be recorded.
pub(super) fn with_failure(recorder: &CallRecorder, text: String) -> String {
    match recorder.failure() {
        None => text,
        Some(reason) => format!("[This change cannot be undone: it could not be recorded: {reason}]\n{text}"),
    }
}

/// Waits for the time limit of a call and returns it; forever if the call runs a command that was detached meanwhile.
async fn wait_for_limit(time_limit: Duration, control: Option<&CommandControl>) -> Duration {
    tokio::time::sleep(time_limit).await;
    if control.is_some_and(CommandControl::is_detached) {
        std::future::pending::<()>().await;
    }
    time_limit
}

/// Waits for a call, at most until its `time_limit` is over. Errors, panics and a timeout are outcomes too.
async fn await_outcome(
    name: &str,
    time_limit: impl Future<Output = Duration>,
    work: impl Future<Output = Result<(Outcome, Option<ResultOrigin>), Error>>,
) -> (Outcome, Option<ResultOrigin>) {
    let result = tokio::select! {
        biased;
        result = catch_panic_async(work) => result,
        time_limit = time_limit => {
            return (Outcome::Failed(format!("{name} was stopped after {} s", time_limit.as_secs())), None);
        }
    };
    match result {
        Some(Ok(done)) => done,
        Some(Err(error)) => (Outcome::Failed(truncate_error(error.to_string())), None),
        None => (Outcome::Failed(panic_error(name)), None),
    }
}

/// Delay between new output and its record in the session: a kill loses less than a second of output.
const OUTPUT_SAVE_DELAY: Duration = Duration::from_millis(800);

/// Maximum bytes of collected output.
const MAX_PENDING_OUTPUT: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// Output every 300 ms for three seconds: each piece is saved within a second.
    #[tokio::test(start_paused = true)]
    async fn r51_new_output_is_saved_within_a_second() {
        let folder = tempfile::tempdir().unwrap();
        let project = Arc::new(crate::project::disk::Disk::new(folder.path()).unwrap());
        let tools = Arc::new(crate::tools::Toolbox::with_builtin_tools(crate::tools::ToolSettings::default()));
        let (runtime, mut events) = crate::runtime::Runtime::new(
            Arc::new(crate::scripted::Scripted::new([])),
            tools,
            project,
            None,
            Box::new(crate::runtime::null_log::NullLog),
        );
        let context = runtime.context.clone();
        let call = ToolCall { id: "a".into(), name: "bash_exec".into(), arguments: String::new() };
        let running_call = RunningCall::new(context, TurnId(1), call);
        let progress = running_call.progress_sender();
        let print = async {
            for _ in 0..10 {
                progress(CommandProgress { latest: "x", new_output: "x" });
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
            tokio::time::sleep(Duration::from_secs(60)).await;
        };
        tokio::select! {
            () = print => {}
            never = running_call.request_output_saves() => match never {},
        }
        let (mut unsaved, mut saves) = (0, 0);
        while let Ok(event) = events.try_recv() {
            match event {
                Event::CallProgressed { .. } => unsaved += 1,
                Event::OutputSaveDue { .. } => (unsaved, saves) = (0, saves + 1),
                other => panic!("{other:?}"),
            }
            // Four pieces arrive in a second.
            assert!(unsaved <= 4, "output older than a second is not saved");
        }
        assert_eq!(unsaved, 0);
        assert!((3..=5).contains(&saves), "about once a second: {saves}");
    }

    #[tokio::test(start_paused = true)]
    async fn r27_a_call_that_never_ends_is_stopped_after_three_minutes() {
        let started = tokio::time::Instant::now();
        let limit = wait_for_limit(CALL_TIMEOUT, None);
        let (outcome, origin) = await_outcome("x", limit, std::future::pending()).await;
        assert_eq!((outcome, origin), (Outcome::Failed("x was stopped after 180 s".to_owned()), None));
        let seconds = started.elapsed().as_secs();
        assert!((179..=181).contains(&seconds), "{seconds} s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_detached_command_has_no_time_limit() {
        let control = CommandControl::default();
        control.detach(0);
        let limit = wait_for_limit(CALL_TIMEOUT, Some(&control));
        let work = async {
            tokio::time::sleep(Duration::from_secs(90_000)).await;
            Ok((Outcome::Done("exit 0".to_owned()), None))
        };
        assert_eq!(await_outcome("x", limit, work).await.0, Outcome::Done("exit 0".to_owned()));
    }

    #[test]
    fn r27_a_command_may_take_as_long_as_its_own_limit() {
        let line = crate::chat::CommandLine { seconds: 3600, ..Default::default() };
        assert!(time_limit(None, &Work::Command(line)) > Duration::from_secs(3600));
    }
}
