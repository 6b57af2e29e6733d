//! The fixed colours of a terminal with 256 colours. The first 16 are configured by the user.

/// Steps of the colour cube.
pub const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Returns red, green and blue of a colour of the cube or of the greys, which follow it: 16 to 255.
pub fn palette_rgb(index: u8) -> [u8; 3] {
    match index.saturating_sub(16) {
        cube @ 0..216 => [cube / 36, cube / 6 % 6, cube % 6].map(|step| STEPS[usize::from(step)]),
        grey => [8 + 10 * (grey - 216); 3],
    }
}
