//! Executes the effects of the agent and returns events, for the screen, for print and for tests.

mod call_execution;
mod call_planning;
mod effect_context;
mod folder_lookup;
mod images;
mod journal_events;
mod model_reviewer;
#[cfg(test)]
mod null_log;
mod precondition_check;
mod reply_stream;
mod review;
mod session_title;
mod side_request;
mod simulator;
mod trial_execution;
mod trial_states;
mod turn_tasks;
mod user_command;

use crate::agent::{Effect, Event};
use crate::chat::folder_instructions::FoundInstructions;
use crate::chat::{CallId, CallWords, Entry, Work};
use crate::llm::Llm;
use crate::project::Writer;
use crate::project::overlay_sandbox::CommandRehearsal;
use crate::project::shell::Shell;
use crate::project::shell::command_control::CommandControl;
use crate::store::{Journal, Log};
use crate::text::known_secrets::KnownSecrets;
use crate::tools::Toolbox;
use crate::tools::background_commands::{BackgroundCommand, BackgroundCommands};
use crate::tools::toolbox;
use call_execution::RunningCall;
pub use effect_context::{EffectContext, Reviewers, Simulator};
use futures::FutureExt;
use futures::future::BoxFuture;
pub use side_request::{SideAnswer, SideModel, request_any_answer};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
pub use trial_states::Trials;
use turn_tasks::TurnTasks;

/// Capacity of the event channel. A slow frontend slows the stream down; only interim output of a running call is ever
/// dropped.
const EVENT_CAPACITY: usize = 1024;

/// Delay before less urgent work starts. The first frame is shown by then, and the first key is answered.
pub const FIRST_FRAME_DELAY: Duration = Duration::from_millis(150);

/// Returns the words for the rows of the calls of a tool; `None` if it is not part of the program.
pub fn call_words(tool: &str) -> Option<CallWords> {
    toolbox::call_words(tool)
}

/// Executes the effects of one session. Dropping it stops all its tasks. Needs a tokio runtime.
pub struct Runtime {
    /// Context of the next effects. Changing the model does not affect a reply in progress.
    pub context: EffectContext,
    log: Box<dyn Log>,
    turn_tasks: TurnTasks,
    /// The request for a session title, which a request for a reply cancels.
    title_request: JoinSet<()>,
    /// The running request for the size of the context window.
    window_request: JoinSet<()>,
    /// The request for the size of the context window, if it waits for the next reply.
    pending_window: Option<WindowRequest>,
}

/// A request for the size of the context window.
struct WindowRequest {
    /// False if only a reply with calls starts the request.
    after_any_reply: bool,
    request: BoxFuture<'static, Option<u64>>,
}

/// Receives the events of a runtime.
pub type Events = mpsc::Receiver<Event>;

impl Runtime {
    /// Creates the runtime of a session, and the receiver of its events.
    pub fn new(
        llm: Arc<dyn Llm>,
        tools: Arc<Toolbox>,
        project: Arc<dyn Writer>,
        shell: Option<Arc<Shell>>,
        log: Box<dyn Log>,
    ) -> (Self, Events) {
        let (events, receiver) = mpsc::channel(EVENT_CAPACITY);
        let background = Arc::<BackgroundCommands>::default();
        let tools = Arc::new(tools.with_background_commands(&background));
        let context = EffectContext {
            llm,
            tools,
            background,
            project,
            shell,
            rehearsal: CommandRehearsal::Simulated("none was set".into()),
            reviewers: Arc::default(),
            simulator: Arc::default(),
            terminal: Arc::default(),
            checkpoints: None,
            trials: Arc::default(),
            workspace: None,
            prepared_images: Arc::default(),
            poll_rules: Arc::new(|| None),
            folder_lookup: Arc::new(|_| FoundInstructions::default()),
            journal: Journal::default(),
            secrets: KnownSecrets::default(),
            events,
        };
        let runtime = Self {
            context,
            log,
            turn_tasks: TurnTasks::default(),
            title_request: JoinSet::new(),
            window_request: JoinSet::new(),
            pending_window: None,
        };
        (runtime, receiver)
    }

    /// Returns the sender of the events that the receiver gets.
    pub fn event_sender(&self) -> mpsc::Sender<Event> {
        self.context.events.clone()
    }

    /// Sets how commands are rehearsed in a dry run.
    pub fn set_rehearsal(&mut self, commands: CommandRehearsal) {
        self.context.rehearsal = commands;
    }

    /// Sets the simulator of a dry run. By default there is no model and no earlier result.
    pub fn set_simulator(&mut self, simulator: Simulator) {
        self.context.simulator = Arc::new(simulator);
    }

    /// Sets what finds the instructions of the folders of a file that a call has read.
    pub fn set_folder_lookup(&mut self, lookup: impl Fn(&Path) -> FoundInstructions + Send + Sync + 'static) {
        self.context.folder_lookup = Arc::new(lookup);
    }

    /// Sets the function that is called before each call is planned and returns an event with the rules if they changed.
    /// It may block. By default the rules never change.
    pub fn set_rules_poll(&mut self, poll_rules: impl Fn() -> Option<Event> + Send + Sync + 'static) {
        self.context.poll_rules = Arc::new(poll_rules);
    }

    /// Starts the effects in order and does not wait for them; an entry is written to the log before any later
    /// effect starts. Returns a notice for the user if the session could not be saved: it continues in memory, and the
    /// next append tries again.
    pub fn execute(&mut self, effects: Vec<Effect>) -> Option<String> {
        let mut save_error = None;
        for effect in effects {
            match effect {
                Effect::AppendEntry(entry) => {
                    if let Entry::Replied { incomplete: None, calls, .. } = &entry {
                        self.request_window(!calls.is_empty());
                    }
                    journal_events::note_entry(&self.context.journal, &entry);
                    // No shell: the session is a dry run, whose simulated results are in its entries.
                    if self.context.shell.is_none() {
                        self.context.simulator.ledger().apply_entry(&entry);
                    }
                    if let Err(error) = self.log.append(&entry) {
                        self.context.journal.note(format_args!("the session could not be saved: {}", error.kind()));
                        save_error = Some(error);
                    }
                }
                Effect::SavePartialReply(reply_piece) => {
                    save_error = self.log.append_reply_piece(&reply_piece).err().or(save_error);
                }
                Effect::SaveOutput(output_piece) => {
                    save_error = self.log.append_output_piece(&output_piece).err().or(save_error);
                }
                Effect::RequestReply { turn, request } => {
                    // A server with a single slot serves one request at a time.
                    self.title_request.abort_all();
                    self.turn_tasks.spawn_task(turn, reply_stream::stream_reply(self.context.clone(), turn, *request));
                }
                Effect::PlanCall { turn, call, is_apply_call } => {
                    let planning = call_planning::plan_call(self.context.clone(), turn, call, is_apply_call);
                    self.turn_tasks.spawn_task(turn, planning);
                }
                Effect::ReviewCall { turn, call, plan, round, context: review_context } => {
                    let review_task =
                        review::review_call(self.context.clone(), turn, call, plan, round, review_context);
                    self.turn_tasks.spawn_task(turn, review_task);
                }
                Effect::RunCall { turn, call, plan, excluded_paths, runs_in_parts } => {
                    let id = call.id.clone();
                    let running_call = RunningCall::new(self.context.clone(), turn, call);
                    if matches!(plan.work, Work::Command(_)) {
                        let control = Arc::<CommandControl>::default();
                        let running_call = running_call.with_control(control.clone());
                        let task = running_call.run(plan, excluded_paths, runs_in_parts);
                        self.turn_tasks.spawn_command(turn, id, control, task);
                    } else {
                        self.turn_tasks.spawn_task(turn, running_call.run(plan, excluded_paths, runs_in_parts));
                    }
                }
                Effect::RehearseCall { turn, call, plan, excluded_paths, approved } => {
                    let running_call = RunningCall::new(self.context.clone(), turn, call);
                    self.turn_tasks.spawn_task(turn, running_call.rehearse(plan, excluded_paths, approved));
                }
                Effect::RunUserCommand { turn, command } => {
                    self.turn_tasks.spawn_task(turn, user_command::run_command(self.context.clone(), turn, command));
                }
                Effect::CheckTrialSupport { call } => {
                    drop(tokio::spawn(trial_execution::check_support(self.context.clone(), call)));
                }
                Effect::TryCall { turn, call, plan, number, is_automatic } => {
                    let id = call.id.clone();
                    let trial =
                        trial_execution::try_call(self.context.clone(), turn, call, plan, (number, is_automatic));
                    self.context.trials.start_task(id, number, || self.turn_tasks.spawn_task(turn, trial));
                }
                Effect::KeepTrial { turn, call, number, report } => {
                    let keeping = trial_execution::keep_trial(self.context.clone(), turn, call, number, report);
                    self.turn_tasks.spawn_task(turn, keeping);
                }
                Effect::DropTrial { call } => self.context.trials.drop_trial(&call),
                Effect::RequestTitle { request } => {
                    self.title_request.abort_all();
                    self.title_request.spawn(session_title::request_title(self.context.clone(), *request));
                }
                Effect::DetachCall { call, number, command, seen_bytes } => {
                    self.detach_command(&call, number, command, seen_bytes);
                }
                Effect::StopBackground { number } => self.context.background.request_stop(number),
                // The frontend connects to it.
                Effect::SwitchProfile { .. } => {}
                Effect::RetryNow => self.context.llm.end_wait(),
                Effect::CancelTurn { turn } => {
                    self.context.journal.note(format_args!("turn {}: stopped", turn.0));
                    self.turn_tasks.abort_turn(turn);
                }
            }
        }
        save_error.map(|error| {
            format!("The session could not be saved: {error}. It continues in memory, and saving is retried.")
        })
    }

    /// Moves the command of a call to the background.
    fn detach_command(&mut self, call: &CallId, number: u32, command: String, seen_bytes: u64) {
        self.context.journal.note(format_args!("background command {number}: moved"));
        if let Some(control) = self.turn_tasks.detach_command(call) {
            control.detach(seen_bytes);
            self.context.background.insert(number, BackgroundCommand { command, control });
        }
    }

    /// Retries saving the session, and returns what still could not be saved.
    pub fn save_unsaved(&mut self) -> Option<Unsaved> {
        let reason = self.log.save().err()?;
        Some(Unsaved { entries: self.log.unsaved_count(), reason: reason.to_string() })
    }

    /// Writes the whole session to another file, which must not exist yet.
    pub fn save_to(&mut self, file: &std::path::Path) -> std::io::Result<()> {
        self.log.save_to(file)
    }

    /// Sets the request for the size of the model's context window and cancels an earlier one. It is made only after
    /// the model's next reply, so that a provider that is never used is not contacted, and an unreachable one not
    /// twice. Nothing waits for its result. If `lasts_beyond_turn` is false, the session ends with its first turn: the
    /// size then matters only after a reply with calls, and other replies do not start the request.
    pub fn set_window_request(
        &mut self,
        lasts_beyond_turn: bool,
        request: impl Future<Output = Option<u64>> + Send + 'static,
    ) {
        self.window_request.abort_all();
        self.pending_window = Some(WindowRequest { after_any_reply: lasts_beyond_turn, request: request.boxed() });
    }

    /// Makes the request for the context window after a reply, if it was not made yet.
    fn request_window(&mut self, reply_has_calls: bool) {
        let Some(window) = self.pending_window.take_if(|window| window.after_any_reply || reply_has_calls) else {
            return;
        };
        let context = self.context.clone();
        self.window_request.spawn(async move {
            if let Some(window) = window.request.await {
                context.send_event(Event::ContextWindowChanged(Some(window))).await;
            }
        });
    }
}

/// The unsaved part of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsaved {
    /// Number of unsaved entries; 0 if only part of a reply in progress is unsaved.
    pub entries: usize,
    /// The error of the system.
    pub reason: String,
}
