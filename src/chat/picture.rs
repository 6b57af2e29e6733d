//! Pictures that the person names in what they say, for models that can see.

/// What the names of pictures end in.
const ENDS: [&str; 5] = [".png", ".jpg", ".jpeg", ".webp", ".gif"];

/// A picture on its way to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// As the person wrote it, without the `@`.
    pub name: String,
    /// Such as `image/png`.
    pub kind: &'static str,
    /// Its bytes, in base64.
    pub data: String,
}

/// What can be told of a picture without showing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns and rows.
    pub pixels: (u32, u32),
    /// Its bytes.
    pub bytes: u64,
}

/// Whether a file is named as a picture.
pub fn is_named(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    ENDS.iter().any(|end| lower.len() > end.len() && lower.ends_with(end))
}

/// The pictures named in a text as `@path.png`, in its order, each once.
pub fn named(text: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    // Every text of every request comes here, and next to none names one.
    if !text.contains('@') {
        return names;
    }
    for word in text.split_whitespace() {
        let Some(name) = word.trim_start_matches(['(', '"', '\'', '`']).strip_prefix('@') else { continue };
        let name = name.trim_end_matches(['.', ',', ';', ':', '?', '!', ')', '"', '\'', '`']);
        if is_named(name) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What a picture is by its first bytes; `None` where it is none of those that models take.
pub fn kind(bytes: &[u8]) -> Option<&'static str> {
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
    fn pictures_are_named_as_files_are() {
        for (text, names) in [
            ("what is in @shot.png?", vec!["shot.png"]),
            ("(@a/b.JPG) and `@c.webp`, @a/b.JPG again", vec!["a/b.JPG", "c.webp"]),
            ("shot.png, mail@host.png @notes.md @.png @", vec![]),
            ("@\u{6f22}\u{5b57}.gif", vec!["\u{6f22}\u{5b57}.gif"]),
        ] {
            assert_eq!(named(text), names, "{text}");
        }
    }

    #[test]
    fn a_picture_is_what_its_bytes_say() {
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n"), Some("image/png"));
        assert_eq!(kind(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
        assert_eq!(kind(b"GIF89a"), Some("image/gif"));
        assert_eq!(kind(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        for other in [&b"<svg>"[..], b"", b"RIFF", b"RIFF\0\0\0\0WAVE"] {
            assert_eq!(kind(other), None, "{other:?}");
        }
    }
}
