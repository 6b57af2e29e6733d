//! Draws a recording as an animated GIF picture. Each frame holds only the rectangle that changed.

mod palette;

use super::cast_reader::Recording;
use super::frames::{END_TIME, Frame, Frames, parse_colour};
use super::raster::{FramePainter, RasterOptions};
use gif::{DisposalMethod, Encoder, EncodingError, Repeat};
use palette::{ColourCounts, Palette};
use std::collections::HashSet;
use std::time::Duration;

/// Returns the picture, which is played again and again.
///
/// # Errors
/// If the recording is too long or too large for a picture, worded to follow the name of the file.
pub fn draw_gif(recording: &Recording, options: RasterOptions) -> Result<Vec<u8>, String> {
    let played = Frames::play(recording)?;
    let exact = theme_colours(recording, &played);
    let mut painter = FramePainter::new(recording, &played, options)?;
    let mut counts = ColourCounts::default();
    visit_changes(&mut painter, &played, |change| {
        counts.count(&change.pixels);
        Ok(())
    })?;
    let palette = Palette::choose(&counts, &exact);
    let size = painter.canvas().size();
    let describe = |error: EncodingError| error.to_string();
    // The largest size was checked when the frames were drawn.
    let mut encoder = Encoder::new(Vec::new(), size.0 as u16, size.1 as u16, &palette.bytes()).map_err(describe)?;
    encoder.set_repeat(Repeat::Infinite).map_err(describe)?;
    let end = centiseconds(played.duration + END_TIME);
    let mut waiting: Option<(u64, gif::Frame<'static>)> = None;
    visit_changes(&mut painter, &played, |change| {
        let time = centiseconds(change.time);
        if let Some((start, frame)) = waiting.take() {
            write_frame(&mut encoder, frame, time - start).map_err(describe)?;
        }
        waiting = Some((time, make_frame(change, &palette, &exact)));
        Ok(())
    })?;
    if let Some((start, frame)) = waiting {
        write_frame(&mut encoder, frame, end - start).map_err(describe)?;
    }
    encoder.into_inner().map_err(describe)
}

/// Pixels that changed.
struct Change {
    /// Time since the start.
    time: Duration,
    /// Left, top, width and height.
    area: [usize; 4],
    pixels: Vec<[u8; 3]>,
}

/// Draws all frames. The first change is the whole picture; frames that look like the one before are left out.
fn visit_changes(
    painter: &mut FramePainter,
    played: &Frames,
    mut visit: impl FnMut(Change) -> Result<(), String>,
) -> Result<(), String> {
    let (width, height) = painter.canvas().size();
    let mut shown: Vec<[u8; 3]> = Vec::new();
    for frame in &played.frames {
        let drawn = painter.draw(frame);
        let pixels = painter.canvas().pixels();
        let area = match shown.is_empty() {
            true => Some([0, 0, width, height]),
            false => drawn.and_then(|drawn| find_change(&shown, pixels, width, drawn)),
        };
        let Some(area) = area else { continue };
        let rows = area[1]..area[1] + area[3];
        let row_range = |row: usize| row * width + area[0]..row * width + area[0] + area[2];
        let changed: Vec<[u8; 3]> = rows.clone().flat_map(|row| pixels[row_range(row)].iter().copied()).collect();
        match shown.is_empty() {
            true => shown = pixels.to_vec(),
            false => rows.for_each(|row| shown[row_range(row)].copy_from_slice(&pixels[row_range(row)])),
        }
        visit(Change { time: frame.time, area, pixels: changed })?;
    }
    Ok(())
}

/// Returns the smallest rectangle of this area with all pixels that differ, if any do.
fn find_change(before: &[[u8; 3]], after: &[[u8; 3]], width: usize, area: [usize; 4]) -> Option<[usize; 4]> {
    let [left, top, columns, rows] = area;
    let mut found: Option<[usize; 4]> = None;
    for row in top..top + rows {
        let range = row * width + left..row * width + left + columns;
        let (old, new) = (&before[range.clone()], &after[range]);
        let Some(first) = old.iter().zip(new).position(|(old, new)| old != new) else { continue };
        let last = old.iter().zip(new).rposition(|(old, new)| old != new).unwrap_or(first);
        let [x, y, right, _] = found.unwrap_or([first, row, last, row]);
        found = Some([x.min(first), y, right.max(last), row]);
    }
    found.map(|[first, y, last, bottom]| [left + first, y, last - first + 1, bottom - y + 1])
}

fn make_frame(change: Change, palette: &Palette, exact: &HashSet<[u8; 3]>) -> gif::Frame<'static> {
    let [left, top, width, height] = change.area.map(|pixels| pixels as u16);
    let mut frame = gif::Frame { left, top, width, height, dispose: DisposalMethod::Keep, ..gif::Frame::default() };
    match palette.exact_indices(&change.pixels) {
        Some(indices) => frame.buffer = indices.into(),
        None => {
            // The frame has colours that the common palette does not have.
            let mut counts = ColourCounts::default();
            counts.count(&change.pixels);
            let mut own = Palette::choose(&counts, exact);
            frame.buffer = own.nearest_indices(&change.pixels).into();
            frame.palette = Some(own.bytes());
        }
    }
    frame
}

/// Writes a frame that is shown for this time in hundredths of a second.
fn write_frame(encoder: &mut Encoder<Vec<u8>>, mut frame: gif::Frame<'static>, time: u64) -> Result<(), EncodingError> {
    frame.delay = u16::try_from(time).unwrap_or(u16::MAX);
    encoder.write_frame(&frame)
}

fn centiseconds(time: Duration) -> u64 {
    u64::try_from((time.as_millis() + 5) / 10).unwrap_or(u64::MAX)
}

/// Returns the colours of text and backgrounds. Those between them, at the edges of glyphs, matter less.
fn theme_colours(recording: &Recording, played: &Frames) -> HashSet<[u8; 3]> {
    let of_frame = |frame: &Frame| -> Vec<[u8; 3]> {
        let styles = frame.rows.iter().flat_map(|row| row.iter()).map(|run| run.style);
        styles.flat_map(|style| [Some(style.colour), style.background]).flatten().collect()
    };
    let mut colours: HashSet<[u8; 3]> = played.frames.iter().flat_map(of_frame).collect();
    colours.extend([&recording.theme.text, &recording.theme.background].map(|colour| parse_colour(colour)));
    colours
}

#[cfg(test)]
mod tests;
