//! Assembles a session: its log, project, tools and runtime.

use super::advisers::Advisers;
use super::model::Model;
use super::{Connecting, Mistake, facts, myself, rules, walls};
use crate::agent::{self, Effect, Event, Offer, State};
use crate::chat::{self, Becomes, By, Entry, Ledger, SessionId, Standing};
use crate::config::brought::Place;
use crate::config::dry_run::Asks;
use crate::config::{self, Brought, Tell};
use crate::policy::{Mode, Policy};
use crate::project::rehearsal::{self, Rehearsal};
use crate::project::shell::Shell;
use crate::project::stage::{Commands, StageShell, try_stage};
use crate::project::{Reader, Writer};
use crate::runtime::{Events, OtherModel, Runtime, Simulating};
use crate::store::read::Matter;
use crate::store::{self, Fork, Header, Journal, Lines, Places, Sessions, new_id};
use crate::tools::Toolbox;
use crate::tools::apply_change::ApplyChange;
use crate::tools::apply_group::ApplyGroup;
use crate::tui::text::clean::one_line;
use anyhow::{Context, Result};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Notice for a session whose header cannot be read.
const HEADLESS: &str =
    "The session's first line is missing or damaged, so it continues as a dry run in this folder.";

/// Notice for a dry run that was continued without `--dry-run`.
const STAYS_DRY: &str = "This session is a dry run and stays one: nothing real is changed. Continue live in a copy with /fork live or --resume ID --fork --live.";

/// Parts shared by every session of this run.
#[derive(Clone)]
pub(super) struct Wiring {
    pub(super) places: Places,
    /// Folder of new sessions; absolute.
    pub(super) folder: PathBuf,
    pub(super) tools: Arc<Toolbox>,
    pub(super) shell: Arc<Shell>,
    /// The reviewers of calls.
    pub(super) advisers: Advisers,
    pub(super) mode: Mode,
    /// Settings of dry runs.
    pub(super) dry_run: config::DryRun,
    /// The model that simulates results in a dry run, and notices about it.
    pub(super) simulator: Option<(OtherModel, Vec<String>)>,
    /// Model given by a flag; it overrides the one of the session.
    pub(super) model_flag: Option<String>,
    /// True if the model may name sessions.
    pub(super) titles: bool,
    /// Maximum bytes of a project's instructions that are sent.
    pub(super) most_words: usize,
    /// True if more turns may follow: not in a headless run.
    pub(super) lasts: bool,
    /// Log of what happens.
    pub(super) journal: Journal,
}

/// Mode of a session at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    /// Live.
    Real,
    /// Dry run.
    DryRun,
    /// Live, and started as a dry run.
    Before,
}

/// An opened session.
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) state: State,
    pub(super) runtime: Runtime,
    pub(super) events: Events,
    /// Effects of opening it that must still run.
    pub(super) effects: Vec<Effect>,
    /// Notices about it for the user, one sentence each.
    pub(super) notices: Vec<String>,
    /// The folder it works in.
    pub(super) folder: PathBuf,
    /// The model it uses.
    pub(super) model: Model,
    /// Set if it is a new copy: the guard that removes the copy unless it is kept.
    pub(super) copy: Option<Fork>,
}

impl Session {
    /// Adds a notice that the session is a dry run although it was not requested.
    pub(super) fn says_that_it_stays_dry(&mut self) {
        if self.notices.iter().all(|notice| notice != HEADLESS) {
            self.notices.push(STAYS_DRY.to_owned());
        }
    }

    /// Keeps the new copy, if this is one. Returns the original session and a notice.
    pub(super) fn settle(&mut self) -> Option<(SessionId, Option<String>)> {
        let copy = self.copy.take()?;
        let (from, copy_turned) = (copy.from.clone(), copy.turned);
        copy.keep();
        let title = self.state.session.title();
        let what = title.map_or("this session".to_owned(), |title| format!("“{}”", one_line(title)));
        let words = format!(
            "this is a copy of {what}, which is unchanged. Return to it with /resume or aye --resume {from}"
        );
        // A copy that changed between dry run and live has this as an entry in its transcript.
        Some((from, (!copy_turned).then_some(words)))
    }
}

impl Wiring {
    /// Returns the stored sessions.
    pub(super) fn sessions(&self) -> Sessions {
        Sessions::new(self.places.sessions())
    }

    /// Starts a session. Its file is created with its first entry.
    pub(super) fn begin(&self, model: &Model, dry_run: bool) -> Result<Session> {
        let id = new_id();
        let header = Header {
            profile: model.profile.clone().unwrap_or_default(),
            ..Header::new(id.clone(), &self.folder, &model.name, dry_run)
        };
        let log = self.sessions().begin(&header);
        let begun = if dry_run { Begun::DryRun } else { Begun::Real };
        let (state, mut runtime, events, notices) =
            self.wire(&id, &self.folder, model, (begun, None), log)?;
        runtime.simulates(self.simulating(model, Ledger::default()));
        self.learn_window(&mut runtime, model, &state);
        let folder = self.folder.clone();
        let (effects, model) = (Vec::new(), model.clone());
        Ok(Session { id, state, runtime, events, effects, notices, folder, model, copy: None })
    }

    /// Continues a session: in its own folder, as a dry run if it is one, and with its last model if it is available
    /// and no flag overrides it; otherwise with `model`.
    pub(super) fn go_on(&self, id: &SessionId, model: &Model, connecting: &Connecting) -> Result<Session> {
        let (log, read) = self.sessions().open(id).map_err(Mistake::of)?;
        // A damaged first line is reported below, with its consequence.
        let told = read.notices.iter().filter(|notice| notice.matter != Matter::Headless);
        let mut notices: Vec<String> = told.map(ToString::to_string).collect();
        let (folder, dry_run) = match &read.header {
            // A header cannot hold every folder name, so this folder's own name is used.
            Some(header) if header.is_of(&self.folder) => (self.folder.clone(), header.dry_run),
            Some(header) => (header.folder.clone(), header.dry_run),
            None => {
                // Without its header it is unknown whether it was a dry run, so it is treated as one.
                notices.push(HEADLESS.to_owned());
                (self.folder.clone(), true)
            }
        };
        if !folder.is_dir() {
            return Err(Mistake(format!(
                "session {id} belongs to {}, which no longer exists",
                folder.display()
            ))
            .into());
        }
        let from = read.header.as_ref().and_then(|header| header.from.clone());
        let (began, began_with) =
            read.header.map(|header| (header.profile, header.model)).unwrap_or_default();
        let own = Some(began_with).filter(|model| !model.is_empty()).or_else(|| last_model(&read.entries));
        let profile = last_profile(&read.entries).unwrap_or(began);
        let mut model = model.clone();
        let mut lost = false;
        if !profile.is_empty() && model.profile.as_ref() != Some(&profile) && !connecting.is_flagged() {
            match connecting.to_profile(&profile, None) {
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
        let begun = match (dry_run, session.rehearsed()) {
            (true, _) => Begun::DryRun,
            (false, 0) => Begun::Real,
            (false, _) => Begun::Before,
        };
        let (blank, mut runtime, events, told) =
            self.wire(id, &folder, &model, (begun, from.as_ref()), log)?;
        notices.extend(told);
        if dry_run {
            runtime.simulates(self.simulating(&model, Ledger::of(session.entries())));
        }
        let (mut state, mut effects) = agent::resume_with(session, blank, &printed);
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
            effects.extend(agent::update(&mut state, Event::Switched { model: meant, profile }));
        }
        // A context window in the settings applies only to the model that they name.
        let window = model.seen.window.filter(|_| state.model == model.name);
        effects.extend(agent::update(&mut state, Event::WindowKnown(window)));
        self.learn_window(&mut runtime, &model, &state);
        if !model.seen.tour {
            model.name.clone_from(&state.model);
            model.seen.model.clone_from(&state.model);
        }
        let (id, copy) = (id.clone(), None);
        Ok(Session { id, state, runtime, events, effects, notices, folder, model, copy })
    }

    /// Continues a copy of a session; the session itself is only read.
    pub(super) fn fork(
        &self,
        id: &SessionId,
        becomes: Becomes,
        model: &Model,
        connecting: &Connecting,
    ) -> Result<Session> {
        let copy =
            store::fork_as(&self.places, id, &self.folder, becomes, rehearsal::empty).map_err(|error| {
                match error {
                    store::Error::Copy { .. } => anyhow::Error::from(error),
                    error => Mistake::of(error).into(),
                }
            })?;
        let mut session = self.go_on(&copy.id, model, connecting)?;
        if !copy.headed {
            session.notices.push(HEADLESS.to_owned());
        }
        if copy.turned {
            let became = Event::Became { of: copy.from.clone() };
            session.effects.extend(agent::update(&mut session.state, became));
            // A grant for rehearsed calls does not apply to live ones, and the other way round.
            let standing: Vec<_> = session.state.session.granted().to_vec();
            for Standing { grant, call, .. } in standing {
                let what = format!("{}: {}", grant.tool, grant.words());
                let event = Event::TookBack { given_on: Some(call), what, by: By::Nobody };
                session.effects.extend(agent::update(&mut session.state, event));
            }
        }
        session.copy = Some(copy);
        Ok(session)
    }

    /// Asks the provider for the context window of the session's model if it is unknown.
    fn learn_window(&self, runtime: &mut Runtime, model: &Model, state: &State) {
        if state.window.is_none() {
            ask_window(runtime, self.lasts, model, state.model.clone());
        }
    }

    /// Returns where the project's own files are read.
    pub(super) fn place(&self, folder: &Path) -> Place {
        rules::place(&self.places, folder, &self.tools, self.most_words)
    }

    /// Returns the project as the session sees it; `None` if the folder is gone.
    pub(super) fn seen_in(&self, id: &SessionId) -> Option<Box<dyn Reader>> {
        seen(&self.places, &self.folder, id).ok()
    }

    fn wire(
        &self,
        id: &SessionId,
        folder: &Path,
        model: &Model,
        (begun, from): (Begun, Option<&SessionId>),
        log: Lines,
    ) -> Result<(State, Runtime, Events, Vec<String>)> {
        let dry_run = begun == Begun::DryRun;
        let disk = walls::disk(&self.places, folder);
        let disk = Arc::new(disk.with_context(|| format!("cannot work in {}", folder.display()))?);
        // The changes of the dry run that this session is a copy of can be applied here.
        let layer = from.map(|from| self.places.rehearsal(from)).filter(|layer| !dry_run && layer.is_dir());
        let tools = layer.map_or_else(
            || self.tools.clone(),
            |layer| {
                let rehearsal = Arc::new(Rehearsal::new(disk.clone(), layer));
                let tools = Toolbox::clone(&self.tools).with(Arc::new(ApplyChange::new(rehearsal.clone())));
                Arc::new(tools.with(Arc::new(ApplyGroup::new(rehearsal))))
            },
        );
        let mut rehearsed = None;
        let (project, shell): (Arc<dyn Writer>, _) = if dry_run {
            let play = Arc::new(Rehearsal::new(disk, self.places.rehearsal(id)));
            rehearsed = Some(self.commands(&play, folder));
            (play, None)
        } else {
            (disk, Some(self.shell.clone()))
        };
        let (mut runtime, events) = Runtime::new(model.llm.clone(), tools, project, shell, Box::new(log));
        self.journal.note(format_args!(
            "session {id}, {}, to {}",
            if dry_run { "a dry run" } else { "live" },
            model.seen.source
        ));
        runtime.notes_in(self.journal.clone());
        runtime.consults(self.advisers.in_session(id));
        let (told, unstaged) = match &rehearsed {
            Some(Commands::Told(why)) => (agent::DRY_RUN_TOLD, Some(why.to_string())),
            Some(Commands::OnStage(_)) | None => (agent::DRY_RUN_STAGED, None),
        };
        if let Some(commands) = rehearsed {
            runtime.rehearses(commands);
        }
        let tell = self.dry_run.tell_model;
        let stage = match begun {
            Begun::Real => None,
            Begun::DryRun => (tell != Tell::Never).then_some(told),
            Begun::Before => Some(agent::WAS_REHEARSED),
        };
        let words = agent::standing_words(&facts::for_the_model(folder), stage);
        let as_live = self.dry_run.ask == Asks::AsLive;
        let policy = Policy { mode: self.mode, dry_run, as_live };
        let offer = Offer { system: agent::words_beneath(&words), tools: self.tools.specs_beneath() };
        let mut state = State::new(policy, model.name.clone(), words, self.tools.specs());
        state.tells_each = dry_run && tell == Tell::EachResult;
        state.tells_nothing = dry_run && tell == Tell::Never;
        state.advisers = self.advisers.who.clone();
        state.offer = Some(offer);
        state.unstaged = unstaged;
        let simulating = self.simulating(model, Ledger::default());
        state.simulator = simulating.model.map(|it| chat::adviser::one_line(it.name())).filter(|_| dry_run);
        state.window = model.seen.window;
        state.titles = self.titles && !model.seen.tour;
        state.instruct(Arc::new(Brought::trusted_words(&self.place(folder))));
        let watch = rules::Watch::new(rules::book(&self.places, folder, &self.tools));
        let (found, mut notices) = watch.anew().unwrap_or_default();
        notices.extend(self.simulator.iter().filter(|_| dry_run).flat_map(|(_, told)| told.clone()));
        state.rules = found;
        runtime.looks_first(move || watch.anew().map(|(rules, notices)| Event::RulesRead { rules, notices }));
        Ok((state, runtime, events, notices))
    }
}

impl Wiring {
    /// Returns how results are simulated in a dry run. The tour sends nothing anywhere.
    fn simulating(&self, model: &Model, ledger: Ledger) -> Simulating {
        let asked = self.simulator.as_ref().filter(|_| !model.seen.tour).map(|(other, _)| other.clone());
        Simulating { model: asked, untold: self.dry_run.tell_model == Tell::Never, ledger }
    }

    /// Returns the overlay sandbox for a dry run's commands, or why there is none.
    fn commands(&self, play: &Arc<Rehearsal>, folder: &Path) -> Commands {
        if self.dry_run.stage == config::dry_run::Stage::Off {
            return Commands::Told("dry_run.stage is \"off\" in the settings".into());
        }
        let beside = play.folder().parent().unwrap_or(folder);
        match try_stage(&myself(), folder, beside) {
            Ok(()) => {
                let shell = StageShell::new(self.shell.clone(), play.clone());
                Commands::OnStage(Arc::new(shell.with_disclosed(walls::disclosed(&self.dry_run))))
            }
            Err(why) => Commands::Told(why.into()),
        }
    }
}

/// Asks the provider for the context window of a model.
pub(super) fn ask_window(runtime: &mut Runtime, lasts: bool, model: &Model, name: String) {
    if let Some(service) = model.service.clone() {
        runtime.learn_window(lasts, async move { service.window(&name).await });
    }
}

/// Opens a project as a session sees it: with its overlay, if it is a dry run.
pub(super) fn seen(places: &Places, folder: &Path, id: &SessionId) -> io::Result<Box<dyn Reader>> {
    let disk = walls::disk(places, folder)?;
    let layer = places.rehearsal(id);
    match layer.is_dir() {
        true => Ok(Box::new(Rehearsal::new(Arc::new(disk), layer))),
        false => Ok(Box::new(disk)),
    }
}

/// Returns the last profile that the session switched to, if any.
fn last_profile(entries: &[Entry]) -> Option<String> {
    let profile =
        |entry: &Entry| if let Entry::Switched { profile, .. } = entry { profile.clone() } else { None };
    entries.iter().rev().find_map(profile)
}

/// Returns the model of the last reply.
fn last_model(entries: &[Entry]) -> Option<String> {
    let model =
        |entry: &Entry| if let Entry::Replied { model, .. } = entry { Some(model.clone()) } else { None };
    entries.iter().rev().find_map(model).filter(|model| !model.is_empty())
}
