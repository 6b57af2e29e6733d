//! References to files in the arguments of a call: `@@file:report.csv[2-9]`.
//!
//! ```text
//! reference = "@@" [ "agpt" ] "file:" target [ range ]
//! target    = '"' *( any character, or \" or \\ ) '"'     ; on one line
//!           / 1*( any character except white space, "[" and '"' )
//! range     = "[" ( N / N "-" N / N "-" / "-" N ) "]"     ; lines from 1, both ends included; "-N": the last N
//! escape    = "@" before "@@file:"                        ; one "@" of three or more is removed
//! ```

use super::word_edges::is_closing_sign;
use std::fmt;

/// Ways to write the beginning of a reference after `@@`.
const NAMES: [&str; 2] = ["file:", "agptfile:"];

/// Part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPart {
    /// Text without references, unescaped.
    Literal(String),
    Reference(FileReference),
}

/// A reference to a file, or to lines of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReference {
    /// Path or `workspace://` address, unescaped.
    pub target: String,
    pub range: Option<LineRange>,
    /// True if the target is in quotes, so that no character at its end belongs to the text around it.
    is_quoted: bool,
}

/// Lines of a text, numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineRange {
    /// From the first to the last of these lines, both included.
    Lines(u64, u64),
    /// From this line to the end.
    From(u64),
    /// This many lines at the end.
    Last(u64),
}

/// Reason why a text with `@@file:` is invalid, worded to follow a colon.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    #[error("no path follows “@@file:”; write “@@@file:” for the text itself")]
    NoTarget,
    #[error("the quote after “@@file:” is not closed on the same line")]
    OpenQuote,
    #[error("the lines {0} do not exist: lines are numbered from 1")]
    LineZero(String),
    #[error("the last line of {0} is before the first")]
    Reversed(String),
    #[error("the line numbers of {0} are too large")]
    LargeNumber(String),
}

impl FileReference {
    /// Returns the target, and then the target without each of the characters at its end that may belong to the sentence
    /// around it, with those characters. A target in quotes or with a range is returned only as it is.
    pub fn possible_targets(&self) -> impl Iterator<Item = (&str, &str)> {
        let whole = self.target.as_str();
        let mut end = whole.len();
        let has_end = self.is_quoted || self.range.is_some();
        let shorter = std::iter::from_fn(move || {
            let rest = whole[..end].strip_suffix(is_closing_sign).filter(|rest| !has_end && !rest.is_empty())?;
            end = rest.len();
            Some((rest, &whole[end..]))
        });
        std::iter::once((whole, "")).chain(shorter)
    }
}

impl LineRange {
    /// Returns the lines of a text with their line breaks, which are `\n` or `\r\n`.
    ///
    /// # Errors
    /// The number of lines if the text has fewer than the range names.
    pub fn select(self, text: &str) -> Result<&str, u64> {
        let count = text.split_inclusive('\n').count() as u64;
        let (first, last) = match self {
            Self::Lines(first, last) => (first, last),
            Self::From(first) => (first, count.max(first)),
            Self::Last(lines) if lines > count => return Err(count),
            Self::Last(lines) => (count - lines + 1, count),
        };
        if last > count {
            return Err(count);
        }
        let start_of = |line: u64| {
            let before = text.split_inclusive('\n').take(usize::try_from(line - 1).unwrap_or(usize::MAX));
            before.map(str::len).sum::<usize>()
        };
        Ok(&text[start_of(first)..start_of(last + 1)])
    }
}

impl fmt::Display for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines(first, last) if first == last => write!(f, "[{first}]"),
            Self::Lines(first, last) => write!(f, "[{first}-{last}]"),
            Self::From(first) => write!(f, "[{first}-]"),
            Self::Last(lines) => write!(f, "[-{lines}]"),
        }
    }
}

/// Splits a text at its references. Adjacent literals are joined, and none is empty.
pub fn parse_text(text: &str) -> Result<Vec<TextPart>, ReferenceError> {
    let mut parts = Vec::new();
    let (mut literal, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("@@") {
        let signs = rest[at..].bytes().take_while(|byte| *byte == b'@').count();
        let after = &rest[at + signs..];
        literal.push_str(&rest[..at]);
        match NAMES.iter().find_map(|name| after.strip_prefix(name)) {
            None => {
                literal.push_str(&rest[at..at + signs]);
                rest = after;
            }
            // An escape.
            Some(_) if signs > 2 => {
                literal.push_str(&rest[at + 1..at + signs]);
                rest = after;
            }
            Some(target) => {
                let (reference, length) = parse_reference(target)?;
                if !literal.is_empty() {
                    parts.push(TextPart::Literal(std::mem::take(&mut literal)));
                }
                parts.push(TextPart::Reference(reference));
                rest = &target[length..];
            }
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        parts.push(TextPart::Literal(literal));
    }
    Ok(parts)
}

/// Returns the reference if the text is nothing else, apart from white space around it.
pub fn as_single_reference(parts: &[TextPart]) -> Option<&FileReference> {
    let is_blank = |part: &TextPart| matches!(part, TextPart::Literal(text) if text.trim().is_empty());
    let mut others = parts.iter().filter(|part| !is_blank(part));
    match (others.next(), others.next()) {
        (Some(TextPart::Reference(reference)), None) => Some(reference),
        _ => None,
    }
}

/// Returns whether a text has to be parsed: it may hold a reference or an escape.
pub fn may_have_references(text: &str) -> bool {
    NAMES.iter().any(|name| text.match_indices(name).any(|(at, _)| text[..at].ends_with("@@")))
}

/// Parses what follows `@@file:`. Also returns its length in bytes.
fn parse_reference(text: &str) -> Result<(FileReference, usize), ReferenceError> {
    let (target, length, is_quoted) = match text.strip_prefix('"') {
        Some(quoted) => {
            let (target, length) = parse_quoted(quoted)?;
            (target, length + 1, true)
        }
        None => {
            let ends = |character: char| character.is_whitespace() || matches!(character, '[' | '"');
            let length = text.find(ends).unwrap_or(text.len());
            (text[..length].to_owned(), length, false)
        }
    };
    if target.trim().is_empty() {
        return Err(ReferenceError::NoTarget);
    }
    let (range, range_length) = match parse_range(&text[length..])? {
        Some((range, length)) => (Some(range), length),
        None => (None, 0),
    };
    Ok((FileReference { target, range, is_quoted }, length + range_length))
}

/// Parses a target up to its closing quote. Also returns the length with that quote.
fn parse_quoted(text: &str) -> Result<(String, usize), ReferenceError> {
    let (mut target, mut chars) = (String::new(), text.char_indices());
    while let Some((at, character)) = chars.next() {
        match character {
            '"' => return Ok((target, at + 1)),
            '\n' | '\r' => break,
            '\\' => match chars.next() {
                Some((_, escaped @ ('"' | '\\'))) => target.push(escaped),
                Some((_, other)) if other != '\n' => target.extend(['\\', other]),
                _ => break,
            },
            character => target.push(character),
        }
    }
    Err(ReferenceError::OpenQuote)
}

/// Parses a range and returns its length in bytes. A bracket with anything else in it is text.
fn parse_range(text: &str) -> Result<Option<(LineRange, usize)>, ReferenceError> {
    let Some((inner, _)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) else { return Ok(None) };
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (first, last) = inner.split_once('-').map_or((inner, None), |(first, last)| (first, Some(last)));
    if !is_digits(first) || !last.is_none_or(is_digits) || first.is_empty() && last.is_none_or(str::is_empty) {
        return Ok(None);
    }
    let displayed = || format!("[{inner}]");
    let number = |digits: &str| match digits.parse::<u64>() {
        Ok(0) => Err(ReferenceError::LineZero(displayed())),
        Ok(number) if number < u64::from(u32::MAX) => Ok(number),
        Ok(_) | Err(_) => Err(ReferenceError::LargeNumber(displayed())),
    };
    let range = match (first, last) {
        (first, None) => LineRange::Lines(number(first)?, number(first)?),
        ("", Some(count)) => LineRange::Last(number(count)?),
        (first, Some("")) => LineRange::From(number(first)?),
        (first, Some(last)) => match (number(first)?, number(last)?) {
            (first, last) if last < first => return Err(ReferenceError::Reversed(displayed())),
            (first, last) => LineRange::Lines(first, last),
        },
    };
    Ok(Some((range, inner.len() + 2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Formats parts: references with their target in angle quotes.
    fn show(text: &str) -> String {
        match parse_text(text) {
            Err(error) => format!("error: {error}"),
            Ok(parts) => parts
                .iter()
                .map(|part| match part {
                    TextPart::Literal(text) => text.clone(),
                    TextPart::Reference(FileReference { target, range, .. }) => {
                        format!("‹{target}{}›", range.map(|range| range.to_string()).unwrap_or_default())
                    }
                })
                .collect(),
        }
    }

    #[test]
    fn parses_targets_ranges_and_escapes() {
        for (text, expected) in [
            ("plain", "plain"),
            ("@@file:a.txt", "‹a.txt›"),
            ("@@agptfile:/a.txt[10-20]", "‹/a.txt[10-20]›"),
            ("see @@file:a.txt[3] and @@file:b[2-]@@file:c[-4]!", "see ‹a.txt[3]› and ‹b[2-]›‹c[-4]›!"),
            ("@@file:workspace://01A@3#text/csv[1-2]", "‹workspace://01A@3#text/csv[1-2]›"),
            ("@@file:\"my [old] file\".", "‹my [old] file›."),
            (r#"@@file:"a\"b\\c\d"[1]x"#, "‹a\"b\\c\\d[1]›x"),
            // Not ranges: the bracket is text.
            ("@@file:a[x] @@file:a[] @@file:a[-] @@file:a[1", "‹a›[x] ‹a›[] ‹a›[-] ‹a›[1"),
            ("@@file:a[1-2-3] @@file:a[+1]", "‹a›[1-2-3] ‹a›[+1]"),
            ("@@@file:a @@@agptfile:b @@@@file:c", "@@file:a @@agptfile:b @@@file:c"),
            ("@file:a @@files:a @@ file: user@@host", "@file:a @@files:a @@ file: user@@host"),
            ("@@file:", "error: no path follows “@@file:”; write “@@@file:” for the text itself"),
            ("@@file: a", "error: no path follows “@@file:”; write “@@@file:” for the text itself"),
            ("@@file:\" \"", "error: no path follows “@@file:”; write “@@@file:” for the text itself"),
            ("@@file:\"a\nb\"", "error: the quote after “@@file:” is not closed on the same line"),
            ("@@file:\"a\\", "error: the quote after “@@file:” is not closed on the same line"),
            ("@@file:a[0-3]", "error: the lines [0-3] do not exist: lines are numbered from 1"),
            ("@@file:a[-0]", "error: the lines [-0] do not exist: lines are numbered from 1"),
            ("@@file:a[5-2]", "error: the last line of [5-2] is before the first"),
            ("@@file:a[99999999999999999999]", "error: the line numbers of [99999999999999999999] are too large"),
        ] {
            assert_eq!(show(text), expected, "{text}");
        }
    }

    #[test]
    fn a_sentence_around_a_target_may_end_it() {
        let possible = |text: &str| {
            let parts = parse_text(text).unwrap();
            let TextPart::Reference(reference) = &parts[0] else { panic!("{text}") };
            reference.possible_targets().map(|(target, rest)| format!("{target}|{rest}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(possible("@@file:a.txt)."), "a.txt).| a.txt)|. a.txt|).");
        assert_eq!(possible("@@file:..."), "...| ..|. .|..");
        assert_eq!(possible("@@file:\"a.\""), "a.|");
        assert_eq!(possible("@@file:a.[1]"), "a.|");
    }

    #[test]
    fn selects_lines_with_their_breaks() {
        let text = "one\r\ntwo\nthree\u{2028}same";
        for (range, expected) in [
            (LineRange::Lines(1, 1), Ok("one\r\n")),
            (LineRange::Lines(2, 3), Ok("two\nthree\u{2028}same")),
            (LineRange::From(3), Ok("three\u{2028}same")),
            (LineRange::Last(2), Ok("two\nthree\u{2028}same")),
            (LineRange::Lines(3, 4), Err(3)),
            (LineRange::From(4), Err(3)),
            (LineRange::Last(4), Err(3)),
        ] {
            assert_eq!(range.select(text), expected, "{range}");
        }
        assert_eq!(LineRange::Lines(1, 1).select(""), Err(0));
        assert_eq!(LineRange::Last(1).select("a\nb\n"), Ok("b\n"));
    }

    /// Escapes what looks like a reference.
    fn escape_references(text: &str) -> String {
        NAMES.iter().fold(text.to_owned(), |text, name| text.replace(&format!("@@{name}"), &format!("@@@{name}")))
    }

    /// Formats a reference with its target in quotes.
    fn format_reference(target: &str, range: Option<LineRange>) -> String {
        let target = target.replace('\\', "\\\\").replace('"', "\\\"");
        format!("@@file:\"{target}\"{}", range.map(|range| range.to_string()).unwrap_or_default())
    }

    proptest! {
        #[test]
        fn an_escaped_text_means_itself(text in "(@{1,4}|file:|agptfile:|a|\"|\\[1\\]| |\n){0,12}") {
            let parts = parse_text(&escape_references(&text)).unwrap();
            let expected = if text.is_empty() { Vec::new() } else { vec![TextPart::Literal(text.clone())] };
            prop_assert_eq!(parts, expected);
        }

        #[test]
        fn a_formatted_reference_parses_to_itself(target in "[a\"\\\\ \\[\\]@.]{1,8}", first in 1..9_u64, count in 0..9_u64, kind in 0..4) {
            prop_assume!(!target.trim().is_empty());
            let range = [None, Some(LineRange::Lines(first, first + count)), Some(LineRange::From(first)), Some(LineRange::Last(first))];
            let range = range[usize::try_from(kind).unwrap()];
            let text = format_reference(&target, range);
            let reference = FileReference { target, range, is_quoted: true };
            prop_assert_eq!(parse_text(&text).unwrap(), vec![TextPart::Reference(reference)]);
        }

        #[test]
        fn a_text_without_references_stays(text in "[ -~\n]{0,40}") {
            prop_assume!(!may_have_references(&text));
            let parts = parse_text(&text).unwrap();
            prop_assert!(matches!(parts.as_slice(), [] | [TextPart::Literal(_)]));
            let literal = match parts.first() { Some(TextPart::Literal(literal)) => literal.as_str(), _ => "" };
            prop_assert_eq!(literal, text.as_str());
        }

        #[test]
        fn selected_lines_are_part_of_the_text(text in "[ab\r\n]{0,12}", first in 1..5_u64, last in 1..5_u64) {
            let count = text.split_inclusive('\n').count() as u64;
            match LineRange::Lines(first, last.max(first)).select(&text) {
                Ok(lines) => prop_assert_eq!(lines.split_inclusive('\n').count() as u64, last.max(first) - first + 1),
                Err(lines) => prop_assert!(lines == count && last.max(first) > count),
            }
        }
    }
}
