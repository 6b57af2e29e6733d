//! Files (`@PATH`) and resources of MCP servers (`@SERVER:URI`) in a message. They are read when the message is sent.

use super::user_messages;
use crate::chat::ServerOffer;
use crate::chat::attachments::{MAX_RESOURCES, max_file_bytes};
use crate::chat::image::is_image_path;
use crate::chat::mention::find_mentions;
use crate::chat::user_command::unescape_message;
use crate::text::word_edges::{is_closing_sign, is_opening_sign};
use crate::tui::host::HostRequest;
use crate::tui::state::State;

/// Returns whether a message names what may be attached as text.
pub fn names_attachment(state: &State, message: &str) -> bool {
    // Pictures are read with each request.
    find_mentions(message).iter().any(|mention| mention.lines.is_some() || !is_image_path(mention.name))
        || !find_resources(&state.input.server_offers, message).is_empty()
}

/// Starts reading what a draft names. Returns false if it names nothing that is attached as text.
pub fn attach_mentioned(state: &mut State, draft: &str) -> bool {
    let message = unescape_message(draft);
    if !names_attachment(state, message) {
        return false;
    }
    let resources = find_resources(&state.input.server_offers, message);
    if resources.len() > MAX_RESOURCES {
        state.show_info(&format!("Not sent: a message takes at most {MAX_RESOURCES} resources"));
    } else if state.agent.is_dry_run() && !resources.is_empty() {
        state.show_info("Not sent: a dry run reads no resources of MCP servers");
    } else if state.input.message_to_attach.as_deref() == Some(draft) {
        state.show_info("Still reading what the message names");
    } else {
        if let Some((server, uri)) = resources.first() {
            state.show_info(&format!("Reading {server}:{uri}"));
        }
        state.input.message_to_attach = Some(draft.to_owned());
        let max_bytes = max_file_bytes(state.agent.context_usage().context_window);
        state.send_request(HostRequest::AttachToMessage { message: draft.to_owned(), resources, max_bytes });
    }
    true
}

/// Returns the resources named in a message as `@SERVER:URI`, each once. Any address is taken, not only those that are
/// offered.
fn find_resources(offers: &[(String, ServerOffer)], message: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for word in message.split_whitespace() {
        let Some(name) = word.trim_start_matches(is_opening_sign).strip_prefix('@') else { continue };
        let Some((server, uri)) = name.split_once(':') else { continue };
        let Some((_, offer)) = offers.iter().find(|(known, _)| known == server) else { continue };
        let is_offered = offer.resources.iter().any(|resource| resource.uri == uri);
        let uri = if is_offered { uri } else { uri.trim_end_matches(is_closing_sign) };
        let resource = (server.to_owned(), uri.to_owned());
        if !resource.1.is_empty() && !found.contains(&resource) {
            found.push(resource);
        }
    }
    found
}

/// Sends a message with its attachments. It stays the draft if one could not be read or if it was changed meanwhile.
pub fn send_attached(state: &mut State, message: &str, result: Result<String, String>) {
    if state.input.message_to_attach.as_deref() != Some(message) {
        return;
    }
    state.input.message_to_attach = None;
    match result {
        Err(reason) => state.show_warning(&format!("{reason} The message was not sent.")),
        Ok(_) if state.input.composer.text() != message => {
            state.show_info("Not sent: the draft changed while what it names was read")
        }
        Ok(_) if state.prompts.current.is_some() => state.show_info("Not sent: answer the prompt first"),
        Ok(text) => {
            state.input.composer.take_text();
            state.input.recent_keys.send_key.record_send(state.timing.now);
            user_messages::send_message(state, unescape_message(&text).to_owned());
        }
    }
}
