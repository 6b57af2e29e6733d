//! Layout and drawing of the question prompt: the question, the option picker, and the preview of the focused option
//! next to or below the picker.

use super::option_picker::{PickerRows, fit_rows, lay_out_rows};
use super::option_preview::{
    MIN_PREVIEW_ROWS, PREVIEW_HEADING, SIDE_PREVIEW_WIDTH, draw_divider, draw_preview_heading, estimate_preview_rows,
    lay_out_preview, picker_width, split_preview,
};
use super::{AnswerDraft, LineKind, QuestionPrompt};
use crate::chat::{AnswerValue, Question, Questions};
use crate::text::{reveal, width};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::frame::{Frame, MIN_READABLE_CELLS, PromptContext};
use crate::tui::parts::text_field::TextField;
use crate::tui::prompts::prompt::{DrawnPrompt, Prompt};
use crate::tui::text::revealed_pieces;
use crate::tui::text::wrap::{self, Piece, Shape};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;

/// Maximum rows of a text answer being edited; longer text scrolls.
const MAX_LINE_ROWS: usize = 6;
/// Label of the key that scrolls content that does not fit.
const SCROLL_LABEL: &str = "scroll";

impl QuestionPrompt {
    /// Returns the rows the prompt needs at this width. It scrolls in fewer.
    pub fn preferred_height(&self, questions: &Questions, width: u16, theme: &Theme) -> u16 {
        let cells = usize::from(width.saturating_sub(4));
        let body = match (questions.list.get(self.page), self.pages.get(self.page)) {
            (Some(question), Some(page)) => {
                let text = wrap_revealed(&question.text, theme.strong, cells, theme).len() + 1;
                let preview_rows = estimate_preview_rows(question, cells);
                let list_rows = lay_out_rows(question, page, picker_width(question, cells), theme).lines.len();
                match preview_rows {
                    0 => text + list_rows,
                    _ if cells >= SIDE_PREVIEW_WIDTH => text + list_rows.max(preview_rows),
                    _ => text + list_rows + 1 + preview_rows,
                }
            }
            _ => self.lay_out_review(questions, cells, theme).len(),
        };
        let input_rows = self.line_height(cells, MAX_LINE_ROWS * 2);
        let rows = body + 2 + self.build_footers(questions, theme).len() + input_rows;
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// Draws the prompt. `sub_agent` is the one that asks, or `None` for the main session.
    pub fn draw(
        &self,
        questions: &Questions,
        sub_agent: Option<&str>,
        context: &PromptContext<'_>,
        area: Rect,
        buffer: &mut Buffer,
    ) -> DrawnPrompt {
        let theme = context.theme;
        let (title, right_title) = self.build_title(questions, sub_agent);
        let is_listening = context.listening.is_listening() || self.is_writing();
        let frame = Frame {
            title: &title,
            right_title: &right_title,
            message: context.message,
            is_listening,
            ..Frame::default()
        };
        let mut inner = frame.draw(area, buffer, theme);
        let mut drawn = DrawnPrompt::default();
        if inner.is_empty() {
            return drawn;
        }
        if self.is_writing() {
            let rows = self.line_height(usize::from(inner.width), usize::from(inner.height)) as u16;
            inner.height -= rows;
            let line_area = Rect { y: inner.bottom(), height: rows, ..inner };
            drawn.cursor = self.draw_line(line_area, buffer, theme);
            drawn.line_width = usize::from(line_area.width - line_label(self.open_line.as_ref(), line_area.width).1);
        }
        let scroll_label = self.draw_body(questions, inner, buffer, context, &mut drawn);
        let hints = self.build_hints(questions, context.keys, scroll_label);
        Frame { hints: &hints, ..frame }.draw_hints(area, buffer, theme);
        drawn.is_readable =
            drawn.visible_rows > 0 && inner.width >= MIN_READABLE_CELLS && area == area.intersection(buffer.area);
        drawn
    }

    /// Draws the content of the frame. Returns the label of the scroll key if content does not fit.
    fn draw_body(
        &self,
        questions: &Questions,
        mut inner: Rect,
        buffer: &mut Buffer,
        context: &PromptContext<'_>,
        drawn: &mut DrawnPrompt,
    ) -> Option<&'static str> {
        let theme = context.theme;
        let mut footers = self.build_footers(questions, theme);
        footers.truncate(usize::from(inner.height / 4));
        inner.height -= footers.len() as u16;
        for ((text, style), y) in footers.iter().zip(inner.bottom()..) {
            let text = width::fit_start(text, usize::from(inner.width));
            buffer.set_stringn(inner.x, y, text, usize::from(inner.width), *style);
        }
        let cells = usize::from(inner.width);
        let Some((question, page)) = questions.list.get(self.page).zip(self.pages.get(self.page)) else {
            let lines = self.lay_out_review(questions, cells, theme);
            let hidden_rows = lines.len().saturating_sub(usize::from(inner.height));
            (drawn.visible_rows, drawn.scroll) = (usize::from(inner.height), self.scroll.min(hidden_rows));
            draw_scrolled_lines(&lines, drawn.scroll, inner, buffer, theme);
            return (hidden_rows > 0).then_some(SCROLL_LABEL);
        };
        self.draw_question(question, page, inner, buffer, context, drawn)
    }

    /// Draws a question: its text, the picker, and the preview of the focused option. Returns the label of the scroll
    /// key if content does not fit.
    fn draw_question(
        &self,
        question: &Question,
        draft: &AnswerDraft,
        inner: Rect,
        buffer: &mut Buffer,
        context: &PromptContext<'_>,
        drawn: &mut DrawnPrompt,
    ) -> Option<&'static str> {
        let theme = context.theme;
        let cells = usize::from(inner.width);
        let height = usize::from(inner.height);
        let text = wrap_revealed(&question.text, theme.strong, cells, theme);
        let preview_rows = estimate_preview_rows(question, cells);
        let is_side_by_side = preview_rows > 0 && cells >= SIDE_PREVIEW_WIDTH;
        let picker_cells = picker_width(question, cells);
        let lines = lay_out_rows(question, draft, picker_cells, theme).lines;
        let wanted_rows = match (preview_rows, is_side_by_side) {
            (0, _) => lines.len(),
            (_, true) => lines.len().max(preview_rows),
            (_, false) => lines.len() + 1 + preview_rows,
        };
        // The picker gets up to two thirds of the height, the text the rest, with a blank row between if there is room.
        let min_picker_rows = wanted_rows.min(height - (height / 3).max(usize::from(height > 1)));
        let text_rows = text.len().min(height - min_picker_rows);
        let blank_rows = usize::from(text_rows > 0 && (text_rows + wanted_rows < height || height >= 12));
        let [text_area, remaining] = split_rows(inner, text_rows);
        let [_, content_area] = split_rows(remaining, blank_rows);
        // The picker has priority: if both do not fit, scrolling past the picker shows the preview.
        let is_tight = preview_rows > 0
            && !is_side_by_side
            && lines.len() + 1 + preview_rows.min(MIN_PREVIEW_ROWS) > usize::from(content_area.height);
        let PickerRows { lines, focused } = match is_tight || is_side_by_side {
            true => fit_rows(question, draft, picker_cells, theme, usize::from(content_area.height)),
            false => lay_out_rows(question, draft, picker_cells, theme),
        };
        let text_overflow = text.len() - text_rows;
        // Lines of the focused row that do not fit while the picker has the whole area, before the preview replaces it.
        let full_row_overflow = focused.len().saturating_sub(usize::from(content_area.height));
        let shows_only_preview = is_tight
            && usize::from(content_area.height) >= 2 * MIN_PREVIEW_ROWS
            && self.scroll > text_overflow + full_row_overflow;
        let (list_area, preview_area) = match (preview_rows, is_side_by_side) {
            (0, _) => (content_area, None),
            (_, false) if is_tight && !shows_only_preview => (content_area, None),
            (_, true) => {
                let picker_columns = picker_width(question, cells) as u16;
                let list_area = Rect { width: picker_columns, ..content_area };
                draw_divider(Rect { x: list_area.right() + 1, width: 1, ..content_area }, buffer, theme);
                (
                    list_area,
                    Some(Rect {
                        x: list_area.right() + 3,
                        width: content_area.width - picker_columns - 3,
                        ..content_area
                    }),
                )
            }
            (_, false) => split_preview(content_area, lines.len(), buffer, theme),
        };
        let list_rows = usize::from(list_area.height);
        let row_overflow = if is_tight { full_row_overflow } else { focused.len().saturating_sub(list_rows) };
        // One scroll step switches from the picker to the preview.
        let switch_steps = usize::from(is_tight && usize::from(content_area.height) >= 2 * MIN_PREVIEW_ROWS);
        let preview_page =
            preview_area.map(|area| (area, lay_out_preview(question, draft.cursor, usize::from(area.width), theme)));
        let preview_overflow =
            preview_page.as_ref().map_or(0, |(area, lines)| lines.len().saturating_sub(usize::from(area.height)));
        // One offset scrolls everything: the question to its end, then the focused option, then its preview.
        let max_scroll = text_overflow + row_overflow + switch_steps + preview_overflow;
        let scroll = self.scroll.min(max_scroll);
        let (text_scroll, row_scroll) =
            (scroll.min(text_overflow), scroll.saturating_sub(text_overflow).min(row_overflow));
        draw_scrolled_lines(&text, text_scroll, text_area, buffer, theme);
        let scroll_key = context.keys.first_chord(Scope::Question, Action::ScrollTextDown);
        if text_scroll < text_overflow && text_rows > 1 && !scroll_key.is_empty() {
            // The count of remaining lines takes a row.
            let row = Rect { y: text_area.bottom() - 1, height: 1, ..text_area };
            let note = format!("… {} more lines · {scroll_key}", text_overflow - text_scroll + 1);
            let line = Line::styled(format!("{note:<cells$}"), theme.warning);
            buffer.set_line(row.x, row.y, &line, row.width);
        }
        let row_scroll = if shows_only_preview { 0 } else { row_scroll };
        let first_line = focused.end.saturating_sub(list_rows).min(focused.start) + row_scroll;
        for (index, row) in (first_line..).zip(list_area.rows()) {
            if focused.contains(&index) {
                buffer.set_style(row, theme.selected);
            }
        }
        draw_scrolled_lines(&lines, first_line, list_area, buffer, theme);
        if let Some((area, lines)) = &preview_page {
            draw_scrolled_lines(
                lines,
                scroll.saturating_sub(text_overflow + row_overflow + switch_steps),
                *area,
                buffer,
                theme,
            );
        }
        if switch_steps > 0 && !shows_only_preview && lines.len() < list_rows {
            let heading = if scroll_key.is_empty() {
                PREVIEW_HEADING.to_owned()
            } else {
                format!("{PREVIEW_HEADING} ↓ {scroll_key}")
            };
            draw_preview_heading(&heading, Rect { y: list_area.bottom() - 1, height: 1, ..list_area }, buffer, theme);
        }
        (drawn.visible_rows, drawn.scroll, drawn.head_scroll) = (list_rows, scroll, text_overflow);
        let announces_preview = switch_steps > 0 && !shows_only_preview && scroll >= text_overflow + row_overflow;
        (max_scroll > 0).then_some(if announces_preview { PREVIEW_HEADING } else { SCROLL_LABEL })
    }

    /// Returns the lines under the picker: a warning if limits truncated the questions.
    fn build_footers(&self, questions: &Questions, theme: &Theme) -> Vec<(String, Style)> {
        let mut footers = Vec::new();
        if !questions.dropped.is_empty() {
            footers.push((format!("truncated: {}", questions.dropped.describe_dropped()), theme.warning));
        }
        footers
    }

    /// Lays out the review of all answers.
    fn lay_out_review(&self, questions: &Questions, cells: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for (index, (question, page)) in questions.list.iter().zip(&self.pages).enumerate() {
            let number = if index < 9 { format!("{} ", index + 1) } else { "  ".to_owned() };
            let text = question.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let text = width::fit_start(&text, cells.saturating_sub(2).max(1) * 2).into_owned();
            lines.extend(wrap_revealed(&format!("{number}{text}"), theme.dim, cells, theme));
            let answer = page.to_answer(question);
            let mut push_text = |text: &str, style| {
                let first_prefix = vec![Piece::new("  ", style)];
                let shape = Shape { width: cells, next_prefix: first_prefix.clone(), first_prefix, verbatim: false };
                lines.extend(wrap::wrap_pieces(&revealed_pieces(text, style, theme.mark), &shape).lines);
            };
            match &answer.value {
                AnswerValue::Skipped => push_text("no answer: sent as skipped", theme.warning),
                AnswerValue::Text(text) => push_text(text, theme.text),
                AnswerValue::Selected(_) => push_text(&reveal::reveal_line(&answer.answer_text(question)), theme.text),
            }
            for note in &answer.notes {
                let option = question.options.get(note.option).map_or("", |choice| choice.label.as_str());
                push_text(&format!("note on {}: {}", reveal::reveal_line(option), note.text), theme.dim);
            }
            if !answer.note.is_empty() {
                push_text(&format!("note: {}", answer.note), theme.dim);
            }
        }
        lines
    }

    /// Returns the rows of the text being edited: at most half of the prompt's `inner_rows`. Longer text scrolls.
    fn line_height(&self, cells: usize, inner_rows: usize) -> usize {
        let Some((_, field)) = &self.open_line else { return 0 };
        let label_cells = usize::from(line_label(self.open_line.as_ref(), cells as u16).1);
        let max_rows = MAX_LINE_ROWS.min((inner_rows / 2).max(1));
        field.wrap_rows(cells.saturating_sub(label_cells).max(1)).0.len().min(max_rows)
    }

    /// Draws the line being edited. Returns the cursor position.
    fn draw_line(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Option<Position> {
        let (kind, field) = self.open_line.as_ref()?;
        let (label, label_cells) = line_label(self.open_line.as_ref(), area.width);
        let columns = usize::from(area.width - label_cells);
        buffer.set_stringn(area.x, area.y, label, usize::from(label_cells), theme.prompt);
        let (x, (row, cell)) = match kind {
            LineKind::Note => {
                let (text, cursor) = field.visible_part(columns);
                buffer.set_stringn(area.x + label_cells, area.y, text, columns, theme.text);
                (area.x + label_cells, (0, cursor))
            }
            LineKind::TextAnswer => {
                let (rows, (row, cell)) = field.wrap_rows(columns.max(1));
                let first = (row + 1).saturating_sub(usize::from(area.height));
                for (text, row_area) in rows.iter().skip(first).zip(area.rows()) {
                    buffer.set_stringn(area.x + label_cells, row_area.y, text, columns, theme.text);
                }
                (area.x + label_cells, (row - first, cell))
            }
        };
        let x = x.saturating_add(cell as u16).min(area.right().saturating_sub(1));
        Some(Position { x, y: (area.y + row as u16).min(area.bottom().saturating_sub(1)) })
    }
}

/// Returns the label of the line being edited, and its width in cells.
fn line_label(open_line: Option<&(LineKind, TextField)>, width: u16) -> (&'static str, u16) {
    let label = match open_line {
        Some((LineKind::TextAnswer, _)) => "Your own answer ",
        Some((LineKind::Note, _)) => "note ",
        None => "",
    };
    let label = width::cut_to_width(label, usize::from(width / 2));
    (label, width::text_width(label) as u16)
}

/// Wraps text with marks for invisible characters.
fn wrap_revealed(text: &str, style: Style, cells: usize, theme: &Theme) -> Vec<Line<'static>> {
    wrap::wrap_pieces(&revealed_pieces(text, style, theme.mark), &Shape::with_width(cells)).lines
}

/// Splits an area after a number of rows.
pub(super) fn split_rows(area: Rect, rows: usize) -> [Rect; 2] {
    let rows = (rows as u16).min(area.height);
    [Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area }]
}

/// Draws lines from index `first` on. If not all fit, draws a scrollbar thumb on the line at the right, which is the
/// frame or the divider.
fn draw_scrolled_lines(lines: &[Line<'_>], first: usize, area: Rect, buffer: &mut Buffer, theme: &Theme) {
    let edge = area.right() + 1;
    for (line, row) in lines.iter().skip(first).zip(area.rows()) {
        buffer.set_line(row.x, row.y, line, row.width);
    }
    let rows = usize::from(area.height);
    if rows == 0 || lines.len() <= rows || edge >= buffer.area.right() {
        return;
    }
    let thumb = (rows * rows / lines.len()).max(1);
    let top = (first * (rows - thumb)).div_ceil((lines.len() - rows).max(1)).min(rows - thumb);
    for y in (area.y..area.bottom()).skip(top).take(thumb) {
        buffer.set_stringn(edge, y, "┃", 1, theme.accent);
    }
}
