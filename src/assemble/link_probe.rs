//! Checks whether the target of a link exists, and reads the size of a picture.

use crate::chat::image;
use crate::project::disk::Disk;
use crate::project::{Location, Reader};
use crate::text::link::LinkTarget;
use crate::tui::host::LinkStatus;
use std::io::Read;

/// Bytes read to find the size of a picture; enough for any metadata before it.
const MAX_HEADER_BYTES: u64 = 256 * 1024;

/// Checks the target of a link.
pub(super) fn probe_link(disk: &Disk, target: &LinkTarget) -> LinkStatus {
    let path = match target {
        LinkTarget::File { path, .. } => path,
        LinkTarget::Web(_) => return LinkStatus::Exists,
        LinkTarget::Workspace(_) => return LinkStatus::Missing,
    };
    match disk.locate(path) {
        Ok(location) if disk.exists(&location) => {
            picture_size(path, &location).map_or(LinkStatus::Exists, LinkStatus::Picture)
        }
        Ok(_) | Err(_) => LinkStatus::Missing,
    }
}

/// Returns the size of a picture in the project. Reads only its beginning.
fn picture_size(path: &str, location: &Location) -> Option<image::ImageSize> {
    if !image::is_image_path(path) || !location.is_inside || location.is_sensitive {
        return None;
    }
    let metadata = std::fs::metadata(&location.real).ok().filter(std::fs::Metadata::is_file)?;
    let mut header = Vec::new();
    std::fs::File::open(&location.real).ok()?.take(MAX_HEADER_BYTES).read_to_end(&mut header).ok()?;
    image::detect_type(&header)?;
    let size = imagesize::blob_size(&header).ok()?;
    let pixels = (u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?);
    Some(image::ImageSize { pixels, bytes: metadata.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_link_always_exists_and_file_only_if_present() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.rs"), "x").unwrap();
        let disk = Disk::new(folder.path()).unwrap();
        let file_link = |path: &str| LinkTarget::File { path: path.into(), line: None, end: None, column: None };
        assert_eq!(probe_link(&disk, &file_link("a.rs")), LinkStatus::Exists);
        assert_eq!(probe_link(&disk, &file_link("b.rs")), LinkStatus::Missing);
        assert_eq!(probe_link(&disk, &LinkTarget::Web("https://example.com".into())), LinkStatus::Exists);
    }

    #[test]
    fn reads_size_of_pictures_in_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 5, 0, 0, 0, 2, 0xd0, 8, 2, 0, 0, 0]);
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        write("a.png", &png);
        write("cut.png", b"\x89PNG\r\n\x1a\n\0\0");
        write("words.png", b"no picture");
        write("a.txt", &png);
        let disk = Disk::new(folder.path()).unwrap();
        let file_link = |path: &str| LinkTarget::File { path: path.into(), line: None, end: None, column: None };
        let size = image::ImageSize { pixels: (1280, 720), bytes: png.len() as u64 };
        assert_eq!(probe_link(&disk, &file_link("a.png")), LinkStatus::Picture(size));
        for name in ["cut.png", "words.png", "a.txt"] {
            assert_eq!(probe_link(&disk, &file_link(name)), LinkStatus::Exists, "{name}");
        }
        let outside = tempfile::tempdir().unwrap();
        let path = outside.path().join("b.png");
        std::fs::write(&path, &png).unwrap();
        assert_eq!(
            probe_link(&disk, &file_link(path.to_str().unwrap())),
            LinkStatus::Exists,
            "only files of the project are opened"
        );
    }
}
