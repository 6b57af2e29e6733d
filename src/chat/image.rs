//! Images mentioned in user messages, for models that accept images.

use super::mention::find_mentions;

/// File name extensions of images.
const EXTENSIONS: [&str; 5] = [".png", ".jpg", ".jpeg", ".webp", ".gif"];

/// An image that is sent with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// As the user wrote it, without the `@`.
    pub name: String,
    /// MIME type, such as `image/png`.
    pub mime_type: &'static str,
    /// Content in base64.
    pub data: String,
}

impl Image {
    /// Returns the image as a `data:` URL.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime_type, self.data)
    }
}

/// Size of an image in pixels and in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageSize {
    /// Width and height in pixels.
    pub pixels: (u32, u32),
    pub bytes: u64,
}

/// Returns whether a file has the extension of an image.
pub fn is_image_path(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    EXTENSIONS.iter().any(|end| lower.len() > end.len() && lower.ends_with(end))
}

/// Returns the images mentioned in a text as `@path.png`, in order, each once.
pub fn find_images(text: &str) -> Vec<&str> {
    // Fast path: every text of every request is checked, and nearly none mentions an image.
    if !text.contains('@') {
        return Vec::new();
    }
    // The name of a picture with lines is none.
    let mentions = find_mentions(text).into_iter().filter(|mention| mention.lines.is_none());
    mentions.map(|mention| mention.name).filter(|name| is_image_path(name)).collect()
}

/// Detects the MIME type by the first bytes; `None` if it is not an image type that models accept.
pub fn detect_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_images_mentioned_as_files() {
        for (text, names) in [
            ("what is in @shot.png?", vec!["shot.png"]),
            ("(@a/b.JPG) and `@c.webp`, @a/b.JPG again", vec!["a/b.JPG", "c.webp"]),
            ("shot.png, mail@host.png @notes.md @.png @", vec![]),
            ("@\"my shot.png\" and @b.png:3", vec!["my shot.png"]),
            ("@\u{6f22}\u{5b57}.gif", vec!["\u{6f22}\u{5b57}.gif"]),
        ] {
            assert_eq!(find_images(text), names, "{text}");
        }
    }

    #[test]
    fn detects_the_type_by_the_first_bytes() {
        assert_eq!(detect_type(b"\x89PNG\r\n\x1a\n"), Some("image/png"));
        assert_eq!(detect_type(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
        assert_eq!(detect_type(b"GIF89a"), Some("image/gif"));
        assert_eq!(detect_type(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        for other in [&b"<svg>"[..], b"", b"RIFF", b"RIFF\0\0\0\0WAVE"] {
            assert_eq!(detect_type(other), None, "{other:?}");
        }
    }
}
