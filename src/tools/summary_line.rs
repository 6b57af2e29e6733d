//! Shortens text to one displayable line.

use crate::text::hidden_chars::mark_hidden;

/// Longer runs of blanks are shown as a count, so that they cannot push the rest out of view.
const MAX_BLANKS: usize = 20;

/// Returns the first line that is not blank, at most `limit` characters.
///
/// Hidden characters are marked as `<U+202E>`, long runs of blanks are shown as a count, a tab becomes a blank, and `…`
/// marks truncation.
pub fn first_line(text: &str, limit: usize) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let (collapsed, has_more) = collapse_blanks(lines.next().unwrap_or_default().trim(), limit);
    let line = mark_hidden(&collapsed);
    if !has_more && lines.next().is_none() && line.chars().count() <= limit {
        return line.into_owned();
    }
    let shortened: String = line.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", shortened.trim_end())
}

/// Shows long runs of blanks as a count. Stops once the result is longer than `limit`, and returns whether the rest of
/// the line is missing.
fn collapse_blanks(line: &str, limit: usize) -> (String, bool) {
    let mut collapsed = String::new();
    let (mut count, mut remaining) = (0, line.chars().peekable());
    while count <= limit
        && let Some(c) = remaining.next()
    {
        let mut blanks = 1;
        while c == ' ' && remaining.next_if_eq(&' ').is_some() {
            blanks += 1;
        }
        match c {
            ' ' if blanks > MAX_BLANKS => collapsed.push_str(&format!("<{blanks} blanks>")),
            ' ' | '\t' => collapsed.extend(std::iter::repeat_n(' ', blanks)),
            c => collapsed.push(c),
        }
        count += blanks.min(MAX_BLANKS);
    }
    (collapsed, remaining.next().is_some())
}

/// Returns at most `limit` characters, and the full count if truncated.
pub fn truncate_chars(text: &str, limit: usize) -> (&str, Option<usize>) {
    match text.char_indices().nth(limit) {
        Some((end, _)) => (&text[..end], Some(text.chars().count())),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortens_text_to_its_first_line() {
        for (text, expected) in [
            ("ls", "ls"),
            ("\n  cargo test\n", "cargo test"),
            ("a\nb", "a…"),
            ("12345678901", "123456789…"),
            ("1234567890", "1234567890"),
            ("a\tb\u{a0}c", "a b\u{a0}c"),
            ("", ""),
        ] {
            assert_eq!(first_line(text, 10), expected, "{text:?}");
        }
    }

    #[test]
    fn marks_hidden_characters_and_long_blanks() {
        assert_eq!(first_line("a\x1b[2J\u{202e}b", 40), "a<U+001B>[2J<U+202E>b");
        assert_eq!(first_line(&format!("ls{}; rm x", " ".repeat(60)), 40), "ls<60 blanks>; rm x");
        assert_eq!(first_line(&format!("ls{}; rm x", " ".repeat(20)), 40), format!("ls{}; rm x", " ".repeat(20)));
        assert_eq!(first_line("a\u{e0041}b ❤\u{fe0f}", 40), "a<U+E0041>b ❤\u{fe0f}");
        assert_eq!(first_line(&"\u{202e}".repeat(100_000), 10), "<U+202E x…");
        assert_eq!(first_line(&"\u{202e}".repeat(100), 40), "<U+202E x41>…");
    }
}
