//! Draws frames of a recording as pixels, with a bundled font.

pub mod canvas;
mod glyphs;
mod shape_masks;
mod system_fonts;

use super::cast_reader::Recording;
use super::frames::{Frame, Frames, Run, STANDARD_PADDING, parse_colour};
use canvas::{Canvas, PixelArea, mix_colours};
use glyphs::{GlyphSource, GlyphStyle};
use shape_masks::CellGeometry;
use std::path::PathBuf;
use unicode_segmentation::UnicodeSegmentation;

/// Width and height of a cell in pixels at scale 1.
const CELL: (usize, usize) = (9, 18);
/// Height of the title bar of the window.
const TITLE_HEIGHT: usize = 34;
/// Maximum pixels of a picture.
const MAX_PIXELS: usize = 40_000_000;
/// Share of the text's colour in dim text and in the cursor, of 255.
const DIM_SHARE: u8 = 153;
const CURSOR_SHARE: u8 = 128;
/// Share of the grey edge of the window.
const EDGE: ([u8; 3], u8) = ([128; 3], 102);
/// Buttons of the window.
const BUTTONS: [[u8; 3]; 3] = [[0xff, 0x5f, 0x57], [0xfe, 0xbc, 0x2e], [0x28, 0xc8, 0x40]];

/// How frames are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RasterOptions {
    /// Draws a window with a title bar around the terminal.
    pub has_window: bool,
    /// Pixels per pixel of the usual size.
    pub scale: u8,
    /// Pixels of the usual size around the terminal.
    pub padding: u16,
}

impl Default for RasterOptions {
    fn default() -> Self {
        Self { has_window: true, scale: 1, padding: STANDARD_PADDING }
    }
}

/// Draws the frames of one recording, each over the one before.
pub struct FramePainter {
    canvas: Canvas,
    glyphs: GlyphSource,
    cell: CellGeometry,
    /// Left and upper edge of the terminal.
    origin: (usize, usize),
    columns: usize,
    text: [u8; 3],
    background: [u8; 3],
    /// The frame on the canvas.
    shown: Option<Frame>,
}

impl FramePainter {
    /// Uses fonts of the system for characters that the bundled font does not have.
    ///
    /// # Errors
    /// If the picture is too large, worded to follow the name of the file.
    pub fn new(recording: &Recording, frames: &Frames, options: RasterOptions) -> Result<Self, String> {
        Self::with_fonts(recording, frames, options, system_fonts::font_folders())
    }

    fn with_fonts(
        recording: &Recording,
        frames: &Frames,
        options: RasterOptions,
        folders: Vec<PathBuf>,
    ) -> Result<Self, String> {
        let scale = usize::from(options.scale.max(1));
        let cell = CellGeometry { width: CELL.0 * scale, height: CELL.1 * scale, line: scale };
        let padding = usize::from(options.padding) * scale;
        let title_height = if options.has_window { TITLE_HEIGHT * scale } else { 0 };
        let (columns, rows) = (usize::from(frames.size.0), usize::from(frames.size.1));
        let (width, height) = (columns * cell.width + 2 * padding, rows * cell.height + 2 * padding + title_height);
        if width * height > MAX_PIXELS || width.max(height) > usize::from(u16::MAX) {
            return Err(format!(
                "a picture of {width}x{height} pixels is too large; the limit is {} million. Record a smaller terminal",
                MAX_PIXELS / 1_000_000
            ));
        }
        let (text, background) = (parse_colour(&recording.theme.text), parse_colour(&recording.theme.background));
        let mut painter = Self {
            canvas: Canvas::new(width, height, background),
            glyphs: GlyphSource::new(cell, folders),
            cell,
            origin: (padding, padding + title_height),
            columns,
            text,
            background,
            shown: None,
        };
        if options.has_window {
            painter.draw_window(recording.title.as_deref().unwrap_or("aye"), scale);
        }
        Ok(painter)
    }

    /// Returns the picture of the last frame that was drawn.
    pub fn canvas(&self) -> &Canvas {
        &self.canvas
    }

    /// Draws a frame, and returns the pixels that may have changed: left, top, width and height.
    pub fn draw(&mut self, frame: &Frame) -> Option<[usize; 4]> {
        let before = self.shown.take();
        let count = frame.rows.len().max(before.as_ref().map_or(0, |before| before.rows.len()));
        let mut changed: Option<(usize, usize)> = None;
        for row in 0..count {
            let cursor_of = |frame: &Frame| frame.cursor.filter(|(_, cursor_row)| usize::from(*cursor_row) == row);
            let is_same = before.as_ref().is_some_and(|before| {
                before.rows.get(row) == frame.rows.get(row) && cursor_of(before) == cursor_of(frame)
            });
            if !is_same {
                let runs = frame.rows.get(row).map(|runs| runs.as_slice()).unwrap_or_default();
                self.draw_row(row, runs, cursor_of(frame).map(|(column, _)| column));
                changed = Some((changed.map_or(row, |(first, _)| first), row + 1));
            }
        }
        self.shown = Some(frame.clone());
        let (first, end) = changed?;
        let top = self.origin.1 + first * self.cell.height;
        Some([self.origin.0, top, self.columns * self.cell.width, (end - first) * self.cell.height])
    }

    fn draw_row(&mut self, row: usize, runs: &[Run], cursor: Option<u16>) {
        let area = PixelArea {
            x: self.origin.0,
            y: self.origin.1 + row * self.cell.height,
            width: self.columns * self.cell.width,
            height: self.cell.height,
        };
        self.canvas.fill(area, self.background);
        let cells = |column: u16, width: u16| PixelArea {
            x: area.x + usize::from(column) * self.cell.width,
            width: usize::from(width) * self.cell.width,
            ..area
        };
        for run in runs {
            if let Some(background) = run.style.background {
                self.canvas.fill(cells(run.column, run.width), background);
            }
        }
        for run in runs {
            let style = run.style;
            let behind = style.background.unwrap_or(self.background);
            let colour = if style.is_dim { mix_colours(behind, style.colour, DIM_SHARE) } else { style.colour };
            for (column, width, grapheme) in run.glyphs() {
                let glyph_style = GlyphStyle { is_bold: style.is_bold, is_italic: style.is_italic, cells: width };
                let mask = self.glyphs.draw(grapheme, glyph_style);
                self.canvas.draw_mask(&mask, (cells(column, width).x, area.y), area, colour);
            }
            if style.is_underlined {
                let line = self.cell.line;
                let underline = cells(run.column, run.width);
                self.canvas
                    .fill(PixelArea { y: area.y + self.cell.height - 2 * line, height: line, ..underline }, colour);
            }
        }
        if let Some(column) = cursor {
            self.canvas.tint(cells(column, 1), self.text, CURSOR_SHARE);
        }
    }

    /// Draws the edge, the buttons and the title.
    fn draw_window(&mut self, title: &str, scale: usize) {
        let (width, height) = self.canvas.size();
        let edge = mix_colours(self.background, EDGE.0, EDGE.1);
        for (x, y, width, height) in [
            (0, 0, width, scale),
            (0, height - scale, width, scale),
            (0, 0, scale, height),
            (width - scale, 0, scale, height),
        ] {
            self.canvas.fill(PixelArea { x, y, width, height }, edge);
        }
        let everything = PixelArea { x: 0, y: 0, width, height };
        let size = 12 * scale;
        for (index, colour) in BUTTONS.into_iter().enumerate() {
            let radius = size as f32 / 2.0;
            let circle = canvas::GlyphMask::from_fn((size, size), |x, y| {
                radius + 0.5 - (x as f32 + 0.5 - radius).hypot(y as f32 + 0.5 - radius)
            });
            self.canvas.draw_mask(&circle, (14 * scale + index * 20 * scale, 14 * scale), everything, colour);
        }
        // The title is in the middle, as far as there is room next to the buttons.
        let available = (width / self.cell.width).saturating_sub(20);
        let graphemes: Vec<(u16, String)> = title
            .graphemes(true)
            .filter(|grapheme| !grapheme.chars().any(char::is_control))
            .map(|grapheme| (ratatui::buffer::CellWidth::cell_width(grapheme), grapheme.to_owned()))
            .scan(0, |used, (cells, grapheme)| {
                *used += usize::from(cells);
                (*used <= available).then_some((cells, grapheme))
            })
            .collect();
        let cells: usize = graphemes.iter().map(|(cells, _)| usize::from(*cells)).sum();
        let mut x = (width - cells * self.cell.width) / 2;
        let colour = mix_colours(self.background, self.text, DIM_SHARE);
        for (cells, grapheme) in graphemes {
            let mask = self.glyphs.draw(&grapheme, GlyphStyle { is_bold: false, is_italic: false, cells });
            self.canvas.draw_mask(&mask, (x, 11 * scale), everything, colour);
            x += usize::from(cells) * self.cell.width;
        }
    }
}

#[cfg(test)]
mod tests;
