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
pub(super) fn lay_out_rows(question: &Question, draft: &AnswerDraft, cells: usize, theme: &Theme) -> PickerRows {
    lay_out_rows_limited(question, draft, cells, theme, MAX_UNFOCUSED_LINES)
}

/// Lays out every row of a question. Shortens the rows that are not focused if all rows fit into `max_lines` lines that
/// way.
pub(super) fn fit_rows(
    question: &Question,
    draft: &AnswerDraft,
    cells: usize,
    theme: &Theme,
    max_lines: usize,
) -> PickerRows {
    let full = lay_out_rows(question, draft, cells, theme);
    // Either everything fits, or no shortening can help.
    if full.lines.len() <= max_lines || question.options.len() > max_lines {
        return full;
    }
    let fits = |rows: &PickerRows| rows.lines.len() <= max_lines;
    let shortened = (1..MAX_UNFOCUSED_LINES)
        .rev()
        .map(|max_unfocused| lay_out_rows_limited(question, draft, cells, theme, max_unfocused))
        .find(fits);
    shortened.unwrap_or(full)
}

fn lay_out_rows_limited(
    question: &Question,
    draft: &AnswerDraft,
    cells: usize,
    theme: &Theme,
    max_unfocused: usize,
) -> PickerRows {
    let mut rows = PickerRows { lines: Vec::new(), focused: 0..0 };
    let layout =
        PickerLayout { question, draft, width: cells, label_width: label_column_width(question, cells), theme };
    for row in 0..question.options.len() + usize::from(accepts_text(question)) {
        let start = rows.lines.len();
        let mut lines = layout.lay_out_row(row);
        if row == draft.cursor {
            rows.focused = start..start + lines.len();
        } else if lines.len() > max_unfocused {
            lines.truncate(max_unfocused);
            if let Some(last) = lines.last_mut() {
                *last = truncate_line(last, cells);
            }
        }
        lines.extend(layout.lay_out_note(row));
        if row == draft.cursor {
            rows.focused.end = start + lines.len();
        }
        rows.lines.extend(lines);
    }
    rows
}

/// Returns the width of the label column, or `None` if descriptions have no column.
fn label_column_width(question: &Question, cells: usize) -> Option<usize> {
    let has_descriptions = question.options.iter().any(|choice| !choice.description.is_empty());
    let labels = question.options.iter().map(|choice| width::text_width(&reveal::reveal_line(&choice.label)));
    (has_descriptions && cells >= COLUMN_MIN_WIDTH).then(|| labels.max().unwrap_or(0).clamp(8, cells * 2 / 5))
}

struct PickerLayout<'a> {
    question: &'a Question,
    draft: &'a AnswerDraft,
    width: usize,
    label_width: Option<usize>,
    theme: &'a Theme,
}

impl PickerLayout<'_> {
    /// Lays out one row: cursor, number, tick, label, description, recommendation.
    fn lay_out_row(&self, row: usize) -> Vec<Line<'static>> {
        let is_focused = row == self.draft.cursor;
        let theme = self.theme;
        // The focused row has a single style: not every colour is readable on its background.
        let focused_style = theme.text.patch(theme.selected);
        let (style, dim, accent) = if is_focused {
            (focused_style, focused_style, focused_style)
        } else {
            (theme.text, theme.dim, theme.accent)
        };
        let number = if row < 9 { (row + 1).to_string() } else { " ".to_owned() };
        let Some(choice) = self.question.options.get(row) else {
            let is_selected = matches!(self.draft.answer_value(), AnswerValue::Text(_));
            let text = match (self.draft.text_answer.as_str(), is_selected) {
                ("", _) => "Write an answer…".to_owned(),
                (answer, true) => answer.to_owned(),
                (answer, false) => format!("Your own answer: {answer}"),
            };
            let pieces = revealed_pieces(&text, style, theme.mark);
            let shape = row_prefix(
                is_focused,
                &number,
                selection_mark(self.question.is_multiple, is_selected),
                self.width,
                accent,
            );
            return wrap::wrap_pieces(&pieces, &shape).lines;
        };
        let tick = selection_mark(self.question.is_multiple, self.draft.picks.contains(&row));
        let is_recommended = self.question.recommended == Some(row);
        let shape = row_prefix(is_focused, &number, tick, self.width, accent);
        self.lay_out_choice(choice, (is_recommended, is_focused), &shape, (style, dim, accent))
    }

    fn lay_out_choice(
        &self,
        choice: &QuestionOption,
        (is_recommended, is_focused): (bool, bool),
        shape: &Shape,
        (style, dim, accent): (Style, Style, Style),
    ) -> Vec<Line<'static>> {
        let mark = self.theme.mark;
        let mut label = revealed_line_pieces(self.truncate_unfocused(&choice.label, is_focused), style, mark);
        let mut description = revealed_pieces(self.truncate_unfocused(&choice.description, is_focused), dim, mark);
        let mentions_recommended = |text: &str| text.to_lowercase().contains(RECOMMENDED);
        // Many models write it in the label or description.
        if is_recommended
            && !mentions_recommended(&choice.label)
            && !mentions_recommended(width::cut_to_width(&choice.description, 400))
        {
            // After a one-line description, otherwise after the label: it must not read as part of the description.
            let available = self.label_width.map_or(0, |column| self.description_width(shape, column));
            let cells: usize = description.iter().map(|piece| width::text_width(&piece.text)).sum();
            let fits_after_description = !description.is_empty() && cells + 2 + RECOMMENDED.len() <= available;
            let pieces = if fits_after_description { &mut description } else { &mut label };
            pieces.push(Piece::new(format!("  {RECOMMENDED}"), accent));
        }
        let indent = prefix_width(shape);
        let Some(column) = self.label_width.filter(|_| !description.is_empty()) else {
            let mut lines = wrap::wrap_pieces(&label, shape).lines;
            if !description.is_empty() {
                let description_shape = Shape { first_prefix: shape.next_prefix.clone(), ..shape.clone() };
                lines.extend(wrap::wrap_pieces(&description, &description_shape).lines);
            }
            return lines;
        };
        let label_shape = Shape { width: (indent + column).min(self.width), ..shape.clone() };
        let label_lines = wrap::wrap_pieces(&label, &label_shape).lines;
        let description_shape = Shape::with_width(self.description_width(shape, column));
        let description_lines = wrap::wrap_pieces(&description, &description_shape).lines;
        let blank_line = || Line::from(Span::styled(" ".repeat(indent), style));
        let join_columns = |index: usize| {
            let mut line = label_lines.get(index).cloned().unwrap_or_else(blank_line);
            if let Some(description_line) = description_lines.get(index) {
                let gap = (indent + column + 3).saturating_sub(line.width());
                line.spans.push(Span::styled(" ".repeat(gap), style));
                line.spans.extend(description_line.spans.iter().cloned());
            }
            line
        };
        (0..label_lines.len().max(description_lines.len())).map(join_columns).collect()
    }
}

impl PickerLayout<'_> {
    /// Returns the width of the description column.
    fn description_width(&self, shape: &Shape, column: usize) -> usize {
        self.width.saturating_sub(prefix_width(shape) + column + 3)
    }

    /// Lays out the note of a row: all of it if focused, otherwise its first line.
    fn lay_out_note(&self, row: usize) -> Vec<Line<'static>> {
        let theme = self.theme;
        let (text, style) = match (self.draft.unfinished_notes.get(&row), self.draft.notes.get(&row)) {
            (Some(note), _) => (format!("unsaved note: {note}"), theme.warning),
            (None, Some(note)) => (format!("note: {note}"), theme.accent),
            (None, None) => return Vec::new(),
        };
        let is_focused = row == self.draft.cursor;
        let style = if is_focused { theme.text.patch(theme.selected) } else { style };
        let mut shape = row_prefix(false, " ", selection_mark(self.question.is_multiple, false), self.width, style);
        shape.first_prefix.clone_from(&shape.next_prefix);
        let mut lines = wrap::wrap_pieces(&[Piece::new(text, style)], &shape).lines;
        if !is_focused && lines.len() > 1 {
            lines.truncate(1);
            lines[0] = truncate_line(&lines[0], self.width);
        }
        lines
    }

    /// Truncates a text to the length that an unfocused row can show, to save layout work on each key.
    fn truncate_unfocused<'t>(&self, text: &'t str, is_focused: bool) -> &'t str {
        if is_focused { text } else { width::cut_to_width(text, self.width * (MAX_UNFOCUSED_LINES + 1)) }
    }
}

/// Returns the width of the prefix of a row.
fn prefix_width(shape: &Shape) -> usize {
    shape.next_prefix.iter().map(|piece| width::text_width(&piece.text)).sum()
}

/// Shortens a line and appends `…`.
fn truncate_line(line: &Line<'_>, cells: usize) -> Line<'static> {
    let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
    let style = line.spans.last().map(|span| span.style).unwrap_or_default();
    let start = width::cut_to_width(text.trim_end(), cells.saturating_sub(2)).to_owned();
    Line::from(Span::styled(format!("{start} …"), style))
}

/// Returns the selection mark of a row. Both states have the same width, so that labels do not move.
fn selection_mark(is_multiple: bool, is_selected: bool) -> &'static str {
    match (is_multiple, is_selected) {
        (true, true) => "[x] ",
        (true, false) => "[ ] ",
        (false, true) => "✓ ",
        (false, false) => "  ",
    }
}

/// Returns the prefix of a row with a hanging indent of the same width.
fn row_prefix(is_focused: bool, number: &str, tick: &str, width: usize, style: Style) -> Shape {
    let prefix = format!("{} {number} {tick}", if is_focused { "❯" } else { " " });
    let next_prefix = vec![Piece::new(" ".repeat(width::text_width(&prefix)), style)];
    Shape { width, first_prefix: vec![Piece::new(prefix, style)], next_prefix, verbatim: false }
}
