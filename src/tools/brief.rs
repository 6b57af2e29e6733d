//! Long or unruly text as one short line.

/// The first line that says something, at most `limit` characters; control characters become blanks, and what was cut is marked.
pub fn line(text: &str, limit: usize) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default().trim();
    let clean: String = first.chars().map(|c| if unruly(c) { ' ' } else { c }).take(limit + 1).collect();
    let more = lines.next().is_some() || clean.chars().count() > limit;
    if !more {
        return clean;
    }
    let mut cut: String = clean.chars().take(limit.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// At most `limit` characters, and how many there were if that is more.
pub fn cut(text: &str, limit: usize) -> (&str, Option<usize>) {
    match text.char_indices().nth(limit) {
        Some((end, _)) => (&text[..end], Some(text.chars().count())),
        None => (text, None),
    }
}

/// Whether it moves the cursor, hides or turns text around.
fn unruly(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_short_clean_line() {
        for (text, expected) in [
            ("ls", "ls"),
            ("\n  cargo test\n", "cargo test"),
            ("a\nb", "a…"),
            ("12345678901", "123456789…"),
            ("1234567890", "1234567890"),
            ("a\x1b[2J\u{202e}b", "a [2J b"),
            ("", ""),
        ] {
            assert_eq!(line(text, 10), expected, "{text:?}");
        }
    }
}
