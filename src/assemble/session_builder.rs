//! Assembles a session: its log, project, tools and runtime.

use super::connected_model::ConnectedModel;
use super::connector::Connector;
use super::own_program::own_program;
use super::reviewers::Reviewers;
use super::session::{NO_HEADER_NOTICE, Session};
use super::usage_error::UsageError;
use super::{rule_loading, run_facts, sandbox_setup};
use crate::agent::{self, Event, State, SubAgentConfig};
use crate::chat::{self, Decider, Entry, ForkMode, SessionGrant, SessionId, SimulationLedger};
use crate::config::project_files::ProjectSource;
use crate::config::{self, AskHandling, ProjectFiles, TellModel};
use crate::policy::{Mode, Policy};
use crate::project::overlay_sandbox::{CommandRehearsal, OverlayShell, test_overlay_sandbox};
use crate::project::rehearsal::{self, Rehearsal};
use crate::project::shell::Shell;
use crate::project::{Reader, Writer};
use crate::runtime::{Events, Runtime, SideModel, SimulatorSettings};
use crate::store::session_reader::Problem;
use crate::store::{self, Header, Journal, Places, SessionLog, Sessions, new_id};
use crate::tools::Toolbox;
use crate::tools::apply_change::ApplyChange;
use crate::tools::apply_group::ApplyGroup;
use anyhow::{Context, Result};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Parts shared by every session of this run.
#[derive(Clone)]
pub(crate) struct SessionBuilder {
    pub(super) places: Places,
    /// Folder of new sessions; absolute.
    pub(super) folder: PathBuf,
    pub(super) tools: Arc<Toolbox>,
    pub(super) shell: Arc<Shell>,
    /// The reviewers of calls.
    pub(super) reviewers: Reviewers,
    pub(super) mode: Mode,
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
    /// True if more turns may follow: not in a headless run.
    pub(super) is_interactive: bool,
    /// Log of what happens.
    pub(super) journal: Journal,
}

/// Mode of a session at its start.
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
            ..Header::new(id.clone(), &self.folder, &model.name, dry_run)
        };
        let log = self.stored_sessions().begin_session(&header);
        let begun = if dry_run { SessionKind::DryRun } else { SessionKind::Live };
        let (state, mut runtime, events, notices) = self.build_session(&id, &self.folder, model, (begun, None), log)?;
        runtime.set_simulator(self.simulation(model, SimulationLedger::default()));
        self.learn_window(&mut runtime, model, &state);
        let folder = self.folder.clone();
        let (effects, model) = (Vec::new(), model.clone());
        Ok(Session { id, state, runtime, events, effects, notices, folder, model, copy: None })
    }

    /// Continues a session: in its own folder, as a dry run if it is one, and with its last model if it is available
    /// and no flag overrides it; otherwise with `model`.
    pub(super) fn continue_session(
        &self,
        id: &SessionId,
        model: &ConnectedModel,
        connecting: &Connector,
    ) -> Result<Session> {
        let (log, read) = self.stored_sessions().open(id).map_err(UsageError::from_error)?;
        // A damaged first line is reported below, with its consequence.
        let told = read.notices.iter().filter(|notice| notice.problem != Problem::NoHeader);
        let mut notices: Vec<String> = told.map(ToString::to_string).collect();
        let (folder, dry_run) = match &read.header {
            // A header cannot hold every folder name, so this folder's own name is used.
            Some(header) if header.is_of(&self.folder) => (self.folder.clone(), header.dry_run),
            Some(header) => (header.folder.clone(), header.dry_run),
            None => {
                // Without its header it is unknown whether it was a dry run, so it is treated as one.
                notices.push(NO_HEADER_NOTICE.to_owned());
                (self.folder.clone(), true)
            }
        };
        if !folder.is_dir() {
            return Err(
                UsageError(format!("session {id} belongs to {}, which no longer exists", folder.display())).into()
            );
        }
        let from = read.header.as_ref().and_then(|header| header.from.clone());
        let (began, began_with) = read.header.map(|header| (header.profile, header.model)).unwrap_or_default();
        let own = Some(began_with).filter(|model| !model.is_empty()).or_else(|| last_model(&read.entries));
        let profile = last_profile(&read.entries).unwrap_or(began);
        let mut model = model.clone();
        let mut lost = false;
        if !profile.is_empty() && model.profile.as_ref() != Some(&profile) && !connecting.is_provider_overridden() {
            match connecting.connect_profile(&profile, None) {
                Ok(its) => {
                    notices.extend(its.warnings.iter().cloned());
                    model = its;
                }
                Err(why) => {
                    lost = true;
                    notices.push(format!("This session used {profile}, which is not available: {why:#}."));
                }
            }
        }
        let printed = read.printed;
        let session = chat::Session::replay(read.entries);
        let begun = match (dry_run, session.rehearsed_count()) {
            (true, _) => SessionKind::DryRun,
            (false, 0) => SessionKind::Live,
            (false, _) => SessionKind::FormerDryRun,
        };
        let (blank, mut runtime, events, told) =
            self.build_session(id, &folder, &model, (begun, from.as_ref()), log)?;
        notices.extend(told);
        if dry_run {
            runtime.set_simulator(self.simulation(&model, SimulationLedger::from_entries(session.entries())));
        }
        let (mut state, mut effects) = agent::resume_with_output(session, blank, &printed);
        // A session that never changed its model has no entry for it.
        if !profile.is_empty()
            && model.profile.as_ref() == Some(&profile)
            && state.session.model().is_none()
            && let Some(own) = own
        {
            state.model = own;
        }
        let meant = self.model_flag.clone().or_else(|| lost.then(|| model.name.clone()));
        if let Some(meant) = meant.filter(|meant| *meant != state.model) {
            let profile = model.profile.clone().filter(|_| lost);
            effects.extend(agent::update(&mut state, Event::ModelSwitched { model: meant, profile }));
        }
        // A context window in the settings applies only to the model that they name.
        let window = model.shown.context_window.filter(|_| state.model == model.name);
        effects.extend(agent::update(&mut state, Event::ContextWindowChanged(window)));
        self.learn_window(&mut runtime, &model, &state);
        if !model.shown.is_tour {
            model.name.clone_from(&state.model);
            model.shown.model.clone_from(&state.model);
        }
        let (id, copy) = (id.clone(), None);
        Ok(Session { id, state, runtime, events, effects, notices, folder, model, copy })
    }

    /// Continues a copy of a session; the session itself is only read.
    pub(super) fn fork_session(
        &self,
        id: &SessionId,
        becomes: ForkMode,
        model: &ConnectedModel,
        connecting: &Connector,
    ) -> Result<Session> {
        let copy = store::fork_session_as(&self.places, id, &self.folder, becomes, rehearsal::remove_folder).map_err(
            |error| match error {
                store::Error::Copy { .. } => anyhow::Error::from(error),
                error => UsageError::from_error(error).into(),
            },
        )?;
        let mut session = self.continue_session(&copy.id, model, connecting)?;
        if !copy.has_header {
            session.notices.push(NO_HEADER_NOTICE.to_owned());
        }
        if copy.has_changed_mode {
            let became = Event::SessionCopied { source: copy.from.clone() };
            session.effects.extend(agent::update(&mut session.state, became));
            // A grant for rehearsed calls does not apply to live ones, and the other way round.
            let standing: Vec<_> = session.state.session.grants().to_vec();
            for SessionGrant { grant, call, .. } in standing {
                let what = format!("{}: {}", grant.tool, grant.describe_grant());
                let event = Event::GrantRevoked { given_on: Some(call), what, by: Decider::Headless };
                session.effects.extend(agent::update(&mut session.state, event));
            }
        }
        session.copy = Some(copy);
        Ok(session)
    }

    /// Asks the provider for the context window of the session's model if it is unknown.
    fn learn_window(&self, runtime: &mut Runtime, model: &ConnectedModel, state: &State) {
        if state.context_window.is_none() {
            ask_window(runtime, self.is_interactive, model, state.model.clone());
        }
    }

    /// Returns where the project's own files are read.
    pub(super) fn project_files(&self, folder: &Path) -> ProjectSource {
        rule_loading::project_files(&self.places, folder, &self.tools, self.max_instruction_bytes)
    }

    /// Returns the project as the session sees it; `None` if the folder is gone.
    pub(super) fn project_of_session(&self, id: &SessionId) -> Option<Box<dyn Reader>> {
        project_with_overlay(&self.places, &self.folder, id).ok()
    }

    fn build_session(
        &self,
        id: &SessionId,
        folder: &Path,
        model: &ConnectedModel,
        (begun, from): (SessionKind, Option<&SessionId>),
        log: SessionLog,
    ) -> Result<(State, Runtime, Events, Vec<String>)> {
        let dry_run = begun == SessionKind::DryRun;
        let disk = sandbox_setup::open_project(&self.places, folder);
        let disk = Arc::new(disk.with_context(|| format!("cannot work in {}", folder.display()))?);
        // The changes of the dry run that this session is a copy of can be applied here.
        let layer = from.map(|from| self.places.rehearsal(from)).filter(|layer| !dry_run && layer.is_dir());
        let tools = layer.map_or_else(
            || self.tools.clone(),
            |layer| {
                let rehearsal = Arc::new(Rehearsal::new(disk.clone(), layer));
                let tools = Toolbox::clone(&self.tools).with_tool(Arc::new(ApplyChange::new(rehearsal.clone())));
                Arc::new(tools.with_tool(Arc::new(ApplyGroup::new(rehearsal))))
            },
        );
        let mut rehearsed = None;
        let (project, shell): (Arc<dyn Writer>, _) = if dry_run {
            let play = Arc::new(Rehearsal::new(disk, self.places.rehearsal(id)));
            rehearsed = Some(self.rehearsed_commands(&play, folder));
            (play, None)
        } else {
            (disk, Some(self.shell.clone()))
        };
        let (mut runtime, events) = Runtime::new(model.llm.clone(), tools, project, shell, Box::new(log));
        self.journal.note(format_args!(
            "session {id}, {}, to {}",
            if dry_run { "a dry run" } else { "live" },
            model.shown.source
        ));
        runtime.set_journal(self.journal.clone());
        runtime.set_reviewers(self.reviewers.for_session(id));
        let (told, unstaged) = match &rehearsed {
            Some(CommandRehearsal::Simulated(why)) => (agent::DRY_RUN_SIMULATED, Some(why.to_string())),
            Some(CommandRehearsal::Sandboxed(_)) | None => (agent::DRY_RUN_SANDBOXED, None),
        };
        if let Some(commands) = rehearsed {
            runtime.set_rehearsal(commands);
        }
        let tell = self.dry_run.tell_model;
        let stage = match begun {
            SessionKind::Live => None,
            SessionKind::DryRun => (tell != TellModel::Never).then_some(told),
            SessionKind::FormerDryRun => Some(agent::WAS_REHEARSED),
        };
        let words = agent::build_system_prompt(&run_facts::system_prompt_facts(folder), stage);
        let as_live = self.dry_run.ask == AskHandling::AsLive;
        let policy = Policy { mode: self.mode, dry_run, asks_as_live: as_live };
        let offer = SubAgentConfig {
            system_prompt: agent::build_sub_agent_prompt(&words),
            tools: self.tools.sub_agent_specs(),
        };
        let mut state = State::new(policy, model.name.clone(), words, self.tools.tool_specs());
        state.labels_rehearsed = dry_run && tell == TellModel::EachResult;
        state.hides_dry_run = dry_run && tell == TellModel::Never;
        state.reviewers = self.reviewers.rules_for_agent.clone();
        state.sub_agent_config = Some(offer);
        state.no_sandbox_reason = unstaged;
        let simulating = self.simulation(model, SimulationLedger::default());
        state.simulator = simulating.model.map(|it| chat::reviewer::to_one_line(it.display_name())).filter(|_| dry_run);
        state.context_window = model.shown.context_window;
        state.requests_titles = self.titles && !model.shown.is_tour;
        state.set_instructions(Arc::new(ProjectFiles::trusted_instructions(&self.project_files(folder))));
        let watch = rule_loading::RuleWatcher::new(rule_loading::rule_book(&self.places, folder, &self.tools));
        let (found, mut notices) = watch.reload_if_changed().unwrap_or_default();
        notices.extend(self.simulator.iter().filter(|_| dry_run).flat_map(|(_, told)| told.clone()));
        state.rules = found;
        runtime.set_plan_check(move || {
            watch.reload_if_changed().map(|(rules, notices)| Event::RulesLoaded { rules, notices })
        });
        Ok((state, runtime, events, notices))
    }
}

impl SessionBuilder {
    /// Returns how results are simulated in a dry run. The tour sends nothing anywhere.
    fn simulation(&self, model: &ConnectedModel, ledger: SimulationLedger) -> SimulatorSettings {
        let asked = self.simulator.as_ref().filter(|_| !model.shown.is_tour).map(|(other, _)| other.clone());
        SimulatorSettings { model: asked, hides_dry_run: self.dry_run.tell_model == TellModel::Never, ledger }
    }

    /// Returns the overlay sandbox for a dry run's commands, or why there is none.
    fn rehearsed_commands(&self, play: &Arc<Rehearsal>, folder: &Path) -> CommandRehearsal {
        if self.dry_run.overlay_sandbox == config::OverlaySandbox::Off {
            return CommandRehearsal::Simulated("dry_run.overlay_sandbox is \"off\" in the settings".into());
        }
        let beside = play.overlay_folder().parent().unwrap_or(folder);
        match test_overlay_sandbox(&own_program(), folder, beside) {
            Ok(()) => {
                let shell = OverlayShell::new(self.shell.clone(), play.clone());
                CommandRehearsal::Sandboxed(Arc::new(
                    shell.with_disclosed(sandbox_setup::rehearsal_access(&self.dry_run)),
                ))
            }
            Err(why) => CommandRehearsal::Simulated(why.into()),
        }
    }
}

/// Asks the provider for the context window of a model.
pub(super) fn ask_window(runtime: &mut Runtime, lasts: bool, model: &ConnectedModel, name: String) {
    if let Some(service) = model.provider.clone() {
        runtime.set_window_request(lasts, async move { service.window(&name).await });
    }
}

/// Opens a project as a session sees it: with its overlay, if it is a dry run.
pub(crate) fn project_with_overlay(places: &Places, folder: &Path, id: &SessionId) -> io::Result<Box<dyn Reader>> {
    let disk = sandbox_setup::open_project(places, folder)?;
    let layer = places.rehearsal(id);
    match layer.is_dir() {
        true => Ok(Box::new(Rehearsal::new(Arc::new(disk), layer))),
        false => Ok(Box::new(disk)),
    }
}

/// Returns the last profile that the session switched to, if any.
fn last_profile(entries: &[Entry]) -> Option<String> {
    let profile = |entry: &Entry| if let Entry::Switched { profile, .. } = entry { profile.clone() } else { None };
    entries.iter().rev().find_map(profile)
}

/// Returns the model of the last reply.
fn last_model(entries: &[Entry]) -> Option<String> {
    let model = |entry: &Entry| if let Entry::Replied { model, .. } = entry { Some(model.clone()) } else { None };
    entries.iter().rev().find_map(model).filter(|model| !model.is_empty())
}
