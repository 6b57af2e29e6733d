//! Results of a dry run as lines: the tree of changes, each change in full, each call with its result. Used by the
//! screen and by `aye rehearsal`.

use crate::chat::dry_run_summary::{BY_COMMAND_NOTE, OutsideChange, TreeRow, build_tree};
use crate::chat::{ChangeKind, DryRunChange, DryRunSummary, RehearsedCall, ResultOrigin};
use crate::text::reveal;
use crate::tui::text::pieces::wrap_revealed;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Piece, diff, output, prefix_line, revealed_pieces};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::Line;

/// Maximum lines of a result, unless all lines are requested.
const SHORT_RESULT_LINES: usize = 8;

/// Status of a call of the dry run that the user has run live after the dry run.
const LATER_RUN_LIVE: &str = "later run live";

/// Returns the tree as lines, indented by two blanks per folder.
pub fn tree_lines(summary: &DryRunSummary, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let lay_out_row = |row: &TreeRow| {
        let (name, note) = tree_row_texts(summary, row);
        let indent = " ".repeat(2 * row.depth);
        let has_conflict = summary.changes[row.changes.clone()].iter().any(|change| change.has_conflict);
        let style = if has_conflict { theme.danger } else { theme.text };
        let gap = if note.is_empty() { "" } else { "  " };
        let pieces = [Piece::new(name, style), Piece::new(format!("{gap}{note}"), theme.dim)];
        let first_prefix = vec![Piece::new(indent.clone(), theme.text)];
        let next_prefix = vec![Piece::new(format!("{indent}    "), theme.text)];
        wrap_pieces(&pieces, &Shape { width, first_prefix, next_prefix, ..Shape::default() }).lines
    };
    build_tree(&summary.changes).iter().flat_map(lay_out_row).collect()
}

/// Returns the name of a row of the tree, such as `~ main.rs`, and the summary of its change, such as `+3 −1`. A row
/// without a symbol is an unchanged folder that only contains changes.
fn tree_row_texts(summary: &DryRunSummary, row: &TreeRow) -> (String, String) {
    let name = escape_to_line(&row.name.to_string_lossy());
    let slash = if row.is_folder { "/" } else { "" };
    let symbol = if row.symbol.is_empty() { String::new() } else { format!("{} ", row.symbol) };
    let change = summary.changes.get(row.changes.start).filter(|_| !row.symbol.is_empty());
    (format!("{symbol}{name}{slash}"), change.map(|change| escape_to_line(&change.summarize())).unwrap_or_default())
}

/// Texts of a change in a list.
pub struct ChangeRow {
    pub name: String,
    /// Notes about the change, joined; may be empty.
    pub notes: String,
    /// Text at the right edge; may be empty.
    pub right_text: String,
}

/// Returns the list row of a row of the tree. Notes that only repeat the symbol or the slash are omitted.
pub fn change_row(summary: &DryRunSummary, row: &TreeRow) -> ChangeRow {
    let (name, _) = tree_row_texts(summary, row);
    let Some(change) = summary.changes.get(row.changes.start).filter(|_| !row.symbol.is_empty()) else {
        return ChangeRow { name, notes: String::new(), right_text: String::new() };
    };
    let redundant = ["deleted", "a folder", "new folder"];
    let notes: Vec<&str> = change.notes.iter().map(String::as_str).filter(|note| !redundant.contains(note)).collect();
    let changed_diff = change.diff.as_ref().filter(|diff| diff.added + diff.removed > 0);
    let line_counts = changed_diff.map(|diff| format!("+{} −{}", diff.added, diff.removed));
    let right_text = if change.has_conflict { "CONFLICT".to_owned() } else { line_counts.unwrap_or_default() };
    ChangeRow { name, notes: escape_to_line(&notes.join(" · ")), right_text }
}

/// Returns the texts of a call in the list: the call with a mark, and the origin of its result.
pub fn call_row_texts(summary: &DryRunSummary, step: &RehearsedCall) -> (String, String) {
    let mark = step.origin.as_ref().map_or(" ", ResultOrigin::symbol);
    let mark = if step.failure_status().is_some() { "✗" } else { mark };
    let call_text = match &step.command {
        Some(line) => format!("{mark} $ {}", line.command),
        None => format!("{mark} {} {}", step.tool, step.summary),
    };
    let origin = step.origin.as_ref().map_or("", ResultOrigin::as_str);
    let later = match (step.is_run_live, summary.is_applied(step)) {
        (true, _) => LATER_RUN_LIVE,
        (false, true) => "applied",
        (false, false) => "",
    };
    let parts = [origin, step.failure_status().unwrap_or_default(), later].into_iter();
    (call_text, parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · "))
}

/// Returns the lines of a change in full.
pub fn change_lines(change: &DryRunChange, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut push_text = |text: &str, style: Style| {
        lines.extend(wrap_revealed(text, style, width, theme));
    };
    if change.has_conflict {
        push_text("CONFLICT: the real file has changed since the dry run; it is not overwritten", theme.danger);
    }
    match &change.diff {
        Some(diff) => {
            lines.extend(diff::lay_out_diff(diff, width, theme));
            if !change.notes.is_empty() {
                lines.extend(wrap_revealed(&change.notes.join("; "), theme.warning, width, theme));
            }
        }
        None => {
            let slash = if change.is_folder { "/" } else { "" };
            let path = escape_to_line(&change.path.to_string_lossy());
            push_text(&format!("{} {path}{slash}", change.kind.symbol()), theme.strong);
            // The note of a new folder is no warning.
            let style = if change.kind == ChangeKind::Created && change.is_folder { theme.dim } else { theme.warning };
            push_text(&change.notes.join("; "), style);
        }
    }
    lines
}

/// Returns the list row of a change outside the project.
pub fn outside_row(outside: &OutsideChange) -> ChangeRow {
    let change = &outside.change;
    let slash = if change.is_folder { "/" } else { "" };
    let name = escape_to_line(&format!("{} {}{slash}", change.kind.symbol(), change.path.display()));
    let right_text = if change.has_conflict { "CONFLICT" } else { "outside the project" };
    ChangeRow { name, notes: escape_to_line(&outside.summarize()), right_text: right_text.to_owned() }
}

/// Returns the lines of a change outside the project in full.
pub fn outside_change_lines(outside: &OutsideChange, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled("outside the project", theme.warning)];
    lines.extend(change_lines(&outside.change, width, theme));
    if !outside.is_by_tool {
        lines.extend(wrap_revealed(BY_COMMAND_NOTE, theme.warning, width, theme));
    }
    lines
}

/// Returns the lines of a call with its result. The result is cut unless `is_full`.
pub fn call_lines(step: &RehearsedCall, is_full: bool, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut push_text = |text: &str, style: Style, continuation: &str| {
        let next_prefix = vec![Piece::new(continuation, style)];
        let shape = Shape { width, first_prefix: Vec::new(), next_prefix, ..Shape::default() };
        lines.extend(wrap_pieces(&revealed_pieces(text, style, theme.mark), &shape).lines);
    };
    match &step.command {
        Some(line) => push_text(&format!("$ {}", line.command), theme.code, "  "),
        None => push_text(&format!("{} {}", step.tool, step.summary), theme.text, "  "),
    }
    let origin = step.origin.as_ref().map_or_else(|| "rehearsed".to_owned(), ResultOrigin::describe_origin);
    push_text(&origin, theme.accent, "");
    if let Some(status) = step.failure_status() {
        push_text(&format!("✗ {status}"), theme.danger, "  ");
    }
    if step.is_run_live {
        push_text(LATER_RUN_LIVE, theme.accent, "");
    }
    if !step.changed_paths.is_empty() {
        push_text(&format!("changed {}", step.changed_paths.join(", ")), theme.dim, "  ");
    }
    if let Some(reason) = &step.would_ask {
        push_text(&format!("would require approval: {reason}"), theme.warning, "");
    }
    let inner_width = width.saturating_sub(2).max(1);
    let mut result = match step.command {
        Some(_) => output::lay_out_output(step.result.trim_end(), theme.dim, theme, inner_width),
        None => wrap_revealed(step.result.trim_end(), theme.dim, inner_width, theme),
    };
    let hidden = result.len().saturating_sub(SHORT_RESULT_LINES);
    if !is_full && hidden > 0 {
        result.truncate(SHORT_RESULT_LINES);
        result.push(Line::styled(format!("… {hidden} more lines"), theme.dim));
    }
    lines.extend(result.into_iter().map(|line| prefix_line(line, "  ")));
    lines
}

/// Returns the text as one line with invisible characters marked.
pub fn escape_to_line(text: &str) -> String {
    reveal::reveal_to_string(text).replace('\n', "<U+000A>")
}
