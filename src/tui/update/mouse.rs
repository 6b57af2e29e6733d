//! The mouse: the wheel scrolls, a click opens what it is on. A click never answers anything.

use super::{card, links};
use crate::tui::effect::Effect;
use crate::tui::parts::transcript::cache::Cache;
use crate::tui::state::State;
use crate::tui::text::links::at;
use crate::tui::view::layout;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

/// Lines of one step of the wheel.
const STEP: isize = 3;

/// The mouse did something.
pub fn moved(state: &mut State, cache: &mut Cache, event: MouseEvent) -> Vec<Effect> {
    match event.kind {
        MouseEventKind::ScrollUp if card::read_on(state, &event, -STEP) => {}
        MouseEventKind::ScrollDown if card::read_on(state, &event, STEP) => {}
        MouseEventKind::ScrollUp => return scroll(state, cache, -STEP),
        MouseEventKind::ScrollDown => return scroll(state, cache, STEP),
        MouseEventKind::Down(MouseButton::Left) => {
            // It may only have brought the window to the front.
            state.presses.elsewhere(state.now);
            return click(state, cache, event.column, event.row);
        }
        MouseEventKind::Down(_)
        | MouseEventKind::Up(_)
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
    let area = layout::areas(state).transcript;
    if !state.overlays.is_empty() || !area.contains(Position::new(column, row)) {
        return Vec::new();
    }
    let height = usize::from(area.height);
    let mut transcript = std::mem::take(&mut state.transcript);
    let ground = state.ground();
    let seen = transcript.seen(&ground, cache, height);
    let hit = seen.get(usize::from(row - area.y));
    let target = hit.and_then(|seen| {
        let (page, line) = seen.laid.line(seen.place.line)?;
        at(page, line, column.saturating_sub(area.x)).map(|link| link.target.clone())
    });
    if let (None, Some(seen)) = (&target, hit)
        && seen.place.line <= 1
    {
        transcript.toggle(&ground, seen.place.item);
    }
    state.transcript = transcript;
    target.map_or_else(Vec::new, |target| links::open(state, &target))
}
