//! Draws the state: a pure function of the state and the size of the screen.

mod ascii;
mod bars;
pub mod layout;
mod overlays;
#[cfg(test)]
pub mod tests;
pub mod visible;
mod wall;
mod welcome;

use super::focus::{Focus, focus};
use super::parts::transcript::cache::Cache;
use super::prompt::Seen;
use super::state::State;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Description of a drawn frame, apart from its cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// Position of the terminal's cursor.
    pub cursor: Option<Position>,
    /// Part of the open prompt that was visible.
    pub card: Option<Seen>,
    /// Cells that are links for the terminal (OSC 8).
    pub links: Vec<Linked>,
}

/// Cells of one row that link to an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    /// The cells.
    pub area: Rect,
    /// Address in printable ASCII.
    pub address: String,
}

/// Draws the screen. The cache only saves time: the result is the same with an empty one.
pub fn view(state: &State, cache: &mut Cache, buffer: &mut Buffer) -> Shown {
    let all = buffer.area;
    buffer.set_style(all, state.theme.ground.patch(state.theme.text));
    if all.is_empty() {
        return Shown::default();
    }
    let areas = layout::areas(state);
    bars::head(state, areas.head, buffer);
    bars::rule(state, areas.rule, buffer);
    let mut links = Vec::new();
    if state.agent.session.entries().is_empty() && state.agent.is_idle() {
        welcome::draw(state, areas.transcript, buffer);
    } else {
        links = visible::draw(state, cache, areas.transcript, buffer);
        visible::bar(state, cache, areas.bar(), buffer);
    }
    if state.open_card().is_none() {
        bars::rule(state, areas.air, buffer);
    }
    bars::chip(state, cache, areas.chip, buffer);
    bars::foot(state, areas.foot, buffer);
    let mut shown = front(state, areas, buffer);
    let toasts = layout::told(state);
    let over = overlays::draw(state, buffer);
    state.toasts.view(toasts, buffer, &state.theme);
    if let Some(over) = over {
        shown.cursor = over.cursor;
        // A covered prompt has not been seen.
        shown.card = shown.card.filter(|_| over.area.is_empty());
        links.retain(|link| !link.area.intersects(over.area));
    }
    links.retain(|link| !link.area.intersects(toasts));
    wall::guard(buffer);
    if state.settings.ascii {
        ascii::plain(buffer);
    }
    if state.settings.links {
        shown.links = wall::links(&links, &state.settings);
    }
    shown.cursor = shown.cursor.filter(|at| all.contains(*at));
    shown
}

/// Draws the prompt and the composer. Returns the cursor of the one that has the keyboard.
fn front(state: &State, areas: layout::Areas, buffer: &mut Buffer) -> Shown {
    let theme = &state.theme;
    let focus = focus(state);
    // A prompt without a visible row has not been seen.
    let card = if areas.card.is_empty() { None } else { state.draw_card(areas.card, buffer) };
    let mut cursor = card.filter(|_| focus == Focus::Prompt).and_then(|seen| seen.cursor());
    if !areas.composer.is_empty() {
        let at = state.composer.view(areas.composer, buffer, theme, focus == Focus::Composer);
        if focus == Focus::Composer {
            cursor = at;
            let above = match areas.card.is_empty() {
                true => areas.air.height + areas.told.height,
                false => areas.air.height.max(areas.told.height),
            };
            let bottom = areas.composer.y - above;
            let top = areas.transcript.y.min(bottom);
            let above = Rect { y: top, height: bottom - top, ..areas.composer };
            state.complete.view(above, buffer, theme);
        }
    }
    Shown { cursor, card, links: Vec::new() }
}
