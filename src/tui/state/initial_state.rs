//! Creates the state of the screen. A file of its own, because the table of slash commands uses the rest of the state.

use super::{Notices, Settings, State, Timing, Viewport, Warning};
use crate::agent;
use crate::chat::{SessionId, UnsentText};
use crate::manual::TOPICS;
use crate::policy::Policy;
use crate::tui::effect::Effect;
use crate::tui::host::{Connection, HostRequest};
use crate::tui::keys::Keymap;
use crate::tui::open_session::OpenSession;
use crate::tui::parts::completion::{Candidate, Completion};
use crate::tui::parts::composer::Composer;
use crate::tui::parts::link_lookups::LinkLookups;
use crate::tui::prompts::prompt::Prompts;
use crate::tui::theme::{Theme, Themes};
use crate::tui::update::slash_commands::COMMANDS;
use crate::tui::user_input::UserInput;

impl State {
    /// Creates the state before the first event. `take_effects` returns the effects to run at the start.
    #[expect(clippy::too_many_arguments, reason = "called once, with all parts of the initial screen")]
    pub fn new(
        agent: agent::State,
        session: SessionId,
        connection: Connection,
        themes: Themes,
        theme: Theme,
        keys: Keymap,
        settings: Settings,
        unsent: UnsentText,
        history: Vec<String>,
        startup_warnings: Vec<String>,
    ) -> Self {
        let mut completion = Completion::default();
        completion.set_commands(COMMANDS.iter().map(|row| Candidate::new(row.names[0], row.help)).collect());
        completion.set_topics(TOPICS.iter().map(|topic| Candidate::new(topic.name, topic.title())).collect());
        let mut composer = Composer::new("Write a message, / for commands, @ for files");
        composer.set_history(history);
        let mut state = Self {
            agent,
            session: OpenSession { id: session, connection, ..OpenSession::default() },
            themes,
            theme,
            keys,
            commands: COMMANDS,
            settings,
            input: UserInput::new(composer, completion),
            prompts: Prompts::default(),
            notices: Notices::default(),
            local_servers: Vec::new(),
            credentials: Vec::new(),
            viewport: Viewport::default(),
            timing: Timing::default(),
            lookups: LinkLookups::default(),
            effects: Vec::new(),
        };
        state.lookups.pictures.protocol = state.settings.pictures;
        state.notices.warnings = startup_warnings.into_iter().map(|text| Warning { text, session: None }).collect();
        state.restore_unsent(unsent);
        state.sync_prompt();
        let connection = &state.session.connection;
        if connection.is_tour || connection.is_unconfigured {
            state.send_request(HostRequest::FindLocalServers);
        }
        // The welcome screen recommends the mode `auto` where commands can be tried.
        if state.agent.session.entries().is_empty() && state.agent.policy == Policy::default() {
            state.push_effect(Effect::Agent(vec![agent::Effect::CheckTrialSupport { call: None }]));
        }
        state
    }
}
