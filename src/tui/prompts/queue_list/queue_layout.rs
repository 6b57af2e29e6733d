//! Drawing of the queue list: one row per call, and below them details of the call under the cursor.

use super::{QueueList, QueueRow};
use crate::text::{reveal, width};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::call_summary::{CallSummary, summarize_arguments};
use crate::tui::parts::frame::{Frame, PromptContext, hidden_rows_text, inner_area, is_readable};
use crate::tui::parts::key_hints::{self, key_hint};
use crate::tui::parts::listening::Listening;
use crate::tui::parts::text_field::TextField;
use crate::tui::prompts::prompt::{DrawnPrompt, Prompt};
use crate::tui::text::{Piece, revealed_pieces, wrap};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;

/// Maximum cells of a tool's name.
const MAX_TOOL_CELLS: usize = 14;
/// Maximum cells of a call's access.
const MAX_ACCESS_CELLS: usize = 18;
/// Maximum rows of details.
const MAX_DETAIL_ROWS: usize = 3;
/// Maximum rows the list asks for.
const MAX_ROWS: usize = 16;

/// Division of the height between rows and details.
struct QueueLayout {
    /// First visible row.
    first: usize,
    visible_rows: usize,
    /// Rows for the details and the line above them.
    detail_rows: usize,
}

impl QueueList {
    /// Returns the rows the list asks for; with fewer, it scrolls.
    pub fn preferred_height(&self, rows: usize) -> u16 {
        // The last three rows are the two borders and the line above the details.
        (rows.clamp(1, MAX_ROWS) + MAX_DETAIL_ROWS + 3) as u16
    }

    pub fn draw(&self, rows: &[QueueRow], context: &PromptContext<'_>, area: Rect, buffer: &mut Buffer) -> DrawnPrompt {
        let PromptContext { listening, keys, theme, message } = *context;
        let cursor_row = self.cursor.min(rows.len().saturating_sub(1));
        let selected_count = rows.iter().filter(|row| self.selected.contains(&row.call)).count();
        let QueueLayout { first, visible_rows, detail_rows } =
            self.divide_height(rows.len(), cursor_row, area.intersection(buffer.area));
        let selected_text = (selected_count > 0).then(|| format!("{selected_count} selected"));
        let position_text = Some(format!("{} of {}", cursor_row + 1, rows.len()));
        let hidden_text = hidden_rows_text(first, rows.len().saturating_sub(first + visible_rows));
        let right_parts: Vec<String> = [selected_text, position_text, hidden_text].into_iter().flatten().collect();
        let right_title = right_parts.join(" · ");
        let frame = Frame {
            title: "Queue",
            right_title: &right_title,
            hints: &self.hints(keys, selected_count),
            message,
            is_listening: listening.is_listening() || self.is_writing() && listening != Listening::Unseen,
            is_destructive: false,
        };
        let mut inner = frame.draw(area, buffer, theme);
        if inner.is_empty() {
            return DrawnPrompt::default();
        }
        let mut cursor = None;
        if let Some((calls, field)) = &self.denial_message {
            inner.height -= 1;
            let row = Rect { y: inner.bottom(), height: 1, ..inner };
            cursor = Some(draw_denial_message(calls.len(), field, row, buffer, theme));
        }
        let columns = column_widths(rows, usize::from(inner.width));
        for ((index, row), row_area) in rows.iter().enumerate().skip(first).zip(inner.rows().take(visible_rows)) {
            self.draw_row(row, index == cursor_row, columns, row_area, buffer, theme);
        }
        if let Some(row) = rows.get(cursor_row).filter(|_| detail_rows > 0) {
            let y = inner.bottom() - detail_rows as u16;
            let line = "─".repeat(usize::from(inner.width));
            buffer.set_stringn(inner.x, y, line, usize::from(inner.width), theme.border_dim);
            let lines = detail_lines(row, usize::from(inner.width), detail_rows - 1, theme);
            for (line, y) in lines.iter().zip(y + 1..) {
                buffer.set_line(inner.x, y, line, inner.width);
            }
        }
        DrawnPrompt { cursor, visible_rows, is_readable: is_readable(inner, area, buffer), ..DrawnPrompt::default() }
    }

    /// Divides the height between rows and details. If every call and some details fit, every call is shown.
    fn divide_height(&self, rows: usize, cursor_row: usize, area: Rect) -> QueueLayout {
        let height = usize::from(inner_area(area).height).saturating_sub(usize::from(self.denial_message.is_some()));
        let detail_rows = match height.saturating_sub(rows) {
            // Details are shown although not all calls fit, if at least three calls stay visible.
            0..=1 if height > MAX_DETAIL_ROWS + rows.min(3) => MAX_DETAIL_ROWS + 1,
            0..=1 => 0,
            free => free.min(MAX_DETAIL_ROWS + 1),
        };
        let visible_rows = height - detail_rows;
        let first = (cursor_row + 1).saturating_sub(visible_rows.div_ceil(2)).min(rows.saturating_sub(visible_rows));
        QueueLayout { first, visible_rows, detail_rows }
    }

    /// Draws one row: cursor, selection mark, number, tool, summary, access.
    fn draw_row(
        &self,
        row: &QueueRow,
        has_cursor: bool,
        (tool_cells, access_cells): (usize, usize),
        area: Rect,
        buffer: &mut Buffer,
        theme: &Theme,
    ) {
        if has_cursor {
            buffer.set_style(area, theme.selected);
        }
        // The row of the cursor has a single style, because not every colour is readable on its background.
        let row_style = |style| if has_cursor { theme.text.patch(theme.selected) } else { style };
        let selection_mark = match (row.can_deny, self.selected.contains(&row.call)) {
            (false, _) => "    ",
            (true, true) => "[x] ",
            (true, false) => "[ ] ",
        };
        let prefix = format!("{} {selection_mark}{:>3} ", if has_cursor { "❯" } else { " " }, row.number);
        let cells = usize::from(area.width);
        let mut x = area.x;
        let mut draw_column = |text: &str, cells: usize, style| {
            let columns = usize::from(area.right().saturating_sub(x)).min(cells);
            buffer.set_stringn(x, area.y, width::fit_start(&column_text(text), columns), columns, style);
            x = x.saturating_add(cells as u16).min(area.right());
        };
        let summary_cells = cells.saturating_sub(width::text_width(&prefix) + tool_cells + access_cells + 2);
        draw_column(&prefix, width::text_width(&prefix), row_style(theme.accent));
        draw_column(&row.tool, tool_cells, row_style(theme.text));
        draw_column(" ", 1, row_style(theme.text));
        draw_column(&row.summary, summary_cells, row_style(theme.dim));
        draw_column(" ", 1, row_style(theme.text));
        let style = match (row.is_destructive, row.is_sensitive) {
            // On the background of the prompt, so that the colour is readable in the row of the cursor too.
            (true, _) => Style::reset().patch(theme.background).patch(theme.text).patch(theme.danger),
            (false, true) => row_style(theme.warning),
            (false, false) => row_style(theme.dim),
        };
        draw_column(&row.access, access_cells, style);
    }
}

/// Returns the details of a call: its identifying argument if the row may have cut it, and the other arguments.
fn detail_lines(row: &QueueRow, cells: usize, rows: usize, theme: &Theme) -> Vec<Line<'static>> {
    let CallSummary { subject, others } = summarize_arguments(&row.arguments);
    let subject = if row.arguments.is_empty() { &row.summary } else { &subject };
    let mut pieces = Vec::new();
    if others.is_empty() || subject.contains('\n') || width::text_width(subject) > cells / 2 {
        pieces.extend(revealed_pieces(subject, theme.text, theme.mark));
    }
    for (name, value) in &others {
        if !pieces.is_empty() {
            pieces.push(Piece::new("\n", theme.text));
        }
        pieces.push(Piece::new(format!("{} ", reveal::reveal_line(name)), theme.dim));
        pieces.extend(revealed_pieces(value, theme.text, theme.mark));
    }
    let mut lines = wrap::wrap_pieces(&pieces, &wrap::Shape::with_width(cells)).lines;
    // Blank lines are dropped, because there are few rows. The prompt of the call shows everything.
    lines.retain(|line| line.width() > 0);
    let hidden_lines = lines.len().saturating_sub(rows);
    if hidden_lines > 0 {
        lines.truncate(rows);
        if let Some(last) = lines.last_mut() {
            *last = Line::styled(format!("… {} more lines", hidden_lines + 1), theme.dim);
        }
    }
    lines
}

/// Maximum cells shown of a column's text.
const MAX_TEXT_CELLS: usize = 200;

/// Returns the first [`MAX_TEXT_CELLS`] cells of a column's text, with marks for invisible characters.
fn column_text(text: &str) -> String {
    reveal::reveal_line(width::cut_to_width(text, MAX_TEXT_CELLS))
}

/// Returns the cells of the columns for the tool and for the access. A column is no wider than its longest text.
fn column_widths(rows: &[QueueRow], cells: usize) -> (usize, usize) {
    let widest = |text: fn(&QueueRow) -> &str| {
        rows.iter().map(|row| width::text_width(&column_text(text(row)))).max().unwrap_or(0)
    };
    (
        widest(|row| &row.tool).min(MAX_TOOL_CELLS).min(cells / 4),
        widest(|row| &row.access).min(MAX_ACCESS_CELLS).min(cells / 3),
    )
}

/// Draws the message with which this number of calls is denied. Returns the position of its cursor.
fn draw_denial_message(count: usize, field: &TextField, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Position {
    let label = match count {
        1 => "deny because ".to_owned(),
        count => format!("deny {count} because "),
    };
    field.draw_with_label(&label, area, buffer, theme)
}

impl QueueList {
    /// Returns the key hints, from the longest to the shortest.
    fn hints(&self, keys: &Keymap, selected_count: usize) -> Vec<String> {
        let key = |action| keys.first_chord(Scope::Queue, action);
        if self.is_writing() {
            let field_key = |action| keys.first_chord(Scope::TextField, action);
            let (accept_key, close_key) = (field_key(Action::Accept), field_key(Action::Close));
            return vec![
                format!("{accept_key} deny with this message · {close_key} back"),
                format!("{accept_key} deny · {close_key} back"),
            ];
        }
        let deny_label = match selected_count {
            0 => "deny".to_owned(),
            1 => "deny selected".to_owned(),
            count => format!("deny {count}"),
        };
        // The first argument is the priority: the hint with the highest number is removed first, 0 is never removed.
        key_hints::hint_rows([
            key_hint(7, "↑↓", &["move"]),
            key_hint(0, &key(Action::Accept), &["open prompt", "open"]),
            key_hint(4, &key(Action::Select), &["select"]),
            key_hint(5, &key(Action::SelectAll), &["all"]),
            key_hint(1, &key(Action::Deny), &[&deny_label]),
            key_hint(3, &key(Action::DenyWithMessage), &["deny with message…", "message"]),
            key_hint(2, &key(Action::Close), &["back"]),
        ])
    }
}
