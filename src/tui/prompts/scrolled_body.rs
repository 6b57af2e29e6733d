//! The body of a prompt that is read to its end: its visible lines, and the number of lines above and below them.

use super::prompt::DrawnPrompt;
use crate::text::width;
use crate::tui::parts::frame::is_readable;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws a body of `line_count` lines into the `inner` part of the prompt's `area`, each with
/// `draw_line(index, row, buffer)`. The line with index `scroll` is the first one in the area; a larger `scroll` than
/// possible shows the end. If lines remain above or below, the first or last row shows their number instead of a line.
/// Returns the visible part: scrolling by less than its rows skips no line.
pub fn draw_scrolled_body(
    (line_count, scroll): (usize, usize),
    area: Rect,
    inner: Rect,
    buffer: &mut Buffer,
    theme: &Theme,
    draw_line: impl Fn(usize, Rect, &mut Buffer),
) -> DrawnPrompt {
    let rows = usize::from(inner.height);
    let scroll = scroll.min(line_count.saturating_sub(rows));
    let lines_below = line_count.saturating_sub(scroll + rows);
    let (has_note_above, has_note_below) = (scroll > 0 && rows > 2, lines_below > 0 && rows > 1);
    let columns = usize::from(inner.width);
    for (index, row) in (scroll..line_count).zip(inner.rows()) {
        // The row of a note hides one more line.
        let note = if has_note_above && row.y == inner.y {
            format!("{} lines above", scroll + 1)
        } else if has_note_below && row.y + 1 == inner.bottom() {
            format!("{} lines below", lines_below + 1)
        } else {
            draw_line(index, row, buffer);
            continue;
        };
        buffer.set_stringn(row.x, row.y, width::fit_start(&note, columns), columns, theme.warning);
    }
    DrawnPrompt {
        scroll,
        visible_rows: if line_count > rows && rows > 2 { rows - 1 } else { rows },
        is_readable: is_readable(inner, area, buffer),
        is_at_end: lines_below == 0,
        ..DrawnPrompt::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Draws a body at a scroll position. Returns the indices of the drawn lines, the notes, and the visible part.
    fn draw(line_count: usize, scroll: usize, size: (u16, u16)) -> (Vec<usize>, Vec<String>, DrawnPrompt) {
        let area = Rect::new(0, 0, size.0, size.1);
        let mut buffer = Buffer::empty(area);
        let theme = Theme::without_colours();
        let drawn = draw_scrolled_body((line_count, scroll), area, area, &mut buffer, &theme, |index, row, buffer| {
            buffer.set_stringn(row.x, row.y, format!("#{index}"), usize::from(row.width), theme.text);
        });
        let rows =
            area.rows().map(|row| row.columns().map(|cell| buffer[cell.as_position()].symbol()).collect::<String>());
        let (mut lines, mut notes) = (Vec::new(), Vec::new());
        for row in rows.map(|row| row.trim().to_owned()).filter(|row| !row.is_empty()) {
            match row.strip_prefix('#') {
                Some(index) => lines.push(index.parse().unwrap()),
                None => notes.push(row),
            }
        }
        (lines, notes, drawn)
    }

    #[test]
    fn the_lines_above_and_below_are_counted() {
        assert_eq!(draw(20, 0, (20, 8)).1, ["13 lines below"]);
        assert_eq!(draw(20, 4, (20, 8)).1, ["5 lines above", "9 lines below"]);
        assert_eq!(draw(20, 99, (20, 8)).1, ["13 lines above"]);
        assert!(draw(8, 3, (20, 8)).1.is_empty());
    }

    proptest! {
        #[test]
        fn pages_show_every_line_and_the_notes_count_the_others(line_count in 0usize..60, rows in 1u16..12) {
            let mut seen = std::collections::BTreeSet::new();
            let mut scroll = 0;
            loop {
                let (lines, notes, drawn) = draw(line_count, scroll, (20, rows));
                let counted: usize = notes.iter().map(|note| note.split(' ').next().unwrap().parse::<usize>().unwrap()).sum();
                if rows > 2 {
                    prop_assert_eq!(lines.len() + counted, line_count);
                }
                seen.extend(lines);
                if drawn.is_at_end {
                    break;
                }
                scroll = drawn.scroll + drawn.visible_rows.saturating_sub(1).max(1);
            }
            prop_assert!(rows == 2 || seen.len() == line_count, "{seen:?} of {line_count}");
        }
    }
}
