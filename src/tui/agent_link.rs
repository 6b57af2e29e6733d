//! Connection of the screen to the runtime of a session.

use super::host::ForwardEnd;
use crate::agent;
use crate::runtime::Unsaved;
use std::path::Path;
use tokio::sync::mpsc;

/// The file of a session.
pub trait SessionFile: Send {
    /// Tries again to save the unsaved entries, and returns those that still are not saved.
    fn save(&mut self) -> Option<Unsaved>;

    /// Writes all of the session to another file, which must not exist yet.
    fn save_to(&mut self, file: &Path) -> std::io::Result<()>;
}

/// Connection to the runtime of a session.
pub struct AgentLink {
    /// File of the session.
    pub file: Box<dyn SessionFile>,
    /// Starts effects in order without waiting. Returns a sentence for the user if the session could not be saved.
    pub run: Box<dyn FnMut(Vec<agent::Effect>) -> Option<String> + Send>,
    /// Events for the agent.
    pub events: mpsc::Receiver<agent::Event>,
    /// Forwards the bytes of the user's running command and of the terminal to each other.
    pub forward: Forward,
}

/// Forwards the bytes of the user's running command and of the terminal, which is in raw mode, to each other. Blocks until
/// one of them ends, the user takes the terminal back, or the given function returns true.
pub type Forward = Box<dyn FnMut(&mut dyn FnMut() -> bool) -> ForwardEnd + Send>;
