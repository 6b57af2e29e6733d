//! Reads the size of a picture in the project.

use super::Location;
use crate::chat::image::{self, ImageSize};
use std::fs::{self, File};
use std::io::Read;

/// Bytes read to find the size of a picture; enough for any metadata before it.
const MAX_HEADER_BYTES: u64 = 256 * 1024;

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

/// Returns the width and height of a picture in pixels, of which this is the beginning.
pub fn parse_size(header: &[u8]) -> Option<(u32, u32)> {
    image::detect_type(header)?;
    let size = imagesize::blob_size(header).ok()?;
    Some((u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Reader;
    use crate::project::disk::Disk;

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
