//! One session with a project and a scripted model, without a screen; everything else is real.

use super::folder::Folder;
use crate::support::scripted::{Reply, Scripted, says};
use aye::agent::{self, Effect, Event, State, WaitingCall};
use aye::chat::*;
use aye::llm::Llm;
use aye::policy::Policy;
use aye::project::shell::Shell;
use aye::project::{disk::Disk, rehearsal::Rehearsal};
use aye::runtime::{Events, Runtime};
use aye::store::Log;
use aye::tools::{Tool, Toolbox};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Time limit for each event: if one is lost, the test fails instead of hanging.
const LIMIT: Duration = super::keyboard::PATIENCE;

/// A session log in memory. The first `failures_left` writes fail after their entry was added.
#[derive(Clone, Default)]
pub struct MemoryLog {
    pub entries: Arc<Mutex<Vec<Entry>>>,
    pub failures_left: Arc<Mutex<usize>>,
}

impl Log for MemoryLog {
    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        self.entries.lock().unwrap().push(entry.clone());
        let mut failures_left = self.failures_left.lock().unwrap();
        if *failures_left > 0 {
            *failures_left -= 1;
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        Ok(())
    }

    fn append_reply_piece(&mut self, _: &PartialReply) -> io::Result<()> {
        Ok(())
    }

    fn append_output_piece(&mut self, _: &PartialOutput) -> io::Result<()> {
        Ok(())
    }
}

/// Everything that one session needs.
pub struct Scene {
    pub state: State,
    pub runtime: Runtime,
    events: Events,
    pub log: MemoryLog,
    pub model: Scripted,
    pub errors: Vec<String>,
    root: Folder,
}

impl Scene {
    /// A project without files, and a model with these replies, in order.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::build(replies, false)
    }

    /// The same, but the session is a dry run.
    pub fn dry_run(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::build(replies, true)
    }

    /// A model that replies slowly, so that it can be stopped in the middle.
    pub fn slow(text: &str) -> Self {
        let (graphemes_per_second, dry_run) = (60, false);
        Self::with_scripted(Scripted::new([says(text)]).paced(graphemes_per_second), dry_run)
    }

    /// A session with this further tool.
    pub fn with_tool(replies: impl IntoIterator<Item = Reply>, tool: Arc<dyn Tool>) -> Self {
        let mut scene = Self::new(replies);
        scene.runtime.context.tools = Arc::new(Toolbox::clone(&scene.runtime.context.tools).with_tool(tool));
        scene
    }

    fn build(replies: impl IntoIterator<Item = Reply>, dry_run: bool) -> Self {
        Self::with_scripted(Scripted::new(replies), dry_run)
    }

    /// A session with this model client.
    pub fn with_llm(model: impl Llm + 'static) -> Self {
        Self::build_with(Scripted::new([]), Arc::new(model), false)
    }

    fn with_scripted(model: Scripted, dry_run: bool) -> Self {
        let llm = Arc::new(model.clone());
        Self::build_with(model, llm, dry_run)
    }

    fn build_with(model: Scripted, llm: Arc<dyn Llm>, dry_run: bool) -> Self {
        let root = Folder::new();
        let project = root.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let tools = Arc::new(Toolbox::with_builtin_tools(aye::tools::ToolSettings::default()));
        let policy = Policy { dry_run, ..Policy::default() };
        let mut state = State::new(policy, "scripted".into(), "words".into(), tools.tool_specs());
        state.config.sub_agent_prompt = Some("sub-agent prompt".into());
        let log = MemoryLog::default();
        let disk = Arc::new(Disk::new(&project).unwrap());
        let (runtime, events) = if dry_run {
            let overlay = Arc::new(Rehearsal::new(disk, root.path().join("layer")));
            Runtime::new(llm, tools, overlay, None, Box::new(log.clone()))
        } else {
            let shell = Arc::new(Shell::new(env!("CARGO_BIN_EXE_aye").into()));
            Runtime::new(llm, tools, disk, Some(shell), Box::new(log.clone()))
        };
        Self { state, runtime, events, log, model, errors: Vec::new(), root }
    }

    /// The project folder.
    pub fn project(&self) -> std::path::PathBuf {
        self.root.path().join("project")
    }

    /// Writes a file into the project.
    pub fn with_file(self, path: &str, text: &str) -> Self {
        let path = self.project().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// The content of a file in the real project.
    pub fn file(&self, path: impl AsRef<Path>) -> Option<String> {
        std::fs::read_to_string(self.project().join(path)).ok()
    }

    /// Applies an event, and waits until the agent is idle or waits for the user.
    pub async fn run_event(&mut self, event: Event) {
        self.apply_event(event);
        self.run_until_idle().await;
    }

    /// Applies an event without waiting.
    pub fn apply_event(&mut self, event: Event) {
        let effects = agent::update(&mut self.state, event);
        self.execute_effects(effects);
    }

    fn execute_effects(&mut self, effects: Vec<Effect>) {
        self.errors.extend(self.runtime.execute(effects));
    }

    /// Waits until the agent is idle or waits for the user.
    pub async fn run_until_idle(&mut self) {
        while !self.state.is_idle() && self.state.waiting_call().is_none() {
            self.apply_next_event().await;
        }
    }

    /// Applies the next event.
    pub async fn apply_next_event(&mut self) {
        let event = self.next_event().await;
        self.apply_event(event);
    }

    /// The next event, not applied.
    pub async fn next_event(&mut self) -> Event {
        let event = tokio::time::timeout(LIMIT, self.events.recv()).await.expect("an event within the limit");
        event.expect("the runtime is there")
    }

    /// Sends a user message.
    pub async fn say(&mut self, text: &str) {
        self.run_event(Event::UserMessage(text.into())).await;
    }

    /// Approves the waiting call.
    pub async fn approve(&mut self) {
        self.decide(Decision::Once).await;
    }

    /// Decides the waiting call.
    pub async fn decide(&mut self, decision: Decision) {
        let Some(WaitingCall::Approval { call, .. }) = self.state.waiting_call() else {
            panic!("no call waits for approval")
        };
        let by = Decider::User { key: "y".into(), after_ms: 900 };
        let event = Event::CallDecided { call: call.id.clone(), decision, by };
        self.run_event(event).await;
    }

    /// The outcome of every call, in the order they were settled.
    pub fn outcomes(&self) -> Vec<Outcome> {
        let outcome = |entry: &Entry| match entry {
            Entry::Settled { outcome, .. } => Some(outcome.clone()),
            _ => None,
        };
        self.state.session.entries().iter().filter_map(outcome).collect()
    }

    /// The last tool result in the last request to the model.
    pub fn last_tool_result(&self) -> String {
        let requests = self.model.requests();
        let requests = requests.lock().unwrap();
        let request = requests.last().expect("the model was asked");
        let result_text = |message: &Message| match message {
            Message::Tool { text, .. } => Some(text.clone()),
            _ => None,
        };
        request.messages.iter().rev().find_map(result_text).unwrap_or_default()
    }
}
