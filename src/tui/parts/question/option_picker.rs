//! Layout of the rows of the option picker.

use super::answer_draft::{AnswerDraft, accepts_text};
use crate::chat::{AnswerValue, Question, QuestionOption};
use crate::text::{reveal, width};
use crate::tui::text::wrap::{self, Piece, Shape};
use crate::tui::text::{revealed_line_pieces, revealed_pieces};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::ops::Range;

/// Maximum lines of a row that is not focused.
const MAX_UNFOCUSED_LINES: usize = 3;
/// Mark of the option that the model recommends, unless its own text contains the word.
const RECOMMENDED: &str = "recommended";
/// Width in cells from which descriptions have a column next to the labels. Below it, they are under the labels.
const COLUMN_MIN_WIDTH: usize = 60;

/// Lines of the picker and the range of the focused row.
pub(super) struct PickerRows {
    pub(super) lines: Vec<Line<'static>>,
    pub(super) focused: Range<usize>,
}

/// Lays out every row of a question.
pub(super) fn lay_out_rows(question: &Question, page: &AnswerDraft, cells: usize, theme: &Theme) -> PickerRows {
    lay_out_rows_limited(question, page, cells, theme, MAX_UNFOCUSED_LINES)
}

/// Lays out every row of a question in `room` lines. Shortens rows that are not focused if all rows fit that way.
pub(super) fn fit_rows(
    question: &Question,
    page: &AnswerDraft,
    cells: usize,
    theme: &Theme,
    room: usize,
) -> PickerRows {
    let whole = lay_out_rows(question, page, cells, theme);
    // Either everything fits, or no shortening can help.
    if whole.lines.len() <= room || question.options.len() > room {
        return whole;
    }
    let fits = |rows: &PickerRows| rows.lines.len() <= room;
    let shorter = (1..MAX_UNFOCUSED_LINES)
        .rev()
        .map(|closed| lay_out_rows_limited(question, page, cells, theme, closed))
        .find(fits);
    shorter.unwrap_or(whole)
}

fn lay_out_rows_limited(
    question: &Question,
    page: &AnswerDraft,
    cells: usize,
    theme: &Theme,
    closed: usize,
) -> PickerRows {
    let mut rows = PickerRows { lines: Vec::new(), focused: 0..0 };
    let list = PickerLayout { question, page, width: cells, label_width: label_column_width(question, cells), theme };
    for row in 0..question.options.len() + usize::from(accepts_text(question)) {
        let from = rows.lines.len();
        let mut lines = list.lay_out_row(row);
        if row == page.cursor {
            rows.focused = from..from + lines.len();
        } else if lines.len() > closed {
            lines.truncate(closed);
            if let Some(last) = lines.last_mut() {
                *last = truncate_line(last, cells);
            }
        }
        lines.extend(list.lay_out_note(row));
        if row == page.cursor {
            rows.focused.end = from + lines.len();
        }
        rows.lines.extend(lines);
    }
    rows
}

/// Returns the width of the label column, or `None` if descriptions have no column.
fn label_column_width(question: &Question, cells: usize) -> Option<usize> {
    let described = question.options.iter().any(|choice| !choice.description.is_empty());
    let labels = question.options.iter().map(|choice| width::text_width(&reveal::reveal_line(&choice.label)));
    (described && cells >= COLUMN_MIN_WIDTH).then(|| labels.max().unwrap_or(0).clamp(8, cells * 2 / 5))
}

struct PickerLayout<'a> {
    question: &'a Question,
    page: &'a AnswerDraft,
    width: usize,
    label_width: Option<usize>,
    theme: &'a Theme,
}

impl PickerLayout<'_> {
    /// Lays out one row: cursor, number, tick, label, description, recommendation.
    fn lay_out_row(&self, row: usize) -> Vec<Line<'static>> {
        let at = row == self.page.cursor;
        let theme = self.theme;
        // The focused row has a single style: not every colour is readable on its background.
        let picked = theme.text.patch(theme.selected);
        let (style, dim, accent) = if at { (picked, picked, picked) } else { (theme.text, theme.dim, theme.accent) };
        let number = if row < 9 { (row + 1).to_string() } else { " ".to_owned() };
        let Some(choice) = self.question.options.get(row) else {
            let taken = matches!(self.page.source(), AnswerValue::Text(_));
            let words = match (self.page.text_answer.as_str(), taken) {
                ("", _) => "Write an answer…".to_owned(),
                (own, true) => own.to_owned(),
                (own, false) => format!("Your own answer: {own}"),
            };
            let pieces = revealed_pieces(&words, style, theme.mark);
            let lead = row_prefix(at, &number, selection_mark(self.question.is_multiple, taken), self.width, accent);
            return wrap::wrap_pieces(&pieces, &lead).lines;
        };
        let tick = selection_mark(self.question.is_multiple, self.page.picks.contains(&row));
        let best = self.question.recommended == Some(row);
        let lead = row_prefix(at, &number, tick, self.width, accent);
        self.lay_out_choice(choice, (best, at), &lead, (style, dim, accent))
    }

    fn lay_out_choice(
        &self,
        choice: &QuestionOption,
        (best, at): (bool, bool),
        lead: &Shape,
        (style, dim, accent): (Style, Style, Style),
    ) -> Vec<Line<'static>> {
        let mark = self.theme.mark;
        let mut label = revealed_line_pieces(self.truncate_unfocused(&choice.label, at), style, mark);
        let mut means = revealed_pieces(self.truncate_unfocused(&choice.description, at), dim, mark);
        let says_so = |text: &str| text.to_lowercase().contains(RECOMMENDED);
        // Many models write it in the label or description.
        if best && !says_so(&choice.label) && !says_so(width::cut_to_width(&choice.description, 400)) {
            // After a one-line description, otherwise after the label: it must not read as part of the description.
            let room = self.label_width.map_or(0, |column| self.description_width(lead, column));
            let cells: usize = means.iter().map(|piece| width::text_width(&piece.text)).sum();
            let aside = !means.is_empty() && cells + 2 + RECOMMENDED.len() <= room;
            let pieces = if aside { &mut means } else { &mut label };
            pieces.push(Piece::new(format!("  {RECOMMENDED}"), accent));
        }
        let indent = prefix_width(lead);
        let Some(column) = self.label_width.filter(|_| !means.is_empty()) else {
            let mut lines = wrap::wrap_pieces(&label, lead).lines;
            if !means.is_empty() {
                let below = Shape { first: lead.rest.clone(), ..lead.clone() };
                lines.extend(wrap::wrap_pieces(&means, &below).lines);
            }
            return lines;
        };
        let left = Shape { width: (indent + column).min(self.width), ..lead.clone() };
        let left = wrap::wrap_pieces(&label, &left).lines;
        let right = Shape::with_width(self.description_width(lead, column));
        let right = wrap::wrap_pieces(&means, &right).lines;
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

impl PickerLayout<'_> {
    /// Returns the width of the description column.
    fn description_width(&self, lead: &Shape, column: usize) -> usize {
        self.width.saturating_sub(prefix_width(lead) + column + 3)
    }

    /// Lays out the note of a row: all of it if focused, otherwise its first line.
    fn lay_out_note(&self, row: usize) -> Vec<Line<'static>> {
        let theme = self.theme;
        let (words, style) = match (self.page.unfinished_notes.get(&row), self.page.notes.get(&row)) {
            (Some(half), _) => (format!("unsaved note: {half}"), theme.warning),
            (None, Some(note)) => (format!("note: {note}"), theme.accent),
            (None, None) => return Vec::new(),
        };
        let open = row == self.page.cursor;
        let style = if open { theme.text.patch(theme.selected) } else { style };
        let mut lead = row_prefix(false, " ", selection_mark(self.question.is_multiple, false), self.width, style);
        lead.first.clone_from(&lead.rest);
        let mut lines = wrap::wrap_pieces(&[Piece::new(words, style)], &lead).lines;
        if !open && lines.len() > 1 {
            lines.truncate(1);
            lines[0] = truncate_line(&lines[0], self.width);
        }
        lines
    }

    /// Truncates a text to the length that an unfocused row can show, to save layout work on each key.
    fn truncate_unfocused<'t>(&self, text: &'t str, open: bool) -> &'t str {
        if open { text } else { width::cut_to_width(text, self.width * (MAX_UNFOCUSED_LINES + 1)) }
    }
}

/// Returns the width of the prefix of a row.
fn prefix_width(lead: &Shape) -> usize {
    lead.rest.iter().map(|piece| width::text_width(&piece.text)).sum()
}

/// Shortens a line and appends `…`.
fn truncate_line(line: &Line<'_>, cells: usize) -> Line<'static> {
    let words: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
    let style = line.spans.last().map(|span| span.style).unwrap_or_default();
    let kept = width::cut_to_width(words.trim_end(), cells.saturating_sub(2)).to_owned();
    Line::from(Span::styled(format!("{kept} …"), style))
}

/// Returns the selection mark of a row. Both states have the same width, so that labels do not move.
fn selection_mark(several: bool, taken: bool) -> &'static str {
    match (several, taken) {
        (true, true) => "[x] ",
        (true, false) => "[ ] ",
        (false, true) => "✓ ",
        (false, false) => "  ",
    }
}

/// Returns the prefix of a row with a hanging indent of the same width.
fn row_prefix(at: bool, number: &str, tick: &str, width: usize, style: Style) -> Shape {
    let words = format!("{} {number} {tick}", if at { "❯" } else { " " });
    let rest = vec![Piece::new(" ".repeat(width::text_width(&words)), style)];
    Shape { width, first: vec![Piece::new(words, style)], rest, verbatim: false }
}
