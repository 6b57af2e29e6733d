//! Layout and drawing of the question prompt: the question, the option picker, and the preview of the focused option
//! next to or below the picker.

use super::option_picker::{PickerRows, fit_rows, lay_out_rows};
use super::{AnswerDraft, DrawnFrame, LineKind, QuestionPrompt};
use crate::chat::{AnswerValue, Question, Questions};
use crate::text::{reveal, width};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::frame::{Frame, MIN_READABLE_CELLS, PromptContext};
use crate::tui::parts::text_field::TextField;
use crate::tui::text::wrap::{self, Piece, Shape};
use crate::tui::text::{markdown, revealed_pieces};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line as Text;

/// Inner width in cells from which the preview is next to the picker. Below it, the preview is under the picker.
const SIDE_PREVIEW_WIDTH: usize = 68;
/// Maximum rows of a text answer being edited; longer text scrolls.
const MAX_LINE_ROWS: usize = 6;
/// Heading of a preview under the picker.
const PREVIEW_HEADING: &str = "preview";
/// Label of the key that scrolls content that does not fit.
const SCROLL_LABEL: &str = "scroll";
/// Minimum rows of a preview.
const MIN_PREVIEW_ROWS: usize = 3;
/// Maximum lines requested for a preview; longer previews scroll.
const MAX_PREVIEW_ROWS: usize = 14;

impl QuestionPrompt {
    /// Returns the rows the prompt needs at this width. It scrolls in fewer.
    pub fn preferred_height(&self, asked: &Questions, width: u16, theme: &Theme) -> u16 {
        let cells = usize::from(width.saturating_sub(4));
        let body = match (asked.list.get(self.page), self.pages.get(self.page)) {
            (Some(question), Some(page)) => {
                let text = wrap_revealed(&question.text, theme.strong, cells, theme).len() + 1;
                let preview = estimate_preview_rows(question, cells);
                let list = lay_out_rows(question, page, picker_width(question, cells), theme).lines.len();
                match preview {
                    0 => text + list,
                    _ if cells >= SIDE_PREVIEW_WIDTH => text + list.max(preview),
                    _ => text + list + 1 + preview,
                }
            }
            _ => self.lay_out_review(asked, cells, theme).len(),
        };
        let writing = self.line_height(cells, MAX_LINE_ROWS * 2);
        let rows = body + 2 + self.build_footers(asked, theme).len() + writing;
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// Draws the prompt. `by` is the sub-agent that asks, or `None` for the main session.
    pub fn draw(
        &self,
        asked: &Questions,
        by: Option<&str>,
        sight: &PromptContext<'_>,
        area: Rect,
        buffer: &mut Buffer,
    ) -> DrawnFrame {
        let theme = sight.theme;
        let (title, right) = self.build_title(asked, by);
        let listens = sight.listening.is_listening() || self.is_writing();
        let frame = Frame {
            title: &title,
            right_title: &right,
            message: sight.message,
            is_listening: listens,
            ..Frame::default()
        };
        let mut inside = frame.draw(area, buffer, theme);
        let mut seen = DrawnFrame::default();
        if inside.is_empty() {
            return seen;
        }
        if self.is_writing() {
            let rows = self.line_height(usize::from(inside.width), usize::from(inside.height)) as u16;
            inside.height -= rows;
            let line = Rect { y: inside.bottom(), height: rows, ..inside };
            seen.cursor = self.draw_line(line, buffer, theme);
            seen.line_width = usize::from(line.width - line_label(self.open_line.as_ref(), line.width).1);
        }
        let more = self.draw_body(asked, inside, buffer, sight, &mut seen);
        let hints = self.build_hints(asked, sight.keys, more);
        Frame { hints: &hints, ..frame }.draw_hints(area, buffer, theme);
        seen.is_readable =
            seen.visible_rows > 0 && inside.width >= MIN_READABLE_CELLS && area == area.intersection(buffer.area);
        seen
    }

    /// Draws the content of the frame. Returns the label of the scroll key if content does not fit.
    fn draw_body(
        &self,
        asked: &Questions,
        mut inside: Rect,
        buffer: &mut Buffer,
        sight: &PromptContext<'_>,
        seen: &mut DrawnFrame,
    ) -> Option<&'static str> {
        let theme = sight.theme;
        let mut footers = self.build_footers(asked, theme);
        footers.truncate(usize::from(inside.height / 4));
        inside.height -= footers.len() as u16;
        for ((words, style), y) in footers.iter().zip(inside.bottom()..) {
            let words = width::fit_start(words, usize::from(inside.width));
            buffer.set_stringn(inside.x, y, words, usize::from(inside.width), *style);
        }
        let cells = usize::from(inside.width);
        let Some((question, page)) = asked.list.get(self.page).zip(self.pages.get(self.page)) else {
            let lines = self.lay_out_review(asked, cells, theme);
            let over = lines.len().saturating_sub(usize::from(inside.height));
            (seen.visible_rows, seen.scroll) = (usize::from(inside.height), self.scroll.min(over));
            draw_scrolled_lines(&lines, seen.scroll, inside, buffer, theme);
            return (over > 0).then_some(SCROLL_LABEL);
        };
        self.draw_question(question, page, inside, buffer, sight, seen)
    }

    /// Draws a question: its text, the picker, and the preview of the focused option.
    fn draw_question(
        &self,
        question: &Question,
        page: &AnswerDraft,
        inside: Rect,
        buffer: &mut Buffer,
        sight: &PromptContext<'_>,
        seen: &mut DrawnFrame,
    ) -> Option<&'static str> {
        let theme = sight.theme;
        let cells = usize::from(inside.width);
        let height = usize::from(inside.height);
        let text = wrap_revealed(&question.text, theme.strong, cells, theme);
        let wish = estimate_preview_rows(question, cells);
        let beside = wish > 0 && cells >= SIDE_PREVIEW_WIDTH;
        let wide = picker_width(question, cells);
        let lines = lay_out_rows(question, page, wide, theme).lines;
        let want = match (wish, beside) {
            (0, _) => lines.len(),
            (_, true) => lines.len().max(wish),
            (_, false) => lines.len() + 1 + wish,
        };
        // The picker gets up to two thirds of the height, the text the rest, with a blank row between if there is room.
        let least = want.min(height - (height / 3).max(usize::from(height > 1)));
        let text_rows = text.len().min(height - least);
        let blank = usize::from(text_rows > 0 && (text_rows + want < height || height >= 12));
        let [head, rest] = split_rows(inside, text_rows);
        let [_, rest] = split_rows(rest, blank);
        // The picker has priority: if both do not fit, scrolling past the picker shows the preview.
        let tight = wish > 0 && !beside && lines.len() + 1 + wish.min(MIN_PREVIEW_ROWS) > usize::from(rest.height);
        let PickerRows { lines, focused: open } = match tight || beside {
            true => fit_rows(question, page, wide, theme, usize::from(rest.height)),
            false => lay_out_rows(question, page, wide, theme),
        };
        let text_over = text.len() - text_rows;
        // Until then the picker has all of this area.
        let whole_over = open.len().saturating_sub(usize::from(rest.height));
        let turned = tight && usize::from(rest.height) >= 2 * MIN_PREVIEW_ROWS && self.scroll > text_over + whole_over;
        let (list, preview) = match (wish, beside) {
            (0, _) => (rest, None),
            (_, false) if tight && !turned => (rest, None),
            (_, true) => {
                let own = picker_width(question, cells) as u16;
                let list = Rect { width: own, ..rest };
                draw_divider(Rect { x: list.right() + 1, width: 1, ..rest }, buffer, theme);
                (list, Some(Rect { x: list.right() + 3, width: rest.width - own - 3, ..rest }))
            }
            (_, false) => split_preview(rest, lines.len(), buffer, theme),
        };
        let list_rows = usize::from(list.height);
        let row_over = if tight { whole_over } else { open.len().saturating_sub(list_rows) };
        // One scroll step switches from the picker to the preview.
        let turn = usize::from(tight && usize::from(rest.height) >= 2 * MIN_PREVIEW_ROWS);
        let page_of =
            preview.map(|area| (area, lay_out_preview(question, page.cursor, usize::from(area.width), theme)));
        let preview_over =
            page_of.as_ref().map_or(0, |(area, lines)| lines.len().saturating_sub(usize::from(area.height)));
        // One offset scrolls everything: the question to its end, then the focused option, then its preview.
        let all = text_over + row_over + turn + preview_over;
        let read = self.scroll.min(all);
        let (of_text, of_row) = (read.min(text_over), read.saturating_sub(text_over).min(row_over));
        draw_scrolled_lines(&text, of_text, head, buffer, theme);
        let down = sight.keys.first_chord(Scope::Question, Action::ScrollTextDown);
        if of_text < text_over && text_rows > 1 && !down.is_empty() {
            // The count of remaining lines takes a row.
            let row = Rect { y: head.bottom() - 1, height: 1, ..head };
            let words = format!("… {} more lines · {down}", text_over - of_text + 1);
            let line = Text::styled(format!("{words:<cells$}"), theme.warning);
            buffer.set_line(row.x, row.y, &line, row.width);
        }
        let of_row = if turned { 0 } else { of_row };
        let from = open.end.saturating_sub(list_rows).min(open.start) + of_row;
        for (at, row) in (from..).zip(list.rows()) {
            if open.contains(&at) {
                buffer.set_style(row, theme.selected);
            }
        }
        draw_scrolled_lines(&lines, from, list, buffer, theme);
        if let Some((area, lines)) = &page_of {
            draw_scrolled_lines(lines, read.saturating_sub(text_over + row_over + turn), *area, buffer, theme);
        }
        if turn > 0 && !turned && lines.len() < list_rows {
            let words =
                if down.is_empty() { PREVIEW_HEADING.to_owned() } else { format!("{PREVIEW_HEADING} ↓ {down}") };
            draw_preview_heading(&words, Rect { y: list.bottom() - 1, height: 1, ..list }, buffer, theme);
        }
        (seen.visible_rows, seen.scroll, seen.question_scroll) = (list_rows, read, text_over);
        let previews = turn > 0 && !turned && read >= text_over + row_over;
        (all > 0).then_some(if previews { PREVIEW_HEADING } else { SCROLL_LABEL })
    }

    /// Returns the lines under the picker: a warning if limits truncated the questions.
    fn build_footers(&self, asked: &Questions, theme: &Theme) -> Vec<(String, Style)> {
        let mut footers = Vec::new();
        if !asked.dropped.is_empty() {
            footers.push((format!("truncated: {}", asked.dropped.describe_dropped()), theme.warning));
        }
        footers
    }

    /// Lays out the review of all answers.
    fn lay_out_review(&self, asked: &Questions, cells: usize, theme: &Theme) -> Vec<Text<'static>> {
        let mut lines = Vec::new();
        for (at, (question, page)) in asked.list.iter().zip(&self.pages).enumerate() {
            let number = if at < 9 { format!("{} ", at + 1) } else { "  ".to_owned() };
            let text = question.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let text = width::fit_start(&text, cells.saturating_sub(2).max(1) * 2).into_owned();
            lines.extend(wrap_revealed(&format!("{number}{text}"), theme.dim, cells, theme));
            let given = page.to_given(question);
            let mut say = |words: &str, style| {
                let first = vec![Piece::new("  ", style)];
                let shape = Shape { width: cells, rest: first.clone(), first, verbatim: false };
                lines.extend(wrap::wrap_pieces(&revealed_pieces(words, style, theme.mark), &shape).lines);
            };
            match &given.value {
                AnswerValue::Skipped => say("no answer: sent as skipped", theme.warning),
                AnswerValue::Text(words) => say(words, theme.text),
                AnswerValue::Selected(_) => say(&reveal::reveal_line(&given.answer_text(question)), theme.text),
            }
            for note in &given.notes {
                let option = question.options.get(note.option).map_or("", |choice| choice.label.as_str());
                say(&format!("note on {}: {}", reveal::reveal_line(option), note.text), theme.dim);
            }
            if !given.note.is_empty() {
                say(&format!("note: {}", given.note), theme.dim);
            }
        }
        lines
    }

    /// Returns the rows of the line being edited in a prompt with `inside` rows. The line scrolls in fewer.
    fn line_height(&self, cells: usize, inside: usize) -> usize {
        let Some((_, line)) = &self.open_line else { return 0 };
        let taken = usize::from(line_label(self.open_line.as_ref(), cells as u16).1);
        line.wrap_rows(cells.saturating_sub(taken).max(1)).0.len().min(MAX_LINE_ROWS).min((inside / 2).max(1))
    }

    /// Draws the line being edited. Returns the cursor position.
    fn draw_line(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Option<Position> {
        let (what, line) = self.open_line.as_ref()?;
        let (label, taken) = line_label(self.open_line.as_ref(), area.width);
        let room = usize::from(area.width - taken);
        buffer.set_stringn(area.x, area.y, label, usize::from(taken), theme.prompt);
        let (x, (row, cell)) = match what {
            LineKind::Note => {
                let (text, cursor) = line.visible_part(room);
                buffer.set_stringn(area.x + taken, area.y, text, room, theme.text);
                (area.x + taken, (0, cursor))
            }
            LineKind::TextAnswer => {
                let (rows, (row, cell)) = line.wrap_rows(room.max(1));
                let first = (row + 1).saturating_sub(usize::from(area.height));
                for (text, place) in rows.iter().skip(first).zip(area.rows()) {
                    buffer.set_stringn(area.x + taken, place.y, text, room, theme.text);
                }
                (area.x + taken, (row - first, cell))
            }
        };
        let x = x.saturating_add(cell as u16).min(area.right().saturating_sub(1));
        Some(Position { x, y: (area.y + row as u16).min(area.bottom().saturating_sub(1)) })
    }
}

/// Returns the label of the line being edited, and its width in cells.
fn line_label(writing: Option<&(LineKind, TextField)>, width: u16) -> (&'static str, u16) {
    let label = match writing {
        Some((LineKind::TextAnswer, _)) => "Your own answer ",
        Some((LineKind::Note, _)) => "note ",
        None => "",
    };
    let label = width::cut_to_width(label, usize::from(width / 2));
    (label, width::text_width(label) as u16)
}

/// Wraps text with marks for invisible characters.
fn wrap_revealed(text: &str, style: Style, cells: usize, theme: &Theme) -> Vec<Text<'static>> {
    wrap::wrap_pieces(&revealed_pieces(text, style, theme.mark), &Shape::with_width(cells)).lines
}

/// Returns the width of the picker in cells.
fn picker_width(question: &Question, cells: usize) -> usize {
    let beside = cells >= SIDE_PREVIEW_WIDTH && question.options.iter().any(|choice| !choice.preview.is_empty());
    if beside { (cells * 9 / 20).clamp(30, 52) } else { cells }
}

/// Estimates the lines of the longest preview; 0 if no option has one. Counts characters instead of laying out, because
/// it runs for each frame.
fn estimate_preview_rows(question: &Question, cells: usize) -> usize {
    let cells =
        if cells >= SIDE_PREVIEW_WIDTH { cells.saturating_sub(picker_width(question, cells) + 3) } else { cells }
            .max(1);
    let lines = |text: &str| {
        let each = text.lines().take(MAX_PREVIEW_ROWS).map(|line| 1 + line.chars().take(2_000).count() / cells);
        each.sum::<usize>().clamp(3, MAX_PREVIEW_ROWS)
    };
    let shown = question.options.iter().filter(|choice| !choice.preview.is_empty());
    shown.map(|choice| lines(&choice.preview)).max().unwrap_or(0)
}

/// Lays out the preview of an option.
fn lay_out_preview(question: &Question, row: usize, cells: usize, theme: &Theme) -> Vec<Text<'static>> {
    match question.options.get(row) {
        None => Vec::new(),
        Some(choice) if choice.preview.is_empty() => wrap::wrap_plain("no preview", theme.dim, cells),
        Some(choice) => {
            let shown = reveal::mark_invisible(&choice.preview);
            markdown::lay_out_markdown(&shown, cells, theme, &|_| false, &|_| None).lines
        }
    }
}

/// Splits an area after a number of rows.
fn split_rows(area: Rect, rows: usize) -> [Rect; 2] {
    let rows = (rows as u16).min(area.height);
    [Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area }]
}

/// Splits an area into picker and preview with a line between them. Returns no preview area if both do not fit.
fn split_preview(area: Rect, wanted: usize, buffer: &mut Buffer, theme: &Theme) -> (Rect, Option<Rect>) {
    let most = usize::from(area.height);
    let preview = if most < 4 { 0 } else { (most / 2).max(2) };
    let [list, rest] = split_rows(area, wanted.min(most - preview));
    if preview == 0 {
        return (list, None);
    }
    let [rule, preview] = split_rows(rest, 1);
    draw_preview_heading(PREVIEW_HEADING, rule, buffer, theme);
    (list, Some(preview))
}

/// Draws the heading of a preview.
fn draw_preview_heading(head: &str, rule: Rect, buffer: &mut Buffer, theme: &Theme) {
    let words = format!("── {head} {}", "─".repeat(usize::from(rule.width)));
    let cells = usize::from(rule.width);
    buffer.set_stringn(rule.x, rule.y, words, cells, theme.border_dim);
    buffer.set_stringn(rule.x + 3, rule.y, head, cells.saturating_sub(3), theme.dim);
}

/// Draws the line between the picker and a preview next to it.
fn draw_divider(area: Rect, buffer: &mut Buffer, theme: &Theme) {
    for row in area.rows() {
        buffer.set_stringn(row.x, row.y, "│", 1, theme.border_dim);
    }
}

/// Draws lines from index `from` on. If not all fit, draws a scrollbar thumb on the line at the right, which is the frame
/// or the divider.
fn draw_scrolled_lines(lines: &[Text<'_>], from: usize, area: Rect, buffer: &mut Buffer, theme: &Theme) {
    let edge = area.right() + 1;
    for (line, row) in lines.iter().skip(from).zip(area.rows()) {
        buffer.set_line(row.x, row.y, line, row.width);
    }
    let rows = usize::from(area.height);
    if rows == 0 || lines.len() <= rows || edge >= buffer.area.right() {
        return;
    }
    let thumb = (rows * rows / lines.len()).max(1);
    let top = (from * (rows - thumb)).div_ceil((lines.len() - rows).max(1)).min(rows - thumb);
    for y in (area.y..area.bottom()).skip(top).take(thumb) {
        buffer.set_stringn(edge, y, "┃", 1, theme.accent);
    }
}
