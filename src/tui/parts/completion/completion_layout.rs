//! Drawing of completions: as many rows above the composer as fit, and the number of hidden rows.

use super::{Completion, Kind};
use crate::text::width;
use crate::tui::host::ListState;
use crate::tui::parts::filter::{Filter, highlight_matches};
use crate::tui::parts::frame::hidden_rows_text;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};
use unicode_segmentation::UnicodeSegmentation;

/// Files take at most half of the available rows, so that the transcript stays visible. They may always take this many.
const MIN_FILE_ROWS: u16 = 8;
/// Maximum width of the name column in cells. The description of a longer name begins further right.
const MAX_NAME_CELLS: usize = 40;

impl Completion {
    /// Returns the rows that the list and the status of the file search take of the available rows above the composer; 0 if
    /// neither is shown.
    pub fn height(&self, available_rows: u16) -> u16 {
        let max_rows = match self.word.as_ref().map(|word| word.kind) {
            Some(Kind::File) => (available_rows / 2).max(MIN_FILE_ROWS).min(available_rows),
            Some(Kind::Command | Kind::Topic) | None => available_rows,
        };
        let wanted_rows = self.row_count() + usize::from(self.status().is_some());
        u16::try_from(wanted_rows).unwrap_or(u16::MAX).min(max_rows)
    }

    /// Returns the rows of the list; 0 if it is closed.
    fn row_count(&self) -> usize {
        match self.word.as_ref().map(|word| word.kind) {
            Some(Kind::File) if self.is_open() => self.files.total(self.matches.len()),
            _ if self.is_open() => self.matches.len(),
            _ => 0,
        }
    }

    /// Returns the text below the rows, of which `shown_rows` are visible from `first_row` on: status of the file search
    /// and number of hidden rows.
    fn footer_text(&self, first_row: usize, shown_rows: usize) -> String {
        let below = self.row_count().saturating_sub(first_row + shown_rows);
        self.status().into_iter().chain(hidden_rows_text(first_row, below)).collect::<Vec<_>>().join(" · ")
    }

    /// Returns the status of the file search, if it is not complete.
    fn status(&self) -> Option<String> {
        let is_shown = self.dismissed_word.is_none() && self.word.as_ref().is_some_and(|word| word.kind == Kind::File);
        let count = self.files.count();
        match self.file_progress {
            ListState::Scanning if is_shown => Some(format!("searching files, {count} so far")),
            // Nothing is said before the matches are known.
            ListState::Truncated if is_shown && !(self.matches.is_empty() && self.files.is_waiting()) => {
                let prefix = if self.matches.is_empty() { "no match in" } else { "matches in" };
                Some(format!("{prefix} the first {count} files; more exist"))
            }
            ListState::Scanning | ListState::Truncated | ListState::Complete => None,
        }
    }

    /// Draws the list at the bottom of `area`.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        let height = self.height(area.height);
        let Some(word) = self.word.as_ref().filter(|_| height > 0) else { return };
        let area = Rect { y: area.bottom() - height, height, ..area };
        Clear.render(area, buffer);
        buffer.set_style(area, theme.background.patch(theme.text));
        let match_count = self.row_count();
        let all_fit = self.status().is_none() && match_count <= usize::from(height);
        // A single row shows the selected candidate, not the footer.
        let rows = if all_fit || (height == 1 && match_count > 0) { height } else { height - 1 };
        let first_row = (self.cursor + 1).saturating_sub(usize::from(rows));
        if rows < height {
            let footer = self.footer_text(first_row, usize::from(rows).min(match_count));
            buffer.set_line(area.x, area.bottom() - 1, &Line::styled(format!("  {footer}"), theme.dim), area.width);
        }
        self.page_rows.set(usize::from(rows));
        if rows == 0 {
            return;
        }
        let mut filter = match word.kind {
            Kind::File => Filter::for_paths(word.query()),
            Kind::Command | Kind::Topic => Filter::new(&word.typed),
        };
        let visible = &self.matches[first_row..self.matches.len().min(first_row + usize::from(rows))];
        let name_cells = visible
            .iter()
            .map(|index| width::text_width(self.name(word.kind, *index)))
            .max()
            .unwrap_or(0)
            .min(MAX_NAME_CELLS);
        let sign = word.kind.sign();
        for (position, (index, row)) in visible.iter().zip(area.rows()).enumerate() {
            let (full_name, mut description) = (self.name(word.kind, *index), self.description(word.kind, *index));
            let is_selected = first_row + position == self.cursor;
            let style = if is_selected { theme.text.patch(theme.selected) } else { theme.text };
            let dim = if is_selected { style } else { theme.dim };
            if is_selected {
                buffer.set_style(row, style);
            }
            // The cursor sign takes 2 cells, and the sign of the kind 1.
            let cells = usize::from(row.width).saturating_sub(3);
            let name = match word.kind {
                Kind::File => width::fit_path(full_name, cells),
                Kind::Command | Kind::Topic => width::fit_start(full_name, cells),
            };
            // Only the names of files are cut at their start.
            let cut_graphemes = match word.kind {
                Kind::File => full_name.graphemes(true).count().saturating_sub(name.graphemes(true).count()),
                Kind::Command | Kind::Topic => 0,
            };
            let matched = filter.matched_graphemes(full_name);
            let matched: Vec<usize> = matched.iter().filter_map(|index| index.checked_sub(cut_graphemes)).collect();
            let mut spans = vec![Span::styled(if is_selected { "❯ " } else { "  " }, style), Span::styled(sign, dim)];
            spans.extend(highlight_matches(&name, &matched, style, theme.search_match));
            let column = name_cells.max(width::text_width(&name)) + 2;
            // The size of a file is shown as a whole or not at all.
            let is_file = word.kind == Kind::File && self.files.is_file(*index);
            if is_file && column + 1 + width::text_width(&description) > cells {
                description.truncate(description.find(" · ").unwrap_or(0));
            }
            // A description needs at least 3 cells, and one blank column is kept at its right.
            if !description.is_empty() && column + 4 <= cells {
                spans.push(Span::styled(" ".repeat(column - width::text_width(&name)), style));
                let description = width::fit_start(&description, cells - column - 1);
                spans.push(Span::styled(description.into_owned(), dim));
            }
            buffer.set_line(row.x, row.y, &Line::from(spans), row.width);
        }
    }
}
