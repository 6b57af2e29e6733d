//! Pictures in iTerm2's protocol. Each row of cells is an image of its own, a strip, as in sixel graphics.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Returns the bytes that draw a strip, which is a PNG, at the cursor on this number of cells. The cursor does not move.
pub fn strip_bytes(png: &[u8], columns: u16) -> Vec<u8> {
    let size = png.len();
    let data = BASE64_STANDARD.encode(png);
    let keys = format!("inline=1;size={size};width={columns};height=1;preserveAspectRatio=0;doNotMoveCursor=1");
    format!("\x1b]1337;File={keys}:{data}\x07").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_fills_its_cells() {
        let expected =
            "\x1b]1337;File=inline=1;size=3;width=8;height=1;preserveAspectRatio=0;doNotMoveCursor=1:UE5H\x07";
        assert_eq!(strip_bytes(b"PNG", 8), expected.as_bytes());
    }
}
