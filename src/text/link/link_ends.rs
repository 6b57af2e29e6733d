//! Where a link in prose ends.

/// Returns whether an address ends before this character.
pub(super) fn ends_address(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "<>\"`{}|\\^".contains(c) || is_wide_punctuation(c)
}

/// Returns whether this is punctuation of a script that is written without blanks.
pub(super) fn is_wide_punctuation(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301F}')
        || matches!(c, '！' | '（' | '）' | '，' | '：' | '；' | '？' | '“' | '”' | '‘' | '’' | '…')
}

/// Returns the length without trailing punctuation and brackets of the surrounding sentence.
pub(super) fn trimmed_length(word: &str) -> usize {
    let count = |c: char| word.matches(c).count();
    // Of the part that is not trimmed yet.
    let [mut opened, mut closed, mut opened_square, mut closed_square] = ['(', ')', '[', ']'].map(count);
    let mut end = word.len();
    while let Some(last) = word[..end].chars().next_back() {
        match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~' => {}
            '(' => opened -= 1,
            '[' => opened_square -= 1,
            ')' if opened < closed => closed -= 1,
            ']' if opened_square < closed_square => closed_square -= 1,
            _ => break,
        }
        end -= last.len_utf8();
    }
    end
}
