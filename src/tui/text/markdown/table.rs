//! Lays out tables: columns shrink evenly and cells wrap; if columns get too narrow, rows become lists.

use crate::text::width::text_width;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece};
use crate::tui::theme::Theme;
use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};

/// Separator between columns.
const COLUMN_SEPARATOR: &str = " │ ";
/// Minimum column width; a table that needs less becomes a list.
const MIN_COLUMN: usize = 10;

type Cell = Vec<Piece>;

/// Lays out rows; the first one is the heading.
pub(super) fn lay_out_table(rows: &[Vec<Cell>], aligned: &[Alignment], cells: usize, theme: &Theme) -> Page {
    let natural: Vec<usize> = (0..aligned.len())
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(natural_width).max().unwrap_or(0))
        .collect();
    match fit_columns(&natural, cells) {
        Some(widths) => lay_out_grid(rows, aligned, &widths, theme),
        None => lay_out_lists(rows, cells, theme),
    }
}

fn natural_width(cell: &Cell) -> usize {
    let text: String = cell.iter().map(|piece| piece.text.as_str()).collect();
    text.split('\n').map(text_width).max().unwrap_or(0)
}

/// Returns the column widths: narrow columns keep their width, wide ones share the rest.
fn fit_columns(natural: &[usize], cells: usize) -> Option<Vec<usize>> {
    let between = text_width(COLUMN_SEPARATOR) * natural.len().saturating_sub(1);
    let room = cells.checked_sub(between)?;
    let needs = |cap: usize| -> usize { natural.iter().map(|width| (*width).clamp(1, cap.max(1))).sum() };
    let widest = natural.iter().copied().max().unwrap_or(0).max(1);
    let cap = (1..=widest).rev().find(|cap| needs(*cap) <= room)?;
    if cap < widest && cap < MIN_COLUMN {
        return None;
    }
    Some(natural.iter().map(|width| (*width).clamp(1, cap)).collect())
}

fn lay_out_grid(rows: &[Vec<Cell>], aligned: &[Alignment], widths: &[usize], theme: &Theme) -> Page {
    let mut page = Page::default();
    for (at, row) in rows.iter().enumerate() {
        page.append_page(lay_out_grid_row(row, aligned, widths, theme));
        if at == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            page.lines.push(Line::styled(rule.join("─┼─"), theme.border_dim));
        }
    }
    page
}

fn lay_out_grid_row(row: &[Cell], aligned: &[Alignment], widths: &[usize], theme: &Theme) -> Page {
    let empty = Cell::new();
    let cells: Vec<Page> = widths
        .iter()
        .enumerate()
        .map(|(column, width)| wrap_pieces(row.get(column).unwrap_or(&empty), &Shape::with_width(*width)))
        .collect();
    let height = cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(1);
    let mut page = Page { lines: vec![Line::default(); height], ..Page::default() };
    let (mut column, mut ids) = (0, 0);
    for (at, cell) in cells.into_iter().enumerate() {
        let mut before = vec![0; height];
        for (number, line) in page.lines.iter_mut().enumerate() {
            if at > 0 {
                line.spans.push(Span::styled(COLUMN_SEPARATOR, theme.border_dim));
            }
            let spans = cell.lines.get(number).map(|line| line.spans.clone()).unwrap_or_default();
            let free = widths[at].saturating_sub(spans.iter().map(|span| text_width(&span.content)).sum());
            before[number] = match aligned.get(at) {
                Some(Alignment::Right) => free,
                Some(Alignment::Center) => free / 2,
                Some(Alignment::Left | Alignment::None) | None => 0,
            };
            line.spans.push(Span::raw(" ".repeat(before[number])));
            line.spans.extend(spans);
            line.spans.push(Span::raw(" ".repeat(free - before[number])));
        }
        column += if at > 0 { text_width(COLUMN_SEPARATOR) } else { 0 };
        let next = cell.links.iter().map(|link| link.id + 1).max().unwrap_or(0);
        for mut link in cell.links {
            let shift = u16::try_from(column + before[link.line]).unwrap_or(u16::MAX);
            (link.start, link.end) = (link.start.saturating_add(shift), link.end.saturating_add(shift));
            link.id += ids;
            page.links.push(link);
        }
        (column, ids) = (column + widths[at], ids + next);
    }
    page.links.sort_by_key(|link| (link.line, link.start));
    page
}

/// Lays out each row as a list of `heading: value`, separated by blank lines.
fn lay_out_lists(rows: &[Vec<Cell>], cells: usize, theme: &Theme) -> Page {
    let mut page = Page::default();
    let Some((heading, rows)) = rows.split_first() else { return page };
    let rest = vec![Piece::new("  ", theme.text)];
    let mut put = |line: Cell| {
        page.append_page(wrap_pieces(&line, &Shape { rest: rest.clone(), ..Shape::with_width(cells) }));
    };
    if rows.is_empty() {
        heading.iter().for_each(|cell| put(cell.clone()));
    }
    for (at, row) in rows.iter().enumerate() {
        if at > 0 {
            put(Cell::new());
        }
        for (name, value) in heading.iter().zip(row) {
            let mut line = name.clone();
            line.push(Piece::new(": ", theme.dim));
            line.extend(value.iter().cloned());
            put(line);
        }
    }
    page
}
