//! What commands do, and the lists they open.

use super::{agent, connect, copy, key, search};
use crate::tui::command::{COMMANDS, Command};
use crate::tui::effect::Effect;
use crate::tui::focus;
use crate::tui::host::Wish;
use crate::tui::keys::{Action, Scope};
use crate::tui::overlay::Overlay;
use crate::tui::parts::help::Help;
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::parts::toast::Kind;
use crate::tui::parts::transcript::cache::Cache;
use crate::tui::state::State;

/// Runs a command with the words behind its name.
pub fn run(state: &mut State, cache: &mut Cache, command: Command, words: &str) -> Vec<Effect> {
    match command {
        Command::Help => help(state),
        Command::New => leave_for(state, Wish::New),
        Command::Resume => sessions(state),
        Command::Theme => themes(state),
        Command::Model if !words.is_empty() => use_model(state, words),
        Command::Model => models(state),
        Command::Connect => connect::open(state),
        Command::Copy => copy::offer(state),
        Command::Search => {
            search::begin(state);
            Vec::new()
        }
        Command::Mode => change_mode(state),
        Command::Title if words.is_empty() => {
            state.notice("write the name behind it: /title the flaky test", Kind::Info);
            Vec::new()
        }
        Command::Title => agent::happened(state, crate::agent::Event::Titled(words.to_owned())),
        Command::Dry => {
            let words = match state.agent.is_dry_run() {
                true => "this is a dry run: nothing real is touched, from the first word to the last",
                false => "a dry run is chosen when a session begins: leave, and start with aye --dry-run",
            };
            state.notice(words, Kind::Info);
            Vec::new()
        }
        Command::Stop => key::act(state, cache, Action::Stop),
        Command::Editor => key::act(state, cache, Action::OpenEditor),
        Command::Quit => key::quit(state),
    }
}

/// Goes to another session; what is unsent stays with this one.
pub fn leave_for(state: &State, wish: Wish) -> Vec<Effect> {
    vec![Effect::Ask(Wish::KeepDraft(state.composer.text())), Effect::Ask(wish)]
}

/// The keys that work now.
pub fn help(state: &mut State) -> Vec<Effect> {
    let help = Help::new(focus::scopes(state));
    state.overlays.push(Overlay::Help(help));
    Vec::new()
}

/// The palette of every command.
pub fn palette(state: &mut State) -> Vec<Effect> {
    let hint = |action: Option<Action>| {
        let action = action?;
        let scopes = [Scope::Anywhere, Scope::Composer];
        scopes.iter().map(|scope| state.keys.hint(*scope, action)).find(|hint| !hint.is_empty())
    };
    let item = |row: &crate::tui::command::Row| {
        let keys = hint(row.action).unwrap_or_default();
        Row::new(row.names[0]).more(row.help).detail(&keys)
    };
    let items = COMMANDS.iter().map(item).collect();
    state.overlays.push(Overlay::Commands(Picker::new("commands", "", items)));
    Vec::new()
}

/// The sessions: the list is there at once, its rows when the host has them.
pub fn sessions(state: &mut State) -> Vec<Effect> {
    state
        .overlays
        .push(Overlay::Sessions(Picker::new("sessions", "no other session here", Vec::new()), Vec::new()));
    vec![Effect::Ask(Wish::Sessions)]
}

/// The themes, each shown as the cursor comes to it.
pub fn themes(state: &mut State) -> Vec<Effect> {
    let kind = |light: bool| if light { "for light terminals" } else { "for dark terminals" };
    let items = state.themes.all.iter().map(|theme| Row::new(&theme.name).more(kind(theme.light))).collect();
    let before = Box::new(state.theme.clone());
    state.overlays.push(Overlay::Themes(Picker::new("themes", "", items), before));
    Vec::new()
}

/// The models. The tour has none: there is something else to choose.
pub fn models(state: &mut State) -> Vec<Effect> {
    if state.connection.tour {
        return connect::open(state);
    }
    state
        .overlays
        .push(Overlay::Models(Picker::new("models", "no models are known", Vec::new()), Vec::new()));
    vec![Effect::Ask(Wish::Models)]
}

/// Asks another model from the next request on.
pub fn use_model(state: &mut State, model: &str) -> Vec<Effect> {
    state.connection.model = model.to_owned();
    (state.connection.window, state.connection.price) = (None, None);
    let mut effects = agent::happened(state, crate::agent::Event::Switched(model.to_owned()));
    effects.push(Effect::Ask(Wish::UseModel(model.to_owned())));
    effects
}

/// Changes between plan and ask mode. Only a person's key comes here; no card and no model does.
pub fn change_mode(state: &mut State) -> Vec<Effect> {
    if state.prompt.is_some() {
        state.notice("the mode is changed when nothing waits for you", Kind::Info);
        return Vec::new();
    }
    let effects = agent::happened(state, crate::agent::Event::ModeChanged);
    let mode = state.agent.policy.mode;
    state.notice(&format!("{} mode: {}", mode.word(), mode.meaning()), Kind::Info);
    effects
}
