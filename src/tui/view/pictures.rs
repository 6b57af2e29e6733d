//! Draws the visible rows of pictures: as half blocks, which are cells whose two colours are two pixels, as placeholders
//! of a picture that the terminal stores, or as blank cells over which a strip of the picture is written.

use crate::tui::graphics::kitty;
use crate::tui::parts::pictures::{CellContent, MAX_KEPT, PictureStrips, Pictures, Pixels};
use crate::tui::text::{PictureKey, PlacedLink};
use crate::tui::theme::Theme;
use crate::tui::theme::picture_colours::{PixelBlender, number_colour};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use std::sync::Arc;

/// The upper half of a cell in the text colour; the lower half has the background colour.
const UPPER_HALF: &str = "▀";
/// A cell under a strip of a picture, which erases what the terminal shows there. It is not a space, so that its colour counts:
/// each strip has its own.
const UNDER_STRIP: &str = "\u{a0}";

/// A strip of a picture and its cells on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedStrip {
    pub area: Rect,
    pub strips: Arc<PictureStrips>,
    /// Number of the strip.
    pub row: u16,
}

impl PlacedStrip {
    /// Returns the bytes that draw the strip at the cursor.
    pub fn bytes(&self) -> &[u8] {
        self.strips.strip_bytes(self.row)
    }

    /// Returns whether all cells of the strip are in the buffer and none is covered.
    pub fn is_uncovered(&self, buffer: &Buffer) -> bool {
        let colour = self.colour();
        let is_under_strip =
            |position| buffer.cell(position).is_some_and(|cell| cell.symbol() == UNDER_STRIP && cell.fg == colour);
        self.area.positions().all(is_under_strip)
    }

    fn draw_cells(&self, buffer: &mut Buffer) {
        let colour = self.colour();
        for position in self.area.positions() {
            buffer[position].set_symbol(UNDER_STRIP).set_fg(colour);
        }
    }

    fn colour(&self) -> Color {
        number_colour(self.strips.strip_number(self.row))
    }
}

/// Draws the rows of pictures that are among these links, of at most [`MAX_KEPT`] pictures, and returns the strips that are to be
/// written over their cells. Cells whose pixels are all transparent are left alone; others are blended with the background of the
/// theme.
pub fn draw_pictures(
    pictures: &Pictures,
    links: &[PlacedLink],
    theme: &Theme,
    buffer: &mut Buffer,
) -> Vec<PlacedStrip> {
    let mut placed = Vec::new();
    if pictures.protocol.is_none() {
        return placed;
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
            // A strip cannot be cut.
            Some(CellContent::Strips(strips)) if area.width == picture.key.columns && picture.row < strips.count() => {
                let strip = PlacedStrip { area, strips, row: picture.row };
                strip.draw_cells(buffer);
                placed.push(strip);
            }
            Some(CellContent::Strips(_)) | None => {}
        }
    }
    placed
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
    let (mut symbol, colour) = (String::new(), number_colour(id));
    for (column, x) in (0..).zip(area.left()..area.right()) {
        if kitty::write_cell_symbol(row, column, &mut symbol) {
            buffer[(x, area.y)].set_symbol(&symbol).set_fg(colour);
        }
    }
}
