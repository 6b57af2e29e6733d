//! Images mentioned in user messages, for models that accept images.

use super::mention::find_mentions;

/// Maximum width and height of an image that is sent, in pixels: Anthropic scales larger ones to this, OpenAI's models use less
/// of most.
pub const MAX_SENT_SIDE: u32 = 1568;
/// Maximum bytes of an image that is sent: Anthropic accepts 5 MiB of its base64, other providers more.
pub const MAX_SENT_BYTES: usize = (5 << 20) / 4 * 3;

/// Maximum bytes of a picture that is read.
pub const MAX_SOURCE_BYTES: u64 = 32_000_000;
/// Maximum pixels of a picture that is decoded. At four bytes per pixel the picture and one copy of it fit in the memory of the
/// process that decodes it.
pub const MAX_PIXELS: u64 = 64_000_000;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImageSize {
    /// Width and height in pixels.
    pub pixels: (u32, u32),
    pub bytes: u64,
}

impl ImageSize {
    /// Returns the width and height at which a model gets the image, if it is scaled down. An image beyond the limits is not
    /// sent.
    pub fn scaled_for_model(self) -> Option<(u32, u32)> {
        let scaled = fit_within(self.pixels, (MAX_SENT_SIDE, MAX_SENT_SIDE));
        let pixels = u64::from(self.pixels.0) * u64::from(self.pixels.1);
        let is_sent = pixels <= MAX_PIXELS && self.bytes <= MAX_SOURCE_BYTES;
        (cfg!(feature = "images") && is_sent && scaled != self.pixels).then_some(scaled)
    }
}

/// A picture cut into strips of one size, one for each row of cells of a terminal. What the picture does not fill is transparent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StripLayout {
    /// Format of each strip.
    pub format: StripFormat,
    /// Width and height of the picture in pixels, not larger than all strips together.
    pub picture: (u32, u32),
    /// Width and height of a strip in pixels.
    pub strip: (u32, u32),
    pub count: u32,
}

/// Format of a strip of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StripFormat {
    Png,
    /// Sixel graphics without the start and end of the control string.
    Sixel,
}

/// Returns the size of a picture that is scaled down, if necessary, to fit in this width and height; at least 1 × 1.
pub fn fit_within((width, height): (u32, u32), (max_width, max_height): (u32, u32)) -> (u32, u32) {
    if width <= max_width && height <= max_height {
        return (width.max(1), height.max(1));
    }
    let divide =
        |side: u32, by: u32, to: u32| (u64::from(side) * u64::from(to) + u64::from(by) / 2) / u64::from(by.max(1));
    let (fitted_width, fitted_height) = (divide(width, height, max_height), divide(height, width, max_width));
    match fitted_height <= u64::from(max_height) {
        true => (max_width.max(1), (fitted_height as u32).max(1)),
        false => ((fitted_width as u32).clamp(1, max_width.max(1)), max_height.max(1)),
    }
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
    // A mention with lines, such as `@shot.png:3`, names no image.
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
    fn a_fitted_image_keeps_its_proportions_and_is_never_larger() {
        for (size, limits, expected) in [
            ((4000, 3000), (1568, 1568), (1568, 1176)),
            ((3000, 4000), (1568, 1568), (1176, 1568)),
            ((1568, 1), (1568, 1568), (1568, 1)),
            ((65_535, 1), (1568, 1568), (1568, 1)),
            ((1, 65_535), (1568, 1568), (1, 1568)),
            ((u32::MAX, u32::MAX), (1568, 1568), (1568, 1568)),
            ((100, 50), (40, 40), (40, 20)),
            ((100, 50), (200, 10), (20, 10)),
            ((0, 7), (10, 5), (1, 5)),
        ] {
            assert_eq!(fit_within(size, limits), expected, "{size:?}");
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
