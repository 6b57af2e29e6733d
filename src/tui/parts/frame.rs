//! The frame of all prompts and popups: a title, a text at the right, and key hints in the bottom border.

use super::key_hints;
use super::listening::Listening;
use crate::text::{clean, width};
use crate::tui::keys::{Action, Keymap};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Block, BorderType, Clear, Widget};

/// Minimum inner width in cells for a prompt or list to count as readable.
const MIN_READABLE_CELLS: u16 = 16;

/// Returns whether these cells of a row show a horizontal line, such as a border, and nothing else.
pub fn is_horizontal_line(buffer: &Buffer, cells: Rect) -> bool {
    cells.positions().all(|position| buffer.cell(position).is_some_and(|cell| matches!(cell.symbol(), "─" | "━" | "-")))
}

/// Texts and state of a frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Text at the left of the top border. It comes from the program, never from the model.
    pub title: &'a str,
    /// Text at the right of the top border, such as `1 of 3`. Omitted first if the frame is too narrow.
    pub right_title: &'a str,
    /// Rows of key hints for the bottom border, longest first: the first that fits is drawn, the last is cut if
    /// necessary. A row looks like `y approve · n deny`.
    pub hints: &'a [String],
    /// Replaces the hints unless empty: the reason the last key did nothing, then ` · ` and the key that works. If both
    /// do not fit, only the part after ` · ` is drawn.
    pub message: &'a str,
    /// True if the contents accept keys; otherwise the border and the hints are dim.
    pub is_listening: bool,
    /// True if approval destroys something. Shown by a thick border and `Warning: ` in the title, not only by colour.
    pub is_destructive: bool,
}

/// Context with which a prompt is drawn.
#[derive(Debug, Clone, Copy)]
pub struct PromptContext<'a> {
    /// Whether the prompt accepts a key as an answer.
    pub listening: Listening,
    /// Key bindings, for the hints.
    pub keys: &'a Keymap,
    pub theme: &'a Theme,
    /// Reason the last key did nothing; empty if it had an effect.
    pub message: &'a str,
}

impl Frame<'_> {
    /// Clears the area. Draws the frame if the area is large enough for one. Returns [`inner_area`].
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Rect {
        let area = area.intersection(buffer.area);
        Clear.render(area, buffer);
        buffer.set_style(area, theme.background.patch(theme.text));
        if !fits_frame(area) {
            return area;
        }
        let (border_type, active_style, title_style) = match self.is_destructive {
            true => (BorderType::Thick, theme.danger, theme.danger),
            false => (BorderType::Rounded, theme.border, theme.prompt),
        };
        let border = if self.is_listening { active_style } else { theme.border_dim };
        Block::bordered().border_type(border_type).border_style(border).render(area, buffer);
        let columns = usize::from(area.width) - 4;
        let mut title_columns = columns;
        let prefix = if self.is_destructive { "Warning: " } else { "" };
        let shown_title = format!("{prefix}{}", self.title);
        // Six columns: a blank at each side of both texts, and two of the border between them.
        if !self.right_title.is_empty()
            && width::text_width(&shown_title) + width::text_width(self.right_title) + 6 <= columns
        {
            let right_text = format!(" {} ", clean::clean_line(self.right_title));
            title_columns = columns - width::text_width(&right_text) - 1;
            let x = area.right() - 2 - width::text_width(&right_text) as u16;
            buffer.set_stringn(x, area.y, &right_text, columns, text_style(theme, theme.dim));
        }
        draw_border_text(&shown_title, title_columns, area.x + 2, area.y, buffer, text_style(theme, title_style));
        self.draw_hints(area, buffer, theme);
        inner_area(area)
    }

    /// Draws only the hints, onto a frame that was drawn without hints. For hints that depend on how much of the
    /// contents fits.
    pub fn draw_hints(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        if !fits_frame(area) {
            return;
        }
        let columns = usize::from(area.width) - 4;
        let (x, y) = (area.x + 2, area.bottom() - 1);
        if !self.message.is_empty() {
            let message = clean::clean_line(self.message);
            let all_fits = width::text_width(&message) + 2 <= columns;
            let shown_text =
                if all_fits { &*message } else { message.rsplit(key_hints::SEPARATOR).next().unwrap_or_default() };
            let shown_text = fit_words(shown_text, columns.saturating_sub(2));
            return draw_border_text(shown_text, columns, x, y, buffer, text_style(theme, theme.warning));
        }
        // The ASCII fallback replaces `…` with three dots, so an ellipsis counts as three cells.
        let hint_cells = |hint: &String| width::text_width(hint) + 2 * hint.matches('…').count() + 2;
        let fits = |hint: &&String| hint_cells(hint) <= columns;
        if let Some(hint) = self.hints.iter().find(fits).or(self.hints.last()) {
            let hint = fit_words(hint, columns.saturating_sub(2));
            draw_border_text(hint, columns, x, y, buffer, text_style(theme, theme.dim));
            if self.is_listening {
                highlight_hints(hint, columns, x + 1, y, buffer, theme);
            }
        }
    }
}

/// Returns the start of a text that fits into a number of cells, without a broken word. Only a first word that does not
/// fit is returned whole, for the caller to cut.
fn fit_words(text: &str, cells: usize) -> &str {
    if width::text_width(text) <= cells {
        return text;
    }
    let word_ends = text.match_indices(' ').map(|(end, _)| &text[..end]);
    let fitting = word_ends.take_while(|start| width::text_width(start) <= cells).last();
    fitting.map_or(text, |start| start.trim_end_matches([' ', '·', ',']))
}

/// Highlights each key in a row of hints and draws its action in a quieter style.
fn highlight_hints(hint: &str, columns: usize, x: u16, y: u16, buffer: &mut Buffer, theme: &Theme) {
    let end = x.saturating_add(u16::try_from(columns.saturating_sub(2)).unwrap_or(u16::MAX));
    let mut x = x;
    for part in clean::clean_line(hint).split(key_hints::SEPARATOR) {
        let key_cells = width::text_width(part.split(' ').next().unwrap_or_default()) as u16;
        let part_cells = width::text_width(part) as u16;
        let mut style_cells = |start: u16, cells: u16, role_style| {
            let stop = start.saturating_add(cells).min(end);
            let cells_area = Rect { x: start.min(stop), y, width: stop.saturating_sub(start), height: 1 };
            buffer.set_style(cells_area, text_style(theme, role_style));
        };
        style_cells(x, key_cells, theme.prompt);
        style_cells(x.saturating_add(key_cells), part_cells - key_cells, theme.text);
        x = x.saturating_add(part_cells).saturating_add(width::text_width(key_hints::SEPARATOR) as u16);
    }
}

/// Formats the number of hidden rows, as shown after the count of a list: `↑ 1 more · ↓ 2 more`. Returns `None` if no row
/// is hidden.
pub fn hidden_rows_text(above: usize, below: usize) -> Option<String> {
    match (above, below) {
        (0, 0) => None,
        (0, below) => Some(format!("↓ {below} more")),
        (above, 0) => Some(format!("↑ {above} more")),
        (above, below) => Some(format!("↑ {above} more · ↓ {below} more")),
    }
}

/// Formats which of all rows of a text are visible: `1–16 of 404`. Returns `None` if all are.
pub fn rows_position_text(top: usize, visible_rows: usize, row_count: usize) -> Option<String> {
    let end = (top + visible_rows).min(row_count);
    (end - top < row_count && visible_rows > 0).then(|| format!("{}–{end} of {row_count}", top + 1))
}

/// Returns rows of hints, longest first: in a narrow frame the last keys are left out, not the one that closes it.
pub fn shorten_hints(keys: &str, close_hint: &str) -> Vec<String> {
    let ends = std::iter::once(keys.len()).chain(keys.rmatch_indices(" · ").map(|(end, _)| end));
    let rows = ends.filter(|end| *end > 0).map(|end| format!("{} · {close_hint}", &keys[..end]));
    rows.chain([close_hint.to_owned()]).collect()
}

/// Returns whether an area has room for a frame and at least one cell in it.
fn fits_frame(area: Rect) -> bool {
    area.height >= 3 && area.width >= 5
}

/// Returns the area inside the border of a frame and inside one blank column at each side. Returns all of an area that
/// is too small for a frame.
pub fn inner_area(outer: Rect) -> Rect {
    if !fits_frame(outer) {
        return outer;
    }
    Rect { x: outer.x + 2, y: outer.y + 1, width: outer.width - 4, height: outer.height - 2 }
}

/// Returns whether the contents of a prompt can be read: `inner` is large enough, and all of the prompt's `area` is on
/// the screen.
pub fn is_readable(inner: Rect, area: Rect, buffer: &Buffer) -> bool {
    inner.height > 0 && inner.width >= MIN_READABLE_CELLS && area == area.intersection(buffer.area)
}

/// Draws lines from the top down, as many as fit.
pub fn set_lines<'a, 'l: 'a>(lines: impl IntoIterator<Item = &'a Line<'l>>, area: Rect, buffer: &mut Buffer) {
    for (row, line) in area.rows().zip(lines) {
        buffer.set_line(row.x, row.y, line, row.width);
    }
}

/// Returns the row reached from `row` by an action that moves by rows or pages, or to an end. The result may be beyond
/// the last row. Returns `None` for other actions.
pub fn scroll_position(action: Action, row: usize, page_rows: usize) -> Option<usize> {
    Some(match action {
        Action::Up => row.saturating_sub(1),
        Action::Down => row.saturating_add(1),
        Action::PageUp => row.saturating_sub(page_rows),
        Action::PageDown => row.saturating_add(page_rows),
        Action::Top => 0,
        Action::Bottom => usize::MAX,
        _ => return None,
    })
}

/// Returns the index of the heading that gets the cursor after scrolling: the first visible one, otherwise the last one
/// above. `top` is the first of `page_rows` rows; the number of rows above takes the place of the first one.
pub fn heading_in_view(headings: &[usize], top: usize, page_rows: usize) -> usize {
    let first_visible = top + usize::from(top > 0);
    match headings.iter().position(|row| *row >= first_visible) {
        Some(index) if headings[index] < top + page_rows => index,
        Some(index) => index.saturating_sub(1),
        None => headings.len().saturating_sub(1),
    }
}

/// Returns the style of a role for text in a border. It starts with a reset, so that the text never takes the border's
/// colour, even if the role has no colour.
fn text_style(theme: &Theme, role_style: Style) -> Style {
    Style::reset().patch(theme.background).patch(theme.text).patch(role_style)
}

fn draw_border_text(text: &str, columns: usize, x: u16, y: u16, buffer: &mut Buffer, style: Style) {
    let text = clean::clean_line(text);
    if text.is_empty() || columns < 3 {
        return;
    }
    let text = format!(" {} ", width::fit_start(&text, columns - 2));
    buffer.set_stringn(x, y, text, columns, style);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Themes;
    use ratatui::style::Color;

    #[test]
    fn a_title_that_leaves_no_room_for_the_right_title_is_shown_whole() {
        let theme = Themes::bundled().choose_theme("dark", None);
        let top_row = |width: u16| {
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, 4));
            let frame =
                Frame { title: "run?", right_title: "1 of 2", hints: &[], is_destructive: true, ..Frame::default() };
            frame.draw(buffer.area, &mut buffer, &theme);
            (0..width).map(|x| buffer[(x, 0)].symbol()).collect::<String>()
        };
        assert_eq!(top_row(29), "┏━ Warning: run? ━━ 1 of 2 ━┓");
        assert_eq!(top_row(28), "┏━ Warning: run? ━━━━━━━━━━┓");
    }

    #[test]
    fn the_closing_key_is_the_last_hint_to_go() {
        assert_eq!(shorten_hints("enter read · y copy", "q"), ["enter read · y copy · q", "enter read · q", "q"]);
        assert_eq!(shorten_hints("", "q"), ["q"]);
    }

    #[test]
    fn hints_and_messages_are_cut_between_words() {
        let theme = Themes::bundled().choose_theme("dark", None);
        let bottom_row = |width: u16, hints: &[String], message: &str| {
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, 4));
            let frame = Frame { title: "run?", hints, message, is_listening: true, ..Frame::default() };
            frame.draw(buffer.area, &mut buffer, &theme);
            (0..width)
                .map(|x| buffer[(x, 3)].symbol())
                .collect::<String>()
                .trim_matches(['╰', '─', '╯', ' '])
                .to_owned()
        };
        let hints = ["end jump to the end, then y approve".to_owned()];
        let words: Vec<&str> = hints[0].split(' ').collect();
        for width in 12..50 {
            let row = bottom_row(width, &hints, "");
            assert!(
                row.split(' ').zip(&words).all(|(shown, word)| shown == word.trim_end_matches(',') || shown == *word),
                "{row}"
            );
        }
        assert_eq!(bottom_row(26, &hints, ""), "end jump to the end");
        assert_eq!(bottom_row(26, &[], "Read on first · end to jump down there"), "end to jump down");
    }

    #[test]
    fn text_in_a_border_does_not_take_its_colour() {
        for name in ["terminal", "dark", "light"] {
            let theme = Themes::bundled().choose_theme(name, None);
            let mut buffer = Buffer::empty(Rect::new(0, 0, 30, 4));
            let hints = ["y approve".to_owned()];
            let frame =
                Frame { title: "run?", right_title: "1 of 2", hints: &hints, is_listening: true, ..Frame::default() };
            frame.draw(buffer.area, &mut buffer, &theme);
            let expected = |role: Style| role.fg.or(theme.text.fg).unwrap_or(Color::Reset);
            let roles = [((3, 0), theme.prompt), ((23, 0), theme.dim), ((3, 3), theme.prompt), ((5, 3), theme.text)];
            for (position, role) in roles {
                let cell = &buffer[position];
                assert!(cell.symbol() != "─" && cell.fg == expected(role), "{name} {position:?}: {cell:?}");
            }
            assert_eq!(buffer[(1, 0)].fg, theme.border.fg.unwrap_or_default(), "{name}");
        }
    }
}
