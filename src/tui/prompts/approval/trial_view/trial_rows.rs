//! Rows of the approval prompt with a trial: the command, its output, and its changes, each with its diff.

use crate::agent::Trial;
use crate::chat::trial::MAX_COMPARED_CHANGES;
use crate::chat::{ChangeKind, TrialChange, TrialReport, pluralize};
use crate::text::escaped_path::escape_path;
use crate::text::link::{CheckTarget, LinkTarget};
use crate::tui::parts::exit_status::piped_status_program;
use crate::tui::parts::quantities::format_duration;
use crate::tui::prompts::approval::approval_content::ApprovalContent;
use crate::tui::prompts::approval::body_builder::{BodyBuilder, Density};
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Link, Page, Piece, diff, output, prefix_line, revealed_pieces};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::collections::BTreeSet;
use std::time::Duration;

/// Lines of output while a trial runs, and once it has ended.
const RUNNING_OUTPUT_LINES: usize = 3;
const FINAL_OUTPUT_LINES: usize = 5;
/// Rows of a command that was read before it was tried.
const COMMAND_ROWS: usize = 2;
/// Columns before each line of output and of a diff.
const INDENT: usize = 2;
/// What stands in these columns before output.
const OUTPUT_BAR: &str = "│ ";

/// A part of the result of a trial that can be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrialPart {
    /// Output of which only the end is shown.
    Output,
    /// The change with this index, which opens to its diff.
    Change(usize),
}

/// A row of the prompt with a trial.
#[derive(Debug, Clone, Default)]
pub struct TrialRow {
    pub line: Line<'static>,
    /// Its links.
    pub links: Vec<Link>,
    /// The part whose first row this is.
    pub part: Option<TrialPart>,
}

/// Lays out the rows. `elapsed` is the run time of a running trial; the parts in `open_parts` are shown whole.
pub fn lay_out_rows(
    content: &ApprovalContent<'_>,
    width: usize,
    theme: &Theme,
    (elapsed, open_parts): (Duration, &BTreeSet<TrialPart>),
) -> Vec<TrialRow> {
    let check = |target: &LinkTarget| content.check_target(target);
    let mut rows = RowBuilder { rows: Vec::new(), width, theme, check: &check };
    rows.push_command(content);
    match content.trial {
        Trial::None => {}
        Trial::Running { output, .. } => rows.push_running(output, elapsed),
        Trial::Failed(reason) => {
            rows.push_text(&format!("trial failed: {reason}"), theme.warning);
            rows.push_conditions(content);
        }
        Trial::Finished { report, .. } => {
            rows.push_report(content, report, open_parts);
            rows.push_plan(|body| body.push_reason(content));
        }
    }
    rows.rows
}

/// Builder of the rows.
struct RowBuilder<'a> {
    rows: Vec<TrialRow>,
    width: usize,
    theme: &'a Theme,
    check: CheckTarget<'a>,
}

impl RowBuilder<'_> {
    /// Adds lines of the plan.
    fn push_plan(&mut self, push: impl FnOnce(&mut BodyBuilder<'_>)) {
        let mut body = BodyBuilder::new(self.width, self.theme, self.check);
        push(&mut body);
        self.push_page(body.page);
    }

    fn push_lines(&mut self, lines: Vec<Line<'static>>) {
        self.push_page(Page { lines, ..Page::default() });
    }

    fn push_page(&mut self, page: Page) {
        let mut links = page.links.into_iter().peekable();
        for (index, line) in page.lines.into_iter().enumerate() {
            let links = std::iter::from_fn(|| links.next_if(|link| link.line == index)).collect();
            self.rows.push(TrialRow { line, links, part: None });
        }
    }

    fn push_text(&mut self, text: &str, style: Style) {
        self.push_plan(|body| body.push_text(text, style));
    }

    /// Adds the command. It was read to its end before the trial, so of a long one only the beginning is repeated, unless
    /// nothing was tried.
    fn push_command(&mut self, content: &ApprovalContent<'_>) {
        let max_rows = if matches!(content.trial, Trial::Failed(_)) { usize::MAX } else { COMMAND_ROWS };
        let dim = self.theme.dim;
        self.push_plan(|body| {
            body.push_sub_agent(content);
            let first_row = body.line_count();
            body.push_preview(&content.plan.preview, Density::Full);
            let hidden_rows = body.line_count().saturating_sub(first_row + max_rows);
            if hidden_rows > 1 {
                body.page.truncate_lines(first_row + max_rows);
                body.push_line(Line::styled(format!("… {hidden_rows} more lines, which you have read"), dim));
            }
            body.push_line(Line::default());
        });
    }

    /// Adds the conditions under which the command would run live.
    fn push_conditions(&mut self, content: &ApprovalContent<'_>) {
        let danger = self.theme.danger;
        self.push_plan(|body| {
            body.push_line(Line::default());
            body.push_location(content);
            if let Some(destruction) = &content.plan.destroys {
                body.push_text(&format!("warning: this {destruction}"), danger);
            }
            body.push_reason(content);
        });
    }

    fn push_running(&mut self, output: &str, elapsed: Duration) {
        let text = format!("running in a throwaway copy for {} s · nothing is changed", elapsed.as_secs());
        self.push_text(&text, self.theme.accent);
        let (rows, _) = self.lay_out_tail(output, RUNNING_OUTPUT_LINES);
        self.push_page(rows);
    }

    fn push_report(&mut self, content: &ApprovalContent<'_>, report: &TrialReport, open_parts: &BTreeSet<TrialPart>) {
        let theme = self.theme;
        let piped_program = piped_status_program(&content.plan.preview).filter(|_| report.status.starts_with("exit "));
        let style = match (report.status.as_str(), &piped_program) {
            ("exit 0", None) => theme.success,
            // What the other programs of the pipeline returned is not known.
            ("exit 0", Some(_)) => theme.text,
            _ => theme.warning,
        };
        let program = piped_program.map(|program| format!(" (of {program})")).unwrap_or_default();
        let duration = format_duration(report.duration);
        let changes = match report.changes.is_empty() && !report.unkeepable.is_empty() {
            true => "no changes that can be kept".to_owned(),
            false => report.count_changes().describe(),
        };
        let status = format!("{}{program}", report.status);
        let head = [Piece::new(status, style), Piece::new(format!(" in {duration} · {changes}"), theme.text)];
        self.push_lines(wrap_pieces(&head, &Shape::with_width(self.width)).lines);
        let output = report.result.rsplit_once('\n').map_or("", |(output, _)| output);
        self.push_output(output.trim_end(), open_parts.contains(&TrialPart::Output));
        for (index, change) in report.changes.iter().enumerate() {
            self.push_change(index, change, open_parts.contains(&TrialPart::Change(index)));
        }
        for (path, reason) in &report.unkeepable {
            self.push_text(&format!("not kept: {} ({reason})", escape_path(path)), theme.warning);
        }
        if !report.outside.is_empty() {
            let paths: Vec<String> = report.outside.iter().map(|path| escape_path(path)).collect();
            let names: Vec<&str> = paths.iter().map(String::as_str).collect();
            let text = format!("not kept, outside the project: {}", crate::chat::join_first(&names, 4));
            self.push_text(&text, theme.warning);
        }
        if report.temporary_files > 0 {
            let files = pluralize(report.temporary_files, "file");
            self.push_text(&format!("not kept: {files} in the temporary folder"), theme.warning);
        }
        if let Some(doubt) = &report.doubt {
            // Some are sentences.
            let separator = if doubt.starts_with(char::is_uppercase) { "." } else { ":" };
            self.push_text(&format!("a live run may end differently{separator} {doubt}"), theme.warning);
            if let Some(destruction) = &content.plan.destroys {
                self.push_text(&format!("warning: a live run {destruction}"), theme.danger);
            }
        }
        if let Some(loss) = report.describe_loss() {
            self.push_text(&format!("warning: keeping destroys {loss}"), theme.danger);
        }
    }

    /// Adds the output: all of it if it is open, otherwise its end. A row above it says which, and opens or closes it.
    fn push_output(&mut self, output: &str, is_open: bool) {
        let total = output.lines().count();
        // A note about one line would take the row of that line.
        let max_lines = if total == FINAL_OUTPUT_LINES + 1 { total } else { FINAL_OUTPUT_LINES };
        let (mut rows, is_cut) = self.lay_out_tail(output, max_lines);
        let mut hidden_parts = Vec::new();
        hidden_parts.extend((total > max_lines).then(|| format!("{} earlier lines", total - max_lines)));
        hidden_parts.extend(is_cut.then(|| "long lines cut".to_owned()));
        if !hidden_parts.is_empty() {
            let note = match is_open {
                true => format!("all {}", pluralize(total, "line")),
                false => format!("… {}", hidden_parts.join(", ")),
            };
            let dim = self.theme.dim;
            let line = Line::from(vec![Span::styled(OUTPUT_BAR, dim), Span::styled(note, dim)]);
            self.rows.push(TrialRow { line, links: Vec::new(), part: Some(TrialPart::Output) });
            if is_open {
                (rows, _) = self.lay_out_tail(output, usize::MAX);
            }
        }
        self.push_page(rows);
    }

    /// Lays out the last lines of output, in at most as many rows. Also returns whether rows of long lines are missing.
    fn lay_out_tail(&self, text: &str, max_lines: usize) -> (Page, bool) {
        let columns = self.width.saturating_sub(INDENT).max(1);
        let text = text.trim_end();
        let last_lines = text.char_indices().rev().filter(|(_, c)| *c == '\n').nth(max_lines.saturating_sub(1));
        let tail = last_lines.map_or(text, |(newline, _)| &text[newline + 1..]);
        if tail.is_empty() {
            return (Page::default(), false);
        }
        let mut page = output::lay_out_linked_output(tail, self.theme.text, self.theme, columns, self.check);
        let hidden_rows = page.lines.len().saturating_sub(max_lines);
        // The bar distinguishes output from what aye says.
        let bar = Span::styled(OUTPUT_BAR, self.theme.dim);
        (page.split_off_lines(hidden_rows).with_prefix(bar.clone(), bar), hidden_rows > 0)
    }

    fn push_change(&mut self, index: usize, change: &TrialChange, is_open: bool) {
        let theme = self.theme;
        let style = if change.destroys() { theme.danger } else { theme.text };
        let mut pieces = vec![Piece::new(format!("{} ", change.change.kind.symbol()), style)];
        pieces.extend(revealed_pieces(&change.display_path(), style, theme.mark));
        let summary = change.change.summarize();
        let unrestored = if change.is_irreversible() { theme.warning } else { theme.dim };
        let notes = [
            (summary.as_str(), theme.dim),
            (change.ignored_note().unwrap_or_default(), unrestored),
            (if change.loses_unsaved { "unsaved work is lost" } else { "" }, theme.danger),
            (if change.is_sensitive { "may hold secrets or configure other programs" } else { "" }, theme.warning),
        ];
        for (index, (note, style)) in notes.into_iter().filter(|(note, _)| !note.is_empty()).enumerate() {
            pieces.push(Piece::new(if index == 0 { "  " } else { " · " }, theme.dim));
            pieces.extend(revealed_pieces(note, style, theme.mark));
        }
        let shape = Shape {
            width: self.width,
            first_prefix: vec![Piece::new("  ", theme.text)],
            next_prefix: vec![Piece::new("    ", theme.text)],
            ..Shape::default()
        };
        let first_row = self.rows.len();
        self.push_lines(wrap_pieces(&pieces, &shape).lines);
        if let Some(row) = self.rows.get_mut(first_row) {
            row.part = Some(TrialPart::Change(index));
        }
        if !is_open {
            return;
        }
        let columns = self.width.saturating_sub(INDENT).max(1);
        let diff = change.change.diff.as_ref().filter(|diff| diff.added + diff.removed > 0);
        let mut lines = match diff {
            Some(diff) => diff::lay_out_changes(diff, columns, theme),
            None => vec![Line::styled(explain_missing_diff(change), theme.dim)],
        };
        for path in &change.lost_files {
            lines.extend(output::lay_out_output(&format!("lost: {}", escape_path(path)), theme.danger, theme, columns));
        }
        self.push_lines(lines.into_iter().map(|line| prefix_line(line, "  ")).collect());
    }
}

/// Returns what an opened change shows if it has no diff.
fn explain_missing_diff(change: &TrialChange) -> String {
    match change.files_below {
        0 if change.change.diff.is_some() => match change.change.kind {
            ChangeKind::Created => "an empty file".to_owned(),
            ChangeKind::Modified | ChangeKind::Deleted => "no line is added or removed".to_owned(),
        },
        0 if change.is_compared => "no text to compare".to_owned(),
        0 => format!("not compared: more than {MAX_COMPARED_CHANGES} changes"),
        files => format!("a folder of {}", pluralize(files, "file")),
    }
}
