//! Draws the visible rows of pictures as half blocks: cells whose two colours are two pixels.

use crate::tui::parts::pictures::Pictures;
use crate::tui::text::PlacedLink;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::style::Color;

/// The upper half of a cell in the text colour; the lower half has the background colour.
const UPPER_HALF: &str = "▀";

/// Draws the rows of pictures that are among these links. Cells whose pixels are transparent are left alone.
pub fn draw_pictures(pictures: &Pictures, links: &[PlacedLink], theme: &Theme, buffer: &mut Buffer) {
    if !pictures.is_on {
        return;
    }
    let background = background_rgb(theme);
    for link in links {
        let Some(picture) = &link.picture else { continue };
        let Some(pixels) = pictures.pixels(&picture.key) else { continue };
        let area = link.area.intersection(buffer.area);
        for x in area.left()..area.right() {
            let (column, row) = (usize::from(x - link.area.x), 2 * usize::from(picture.row));
            let (Some(upper), Some(lower)) = (pixels.pixel(column, row), pixels.pixel(column, row + 1)) else {
                continue;
            };
            let [upper, lower] = [upper, lower].map(|pixel| blend(pixel, background));
            let cell = &mut buffer[(x, area.y)];
            match upper == lower {
                true => cell.set_symbol(" "),
                false => cell.set_symbol(UPPER_HALF).set_fg(upper),
            };
            cell.set_bg(lower);
        }
    }
}

/// Returns the colour of a pixel on this background.
fn blend([red, green, blue, alpha]: [u8; 4], background: [u8; 3]) -> Color {
    let mix = |colour: u8, below: u8| {
        let (colour, below, alpha) = (u32::from(colour), u32::from(below), u32::from(alpha));
        ((colour * alpha + below * (255 - alpha) + 127) / 255) as u8
    };
    Color::Rgb(mix(red, background[0]), mix(green, background[1]), mix(blue, background[2]))
}

/// Returns the background of the theme; black or white if it is the terminal's own.
fn background_rgb(theme: &Theme) -> [u8; 3] {
    match theme.background.bg {
        Some(Color::Rgb(red, green, blue)) => [red, green, blue],
        _ if theme.is_light => [255; 3],
        _ => [0; 3],
    }
}
