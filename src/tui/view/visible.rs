//! Draws the visible lines of the transcript and finds the links in them.

use crate::chat::link::Target;
use crate::tui::parts::transcript::Seen;
use crate::tui::parts::transcript::cache::Cache;
use crate::tui::state::State;
use crate::tui::text::bidi::Order;
use crate::tui::text::{Page, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use std::ops::Range;
use std::sync::Arc;

/// A link on the screen. Rows of one link share the target.
pub struct Placed {
    /// Its cells in one row.
    pub area: Rect,
    /// Target of the link.
    pub target: Arc<Target>,
}

/// Draws the visible lines and returns their links.
pub fn draw(state: &State, cache: &mut Cache, area: Rect, buffer: &mut Buffer) -> Vec<Placed> {
    if area.is_empty() {
        return Vec::new();
    }
    let ground = state.ground();
    let seen = state.transcript.seen(&ground, cache, usize::from(area.height));
    // A transcript shorter than the screen is drawn at the bottom, next to the composer.
    for (row, seen) in rows(area, &seen) {
        let Some((page, line)) = seen.laid.line(seen.place.line) else { continue };
        let line = &page.lines[line];
        buffer.set_style(row, line.style);
        buffer.set_line(row.x, row.y, line, row.width);
        if state.transcript.selected() == Some(seen.place.item) && is_first(seen) {
            buffer.set_style(row, state.theme.selected);
        }
        if let Some(search) = state.transcript.search.as_ref().filter(|search| !search.words.is_empty()) {
            let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
            mark(&text, &search.words, row, buffer, state.theme.found);
        }
        if let Some(order) = order(state, line) {
            order.apply(row, buffer);
        }
    }
    placed(state, area, &seen)
}

/// Returns the visual order of a line; `None` if it is the logical order or the terminal reorders it.
pub fn order(state: &State, line: &Line<'_>) -> Option<Order> {
    if state.settings.terminal_turns { None } else { Order::of(line) }
}

/// Draws the scroll bar; not while the end is followed and grows, as it would only flicker. It is drawn with a
/// background colour instead of a character, so that it is not copied with the text.
pub fn bar(state: &State, cache: &mut Cache, area: Rect, buffer: &mut Buffer) {
    let comes = state.agent.is_busy() && state.transcript.follows();
    if area.is_empty() || (comes && state.transcript.held.is_none()) {
        return;
    }
    let ground = state.ground();
    let Some(bar) = state.transcript.bar(&ground, cache, usize::from(area.height)) else { return };
    let thumb = Rect { y: area.y + bar.top, height: bar.length, ..area };
    buffer.set_style(thumb, state.theme.bar(state.transcript.held.is_some()));
}

/// Returns whether this is the first non-blank line of its item: the one that expands and collapses it.
fn is_first(seen: &Seen) -> bool {
    let blank = |(page, line): (&Page, usize)| page.lines[line].width() == 0;
    match seen.place.line {
        0 => !seen.laid.line(0).is_some_and(blank),
        1 => seen.laid.line(0).is_some_and(blank),
        _ => false,
    }
}

/// Returns the visible links, each once, with their first cell.
pub fn links(state: &State, cache: &mut Cache, area: Rect) -> Vec<((u16, u16), Arc<Target>)> {
    let ground = state.ground();
    let seen = state.transcript.seen(&ground, cache, usize::from(area.height));
    let mut links: Vec<((u16, u16), Arc<Target>)> = Vec::new();
    for placed in placed(state, area, &seen) {
        if !links.iter().any(|(_, target)| Arc::ptr_eq(target, &placed.target)) {
            links.push(((placed.area.x, placed.area.y), placed.target));
        }
    }
    links
}

fn rows(area: Rect, seen: &[Seen]) -> impl Iterator<Item = (Rect, &Seen)> {
    area.rows().zip(seen)
}

fn placed(state: &State, area: Rect, seen: &[Seen]) -> Vec<Placed> {
    let mut placed = Vec::new();
    for (row, seen) in rows(area, seen) {
        let Some((page, line)) = seen.laid.line(seen.place.line) else { continue };
        // Links are sorted by line.
        let from = page.links.partition_point(|link| link.line < line);
        for link in page.links[from..].iter().take_while(|link| link.line == line) {
            let (start, end) = (link.start.min(row.width), link.end.min(row.width));
            let mut put = |cells: Range<u16>| {
                let area = Rect { x: row.x + cells.start, width: cells.end - cells.start, ..row };
                placed.push(Placed { area, target: link.target.clone() });
            };
            match order(state, &page.lines[line]) {
                Some(order) => order.drawn(start..end).into_iter().for_each(put),
                None => put(start..end),
            }
        }
    }
    placed
}

/// Highlights matches of the search text in a line, ignoring case.
fn mark(text: &str, words: &str, row: Rect, buffer: &mut Buffer, style: Style) {
    let (low, words) = (text.to_lowercase(), words.to_lowercase());
    // A character whose lowercase form has another length would shift the matches.
    if low.len() != text.len() {
        return;
    }
    for (at, found) in low.match_indices(&words) {
        let (Some(before), Some(found)) = (text.get(..at), text.get(at..at + found.len())) else { continue };
        let x = u16::try_from(width::width(before)).unwrap_or(u16::MAX);
        let cells = u16::try_from(width::width(found)).unwrap_or(u16::MAX);
        if x < row.width {
            let place = Rect { x: row.x + x, width: cells.min(row.width - x), ..row };
            buffer.set_style(place, style);
        }
    }
}
