//! The row of a call: mark, tool, summary and, at the right, size and time.

use super::layout_context::LayoutContext;
use super::outcome_label::label_outcome;
use super::result_size::format_result_size;
use super::sub_agent_figures::finished_figures;
use crate::chat::session::CallState;
use crate::chat::tool::parse_failure_status;
use crate::chat::{CallId, Decider, Decision, Diff, Entry, Outcome, Preview, ResultOrigin};
use crate::text::{clean, reveal, width};
use crate::tui::parts::quantities::format_duration;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::time::Duration;

/// Minimum width of a path in cells; below it the line counts after the path are dropped.
const MIN_PATH_WIDTH: usize = 6;

/// Minimum width of the tool name column in cells.
const NAME_WIDTH: usize = 12;

/// End of a call.
pub struct CallEnd<'a> {
    pub outcome: &'a Outcome,
    /// Source of the result of a rehearsed call, if known.
    pub staged: Option<&'a ResultOrigin>,
    /// Run time in milliseconds.
    pub took_ms: u64,
}

/// `✓ read_file    tests/retry.rs:1-80      80 lines · 12 ms`.
pub fn call_row(
    ground: &LayoutContext<'_>,
    call: &CallState,
    &CallEnd { outcome, staged, took_ms }: &CallEnd<'_>,
    no: Option<&str>,
) -> Line<'static> {
    let theme = ground.theme;
    let ended = failed_exit_line(call, outcome);
    let ran = staged.is_none_or(ResultOrigin::is_ran);
    let (mark, style) = match outcome {
        Outcome::Failed(_) => ("✗", theme.danger),
        // Text after the summary names where it ran.
        Outcome::Done(_) | Outcome::Rehearsed(_) if ended.is_some() && ran => ("✗", theme.danger),
        Outcome::Done(_) => ("✓", theme.success),
        Outcome::Refused(_) => ("⊘", theme.warning),
        Outcome::Rehearsed(_) if staged.is_some_and(ResultOrigin::is_withheld) => ("⊘", theme.warning),
        Outcome::Rehearsed(_) => (staged.map_or("◇", ResultOrigin::symbol), theme.accent),
        Outcome::Interrupted(_) => ("■", theme.warning),
    };
    let mut summary = call.plan.as_ref().map_or_else(String::new, |shown| shown.summary.clone());
    let said = match outcome {
        // File tools write to the overlay even on systems without an overlay sandbox for commands.
        Outcome::Rehearsed(_) if edit_diff(call).is_some() && staged.is_some_and(ResultOrigin::is_ran) => {
            "written to the overlay".to_owned()
        }
        Outcome::Rehearsed(_) => {
            staged.map_or_else(|| "rehearsed, nothing changed".to_owned(), ResultOrigin::describe_origin)
        }
        Outcome::Failed(why) => why.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned(),
        Outcome::Done(_) | Outcome::Refused(_) | Outcome::Interrupted(_) => String::new(),
    };
    let took = match took_ms {
        0 => String::new(),
        ms => format_duration(Duration::from_millis(ms)),
    };
    let took = match ground.agent.session.has_sub_agent(&call.call.id) {
        true => finished_figures(ground, &call.call.id, took_ms),
        false => took,
    };
    let much = format_result_size(call, outcome);
    let right = [ended, much.as_deref(), Some(took.as_str())].into_iter().flatten();
    let took = right.filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" · ");
    // The result has priority over a long command; `/audit` has the full reason.
    let said = clean::clean_line(&said);
    summary = reveal::reveal_line(&summary);
    let name = width::text_width(&clean::clean_line(&call.call.name)).max(NAME_WIDTH);
    let room = ground.width.saturating_sub(name + width::text_width(&took) + 9);
    let brief = match outcome {
        Outcome::Rehearsed(_) => {
            said.split(';').next().map_or(0, |brief| width::text_width(brief) + usize::from(brief != said))
        }
        _ => width::text_width(&said).min(room / 2),
    };
    let took = match label_outcome(outcome, no) {
        Some(words) => {
            let words = clean::clean_line(&words);
            let most = (room / 2).max((room + 2).saturating_sub(width::text_width(&summary)));
            let dot = if took.is_empty() { "" } else { " · " };
            format!("{}{dot}{took}", width::fit_start(&words, most))
        }
        None => took,
    };
    let diff = edit_diff(call);
    let cells = summary_width(ground.width, name, &took);
    // The mark already shows where a file was written. The reason of a failure is always shown.
    let says = !said.is_empty() && (diff.is_none() || !is_success(outcome));
    summary = match diff {
        Some(diff) if says => fit_path_and_counts(&summary, diff, cells.saturating_sub(brief + 3)),
        Some(diff) => fit_path_and_counts(&summary, diff, cells),
        None if says => width::fit_start(&summary, room.saturating_sub(brief)).into_owned(),
        None => summary,
    };
    if says || !said.is_empty() && width::text_width(&summary) + width::text_width(&said) + 3 <= cells {
        let dot = if summary.is_empty() { "" } else { " · " };
        summary = format!("{summary}{dot}{said}");
    }
    build_row(ground.width, (mark, style), &call.call.name, &summary, &took, (theme.text, theme.dim))
}

/// Returns the row of a call in any state, never wider than `cells`. Drops the least important parts first.
pub fn build_row(
    cells: usize,
    mark: (&str, Style),
    name: &str,
    summary: &str,
    right: &str,
    (text, dim): (Style, Style),
) -> Line<'static> {
    let name = clean::clean_line(name);
    let summary = reveal::reveal_line(summary);
    let right = clean::clean_line(right);
    let right = right.as_ref();
    let name = width::fit_start(&name, cells.saturating_sub(4)).into_owned();
    let gap = NAME_WIDTH.saturating_sub(width::text_width(&name)) + 1;
    let used = 4 + width::text_width(&name) + gap;
    let right = if used + width::text_width(right) + 12 > cells { "" } else { right };
    let room = cells.saturating_sub(used + width::text_width(right) + usize::from(!right.is_empty()));
    let summary = width::fit_start(&summary, room).into_owned();
    let blank = cells.saturating_sub(used + width::text_width(&summary) + width::text_width(right));
    let mut spans = vec![
        Span::raw(if cells >= 4 { "  " } else { "" }),
        Span::styled(mark.0.to_owned(), mark.1),
        Span::styled(if name.is_empty() { String::new() } else { format!(" {name}") }, text),
    ];
    if !summary.is_empty() {
        spans.push(Span::raw(" ".repeat(gap)));
        spans.push(Span::styled(summary, dim));
    }
    if !right.is_empty() {
        spans.push(Span::styled(format!("{}{right}", " ".repeat(blank)), dim));
    }
    Line::from(spans)
}

/// Fits a path and its line counts into a number of cells. Never truncates a count; truncates the path at its start,
/// because its end identifies the file.
fn fit_path_and_counts(path: &str, diff: &Diff, cells: usize) -> String {
    for counts in [format!(" +{} −{}", diff.added, diff.removed), String::new()] {
        let room = cells.saturating_sub(width::text_width(&counts));
        if room >= width::text_width(path).min(MIN_PATH_WIDTH) || counts.is_empty() {
            return format!("{}{counts}", width::fit_end(path, room));
        }
    }
    String::new()
}

/// Returns the cells left for the summary of a row with a name of this width and this text at the right.
fn summary_width(cells: usize, name: usize, right: &str) -> usize {
    let right = match width::text_width(right) {
        right if name + right + 17 > cells => 0,
        right => right + usize::from(right > 0),
    };
    cells.saturating_sub(name + right + 5)
}

/// Returns the last line of a command's outcome if the command ran and failed.
fn failed_exit_line<'a>(call: &CallState, outcome: &'a Outcome) -> Option<&'a str> {
    let (Outcome::Done(text) | Outcome::Rehearsed(text)) = outcome else { return None };
    if call.is_command() { parse_failure_status(text) } else { None }
}

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
pub fn find_denial_message<'a>(ground: &LayoutContext<'a>, index: usize, id: &CallId) -> Option<&'a str> {
    let before = &ground.agent.session.entries()[..index];
    before.iter().rev().find_map(|entry| denial_message(entry.unwrap_sub_agent(), id))
}

/// Returns the message if the entry is the user's denial of this call.
pub fn denial_message<'a>(entry: &'a Entry, id: &CallId) -> Option<&'a str> {
    let Entry::Decided { call, decision: Decision::Deny(words), by: Decider::User { .. }, .. } = entry else {
        return None;
    };
    (call == id).then_some(words.as_str())
}
