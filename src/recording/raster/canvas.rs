//! A picture in memory, and masks that colour parts of it.

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PixelArea {
    pub x: usize,
    pub y: usize,
    pub width: usize,
    pub height: usize,
}

/// Coverage of the pixels of a glyph, from the top left of its cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct GlyphMask {
    pub left: i32,
    pub top: i32,
    pub width: usize,
    /// Coverage from 0 to 255, row by row.
    pub coverage: Vec<u8>,
}

impl GlyphMask {
    /// Returns a mask that begins at the top left of its cell, with the coverage (0 to 1) of each pixel's column and row.
    pub fn from_fn((width, height): (usize, usize), coverage: impl Fn(usize, usize) -> f32) -> Self {
        let pixels = (0..width * height).map(|index| quantize_coverage(coverage(index % width, index / width)));
        Self { left: 0, top: 0, width, coverage: pixels.collect() }
    }
}

/// Returns one of 16 steps from 0 to 255, so that a picture has few colours.
pub(super) fn quantize_coverage(coverage: f32) -> u8 {
    (coverage.clamp(0.0, 1.0) * 15.0).round() as u8 * 17
}

/// Returns the colour between two: the first one at 0, the second one at 255.
pub(super) fn mix_colours(from: [u8; 3], to: [u8; 3], share: u8) -> [u8; 3] {
    let mix = |from: u8, to: u8| {
        let sum = u32::from(from) * (255 - u32::from(share)) + u32::from(to) * u32::from(share);
        ((sum + 127) / 255) as u8
    };
    [mix(from[0], to[0]), mix(from[1], to[1]), mix(from[2], to[2])]
}

/// A picture. Drawing outside it is clipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize, colour: [u8; 3]) -> Self {
        Self { width, height, pixels: vec![colour; width * height] }
    }

    /// Returns width and height in pixels.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Returns red, green and blue of all pixels, row by row.
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.pixels
    }

    /// Fills a rectangle.
    pub(super) fn fill(&mut self, area: PixelArea, colour: [u8; 3]) {
        let end = (area.x + area.width).min(self.width);
        let start = area.x.min(end);
        for y in area.y..(area.y + area.height).min(self.height) {
            self.pixels[y * self.width + start..y * self.width + end].fill(colour);
        }
    }

    /// Colours a rectangle with this share, from 0 to 255.
    pub(super) fn tint(&mut self, area: PixelArea, colour: [u8; 3], share: u8) {
        let mask =
            GlyphMask { width: area.width, coverage: vec![share; area.width * area.height], ..GlyphMask::default() };
        self.draw_mask(&mask, (area.x, area.y), area, colour);
    }

    /// Colours the pixels of a mask whose cell is at this place, as far as they are inside `clip`.
    pub(super) fn draw_mask(&mut self, mask: &GlyphMask, (x, y): (usize, usize), clip: PixelArea, colour: [u8; 3]) {
        if mask.width == 0 {
            return;
        }
        let right = (clip.x + clip.width).min(self.width) as i64;
        let bottom = (clip.y + clip.height).min(self.height) as i64;
        for (row, line) in mask.coverage.chunks_exact(mask.width).enumerate() {
            let pixel_y = y as i64 + i64::from(mask.top) + row as i64;
            if pixel_y < clip.y as i64 || pixel_y >= bottom {
                continue;
            }
            for (column, coverage) in line.iter().enumerate().filter(|(_, coverage)| **coverage > 0) {
                let pixel_x = x as i64 + i64::from(mask.left) + column as i64;
                if pixel_x >= clip.x as i64 && pixel_x < right {
                    let pixel = &mut self.pixels[pixel_y as usize * self.width + pixel_x as usize];
                    *pixel = mix_colours(*pixel, colour, *coverage);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_clipped_and_mix_colours() {
        let mut canvas = Canvas::new(4, 2, [0; 3]);
        let mask =
            GlyphMask { left: -1, top: -1, width: 3, coverage: vec![255, 255, 255, 255, 255, 51, 255, 255, 255] };
        canvas.draw_mask(&mask, (0, 0), PixelArea { x: 0, y: 0, width: 9, height: 1 }, [100, 200, 50]);
        assert_eq!(canvas.pixels()[..4], [[100, 200, 50], [20, 40, 10], [0; 3], [0; 3]]);
        assert!(canvas.pixels()[4..].iter().all(|pixel| *pixel == [0; 3]));
        canvas.fill(PixelArea { x: 3, y: 1, width: 90, height: 90 }, [7; 3]);
        canvas.fill(PixelArea { x: 30, y: 30, width: 1, height: 1 }, [9; 3]);
        assert_eq!(canvas.pixels()[7], [7; 3]);
        assert!(!canvas.pixels().contains(&[9; 3]));
    }
}
