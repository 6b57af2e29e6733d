//! Runs slash commands and opens the lists they show.

use super::{agent, audit, connect, copy, grants, key, models, modes, rehearsal, search, sessions};
use crate::agent::Waiting;
use crate::chat::Becomes;
use crate::tui::command::{COMMANDS, Command};
use crate::tui::effect::Effect;
use crate::tui::focus;
use crate::tui::host::Wish;
use crate::tui::keys::{Action, Scope};
use crate::tui::overlay::{Overlay, Picking};
use crate::tui::parts::help::Help;
use crate::tui::parts::picker::{IN_USE, Picker, Row};
use crate::tui::parts::toast::Kind;
use crate::tui::parts::transcript::cache::Cache;
use crate::tui::state::State;
use crate::tui::theme::Theme;

/// Runs a command with the text after its name.
pub fn run(state: &mut State, cache: &mut Cache, command: Command, words: &str) -> Vec<Effect> {
    match command {
        Command::Help => help(state),
        Command::New => leave_for(state, Wish::New),
        Command::Fork => fork(state, words),
        Command::Resume => sessions::open(state, Picking::Open),
        Command::Theme => themes(state),
        Command::Model if !words.is_empty() => models::use_named(state, words),
        Command::Model => models::open(state),
        Command::Connect => connect::open(state),
        Command::Copy => copy::offer(state),
        Command::Search => {
            search::begin(state);
            Vec::new()
        }
        Command::Audit => audit::open(state),
        Command::Grants => grants::open(state),
        Command::Rules => vec![Effect::Ask(Wish::Rules)],
        Command::Trust => vec![Effect::Ask(Wish::LookAtProject { asked: true })],
        Command::Mode => modes::called(state, words),
        Command::Title if words.is_empty() => {
            state.notice("No title given. Example: /title the flaky test", Kind::Info);
            Vec::new()
        }
        Command::Title => agent::happened(state, crate::agent::Event::Titled(words.to_owned())),
        Command::Compact => compact(state),
        Command::Rehearsal => rehearsal::called(state, words),
        Command::Dry => {
            let words = match state.agent.is_dry_run() {
                true => {
                    "This session is a dry run: nothing outside its overlay changes. /rehearsal shows the results, /fork live continues live in a copy"
                }
                false => {
                    "This session is live. A dry run starts with aye --dry-run; /fork dry continues in a copy as a dry run"
                }
            };
            state.notice(words, Kind::Info);
            Vec::new()
        }
        Command::Notices if state.warned.is_empty() => {
            state.notice("No warnings so far", Kind::Info);
            Vec::new()
        }
        Command::Notices => {
            let words: Vec<&str> = state.warned.iter().map(|warned| warned.words.as_str()).collect();
            let text = words.join("\n\n");
            super::overlay::open_reader(state, "Warnings so far", &text, false);
            Vec::new()
        }
        Command::Retry if !state.can_ask_again() => {
            state.notice("No failed request to retry", Kind::Info);
            Vec::new()
        }
        Command::Retry => key::act(state, cache, Action::RetryNow),
        Command::Stop => key::act(state, cache, Action::Stop),
        Command::Editor => key::act(state, cache, Action::OpenEditor),
        Command::Quit => key::quit(state),
    }
}

/// Starts a summary that replaces the conversation so far.
fn compact(state: &mut State) -> Vec<Effect> {
    let why_not = match (state.agent.is_idle(), state.agent.has_something_to_summarise()) {
        (false, _) => "Not available while a turn is running",
        (true, false) => "Nothing to summarize yet",
        (true, true) => return agent::happened(state, crate::agent::Event::CompactionWanted),
    };
    state.notice(why_not, Kind::Info);
    Vec::new()
}

/// Leaves for another session. The draft stays with this one.
pub fn leave_for(state: &mut State, wish: Wish) -> Vec<Effect> {
    if let Some(unsaved) = state.saving.unsaved() {
        let words = format!("Cannot leave this session: it is not saved: {}", unsaved.reason);
        state.notice(&words, Kind::Warning);
        return Vec::new();
    }
    state.keep_now().into_iter().chain([Effect::Ask(wish)]).collect()
}

/// Continues in a copy, as a live session, as a dry run, or unchanged. Possible between turns and while a question
/// waits.
fn fork(state: &mut State, words: &str) -> Vec<Effect> {
    let becomes = match (words, state.agent.is_dry_run()) {
        ("", _) => Ok(Becomes::AsItWas),
        ("live", true) => Ok(Becomes::Live),
        ("dry", false) => Ok(Becomes::DryRun),
        ("live", false) => Err("This session is already live. /fork copies it"),
        ("dry", true) => Err("This session is already a dry run. /fork copies it"),
        (_, _) => {
            Err("Unknown option. Use /fork, /fork live (continue live) or /fork dry (continue as a dry run)")
        }
    };
    let becomes = match becomes {
        Ok(becomes) => becomes,
        Err(why) => {
            state.notice(why, Kind::Info);
            return Vec::new();
        }
    };
    let needs_approval = |waiting| matches!(waiting, Waiting::Approval { .. });
    let why_not = match state.agent.waiting() {
        _ if state.agent.all_waiting().any(needs_approval) => {
            "Answer the approval prompt first: approvals are not copied"
        }
        // Sub-agents may still be running while the question waits.
        Some(_) | None if state.agent.is_busy() => {
            "Not available now. Wait for the end of the turn or for a question"
        }
        None if state.agent.session.entries().is_empty() => "Nothing to copy yet",
        Some(_) | None => {
            return leave_for(state, Wish::Fork(state.session.clone(), becomes));
        }
    };
    state.notice(why_not, Kind::Info);
    Vec::new()
}

/// Opens the list of the keys that work now.
pub fn help(state: &mut State) -> Vec<Effect> {
    let help = Help::new(focus::scopes(state));
    state.overlays.push(Overlay::Help(help));
    Vec::new()
}

/// Opens the palette: every command in one list.
pub fn palette(state: &mut State) -> Vec<Effect> {
    let hint = |action: Option<Action>| {
        let action = action?;
        let scopes = [Scope::Anywhere, Scope::Composer, Scope::Again];
        scopes.iter().map(|scope| state.keys.hint(*scope, action)).find(|hint| !hint.is_empty())
    };
    let item = |row: &crate::tui::command::Row| {
        let keys = hint(row.action).unwrap_or_default();
        Row::new(row.names[0]).more(row.help).detail(&keys)
    };
    let items = COMMANDS.iter().map(item).collect();
    state.overlays.push(Overlay::Commands(Picker::new("Commands", "", items)));
    Vec::new()
}

/// Opens the list of themes. Each is previewed when the cursor reaches it.
pub fn themes(state: &mut State) -> Vec<Effect> {
    let kind = |theme: &Theme| match (theme.name.as_str(), theme.light) {
        ("terminal", _) => "the terminal's own sixteen colours",
        ("colour-blind", false) => "for dark terminals, no red against green",
        ("high-contrast", false) => "for dark terminals, the strongest contrast",
        (_, true) => "for light terminals",
        (_, false) => "for dark terminals",
    };
    let by_itself = state.settings.theme == AUTO;
    let before = Box::new(state.theme.clone());
    let in_use = |is| if is { IN_USE } else { "" };
    let named = state.themes.all.iter().map(|theme| {
        Row::new(&theme.name).more(kind(theme)).detail(in_use(!by_itself && theme.name == before.name))
    });
    let now = match by_itself {
        true => format!("{} now · {IN_USE}", state.settings.auto_theme),
        false => format!("{} now", state.settings.auto_theme),
    };
    let items = [Row::new(AUTO).more("follows the terminal").detail(&now)].into_iter().chain(named).collect();
    let at = match by_itself {
        true => None,
        false => state.themes.all.iter().position(|theme| theme.name == before.name),
    };
    let mut picker = Picker::new("Themes", "", items);
    picker.select(at.map_or(0, |at| at + 1));
    state.overlays.push(Overlay::Themes(picker, before));
    Vec::new()
}

/// Value in the settings for the theme that follows the terminal.
const AUTO: &str = "auto";

/// Returns the theme in a row of the list and the name that is stored in the settings.
pub fn theme_in(state: &State, row: usize) -> Option<(String, Theme)> {
    let (name, theme) = match row.checked_sub(1) {
        None => (AUTO, state.themes.choose(&state.settings.auto_theme, None)),
        Some(at) => state.themes.all.get(at).map(|theme| (theme.name.as_str(), theme.clone()))?,
    };
    Some((name.to_owned(), theme))
}
