//! Strips of pictures, which are written over the cells of a frame. A strip is written if the terminal does not show it yet, or if
//! one of its cells was written.

use super::cell_row::CellRow;
use super::frame_writer::FrameWriter;
use crate::tui::view::pictures::PlacedStrip;
use ratatui::buffer::{Buffer, Cell};

/// The strips of the frame on the terminal and of the next one.
#[derive(Default)]
pub(super) struct StripWriter {
    /// Strips that the terminal shows completely.
    shown: Vec<PlacedStrip>,
    /// True if the frame on the terminal has strips, also covered ones.
    has_any: bool,
    /// Strips of the next frame that are not covered, and whether each has to be written.
    next: Vec<(PlacedStrip, bool)>,
}

impl StripWriter {
    /// Starts a frame with these strips. Returns whether the rows of the terminal may be scrolled: terminals differ in whether
    /// that moves pictures.
    pub(super) fn start_frame(&mut self, strips: &[PlacedStrip], buffer: &Buffer, is_full: bool) -> bool {
        let had_any = std::mem::replace(&mut self.has_any, !strips.is_empty());
        if is_full {
            self.shown.clear();
        }
        // After a picture on the last row some terminals scroll.
        let is_visible = |strip: &&PlacedStrip| strip.area.bottom() < buffer.area.height && strip.is_uncovered(buffer);
        let shown = &self.shown;
        self.next.clear();
        self.next.extend(strips.iter().filter(is_visible).map(|strip| (strip.clone(), !shown.contains(strip))));
        !had_any && !self.has_any
    }

    /// Notes which strips of a row were erased when the row was written.
    pub(super) fn note_written_row(
        &mut self,
        y: u16,
        (old_row, old_cells): (&CellRow, &[Cell]),
        (new_row, new_cells): (&CellRow, &[Cell]),
    ) {
        let is_changed = |x: usize| !new_row.is_same_cell(new_cells, old_row, old_cells, x);
        for (strip, is_needed) in self.next.iter_mut().filter(|(strip, _)| strip.area.y == y) {
            let (left, right) = (usize::from(strip.area.left()), usize::from(strip.area.right()));
            // Cells after a glyph of uncertain width are written with it.
            let reaches = |x: usize| x + usize::from(new_row.slots[x].max_width) > left;
            *is_needed = *is_needed || (left..right).any(is_changed) || (0..left).any(|x| reaches(x) && is_changed(x));
        }
    }

    /// Writes the strips that have to be written, after the cells.
    pub(super) fn write_needed(&mut self, writer: &mut FrameWriter) {
        self.shown.clear();
        for (strip, is_needed) in self.next.drain(..) {
            if is_needed {
                writer.write_strip(strip.area.x, strip.area.y, strip.bytes());
            }
            self.shown.push(strip);
        }
    }
}

#[cfg(test)]
mod tests;
