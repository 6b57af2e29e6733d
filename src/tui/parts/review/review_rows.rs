//! The rows of a review: a heading for each file and hunk with room for its selection mark, and the diff below it.

use super::{Batch, SelectTarget, Selection};
use crate::chat::{Diff, Group, Item};
use crate::tui::text::pieces::wrap_revealed;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Piece, diff, revealed_pieces};
use crate::tui::theme::Theme;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

/// Cells before the text of a heading: cursor and selection mark.
const MARK_CELLS: usize = 6;
/// Cells by which a hunk is indented below its file.
const INDENT: usize = 2;

/// One row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    line: Line<'static>,
    /// Item or hunk that the row belongs to. The row is dimmed if that is rejected.
    target: Option<SelectTarget>,
    /// True if the row shows the selection mark of `target`.
    is_heading: bool,
}

impl Row {
    /// Creates a row that belongs to no change.
    pub fn plain(line: Line<'static>) -> Self {
        Self { line, target: None, is_heading: false }
    }

    /// Returns the item or hunk whose heading this row is, if any.
    pub fn select_target(&self) -> Option<SelectTarget> {
        self.target.filter(|_| self.is_heading)
    }

    /// Returns the row with its selection mark and cursor.
    pub fn styled_line(
        &self,
        selection: impl Fn(SelectTarget) -> Selection,
        is_at_cursor: bool,
        theme: &Theme,
    ) -> Line<'static> {
        let Some(target @ (_, hunk)) = self.target else { return self.line.clone() };
        let selection = selection(target);
        let mut line = self.line.clone();
        if selection == Selection::None {
            for span in &mut line.spans {
                span.style = theme.dim;
            }
        }
        if self.is_heading {
            let mark = match selection {
                Selection::All => "[x] ",
                Selection::Part => "[-] ",
                Selection::None => "[ ] ",
            };
            let style = if is_at_cursor { theme.accent } else { theme.dim };
            let modifier = if is_at_cursor { Modifier::BOLD } else { Modifier::empty() };
            let indent = if hunk.is_some() { INDENT } else { 0 };
            let prefix = format!("{}{} ", " ".repeat(indent), if is_at_cursor { "❯" } else { " " });
            let mark_style = if selection == Selection::None { theme.dim } else { theme.accent };
            line.spans.insert(0, Span::styled(mark, mark_style.add_modifier(modifier)));
            line.spans.insert(0, Span::styled(prefix, style.add_modifier(modifier)));
        }
        line
    }
}

/// Returns all rows of a batch.
pub fn lay_out_batch(batch: &Batch, width: usize, theme: &Theme) -> Vec<Row> {
    let note_style = if batch.group == Group::Repository { theme.text } else { theme.warning };
    let mut page = Page { rows: Vec::new(), width: width.max(1), note_style, theme };
    let mut summary = vec![Piece::new(batch.describe_batch(), theme.strong)];
    // The warning itself is shown once, at its change, which may be off screen.
    let warnings = batch.selected_items(&[]).filter(|(_, item)| item.destroys.is_some()).count();
    if warnings > 0 && batch.items.len() > 1 {
        summary.push(Piece::new(format!(", {warnings} with a warning"), theme.danger));
    }
    page.push_lines(wrap_pieces(&summary, &Shape::with_width(page.width)).lines, None);
    for note in &batch.notes {
        page.push_text(note, theme.dim, None);
    }
    for (index, item) in batch.items.iter().enumerate() {
        // Items without a diff follow each other without a blank row.
        if item.diff.is_some() || index == 0 || batch.items[index - 1].diff.is_some() {
            page.rows.push(Row::plain(Line::default()));
        }
        page.push_item(index, item);
    }
    page.rows.push(Row::plain(Line::default()));
    page.rows
}

/// Rows of a batch while they are collected.
struct Page<'a> {
    rows: Vec<Row>,
    width: usize,
    /// Style of notes about an item.
    note_style: Style,
    theme: &'a Theme,
}

impl Page<'_> {
    fn push_text(&mut self, text: &str, style: Style, target: Option<SelectTarget>) {
        self.push_lines(wrap_revealed(text, style, self.width, self.theme), target);
    }

    fn push_lines(&mut self, lines: Vec<Line<'static>>, target: Option<SelectTarget>) {
        self.rows.extend(lines.into_iter().map(|line| Row { line, target, is_heading: false }));
    }

    /// Adds a row with a selection mark, and more rows if its text wraps.
    fn push_heading(&mut self, pieces: &[Piece], target: SelectTarget) {
        let prefix_cells = MARK_CELLS + if target.1.is_some() { INDENT } else { 0 };
        let width = self.width.saturating_sub(prefix_cells).max(1);
        let lines = wrap_pieces(pieces, &Shape::with_width(width)).lines;
        for (index, mut line) in lines.into_iter().enumerate() {
            if index > 0 {
                line.spans.insert(0, Span::raw(" ".repeat(prefix_cells)));
            }
            self.rows.push(Row { line, target: Some(target), is_heading: index == 0 });
        }
    }

    /// Adds indented text below a heading.
    fn push_indented(&mut self, text: &str, style: Style, target: Option<SelectTarget>) {
        // A blocked item has no target: its row starts with `✗ ` instead of cursor and mark.
        let indent_cells = if target.is_some() { MARK_CELLS } else { 2 };
        let shape = Shape::with_prefix(self.width, Piece::new(" ".repeat(indent_cells), style));
        let pieces = revealed_pieces(text, style, self.theme.mark);
        self.push_lines(wrap_pieces(&pieces, &shape).lines, target);
    }

    fn push_item(&mut self, item_index: usize, item: &Item) {
        let theme = self.theme;
        let name = item.name().replace('\n', "<U+000A>");
        let sign = if item.from.is_some() { "→" } else { item.kind.symbol() };
        let mut pieces = vec![Piece::new(format!("{sign} "), theme.accent)];
        pieces.extend(revealed_pieces(&name, theme.strong, theme.mark));
        if let Some(diff) = &item.diff {
            pieces.push(Piece::new(if diff.created { " · new file · " } else { " · " }, theme.dim));
            pieces.push(Piece::new(format!("+{}", diff.added), Style { bg: None, ..theme.added }));
            pieces.push(Piece::new(" ", theme.dim));
            pieces.push(Piece::new(format!("−{}", diff.removed), Style { bg: None, ..theme.removed }));
        }
        // A single note of an item without a diff is on the same row.
        let has_inline_note = item.notes.len() == 1 && item.diff.is_none();
        if let ([note], true) = (item.notes.as_slice(), has_inline_note) {
            pieces.push(Piece::new(" · ", theme.dim));
            pieces.extend(revealed_pieces(&note.replace('\n', " "), theme.dim, theme.mark));
        }
        if let Some(reason) = &item.blocked {
            pieces.insert(0, Piece::new("✗ ", theme.danger));
            self.push_lines(wrap_pieces(&pieces, &Shape::with_width(self.width)).lines, None);
            self.push_indented(reason, theme.danger, None);
        } else {
            self.push_heading(&pieces, (item_index, None));
        }
        let target = item.blocked.is_none().then_some((item_index, None));
        if let Some(destroys) = item.destroys.as_ref().filter(|_| target.is_some()) {
            self.push_indented(&format!("warning: this {destroys}"), theme.danger, target);
        }
        for note in item.notes.iter().filter(|_| !has_inline_note) {
            self.push_indented(note, self.note_style, target);
        }
        let Some(change) = &item.diff else { return };
        if target.is_none() || !item.has_hunks() {
            let lines = diff::lay_out_changes(change, self.width, theme);
            return self.push_lines(lines, target);
        }
        let count = change.hunks.len();
        for (index, hunk) in change.hunks.iter().enumerate() {
            let hunk_target = (item_index, Some(hunk.after));
            let heading = format!("hunk {} of {count}, line {}", index + 1, hunk.after);
            self.push_heading(&[Piece::new(heading, theme.dim)], hunk_target);
            let only_hunk = Diff { hunks: vec![hunk.clone()], note: None, path: change.path.clone(), ..*change };
            let lines = diff::lay_out_changes(&only_hunk, self.width, theme);
            self.push_lines(lines, Some(hunk_target));
        }
        if let Some(note) = &change.note {
            self.push_text(note, theme.warning, target);
        }
    }
}
