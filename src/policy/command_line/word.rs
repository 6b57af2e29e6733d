//! One word of a command line without its quotes, or marked as unknown before the line runs.

/// A word of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Known text, byte for byte.
    Known(String),
    /// A pattern, as written, which the shell replaces by the names that match. One with quotes or backslashes is
    /// [`Word::Unknown`], so that quoted and unquoted characters are not confused.
    Pattern(String),
    /// `~`, or a path below it such as `~/x`.
    Home(String),
    /// Unknown before it runs; as written.
    Unknown(String),
}

impl Word {
    /// Returns the text if it is known exactly.
    pub fn known_text(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Pattern(_) | Self::Home(_) | Self::Unknown(_) => None,
        }
    }

    /// Returns the text to display.
    pub fn display_text(&self) -> &str {
        match self {
            Self::Known(text) | Self::Pattern(text) | Self::Home(text) | Self::Unknown(text) => text,
        }
    }
}

/// Characters that end an unquoted word.
const WORD_TERMINATORS: &str = " \t\n|&;()<>";

/// Parses the word written as `raw`. Fails with a reason if bash would not read all of it as one word.
pub fn parse_word(raw: &str) -> Result<Word, String> {
    let mut text = String::new();
    let (mut unknown, mut pattern, mut quoted, mut brace) = (false, false, false, false);
    let mut letters = raw.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\'' => {
                quoted = true;
                let end = raw[at + 1..].find('\'').ok_or("unclosed quote")?;
                text.push_str(&raw[at + 1..at + 1 + end]);
                while letters.next_if(|(next, _)| *next <= at + 1 + end).is_some() {}
            }
            '"' => {
                quoted = true;
                let (inside, known, length) = parse_double_quoted(&raw[at + 1..])?;
                text.push_str(&inside);
                unknown |= !known;
                while letters.next_if(|(next, _)| *next <= at + length).is_some() {}
            }
            '\\' => match letters.next() {
                None => return Err("backslash at the end".to_owned()),
                Some((_, '\n')) => {}
                Some((_, next)) => {
                    quoted = true;
                    text.push(next);
                }
            },
            // A single dollar at the end is literal.
            '$' if letters.peek().is_none() && at > 0 => text.push('$'),
            '$' | '`' => return Ok(Word::Unknown(raw.to_owned())),
            letter if WORD_TERMINATORS.contains(letter) => {
                return Err(format!("“{}” is not one word", raw.escape_debug()));
            }
            '#' if at == 0 => return Err("comment instead of a word".to_owned()),
            // Which characters are blanks depends on the locale.
            letter if !letter.is_ascii() => {
                unknown = true;
                text.push(letter);
            }
            '*' | '?' | '[' => {
                pattern = true;
                text.push(letter);
            }
            '~' if at == 0 => {
                let rest = &raw[1..];
                if !(rest.is_empty() || rest.starts_with('/')) {
                    return Ok(Word::Unknown(raw.to_owned()));
                }
                text.push('~');
            }
            '~' if raw[..at].ends_with(['=', ':']) => return Ok(Word::Unknown(raw.to_owned())),
            '{' => {
                brace = true;
                text.push(letter);
            }
            letter => text.push(letter),
        }
    }
    // `{a,b}` and `{1..9}` expand to several words.
    if unknown || (brace && (raw.contains(',') || raw.contains(".."))) || (pattern && quoted) {
        return Ok(Word::Unknown(raw.to_owned()));
    }
    Ok(match (pattern, raw.starts_with('~')) {
        (true, true) => Word::Unknown(raw.to_owned()),
        (true, false) => Word::Pattern(text),
        (false, true) => Word::Home(text),
        (false, false) => Word::Known(text),
    })
}

/// Parses text in double quotes, starting after the opening quote. Returns the text, whether it is known, and its
/// length including the closing quote.
fn parse_double_quoted(raw: &str) -> Result<(String, bool, usize), String> {
    let mut text = String::new();
    let mut known = true;
    let mut letters = raw.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Ok((text, known, at + 1)),
            '\\' => match letters.peek() {
                None => break,
                Some((_, '\n')) => {
                    letters.next();
                }
                Some((_, next)) if "$`\"\\".contains(*next) => {
                    text.push(*next);
                    letters.next();
                }
                Some(_) => text.push('\\'),
            },
            // `"$"`, `"a$ b"`, `"x$|y"`: no name can follow.
            '$' if letters.peek().is_some_and(|(_, next)| "\" |)/.,:%".contains(*next)) => text.push('$'),
            // Quotes in a substitution do not end the string, so the end is unknown too.
            '$' | '`' => {
                known = false;
                if letter == '`' || letters.peek().is_some_and(|(_, next)| "({[".contains(*next)) {
                    return Ok((raw.to_owned(), false, raw.len()));
                }
            }
            letter => text.push(letter),
        }
    }
    Err("unclosed quote".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_word(raw: &str, expected: &Word) {
        assert_eq!(parse_word(raw).as_ref(), Ok(expected), "{raw}");
    }

    #[test]
    fn removes_quotes_like_bash() {
        let known = |raw: &str, text: &str| check_word(raw, &Word::Known(text.to_owned()));
        known("ls", "ls");
        known("'a b'", "a b");
        known("''", "");
        known("a'b'\"c\"\\ d", "abc d");
        known("\"a\\\"b\\\\c\\d\\$e\\`\"", "a\"b\\c\\d$e`");
        known("'a\\'b", "a\\b");
        known("a\\\nb", "ab");
        known("\"a\\\nb\"", "ab");
        known("a#b", "a#b");
        known("foo$", "foo$");
        known("\"foo$\"", "foo$");
        known("\"a$|b$ c\"", "a$|b$ c");
        known("HEAD@{1}", "HEAD@{1}");
        known("'日本'", "日本");
        known("'*'\"?\"\\[", "*?[");
        known("a~b", "a~b");
        known("{}", "{}");
    }

    #[test]
    fn expanded_words_are_unknown() {
        for raw in [
            "$x",
            "a$x",
            "\"$x\"",
            "\"a$x b\"",
            "`ls`",
            "\"`ls`\"",
            "$(ls)",
            "\"$(ls \"a\")\"",
            "$'a'",
            "$\"a\"",
            "{a,b}",
            "a{1..3}",
            "~root",
            "~+",
            "a=~/b",
            "日本",
            "\u{a0}",
            "\"$'\"",
            "\"${x}\"",
            "*'a b'",
            "~/*",
            "\"$!\"",
            "\"$$\"",
            "$((1))",
            "\"$[1]\"",
            "$",
        ] {
            check_word(raw, &Word::Unknown(raw.to_owned()));
        }
        check_word("*.rs", &Word::Pattern("*.rs".to_owned()));
        check_word("[ab]?", &Word::Pattern("[ab]?".to_owned()));
        check_word("~/x", &Word::Home("~/x".to_owned()));
        check_word("~", &Word::Home("~".to_owned()));
    }

    #[test]
    fn rejects_text_that_is_not_one_word() {
        for raw in ["a b", "a\tb", "a\nb", "a;b", "a|b", "a&b", "(a)", "a>b", "<a", "'a", "\"a", "a\\", "#a", "\"\\"] {
            assert!(parse_word(raw).is_err(), "{raw}");
        }
    }
}
