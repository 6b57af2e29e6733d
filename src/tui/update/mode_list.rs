//! Changing the mode. Only keys and commands of the user change it, never a prompt or the model.

use super::agent_events;
use crate::agent::Event;
use crate::policy::Mode;
use crate::tui::parts::picker::{IN_USE, Picker, Row};
use crate::tui::parts::toast::Kind;
use crate::tui::popup::{List, Popup};
use crate::tui::state::State;

/// Runs `/mode`: opens the list, or switches to the named mode. A wide mode (`auto` or `full`) is confirmed first.
pub fn run_mode_command(state: &mut State, name: &str) {
    if name.is_empty() {
        return open_mode_list(state);
    }
    match Mode::ALL.into_iter().find(|mode| mode.as_str() == name) {
        Some(mode) if mode.is_wide() => confirm_mode(state, mode),
        Some(mode) => set_mode(state, mode),
        None => {
            let names: Vec<&str> = Mode::ALL.into_iter().map(Mode::as_str).collect();
            state.show_warning(&format!("Unknown mode. Use one of {}", names.join(", ")));
        }
    }
}

fn open_mode_list(state: &mut State) {
    let current_mode = state.agent.policy.mode;
    let build_row = |mode: Mode| {
        let detail = if mode == current_mode { IN_USE } else { "" };
        Row::new(&format!("{} mode", mode.as_str())).with_secondary(mode.description()).with_detail(detail)
    };
    let items = Mode::ALL.into_iter().map(build_row).collect();
    // Each mode, and whether it is set without confirmation.
    let modes = Mode::ALL.into_iter().map(|mode| (mode, !mode.is_wide() || mode == current_mode)).collect();
    let mut picker = Picker::new("Mode", "", items);
    picker.select(Mode::ALL.into_iter().position(|mode| mode == current_mode).unwrap_or(0));
    state.viewport.popups.push(Popup::List(picker, List::Modes(modes)));
}

/// Explains a wide mode and asks for confirmation. The first choice is to stay.
pub fn confirm_mode(state: &mut State, mode: Mode) {
    let current_mode = state.agent.policy.mode;
    let items = vec![
        Row::new(&format!("Stay in {} mode", current_mode.as_str())).with_secondary(current_mode.description()),
        Row::new(&format!("Switch to {} mode", mode.as_str())).with_secondary(mode.description()),
    ];
    let picker = Picker::new(&format!("Switch to {} mode?", mode.as_str()), "", items);
    let needs_no_confirmation = true;
    let modes = vec![(current_mode, needs_no_confirmation), (mode, needs_no_confirmation)];
    state.viewport.popups.push(Popup::List(picker, List::Modes(modes)));
}

/// Switches the mode, unless a prompt is open.
pub fn set_mode(state: &mut State, mode: Mode) {
    if state.prompts.current.is_some() {
        return state.show_info("Cannot change the mode: a prompt is open. Answer it first");
    }
    agent_events::handle_agent_event(state, Event::ModeChanged(mode));
    let kind = if mode.is_wide() { Kind::Warning } else { Kind::Info };
    state.show_notice(&format!("{} mode: {}", mode.as_str(), mode.description()), kind);
}
