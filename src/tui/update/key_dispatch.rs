//! Routes a key press to the part of the screen with the focus. A key that is not used there has its global meaning.

use super::actions::{handle_global_key, open_selected_entry, run_transcript_action, stop_or_quit};
use super::{
    background_list, call_reason, composer_input, key_explanations, popup_input, prompt_keys, search_input, shown_keys,
};
use crate::tui::focus::{Focus, current_focus};
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::listening::{Listening, Press};
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::state::State;
use crate::tui::view::layout;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

/// Handles a press, repeat or release of a key.
pub fn handle_key_event(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) {
    if key.kind == KeyEventKind::Release {
        state.input.recent_keys.send_key.record_release(Chord::from(&key));
        return;
    }
    let toasts = layout::toast_area(state);
    state.notices.toasts.dismiss_read_errors(toasts, state.timing.now);
    state.prompts.key_message.clear();
    // The key that stops the turn or quits works in every state.
    if state.keys.lookup(Scope::Anywhere, &key) == Some(Action::StopOrQuit) {
        state.input.held_key = None;
        shown_keys::show_key(state, &key);
        stop_or_quit(state);
        return;
    }
    let is_text = is_text_key(&key);
    match state.input.held_key.take() {
        // The held-back key and this one are the first characters of a paste, so neither is an answer.
        Some((held_key, _)) if is_text => write_held_key(state, cache, held_key),
        Some((held_key, _)) => dispatch_key(state, cache, held_key),
        None => {}
    }
    if state.input.recent_keys.is_repeat_of_answer(Chord::from(&key), state.timing.now) {
        key_explanations::explain_held_key(state, &key);
        return;
    }
    let is_typing = state.is_typing_in_prompt();
    let prompt_listens = current_focus(state) == Focus::Prompt && state.prompt_listening() == Some(Listening::Ready);
    let may_answer = prompt_listens && !is_typing && state.prompts.open_queue.is_none();
    let first_drawn = state.prompts.front().filter(|_| may_answer).and_then(|prompt| prompt.first_drawn());
    // The key that sent the last message may still be held when the prompt appears: its repeats must not answer.
    match state.input.recent_keys.send_key.classify_press(Chord::from(&key), first_drawn, state.timing.now) {
        Press::Deliberate => {}
        press @ (Press::Arms | Press::Held) => {
            key_explanations::explain_possibly_held_key(state, &key, press);
            return;
        }
    }
    // An answer is held back until it is known that no paste follows.
    if is_text && !is_typing && (prompt_listens || state.confirmation_listening() == Some(Listening::Ready)) {
        state.input.held_key = Some((key, state.timing.now));
        return;
    }
    dispatch_key(state, cache, key);
}

/// Handles input that arrives at the speed of a paste. A held-back key was the first character of the paste and is
/// written.
pub fn handle_fast_input(state: &mut State, cache: &mut LayoutCache) {
    state.input.recent_keys.record_fast_input(state.timing.now);
    if let Some((key, _)) = state.input.held_key.take() {
        write_held_key(state, cache, key);
    }
}

/// Writes a held-back key that turned out to be part of a paste; drops it while a popup is open.
fn write_held_key(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) {
    if state.viewport.popups.is_empty() {
        handle_key_outside_prompt(state, cache, key);
    } else {
        state.input.recent_keys.record_fast_input(state.timing.now);
    }
}

/// Routes the held-back key once its delay is over.
pub fn release_held_key(state: &mut State, cache: &mut LayoutCache) {
    if state.held_key_deadline().is_none_or(|deadline| state.timing.now < deadline) {
        return;
    }
    if let Some((key, _)) = state.input.held_key.take() {
        dispatch_key(state, cache, key);
    }
}

/// Returns whether the key could be a character of pasted text.
fn is_text_key(key: &KeyEvent) -> bool {
    Chord::from(key).typed_character().is_some() || matches!(key.code, KeyCode::Enter | KeyCode::Tab)
}

/// Routes a key to the focus.
fn dispatch_key(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) {
    shown_keys::show_key(state, &key);
    let focus = current_focus(state);
    if !matches!(focus, Focus::Prompt | Focus::Composer) && state.confirmation_listening().is_none() {
        // A key for a popup, the search or the transcript must not answer a prompt that gets the focus next. The
        // confirmation prompt records its own keys.
        state.input.recent_keys.record_other_press(state.timing.now);
    }
    match focus {
        Focus::Popup => popup_input::handle_popup_key(state, cache, key),
        Focus::Search => search_input::handle_search_key(state, cache, key),
        Focus::Transcript => match state.keys.lookup(Scope::Transcript, &key) {
            Some(Action::OpenFull) => open_selected_entry(state, cache),
            // The output of a running command is not shown in place.
            Some(Action::Toggle) if state.viewport.transcript.selected_call().is_some() => {
                open_selected_entry(state, cache);
            }
            Some(Action::MoveToBackground) => background_list::move_selected(state, Chord::from(&key)),
            Some(Action::ExplainCall) => call_reason::explain_selected_call(state, cache),
            Some(action) => run_transcript_action(state, cache, action),
            None => match Chord::from(&key).typed_character() {
                // Typed characters go to the text field of a prompt, otherwise to the composer.
                Some(_) => {
                    state.viewport.transcript.clear_selection();
                    if !(state.is_typing_in_prompt() && prompt_keys::handle_prompt_key(state, key)) {
                        composer_input::handle_composer_key(state, cache, key)
                    }
                }
                None => handle_global_key(state, cache, key),
            },
        },
        Focus::Prompt | Focus::Composer => {
            if !prompt_keys::handle_prompt_key(state, key) {
                // Classified first, because the composer may take the key into the draft.
                let rejection = key_explanations::classify_rejected_key(state, &key);
                handle_key_outside_prompt(state, cache, key);
                key_explanations::explain_rejected_key(state, &key, rejection);
            }
        }
    }
}

/// Handles a key that the prompt did not use. Unless it switches the focus, it restarts the delay after which an open
/// prompt accepts answers.
fn handle_key_outside_prompt(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) {
    let switches_focus = state.keys.lookup(Scope::Composer, &key) == Some(Action::SwitchFocus);
    if switches_focus && !state.input.completion.is_open() && state.prompts.front().is_some() {
        state.prompts.has_keyboard = !state.prompts.has_keyboard;
        return;
    }
    state.input.recent_keys.record_other_press(state.timing.now);
    composer_input::handle_composer_key(state, cache, key)
}
