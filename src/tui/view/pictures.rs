//! Draws the visible rows of pictures: as half blocks, which are cells whose two colours are two pixels, or as placeholders
//! of a picture that the terminal stores.

use crate::tui::graphics::kitty;
use crate::tui::parts::pictures::{CellContent, MAX_KEPT, Pictures, Pixels};
use crate::tui::text::{PictureKey, PlacedLink};
use crate::tui::theme::Theme;
use crate::tui::theme::picture_colours::{PixelBlender, number_colour};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

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
    let (blender, y) = (PixelBlender::new(theme), 2 * usize::from(row));
    for (column, x) in (area.left()..area.right()).enumerate() {
        let (Some(upper), Some(lower)) = (pixels.pixel(column, y), pixels.pixel(column, y + 1)) else { continue };
        if upper[3] == 0 && lower[3] == 0 {
            continue;
        }
        let [upper, lower] = [upper, lower].map(|pixel| blender.blend(pixel));
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
        if let Some(symbol) = kitty::cell_symbol(row, column) {
            buffer[(x, area.y)].set_symbol(&symbol).set_fg(number_colour(id));
        }
    }
}
