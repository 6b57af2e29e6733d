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
/// Minimum width in cells for a column of descriptions next to the labels. In a narrower picker they are below the labels.
const COLUMN_MIN_WIDTH: usize = 60;
/// Blank cells between the label column and the description column.
const COLUMN_GAP: usize = 3;
/// Label of the row for a text answer that is not written yet.
const TEXT_LABEL: &str = "Write an answer…";
/// Cells of a description in which the word of the mark is looked for.
const SEARCHED_CELLS: usize = 400;

/// Lines of the picker.
pub(super) struct PickerRows {
    pub(super) lines: Vec<Line<'static>>,
    /// Lines of the focused row.
    pub(super) focused: Range<usize>,
    /// Number of lines without a focus, and if the row with the most hidden lines were focused. They do not change when
    /// the focus moves.
    pub(super) min_lines: usize,
    pub(super) max_lines: usize,
}

/// Lays out every row of a question.
pub(super) fn lay_out_rows(question: &Question, draft: &AnswerDraft, cells: usize, theme: &Theme) -> PickerRows {
    lay_out_rows_limited(question, draft, cells, theme, MAX_UNFOCUSED_LINES)
}

/// Lays out every row of a question. If the rows have more than `max_lines` lines without a focus, shortens them if that
/// makes them fit. Whichever row is focused, the others are as long.
pub(super) fn fit_rows(
    question: &Question,
    draft: &AnswerDraft,
    cells: usize,
    theme: &Theme,
    max_lines: usize,
) -> PickerRows {
    let full = lay_out_rows(question, draft, cells, theme);
    // Shortening is not necessary, or it cannot help.
    if full.min_lines <= max_lines || question.options.len() > max_lines {
        return full;
    }
    (1..MAX_UNFOCUSED_LINES)
        .rev()
        .map(|max_unfocused| lay_out_rows_limited(question, draft, cells, theme, max_unfocused))
        .find(|rows| rows.min_lines <= max_lines)
        .unwrap_or(full)
}

/// Lays out every row of a question, with at most `max_unfocused` lines for each unfocused row.
fn lay_out_rows_limited(
    question: &Question,
    draft: &AnswerDraft,
    cells: usize,
    theme: &Theme,
    max_unfocused: usize,
) -> PickerRows {
    let mut rows = PickerRows { lines: Vec::new(), focused: 0..0, min_lines: 0, max_lines: 0 };
    let label_width = label_column_width(question, cells);
    let layout = PickerLayout { question, draft, focused: draft.cursor, width: cells, label_width, theme };
    // The most lines that the focus adds to a row.
    let mut max_added = 0;
    for row in 0..question.options.len() + usize::from(accepts_text(question)) {
        let start = rows.lines.len();
        let is_focused = row == draft.cursor;
        let (row_lines, note_lines) = (layout.lay_out_row(row), layout.lay_out_note(row));
        // The focus shows hidden lines. An unfocused row without any has all its lines, a note only its first.
        let has_hidden_lines = row_lines.len() > max_unfocused || !note_lines.is_empty();
        let full_count = match is_focused || !has_hidden_lines {
            true => row_lines.len() + note_lines.len(),
            false => layout.with_focus(row).count_lines(row),
        };
        let short_count = row_lines.len().min(max_unfocused) + note_lines.len().min(1);
        rows.min_lines += short_count;
        max_added = max_added.max(full_count.saturating_sub(short_count));
        rows.lines.extend(match is_focused {
            true => row_lines,
            false => shorten_row(row_lines, max_unfocused, cells),
        });
        rows.lines.extend(note_lines);
        if is_focused {
            rows.focused = start..rows.lines.len();
        }
    }
    rows.max_lines = rows.min_lines + max_added;
    rows
}

/// Shortens a row to this number of lines. The last line shows that some are missing.
fn shorten_row(mut lines: Vec<Line<'static>>, max_lines: usize, cells: usize) -> Vec<Line<'static>> {
    if lines.len() > max_lines {
        lines.truncate(max_lines);
        if let Some(last) = lines.last_mut() {
            *last = truncate_line(last, cells);
        }
    }
    lines
}

/// Returns the width of the label column: that of the widest label, but at least 8 cells and at most two fifths of all
/// cells. `None` if descriptions have no column.
fn label_column_width(question: &Question, cells: usize) -> Option<usize> {
    let has_text_description = !question.text_description.is_empty();
    let has_descriptions = has_text_description || question.options.iter().any(|choice| !choice.description.is_empty());
    let labels = question.options.iter().map(|choice| width::text_width(&reveal::reveal_line(&choice.label)));
    let labels = labels.chain(has_text_description.then(|| width::text_width(TEXT_LABEL)));
    (has_descriptions && cells >= COLUMN_MIN_WIDTH).then(|| labels.max().unwrap_or(0).clamp(8, cells * 2 / 5))
}

#[derive(Clone, Copy)]
struct PickerLayout<'a> {
    question: &'a Question,
    draft: &'a AnswerDraft,
    /// Index of the focused row.
    focused: usize,
    width: usize,
    /// Width of the label column; `None` if descriptions have no column.
    label_width: Option<usize>,
    theme: &'a Theme,
}

/// Styles of a row.
struct RowStyles {
    text: Style,
    dim: Style,
    accent: Style,
}

impl PickerLayout<'_> {
    /// Returns the layout with the focus on another row.
    fn with_focus(self, focused: usize) -> Self {
        Self { focused, ..self }
    }

    /// Returns the number of lines of a row and its note.
    fn count_lines(&self, row: usize) -> usize {
        self.lay_out_row(row).len() + self.lay_out_note(row).len()
    }

    /// Returns the styles of a row. The focused row has a single style, because not every colour is readable on its
    /// background.
    fn row_styles(&self, row: usize) -> RowStyles {
        let Theme { text, dim, accent, selected, .. } = self.theme;
        if row == self.focused {
            let focused = text.patch(*selected);
            return RowStyles { text: focused, dim: focused, accent: focused };
        }
        RowStyles { text: *text, dim: *dim, accent: *accent }
    }

    /// Lays out one row: cursor, number, selection mark, label, description, recommendation.
    fn lay_out_row(&self, row: usize) -> Vec<Line<'static>> {
        let styles = self.row_styles(row);
        let cursor = if row == self.focused { "❯" } else { " " };
        let number = if row < 9 { (row + 1).to_string() } else { " ".to_owned() };
        let row_shape = |is_selected| {
            let prefix = format!("{cursor} {number} {}", selection_mark(self.question.is_multiple, is_selected));
            Shape::with_hanging_prefix(self.width, vec![Piece::new(prefix, styles.accent)])
        };
        if let Some(choice) = self.question.options.get(row) {
            return self.lay_out_choice(row, choice, &row_shape(self.draft.picks.contains(&row)));
        }
        let is_selected = matches!(self.draft.answer_value(), AnswerValue::Text(_));
        let text = match (self.draft.text_answer.as_str(), is_selected) {
            ("", _) => {
                let description = self.question.text_description.clone();
                let choice = QuestionOption { description, ..QuestionOption::new(TEXT_LABEL) };
                return self.lay_out_choice(row, &choice, &row_shape(is_selected));
            }
            (answer, true) => answer.to_owned(),
            (answer, false) => format!("Your own answer: {answer}"),
        };
        wrap::wrap_pieces(&revealed_pieces(&text, styles.text, self.theme.mark), &row_shape(is_selected)).lines
    }

    fn lay_out_choice(&self, row: usize, choice: &QuestionOption, shape: &Shape) -> Vec<Line<'static>> {
        let styles = self.row_styles(row);
        let mark = self.theme.mark;
        let mut label = revealed_line_pieces(self.cut_unfocused(row, &choice.label), styles.text, mark);
        let mut description = revealed_pieces(self.cut_unfocused(row, &choice.description), styles.dim, mark);
        let mentions_recommended = |text: &str| text.to_lowercase().contains(RECOMMENDED);
        // Many models write the word into the label or the description.
        if self.question.recommended == Some(row)
            && !mentions_recommended(&choice.label)
            && !mentions_recommended(width::cut_to_width(&choice.description, SEARCHED_CELLS))
        {
            // The mark goes after a one-line description, otherwise after the label, so that it does not read as part
            // of the description.
            let available = self.label_width.map_or(0, |column| self.description_width(shape, column));
            let cells: usize = description.iter().map(|piece| width::text_width(&piece.text)).sum();
            let recommendation = format!("  {RECOMMENDED}");
            let fits_after_description = !description.is_empty() && cells + recommendation.len() <= available;
            let pieces = if fits_after_description { &mut description } else { &mut label };
            pieces.push(Piece::new(recommendation, styles.accent));
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
        let blanks = |cells: usize| Span::styled(" ".repeat(cells), styles.text);
        let join_columns = |index: usize| {
            let mut line = label_lines.get(index).cloned().unwrap_or_else(|| Line::from(blanks(indent)));
            if let Some(description_line) = description_lines.get(index) {
                line.spans.push(blanks((indent + column + COLUMN_GAP).saturating_sub(line.width())));
                line.spans.extend(description_line.spans.iter().cloned());
            }
            line
        };
        (0..label_lines.len().max(description_lines.len())).map(join_columns).collect()
    }

    /// Returns the width of the description column.
    fn description_width(&self, shape: &Shape, column: usize) -> usize {
        self.width.saturating_sub(prefix_width(shape) + column + COLUMN_GAP)
    }

    /// Lays out the note of a row: all of it if focused, otherwise its first line.
    fn lay_out_note(&self, row: usize) -> Vec<Line<'static>> {
        let theme = self.theme;
        let (text, unfocused_style) = match (self.draft.unfinished_notes.get(&row), self.draft.notes.get(&row)) {
            (Some(note), _) => (format!("unsaved note: {note}"), theme.warning),
            (None, Some(note)) => (format!("note: {note}"), theme.accent),
            (None, None) => return Vec::new(),
        };
        let is_focused = row == self.focused;
        let style = if is_focused { self.row_styles(row).text } else { unfocused_style };
        // As wide as cursor, number and selection mark.
        let indent = 4 + width::text_width(selection_mark(self.question.is_multiple, false));
        let shape = Shape::with_prefix(self.width, Piece::new(" ".repeat(indent), style));
        let mut lines = wrap::wrap_pieces(&[Piece::new(text, style)], &shape).lines;
        if !is_focused && lines.len() > 1 {
            lines.truncate(1);
            lines[0] = truncate_line(&lines[0], self.width);
        }
        lines
    }

    /// Cuts a text to the length that an unfocused row can show, to save layout work on each key.
    fn cut_unfocused<'t>(&self, row: usize, text: &'t str) -> &'t str {
        if row == self.focused {
            return text;
        }
        width::cut_to_width(text, self.width * (MAX_UNFOCUSED_LINES + 1))
    }
}

/// Returns the width of the prefix of a row.
fn prefix_width(shape: &Shape) -> usize {
    shape.next_prefix.iter().map(|piece| width::text_width(&piece.text)).sum()
}

/// Shortens a line and appends `…`.
fn truncate_line(line: &Line<'_>, cells: usize) -> Line<'static> {
    let text = line.to_string();
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
