//! Text input: keys and pastes for the composer, completion, and sending.

use super::custom_commands::Expansion;
use super::key_explanations::set_prompt_message;
use super::{
    actions, agent_events, custom_commands, message_attachments, pasted_files, popup_input, search_input, server_texts,
    session_exit, slash_commands, used_files, user_commands, user_messages,
};
use crate::agent::Event;
use crate::chat::user_command::unescape_message;
use crate::config::problem::find_nearest;
use crate::text::escape_sequences;
use crate::text::hidden_chars::remove_hidden;
use crate::tui::effect::Effect;
use crate::tui::host::HostRequest;
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::completion::{self, Kind};
use crate::tui::parts::composer::KeyResult;
use crate::tui::parts::toast;
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::state::State;
use crossterm::event::KeyEvent;

/// Handles a key for the composer. A key it does not use has its global meaning.
pub fn handle_composer_key(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) {
    let completion_key = match state.input.composer.is_searching() {
        // While searching the history, keys belong to the search, even if a word could be completed.
        true => completion::KeyResult::PassedOn,
        false => state.input.completion.handle_key(&key, &state.keys),
    };
    match completion_key {
        completion::KeyResult::Handled => return,
        completion::KeyResult::Replace(range, text) => {
            state.input.composer.replace(range, &text);
            return update_completion(state);
        }
        completion::KeyResult::PassedOn => {}
    }
    match state.input.composer.handle_key(&key, &state.keys) {
        KeyResult::Handled => state.viewport.transcript.clear_selection(),
        KeyResult::Send => send_draft(state, cache),
        KeyResult::PassedOn => match state.keys.lookup(Scope::Composer, &key) {
            Some(Action::DeleteOrQuit) => session_exit::quit(state),
            Some(
                action @ (Action::HelpWhenEmpty
                | Action::OpenEditor
                | Action::ChangeMode
                | Action::EditQueued
                | Action::PastePicture),
            ) => actions::run_action(state, cache, action),
            Some(Action::Send) if user_commands::can_attach(state) => state.push_effect(Effect::AttachTerminal),
            Some(Action::Send) if user_messages::has_unsent_queue(state) => {
                state.viewport.transcript.follow_end();
                // An empty message sends the queued ones.
                state.input.recent_keys.send_key.record_send(state.timing.now);
                agent_events::handle_agent_event(state, Event::UserMessage(String::new()))
            }
            Some(_) | None => actions::handle_global_key(state, cache, key),
        },
    }
    update_completion(state);
}

/// Handles pasted text, which is never an answer.
pub fn handle_paste(state: &mut State, cache: &mut LayoutCache, text: &str) {
    if !state.viewport.popups.is_empty() {
        return popup_input::paste_into_popup(state, cache, text);
    }
    if state.viewport.transcript.search.is_some() {
        return search_input::paste_search_text(state, cache, text);
    }
    let is_for_prompt = state.is_typing_in_prompt();
    if is_for_prompt && state.prompts.front_mut().is_some_and(|prompt| prompt.insert_paste(text)) {
        return;
    }
    state.input.recent_keys.record_other_press(state.timing.now);
    pasted_files::paste_text(state, text);
    state.viewport.transcript.clear_selection();
    update_completion(state)
}

/// Inserts text typed before the first frame. An Enter in it sends nothing, because the user could not see the draft
/// and the model it would go to. A leading Enter is dropped.
pub fn insert_early_input(state: &mut State, text: &str) {
    let text = if state.input.composer.is_empty() { text.trim_start_matches('\n') } else { text };
    if text.is_empty() {
        return;
    }
    state.input.recent_keys.record_other_press(state.timing.now);
    state.input.composer.insert(&remove_hidden(&escape_sequences::strip_controls(text)));
    if text.contains('\n') {
        let send_key = state.keys.first_chord(Scope::Composer, Action::Send);
        let notice = format!("Typed before the screen was ready, not sent yet · {send_key} to send");
        state.show_notice(&notice, toast::Kind::Draft);
    }
    update_completion(state)
}

/// Updates the completion for the text at the cursor. The project's files are requested once for each word that is
/// completed with them.
pub fn update_completion(state: &mut State) {
    // `@` and other signs have another meaning in a shell.
    let (text, cursor) = match state.input.composer.is_command() {
        true => (String::new(), 0),
        false => state.input.composer.folded_text(),
    };
    let word = state.input.completion.update_word(&text, cursor);
    match word {
        Some(Kind::File) if !state.input.has_requested_files => {
            state.input.has_requested_files = true;
            let used = used_files::list_used_files(&state.agent.session);
            state.send_request(HostRequest::ListFiles { used });
        }
        Some(_) => {}
        // Files come and go, so they are requested again for the next word.
        None => state.input.has_requested_files = false,
    }
    request_filter(state);
    server_texts::request_offers(state, word);
}

/// Updates the completion after any change of the draft, so that its list closes once the word is gone.
pub fn follow_draft(state: &mut State) {
    if state.input.completion.has_word() {
        update_completion(state);
    }
}

/// Starts the filter of many files, if what is typed needs one.
pub fn request_filter(state: &mut State) {
    if let Some(request) = state.input.completion.take_filter_request() {
        state.send_request(HostRequest::FilterFiles(request));
    }
}

pub(super) fn send_draft(state: &mut State, cache: &mut LayoutCache) {
    let text = state.input.composer.text();
    if let Some((command, arguments)) = slash_commands::parse(text.trim()) {
        let arguments = arguments.to_owned();
        state.input.composer.take_text();
        return slash_commands::run_command(command, state, cache, &arguments);
    }
    if server_texts::has_unread_text(state) {
        return state.show_notice("Not sent: the text of the server has just appeared", toast::Kind::Draft);
    }
    if server_texts::run_server_prompt(state, text.trim()) {
        return;
    }
    let expansion = custom_commands::expand_draft(state);
    if expansion == Expansion::NotSent {
        return;
    }
    let text = state.input.composer.text();
    if expansion == Expansion::Unchanged
        && let Some(name) = slash_commands::find_unknown_name(&text)
    {
        if state.input.custom_commands.files.untrusted.iter().any(|untrusted| untrusted == name) {
            let notice =
                format!("Not sent: you do not trust /{name}, a command of this project. Review it with /trust");
            return state.show_notice(&notice, toast::Kind::Draft);
        }
        let nearest = find_nearest(name, state.commands.iter().flat_map(|row| row.names).copied());
        let suggestion = nearest.map(|nearest| format!(" (did you mean /{nearest}?)")).unwrap_or_default();
        let notice = format!("Unknown command /{name}{suggestion}. Start with a space to send it as a message");
        return state.show_notice(&notice, toast::Kind::Draft);
    }
    if state.prompts.front().is_some() {
        let key = state.keys.first_chord(Scope::Composer, Action::SwitchFocus);
        // Shown in the prompt, because a low screen has no row for a toast above the prompt.
        set_prompt_message(state, format!("Not sent: answer the prompt first · {key} to answer"));
        return;
    }
    // A question that the user parked is not in front, but it still blocks the message.
    if state.prompts.current.is_some() {
        let key = state.keys.first_chord(Scope::Anywhere, Action::OpenQuestion);
        let notice = format!("Not sent: answer the question first · {key} to answer");
        return state.show_notice(&notice, toast::Kind::Draft);
    }
    if state.input.composer.is_command() {
        return user_commands::run_draft(state);
    }
    if message_attachments::attach_mentioned(state, &text) {
        // The draft stays until what it names is read.
        return state.input.completion.dismiss();
    }
    state.input.composer.take_text();
    state.input.recent_keys.send_key.record_send(state.timing.now);
    user_messages::send_message(state, unescape_message(&text).to_owned())
}
