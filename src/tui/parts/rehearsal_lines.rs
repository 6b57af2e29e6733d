//! Results of a dry run as lines: the tree of changes, each change in full, each call with its result. Used by the
//! screen and by `aye rehearsal`.

use crate::chat::dry_run_summary::{BY_COMMAND_NOTE, OutsideChange, TreeRow, build_tree};
use crate::chat::{ChangeKind, DryRunChange, DryRunSummary, RehearsedCall, ResultOrigin};
use crate::text::reveal;
use crate::tui::text::pieces::wrap_revealed;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Piece, diff, output, revealed_pieces};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::Line;

/// Lines shown of a result unless all of it is requested.
const SHORT_RESULT_LINES: usize = 8;

/// Returns the tree as lines, indented by two blanks per folder.
pub fn tree_lines(summary: &DryRunSummary, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let lay_out_branch = |branch: &TreeRow| {
        let (name, note) = branch_texts(summary, branch);
        let indent = " ".repeat(2 * branch.depth);
        let has_conflict = summary.changes[branch.changes.clone()].iter().any(|change| change.has_conflict);
        let style = if has_conflict { theme.danger } else { theme.text };
        let pieces = [
            Piece::new(name, style),
            Piece::new(if note.is_empty() { String::new() } else { format!("  {note}") }, theme.dim),
        ];
        let first_prefix = vec![Piece::new(indent.clone(), theme.text)];
        let next_prefix = vec![Piece::new(format!("{indent}    "), theme.text)];
        wrap_pieces(&pieces, &Shape { width, first_prefix, next_prefix, verbatim: false }).lines
    };
    build_tree(&summary.changes).iter().flat_map(lay_out_branch).collect()
}

/// Returns the texts of a row of the tree: `~ main.rs` and `+3 −1`.
pub fn branch_texts(summary: &DryRunSummary, branch: &TreeRow) -> (String, String) {
    let name = escape_to_line(&branch.name.to_string_lossy());
    let slash = if branch.is_folder { "/" } else { "" };
    let sign = if branch.symbol.is_empty() { String::new() } else { format!("{} ", branch.symbol) };
    let change = summary.changes.get(branch.changes.start).filter(|_| !branch.symbol.is_empty());
    (format!("{sign}{name}{slash}"), change.map(|change| escape_to_line(&change.summarize())).unwrap_or_default())
}

/// Returns the texts of a row in the list: name, notes, and the text at the right edge. Notes that only repeat the sign
/// or the slash are removed.
pub fn branch_row_texts(summary: &DryRunSummary, branch: &TreeRow) -> (String, String, String) {
    let (name, _) = branch_texts(summary, branch);
    let Some(change) = summary.changes.get(branch.changes.start).filter(|_| !branch.symbol.is_empty()) else {
        return (name, String::new(), String::new());
    };
    let redundant = ["deleted", "a folder", "new folder"];
    let notes: Vec<&str> = change.notes.iter().map(String::as_str).filter(|note| !redundant.contains(note)).collect();
    let changed_diff = change.diff.as_ref().filter(|diff| diff.added + diff.removed > 0);
    let line_counts = changed_diff.map(|diff| format!("+{} −{}", diff.added, diff.removed));
    let right_text = if change.has_conflict { "CONFLICT".to_owned() } else { line_counts.unwrap_or_default() };
    (name, escape_to_line(&notes.join(" · ")), right_text)
}

/// Returns the texts of a call in the list: the call, and the origin of its result.
pub fn step_row_texts(summary: &DryRunSummary, step: &RehearsedCall) -> (String, String) {
    let mark = step.origin.as_ref().map_or(" ", ResultOrigin::symbol);
    let mark = if step.failure_status().is_some() { "✗" } else { mark };
    let call_text = match &step.command {
        Some(line) => format!("{mark} $ {}", line.command),
        None => format!("{mark} {} {}", step.tool, step.summary),
    };
    let origin = step.origin.as_ref().map_or("", ResultOrigin::as_str);
    let text_if = |condition: bool, text| condition.then_some(text);
    let applied = summary.is_applied(step) && !step.is_run_live;
    let parts =
        [Some(origin), step.failure_status(), text_if(step.is_run_live, "run live since"), text_if(applied, "applied")];
    let details: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    (call_text, details.join(" · "))
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
            let notes = change.notes.join("; ");
            if !notes.is_empty() {
                lines.extend(wrap_revealed(&notes, theme.warning, width, theme));
            }
        }
        None => {
            let slash = if change.is_folder { "/" } else { "" };
            let path = escape_to_line(&change.path.to_string_lossy());
            push_text(&format!("{} {path}{slash}", change.kind.symbol()), theme.strong);
            // A new folder is no reason for a warning.
            let style = if change.kind == ChangeKind::Created && change.is_folder { theme.dim } else { theme.warning };
            push_text(&change.notes.join("; "), style);
        }
    }
    lines
}

/// Returns the texts of a change outside the project: `+ /a/b`, notes, and the text at the right edge.
pub fn outside_row_texts(outside: &OutsideChange) -> (String, String, String) {
    let change = &outside.change;
    let slash = if change.is_folder { "/" } else { "" };
    let name = escape_to_line(&format!("{} {}{slash}", change.kind.symbol(), change.path.display()));
    let right_text = if change.has_conflict { "CONFLICT" } else { "outside the project" };
    (name, escape_to_line(&outside.summarize()), right_text.to_owned())
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

/// Returns the lines of a call with its result; only the first lines of the result unless `is_full`.
pub fn step_lines(step: &RehearsedCall, is_full: bool, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut push_text = |text: &str, style: Style, continuation: &str| {
        let next_prefix = vec![Piece::new(continuation, style)];
        let shape = Shape { width, first_prefix: Vec::new(), next_prefix, verbatim: false };
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
        push_text("run live since", theme.accent, "");
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
    for mut line in result {
        line.spans.insert(0, "  ".into());
        lines.push(line);
    }
    lines
}

/// Returns the text as one line with invisible characters marked.
pub fn escape_to_line(text: &str) -> String {
    reveal::reveal_to_string(text).replace('\n', "<U+000A>")
}
