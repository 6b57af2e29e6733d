//! What the person opened over the screen: a list, a page, the keys. A closed set, matched everywhere.

use super::host::{LocalServer, ModelRow, SessionRow};
use super::parts::help::Help;
use super::parts::picker::Picker;
use super::parts::sure::Sure;
use super::parts::{line, rehearsal};
use super::saving::Leaving;
use super::text::{output, wrap};
use super::theme::Theme;
use super::update::rehearsal::Does;
use crate::agent::{Kept, Mode};
use crate::chat::link::Target;
use crate::chat::{Becomes, CallId, SessionId, Staging};
use ratatui::text::Line;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// Something that lies over the screen and has the keyboard.
#[derive(Debug, Clone)]
pub enum Overlay {
    /// The keys that work now.
    Help(Help),
    /// The sessions of this project, and what is done with the one that is picked.
    Sessions(Picker, Held, Picking),
    /// The themes; the one that was there before is kept for those who leave without choosing.
    Themes(Picker, Box<Theme>),
    /// Every command.
    Commands(Picker),
    /// The models that may be chosen.
    Models(Picker, Vec<ModelRow>),
    /// What else may be talked to.
    Connect(Picker, Vec<Choice>),
    /// A key that is entered; it is never shown.
    Key(line::Line),
    /// What may be copied, with its text.
    Copies(Picker, Vec<String>),
    /// Every call of the session, each by its name there.
    Audit(Picker, Vec<CallId>),
    /// What was rehearsed.
    Rehearsal(Picker, Theatre),
    /// What stands without being asked about.
    Grants(Picker, Ledger),
    /// Whether this is really done.
    Sure(Sure, Done),
    /// How much runs without asking: each with whether it was confirmed.
    Modes(Picker, Vec<(Mode, bool)>),
    /// What becomes of a session that is not saved when it is left.
    Leaving(Picker, Vec<Leaving>),
    /// A text that is only read.
    Reader(Reader),
    /// A letter on each link.
    Links(Links),
}

/// What a yes does.
#[derive(Debug, Clone)]
pub enum Done {
    /// What was rehearsed in this session is thrown away.
    Dropped(SessionId),
    /// This does not stand any more.
    TakenBack(Box<Kept>),
}

/// What stands, and below it every call that was judged, the newest first.
#[derive(Debug, Clone)]
pub struct Ledger(pub Vec<Kept>, pub Vec<CallId>);

/// What was rehearsed, and what may be done with each row of its list.
#[derive(Debug, Clone, Default)]
pub struct Theatre {
    /// The session that was the dry run.
    pub of: SessionId,
    /// What came of it.
    pub staging: Arc<Staging>,
    /// What each row does.
    pub does: Vec<Does>,
    /// What is done as soon as it is known, where that is not to show it.
    pub then: Option<Does>,
}

/// The sessions of a list, and what was found in them.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// In the order of the list.
    pub rows: Vec<SessionRow>,
    /// What is looked for in all that was said; empty where nothing is.
    pub wanted: String,
    /// In which sessions it was found, with the line.
    pub lines: Vec<(SessionId, String)>,
}

/// What is done with a session that is picked from the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picking {
    /// It goes on.
    Open,
    /// A copy of it does.
    Fork(Becomes),
}

/// What may be talked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// A model server that was found on this machine, with the one model that is meant.
    Server(LocalServer),
    /// A service that wants a key.
    EnterKey,
    /// Go on as it is.
    Stay,
}

/// A text that is only read: an output in full.
#[derive(Debug, Clone)]
pub struct Reader {
    /// What it is.
    pub title: String,
    /// As it came; it is cleaned where it is drawn.
    pub text: Arc<str>,
    /// What kind of text it is.
    pub body: Body,
    /// The first line on the screen.
    pub top: usize,
    /// How it was laid out last, and for which width: only to spare the work.
    pub laid: RefCell<(usize, Arc<Vec<Line<'static>>>)>,
}

/// What kind of text is read.
#[derive(Debug, Clone)]
pub enum Body {
    /// Plain words.
    Words,
    /// What a command wrote for a terminal.
    Terminal,
    /// This of what was rehearsed, and no text at all.
    Staged(Arc<Staging>, Chosen),
}

/// A part of what was rehearsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// All of it.
    All,
    /// These changes, by index.
    Changes(Range<usize>),
    /// This change outside the project, by index.
    Outside(usize),
    /// This call, by index.
    Step(usize),
}

impl Chosen {
    fn lines(&self, staging: &Staging, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let all_outside = 0..staging.outside.changes.len();
        let (changes, outside, steps) = match self {
            Self::All => (0..staging.altered.len(), all_outside, 0..staging.steps.len()),
            Self::Changes(of) => (of.clone(), 0..0, 0..0),
            Self::Outside(at) => (0..0, *at..at + 1, 0..0),
            Self::Step(at) => (0..0, 0..0, *at..at + 1),
        };
        let changes = staging.altered.get(changes).unwrap_or_default();
        let steps = staging.steps.get(steps).unwrap_or_default();
        let changes = changes.iter().map(|altered| rehearsal::change(altered, width, theme));
        let steps = steps.iter().map(|step| rehearsal::step(step, true, width, theme));
        let outside = staging.outside.changes.get(outside).unwrap_or_default();
        let outside = outside.iter().map(|one| rehearsal::outside_change(one, width, theme));
        let parts: Vec<_> = changes.chain(outside).chain(steps).collect();
        parts.join(&Line::default())
    }
}

impl Reader {
    /// The text as lines of this width.
    pub fn lines(&self, width: usize, theme: &Theme) -> Arc<Vec<Line<'static>>> {
        let mut laid = self.laid.borrow_mut();
        if laid.0 != width {
            let lines = match &self.body {
                Body::Terminal => output::lines(&self.text, theme.text, theme, width),
                Body::Words => wrap::plain(&self.text, theme.text, width),
                Body::Staged(staging, chosen) => chosen.lines(staging, width, theme),
            };
            *laid = (width, Arc::new(lines));
        }
        laid.1.clone()
    }
}

/// The links on the screen, each with its letter.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// In the order they are seen.
    pub list: Vec<Lettered>,
    /// The rows that notices took when the letters came.
    pub told: u16,
    /// The web address that was chosen, and is shown before it is opened.
    pub asks: Option<String>,
}

/// A link with its letter.
#[derive(Debug, Clone)]
pub struct Lettered {
    /// What to press.
    pub letter: char,
    /// The column and row of its first cell.
    pub at: (u16, u16),
    /// Where it leads.
    pub target: Arc<Target>,
}

/// The letters for links, those of the resting fingers first. None of them is a digit: digits answer questions.
pub const LETTERS: &str = "asdfghjklqwertyuiopzxcvbnm";
