//! Hints that say what a second press of a key does, and which of them still hold.

use super::rewind_list;
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::toast::Kind;
use crate::tui::popup::{List, Popup};
use crate::tui::state::State;
use std::time::Duration;

/// Two presses within this time count as a double press.
const DOUBLE_PRESS: Duration = Duration::from_secs(1);

/// Shown after the first Esc while a prompt is open.
pub const STOP_HINT: &str = "Press esc again to stop the turn";
/// Shown after the first Esc on an empty draft between turns.
pub const REWIND_HINT: &str = "Press esc again to rewind";
/// Shown after the first Esc while a question is parked.
pub const STOP_UNANSWERED_HINT: &str = "Press esc again to stop without an answer";

/// Returns whether a press now and an earlier one are a double press.
pub fn is_double_press(earlier: Option<Duration>, now: Duration) -> bool {
    earlier.is_some_and(|pressed_at| now.saturating_sub(pressed_at) < DOUBLE_PRESS)
}

/// Shows what a second press does, until it would be too late to count as one.
pub fn show_press_hint(state: &mut State, hint: &str) {
    let now = state.timing.now;
    state.notices.toasts.push_until(Kind::Hint, hint, now + DOUBLE_PRESS, now);
}

/// Returns whether the list of what happens to an unsaved session is open.
pub fn is_leaving(state: &State) -> bool {
    matches!(state.viewport.popups.last(), Some(Popup::List(_, List::UnsavedSession(_))))
}

/// Returns the hint after the first press of the key that stops or quits.
pub fn describe_quit(state: &State) -> String {
    let quit_key = state.keys.first_chord(Scope::Anywhere, Action::StopOrQuit);
    let consequence = match (is_leaving(state), state.has_question_prompt()) {
        (true, _) => format!(" and lose {}", state.session.saving.describe_loss(state.agent.session.entries())),
        (false, true) => "; the question keeps waiting".to_owned(),
        (false, false) if !state.agent.background.is_empty() => {
            format!("; {} in background ends", state.agent.background.len())
        }
        (false, false) => String::new(),
    };
    format!("Press {quit_key} again to quit{consequence}")
}

/// Removes the hints that no longer hold: the turn ended, the prompt was answered, or something was typed.
pub fn remove_outdated_hints(state: &mut State) {
    if state.notices.toasts.newest_hint().is_empty() {
        return;
    }
    let (is_idle, has_popup) = (state.agent.is_idle(), !state.viewport.popups.is_empty());
    let (has_prompt, has_open_prompt) = (state.prompts.current.is_some(), state.prompts.front().is_some());
    let can_rewind = is_idle && state.input.composer.is_empty() && !has_prompt && rewind_list::can_rewind(state);
    let quit_hint = describe_quit(state);
    state.notices.toasts.retain_hints(state.timing.now, |hint| match hint {
        STOP_HINT => !is_idle && has_open_prompt && !has_popup,
        STOP_UNANSWERED_HINT => !is_idle && has_prompt && !has_open_prompt && !has_popup,
        REWIND_HINT => can_rewind && !has_popup,
        other => other == quit_hint,
    });
}
