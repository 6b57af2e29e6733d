//! Hidden characters: those that are invisible, or look like something else, and text in which they are marked.

use std::borrow::Cow;

/// Effect of a character on a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CharClass {
    /// Visible as itself.
    Plain,
    /// Control character: C0, DEL or C1.
    Control,
    /// Line separator other than `\n`.
    Separator,
    /// Without width, or bidirectional.
    Hidden,
    /// A space other than U+0020, or a private-use character: marked in prompts, allowed in ordinary text.
    HiddenInPrompts,
    /// Joins emoji, selects their colour form, or shapes letters of some scripts; hidden anywhere else.
    Joiner,
    /// Drawn onto the character before it.
    Combining,
}

/// Classifies a character by its effect on a screen.
pub fn classify_char(c: char) -> CharClass {
    match c {
        ' '..='~' => CharClass::Plain,
        '\u{0B}' | '\u{0C}' | '\u{85}' | '\u{2028}' | '\u{2029}' => CharClass::Separator,
        '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' => CharClass::Control,
        '\u{200C}' | '\u{200D}' | '\u{FE0F}' => CharClass::Joiner,
        '\u{AD}' | '\u{34F}' | '\u{61C}' => CharClass::Hidden,
        '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}' => CharClass::Hidden,
        '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' => CharClass::Hidden,
        '\u{200B}' | '\u{200E}' | '\u{200F}' => CharClass::Hidden,
        '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' => CharClass::Hidden,
        '\u{FE00}'..='\u{FE0E}' | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFB}' => CharClass::Hidden,
        '\u{FDD0}'..='\u{FDEF}' | '\u{1D173}'..='\u{1D17A}' | '\u{1BCA0}'..='\u{1BCA3}' => CharClass::Hidden,
        '\u{E0000}'..='\u{E0FFF}' => CharClass::Hidden,
        // Noncharacters: the last two of every plane.
        c if u32::from(c) & 0xFFFE == 0xFFFE => CharClass::Hidden,
        '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' => CharClass::HiddenInPrompts,
        // A cell of a picture that the terminal stores: no text may show one.
        '\u{10EEEE}' => CharClass::Hidden,
        '\u{2800}' | '\u{3000}' | '\u{E000}'..='\u{F8FF}' | '\u{F0000}'.. => CharClass::HiddenInPrompts,
        c if unicode_width::UnicodeWidthChar::width(c) == Some(0) => CharClass::Combining,
        _ => CharClass::Plain,
    }
}

/// Maximum number of combining marks shown on one character. Further ones would be drawn over other lines.
pub const MAX_COMBINING_MARKS: usize = 4;

/// Returns whether a joiner between these characters has an effect: inside an emoji, or between shaped letters.
pub fn is_joiner_valid(previous: Option<char>, joiner: char, next: Option<char>) -> bool {
    let Some(base) = previous else { return false };
    match joiner {
        '\u{FE0F}' => is_emoji(base) || matches!(base, '0'..='9' | '#' | '*'),
        '\u{200D}' if base == '\u{FE0F}' || is_emoji(base) => next.is_some_and(is_emoji),
        _ => shapes_letters(previous, next),
    }
}

/// Returns whether both belong to a script whose letters change shape at a joiner: Arabic, and those of India and its
/// neighbours.
pub fn shapes_letters(previous: Option<char>, next: Option<char>) -> bool {
    let is_shaped = |c: char| {
        matches!(c, '\u{600}'..='\u{DFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{18AF}')
            && matches!(classify_char(c), CharClass::Plain | CharClass::Combining)
    };
    previous.is_some_and(is_shaped) && next.is_some_and(is_shaped)
}

/// Returns whether a character can be part of an emoji sequence. The ranges are wider than the standard's, which is
/// harmless.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{3030}' | '\u{303D}')
        || matches!(c, '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{25A0}'..='\u{27BF}')
        || matches!(c, '\u{2900}'..='\u{297F}' | '\u{2B00}'..='\u{2BFF}' | '\u{3297}' | '\u{3299}')
        || matches!(c, '\u{1F000}'..='\u{1FAFF}')
}

/// Returns whether a character can hide inside a word: it has no width, is bidirectional or a control character.
pub fn is_hidden(c: char) -> bool {
    match classify_char(c) {
        CharClass::Control | CharClass::Separator | CharClass::Hidden | CharClass::Joiner => true,
        CharClass::Plain | CharClass::HiddenInPrompts | CharClass::Combining => false,
    }
}

/// Marks every hidden character as `<U+202E>`: controls other than line feeds and tabs, bidirectional, zero-width and
/// tag characters, joiners outside of emoji, and combining characters beyond [`MAX_COMBINING_MARKS`]. More than
/// [`MAX_MARKED_RUN`] equal characters in a row get one mark with their number: `<U+0000 x12>`. Carriage returns before
/// a line feed are removed.
pub fn mark_hidden(text: &str) -> Cow<'_, str> {
    replace_hidden(text, |out, c, run, following| match run {
        _ if c == '\r' && following.starts_with('\n') => {}
        ..=MAX_MARKED_RUN => (0..run).for_each(|_| out.push_str(&mark_char(c))),
        _ => out.push_str(&format!("<U+{:04X} x{run}>", u32::from(c))),
    })
}

/// Removes every hidden character: for text that is copied, in which a mark would be wrong.
pub fn remove_hidden(text: &str) -> Cow<'_, str> {
    replace_hidden(text, |_, _, _, _| {})
}

/// Escapes every hidden character in JSON. The value is unchanged, and a terminal executes nothing.
pub fn escape_hidden(json: &str) -> Cow<'_, str> {
    replace_hidden(json, |out, c, run, _| {
        for unit in c.encode_utf16(&mut [0; 2]).repeat(run) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

/// Replaces each run of one hidden character with what `write` appends. Its arguments are the output, the character,
/// the length of the run and the text after it.
fn replace_hidden(text: &str, write: impl Fn(&mut String, char, usize, &str)) -> Cow<'_, str> {
    let Some(first) = find_hidden(text) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 8);
    let mut remaining = text;
    let mut next_hidden = Some(first);
    while let Some((position, c)) = next_hidden {
        out.push_str(&remaining[..position]);
        let run = remaining[position..].chars().take_while(|other| *other == c).count();
        remaining = &remaining[position + run * c.len_utf8()..];
        write(&mut out, c, run, remaining);
        next_hidden = find_hidden(remaining);
    }
    out.push_str(remaining);
    Cow::Owned(out)
}

/// Maximum length of a run of one hidden character in which each one is marked separately.
pub const MAX_MARKED_RUN: usize = 3;

/// Returns the mark of a hidden character.
pub fn mark_char(c: char) -> String {
    format!("<U+{:04X}>", u32::from(c))
}

/// Returns the first hidden character of a text and its byte index.
pub fn find_hidden(text: &str) -> Option<(usize, char)> {
    // Fast path: most texts are plain ASCII.
    let is_plain = |byte: &u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    let start = text.bytes().position(|byte| !is_plain(&byte))?;
    // A combining character or joiner depends on the character before it, so start there.
    let start = start.saturating_sub(1);
    let (mut previous, mut combining_marks) = (None, 0);
    let mut chars = text[start..].char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        let is_visible = match classify_char(c) {
            CharClass::Plain | CharClass::HiddenInPrompts => true,
            CharClass::Control => matches!(c, '\n' | '\t'),
            CharClass::Separator | CharClass::Hidden => false,
            CharClass::Joiner => is_joiner_valid(previous, c, chars.peek().map(|(_, c)| *c)),
            CharClass::Combining => {
                combining_marks += 1;
                previous.is_some() && combining_marks <= MAX_COMBINING_MARKS
            }
        };
        if !is_visible {
            return Some((start + offset, c));
        }
        if classify_char(c) != CharClass::Combining {
            combining_marks = 0;
        }
        previous = (c != '\n').then_some(c);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r32_marks_only_hidden_characters() {
        for (text, marked) in [
            ("a\u{202e}b", "a<U+202E>b"),
            ("a\u{e0041}\u{e007f}b", "a<U+E0041><U+E007F>b"),
            ("\u{200b}\u{feff}\u{1b}[31m", "<U+200B><U+FEFF><U+001B>[31m"),
            ("a\u{200d}b\u{2028}\r", "a<U+200D>b<U+2028><U+000D>"),
            ("\u{301}", "<U+0301>"),
            ("a\u{200c}b \u{200c}م", "a<U+200C>b <U+200C>م"),
            ("a\r\nb\r\r\nc\rd", "a\nb\nc<U+000D>d"),
            ("a\0\0\0b\0\0\0\0", "a<U+0000><U+0000><U+0000>b<U+0000 x4>"),
        ] {
            assert_eq!(mark_hidden(text), marked, "{text:?}");
        }
        let scripts = "می\u{200c}خواهم क्\u{200d}ष";
        for text in ["größer 漢字 e\u{301} 👩\u{200d}👧 ❤\u{fe0f}\n\tb", scripts, "a\u{a0}b", ""] {
            assert!(matches!(mark_hidden(text), Cow::Borrowed(_)), "{text:?}");
        }
    }

    #[test]
    fn copied_text_and_json_contain_no_hidden_characters() {
        let text = "a\u{202e}b\u{e0041}\r\n\u{200b}\u{200b}c 👩\u{200d}👧\u{200d}";
        assert_eq!(remove_hidden(text), "ab\nc 👩\u{200d}👧");
        assert_eq!(escape_hidden("\"a\u{e0041}\u{200b}\u{200b}\""), "\"a\\udb40\\udc41\\u200b\\u200b\"");
    }

    proptest::proptest! {
        #[test]
        fn r32_marked_text_contains_no_hidden_characters(text in "(\\PC|[\0-\u{ff}]|\u{202e}|\u{200d}|\u{e0041}|👩){0,40}") {
            let marked = mark_hidden(&text);
            proptest::prop_assert_eq!(find_hidden(&marked), None);
            proptest::prop_assert_eq!(mark_hidden(&marked), marked.as_ref());
        }
    }
}
