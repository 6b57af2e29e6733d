//! The lines of the transcript that can be seen, drawn; and the links among them.

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

/// A link on the screen: its cells and where it leads. Rows of one link share the target.
pub struct Placed {
    /// One row.
    pub area: Rect,
    /// Where it leads.
    pub target: Arc<Target>,
}

/// Draws what can be seen. Tells where the links are.
pub fn draw(state: &State, cache: &mut Cache, area: Rect, buffer: &mut Buffer) -> Vec<Placed> {
    if area.is_empty() {
        return Vec::new();
    }
    let ground = state.ground();
    let seen = state.transcript.seen(&ground, cache, usize::from(area.height));
    // A short session stands at the bottom, where the eyes and the composer are.
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

/// The order a line is drawn in; nothing where it is that of the text, or the terminal sees to it.
pub fn order(state: &State, line: &Line<'_>) -> Option<Order> {
    if state.settings.terminal_turns { None } else { Order::of(line) }
}

/// Draws the bar. Not while the end is followed and something comes: there it would tell nothing, and move with every
/// row that does. It is a ground and no sign, so that what is copied off the screen has none in it.
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

/// Whether this is the first line of its item, but for the blank one before it: the one that opens and closes.
fn is_first(seen: &Seen) -> bool {
    let blank = |(page, line): (&Page, usize)| page.lines[line].width() == 0;
    match seen.place.line {
        0 => !seen.laid.line(0).is_some_and(blank),
        1 => seen.laid.line(0).is_some_and(blank),
        _ => false,
    }
}

/// The links that can be seen, each once, with its first cell.
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
        // Links stand in the order of their lines.
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

/// Marks the words where they stand in a line, whatever their case.
fn mark(text: &str, words: &str, row: Rect, buffer: &mut Buffer, style: Style) {
    let (low, words) = (text.to_lowercase(), words.to_lowercase());
    // A letter whose lower case has another length would shift what is marked.
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
