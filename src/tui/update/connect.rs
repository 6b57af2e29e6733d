//! Choosing a provider: a server found on this machine, or an API key that the user enters.

use super::overlay;
use crate::tui::effect::Effect;
use crate::tui::host::{LocalServer, Wish};
use crate::tui::keys::{Action, Scope};
use crate::tui::overlay::{Choice, Overlay};
use crate::tui::parts::line::{Line, Reply};
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::parts::toast::Kind;
use crate::tui::state::State;
use crossterm::event::KeyEventKind;

/// Opens the list and looks for local servers again: one may have been started since.
pub fn open(state: &mut State) -> Vec<Effect> {
    let choices = choices(state);
    let keep = state.keys.hint(Scope::List, Action::Keep);
    let picker = Picker::new("Providers", "", rows(&choices)).keeping(keep);
    state.overlays.push(Overlay::Connect(picker, choices));
    vec![Effect::Ask(Wish::LookForLocal)]
}

/// Shows the local servers that were found.
pub fn found(state: &mut State, servers: Vec<LocalServer>) {
    state.local = servers;
    let now = choices(state);
    if let Some(Overlay::Connect(picker, choices)) = state.overlays.last_mut() {
        picker.set_rows(rows(&now));
        *choices = now;
    }
}

/// Applies the choice in a row.
pub fn take(state: &mut State, choice: Choice, keep: bool) -> Vec<Effect> {
    match choice {
        Choice::Stay => Vec::new(),
        Choice::EnterKey => {
            state.overlays.push(Overlay::Key(Line::default()));
            Vec::new()
        }
        Choice::Server(server) => {
            let kept = Wish::KeepModel {
                profile: String::new(),
                address: server.address.clone(),
                model: server.models.first().cloned().unwrap_or_default(),
            };
            let mut effects = switch(state, Wish::UseLocal(server));
            if keep && !effects.is_empty() {
                effects.push(Effect::Ask(kept));
            }
            effects
        }
    }
}

/// Handles a key in the line for the API key.
pub fn entered(state: &mut State, did: Reply, kind: KeyEventKind) -> Vec<Effect> {
    match did {
        Reply::Closed => overlay::close(state),
        Reply::Accepted if kind == KeyEventKind::Press => {
            let entered = match state.overlays.last() {
                Some(Overlay::Key(line)) => line.text().trim().to_owned(),
                Some(_) | None => String::new(),
            };
            let mut effects = overlay::close(state);
            if !entered.is_empty() {
                effects.extend(switch(state, Wish::KeepKey(entered)));
            }
            effects
        }
        Reply::Accepted | Reply::Passed | Reply::Moved | Reply::Changed => Vec::new(),
    }
}

/// Switches the provider. This is possible only between turns: a running turn has already sent its request.
pub fn switch(state: &mut State, wish: Wish) -> Vec<Effect> {
    if !state.agent.is_idle() {
        state.notice("Cannot switch: a turn is running. Stop it first", Kind::Warning);
        return Vec::new();
    }
    vec![Effect::Ask(wish)]
}

/// Returns one choice per model of each server, then the API key, then the tour if it is in use.
fn choices(state: &State) -> Vec<Choice> {
    let mut choices = Vec::new();
    for server in &state.local {
        if server.models.is_empty() {
            choices.push(Choice::Server(server.clone()));
        }
        for model in &server.models {
            choices.push(Choice::Server(LocalServer { models: vec![model.clone()], ..server.clone() }));
        }
    }
    choices.push(Choice::EnterKey);
    if state.connection.tour {
        choices.push(Choice::Stay);
    }
    choices
}

fn rows(choices: &[Choice]) -> Vec<Row> {
    let row = |choice: &Choice| match choice {
        Choice::Server(server) => {
            let model = server.models.first().map_or("default model", String::as_str);
            Row::new(model)
                .more(&format!("{}, on this machine", server.name))
                .detail(server.address.trim_start_matches("http://").trim_end_matches("/v1"))
                .key(format!("{} {model}", server.address))
        }
        Choice::EnterKey => Row::new("Enter an API key…").more("for OpenAI or the provider in your settings"),
        Choice::Stay => Row::new("Tour").more("scripted replies, no model; no setup needed"),
    };
    choices.iter().map(row).collect()
}
