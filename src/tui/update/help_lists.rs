//! The list of keys that work now, the pages of the manual and of the context window, and the command palette.

use super::popup_stack;
use crate::chat::turn_usage::list_turns;
use crate::manual;
use crate::tui::focus;
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::context_page::ContextPage;
use crate::tui::parts::help_page::Help;
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::popup::{List, Popup, ReaderBody};
use crate::tui::slash_command::{CommandRun, SlashCommand};
use crate::tui::state::State;
use std::sync::Arc;

/// Opens the list of the keys that work now.
pub fn open_help(state: &mut State) {
    let mut unused = state.unused_prompt_keys();
    if !state.viewport.popups.is_empty() {
        // A popup takes all other keys.
        let can_search =
            matches!(state.viewport.popups.last(), Some(Popup::Reader(reader)) if reader.json_view().is_none());
        let is_unused = |action: &&Action| match action {
            Action::Help | Action::StopOrQuit => false,
            Action::SearchTranscript => !can_search,
            _ => true,
        };
        unused.extend(Action::ALL.iter().filter(is_unused).map(|action| (Scope::Anywhere, *action)));
    }
    if !matches!(state.viewport.popups.last(), Some(Popup::List(picker, _)) if picker.can_save()) {
        unused.push((Scope::List, Action::AcceptAndSave));
    }
    let help = Help::new(focus::active_scopes(state), unused);
    state.viewport.popups.push(Popup::Help(help));
}

/// Runs `/help`: opens the page of the manual with this name, or the list of keys without a name. Shows the names of
/// all pages if none has this name.
pub fn run_help_command(state: &mut State, name: &str) {
    match manual::find_topic(name) {
        None if name.is_empty() => open_help(state),
        Some(topic) => {
            let title = format!("Manual: {}", topic.name);
            popup_stack::push_reader(state, &title, topic.terminal_text().into(), ReaderBody::Markdown);
        }
        None => {
            let names: Vec<&str> = manual::topic_names().collect();
            let text =
                format!("Cannot show help for “{name}”: there is no such topic. Use one of: {}", names.join(", "));
            state.show_info(&text);
        }
    }
}

/// Opens the page about the context window, as it is now.
pub fn open_context_page(state: &mut State) {
    let page = ContextPage {
        usage: state.agent.context_usage(),
        parts: state.agent.context_parts(),
        turns: list_turns(&state.agent.session),
        total: state.agent.session.usage(),
        price: state.session.connection.price,
    };
    popup_stack::push_reader(state, "Context", "".into(), ReaderBody::Context(Arc::new(page)));
}

/// Opens the palette: every command in one list.
pub fn open_palette(state: &mut State) {
    let key_hint = |run: CommandRun| {
        let (CommandRun::Action(action) | CommandRun::Function(_, Some(action))) = run else { return None };
        let scopes = [Scope::Anywhere, Scope::Composer, Scope::FailedRequest];
        scopes.iter().map(|scope| state.keys.first_chord(*scope, action)).find(|chord| !chord.is_empty())
    };
    let build_row = |row: &SlashCommand| {
        let keys = key_hint(row.run).unwrap_or_default();
        Row::new(row.names[0]).with_secondary(row.help).with_detail(&keys)
    };
    let items = state.commands.iter().map(build_row).collect();
    let picker = Picker::new("Commands", "", items).with_starts_first();
    state.viewport.popups.push(Popup::List(picker, List::Commands));
}
