//! Pictures as sixel graphics. Each row of cells is an image of its own, a strip, which the terminal draws over its cells.
//!
//! A terminal keeps no sixel graphics that could be drawn again at another place, and some do not scroll them with the text. A
//! picture of which only a part is visible is drawn by its visible strips, so that nothing is cropped or encoded again.
//! Crates that draw whole pictures, such as `ratatui-image`, put the transmission into one cell and cannot do that.

/// Starts an image whose pixels have the proportion of the terminal's, and of which those without colour are left as they are.
const START: &[u8] = b"\x1bP0;1;0q";
const END: &[u8] = b"\x1b\\";

/// Returns the bytes that draw a strip at the cursor.
pub fn strip_bytes(sixels: &[u8]) -> Vec<u8> {
    [START, sixels, END].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_is_a_control_string() {
        assert_eq!(strip_bytes(b"\"1;1;2;6#0;2;100;0;0#0!2~"), b"\x1bP0;1;0q\"1;1;2;6#0;2;100;0;0#0!2~\x1b\\");
    }
}
