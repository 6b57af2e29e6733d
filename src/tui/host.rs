//! What the program around the screen does for it: sessions, models, files, and what is kept between starts.

use crate::agent;
use crate::chat::SessionId;
use crate::chat::link::Target;
use tokio::sync::mpsc;

/// The program around the screen.
pub trait Host: Send {
    /// Starts what is wanted and returns at once: what takes time runs elsewhere, and what comes of it arrives as a
    /// [`Reply`] on the channel that was handed to the screen.
    fn ask(&mut self, wish: Wish);
}

/// What the screen wants of the program around it.
#[derive(Debug, Clone, PartialEq)]
pub enum Wish {
    /// The sessions of this project, newest first: [`Reply::Sessions`].
    Sessions,
    /// Go on with another session: [`Reply::Opened`].
    Open(SessionId),
    /// Begin a new session: [`Reply::Opened`].
    New,
    /// The models that may be chosen: [`Reply::Models`].
    Models,
    /// Ask this model from the next request on. The session's entry is already on its way.
    UseModel(String),
    /// The files of the project, relative to it: [`Reply::Files`].
    Files,
    /// Whether what these name is there: [`Reply::Exist`].
    Exist(Vec<Target>),
    /// The person chose this theme.
    KeepTheme(String),
    /// What stands unsent in the composer; empty when it was sent.
    KeepDraft(String),
    /// The person said this: it belongs to the history of the composer.
    Remember(String),
    /// Model servers on this machine: [`Reply::Local`].
    LookForLocal,
    /// Talk to this model server from now on: [`Reply::Connected`].
    UseLocal(LocalServer),
    /// Keep this key for the service and use it: [`Reply::Connected`].
    KeepKey(String),
}

/// What came of a wish.
pub enum Reply {
    /// The sessions of this project, newest first.
    Sessions(Vec<SessionRow>),
    /// Another session is in hand.
    Opened(Box<Opened>),
    /// The models that may be chosen.
    Models(Vec<String>),
    /// The files of the project.
    Files(Vec<String>),
    /// For each, whether it is there.
    Exist(Vec<(Target, bool)>),
    /// The model servers that answered.
    Local(Vec<LocalServer>),
    /// Another model or service is talked to.
    Connected(Connection),
    /// Something did not work, or is worth knowing: one sentence for the person.
    Notice(String),
}

/// One session in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Which.
    pub id: SessionId,
    /// Its name.
    pub title: String,
    /// When it was last used, in words: `yesterday 14:02`.
    pub when: String,
    /// Whether it was a dry run.
    pub dry_run: bool,
    /// Whether a question in it waits for the person.
    pub waits: bool,
}

/// A model server that was found on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// Which program it is: `Ollama`.
    pub name: String,
    /// Its address, with `/v1`.
    pub address: String,
    /// The models it has.
    pub models: Vec<String>,
}

/// A session the host has opened or begun.
pub struct Opened {
    /// Which.
    pub session: SessionId,
    /// The agent with the session in hand.
    pub agent: agent::State,
    /// The way to its runtime. The effects of resuming are done already.
    pub line: Line,
    /// What stood unsent in its composer.
    pub draft: String,
    /// The folder it works in; absolute.
    pub folder: std::path::PathBuf,
    /// What was said before in that folder, oldest first.
    pub history: Vec<String>,
    /// Its folder as the head shows it: `~/src/app ⎇ main`.
    pub place: String,
}

/// The way to a session's runtime and back.
pub struct Line {
    /// Starts effects in their order, without waiting. What it returns is a sentence for the person, where the
    /// session could not be saved.
    pub run: Box<dyn FnMut(Vec<agent::Effect>) -> Option<String> + Send>,
    /// What happens to the agent.
    pub events: mpsc::Receiver<agent::Event>,
}

/// What is talked to, and how that was decided.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Connection {
    /// The model, as the service names it.
    pub model: String,
    /// Where the choice came from, in words: `from OPENAI_API_KEY`, `from your settings`.
    pub source: String,
    /// Whether it is the built-in scripted model.
    pub tour: bool,
    /// Tokens that fit the model's window, where that is known.
    pub window: Option<u64>,
    /// Dollars for a million tokens sent, sent from the cache, and received, where the price is known.
    pub price: Option<(f64, f64, f64)>,
}
