//! The frame all cards and overlays share: a title, something at its right, and hints in the bottom border.

use crate::tui::text::{clean, width};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, BorderType, Clear, Widget};

/// What stands on a frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame<'a> {
    /// At the left of the upper border; the program's own words.
    pub title: &'a str,
    /// At its right, such as `1 of 3`; the first to be left out.
    pub right: &'a str,
    /// In the lower border, longest first: the first that fits is taken, the last is cut if it must be.
    pub hints: &'a [String],
    /// Whether what is inside listens: the border is dim otherwise.
    pub listens: bool,
}

impl Frame<'_> {
    /// Clears the place and draws the frame. Returns where there is room inside, a blank at either side; a place
    /// of one or two rows has no frame at all.
    pub fn view(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Rect {
        let area = area.intersection(buffer.area);
        Clear.render(area, buffer);
        buffer.set_style(area, theme.ground.patch(theme.text));
        if area.height < 3 || area.width < 5 {
            return area;
        }
        let border = if self.listens { theme.border } else { theme.border_dim };
        Block::bordered().border_type(BorderType::Rounded).border_style(border).render(area, buffer);
        let room = usize::from(area.width) - 4;
        let mut left = room;
        if !self.right.is_empty() && width::width(self.title) + width::width(self.right) + 6 <= room {
            let words = format!(" {} ", clean::one_line(self.right));
            left = room - width::width(&words) - 1;
            let x = area.right() - 2 - width::width(&words) as u16;
            buffer.set_stringn(x, area.y, &words, room, off_border(theme, theme.dim));
        }
        on_border(self.title, left, area.x + 2, area.y, buffer, off_border(theme, theme.prompt));
        self.hint(area, buffer, theme);
        Rect { x: area.x + 2, y: area.y + 1, width: area.width - 4, height: area.height - 2 }
    }

    /// Draws the hints alone, onto a frame that is there without any: what they say may depend on what fitted.
    pub fn hint(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        if area.height < 3 || area.width < 5 {
            return;
        }
        let room = usize::from(area.width) - 4;
        let fits = |hint: &&String| width::width(hint) + 2 <= room;
        if let Some(hint) = self.hints.iter().find(fits).or(self.hints.last()) {
            on_border(hint, room, area.x + 2, area.bottom() - 1, buffer, off_border(theme, theme.dim));
        }
    }
}

/// The rows a frame takes of a height.
pub fn rows(height: u16) -> u16 {
    if height < 3 { 0 } else { 2 }
}

/// Words in a border do not take its colour, also where their role leaves the terminal's own.
fn off_border(theme: &Theme, role: Style) -> Style {
    Style::reset().patch(theme.ground).patch(theme.text).patch(role)
}

fn on_border(words: &str, room: usize, x: u16, y: u16, buffer: &mut Buffer, style: Style) {
    let words = clean::one_line(words);
    if words.is_empty() || room < 3 {
        return;
    }
    let words = format!(" {} ", width::fit(&words, room - 2));
    buffer.set_stringn(x, y, words, room, style);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Themes;
    use ratatui::style::Color;

    #[test]
    fn words_in_a_border_do_not_take_its_colour() {
        for name in ["terminal", "dark", "light"] {
            let theme = Themes::bundled().choose(name, None);
            let mut buffer = Buffer::empty(Rect::new(0, 0, 30, 4));
            let hints = ["y yes".to_owned()];
            Frame { title: "run?", right: "1 of 2", hints: &hints, listens: true }.view(
                buffer.area,
                &mut buffer,
                &theme,
            );
            let expected = |role: Style| role.fg.or(theme.text.fg).unwrap_or(Color::Reset);
            for (at, role) in [((3, 0), theme.prompt), ((23, 0), theme.dim), ((3, 3), theme.dim)] {
                let cell = &buffer[at];
                assert!(cell.symbol() != "─" && cell.fg == expected(role), "{name} {at:?}: {cell:?}");
            }
            assert_eq!(buffer[(1, 0)].fg, theme.border.fg.unwrap_or_default(), "{name}");
        }
    }
}
