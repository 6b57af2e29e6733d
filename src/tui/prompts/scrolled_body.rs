//! The body of a prompt that is read to its end: its visible lines, and the number of lines below them.

use super::prompt::DrawnPrompt;
use crate::text::width;
use crate::tui::parts::frame::is_readable;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A body of `line_count` lines, scrolled so that the line with index `scroll` is the first visible one. A larger `scroll`
/// than possible shows the end.
pub struct ScrolledBody {
    pub line_count: usize,
    pub scroll: usize,
}

impl ScrolledBody {
    /// Draws the visible lines into the `inner` part of the prompt's `area`, each with `draw_line(index, row, buffer)`. If
    /// lines remain below, the last row shows their number instead of a line. Returns the visible part.
    pub fn draw(
        self,
        area: Rect,
        inner: Rect,
        buffer: &mut Buffer,
        theme: &Theme,
        draw_line: impl Fn(usize, Rect, &mut Buffer),
    ) -> DrawnPrompt {
        let Self { line_count, scroll } = self;
        let rows = usize::from(inner.height);
        let scroll = scroll.min(line_count.saturating_sub(rows));
        let hidden_lines = line_count.saturating_sub(scroll + rows);
        let shown_rows = if hidden_lines > 0 && rows > 1 { rows - 1 } else { rows };
        for (row, index) in inner.rows().zip(scroll..line_count).take(shown_rows) {
            draw_line(index, row, buffer);
        }
        if shown_rows < rows {
            let note = format!("{} more lines", hidden_lines + 1);
            let columns = usize::from(inner.width);
            buffer.set_stringn(inner.x, inner.bottom() - 1, width::fit_start(&note, columns), columns, theme.warning);
        }
        DrawnPrompt {
            scroll,
            visible_rows: rows,
            is_readable: is_readable(inner, area, buffer),
            is_at_end: hidden_lines == 0,
            ..DrawnPrompt::default()
        }
    }
}
