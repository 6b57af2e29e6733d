//! The picture the terminal has, and the bytes that turn it into the next one.

use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};
use crossterm::{cursor, queue};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::io;

/// What the terminal shows.
#[derive(Default)]
pub struct Canvas {
    shown: Buffer,
    cursor: Option<Position>,
    /// Kept, so that a frame allocates nothing.
    spare: Buffer,
    /// Nothing is known of what the terminal shows.
    unknown: bool,
}

impl Canvas {
    /// An empty picture of this size to draw into.
    pub fn blank(&mut self, width: u16, height: u16) -> Buffer {
        let mut buffer = std::mem::take(&mut self.spare);
        buffer.resize(Rect::new(0, 0, width, height));
        buffer.reset();
        buffer
    }

    /// The terminal may show anything: the next frame goes out whole.
    pub fn forget(&mut self) {
        self.unknown = true;
    }

    /// The bytes that make the terminal show this picture: only cells that changed, none where none did. The
    /// terminal shows them all at once, where it knows how.
    pub fn frame(&mut self, next: Buffer, cursor: Option<Position>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let whole = self.unknown || self.shown.area != next.area;
        if whole {
            self.shown = Buffer::empty(next.area);
        }
        let cells = self.shown.diff(&next);
        if whole || !cells.is_empty() || cursor != self.cursor {
            queue!(bytes, BeginSynchronizedUpdate)?;
            if whole || !cells.is_empty() {
                queue!(bytes, cursor::Hide)?;
            }
            if whole {
                queue!(bytes, Clear(ClearType::All))?;
            }
            if !cells.is_empty() {
                CrosstermBackend::new(&mut bytes).draw(cells.into_iter())?;
            }
            match cursor {
                Some(at) => queue!(bytes, cursor::MoveTo(at.x, at.y), cursor::Show)?,
                None => queue!(bytes, cursor::Hide)?,
            }
            queue!(bytes, EndSynchronizedUpdate)?;
        }
        self.unknown = false;
        self.cursor = cursor;
        self.spare = std::mem::replace(&mut self.shown, next);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    fn draw(canvas: &mut Canvas, text: &str) -> String {
        let mut buffer = canvas.blank(20, 2);
        buffer.set_string(0, 0, text, Style::new());
        let bytes = canvas.frame(buffer, Some(Position::new(3, 1))).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn r61_a_frame_that_changes_nothing_sends_nothing() {
        let mut canvas = Canvas::default();
        assert!(draw(&mut canvas, "hello").contains("hello"));
        assert_eq!(draw(&mut canvas, "hello"), "");
    }

    #[test]
    fn only_the_changed_cells_go_out_and_as_one() {
        let mut canvas = Canvas::default();
        draw(&mut canvas, "spinner a");
        let bytes = draw(&mut canvas, "spinner b");
        assert!(bytes.contains('b') && !bytes.contains("spinner"), "{bytes:?}");
        assert!(bytes.starts_with("\x1b[?2026h") && bytes.ends_with("\x1b[?2026l"), "{bytes:?}");
        assert!(bytes.len() < 100, "{} bytes for one cell", bytes.len());
    }

    #[test]
    fn after_a_stop_everything_is_drawn_anew() {
        let mut canvas = Canvas::default();
        draw(&mut canvas, "hello");
        canvas.forget();
        assert!(draw(&mut canvas, "hello").contains("hello"));
    }
}
