//! Paths, lines of files and addresses in text: links do not overlap and are inside the text.

use aye::text::link::{self, LinkTarget};

/// Checks these bytes as text, and every word as the target of a link.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut end = 0;
    for found in link::find_links(&text, &|_| link::Existence::Exists) {
        let range = found.range;
        assert!(end <= range.start && range.start < range.end, "{range:?} overlaps the link that ends at {end}");
        end = range.end;
        // Panics if the range splits a character.
        let word = &text[range];
        check_target(word, &found.target);
    }
    assert!(link::find_links(&text, &|_| link::Existence::Unknown).is_empty(), "a link to a missing file");
    for word in text.split_whitespace() {
        if let Some(target) = link::parse_link(word) {
            check_target(word, &target);
        }
    }
}

fn check_target(word: &str, target: &LinkTarget) {
    match target {
        LinkTarget::File { path, line, end, column } => {
            assert!(!path.is_empty(), "{word:?} has an empty path");
            assert!(![*line, *end, *column].contains(&Some(0)), "{word:?} has line or column 0");
            assert!(line.is_some() || (end.is_none() && column.is_none()), "{word:?} has an end and no line");
            assert!(end.is_none_or(|end| Some(end) >= *line), "{word:?} ends before it starts");
        }
        LinkTarget::Web(address) => check_scheme(address, &["http://", "https://"]),
        LinkTarget::Workspace(address) => check_scheme(address, &["workspace://"]),
    }
}

/// Checks the scheme of an address, which may be in capitals.
fn check_scheme(address: &str, schemes: &[&str]) {
    let lower = address.to_ascii_lowercase();
    assert!(schemes.iter().any(|scheme| lower.starts_with(scheme)), "{address:?} has another scheme");
}
