//! Results of a dry run as lines: the tree of changes, each change in full, each call with its result. Used by the
//! screen and by `aye rehearsal`.

use crate::chat::dry_run_summary::{BY_COMMAND_NOTE, OutsideChange, TreeRow, build_tree};
use crate::chat::{ChangeKind, DryRunChange, DryRunSummary, RehearsedCall, ResultOrigin};
use crate::text::reveal;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Piece, diff, output, revealed_pieces};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::Line;

/// Lines shown of a result unless all of it is requested.
const SHORT_RESULT_LINES: usize = 8;

/// Returns the tree as lines, indented by two blanks per folder.
pub fn tree_lines(staging: &DryRunSummary, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let line = |branch: &TreeRow| {
        let (name, more) = branch_texts(staging, branch);
        let indent = " ".repeat(2 * branch.depth);
        let conflict = staging.changes[branch.changes.clone()].iter().any(|altered| altered.has_conflict);
        let look = if conflict { theme.danger } else { theme.text };
        let pieces = [
            Piece::new(name, look),
            Piece::new(if more.is_empty() { String::new() } else { format!("  {more}") }, theme.dim),
        ];
        let first = vec![Piece::new(indent.clone(), theme.text)];
        let rest = vec![Piece::new(format!("{indent}    "), theme.text)];
        wrap_pieces(&pieces, &Shape { width, first, rest, verbatim: false }).lines
    };
    build_tree(&staging.changes).iter().flat_map(line).collect()
}

/// Returns the texts of a row of the tree: `~ main.rs` and `+3 −1`.
pub fn branch_texts(staging: &DryRunSummary, branch: &TreeRow) -> (String, String) {
    let name = escape_to_line(&branch.name.to_string_lossy());
    let slash = if branch.is_folder { "/" } else { "" };
    let sign = if branch.symbol.is_empty() { String::new() } else { format!("{} ", branch.symbol) };
    let own = staging.changes.get(branch.changes.start).filter(|_| !branch.symbol.is_empty());
    (format!("{sign}{name}{slash}"), own.map(|own| escape_to_line(&own.summarize())).unwrap_or_default())
}

/// Returns the texts of a row in the list: name, notes, and the text at the right edge. Notes that only repeat the sign
/// or the slash are removed.
pub fn branch_row_texts(staging: &DryRunSummary, branch: &TreeRow) -> (String, String, String) {
    let (name, _) = branch_texts(staging, branch);
    let Some(own) = staging.changes.get(branch.changes.start).filter(|_| !branch.symbol.is_empty()) else {
        return (name, String::new(), String::new());
    };
    let said = ["deleted", "a folder", "new folder"];
    let notes: Vec<&str> = own.notes.iter().map(String::as_str).filter(|note| !said.contains(note)).collect();
    let lines = own.diff.as_ref().filter(|diff| diff.added + diff.removed > 0);
    let lines = lines.map(|diff| format!("+{} −{}", diff.added, diff.removed));
    let right = if own.has_conflict { "CONFLICT".to_owned() } else { lines.unwrap_or_default() };
    (name, escape_to_line(&notes.join(" · ")), right)
}

/// Returns the texts of a call in the list: the call, and the origin of its result.
pub fn step_row_texts(staging: &DryRunSummary, step: &RehearsedCall) -> (String, String) {
    let mark = step.origin.as_ref().map_or(" ", ResultOrigin::symbol);
    let mark = if step.failure_status().is_some() { "✗" } else { mark };
    let words = match &step.command {
        Some(line) => format!("{mark} $ {}", line.command),
        None => format!("{mark} {} {}", step.tool, step.summary),
    };
    let came = step.origin.as_ref().map_or("", ResultOrigin::as_str);
    let is = |is: bool, words| is.then_some(words);
    let applied = staging.is_applied(step) && !step.is_run_live;
    let parts = [Some(came), step.failure_status(), is(step.is_run_live, "run live since"), is(applied, "applied")];
    let came: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    (words, came.join(" · "))
}

/// Returns the lines of a change in full.
pub fn change_lines(altered: &DryRunChange, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut say = |words: &str, style: Style| {
        lines.extend(wrap_pieces(&revealed_pieces(words, style, theme.mark), &Shape::with_width(width)).lines);
    };
    if altered.has_conflict {
        say("CONFLICT: the real file has changed since the dry run; it is not overwritten", theme.danger);
    }
    match &altered.diff {
        Some(diff) => {
            lines.extend(diff::lay_out_diff(diff, width, theme));
            let notes = altered.notes.join("; ");
            if !notes.is_empty() {
                lines.extend(
                    wrap_pieces(&revealed_pieces(&notes, theme.warning, theme.mark), &Shape::with_width(width)).lines,
                );
            }
        }
        None => {
            let slash = if altered.is_folder { "/" } else { "" };
            let path = escape_to_line(&altered.path.to_string_lossy());
            say(&format!("{} {path}{slash}", altered.kind.symbol()), theme.strong);
            // A new folder is no reason for a warning.
            let style =
                if altered.kind == ChangeKind::Created && altered.is_folder { theme.dim } else { theme.warning };
            say(&altered.notes.join("; "), style);
        }
    }
    lines
}

/// Returns the texts of a change outside the project: `+ /a/b`, notes, and the text at the right edge.
pub fn outside_row_texts(one: &OutsideChange) -> (String, String, String) {
    let altered = &one.change;
    let slash = if altered.is_folder { "/" } else { "" };
    let name = escape_to_line(&format!("{} {}{slash}", altered.kind.symbol(), altered.path.display()));
    let right = if altered.has_conflict { "CONFLICT" } else { "outside the project" };
    (name, escape_to_line(&one.summarize()), right.to_owned())
}

/// Returns the lines of a change outside the project in full.
pub fn outside_change_lines(one: &OutsideChange, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled("outside the project", theme.warning)];
    lines.extend(change_lines(&one.change, width, theme));
    if !one.is_by_tool {
        lines.extend(
            wrap_pieces(&revealed_pieces(BY_COMMAND_NOTE, theme.warning, theme.mark), &Shape::with_width(width)).lines,
        );
    }
    lines
}

/// Returns the lines of a call with its result; only the first lines of the result unless `whole`.
pub fn step_lines(step: &RehearsedCall, whole: bool, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut say = |words: &str, style: Style, rest: &str| {
        let rest = vec![Piece::new(rest, style)];
        let shape = Shape { width, first: Vec::new(), rest, verbatim: false };
        lines.extend(wrap_pieces(&revealed_pieces(words, style, theme.mark), &shape).lines);
    };
    match &step.command {
        Some(line) => say(&format!("$ {}", line.command), theme.code, "  "),
        None => say(&format!("{} {}", step.tool, step.summary), theme.text, "  "),
    }
    let came = step.origin.as_ref().map_or_else(|| "rehearsed".to_owned(), ResultOrigin::describe_origin);
    say(&came, theme.accent, "");
    if let Some(end) = step.failure_status() {
        say(&format!("✗ {end}"), theme.danger, "  ");
    }
    if step.is_run_live {
        say("run live since", theme.accent, "");
    }
    if !step.changed_paths.is_empty() {
        say(&format!("changed {}", step.changed_paths.join(", ")), theme.dim, "  ");
    }
    if let Some(why) = &step.would_ask {
        say(&format!("would require approval: {why}"), theme.warning, "");
    }
    let inner = width.saturating_sub(2).max(1);
    let mut result = match step.command {
        Some(_) => output::lay_out_output(step.result.trim_end(), theme.dim, theme, inner),
        None => {
            wrap_pieces(&revealed_pieces(step.result.trim_end(), theme.dim, theme.mark), &Shape::with_width(inner))
                .lines
        }
    };
    let more = result.len().saturating_sub(SHORT_RESULT_LINES);
    if !whole && more > 0 {
        result.truncate(SHORT_RESULT_LINES);
        result.push(Line::styled(format!("… {more} more lines"), theme.dim));
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
