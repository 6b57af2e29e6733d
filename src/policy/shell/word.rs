//! One word of a command line without its quotes, or that it is not known before it runs.

/// One word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// This text, to the byte.
    Known(String),
    /// A pattern, which the shell replaces by the names that fit. As it was written, so that quoted and unquoted stay
    /// apart; where there are quotes or backslashes in it, it is [`Word::Unknown`].
    Pattern(String),
    /// `~`, or what is below it, as `~/x`.
    Home(String),
    /// Not known before it runs: as it was written.
    Unknown(String),
}

impl Word {
    /// Its text, where that is known to the byte.
    pub fn known(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Pattern(_) | Self::Home(_) | Self::Unknown(_) => None,
        }
    }

    /// As it is told to a person.
    pub fn shown(&self) -> &str {
        match self {
            Self::Known(text) | Self::Pattern(text) | Self::Home(text) | Self::Unknown(text) => text,
        }
    }
}

/// What ends a word where it is not quoted.
const META: &str = " \t\n|&;()<>";

/// Reads the word that stands as `raw` in the line. Fails, with words that follow “because”, where bash would not take
/// all of it for one word.
pub fn read(raw: &str) -> Result<Word, String> {
    let mut text = String::new();
    let (mut unknown, mut pattern, mut quoted, mut brace) = (false, false, false, false);
    let mut letters = raw.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\'' => {
                quoted = true;
                let end = raw[at + 1..].find('\'').ok_or("a quote is not closed")?;
                text.push_str(&raw[at + 1..at + 1 + end]);
                while letters.next_if(|(next, _)| *next <= at + 1 + end).is_some() {}
            }
            '"' => {
                quoted = true;
                let (inside, known, length) = double(&raw[at + 1..])?;
                text.push_str(&inside);
                unknown |= !known;
                while letters.next_if(|(next, _)| *next <= at + length).is_some() {}
            }
            '\\' => match letters.next() {
                None => return Err("it ends with a backslash".to_owned()),
                Some((_, '\n')) => {}
                Some((_, next)) => {
                    quoted = true;
                    text.push(next);
                }
            },
            // A lone dollar at the end is a dollar.
            '$' if letters.peek().is_none() && at > 0 => text.push('$'),
            '$' | '`' => return Ok(Word::Unknown(raw.to_owned())),
            letter if META.contains(letter) => {
                return Err(format!("“{}” is not read as one word", raw.escape_debug()));
            }
            '#' if at == 0 => return Err("a comment stands where a word should".to_owned()),
            // What counts as a blank depends on the language that is set.
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
    // `{a,b}` and `{1..9}` become several words.
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

/// What stands in double quotes, from behind the first: its text, whether that is known, and its length with the
/// closing quote.
fn double(raw: &str) -> Result<(String, bool, usize), String> {
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
            // `"$"`, `"a$ b"`, `"x$|y"`: nothing follows that could be a name.
            '$' if letters.peek().is_some_and(|(_, next)| "\" |)/.,:%".contains(*next)) => text.push('$'),
            // Quotes within a substitution within quotes do not end here, so the end is not known either.
            '$' | '`' => {
                known = false;
                if letter == '`' || letters.peek().is_some_and(|(_, next)| "({[".contains(*next)) {
                    return Ok((raw.to_owned(), false, raw.len()));
                }
            }
            letter => text.push(letter),
        }
    }
    Err("a quote is not closed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: &Word) {
        assert_eq!(read(raw).as_ref(), Ok(expected), "{raw}");
    }

    #[test]
    fn quotes_are_taken_off_as_the_shell_does() {
        let known = |raw: &str, text: &str| check(raw, &Word::Known(text.to_owned()));
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
    fn what_the_shell_replaces_is_not_known() {
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
            check(raw, &Word::Unknown(raw.to_owned()));
        }
        check("*.rs", &Word::Pattern("*.rs".to_owned()));
        check("[ab]?", &Word::Pattern("[ab]?".to_owned()));
        check("~/x", &Word::Home("~/x".to_owned()));
        check("~", &Word::Home("~".to_owned()));
    }

    #[test]
    fn what_is_not_one_word_is_refused() {
        for raw in
            ["a b", "a\tb", "a\nb", "a;b", "a|b", "a&b", "(a)", "a>b", "<a", "'a", "\"a", "a\\", "#a", "\"\\"]
        {
            assert!(read(raw).is_err(), "{raw}");
        }
    }
}
