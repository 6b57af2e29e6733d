//! Choosing a provider: a server found on this machine, or an API key that the user enters; and connecting the credentials
//! of tools.

use super::popup_stack;
use crate::tui::host::{HostRequest, ListedCredential, ListedState, LocalServer};
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::listening::TOO_SOON_AFTER_PASTE;
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::parts::secret_field::SecretField;
use crate::tui::parts::text_field::KeyResult;
use crate::tui::popup::{List, Popup, ProviderChoice};
use crate::tui::prompts::credential_entry::CredentialEntry;
use crate::tui::state::State;
use crossterm::event::{KeyEvent, KeyEventKind};
use std::mem::take;

/// Opens the list and looks for local servers again, because one may have been started since the last time.
pub fn open_provider_list(state: &mut State) {
    let choices = list_providers(state);
    let save_key = state.keys.first_chord(Scope::List, Action::AcceptAndSave);
    let picker = Picker::new("Providers and credentials", "", provider_rows(&choices)).with_save_key(save_key);
    state.viewport.popups.push(Popup::List(picker, List::Connect(choices)));
    state.send_request(HostRequest::FindLocalServers);
    state.send_request(HostRequest::ListCredentials);
}

/// Shows the local servers that were found.
pub fn set_local_servers(state: &mut State, servers: Vec<LocalServer>) {
    state.local_servers = servers;
    refresh_list(state);
}

/// Shows the credentials that tools name.
pub fn set_credentials(state: &mut State, credentials: Vec<ListedCredential>) {
    state.credentials = credentials;
    refresh_list(state);
}

fn refresh_list(state: &mut State) {
    let new_choices = list_providers(state);
    if let Some(Popup::List(picker, List::Connect(choices))) = state.viewport.popups.last_mut() {
        picker.set_rows(provider_rows(&new_choices));
        *choices = new_choices;
    }
}

/// Applies the choice in a row.
pub fn pick_provider(state: &mut State, choice: ProviderChoice, save: bool) {
    match choice {
        ProviderChoice::KeepCurrent => {}
        ProviderChoice::EnterKey => state.viewport.popups.push(Popup::ApiKey(SecretField::default())),
        ProviderChoice::Credential(credential) => pick_credential(state, credential),
        ProviderChoice::Server(server) => {
            let save_request = HostRequest::SaveModel {
                profile: String::new(),
                address: server.address.clone(),
                model: server.models.first().cloned().unwrap_or_default(),
            };
            if switch_provider(state, HostRequest::UseLocalServer(server)) && save {
                state.send_request(save_request);
            }
        }
    }
}

/// Connects a credential that is missing, or says what its state is.
fn pick_credential(state: &mut State, ListedCredential { name, origins, state: credential_state }: ListedCredential) {
    match credential_state {
        // At once, so that no key of the secret gets into the composer.
        ListedState::Missing => state.viewport.popups.push(Popup::Credential(CredentialEntry::new(name, origins))),
        ListedState::Connected => show_connected(state, &name),
        ListedState::Unusable(problem) => state.show_warning(&format!("{name} cannot be used: {problem}")),
    }
}

/// Says that a credential is connected. One text for all occasions, so that no second toast says it again.
pub fn show_connected(state: &mut State, name: &str) {
    state.show_info(&format!("{name} is connected · aye credentials rotate {name} replaces its secret"));
}

/// Handles a key in the line for the API key.
pub fn handle_api_key_input(state: &mut State, result: KeyResult, kind: KeyEventKind) {
    match result {
        KeyResult::Cancelled => popup_stack::close_popup(state),
        // The repeats of a held Enter accept nothing.
        KeyResult::Accepted if kind == KeyEventKind::Press => {
            let api_key = match state.viewport.popups.last() {
                Some(Popup::ApiKey(field)) => field.secret().to_owned(),
                Some(_) | None => String::new(),
            };
            popup_stack::close_popup(state);
            if !api_key.is_empty() {
                switch_provider(state, HostRequest::SaveKey(api_key));
            }
        }
        KeyResult::Accepted | KeyResult::PassedOn | KeyResult::Handled | KeyResult::Changed => {}
    }
}

/// Handles a key in the popup for the secret of a credential.
pub fn handle_credential_key(state: &mut State, key: &KeyEvent) {
    let now = state.timing.now;
    let Some(Popup::Credential(entry)) = state.viewport.popups.last_mut() else { return };
    let request = match entry.field.handle_key(key, &state.keys) {
        KeyResult::Cancelled => None,
        // The repeats of a held Enter accept nothing.
        KeyResult::Accepted if key.kind != KeyEventKind::Press => return,
        // The rest of the paste would go to the composer, which shows it.
        KeyResult::Accepted if state.input.recent_keys.may_be_pasting(now) => {
            return entry.show_problem(TOO_SOON_AFTER_PASTE);
        }
        KeyResult::Accepted => match entry.field.parse_secret() {
            Ok(secret) => {
                let (name, origins) = (take(&mut entry.name), take(&mut entry.origins));
                Some(HostRequest::ConnectCredential { name, origins, secret })
            }
            Err(problem) => return entry.show_problem(&problem),
        },
        KeyResult::Changed => return entry.problem.clear(),
        KeyResult::PassedOn => {
            if let Some(action) = state.keys.lookup(Scope::Page, key) {
                entry.scroll_by(action);
            }
            return;
        }
        KeyResult::Handled => return,
    };
    popup_stack::close_popup(state);
    // The repeats of a held key must not send a draft or stop the turn.
    state.input.recent_keys.record_answer(Chord::from(key), now);
    if let Some(request) = request {
        state.send_request(request);
    }
}

/// Sends a request that switches the provider. Returns false if that is not possible now.
pub fn switch_provider(state: &mut State, request: HostRequest) -> bool {
    let can_switch = can_switch_provider(state);
    if can_switch {
        state.send_request(request);
    }
    can_switch
}

/// Returns whether the provider can be switched now, and explains why if not. A running turn has already sent its
/// request to the current one.
pub fn can_switch_provider(state: &mut State) -> bool {
    if !state.agent.is_idle() {
        state.show_warning("Cannot switch: a turn is running. Stop it first");
    }
    state.agent.is_idle()
}

/// Returns one choice per model of each server, then the API key, then the credentials of tools, then the tour if it is in
/// use.
fn list_providers(state: &State) -> Vec<ProviderChoice> {
    let mut choices = Vec::new();
    for server in &state.local_servers {
        if server.models.is_empty() {
            choices.push(ProviderChoice::Server(server.clone()));
        }
        for model in &server.models {
            choices.push(ProviderChoice::Server(LocalServer { models: vec![model.clone()], ..server.clone() }));
        }
    }
    choices.push(ProviderChoice::EnterKey);
    choices.extend(state.credentials.iter().cloned().map(ProviderChoice::Credential));
    if state.session.connection.is_tour {
        choices.push(ProviderChoice::KeepCurrent);
    }
    choices
}

fn provider_rows(choices: &[ProviderChoice]) -> Vec<Row> {
    let build_row = |choice: &ProviderChoice| match choice {
        ProviderChoice::Server(server) => {
            let model = server.models.first().map_or("default model", String::as_str);
            Row::new(model)
                .with_secondary(&format!("{}, on this machine", server.name))
                .with_detail(server.address.trim_start_matches("http://").trim_end_matches("/v1"))
                .with_key(format!("{} {model}", server.address))
        }
        ProviderChoice::EnterKey => {
            Row::new("Enter an API key…").with_secondary("for OpenAI or the provider in your settings")
        }
        ProviderChoice::Credential(ListedCredential { name, origins, state }) => {
            let state = match state {
                ListedState::Connected => "connected",
                ListedState::Missing => "missing",
                ListedState::Unusable(_) => "cannot be used",
            };
            Row::new(&format!("Credential {name}"))
                .with_secondary(&format!("{state} · sent only to {}", origins.join(", ")))
                .with_key(format!("credential {name}"))
        }
        ProviderChoice::KeepCurrent => Row::new("Tour").with_secondary("scripted replies, no model; no setup needed"),
    };
    choices.iter().map(build_row).collect()
}
