//! Layout and drawing of the approval prompt. Text of the model is drawn inside the prompt, with marks for invisible
//! characters.

use super::{Approval, ApprovalContent, ApprovalView};
use crate::chat::{Access, CommandLine, FileContent, Preconditions, Preview};
use crate::text::truncation::abbreviate_home;
use crate::text::width;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::audit_page;
use crate::tui::parts::frame::{Frame, PromptContext};
use crate::tui::parts::key_hints::{self, key_hint};
use crate::tui::parts::review::Row;
use crate::tui::parts::sub_agent_name::origin_line;
use crate::tui::prompts::prompt::{DrawnPrompt, Prompt};
use crate::tui::prompts::scrolled_body::draw_scrolled_body;
use crate::tui::text::pieces::wrap_revealed;
use crate::tui::text::wrap::{self, Piece, Shape};
use crate::tui::text::{diff, revealed_pieces};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use std::sync::Arc;

/// A warning is shown above a preview with more rows than this, because the end of the preview may be off screen.
const LONG_PREVIEW_ROWS: usize = 6;

impl Approval {
    /// Returns the rows the prompt needs at this width. With fewer rows it scrolls.
    pub fn preferred_height(&self, content: &ApprovalContent<'_>, width: u16, theme: &Theme) -> u16 {
        // The border takes 2 rows; border and padding take 4 columns.
        let rows = self.lay_out_body(content, usize::from(width.saturating_sub(4)), theme).len() + 2;
        let input_rows = usize::from(matches!(self.view, ApprovalView::DenyMessage(_)));
        u16::try_from(rows + input_rows).unwrap_or(u16::MAX)
    }

    /// Draws the prompt.
    pub fn draw(
        &self,
        content: &ApprovalContent<'_>,
        context: &PromptContext<'_>,
        area: Rect,
        buffer: &mut Buffer,
    ) -> DrawnPrompt {
        let PromptContext { listening, keys, theme, message } = *context;
        let selected_count = content.plan.batch().map(|batch| self.review.count_selected(batch));
        let selected_text = selected_count.filter(|count| count.total > 1).map(|count| count.to_string());
        let position_text =
            (content.queue_length > 1).then(|| format!("{} of {}", content.position, content.queue_length));
        let right_parts: Vec<String> = selected_text.into_iter().chain(position_text).collect();
        let right_title = right_parts.join(" · ");
        // If this frame is the first to show the end, its hints must already offer approval: it may be the last frame.
        let needed_rows = usize::from(self.preferred_height(content, area.width, theme));
        let shows_end = self.scroll.saturating_add(usize::from(area.height)) >= needed_rows;
        let frame = Frame {
            title: &content.plan.title,
            right_title: &right_title,
            hints: &self.build_hints(content, keys, shows_end),
            message,
            is_listening: listening.is_listening() || self.is_writing(),
            is_destructive: self.is_destructive(content.plan),
        };
        let mut inner = frame.draw(area, buffer, theme);
        if inner.is_empty() {
            return DrawnPrompt::default();
        }
        let mut drawn = DrawnPrompt::default();
        if let ApprovalView::DenyMessage(field) = &self.view {
            inner.height -= 1;
            let row = Rect { y: inner.bottom(), height: 1, ..inner };
            drawn.cursor = Some(field.draw_with_label("deny: ", row, buffer, theme));
        }
        if let ApprovalView::Form(form) = &self.view {
            drawn.cursor = form.draw(inner, buffer, theme);
            drawn.visible_rows = usize::from(inner.height);
            return drawn;
        }
        let body = self.lay_out_body(content, usize::from(inner.width), theme);
        let part =
            draw_scrolled_body((body.len(), self.scroll), area, inner, buffer, theme, |index, row, buffer| {
                match (&body, content.plan.batch()) {
                    (BodyRows::Lines(lines), _) => drop(buffer.set_line(row.x, row.y, &lines[index], row.width)),
                    (BodyRows::Rows(rows), Some(batch)) => {
                        let line = self.review.draw_row(&rows[index], batch, theme);
                        buffer.set_line(row.x, row.y, &line, row.width);
                    }
                    (BodyRows::Rows(_), None) => {}
                }
            });
        DrawnPrompt { cursor: drawn.cursor, ..part }
    }

    /// Returns the body of the prompt, wrapped.
    fn lay_out_body(&self, content: &ApprovalContent<'_>, width: usize, theme: &Theme) -> BodyRows {
        if let (Some(batch), ApprovalView::Plan | ApprovalView::DenyMessage(_)) = (content.plan.batch(), &self.view) {
            let end_lines = || {
                let mut body = BodyBuilder { lines: Vec::new(), width: width.max(1), theme };
                body.push_reason(content);
                body.lines
            };
            return BodyRows::Rows(self.review.lay_out_rows(batch, width, theme, end_lines));
        }
        BodyRows::Lines(self.layout.lines_for(width, (), theme, || self.lay_out_text(content, width, theme)))
    }

    fn lay_out_text(&self, content: &ApprovalContent<'_>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut body = BodyBuilder { lines: Vec::new(), width: width.max(1), theme };
        match &self.view {
            ApprovalView::Details => body.push_details(content),
            ApprovalView::Scope(choice) => {
                for (line, style) in choice.choice_lines(theme) {
                    body.push_text(&line, style);
                }
            }
            // The form draws its fields itself; only the number of these lines is used.
            ApprovalView::Form(form) => return vec![Line::default(); form.preferred_height()],
            ApprovalView::Plan | ApprovalView::DenyMessage(_) => {
                body.push_sub_agent(content);
                let warning = content.plan.destroys.as_ref().map(|destruction| format!("warning: this {destruction}"));
                let preview_start = body.lines.len();
                body.push_preview(&content.plan.preview);
                let is_long = body.lines.len() - preview_start > LONG_PREVIEW_ROWS;
                // Row of the preview above which the warning is inserted; `None` puts the warning after the location.
                let warning_row = match &content.plan.preview {
                    // Below the header of the diff.
                    Preview::Edit(_) => Some(1),
                    Preview::Text(_) | Preview::Command(_) | Preview::Batch(_) => is_long.then_some(0),
                };
                if let (Some(text), Some(row)) = (&warning, warning_row) {
                    let lines_below = body.lines.split_off((preview_start + row).min(body.lines.len()));
                    body.push_text(text, theme.danger);
                    body.lines.extend(lines_below);
                }
                body.lines.push(Line::default());
                body.push_location(content);
                if let (Some(text), None) = (&warning, warning_row) {
                    body.push_text(text, theme.danger);
                }
                body.push_reason(content);
            }
        }
        body.lines
    }

    /// Returns the key hints for the border, longest variant first.
    fn build_hints(&self, content: &ApprovalContent<'_>, keys: &Keymap, shows_end: bool) -> Vec<String> {
        let key = |action| keys.first_chord(Scope::Approval, action);
        let is_destructive = self.is_destructive(content.plan);
        let can_grant = !is_destructive && content.plan.grant.is_some();
        let review_hints = content.plan.batch().map(|batch| self.review.hints(batch, keys));
        let approve_key = key(if is_destructive { Action::ApproveDestructive } else { Action::ApproveOnce });
        let (deny_key, message_key, details_key) =
            (key(Action::Deny), key(Action::DenyWithMessage), key(Action::Details));
        let close_key = key(Action::Close);
        match &self.view {
            ApprovalView::DenyMessage(_) => {
                vec![format!("enter deny with this message · {close_key} back"), "enter deny".to_owned()]
            }
            ApprovalView::Scope(choice) => choice.hints(keys, shows_end),
            ApprovalView::Form(form) => {
                let editor_key = keys.first_chord(Scope::Composer, Action::OpenEditor);
                let editor_hint =
                    if form.is_focused_multiline() { format!("{editor_key} open editor · ") } else { String::new() };
                vec![
                    format!("↑↓ field · {editor_hint}enter preview · {close_key} back"),
                    format!("enter preview · {close_key} back"),
                    "enter preview".to_owned(),
                ]
            }
            ApprovalView::Details => {
                vec![format!("{details_key} back to prompt · {deny_key} deny"), format!("{details_key} back")]
            }
            ApprovalView::Plan => {
                let queue_key = if content.queue_length > 1 { key(Action::OpenQueue) } else { String::new() };
                let grant_key = if can_grant { key(Action::ApproveAlways) } else { String::new() };
                // The first argument is the priority of removal: the hint with the highest number is removed first.
                let other_hints = [
                    key_hint(1, &deny_key, &["deny"]),
                    key_hint(4, &message_key, &["deny with message…", "message"]),
                    key_hint(6, &details_key, &["details"]),
                    key_hint(2, &queue_key, &["list"]),
                ];
                if !self.has_reached_end && !shows_end {
                    let other_hints: Vec<_> = review_hints.into_iter().flatten().chain(other_hints).collect();
                    return key_hints::hint_rows_with_end_first(
                        &key(Action::Bottom),
                        &approve_key,
                        "approve",
                        &other_hints,
                    );
                }
                if let Some(review_hints) = review_hints {
                    let can_select = review_hints.iter().any(Option::is_some);
                    let labels: &[&str] = if can_select { &["apply selected", "apply"] } else { &["apply"] };
                    let apply_hint = key_hint(0, &approve_key, labels);
                    return key_hints::hint_rows([apply_hint].into_iter().chain(review_hints).chain(other_hints));
                }
                let first_hints = [
                    key_hint(0, &approve_key, &["approve"]),
                    key_hint(3, &grant_key, &["always…", "always"]),
                    key_hint(5, &key(Action::EditCall), &["edit"]),
                ];
                key_hints::hint_rows(first_hints.into_iter().chain(other_hints))
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
        self.lines.extend(wrap_revealed(text, style, self.width, self.theme));
    }

    /// Adds the reason the policy asks, if any.
    fn push_reason(&mut self, content: &ApprovalContent<'_>) {
        if !content.reason.is_empty() {
            self.push_text(&format!("reason: {}", content.reason), self.theme.dim);
        }
    }

    fn push_preview(&mut self, preview: &Preview) {
        match preview {
            Preview::Text(text) => self.push_text(text, self.theme.text),
            // `lay_out_body` lays out the rows of a batch.
            Preview::Batch(batch) => self.push_text(&batch.describe_batch(), self.theme.text),
            Preview::Edit(change) => self.lines.extend(diff::lay_out_diff(change, self.width, self.theme)),
            Preview::Command(CommandLine { command, .. }) => {
                let pieces = revealed_pieces(command, self.theme.strong, self.theme.mark);
                let prefix = vec![Piece::new("$ ", self.theme.accent)];
                let shape = Shape { verbatim: true, ..Shape::with_hanging_prefix(self.width, prefix) };
                let continuation_mark = Piece::new(wrap::CONTINUATION_MARK, self.theme.dim);
                self.lines.extend(wrap::wrap_code(&pieces, &shape, &continuation_mark).lines);
            }
        }
    }

    /// Adds the working directory, the time limit and the sandbox of a command.
    fn push_location(&mut self, content: &ApprovalContent<'_>) {
        let Access::Run(line) = &content.plan.access else { return };
        let folder = abbreviate_home(&line.folder, content.home);
        // Each text, and whether it names access that sandboxes deny by default.
        let mut parts = vec![(format!("in {folder} · timeout {} s", line.seconds), false)];
        parts.extend(line.sandbox.describe_parts(line.network.as_deref(), content.home));
        if parts.len() == 1 && !content.sandbox_note.is_empty() {
            parts.push((content.sandbox_note.to_owned(), false));
        }
        let mut pieces = Vec::new();
        for (index, (text, is_exception)) in parts.iter().enumerate() {
            if index > 0 {
                pieces.push(Piece::new(" · ", self.theme.dim));
            }
            let style = if *is_exception { self.theme.warning } else { self.theme.dim };
            pieces.extend(revealed_pieces(text, style, self.theme.mark));
        }
        self.lines.extend(wrap::wrap_pieces(&pieces, &Shape::with_width(self.width)).lines);
    }

    /// Adds the name of the sub-agent, if any, on one line.
    fn push_sub_agent(&mut self, content: &ApprovalContent<'_>) {
        if let Some(name) = content.sub_agent {
            self.push_text(&width::fit_start(&origin_line(name), self.width), self.theme.accent);
        }
    }

    fn push_details(&mut self, content: &ApprovalContent<'_>) {
        self.push_sub_agent(content);
        self.push_text(&format!("tool {}", content.call.name), self.theme.text);
        self.push_text(&format!("arguments {}", content.call.arguments), self.theme.text);
        self.push_location(content);
        self.push_preconditions(&content.plan.preconditions);
        self.push_reason(content);
    }

    fn push_preconditions(&mut self, preconditions: &Preconditions) {
        for file in &preconditions.files {
            let text = match file.content {
                FileContent::TooLarge => audit_page::describe_file(file),
                FileContent::Missing | FileContent::Bytes { .. } => {
                    format!("{}, rechecked before the call", audit_page::describe_file(file))
                }
            };
            self.push_text(&format!("file {text}"), self.theme.text);
        }
        if preconditions.is_partial {
            self.push_text("the call may use files that are not checked", self.theme.warning);
        }
        if !preconditions.environment.is_empty() {
            let names = preconditions.environment.join(" ");
            self.push_text(
                &format!("{} environment variables: {names}", preconditions.environment.len()),
                self.theme.dim,
            );
        }
    }
}
