//! Layout and drawing of the approval prompt. Text of the model is drawn inside the prompt, with marks for invisible
//! characters.

use super::answer_verbs::{denial_verb, is_restoration};
use super::body_builder::{BodyBuilder, Density};
use super::scope_layout::{choice_lines, label_toggle, split_rows};
use super::trial_view::{self, TrialRow, TrialView};
use super::{Approval, ApprovalContent, ApprovalView};
use crate::agent::Trial;
use crate::chat::Preview;
use crate::text::link::{Existence, LinkTarget};
use crate::text::width;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::call_action::own_tool_name;
use crate::tui::parts::frame::{Frame, PromptContext};
use crate::tui::parts::key_hints::{self, key_hint};
use crate::tui::parts::listening::Listening;
use crate::tui::parts::review::Row;
use crate::tui::prompts::prompt::{DrawnPrompt, Prompt};
use crate::tui::prompts::scrolled_body::draw_scrolled_body;
use crate::tui::text::{Page, place_links};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::cell::RefCell;
use std::sync::Arc;

/// A warning is shown above a preview with more rows than this, because the end of the preview may be off screen.
const LONG_PREVIEW_ROWS: usize = 6;
/// Line above the scopes that can be chosen. In few rows it is part of the title.
const CHOICE_LABEL: &str = "Allow without asking:";
/// Cells of the name of a tool file in the title.
const MAX_TOOL_CELLS: usize = 24;

impl Approval {
    /// Returns the rows the prompt needs at this width. With fewer rows it scrolls.
    pub fn preferred_height(&self, content: &ApprovalContent<'_>, width: u16, theme: &Theme) -> u16 {
        // The border takes 2 rows; border and padding take 4 columns.
        self.count_rows(content, width, theme, Density::Full)
    }

    /// Returns the rows the prompt needs at this width if it cannot have the preferred number.
    pub fn compact_height(&self, content: &ApprovalContent<'_>, width: u16, theme: &Theme) -> u16 {
        self.count_rows(content, width, theme, self.compact_density(content))
    }

    /// Returns the density for an area with fewer rows than the whole body needs: only a diff and a choice of scope can be
    /// compact.
    fn compact_density(&self, content: &ApprovalContent<'_>) -> Density {
        match content.plan.preview {
            _ if self.is_choosing_scope() => Density::Compact,
            Preview::Edit(_) => Density::Compact,
            Preview::Text(_) | Preview::Command(_) | Preview::Batch(_) => Density::Full,
        }
    }

    fn density_for(&self, content: &ApprovalContent<'_>, area: Rect, theme: &Theme) -> Density {
        let fits = |density| self.count_rows(content, area.width, theme, density) <= area.height;
        let shows_whole_call = matches!(&self.view, ApprovalView::Scope(choice) if choice.shows_whole_call());
        match self.compact_density(content) {
            _ if fits(Density::Full) => Density::Full,
            // The scopes below the call have one row each.
            density if shows_whole_call => density,
            density if !self.is_choosing_scope() || fits(density) => density,
            // The border takes 2 rows.
            _ => Density::Excerpt(usize::from(area.height.saturating_sub(2))),
        }
    }

    fn count_rows(&self, content: &ApprovalContent<'_>, width: u16, theme: &Theme, density: Density) -> u16 {
        let rows = self.lay_out_body(content, usize::from(width.saturating_sub(4)), theme, density).len() + 2;
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
        let density = self.density_for(content, area, theme);
        let needed_rows = usize::from(self.count_rows(content, area.width, theme, density));
        let shows_end = self.scroll.saturating_add(usize::from(area.height)) >= needed_rows;
        let call_title = || (content.plan.title.as_str(), self.is_destructive(content.plan, content.trial));
        // A grant runs the command live; it keeps nothing.
        let trial_title = Self::trial_title(content.trial).filter(|_| !self.is_choosing_scope());
        let (title, is_destructive) = trial_title.unwrap_or_else(call_title);
        let tool = own_tool_name(&content.call.name);
        let tool = tool.map(|tool| format!("{} · ", width::fit_start(&tool, MAX_TOOL_CELLS))).unwrap_or_default();
        let title = match density {
            // In few columns the title gives way to the label.
            Density::Excerpt(_) => {
                let titles = [format!("{tool}{title} {CHOICE_LABEL}"), format!("{tool}{CHOICE_LABEL}")];
                let fits = |text: &String| width::text_width(text) + 6 <= usize::from(area.width);
                let fitting = if tool.is_empty() { titles.first() } else { titles.iter().find(|text| fits(text)) };
                fitting.unwrap_or(&titles[1]).clone()
            }
            Density::Full | Density::Compact => format!("{tool}{title}"),
        };
        let toggle_labels = match &self.view {
            ApprovalView::Scope(choice) => {
                let body = self.lay_out_body(content, usize::from(area.width.saturating_sub(4)), theme, density);
                label_toggle(choice, &content.plan.preview, density, body.lines())
            }
            ApprovalView::Plan | ApprovalView::DenyMessage(_) | ApprovalView::Details | ApprovalView::Form(_) => &[],
        };
        let frame = Frame {
            title: &title,
            right_title: &right_title,
            hints: &self.build_hints(content, keys, shows_end, toggle_labels),
            message,
            is_listening: listening.is_listening() && self.trial_view.is_drawn(content.trial)
                || self.is_writing() && listening != Listening::Unseen,
            is_destructive,
        };
        let mut inner = frame.draw(area, buffer, theme);
        if inner.is_empty() {
            return DrawnPrompt::default();
        }
        let mut drawn = DrawnPrompt { content_version: trial_view::version(content.trial), ..DrawnPrompt::default() };
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
        let body = self.lay_out_body(content, usize::from(inner.width), theme, density);
        let selected = self.trial_view.selected_part();
        let links = RefCell::new(Vec::new());
        let part =
            draw_scrolled_body((body.len(), self.scroll), area, inner, buffer, theme, |index, row, buffer| {
                match (&body, content.plan.batch()) {
                    (BodyRows::Lines(page), _) => {
                        buffer.set_line(row.x, row.y, &page.lines[index], row.width);
                        links.borrow_mut().extend(page.place_links(index, row));
                    }
                    (BodyRows::Rows(rows), Some(batch)) => {
                        let line = self.review.draw_row(&rows[index], batch, theme);
                        buffer.set_line(row.x, row.y, &line, row.width);
                    }
                    (BodyRows::Rows(_), None) => {}
                    (BodyRows::Trial(rows), _) => {
                        let line = TrialView::draw_row(&rows[index], selected, theme);
                        buffer.set_line(row.x, row.y, &line, row.width);
                        links.borrow_mut().extend(place_links(&rows[index].links, row));
                    }
                }
            });
        DrawnPrompt { cursor: drawn.cursor, content_version: drawn.content_version, links: links.into_inner(), ..part }
    }

    /// Returns the body of the prompt, wrapped.
    fn lay_out_body(&self, content: &ApprovalContent<'_>, width: usize, theme: &Theme, density: Density) -> BodyRows {
        if let (Some(batch), ApprovalView::Plan | ApprovalView::DenyMessage(_)) = (content.plan.batch(), &self.view) {
            let end_lines = || {
                let mut body = BodyBuilder::new(width, theme, &|_| Existence::Unknown);
                body.push_reason(content);
                body.page.lines
            };
            return BodyRows::Rows(self.review.lay_out_rows(batch, width, theme, end_lines));
        }
        if let (true, ApprovalView::Plan | ApprovalView::DenyMessage(_)) = (*content.trial != Trial::None, &self.view) {
            return BodyRows::Trial(self.trial_view.lay_out_rows(content, width, theme));
        }
        let cache = match density {
            Density::Full => &self.layout,
            Density::Compact => &self.compact_layout,
            Density::Excerpt(_) => &self.excerpt_layout,
        };
        // Known only some time after the prompt appeared.
        let inputs = (density, content.missing_trial_reason.map(str::to_owned));
        let lay_out = || self.lay_out_text(content, width, theme, density);
        BodyRows::Lines(cache.linked_lines_for(width, inputs, theme, content.lookups, lay_out))
    }

    fn lay_out_text(&self, content: &ApprovalContent<'_>, width: usize, theme: &Theme, density: Density) -> Page {
        let check = |target: &LinkTarget| content.check_target(target);
        let mut body = BodyBuilder::new(width, theme, &check);
        let references = &content.plan.preconditions.references;
        match &self.view {
            ApprovalView::Details => body.push_details(content),
            ApprovalView::Scope(choice) => {
                body.push_sub_agent(content);
                match density {
                    Density::Full | Density::Compact => {
                        let whole_call = if choice.shows_whole_call() { Density::Full } else { Density::Compact };
                        body.push_preview(&content.plan.preview, whole_call);
                        body.push_references(references);
                        body.push_line(Line::default());
                        body.push_text(CHOICE_LABEL, theme.prompt);
                        body.push_choice(&choice_lines(choice, content, body.width, theme, density == Density::Full));
                    }
                    Density::Excerpt(rows) => {
                        let reference_rows = usize::from(!references.is_empty());
                        let rows = rows.saturating_sub(body.line_count() + reference_rows);
                        let (preview_rows, lines) = split_rows(choice, content, rows, body.width, theme);
                        let preview_start = body.line_count();
                        let describe_hidden = |count| choice.describe_hidden_lines(count);
                        body.push_preview_start(&content.plan.preview, preview_rows, describe_hidden);
                        let has_free_row = body.line_count() - preview_start < preview_rows;
                        body.push_reference_names(references);
                        if has_free_row {
                            body.push_line(Line::default());
                        }
                        body.push_choice(&lines);
                    }
                }
            }
            // The form draws its fields itself; only the number of these lines is used.
            ApprovalView::Form(form) => body.page.lines.resize(form.preferred_height(), Line::default()),
            ApprovalView::Plan | ApprovalView::DenyMessage(_) => {
                body.push_sub_agent(content);
                let warning = content.plan.destroys.as_ref().map(|destruction| format!("warning: this {destruction}"));
                let preview_start = body.line_count();
                body.push_preview(&content.plan.preview, density);
                let is_long = body.line_count() - preview_start > LONG_PREVIEW_ROWS;
                // Row of the preview above which the warning is inserted; `None` puts the warning after the location.
                let warning_row = match &content.plan.preview {
                    // Below the header of the diff.
                    Preview::Edit(_) => Some(1),
                    Preview::Text(_) | Preview::Command(_) | Preview::Batch(_) => is_long.then_some(0),
                };
                if let (Some(text), Some(row)) = (&warning, warning_row) {
                    let lines_below = body.page.split_off_lines((preview_start + row).min(body.line_count()));
                    body.push_text(text, theme.danger);
                    body.page.append_page(lines_below);
                }
                body.push_references(references);
                body.push_line(Line::default());
                body.push_location(content);
                if let (Some(text), None) = (&warning, warning_row) {
                    body.push_text(text, theme.danger);
                }
                body.push_reason(content);
                if let Some(reason) = content.missing_trial_reason {
                    body.push_text(&format!("no trial possible: {reason}"), theme.dim);
                }
            }
        }
        body.page
    }

    /// Returns the key hints for the border, longest variant first. `toggle_labels` are those of the key that shows the
    /// whole call above a choice of scope.
    fn build_hints(
        &self,
        content: &ApprovalContent<'_>,
        keys: &Keymap,
        shows_end: bool,
        toggle_labels: &[&str],
    ) -> Vec<String> {
        let key = |action| keys.first_chord(Scope::Approval, action);
        let is_destructive = self.is_destructive(content.plan, content.trial);
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
            ApprovalView::Scope(choice) => choice.hints(keys, shows_end, toggle_labels),
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
            ApprovalView::Plan if matches!(content.trial, Trial::Running { .. } | Trial::Finished { .. }) => {
                self.trial_hints(content, keys, shows_end)
            }
            ApprovalView::Plan => {
                let queue_key = if content.queue_length > 1 { key(Action::OpenQueue) } else { String::new() };
                let try_key = if content.offers_trial { key(Action::TryCall) } else { String::new() };
                let grant_key = if can_grant { key(Action::ApproveAlways) } else { String::new() };
                // The first argument is the priority of removal: the hint with the highest number is removed first.
                let is_restoration = is_restoration(content.call);
                let message_key = if is_restoration { "" } else { &message_key };
                let other_hints = [
                    key_hint(1, &deny_key, &[denial_verb(content.call)]),
                    key_hint(5, message_key, &["deny with message…", "message"]),
                    key_hint(7, &details_key, &["details"]),
                    key_hint(2, &queue_key, &["list"]),
                ];
                let can_select = review_hints.iter().flatten().any(Option::is_some);
                let approve_labels: &[&str] = match review_hints {
                    None => &["approve"],
                    Some(_) if is_restoration && can_select => &["restore selected", "restore"],
                    Some(_) if is_restoration => &["restore"],
                    Some(_) if can_select => &["apply selected", "apply"],
                    Some(_) => &["apply"],
                };
                if !self.has_reached_end && !shows_end {
                    let other_hints: Vec<_> = review_hints.into_iter().flatten().chain(other_hints).collect();
                    let shortest = approve_labels.last().copied().unwrap_or_default();
                    return key_hints::hint_rows_with_end_first(
                        &key(Action::Bottom),
                        &approve_key,
                        shortest,
                        &other_hints,
                    );
                }
                let approve_hint = key_hint(0, &approve_key, approve_labels);
                if let Some(review_hints) = review_hints {
                    return key_hints::hint_rows([approve_hint].into_iter().chain(review_hints).chain(other_hints));
                }
                let first_hints = [
                    approve_hint,
                    key_hint(3, &try_key, &["try it first", "try"]),
                    key_hint(4, &grant_key, &["always…", "always"]),
                    key_hint(6, &key(Action::EditCall), &["edit"]),
                ];
                key_hints::hint_rows(first_hints.into_iter().chain(other_hints))
            }
        }
    }
}

/// Body of the prompt.
enum BodyRows {
    /// Lines of text.
    Lines(Arc<Page>),
    /// Rows of a batch, with their selection.
    Rows(Arc<Vec<Row>>),
    /// Rows of a command with its trial.
    Trial(Arc<Vec<TrialRow>>),
}

impl BodyRows {
    fn len(&self) -> usize {
        match self {
            Self::Lines(page) => page.lines.len(),
            Self::Rows(rows) => rows.len(),
            Self::Trial(rows) => rows.len(),
        }
    }

    /// Returns the lines of text; empty for rows of other kinds.
    fn lines(&self) -> &[Line<'static>] {
        match self {
            Self::Lines(page) => &page.lines,
            Self::Rows(_) | Self::Trial(_) => &[],
        }
    }
}
