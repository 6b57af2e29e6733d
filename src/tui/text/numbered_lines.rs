//! Lines of a file with their numbers, some of them marked.

use super::code::{self, MAX_LINE_LENGTH, MAX_LINES};
use super::wrap::{CONTINUATION_MARK, Shape, wrap_code};
use super::{Piece, pad_line};
use crate::text::clean::clean_text;
use crate::tui::theme::Theme;
use crate::tui::workspace_data::NumberedLines;
use ratatui::text::Line;
use std::ops::Range;

/// Which lines the rows of a page show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedRows {
    /// Number of the first line, from 1.
    first: usize,
    /// Number of lines of the whole file, if known.
    total: Option<usize>,
    /// First row of each line.
    starts: Vec<usize>,
    /// Rows of the marked lines; empty if there are none.
    marked: Range<usize>,
}

impl NumberedRows {
    /// Describes which lines are in this many rows from `top` on: `lines 180–201 of 400`. Returns `None` if all are.
    pub fn position_text(&self, top: usize, rows: usize) -> Option<String> {
        let first = self.starts.partition_point(|start| *start <= top).saturating_sub(1);
        let end = self.starts.partition_point(|start| *start < top + rows);
        if rows == 0 || end - first.min(end) == self.starts.len() && self.total == Some(self.starts.len()) {
            return None;
        }
        let total = self.total.map(|total| format!(" of {total}")).unwrap_or_default();
        Some(format!("lines {}–{}{total}", self.first + first, (self.first + end).saturating_sub(1)))
    }

    /// Returns the first of this many rows that shows the marked lines: all of them if they fit, otherwise their beginning in
    /// the upper third. Lines that fit begin there too if their end is visible then.
    pub fn marked_top(&self, rows: usize) -> usize {
        let upper_third = self.marked.start.saturating_sub(rows / 3);
        match self.marked.len() <= rows {
            true => upper_third.max(self.marked.end.saturating_sub(rows)),
            false => upper_third,
        }
    }
}

/// Lays out the lines, highlighted if the language of the file is known and they are not too many. Also returns which lines the
/// rows show.
pub fn lay_out_numbered(lines: &NumberedLines, width: usize, theme: &Theme) -> (Vec<Line<'static>>, NumberedRows) {
    let text = clean_text(&lines.text);
    let texts: Vec<&str> = text.strip_suffix('\n').unwrap_or(&text).split('\n').collect();
    let fits = texts.len() <= MAX_LINES && texts.iter().all(|line| line.len() <= MAX_LINE_LENGTH);
    let highlighting = (fits && code::knows_language(&lines.name)).then(|| code::highlight(&lines.name, &text));
    let digits = (lines.first + texts.len().saturating_sub(1)).to_string().len();
    let continuation_mark = Piece::new(CONTINUATION_MARK, theme.code_block.patch(theme.dim));
    let mut rows = NumberedRows { first: lines.first, total: lines.total, starts: Vec::new(), marked: 0..0 };
    let mut laid_out = Vec::new();
    for (index, line) in texts.into_iter().enumerate() {
        let number = lines.first + index;
        let is_marked = lines.marked.contains(&number);
        let style = theme.code_block;
        let (mark, number_style) = match is_marked {
            true => ("▌", theme.accent),
            false => (" ", theme.dim),
        };
        let prefix = |text: &str| vec![Piece::new(format!("{mark}{text:>digits$} "), style.patch(number_style))];
        let (first_prefix, next_prefix) = (prefix(&number.to_string()), prefix(""));
        let shape = Shape { width, first_prefix, next_prefix, verbatim: true, ..Shape::default() };
        let roles = highlighting.as_ref().and_then(|found| found.lines.get(index)).map_or(&[][..], Vec::as_slice);
        let start = laid_out.len();
        rows.starts.push(start);
        laid_out.extend(wrap_code(&code::code_pieces(line, roles, style, theme), &shape, &continuation_mark).lines);
        if is_marked {
            rows.marked = if rows.marked.is_empty() { start } else { rows.marked.start }..laid_out.len();
        }
    }
    laid_out.iter_mut().for_each(|line| pad_line(line, width, theme.code_block));
    (laid_out, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Themes;

    fn lay_out(
        text: &str,
        first: usize,
        marked: std::ops::RangeInclusive<usize>,
        width: usize,
    ) -> (Vec<String>, NumberedRows) {
        let theme = Themes::bundled().choose_theme("dark", None);
        let total = Some(first - 1 + text.lines().count());
        let lines = NumberedLines { name: "a.rs".into(), text: text.into(), first, marked, total };
        let (lines, rows) = lay_out_numbered(&lines, width, &theme);
        (lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect(), rows)
    }

    #[test]
    fn lines_have_their_numbers_and_the_marked_ones_a_bar() {
        let (lines, rows) = lay_out("let a = 1;\nlet b = 2;\n\nend\n", 8, 9..=10, 40);
        assert_eq!(lines, ["  8 let a = 1;", "▌ 9 let b = 2;", "▌10", " 11 end"]);
        assert_eq!(rows.marked, 1..3);
    }

    #[test]
    fn a_long_line_goes_on_below_with_its_mark_and_no_control_reaches_the_screen() {
        let (lines, rows) = lay_out(&format!("{}\n\u{1b}]0;x\u{7}b\n", "word ".repeat(6)), 1, 2..=2, 20);
        assert!(lines[1].starts_with(" ↪") && lines.len() > 2, "{lines:?}");
        assert_eq!(rows.marked, 2..lines.len());
        assert!(lines[2..].iter().all(|line| line.starts_with('▌')), "{lines:?}");
        assert!(!lines.concat().contains(char::is_control), "{lines:?}");
        let (lines, rows) = lay_out("", 1, 3..=3, 20);
        assert_eq!((lines, rows.marked), (vec![" 1".to_owned()], 0..0));
    }

    #[test]
    fn the_position_counts_lines_of_the_file_and_not_rows() {
        // Each line has two rows.
        let text = format!("{}\n", "word ".repeat(5)).repeat(10);
        let (lines, rows) = lay_out(&text, 1, 1..=1, 20);
        assert_eq!(lines.len(), 20);
        assert_eq!(rows.position_text(0, 4).as_deref(), Some("lines 1–2 of 10"));
        assert_eq!(rows.position_text(1, 4).as_deref(), Some("lines 1–3 of 10"));
        assert_eq!(rows.position_text(16, 4).as_deref(), Some("lines 9–10 of 10"));
        assert_eq!(rows.position_text(0, 20), None, "all of the file is visible");
        // Of a part of a file all is visible, but there is more.
        let (_, rows) = lay_out("a\nb\n", 8, 8..=8, 20);
        assert_eq!(rows.position_text(0, 20).as_deref(), Some("lines 8–9 of 9"));
        assert_eq!(NumberedRows { total: None, ..rows }.position_text(0, 1).as_deref(), Some("lines 8–8"));
    }

    #[test]
    fn marked_lines_are_visible_as_a_whole_if_they_fit() {
        let top = |marked: Range<usize>| {
            NumberedRows { first: 1, total: None, starts: (0..100).collect(), marked }.marked_top(12)
        };
        assert_eq!(top(2..3), 0);
        assert_eq!(top(50..51), 46, "in the upper third");
        assert_eq!(top(50..58), 46);
        assert_eq!(top(50..60), 48, "the end is the last row");
        assert_eq!(top(50..62), 50);
        assert_eq!(top(50..63), 46, "too long: its beginning is in the upper third");
    }
}
