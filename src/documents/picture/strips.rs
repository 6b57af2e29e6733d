//! Cuts pictures into strips, one for each row of cells of a terminal. Runs only in the process that reads documents, apart from
//! the functions about its output.

use super::scaling::{decode, encode_png, scale};
use super::sixel;
use crate::chat::image::{StripFormat, StripLayout};
use image::{DynamicImage, GenericImage as _, RgbaImage};

/// Bytes before a strip in the output: its length.
const LENGTH_BYTES: usize = 4;

/// Returns the strips of a picture, each after its length.
///
/// # Errors
/// Why there are none, worded to follow a colon.
pub(in crate::documents) fn encode_output(bytes: &[u8], layout: StripLayout) -> Result<Vec<u8>, String> {
    let (picture, _) = decode(bytes)?;
    let scaled = scale(picture, layout.picture).into_rgba8();
    let mut all = RgbaImage::new(layout.strip.0, layout.strip.1 * layout.count);
    all.copy_from(&scaled, 0, 0).map_err(|error| error.to_string())?;
    let strips = match layout.format {
        StripFormat::Png => encode_pngs(&all, layout)?,
        StripFormat::Sixel => sixel::encode_strips(&all, layout.strip.1)?,
    };
    let with_length = |strip: &Vec<u8>| [&(strip.len() as u32).to_be_bytes()[..], strip].concat();
    Ok(strips.iter().flat_map(with_length).collect())
}

fn encode_pngs(all: &RgbaImage, layout: StripLayout) -> Result<Vec<Vec<u8>>, String> {
    let (width, height) = layout.strip;
    let encode = |number: u32| {
        let strip = image::imageops::crop_imm(all, 0, number * height, width, height).to_image();
        let is_opaque = strip.pixels().all(|pixel| pixel.0[3] == u8::MAX);
        let strip = DynamicImage::from(strip);
        encode_png(&if is_opaque { strip.into_rgb8().into() } else { strip })
    };
    (0..layout.count).map(encode).collect()
}

/// Returns the maximum bytes of the output.
pub(in crate::documents) fn max_output(layout: StripLayout) -> u64 {
    let count = u64::from(layout.count);
    let strips = match layout.format {
        // A PNG may be slightly larger than its pixels.
        StripFormat::Png => count * (u64::from(layout.strip.0 + 1) * u64::from(layout.strip.1) * 5 + 1000),
        StripFormat::Sixel => sixel::MAX_BYTES as u64,
    };
    strips + count * LENGTH_BYTES as u64
}

/// Splits the output into strips. `None` if it is damaged.
pub(super) fn split_output(mut output: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut strips = Vec::new();
    while !output.is_empty() {
        let (length, rest) = output.split_first_chunk::<LENGTH_BYTES>()?;
        let (strip, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        strips.push(strip.to_vec());
        output = rest;
    }
    Some(strips)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{ImageFormat, Rgba};
    use std::io::Cursor;

    /// A picture whose rows are red, green, blue, and so on.
    fn rows_png(width: u32, height: u32) -> Vec<u8> {
        let colours = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]];
        let picture = RgbaImage::from_fn(width, height, |_, y| Rgba(colours[y as usize % 3]));
        let mut png = Cursor::new(Vec::new());
        DynamicImage::from(picture).write_to(&mut png, ImageFormat::Png).unwrap();
        png.into_inner()
    }

    #[test]
    fn a_picture_is_cut_into_pngs_and_padded_with_transparent_pixels() {
        let layout = StripLayout { format: StripFormat::Png, picture: (3, 5), strip: (4, 2), count: 3 };
        let output = encode_output(&rows_png(3, 5), layout).unwrap();
        assert!(output.len() as u64 <= max_output(layout));
        let strips = split_output(&output).unwrap();
        let pixels: Vec<RgbaImage> =
            strips.iter().map(|strip| image::load_from_memory(strip).unwrap().into_rgba8()).collect();
        assert!(pixels.iter().all(|strip| strip.dimensions() == (4, 2)));
        assert_eq!(pixels[0].get_pixel(0, 1).0, [0, 255, 0, 255]);
        assert_eq!(pixels[1].get_pixel(2, 0).0, [0, 0, 255, 255]);
        assert_eq!(pixels[2].get_pixel(2, 0).0, [0, 255, 0, 255]);
        assert_eq!((pixels[0].get_pixel(3, 0).0[3], pixels[2].get_pixel(0, 1).0[3]), (0, 0));
    }

    #[test]
    fn a_picture_is_cut_into_sixels() {
        let layout = StripLayout { format: StripFormat::Sixel, picture: (2, 3), strip: (2, 2), count: 2 };
        let strips = split_output(&encode_output(&rows_png(2, 3), layout).unwrap()).unwrap();
        let texts: Vec<&str> = strips.iter().map(|strip| std::str::from_utf8(strip).unwrap()).collect();
        // Red above green; then blue above nothing.
        assert_eq!(texts, ["\"1;1;2;2#1;2;0;100;0#2;2;100;0;0#1AA$#2@@", "\"1;1;2;2#0;2;0;0;100#0@@"]);
    }

    #[test]
    fn damaged_output_is_no_strips() {
        assert_eq!(split_output(b""), Some(Vec::new()));
        assert_eq!(split_output(b"\0\0\0\x02ab\0\0\0\0"), Some(vec![b"ab".to_vec(), Vec::new()]));
        for damaged in [&b"\0\0\0"[..], b"\0\0\0\x02a", b"\xff\xff\xff\xffabc"] {
            assert_eq!(split_output(damaged), None, "{damaged:?}");
        }
    }
}
