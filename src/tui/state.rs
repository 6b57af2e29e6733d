//! State of the screen. It contains the agent's state and duplicates none of it.

mod initial_state;

use super::effect::Effect;
use super::host::{HostRequest, ListedCredential, LocalServer};
use super::keys::Keymap;
use super::open_session::OpenSession;
use super::parts::link_lookups::LinkLookups;
use super::parts::pictures::{Protocol, max_transcript_rows};
use super::parts::reply_timing::{ReplyTiming, Wait};
use super::parts::toast::{Kind, Toasts};
use super::parts::transcript::Transcript;
use super::parts::transcript::layout_context::LayoutContext;
use super::popup::Popup;
use super::prompts::prompt::Prompts;
use super::slash_command::SlashCommand;
use super::theme::{Theme, Themes};
use super::user_input::UserInput;
use crate::agent;
use crate::chat::{CallId, SessionId};
use crate::config::LinkScheme;
use ratatui::buffer::Buffer;
use std::path::PathBuf;
use std::time::Duration;

/// Settings of the user and facts about the project and the terminal.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Project folder; absolute.
    pub folder: PathBuf,
    /// Project and branch as shown in the header: `~/src/app ⎇ main`.
    pub location: String,
    /// Home directory of the user, shown as `~`.
    pub home: Option<PathBuf>,
    /// Permissions of a command, for its approval prompt: `network off`; may be empty.
    pub sandbox_note: String,
    /// Host name of this machine, for links to files.
    pub host_name: String,
    /// True if mouse wheel and clicks are handled.
    pub has_mouse: bool,
    /// True if borders and symbols are drawn in ASCII.
    pub is_ascii: bool,
    /// True if the terminal always reorders right-to-left text itself.
    pub terminal_reorders: bool,
    /// True if the terminal supports links (OSC 8).
    pub has_links: bool,
    /// Scheme of links to files, unless the session is remote.
    pub link_scheme: LinkScheme,
    /// True if the terminal is on another machine, connected by SSH.
    pub is_remote: bool,
    /// True if the terminal sends what is on its clipboard (OSC 5522).
    pub reads_terminal_clipboard: bool,
    /// How pictures are drawn; `None` if they are not.
    pub pictures: Option<Protocol>,
    /// True if a waiting prompt may ring the bell.
    pub has_bell: bool,
    /// The configured theme: a name, or `auto`.
    pub theme: String,
    /// Name of the theme that `auto` selects in this terminal.
    pub auto_theme: String,
    /// Command that opens a file; defaults to `$VISUAL` or `$EDITOR`.
    pub editor: Option<String>,
}

/// State of the screen.
pub struct State {
    /// The agent. The view only reads it; events change it, and opening a session replaces it.
    pub agent: agent::State,
    /// State of the session shown.
    pub session: OpenSession,
    /// All themes.
    pub themes: Themes,
    /// The current theme.
    pub theme: Theme,
    /// Key bindings.
    pub keys: Keymap,
    /// Slash commands, in the order they are offered.
    pub commands: &'static [SlashCommand],
    /// Settings of the user.
    pub settings: Settings,
    /// Input of the user.
    pub input: UserInput,
    /// Prompts of waiting calls.
    pub prompts: Prompts,
    /// Notifications and warnings.
    pub notices: Notices,
    /// Model servers found on this machine.
    pub local_servers: Vec<LocalServer>,
    /// The credentials that tools name, once they were listed.
    pub credentials: Vec<ListedCredential>,
    /// Terminal window and what it shows.
    pub viewport: Viewport,
    /// Clocks of the screen.
    pub timing: Timing,
    /// Lookups of the link targets in the transcript.
    pub lookups: LinkLookups,
    /// Effects of the current event so far, in the order in which they will run.
    effects: Vec<Effect>,
}

/// The terminal window and what it shows.
#[derive(Debug, Clone)]
pub struct Viewport {
    /// Size in columns and rows.
    pub size: (u16, u16),
    /// True if the terminal has the focus, as far as it reports that.
    pub has_focus: bool,
    /// Title of the terminal window.
    pub(super) window_title: String,
    /// Scroll position and selection of the transcript.
    pub transcript: Transcript,
    /// Rows that the transcript needs, at most those of the screen, while a prompt is open below it; otherwise `None`.
    pub transcript_rows: Option<u16>,
    /// Open popups; the last one is in front.
    pub popups: Vec<Popup>,
}

impl Default for Viewport {
    fn default() -> Self {
        Self {
            size: (80, 24),
            has_focus: true,
            window_title: String::new(),
            transcript: Transcript::default(),
            transcript_rows: None,
            popups: Vec::new(),
        }
    }
}

/// Clocks of the screen.
#[derive(Debug, Clone, Default)]
pub struct Timing {
    /// Time since the start.
    pub now: Duration,
    /// Start time of the current activity.
    pub activity_start: Duration,
    /// Start time of each running sub-agent.
    pub sub_agent_starts: Vec<(CallId, Duration)>,
    /// Start time of each background command that was moved since its session was opened, by number.
    pub background_starts: Vec<(u32, Duration)>,
    /// Speed of the reply.
    pub pace: ReplyTiming,
    /// True if the passing of time changed the screen.
    pub(super) is_changed_by_time: bool,
}

/// Notifications and warnings.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    /// Notifications that disappear by themselves.
    pub toasts: Toasts,
    /// All warnings, oldest first and without duplicates, for the welcome screen and `/notices`.
    pub warnings: Vec<Warning>,
}

/// A warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Text of the warning.
    pub text: String,
    /// Session it belongs to; `None` for warnings at startup.
    pub session: Option<SessionId>,
}

/// Maximum number of warnings kept.
const MAX_WARNINGS: usize = 200;

impl Notices {
    /// Records a warning of a session.
    pub fn record_warning(&mut self, text: &str, session: &SessionId) {
        self.warnings.retain(|warning| warning.text != text);
        self.warnings.push(Warning { text: text.to_owned(), session: Some(session.clone()) });
        let excess = self.warnings.len().saturating_sub(MAX_WARNINGS);
        self.warnings.drain(..excess);
    }
}

impl State {
    /// Adds an effect of the current event.
    pub(super) fn push_effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Draws the keys that were pressed last over a frame, if they are shown.
    pub(super) fn draw_key_caps(&self, frame: &mut Buffer) {
        self.input.key_caps.draw(self.timing.now, &self.theme, self.settings.is_ascii, frame);
    }

    /// Adds a request to the host to the effects of the current event.
    pub(super) fn send_request(&mut self, request: HostRequest) {
        self.push_effect(Effect::Request(request));
    }

    /// Returns and removes the effects of the current event.
    pub(super) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Shows information for the user.
    pub(super) fn show_info(&mut self, text: &str) {
        self.show_notice(text, Kind::Info);
    }

    /// Shows a warning and records it for `/notices`.
    pub(super) fn show_warning(&mut self, text: &str) {
        self.show_notice(text, Kind::Warning);
    }

    /// Shows a notification. A warning or an error is also recorded for `/notices`.
    pub fn show_notice(&mut self, text: &str, kind: Kind) {
        self.notices.toasts.push(kind, text, self.timing.now);
        match kind {
            Kind::Info | Kind::Hint | Kind::Draft | Kind::Setting => {}
            Kind::Warning | Kind::Error => self.notices.record_warning(text, &self.session.id),
        }
    }

    /// Returns the warnings of startup and of this session, oldest first. Those of other sessions do not apply here.
    pub fn current_warnings(&self) -> impl Iterator<Item = &str> {
        let is_current =
            |warning: &&Warning| warning.session.as_ref().is_none_or(|session| *session == self.session.id);
        self.notices.warnings.iter().filter(is_current).map(|warning| warning.text.as_str())
    }

    /// Returns the inputs of the transcript's layout.
    pub fn layout_context(&self) -> LayoutContext<'_> {
        let margin = if self.viewport.size.0 > 2 { 2 } else { 0 };
        let width = usize::from(self.viewport.size.0.saturating_sub(margin)).max(1);
        LayoutContext {
            agent: &self.agent,
            theme: &self.theme,
            width,
            max_picture_rows: max_transcript_rows(self.viewport.size.1),
            now: self.timing.now,
            activity_start: self.timing.activity_start,
            sub_agent_starts: &self.timing.sub_agent_starts,
            selected_call: self.viewport.transcript.selected_call(),
            timing: &self.timing.pace,
            keys: &self.keys,
            lookups: &self.lookups,
            accepts_images: self.session.connection.accepts_images,
        }
    }

    /// Returns whether a request can be sent again now: one that waits for a retry, or the last one if it failed.
    pub fn can_retry(&self) -> bool {
        let wait = self.timing.pace.current_wait(&self.agent, self.timing.now);
        matches!(wait, Some(Wait::Countdown { .. })) || self.agent.can_retry_turn() || self.agent.has_sub_agent_retry()
    }
}
