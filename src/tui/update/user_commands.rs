//! Commands of the user: running the draft, and handing the terminal to a command that waits for keys.

use super::agent_events;
use crate::agent::Event;
use crate::chat::user_command::parse_command_draft;
use crate::tui::effect::Effect;
use crate::tui::host::HostRequest;
use crate::tui::keys::{Action, Scope};
use crate::tui::state::State;
use std::time::Duration;

/// Time after which Enter hands over the terminal: the Enter that started the command may be pressed twice.
const MIN_RUN_TIME: Duration = Duration::from_millis(700);

/// Runs the draft as a command. A draft that cannot be run stays in the composer.
pub fn run_draft(state: &mut State) {
    let text = state.input.composer.text();
    let Some(draft) = parse_command_draft(&text) else { return };
    if let Some(reason) = explain_refusal(state, draft.command) {
        return state.show_info(&format!("Not run: {reason}"));
    }
    let (command, is_shared) = (draft.command.to_owned(), draft.is_shared);
    state.input.composer.take_text();
    state.input.recent_keys.send_key.record_send(state.timing.now);
    state.input.composer.remember(&text);
    state.viewport.transcript.follow_end();
    agent_events::handle_agent_event(state, Event::UserCommandRequested { command, is_shared });
    state.send_request(HostRequest::AddToHistory(text));
}

/// Returns why the draft cannot be run as this command; `None` if it can.
fn explain_refusal(state: &State, command: &str) -> Option<String> {
    if command.is_empty() {
        return Some("write a command after the !".to_owned());
    }
    if command.starts_with('!') {
        return Some("a command has one ! or two. Start with \\! to send a message".to_owned());
    }
    // A command must be visible before it runs.
    if state.input.composer.has_folded_paste() {
        let key = state.keys.first_chord(Scope::Composer, Action::OpenPaste);
        return Some(format!("a paste is folded · {key} to open it"));
    }
    state.agent.explain_no_user_command()
}

/// Hands the terminal to a command that waits for keys, unless the user is doing something else: the next keys would
/// go to the command.
pub fn attach_if_quiet(state: &mut State) {
    let is_quiet = state.input.composer.is_empty()
        && state.viewport.popups.is_empty()
        && state.viewport.transcript.search.is_none();
    match is_quiet {
        true => state.push_effect(Effect::AttachTerminal),
        false => state.show_info("Your command waits for keys · clear the draft, then enter"),
    }
}

/// Returns whether Enter in an empty composer hands over the terminal.
pub fn can_attach(state: &State) -> bool {
    let run_time = state.timing.now.saturating_sub(state.timing.activity_start);
    state.agent.user_command().is_some() && !state.agent.is_dry_run() && run_time >= MIN_RUN_TIME
}
