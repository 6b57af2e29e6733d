//! Media types of contents.

use crate::chat::image;

/// Media types of text by the extension of the file.
const TEXT_TYPES: [(&str, &str); 16] = [
    ("md", "text/markdown"),
    ("markdown", "text/markdown"),
    ("csv", "text/csv"),
    ("tsv", "text/tab-separated-values"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("css", "text/css"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl"),
    ("xml", "application/xml"),
    ("svg", "image/svg+xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("toml", "application/toml"),
    ("diff", "text/x-diff"),
];

/// Media types by the first bytes of a content; pictures are recognized by [`image::detect_type`].
const BINARY_TYPES: [(&[u8], &str); 4] = [
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
];

/// Returns the media type of a content: by its bytes, and by the extension of its name if it is text.
pub fn detect_media_type(name: &str, content: &[u8]) -> &'static str {
    let binary = BINARY_TYPES.iter().find(|(magic, _)| content.starts_with(magic)).map(|(_, name)| *name);
    let is_text = is_text(content);
    // A picture always has bytes that no text has; a text may begin like one.
    if let Some(known) = image::detect_type(content).filter(|_| !is_text).or(binary) {
        return known;
    }
    if !is_text {
        return "application/octet-stream";
    }
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default();
    TEXT_TYPES.iter().find(|(known, _)| *known == extension).map_or("text/plain", |(_, name)| name)
}

/// Returns whether a content is UTF-8 without NUL bytes.
pub fn is_text(content: &[u8]) -> bool {
    !content.contains(&0) && std::str::from_utf8(content).is_ok()
}

/// Returns an extension for a file whose name is lost.
pub(super) fn extension_for(media_type: &str) -> &str {
    match media_type.split_once('/') {
        Some(("text", _)) => "txt",
        Some(("image", kind)) => kind,
        Some((_, kind @ ("pdf" | "zip"))) => kind,
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_decide_before_the_name() {
        for (name, content, expected) in [
            ("a.md", &b"# A"[..], "text/markdown"),
            ("a.CSV", b"1,2", "text/csv"),
            ("a", "é".as_bytes(), "text/plain"),
            ("a.md", b"a\0", "application/octet-stream"),
            ("a.md", b"\xff", "application/octet-stream"),
            ("a.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
            ("a.txt", b"GIF89a\x01\0\x01\0", "image/gif"),
            ("a.txt", b"GIF89a has a palette", "text/plain"),
            ("a.txt", b"%PDF-1.7", "application/pdf"),
        ] {
            assert_eq!(detect_media_type(name, content), expected, "{name}");
        }
    }
}
