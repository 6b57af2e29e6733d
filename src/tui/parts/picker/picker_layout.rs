//! Rendering of a list: frame, filter, and rows in columns.

use super::{Picker, Row};
use crate::text::{clean, width};
use crate::tui::parts::filter::{Filter, highlight_matches};
use crate::tui::parts::frame::{Frame, hidden_rows_text};
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Maximum size of a list. On a smaller screen it fills everything except the margins.
const MAX_WIDTH: u16 = 100;
const MAX_HEIGHT: u16 = 30;
/// Minimum height of a list.
const MIN_HEIGHT: u16 = 8;
/// Maximum width of the main column, so that the other columns line up.
const MAX_MAIN_CELLS: usize = 48;
/// Maximum cells of a second column that describes the row, such as `copy, waiting for you`. Unlike a longer one, it is
/// not cut in favour of a long main text.
const SHORT_SECONDARY_CELLS: usize = 32;

/// Maximum number of rows for which the second column may wrap.
const MAX_WRAPPING_ROWS: usize = 8;
/// A second column narrower than this is cut, not wrapped.
const MIN_WRAP_CELLS: usize = 16;

impl Picker {
    /// Draws the list over the middle of `area`. Returns the position of the filter's cursor.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Option<Position> {
        let place = self.list_area(area.intersection(buffer.area));
        let (_, list) = self.split_area(inner_area(place));
        self.page_rows.set(usize::from(list.height).max(1));
        self.scroll_to_cursor(usize::from(list.height));
        let top = self.first_visible.get();
        let below = self.position_count().saturating_sub(top + usize::from(list.height));
        let count = format!("{} of {}", self.matches.len(), self.rows.len());
        // The number of hidden rows is shown even if the title has to be cut.
        let room = usize::from(place.width).saturating_sub(4);
        let (count, title) = match hidden_rows_text(top, below) {
            None => (count, self.title.as_str().into()),
            Some(beyond) => {
                let both = format!("{count} · {beyond}");
                let fits = width::text_width(&self.title) + width::text_width(&both) + 6 <= room;
                let count = if fits { both } else { beyond };
                let title = width::fit_start(&self.title, room.saturating_sub(width::text_width(&count) + 6));
                (count, title)
            }
        };
        let keeps = self.store_key.as_ref().filter(|key| !key.is_empty());
        let keeps = keeps.map(|key| format!(" · {key} keep")).unwrap_or_default();
        let hints = [
            format!("↑↓ move · enter pick{keeps} · type to filter · esc back"),
            format!("enter pick{keeps} · esc back"),
            "enter pick · esc back".to_owned(),
        ];
        let frame = Frame { title: &title, right_title: &count, hints: &hints, is_listening: true, ..Frame::default() };
        let inside = frame.draw(place, buffer, theme);
        let (line, list) = self.split_area(inside);
        let cursor = self.draw_filter(line, buffer, theme);
        let note = Rect { y: line.bottom(), height: list.y - line.bottom(), ..list };
        for (row, text) in note.rows().zip(&wrap::wrap_plain(&self.note, theme.warning, usize::from(list.width).max(1)))
        {
            buffer.set_line(row.x, row.y, text, row.width);
        }
        if self.position_count() == 0 {
            let words = if self.rows.is_empty() { &self.empty_text } else { "No matches" };
            buffer.set_stringn(list.x, list.y, fit_to_area(words, list), usize::from(list.width), theme.dim);
        } else {
            self.draw_rows(list, buffer, theme);
        }
        cursor
    }

    /// Returns the position in the list of the row drawn at this cell.
    pub(super) fn position_at(&self, area: Rect, column: u16, row: u16) -> Option<usize> {
        let (_, list) = self.split_area(inner_area(self.list_area(area)));
        let mut line = usize::from(row.checked_sub(list.y)?);
        let mut at = self.first_visible.get();
        let shown: Vec<&Row> = self.matches.iter().map(|row| &self.rows[*row]).collect();
        if self.wraps_secondary(&shown, list) {
            let (room, main) = (row_cells(list), self.main_column_cells(&shown, list));
            while let Some(rows) = shown.get(at).map(|row| secondary_lines(row, room, main).len())
                && line >= rows
            {
                (line, at) = (line - rows, at + 1);
            }
        }
        at += line;
        (list.contains(Position::new(column, row)) && at < self.position_count()).then_some(at)
    }

    /// Returns the middle of an area, tall enough for all unfiltered rows; or all of a small area.
    fn list_area(&self, area: Rect) -> Rect {
        if area.width < 50 || area.height < 12 {
            return area;
        }
        let more = 3 + usize::from(!self.note.is_empty()) + usize::from(self.typed_verb.is_some());
        // A few visible columns next to the frame would only distract.
        let width = if area.width < MAX_WIDTH + 12 { area.width } else { MAX_WIDTH };
        let lines = match self.rows.len() {
            ..=MAX_WRAPPING_ROWS => {
                self.count_lines(&self.rows.iter().collect::<Vec<_>>(), inner_area(Rect { width, ..area }))
            }
            many => many,
        };
        let rows = u16::try_from(lines + more).unwrap_or(u16::MAX).max(MIN_HEIGHT);
        // Margins are kept only if every row fits with them.
        let room = if rows > area.height - 4 { area.height } else { area.height - 4 };
        let height = room.min(MAX_HEIGHT).min(rows);
        let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 3);
        Rect { x, y, width, height }
    }

    /// Returns the areas of the filter and the rows, with room for the note between them. In a single row there is no
    /// filter.
    fn split_area(&self, inside: Rect) -> (Rect, Rect) {
        let line = u16::from(inside.height > 1);
        let below = inside.height - line;
        let wanted = wrap::wrap_plain(&self.note, Style::new(), usize::from(inside.width).max(1)).len();
        let wanted = if self.note.is_empty() { 0 } else { u16::try_from(wanted).unwrap_or(u16::MAX).min(3) };
        let note = wanted.min(below.saturating_sub(2));
        let list = Rect { y: inside.y + line + note, height: below - note, ..inside };
        (Rect { height: line, ..inside }, list)
    }

    fn draw_filter(&self, line: Rect, buffer: &mut Buffer, theme: &Theme) -> Option<Position> {
        if line.is_empty() {
            return None;
        }
        let sign = if line.width > 8 { "❯ " } else { "" };
        buffer.set_stringn(line.x, line.y, sign, usize::from(line.width), theme.accent);
        let start = line.x + width::text_width(sign) as u16;
        let room = usize::from(line.right() - start);
        let (text, cells) = self.filter.visible_part(room);
        if self.filter.text().is_empty() {
            buffer.set_stringn(start, line.y, self.filter_hint, room, theme.dim);
        }
        buffer.set_stringn(start, line.y, text, room, theme.text);
        Some(Position::new((start + cells as u16).min(line.right() - 1), line.y))
    }

    fn scroll_to_cursor(&self, height: usize) {
        let lowest = (self.cursor + 1).saturating_sub(height.max(1));
        let last = self.position_count().saturating_sub(height);
        self.first_visible.set(self.first_visible.get().clamp(lowest, self.cursor.max(lowest)).min(last.max(lowest)));
    }

    /// Returns the cells of the main column, which depend on the second columns of these rows.
    fn main_column_cells(&self, shown: &[&Row], list: Rect) -> usize {
        let main = shown.iter().filter(|row| !row.secondary.is_empty()).map(|row| width::text_width(&row.text)).max();
        let widest = |of: fn(&Row) -> &str, most| {
            shown.iter().map(|row| width::text_width(of(row))).filter(|cells| *cells <= most).max().unwrap_or(0)
        };
        let beside = 6 + widest(|row| &row.secondary, SHORT_SECONDARY_CELLS) + widest(|row| &row.detail, usize::MAX);
        let most = match shown.iter().any(|row| row.is_pinned) {
            true => (usize::from(list.width) / 3).clamp(12, MAX_MAIN_CELLS),
            // The second column is short and describes the row; for a long main text the beginning is enough.
            false if list.width < 50 => MAX_MAIN_CELLS,
            false => usize::from(list.width).saturating_sub(beside).clamp(24, MAX_MAIN_CELLS),
        };
        main.unwrap_or(0).min(most)
    }

    /// Returns the number of lines of these rows with wrapped second columns.
    fn count_lines(&self, rows: &[&Row], list: Rect) -> usize {
        let (room, main) = (row_cells(list), self.main_column_cells(rows, list));
        rows.iter().map(|row| secondary_lines(row, room, main).len()).sum()
    }

    /// True if second columns wrap: in a list of few rows that all fit that way.
    fn wraps_secondary(&self, shown: &[&Row], list: Rect) -> bool {
        let offered = usize::from(self.typed_choice().is_some());
        self.rows.len() <= MAX_WRAPPING_ROWS && self.count_lines(shown, list) + offered <= usize::from(list.height)
    }

    fn draw_rows(&self, list: Rect, buffer: &mut Buffer, theme: &Theme) {
        let mut filter = self.build_filter();
        let places =
            self.first_visible.get()..self.matches.len().min(self.first_visible.get() + usize::from(list.height));
        let shown: Vec<&Row> = self.matches[places.clone()].iter().map(|row| &self.rows[*row]).collect();
        let main = self.main_column_cells(&shown, list);
        let wraps = self.wraps_secondary(&shown, list);
        let tall = |row| if wraps { secondary_lines(row, row_cells(list), main).len() } else { 1 };
        if let (Some(typed), Some(words)) = (self.typed_choice(), self.typed_verb)
            && let Some(line) = list.rows().nth(shown.iter().map(|row| tall(row)).sum())
        {
            let picked = self.cursor == self.matches.len();
            let style = if picked { theme.text.patch(theme.selected) } else { theme.dim };
            if picked {
                buffer.set_style(line, style);
            }
            let text = format!("{}{words} “{}”", if picked { "❯ " } else { "  " }, clean::clean_line(typed));
            buffer.set_line(line.x, line.y, &Line::styled(fit_to_area(&text, line), style), line.width);
        }
        let mut y = list.y;
        for (at, row) in places.zip(shown) {
            let picked = at == self.cursor;
            let style = if picked { theme.text.patch(theme.selected) } else { theme.text };
            let line = Rect { y, height: tall(row) as u16, ..list };
            y = line.bottom();
            if picked {
                buffer.set_style(line, style);
            }
            let sign = Span::styled(if picked { "❯ " } else { "  " }, style);
            let room = row_cells(list);
            let mut spans = vec![sign];
            // The row of the cursor has a single style, because not every colour is readable on its background.
            let dim = if picked { style } else { theme.dim };
            let words = row_spans(row, room, main, &mut filter, (style, dim), theme);
            spans.extend(if row.has_sign && !picked { colour_signs(words, theme) } else { words });
            buffer.set_line(line.x, line.y, &Line::from(spans), line.width);
            if line.height > 1 {
                let (column, free) = secondary_column(row, room, main);
                for (words, y) in secondary_lines(row, room, main).iter().zip(line.y..) {
                    let x = line.x + 2 + column as u16;
                    buffer.set_stringn(x, y, " ".repeat(free), free, dim);
                    buffer.set_stringn(x, y, words, free, dim);
                }
            }
        }
    }
}

/// Returns the columns of a row. The main text has priority, then the detail; the second column gets the rest.
fn row_spans(
    row: &Row,
    room: usize,
    main: usize,
    filter: &mut Filter,
    (style, dim): (Style, Style),
    theme: &Theme,
) -> Vec<Span<'static>> {
    let marks = filter.matched_graphemes(&row.search_text);
    let (detail, free) = detail_cells(row, room, main);
    let most = max_main_cells(row, free, main);
    let cells = width::text_width(&row.text).min(most);
    let (text, dropped) = if row.is_path {
        let text = width::fit_end(&row.text, free);
        let dropped = count_graphemes(&row.text) - count_graphemes(&text);
        (text, dropped)
    } else {
        (width::fit_start(&row.text, most), 0)
    };
    let own: Vec<usize> = marks.iter().filter_map(|mark| mark.checked_sub(dropped)).collect();
    let mut spans = highlight_matches(&text, &own, style, theme.found);
    let mut used = width::text_width(&text);
    let column = main.max(cells) + 2;
    if !row.secondary.is_empty() && column + 4 <= free {
        let before = count_graphemes(&row.text) + 1;
        let own: Vec<usize> = marks.iter().filter_map(|mark| mark.checked_sub(before)).collect();
        let more = width::fit_start(&row.secondary, free - column);
        spans.push(Span::styled(" ".repeat(column - used), style));
        spans.extend(highlight_matches(&more, &own, dim, theme.found));
        used = column + width::text_width(&more);
    }
    if detail > 0 {
        spans.push(Span::styled(" ".repeat(room - detail - used), style));
        spans.push(Span::styled(row.detail.clone(), dim));
    }
    spans
}

/// Colours the sign at the start of a row and the counts at its end.
fn colour_signs(spans: Vec<Span<'static>>, theme: &Theme) -> Vec<Span<'static>> {
    let role = |sign: &str| match sign.chars().next() {
        Some('+') => Some(Style { bg: None, ..theme.added }),
        Some('−') => Some(Style { bg: None, ..theme.removed }),
        Some('~') => Some(theme.accent),
        Some(_) | None => None,
    };
    let last = spans.len().saturating_sub(1);
    let mut tinted = Vec::new();
    for (at, span) in spans.into_iter().enumerate() {
        let begins = span.content.len() - span.content.trim_start().len();
        let (before, rest) = span.content.split_at(begins);
        let counts: Vec<&str> = rest.split(' ').collect();
        if at == 0
            && let Some(style) = role(rest)
        {
            let sign = rest.chars().next().map_or(0, char::len_utf8);
            tinted.extend([
                Span::styled(before.to_owned(), span.style),
                Span::styled(rest[..sign].to_owned(), style),
                Span::styled(rest[sign..].to_owned(), span.style),
            ]);
        } else if at == last
            && let [added, removed] = counts.as_slice()
            && let (Some(added_look), Some(removed_look)) = (role(added), role(removed))
        {
            tinted.extend([
                Span::styled(format!("{added} "), added_look),
                Span::styled((*removed).to_owned(), removed_look),
            ]);
        } else {
            tinted.push(span);
        }
    }
    tinted
}

/// Returns the cells of the detail and the cells before it.
fn detail_cells(row: &Row, room: usize, main: usize) -> (usize, usize) {
    match width::text_width(&row.detail) {
        0 => (0, room),
        cells if width::text_width(&row.text).min(main.max(12)) + cells + 2 <= room => (cells, room - cells - 2),
        _ => (0, room),
    }
}

/// Returns the cells the main text may use of the free cells.
fn max_main_cells(row: &Row, free: usize, main: usize) -> usize {
    match (1..=SHORT_SECONDARY_CELLS).contains(&width::text_width(&row.secondary)) && !row.is_path {
        _ if row.is_pinned => main,
        true => main.max(free.saturating_sub(width::text_width(&row.secondary) + 2)),
        false => free,
    }
}

/// Returns the start of the second column and its cells; 0 if there is no room.
fn secondary_column(row: &Row, room: usize, main: usize) -> (usize, usize) {
    let (_, free) = detail_cells(row, room, main);
    let column = main.max(width::text_width(&row.text).min(max_main_cells(row, free, main))) + 2;
    (column, if column + 4 <= free { free - column } else { 0 })
}

/// Returns the lines of the second column: one, or several if wrapping keeps words whole.
fn secondary_lines(row: &Row, room: usize, main: usize) -> Vec<String> {
    let (_, free) = secondary_column(row, room, main);
    if free < MIN_WRAP_CELLS || width::text_width(&row.secondary) <= free {
        return vec![row.secondary.clone()];
    }
    let lines = wrap::wrap_plain(&row.secondary, Style::new(), free);
    lines.iter().map(|line| line.spans.iter().map(|span| span.content.as_ref()).collect()).collect()
}

/// Returns the cells of a row after the cursor sign.
fn row_cells(list: Rect) -> usize {
    usize::from(list.width).saturating_sub(2)
}

fn count_graphemes(text: &str) -> usize {
    unicode_segmentation::UnicodeSegmentation::graphemes(text, true).count()
}

fn fit_to_area(words: &str, area: Rect) -> String {
    width::fit_start(words, usize::from(area.width)).into_owned()
}

/// Returns the area inside a frame, as in `Frame::draw`.
fn inner_area(place: Rect) -> Rect {
    if place.height < 3 || place.width < 5 {
        return place;
    }
    Rect { x: place.x + 2, y: place.y + 1, width: place.width - 4, height: place.height - 2 }
}
