//! An opened session with what drives it, and its connection with the screen.

use super::connected_model::ConnectedModel;
use crate::agent::{Effect, State};
use crate::chat::SessionId;
use crate::project::command_terminal;
use crate::runtime::{Events, Runtime, Unsaved};
use crate::store::Fork;
use crate::text::clean::clean_line;
use crate::tui::host::{AgentLink, ForwardEnd, SessionFile};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Notice for a session whose header cannot be read.
pub(super) const NO_HEADER_NOTICE: &str =
    "The session's first line is missing or damaged, so it continues as a dry run in this folder.";

/// Notice for a dry run that was continued without `--dry-run`.
const STILL_DRY_RUN_NOTICE: &str = "This session is a dry run and stays one: nothing real is changed. Continue live in a copy with /fork live or --resume ID --fork --live.";

/// An opened session.
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) state: State,
    pub(crate) runtime: Runtime,
    pub(crate) events: Events,
    /// Effects of opening it that must still run.
    pub(crate) effects: Vec<Effect>,
    /// Notices about it for the user, one sentence each.
    pub(crate) notices: Vec<String>,
    /// The folder it works in.
    pub(crate) folder: PathBuf,
    /// The model it uses.
    pub(crate) model: ConnectedModel,
    /// Set if it is a new copy: the guard that removes the copy unless it is kept.
    pub(crate) copy: Option<Fork>,
}

impl Session {
    /// Adds a notice that the session is a dry run although it was not requested.
    pub(super) fn warn_still_dry_run(&mut self) {
        if self.notices.iter().all(|notice| notice != NO_HEADER_NOTICE) {
            self.notices.push(STILL_DRY_RUN_NOTICE.to_owned());
        }
    }

    /// If this session is a new copy, keeps it. Returns the original session, and a notice if the transcript does not
    /// name the original. `None` if this session is no new copy.
    pub(crate) fn keep_copy(&mut self) -> Option<(SessionId, Option<String>)> {
        let copy = self.copy.take()?;
        let (from, has_changed_mode) = (copy.from.clone(), copy.has_changed_mode);
        copy.keep();
        let title = self.state.session.title();
        let original = title.map_or("this session".to_owned(), |title| format!("“{}”", clean_line(title)));
        let notice = format!(
            "this is a copy of {original}, which is unchanged. Return to it with /resume or aye --resume {from}"
        );
        // If the copy changed between dry run and live, an entry of its transcript already names the original.
        Some((from, (!has_changed_mode).then_some(notice)))
    }
}

/// Connects the screen to a session's runtime. The host keeps the runtime too, to change the model.
pub(super) fn connect_runtime(runtime: &Arc<Mutex<Runtime>>, events: Events) -> AgentLink {
    let terminal = runtime.lock().unwrap_or_else(PoisonError::into_inner).context.terminal.clone();
    let (runtime, file_runtime) = (runtime.clone(), runtime.clone());
    let run = move |effects: Vec<Effect>| runtime.lock().unwrap_or_else(PoisonError::into_inner).execute(effects);
    let forward = move |is_stopped: &mut dyn FnMut() -> bool| match terminal.forward(std::io::stdin(), is_stopped) {
        command_terminal::ForwardEnd::Ended | command_terminal::ForwardEnd::Detached => ForwardEnd::Returned,
        command_terminal::ForwardEnd::TerminalLost => ForwardEnd::TerminalLost,
        command_terminal::ForwardEnd::Stopped => ForwardEnd::Stopped,
    };
    AgentLink { file: Box::new(RuntimeFile(file_runtime)), run: Box::new(run), events, forward: Box::new(forward) }
}

/// Saves the session through its runtime, which writes its file.
struct RuntimeFile(Arc<Mutex<Runtime>>);

impl RuntimeFile {
    fn runtime(&self) -> MutexGuard<'_, Runtime> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionFile for RuntimeFile {
    fn save(&mut self) -> Option<Unsaved> {
        self.runtime().save_unsaved()
    }

    fn save_to(&mut self, file: &Path) -> std::io::Result<()> {
        self.runtime().save_to(file)
    }
}
