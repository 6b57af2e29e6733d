//! Choosing a model: of the provider in use, of another profile, or by a name that no list contains.

use super::{agent_events, provider_list};
use crate::tui::host::{HostRequest, ModelList, ModelRow, Models, PendingConnection};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::picker::{IN_USE, Picker, Row};
use crate::tui::popup::{List, Popup};
use crate::tui::state::State;

/// Opens the list with the model in use; more rows follow once they are known. Without a provider there are no models,
/// so the provider list opens instead.
pub fn open_model_list(state: &mut State) {
    if state.session.connection.is_tour || state.session.connection.is_unconfigured {
        provider_list::open_provider_list(state);
        return;
    }
    let save_key = state.keys.first_chord(Scope::List, Action::AcceptAndSave);
    let picker = Picker::new("Models", "", Vec::new()).with_typed_choice("use").with_save_key(save_key);
    state.viewport.popups.push(Popup::List(picker, List::Models(Vec::new())));
    show_models(state, Models { listed: ModelList::Loading, other_models: Vec::new() });
    state.send_request(HostRequest::ListModels);
}

/// Shows the models that are known by now.
pub fn show_models(state: &mut State, models: Models) {
    let current = current_model(state).to_owned();
    let Some(Popup::List(picker, List::Models(shown_rows))) = state.viewport.popups.last_mut() else { return };
    let (mut rows, note) = match models.listed {
        ModelList::Loading => (Vec::new(), "Loading the provider's models…".to_owned()),
        ModelList::Models(rows) if rows.is_empty() => {
            (rows, "The provider lists no models. Type a name to use it.".to_owned())
        }
        ModelList::Models(rows) => (rows, String::new()),
        ModelList::Failed(reason) => {
            let reason = reason.trim_end_matches('.');
            (Vec::new(), format!("Cannot list models: {reason}. Type a name to use it."))
        }
    };
    let had_no_rows = shown_rows.is_empty();
    if !current.is_empty() && !rows.iter().any(|row| row.model == current) {
        rows.insert(0, ModelRow { model: current.clone(), ..ModelRow::default() });
    }
    rows.extend(models.other_models);
    let is_current = |row: &ModelRow| row.profile.is_empty() && row.model == current;
    picker.set_note(&note);
    picker.set_rows(rows.iter().map(|row| model_row(row, is_current(row))).collect());
    if had_no_rows && let Some(index) = rows.iter().position(is_current) {
        picker.select(index);
    }
    *shown_rows = rows;
}

/// Applies the model in a row.
pub fn pick_model(state: &mut State, row: ModelRow, save: bool) {
    let ModelRow { profile, model, .. } = row.clone();
    let save_request =
        HostRequest::SaveModel { profile: profile.clone(), address: String::new(), model: model.clone() };
    let is_switched = if profile.is_empty() {
        use_model(state, row);
        true
    } else {
        provider_list::switch_provider(state, HostRequest::UseProfile { profile, model })
    };
    if save && is_switched {
        state.send_request(save_request);
    }
}

/// Runs `/model`: switches to the model with this name, or opens the list without a name.
pub fn run_model_command(state: &mut State, name: &str) {
    if name.is_empty() {
        return open_model_list(state);
    }
    let connect_key = state.keys.first_chord(Scope::Anywhere, Action::Connect);
    if state.session.connection.is_tour {
        return state.show_warning(&format!("The tour uses no model. Press {connect_key} to choose a provider"));
    }
    if state.session.connection.is_unconfigured {
        return state.show_warning(&format!("No provider is configured. Press {connect_key} to choose one"));
    }
    use_model(state, ModelRow { model: name.to_owned(), ..ModelRow::default() })
}

/// Uses another model of the same provider from the next request on, including a running turn.
fn use_model(state: &mut State, row: ModelRow) {
    if row.model != state.agent.model.name {
        (state.session.connection.context_window, state.session.connection.price) = (row.context_window, row.price);
    }
    state.session.connection.model.clone_from(&row.model);
    let event = crate::agent::Event::ModelSwitched { model: row.model.clone(), profile: None };
    agent_events::handle_agent_event(state, event);
    report_limits(state);
    state.send_request(HostRequest::UseModel(row.model));
}

/// Switches to another provider and records the switch in the session. Does nothing if another session has been opened
/// since the request, or if a turn is running.
pub fn apply_provider_switch(state: &mut State, pending: PendingConnection) {
    let PendingConnection { session, number, connection } = pending;
    if session != state.session.id || !provider_list::can_switch_provider(state) {
        return;
    }
    let profile = Some(connection.profile.clone()).filter(|profile| !profile.is_empty());
    let event = crate::agent::Event::ModelSwitched { model: connection.model.clone(), profile };
    state.session.connection = connection;
    agent_events::handle_agent_event(state, event);
    report_limits(state);
    state.send_request(HostRequest::SwitchConnection(number));
}

/// Passes the context window known from the list or the settings, and the limit for tools, to the agent.
fn report_limits(state: &mut State) {
    let (window, limit) = (state.session.connection.context_window, state.session.connection.tool_limit);
    agent_events::handle_agent_event(state, crate::agent::Event::ContextWindowChanged(window));
    agent_events::handle_agent_event(state, crate::agent::Event::ToolLimitChanged(limit));
}

/// Returns the model in use. If none was named, this is the model that answered last.
fn current_model(state: &State) -> &str {
    if state.agent.model.name.is_empty() { &state.session.connection.model } else { &state.agent.model.name }
}

fn model_row(row: &ModelRow, is_current: bool) -> Row {
    let text = match (row.profile.as_str(), row.model.as_str()) {
        ("", model) => model.to_owned(),
        (profile, "") => format!("{profile} · default model"),
        (profile, model) => format!("{profile} · {model}"),
    };
    let window = row.context_window.map(|window| format!("{} context", format_window(window)));
    let price = row.price.map(|(input_price, _, output_price)| match (input_price, output_price) {
        (0.0, 0.0) => "free".to_owned(),
        (input_price, output_price) => format!("${} / ${}", format_price(input_price), format_price(output_price)),
    });
    let details: Vec<String> = [window, price].into_iter().flatten().collect();
    let secondary = match is_current {
        true => IN_USE,
        false if !row.profile.is_empty() => "profile",
        false => "",
    };
    Row::new(&text)
        .with_secondary(secondary)
        .with_detail(&details.join(" · "))
        .with_key(format!("{} {}", row.profile, row.model))
}

/// Formats a context window in tokens: `8k`, `131k`, `1M`.
fn format_window(window: u64) -> String {
    match window {
        0..1000 => window.to_string(),
        1000..1_000_000 => format!("{}k", window / 1000),
        _ => format!("{}M", window / 1_000_000),
    }
}

/// Formats a price without trailing zeros: `0.25`, `3`, `0.075`.
fn format_price(price: f64) -> String {
    let text = format!("{price:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
