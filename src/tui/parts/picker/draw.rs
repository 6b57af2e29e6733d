//! Rendering of a list: frame, filter, and rows in columns.

use super::{Picker, Row};
use crate::tui::parts::filter::{Filter, marked};
use crate::tui::parts::frame::{Frame, beyond};
use crate::tui::text::{clean, width, wrap};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Maximum size of a list. On a smaller screen it fills everything except the margins.
const WIDEST: u16 = 100;
const TALLEST: u16 = 30;
/// Minimum height of a list.
const LOWEST: u16 = 8;
/// Maximum width of the main column, so that the other columns line up.
const MAIN: usize = 48;
/// Maximum cells of a second column that describes the row, such as `copy, waiting for you`. Unlike a longer one, it is
/// not cut in favour of a long main text.
const SHORT: usize = 32;

/// Maximum number of rows for which the second column may wrap.
const FEW: usize = 8;
/// A second column narrower than this is cut, not wrapped.
const NARROW: usize = 16;

impl Picker {
    /// Draws the list over the middle of `area`. Returns the position of the filter's cursor.
    pub fn view(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Option<Position> {
        let place = self.place(area.intersection(buffer.area));
        let (_, list) = self.split(inside(place));
        self.page.set(usize::from(list.height).max(1));
        self.scroll_to_cursor(usize::from(list.height));
        let top = self.top.get();
        let below = self.places().saturating_sub(top + usize::from(list.height));
        let count = format!("{} of {}", self.found.len(), self.rows.len());
        // The number of hidden rows is shown even if the title has to be cut.
        let room = usize::from(place.width).saturating_sub(4);
        let (count, title) = match beyond(top, below) {
            None => (count, self.title.as_str().into()),
            Some(beyond) => {
                let both = format!("{count} · {beyond}");
                let fits = width::width(&self.title) + width::width(&both) + 6 <= room;
                let count = if fits { both } else { beyond };
                let title = width::fit(&self.title, room.saturating_sub(width::width(&count) + 6));
                (count, title)
            }
        };
        let keeps = self.keeps.as_ref().filter(|key| !key.is_empty());
        let keeps = keeps.map(|key| format!(" · {key} keep")).unwrap_or_default();
        let hints = [
            format!("↑↓ move · enter pick{keeps} · type to filter · esc back"),
            format!("enter pick{keeps} · esc back"),
            "enter pick · esc back".to_owned(),
        ];
        let frame = Frame { title: &title, right: &count, hints: &hints, listens: true, ..Frame::default() };
        let inside = frame.view(place, buffer, theme);
        let (line, list) = self.split(inside);
        let cursor = self.draw_filter(line, buffer, theme);
        let note = Rect { y: line.bottom(), height: list.y - line.bottom(), ..list };
        for (row, text) in
            note.rows().zip(&wrap::plain(&self.note, theme.warning, usize::from(list.width).max(1)))
        {
            buffer.set_line(row.x, row.y, text, row.width);
        }
        if self.places() == 0 {
            let words = if self.rows.is_empty() { &self.nothing } else { "No matches" };
            buffer.set_stringn(list.x, list.y, cut(words, list), usize::from(list.width), theme.dim);
        } else {
            self.draw_rows(list, buffer, theme);
        }
        cursor
    }

    /// Returns the position in the list of the row drawn at this cell.
    pub(super) fn row_at(&self, area: Rect, column: u16, row: u16) -> Option<usize> {
        let (_, list) = self.split(inside(self.place(area)));
        let mut line = usize::from(row.checked_sub(list.y)?);
        let mut at = self.top.get();
        let shown: Vec<&Row> = self.found.iter().map(|row| &self.rows[*row]).collect();
        if self.wraps(&shown, list) {
            let (room, main) = (room(list), self.main(&shown, list));
            while let Some(rows) = shown.get(at).map(|row| lines(row, room, main).len())
                && line >= rows
            {
                (line, at) = (line - rows, at + 1);
            }
        }
        at += line;
        (list.contains(Position::new(column, row)) && at < self.places()).then_some(at)
    }

    /// Returns the middle of an area, tall enough for all unfiltered rows; or all of a small area.
    fn place(&self, area: Rect) -> Rect {
        if area.width < 50 || area.height < 12 {
            return area;
        }
        let more = 3 + usize::from(!self.note.is_empty()) + usize::from(self.offers.is_some());
        // A few visible columns next to the frame would only distract.
        let width = if area.width < WIDEST + 12 { area.width } else { WIDEST };
        let lines = match self.rows.len() {
            ..=FEW => self.lines(&self.rows.iter().collect::<Vec<_>>(), inside(Rect { width, ..area })),
            many => many,
        };
        let rows = u16::try_from(lines + more).unwrap_or(u16::MAX).max(LOWEST);
        // Margins are kept only if every row fits with them.
        let room = if rows > area.height - 4 { area.height } else { area.height - 4 };
        let height = room.min(TALLEST).min(rows);
        let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 3);
        Rect { x, y, width, height }
    }

    /// Returns the areas of the filter and the rows, with room for the note between them. In a single row there is no
    /// filter.
    fn split(&self, inside: Rect) -> (Rect, Rect) {
        let line = u16::from(inside.height > 1);
        let below = inside.height - line;
        let wanted = wrap::plain(&self.note, Style::new(), usize::from(inside.width).max(1)).len();
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
        let start = line.x + width::width(sign) as u16;
        let room = usize::from(line.right() - start);
        let (text, cells) = self.filter.shown(room);
        if self.filter.text().is_empty() {
            buffer.set_stringn(start, line.y, self.invites, room, theme.dim);
        }
        buffer.set_stringn(start, line.y, text, room, theme.text);
        Some(Position::new((start + cells as u16).min(line.right() - 1), line.y))
    }

    fn scroll_to_cursor(&self, height: usize) {
        let lowest = (self.at + 1).saturating_sub(height.max(1));
        let last = self.places().saturating_sub(height);
        self.top.set(self.top.get().clamp(lowest, self.at.max(lowest)).min(last.max(lowest)));
    }

    /// Returns the cells of the main column, which depend on the second columns of these rows.
    fn main(&self, shown: &[&Row], list: Rect) -> usize {
        let main = shown.iter().filter(|row| !row.more.is_empty()).map(|row| width::width(&row.text)).max();
        let widest = |of: fn(&Row) -> &str, most| {
            shown.iter().map(|row| width::width(of(row))).filter(|cells| *cells <= most).max().unwrap_or(0)
        };
        let beside = 6 + widest(|row| &row.more, SHORT) + widest(|row| &row.detail, usize::MAX);
        let most = match shown.iter().any(|row| row.found) {
            true => (usize::from(list.width) / 3).clamp(12, MAIN),
            // The second column is short and describes the row; for a long main text the beginning is enough.
            false if list.width < 50 => MAIN,
            false => usize::from(list.width).saturating_sub(beside).clamp(24, MAIN),
        };
        main.unwrap_or(0).min(most)
    }

    /// Returns the number of lines of these rows with wrapped second columns.
    fn lines(&self, rows: &[&Row], list: Rect) -> usize {
        let (room, main) = (room(list), self.main(rows, list));
        rows.iter().map(|row| lines(row, room, main).len()).sum()
    }

    /// True if second columns wrap: in a list of few rows that all fit that way.
    fn wraps(&self, shown: &[&Row], list: Rect) -> bool {
        let offered = usize::from(self.offered().is_some());
        self.rows.len() <= FEW && self.lines(shown, list) + offered <= usize::from(list.height)
    }

    fn draw_rows(&self, list: Rect, buffer: &mut Buffer, theme: &Theme) {
        let mut filter = self.filter();
        let places = self.top.get()..self.found.len().min(self.top.get() + usize::from(list.height));
        let shown: Vec<&Row> = self.found[places.clone()].iter().map(|row| &self.rows[*row]).collect();
        let main = self.main(&shown, list);
        let wraps = self.wraps(&shown, list);
        let tall = |row| if wraps { lines(row, room(list), main).len() } else { 1 };
        if let (Some(typed), Some(words)) = (self.offered(), self.offers)
            && let Some(line) = list.rows().nth(shown.iter().map(|row| tall(row)).sum())
        {
            let picked = self.at == self.found.len();
            let style = if picked { theme.text.patch(theme.selected) } else { theme.dim };
            if picked {
                buffer.set_style(line, style);
            }
            let text = format!("{}{words} “{}”", if picked { "❯ " } else { "  " }, clean::one_line(typed));
            buffer.set_line(line.x, line.y, &Line::styled(cut(&text, line), style), line.width);
        }
        let mut y = list.y;
        for (at, row) in places.zip(shown) {
            let picked = at == self.at;
            let style = if picked { theme.text.patch(theme.selected) } else { theme.text };
            let line = Rect { y, height: tall(row) as u16, ..list };
            y = line.bottom();
            if picked {
                buffer.set_style(line, style);
            }
            let sign = Span::styled(if picked { "❯ " } else { "  " }, style);
            let room = room(list);
            let mut spans = vec![sign];
            // The row of the cursor has a single style, because not every colour is readable on its background.
            let dim = if picked { style } else { theme.dim };
            let words = columns(row, room, main, &mut filter, (style, dim), theme);
            spans.extend(if row.signed && !picked { tinted(words, theme) } else { words });
            buffer.set_line(line.x, line.y, &Line::from(spans), line.width);
            if line.height > 1 {
                let (column, free) = second(row, room, main);
                for (words, y) in lines(row, room, main).iter().zip(line.y..) {
                    let x = line.x + 2 + column as u16;
                    buffer.set_stringn(x, y, " ".repeat(free), free, dim);
                    buffer.set_stringn(x, y, words, free, dim);
                }
            }
        }
    }
}

/// Returns the columns of a row. The main text has priority, then the detail; the second column gets the rest.
fn columns(
    row: &Row,
    room: usize,
    main: usize,
    filter: &mut Filter,
    (style, dim): (Style, Style),
    theme: &Theme,
) -> Vec<Span<'static>> {
    let marks = filter.marks(&row.searched);
    let (detail, free) = detail(row, room, main);
    let most = most(row, free, main);
    let cells = width::width(&row.text).min(most);
    let (text, dropped) = if row.paths {
        let text = width::fit_end(&row.text, free);
        let dropped = graphemes(&row.text) - graphemes(&text);
        (text, dropped)
    } else {
        (width::fit(&row.text, most), 0)
    };
    let own: Vec<usize> = marks.iter().filter_map(|mark| mark.checked_sub(dropped)).collect();
    let mut spans = marked(&text, &own, style, theme.found);
    let mut used = width::width(&text);
    let column = main.max(cells) + 2;
    if !row.more.is_empty() && column + 4 <= free {
        let before = graphemes(&row.text) + 1;
        let own: Vec<usize> = marks.iter().filter_map(|mark| mark.checked_sub(before)).collect();
        let more = width::fit(&row.more, free - column);
        spans.push(Span::styled(" ".repeat(column - used), style));
        spans.extend(marked(&more, &own, dim, theme.found));
        used = column + width::width(&more);
    }
    if detail > 0 {
        spans.push(Span::styled(" ".repeat(room - detail - used), style));
        spans.push(Span::styled(row.detail.clone(), dim));
    }
    spans
}

/// Colours the sign at the start of a row and the counts at its end.
fn tinted(spans: Vec<Span<'static>>, theme: &Theme) -> Vec<Span<'static>> {
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
fn detail(row: &Row, room: usize, main: usize) -> (usize, usize) {
    match width::width(&row.detail) {
        0 => (0, room),
        cells if width::width(&row.text).min(main.max(12)) + cells + 2 <= room => (cells, room - cells - 2),
        _ => (0, room),
    }
}

/// Returns the cells the main text may use of the free cells.
fn most(row: &Row, free: usize, main: usize) -> usize {
    match (1..=SHORT).contains(&width::width(&row.more)) && !row.paths {
        _ if row.found => main,
        true => main.max(free.saturating_sub(width::width(&row.more) + 2)),
        false => free,
    }
}

/// Returns the start of the second column and its cells; 0 if there is no room.
fn second(row: &Row, room: usize, main: usize) -> (usize, usize) {
    let (_, free) = detail(row, room, main);
    let column = main.max(width::width(&row.text).min(most(row, free, main))) + 2;
    (column, if column + 4 <= free { free - column } else { 0 })
}

/// Returns the lines of the second column: one, or several if wrapping keeps words whole.
fn lines(row: &Row, room: usize, main: usize) -> Vec<String> {
    let (_, free) = second(row, room, main);
    if free < NARROW || width::width(&row.more) <= free {
        return vec![row.more.clone()];
    }
    let lines = wrap::plain(&row.more, Style::new(), free);
    lines.iter().map(|line| line.spans.iter().map(|span| span.content.as_ref()).collect()).collect()
}

/// Returns the cells of a row after the cursor sign.
fn room(list: Rect) -> usize {
    usize::from(list.width).saturating_sub(2)
}

fn graphemes(text: &str) -> usize {
    unicode_segmentation::UnicodeSegmentation::graphemes(text, true).count()
}

fn cut(words: &str, area: Rect) -> String {
    width::fit(words, usize::from(area.width)).into_owned()
}

/// Returns the area inside a frame, as in `Frame::draw`.
fn inside(place: Rect) -> Rect {
    if place.height < 3 || place.width < 5 {
        return place;
    }
    Rect { x: place.x + 2, y: place.y + 1, width: place.width - 4, height: place.height - 2 }
}
