//! What the person opened over the screen: a list, a page, the keys. A closed set, matched everywhere.

use super::host::{LocalServer, ModelRow, SessionRow};
use super::parts::help::Help;
use super::parts::line;
use super::parts::picker::Picker;
use super::text::{output, wrap};
use super::theme::Theme;
use crate::agent::{Kept, Mode};
use crate::chat::link::Target;
use crate::chat::{Becomes, CallId, SessionId};
use ratatui::text::Line;
use std::cell::RefCell;
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
    /// What stands without being asked about, or a question about it.
    Grants(Picker, Ledger),
    /// How much runs without asking: each with whether it was confirmed.
    Modes(Picker, Vec<(Mode, bool)>),
    /// A text that is only read.
    Reader(Reader),
    /// A letter on each link.
    Links(Links),
}

/// What stands, and what may be done about it.
#[derive(Debug, Clone)]
pub enum Ledger {
    /// All of it; and below it every call that was judged, the newest first.
    List(Vec<Kept>, Vec<CallId>),
    /// Whether this is really taken back.
    Sure(Box<Kept>),
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
    /// Whether it was written for a terminal.
    pub terminal: bool,
    /// The first line on the screen.
    pub top: usize,
    /// How it was laid out last, and for which width: only to spare the work.
    pub laid: RefCell<(usize, Arc<Vec<Line<'static>>>)>,
}

impl Reader {
    /// The text as lines of this width.
    pub fn lines(&self, width: usize, theme: &Theme) -> Arc<Vec<Line<'static>>> {
        let mut laid = self.laid.borrow_mut();
        if laid.0 != width {
            let lines = match self.terminal {
                true => output::lines(&self.text, theme.text, theme, width),
                false => wrap::plain(&self.text, theme.text, width),
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
