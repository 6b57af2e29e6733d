//! What the program around the screen does for it: sessions, models, files, and what is kept between starts.

use crate::agent::{self, Rule};
use crate::chat::link::Target;
use crate::chat::{Becomes, By, CallId, Digest, Grant, Instructions, SessionId, Staging, Unsent, picture};
use crate::config::Brought;
use crate::runtime::Unsaved;
use std::path::{Path, PathBuf};
use std::sync::Arc;
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
    /// What was said in the sessions of this project that has these words: [`Reply::Found`], more than once where that takes
    /// a while. What was looked for before is not any more; with no words nothing is.
    Search(String),
    /// Go on with another session: [`Reply::Opened`].
    Open(SessionId),
    /// Go on with a copy of this session, which stays as it is: [`Reply::Opened`].
    Fork(SessionId, Becomes),
    /// Begin a new session: [`Reply::Opened`].
    New,
    /// The models that may be chosen: [`Reply::Models`], more than once as more is known.
    Models,
    /// Ask this model from the next request on. The session's entry is already on its way.
    UseModel(String),
    /// When each entry of this session was written: [`Reply::Times`].
    Times(SessionId),
    /// The files of the project, relative to it: [`Reply::Files`], more than once where that takes a while.
    Files,
    /// Whether what these name is there: [`Reply::Exist`].
    Exist(Vec<Target>),
    /// The person chose this theme.
    KeepTheme(String),
    /// What is written in this session and not sent, in place of what was kept before: [`Reply::Kept`] if writing it begins
    /// to fail, or works again.
    Keep(SessionId, Box<Unsent>),
    /// The person said this: it belongs to the history of the composer.
    Remember(String),
    /// Model servers on this machine: [`Reply::Local`].
    LookForLocal,
    /// Talk to this model server from now on: [`Reply::Reached`], or a new session where nothing was said yet.
    UseLocal(LocalServer),
    /// Talk to a profile of the settings from now on, as above.
    UseProfile {
        /// Its name.
        profile: String,
        /// The model; empty: its own.
        model: String,
    },
    /// Keep this key for the service in use and talk to it, as above.
    KeepKey(String),
    /// Talk to what was reached under this number, from the next request on. The session's entry is already on its way.
    TakeUp(u64),
    /// Write the rule that keeps this grant into the person's file: [`Reply::RuleKept`].
    KeepRule {
        /// The call on whose card it was given: it is decided when the answer is there.
        call: CallId,
        /// What is kept.
        grant: Grant,
        /// Who gave it, and how.
        by: By,
    },
    /// Take this rule out of its file: [`Reply::TookBack`].
    TakeBack {
        /// Which.
        rule: Box<Rule>,
        /// Who wants it, and how.
        by: By,
    },
    /// The rules as they stand now: [`Reply::Learnt`].
    LearnRules,
    /// Every rule that holds here: [`Reply::Rules`].
    Rules,
    /// What was rehearsed in this session, or in the dry run that it is a copy of: [`Reply::Rehearsal`].
    Rehearsal(SessionId),
    /// Go on for real in a copy of this dry run, and put what was rehearsed on cards there: [`Reply::Opened`].
    Apply(SessionId, agent::Offered),
    /// Throw away what was rehearsed in this session.
    Drop(SessionId),
    /// What the project brings along that would change what aye does: [`Reply::Brought`], in any case and before long.
    LookAtProject {
        /// Whether the person wants to see it.
        asked: bool,
    },
    /// The person saw these files of the project in this folder and trusts them: [`Reply::Trusts`], or
    /// [`Reply::Brought`] where they are other ones by now.
    Trust {
        /// The project's folder.
        folder: PathBuf,
        /// What was seen: [`Brought::signature`].
        seen: Vec<(String, Digest)>,
    },
    /// The person trusts nothing any more that the project in this folder brings along: [`Reply::Trusts`].
    TrustNoLonger(PathBuf),
    /// Begin with this model from the next start on.
    KeepModel {
        /// The profile; empty: the one in use.
        profile: String,
        /// The address of a server on this machine, where that is all that is known of it; else empty.
        address: String,
        /// The model; empty: its own.
        model: String,
    },
}

/// What came of a wish.
pub enum Reply {
    /// The sessions of this project, newest first.
    Sessions(Vec<SessionRow>),
    /// Sessions in which these words were said.
    Found {
        /// The words as they were wanted.
        words: String,
        /// Each with the line; every time all that are known.
        lines: Vec<(SessionId, String)>,
        /// Whether these are all.
        whole: bool,
    },
    /// Another session is in hand.
    Opened(Box<Opened>),
    /// The models that may be chosen.
    Models(Models),
    /// When each entry of this session was written, in words, as far as they are on disk.
    Times(SessionId, Vec<String>),
    /// The files of the project.
    Files {
        /// Their names; every time all that are known.
        names: Vec<String>,
        /// Whether these are all.
        gathered: Gathered,
    },
    /// For each, whether it is there.
    Exist(Vec<(Target, There)>),
    /// The model servers that answered.
    Local(Vec<LocalServer>),
    /// Another service can be talked to now: [`Wish::TakeUp`] does.
    Reached(Box<Reached>),
    /// Something that the agent has to know.
    Learnt(agent::Event),
    /// A rule was kept, or not.
    RuleKept {
        /// The call that waits for it.
        call: CallId,
        /// What was to be kept.
        grant: Grant,
        /// Who gave it.
        by: By,
        /// Why it is not kept, where it is not.
        failed: Option<String>,
    },
    /// A rule is out of its file.
    TookBack {
        /// What it was, in words.
        what: String,
        /// Who wanted it.
        by: By,
    },
    /// Everything that holds, in words.
    Rules(String),
    /// What the project brings along.
    Brought {
        /// All of it.
        brought: Box<Brought>,
        /// Why it was looked at.
        why: Why,
    },
    /// What was rehearsed, or why nothing can be shown.
    Rehearsal(Result<Rehearsed, String>),
    /// What is trusted of the project has changed.
    Trusts {
        /// The project's folder.
        folder: PathBuf,
        /// Its words to the model, as far as they are trusted.
        instructions: Arc<Vec<Instructions>>,
        /// The rules that hold now.
        rules: agent::Event,
    },
    /// What is trusted could not be changed: why, in one sentence.
    TrustFailed(String),
    /// Why what is not sent could not be kept; `None` once it is.
    Kept(Option<String>),
    /// Something did not work, or is worth knowing: one sentence for the person.
    Notice(String),
    /// Something was done as it was wanted: one sentence for the person.
    Done(String),
    /// A setting was saved: one sentence for the user. It stays on the screen when another session is shown.
    SettingSaved(String),
}

/// What came of a dry run.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsed {
    /// The session that it is.
    pub of: SessionId,
    /// What changed and what was called.
    pub staging: Staging,
}

/// Why a project was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// A session has begun in it.
    Begun,
    /// The person wants to see it.
    Asked,
    /// They said yes to what it was before.
    Changed,
}

/// Whether a list of files is all there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Gathered {
    /// More are being looked for, and the list is told again.
    Growing,
    /// It is all of them.
    #[default]
    Whole,
    /// There are more than are listed.
    Cut,
}

/// Whether what a link names is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum There {
    /// Nothing is.
    No,
    /// It is.
    Yes,
    /// It is a picture.
    Picture(picture::Size),
}

/// Another service that can be talked to.
#[derive(Debug, Clone, PartialEq)]
pub struct Reached {
    /// The session it was wanted for; in another it means nothing.
    pub session: SessionId,
    /// What it is taken up by.
    pub number: u64,
    /// What it is.
    pub connection: Connection,
}

/// The models that may be chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Models {
    /// Those of the service in use.
    pub listed: Listed,
    /// What else could be talked to, each with its profile.
    pub others: Vec<ModelRow>,
}

/// The models of the service in use.
#[derive(Debug, Clone, PartialEq)]
pub enum Listed {
    /// It is asked.
    Asking,
    /// In its own order.
    These(Vec<ModelRow>),
    /// It does not tell; why, in one sentence.
    Failed(String),
}

/// One model that may be chosen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelRow {
    /// The profile it belongs to; empty: the service in use.
    pub profile: String,
    /// Its name; empty: whichever its service has first.
    pub model: String,
    /// Tokens that fit its window, where that is known.
    pub window: Option<u64>,
    /// Dollars for a million tokens sent, sent from the cache, and received, where the price is known.
    pub price: Option<(f64, f64, f64)>,
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
    /// Whether it began as a copy of another.
    pub copy: bool,
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
    /// The session that it was just made of as a copy.
    pub from: Option<SessionId>,
    /// The agent with the session in hand.
    pub agent: agent::State,
    /// The way to its runtime. The effects of resuming are done already.
    pub line: Line,
    /// What is put on cards there at once.
    pub offers: Option<agent::Offered>,
    /// What it talks to.
    pub connection: Connection,
    /// What was written in it and not sent.
    pub unsent: Unsent,
    /// The folder it works in; absolute.
    pub folder: PathBuf,
    /// What was said before in that folder, oldest first.
    pub history: Vec<String>,
    /// Its folder as the head shows it: `~/src/app ⎇ main`.
    pub place: String,
}

/// The file of a session.
pub trait SessionFile: Send {
    /// Tries once more to save what could not be saved, and returns what still is not.
    fn save(&mut self) -> Option<Unsaved>;

    /// Writes all of the session to another file, which must not exist yet.
    fn save_to(&mut self, file: &Path) -> std::io::Result<()>;
}

/// The way to a session's runtime and back.
pub struct Line {
    /// Where the session is saved.
    pub file: Box<dyn SessionFile>,
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
    /// The profile of the settings; empty where an address was given for this run alone.
    pub profile: String,
    /// Where the choice came from, in words: `from OPENAI_API_KEY`, `from your settings`.
    pub source: String,
    /// Whether it is the built-in scripted model.
    pub tour: bool,
    /// Whether the model can be shown pictures.
    pub images: bool,
    /// Tokens that fit the model's window, where that is known.
    pub window: Option<u64>,
    /// Dollars for a million tokens sent, sent from the cache, and received, where the price is known.
    pub price: Option<(f64, f64, f64)>,
}
