//! Overlays the user opens over the screen: lists, pages, key help.

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

/// An overlay. It has the keyboard.
#[derive(Debug, Clone)]
pub enum Overlay {
    /// Key help.
    Help(Help),
    /// Sessions of this project, and the action for the selected one.
    Sessions(Picker, Held, Picking),
    /// Themes, with the theme to restore if none is chosen.
    Themes(Picker, Box<Theme>),
    /// Commands.
    Commands(Picker),
    /// Available models.
    Models(Picker, Vec<ModelRow>),
    /// Available providers.
    Connect(Picker, Vec<Choice>),
    /// Input of an API key; never displayed.
    Key(line::Line),
    /// Texts that can be copied.
    Copies(Picker, Vec<String>),
    /// All calls of the session, by id.
    Audit(Picker, Vec<CallId>),
    /// The rehearsal.
    Rehearsal(Picker, Theatre),
    /// Grants and rules.
    Grants(Picker, Ledger),
    /// Confirmation of an action.
    Sure(Sure, Done),
    /// Permission modes, each with whether it was confirmed.
    Modes(Picker, Vec<(Mode, bool)>),
    /// Choices on leaving a session that is not saved.
    Leaving(Picker, Vec<Leaving>),
    /// A text to read.
    Reader(Reader),
    /// A letter on each link.
    Links(Links),
}

/// Action of a confirmation.
#[derive(Debug, Clone)]
pub enum Done {
    /// Discards the rehearsal of this session.
    Dropped(SessionId),
    /// Revokes this grant or rule.
    TakenBack(Box<Kept>),
}

/// Grants and rules, followed by all judged calls, newest first.
#[derive(Debug, Clone)]
pub struct Ledger(pub Vec<Kept>, pub Vec<CallId>);

/// A rehearsal and the actions of its list.
#[derive(Debug, Clone, Default)]
pub struct Theatre {
    /// Session of the dry run.
    pub of: SessionId,
    /// Result of the dry run.
    pub staging: Arc<Staging>,
    /// Action of each row.
    pub does: Vec<Does>,
    /// Action to run once the rehearsal is loaded; `None` to show it.
    pub then: Option<Does>,
}

/// Sessions of a list and the results of a search in them.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// Sessions in the order of the list.
    pub rows: Vec<SessionRow>,
    /// Text searched for in the messages; empty without a search.
    pub wanted: String,
    /// Matches: session and matching line.
    pub lines: Vec<(SessionId, String)>,
}

/// Action for the session selected in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picking {
    /// Continue it.
    Open,
    /// Continue a copy of it.
    Fork(Becomes),
}

/// An available provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// A model server found on this machine, with the one model to use.
    Server(LocalServer),
    /// A provider that needs a key.
    EnterKey,
    /// Keep the current provider.
    Stay,
}

/// A text to read, such as a full output.
#[derive(Debug, Clone)]
pub struct Reader {
    /// Title of the page.
    pub title: String,
    /// The original text; cleaned when drawn.
    pub text: Arc<str>,
    /// Kind of the text.
    pub body: Body,
    /// First visible line.
    pub top: usize,
    /// Cached layout and the width it was made for.
    pub laid: RefCell<(usize, Arc<Vec<Line<'static>>>)>,
}

/// Kind of text in a reader.
#[derive(Debug, Clone)]
pub enum Body {
    /// Plain text.
    Words,
    /// Terminal output of a command.
    Terminal,
    /// A part of the rehearsal; the text is empty.
    Staged(Arc<Staging>, Chosen),
}

/// A part of the rehearsal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// Everything.
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
    /// Returns the text as lines of this width.
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

/// Links on the screen, each with its letter.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// Links in reading order.
    pub list: Vec<Lettered>,
    /// Rows covered by toasts when the letters were assigned.
    pub told: u16,
    /// The chosen web address, shown for confirmation before it is opened.
    pub asks: Option<String>,
}

/// A link with its letter.
#[derive(Debug, Clone)]
pub struct Lettered {
    /// Key to press.
    pub letter: char,
    /// Column and row of its first cell.
    pub at: (u16, u16),
    /// Target of the link.
    pub target: Arc<Target>,
}

/// Letters for links, home row first. No digits: digits answer questions.
pub const LETTERS: &str = "asdfghjklqwertyuiopzxcvbnm";
