//! Reads the size of a picture from its header.

use super::Location;
use crate::chat::image::{self, ImageSize};
use std::fs::{self, File};
use std::io::Read;

/// Bytes read to find the size of a picture; enough for any metadata before it.
pub const MAX_HEADER_BYTES: u64 = 256 * 1024;

/// Bytes of an entry in a directory of TIFF data.
const DIRECTORY_ENTRY_BYTES: usize = 12;
/// Tag of the entry that says how a photo is turned.
const ORIENTATION_TAG: u16 = 0x0112;

/// Returns the size of a picture in the project. Reads only its beginning, and nothing of a sensitive file.
pub fn read_size(path: &str, location: &Location) -> Option<ImageSize> {
    if !image::is_image_path(path) || !location.is_inside || location.is_sensitive {
        return None;
    }
    let metadata = fs::metadata(&location.real).ok().filter(fs::Metadata::is_file)?;
    let mut header = Vec::new();
    File::open(&location.real).ok()?.take(MAX_HEADER_BYTES).read_to_end(&mut header).ok()?;
    Some(ImageSize { pixels: parse_size(&header)?, bytes: metadata.len() })
}

/// Returns the width and height of a picture in pixels, of which this is the beginning. A photo that lies on its side is
/// measured upright.
pub fn parse_size(header: &[u8]) -> Option<(u32, u32)> {
    let media_type = image::detect_type(header)?;
    let size = imagesize::blob_size(header).ok()?;
    let (width, height) = (u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?);
    let is_on_side = media_type == "image/jpeg" && exif_orientation(header).is_some_and(|value| value >= 5);
    Some(if is_on_side { (height, width) } else { (width, height) })
}

/// Returns the orientation in the Exif metadata of a JPEG, from 1 to 8. From 5 on width and height are swapped.
fn exif_orientation(jpeg: &[u8]) -> Option<u16> {
    let mut segments = jpeg.get(2..)?;
    loop {
        let [0xff, marker, high, low, rest @ ..] = segments else { return None };
        let length = usize::from(u16::from_be_bytes([*high, *low])).checked_sub(2)?;
        match rest.get(..length)?.strip_prefix(b"Exif\0\0") {
            Some(tiff) if *marker == 0xe1 => return tiff_orientation(tiff),
            // The scan follows, which has no metadata.
            _ if *marker == 0xda => return None,
            _ => segments = rest.get(length..)?,
        }
    }
}

/// Returns the orientation in the first directory of TIFF data.
fn tiff_orientation(tiff: &[u8]) -> Option<u16> {
    let is_little_endian = match tiff.get(..2)? {
        b"II" => true,
        b"MM" => false,
        _ => return None,
    };
    let short = |at: usize| {
        let bytes = tiff.get(at..)?.first_chunk()?;
        Some(if is_little_endian { u16::from_le_bytes(*bytes) } else { u16::from_be_bytes(*bytes) })
    };
    let long = |at: usize| {
        let bytes = tiff.get(at..)?.first_chunk()?;
        Some(if is_little_endian { u32::from_le_bytes(*bytes) } else { u32::from_be_bytes(*bytes) })
    };
    let directory = usize::try_from(long(4)?).ok()?;
    let entries = directory.checked_add(2)?;
    (0..usize::from(short(directory)?))
        .filter_map(|index| entries.checked_add(index * DIRECTORY_ENTRY_BYTES))
        .find(|entry| short(*entry) == Some(ORIENTATION_TAG))
        .and_then(|entry| short(entry.checked_add(8)?))
        .filter(|value| (1..=8).contains(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Reader;
    use crate::project::disk::Disk;

    /// Returns a JPEG of 40 × 30 pixels with Exif metadata in this byte order.
    fn photo(is_little_endian: bool, orientation: u16) -> Vec<u8> {
        let short = |value: u16| if is_little_endian { value.to_le_bytes() } else { value.to_be_bytes() };
        let long = |value: u32| if is_little_endian { value.to_le_bytes() } else { value.to_be_bytes() };
        let mut tiff = if is_little_endian { b"II".to_vec() } else { b"MM".to_vec() };
        tiff.extend([&short(42)[..], &long(8), &short(2)].concat());
        tiff.extend([&short(0x010f)[..], &short(2), &long(1), &[0; 4]].concat());
        tiff.extend([&short(0x0112)[..], &short(3), &long(1), &short(orientation), &[0; 2]].concat());
        let segment = [b"Exif\0\0".to_vec(), tiff].concat();
        let length = (segment.len() as u16 + 2).to_be_bytes();
        let frame = [0xff, 0xc0, 0, 11, 8, 0, 30, 0, 40, 1, 1, 0x11, 0];
        [&[0xff, 0xd8, 0xff, 0xe1][..], &length, &segment, &frame].concat()
    }

    #[test]
    fn a_photo_on_its_side_is_measured_upright() {
        for is_little_endian in [true, false] {
            for (orientation, size) in [(1, (40, 30)), (3, (40, 30)), (6, (30, 40)), (8, (30, 40)), (9, (40, 30))] {
                assert_eq!(parse_size(&photo(is_little_endian, orientation)), Some(size), "{orientation}");
            }
        }
    }

    #[test]
    fn damaged_metadata_of_a_photo_is_ignored() {
        let photo = photo(true, 6);
        for at in 6..photo.len() - 13 {
            for value in [0, 0x7f, 0xff] {
                let mut damaged = photo.clone();
                damaged[at] = value;
                let _ = parse_size(&damaged);
            }
            assert_eq!(exif_orientation(&photo[..at]), None);
        }
    }

    #[test]
    fn reads_size_of_pictures_in_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 5, 0, 0, 0, 2, 0xd0, 8, 2, 0, 0, 0]);
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
        write("a.png", &png);
        write("cut.png", b"\x89PNG\r\n\x1a\n\0\0");
        write("words.png", b"no picture");
        write("a.txt", &png);
        let disk = Disk::new(folder.path()).unwrap();
        let size_of = |path: &str| read_size(path, &disk.locate(path).unwrap());
        assert_eq!(size_of("a.png"), Some(ImageSize { pixels: (1280, 720), bytes: png.len() as u64 }));
        for name in ["cut.png", "words.png", "a.txt", "missing.png"] {
            assert_eq!(size_of(name), None, "{name}");
        }
        let outside = tempfile::tempdir().unwrap();
        let path = outside.path().join("b.png");
        fs::write(&path, &png).unwrap();
        assert_eq!(size_of(path.to_str().unwrap()), None, "only files of the project are opened");
    }
}
