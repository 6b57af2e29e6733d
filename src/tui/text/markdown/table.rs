//! Lays out tables: columns shrink evenly and cells wrap; if columns get too narrow, rows become lists.

use crate::text::clean::clean_text;
use crate::text::truncation::truncate_end;
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
/// Characters of a heading of [`lay_out_cells`] that each row repeats.
const MAX_REPEATED_HEADING_CHARS: usize = 40;

type Cell = Vec<Piece>;

/// Lays out rows of text that is cleaned first as a table; the first row is the heading. Columns of numbers are aligned at
/// the right. If rows become lists, empty values are left out and long headings are truncated: a file may have hundreds of
/// columns.
pub fn lay_out_cells(rows: &[Vec<String>], width: usize, theme: &Theme) -> Page {
    let column_count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let column_cells = |column: usize| rows.iter().skip(1).filter_map(move |row| row.get(column));
    let is_number = |cell: &String| cell.trim().parse::<f64>().is_ok();
    let is_numeric = |column: usize| {
        let mut filled = column_cells(column).filter(|cell| !cell.trim().is_empty()).peekable();
        filled.peek().is_some() && filled.all(is_number)
    };
    let alignments: Vec<Alignment> =
        (0..column_count).map(|column| if is_numeric(column) { Alignment::Right } else { Alignment::Left }).collect();
    let to_pieces = |row: usize, cells: &Vec<String>| {
        let style = if row == 0 { theme.text.patch(theme.strong) } else { theme.text };
        cells.iter().map(|cell| vec![Piece::new(clean_text(cell), style)]).collect()
    };
    let mut cells: Vec<Vec<Cell>> = rows.iter().enumerate().map(|(row, cells)| to_pieces(row, cells)).collect();
    if let Some(page) = lay_out_fitting_grid(&cells, &alignments, width.max(1), theme) {
        return page;
    }
    if let [heading, _, ..] = cells.as_mut_slice() {
        for piece in heading.iter_mut().flatten() {
            piece.text = truncate_end(&piece.text, MAX_REPEATED_HEADING_CHARS);
        }
        // The values of a longer row need headings.
        heading.resize(column_count, Cell::new());
    }
    lay_out_lists(&cells, width.max(1), theme, |value| value.iter().any(|piece| !piece.text.trim().is_empty()))
}

/// Lays out rows; the first one is the heading.
pub(super) fn lay_out_table(rows: &[Vec<Cell>], alignments: &[Alignment], width: usize, theme: &Theme) -> Page {
    lay_out_fitting_grid(rows, alignments, width, theme).unwrap_or_else(|| lay_out_lists(rows, width, theme, |_| true))
}

/// Lays out rows in columns; `None` if the columns would become too narrow.
fn lay_out_fitting_grid(rows: &[Vec<Cell>], alignments: &[Alignment], width: usize, theme: &Theme) -> Option<Page> {
    let natural_widths: Vec<usize> = (0..alignments.len())
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(natural_width).max().unwrap_or(0))
        .collect();
    Some(lay_out_grid(rows, alignments, &fit_columns(&natural_widths, width)?, theme))
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

/// Lays out each row as a list of `heading: value` with the values for which `is_shown` is true, separated by blank lines.
fn lay_out_lists(rows: &[Vec<Cell>], width: usize, theme: &Theme, is_shown: impl Fn(&Cell) -> bool) -> Page {
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
        for (name, value) in heading.iter().zip(row).filter(|(_, value)| is_shown(value)) {
            let mut line = name.clone();
            line.push(Piece::new(": ", theme.dim));
            line.extend(value.iter().cloned());
            push_line(line);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Themes;

    fn lay_out(rows: &[Vec<String>], width: usize) -> Vec<String> {
        let theme = Themes::bundled().choose_theme("dark", None);
        lay_out_cells(rows, width, &theme).lines.iter().map(Line::to_string).collect()
    }

    fn to_cells(row: &[&str]) -> Vec<String> {
        row.iter().map(|cell| (*cell).to_owned()).collect()
    }

    #[test]
    fn rows_of_a_file_with_many_columns_become_short_lists() {
        let headings: Vec<String> = (0..200).map(|column| format!("{column:03}{}", "x".repeat(487))).collect();
        let mut rows = vec![headings];
        rows.resize(1000, to_cells(&["1", "2"]));
        let lines = lay_out(&rows, 120);
        assert_eq!(lines.len(), 999 * 2 + 998);
        assert_eq!(lines[..2], [format!("000{}…: 1", "x".repeat(37)), format!("001{}…: 2", "x".repeat(37))]);
    }

    #[test]
    fn lists_have_no_empty_values_and_each_value_of_a_long_row() {
        let rows = [to_cells(&["first heading", "second heading"]), to_cells(&["1", " ", "three"]), to_cells(&["4"])];
        assert_eq!(lay_out(&rows, 16), ["first heading: 1", ": three", "", "first heading: 4"]);
        let heading = [to_cells(&["x".repeat(50).as_str(), "second"])];
        assert_eq!(lay_out(&heading, 12).concat().matches('x').count(), 50);
    }

    #[test]
    fn short_rows_fill_the_columns_of_a_grid() {
        let rows = [to_cells(&["a"]), to_cells(&["1", "b"])];
        assert_eq!(lay_out(&rows, 16), ["a │  ", "──┼──", "1 │ b"]);
    }
}
