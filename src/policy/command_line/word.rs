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
    /// A word whose text is unknown before the line runs; as written.
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

    /// Returns the word with `0` in place of each `$?`, the exit status of the last command. `None` if it has no `$?`, or if
    /// anything else in it is unknown.
    pub fn with_zero_status(&self) -> Option<Self> {
        let Self::Unknown(raw) = self else { return None };
        // An escaped dollar is part of the text, and the question mark after it may be a pattern.
        let has_status = raw.contains("$?") && !raw.contains("\\$");
        let replaced = has_status.then(|| parse_word(&raw.replace("$?", "0")))?.ok()?;
        replaced.known_text().is_some().then_some(replaced)
    }
}

/// Characters that end an unquoted word.
const WORD_TERMINATORS: &str = " \t\n|&;()<>";

/// Parses the word written as `raw`. Fails with a reason if bash would not read all of it as one word.
pub fn parse_word(raw: &str) -> Result<Word, String> {
    let mut text = String::new();
    let (mut is_unknown, mut has_wildcard, mut is_quoted, mut has_brace) = (false, false, false, false);
    let mut chars = raw.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        match c {
            '\'' => {
                is_quoted = true;
                let end = raw[index + 1..].find('\'').ok_or("unclosed quote")?;
                text.push_str(&raw[index + 1..index + 1 + end]);
                while chars.next_if(|(next, _)| *next <= index + 1 + end).is_some() {}
            }
            '"' => {
                is_quoted = true;
                let (inner_text, is_known, length) = parse_double_quoted(&raw[index + 1..])?;
                text.push_str(&inner_text);
                is_unknown |= !is_known;
                while chars.next_if(|(next, _)| *next <= index + length).is_some() {}
            }
            '\\' => match chars.next() {
                None => return Err("backslash at the end".to_owned()),
                Some((_, '\n')) => {}
                Some((_, next)) => {
                    is_quoted = true;
                    text.push(next);
                }
            },
            // A single dollar at the end is literal.
            '$' if chars.peek().is_none() && index > 0 => text.push('$'),
            '$' | '`' => return Ok(Word::Unknown(raw.to_owned())),
            c if WORD_TERMINATORS.contains(c) => {
                return Err(format!("“{}” is not one word", raw.escape_debug()));
            }
            '#' if index == 0 => return Err("comment instead of a word".to_owned()),
            // Whether bash reads a non-ASCII character as a blank depends on the locale.
            c if !c.is_ascii() => {
                is_unknown = true;
                text.push(c);
            }
            '*' | '?' | '[' => {
                has_wildcard = true;
                text.push(c);
            }
            '~' if index == 0 => {
                let rest = &raw[1..];
                if !(rest.is_empty() || rest.starts_with('/')) {
                    return Ok(Word::Unknown(raw.to_owned()));
                }
                text.push('~');
            }
            '~' if raw[..index].ends_with(['=', ':']) => return Ok(Word::Unknown(raw.to_owned())),
            '{' => {
                has_brace = true;
                text.push(c);
            }
            c => text.push(c),
        }
    }
    // `{a,b}` and `{1..9}` expand to several words.
    if is_unknown || (has_brace && (raw.contains(',') || raw.contains(".."))) || (has_wildcard && is_quoted) {
        return Ok(Word::Unknown(raw.to_owned()));
    }
    Ok(match (has_wildcard, raw.starts_with('~')) {
        (true, true) => Word::Unknown(raw.to_owned()),
        (true, false) => Word::Pattern(text),
        (false, true) => Word::Home(text),
        (false, false) => Word::Known(text),
    })
}

/// Parses text in double quotes; `raw` starts after the opening quote. Returns the text, whether it is known, and the
/// number of bytes parsed, including the closing quote.
fn parse_double_quoted(raw: &str) -> Result<(String, bool, usize), String> {
    let mut text = String::new();
    let mut is_known = true;
    let mut chars = raw.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        match c {
            '"' => return Ok((text, is_known, index + 1)),
            '\\' => match chars.peek() {
                None => break,
                Some((_, '\n')) => {
                    chars.next();
                }
                Some((_, next)) if "$`\"\\".contains(*next) => {
                    text.push(*next);
                    chars.next();
                }
                Some(_) => text.push('\\'),
            },
            // `"$"`, `"a$ b"`, `"x$|y"`: no variable name can begin with the next character, so the dollar is literal.
            '$' if chars.peek().is_some_and(|(_, next)| "\" |)/.,:%".contains(*next)) => text.push('$'),
            // Quotes in a substitution do not end the string, so the end is unknown too.
            '$' | '`' => {
                is_known = false;
                if c == '`' || chars.peek().is_some_and(|(_, next)| "({[".contains(*next)) {
                    return Ok((raw.to_owned(), false, raw.len()));
                }
            }
            c => text.push(c),
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
        let check_known = |raw: &str, text: &str| check_word(raw, &Word::Known(text.to_owned()));
        check_known("ls", "ls");
        check_known("'a b'", "a b");
        check_known("''", "");
        check_known("a'b'\"c\"\\ d", "abc d");
        check_known("\"a\\\"b\\\\c\\d\\$e\\`\"", "a\"b\\c\\d$e`");
        check_known("'a\\'b", "a\\b");
        check_known("a\\\nb", "ab");
        check_known("\"a\\\nb\"", "ab");
        check_known("a#b", "a#b");
        check_known("foo$", "foo$");
        check_known("\"foo$\"", "foo$");
        check_known("\"a$|b$ c\"", "a$|b$ c");
        check_known("HEAD@{1}", "HEAD@{1}");
        check_known("'日本'", "日本");
        check_known("'*'\"?\"\\[", "*?[");
        check_known("a~b", "a~b");
        check_known("{}", "{}");
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
    fn exit_status_is_the_only_variable_of_a_word() {
        for (raw, text) in [
            ("$?", "0"),
            ("\"$?\"", "0"),
            ("\"exit: $?\"", "exit: 0"),
            ("exit=$?,$?", "exit=0,0"),
            ("\"it's $? of 5$\"", "it's 0 of 5$"),
        ] {
            let word = parse_word(raw).unwrap();
            assert_eq!(word, Word::Unknown(raw.to_owned()));
            assert_eq!(word.with_zero_status(), Some(Word::Known(text.to_owned())), "{raw}");
        }
        for raw in [
            "$x",
            "\"$? $x\"",
            "$$?",
            "\"$$?\"",
            "\\$?",
            "\"\\$? $x\"",
            "${?}",
            "$?*",
            "$??",
            "[$?]",
            "{a,$?}",
            "{$?..3}",
            "~$?",
            "\"$?`id`\"",
            "\"$?$(id)\"",
            "$'$?'",
            "$!",
            "$?é",
            "a",
        ] {
            assert_eq!(parse_word(raw).unwrap().with_zero_status(), None, "{raw}");
        }
        assert_eq!(parse_word("'$?'").unwrap(), Word::Known("$?".to_owned()));
    }

    #[test]
    fn rejects_text_that_is_not_one_word() {
        for raw in ["a b", "a\tb", "a\nb", "a;b", "a|b", "a&b", "(a)", "a>b", "<a", "'a", "\"a", "a\\", "#a", "\"\\"] {
            assert!(parse_word(raw).is_err(), "{raw}");
        }
    }
}
