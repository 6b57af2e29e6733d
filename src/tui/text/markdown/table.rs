//! Lays out tables: columns shrink evenly and cells wrap; if columns get too narrow, rows become lists.

use crate::text::width::text_width;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece};
use crate::tui::theme::Theme;
use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};

/// Separator between columns.
const COLUMN_SEPARATOR: &str = " │ ";
/// Minimum width of a column that has to shrink; if the table still does not fit, its rows become lists.
const MIN_COLUMN: usize = 10;

type Cell = Vec<Piece>;

/// Lays out rows; the first one is the heading.
pub(super) fn lay_out_table(rows: &[Vec<Cell>], alignments: &[Alignment], width: usize, theme: &Theme) -> Page {
    let natural_widths: Vec<usize> = (0..alignments.len())
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(natural_width).max().unwrap_or(0))
        .collect();
    match fit_columns(&natural_widths, width) {
        Some(widths) => lay_out_grid(rows, alignments, &widths, theme),
        None => lay_out_lists(rows, width, theme),
    }
}

fn natural_width(cell: &Cell) -> usize {
    let text: String = cell.iter().map(|piece| piece.text.as_str()).collect();
    text.split('\n').map(text_width).max().unwrap_or(0)
}

/// Returns the column widths: narrow columns keep their width, wide ones share the rest. `None` if wide columns would
/// become narrower than the minimum.
fn fit_columns(natural_widths: &[usize], width: usize) -> Option<Vec<usize>> {
    let separator_width = text_width(COLUMN_SEPARATOR) * natural_widths.len().saturating_sub(1);
    let available_width = width.checked_sub(separator_width)?;
    let total_width = |cap: usize| -> usize { natural_widths.iter().map(|width| (*width).clamp(1, cap.max(1))).sum() };
    let widest = natural_widths.iter().copied().max().unwrap_or(0).max(1);
    let cap = (1..=widest).rev().find(|cap| total_width(*cap) <= available_width)?;
    if cap < widest && cap < MIN_COLUMN {
        return None;
    }
    Some(natural_widths.iter().map(|width| (*width).clamp(1, cap)).collect())
}

fn lay_out_grid(rows: &[Vec<Cell>], alignments: &[Alignment], widths: &[usize], theme: &Theme) -> Page {
    let mut page = Page::default();
    for (index, row) in rows.iter().enumerate() {
        page.append_page(lay_out_grid_row(row, alignments, widths, theme));
        if index == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            page.lines.push(Line::styled(rule.join("─┼─"), theme.border_dim));
        }
    }
    page
}

fn lay_out_grid_row(row: &[Cell], alignments: &[Alignment], widths: &[usize], theme: &Theme) -> Page {
    let empty = Cell::new();
    let cells: Vec<Page> = widths
        .iter()
        .enumerate()
        .map(|(column, width)| wrap_pieces(row.get(column).unwrap_or(&empty), &Shape::with_width(*width)))
        .collect();
    let height = cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(1);
    let mut page = Page { lines: vec![Line::default(); height], ..Page::default() };
    let mut start = 0;
    for (index, cell) in cells.into_iter().enumerate() {
        let mut left_padding = vec![0; height];
        for (line_index, line) in page.lines.iter_mut().enumerate() {
            if index > 0 {
                line.spans.push(Span::styled(COLUMN_SEPARATOR, theme.border_dim));
            }
            let spans = cell.lines.get(line_index).map(|line| line.spans.clone()).unwrap_or_default();
            let free = widths[index].saturating_sub(spans.iter().map(|span| text_width(&span.content)).sum());
            left_padding[line_index] = match alignments.get(index) {
                Some(Alignment::Right) => free,
                Some(Alignment::Center) => free / 2,
                Some(Alignment::Left | Alignment::None) | None => 0,
            };
            line.spans.push(Span::raw(" ".repeat(left_padding[line_index])));
            line.spans.extend(spans);
            line.spans.push(Span::raw(" ".repeat(free - left_padding[line_index])));
        }
        start += if index > 0 { text_width(COLUMN_SEPARATOR) } else { 0 };
        for mut link in cell.links {
            link.shift_right(start + left_padding[link.line]);
            page.links.push(link);
        }
        start += widths[index];
    }
    page.links.sort_by_key(|link| (link.line, link.start));
    page
}

/// Lays out each row as a list of `heading: value`, separated by blank lines.
fn lay_out_lists(rows: &[Vec<Cell>], width: usize, theme: &Theme) -> Page {
    let mut page = Page::default();
    let Some((heading, rows)) = rows.split_first() else { return page };
    let indent = vec![Piece::new("  ", theme.text)];
    let mut push_line = |line: Cell| {
        page.append_page(wrap_pieces(&line, &Shape { next_prefix: indent.clone(), ..Shape::with_width(width) }));
    };
    if rows.is_empty() {
        heading.iter().for_each(|cell| push_line(cell.clone()));
    }
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            push_line(Cell::new());
        }
        for (name, value) in heading.iter().zip(row) {
            let mut line = name.clone();
            line.push(Piece::new(": ", theme.dim));
            line.extend(value.iter().cloned());
            push_line(line);
        }
    }
    page
}
