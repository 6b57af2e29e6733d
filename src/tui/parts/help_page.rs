//! The help page: keys that work in the current state.

use super::frame::{Frame, scroll_position};
use crate::text::width;
use crate::tui::keys::{Action, Chord, KeyBinding, Keymap, Scope};
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use std::cell::Cell;

/// Minimum inner width in cells for two columns.
const TWO_COLUMN_WIDTH: u16 = 120;
/// Maximum cells per row for the keys of an action.
const MAX_KEY_CELLS: usize = 26;
/// Blank cells between the keys and the label of an action.
const GAP_CELLS: usize = 2;

/// Help page and its scroll position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Help {
    scopes: Vec<Scope>,
    /// Actions of these scopes that would do nothing now and are not listed.
    unused: Vec<(Scope, Action)>,
    /// First visible row. A value past the end is corrected when the page is drawn.
    scroll: Cell<usize>,
    /// Rows visible in the last frame.
    visible_rows: Cell<usize>,
}

/// Result of a key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyResult {
    /// The page scrolled, or the key was ignored.
    Handled,
    /// The page was closed.
    Close,
}

impl Help {
    /// Creates a page for the keys of these scopes, innermost first, except those of unused actions.
    pub fn new(scopes: Vec<Scope>, unused: Vec<(Scope, Action)>) -> Self {
        Self { scopes, unused, scroll: Cell::new(0), visible_rows: Cell::new(1) }
    }

    /// Handles a key while the page is open. No key is passed on.
    pub fn handle_key(&mut self, key: &KeyEvent, keys: &Keymap) -> KeyResult {
        let (top, page) = (self.scroll.get(), self.visible_rows.get());
        let new_top = match keys.lookup(Scope::Page, key) {
            Some(Action::Close) => return KeyResult::Close,
            Some(action) => scroll_position(action, top, page).unwrap_or(top),
            None => top,
        };
        self.scroll.set(new_top);
        KeyResult::Handled
    }

    /// Scrolls by this many rows, for the mouse wheel.
    pub fn scroll(&self, rows: isize) {
        self.scroll.set(self.scroll.get().saturating_add_signed(rows));
    }

    pub fn draw(&self, keys: &Keymap, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let chord = |action| keys.first_chord(Scope::Page, action);
        let (up, down, close) = (chord(Action::Up), chord(Action::Down), chord(Action::Close));
        let arrows =
            if (up.as_str(), down.as_str()) == ("up", "down") { "↑↓".to_owned() } else { format!("{up} {down}") };
        let hints = [format!("{arrows} scroll · {close} close"), format!("{close} close")];
        // The frame takes 4 cells of the width and 2 rows. The last 2 cells of each column stay blank.
        let columns: u16 = if area.width.saturating_sub(4) >= TWO_COLUMN_WIDTH { 2 } else { 1 };
        let width = area.width.saturating_sub(4) / columns;
        let lines = self.lay_out_keys(keys, usize::from(width).saturating_sub(2).max(1), theme);
        let rows = usize::from(area.height.saturating_sub(2));
        let split = match columns {
            2 => split_before_heading(&lines),
            _ => lines.len(),
        };
        let length = split.max(lines.len() - split).max(1);
        let scroll = self.scroll.get().min(length.saturating_sub(rows));
        let hidden_rows = length.saturating_sub(scroll + rows);
        let right_title = if hidden_rows > 0 { format!("{hidden_rows} more rows") } else { String::new() };
        let frame = Frame {
            title: "Key bindings",
            right_title: &right_title,
            hints: &hints,
            is_listening: true,
            ..Frame::default()
        };
        let inner = frame.draw(area, buffer, theme);
        let (left, right) = lines.split_at(split);
        for (column, lines) in (0..).zip([left, right]) {
            let x = inner.x + width * column;
            let visible = lines.iter().skip(scroll).take(rows).collect::<Vec<_>>();
            // A heading in the last row would be without its keys.
            let end = if scroll + visible.len() < lines.len() { end_before_heading(&visible) } else { visible.len() };
            for (row, help_line) in inner.rows().zip(&visible[..end]) {
                buffer.set_line(x, row.y, &help_line.line, width.min(inner.right().saturating_sub(x)));
            }
        }
        self.scroll.set(scroll);
        self.visible_rows.set(usize::from(inner.height).max(1));
    }

    /// Lays out the actions below the headings of their scopes. An action has several rows if its chords or its label wrap.
    /// Only a chord wider than its column is cut.
    fn lay_out_keys(&self, keys: &Keymap, width: usize, theme: &Theme) -> Vec<HelpLine> {
        let chord_list = |row: &KeyBinding| row.chords.iter().map(Chord::to_string).collect::<Vec<_>>().join(" ");
        let is_used = |row: &&KeyBinding| !self.unused.contains(&(row.scope, row.action));
        let rows: Vec<&KeyBinding> = keys.help_rows(&self.scopes).filter(is_used).collect();
        let chord_lists: Vec<String> = rows.iter().map(|row| chord_list(row)).collect();
        let widest = |texts: &mut dyn Iterator<Item = &str>| texts.map(width::text_width).max().unwrap_or(0);
        let widest_list = widest(&mut chord_lists.iter().map(String::as_str));
        let widest_chord = widest(&mut chord_lists.iter().flat_map(|chord_list| chord_list.split(' ')));
        let widest_label = widest(&mut rows.iter().map(|row| self.label(row)));
        // A narrow page has room for the labels rather than for several chords in a row.
        let free_cells = width.saturating_sub(widest_label + GAP_CELLS).max(widest_chord);
        let key_cells = widest_list.min(MAX_KEY_CELLS).min(free_cells).min(width / 2).max(1);
        let mut lines = Vec::new();
        let mut previous_scope = None;
        for (binding, chord_list) in rows.into_iter().zip(chord_lists) {
            if previous_scope.replace(binding.scope) != Some(binding.scope) {
                if !lines.is_empty() {
                    lines.push(HelpLine { line: Line::default(), is_key: false });
                }
                let line = Line::styled(binding.scope.heading(), theme.heading);
                lines.push(HelpLine { line, is_key: false });
            }
            let chord_rows = pack_chords(&chord_list, key_cells);
            let label_width = width.saturating_sub(key_cells + GAP_CELLS).max(1);
            let label_lines = wrap::wrap_plain(self.label(binding), theme.text, label_width);
            for row in 0..chord_rows.len().max(label_lines.len()) {
                let chords = chord_rows.get(row).map_or("", String::as_str);
                let gap = " ".repeat(key_cells + GAP_CELLS - width::text_width(chords));
                let mut spans =
                    vec![Span::styled(width::cut_to_width(chords, key_cells).to_owned(), theme.accent), Span::raw(gap)];
                spans.extend(label_lines.get(row).cloned().unwrap_or_default().spans);
                lines.push(HelpLine { line: Line::from(spans), is_key: true });
            }
        }
        lines
    }

    /// Returns the label of a key, which over a list of files says what it does with a file.
    fn label(&self, binding: &KeyBinding) -> &'static str {
        match (binding.scope, binding.action) {
            (Scope::List, Action::Accept) if self.scopes.contains(&Scope::Tree) => {
                "Read file, or expand or collapse folder"
            }
            (Scope::List, Action::Accept) if self.scopes.contains(&Scope::Files) => "Read file",
            _ => binding.label(),
        }
    }
}

/// A row of the page.
struct HelpLine {
    line: Line<'static>,
    /// True for a key, false for a heading or the blank row above it.
    is_key: bool,
}

/// Returns the number of rows before the headings at the end of these rows.
fn end_before_heading(lines: &[&HelpLine]) -> usize {
    lines.iter().rposition(|line| line.is_key).map_or(0, |last| last + 1)
}

/// Returns the number of rows in the first of two columns of about the same length. A heading stays with its keys.
fn split_before_heading(lines: &[HelpLine]) -> usize {
    let half = lines.len().div_ceil(2);
    let is_blank = |index: usize| lines.get(index).is_some_and(|line| !line.is_key && line.line.width() == 0);
    // The blank row above a heading ends the first column.
    match (is_blank(half), half.checked_sub(1).is_some_and(|last| !lines[last].is_key && !is_blank(last))) {
        (true, _) => half + 1,
        (_, true) => half - 1,
        _ => half,
    }
}

/// Splits chords separated by blanks into rows of at most `cells`. A longer chord is cut.
fn pack_chords(chords: &str, cells: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for chord in chords.split(' ') {
        match rows.last_mut() {
            Some(row) if width::text_width(row) + 1 + width::text_width(chord) <= cells => {
                row.push(' ');
                row.push_str(chord);
            }
            _ => rows.push(width::fit_start(chord, cells).into_owned()),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::tests::buffer_text;
    use crossterm::event::KeyCode;

    fn draw(help: &Help, (width, height): (u16, u16)) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        help.draw(&Keymap::default(), area, &mut buffer, &Theme::without_colours());
        buffer_text(&buffer)
    }

    #[test]
    fn scrolling_shows_every_key_of_the_scopes() {
        let mut help = Help::new(vec![Scope::Approval, Scope::Anywhere], Vec::new());
        let mut screens = String::new();
        for _ in 0..20 {
            screens.push_str(&draw(&help, (84, 10)));
            let down = KeyEvent::from(KeyCode::PageDown);
            assert_eq!(help.handle_key(&down, &Keymap::default()), KeyResult::Handled);
        }
        for row in Keymap::default().help_rows(&[Scope::Approval, Scope::Anywhere]) {
            assert!(screens.contains(row.label()), "{}", row.label());
        }
        let esc = KeyEvent::from(KeyCode::Esc);
        assert_eq!(help.handle_key(&esc, &Keymap::default()), KeyResult::Close);
    }

    #[test]
    fn no_column_and_no_screen_ends_with_a_heading() {
        let headings: Vec<&str> = Scope::ALL.iter().map(|scope| scope.heading()).collect();
        let check = |column: &str, screen: &str| {
            let last = column.trim_matches(['│', ' ']);
            assert!(!headings.contains(&last), "{screen}");
        };
        for height in 5..40 {
            let mut help = Help::new(vec![Scope::Tree, Scope::Files, Scope::List, Scope::Json], Vec::new());
            for width in [60, 130] {
                let screen = draw(&help, (width, height));
                let last = screen.lines().rev().nth(1).unwrap();
                let middle = last.char_indices().nth(usize::from(width) / 2).map_or(last.len(), |(index, _)| index);
                check(&last[..middle], &screen);
                check(&last[middle..], &screen);
                check(last, &screen);
                help.handle_key(&KeyEvent::from(KeyCode::Down), &Keymap::default());
            }
        }
    }

    #[test]
    fn r34_every_size_draws_and_a_wide_page_has_two_columns() {
        // Every width in a thorough run, otherwise every seventh.
        for width in (0..130).step_by(crate::tui::tests::case_count(1, 7)) {
            for height in [0, 1, 2, 3, 10] {
                draw(&Help::new(Scope::ALL.to_vec(), Vec::new()), (width, height));
            }
        }
        let page = |size| draw(&Help::new(vec![Scope::Approval, Scope::Anywhere], Vec::new()), size);
        // The last action is visible without scrolling only if there are two columns.
        assert!(page((130, 26)).contains("Suspend aye"));
        assert!(!page((60, 26)).contains("Suspend aye"));
    }
}
