//! Rendering of the queue list: one row per call, and details of the selected call below.

use super::{Row, Seen, Waits};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::{Frame, READABLE, Sight, beyond};
use crate::tui::parts::gist::{Gist, gist};
use crate::tui::parts::hints::{self, hint};
use crate::tui::parts::line::Line;
use crate::tui::text::{Piece, reveal, width, wrap};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line as Text;

/// Maximum cells of a tool's name and of the access of a call.
const TOOL: usize = 14;
const REACH: usize = 18;
/// Maximum rows of details for the selected call.
const MORE: usize = 3;
/// Maximum rows the list asks for.
const MOST: usize = 16;

/// Visible rows of the list, and the rows for details with the line above them.
struct Halves {
    first: usize,
    shown: usize,
    more: usize,
}

impl Waits {
    /// Returns the rows the list asks for; with fewer, it scrolls.
    pub fn height(&self, rows: usize) -> u16 {
        (rows.clamp(1, MOST) + MORE + 3) as u16
    }

    pub fn view(&self, rows: &[Row], sight: &Sight<'_>, area: Rect, buffer: &mut Buffer) -> Seen {
        let Sight { listening, keys, theme, says } = *sight;
        let at = self.at.min(rows.len().saturating_sub(1));
        let ticked = rows.iter().filter(|row| self.ticked.contains(&row.call)).count();
        let Halves { first, shown, more } = self.halves(rows.len(), at, area.intersection(buffer.area));
        let ticks = (ticked > 0).then(|| format!("{ticked} ticked"));
        let place = Some(format!("{} of {}", at + 1, rows.len()));
        let beyond = beyond(first, rows.len().saturating_sub(first + shown));
        let right: Vec<String> = [ticks, place, beyond].into_iter().flatten().collect();
        let right = right.join(" · ");
        let frame = Frame {
            title: "Queue",
            right: &right,
            hints: &self.hints(keys, ticked),
            says,
            listens: listening.now() || self.is_writing(),
            danger: false,
        };
        let mut inside = frame.view(area, buffer, theme);
        if inside.is_empty() {
            return Seen::default();
        }
        let mut cursor = None;
        if let Some((calls, line)) = &self.because {
            inside.height -= 1;
            let row = Rect { y: inside.bottom(), height: 1, ..inside };
            cursor = Some(because(calls.len(), line, row, buffer, theme));
        }
        let columns = columns(rows, usize::from(inside.width));
        for ((index, row), place) in rows.iter().enumerate().skip(first).zip(inside.rows().take(shown)) {
            self.row(row, index == at, columns, place, buffer, theme);
        }
        if let Some(row) = rows.get(at).filter(|_| more > 0) {
            let y = inside.bottom() - more as u16;
            let line = "─".repeat(usize::from(inside.width));
            buffer.set_stringn(inside.x, y, line, usize::from(inside.width), theme.border_dim);
            let lines = told(row, usize::from(inside.width), more - 1, theme);
            for (line, y) in lines.iter().zip(y + 1..) {
                buffer.set_line(inside.x, y, line, inside.width);
            }
        }
        let readable = inside.width >= READABLE && area == area.intersection(buffer.area);
        Seen { cursor, rows: shown, readable }
    }

    /// Divides the height between rows and details. If every call and some details fit, every call is shown.
    fn halves(&self, rows: usize, at: usize, area: Rect) -> Halves {
        let inside =
            usize::from(area.height).saturating_sub(if area.height < 3 || area.width < 5 { 0 } else { 2 });
        let height = inside.saturating_sub(usize::from(self.because.is_some()));
        let more = match height.saturating_sub(rows) {
            0..=1 if height > MORE + rows.min(3) => MORE + 1,
            0..=1 => 0,
            left => left.min(MORE + 1),
        };
        let shown = height - more;
        let first = (at + 1).saturating_sub(shown.div_ceil(2)).min(rows.saturating_sub(shown));
        Halves { first, shown, more }
    }

    /// Draws one row: cursor, tick, number, tool, summary, access.
    fn row(
        &self,
        row: &Row,
        open: bool,
        (tool, reach): (usize, usize),
        place: Rect,
        buffer: &mut Buffer,
        theme: &Theme,
    ) {
        if open {
            buffer.set_style(place, theme.selected);
        }
        // The selected row has a single style, because not every colour is readable on its background.
        let look = |style| if open { theme.text.patch(theme.selected) } else { style };
        let tick = match (row.refusable, self.ticked.contains(&row.call)) {
            (false, _) => "    ",
            (true, true) => "[x] ",
            (true, false) => "[ ] ",
        };
        let lead = format!("{} {tick}{:>3} ", if open { "❯" } else { " " }, row.number);
        let cells = usize::from(place.width);
        let mut x = place.x;
        let mut put = |text: &str, cells: usize, style| {
            let room = usize::from(place.right().saturating_sub(x)).min(cells);
            let text = reveal::one_line(width::cut(text, 200));
            buffer.set_stringn(x, place.y, width::fit(&text, room), room, style);
            x = x.saturating_add(cells as u16).min(place.right());
        };
        let left = cells.saturating_sub(width::width(&lead) + tool + reach + 2);
        put(&lead, width::width(&lead), look(theme.accent));
        put(&row.tool, tool, look(theme.text));
        put(" ", 1, look(theme.text));
        put(&row.summary, left, look(theme.dim));
        put(" ", 1, look(theme.text));
        let style = match (row.destroys, row.careful) {
            // On the background of the prompt, so that its colour is readable in the selected row too.
            (true, _) => Style::reset().patch(theme.ground).patch(theme.text).patch(theme.danger),
            (false, true) => look(theme.warning),
            (false, false) => look(theme.dim),
        };
        put(&row.reach, reach, style);
    }
}

/// Returns the details of the selected call: the text its row has no room for, and its other arguments.
fn told(row: &Row, cells: usize, rows: usize, theme: &Theme) -> Vec<Text<'static>> {
    let Gist { about, others } = gist(&row.arguments);
    let about = if row.arguments.is_empty() { &row.summary } else { &about };
    let mut pieces = Vec::new();
    if others.is_empty() || about.contains('\n') || width::width(about) > cells / 2 {
        pieces.extend(reveal::pieces(about, theme.text, theme.mark));
    }
    for (name, value) in &others {
        if !pieces.is_empty() {
            pieces.push(Piece::new("\n", theme.text));
        }
        pieces.push(Piece::new(format!("{} ", reveal::one_line(name)), theme.dim));
        pieces.extend(reveal::pieces(value, theme.text, theme.mark));
    }
    let mut lines = wrap::wrap(&pieces, &wrap::Shape::of_width(cells)).lines;
    // There are few rows, and the prompt of the call shows everything.
    lines.retain(|line| line.width() > 0);
    let left = lines.len().saturating_sub(rows);
    if left > 0 {
        lines.truncate(rows);
        if let Some(last) = lines.last_mut() {
            *last = Text::styled(format!("… {} more lines", left + 1), theme.dim);
        }
    }
    lines
}

/// Returns the cells of the columns for tool and access: no more than the longest text needs.
fn columns(rows: &[Row], cells: usize) -> (usize, usize) {
    let widest = |text: fn(&Row) -> &str| rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0);
    (widest(|row| &row.tool).min(TOOL).min(cells / 4), widest(|row| &row.reach).min(REACH).min(cells / 3))
}

/// Draws the message of a denial. Returns the position of its cursor.
fn because(calls: usize, line: &Line, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Position {
    let label = match calls {
        1 => "deny because ".to_owned(),
        calls => format!("deny {calls} because "),
    };
    line.view_behind(&label, area, buffer, theme)
}

impl Waits {
    /// Returns the key hints, from the longest to the shortest.
    fn hints(&self, keys: &Keymap, ticked: usize) -> Vec<String> {
        let key = |action| keys.hint(Scope::Waits, action);
        if self.is_writing() {
            let line = |action| keys.hint(Scope::Line, action);
            let (enter, back) = (line(Action::Accept), line(Action::Close));
            return vec![
                format!("{enter} deny with this message · {back} back"),
                format!("{enter} deny · {back} back"),
            ];
        }
        let no = match ticked {
            0 => "deny".to_owned(),
            1 => "deny ticked".to_owned(),
            count => format!("deny {count}"),
        };
        hints::rows([
            hint(7, "↑↓", &["move"]),
            hint(0, &key(Action::Accept), &["open prompt", "open"]),
            hint(4, &key(Action::Tick), &["tick"]),
            hint(5, &key(Action::TickAll), &["all"]),
            hint(1, &key(Action::Refuse), &[&no, if ticked == 0 { "deny" } else { &no }]),
            hint(3, &key(Action::RefuseBecause), &["deny with message…", "message"]),
            hint(2, &key(Action::Close), &["back"]),
        ])
    }
}
