//! What a buffer shows, as a test reads it.

use crate::tui::text::width;
use ratatui::buffer::Buffer;

/// The rows without the blanks at their ends. The cells behind a wide letter are left out, as on a screen.
pub fn picture(buffer: &Buffer) -> String {
    let area = buffer.area;
    let row = |y| {
        let (mut row, mut x) = (String::new(), area.left());
        while x < area.right() {
            let symbol = buffer[(x, y)].symbol();
            row.push_str(symbol);
            x += width::width(symbol).max(1) as u16;
        }
        row.trim_end().to_owned()
    };
    (area.top()..area.bottom()).map(row).collect::<Vec<_>>().join("\n")
}
