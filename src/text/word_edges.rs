//! Signs around a word of a sentence that do not belong to the word: quotes, brackets and punctuation.

/// Returns whether a sign may precede a word without a blank between them.
pub fn is_opening_sign(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '<' | '"' | '\'' | '`')
}

/// Returns whether a sign follows a word without a blank between them: punctuation, and brackets that close.
pub fn is_punctuation(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '?' | '!' | ')' | ']' | '}')
}

/// Returns whether a sign at the end of a word may belong to the sentence around it.
pub fn is_closing_sign(c: char) -> bool {
    is_punctuation(c) || matches!(c, '>' | '"' | '\'' | '`')
}

/// Returns whether a word begins at this byte position, possibly after signs that precede it.
pub fn is_word_start(text: &str, position: usize) -> bool {
    let before = text[..position].trim_end_matches(is_opening_sign);
    before.chars().next_back().is_none_or(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_begins_at_the_start_after_a_blank_and_after_opening_signs() {
        for (text, expected) in [
            ("@", true),
            ("a @", true),
            ("a\n(\"@", true),
            ("a@", false),
            ("a(@", false),
            ("a.@", false),
            ("漢 <@", true),
        ] {
            assert_eq!(is_word_start(text, text.len() - 1), expected, "{text}");
        }
    }
}
