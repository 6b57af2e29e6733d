//! Executes the effects of the agent and returns events, for the screen, for print and for tests.

mod act;
mod basis;
mod beside;
mod consult;
mod name;
mod noting;
mod pictures;
mod plan;
mod running;
mod second_reader;
mod simulator;
mod stream;

use crate::agent::{Effect, Event};
use crate::chat::Entry;
use crate::llm::Llm;
use crate::project::Writer;
use crate::project::shell::Shell;
use crate::project::stage::Commands;
use crate::store::{Journal, Log};
use crate::tools::Toolbox;
pub use crate::tools::crash::is_contained;
pub use beside::OtherModel;
pub use consult::Consultants;
use futures::FutureExt;
use futures::future::BoxFuture;
use running::Running;
pub use simulator::Simulating;
use simulator::Simulator;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Capacity of the event channel. A slow frontend slows the stream down; only interim output of a running call is ever
/// dropped.
const WAITING: usize = 1024;

/// Executes the effects of one session. Dropping it stops all its tasks. Needs a tokio runtime.
pub struct Runtime {
    means: Means,
    log: Box<dyn Log>,
    running: Running,
    /// The request for a session title, which is cancelled by any other request.
    naming: JoinSet<()>,
    /// The request for the size of the context window, and the one to make after the next reply.
    asking: JoinSet<()>,
    unasked: Option<(bool, BoxFuture<'static, Option<u64>>)>,
}

/// Everything that is needed to execute effects. Cheap to clone.
#[derive(Clone)]
pub struct Means {
    /// The model.
    pub llm: Arc<dyn Llm>,
    /// The tools it may call.
    pub tools: Arc<Toolbox>,
    /// The project. In a dry run this is the overlay, and the real folder is not accessible.
    pub project: Arc<dyn Writer>,
    /// Runs commands. `None` in a dry run: commands run only in the overlay sandbox.
    pub shell: Option<Arc<Shell>>,
    /// Method of rehearsing commands in a dry run.
    pub commands: Commands,
    /// The reviewers of calls.
    pub consultants: Arc<Consultants>,
    /// Produces simulated results in a dry run.
    simulator: Arc<Simulator>,
    /// Returns what the agent must know before it judges a call, if that changed.
    anew: Arc<dyn Fn() -> Option<Event> + Send + Sync>,
    journal: Journal,
    events: mpsc::Sender<Event>,
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
        let (events, receiver) = mpsc::channel(WAITING);
        let anew = Arc::new(|| None);
        let (consultants, journal) = (Arc::default(), Journal::default());
        let commands = Commands::Told("none was set".into());
        let simulator = Arc::new(Simulator::new(Simulating::default()));
        let means =
            Means { llm, tools, project, shell, commands, consultants, simulator, anew, journal, events };
        let (naming, asking) = (JoinSet::new(), JoinSet::new());
        (Self { means, log, running: Running::default(), naming, asking, unasked: None }, receiver)
    }

    /// Sets how commands are rehearsed in a dry run.
    pub fn rehearses(&mut self, commands: Commands) {
        self.means.commands = commands;
    }

    /// Sets the simulator of a dry run. By default there is no model and no earlier result.
    pub fn simulates(&mut self, simulating: Simulating) {
        self.means.simulator = Arc::new(Simulator::new(simulating));
    }

    /// Sets the reviewers.
    pub fn consults(&mut self, consultants: Consultants) {
        self.means.consultants = Arc::new(consultants);
    }

    /// Sets the journal; by default nothing is written to one.
    pub fn notes_in(&mut self, journal: Journal) {
        self.means.journal = journal;
    }

    /// Sets a check that runs before a tool plans. It returns what the agent must know before it judges, and may block.
    pub fn looks_first(&mut self, anew: impl Fn() -> Option<Event> + Send + Sync + 'static) {
        self.means.anew = Arc::new(anew);
    }

    /// Sets the model from the next request on. A reply in progress continues with the previous one.
    pub fn talk_to(&mut self, llm: Arc<dyn Llm>) {
        self.means.llm = llm;
    }

    /// Starts the effects in order and does not wait for them; an append is handed to the system before any later
    /// effect starts. Returns a notice for the user if the session could not be saved: it continues in memory, and the
    /// next append tries again.
    pub fn run(&mut self, effects: Vec<Effect>) -> Option<String> {
        let mut trouble = None;
        for effect in effects {
            match effect {
                Effect::Append(entry) => {
                    if let Entry::Replied { incomplete: None, calls, .. } = &entry {
                        self.ask_window(!calls.is_empty());
                    }
                    noting::entry(&self.means.journal, &entry);
                    if self.means.shell.is_none() {
                        self.means.simulator.ledger().note(&entry);
                    }
                    if let Err(error) = self.log.append(&entry) {
                        self.means
                            .journal
                            .note(format_args!("the session could not be saved: {}", error.kind()));
                        trouble = Some(unsaved(&error));
                    }
                }
                Effect::KeepGrown(grown) => {
                    if let Err(error) = self.log.grew(&grown) {
                        trouble = Some(unsaved(&error));
                    }
                }
                Effect::KeepPrinted(printed) => {
                    if let Err(error) = self.log.printed(&printed) {
                        trouble = Some(unsaved(&error));
                    }
                }
                Effect::Stream { turn, request } => {
                    // A server with a single slot serves one request at a time.
                    self.naming.abort_all();
                    self.running.start(turn, stream::stream(self.means.clone(), turn, *request));
                }
                Effect::Plan { turn, call } => {
                    self.running.start(turn, plan::plan(self.means.clone(), turn, call));
                }
                Effect::Consult { turn, call, plan, round, brief } => {
                    let asks = consult::consult(self.means.clone(), turn, call, plan, round, brief);
                    self.running.start(turn, asks);
                }
                Effect::Act { turn, call, plan, left_out } => {
                    self.running.start(turn, act::act(self.means.clone(), turn, call, plan, left_out));
                }
                Effect::Rehearse { turn, call, plan, left_out, approved } => {
                    let rehearses = act::rehearse(self.means.clone(), turn, call, plan, left_out, approved);
                    self.running.start(turn, rehearses);
                }
                Effect::Name { request } => {
                    self.naming.abort_all();
                    self.naming.spawn(name::name(self.means.clone(), *request));
                }
                Effect::Hurry => self.means.llm.hurry(),
                Effect::Cancel { turn } => {
                    self.means.journal.note(format_args!("turn {}: stopped", turn.0));
                    self.running.cancel(turn);
                }
            }
        }
        trouble
    }

    /// Retries saving the session, and returns what still could not be saved.
    pub fn save(&mut self) -> Option<Unsaved> {
        let reason = self.log.save().err()?;
        Some(Unsaved { entries: self.log.unsaved(), reason: reason.to_string() })
    }

    /// Writes the whole session to another file, which must not exist yet.
    pub fn save_to(&mut self, file: &std::path::Path) -> std::io::Result<()> {
        self.log.save_to(file)
    }

    /// Sets the request for the size of the model's context window and cancels an earlier one. It is made after the
    /// model's next reply and not before: until then the provider need not know of the user, and an unreachable one is
    /// not contacted twice. Nothing waits for its result. If the session does not `last` beyond this turn, the size
    /// matters only after a reply with calls.
    pub fn learn_window(&mut self, lasts: bool, window: impl Future<Output = Option<u64>> + Send + 'static) {
        self.asking.abort_all();
        self.unasked = Some((lasts, window.boxed()));
    }

    /// Makes the request for the context window, if it was not made yet.
    fn ask_window(&mut self, goes_on: bool) {
        let Some((_, window)) = self.unasked.take_if(|(lasts, _)| *lasts || goes_on) else { return };
        let means = self.means.clone();
        self.asking.spawn(async move {
            if let Some(window) = window.await {
                means.tell(Event::WindowKnown(Some(window))).await;
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

/// Returns the notice for the user that the session could not be saved.
fn unsaved(error: &std::io::Error) -> String {
    format!("The session could not be saved: {error}. It continues in memory, and saving is retried.")
}

impl Means {
    /// Sends an event to the frontend and waits for room in the channel. Without a frontend the event is dropped.
    async fn tell(&self, event: Event) {
        let _ = self.events.send(event).await;
    }
}
