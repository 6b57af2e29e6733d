//! Token estimates by kind of character, without a model's tokenizer.

/// Kinds of characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenClass {
    /// Letters of English and similar languages.
    Latin,
    /// Letters of other alphabets or with accents, and other symbols.
    Other,
    /// Characters that are almost a token each: Chinese, Japanese, Korean, emoji, control characters.
    Ideograph,
    Digit,
    Space,
    LineBreak,
    Punctuation,
}

/// Estimates the tokens of a text, within 20 % of the tokenizers of well-known models for prose, code, JSON and East
/// Asian languages. One pass, without state.
pub fn estimate_text(text: &str) -> u64 {
    #[cfg(test)]
    COUNTED_BYTES.with(|bytes| bytes.set(bytes.get() + text.len()));
    // In hundredths of a token: integers give the same result on every machine.
    let mut hundredths: u64 = 0;
    let (mut position, mut previous) = (0, TokenClass::LineBreak);
    while let Some((class, mut last_byte, mut next_position)) = next_char(text, position) {
        let mut length: u64 = 1;
        // `parseThing` is two words.
        while let Some((next_class, byte, end)) = next_char(text, next_position)
            && next_class == class
            && !(byte.is_ascii_uppercase() && last_byte.is_ascii_lowercase())
        {
            length += 1;
            (last_byte, next_position) = (byte, end);
        }
        hundredths += match class {
            // A short word is one token; a long one is composed of pieces.
            TokenClass::Latin => 100 + 22 * length.saturating_sub(6),
            TokenClass::Other => 60 + 17 * length.saturating_sub(1),
            TokenClass::Ideograph => 69 * length,
            TokenClass::Digit => 100 * length.div_ceil(3),
            // One space belongs to the word after it.
            TokenClass::Space if length == 1 && previous != TokenClass::LineBreak => 0,
            TokenClass::Space => 60 + 2 * length,
            TokenClass::LineBreak => 60,
            TokenClass::Punctuation => 46 + 27 * length,
        };
        (position, previous) = (next_position, class);
    }
    hundredths.div_ceil(100)
}

/// Returns the kind of the character at this offset, its byte (0 if it is not ASCII), and the next offset. ASCII is
/// looked up in a table, because whole sessions are counted when opened and most of their text is ASCII.
fn next_char(text: &str, offset: usize) -> Option<(TokenClass, u8, usize)> {
    let byte = *text.as_bytes().get(offset)?;
    if byte.is_ascii() {
        return Some((ASCII_CLASSES[usize::from(byte)], byte, offset + 1));
    }
    let character = text[offset..].chars().next()?;
    Some((classify_non_ascii(character), 0, offset + character.len_utf8()))
}

/// Kind of each ASCII character.
static ASCII_CLASSES: [TokenClass; 128] = {
    let mut classes = [TokenClass::Ideograph; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => TokenClass::Latin,
            b'0'..=b'9' => TokenClass::Digit,
            b'\n' | b'\r' => TokenClass::LineBreak,
            b' ' | b'\t' | 0x0b | 0x0c => TokenClass::Space,
            0x21..=0x7f => TokenClass::Punctuation,
            _ => TokenClass::Ideograph,
        };
        byte += 1;
    }
    classes
};

/// Classifies a character that is not ASCII.
fn classify_non_ascii(c: char) -> TokenClass {
    match c {
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' => {
            TokenClass::Ideograph
        }
        '\u{ff00}'..='\u{ffef}' | '\u{1f000}'..='\u{3ffff}' => TokenClass::Ideograph,
        c if c.is_alphabetic() => TokenClass::Other,
        c if c.is_whitespace() => TokenClass::Space,
        c if c.is_control() => TokenClass::Ideograph,
        _ => TokenClass::Other,
    }
}

#[cfg(test)]
thread_local! {
    static COUNTED_BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns the bytes counted on this thread, for tests of the cost of a turn.
#[cfg(test)]
pub(crate) fn counted_bytes() -> usize {
    COUNTED_BYTES.with(std::cell::Cell::get)
}

#[cfg(test)]
mod tests;
