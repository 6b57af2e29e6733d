//! Paths as one line of printable text.

use super::hidden_chars::is_hidden;
use std::path::Path;

/// Escapes every character of the path that is not visible as itself: `a\nb`, `\u{1b}[31m`. A path without such
/// characters is unchanged; in any other, each backslash is doubled. [`unescape_path`] is the inverse.
pub fn escape_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    if !text.chars().any(is_hidden) {
        return text.into_owned();
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '\n' | '\r' | '\t' => escaped.extend(character.escape_default()),
            other if is_hidden(other) => escaped.extend(other.escape_unicode()),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Reverses [`escape_path`]. Returns `None` if the text has an invalid escape, or none of a character that is not
/// visible as itself.
pub fn unescape_path(text: &str) -> Option<String> {
    let mut path = String::with_capacity(text.len());
    let mut remaining = text;
    while let Some((plain, escape)) = remaining.split_once('\\') {
        path.push_str(plain);
        let (character, following) = match escape.chars().next()? {
            'n' => ('\n', &escape[1..]),
            'r' => ('\r', &escape[1..]),
            't' => ('\t', &escape[1..]),
            '\\' => ('\\', &escape[1..]),
            'u' => {
                let (digits, following) = escape[1..].strip_prefix('{')?.split_once('}')?;
                (char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, following)
            }
            _ => return None,
        };
        path.push(character);
        remaining = following;
    }
    path.push_str(remaining);
    path.chars().any(is_hidden).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn r32_only_unprintable_characters_are_escaped() {
        for (path, expected) in [
            ("src/main.rs", "src/main.rs"),
            ("a\\b", "a\\b"),
            ("ä ö", "ä ö"),
            ("a\nb", "a\\nb"),
            ("a\u{1b}[31m", "a\\u{1b}[31m"),
            ("a\u{202e}txt.exe", "a\\u{202e}txt.exe"),
            ("a\u{3164}\u{e0100}b", "a\\u{3164}\\u{e0100}b"),
            ("a\\\n", "a\\\\\\n"),
        ] {
            assert_eq!(escape_path(Path::new(path)), expected);
        }
        for text in ["a", "a\\b", "a\\", "a\\u{zz}\\n", "\\u{1b"] {
            assert_eq!(unescape_path(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn r32_an_escaped_path_is_one_printable_line_and_can_be_unescaped(path in "(\\PC|[\\\\\n\t\u{1b}\u{202e}]){0,12}") {
            let escaped = escape_path(Path::new(&path));
            prop_assert!(!escaped.chars().any(is_hidden));
            let unescaped = if escaped == path { path.clone() } else { unescape_path(&escaped).unwrap_or_default() };
            prop_assert_eq!(unescaped, path);
        }
    }
}
