//! Styles of recorded cells in the colours of the terminal.

use super::depth::{ColourDepth, nearest_palette_colour};
use ratatui::style::{Color, Modifier, Style};

/// Returns the style of a cell with this text colour and background; `is_default_background` if the recording gives it none.
pub fn recorded_style(
    colour: [u8; 3],
    background: [u8; 3],
    is_default_background: bool,
    depth: ColourDepth,
    palette: &[[u8; 3]],
) -> Style {
    let map = |[red, green, blue]: [u8; 3]| {
        let colour = Color::Rgb(red, green, blue);
        match depth {
            ColourDepth::True | ColourDepth::None => colour,
            ColourDepth::Palette => nearest_palette_colour(colour),
            ColourDepth::Sixteen => nearest_standard_colour([red, green, blue], palette),
        }
    };
    match depth {
        ColourDepth::None if is_default_background => Style::new(),
        ColourDepth::None => Style::new().add_modifier(Modifier::REVERSED),
        ColourDepth::True | ColourDepth::Palette | ColourDepth::Sixteen => {
            Style::new().fg(map(colour)).bg(map(background))
        }
    }
}

/// Returns the one of the 16 colours of the terminal that is the nearest in the palette of the recording.
fn nearest_standard_colour(colour: [u8; 3], palette: &[[u8; 3]]) -> Color {
    let distance = |other: &[u8; 3]| -> u32 {
        colour.iter().zip(other).map(|(left, right)| u32::from(left.abs_diff(*right)).pow(2)).sum()
    };
    let nearest = (0..16_u8).zip(palette).min_by_key(|(_, other)| distance(other));
    nearest.map_or(Color::Reset, |(index, _)| Color::Indexed(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_the_depth() {
        let palette = [[0; 3], [205, 0, 0], [0, 205, 0], [229; 3]];
        let style = |depth| recorded_style([200, 10, 0], [1, 2, 3], false, depth, &palette);
        assert_eq!(style(ColourDepth::True), Style::new().fg(Color::Rgb(200, 10, 0)).bg(Color::Rgb(1, 2, 3)));
        assert_eq!(style(ColourDepth::Palette), Style::new().fg(Color::Indexed(160)).bg(Color::Indexed(16)));
        assert_eq!(style(ColourDepth::Sixteen), Style::new().fg(Color::Indexed(1)).bg(Color::Indexed(0)));
        assert_eq!(style(ColourDepth::None), Style::new().add_modifier(Modifier::REVERSED));
        assert_eq!(recorded_style([9; 3], [1; 3], true, ColourDepth::None, &palette), Style::new());
    }
}
