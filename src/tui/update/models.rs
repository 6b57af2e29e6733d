//! Choosing a model: of the provider in use, of another profile, or by a name that no list contains.

use super::{agent, connect};
use crate::tui::effect::Effect;
use crate::tui::host::{Listed, ModelRow, Models, Reached, Wish};
use crate::tui::keys::{Action, Scope};
use crate::tui::overlay::Overlay;
use crate::tui::parts::picker::{IN_USE, Picker, Row};
use crate::tui::parts::toast::Kind;
use crate::tui::state::State;

/// Opens the list with the model in use; more rows follow once they are known. The tour has no models, so the provider
/// list opens instead.
pub fn open(state: &mut State) -> Vec<Effect> {
    if state.connection.tour {
        return connect::open(state);
    }
    let keep = state.keys.hint(Scope::List, Action::Keep);
    let picker = Picker::new("Models", "", Vec::new()).offering("use").keeping(keep);
    state.overlays.push(Overlay::Models(picker, Vec::new()));
    known(state, Models { listed: Listed::Asking, others: Vec::new() });
    vec![Effect::Ask(Wish::Models)]
}

/// Shows the models that are known by now.
pub fn known(state: &mut State, models: Models) {
    let present = present(state).to_owned();
    let Some(Overlay::Models(picker, kept)) = state.overlays.last_mut() else { return };
    let (mut rows, note) = match models.listed {
        Listed::Asking => (Vec::new(), "Loading the provider's models…".to_owned()),
        Listed::These(rows) if rows.is_empty() => {
            (rows, "The provider lists no models. Type a name to use it.".to_owned())
        }
        Listed::These(rows) => (rows, String::new()),
        Listed::Failed(why) => (Vec::new(), format!("Cannot list models: {why}. Type a name to use it.")),
    };
    let first = kept.is_empty();
    if !present.is_empty() && !rows.iter().any(|row| row.model == present) {
        rows.insert(0, ModelRow { model: present.clone(), ..ModelRow::default() });
    }
    rows.extend(models.others);
    let is_present = |row: &ModelRow| row.profile.is_empty() && row.model == present;
    picker.set_note(&note);
    picker.set_rows(rows.iter().map(|row| shown(row, is_present(row))).collect());
    if first && let Some(at) = rows.iter().position(is_present) {
        picker.select(at);
    }
    *kept = rows;
}

/// Applies the model in a row.
pub fn take(state: &mut State, row: ModelRow, keep: bool) -> Vec<Effect> {
    let kept = keep.then(|| {
        Effect::Ask(Wish::KeepModel {
            profile: row.profile.clone(),
            address: String::new(),
            model: row.model.clone(),
        })
    });
    let mut effects = if row.profile.is_empty() {
        use_model(state, row)
    } else {
        connect::switch(state, Wish::UseProfile { profile: row.profile, model: row.model })
    };
    // If nothing was switched, nothing is stored either.
    effects.extend(kept.filter(|_| !effects.is_empty()));
    effects
}

/// Switches to a model that was typed by name.
pub fn use_named(state: &mut State, name: &str) -> Vec<Effect> {
    if state.connection.tour {
        state.notice("The tour uses no model. Press alt-c to choose a provider", Kind::Warning);
        return Vec::new();
    }
    use_model(state, ModelRow { model: name.to_owned(), ..ModelRow::default() })
}

/// Uses another model of the same provider from the next request on, including a running turn.
fn use_model(state: &mut State, row: ModelRow) -> Vec<Effect> {
    if row.model != state.agent.model {
        (state.connection.window, state.connection.price) = (row.window, row.price);
    }
    state.connection.model.clone_from(&row.model);
    let event = crate::agent::Event::Switched { model: row.model.clone(), profile: None };
    let mut effects = agent::happened(state, event);
    effects.extend(tell_window(state));
    effects.push(Effect::Ask(Wish::UseModel(row.model)));
    effects
}

/// Switches to another provider in the same step in which the session records it, or not at all.
pub fn reached(state: &mut State, reached: Reached) -> Vec<Effect> {
    let Reached { session, number, connection } = reached;
    if session != state.session {
        return Vec::new();
    }
    if !state.agent.is_idle() {
        state.notice("Cannot switch: a turn is running. Stop it first", Kind::Warning);
        return Vec::new();
    }
    let profile = Some(connection.profile.clone()).filter(|profile| !profile.is_empty());
    let event = crate::agent::Event::Switched { model: connection.model.clone(), profile };
    state.connection = connection;
    let mut effects = agent::happened(state, event);
    effects.extend(tell_window(state));
    effects.push(Effect::Ask(Wish::TakeUp(number)));
    effects
}

/// Passes the context window known from the list or the settings to the agent.
fn tell_window(state: &mut State) -> Vec<Effect> {
    let window = state.connection.window;
    agent::happened(state, crate::agent::Event::WindowKnown(window))
}

/// Returns the model in use. If none was named, this is the model that answered last.
fn present(state: &State) -> &str {
    if state.agent.model.is_empty() { &state.connection.model } else { &state.agent.model }
}

fn shown(row: &ModelRow, is_present: bool) -> Row {
    let text = match (row.profile.as_str(), row.model.as_str()) {
        ("", model) => model.to_owned(),
        (profile, "") => format!("{profile} · default model"),
        (profile, model) => format!("{profile} · {model}"),
    };
    let window = row.window.map(|window| format!("{} context", short(window)));
    let price = row.price.map(|(sent, _, received)| match (sent, received) {
        (0.0, 0.0) => "free".to_owned(),
        (sent, received) => format!("${} / ${}", dollars(sent), dollars(received)),
    });
    let known: Vec<String> = [window, price].into_iter().flatten().collect();
    let more = if is_present { IN_USE } else { "" };
    Row::new(&text).more(more).detail(&known.join(" · ")).key(format!("{} {}", row.profile, row.model))
}

/// Formats a context window in tokens: `8k`, `131k`, `1M`.
fn short(window: u64) -> String {
    match window {
        0..1000 => window.to_string(),
        1000..1_000_000 => format!("{}k", window / 1000),
        _ => format!("{}M", window / 1_000_000),
    }
}

/// Formats a price without trailing zeros: `0.25`, `3`, `0.075`.
fn dollars(price: f64) -> String {
    let text = format!("{price:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
