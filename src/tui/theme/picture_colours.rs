//! Colours of the cells of pictures.

use super::Theme;
use ratatui::style::Color;

/// Mixes transparent pixels with the background of a theme.
pub struct PixelBlender {
    background: [u8; 3],
}

impl PixelBlender {
    pub fn new(theme: &Theme) -> Self {
        Self { background: theme.default_colours().1 }
    }

    /// Returns the colour of a pixel, of which these are red, green, blue and opacity.
    pub fn blend(&self, [red, green, blue, alpha]: [u8; 4]) -> Color {
        let mix = |colour: u8, below: u8| {
            let (colour, below, alpha) = (u32::from(colour), u32::from(below), u32::from(alpha));
            ((colour * alpha + below * (255 - alpha) + 127) / 255) as u8
        };
        let [red_below, green_below, blue_below] = self.background;
        Color::Rgb(mix(red, red_below), mix(green, green_below), mix(blue, blue_below))
    }
}

impl Theme {
    /// Returns the colours of text and background, each red, green and blue. They are black and white if the theme keeps those of
    /// the terminal.
    pub fn default_colours(&self) -> ([u8; 3], [u8; 3]) {
        let choose = |colour, dark, light| match colour {
            Some(Color::Rgb(red, green, blue)) => [red, green, blue],
            _ => [if self.is_light { light } else { dark }; 3],
        };
        (choose(self.text.fg, 0xe5, 0), choose(self.background.bg, 0, 255))
    }
}

/// Returns the colour that stands for the lower 24 bits of a number.
pub fn number_colour(number: u32) -> Color {
    let [_, red, green, blue] = number.to_be_bytes();
    Color::Rgb(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Themes;

    #[test]
    fn transparent_pixels_have_the_background_of_the_theme() {
        for (name, terminal_background) in [("dark", [0; 3]), ("light", [255; 3])] {
            let theme = Themes::bundled().choose_theme(name, None);
            let blender = PixelBlender::new(&theme);
            let below = match theme.background.bg {
                Some(Color::Rgb(red, green, blue)) => [red, green, blue],
                _ => terminal_background,
            };
            assert_eq!(blender.blend([9, 9, 9, 0]), Color::Rgb(below[0], below[1], below[2]));
            assert_eq!(blender.blend([1, 2, 3, 255]), Color::Rgb(1, 2, 3));
        }
        let half = PixelBlender { background: [0, 100, 200] }.blend([200, 100, 0, 128]);
        assert_eq!(half, Color::Rgb(100, 100, 100));
        assert_eq!(number_colour(0x0102_0304), Color::Rgb(2, 3, 4));
    }
}
