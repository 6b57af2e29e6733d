//! Checks whether the target of a link exists, and reads the size of a picture.

use crate::chat::link::Target;
use crate::chat::picture;
use crate::project::disk::Disk;
use crate::project::{Located, Reader};
use crate::tui::host::There;
use std::io::Read;

/// Bytes read to find the size of a picture; enough for any metadata before it.
const HEADER: u64 = 256 * 1024;

/// Checks the target of a link.
pub(super) fn look(disk: &Disk, target: &Target) -> There {
    let path = match target {
        Target::File { path, .. } => path,
        Target::Web(_) => return There::Yes,
        Target::Workspace(_) => return There::No,
    };
    match disk.locate(path) {
        Ok(at) if disk.exists(&at) => size(path, &at).map_or(There::Yes, There::Picture),
        Ok(_) | Err(_) => There::No,
    }
}

/// Returns the size of a picture in the project. Reads only its beginning.
fn size(path: &str, at: &Located) -> Option<picture::Size> {
    if !picture::is_named(path) || !at.inside || at.sensitive {
        return None;
    }
    let about = std::fs::metadata(&at.real).ok().filter(std::fs::Metadata::is_file)?;
    let mut beginning = Vec::new();
    std::fs::File::open(&at.real).ok()?.take(HEADER).read_to_end(&mut beginning).ok()?;
    picture::kind(&beginning)?;
    let size = imagesize::blob_size(&beginning).ok()?;
    let pixels = (u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?);
    Some(picture::Size { pixels, bytes: about.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_link_always_exists_and_file_only_if_present() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("a.rs"), "x").unwrap();
        let disk = Disk::new(place.path()).unwrap();
        let file = |path: &str| Target::File { path: path.into(), line: None, end: None, column: None };
        assert_eq!(look(&disk, &file("a.rs")), There::Yes);
        assert_eq!(look(&disk, &file("b.rs")), There::No);
        assert_eq!(look(&disk, &Target::Web("https://example.com".into())), There::Yes);
    }

    #[test]
    fn reads_size_of_pictures_in_the_project() {
        let place = tempfile::tempdir().unwrap();
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 5, 0, 0, 0, 2, 0xd0, 8, 2, 0, 0, 0]);
        let write = |name: &str, bytes: &[u8]| std::fs::write(place.path().join(name), bytes).unwrap();
        write("a.png", &png);
        write("cut.png", b"\x89PNG\r\n\x1a\n\0\0");
        write("words.png", b"no picture");
        write("a.txt", &png);
        let disk = Disk::new(place.path()).unwrap();
        let file = |path: &str| Target::File { path: path.into(), line: None, end: None, column: None };
        let size = picture::Size { pixels: (1280, 720), bytes: png.len() as u64 };
        assert_eq!(look(&disk, &file("a.png")), There::Picture(size));
        for name in ["cut.png", "words.png", "a.txt"] {
            assert_eq!(look(&disk, &file(name)), There::Yes, "{name}");
        }
        let outside = tempfile::tempdir().unwrap();
        let path = outside.path().join("b.png");
        std::fs::write(&path, &png).unwrap();
        assert_eq!(
            look(&disk, &file(path.to_str().unwrap())),
            There::Yes,
            "only files of the project are opened"
        );
    }
}
