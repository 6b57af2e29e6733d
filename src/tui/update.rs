//! Applies events to the screen's state. This module routes each event; its submodules handle them.

mod actions;
mod agent_events;
mod audit_list;
mod background_list;
mod call_reason;
mod clipboard_copy;
mod clipboard_requests;
mod composer_input;
mod confirmation_keys;
mod custom_commands;
mod file_list;
mod grant_list;
mod help_lists;
mod host_replies;
mod instructions_draft;
mod key_dispatch;
mod key_explanations;
mod link_hints;
mod message_attachments;
mod mode_list;
mod model_list;
mod mouse;
mod page_search_input;
mod pasted_files;
mod popup_input;
mod popup_stack;
mod press_hints;
mod project_copies;
mod prompt_keys;
mod provider_list;
pub mod rehearsal_list;
mod rewind_list;
mod rule_edits;
mod sampling_decision;
mod search_input;
mod server_list;
mod server_texts;
mod session_exit;
mod session_list;
mod shown_keys;
pub mod slash_commands;
mod theme_list;
mod transcript_change;
mod trust_decision;
mod used_files;
mod user_commands;
mod user_messages;

use super::effect::Effect;
use super::event::Event;
use super::parts::toast::Kind;
use super::parts::transcript::layout_cache::LayoutCache;
use super::popup::{PickedAction, Popup};
use super::prompts::prompt::DrawnPrompt;
use super::state::State;
use std::time::Duration;

/// Applies one event to the state and returns the effects to run. The cache only saves work: with an empty cache the
/// resulting state is the same.
pub fn update(state: &mut State, cache: &mut LayoutCache, event: Event) -> Vec<Effect> {
    let is_user_input = is_input(&event);
    let draft_before = state.prompts.has_keyboard.then(|| state.input.composer.text());
    match event {
        Event::Tick(now) => {
            advance_clock(state, now);
            prompt_keys::run_due_command(state);
            if state.session.saving.take_due(now) {
                state.push_effect(Effect::Save);
            }
        }
        Event::Key(key) => key_dispatch::handle_key_event(state, cache, key),
        Event::Pasted(text) => {
            if state.input.held_key.is_some() {
                key_dispatch::handle_fast_input(state, cache);
            }
            composer_input::handle_paste(state, cache, &text);
        }
        Event::TypedEarly(text) => composer_input::insert_early_input(state, &text),
        Event::TerminalClipboard(content) => pasted_files::take_terminal_clipboard(state, content),
        Event::TooFast => key_dispatch::handle_fast_input(state, cache),
        Event::InputIdle => key_dispatch::release_held_key(state, cache),
        Event::Mouse(event) => mouse::handle_mouse(state, cache, event),
        Event::Focused(has_focus) => {
            state.viewport.has_focus = has_focus;
            // A key typed for another window must not answer a prompt.
            if has_focus {
                state.input.recent_keys.record_other_press(state.timing.now);
                // The user may come back from a program with a file of the workspace, or one that changed others.
                file_list::store_changed_copies(state);
                state.lookups.request_repeat();
            }
        }
        Event::Resized(width, height) => transcript_change::resize_screen(state, cache, (width, height)),
        Event::Agent(event) => agent_events::handle_agent_event(state, event),
        Event::Host(reply) => host_replies::handle_host_reply(state, cache, reply),
        Event::Edited(text) => {
            if !state.prompts.front_mut().is_some_and(|prompt| prompt.apply_editor_text(&text)) {
                state.input.composer.set(&text);
            }
        }
        Event::Saved(unsaved) => session_exit::handle_save_result(state, unsaved),
        Event::Notice(text) => state.show_warning(&text),
        // The event loop ends the program on this event.
        Event::TerminalLost => {}
    }
    // The draft was edited, so the next letter belongs to it and must not answer.
    if draft_before.is_some_and(|text| text != state.input.composer.text()) {
        state.prompts.has_keyboard = false;
    }
    composer_input::follow_draft(state);
    state.viewport.transcript.sync_selected_call(&state.agent);
    background_list::refresh_background(state);
    file_list::check_for_changes(state);
    agent_events::sync_prompt_and_title(state);
    press_hints::remove_outdated_hints(state);
    transcript_change::measure_transcript(state, cache);
    state.save_unsent_if_due(is_user_input);
    state.take_effects()
}

/// Ends the running turn before another session is shown. Returns the effects to run.
pub fn interrupt_turn(state: &mut State) -> Vec<Effect> {
    session_exit::interrupt_turn(state);
    state.take_effects()
}

/// Saves the draft and ends the running turn before the program exits. Returns the effects to run.
pub fn prepare_exit(state: &mut State) -> Vec<Effect> {
    session_exit::prepare_exit(state);
    state.take_effects()
}

/// Returns whether the event is input of the user.
fn is_input(event: &Event) -> bool {
    matches!(
        event,
        Event::Key(_)
            | Event::Pasted(_)
            | Event::TypedEarly(_)
            | Event::TooFast
            | Event::InputIdle
            | Event::Mouse(_)
            | Event::Edited(_)
    )
}

/// Records that a frame was drawn at `now`; the part of a prompt that it showed counts as seen.
///
/// Returns whether the next frame differs because of that.
pub fn record_frame(state: &mut State, now: Duration, drawn_prompt: Option<DrawnPrompt>) -> bool {
    // What became due while the frame was drawn is not on it, and no timer is left that would draw it.
    advance_clock(state, now);
    let is_outdated = std::mem::take(&mut state.timing.is_changed_by_time);
    if let Some(Popup::Confirmation(confirmation, _)) = state.viewport.popups.last_mut() {
        return confirmation.record_frame(now) || is_outdated;
    }
    let (Some(prompt), Some(frame)) = (state.prompts.front_mut(), drawn_prompt) else { return is_outdated };
    let first_drawn_before = prompt.first_drawn();
    prompt.record_frame(now, frame);
    first_drawn_before != prompt.first_drawn() || is_outdated
}

/// Applies the options of the command line: the first message, rehearsed calls to approve, or the session list. Returns
/// the effects to run.
pub fn apply_start_options(
    state: &mut State,
    first_message: String,
    apply_request: Option<crate::agent::ApplyRequest>,
    session_picker: Option<PickedAction>,
) -> Vec<Effect> {
    let shows_welcome = first_message.is_empty() && apply_request.is_none() && state.agent.session.entries().is_empty();
    if !shows_welcome {
        // The welcome screen shows warnings itself.
        for warning in state.notices.warnings.clone() {
            state.notices.toasts.push(Kind::Warning, &warning.text, state.timing.now);
        }
    }
    if let Some(action) = session_picker {
        session_list::open_session_list(state, action);
    }
    if let Some(request) = apply_request {
        agent_events::handle_agent_event(state, crate::agent::Event::ApplyRequested(request));
    }
    trust_decision::check_project_files(state, first_message);
    agent_events::sync_prompt_and_title(state);
    state.take_effects()
}

fn advance_clock(state: &mut State, now: Duration) {
    let is_due = state.next_change().is_some_and(|time| time <= now);
    state.timing.now = now;
    state.timing.is_changed_by_time |= is_due | state.notices.toasts.remove_expired(now);
}
