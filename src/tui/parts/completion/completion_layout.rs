//! Rendering of completions: as many rows above the composer as fit, and the number of the others.

use super::{Completion, Kind};
use crate::text::width;
use crate::tui::host::ListState;
use crate::tui::parts::filter::highlight_matches;
use crate::tui::parts::frame::hidden_rows_text;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};
use unicode_segmentation::UnicodeSegmentation;

/// Files take half of the room but at least this many rows, so that the transcript stays visible.
const MIN_FILE_ROWS: u16 = 8;
/// Width of the name column in cells before descriptions move right.
const MAX_NAME_CELLS: usize = 40;

impl Completion {
    /// Returns the rows used of `room` rows above the composer; 0 while the list is closed.
    pub fn height(&self, room: u16) -> u16 {
        let most = match self.word.as_ref().map(|word| word.kind) {
            Some(Kind::File) => (room / 2).max(MIN_FILE_ROWS).min(room),
            Some(Kind::Command | Kind::Topic) | None => room,
        };
        let rows = if self.is_open() { self.matches.len() } else { 0 };
        let wanted = rows + usize::from(self.status().is_some());
        u16::try_from(wanted).unwrap_or(u16::MAX).min(most)
    }

    /// Returns the text below the rows, of which `shown` are visible from `first` on: search status and number of
    /// hidden rows.
    fn footer_text(&self, first: usize, shown: usize) -> String {
        let all = if self.is_open() { self.matches.len() } else { 0 };
        let after = all.saturating_sub(first + shown);
        self.status().into_iter().chain(hidden_rows_text(first, after)).collect::<Vec<_>>().join(" · ")
    }

    /// Returns the status of the file search, if it is not complete.
    fn status(&self) -> Option<String> {
        let is_shown = self.dismissed_word.is_none() && self.word.as_ref().is_some_and(|word| word.kind == Kind::File);
        let count = self.files.len();
        match self.file_progress {
            ListState::Scanning if is_shown => Some(format!("searching files, {count} so far")),
            ListState::Truncated if is_shown => {
                let none = if self.matches.is_empty() { "no match in" } else { "matches in" };
                Some(format!("{none} the first {count} files; more exist"))
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
        buffer.set_style(area, theme.ground.patch(theme.text));
        let all = if self.is_open() { self.matches.len() } else { 0 };
        let all_fit = self.status().is_none() && all <= usize::from(height);
        // A single row shows the selected candidate.
        let rows = if all_fit || (height == 1 && all > 0) { height } else { height - 1 };
        let first = (self.cursor + 1).saturating_sub(usize::from(rows));
        if rows < height {
            let words = self.footer_text(first, usize::from(rows).min(all));
            buffer.set_line(area.x, area.bottom() - 1, &Line::styled(format!("  {words}"), theme.dim), area.width);
        }
        self.page_rows.set(usize::from(rows));
        if rows == 0 {
            return;
        }
        let (area, height) = (Rect { height: rows, ..area }, rows);
        let (candidates, mut filter) = (self.candidates(word.kind), self.filter(word));
        let shown = &self.matches[first..self.matches.len().min(first + usize::from(height))];
        let names =
            shown.iter().map(|at| width::text_width(&candidates[*at].name)).max().unwrap_or(0).min(MAX_NAME_CELLS);
        let sign = word.kind.sign();
        for (at, (found, row)) in shown.iter().zip(area.rows()).enumerate() {
            let candidate = &candidates[*found];
            let picked = first + at == self.cursor;
            let style = if picked { theme.text.patch(theme.selected) } else { theme.text };
            let dim = if picked { style } else { theme.dim };
            if picked {
                buffer.set_style(row, style);
            }
            let room = usize::from(row.width).saturating_sub(3);
            let name = match word.kind {
                Kind::File => width::fit_end(&candidate.name, room),
                Kind::Command | Kind::Topic => width::fit_start(&candidate.name, room),
            };
            let dropped = candidate.name.graphemes(true).count().saturating_sub(name.graphemes(true).count());
            let dropped = if word.kind == Kind::File { dropped } else { 0 };
            let marks = filter.matched_graphemes(&candidate.name);
            let marks: Vec<usize> = marks.iter().filter_map(|mark| mark.checked_sub(dropped)).collect();
            let mut spans = vec![Span::styled(if picked { "❯ " } else { "  " }, style), Span::styled(sign, dim)];
            spans.extend(highlight_matches(&name, &marks, style, theme.found));
            let column = names.max(width::text_width(&name)) + 2;
            if !candidate.description.is_empty() && column + 4 <= room {
                spans.push(Span::styled(" ".repeat(column - width::text_width(&name)), style));
                // One blank column is kept at the right.
                let words = width::fit_start(&candidate.description, room - column - 1);
                spans.push(Span::styled(words.into_owned(), dim));
            }
            buffer.set_line(row.x, row.y, &Line::from(spans), row.width);
        }
    }
}
