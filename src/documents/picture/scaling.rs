//! Decodes, scales and encodes pictures. Runs only in the process that reads documents.

#[cfg(feature = "clipboard")]
use crate::chat::image::{MAX_PIXELS, MAX_SOURCE_BYTES};
use crate::chat::image::{MAX_SENT_BYTES, MAX_SENT_SIDE, fit_within};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType as PngFilter, PngEncoder};
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageEncoder, ImageFormat, ImageReader, Limits, RgbImage, RgbaImage};
use std::io::Cursor;

/// Bytes of a decoded picture: eight for each pixel of the largest one.
const MAX_DECODED_BYTES: u64 = 512 << 20;
/// Qualities of a JPEG, of which the first one is used whose result is small enough.
const QUALITIES: [u8; 3] = [85, 65, 40];

/// Returns a line with the width and height before and after scaling, and then the encoded picture. Nothing follows the line if
/// the original bytes are sent. PNG, GIF and WebP become PNG if that is small enough, else JPEG.
///
/// # Errors
/// Why there is none, worded to follow a colon.
pub(in crate::documents) fn encode_for_model(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let (picture, format) = decode(&bytes)?;
    let from = (picture.width(), picture.height());
    let to = fit_within(from, (MAX_SENT_SIDE, MAX_SENT_SIDE));
    let encoded = match from == to && bytes.len() <= MAX_SENT_BYTES {
        true => Vec::new(),
        false => encode_small(&scale(picture, to), format != ImageFormat::Jpeg)?,
    };
    Ok([format!("{} {} {} {}\n", from.0, from.1, to.0, to.1).into_bytes(), encoded].concat())
}

/// Returns the pixels of a picture scaled to this size: red, green, blue and opacity of each.
///
/// # Errors
/// Why there are none, worded to follow a colon.
pub(in crate::documents) fn scale_to_pixels(bytes: &[u8], size: (u32, u32)) -> Result<Vec<u8>, String> {
    let (picture, _) = decode(bytes)?;
    Ok(scale(picture, size).into_rgba8().into_raw())
}

/// Scales a picture to this size and encodes it as PNG.
///
/// # Errors
/// Why there is none, worded to follow a colon.
pub(in crate::documents) fn scale_to_png(bytes: &[u8], size: (u32, u32)) -> Result<Vec<u8>, String> {
    let (picture, _) = decode(bytes)?;
    encode_png(&scale(picture, size))
}

/// Encodes pixels, each of which has red, green, blue and opacity, as PNG of at most the bytes that are read.
///
/// # Errors
/// Why there is none, worded to follow a colon.
#[cfg(feature = "clipboard")]
pub(in crate::documents) fn encode_pixels((width, height): (u32, u32), rgba: Vec<u8>) -> Result<Vec<u8>, String> {
    if width == 0 || height == 0 || u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(format!("a picture of {width} × {height} pixels cannot be pasted"));
    }
    let picture = RgbaImage::from_raw(width, height, rgba).ok_or("the picture on it is damaged")?;
    let png = encode_png(&scale(picture.into(), (width, height)))?;
    match png.len() as u64 > MAX_SOURCE_BYTES {
        true => Err("the picture on it is too large".to_owned()),
        false => Ok(png),
    }
}

/// Decodes a picture, of an animation the first frame, and turns it as its metadata says.
pub(super) fn decode(bytes: &[u8]) -> Result<(DynamicImage, ImageFormat), String> {
    let damaged = |error: image::ImageError| format!("it is damaged ({error})");
    let format = image::guess_format(bytes).map_err(damaged)?;
    let mut decoder = ImageReader::with_format(Cursor::new(bytes), format).into_decoder().map_err(damaged)?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    limits.reserve(decoder.total_bytes()).map_err(damaged)?;
    decoder.set_limits(limits).map_err(damaged)?;
    // Only of a JPEG: its size is measured upright, that of other formats is not.
    let orientation = match format {
        ImageFormat::Jpeg => decoder.orientation().unwrap_or(Orientation::NoTransforms),
        _ => Orientation::NoTransforms,
    };
    let mut picture = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    picture.apply_orientation(orientation);
    Ok((picture, format))
}

/// Scales a picture to this size. It has transparent pixels afterwards only if it had some before.
pub(super) fn scale(picture: DynamicImage, (width, height): (u32, u32)) -> DynamicImage {
    let is_same_size = (picture.width(), picture.height()) == (width, height);
    let resize = |mut picture: DynamicImage| {
        if is_same_size {
            return picture;
        }
        // The average of many pixels is fast, and precise enough for twice the size.
        if picture.width() / 4 >= width && picture.height() / 4 >= height {
            picture = picture.thumbnail_exact(2 * width, 2 * height);
        }
        picture.resize_exact(width, height, FilterType::CatmullRom)
    };
    if picture.color().has_alpha() {
        let mut picture = picture.into_rgba8();
        if picture.pixels().any(|pixel| pixel.0[3] < u8::MAX) {
            if is_same_size {
                return picture.into();
            }
            multiply_alpha(&mut picture);
            let mut scaled = resize(picture.into()).into_rgba8();
            divide_alpha(&mut scaled);
            return scaled.into();
        }
        return resize(DynamicImage::from(picture).into_rgb8().into());
    }
    resize(picture.into_rgb8().into())
}

/// Multiplies colours by their opacity, so that the colour of transparent pixels does not mix with that of others.
fn multiply_alpha(picture: &mut RgbaImage) {
    for pixel in picture.pixels_mut() {
        let [colours @ .., alpha] = &mut pixel.0;
        colours.iter_mut().for_each(|colour| *colour = multiply(*colour, *alpha));
    }
}

/// Reverses `multiply_alpha`.
fn divide_alpha(picture: &mut RgbaImage) {
    for pixel in picture.pixels_mut() {
        let [colours @ .., alpha] = &mut pixel.0;
        let alpha = u32::from(*alpha).max(1);
        colours.iter_mut().for_each(|colour| *colour = (u32::from(*colour) * 255 / alpha).min(255) as u8);
    }
}

fn multiply(colour: u8, alpha: u8) -> u8 {
    ((u32::from(colour) * u32::from(alpha) + 127) / 255) as u8
}

/// Encodes a picture in at most [`MAX_SENT_BYTES`]: as PNG if `prefers_png` and if that is small enough, else as JPEG.
fn encode_small(picture: &DynamicImage, prefers_png: bool) -> Result<Vec<u8>, String> {
    if prefers_png {
        let png = encode_png(picture)?;
        if png.len() <= MAX_SENT_BYTES {
            return Ok(png);
        }
    }
    let flat = flatten(picture);
    for quality in QUALITIES {
        let mut jpeg = Vec::new();
        JpegEncoder::new_with_quality(&mut jpeg, quality).encode_image(&flat).map_err(|error| error.to_string())?;
        if jpeg.len() <= MAX_SENT_BYTES {
            return Ok(jpeg);
        }
    }
    Err("it is too large for a model, also as JPEG".to_owned())
}

pub(super) fn encode_png(picture: &DynamicImage) -> Result<Vec<u8>, String> {
    let mut png = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Default, PngFilter::Adaptive);
    encoder
        .write_image(picture.as_bytes(), picture.width(), picture.height(), picture.color().into())
        .map_err(|error| error.to_string())?;
    Ok(png)
}

/// Puts a picture on white: a JPEG has no transparent pixels.
fn flatten(picture: &DynamicImage) -> RgbImage {
    let mut flat = RgbImage::new(picture.width(), picture.height());
    for (pixel, source) in flat.pixels_mut().zip(picture.to_rgba8().pixels()) {
        let [red, green, blue, alpha] = source.0;
        pixel.0 = [red, green, blue].map(|colour| multiply(colour, alpha) + (u8::MAX - alpha));
    }
    flat
}

#[cfg(test)]
mod tests;
