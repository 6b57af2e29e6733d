//! Mouse input: the wheel scrolls, the scroll bar is dragged, a click opens the link or entry under it.
//! A click never answers a prompt.

use super::transcript_change::{change_transcript, toggle_item};
use super::{link_hints, prompt_keys};
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::popup::Popup;
use crate::tui::state::State;
use crate::tui::view::{self, layout, visible_lines};
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

/// Lines per step of the wheel.
const WHEEL_LINES: isize = 3;

/// Handles one mouse event.
pub fn handle_mouse(state: &mut State, cache: &mut LayoutCache, event: MouseEvent) {
    match event.kind {
        MouseEventKind::ScrollUp if prompt_keys::scroll_prompt(state, &event, -WHEEL_LINES) => {}
        MouseEventKind::ScrollDown if prompt_keys::scroll_prompt(state, &event, WHEEL_LINES) => {}
        MouseEventKind::ScrollUp => scroll_transcript(state, cache, -WHEEL_LINES),
        MouseEventKind::ScrollDown => scroll_transcript(state, cache, WHEEL_LINES),
        MouseEventKind::Down(MouseButton::Left) => {
            // The click may have been meant only to focus the window.
            state.input.recent_keys.record_other_press(state.timing.now);
            handle_click(state, cache, event.column, event.row);
        }
        MouseEventKind::Drag(MouseButton::Left) => drag_scrollbar(state, cache, event.row),
        MouseEventKind::Up(_) => state.viewport.transcript.dragged_row = None,
        _ => {}
    }
}

fn scroll_transcript(state: &mut State, cache: &mut LayoutCache, lines: isize) {
    if state.viewport.popups.is_empty() {
        change_transcript(state, cache, |transcript, layouts| transcript.scroll_by(layouts, lines));
    } else {
        super::popup_input::scroll_popup(state, cache, lines);
    }
}

fn handle_click(state: &mut State, cache: &mut LayoutCache, column: u16, row: u16) {
    let areas = layout::compute_areas(state);
    let (area, click_position) = (areas.transcript, Position::new(column, row));
    let is_on_page = match state.viewport.popups.last() {
        Some(Popup::Reader(_)) => true,
        Some(_) => return,
        None => false,
    };
    if is_on_page || areas.prompt.contains(click_position) {
        let links = view::find_screen_links(state, cache);
        if let Some(link) = links.iter().find(|link| link.area.contains(click_position)) {
            link_hints::open_link(state, &link.target);
        }
        return;
    }
    if areas.scroll_bar().contains(click_position) {
        return grab_scrollbar(state, cache, row);
    }
    if !area.contains(click_position) {
        return;
    }
    let drawn_lines = change_transcript(state, cache, |transcript, layouts| transcript.visible_lines(layouts));
    let clicked_line = drawn_lines.get(usize::from(row - area.y));
    let target = clicked_line.and_then(|clicked| {
        let (page, line) = clicked.layout.find_line(clicked.position.line)?;
        let drawn_column = column.saturating_sub(area.x);
        let column = visible_lines::visual_order(state, &page.lines[line])
            .map_or(drawn_column, |order| order.source_cell(drawn_column));
        page.link_at(line, column).map(|link| link.target.clone())
    });
    // The first line of an item may be blank, so its second line toggles it too.
    if let (None, Some(clicked)) = (&target, clicked_line)
        && clicked.position.line <= 1
    {
        toggle_item(state, cache, clicked.position.item);
    }
    if let Some(target) = target {
        link_hints::open_link(state, &target);
    }
}

/// Grabs the scroll bar. A click outside its thumb moves the thumb to the mouse.
fn grab_scrollbar(state: &mut State, cache: &mut LayoutCache, row: u16) {
    let area = layout::compute_areas(state).transcript;
    let bar = change_transcript(state, cache, |transcript, layouts| transcript.scrollbar(layouts));
    let Some(bar) = bar else { return };
    let clicked_row = row.saturating_sub(area.y);
    let thumb_offset = clicked_row.checked_sub(bar.top).filter(|offset| *offset < bar.length);
    state.viewport.transcript.dragged_row = Some(thumb_offset.unwrap_or(bar.length / 2));
    if thumb_offset.is_none() {
        drag_scrollbar(state, cache, row);
    }
}

/// Moves the thumb with the mouse, within the bar.
fn drag_scrollbar(state: &mut State, cache: &mut LayoutCache, row: u16) {
    let area = layout::compute_areas(state).transcript;
    let Some(thumb_offset) = state.viewport.transcript.dragged_row else { return };
    let thumb_row = row.saturating_sub(area.y).saturating_sub(thumb_offset);
    change_transcript(state, cache, |transcript, layouts| {
        if let Some(bar) = transcript.scrollbar(layouts) {
            transcript.drag_scrollbar(layouts, bar, thumb_row);
        }
    });
}
