//! Token estimates by kind of character, without a model's tokenizer.

use super::{Message, ToolCall, ToolSpec};

/// Tokens of a message beyond its text: its role and delimiters.
pub const FRAME: u64 = 4;

/// Kinds of characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Letters of English and similar languages.
    Latin,
    /// Letters of other alphabets, or with accents.
    Other,
    /// Characters that are words: Chinese, Japanese, Korean.
    Sign,
    Digit,
    Space,
    Line,
    Mark,
}

/// Estimates the tokens of a text, within 20 % of the tokenizers of well-known models for prose, code, JSON and East
/// Asian languages. One pass, without state.
pub fn estimate(text: &str) -> u64 {
    #[cfg(test)]
    COUNTED.with(|counted| counted.set(counted.get() + text.len()));
    // In hundredths of a token: integers give the same result on every machine.
    let mut hundredths: u64 = 0;
    let (mut at, mut before) = (0, Kind::Line);
    while let Some((kind, mut last, mut behind)) = letter(text, at) {
        let mut length: u64 = 1;
        // `parseThing` is two words.
        while let Some((next, byte, end)) = letter(text, behind)
            && next == kind
            && !(byte.is_ascii_uppercase() && last.is_ascii_lowercase())
        {
            length += 1;
            (last, behind) = (byte, end);
        }
        hundredths += match kind {
            // A short word is one token; a long one is composed of pieces.
            Kind::Latin => 100 + 22 * length.saturating_sub(6),
            Kind::Other => 60 + 17 * length.saturating_sub(1),
            Kind::Sign => 69 * length,
            Kind::Digit => 100 * length.div_ceil(3),
            // One space belongs to the word after it.
            Kind::Space if length == 1 && before != Kind::Line => 0,
            Kind::Space => 60 + 2 * length,
            Kind::Line => 60,
            Kind::Mark => 46 + 27 * length,
        };
        (at, before) = (behind, kind);
    }
    hundredths.div_ceil(100)
}

/// Estimates the tokens of a message, including [`FRAME`].
pub fn of_message(message: &Message) -> u64 {
    FRAME
        + match message {
            Message::System(text) | Message::Person(text) | Message::Tool { text, .. } => estimate(text),
            Message::Model { text, calls, .. } => estimate(text) + of_calls(calls),
        }
}

/// Estimates the tokens of the calls of a reply.
pub fn of_calls(calls: &[ToolCall]) -> u64 {
    calls.iter().map(|call| 8 + estimate(&call.name) + estimate(&call.arguments)).sum()
}

/// Estimates the tokens of tool descriptions.
pub fn of_tools(tools: &[ToolSpec]) -> u64 {
    let spec = |tool: &ToolSpec| {
        FRAME
            + 4
            + estimate(&tool.name)
            + estimate(&tool.description)
            + estimate(&tool.parameters.to_string())
    };
    tools.iter().map(spec).sum()
}

/// Returns the kind of the character at this offset, its byte if it is ASCII, and the next offset. Whole sessions are
/// counted when opened, and most text is ASCII.
fn letter(text: &str, at: usize) -> Option<(Kind, u8, usize)> {
    let byte = *text.as_bytes().get(at)?;
    if byte.is_ascii() {
        return Some((ASCII[usize::from(byte)], byte, at + 1));
    }
    let letter = text[at..].chars().next()?;
    Some((kind(letter), 0, at + letter.len_utf8()))
}

/// Kind of each ASCII character.
static ASCII: [Kind; 128] = {
    let mut kinds = [Kind::Sign; 128];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Kind::Latin,
            b'0'..=b'9' => Kind::Digit,
            b'\n' | b'\r' => Kind::Line,
            b' ' | b'\t' | 0x0b | 0x0c => Kind::Space,
            0x21..=0x7f => Kind::Mark,
            _ => Kind::Sign,
        };
        byte += 1;
    }
    kinds
};

/// Classifies a character that is not ASCII.
fn kind(c: char) -> Kind {
    match c {
        '\u{1100}'..='\u{11ff}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' => Kind::Sign,
        '\u{ff00}'..='\u{ffef}' | '\u{1f000}'..='\u{3ffff}' => Kind::Sign,
        c if c.is_alphabetic() => Kind::Other,
        c if c.is_whitespace() => Kind::Space,
        c if c.is_control() => Kind::Sign,
        _ => Kind::Other,
    }
}

#[cfg(test)]
thread_local! {
    static COUNTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns the bytes counted on this thread, for tests of the cost of a turn.
#[cfg(test)]
pub(crate) fn counted() -> usize {
    COUNTED.with(std::cell::Cell::get)
}

#[cfg(test)]
mod tests;
