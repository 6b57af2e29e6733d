//! State of the screen. It contains the agent's state and duplicates none of it.

use super::effect::Effect;
use super::host::{Connection, LocalServer, Wish};
use super::keeping::Keeping;
use super::keys::Keymap;
use super::overlay::Overlay;
use super::parts::complete::Complete;
use super::parts::composer::Composer;
use super::parts::listening::{Listening, Presses};
use super::parts::pace::{Pace, Wait};
use super::parts::question::QuestionCard;
use super::parts::toast::{Kind, Toasts};
use super::parts::transcript::{Ground, Transcript};
use super::parts::waits::Waits;
use super::prompt::Prompt;
use super::saving::Saving;
use super::theme::{Theme, Themes};
use super::trusting::Trusting;
use crate::agent;
use crate::chat::{CallId, SessionId, Unsent};
use crossterm::event::KeyEvent;
use std::path::PathBuf;
use std::time::Duration;

/// Settings of the user and facts about the project and the terminal.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Project folder; absolute.
    pub folder: PathBuf,
    /// Project and branch as shown in the header: `~/src/app ⎇ main`.
    pub place: String,
    /// Home directory of the user, shown as `~`.
    pub home: Option<PathBuf>,
    /// Permissions of a command, for its approval prompt: `network off`; may be empty.
    pub may: String,
    /// Host name of this machine, for links to files.
    pub machine: String,
    /// True if mouse wheel and clicks are handled.
    pub mouse: bool,
    /// True if borders and symbols are drawn in ASCII.
    pub ascii: bool,
    /// True if the terminal always reorders right-to-left text itself.
    pub terminal_turns: bool,
    /// True if the terminal supports links (OSC 8).
    pub links: bool,
    /// True if a waiting prompt may ring the bell.
    pub bell: bool,
    /// The configured theme: a name, or `auto`.
    pub theme: String,
    /// Name of the theme that `auto` selects in this terminal.
    pub auto_theme: String,
    /// Command that opens a file; defaults to `$VISUAL` or `$EDITOR`.
    pub editor: Option<String>,
}

/// State of the screen.
pub struct State {
    /// The agent. The view reads it; only its own update changes it.
    pub agent: agent::State,
    /// Id of the session shown.
    pub session: SessionId,
    /// Model and provider in use.
    pub connection: Connection,
    /// All themes.
    pub themes: Themes,
    /// The current theme.
    pub theme: Theme,
    /// Key bindings.
    pub keys: Keymap,
    /// Settings of the user.
    pub settings: Settings,
    /// The draft.
    pub composer: Composer,
    /// Completion of the word at the cursor.
    pub complete: Complete,
    /// Prompt of the waiting call.
    pub prompt: Option<Prompt>,
    /// Question prompts that were opened before their turn and parked, with the answers chosen so far.
    pub aside: Vec<QuestionCard>,
    /// The queue, if it is open over the prompt.
    pub waits: Option<Waits>,
    /// Saved state of the unsent text.
    pub keeping: Keeping,
    /// Trust in the project.
    pub trusting: Trusting,
    /// Recent key presses.
    pub presses: Presses,
    /// Save state of the session.
    pub saving: Saving,
    /// A key for the prompt that is held back to see whether more follow, as in a paste; and since when.
    pub held: Option<(KeyEvent, Duration)>,
    /// Open overlays; the last one is in front.
    pub overlays: Vec<Overlay>,
    /// Notifications that disappear by themselves.
    pub toasts: Toasts,
    /// All warnings, oldest first and without duplicates, for the welcome screen and `/notices`.
    pub warned: Vec<Warned>,
    /// Scroll position and selection of the transcript.
    pub transcript: Transcript,
    /// Formatted times of the session's entries that were requested so far.
    pub times: Vec<String>,
    /// Model servers found on this machine.
    pub local: Vec<LocalServer>,
    /// True if the project's files were requested for the word at the cursor.
    pub asked_files: bool,
    /// Size in columns and rows.
    pub size: (u16, u16),
    /// Time since the start.
    pub now: Duration,
    /// Start of the current activity.
    pub since: Duration,
    /// Start of each running sub-agent.
    pub begun: Vec<(CallId, Duration)>,
    /// Speed of the reply.
    pub pace: Pace,
    /// True if the terminal has the focus, as far as it reports that.
    pub front: bool,
    /// Time of the last Esc on an open prompt.
    pub pressed_stop: Option<Duration>,
    /// Time of the last Ctrl-C.
    pub pressed_quit: Option<Duration>,
    /// Title of the terminal window.
    pub(super) titled: String,
    /// True if the passing of time changed the screen.
    pub(super) moved: bool,
}

/// A warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warned {
    /// Text of the warning.
    pub words: String,
    /// Session it belongs to; `None` for warnings at startup.
    pub session: Option<SessionId>,
}

/// Time a key for a prompt is held back for the rest of a paste: longer than the gap between pasted
/// characters, shorter than a user notices.
const HELD: Duration = Duration::from_millis(12);
/// Number of warnings kept.
const WARNED: usize = 200;
/// Interval of the spinner: visible movement at low cost.
pub const SPIN: Duration = Duration::from_millis(250);

impl State {
    /// Creates the screen before the first event, and the effects to run at once.
    #[expect(clippy::too_many_arguments, reason = "called once, with all parts of the initial screen")]
    pub fn new(
        agent: agent::State,
        session: SessionId,
        connection: Connection,
        themes: Themes,
        theme: Theme,
        keys: Keymap,
        settings: Settings,
        (unsent, history, notices): (Unsent, Vec<String>, Vec<String>),
    ) -> (Self, Vec<Effect>) {
        let mut complete = Complete::default();
        complete.offer_commands(super::update::command_names());
        let mut composer = Composer::new("Write a message, / for commands, @ for files");
        composer.set_history(history);
        let mut state = Self {
            agent,
            session,
            connection,
            themes,
            theme,
            keys,
            settings,
            composer,
            complete,
            prompt: None,
            aside: Vec::new(),
            waits: None,
            keeping: Keeping::default(),
            trusting: Trusting::default(),
            presses: Presses::default(),
            saving: Saving::default(),
            held: None,
            overlays: Vec::new(),
            toasts: Toasts::default(),
            warned: Vec::new(),
            transcript: Transcript::default(),
            times: Vec::new(),
            local: Vec::new(),
            asked_files: false,
            size: (80, 24),
            now: Duration::ZERO,
            since: Duration::ZERO,
            begun: Vec::new(),
            pace: Pace::default(),
            front: true,
            pressed_stop: None,
            pressed_quit: None,
            titled: String::new(),
            moved: false,
        };
        state.warned = notices.into_iter().map(|words| Warned { words, session: None }).collect();
        state.restore(unsent);
        state.sync_prompt();
        let first = if state.connection.tour { vec![Effect::Ask(Wish::LookForLocal)] } else { Vec::new() };
        (state, first)
    }

    /// Shows a notification.
    pub fn notice(&mut self, words: &str, kind: Kind) {
        self.toasts.push(kind, words, self.now);
        match kind {
            Kind::Info | Kind::Setting => {}
            Kind::Warning | Kind::Danger => self.warn(words),
        }
    }

    /// Records a warning.
    fn warn(&mut self, words: &str) {
        self.warned.retain(|warned| warned.words != words);
        self.warned.push(Warned { words: words.to_owned(), session: Some(self.session.clone()) });
        let more = self.warned.len().saturating_sub(WARNED);
        self.warned.drain(..more);
    }

    /// Returns the warnings of startup and of this session, oldest first. Those of other sessions do not apply here.
    pub fn warned_here(&self) -> impl Iterator<Item = &str> {
        let here = |warned: &&Warned| warned.session.as_ref().is_none_or(|session| *session == self.session);
        self.warned.iter().filter(here).map(|warned| warned.words.as_str())
    }

    /// Returns the inputs of the transcript's layout.
    pub fn ground(&self) -> Ground<'_> {
        let side = if self.size.0 > 2 { 2 } else { 0 };
        let width = usize::from(self.size.0.saturating_sub(side)).max(1);
        Ground {
            agent: &self.agent,
            theme: &self.theme,
            width,
            now: self.now,
            since: self.since,
            begun: &self.begun,
            pace: &self.pace,
            keys: &self.keys,
        }
    }

    /// Returns when the screen changes by itself next; `None` while nothing moves.
    pub fn wakes_at(&self) -> Option<Duration> {
        let spin = self.agent.is_busy().then(|| {
            if let Some(second) = self.pace.ticks_at(&self.agent, self.now) {
                return second;
            }
            let since = self.now.saturating_sub(self.since).as_millis();
            self.since + SPIN * u32::try_from(since / SPIN.as_millis() + 1).unwrap_or(u32::MAX)
        });
        let until = |listening| match listening {
            Some(Listening::Until(at)) => Some(at),
            Some(Listening::Yes | Listening::Unseen | Listening::Unsent) | None => None,
        };
        let card = until(self.listening()).or_else(|| until(super::update::sure::listening(self)));
        spin.into_iter()
            .chain(card)
            .chain(self.held_until())
            .chain(self.keeping_due())
            .chain(self.saving.due())
            .chain(self.toasts.next())
            .min()
    }

    /// Returns whether a request can be sent again now: one that waits for a retry, or the last one if it failed.
    pub fn can_ask_again(&self) -> bool {
        let waits = self.pace.wait(&self.agent, self.now);
        matches!(waits, Some(Wait::Again { .. }))
            || self.agent.can_ask_again()
            || self.agent.retries_beneath()
    }

    /// Returns when the key held back is handled as a key press.
    pub fn held_until(&self) -> Option<Duration> {
        self.held.map(|(_, at)| at + HELD)
    }

    /// Returns and resets whether the passing of time changed the screen.
    pub(super) fn take_moved(&mut self) -> bool {
        std::mem::take(&mut self.moved)
    }
}
