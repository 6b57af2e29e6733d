//! Drawing of completions: as many rows above the composer as fit, and the number of hidden rows.

use super::columns::Columns;
use super::{Completion, Kind};
use crate::text::width;
use crate::tui::host::ListState;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::filter::{Filter, highlight_matches, matches_in_shortened};
use crate::tui::parts::frame::hidden_rows_text;
use crate::tui::parts::key_hints::{self, Hint, key_hint};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

/// Files take at most half of the available rows, so that the transcript stays visible. They may always take this many.
const MIN_FILE_ROWS: u16 = 8;

impl Completion {
    /// Returns the rows that the list and the status of the file search take of the available rows above the composer; 0 if
    /// neither is shown.
    pub fn height(&self, available_rows: u16) -> u16 {
        let max_rows = match self.word.as_ref().map(|word| word.kind) {
            Some(Kind::File) => (available_rows / 2).max(MIN_FILE_ROWS).min(available_rows),
            Some(Kind::Command | Kind::Topic) | None => available_rows,
        };
        // The footer takes a row.
        let wanted_rows = self.row_count() + usize::from(self.is_open() || self.status().is_some());
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

    /// Returns the line below the rows, of which `shown_rows` are visible from `first_row` on: status of the file search,
    /// number of hidden rows, and as many keys as fit.
    fn footer_line(
        &self,
        first_row: usize,
        shown_rows: usize,
        cells: usize,
        keys: &Keymap,
        theme: &Theme,
    ) -> Line<'static> {
        let below = self.row_count().saturating_sub(first_row + shown_rows);
        let facts = self.status().into_iter().chain(hidden_rows_text(first_row, below)).collect::<Vec<_>>().join(" · ");
        let separator = if facts.is_empty() { "" } else { " · " };
        let free_cells = cells.saturating_sub(width::text_width(&facts) + width::text_width(separator));
        let hints = key_hints::hint_rows(self.key_hints(keys));
        let mut line = Line::styled(facts.clone(), theme.dim);
        if let Some(hints) = hints.iter().find(|hints| width::text_width(hints) <= free_cells) {
            line.push_span(Span::styled(separator, theme.dim));
            line.spans.extend(key_hints::hint_spans(hints, theme));
        }
        line
    }

    /// Returns the keys of the list. Those of the selected row depend on what they do with it.
    fn key_hints(&self, keys: &Keymap) -> Vec<Option<Hint>> {
        let Some(word) = self.word.as_ref().filter(|_| self.is_open()) else { return Vec::new() };
        let row = self.matches[self.cursor];
        let name = self.name(word.kind, row);
        let is_folder = word.kind == Kind::File && name.ends_with('/');
        let (send_keys, other_keys): (Vec<String>, Vec<String>) = keys
            .chords_for(Scope::List, Action::Accept)
            .into_iter()
            .partition(|chord| keys.chords_for(Scope::Composer, Action::Send).contains(chord));
        let first = |chords: &[String]| chords.first().cloned().unwrap_or_default();
        let (send_key, complete_key) = (first(&send_keys), first(&other_keys));
        let complete_label = if is_folder { "open folder" } else { "complete" };
        let send_labels: Option<&[&str]> = match word.kind {
            Kind::Command if word.is_complete(name) => Some(std::slice::from_ref(&self.commands[row].send_label)),
            Kind::Topic if word.is_complete(name) => Some(&["run"]),
            Kind::File if word.is_complete(name) => Some(&["send"]),
            Kind::File if is_folder => Some(&["attach folder", "attach"]),
            // The same as the other key.
            Kind::File | Kind::Command | Kind::Topic => None,
        };
        let chord = |action| keys.first_chord(Scope::List, action);
        vec![
            key_hint(3, "↑↓", &["move"]).filter(|_| self.matches.len() > 1),
            key_hint(0, &complete_key, &[complete_label]),
            send_labels.and_then(|labels| key_hint(1, &send_key, labels)),
            key_hint(2, &chord(Action::Close), &["close"]),
        ]
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
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme, keys: &Keymap) {
        let area = area.intersection(buffer.area);
        let height = self.height(area.height);
        let Some(word) = self.word.as_ref().filter(|_| height > 0) else { return };
        let area = Rect { y: area.bottom() - height, height, ..area };
        Clear.render(area, buffer);
        buffer.set_style(area, theme.background.patch(theme.text));
        let match_count = self.row_count();
        // Without a row to spare, the keys are left out.
        let all_fit = self.status().is_none() && match_count == usize::from(height);
        // A single row shows the selected candidate, not the footer.
        let rows = if all_fit || (height == 1 && match_count > 0) { height } else { height - 1 };
        let first_row = (self.cursor + 1).saturating_sub(usize::from(rows));
        if rows < height {
            let shown_rows = usize::from(rows).min(match_count);
            let footer =
                self.footer_line(first_row, shown_rows, usize::from(area.width).saturating_sub(3), keys, theme);
            buffer.set_line(area.x + area.width.min(2), area.bottom() - 1, &footer, area.width.saturating_sub(2));
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
        // The cursor sign takes 2 cells, and the sign of the kind 1.
        let cells = usize::from(area.width).saturating_sub(3);
        let columns = self.divide_columns(word.kind, visible, cells);
        let sign = word.kind.sign();
        for (position, (index, row)) in visible.iter().zip(area.rows()).enumerate() {
            let full_name = self.name(word.kind, *index);
            let is_selected = first_row + position == self.cursor;
            let style = if is_selected { theme.text.patch(theme.selected) } else { theme.text };
            let dim = if is_selected { style } else { theme.dim };
            if is_selected {
                buffer.set_style(row, style);
            }
            let name = match word.kind {
                Kind::File => width::fit_path(full_name, columns.name),
                Kind::Command | Kind::Topic => width::fit_start(full_name, columns.name),
            };
            let matched = matches_in_shortened(full_name, &name, &filter.matched_graphemes(full_name));
            let mut spans = vec![Span::styled(if is_selected { "❯ " } else { "  " }, style), Span::styled(sign, dim)];
            spans.extend(highlight_matches(&name, &matched, style, theme.search_match));
            let description =
                columns.fit_description(&self.description(word.kind, *index), self.is_file(word.kind, *index));
            if !description.is_empty() {
                spans.push(Span::styled(" ".repeat(columns.name + 2 - width::text_width(&name)), style));
                spans.push(Span::styled(description, dim));
            }
            buffer.set_line(row.x, row.y, &Line::from(spans), row.width);
        }
    }

    fn is_file(&self, kind: Kind, row: usize) -> bool {
        kind == Kind::File && self.files.is_file(row)
    }

    /// Divides the cells of the visible rows, so that their columns line up.
    fn divide_columns(&self, kind: Kind, visible: &[usize], cells: usize) -> Columns {
        let widest_name = visible.iter().map(|row| width::text_width(self.name(kind, *row))).max().unwrap_or(0);
        let files = visible.iter().filter(|row| self.is_file(kind, **row));
        let sizes: Vec<String> = files.map(|row| self.files.description(*row)).collect();
        Columns::new(kind, widest_name, &sizes, cells)
    }
}
