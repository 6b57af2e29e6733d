//! Runs slash commands and opens the lists they show.

use super::{
    agent_events, audit_list, clipboard_copy, grant_list, key_dispatch, mode_list, model_list, provider_list,
    rehearsal_list, search_input, session_list,
};
use crate::agent::WaitingCall;
use crate::chat::ForkMode;
use crate::tui::command::{COMMANDS, Command};
use crate::tui::effect::Effect;
use crate::tui::focus;
use crate::tui::host::HostRequest;
use crate::tui::keys::{Action, Scope};
use crate::tui::overlay::{Overlay, PickedAction};
use crate::tui::parts::help_page::Help;
use crate::tui::parts::picker::{IN_USE, Picker, Row};
use crate::tui::parts::toast::Kind;
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::state::State;
use crate::tui::theme::Theme;

/// Runs a command with the text after its name.
pub fn run_command(state: &mut State, cache: &mut LayoutCache, command: Command, words: &str) -> Vec<Effect> {
    match command {
        Command::Help => open_help(state),
        Command::New => leave_session_for(state, HostRequest::NewSession),
        Command::Fork => fork_session(state, words),
        Command::Resume => session_list::open_session_list(state, PickedAction::Open),
        Command::Theme => open_themes(state),
        Command::Model if !words.is_empty() => model_list::use_named(state, words),
        Command::Model => model_list::open_model_list(state),
        Command::Connect => provider_list::open_provider_list(state),
        Command::Copy => clipboard_copy::offer_copy(state),
        Command::Search => {
            search_input::open_transcript_search(state);
            Vec::new()
        }
        Command::Audit => audit_list::open_audit_list(state),
        Command::Grants => grant_list::open_grants(state),
        Command::Rules => vec![Effect::Request(HostRequest::ListRules)],
        Command::Trust => vec![Effect::Request(HostRequest::InspectProject { asked: true })],
        Command::Mode => mode_list::run_mode_command(state, words),
        Command::Title if words.is_empty() => {
            state.show_notice("No title given. Example: /title the flaky test", Kind::Info);
            Vec::new()
        }
        Command::Title => agent_events::handle_agent_event(state, crate::agent::Event::SessionTitled(words.to_owned())),
        Command::Compact => compact_session(state),
        Command::Rehearsal => rehearsal_list::run_rehearsal_command(state, words),
        Command::Dry => {
            let words = match state.agent.is_dry_run() {
                true => {
                    "This session is a dry run: nothing outside its overlay changes. /rehearsal shows the results, /fork live continues live in a copy"
                }
                false => {
                    "This session is live. A dry run starts with aye --dry-run; /fork dry continues in a copy as a dry run"
                }
            };
            state.show_notice(words, Kind::Info);
            Vec::new()
        }
        Command::Notices if state.warnings.is_empty() => {
            state.show_notice("No warnings so far", Kind::Info);
            Vec::new()
        }
        Command::Notices => {
            let words: Vec<&str> = state.warnings.iter().map(|warned| warned.text.as_str()).collect();
            let text = words.join("\n\n");
            super::overlay_input::open_reader(state, "Warnings so far", &text, false);
            Vec::new()
        }
        Command::Retry if !state.can_retry() => {
            state.show_notice("No failed request to retry", Kind::Info);
            Vec::new()
        }
        Command::Retry => key_dispatch::run_action(state, cache, Action::RetryNow),
        Command::Stop => key_dispatch::run_action(state, cache, Action::Stop),
        Command::Editor => key_dispatch::run_action(state, cache, Action::OpenEditor),
        Command::Quit => key_dispatch::quit(state),
    }
}

/// Starts a summary that replaces the conversation so far.
fn compact_session(state: &mut State) -> Vec<Effect> {
    let why_not = match (state.agent.is_idle(), state.agent.has_entries_to_summarize()) {
        (false, _) => "Not available while a turn is running",
        (true, false) => "Nothing to summarize yet",
        (true, true) => {
            return agent_events::handle_agent_event(state, crate::agent::Event::CompactionRequested);
        }
    };
    state.show_notice(why_not, Kind::Info);
    Vec::new()
}

/// Leaves for another session. The draft stays with this one.
pub fn leave_session_for(state: &mut State, wish: HostRequest) -> Vec<Effect> {
    if let Some(unsaved) = state.saving.unsaved() {
        let words = format!("Cannot leave this session: it is not saved: {}", unsaved.reason);
        state.show_notice(&words, Kind::Warning);
        return Vec::new();
    }
    state.save_unsent_now().into_iter().chain([Effect::Request(wish)]).collect()
}

/// Continues in a copy, as a live session, as a dry run, or unchanged. Possible between turns and while a question
/// waits.
fn fork_session(state: &mut State, words: &str) -> Vec<Effect> {
    let becomes = match (words, state.agent.is_dry_run()) {
        ("", _) => Ok(ForkMode::Unchanged),
        ("live", true) => Ok(ForkMode::Live),
        ("dry", false) => Ok(ForkMode::DryRun),
        ("live", false) => Err("This session is already live. /fork copies it"),
        ("dry", true) => Err("This session is already a dry run. /fork copies it"),
        (_, _) => Err("Unknown option. Use /fork, /fork live (continue live) or /fork dry (continue as a dry run)"),
    };
    let becomes = match becomes {
        Ok(becomes) => becomes,
        Err(why) => {
            state.show_notice(why, Kind::Info);
            return Vec::new();
        }
    };
    let needs_approval = |waiting| matches!(waiting, WaitingCall::Approval { .. });
    let why_not = match state.agent.waiting_call() {
        _ if state.agent.waiting_calls().any(needs_approval) => {
            "Answer the approval prompt first: approvals are not copied"
        }
        // Sub-agents may still be running while the question waits.
        Some(_) | None if state.agent.is_busy() => "Not available now. Wait for the end of the turn or for a question",
        None if state.agent.session.entries().is_empty() => "Nothing to copy yet",
        Some(_) | None => {
            return leave_session_for(state, HostRequest::ForkSession(state.session.clone(), becomes));
        }
    };
    state.show_notice(why_not, Kind::Info);
    Vec::new()
}

/// Opens the list of the keys that work now.
pub fn open_help(state: &mut State) -> Vec<Effect> {
    let help = Help::new(focus::active_scopes(state));
    state.overlays.push(Overlay::Help(help));
    Vec::new()
}

/// Opens the palette: every command in one list.
pub fn open_palette(state: &mut State) -> Vec<Effect> {
    let hint = |action: Option<Action>| {
        let action = action?;
        let scopes = [Scope::Anywhere, Scope::Composer, Scope::FailedRequest];
        scopes.iter().map(|scope| state.keys.first_chord(*scope, action)).find(|hint| !hint.is_empty())
    };
    let item = |row: &crate::tui::command::CommandRow| {
        let keys = hint(row.action).unwrap_or_default();
        Row::new(row.names[0]).with_secondary(row.help).with_detail(&keys)
    };
    let items = COMMANDS.iter().map(item).collect();
    state.overlays.push(Overlay::Commands(Picker::new("Commands", "", items)));
    Vec::new()
}

/// Opens the list of themes. Each is previewed when the cursor reaches it.
pub fn open_themes(state: &mut State) -> Vec<Effect> {
    let kind = |theme: &Theme| match (theme.name.as_str(), theme.light) {
        ("terminal", _) => "the terminal's own sixteen colours",
        ("colour-blind", false) => "for dark terminals, no red against green",
        ("high-contrast", false) => "for dark terminals, the strongest contrast",
        (_, true) => "for light terminals",
        (_, false) => "for dark terminals",
    };
    let by_itself = state.settings.theme == AUTO_THEME;
    let before = Box::new(state.theme.clone());
    let in_use = |is| if is { IN_USE } else { "" };
    let named = state.themes.all.iter().map(|theme| {
        Row::new(&theme.name).with_secondary(kind(theme)).with_detail(in_use(!by_itself && theme.name == before.name))
    });
    let now = match by_itself {
        true => format!("{} now · {IN_USE}", state.settings.auto_theme),
        false => format!("{} now", state.settings.auto_theme),
    };
    let items = [Row::new(AUTO_THEME).with_secondary("follows the terminal").with_detail(&now)]
        .into_iter()
        .chain(named)
        .collect();
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
const AUTO_THEME: &str = "auto";

/// Returns the theme in a row of the list and the name that is stored in the settings.
pub fn theme_at_row(state: &State, row: usize) -> Option<(String, Theme)> {
    let (name, theme) = match row.checked_sub(1) {
        None => (AUTO_THEME, state.themes.choose_theme(&state.settings.auto_theme, None)),
        Some(at) => state.themes.all.get(at).map(|theme| (theme.name.as_str(), theme.clone()))?,
    };
    Some((name.to_owned(), theme))
}
