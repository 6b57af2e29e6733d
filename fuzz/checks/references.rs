//! What looks like a path, a line in a file or an address: links that do not overlap and stand in the text.

use aye::chat::link::{self, LinkTarget};

/// Bytes as prose, and every word of it as the target of a link.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut end = 0;
    for found in link::find_links(&text, &|_| true) {
        let range = found.range;
        assert!(end <= range.start && range.start < range.end, "{range:?} overlaps what ends at {end}");
        end = range.end;
        // It panics where it cuts a letter.
        let word = &text[range];
        holds(word, &found.target);
    }
    assert!(link::find_links(&text, &|_| false).is_empty(), "a link to what is not there");
    for word in text.split_whitespace() {
        if let Some(target) = link::parse_link(word) {
            holds(word, &target);
        }
    }
}

fn holds(word: &str, target: &LinkTarget) {
    match target {
        LinkTarget::File { path, line, end, column } => {
            assert!(!path.is_empty(), "{word:?} leads to nothing");
            assert!(![*line, *end, *column].contains(&Some(0)), "{word:?} leads to line or column 0");
            assert!(line.is_some() || (end.is_none() && column.is_none()), "{word:?} has an end and no line");
            assert!(end.is_none_or(|end| Some(end) >= *line), "{word:?} ends before it begins");
        }
        LinkTarget::Web(address) => begins(address, &["http://", "https://"]),
        LinkTarget::Workspace(address) => begins(address, &["workspace://"]),
    }
}

/// Schemes are the same in capitals.
fn begins(address: &str, schemes: &[&str]) {
    let small = address.to_ascii_lowercase();
    assert!(schemes.iter().any(|scheme| small.starts_with(scheme)), "{address:?} leads elsewhere");
}
