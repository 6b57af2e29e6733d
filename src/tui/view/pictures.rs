//! Draws the visible rows of pictures: as half blocks, which are cells whose two colours are two pixels, or as placeholders
//! of a picture that the terminal stores.

use crate::tui::kitty_graphics;
use crate::tui::parts::pictures::{CellContent, MAX_KEPT, Pictures, Pixels};
use crate::tui::text::{PictureKey, PlacedLink};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;

/// The upper half of a cell in the text colour; the lower half has the background colour.
const UPPER_HALF: &str = "▀";

/// Draws the rows of pictures that are among these links, of at most [`MAX_KEPT`] pictures. Cells whose pixels are all
/// transparent are left alone; others are blended with the background of the theme.
pub fn draw_pictures(pictures: &Pictures, links: &[PlacedLink], theme: &Theme, buffer: &mut Buffer) {
    if pictures.protocol.is_none() {
        return;
    }
    let mut drawn: Vec<&PictureKey> = Vec::new();
    for link in links {
        let Some(picture) = &link.picture else { continue };
        if !drawn.contains(&&*picture.key) {
            if drawn.len() == MAX_KEPT {
                continue;
            }
            drawn.push(&picture.key);
        }
        let area = link.area.intersection(buffer.area);
        match pictures.content(&picture.key) {
            Some(CellContent::Pixels(pixels)) => draw_blocks(&pixels, picture.row, area, theme, buffer),
            Some(CellContent::Stored(id)) => draw_placeholders(id, picture.row, area, buffer),
            None => {}
        }
    }
}

/// Draws a row of a picture as half blocks.
fn draw_blocks(pixels: &Pixels, row: u16, area: Rect, theme: &Theme, buffer: &mut Buffer) {
    let (background, y) = (background_rgb(theme), 2 * usize::from(row));
    for (column, x) in (area.left()..area.right()).enumerate() {
        let (Some(upper), Some(lower)) = (pixels.pixel(column, y), pixels.pixel(column, y + 1)) else { continue };
        if upper[3] == 0 && lower[3] == 0 {
            continue;
        }
        let [upper, lower] = [upper, lower].map(|pixel| blend(pixel, background));
        let cell = &mut buffer[(x, area.y)];
        match upper == lower {
            true => cell.set_symbol(" "),
            false => cell.set_symbol(UPPER_HALF).set_fg(upper),
        };
        cell.set_bg(lower);
    }
}

/// Draws a row of a picture that the terminal stores.
fn draw_placeholders(id: u32, row: u16, area: Rect, buffer: &mut Buffer) {
    for (column, x) in (0..).zip(area.left()..area.right()) {
        if let Some(symbol) = kitty_graphics::cell_symbol(row, column) {
            buffer[(x, area.y)].set_symbol(&symbol).set_fg(kitty_graphics::cell_colour(id));
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
