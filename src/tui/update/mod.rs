//! Applies events to the screen's state. This module routes each event; its submodules handle them.

mod agent;
mod audit;
mod card;
mod commands;
mod connect;
mod copy;
mod grants;
mod host;
mod key;
mod leaving;
mod links;
mod models;
mod modes;
mod mouse;
mod overlay;
pub mod rehearsal;
mod search;
mod sessions;
pub mod sure;
mod trust;
mod unheard;
mod waits;
mod writing;

use super::effect::Effect;
use super::event::Event;
use super::overlay::{Overlay, Picking};
use super::parts::toast::Kind;
use super::parts::transcript::cache::Cache;
use super::prompt::Seen;
use super::state::State;
use std::time::Duration;

/// Applies one event to the state and returns the effects to run. The cache only saves work: with an empty cache the
/// resulting state is the same.
pub fn update(state: &mut State, cache: &mut Cache, event: Event) -> Vec<Effect> {
    let is_touched = is_input(&event);
    let mut effects = match event {
        Event::Tick(now) => {
            tick(state, now);
            state.saving.take_due(now).then_some(Effect::Save).into_iter().collect()
        }
        Event::Key(key) => key::pressed(state, cache, key),
        Event::Pasted(text) => {
            let begun = if state.held.is_some() { key::hurried(state, cache) } else { Vec::new() };
            begun.into_iter().chain(writing::pasted(state, cache, &text)).collect()
        }
        Event::Early(text) => writing::early(state, &text),
        Event::Hurried => key::hurried(state, cache),
        Event::Quiet => key::quiet(state, cache),
        Event::Mouse(event) => mouse::moved(state, cache, event),
        Event::Focused(front) => {
            state.front = front;
            if front {
                state.presses.elsewhere(state.now);
            }
            Vec::new()
        }
        Event::Resized(width, height) => {
            state.size = (width, height);
            Vec::new()
        }
        Event::Agent(event) => agent::happened(state, event),
        Event::Host(reply) => host::replied(state, cache, reply),
        Event::Edited(text) => {
            if let Some(text) = text
                && !card::edited(state, &text)
            {
                state.composer.set(&text);
            }
            Vec::new()
        }
        Event::Saved(unsaved) => leaving::tried(state, unsaved),
        Event::Notice(text) => {
            state.notice(&text, Kind::Warning);
            Vec::new()
        }
        Event::Lost => Vec::new(),
    };
    effects.extend(agent::settle(state));
    effects.extend(state.keep_unsent(is_touched));
    effects
}

/// True if the event may carry text or a choice of the user.
fn is_input(event: &Event) -> bool {
    match event {
        Event::Key(_)
        | Event::Pasted(_)
        | Event::Early(_)
        | Event::Hurried
        | Event::Quiet
        | Event::Mouse(_)
        | Event::Edited(_) => true,
        Event::Tick(_)
        | Event::Focused(_)
        | Event::Resized(..)
        | Event::Agent(_)
        | Event::Host(_)
        | Event::Saved(_)
        | Event::Notice(_)
        | Event::Lost => false,
    }
}

/// Records that a picture is on the screen since `now`; the part of a prompt that it showed counts as seen.
///
/// Returns whether the next picture differs because of that.
pub fn shown(state: &mut State, now: Duration, seen: Option<Seen>) -> bool {
    state.now = now;
    if let Some(Overlay::Sure(card, _)) = state.overlays.last_mut() {
        return card.drawn(now);
    }
    if let (Some(list), Some(Seen::Waits(seen))) = (&mut state.waits, seen) {
        let before = list.seen();
        list.drawn(now, seen);
        return before != list.seen();
    }
    match (&mut state.prompt, seen) {
        (Some(prompt), Some(seen)) => prompt.drawn(now, seen),
        (None, _) | (_, None) => false,
    }
}

/// Applies the options of the command line: the first message, calls to offer, or a list to open.
pub fn begin(
    state: &mut State,
    says: String,
    offers: Option<crate::agent::Offered>,
    picks: Option<Picking>,
) -> Vec<Effect> {
    let first_screen = says.is_empty() && offers.is_none() && state.agent.session.entries().is_empty();
    if !first_screen {
        // The first screen shows warnings itself.
        for warned in state.warned.clone() {
            state.toasts.push(Kind::Warning, &warned.words, state.now);
        }
    }
    let mut effects = picks.map(|picking| sessions::open(state, picking)).unwrap_or_default();
    if let Some(offered) = offers {
        effects.extend(agent::happened(state, crate::agent::Event::Offered(offered)));
    }
    effects.extend(trust::look(state, says));
    effects.extend(agent::settle(state));
    effects
}

/// Returns the commands that can be completed after a slash.
pub fn command_names() -> Vec<super::parts::complete::Candidate> {
    writing::commands()
}

/// Saves the draft and ends the running turn before the program exits.
pub fn farewell(state: &mut State) -> Vec<Effect> {
    let mut effects: Vec<Effect> = state.keep_now().into_iter().collect();
    effects.extend(left(state));
    effects
}

/// Ends the running turn as interrupted, so that the session on disk does not stop in the middle of it. A call that
/// waits for the user keeps waiting.
pub fn left(state: &mut State) -> Vec<Effect> {
    if state.agent.waiting().is_some() {
        return Vec::new();
    }
    vec![Effect::Agent(crate::agent::update(&mut state.agent, crate::agent::Event::Interrupted))]
}

fn tick(state: &mut State, now: Duration) {
    let due = state.wakes_at().is_some_and(|at| at <= now);
    state.now = now;
    state.moved |= due | state.toasts.tick(now);
}
