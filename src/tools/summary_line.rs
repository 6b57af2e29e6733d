//! Shortens text to one displayable line.

/// Longer runs of blanks are shown as a count, so that they cannot push the rest out of view.
const BLANKS: usize = 20;

/// Returns the first line that is not blank, at most `limit` characters.
///
/// Invisible characters are marked as in the approval prompt, a tab becomes a blank, and `…` marks truncation.
pub fn first_line(text: &str, limit: usize) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = mark_invisible(lines.next().unwrap_or_default().trim(), limit);
    let more = lines.next().is_some() || first.chars().count() > limit;
    if !more {
        return first;
    }
    let mut cut: String = first.chars().take(limit.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// Marks invisible characters at the start of a line. The result is longer than `limit` only if the line is.
fn mark_invisible(line: &str, limit: usize) -> String {
    let mut out = String::new();
    let (mut count, mut rest) = (0, line.chars().peekable());
    while let Some(c) = rest.next() {
        if count > limit {
            break;
        }
        let piece = match c {
            '\t' => " ".to_owned(),
            ' ' => {
                let mut blanks = 1;
                while rest.next_if_eq(&' ').is_some() {
                    blanks += 1;
                }
                if blanks > BLANKS { format!("<{blanks} blanks>") } else { " ".repeat(blanks) }
            }
            c if is_invisible(c) => format!("<U+{:04X}>", u32::from(c)),
            c => c.to_string(),
        };
        count += piece.chars().count();
        out.push_str(&piece);
    }
    out
}

/// Returns at most `limit` characters, and the full count if truncated.
pub fn truncate_chars(text: &str, limit: usize) -> (&str, Option<usize>) {
    match text.char_indices().nth(limit) {
        Some((end, _)) => (&text[..end], Some(text.chars().count())),
        None => (text, None),
    }
}

/// Returns true for characters that move the cursor, are invisible or reorder text.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
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
    fn marks_invisible_characters_and_long_blanks() {
        assert_eq!(first_line("a\x1b[2J\u{202e}b", 40), "a<U+001B>[2J<U+202E>b");
        assert_eq!(first_line(&format!("ls{}; rm x", " ".repeat(60)), 40), "ls<60 blanks>; rm x");
        assert_eq!(first_line(&format!("ls{}; rm x", " ".repeat(20)), 40), format!("ls{}; rm x", " ".repeat(20)));
        assert_eq!(first_line(&"\u{202e}".repeat(100_000), 10), "<U+202E><…");
    }
}
