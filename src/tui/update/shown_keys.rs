//! Decides which keys are shown as key caps: those that act. Text is not shown, because it is on the screen already, or must not be.

use super::page_search_input;
use crate::tui::focus::{Focus, active_scopes, current_focus};
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::listening::Listening;
use crate::tui::popup::{List, Popup};
use crate::tui::state::State;
use crossterm::event::{KeyCode, KeyEvent};

/// Shows a key that is about to be handled, if it acts.
pub fn show_key(state: &mut State, key: &KeyEvent) {
    if acts(state, key) {
        state.input.key_caps.push(Chord::from(key), state.timing.now);
    }
}

fn acts(state: &State, key: &KeyEvent) -> bool {
    let lookup = |scope| state.keys.lookup(scope, key);
    if Chord::from(key).typed_character().is_some() {
        return acts_as_character(state, key);
    }
    let scopes = active_scopes(state);
    let mut actions = scopes.iter().filter_map(|scope| lookup(*scope));
    // Editing keys of a field are no part of what a viewer follows, and in a secret they would tell its length.
    if scopes.contains(&Scope::TextField) && current_focus(state) != Focus::Search {
        return actions.any(|action| matches!(action, Action::Accept | Action::Close));
    }
    match actions.next() {
        Some(action) => !matches!(action, Action::DeleteBack | Action::DeleteForward | Action::InsertLineBreak),
        // Enter also opens what a page shows, without a binding.
        None => key.code == KeyCode::Enter,
    }
}

/// Returns whether a character acts instead of being typed.
fn acts_as_character(state: &State, key: &KeyEvent) -> bool {
    let lookup = |scope| state.keys.lookup(scope, key);
    match current_focus(state) {
        Focus::Popup => match state.viewport.popups.last() {
            Some(Popup::Confirmation(..)) => {
                lookup(Scope::Approval).is_some() && state.confirmation_listening() == Some(Listening::Ready)
            }
            Some(Popup::List(picker, List::Grants(_))) => {
                picker.filter_text().is_empty() && lookup(Scope::Grants).is_some()
            }
            Some(Popup::List(picker, List::Background)) => {
                picker.filter_text().is_empty() && lookup(Scope::Background).is_some()
            }
            Some(Popup::Reader(_) | Popup::Help(_)) => {
                !page_search_input::is_searching(state)
                    && active_scopes(state).into_iter().any(|scope| lookup(scope).is_some())
            }
            Some(Popup::Links(_)) => true,
            Some(
                Popup::List(..) | Popup::ApiKey(_) | Popup::Credential(_) | Popup::RuleEdit(_) | Popup::ProjectCopy(_),
            )
            | None => false,
        },
        Focus::Search => false,
        Focus::Transcript => lookup(Scope::Transcript).is_some(),
        Focus::Prompt => {
            let is_listening = state.prompt_listening() == Some(Listening::Ready) && !state.is_typing_in_prompt();
            state.prompts.front().is_some_and(|prompt| {
                let is_row = prompt.is_question() && matches!(key.code, KeyCode::Char('1'..='9'));
                is_listening && (lookup(prompt.scope()).is_some() || is_row)
            })
        }
        Focus::Composer => {
            let is_empty = state.input.composer.is_empty() && state.prompts.front().is_none();
            is_empty && lookup(Scope::Composer) == Some(Action::HelpWhenEmpty)
        }
    }
}
