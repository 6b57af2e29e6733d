//! The full-screen frontend: waits for events, updates the state, runs effects, draws.

mod agent_link;
pub mod canvas;
pub mod demo_player;
pub mod effect;
pub mod event;
mod exit_watchdog;
pub mod external;
pub mod file_index;
pub mod focus;
pub mod graphics;
pub mod host;
mod host_data;
pub mod input;
pub mod keys;
pub mod open_session;
pub mod parts;
pub mod popup;
pub mod prompts;
mod recorder;
pub mod replay;
mod screen;
pub mod session_saving;
mod signals;
pub mod slash_command;
pub mod state;
pub mod terminal;
pub mod terminal_clipboard;
pub mod terminal_features;
#[cfg(test)]
pub(crate) mod tests;
pub mod text;
pub mod theme;
pub mod unsent_text;
pub mod update;
pub mod user_input;
pub mod view;
mod wakeups;
pub mod workspace_data;

pub use event::Event;
pub use host::{AgentLink, Connection, Host, HostReply, HostRequest, LinkStatus};
pub use recorder::{Recorded, RecordingOptions};
pub use state::{Settings, State};

use crate::agent;
use crate::chat::SessionId;
use input::startup::StartupInput;
use popup::PickedAction;
use std::path::PathBuf;
use tokio::sync::mpsc;

/// Everything needed to start the screen.
pub struct Start {
    /// The screen before the first event. It is large, so that moving it would take much of the stack.
    pub state: Box<State>,
    /// Connection to the runtime of its session. The effects of resuming have already run.
    pub link: AgentLink,
    /// The rest of the program.
    pub host: Box<dyn Host>,
    /// Replies of the host.
    pub replies: mpsc::Receiver<HostReply>,
    /// Message given on the command line; empty if none. It is sent after the decision about the project's files.
    pub first_message: String,
    /// Rehearsed steps to show as approval prompts at once, if any.
    pub approvals: Option<agent::ApplyRequest>,
    /// Open the session list at startup, for this purpose.
    pub session_picker: Option<PickedAction>,
    /// Result of querying the terminal at startup.
    pub startup_input: StartupInput,
    /// File to which the screen is recorded from the first frame on.
    pub record_to: Option<PathBuf>,
    pub recording_options: RecordingOptions,
    /// Returns whether a panic of the current thread is caught, so that the screen continues.
    pub is_panic_caught: fn() -> bool,
}

/// Result of a closed screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Session shown last.
    pub session: SessionId,
    /// Its title; `None` if it is empty.
    pub title: Option<String>,
    /// Signal that ended the program, or SIGHUP if the terminal was lost.
    pub exit_signal: Option<i32>,
    /// Reason the session could not be saved, and the entries that are lost.
    pub loss: Option<String>,
    /// File the session was written to because its own file cannot be written.
    pub saved_to: Option<PathBuf>,
    /// The recording that ended with it.
    pub recorded: Option<Recorded>,
    /// Calls that the session rehearsed; 0 in a live session.
    pub rehearsed: usize,
}

/// Runs the screen until the user leaves it. The terminal is restored when this returns, also on an error. Needs a
/// tokio runtime.
pub async fn run_screen(start: Start) -> anyhow::Result<Exit> {
    screen::Screen::open_screen(start)?.run_loop().await
}
