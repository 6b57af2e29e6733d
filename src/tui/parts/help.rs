//! The page of the keys that work now.

use super::frame::Frame;
use crate::tui::keys::{Action, HelpRow, Keymap, Scope};
use crate::tui::text::{width, wrap};
use crate::tui::theme::Theme;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use std::cell::Cell;

/// From this width inside there are two columns.
const WIDE: u16 = 120;
/// The keys of an action take no more cells than this in a row.
const WIDEST: usize = 26;

/// The page and how far it is scrolled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Help {
    scopes: Vec<Scope>,
    /// As far as the last frame could scroll.
    scroll: Cell<usize>,
    /// Of the last frame.
    rows: Cell<usize>,
}

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// It scrolled, or did nothing.
    Nothing,
    /// The page is left.
    Closed,
}

impl Help {
    /// The keys of these scopes, the innermost first.
    pub fn new(scopes: Vec<Scope>) -> Self {
        Self { scopes, scroll: Cell::new(0), rows: Cell::new(1) }
    }

    /// A key that was pressed while the page is open. Every key stays here.
    pub fn key(&mut self, key: &KeyEvent, keys: &Keymap) -> Reply {
        let (at, page) = (self.scroll.get(), self.rows.get());
        let to = match keys.lookup(Scope::Page, key) {
            Some(Action::Close) => return Reply::Closed,
            Some(Action::Up) => at.saturating_sub(1),
            Some(Action::Down) => at.saturating_add(1),
            Some(Action::PageUp) => at.saturating_sub(page),
            Some(Action::PageDown) => at.saturating_add(page),
            Some(Action::Top) => 0,
            Some(Action::Bottom) => usize::MAX,
            _ => at,
        };
        self.scroll.set(to);
        Reply::Nothing
    }

    /// The wheel.
    pub fn scroll(&self, by: isize) {
        self.scroll.set(self.scroll.get().saturating_add_signed(by));
    }

    /// Draws the page.
    pub fn view(&self, keys: &Keymap, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let key = |action| keys.hint(Scope::Page, action);
        let (up, down, close) = (key(Action::Up), key(Action::Down), key(Action::Close));
        let arrows = if (up.as_str(), down.as_str()) == ("up", "down") {
            "↑↓".to_owned()
        } else {
            format!("{up} {down}")
        };
        let hints = [format!("{arrows} scroll · {close} back"), format!("{close} back")];
        let columns: u16 = if area.width.saturating_sub(4) >= WIDE { 2 } else { 1 };
        let width = area.width.saturating_sub(4) / columns;
        let lines = self.lines(keys, usize::from(width).saturating_sub(2).max(1), theme);
        let rows = usize::from(area.height.saturating_sub(2));
        let length = lines.len().div_ceil(usize::from(columns)).max(1);
        let scroll = self.scroll.get().min(length.saturating_sub(rows));
        let more = length.saturating_sub(scroll + rows);
        let right = if more > 0 { format!("{more} more rows") } else { String::new() };
        let frame = Frame {
            title: "keys that work now",
            right: &right,
            hints: &hints,
            listens: true,
            ..Frame::default()
        };
        let inside = frame.view(area, buffer, theme);
        for (column, lines) in (0..).zip(lines.chunks(length)) {
            let x = inside.x + width * column;
            for (row, line) in inside.rows().zip(lines.iter().skip(scroll)) {
                buffer.set_line(x, row.y, line, width.min(inside.right().saturating_sub(x)));
            }
        }
        self.scroll.set(scroll);
        self.rows.set(usize::from(inside.height).max(1));
    }

    /// A row for each key, and more where its chords or its words need them: nothing is cut.
    fn lines(&self, keys: &Keymap, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let help = keys.help(&self.scopes);
        let names: Vec<String> = help.iter().map(|row| row.chords.join(" ")).collect();
        let longest = names.iter().map(|name| width::width(name)).max().unwrap_or(0);
        let column = longest.min(WIDEST).min(width / 2).max(1);
        let mut lines = Vec::new();
        let mut before = None;
        for (HelpRow { scope, words, .. }, name) in help.iter().zip(names) {
            if before.replace(*scope) != Some(*scope) {
                if !lines.is_empty() {
                    lines.push(Line::default());
                }
                lines.push(Line::styled(scope.words(), theme.heading));
            }
            let names = packed(&name, column);
            let words = wrap::plain(words, theme.text, width.saturating_sub(column + 2).max(1));
            for row in 0..names.len().max(words.len()) {
                let name = names.get(row).map_or("", String::as_str);
                let gap = " ".repeat(column + 2 - width::width(name));
                let mut spans =
                    vec![Span::styled(width::cut(name, column).to_owned(), theme.accent), Span::raw(gap)];
                spans.extend(words.get(row).cloned().unwrap_or_default().spans);
                lines.push(Line::from(spans));
            }
        }
        lines
    }
}

/// Whole chords in rows of at most so many cells; one that is longer is cut.
fn packed(chords: &str, cells: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for chord in chords.split(' ') {
        match rows.last_mut() {
            Some(row) if width::width(row) + 1 + width::width(chord) <= cells => {
                row.push(' ');
                row.push_str(chord);
            }
            _ => rows.push(width::fit(chord, cells).into_owned()),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyModifiers};

    fn draw(help: &Help, (width, height): (u16, u16)) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        help.view(&Keymap::default(), area, &mut buffer, &Theme::plain());
        let rows = buffer.content.chunks(usize::from(width.max(1)));
        rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>())
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn the_page_shows_every_key_of_its_scopes_once_scrolled_through() {
        let mut help = Help::new(vec![Scope::Approval, Scope::Anywhere]);
        let mut shown = String::new();
        for _ in 0..20 {
            shown.push_str(&draw(&help, (84, 10)));
            let down = KeyEvent::new(KeyCode::PageDown, KeyModifiers::NONE);
            assert_eq!(help.key(&down, &Keymap::default()), Reply::Nothing);
        }
        for row in Keymap::default().help(&[Scope::Approval, Scope::Anywhere]) {
            assert!(shown.contains(row.words), "{}", row.words);
        }
        let esc = KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE);
        assert_eq!(help.key(&esc, &Keymap::default()), Reply::Closed);
    }

    #[test]
    fn r34_no_size_breaks_it_and_a_wide_one_has_two_columns() {
        for width in (0..130).step_by(crate::tui::tests::often(1, 7)) {
            for height in [0, 1, 2, 3, 10] {
                draw(&Help::new(Scope::ALL.to_vec()), (width, height));
            }
        }
        let page = |size| draw(&Help::new(vec![Scope::Approval, Scope::Anywhere]), size);
        assert!(page((130, 26)).contains("suspend the program"));
        assert!(!page((60, 26)).contains("suspend the program"));
    }
}
