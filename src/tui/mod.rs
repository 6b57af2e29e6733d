//! The frontend with a screen: waits, updates, does what is wanted, draws.

pub mod canvas;
pub mod command;
pub mod effect;
pub mod event;
pub mod focus;
pub mod host;
pub mod input;
pub mod keeping;
pub mod keys;
mod outside;
pub mod overlay;
pub mod parts;
pub mod prompt;
pub mod saving;
mod screen;
pub mod state;
pub mod terminal;
#[cfg(test)]
pub(crate) mod tests;
pub mod text;
pub mod theme;
pub mod trusting;
pub mod update;
pub mod view;

pub use event::Event;
pub use host::{Connection, Host, Line, Reply, There, Wish};
pub use state::{Settings, State};

use crate::chat::{SessionId, Unsent};
use crate::{agent, tui::keys::Keymap};
use input::early::Early;
use overlay::Picking;
use std::path::PathBuf;
use theme::{Theme, Themes};
use tokio::sync::mpsc;

/// Everything a screen begins with.
pub struct Start {
    /// The agent with the session in hand.
    pub agent: agent::State,
    /// Which session that is.
    pub session: SessionId,
    /// The way to its runtime. The effects of resuming are done already.
    pub line: Line,
    /// The program around the screen.
    pub host: Box<dyn Host>,
    /// Where its replies come from.
    pub replies: mpsc::Receiver<Reply>,
    /// What is talked to, and how that was decided.
    pub connection: Connection,
    /// Every theme there is.
    pub themes: Themes,
    /// The one to begin with, made to fit the terminal.
    pub theme: Theme,
    /// The keys.
    pub keys: Keymap,
    /// What the person set.
    pub settings: Settings,
    /// What was written and not sent when the session was left.
    pub unsent: Unsent,
    /// What was said before, oldest first.
    pub history: Vec<String>,
    /// What the person said on the command line, sent at once; empty where nothing was.
    pub says: String,
    /// What is put on cards at once, where anything is.
    pub offers: Option<agent::Offered>,
    /// Whether the list of sessions is open at the beginning, and what it is for.
    pub picks: Option<Picking>,
    /// What came of asking the terminal before.
    pub early: Early,
    /// Sentences for the person, such as what was wrong in the settings.
    pub notices: Vec<String>,
}

/// How a screen was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// The session that was shown last.
    pub session: SessionId,
    /// Its name, where anything was said in it.
    pub title: Option<String>,
    /// Whether the terminal was lost, or the system ended the program; by this signal.
    pub ended_by: Option<i32>,
    /// Why the session is not saved, and what of it is lost.
    pub lost: Option<String>,
    /// The file that the session was written to because its own cannot be.
    pub saved_to: Option<PathBuf>,
}

/// Shows the screen until the person leaves it. The terminal is as it was when this returns, whatever it returns.
/// Needs a tokio runtime.
pub async fn run(start: Start) -> anyhow::Result<Exit> {
    screen::Screen::open(start)?.show().await
}
