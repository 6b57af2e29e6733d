//! Draws a recording as an animated SVG picture, whose text can be selected. It needs no script and no font of its own.

use super::cast::hex_colour as hex;
use super::cast_reader::Recording;
use super::frames::{END_TIME, Frame, Frames, Run, STANDARD_PADDING, parse_colour};
use super::glyph_shapes;
use std::collections::HashMap;
use std::fmt::Write;

/// Width and height of a cell and size of the font, in pixels.
pub(super) const CELL: (f64, f64) = (8.4, 18.0);
const FONT_SIZE: f64 = 14.0;
/// Distance from the top of a cell to the baseline of its text.
const BASELINE: f64 = 13.5;
/// Height of the title bar of the window.
const TITLE_HEIGHT: f64 = 34.0;
/// Fonts, the first one that the viewer has.
const FONTS: &str = "ui-monospace,'JetBrains Mono','Cascadia Code','SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";

/// Frames per row of the grid. A grid keeps offsets small; browsers round large ones.
const FRAMES_PER_ROW: usize = 64;
/// Space between the frames of the grid, which is never visible.
const FRAME_GAP: f64 = 20.0;

/// The character of horizontal lines.
const LINE: &str = "─";

/// How a recording is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SvgOptions {
    /// Draws a window with a title bar around the terminal.
    pub has_window: bool,
    /// Pixels around the terminal.
    pub padding: u16,
}

impl Default for SvgOptions {
    fn default() -> Self {
        Self { has_window: true, padding: STANDARD_PADDING }
    }
}

/// Returns the picture.
///
/// # Errors
/// If the recording is too long for a picture, worded to follow the name of the file.
pub fn draw_svg(recording: &Recording, options: SvgOptions) -> Result<String, String> {
    let played = Frames::play(recording)?;
    let background = parse_colour(&recording.theme.background);
    let (columns, rows) = played.size;
    let (width, height) = (f64::from(columns) * CELL.0, f64::from(rows) * CELL.1);
    let padding = f64::from(options.padding);
    let top = padding + if options.has_window { TITLE_HEIGHT } else { 0.0 };
    let (full_width, full_height) = (width + 2.0 * padding, height + top + padding);
    let title = recording.title.as_deref().unwrap_or("aye");
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{full_width:.0}\" height=\"{full_height:.0}\" \
         viewBox=\"0 0 {full_width:.1} {full_height:.1}\" role=\"img\" xml:space=\"preserve\"><title>{}</title>\n",
        escape(title)
    );
    let _ = writeln!(
        svg,
        "<style>g rect{{shape-rendering:crispEdges}}text{{font-family:{FONTS};font-size:{FONT_SIZE}px;white-space:pre;direction:ltr;unicode-bidi:bidi-override}}{}</style>",
        animation(&played, (width, height))
    );
    // On a page of the same colour, the edge of the window is a line.
    let window = if options.has_window { " rx=\"8\" stroke=\"#808080\" stroke-opacity=\".4\"" } else { "" };
    let _ = writeln!(svg, "<rect width=\"100%\" height=\"100%\" fill=\"{}\"{window}/>", hex(background));
    if options.has_window {
        draw_window(&mut svg, title, full_width, &recording.theme.text);
    }
    let mut row_ids: HashMap<&[Run], usize> = HashMap::new();
    let mut rows = String::new();
    let mut frames = String::new();
    for (index, frame) in played.frames.iter().enumerate() {
        let (x, y) = frame_position(index, (width, height));
        let _ = write!(frames, "<g transform=\"translate({x:.1} {y:.1})\">");
        for (y, row) in frame.rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
            let count = row_ids.len();
            let id = *row_ids.entry(row.as_slice()).or_insert_with(|| {
                let _ = write!(rows, "<g id=\"r{count}\">");
                row.iter().for_each(|run| draw_run(&mut rows, run));
                rows.push_str("</g>\n");
                count
            });
            let _ = write!(frames, "<use href=\"#r{id}\" y=\"{}\"/>", y as f64 * CELL.1);
        }
        draw_cursor(&mut frames, frame, &recording.theme.text);
        frames.push_str("</g>\n");
    }
    let _ = write!(
        svg,
        "<defs>{rows}</defs>\n<svg x=\"{padding}\" y=\"{top}\" width=\"{width:.1}\" height=\"{height:.1}\">\
         <g class=\"f\">\n{frames}</g></svg>\n</svg>\n"
    );
    Ok(svg)
}

/// Returns the position of a frame in the grid.
fn frame_position(index: usize, (width, height): (f64, f64)) -> (f64, f64) {
    let (column, row) = (index % FRAMES_PER_ROW, index / FRAMES_PER_ROW);
    (column as f64 * (width + FRAME_GAP), row as f64 * (height + FRAME_GAP))
}

/// Returns the style that shows one frame after the other, again and again.
fn animation(played: &Frames, size: (f64, f64)) -> String {
    if played.frames.len() == 1 {
        return String::new();
    }
    let total = (played.duration + END_TIME).as_secs_f64();
    let mut style = format!(".f{{animation:f {total:.3}s steps(1,end) infinite}}@keyframes f{{");
    for (index, frame) in played.frames.iter().enumerate() {
        let percent = frame.time.as_secs_f64() / total * 100.0;
        let (x, y) = frame_position(index, size);
        let _ = write!(style, "{percent:.4}%{{transform:translate(-{x:.1}px,-{y:.1}px)}}");
    }
    style.push('}');
    style
}

/// Draws the title bar of a window.
fn draw_window(svg: &mut String, title: &str, width: f64, colour: &str) {
    for (x, colour) in [(20, "#ff5f57"), (40, "#febc2e"), (60, "#28c840")] {
        let _ = write!(svg, "<circle cx=\"{x}\" cy=\"20\" r=\"6\" fill=\"{colour}\"/>");
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"25\" text-anchor=\"middle\" fill=\"{colour}\" opacity=\".6\">{}</text>",
        width / 2.0,
        escape(title)
    );
}

fn draw_cursor(svg: &mut String, frame: &Frame, colour: &str) {
    let Some((column, row)) = frame.cursor else { return };
    let (x, y) = (f64::from(column) * CELL.0, f64::from(row) * CELL.1);
    let _ = write!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{}\" height=\"{}\" fill=\"{colour}\" opacity=\".5\"/>",
        CELL.0, CELL.1
    );
}

/// Draws a run at the top left of its row. Lines and blocks are shapes, so that they join in every font.
fn draw_run(svg: &mut String, run: &Run) {
    let x = f64::from(run.column) * CELL.0;
    let width = f64::from(run.width) * CELL.0;
    if let Some(background) = run.style.background {
        let _ =
            write!(svg, "<rect x=\"{x:.1}\" width=\"{width:.1}\" height=\"{}\" fill=\"{}\"/>", CELL.1, hex(background));
    }
    // The part of the text that is drawn by the font, in pieces without shapes.
    let mut piece = (x, String::new(), 0.0);
    let mut column = x;
    let mut glyphs = run.glyphs().peekable();
    while let Some((_, cells, grapheme)) = glyphs.next() {
        // A line is one shape, so that it has no seams.
        let mut repeats = 1.0;
        while grapheme == LINE && glyphs.next_if(|(.., next)| *next == grapheme).is_some() {
            repeats += 1.0;
        }
        let glyph_width = f64::from(cells) * repeats * CELL.0;
        match glyph_shapes::find_shape(grapheme, column, (glyph_width, CELL.1)) {
            Some(shape) => {
                draw_text(svg, run, &piece);
                let _ = write!(svg, "{}", shape.to_element(&hex(run.style.colour), run.style.is_dim));
                piece = (column + glyph_width, String::new(), 0.0);
            }
            // A wide glyph gets its own piece, because a font may give it another width.
            None if cells > 1 => {
                draw_text(svg, run, &piece);
                draw_text(svg, run, &(column, grapheme.to_owned(), glyph_width));
                piece = (column + glyph_width, String::new(), 0.0);
            }
            None => {
                piece.1.push_str(grapheme);
                piece.2 += glyph_width;
            }
        }
        column += glyph_width;
    }
    draw_text(svg, run, &piece);
}

/// Draws text from `x` on with this width, whatever the font.
fn draw_text(svg: &mut String, run: &Run, (x, text, width): &(f64, String, f64)) {
    if text.trim().is_empty() && !run.style.is_underlined || text.is_empty() {
        return;
    }
    let style = &run.style;
    let _ = write!(
        svg,
        "<text x=\"{x:.1}\" y=\"{BASELINE}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{}\"",
        hex(style.colour)
    );
    for (is_set, attribute) in [
        (style.is_bold, " font-weight=\"bold\""),
        (style.is_italic, " font-style=\"italic\""),
        (style.is_underlined, " text-decoration=\"underline\""),
    ] {
        if is_set {
            svg.push_str(attribute);
        }
    }
    if style.is_dim {
        let _ = write!(svg, " opacity=\"{}\"", glyph_shapes::DIM_OPACITY);
    }
    let _ = write!(svg, ">{}</text>", escape(text));
}

/// Escapes a text for XML and HTML, without the characters that are not drawn.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars().filter(|c| is_drawable(*c)) {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns false for control characters, characters that XML forbids, and bidirectional controls, which would reorder the cells.
pub(super) fn is_drawable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
