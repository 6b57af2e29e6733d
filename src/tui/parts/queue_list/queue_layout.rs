//! Rendering of the queue list: one row per call, and details of the selected call below.

use super::{DrawnFrame, QueueList, QueueRow};
use crate::text::{reveal, width};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::call_summary::{CallSummary, summarize_arguments};
use crate::tui::parts::frame::{Frame, MIN_READABLE_CELLS, PromptContext, hidden_rows_text};
use crate::tui::parts::key_hints::{self, key_hint};
use crate::tui::parts::text_field::TextField;
use crate::tui::text::{Piece, revealed_pieces, wrap};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line as Text;

/// Maximum cells of a tool's name and of the access of a call.
const MAX_TOOL_CELLS: usize = 14;
const MAX_ACCESS_CELLS: usize = 18;
/// Maximum rows of details for the selected call.
const MAX_DETAIL_ROWS: usize = 3;
/// Maximum rows the list asks for.
const MAX_ROWS: usize = 16;

/// Visible rows of the list, and the rows for details with the line above them.
struct QueueLayout {
    first: usize,
    visible_rows: usize,
    detail_rows: usize,
}

impl QueueList {
    /// Returns the rows the list asks for; with fewer, it scrolls.
    pub fn preferred_height(&self, rows: usize) -> u16 {
        (rows.clamp(1, MAX_ROWS) + MAX_DETAIL_ROWS + 3) as u16
    }

    pub fn draw(&self, rows: &[QueueRow], sight: &PromptContext<'_>, area: Rect, buffer: &mut Buffer) -> DrawnFrame {
        let PromptContext { listening, keys, theme, message: says } = *sight;
        let at = self.cursor.min(rows.len().saturating_sub(1));
        let ticked = rows.iter().filter(|row| self.ticked.contains(&row.call)).count();
        let QueueLayout { first, visible_rows: shown, detail_rows: more } =
            self.divide_height(rows.len(), at, area.intersection(buffer.area));
        let ticks = (ticked > 0).then(|| format!("{ticked} ticked"));
        let place = Some(format!("{} of {}", at + 1, rows.len()));
        let beyond = hidden_rows_text(first, rows.len().saturating_sub(first + shown));
        let right: Vec<String> = [ticks, place, beyond].into_iter().flatten().collect();
        let right = right.join(" · ");
        let frame = Frame {
            title: "Queue",
            right_title: &right,
            hints: &self.hints(keys, ticked),
            message: says,
            is_listening: listening.is_listening() || self.is_writing(),
            is_destructive: false,
        };
        let mut inside = frame.draw(area, buffer, theme);
        if inside.is_empty() {
            return DrawnFrame::default();
        }
        let mut cursor = None;
        if let Some((calls, line)) = &self.denial_message {
            inside.height -= 1;
            let row = Rect { y: inside.bottom(), height: 1, ..inside };
            cursor = Some(draw_denial_message(calls.len(), line, row, buffer, theme));
        }
        let columns = column_widths(rows, usize::from(inside.width));
        for ((index, row), place) in rows.iter().enumerate().skip(first).zip(inside.rows().take(shown)) {
            self.draw_row(row, index == at, columns, place, buffer, theme);
        }
        if let Some(row) = rows.get(at).filter(|_| more > 0) {
            let y = inside.bottom() - more as u16;
            let line = "─".repeat(usize::from(inside.width));
            buffer.set_stringn(inside.x, y, line, usize::from(inside.width), theme.border_dim);
            let lines = detail_lines(row, usize::from(inside.width), more - 1, theme);
            for (line, y) in lines.iter().zip(y + 1..) {
                buffer.set_line(inside.x, y, line, inside.width);
            }
        }
        let readable = inside.width >= MIN_READABLE_CELLS && area == area.intersection(buffer.area);
        DrawnFrame { cursor, visible_rows: shown, is_readable: readable }
    }

    /// Divides the height between rows and details. If every call and some details fit, every call is shown.
    fn divide_height(&self, rows: usize, at: usize, area: Rect) -> QueueLayout {
        let inside = usize::from(area.height).saturating_sub(if area.height < 3 || area.width < 5 { 0 } else { 2 });
        let height = inside.saturating_sub(usize::from(self.denial_message.is_some()));
        let more = match height.saturating_sub(rows) {
            0..=1 if height > MAX_DETAIL_ROWS + rows.min(3) => MAX_DETAIL_ROWS + 1,
            0..=1 => 0,
            left => left.min(MAX_DETAIL_ROWS + 1),
        };
        let shown = height - more;
        let first = (at + 1).saturating_sub(shown.div_ceil(2)).min(rows.saturating_sub(shown));
        QueueLayout { first, visible_rows: shown, detail_rows: more }
    }

    /// Draws one row: cursor, tick, number, tool, summary, access.
    fn draw_row(
        &self,
        row: &QueueRow,
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
        let tick = match (row.can_deny, self.ticked.contains(&row.call)) {
            (false, _) => "    ",
            (true, true) => "[x] ",
            (true, false) => "[ ] ",
        };
        let lead = format!("{} {tick}{:>3} ", if open { "❯" } else { " " }, row.number);
        let cells = usize::from(place.width);
        let mut x = place.x;
        let mut put = |text: &str, cells: usize, style| {
            let room = usize::from(place.right().saturating_sub(x)).min(cells);
            let text = reveal::reveal_line(width::cut_to_width(text, 200));
            buffer.set_stringn(x, place.y, width::fit_start(&text, room), room, style);
            x = x.saturating_add(cells as u16).min(place.right());
        };
        let left = cells.saturating_sub(width::text_width(&lead) + tool + reach + 2);
        put(&lead, width::text_width(&lead), look(theme.accent));
        put(&row.tool, tool, look(theme.text));
        put(" ", 1, look(theme.text));
        put(&row.summary, left, look(theme.dim));
        put(" ", 1, look(theme.text));
        let style = match (row.is_destructive, row.needs_care) {
            // On the background of the prompt, so that its colour is readable in the selected row too.
            (true, _) => Style::reset().patch(theme.ground).patch(theme.text).patch(theme.danger),
            (false, true) => look(theme.warning),
            (false, false) => look(theme.dim),
        };
        put(&row.access, reach, style);
    }
}

/// Returns the details of the selected call: the text its row has no room for, and its other arguments.
fn detail_lines(row: &QueueRow, cells: usize, rows: usize, theme: &Theme) -> Vec<Text<'static>> {
    let CallSummary { subject: about, others } = summarize_arguments(&row.arguments);
    let about = if row.arguments.is_empty() { &row.summary } else { &about };
    let mut pieces = Vec::new();
    if others.is_empty() || about.contains('\n') || width::text_width(about) > cells / 2 {
        pieces.extend(revealed_pieces(about, theme.text, theme.mark));
    }
    for (name, value) in &others {
        if !pieces.is_empty() {
            pieces.push(Piece::new("\n", theme.text));
        }
        pieces.push(Piece::new(format!("{} ", reveal::reveal_line(name)), theme.dim));
        pieces.extend(revealed_pieces(value, theme.text, theme.mark));
    }
    let mut lines = wrap::wrap_pieces(&pieces, &wrap::Shape::with_width(cells)).lines;
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
fn column_widths(rows: &[QueueRow], cells: usize) -> (usize, usize) {
    let widest = |text: fn(&QueueRow) -> &str| rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0);
    (
        widest(|row| &row.tool).min(MAX_TOOL_CELLS).min(cells / 4),
        widest(|row| &row.access).min(MAX_ACCESS_CELLS).min(cells / 3),
    )
}

/// Draws the message of a denial. Returns the position of its cursor.
fn draw_denial_message(calls: usize, line: &TextField, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Position {
    let label = match calls {
        1 => "deny because ".to_owned(),
        calls => format!("deny {calls} because "),
    };
    line.draw_with_label(&label, area, buffer, theme)
}

impl QueueList {
    /// Returns the key hints, from the longest to the shortest.
    fn hints(&self, keys: &Keymap, ticked: usize) -> Vec<String> {
        let key = |action| keys.first_chord(Scope::Queue, action);
        if self.is_writing() {
            let line = |action| keys.first_chord(Scope::TextField, action);
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
        key_hints::hint_rows([
            key_hint(7, "↑↓", &["move"]),
            key_hint(0, &key(Action::Accept), &["open prompt", "open"]),
            key_hint(4, &key(Action::Select), &["tick"]),
            key_hint(5, &key(Action::SelectAll), &["all"]),
            key_hint(1, &key(Action::Deny), &[&no, if ticked == 0 { "deny" } else { &no }]),
            key_hint(3, &key(Action::DenyWithMessage), &["deny with message…", "message"]),
            key_hint(2, &key(Action::Close), &["back"]),
        ])
    }
}
