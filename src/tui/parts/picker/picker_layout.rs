//! Drawing of a list: frame, filter, and rows in columns.

use super::row_columns::{RowColumns, SHORT_SECONDARY_CELLS};
use super::{Picker, Row};
use crate::text::{clean, width};
use crate::tui::parts::filter::{Filter, highlight_matches, matches_in_shortened};
use crate::tui::parts::frame::{Frame, hidden_rows_text, inner_area, set_lines, shorten_hints};
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

/// Maximum width of a list in cells, including its frame.
const MAX_WIDTH: u16 = 100;
/// Maximum height of a list, including its frame. All commands of the palette fit.
const MAX_HEIGHT: u16 = 40;
/// Maximum rows of the note above the list.
const MAX_NOTE_ROWS: u16 = 5;
/// Minimum height of a list.
const MIN_HEIGHT: u16 = 8;
/// Maximum width of the main column, so that the other columns line up.
const MAX_MAIN_CELLS: usize = 48;
/// Maximum number of rows for which the second column may wrap.
const MAX_WRAPPING_ROWS: usize = 8;

impl Picker {
    /// Draws the list over the middle of `area`. Returns the position of the filter's cursor.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Option<Position> {
        let frame_area = self.list_area(area.intersection(buffer.area));
        let (_, list, _) = self.split_area(inner_area(frame_area));
        self.page_rows.set(usize::from(list.height).max(1));
        self.scroll_to_cursor(usize::from(list.height));
        let top = self.first_visible.get();
        let below = self.position_count().saturating_sub(top + usize::from(list.height));
        let is_row = |row: &&Row| !row.is_heading && !row.is_folder();
        let matching = self.matches.iter().map(|row| &self.rows[*row]).filter(is_row).count();
        let is_usable = self.is_usable();
        let count = match self.filter_text().is_empty() && !self.count_text.is_empty() {
            true => self.count_text.to_string(),
            false => format!("{matching} of {}", self.rows.iter().filter(is_row).count()),
        };
        let count = if is_usable { count } else { String::new() };
        // The number of hidden rows is shown even if the title has to be cut. `Frame::draw` needs 6 more cells than the
        // two texts, for the blanks around them and the border between them.
        let title_columns = usize::from(frame_area.width).saturating_sub(4);
        let (count, title) = match hidden_rows_text(top, below) {
            None => (count, self.title.as_str().into()),
            Some(hidden_text) => {
                let full_count = format!("{count} · {hidden_text}");
                let fits = width::text_width(&self.title) + width::text_width(&full_count) + 6 <= title_columns;
                let count = if fits { full_count } else { hidden_text };
                let title = width::fit_start(&self.title, title_columns.saturating_sub(width::text_width(&count) + 6));
                (count, title)
            }
        };
        let save_key = self.save_key.as_ref().filter(|key| !key.is_empty());
        let save_hint = save_key.map(|key| format!(" · {key} save")).unwrap_or_default();
        let action = format!("{}{save_hint}", self.row_hint());
        let join =
            |parts: &[&str]| parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" · ");
        let row_hint = self.row_hint();
        let mut hints = vec![join(&["↑↓ move", &action, "type to filter", "esc back"]), join(&[&action, "esc back"])];
        hints.extend(shorten_hints(&row_hint, "esc back"));
        let close_hint = ["esc back".to_owned()];
        let hints = if is_usable { &hints[..] } else { &close_hint[..] };
        let frame = Frame { title: &title, right_title: &count, hints, is_listening: true, ..Frame::default() };
        let inner = frame.draw(frame_area, buffer, theme);
        let (filter_area, list, text_area) = self.split_area(inner);
        self.draw_selected_text(text_area, buffer, theme);
        let cursor = self.draw_filter(filter_area, buffer, theme);
        let note = Rect { y: filter_area.bottom(), height: list.y - filter_area.bottom(), ..list };
        set_lines(&wrap::wrap_plain(&self.note, theme.warning, usize::from(list.width).max(1)), note, buffer);
        if self.position_count() == 0 {
            let message = if self.rows.is_empty() { &self.empty_text } else { "No matches" };
            set_lines(&wrap::wrap_plain(message, theme.dim, usize::from(list.width).max(1)), list, buffer);
        } else {
            self.draw_rows(list, buffer, theme);
        }
        cursor
    }

    /// Returns the key hints for the selected row. A key that is a letter goes to a filter that has text.
    fn row_hint(&self) -> String {
        match self.selected_row().and_then(|row| self.rows[row].hints.as_deref()) {
            Some((enter, letters)) => {
                let letters = Some(letters).filter(|_| self.filter_text().is_empty());
                let parts = [Some(enter), letters].into_iter().flatten().filter(|part| !part.is_empty());
                parts.cloned().collect::<Vec<_>>().join(" · ")
            }
            None => {
                let fold_hint = self.selected_row().and_then(|row| self.fold_hint(row));
                fold_hint.unwrap_or_else(|| self.action_hint.to_string())
            }
        }
    }

    /// Returns the part of an area for the list: all of a small area, otherwise its middle, as tall as all rows need without
    /// a filter.
    fn list_area(&self, area: Rect) -> Rect {
        if area.width < 50 || area.height < 12 {
            return area;
        }
        // A few visible columns next to the frame would only distract.
        let width = if area.width < MAX_WIDTH + 12 { area.width } else { MAX_WIDTH };
        let note_rows = usize::from(self.note_rows(inner_area(Rect { width, ..area }).width));
        // The rows of the border and the filter, of the note, and of the typed name.
        let text_rows = self.max_text_rows(inner_area(Rect { width, ..area }));
        let extra_rows = 3 + note_rows + usize::from(self.typed_verb.is_some()) + usize::from(text_rows);
        let lines = match self.rows.len() {
            ..=MAX_WRAPPING_ROWS if !self.shows_selected_text => {
                self.count_lines(&self.rows.iter().collect::<Vec<_>>(), inner_area(Rect { width, ..area }))
            }
            count => count,
        };
        let rows = u16::try_from(lines + extra_rows).unwrap_or(u16::MAX).max(MIN_HEIGHT);
        let height = rows.min(MAX_HEIGHT).min(area.height);
        let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 3);
        Rect { x, y, width, height }
    }

    /// Returns the areas of the filter and of the rows, with room for the note between them, and of the text of the selected
    /// row. An area of one row and a list without rows have no filter.
    fn split_area(&self, inner: Rect) -> (Rect, Rect, Rect) {
        let filter_rows = u16::from(inner.height > 1 && self.shows_filter());
        let remaining = inner.height - filter_rows;
        let note_height = self.note_rows(inner.width).min(remaining.saturating_sub(2));
        let list = Rect { y: inner.y + filter_rows + note_height, height: remaining - note_height, ..inner };
        let text_rows = self.selected_text_rows(list);
        let list = Rect { height: list.height - text_rows, ..list };
        (Rect { height: filter_rows, ..inner }, list, Rect { y: list.bottom(), height: text_rows, ..inner })
    }

    /// Returns the rows of the note in an area of this width, at most [`MAX_NOTE_ROWS`].
    fn note_rows(&self, width: u16) -> u16 {
        if self.note.is_empty() {
            return 0;
        }
        let lines = wrap::wrap_plain(&self.note, Style::new(), usize::from(width).max(1)).len();
        u16::try_from(lines).unwrap_or(u16::MAX).min(MAX_NOTE_ROWS)
    }

    /// Returns whether there is something to filter or to pick: a row that is no heading, or a name that can
    /// be typed.
    fn is_usable(&self) -> bool {
        self.rows.iter().any(|row| !row.is_heading) || self.typed_verb.is_some()
    }

    /// Returns whether the filter is shown: if there is something to filter, or it has text.
    fn shows_filter(&self) -> bool {
        self.is_usable() || !self.filter.text().is_empty()
    }

    fn draw_filter(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Option<Position> {
        if area.is_empty() {
            return None;
        }
        let sign = if area.width > 8 { "❯ " } else { "" };
        buffer.set_stringn(area.x, area.y, sign, usize::from(area.width), theme.accent);
        let start = area.x + width::text_width(sign) as u16;
        let columns = usize::from(area.right() - start);
        let (text, cells) = self.filter.visible_part(columns);
        if self.filter.text().is_empty() {
            buffer.set_stringn(start, area.y, self.filter_hint, columns, theme.dim);
        }
        buffer.set_stringn(start, area.y, text, columns, theme.text);
        Some(Position::new((start + cells as u16).min(area.right() - 1), area.y))
    }

    fn scroll_to_cursor(&self, height: usize) {
        let min_top = (self.cursor + 1).saturating_sub(height.max(1));
        let max_top = self.position_count().saturating_sub(height);
        self.first_visible
            .set(self.first_visible.get().clamp(min_top, self.cursor.max(min_top)).min(max_top.max(min_top)));
    }

    /// Returns the cells that these rows reserve for their main texts, so that their second columns line up.
    fn main_column_cells(&self, rows: &[&Row], list: Rect) -> usize {
        let widest_main =
            rows.iter().filter(|row| !row.secondary.is_empty()).map(|row| width::text_width(&row.text)).max();
        let widest_cells = |column_text: fn(&Row) -> &str, limit| {
            rows.iter()
                .map(|row| width::text_width(column_text(row)))
                .filter(|cells| *cells <= limit)
                .max()
                .unwrap_or(0)
        };
        // The cursor sign and the gaps between the columns take 6 cells.
        let other_cells =
            6 + widest_cells(|row| &row.secondary, SHORT_SECONDARY_CELLS) + widest_cells(|row| &row.detail, usize::MAX);
        if rows.iter().any(|row| row.is_halved) {
            // The gaps before the other columns take 2 cells each.
            let free_cells = row_cells(list).saturating_sub(widest_cells(|row| &row.detail, usize::MAX) + 2);
            let secondary_cells = widest_cells(|row| &row.secondary, usize::MAX).min(SHORT_SECONDARY_CELLS);
            let max_main = free_cells.saturating_sub(secondary_cells + 2).max(free_cells / 2);
            return widest_main.unwrap_or(0).min(max_main.clamp(12, MAX_MAIN_CELLS));
        }
        let max_main = match rows.iter().any(|row| row.is_pinned) {
            true => (usize::from(list.width) / 3).clamp(12, MAX_MAIN_CELLS),
            // In a narrow list, the second column is dropped before the main text is cut.
            false if list.width < 50 => MAX_MAIN_CELLS,
            // For a long main text the beginning is enough.
            false => usize::from(list.width).saturating_sub(other_cells).clamp(24, MAX_MAIN_CELLS),
        };
        widest_main.unwrap_or(0).min(max_main)
    }

    /// Returns the number of lines of these rows with wrapped second columns.
    fn count_lines(&self, rows: &[&Row], list: Rect) -> usize {
        let (row_width, main_cells) = (row_cells(list), self.main_column_cells(rows, list));
        rows.iter().map(|row| RowColumns::new(row, row_width, main_cells).secondary_lines(row).len()).sum()
    }

    /// Returns whether any row is cut in a list of this size in which no second column wraps. Assumed for a list of many rows,
    /// not all of which are looked at for each frame.
    pub(super) fn has_cut_row(&self, list: Rect) -> bool {
        if self.rows.len() > MAX_WRAPPING_ROWS {
            return true;
        }
        let rows: Vec<&Row> = self.rows.iter().collect();
        let (row_width, main_cells) = (row_cells(list), self.main_column_cells(&rows, list));
        rows.iter().any(|row| RowColumns::new(row, row_width, main_cells).is_cut(row))
    }

    /// Returns whether second columns wrap: in a list of few rows that all fit that way.
    fn wraps_secondary(&self, rows: &[&Row], list: Rect) -> bool {
        if self.shows_selected_text {
            return false;
        }
        let typed_rows = usize::from(self.typed_choice().is_some());
        self.rows.len() <= MAX_WRAPPING_ROWS && self.count_lines(rows, list) + typed_rows <= usize::from(list.height)
    }

    /// Draws the rows.
    fn draw_rows(&self, list: Rect, buffer: &mut Buffer, theme: &Theme) {
        let mut filter = Filter::new(self.filter.text());
        let positions =
            self.first_visible.get()..self.matches.len().min(self.first_visible.get() + usize::from(list.height));
        let rows: Vec<&Row> = self.matches[positions.clone()].iter().map(|row| &self.rows[*row]).collect();
        let main_cells = self.main_column_cells(&rows, list);
        let is_wrapping = self.wraps_secondary(&rows, list);
        let row_columns = |row| {
            let columns = RowColumns::new(row, row_cells(list), main_cells);
            if self.shows_selected_text { columns.without_short_cut(row) } else { columns }
        };
        let row_height = |row| if is_wrapping { row_columns(row).secondary_lines(row).len() } else { 1 };
        // The typed name is drawn below the last row.
        if let (Some(typed), Some(verb)) = (self.typed_choice(), self.typed_verb)
            && let Some(line) = list.rows().nth(rows.iter().map(|row| row_height(row)).sum())
        {
            let is_selected = self.cursor == self.matches.len();
            let style = if is_selected { theme.text.patch(theme.selected) } else { theme.dim };
            if is_selected {
                buffer.set_style(line, style);
            }
            let text = format!("{}{verb} “{}”", if is_selected { "❯ " } else { "  " }, clean::clean_line(typed));
            buffer.set_line(line.x, line.y, &Line::styled(fit_to_area(&text, line), style), line.width);
        }
        let mut y = list.y;
        for (position, row) in positions.zip(rows) {
            let is_selected = position == self.cursor;
            let style = match (is_selected, row.is_heading) {
                (_, true) => theme.prompt,
                (true, false) => theme.text.patch(theme.selected),
                (false, false) if row.is_folder() => theme.prompt,
                (false, false) => theme.text,
            };
            let line = Rect { y, height: row_height(row) as u16, ..list };
            y = line.bottom();
            if is_selected {
                buffer.set_style(line, style);
            }
            let columns = row_columns(row);
            // The row of the cursor has a single style, because not every colour is readable on its background.
            let dim = if is_selected { style } else { theme.dim };
            let texts = row_spans(row, row_cells(list), &columns, &mut filter, (style, dim), theme);
            let sign = match (is_selected, row.is_heading) {
                (_, true) => "",
                (true, false) => "❯ ",
                (false, false) => "  ",
            };
            let mut spans = vec![Span::styled(sign, style)];
            spans.extend(if row.has_sign && !is_selected { colour_signs(texts, theme) } else { texts });
            buffer.set_line(line.x, line.y, &Line::from(spans), line.width);
            if line.height > 1 {
                let x = line.x + 2 + columns.secondary_start as u16;
                for (text, y) in columns.secondary_lines(row).iter().zip(line.y..) {
                    buffer.set_stringn(x, y, " ".repeat(columns.secondary), columns.secondary, dim);
                    buffer.set_stringn(x, y, text, columns.secondary, dim);
                }
            }
        }
    }
}

/// Returns the texts of a row in its columns.
fn row_spans(
    row: &Row,
    row_width: usize,
    columns: &RowColumns,
    filter: &mut Filter,
    (style, dim): (Style, Style),
    theme: &Theme,
) -> Vec<Span<'static>> {
    let marks = filter.matched_graphemes(&row.search_text);
    let text = row.fit_text(columns.main);
    let length = row.text.graphemes(true).count();
    let text_marks = &marks[..marks.partition_point(|mark| *mark < length)];
    let text_marks = matches_in_shortened(&row.text, &text, text_marks);
    let mut spans = highlight_matches(&text, &text_marks, style, theme.search_match);
    let mut used = width::text_width(&text);
    if !row.secondary.is_empty() && columns.secondary > 0 {
        let matched: Vec<usize> = marks.iter().filter_map(|mark| mark.checked_sub(length + 1)).collect();
        let secondary = width::fit_start(&row.secondary, columns.secondary);
        let matched = matches_in_shortened(&row.secondary, &secondary, &matched);
        spans.push(Span::styled(" ".repeat(columns.secondary_start - used), style));
        spans.extend(highlight_matches(&secondary, &matched, dim, theme.search_match));
        used = columns.secondary_start + width::text_width(&secondary);
    }
    if columns.detail > 0 {
        spans.push(Span::styled(" ".repeat(row_width - columns.detail - used), style));
        spans.push(Span::styled(row.detail.clone(), dim));
    }
    spans
}

/// Colours the sign at the start of a row and the counts at its end.
fn colour_signs(spans: Vec<Span<'static>>, theme: &Theme) -> Vec<Span<'static>> {
    let sign_style = |sign: &str| match sign.chars().next() {
        Some('+') => Some(Style { bg: None, ..theme.added }),
        Some('−') => Some(Style { bg: None, ..theme.removed }),
        Some('~') => Some(theme.accent),
        Some(_) | None => None,
    };
    let last = spans.len().saturating_sub(1);
    let mut coloured = Vec::new();
    for (index, span) in spans.into_iter().enumerate() {
        let indent = span.content.len() - span.content.trim_start().len();
        let (leading_blanks, text) = span.content.split_at(indent);
        let counts: Vec<&str> = text.split(' ').collect();
        if index == 0
            && let Some(style) = sign_style(text)
        {
            let sign_length = text.chars().next().map_or(0, char::len_utf8);
            coloured.extend([
                Span::styled(leading_blanks.to_owned(), span.style),
                Span::styled(text[..sign_length].to_owned(), style),
                Span::styled(text[sign_length..].to_owned(), span.style),
            ]);
        } else if index == last
            && let [added, removed] = counts.as_slice()
            && let (Some(added_style), Some(removed_style)) = (sign_style(added), sign_style(removed))
        {
            coloured.extend([
                Span::styled(format!("{added} "), added_style),
                Span::styled((*removed).to_owned(), removed_style),
            ]);
        } else {
            coloured.push(span);
        }
    }
    coloured
}

/// Returns the cells of a row after the cursor sign.
fn row_cells(list: Rect) -> usize {
    usize::from(list.width).saturating_sub(2)
}

fn fit_to_area(text: &str, area: Rect) -> String {
    width::fit_start(text, usize::from(area.width)).into_owned()
}
