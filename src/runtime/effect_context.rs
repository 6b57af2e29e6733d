//! Context in which effects of a session are executed: model, tools, project, reviewers and simulator.

use super::images::PreparedImages;
use super::side_request::SideModel;
use super::trial_states::Trials;
use crate::agent::Event;
use crate::chat::folder_instructions::FoundInstructions;
use crate::chat::{Digest, SimulationLedger, ToolCall};
use crate::llm::Llm;
use crate::project::Writer;
use crate::project::checkpoints::{CallRecorder, SessionCheckpoints};
use crate::project::command_terminal::CommandTerminal;
use crate::project::hook::Hook;
use crate::project::overlay_sandbox::CommandRehearsal;
use crate::project::shell::Shell;
use crate::store::Journal;
use crate::text::known_secrets::KnownSecrets;
use crate::tools::Toolbox;
use crate::tools::background_commands::BackgroundCommands;
use crate::workspace::Workspace;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;

/// Context of all effects of a session. Cheap to clone.
#[derive(Clone)]
pub struct EffectContext {
    pub llm: Arc<dyn Llm>,
    /// The tools that the model may call.
    pub tools: Arc<Toolbox>,
    /// The background commands of the session.
    pub(super) background: Arc<BackgroundCommands>,
    /// The project. In a dry run this is the overlay, and the real folder is not accessible.
    pub project: Arc<dyn Writer>,
    /// Runs commands. `None` in a dry run: commands run only in the overlay sandbox.
    pub shell: Option<Arc<Shell>>,
    /// Method of rehearsing commands in a dry run.
    pub rehearsal: CommandRehearsal,
    pub reviewers: Arc<Reviewers>,
    /// Produces simulated results in a dry run.
    pub(super) simulator: Arc<Simulator>,
    /// The terminal of the user's running command.
    pub terminal: Arc<CommandTerminal>,
    /// Checkpoints of a live session; `None` if they are turned off.
    pub checkpoints: Option<SessionCheckpoints>,
    /// Trials of commands in a live session.
    pub trials: Arc<Trials>,
    /// The workspace of the session; `None` if it has none.
    pub workspace: Option<Arc<Workspace>>,
    /// Images of earlier requests, as they are sent.
    pub(super) prepared_images: Arc<PreparedImages>,
    /// Called before each call is planned. Returns an event with the rules if they changed; the agent must handle it before
    /// it judges the call.
    pub(super) poll_rules: Arc<dyn Fn() -> Option<Event> + Send + Sync>,
    /// Finds the instructions of the folders between the project and a file of it, by the file's path in the project.
    pub(super) folder_lookup: Arc<dyn Fn(&Path) -> FoundInstructions + Send + Sync>,
    /// The journal. The default one writes nothing.
    pub journal: Journal,
    /// Secrets that no result of a request may contain.
    pub secrets: KnownSecrets,
    pub(super) events: mpsc::Sender<Event>,
}

impl EffectContext {
    /// Returns what records the changes of a call.
    pub(super) fn recorder(&self, call: &ToolCall) -> Arc<CallRecorder> {
        let recorder = self.checkpoints.as_ref().map(|checkpoints| checkpoints.recorder(&call.id, &call.name));
        Arc::new(recorder.unwrap_or_else(CallRecorder::disabled))
    }

    /// Sends an event to the frontend and waits for room in the channel. Without a frontend the event is dropped.
    pub(super) async fn send_event(&self, event: Event) {
        let _ = self.events.send(event).await;
    }
}

/// The reviewers of this session.
#[derive(Clone, Default)]
pub struct Reviewers {
    /// Id of the session.
    pub session: String,
    /// The hooks, by their name in the settings.
    pub hooks: HashMap<String, Hook>,
    /// The model reviewer.
    pub model: Option<SideModel>,
}

/// The simulator of a session: its settings and its state.
#[derive(Default)]
pub struct Simulator {
    /// The model named in the user's settings.
    pub model: Option<SideModel>,
    /// True if the model of the conversation must not learn of the dry run.
    pub(super) hides_dry_run: bool,
    ledger: Mutex<SimulationLedger>,
    /// Locks per call, so that identical calls are simulated once.
    call_locks: Mutex<HashMap<Digest, Arc<tokio::sync::Mutex<()>>>>,
}

impl Simulator {
    /// Creates the simulator. `ledger` has the earlier simulated results of the session.
    pub fn new(model: Option<SideModel>, hides_dry_run: bool, ledger: SimulationLedger) -> Self {
        Self { model, hides_dry_run, ledger: Mutex::new(ledger), call_locks: Mutex::default() }
    }

    /// Returns the simulated results of this session.
    pub(super) fn ledger(&self) -> MutexGuard<'_, SimulationLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the lock shared by all calls with this key.
    pub(super) fn call_lock(&self, key: &Digest) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.call_locks.lock().unwrap_or_else(PoisonError::into_inner);
        locks.entry(key.clone()).or_default().clone()
    }
}
