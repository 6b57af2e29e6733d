//! Everything the screen knows. The agent's state is a field of it: nothing is mirrored.

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

/// What the person set, and what is known of where they are.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The project's folder; absolute.
    pub folder: PathBuf,
    /// The project and its branch as the head shows them: `~/src/app ⎇ main`.
    pub place: String,
    /// The person's home folder, which is written `~`.
    pub home: Option<PathBuf>,
    /// What a command may reach, for its card: `network off`; may be empty.
    pub may: String,
    /// This machine's name, for links to files.
    pub machine: String,
    /// Whether the wheel and clicks are taken.
    pub mouse: bool,
    /// Whether frames and marks are drawn in ASCII.
    pub ascii: bool,
    /// Whether the terminal puts what is read from right to left in order by itself, and cannot be told not to.
    pub terminal_turns: bool,
    /// Whether the terminal understands links.
    pub links: bool,
    /// Whether a card that waits may ring.
    pub bell: bool,
    /// The theme that is set: a name, or `auto`.
    pub theme: String,
    /// The one that `auto` is in this terminal.
    pub auto_theme: String,
    /// The command that opens a file; `$VISUAL` or `$EDITOR` where none is set.
    pub editor: Option<String>,
}

/// The screen.
pub struct State {
    /// The agent, read by the view and changed by its own update alone.
    pub agent: agent::State,
    /// Which session is shown.
    pub session: SessionId,
    /// What is talked to.
    pub connection: Connection,
    /// Every theme there is.
    pub themes: Themes,
    /// The one that is shown.
    pub theme: Theme,
    /// The keys.
    pub keys: Keymap,
    /// What the person set.
    pub settings: Settings,
    /// What is being written.
    pub composer: Composer,
    /// What would complete the word at the cursor.
    pub complete: Complete,
    /// The card of the call that waits.
    pub prompt: Option<Prompt>,
    /// Cards of questions that were brought before their turn and put back, with what was chosen on them.
    pub aside: Vec<QuestionCard>,
    /// The list of what waits, where it lies over that card.
    pub waits: Option<Waits>,
    /// What of the text that is not sent yet is kept outside.
    pub keeping: Keeping,
    /// What the project brings along.
    pub trusting: Trusting,
    /// The keys pressed lately.
    pub presses: Presses,
    /// Whether the session is on disk.
    pub saving: Saving,
    /// A key for the card that waits a moment whether more follow, as in a paste; since when.
    pub held: Option<(KeyEvent, Duration)>,
    /// What lies over the screen; the last one is in front.
    pub overlays: Vec<Overlay>,
    /// Notices that leave by themselves.
    pub toasts: Toasts,
    /// Every notice of something that was wrong, oldest first, each once: the first screen shows them, and a page.
    pub warned: Vec<Warned>,
    /// What is seen of the transcript.
    pub transcript: Transcript,
    /// When the entries of the session were written, in words, as far as they were asked for.
    pub times: Vec<String>,
    /// Model servers found on this machine.
    pub local: Vec<LocalServer>,
    /// Whether the project's files were asked for, for the word that is written now.
    pub asked_files: bool,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Since the start.
    pub now: Duration,
    /// When what goes on now began.
    pub since: Duration,
    /// When each sub-agent that works began.
    pub begun: Vec<(CallId, Duration)>,
    /// How the reply comes.
    pub pace: Pace,
    /// Whether the terminal is in front, as far as it tells.
    pub front: bool,
    /// When Esc was pressed on an open card.
    pub pressed_stop: Option<Duration>,
    /// When Ctrl-C was pressed.
    pub pressed_quit: Option<Duration>,
    /// What the window is called.
    pub(super) titled: String,
    /// Time alone changed what is seen.
    pub(super) moved: bool,
}

/// A notice of something that was wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warned {
    /// What was said.
    pub words: String,
    /// In which session; `None` for what the program began with.
    pub session: Option<SessionId>,
}

/// So long a key for a card waits for the rest of a paste: more than lies between its letters, less than anyone
/// notices.
const HELD: Duration = Duration::from_millis(12);
/// So many notices of what was wrong are kept.
const WARNED: usize = 200;
/// The spinner moves this often: alive to every eye, and no work for the machine while the person waits.
pub const SPIN: Duration = Duration::from_millis(250);

impl State {
    /// The screen before anything happened, and what is wanted at once.
    #[expect(clippy::too_many_arguments, reason = "called once, with each part of what a screen begins with")]
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
        let mut composer = Composer::new("write a message; / for commands, @ for files");
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

    /// Says something to the person, for a while.
    pub fn notice(&mut self, words: &str, kind: Kind) {
        self.toasts.push(kind, words, self.now);
        match kind {
            Kind::Info | Kind::Setting => {}
            Kind::Warning | Kind::Danger => self.warn(words),
        }
    }

    /// Keeps what was wrong, to be read again.
    fn warn(&mut self, words: &str) {
        self.warned.retain(|warned| warned.words != words);
        self.warned.push(Warned { words: words.to_owned(), session: Some(self.session.clone()) });
        let more = self.warned.len().saturating_sub(WARNED);
        self.warned.drain(..more);
    }

    /// What was wrong at the start or in this session, oldest first: what another one ran into is not true of it.
    pub fn warned_here(&self) -> impl Iterator<Item = &str> {
        let here = |warned: &&Warned| warned.session.as_ref().is_none_or(|session| *session == self.session);
        self.warned.iter().filter(here).map(|warned| warned.words.as_str())
    }

    /// What the transcript is laid out by.
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

    /// When the picture changes by itself; `None` while nothing moves.
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

    /// Whether there is a request that can be sent again now: one that waits for that, or the last one, which failed.
    pub fn can_ask_again(&self) -> bool {
        let waits = self.pace.wait(&self.agent, self.now);
        matches!(waits, Some(Wait::Again { .. }))
            || self.agent.can_ask_again()
            || self.agent.retries_beneath()
    }

    /// When a key that is held back is taken for what it seemed.
    pub fn held_until(&self) -> Option<Duration> {
        self.held.map(|(_, at)| at + HELD)
    }

    /// Whether time alone changed what is seen since this was asked last.
    pub(super) fn take_moved(&mut self) -> bool {
        std::mem::take(&mut self.moved)
    }
}
