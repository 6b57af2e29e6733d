//! Layout and drawing of the question prompt: the question, the option picker, and the preview of the focused option
//! next to or below the picker.

use super::option_picker::{PickerRows, fit_rows, lay_out_rows};
use super::option_preview::{
    MIN_PREVIEW_ROWS, PREVIEW_HEADING, SIDE_PREVIEW_WIDTH, count_preview_rows, draw_divider, draw_preview_heading,
    lay_out_preview, picker_width, split_preview,
};
use super::row_links::draw_row_links;
use super::{AnswerDraft, FieldKind, QuestionPrompt};
use crate::chat::{AnswerValue, Question, Questions};
use crate::text::link::LinkTarget;
use crate::text::{reveal, width};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::frame::{Frame, PromptContext, is_readable};
use crate::tui::parts::link_lookups::LinkLookups;
use crate::tui::parts::text_field::width_after_label;
use crate::tui::prompts::prompt::{DrawnPrompt, Prompt, PromptFacts};
use crate::tui::text::pieces::{wrap_revealed, wrap_revealed_links};
use crate::tui::text::wrap::{self, Piece, Shape};
use crate::tui::text::{Page, PlacedLink, revealed_pieces};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// Maximum rows of the text field; longer text scrolls.
const MAX_FIELD_ROWS: usize = 6;
/// Minimum rows inside the border for the tabs above a question with options, or above one with a text field alone.
const MIN_ROWS_OF_PICKER: u16 = 6;
const MIN_ROWS_OF_TEXT_QUESTION: u16 = 4;
/// Label of the key that scrolls content that does not fit.
const SCROLL_LABEL: &str = "scroll";

/// What a question prompt reads from the rest of the screen.
#[derive(Debug, Clone, Copy)]
pub struct QuestionContext<'a> {
    pub prompt: PromptContext<'a>,
    /// Lookups of the links in the text of the question.
    pub lookups: &'a LinkLookups,
}

impl<'a> QuestionContext<'a> {
    pub fn new(facts: &PromptFacts<'a>) -> Self {
        Self { prompt: facts.context, lookups: facts.lookups }
    }
}

impl QuestionPrompt {
    /// Returns the rows the prompt needs at this width. With fewer rows it scrolls.
    pub fn preferred_height(&self, questions: &Questions, width: u16, theme: &Theme) -> u16 {
        // Border and padding take 4 columns, the border takes 2 rows.
        let cells = usize::from(width.saturating_sub(4));
        let body = match (questions.list.get(self.page), self.pages.get(self.page)) {
            (Some(question), Some(page)) => {
                let text_rows = wrap_revealed(&question.text, theme.strong, cells, theme).len() + 1;
                let picker_rows = match self.is_writing_only_answer(question) {
                    true => 0,
                    false => lay_out_rows(question, page, picker_width(question, cells), theme).max_lines,
                };
                text_rows + content_rows(picker_rows, count_preview_rows(question, cells, theme), cells)
            }
            _ => self.lay_out_review(questions, cells, theme).len(),
        };
        let tab_rows = usize::from(self.lay_out_tabs(questions, cells, theme).is_some());
        let note_rows = usize::from(!questions.dropped.is_empty()) + tab_rows;
        // Twice the maximum, because the field gets at most half of the rows.
        let rows = body + 2 + note_rows + self.field_height(cells, MAX_FIELD_ROWS * 2);
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// Draws the prompt. `origin` says who asks; `None` for the model of the main session.
    pub fn draw(
        &self,
        questions: &Questions,
        origin: Option<&str>,
        context: &QuestionContext<'_>,
        area: Rect,
        buffer: &mut Buffer,
    ) -> DrawnPrompt {
        let PromptContext { listening, keys, theme, message } = context.prompt;
        let (title, right_title) = self.build_title(questions, origin);
        let is_listening = listening.is_listening() || self.takes_text(listening);
        let frame = Frame { title: &title, right_title: &right_title, message, is_listening, ..Frame::default() };
        let mut inner = frame.draw(area, buffer, theme);
        let mut drawn = DrawnPrompt::default();
        if inner.is_empty() {
            return drawn;
        }
        // With fewer rows, they are left to the question itself.
        let min_rows = match questions.list.get(self.page).is_some_and(|question| self.is_writing_only_answer(question))
        {
            true => MIN_ROWS_OF_TEXT_QUESTION,
            false => MIN_ROWS_OF_PICKER,
        };
        let min_rows = min_rows.min(self.preferred_height(questions, area.width, theme).saturating_sub(2));
        let tabs = self.lay_out_tabs(questions, usize::from(inner.width), theme);
        if let Some(tabs) = tabs.filter(|_| inner.height >= min_rows) {
            buffer.set_line(inner.x, inner.y, &tabs, inner.width);
            inner = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
        }
        if let Some((kind, field)) = &self.open_field {
            let rows = self.field_height(usize::from(inner.width), usize::from(inner.height)) as u16;
            inner.height -= rows;
            let field_area = Rect { y: inner.bottom(), height: rows, ..inner };
            let label = field_label(*kind);
            drawn.cursor = Some(field.draw_rows_with_label(label, field_area, buffer, theme));
            drawn.field_width = width_after_label(label, field_area.width);
        }
        let scroll_label = self.draw_body(questions, inner, buffer, context, &mut drawn);
        let hints = self.build_hints(questions, keys, scroll_label);
        Frame { hints: &hints, ..frame }.draw_hints(area, buffer, theme);
        drawn.is_readable = drawn.visible_rows > 0 && is_readable(inner, area, buffer);
        drawn
    }

    /// Draws the content of the frame. Returns the label of the scroll key if content does not fit.
    fn draw_body(
        &self,
        questions: &Questions,
        mut inner: Rect,
        buffer: &mut Buffer,
        context: &QuestionContext<'_>,
        drawn: &mut DrawnPrompt,
    ) -> Option<&'static str> {
        let theme = context.prompt.theme;
        let cells = usize::from(inner.width);
        if !questions.dropped.is_empty() && inner.height >= 4 {
            inner.height -= 1;
            let note = format!("truncated: {}", questions.dropped.describe_dropped());
            buffer.set_stringn(inner.x, inner.bottom(), width::fit_start(&note, cells), cells, theme.warning);
        }
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
        context: &QuestionContext<'_>,
        drawn: &mut DrawnPrompt,
    ) -> Option<&'static str> {
        let PromptContext { theme, keys, .. } = context.prompt;
        let cells = usize::from(inner.width);
        let height = usize::from(inner.height);
        let check = |target: &LinkTarget| context.lookups.check_target(target);
        let page = wrap_revealed_links(&question.text, theme.strong, &Shape::with_width(cells), theme, &check);
        let text = &page.lines;
        if self.is_writing_only_answer(question) {
            let hidden_rows = text.len().saturating_sub(height);
            (drawn.visible_rows, drawn.scroll, drawn.head_scroll) = (height, self.scroll.min(hidden_rows), hidden_rows);
            draw_scrolled_lines(text, drawn.scroll, inner, buffer, theme);
            drawn.links = place_scrolled_links(&page, drawn.scroll, inner);
            return (hidden_rows > 0).then_some(SCROLL_LABEL);
        }
        // The layout is the same whichever row is focused, so that rows and preview stay where they are.
        let has_preview = question.options.get(draft.cursor).is_some_and(|choice| !choice.preview.is_empty());
        let picker_cells = picker_width(question, cells);
        let full_rows = lay_out_rows(question, draft, picker_cells, theme);
        let preview_rows = count_preview_rows(question, cells, theme);
        let has_side_preview = preview_rows > 0 && cells >= SIDE_PREVIEW_WIDTH;
        let wanted_rows = content_rows(full_rows.max_lines, preview_rows, cells);
        // The picker gets up to two thirds of the height, the text the rest, with a blank row between if there is room.
        let min_content_rows = wanted_rows.min(height - (height / 3).max(usize::from(height > 1)));
        let text_rows = text.len().min(height - min_content_rows);
        let blank_rows = usize::from(text_rows > 0 && (text_rows + wanted_rows < height || height >= 12));
        let [text_area, remaining] = split_rows(inner, text_rows);
        let [_, content_area] = split_rows(remaining, blank_rows);
        let content_height = usize::from(content_area.height);
        // If the picker and a preview below it do not both fit, the picker is shown whole, and the preview in the rows that
        // are left, if any. Scrolling past the end of the picker replaces a part of it by the preview, if that shows more
        // of it; this takes one scroll step.
        let has_preview_below = preview_rows > 0 && !has_side_preview;
        let is_tight =
            has_preview_below && full_rows.max_lines + 1 + preview_rows.min(MIN_PREVIEW_ROWS) > content_height;
        let PickerRows { lines, focused, max_lines, .. } = match is_tight || has_side_preview {
            true => fit_rows(question, draft, picker_cells, theme, content_height),
            false => full_rows,
        };
        // The heading takes one row. It stays where it is when the focus moves.
        let window_rows = content_height.saturating_sub(max_lines + 1);
        let below_lines = match has_preview_below {
            true => lay_out_preview(question, draft.cursor, cells, theme),
            false => Vec::new(),
        };
        let min_picker_rows = max_lines.min(content_height - content_height / 2);
        let is_cut = below_lines.len() > window_rows && min_picker_rows < max_lines;
        let replace_steps = usize::from(is_tight && has_preview && is_cut && content_height >= 2 * MIN_PREVIEW_ROWS);
        let text_overflow = text.len() - text_rows;
        // Lines of the focused row that do not fit while the picker has the whole area.
        let full_row_overflow = focused.len().saturating_sub(content_height);
        let is_picker_replaced = replace_steps > 0 && self.scroll > text_overflow + full_row_overflow;
        let is_preview_hidden = replace_steps > 0 && !is_picker_replaced;
        let scroll_key = keys.first_chord(Scope::Question, Action::ScrollTextDown);
        let heading = match is_preview_hidden && !scroll_key.is_empty() {
            true => format!("{PREVIEW_HEADING} · {scroll_key}"),
            false => PREVIEW_HEADING.to_owned(),
        };
        let (list_area, preview) = if has_side_preview {
            let list_area = Rect { width: picker_cells as u16, ..content_area };
            draw_divider(Rect { x: list_area.right() + 1, width: 1, ..content_area }, buffer, theme);
            // The divider has one blank on either side.
            let x = list_area.right() + 3;
            let area = Rect { x, width: content_area.right() - x, ..content_area };
            (list_area, Some((area, lay_out_preview(question, draft.cursor, usize::from(area.width), theme))))
        } else if is_picker_replaced || has_preview_below && window_rows > 0 {
            let picker_rows = if is_picker_replaced { min_picker_rows } else { max_lines };
            let (list_area, area) = split_preview(content_area, picker_rows, &heading, buffer, theme);
            (list_area, Some((area, below_lines)))
        } else {
            (content_area, None)
        };
        let list_rows = usize::from(list_area.height);
        let row_overflow = if is_tight { full_row_overflow } else { focused.len().saturating_sub(list_rows) };
        // Until the preview replaces a part of the picker, only its start is shown.
        let preview_overflow = match &preview {
            Some((area, lines)) if !is_preview_hidden => lines.len().saturating_sub(usize::from(area.height)),
            Some(_) | None => 0,
        };
        // One offset scrolls everything: the text to its end, then the focused row, then the preview.
        let scroll_before_preview = text_overflow + row_overflow + replace_steps;
        let max_scroll = scroll_before_preview + preview_overflow;
        let scroll = self.scroll.min(max_scroll);
        let text_scroll = scroll.min(text_overflow);
        draw_scrolled_lines(text, text_scroll, text_area, buffer, theme);
        drawn.links = place_scrolled_links(&page, text_scroll, text_area);
        if text_scroll < text_overflow && text_rows > 1 && !scroll_key.is_empty() {
            // The last row of the text shows the number of hidden lines instead.
            let row = Rect { y: text_area.bottom() - 1, height: 1, ..text_area };
            let note = format!("… {} more lines · {scroll_key}", text_overflow - text_scroll + 1);
            let line = Line::styled(format!("{note:<cells$}"), theme.warning);
            buffer.set_line(row.x, row.y, &line, row.width);
            drawn.links.retain(|link| link.area.y != row.y);
        }
        let row_scroll = if is_picker_replaced { 0 } else { (scroll - text_scroll).min(row_overflow) };
        let first_line = focused.end.saturating_sub(list_rows).min(focused.start) + row_scroll;
        for (index, row) in (first_line..).zip(list_area.rows()) {
            if focused.contains(&index) {
                buffer.set_style(row, theme.selected);
            }
        }
        draw_scrolled_lines(&lines, first_line, list_area, buffer, theme);
        drawn.links.extend(draw_row_links(&lines, first_line, list_area, buffer, theme, &check));
        if let Some((area, lines)) = &preview {
            let first = scroll.saturating_sub(scroll_before_preview);
            draw_scrolled_lines(lines, first, *area, buffer, theme);
            drawn.links.extend(draw_row_links(lines, first, *area, buffer, theme, &check));
        }
        if is_preview_hidden && preview.is_none() && max_lines < list_rows {
            let row = Rect { y: list_area.bottom() - 1, height: 1, ..list_area };
            draw_preview_heading(&heading, row, buffer, theme);
        }
        (drawn.visible_rows, drawn.scroll, drawn.head_scroll) = (list_rows, scroll, text_overflow);
        let is_preview_next = is_preview_hidden && scroll >= text_overflow + row_overflow;
        (max_scroll > 0).then_some(if is_preview_next { PREVIEW_HEADING } else { SCROLL_LABEL })
    }

    /// Lays out the review of all answers.
    fn lay_out_review(&self, questions: &Questions, cells: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for (index, (question, page)) in questions.list.iter().zip(&self.pages).enumerate() {
            let number = if index < 9 { format!("{} ", index + 1) } else { "  ".to_owned() };
            let text = question.text.split_whitespace().collect::<Vec<_>>().join(" ");
            // Two rows without the number, which takes 2 columns.
            let text = width::fit_start(&text, cells.saturating_sub(2).max(1) * 2).into_owned();
            lines.extend(wrap_revealed(&format!("{number}{text}"), theme.dim, cells, theme));
            let answer = page.to_answer(question);
            let mut push_text = |text: &str, style| {
                let shape = Shape::with_prefix(cells, Piece::new("  ", style));
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

    /// Returns whether the text field of a question without options is open. Its only row would repeat the field.
    fn is_writing_only_answer(&self, question: &Question) -> bool {
        question.options.is_empty() && matches!(self.open_field, Some((FieldKind::TextAnswer, _)))
    }

    /// Returns the rows of the text field being edited: at most half of the prompt's `inner_rows`; 0 if there is none.
    fn field_height(&self, cells: usize, inner_rows: usize) -> usize {
        let Some((kind, field)) = &self.open_field else { return 0 };
        let max_rows = MAX_FIELD_ROWS.min((inner_rows / 2).max(1));
        let field_cells = width_after_label(field_label(*kind), cells as u16);
        field.wrap_rows(field_cells.max(1)).0.len().min(max_rows)
    }
}

/// Returns the label of the text field being edited.
fn field_label(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::TextAnswer => "❯ ",
        FieldKind::Note => "note ",
    }
}

/// Returns the rows for the picker and the preview; `preview_rows` is 0 without one.
fn content_rows(picker_rows: usize, preview_rows: usize, cells: usize) -> usize {
    match preview_rows {
        0 => picker_rows,
        _ if cells >= SIDE_PREVIEW_WIDTH => picker_rows.max(preview_rows),
        _ => picker_rows + 1 + preview_rows,
    }
}

/// Splits an area into the part of the first `rows` rows and the rest.
pub(super) fn split_rows(area: Rect, rows: usize) -> [Rect; 2] {
    let rows = (rows as u16).min(area.height);
    [Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area }]
}

/// Returns the links of the lines that [`draw_scrolled_lines`] draws.
fn place_scrolled_links(page: &Page, first: usize, area: Rect) -> Vec<PlacedLink> {
    (first..page.lines.len()).zip(area.rows()).flat_map(|(index, row)| page.place_links(index, row)).collect()
}

/// Draws lines from index `first` on. If not all fit, draws a scrollbar thumb on the border or divider at the right.
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
