//! The row of a call: mark, action, summary and, at the right, size and time.

use super::layout_context::LayoutContext;
use super::outcome_label::label_outcome;
use super::result_size::{ResultSize, format_result_size};
use super::sub_agent_figures::finished_figures;
use crate::chat::session::CallState;
use crate::chat::{CallId, Decider, Decision, Diff, Entry, Outcome, Preview, ResultOrigin, ToolCall};
use crate::text::{clean, reveal, width};
use crate::tui::parts::authority::unprompted_word;
use crate::tui::parts::call_action::{PlannedCall, name_action, names_path};
use crate::tui::parts::call_summary::summarize_arguments;
use crate::tui::parts::exit_status::{failed_exit_line, piped_status_program};
use crate::tui::parts::quantities::format_duration;
use crate::tui::text::Page;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::borrow::Cow;
use std::time::Duration;

/// Minimum width of a path in cells. If less is left for it, the line counts after the path are omitted.
const MIN_PATH_WIDTH: usize = 6;

/// Cells before the action: two blanks, the mark and a blank.
const MARK_WIDTH: usize = 4;

/// Blank between the action and the summary.
const ACTION_GAP: usize = 1;

/// Blank columns after the text at the right, so that it does not touch the scrollbar.
const RIGHT_MARGIN: usize = 1;

/// Minimum blank between the summary and the text at the right.
const RIGHT_GAP: usize = 1;

/// Width of the ` · ` between the summary and the result.
const SEPARATOR_WIDTH: usize = 3;

/// Blanks between the summary and the label of an outcome.
const LABEL_GAP: usize = 2;

/// Minimum cells for the summary and the blank after it. If fewer are left, the text at the right is omitted.
const MIN_SUMMARY_WIDTH: usize = 12;

/// Minimum cells of a row that says what let its call run without a prompt. In fewer, line counts have the room.
const MIN_AUTHORITY_WIDTH: usize = 50;

/// Outcome of a finished call, and how it was produced.
pub struct CallEnd<'a> {
    pub outcome: &'a Outcome,
    /// Source of the result of a rehearsed call, if known.
    pub origin: Option<&'a ResultOrigin>,
    /// Run time in milliseconds.
    pub took_ms: u64,
}

/// Returns the row of a finished call: `✓ Read tests/retry.rs:1-80      80 lines · 12 ms`. `denial` is the message of the
/// user's denial, if the user denied the call. The reason of a denial that does not fit into the row follows below it.
pub fn lay_out_call_row(
    context: &LayoutContext<'_>,
    call: &CallState,
    end: &CallEnd<'_>,
    denial: Option<&str>,
) -> Page {
    let (row, reason) = call_row(context, call, end, denial);
    let mut page = Page { lines: vec![row], ..Page::default() };
    if let Some(reason) = reason {
        page.append_page(context.lay_out_plain(&reason, context.theme.text, "    "));
    }
    page
}

/// Returns the row of a finished call, and the reason of a denial if it does not fit into the row.
pub fn call_row(
    context: &LayoutContext<'_>,
    call: &CallState,
    &CallEnd { outcome, origin, took_ms }: &CallEnd<'_>,
    denial: Option<&str>,
) -> (Line<'static>, Option<String>) {
    let theme = context.theme;
    let row_cells = row_width(context);
    let exit_line = failed_exit_line(call, outcome);
    let has_run = origin.is_none_or(ResultOrigin::has_run);
    let background = context.agent.session.background_number(&call.call.id);
    let piped_exit = piped_exit(call).filter(|_| exit_line.is_none() && has_run && background.is_none());
    let (mark, style) = match outcome {
        _ if background.is_some() => ("↪", theme.accent),
        Outcome::Failed(_) => ("✗", theme.danger),
        // Otherwise the mark of a rehearsed call shows where it ran. For a failed command the text after the summary
        // says that.
        Outcome::Done(_) | Outcome::Rehearsed(_) if exit_line.is_some() && has_run => ("✗", theme.danger),
        Outcome::Done(_) if piped_exit.is_some() => ("✓", theme.text),
        Outcome::Done(_) => ("✓", theme.success),
        Outcome::Refused(_) => ("⊘", theme.warning),
        Outcome::Rehearsed(_) if origin.is_some_and(ResultOrigin::is_withheld) => ("⊘", theme.warning),
        Outcome::Rehearsed(_) => (origin.map_or("◇", ResultOrigin::symbol), theme.accent),
        Outcome::Interrupted(_) => ("■", theme.warning),
    };
    let plan = call.plan.as_ref().map(PlannedCall::from);
    let summary = plan.map_or_else(|| unplanned_path(&call.call).into(), |plan| Cow::Borrowed(plan.subject()));
    let result = match outcome {
        // File tools write to the overlay even on systems without an overlay sandbox for commands.
        Outcome::Rehearsed(_) if edit_diff(call).is_some() && origin.is_some_and(ResultOrigin::has_run) => {
            "written to the overlay".to_owned()
        }
        Outcome::Rehearsed(_) => {
            origin.map_or_else(|| "rehearsed, nothing changed".to_owned(), ResultOrigin::describe_origin)
        }
        Outcome::Failed(reason) => reason.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned(),
        Outcome::Done(_) | Outcome::Refused(_) | Outcome::Interrupted(_) => String::new(),
    };
    let figures = match took_ms {
        ms if context.agent.session.has_sub_agent(&call.call.id) => finished_figures(context, &call.call.id, ms),
        0 => String::new(),
        ms => format_duration(Duration::from_millis(ms)),
    };
    let result_size = match background {
        Some(number) => ResultSize::new(format!("moved to background {number}")),
        None => format_result_size(call, outcome).unwrap_or_default(),
    };
    let action = name_action(&call.call.name, plan);
    let action_cells = width::text_width(&action);
    let right_limit = max_right_cells(row_cells, action_cells);
    let is_run = matches!(outcome, Outcome::Done(_) | Outcome::Failed(_));
    let authority = unprompted_word(context.agent.session.entries(), call)
        .filter(|_| is_run && row_cells >= MIN_AUTHORITY_WIDTH)
        .unwrap_or_default();
    let exit_text = exit_line.or(piped_exit.as_deref().filter(|_| is_success(outcome))).unwrap_or_default();
    let right_text = fit_right_text(exit_text, &result_size, (authority, &figures), right_limit);
    // The result has priority over a long command. `/audit` shows the whole reason of a failure.
    let result = clean::clean_line(&result);
    let mut summary = reveal::reveal_line(&summary);
    let fixed_cells = MARK_WIDTH + ACTION_GAP + SEPARATOR_WIDTH + RIGHT_GAP;
    // Cells for the summary and the result.
    let available_cells = row_cells.saturating_sub(action_cells + width::text_width(&right_text) + fixed_cells);
    // Cells reserved for the result. Of a rehearsed call: its first clause, with a cell for `…` if the rest is cut. Of
    // any other call: the whole result, but at most half of the cells.
    let reserved_cells = match outcome {
        Outcome::Rehearsed(_) => {
            result.split(';').next().map_or(0, |start| width::text_width(start) + usize::from(start != result))
        }
        _ => width::text_width(&result).min(available_cells / 2),
    };
    let mut reason_below = None;
    let right_text = match label_outcome(outcome, denial) {
        Some(label) => {
            // The label gets the cells that the summary leaves, but at least half of them.
            let cells_with_label = available_cells + SEPARATOR_WIDTH + RIGHT_GAP - LABEL_GAP;
            let max_cells = (available_cells / 2).max(cells_with_label.saturating_sub(width::text_width(&summary)));
            let separator = if right_text.is_empty() { "" } else { " · " };
            let right_width = width::text_width(&right_text);
            let mut label_line = clean::clean_line(&label);
            if matches!(outcome, Outcome::Refused(_)) && width::text_width(&label_line) > max_cells {
                let (decision, reason) = label.split_once(": ").unwrap_or(("denied", &label));
                label_line = clean::clean_line(decision).into_owned().into();
                let right_cells = width::text_width(&label_line) + width::text_width(separator) + right_width;
                let is_drawn = right_cells <= right_limit;
                reason_below = Some(if is_drawn { reason.to_owned() } else { label.clone() });
            }
            format!("{}{separator}{right_text}", width::fit_start(&label_line, max_cells))
        }
        None => right_text,
    };
    let diff = edit_diff(call);
    let summary_cells = summary_width(row_cells, action_cells, &right_text);
    // The mark already shows where a file was written. The reason of a failure is always shown.
    let shows_result = !result.is_empty() && (diff.is_none() || !is_success(outcome));
    summary = match diff {
        Some(diff) if shows_result => {
            fit_path_and_counts(&summary, diff, summary_cells.saturating_sub(reserved_cells + SEPARATOR_WIDTH))
        }
        Some(diff) => fit_path_and_counts(&summary, diff, summary_cells),
        None if shows_result && names_path(&call.call.name) => {
            width::fit_path(&summary, available_cells.saturating_sub(reserved_cells)).into_owned()
        }
        None if shows_result => width::fit_start(&summary, available_cells.saturating_sub(reserved_cells)).into_owned(),
        None => summary,
    };
    if shows_result
        || !result.is_empty()
            && width::text_width(&summary) + width::text_width(&result) + SEPARATOR_WIDTH <= summary_cells
    {
        let separator = if summary.is_empty() { "" } else { " · " };
        summary = format!("{summary}{separator}{result}");
    }
    (build_row(context, (mark, style), &action, &summary, &right_text), reason_below)
}

/// Returns the path that a call names which failed before it was planned; empty if it names none.
fn unplanned_path(call: &ToolCall) -> String {
    let named = if names_path(&call.name) { summarize_arguments(&call.arguments).subject } else { String::new() };
    // Arguments that cannot be parsed are their own summary.
    if call.arguments.starts_with(&named) { String::new() } else { named }
}

/// Returns what to say of the success of a command that is a pipeline: only its last program is known to have succeeded.
fn piped_exit(call: &CallState) -> Option<String> {
    let program = piped_status_program(&call.plan.as_ref()?.preview)?;
    Some(format!("exit 0 (of {program})"))
}

/// Joins the exit of a failed command, the size of the result, what allowed the call without a prompt, and the figures in
/// the longest form that fits. The size is shortened first, then the figures are omitted, then what allowed it. Returns an
/// empty text if no form fits.
fn fit_right_text(exit_line: &str, size: &ResultSize, (authority, figures): (&str, &str), max_cells: usize) -> String {
    let (whole, short) = (size.whole.as_str(), size.short);
    let forms = [
        [exit_line, whole, authority, figures],
        [exit_line, short, authority, figures],
        [exit_line, short, authority, ""],
        [exit_line, short, "", ""],
        [exit_line, "", "", ""],
    ];
    let mut texts =
        forms.into_iter().map(|form| form.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · "));
    texts.find(|text| width::text_width(text) <= max_cells).unwrap_or_default()
}

/// Returns the cells of a row, without the margin at its right.
fn row_width(context: &LayoutContext<'_>) -> usize {
    context.width.saturating_sub(RIGHT_MARGIN)
}

/// Returns the cells of the longest text at the right that leaves enough for the summary, in a row with an action of this
/// width. A longer text is omitted.
fn max_right_cells(row_cells: usize, action_cells: usize) -> usize {
    row_cells.saturating_sub(MARK_WIDTH + action_cells + ACTION_GAP + MIN_SUMMARY_WIDTH)
}

/// Returns the row of a call in any state: its mark, [action](name_action) and summary, and the text at the right. Parts
/// that do not fit are cut or omitted.
pub fn build_row(
    context: &LayoutContext<'_>,
    (mark, mark_style): (&str, Style),
    action: &str,
    summary: &str,
    right: &str,
) -> Line<'static> {
    let (cells, theme) = (row_width(context), context.theme);
    let summary = reveal::reveal_line(summary);
    let right = clean::clean_line(right);
    let right = right.as_ref();
    let action = width::fit_start(action, cells.saturating_sub(MARK_WIDTH)).into_owned();
    let action_cells = width::text_width(&action);
    let right = if width::text_width(right) > max_right_cells(cells, action_cells) { "" } else { right };
    let summary_cells = summary_width(cells, action_cells, right);
    let summary = width::fit_start(&summary, summary_cells).into_owned();
    let used_cells = MARK_WIDTH + action_cells + ACTION_GAP;
    let padding = cells.saturating_sub(used_cells + width::text_width(&summary) + width::text_width(right));
    let mut spans = vec![
        Span::raw(if cells >= MARK_WIDTH { "  " } else { "" }),
        Span::styled(mark.to_owned(), mark_style),
        Span::styled(if action.is_empty() { String::new() } else { format!(" {action}") }, theme.text),
    ];
    if !summary.is_empty() {
        spans.push(Span::raw(" ".repeat(ACTION_GAP)));
        spans.push(Span::styled(summary, theme.dim));
    }
    if !right.is_empty() {
        spans.push(Span::styled(format!("{}{right}", " ".repeat(padding)), theme.dim));
    }
    Line::from(spans)
}

/// Returns ` +3 −1`.
pub fn format_line_counts(diff: &Diff) -> String {
    format!(" +{} −{}", diff.added, diff.removed)
}

/// Fits a path and its line counts into a number of cells. Never truncates a count; truncates the path at its start,
/// because its end identifies the file.
fn fit_path_and_counts(path: &str, diff: &Diff, cells: usize) -> String {
    for counts in [format_line_counts(diff), String::new()] {
        let path_cells = cells.saturating_sub(width::text_width(&counts));
        if path_cells >= width::text_width(path).min(MIN_PATH_WIDTH) || counts.is_empty() {
            return format!("{}{counts}", width::fit_path(path, path_cells));
        }
    }
    String::new()
}

/// Returns the cells that [`build_row`] leaves for the summary of a row with an action of this width and this text at
/// the right.
fn summary_width(cells: usize, action_cells: usize, right: &str) -> usize {
    let used_cells = MARK_WIDTH + action_cells + ACTION_GAP;
    let right_cells = match width::text_width(right) {
        0 => 0,
        right_cells if right_cells > max_right_cells(cells, action_cells) => 0,
        right_cells => right_cells + RIGHT_GAP,
    };
    cells.saturating_sub(used_cells + right_cells)
}

/// Returns the diff of a call that edits one file.
pub fn edit_diff(call: &CallState) -> Option<&Diff> {
    match &call.plan.as_ref()?.preview {
        Preview::Edit(diff) => Some(diff),
        Preview::Text(_) | Preview::Command(_) | Preview::Batch(_) => None,
    }
}

pub fn is_success(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Done(_) | Outcome::Rehearsed(_) => true,
        Outcome::Failed(_) | Outcome::Refused(_) | Outcome::Interrupted(_) => false,
    }
}

/// Returns the message of the user's denial of this call; `None` if the user did not deny it.
pub fn find_denial_message<'a>(context: &LayoutContext<'a>, index: usize, id: &CallId) -> Option<&'a str> {
    let earlier_entries = &context.agent.session.entries()[..index];
    earlier_entries.iter().rev().find_map(|entry| denial_message(entry.unwrap_sub_agent(), id))
}

/// Returns the message if the entry is the user's denial of this call.
pub fn denial_message<'a>(entry: &'a Entry, id: &CallId) -> Option<&'a str> {
    let Entry::Decided { call, decision: Decision::Deny(message), by: Decider::User { .. }, .. } = entry else {
        return None;
    };
    (call == id).then_some(message.as_str())
}
