//! Colour support of the terminal, and its palette of 256 colours.

use crate::text::terminal_palette::{STEPS, palette_rgb};
use ratatui::style::Color;

/// Colour support of the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColourDepth {
    /// 24-bit colour.
    #[default]
    True,
    /// The palette of 256 colours.
    Palette,
    /// The terminal's own 16 colours.
    Sixteen,
    /// No colours: `NO_COLOR` is set, or the terminal is dumb.
    None,
}

impl ColourDepth {
    /// Reads the colour support from the environment, given as a function from name to value.
    pub fn from_environment(variable: &dyn Fn(&str) -> Option<String>) -> ColourDepth {
        let non_empty = |name| variable(name).filter(|value| !value.is_empty());
        let term = non_empty("TERM").unwrap_or_default();
        let colours = non_empty("COLORTERM").unwrap_or_default();
        match () {
            () if non_empty("NO_COLOR").is_some() || term == "dumb" => ColourDepth::None,
            () if colours == "truecolor" || colours == "24bit" || term.contains("direct") => ColourDepth::True,
            () if term.contains("256color") => ColourDepth::Palette,
            () => ColourDepth::Sixteen,
        }
    }
}

/// Greys after the colour cube.
const GREYS: std::ops::RangeInclusive<u8> = 232..=255;

/// Returns the nearest colour of the palette's cube and greys. The first sixteen are configured by the user and
/// unknown.
pub(super) fn nearest_palette_colour(colour: Color) -> Color {
    let Color::Rgb(red, green, blue) = colour else { return colour };
    let distance = |candidate: [u8; 3]| -> i32 {
        let weighted = [(red, candidate[0], 2), (green, candidate[1], 4), (blue, candidate[2], 3)];
        weighted.into_iter().map(|(a, b, weight)| weight * (i32::from(a) - i32::from(b)).pow(2)).sum()
    };
    // The distance is a sum over the channels, so the nearest colour of the cube has the nearest step of each.
    let nearest_step = |value: u8| (0..6u8).min_by_key(|step| STEPS[usize::from(*step)].abs_diff(value)).unwrap_or(0);
    let in_cube = 16 + 36 * nearest_step(red) + 6 * nearest_step(green) + nearest_step(blue);
    let nearest = std::iter::once(in_cube).chain(GREYS).min_by_key(|index| distance(palette_rgb(*index)));
    nearest.map_or(colour, Color::Indexed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_colour_of_the_palette_is_nearer(colour: [u8; 3]) {
            let [red, green, blue] = colour;
            let Color::Indexed(index) = nearest_palette_colour(Color::Rgb(red, green, blue)) else { panic!() };
            let distance = |index: u8| -> i32 {
                let weighted = colour.into_iter().zip(palette_rgb(index)).zip([2, 4, 3]);
                weighted.map(|((a, b), weight)| weight * (i32::from(a) - i32::from(b)).pow(2)).sum()
            };
            prop_assert_eq!(distance(index), (16..=255).map(distance).min().unwrap());
        }
    }

    #[track_caller]
    fn assert_depth(variables: &[(&str, &str)], expected: ColourDepth) {
        let lookup = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        assert_eq!(ColourDepth::from_environment(&lookup), expected, "{variables:?}");
    }

    #[test]
    fn reads_the_depth_from_the_environment() {
        assert_depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], ColourDepth::True);
        assert_depth(&[("TERM", "xterm-256color")], ColourDepth::Palette);
        assert_depth(&[("TERM", "xterm-direct")], ColourDepth::True);
        assert_depth(&[("TERM", "linux")], ColourDepth::Sixteen);
        assert_depth(&[], ColourDepth::Sixteen);
        assert_depth(&[("TERM", "dumb")], ColourDepth::None);
        assert_depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")], ColourDepth::None);
        assert_depth(&[("TERM", "xterm-256color"), ("NO_COLOR", "")], ColourDepth::Palette);
    }

    #[test]
    fn maps_colours_to_the_nearest_of_the_palette() {
        assert_eq!(nearest_palette_colour(Color::Rgb(0, 0, 0)), Color::Indexed(16));
        assert_eq!(nearest_palette_colour(Color::Rgb(255, 255, 255)), Color::Indexed(231));
        assert_eq!(nearest_palette_colour(Color::Rgb(94, 136, 176)), Color::Indexed(67));
        assert_eq!(nearest_palette_colour(Color::Rgb(29, 29, 29)), Color::Indexed(234));
        assert_eq!(nearest_palette_colour(Color::Red), Color::Red);
    }
}
