//! The last lines of a command's output, shown below its row without opening it.

use super::call_row::CallEnd;
use super::layout_context::LayoutContext;
use super::result_size::split_unmade;
use crate::chat::ResultOrigin;
use crate::chat::session::CallState;
use crate::text::{escape_sequences, width};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::exit_status::failed_exit_line;
use crate::tui::text::output;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Lines shown of the output of a command that failed.
const FAILED_LINES: usize = 5;
/// Lines shown of the output of a running call.
const RUNNING_LINES: usize = 3;
/// Blanks before each line.
const INDENT: usize = 4;

/// Lays out the last lines of a command that ran and failed, without its exit status, which its row shows. Returns no
/// lines for any other call.
pub fn lay_out_failed_tail(context: &LayoutContext<'_>, call: &CallState, end: &CallEnd<'_>) -> Vec<Line<'static>> {
    let has_run = end.origin.is_none_or(ResultOrigin::has_run);
    let Some(status) = failed_exit_line(call, end.outcome).filter(|_| has_run) else { return Vec::new() };
    let text = split_unmade(call, end.outcome).1.trim_end();
    let output = text.strip_suffix(status).unwrap_or(text);
    lay_out_failed_lines(context, output)
}

/// Lays out the last lines of the output of a command that failed.
pub fn lay_out_failed_lines(context: &LayoutContext<'_>, output: &str) -> Vec<Line<'static>> {
    lay_out_final_lines(context, output, FAILED_LINES)
}

/// Lays out the last lines of an output that has ended, below a note about what is not shown.
pub fn lay_out_final_lines(context: &LayoutContext<'_>, output: &str, count: usize) -> Vec<Line<'static>> {
    let styled_output = output::parse_output(output.trim_end(), context.theme.dim, context.theme);
    let all_lines = styled_output.last_lines(usize::MAX);
    // A note about one line would take the row of that line.
    let hidden_count = Some(all_lines.len().saturating_sub(count)).filter(|hidden| *hidden > 1).unwrap_or(0);
    let last_lines = &all_lines[hidden_count..];
    let max_cells = context.width.saturating_sub(INDENT);
    let is_cut =
        |line: &Vec<(&str, Style)>| line.iter().map(|(part, _)| width::text_width(part)).sum::<usize>() > max_cells;
    let mut hidden_parts = Vec::new();
    hidden_parts.extend((hidden_count > 0).then(|| format!("{hidden_count} earlier lines")));
    hidden_parts.extend(last_lines.iter().any(is_cut).then(|| "long lines cut".to_owned()));
    let mut lines = Vec::new();
    if !hidden_parts.is_empty() {
        let keys = [(Scope::Anywhere, Action::SelectPrevious), (Scope::Transcript, Action::Toggle)];
        let keys = keys.map(|(scope, action)| context.keys.first_chord(scope, action));
        let hint =
            if keys.contains(&String::new()) { String::new() } else { format!(" · {}, {} opens", keys[0], keys[1]) };
        let note = format!("… {}{hint}", hidden_parts.join(", "));
        lines.extend(context.lay_out_note(&note, &" ".repeat(INDENT)).lines);
    }
    lines.extend(last_lines.iter().map(|line| fit_line(line, context.width)));
    lines
}

/// Lays out the last lines of the output of a running call so far.
pub fn lay_out_running_tail(context: &LayoutContext<'_>, output: &str) -> Vec<Line<'static>> {
    let output = escape_sequences::trim_unfinished(output);
    let styled_output = output::parse_output(output, context.theme.dim, context.theme);
    styled_output.last_lines(RUNNING_LINES).iter().map(|line| fit_line(line, context.width)).collect()
}

/// Returns a line of output, truncated to the width.
fn fit_line(line: &[(&str, Style)], cells: usize) -> Line<'static> {
    let mut spans = vec![Span::raw(" ".repeat(INDENT))];
    let mut free_cells = cells.saturating_sub(INDENT);
    for (part, style) in line {
        let text = width::fit_start(part, free_cells).into_owned();
        free_cells -= width::text_width(&text).min(free_cells);
        spans.push(Span::styled(text, *style));
        if free_cells == 0 {
            break;
        }
    }
    Line::from(spans)
}
