//! Text of a rendered buffer, for tests.

use crate::text::width;
use ratatui::buffer::Buffer;

/// Returns the rows without trailing blanks. The second cell of a wide character is skipped, as on a terminal.
pub fn buffer_text(buffer: &Buffer) -> String {
    let area = buffer.area;
    let row = |y| {
        let (mut row, mut x) = (String::new(), area.left());
        while x < area.right() {
            let symbol = buffer[(x, y)].symbol();
            row.push_str(symbol);
            x += width::text_width(symbol).max(1) as u16;
        }
        row.trim_end().to_owned()
    };
    (area.top()..area.bottom()).map(row).collect::<Vec<_>>().join("\n")
}
