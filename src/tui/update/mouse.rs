//! Mouse input: the wheel scrolls, the scroll bar is dragged, a click opens what it hits. A click never answers a
//! prompt.

use super::{card, links};
use crate::tui::effect::Effect;
use crate::tui::parts::transcript::cache::Cache;
use crate::tui::state::State;
use crate::tui::text::links::at;
use crate::tui::view::{layout, visible};
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

/// Lines per step of the wheel.
const STEP: isize = 3;

/// Handles one mouse event.
pub fn moved(state: &mut State, cache: &mut Cache, event: MouseEvent) -> Vec<Effect> {
    match event.kind {
        MouseEventKind::ScrollUp if card::read_on(state, &event, -STEP) => {}
        MouseEventKind::ScrollDown if card::read_on(state, &event, STEP) => {}
        MouseEventKind::ScrollUp => return scroll(state, cache, -STEP),
        MouseEventKind::ScrollDown => return scroll(state, cache, STEP),
        MouseEventKind::Down(MouseButton::Left) => {
            // The click may only have brought the window to the front.
            state.presses.elsewhere(state.now);
            return click(state, cache, event.column, event.row);
        }
        MouseEventKind::Drag(MouseButton::Left) => drag(state, cache, event.row),
        MouseEventKind::Up(_) => state.transcript.held = None,
        MouseEventKind::Down(_)
        | MouseEventKind::Drag(_)
        | MouseEventKind::Moved
        | MouseEventKind::ScrollLeft
        | MouseEventKind::ScrollRight => {}
    }
    Vec::new()
}

fn scroll(state: &mut State, cache: &mut Cache, by: isize) -> Vec<Effect> {
    if !state.overlays.is_empty() {
        return super::overlay::scroll(state, cache, by);
    }
    let height = layout::transcript_height(state);
    let mut transcript = std::mem::take(&mut state.transcript);
    transcript.scroll(&state.ground(), cache, height, by);
    state.transcript = transcript;
    Vec::new()
}

fn click(state: &mut State, cache: &mut Cache, column: u16, row: u16) -> Vec<Effect> {
    let areas = layout::areas(state);
    let (area, clicked) = (areas.transcript, Position::new(column, row));
    if !state.overlays.is_empty() {
        return Vec::new();
    }
    if areas.bar().contains(clicked) {
        grab(state, cache, row);
        return Vec::new();
    }
    if !area.contains(clicked) {
        return Vec::new();
    }
    let height = usize::from(area.height);
    let mut transcript = std::mem::take(&mut state.transcript);
    let ground = state.ground();
    let seen = transcript.seen(&ground, cache, height);
    let hit = seen.get(usize::from(row - area.y));
    let target = hit.and_then(|seen| {
        let (page, line) = seen.laid.line(seen.place.line)?;
        let drawn = column.saturating_sub(area.x);
        let column = visible::order(state, &page.lines[line]).map_or(drawn, |order| order.of_cell(drawn));
        at(page, line, column).map(|link| link.target.clone())
    });
    if let (None, Some(seen)) = (&target, hit)
        && seen.place.line <= 1
    {
        transcript.toggle(&ground, seen.place.item);
    }
    state.transcript = transcript;
    target.map_or_else(Vec::new, |target| links::open(state, &target))
}

/// Grabs the scroll bar. A click outside its thumb moves the thumb to the mouse.
fn grab(state: &mut State, cache: &mut Cache, row: u16) {
    let area = layout::areas(state).transcript;
    let bar = state.transcript.bar(&state.ground(), cache, usize::from(area.height));
    let Some(bar) = bar else { return };
    let at = row.saturating_sub(area.y);
    let on_thumb = at.checked_sub(bar.top).filter(|held| *held < bar.length);
    state.transcript.held = Some(on_thumb.unwrap_or(bar.length / 2));
    if on_thumb.is_none() {
        drag(state, cache, row);
    }
}

/// Moves the thumb with the mouse, within the bar.
fn drag(state: &mut State, cache: &mut Cache, row: u16) {
    let area = layout::areas(state).transcript;
    let Some(held) = state.transcript.held else { return };
    let mut transcript = std::mem::take(&mut state.transcript);
    let ground = state.ground();
    if let Some(bar) = transcript.bar(&ground, cache, usize::from(area.height)) {
        transcript.slide(&ground, cache, bar, row.saturating_sub(area.y).saturating_sub(held));
    }
    state.transcript = transcript;
}
