//! Results of a dry run as lines: the tree of changes, each change in full, each call with its result. Used by the
//! screen and by `aye rehearsal`.

use crate::chat::altered::{BY_COMMAND, Branch, OutsideAltered, tree};
use crate::chat::{Altered, Did, Played, Staged, Staging};
use crate::tui::text::wrap::{Shape, wrap};
use crate::tui::text::{Piece, diff, output, reveal};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::Line;

/// Lines shown of a result unless all of it is requested.
const LINES: usize = 8;

/// Returns the tree as lines, indented by two blanks per folder.
pub fn branches(staging: &Staging, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let line = |branch: &Branch| {
        let (name, more) = branch_words(staging, branch);
        let indent = " ".repeat(2 * branch.depth);
        let conflict = staging.altered[branch.of.clone()].iter().any(|altered| altered.conflict);
        let look = if conflict { theme.danger } else { theme.text };
        let pieces = [
            Piece::new(name, look),
            Piece::new(if more.is_empty() { String::new() } else { format!("  {more}") }, theme.dim),
        ];
        let first = vec![Piece::new(indent.clone(), theme.text)];
        let rest = vec![Piece::new(format!("{indent}    "), theme.text)];
        wrap(&pieces, &Shape { width, first, rest, verbatim: false }).lines
    };
    tree(&staging.altered).iter().flat_map(line).collect()
}

/// Returns the texts of a row of the tree: `~ main.rs` and `+3 −1`.
pub fn branch_words(staging: &Staging, branch: &Branch) -> (String, String) {
    let name = visible(&branch.name.to_string_lossy());
    let slash = if branch.folder { "/" } else { "" };
    let sign = if branch.sign.is_empty() { String::new() } else { format!("{} ", branch.sign) };
    let own = staging.altered.get(branch.of.start).filter(|_| !branch.sign.is_empty());
    (format!("{sign}{name}{slash}"), own.map(|own| visible(&own.brief())).unwrap_or_default())
}

/// Returns the texts of a row in the list: name, notes, and the text at the right edge. Notes that only repeat the sign
/// or the slash are removed.
pub fn branch_row(staging: &Staging, branch: &Branch) -> (String, String, String) {
    let (name, _) = branch_words(staging, branch);
    let Some(own) = staging.altered.get(branch.of.start).filter(|_| !branch.sign.is_empty()) else {
        return (name, String::new(), String::new());
    };
    let said = ["deleted", "a folder", "new folder"];
    let notes: Vec<&str> = own.notes.iter().map(String::as_str).filter(|note| !said.contains(note)).collect();
    let lines = own.diff.as_ref().filter(|diff| diff.added + diff.removed > 0);
    let lines = lines.map(|diff| format!("+{} −{}", diff.added, diff.removed));
    let right = if own.conflict { "CONFLICT".to_owned() } else { lines.unwrap_or_default() };
    (name, visible(&notes.join(" · ")), right)
}

/// Returns the texts of a call in the list: the call, and the origin of its result.
pub fn step_row(staging: &Staging, step: &Played) -> (String, String) {
    let mark = step.staged.as_ref().map_or(" ", Staged::mark);
    let mark = if step.bad_end().is_some() { "✗" } else { mark };
    let words = match &step.command {
        Some(line) => format!("{mark} $ {}", line.command),
        None => format!("{mark} {} {}", step.tool, step.summary),
    };
    let came = step.staged.as_ref().map_or("", Staged::word);
    let is = |is: bool, words| is.then_some(words);
    let applied = staging.is_applied(step) && !step.done;
    let parts = [Some(came), step.bad_end(), is(step.done, "run live since"), is(applied, "applied")];
    let came: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    (words, came.join(" · "))
}

/// Returns the lines of a change in full.
pub fn change(altered: &Altered, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut say = |words: &str, style: Style| {
        lines.extend(wrap(&reveal::pieces(words, style, theme.mark), &Shape::of_width(width)).lines);
    };
    if altered.conflict {
        say("CONFLICT: the real file has changed since the dry run; it is not overwritten", theme.danger);
    }
    match &altered.diff {
        Some(diff) => {
            lines.extend(diff::layout(diff, width, theme));
            let notes = altered.notes.join("; ");
            if !notes.is_empty() {
                lines.extend(
                    wrap(&reveal::pieces(&notes, theme.warning, theme.mark), &Shape::of_width(width)).lines,
                );
            }
        }
        None => {
            let slash = if altered.folder { "/" } else { "" };
            let path = visible(&altered.path.to_string_lossy());
            say(&format!("{} {path}{slash}", altered.did.sign()), theme.strong);
            // A new folder is no reason for a warning.
            let style = if altered.did == Did::Made && altered.folder { theme.dim } else { theme.warning };
            say(&altered.notes.join("; "), style);
        }
    }
    lines
}

/// Returns the texts of a change outside the project: `+ /a/b`, notes, and the text at the right edge.
pub fn outside_row(one: &OutsideAltered) -> (String, String, String) {
    let altered = &one.altered;
    let slash = if altered.folder { "/" } else { "" };
    let name = visible(&format!("{} {}{slash}", altered.did.sign(), altered.path.display()));
    let right = if altered.conflict { "CONFLICT" } else { "outside the project" };
    (name, visible(&one.brief()), right.to_owned())
}

/// Returns the lines of a change outside the project in full.
pub fn outside_change(one: &OutsideAltered, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled("outside the project", theme.warning)];
    lines.extend(change(&one.altered, width, theme));
    if !one.is_by_tool {
        lines.extend(
            wrap(&reveal::pieces(BY_COMMAND, theme.warning, theme.mark), &Shape::of_width(width)).lines,
        );
    }
    lines
}

/// Returns the lines of a call with its result; only the first lines of the result unless `whole`.
pub fn step(step: &Played, whole: bool, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut say = |words: &str, style: Style, rest: &str| {
        let rest = vec![Piece::new(rest, style)];
        let shape = Shape { width, first: Vec::new(), rest, verbatim: false };
        lines.extend(wrap(&reveal::pieces(words, style, theme.mark), &shape).lines);
    };
    match &step.command {
        Some(line) => say(&format!("$ {}", line.command), theme.code, "  "),
        None => say(&format!("{} {}", step.tool, step.summary), theme.text, "  "),
    }
    let came = step.staged.as_ref().map_or_else(|| "rehearsed".to_owned(), Staged::words);
    say(&came, theme.accent, "");
    if let Some(end) = step.bad_end() {
        say(&format!("✗ {end}"), theme.danger, "  ");
    }
    if step.done {
        say("run live since", theme.accent, "");
    }
    if !step.changed.is_empty() {
        say(&format!("changed {}", step.changed.join(", ")), theme.dim, "  ");
    }
    if let Some(why) = &step.asks {
        say(&format!("would require approval: {why}"), theme.warning, "");
    }
    let inner = width.saturating_sub(2).max(1);
    let mut result = match step.command {
        Some(_) => output::lines(step.result.trim_end(), theme.dim, theme, inner),
        None => {
            wrap(&reveal::pieces(step.result.trim_end(), theme.dim, theme.mark), &Shape::of_width(inner))
                .lines
        }
    };
    let more = result.len().saturating_sub(LINES);
    if !whole && more > 0 {
        result.truncate(LINES);
        result.push(Line::styled(format!("… {more} more lines"), theme.dim));
    }
    for mut line in result {
        line.spans.insert(0, "  ".into());
        lines.push(line);
    }
    lines
}

/// Returns the text as one line with invisible characters marked.
pub fn visible(text: &str) -> String {
    reveal::words(text).replace('\n', "<U+000A>")
}
