//! Puts a session together: its log, its project, its tools and the runtime that drives them.

use super::model::Model;
use super::{Mistake, facts};
use crate::agent::{self, Effect, Event, State};
use crate::chat::{self, SessionId};
use crate::policy::{Mode, Policy};
use crate::project::Writer;
use crate::project::disk::Disk;
use crate::project::rehearsal::Rehearsal;
use crate::project::shell::Shell;
use crate::runtime::{Events, Runtime};
use crate::store::read::Matter;
use crate::store::{Header, Lines, Places, Sessions, new_id};
use crate::tools::Toolbox;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What every session of this run shares.
#[derive(Clone)]
pub(super) struct Wiring {
    pub(super) places: Places,
    /// The folder that new sessions work in; absolute.
    pub(super) folder: PathBuf,
    pub(super) tools: Arc<Toolbox>,
    pub(super) shell: Arc<Shell>,
    pub(super) mode: Mode,
    /// The model that a flag names: it wins over what a session remembers.
    pub(super) model_flag: Option<String>,
}

/// A session in hand.
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) state: State,
    pub(super) runtime: Runtime,
    pub(super) events: Events,
    /// What opening it left to be done.
    pub(super) effects: Vec<Effect>,
    /// What the person should know about it: one sentence each.
    pub(super) notices: Vec<String>,
    /// The folder it works in.
    pub(super) folder: PathBuf,
}

impl Wiring {
    /// The sessions there are.
    pub(super) fn sessions(&self) -> Sessions {
        Sessions::new(self.places.sessions())
    }

    /// Begins a session. Its file is made with its first entry.
    pub(super) fn begin(&self, model: &Model, dry_run: bool) -> Result<Session> {
        let id = new_id();
        let header = Header::new(id.clone(), &self.folder, &model.name, dry_run);
        let log = self.sessions().begin(&header);
        let (state, runtime, events) = self.wire(&id, &self.folder, model, dry_run, log)?;
        let folder = self.folder.clone();
        Ok(Session { id, state, runtime, events, effects: Vec::new(), notices: Vec::new(), folder })
    }

    /// Goes on with a session: in its own folder, and as a dry run where it began as one.
    pub(super) fn go_on(&self, id: &SessionId, model: &Model) -> Result<Session> {
        let (log, read) = self.sessions().open(id).map_err(Mistake::of)?;
        // A damaged first line is said below, with what follows from it.
        let told = read.notices.iter().filter(|notice| notice.matter != Matter::Headless);
        let mut notices: Vec<String> = told.map(ToString::to_string).collect();
        let (folder, dry_run) = match &read.header {
            // This folder's own name may be one that no header can hold.
            Some(header) if header.is_of(&self.folder) => (self.folder.clone(), header.dry_run),
            Some(header) => (header.folder.clone(), header.dry_run),
            None => {
                // Without its first line nobody knows whether it was a dry run: the careful answer is that it was.
                notices.push(
                    "The session's first line is missing or damaged, so it goes on as a dry run in this folder."
                        .to_owned(),
                );
                (self.folder.clone(), true)
            }
        };
        if !folder.is_dir() {
            return Err(Mistake(format!(
                "session {id} worked in {}, which is not there any more",
                folder.display()
            ))
            .into());
        }
        let (blank, runtime, events) = self.wire(id, &folder, model, dry_run, log)?;
        let (mut state, mut effects) = agent::resume(chat::Session::replay(read.entries), blank);
        if let Some(flag) = &self.model_flag
            && state.model != *flag
        {
            effects.extend(agent::update(&mut state, Event::Switched(flag.clone())));
        }
        Ok(Session { id: id.clone(), state, runtime, events, effects, notices, folder })
    }

    fn wire(
        &self,
        id: &SessionId,
        folder: &Path,
        model: &Model,
        dry_run: bool,
        log: Lines,
    ) -> Result<(State, Runtime, Events)> {
        let disk =
            Arc::new(Disk::new(folder).with_context(|| format!("cannot work in {}", folder.display()))?);
        let (project, shell): (Arc<dyn Writer>, _) = if dry_run {
            let layer = self.places.rehearsal(id);
            (Arc::new(Rehearsal::new(disk, layer)), None)
        } else {
            (disk, Some(self.shell.clone()))
        };
        let (runtime, events) =
            Runtime::new(model.llm.clone(), self.tools.clone(), project, shell, Box::new(log));
        let words = agent::standing_words(&facts::for_the_model(folder), dry_run);
        let policy = Policy { mode: self.mode, dry_run };
        Ok((State::new(policy, model.name.clone(), words, self.tools.specs()), runtime, events))
    }
}
