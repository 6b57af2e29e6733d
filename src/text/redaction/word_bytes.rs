//! Bytes of words: of names and tokens.

/// Returns the number of leading bytes that match.
pub(super) fn prefix_length(text: &str, predicate: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| predicate(*byte)).count()
}

/// Returns whether a byte belongs to a word: a name or a token.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}
