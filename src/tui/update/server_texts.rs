//! Resources and prompts of MCP servers: completing them, and prompts as commands (`/SERVER:PROMPT`), whose text becomes the
//! draft and is never sent automatically.

use super::custom_commands;
use crate::chat::ServerOffer;
use crate::chat::server_offer::OfferedPrompt;
use crate::tui::host::HostRequest;
use crate::tui::parts::completion::{Candidate, Kind};
use crate::tui::state::State;
use std::time::Duration;

/// Time after text was inserted during which Enter does not send it.
const UNREAD_TIME: Duration = Duration::from_millis(500);

/// Requests the resources and prompts once for each word that is completed with them.
pub(super) fn request_offers(state: &mut State, word: Option<Kind>) {
    let needs_offers = matches!(word, Some(Kind::File | Kind::Command));
    let has_requested_offers = std::mem::replace(&mut state.input.has_requested_offers, needs_offers);
    if needs_offers && !has_requested_offers {
        state.input.custom_commands.is_loading = true;
        state.send_request(HostRequest::ListOffers);
    }
}

/// Completes these resources and prompts from now on.
pub fn set_offers(state: &mut State, offers: Vec<(String, ServerOffer)>) {
    if offers == state.input.server_offers {
        return;
    }
    let resource = |server: &str, uri: &str, title: &str| Candidate::new(&format!("{server}:{uri}"), title);
    let resources = offers.iter().flat_map(|(server, offer)| {
        offer.resources.iter().map(move |offered| resource(server, &offered.uri, &offered.title))
    });
    state.input.completion.set_resources(resources.collect());
    state.input.server_offers = offers;
    custom_commands::update_candidates(state);
}

/// Returns the row of a prompt in the list of commands.
pub(super) fn prompt_candidate(server: &str, prompt: &OfferedPrompt) -> Candidate {
    let parts = [prompt.title.clone(), prompt.describe_arguments()];
    let description = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    Candidate::new(&format!("{server}:{}", prompt.name), &description)
}

/// Runs a draft that is a prompt of a server. Returns false if it is none.
pub fn run_server_prompt(state: &mut State, draft: &str) -> bool {
    let Some(line) = draft.strip_prefix('/').filter(|line| !line.contains('\n')) else { return false };
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let Some((server, prompt_name)) = name.split_once(':') else { return false };
    let Some((_, offer)) = state.input.server_offers.iter().find(|(known, _)| known == server) else { return false };
    let prompt = offer.prompts.iter().find(|prompt| prompt.name == prompt_name);
    let parsed = match prompt {
        None => Err(format!("MCP server {server} has no prompt {prompt_name}")),
        Some(_) if state.agent.is_dry_run() => Err("A dry run gets no prompts of MCP servers".to_owned()),
        Some(prompt) => prompt.parse_arguments(arguments),
    };
    match parsed {
        Err(reason) => state.show_info(&reason),
        Ok(arguments) => {
            let (server, prompt) = (server.to_owned(), prompt_name.to_owned());
            state.input.composer.take_text();
            state.show_info(&format!("Getting {server}:{prompt}"));
            let draft = draft.to_owned();
            state.send_request(HostRequest::GetServerPrompt { draft, server, prompt, arguments });
        }
    }
    true
}

/// Appends the text of a prompt to the draft. If there is none, an empty composer gets the command back.
pub fn insert_prompt(state: &mut State, command: &str, server: &str, result: Result<String, String>) {
    let text = match result {
        Err(reason) => {
            if state.input.composer.text().is_empty() {
                state.input.composer.set(command);
            }
            return state.show_warning(&reason);
        }
        Ok(text) if text.trim().is_empty() => {
            return state.show_info(&format!("The prompt of MCP server {server} is empty"));
        }
        Ok(text) => text,
    };
    // The text must neither run as a command nor name a resource or a picture that the user did not choose.
    let text = separate_signs(text.trim());
    let text = if text.starts_with(['/', '!', '\\']) { format!("Prompt: {text}") } else { text };
    let draft = state.input.composer.text();
    let draft = if draft.is_empty() { text } else { format!("{draft}\n\n{text}") };
    state.input.composer.set(&draft);
    state.input.inserted_at = Some(state.timing.now);
    state.show_info(&format!("From MCP server {server}, not sent yet: read it first"));
}

/// Puts a blank after each `@` at the beginning of a word.
fn separate_signs(text: &str) -> String {
    let mut separated = String::with_capacity(text.len());
    for c in text.chars() {
        let is_word_start = !separated.ends_with(|previous: char| previous.is_alphanumeric());
        separated.push(c);
        if c == '@' && is_word_start {
            separated.push(' ');
        }
    }
    separated
}

/// Returns whether text of a server was inserted so recently that the user cannot have read it.
pub fn has_unread_text(state: &State) -> bool {
    state.input.inserted_at.is_some_and(|inserted_at| state.timing.now.saturating_sub(inserted_at) < UNREAD_TIME)
}
