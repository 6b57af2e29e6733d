//! Layout of the choice of scope: how it shares the rows of the prompt with the call above it.

use super::approval_content::ApprovalContent;
use super::body_builder::{BodyBuilder, COMPACT_CONTEXT, Density, is_excerpt_end};
use crate::agent::can_send;
use crate::chat::{Access, Preview};
use crate::text::link::Existence;
use crate::tui::parts::scope_choice::{ChoiceLine, ChoicePart, ScopeChoice};
use crate::tui::text::diff::has_context_beyond;
use crate::tui::theme::Theme;
use ratatui::text::Line;

/// Rows of the preview for which the scopes have one row each.
const MIN_PREVIEW_ROWS: usize = 3;

/// Returns what the key does that shows the whole call above the scopes, longest text first; empty if the whole call is
/// visible with and without it. `lines` are those of the body.
pub(super) fn label_toggle(
    choice: &ScopeChoice,
    preview: &Preview,
    density: Density,
    lines: &[Line<'static>],
) -> &'static [&'static str] {
    let has_context = |context| matches!(preview, Preview::Edit(diff) if has_context_beyond(diff, context));
    let is_cut = match density {
        _ if choice.shows_whole_call() => false,
        Density::Excerpt(rows) => lines.iter().take(rows).any(is_excerpt_end) || has_context(0),
        Density::Full | Density::Compact => has_context(COMPACT_CONTEXT),
    };
    match (is_cut, choice.shows_whole_call()) {
        (true, _) => &["show whole call", "all"],
        // In the rows of the whole body only the context of a diff is left out without the key.
        (false, true) if density != Density::Full || has_context(COMPACT_CONTEXT) => &["shorten call", "less"],
        (false, _) => &[],
    }
}

/// Returns the lines of the choice of scope for these columns.
pub(super) fn choice_lines(
    choice: &ScopeChoice,
    content: &ApprovalContent<'_>,
    width: usize,
    theme: &Theme,
    is_roomy: bool,
) -> Vec<ChoiceLine> {
    let sandbox_note = match &content.plan.access {
        Access::Run(run) => {
            let parts = run.sandbox.describe_parts(run.network.as_deref(), content.home);
            parts.into_iter().map(|(text, _)| text).collect::<Vec<_>>().join(" · ")
        }
        _ => String::new(),
    };
    choice.choice_lines(width, &sandbox_note, can_send(content.plan), theme, is_roomy)
}

/// Divides the rows between the preview and the choice below it. Returns those of the preview and the lines of the choice.
/// If the choice does not fit as a whole, the scopes, and if possible the explanation, are visible without scrolling.
pub(super) fn split_rows(
    choice: &ScopeChoice,
    content: &ApprovalContent<'_>,
    rows: usize,
    width: usize,
    theme: &Theme,
) -> (usize, Vec<ChoiceLine>) {
    let count_rows = |lines: &[ChoiceLine], last_part| {
        let mut body = BodyBuilder::new(width, theme, &|_| Existence::Unknown);
        let position = lines.iter().position(|line| line.part > last_part).unwrap_or(lines.len());
        body.push_choice(&lines[..position]);
        body.line_count()
    };
    let roomy_lines = choice_lines(choice, content, width, theme, true);
    let roomy_rows = count_rows(&roomy_lines, ChoicePart::Rule);
    if roomy_rows + MIN_PREVIEW_ROWS <= rows {
        return (rows - roomy_rows, roomy_lines);
    }
    let lines = choice_lines(choice, content, width, theme, false);
    // The number of lines below takes a row.
    let note_rows = 1;
    let choice_rows = [
        count_rows(&lines, ChoicePart::Rule),
        count_rows(&lines, ChoicePart::Explanation) + note_rows,
        count_rows(&lines, ChoicePart::Scopes) + note_rows,
    ];
    // The header of a diff and its first change, or the first two rows of anything else.
    let mut preview = BodyBuilder::new(width, theme, &|_| Existence::Unknown);
    preview.push_preview(&content.plan.preview, Density::Compact);
    let preview_len = preview.line_count();
    let wanted_rows = preview_len.min(2);
    let left_rows = |min_rows| {
        let mut left = choice_rows.into_iter().filter_map(|choice_rows| rows.checked_sub(choice_rows));
        left.find(|left| *left >= min_rows)
    };
    let left = left_rows(wanted_rows).or_else(|| left_rows(1)).unwrap_or(0);
    let is_choice_cut = left + choice_rows[0] > rows;
    let preview_rows = match is_choice_cut {
        // A long preview shares the rows with the explanation, of which something is below anyway.
        true if preview_len > left => left.div_ceil(2).max(wanted_rows).min(left),
        true => preview_len,
        false => left,
    };
    (preview_rows, lines)
}
