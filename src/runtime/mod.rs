//! Effects in, events out: does what the agent wants done, the same for a screen, for print and for tests.

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

/// Events that may wait for the frontend. A slow frontend slows the stream down; nothing is ever dropped but the
/// interim output of a running call.
const WAITING: usize = 1024;

/// Does the effects of one session. Dropping it stops everything that runs for it. Needs a tokio runtime.
pub struct Runtime {
    means: Means,
    log: Box<dyn Log>,
    running: Running,
    /// The request for a name of the session, which gives way to everything else.
    naming: JoinSet<()>,
    /// Whoever is asked how much fits into the model's window, and who will be after the next reply.
    asking: JoinSet<()>,
    unasked: Option<(bool, BoxFuture<'static, Option<u64>>)>,
}

/// What effects are done with. Cheap to clone.
#[derive(Clone)]
pub struct Means {
    /// The model.
    pub llm: Arc<dyn Llm>,
    /// What it may call.
    pub tools: Arc<Toolbox>,
    /// The project. In a dry run this is the rehearsal, and the real folder is not here at all.
    pub project: Arc<dyn Writer>,
    /// Runs commands. `None` in a dry run: there is nothing to run them with but the stage.
    pub shell: Option<Arc<Shell>>,
    /// What becomes of the commands of a dry run.
    pub commands: Commands,
    /// Whoever can be asked about a call.
    pub consultants: Arc<Consultants>,
    /// What makes up the results of what a dry run leaves undone.
    simulator: Arc<Simulator>,
    /// What the agent has to know before a call is judged, where it is not what it was told last.
    anew: Arc<dyn Fn() -> Option<Event> + Send + Sync>,
    journal: Journal,
    events: mpsc::Sender<Event>,
}

/// Where the events of a runtime come out.
pub type Events = mpsc::Receiver<Event>;

impl Runtime {
    /// A runtime for one session, and where its events come out.
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

    /// What becomes of commands in a dry run.
    pub fn rehearses(&mut self, commands: Commands) {
        self.means.commands = commands;
    }

    /// What makes up the results of what a dry run leaves undone. Before this there is no model for it, and nothing that
    /// was made up earlier.
    pub fn simulates(&mut self, simulating: Simulating) {
        self.means.simulator = Arc::new(Simulator::new(simulating));
    }

    /// Asks these about calls, as the agent's state wants.
    pub fn consults(&mut self, consultants: Consultants) {
        self.means.consultants = Arc::new(consultants);
    }

    /// Notes in this journal what happens; before this it does so nowhere.
    pub fn notes_in(&mut self, journal: Journal) {
        self.means.journal = journal;
    }

    /// Looks, before a tool does, whether there is something the agent has to know before it judges; blocks meanwhile.
    pub fn looks_first(&mut self, anew: impl Fn() -> Option<Event> + Send + Sync + 'static) {
        self.means.anew = Arc::new(anew);
    }

    /// Asks this model from the next request on. A reply that is under way goes on with the one that was asked.
    pub fn talk_to(&mut self, llm: Arc<dyn Llm>) {
        self.means.llm = llm;
    }

    /// Starts the effects in their order; an append is handed to the system before anything behind it starts. Never
    /// waits for what it starts. What comes back is a sentence for the person where the session could not be saved:
    /// it goes on in memory, and the next append tries again.
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
                    // A server with one place serves one request at a time.
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

    /// Tries once more to save what of the session could not be saved, and returns what still is not.
    pub fn save(&mut self) -> Option<Unsaved> {
        let reason = self.log.save().err()?;
        Some(Unsaved { entries: self.log.unsaved(), reason: reason.to_string() })
    }

    /// Writes all of the session to another file, which must not exist yet.
    pub fn save_to(&mut self, file: &std::path::Path) -> std::io::Result<()> {
        self.log.save_to(file)
    }

    /// Tells the agent how much fits into the model's window as soon as somebody knows it; whoever was asked before
    /// is not listened to any more. Nobody is asked before the model has replied: until something is said a service need
    /// not know of the person, and one that does not answer need not be troubled twice. Nothing waits for the answer.
    /// Where the session does not `last` beyond this turn, only a reply with calls makes it worth knowing.
    pub fn learn_window(&mut self, lasts: bool, window: impl Future<Output = Option<u64>> + Send + 'static) {
        self.asking.abort_all();
        self.unasked = Some((lasts, window.boxed()));
    }

    /// Asks whoever was not asked yet.
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

/// What of a session is not saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsaved {
    /// How many entries. 0 if only a part of a reply that is being received is not.
    pub entries: usize,
    /// What the system said.
    pub reason: String,
}

/// What the person is told where the session could not be saved.
fn unsaved(error: &std::io::Error) -> String {
    format!("The session could not be saved: {error}. It goes on in memory, and saving is tried again.")
}

impl Means {
    /// Hands an event to the frontend, however long that takes. Where there is none any more, nobody waits for it.
    async fn tell(&self, event: Event) {
        let _ = self.events.send(event).await;
    }
}
