//! Layout of the rows of the option picker.

use super::draft::{Draft, takes_own};
use crate::chat::{Choice, Question, Source};
use crate::tui::text::wrap::{self, Piece, Shape};
use crate::tui::text::{reveal, width};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::ops::Range;

/// Maximum lines of a row that is not focused.
const CLOSED: usize = 3;
/// Mark of the option that the model recommends, unless its own text contains the word.
const BEST: &str = "recommended";
/// Width in cells from which descriptions have a column next to the labels. Below it, they are under the labels.
const COLUMNS: usize = 60;

/// Lines of the picker and the range of the focused row.
pub(super) struct Rows {
    pub(super) lines: Vec<Line<'static>>,
    pub(super) open: Range<usize>,
}

/// Lays out every row of a question.
pub(super) fn rows(question: &Question, page: &Draft, cells: usize, theme: &Theme) -> Rows {
    rows_of(question, page, cells, theme, CLOSED)
}

/// Lays out every row of a question in `room` lines. Shortens rows that are not focused if all rows fit that way.
pub(super) fn rows_within(
    question: &Question,
    page: &Draft,
    cells: usize,
    theme: &Theme,
    room: usize,
) -> Rows {
    let whole = rows(question, page, cells, theme);
    // Either everything fits, or no shortening can help.
    if whole.lines.len() <= room || question.options.len() > room {
        return whole;
    }
    let fits = |rows: &Rows| rows.lines.len() <= room;
    let shorter = (1..CLOSED).rev().map(|closed| rows_of(question, page, cells, theme, closed)).find(fits);
    shorter.unwrap_or(whole)
}

fn rows_of(question: &Question, page: &Draft, cells: usize, theme: &Theme, closed: usize) -> Rows {
    let mut rows = Rows { lines: Vec::new(), open: 0..0 };
    let list = List { question, page, cells, column: column(question, cells), theme };
    for row in 0..question.options.len() + usize::from(takes_own(question)) {
        let from = rows.lines.len();
        let mut lines = list.row(row);
        if row == page.cursor {
            rows.open = from..from + lines.len();
        } else if lines.len() > closed {
            lines.truncate(closed);
            if let Some(last) = lines.last_mut() {
                *last = cut_off(last, cells);
            }
        }
        lines.extend(list.note(row));
        if row == page.cursor {
            rows.open.end = from + lines.len();
        }
        rows.lines.extend(lines);
    }
    rows
}

/// Returns the width of the label column, or `None` if descriptions have no column.
fn column(question: &Question, cells: usize) -> Option<usize> {
    let described = question.options.iter().any(|choice| !choice.description.is_empty());
    let labels = question.options.iter().map(|choice| width::width(&reveal::one_line(&choice.label)));
    (described && cells >= COLUMNS).then(|| labels.max().unwrap_or(0).clamp(8, cells * 2 / 5))
}

struct List<'a> {
    question: &'a Question,
    page: &'a Draft,
    cells: usize,
    column: Option<usize>,
    theme: &'a Theme,
}

impl List<'_> {
    /// Lays out one row: cursor, number, tick, label, description, recommendation.
    fn row(&self, row: usize) -> Vec<Line<'static>> {
        let at = row == self.page.cursor;
        let theme = self.theme;
        // The focused row has a single style: not every colour is readable on its background.
        let picked = theme.text.patch(theme.selected);
        let (style, dim, accent) =
            if at { (picked, picked, picked) } else { (theme.text, theme.dim, theme.accent) };
        let number = if row < 9 { (row + 1).to_string() } else { " ".to_owned() };
        let Some(choice) = self.question.options.get(row) else {
            let taken = matches!(self.page.source(), Source::Written(_));
            let words = match (self.page.own.as_str(), taken) {
                ("", _) => "in my own words…".to_owned(),
                (own, true) => own.to_owned(),
                (own, false) => format!("in my own words: {own}"),
            };
            let pieces = reveal::pieces(&words, style, theme.mark);
            let lead = lead(at, &number, tick(self.question.multi, taken), self.cells, accent);
            return wrap::wrap(&pieces, &lead).lines;
        };
        let tick = tick(self.question.multi, self.page.picks.contains(&row));
        let best = self.question.recommended == Some(row);
        let lead = lead(at, &number, tick, self.cells, accent);
        self.choice(choice, (best, at), &lead, (style, dim, accent))
    }

    fn choice(
        &self,
        choice: &Choice,
        (best, at): (bool, bool),
        lead: &Shape,
        (style, dim, accent): (Style, Style, Style),
    ) -> Vec<Line<'static>> {
        let mark = self.theme.mark;
        let mut label = reveal::line_pieces(self.shown(&choice.label, at), style, mark);
        let mut means = reveal::pieces(self.shown(&choice.description, at), dim, mark);
        let says_so = |text: &str| text.to_lowercase().contains(BEST);
        // Many models write it in the label or description.
        if best && !says_so(&choice.label) && !says_so(width::cut(&choice.description, 400)) {
            // After a one-line description, otherwise after the label: it must not read as part of the description.
            let room = self.column.map_or(0, |column| self.beside(lead, column));
            let cells: usize = means.iter().map(|piece| width::width(&piece.text)).sum();
            let aside = !means.is_empty() && cells + 2 + BEST.len() <= room;
            let pieces = if aside { &mut means } else { &mut label };
            pieces.push(Piece::new(format!("  {BEST}"), accent));
        }
        let indent = indent(lead);
        let Some(column) = self.column.filter(|_| !means.is_empty()) else {
            let mut lines = wrap::wrap(&label, lead).lines;
            if !means.is_empty() {
                let below = Shape { first: lead.rest.clone(), ..lead.clone() };
                lines.extend(wrap::wrap(&means, &below).lines);
            }
            return lines;
        };
        let left = Shape { width: (indent + column).min(self.cells), ..lead.clone() };
        let left = wrap::wrap(&label, &left).lines;
        let right = Shape::of_width(self.beside(lead, column));
        let right = wrap::wrap(&means, &right).lines;
        let blank = || Line::from(Span::styled(" ".repeat(indent), style));
        let beside = |at: usize| {
            let mut line = left.get(at).cloned().unwrap_or_else(blank);
            if let Some(more) = right.get(at) {
                let gap = (indent + column + 3).saturating_sub(line.width());
                line.spans.push(Span::styled(" ".repeat(gap), style));
                line.spans.extend(more.spans.iter().cloned());
            }
            line
        };
        (0..left.len().max(right.len())).map(beside).collect()
    }
}

impl List<'_> {
    /// Returns the width of the description column.
    fn beside(&self, lead: &Shape, column: usize) -> usize {
        self.cells.saturating_sub(indent(lead) + column + 3)
    }

    /// Lays out the note of a row: all of it if focused, otherwise its first line.
    fn note(&self, row: usize) -> Vec<Line<'static>> {
        let theme = self.theme;
        let (words, style) = match (self.page.halves.get(&row), self.page.notes.get(&row)) {
            (Some(half), _) => (format!("unsaved note: {half}"), theme.warning),
            (None, Some(note)) => (format!("note: {note}"), theme.accent),
            (None, None) => return Vec::new(),
        };
        let open = row == self.page.cursor;
        let style = if open { theme.text.patch(theme.selected) } else { style };
        let mut lead = lead(false, " ", tick(self.question.multi, false), self.cells, style);
        lead.first.clone_from(&lead.rest);
        let mut lines = wrap::wrap(&[Piece::new(words, style)], &lead).lines;
        if !open && lines.len() > 1 {
            lines.truncate(1);
            lines[0] = cut_off(&lines[0], self.cells);
        }
        lines
    }

    /// Truncates a text to the length that an unfocused row can show, to save layout work on each key.
    fn shown<'t>(&self, text: &'t str, open: bool) -> &'t str {
        if open { text } else { width::cut(text, self.cells * (CLOSED + 1)) }
    }
}

/// Returns the width of the prefix of a row.
fn indent(lead: &Shape) -> usize {
    lead.rest.iter().map(|piece| width::width(&piece.text)).sum()
}

/// Shortens a line and appends `…`.
fn cut_off(line: &Line<'_>, cells: usize) -> Line<'static> {
    let words: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
    let style = line.spans.last().map(|span| span.style).unwrap_or_default();
    let kept = width::cut(words.trim_end(), cells.saturating_sub(2)).to_owned();
    Line::from(Span::styled(format!("{kept} …"), style))
}

/// Returns the selection mark of a row. Both states have the same width, so that labels do not move.
fn tick(several: bool, taken: bool) -> &'static str {
    match (several, taken) {
        (true, true) => "[x] ",
        (true, false) => "[ ] ",
        (false, true) => "✓ ",
        (false, false) => "  ",
    }
}

/// Returns the prefix of a row with a hanging indent of the same width.
fn lead(at: bool, number: &str, tick: &str, width: usize, style: Style) -> Shape {
    let words = format!("{} {number} {tick}", if at { "❯" } else { " " });
    let rest = vec![Piece::new(" ".repeat(width::width(&words)), style)];
    Shape { width, first: vec![Piece::new(words, style)], rest, verbatim: false }
}
