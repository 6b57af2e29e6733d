//! The connection of the screen to the runtime of a session.

use crate::agent::Effect;
use crate::runtime::{Events, Runtime, Unsaved};
use crate::tui::host::{AgentLink, SessionFile};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connects the screen to a session's runtime. The host keeps the runtime too, to change the model.
pub(super) fn connect_runtime(runtime: &Arc<Mutex<Runtime>>, events: Events) -> AgentLink {
    let (runtime, file_runtime) = (runtime.clone(), runtime.clone());
    let run = move |effects: Vec<Effect>| runtime.lock().unwrap_or_else(PoisonError::into_inner).execute(effects);
    AgentLink { file: Box::new(RuntimeFile(file_runtime)), run: Box::new(run), events }
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
