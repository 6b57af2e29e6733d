//! Draws the visible lines of the transcript and finds the links in them.

use crate::text::width;
use crate::tui::parts::todo_rows::{TodoRows, lay_out_todos};
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::parts::transcript::{Layouts, VisibleLine};
use crate::tui::state::State;
use crate::tui::text::PlacedLink;
use crate::tui::text::bidi::VisualOrder;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use std::ops::Range;

/// Draws the visible lines of the transcript and returns their links.
pub fn draw_lines(state: &State, cache: &mut LayoutCache, area: Rect, buffer: &mut Buffer) -> Vec<PlacedLink> {
    if area.is_empty() {
        return Vec::new();
    }
    let mut layouts = Layouts { context: state.layout_context(), cache, height: usize::from(area.height) };
    let lines = state.viewport.transcript.visible_lines(&mut layouts);
    let selected = state.viewport.transcript.selected_item(&mut layouts);
    for (row, visible_line) in area.rows().zip(&lines) {
        let Some((page, line)) = visible_line.layout.find_line(visible_line.position.line) else { continue };
        let line = &page.lines[line];
        buffer.set_style(row, line.style);
        // The rows of a picture.
        if !is_blank(line) {
            buffer.set_line(row.x, row.y, line, row.width);
        }
        if selected == Some(visible_line.position.item) && is_first_line(visible_line) {
            buffer.set_style(row, state.theme.selected);
        }
        if let Some(search) = state.viewport.transcript.search.as_ref().filter(|search| !search.query.is_empty()) {
            let text = line.to_string();
            highlight_matches(&text, &search.query, row, buffer, state.theme.search_match);
        }
        if let Some(order) = visual_order(state, line) {
            order.reorder_row(row, buffer);
        }
    }
    place_links(state, area, &lines)
}

/// Draws the todos above the composer.
pub fn draw_todos(state: &State, area: Rect, buffer: &mut Buffer) {
    let (width, max_rows) = (usize::from(area.width), usize::from(area.height));
    let todos = TodoRows { list: state.agent.session.todos(), is_running: state.agent.is_busy() };
    let lines = lay_out_todos(todos, width, max_rows, &state.theme);
    for (row, line) in area.rows().zip(&lines) {
        buffer.set_line(row.x, row.y, line, row.width);
        if let Some(order) = visual_order(state, line) {
            order.reorder_row(row, buffer);
        }
    }
}

/// Returns whether a line has nothing but spaces in its own style, so that drawing them would change nothing.
fn is_blank(line: &Line<'_>) -> bool {
    line.spans.iter().all(|span| span.style == Style::default() && span.content.bytes().all(|byte| byte == b' '))
}

/// Returns the visual order of a line; `None` if it is the logical order or the terminal reorders it.
pub fn visual_order(state: &State, line: &Line<'_>) -> Option<VisualOrder> {
    if state.settings.terminal_reorders { None } else { VisualOrder::from_line(line) }
}

/// Draws the scroll bar. There is none while a reply grows and the view follows its end, because it would flicker. The
/// bar is a background colour instead of a character, so that it is not copied with the text.
pub fn draw_scroll_bar(state: &State, cache: &mut LayoutCache, area: Rect, buffer: &mut Buffer) {
    let is_growing = state.agent.is_busy() && state.viewport.transcript.is_following();
    if area.is_empty() || (is_growing && state.viewport.transcript.dragged_row.is_none()) {
        return;
    }
    let mut layouts = Layouts { context: state.layout_context(), cache, height: usize::from(area.height) };
    let Some(bar) = state.viewport.transcript.scrollbar(&mut layouts) else { return };
    let thumb = Rect { y: area.y + bar.top, height: bar.length, ..area };
    buffer.set_style(thumb, state.theme.scroll_bar_style(state.viewport.transcript.dragged_row.is_some()));
}

/// Returns whether this is the first non-blank line of its item. A click on that line expands or collapses the item.
fn is_first_line(visible_line: &VisibleLine) -> bool {
    visible_line.position.line == visible_line.layout.first_text_line()
}

fn place_links(state: &State, area: Rect, lines: &[VisibleLine]) -> Vec<PlacedLink> {
    let mut placed = Vec::new();
    for (row, visible_line) in area.rows().zip(lines) {
        let Some((page, line)) = visible_line.layout.find_line(visible_line.position.line) else { continue };
        for link in page.links_of_line(line) {
            let (start, end) = (link.start.min(row.width), link.end.min(row.width));
            let mut place_cells = |cells: Range<u16>| {
                let area = Rect { x: row.x + cells.start, width: cells.end - cells.start, ..row };
                placed.push(PlacedLink { area, target: link.target.clone(), picture: link.picture.clone() });
            };
            match visual_order(state, &page.lines[line]) {
                Some(order) => order.drawn_ranges(start..end).into_iter().for_each(place_cells),
                None => place_cells(start..end),
            }
        }
    }
    placed
}

/// Highlights matches of the search text in a line, ignoring case.
pub fn highlight_matches(text: &str, query: &str, row: Rect, buffer: &mut Buffer, style: Style) {
    let (lower_text, lower_query) = (text.to_lowercase(), query.to_lowercase());
    // A character whose lowercase form has another length would shift the matches.
    if lower_text.len() != text.len() {
        return;
    }
    for (start, lower_match) in lower_text.match_indices(&lower_query) {
        let (Some(before), Some(matched)) = (text.get(..start), text.get(start..start + lower_match.len())) else {
            continue;
        };
        let x = u16::try_from(width::text_width(before)).unwrap_or(u16::MAX);
        let cells = u16::try_from(width::text_width(matched)).unwrap_or(u16::MAX);
        if x < row.width {
            let area = Rect { x: row.x + x, width: cells.min(row.width - x), ..row };
            buffer.set_style(area, style);
        }
    }
}
