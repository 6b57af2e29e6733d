//! Draws one frame of a recording as a PNG picture.

use super::cast_reader::Recording;
use super::frames::Frames;
use super::raster::canvas::Canvas;
use super::raster::{FramePainter, RasterOptions};
use png::{BitDepth, ColorType, Encoder, EncodingError};
use std::collections::HashMap;
use std::time::Duration;

/// Returns the frame that is shown at this time, or the last one.
///
/// # Errors
/// If the recording is too long or too large for a picture, or ends before this time, worded to follow the name of the file.
pub fn draw_png(recording: &Recording, time: Option<Duration>, options: RasterOptions) -> Result<Vec<u8>, String> {
    let played = Frames::play(recording)?;
    let index = match time {
        Some(time) if time > played.duration => {
            let (time, end) = (time.as_secs_f64(), played.duration.as_secs_f64());
            return Err(format!("it has no frame at {time:.1} seconds. Use a time up to {end:.1} seconds"));
        }
        Some(time) => played.index_at(time),
        None => played.frames.len() - 1,
    };
    let mut painter = FramePainter::new(recording, &played, options)?;
    painter.draw(&played.frames[index]);
    encode(painter.canvas()).map_err(|error| error.to_string())
}

/// Encodes a picture, with a palette if it has at most 256 colours.
fn encode(canvas: &Canvas) -> Result<Vec<u8>, EncodingError> {
    let (width, height) = canvas.size();
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_depth(BitDepth::Eight);
    let mut indices: HashMap<[u8; 3], u8> = HashMap::new();
    let mut palette = Vec::new();
    let indexed: Option<Vec<u8>> = canvas
        .pixels()
        .iter()
        .map(|pixel| {
            if let Some(index) = indices.get(pixel) {
                return Some(*index);
            }
            let index = u8::try_from(indices.len()).ok()?;
            indices.insert(*pixel, index);
            palette.extend(pixel);
            Some(index)
        })
        .collect();
    match indexed {
        Some(data) => {
            encoder.set_color(ColorType::Indexed);
            encoder.set_palette(palette);
            encoder.write_header()?.write_image_data(&data)?;
        }
        None => {
            encoder.set_color(ColorType::Rgb);
            encoder.write_header()?.write_image_data(canvas.pixels().as_flattened())?;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: RasterOptions = RasterOptions { has_window: false, scale: 1, padding: 14 };

    fn decode(bytes: &[u8]) -> (u32, u32, ColorType, Vec<[u8; 3]>) {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let kind = reader.info().color_type;
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut data).unwrap();
        (frame.width, frame.height, kind, data.as_chunks().0.to_vec())
    }

    #[test]
    fn a_picture_is_the_frame_of_its_time_with_and_without_a_palette() {
        let header = r##"{"version":2,"width":40,"height":2,"theme":{"fg":"#ffffff","bg":"#102030","palette":""}}"##;
        let second: String =
            (0..20).map(|index| format!("\\u001b[48;2;{0};9;{0}m \\u001b[38;2;{0};200;1mW", index * 12)).collect();
        let lines = format!("{header}\n[0, \"o\", \"\\u001b[?25la\"]\n[2, \"o\", \"\\r{second}\"]\n");
        let recording = Recording::parse(&lines).unwrap();
        let picture = |seconds: Option<u64>| draw_png(&recording, seconds.map(Duration::from_secs), OPTIONS);
        let (width, height, kind, pixels) = decode(&picture(Some(1)).unwrap());
        let size = (40 * 9 + 28, 2 * 18 + 28);
        assert_eq!((width, height, kind, pixels[0]), (size.0, size.1, ColorType::Indexed, [0x10, 0x20, 0x30]));
        let (.., kind, pixels) = decode(&picture(None).unwrap());
        assert_eq!(kind, ColorType::Rgb);
        assert_eq!(picture(Some(2)).unwrap(), picture(None).unwrap());
        // The fifth cell.
        assert_eq!(pixels[14 * size.0 as usize + 14 + 4 * 9], [2 * 12, 9, 2 * 12]);
        assert_eq!(picture(Some(6)).unwrap_err(), "it has no frame at 6.0 seconds. Use a time up to 2.0 seconds");
    }

    #[test]
    fn a_screen_that_is_too_large_is_an_error() {
        let recording = Recording::parse("{\"version\":2,\"width\":1000,\"height\":1000}\n").unwrap();
        assert!(draw_png(&recording, None, OPTIONS).unwrap_err().contains("is too large"));
    }
}
