//! Sends user messages and takes queued ones back.

use super::{agent_events, file_list};
use crate::agent::Event;
use crate::chat::attachments::own_text;
use crate::chat::image;
use crate::chat::user_command::escape_message;
use crate::tui::host::HostRequest;
use crate::tui::state::State;

/// Sends a user message.
pub fn send_message(state: &mut State, text: String) {
    // The history holds drafts: one that begins with `!` would be a command.
    let draft = escape_message(own_text(&text));
    state.input.composer.remember(&draft);
    if !state.session.connection.accepts_images
        && !state.session.connection.is_tour
        && !image::find_images(&text).is_empty()
    {
        let notice = "Only the picture's name is sent: the profile does not set images = true";
        state.show_warning(notice);
    }
    state.notices.toasts.remove_draft_toasts(state.timing.now);
    state.viewport.transcript.follow_end();
    file_list::store_changed_copies(state);
    agent_events::handle_agent_event(state, Event::UserMessage(text));
    state.send_request(HostRequest::AddToHistory(draft));
}

/// Returns whether a turn ended and messages typed during it still wait in the queue.
pub fn has_unsent_queue(state: &State) -> bool {
    state.agent.is_idle() && !state.agent.queued_messages.is_empty() && state.prompts.current.is_none()
}

/// Moves queued messages back into the composer, before the draft.
pub fn take_back_queue(state: &mut State) {
    if state.agent.queued_messages.is_empty() {
        return;
    }
    let messages: Vec<&str> = state.agent.queued_messages.iter().map(|message| own_text(message)).collect();
    let mut text = escape_message(&messages.join("\n\n"));
    if !state.input.composer.is_empty() {
        text.push_str("\n\n");
        text.push_str(&state.input.composer.text());
    }
    state.input.composer.set(&text);
    agent_events::handle_agent_event(state, Event::QueuedMessagesWithdrawn)
}
