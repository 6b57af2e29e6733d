//! Pictures: decoded within limits and scaled, in a process of their own.

#[cfg(feature = "images")]
pub(super) mod scaling;
#[cfg(feature = "images")]
mod sixel;
#[cfg(feature = "images")]
pub(super) mod strips;

use crate::chat::image::{MAX_PIXELS, MAX_SENT_BYTES, MAX_SOURCE_BYTES, StripLayout, detect_type};
use crate::project::picture_size::parse_size;
use crate::project::{Location, Reader};
use crate::text::byte_size::format_bytes;
use std::io::Read;

/// How a picture is sent to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelPicture {
    /// Byte for byte.
    Unchanged,
    /// These bytes, which are a PNG or a JPEG.
    Encoded {
        bytes: Vec<u8>,
        /// Width and height before, in pixels.
        from: (u32, u32),
        /// Width and height of what is sent.
        to: (u32, u32),
    },
}

/// Reads a picture of the project. Of a larger one than [`MAX_SOURCE_BYTES`] only one byte more is read.
///
/// # Errors
/// Why it is not read, worded to follow a colon.
pub fn read_project_picture(files: &dyn Reader, location: &Location) -> Result<Vec<u8>, String> {
    if !location.is_inside || location.is_sensitive {
        return Err("outside the project or possibly secret".to_owned());
    }
    let file = files.open(location).map_err(|_| "cannot be read")?;
    let mut bytes = Vec::new();
    file.take(MAX_SOURCE_BYTES + 1).read_to_end(&mut bytes).map_err(|_| "cannot be read")?;
    Ok(bytes)
}

/// Checks that a picture can be decoded, and scales it down if it is larger than a model uses. Blocks for at most
/// thirty seconds.
///
/// # Errors
/// Why it cannot be sent, worded to follow a colon.
pub fn prepare_for_model(bytes: &[u8]) -> Result<ModelPicture, String> {
    check_header(bytes)?;
    read_prepared(bytes)
}

/// Checks size and type of a picture by its beginning, before anything of it is decoded.
///
/// # Errors
/// Why it is not decoded, worded to follow a colon.
fn check_header(bytes: &[u8]) -> Result<(), String> {
    if bytes.len() as u64 > MAX_SOURCE_BYTES {
        return Err(format!("larger than {}", format_bytes(MAX_SOURCE_BYTES)));
    }
    detect_type(bytes).ok_or("not a PNG, JPEG, GIF or WebP image")?;
    let (width, height) = parse_size(bytes).ok_or("it is damaged")?;
    match u64::from(width) * u64::from(height) {
        0 => Err("it has no pixels".to_owned()),
        pixels if pixels > MAX_PIXELS => {
            Err(format!("{width} × {height} is more than {} million pixels", MAX_PIXELS / 1_000_000))
        }
        _ => Ok(()),
    }
}

/// Reads the pixels of a picture, scaled to this width and height: red, green, blue and opacity of each. Blocks for at most
/// thirty seconds.
///
/// # Errors
/// Why it cannot be read, worded to follow a colon.
#[cfg(feature = "images")]
pub fn read_pixels(bytes: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>, String> {
    use super::reader_process::run_reader_process;
    use super::reader_task::ReaderTask;
    check_header(bytes)?;
    let pixels = run_reader_process(ReaderTask::PicturePixels { width, height }, bytes)?;
    match pixels.len() as u64 == u64::from(width) * u64::from(height) * 4 {
        true => Ok(pixels),
        false => Err("it is damaged".to_owned()),
    }
}

/// Scales a picture to this width and height and encodes it as PNG. Blocks for at most thirty seconds.
///
/// # Errors
/// Why it cannot be read, worded to follow a colon.
#[cfg(feature = "images")]
pub fn read_png(bytes: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>, String> {
    use super::reader_process::run_reader_process;
    use super::reader_task::ReaderTask;
    check_header(bytes)?;
    run_reader_process(ReaderTask::PicturePng { width, height }, bytes)
}

/// Scales a picture, cuts it into strips and encodes each. Blocks for at most thirty seconds.
///
/// # Errors
/// Why it cannot be read, worded to follow a colon.
#[cfg(feature = "images")]
pub fn read_strips(bytes: &[u8], layout: StripLayout) -> Result<Vec<Vec<u8>>, String> {
    use super::reader_process::run_reader_process;
    use super::reader_task::ReaderTask;
    use crate::chat::image::StripFormat;
    check_header(bytes)?;
    let output = run_reader_process(ReaderTask::PictureStrips(layout), bytes)?;
    let found = strips::split_output(&output).filter(|found| found.len() as u64 == u64::from(layout.count));
    // The terminal gets sixels as they are, so a control character in them would be an attack on it.
    let is_harmless = |strip: &Vec<u8>| layout.format == StripFormat::Png || sixel::is_sixels(strip);
    found.filter(|found| found.iter().all(is_harmless)).ok_or_else(|| "it is damaged".to_owned())
}

/// Without the decoder no picture is drawn.
#[cfg(not(feature = "images"))]
pub fn read_strips(_: &[u8], _: StripLayout) -> Result<Vec<Vec<u8>>, String> {
    Err("this build has no decoder".to_owned())
}

/// Without the decoder no picture is drawn.
#[cfg(not(feature = "images"))]
pub fn read_png(_: &[u8], _: (u32, u32)) -> Result<Vec<u8>, String> {
    Err("this build has no decoder".to_owned())
}

/// Without the decoder no picture is drawn.
#[cfg(not(feature = "images"))]
pub fn read_pixels(_: &[u8], _: (u32, u32)) -> Result<Vec<u8>, String> {
    Err("this build has no decoder".to_owned())
}

#[cfg(feature = "images")]
fn read_prepared(bytes: &[u8]) -> Result<ModelPicture, String> {
    use super::reader_process::run_reader_process;
    use super::reader_task::ReaderTask;
    let output = run_reader_process(ReaderTask::PictureForModel, bytes)?;
    let damaged = || "it is damaged".to_owned();
    let (sizes, bytes) = split_sizes(output).ok_or_else(damaged)?;
    let [from_width, from_height, width, height] = sizes;
    match (bytes.is_empty(), bytes.len() > MAX_SENT_BYTES || detect_type(&bytes).is_none()) {
        (true, _) => Ok(ModelPicture::Unchanged),
        (false, true) => Err(damaged()),
        (false, false) => Ok(ModelPicture::Encoded { bytes, from: (from_width, from_height), to: (width, height) }),
    }
}

/// Without the decoder a picture is sent as it is.
#[cfg(not(feature = "images"))]
fn read_prepared(bytes: &[u8]) -> Result<ModelPicture, String> {
    match bytes.len() > MAX_SENT_BYTES {
        true => Err(format!("larger than {}", format_bytes(MAX_SENT_BYTES as u64))),
        false => Ok(ModelPicture::Unchanged),
    }
}

/// Splits output of the process into the numbers of its first line and the bytes after it.
#[cfg(feature = "images")]
fn split_sizes(mut output: Vec<u8>) -> Option<([u32; 4], Vec<u8>)> {
    let end = memchr::memchr(b'\n', &output)?;
    let bytes = output.split_off(end + 1);
    let numbers: Vec<u32> =
        std::str::from_utf8(&output).ok()?.split_whitespace().map_while(|word| word.parse().ok()).collect();
    Some((numbers.try_into().ok()?, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_with_too_many_pixels_are_refused_by_their_header() {
        let png = |width: u32, height: u32| {
            let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
            [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(), size, vec![8, 2, 0, 0, 0]].concat()
        };
        let error = |bytes: &[u8]| check_header(bytes).unwrap_err();
        assert_eq!(error(&png(60_000, 60_000)), "60000 × 60000 is more than 64 million pixels");
        assert_eq!(error(&png(u32::MAX, u32::MAX)), "4294967295 × 4294967295 is more than 64 million pixels");
        assert_eq!(error(&png(0, 5)), "it has no pixels");
        assert_eq!(error(b"\x89PNG rest"), "it is damaged");
        assert_eq!(error(b""), "not a PNG, JPEG, GIF or WebP image");
        assert_eq!(error(&vec![0; 32_000_001]), "larger than 32.0 MB");
        assert_eq!(check_header(&png(65_535, 1)), Ok(()));
        assert_eq!(check_header(&png(8000, 8000)), Ok(()));
    }

    #[cfg(feature = "images")]
    #[test]
    fn output_of_the_process_has_its_sizes_in_the_first_line() {
        assert_eq!(split_sizes(b"3 4 1 2\nab\nc".to_vec()), Some(([3, 4, 1, 2], b"ab\nc".to_vec())));
        for damaged in [&b"3 4 1 2"[..], b"3\nab", b"3 4 1 2 5\n", b"3 4 1 x\n", b"\xff\n", b""] {
            assert_eq!(split_sizes(damaged.to_vec()), None, "{damaged:?}");
        }
    }
}
