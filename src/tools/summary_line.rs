//! Shortens text to one displayable line.

/// Longer runs of blanks are shown as a count, so that they cannot push the rest out of view.
const MAX_BLANKS: usize = 20;

/// Returns the first line that is not blank, at most `limit` characters.
///
/// Control characters and the commonest invisible ones are marked as `<U+202E>`, long runs of blanks are shown as a
/// count, a tab becomes a blank, and `…` marks truncation.
pub fn first_line(text: &str, limit: usize) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first_line_text = mark_invisible(lines.next().unwrap_or_default().trim(), limit);
    let is_truncated = lines.next().is_some() || first_line_text.chars().count() > limit;
    if !is_truncated {
        return first_line_text;
    }
    let mut truncated: String = first_line_text.chars().take(limit.saturating_sub(1)).collect();
    truncated.truncate(truncated.trim_end().len());
    truncated.push('…');
    truncated
}

/// Marks the invisible characters of a line. Stops once the result is longer than `limit`: the rest of a longer line
/// is missing.
fn mark_invisible(line: &str, limit: usize) -> String {
    let mut marked = String::new();
    let (mut count, mut remaining) = (0, line.chars().peekable());
    while let Some(c) = remaining.next() {
        if count > limit {
            break;
        }
        let shown_text = match c {
            '\t' => " ".to_owned(),
            ' ' => {
                let mut blanks = 1;
                while remaining.next_if_eq(&' ').is_some() {
                    blanks += 1;
                }
                if blanks > MAX_BLANKS { format!("<{blanks} blanks>") } else { " ".repeat(blanks) }
            }
            c if is_invisible(c) => format!("<U+{:04X}>", u32::from(c)),
            c => c.to_string(),
        };
        count += shown_text.chars().count();
        marked.push_str(&shown_text);
    }
    marked
}

/// Returns at most `limit` characters, and the full count if truncated.
pub fn truncate_chars(text: &str, limit: usize) -> (&str, Option<usize>) {
    match text.char_indices().nth(limit) {
        Some((end, _)) => (&text[..end], Some(text.chars().count())),
        None => (text, None),
    }
}

/// Returns whether a character moves the cursor, or is one of the commonest that are invisible or reorder text.
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
