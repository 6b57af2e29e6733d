//! Layout and drawing of the approval prompt. Shows the whole plan, marks invisible characters, clips to the prompt.

use super::{Approval, ApprovalContent, ApprovalView, DrawnFrame};
use crate::chat::{Access, CommandLine, FileContent, Preconditions, Preview};
use crate::text::width;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::audit_page;
use crate::tui::parts::frame::{Frame, MIN_READABLE_CELLS, PromptContext};
use crate::tui::parts::key_hints::{self, key_hint};
use crate::tui::parts::review::Row;
use crate::tui::parts::sub_agent_name::origin_line;
use crate::tui::text::wrap::{self, Piece, Shape};
use crate::tui::text::{diff, revealed_pieces};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use std::sync::Arc;

/// A preview with more rows than this shows its warning at the top, because its end may be off screen.
const LONG_PREVIEW_ROWS: usize = 6;

impl Approval {
    /// Returns the rows the prompt needs at this width. It scrolls in fewer.
    pub fn preferred_height(&self, card: &ApprovalContent<'_>, width: u16, theme: &Theme) -> u16 {
        let rows = self.lay_out_body(card, usize::from(width.saturating_sub(4)), theme).len() + 2;
        let line = usize::from(matches!(self.view, ApprovalView::DenyMessage(_)));
        u16::try_from(rows + line).unwrap_or(u16::MAX)
    }

    /// Draws the prompt.
    pub fn draw(
        &self,
        card: &ApprovalContent<'_>,
        sight: &PromptContext<'_>,
        area: Rect,
        buffer: &mut Buffer,
    ) -> DrawnFrame {
        let PromptContext { listening, keys, theme, message: says } = *sight;
        let (at, of) = card.position;
        let mut right: Vec<String> = Vec::new();
        if let Preview::Batch(batch) = &card.plan.preview {
            let count = self.review.count_ticked(batch);
            right.extend((count.total > 1).then(|| count.to_string()));
        }
        right.extend((of > 1).then(|| format!("{at} of {of}")));
        let right = right.join(" · ");
        // This frame may be the first to show the end, and no later frame is guaranteed to update the hints.
        let least = usize::from(self.preferred_height(card, area.width, theme));
        let ends = self.scroll.saturating_add(usize::from(area.height)) >= least;
        let frame = Frame {
            title: &card.plan.title,
            right_title: &right,
            hints: &self.build_hints(card, keys, ends),
            message: says,
            is_listening: listening.is_listening() || self.is_writing(),
            is_destructive: self.is_destructive(card.plan),
        };
        let mut inside = frame.draw(area, buffer, theme);
        if inside.is_empty() {
            return DrawnFrame::default();
        }
        let mut seen = DrawnFrame::default();
        if let ApprovalView::DenyMessage(line) = &self.view {
            inside.height -= 1;
            let row = Rect { y: inside.bottom(), height: 1, ..inside };
            seen.cursor = Some(line.draw_with_label("deny: ", row, buffer, theme));
        }
        if let ApprovalView::Form(form) = &self.view {
            seen.cursor = form.draw(inside, buffer, theme);
            seen.rows = usize::from(inside.height);
            return seen;
        }
        let lines = self.lay_out_body(card, usize::from(inside.width), theme);
        let rows = usize::from(inside.height);
        seen.scroll = self.scroll.min(lines.len().saturating_sub(rows));
        let left = lines.len().saturating_sub(seen.scroll + rows);
        // The count of remaining lines takes a row.
        let shown = if left > 0 && rows > 1 { rows - 1 } else { rows };
        for (row, at) in inside.rows().zip(seen.scroll..lines.len()).take(shown) {
            match (&lines, &card.plan.preview) {
                (BodyRows::Lines(lines), _) => buffer.set_line(row.x, row.y, &lines[at], row.width),
                (BodyRows::Rows(rows), Preview::Batch(batch)) => {
                    buffer.set_line(row.x, row.y, &self.review.draw_row(&rows[at], batch, theme), row.width)
                }
                (BodyRows::Rows(_), Preview::Text(_) | Preview::Command(_) | Preview::Edit(_)) => continue,
            };
        }
        if shown < rows {
            let more = format!("{} more lines", left + 1);
            let words = width::fit_start(&more, usize::from(inside.width)).into_owned();
            buffer.set_stringn(inside.x, inside.bottom() - 1, words, usize::from(inside.width), theme.warning);
        }
        seen.rows = rows;
        seen.is_readable = rows > 0 && inside.width >= MIN_READABLE_CELLS && area == area.intersection(buffer.area);
        seen.is_at_end = left == 0;
        seen
    }

    /// Returns the body of the prompt, wrapped.
    fn lay_out_body(&self, card: &ApprovalContent<'_>, width: usize, theme: &Theme) -> BodyRows {
        if let (Preview::Batch(batch), ApprovalView::Plan | ApprovalView::DenyMessage(_)) =
            (&card.plan.preview, &self.view)
        {
            let end = || {
                let mut body = BodyBuilder { lines: Vec::new(), width: width.max(1), theme };
                if !card.reason.is_empty() {
                    body.push_text(&format!("reason: {}", card.reason), theme.dim);
                }
                body.lines
            };
            return BodyRows::Rows(self.review.lay_out_rows(batch, width, theme, end));
        }
        BodyRows::Lines(self.layout.lines_for(width, (), theme, || self.lay_out_text(card, width, theme)))
    }

    fn lay_out_text(&self, card: &ApprovalContent<'_>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut body = BodyBuilder { lines: Vec::new(), width: width.max(1), theme };
        match &self.view {
            ApprovalView::Details => body.push_details(card),
            ApprovalView::Scope(choosing) => {
                for (line, style) in choosing.choice_lines(theme) {
                    body.push_text(&line, style);
                }
            }
            // The form draws its fields.
            ApprovalView::Form(form) => return vec![Line::default(); form.preferred_height()],
            ApprovalView::Plan | ApprovalView::DenyMessage(_) => {
                body.push_sub_agent(card);
                let warning = card.plan.destroys.as_ref().map(|what| format!("warning: this {what}"));
                let from = body.lines.len();
                body.push_preview(&card.plan.preview);
                // A long preview has the warning at its top.
                let early = match &card.plan.preview {
                    Preview::Edit(_) => Some(1),
                    Preview::Text(_) | Preview::Command(_) | Preview::Batch(_) => {
                        (body.lines.len() - from > LONG_PREVIEW_ROWS).then_some(0)
                    }
                };
                if let (Some(words), Some(row)) = (&warning, early) {
                    let rest = body.lines.split_off((from + row).min(body.lines.len()));
                    body.push_text(words, theme.danger);
                    body.lines.extend(rest);
                }
                body.push_blank();
                body.push_location(card);
                if let (Some(words), None) = (&warning, early) {
                    body.push_text(words, theme.danger);
                }
                if !card.reason.is_empty() {
                    body.push_text(&format!("reason: {}", card.reason), theme.dim);
                }
            }
        }
        body.lines
    }

    /// Returns the key hints for the border, longest variant first.
    fn build_hints(&self, card: &ApprovalContent<'_>, keys: &Keymap, ends: bool) -> Vec<String> {
        let key = |action| keys.first_chord(Scope::Approval, action);
        let (yes, always) = match (self.is_destructive(card.plan), &card.plan.grant) {
            (true, _) => (Action::ApproveDestructive, false),
            (false, always) => (Action::ApproveOnce, always.is_some()),
        };
        let review = match &card.plan.preview {
            Preview::Batch(batch) => Some(self.review.hints(batch, keys)),
            Preview::Text(_) | Preview::Command(_) | Preview::Edit(_) => None,
        };
        let yes = key(yes);
        let (no, because, details) = (key(Action::Deny), key(Action::DenyWithMessage), key(Action::Details));
        let back = key(Action::Close);
        match &self.view {
            ApprovalView::DenyMessage(_) => {
                vec![format!("enter deny with this message · {back} back"), "enter deny".to_owned()]
            }
            ApprovalView::Scope(choosing) => choosing.hints(keys, ends),
            ApprovalView::Form(form) => {
                let editor = keys.first_chord(Scope::Composer, Action::OpenEditor);
                let rest =
                    if form.is_focused_multiline() { format!("{editor} open editor · ") } else { String::new() };
                vec![
                    format!("↑↓ field · {rest}enter preview · {back} back"),
                    format!("enter preview · {back} back"),
                    "enter preview".to_owned(),
                ]
            }
            ApprovalView::Details => {
                vec![format!("{details} back to prompt · {no} deny"), format!("{details} back")]
            }
            ApprovalView::Plan => {
                let l = if card.position.1 > 1 { key(Action::OpenQueue) } else { String::new() };
                let always = if always { key(Action::ApproveAlways) } else { String::new() };
                let rest = [
                    key_hint(1, &no, &["deny"]),
                    key_hint(4, &because, &["deny with message…", "message"]),
                    key_hint(6, &details, &["details", "more"]),
                    key_hint(2, &l, &["list"]),
                ];
                if !self.has_reached_end && !ends {
                    let rest: Vec<_> = review.into_iter().flatten().chain(rest).collect();
                    return key_hints::hint_rows_with_end_first(&key(Action::Bottom), &yes, "approve", &rest);
                }
                let is_many = review.as_ref().is_some_and(|review| review.iter().any(Option::is_some));
                if let Some(review) = review {
                    let first = key_hint(0, &yes, if is_many { &["apply selected", "apply"][..] } else { &["apply"] });
                    return key_hints::hint_rows([first].into_iter().chain(review).chain(rest));
                }
                let first = [
                    key_hint(0, &yes, &["approve"]),
                    key_hint(3, &always, &["always…", "always"]),
                    key_hint(5, &key(Action::EditCall), &["edit"]),
                ];
                key_hints::hint_rows(first.into_iter().chain(rest))
            }
        }
    }
}

/// Body of the prompt.
enum BodyRows {
    /// Lines of text.
    Lines(Arc<Vec<Line<'static>>>),
    /// Rows of a batch, with their selection.
    Rows(Arc<Vec<Row>>),
}

impl BodyRows {
    fn len(&self) -> usize {
        match self {
            Self::Lines(lines) => lines.len(),
            Self::Rows(rows) => rows.len(),
        }
    }
}

/// Builder of the lines of the body.
struct BodyBuilder<'a> {
    lines: Vec<Line<'static>>,
    width: usize,
    theme: &'a Theme,
}

impl BodyBuilder<'_> {
    /// Adds wrapped text with marks for invisible characters.
    fn push_text(&mut self, text: &str, style: Style) {
        let pieces = revealed_pieces(text, style, self.theme.mark);
        self.lines.extend(wrap::wrap_pieces(&pieces, &Shape::with_width(self.width)).lines);
    }

    fn push_blank(&mut self) {
        self.lines.push(Line::default());
    }

    fn push_preview(&mut self, preview: &Preview) {
        match preview {
            Preview::Text(text) => self.push_text(text, self.theme.text),
            // The review lays out a batch row by row elsewhere.
            Preview::Batch(batch) => self.push_text(&batch.describe_batch(), self.theme.text),
            Preview::Edit(change) => self.lines.extend(diff::lay_out_diff(change, self.width, self.theme)),
            Preview::Command(CommandLine { command, .. }) => {
                let pieces = revealed_pieces(command, self.theme.strong, self.theme.mark);
                let shape = Shape {
                    width: self.width,
                    first: vec![Piece::new("$ ", self.theme.accent)],
                    rest: vec![Piece::new("  ", self.theme.accent)],
                    verbatim: true,
                };
                let on = Piece::new(wrap::CONTINUATION_MARK, self.theme.dim);
                self.lines.extend(wrap::wrap_code(&pieces, &shape, &on).lines);
            }
        }
    }

    /// Adds the working directory, the time limit and the sandbox of a command.
    fn push_location(&mut self, card: &ApprovalContent<'_>) {
        let Access::Run(line) = &card.plan.access else { return };
        let folder = match card.home.and_then(|home| line.folder.strip_prefix(home).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => line.folder.display().to_string(),
        };
        let mut parts = vec![(format!("in {folder} · timeout {} s", line.seconds), false)];
        parts.extend(line.sandbox.describe_parts(line.network.as_deref(), card.home));
        if parts.len() == 1 && !card.sandbox_note.is_empty() {
            parts.push((card.sandbox_note.to_owned(), false));
        }
        let mut pieces = Vec::new();
        for (at, (words, opens)) in parts.iter().enumerate() {
            if at > 0 {
                pieces.push(Piece::new(" · ", self.theme.dim));
            }
            // Access that the sandbox normally denies is highlighted.
            let style = if *opens { self.theme.warning } else { self.theme.dim };
            pieces.extend(revealed_pieces(words, style, self.theme.mark));
        }
        self.lines.extend(wrap::wrap_pieces(&pieces, &Shape::with_width(self.width)).lines);
    }

    /// Adds the name of the sub-agent, if any, on one line.
    fn push_sub_agent(&mut self, card: &ApprovalContent<'_>) {
        if let Some(name) = card.sub_agent {
            self.push_text(&width::fit_start(&origin_line(name), self.width), self.theme.accent);
        }
    }

    fn push_details(&mut self, card: &ApprovalContent<'_>) {
        self.push_sub_agent(card);
        self.push_text(&format!("tool {}", card.call.name), self.theme.text);
        self.push_text(&format!("arguments {}", card.call.arguments), self.theme.text);
        self.push_location(card);
        self.push_preconditions(&card.plan.preconditions);
        if !card.reason.is_empty() {
            self.push_text(&format!("reason: {}", card.reason), self.theme.dim);
        }
    }

    /// Adds the preconditions of the call.
    fn push_preconditions(&mut self, basis: &Preconditions) {
        for seen in &basis.files {
            let words = match seen.content {
                FileContent::TooLarge => audit_page::describe_file(seen),
                FileContent::Missing | FileContent::Bytes { .. } => {
                    format!("{}, rechecked before the call", audit_page::describe_file(seen))
                }
            };
            self.push_text(&format!("file {words}"), self.theme.text);
        }
        if basis.is_partial {
            self.push_text("the call may use files that are not checked", self.theme.warning);
        }
        if !basis.environment.is_empty() {
            let names = basis.environment.join(" ");
            self.push_text(&format!("{} environment variables: {names}", basis.environment.len()), self.theme.dim);
        }
    }
}
