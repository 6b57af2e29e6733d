//! Assembles a session: its log, project, tools and runtime.

use super::connected_model::{ConnectedModel, request_context_window};
use super::connector::Connector;
use super::credential_prompts::CredentialPrompts;
use super::mcp_setup::follow_servers;
use super::read_folders::ReadFolders;
use super::reviewers::Reviewers;
use super::sandbox_setup;
use super::server_forms::ServerForms;
use super::server_samplings::ServerSamplings;
use super::session::{NO_HEADER_NOTICE, Session};
use super::session_provider::choose_provider;
use super::tool_files::ToolFactory;
use crate::agent::{self, Event, State};
use crate::chat::{self, Decider, ForkMode, SessionGrant, SessionId, SimulationLedger};
use crate::cli::{UsageError, bail_usage};
use crate::config::rules::rule_watcher::RuleWatcher;
use crate::config::{self, AskHandling, ProjectFiles, TellModel};
use crate::mcp::server_pool::ServerPool;
use crate::policy::{Mode, Policy};
use crate::project::checkpoints::{Checkpoints, SessionCheckpoints};
use crate::project::disk::Disk;
use crate::project::guard::own_program;
use crate::project::overlay_sandbox::{CommandRehearsal, OverlayShell};
use crate::project::rehearsal::{self, Rehearsal};
use crate::project::shell::Shell;
use crate::project::trial::{FinishedTrial, TrialRunner, finish_interrupted_trials, test_sandbox_as_trial};
use crate::project::{Reader, Writer, folder_facts};
use crate::runtime::{Runtime, SideModel, Simulator, Trials};
use crate::store::session_reader::Problem;
use crate::store::{self, CopiedPart, Header, Journal, Places, SessionLog, Sessions, new_id};
use crate::text::clean::clean_line;
use crate::tools::Toolbox;
use crate::tools::apply_change::ApplyChange;
use crate::tools::apply_group::ApplyGroup;
use crate::tools::copy_to_project::CopyToProject;
use crate::tools::restore_files::RestoreFiles;
use crate::workspace::{Limits, Workspace};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Parts shared by every session of this run.
#[derive(Clone)]
pub(crate) struct SessionBuilder {
    pub(crate) places: Places,
    /// Folder of new sessions; absolute.
    pub(crate) folder: PathBuf,
    /// The built-in tools and those of the user's files.
    pub(super) tools: Arc<Toolbox>,
    /// The MCP servers of the user and of the open session's project.
    pub(super) mcp_servers: Arc<ServerPool>,
    /// The prompts for questions of these servers.
    pub(super) server_forms: Arc<ServerForms>,
    pub(super) server_samplings: Arc<ServerSamplings>,
    pub(super) tool_factory: Arc<ToolFactory>,
    pub(super) shell: Arc<Shell>,
    /// The reviewers of calls.
    pub(super) reviewers: Reviewers,
    pub(super) mode: Mode,
    /// Paths outside the project that trials of commands may read.
    pub(super) trial_paths: Vec<PathBuf>,
    /// Settings of dry runs.
    pub(super) dry_run: config::DryRun,
    /// The model that simulates results in a dry run, and notices about it.
    pub(super) simulator: Option<(SideModel, Vec<String>)>,
    /// Model given by a flag; it overrides the one of the session.
    pub(super) model_flag: Option<String>,
    /// True if the model may name sessions.
    pub(super) titles: bool,
    /// Maximum bytes of a project's instructions that are sent.
    pub(super) max_instruction_bytes: usize,
    pub(super) read_folders: ReadFolders,
    /// Maximum bytes of the checkpoints of a project; 0 turns them off.
    pub(super) checkpoint_bytes: u64,
    /// Limits of the workspaces.
    pub(super) workspace_limits: Limits,
    /// True if more turns may follow: not in a headless run.
    pub(super) is_interactive: bool,
    /// True if the calls come from another program.
    pub(super) is_served: bool,
    /// Log of what happens.
    pub(crate) journal: Journal,
    /// Credentials of tools, and the prompts for them.
    pub(crate) credentials: Arc<CredentialPrompts>,
}

/// Kind of a session when it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionKind {
    /// Live.
    Live,
    /// Dry run.
    DryRun,
    /// Live, and started as a dry run.
    FormerDryRun,
}

impl SessionBuilder {
    /// Returns the stored sessions.
    pub(super) fn stored_sessions(&self) -> Sessions {
        Sessions::new(self.places.sessions())
    }

    /// Starts a session. Its file is created with its first entry.
    pub(super) fn start_session(&self, model: &ConnectedModel, dry_run: bool) -> Result<Session> {
        let id = new_id();
        let header = Header {
            profile: model.profile.clone().unwrap_or_default(),
            is_served: self.is_served,
            base_url: if model.profile.is_none() { model.base_url.clone() } else { String::new() },
            ..Header::new(id.clone(), &self.folder, &model.name, dry_run)
        };
        let log = self.stored_sessions().begin_session(&header);
        let kind = if dry_run { SessionKind::DryRun } else { SessionKind::Live };
        let mut session = self.build_session(id, &self.folder, model, (kind, None), log)?;
        session.runtime.set_simulator(self.build_simulator(model, SimulationLedger::default()));
        self.introduce_model(&mut session);
        Ok(session)
    }

    /// Stores what was saved in opened copies of a session's workspace since aye last looked. A failure is reported with the
    /// next message of the session.
    fn store_changed_copies(&self, id: &SessionId) {
        let _ = Workspace::new(&self.places, id.clone(), self.workspace_limits).store_changed_copies();
    }

    /// Continues a session: in its own folder, as a dry run if it is one, and with its last model if it is available
    /// and no flag overrides it; otherwise with `model`.
    pub(super) fn continue_session(
        &self,
        id: &SessionId,
        model: &ConnectedModel,
        connector: &Connector,
    ) -> Result<Session> {
        let (log, stored) = self.stored_sessions().open(id).map_err(UsageError::from_error)?;
        self.store_changed_copies(id);
        // A damaged first line is reported below, with its consequence.
        let file_notices = stored.notices.iter().filter(|notice| notice.problem != Problem::NoHeader);
        let mut notices: Vec<String> = file_notices.map(ToString::to_string).collect();
        let (folder, dry_run) = stored.folder_and_kind(&self.folder);
        if stored.header.is_none() {
            notices.push(NO_HEADER_NOTICE.to_owned());
        }
        if !folder.is_dir() {
            let folder = folder.display();
            bail_usage!("Cannot continue session {id}: its folder {folder} no longer exists. Restore the folder.");
        }
        let copied_from = stored.header.as_ref().and_then(|header| header.from.clone());
        let provider = choose_provider(&stored, model, connector, &self.places.tour());
        if let Some(conflict) = provider.conflict.filter(|_| !self.is_interactive) {
            bail_usage!("Cannot continue session {id}: {conflict}");
        }
        notices.extend(provider.notices);
        let session = chat::Session::replay(stored.entries);
        let kind = match (dry_run, session.rehearsed_count()) {
            (true, _) => SessionKind::DryRun,
            (false, 0) => SessionKind::Live,
            (false, _) => SessionKind::FormerDryRun,
        };
        let mut built = self.build_session(id.clone(), &folder, &provider.model, (kind, copied_from.as_ref()), log)?;
        notices.append(&mut built.notices);
        if dry_run {
            let ledger = SimulationLedger::from_entries(session.entries());
            built.runtime.set_simulator(self.build_simulator(&built.model, ledger));
        }
        notices
            .extend(session.parked_note().map(|note| format!("This session was handed to you: {}", clean_line(note))));
        built.runtime.context.tools.note_earlier_calls(&session);
        let (mut state, mut effects) = agent::resume_session(session, built.state, &stored.unfinished_outputs);
        // A session that never changed its model has no entry for it.
        if let Some(session_model) = provider.session_model.filter(|_| state.session.model().is_none()) {
            state.model.name = session_model;
        }
        let model = &mut built.model;
        let new_model = self.model_flag.clone().or_else(|| provider.is_replaced.then(|| model.name.clone()));
        if let Some(new_model) = new_model.filter(|name| *name != state.model.name) {
            let profile = model.profile.clone().filter(|_| provider.is_replaced);
            effects.extend(agent::update(&mut state, Event::ModelSwitched { model: new_model, profile }));
        }
        // A context window in the settings applies only to the model that they name.
        let window = model.connection_info.context_window.filter(|_| state.model.name == model.name);
        effects.extend(agent::update(&mut state, Event::ContextWindowChanged(window)));
        if !model.connection_info.is_tour {
            model.name.clone_from(&state.model.name);
            model.connection_info.model.clone_from(&state.model.name);
        }
        let mut session = Session { state, effects, notices, ..built };
        self.introduce_model(&mut session);
        Ok(session)
    }

    /// Continues a copy of a session; the session itself is only read. The copy ends before the entry with the index
    /// `before_entry`, if given.
    pub(super) fn fork_session(
        &self,
        id: &SessionId,
        fork_mode: ForkMode,
        before_entry: Option<usize>,
        model: &ConnectedModel,
        connector: &Connector,
    ) -> Result<Session> {
        self.store_changed_copies(id);
        let copied = CopiedPart { mode: fork_mode, before_entry };
        let copy =
            store::fork_session(&self.places, id, &self.folder, copied, rehearsal::remove_folder).map_err(|error| {
                match error {
                    store::Error::Copy { .. } => anyhow::Error::from(error),
                    error => UsageError::from_error(error).into(),
                }
            })?;
        let mut session = self.continue_session(&copy.id, model, connector)?;
        if !copy.has_header {
            session.notices.push(NO_HEADER_NOTICE.to_owned());
        }
        if copy.has_changed_mode {
            let copied_event = Event::SessionCopied { source: copy.from.clone() };
            session.effects.extend(agent::update(&mut session.state, copied_event));
            // A grant for rehearsed calls does not apply to live ones, and the other way round.
            for SessionGrant { grant, call, .. } in session.state.session.grants().to_vec() {
                let description = format!("{}: {}", grant.describe_tools(), grant.describe_grant());
                let (call, by) = (Some(call), Decider::Headless);
                let event = Event::GrantRevoked { granting_call: call, description, replacement: None, by };
                session.effects.extend(agent::update(&mut session.state, event));
            }
        }
        session.copy = Some(copy);
        Ok(session)
    }

    /// Passes the session's model to the tools, and sets the request for its context window if that is unknown.
    fn introduce_model(&self, session: &mut Session) {
        let Session { state, runtime, model, .. } = session;
        self.tool_factory.set_session_model(model);
        if state.model.context_window.is_none() {
            request_context_window(runtime, self.is_interactive, model, state.model.name.clone());
        }
    }

    /// Returns the project as the session sees it; `None` if the folder is gone.
    pub(super) fn project_of_session(&self, id: &SessionId) -> Option<Box<dyn Reader>> {
        sandbox_setup::project_with_overlay(&self.places, &self.folder, id).ok()
    }

    /// Builds a session without entries. `copied_from` is the original of a copied session.
    fn build_session(
        &self,
        id: SessionId,
        folder: &Path,
        model: &ConnectedModel,
        (kind, copied_from): (SessionKind, Option<&SessionId>),
        log: SessionLog,
    ) -> Result<Session> {
        let dry_run = kind == SessionKind::DryRun;
        let finished_trials = finish_interrupted_trials(&self.places.trials());
        let trial_notices: Vec<String> = finished_trials.iter().map(FinishedTrial::describe).collect();
        let disk = sandbox_setup::open_project(&self.places, folder);
        let disk = Arc::new(disk.with_context(|| format!("Cannot work in {}", folder.display()))?);
        // The overlay of the dry run that this live session is a copy of. Its changes can be applied in this session.
        let overlay =
            copied_from.map(|source| self.places.rehearsal(source)).filter(|overlay| !dry_run && overlay.is_dir());
        let source = self.project_source(folder);
        let (tools, tool_notices) = self.session_tools(&source);
        let workspace = Arc::new(Workspace::new(&self.places, id.clone(), self.workspace_limits));
        let mut tools = tools.with_own_browser().with_workspace(workspace.clone());
        let tool_specs = tools.tool_specs();
        if let Some(overlay) = overlay {
            let rehearsal = Arc::new(Rehearsal::new(disk.clone(), overlay));
            tools = tools.with_tool(Arc::new(ApplyChange(rehearsal.clone())));
            tools = tools.with_tool(Arc::new(ApplyGroup(rehearsal)));
        }
        if !dry_run {
            tools = tools.with_tool(Arc::new(CopyToProject(workspace.clone())));
        }
        let checkpoints = self.session_checkpoints(&id, &disk).filter(|_| !dry_run);
        if let Some(session) = &checkpoints {
            tools = tools.with_tool(Arc::new(RestoreFiles::new(session.checkpoints.clone(), disk.clone())));
        }
        let (mut command_rehearsal, mut trial_runner) = (None, None);
        let (project, shell): (Arc<dyn Writer>, _) = if dry_run {
            let rehearsal = Arc::new(Rehearsal::new(disk, self.places.rehearsal(&id)));
            command_rehearsal = Some(self.rehearsed_commands(&rehearsal, folder));
            (rehearsal, None)
        } else {
            let access = sandbox_setup::trial_access(&self.trial_paths);
            let trials = self.places.trials();
            trial_runner = Some(TrialRunner::new(disk.clone(), self.shell.clone(), access, own_program(), trials));
            (disk, Some(self.shell.clone()))
        };
        let (mut runtime, events) = Runtime::new(model.llm.clone(), Arc::new(tools), project, shell, Box::new(log));
        follow_servers(self, folder, &runtime, dry_run);
        (runtime.context.checkpoints, runtime.context.workspace) = (checkpoints, Some(workspace));
        if let Some(runner) = trial_runner {
            runtime.context.trials = Arc::new(Trials::new(Arc::new(runner)));
        }
        self.journal.note(format_args!(
            "session {id}, {}, to {}",
            if dry_run { "a dry run" } else { "live" },
            model.connection_info.source
        ));
        runtime.context.journal = self.journal.clone();
        runtime.context.secrets = self.credentials.known_secrets();
        runtime.context.reviewers = self.reviewers.for_session(&id).into();
        let (dry_run_text, no_sandbox_reason) = match &command_rehearsal {
            Some(CommandRehearsal::Simulated(reason)) => (agent::DRY_RUN_SIMULATED, Some(reason.to_string())),
            Some(CommandRehearsal::Sandboxed(_)) | None => (agent::DRY_RUN_SANDBOXED, None),
        };
        if let Some(commands) = command_rehearsal {
            runtime.set_rehearsal(commands);
        }
        let tell_model = self.dry_run.tell_model;
        let dry_run_section = match kind {
            SessionKind::Live => None,
            SessionKind::DryRun => (tell_model != TellModel::Never).then_some(dry_run_text),
            SessionKind::FormerDryRun => Some(agent::WAS_REHEARSED),
        };
        let system_prompt = agent::build_system_prompt(&folder_facts::system_prompt_facts(folder), dry_run_section);
        let as_live = self.dry_run.ask == AskHandling::AsLive;
        let (mode, mode_notice) = self.initial_mode(model, copied_from.is_some());
        let policy = Policy { mode, dry_run, asks_as_live: as_live };
        let sub_agent_prompt = agent::build_sub_agent_prompt(&system_prompt);
        let mut state = State::new(policy, model.name.clone(), system_prompt, tool_specs);
        state.config.dry_run.labels_results = dry_run && tell_model == TellModel::EachResult;
        state.config.dry_run.is_hidden = dry_run && tell_model == TellModel::Never;
        state.config.reviewers = self.reviewers.agent_reviewers.clone();
        state.config.background_tools = Toolbox::background_specs();
        state.config.search_tools = Toolbox::search_specs();
        state.model.tool_limit = model.connection_info.tool_limit;
        state.config.sub_agent_prompt = Some(sub_agent_prompt);
        state.config.dry_run.no_sandbox_reason = no_sandbox_reason;
        let simulator = self.build_simulator(model, SimulationLedger::default());
        state.config.dry_run.simulator =
            simulator.model.map(|model| chat::reviewer::to_one_line(model.display_name())).filter(|_| dry_run);
        state.model.context_window = model.connection_info.context_window;
        state.config.requests_titles = self.titles && !model.connection_info.is_tour;
        state.set_instructions(Arc::new(ProjectFiles::trusted_instructions(&source)));
        runtime.set_folder_lookup(self.read_folders.folder_lookup(source.clone()));
        let watcher = RuleWatcher::new(source);
        // The script of the tour describes prompts, so no rule of the user answers them.
        let asks_always = model.connection_info.is_tour;
        let load_rules = move || {
            let (rules, notices) = watcher.reload_if_changed()?;
            Some((if asks_always { Arc::new(rules.without_allowing()) } else { rules }, notices))
        };
        let (rules, mut notices) = load_rules().unwrap_or_default();
        notices.extend(
            self.simulator.iter().filter(|_| dry_run).flat_map(|(_, simulator_notices)| simulator_notices.clone()),
        );
        state.rules = rules;
        runtime.set_rules_poll(move || load_rules().map(|(rules, notices)| Event::RulesLoaded { rules, notices }));
        notices.extend(trial_notices.into_iter().chain(tool_notices).chain(mode_notice));
        let (folder, model) = (folder.to_owned(), model.clone());
        Ok(Session { id, state, runtime, events, effects: Vec::new(), notices, folder, model, copy: None })
    }

    /// Opens the checkpoints of a live session; `None` if they are turned off.
    fn session_checkpoints(&self, session: &SessionId, disk: &Disk) -> Option<SessionCheckpoints> {
        if self.checkpoint_bytes == 0 {
            return None;
        }
        let root = disk.root().to_owned();
        let checkpoints = Arc::new(Checkpoints::new(self.places.checkpoints(&root), self.checkpoint_bytes));
        Some(SessionCheckpoints { checkpoints, session: session.clone(), root })
    }

    /// Returns the mode in which a session with this model starts, and a notice if it is not the configured one: the
    /// script of the tour describes the prompts of the mode `ask`. A copy follows a session that has shown the notice.
    fn initial_mode(&self, model: &ConnectedModel, is_copy: bool) -> (Mode, Option<String>) {
        if !model.connection_info.is_tour || self.mode == Mode::Ask {
            return (self.mode, None);
        }
        let notice = format!("The mode {} is ignored: the tour always starts in ask mode.", self.mode.as_str());
        (Mode::Ask, (!is_copy).then_some(notice))
    }

    /// Builds the simulator of a dry run. The tour has no simulator model: it sends no requests.
    fn build_simulator(&self, model: &ConnectedModel, ledger: SimulationLedger) -> Simulator {
        let simulator_model =
            self.simulator.as_ref().filter(|_| !model.connection_info.is_tour).map(|(simulator, _)| simulator.clone());
        Simulator::new(simulator_model, self.dry_run.tell_model == TellModel::Never, ledger)
    }

    /// Returns the overlay sandbox for a dry run's commands, or why there is none.
    fn rehearsed_commands(&self, rehearsal: &Arc<Rehearsal>, folder: &Path) -> CommandRehearsal {
        if self.dry_run.overlay_sandbox == config::OverlaySandbox::Off {
            return CommandRehearsal::Simulated("dry_run.overlay_sandbox is \"off\" in the settings".into());
        }
        match test_sandbox_as_trial(&own_program(), folder, &self.places.trials()) {
            Ok(()) => {
                let shell = OverlayShell::new(self.shell.clone(), rehearsal.clone());
                CommandRehearsal::Sandboxed(Arc::new(
                    shell.with_disclosed(sandbox_setup::rehearsal_access(&self.dry_run)),
                ))
            }
            Err(reason) => CommandRehearsal::Simulated(reason.into()),
        }
    }
}
