//! Splits a string into a program and its arguments by shell quoting rules, without running a shell.

/// Splits at whitespace. Quotes group characters; a backslash escapes the next character (inside double quotes only a
/// quote or a backslash). Nothing is expanded: text that needs a shell is an error instead of being passed on as an
/// argument.
///
/// # Errors
/// Returns the reason, to follow the setting's name. It does not quote the text.
pub fn split_command(text: &str) -> Result<Vec<String>, &'static str> {
    if text.contains('\0') {
        return Err("contains a NUL character");
    }
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut characters = text.chars().peekable();
    let mut quote = None;
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(end), c) if c == end => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '\\') => match characters.next() {
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err("ends with a backslash"),
            },
            (Some('"'), '\\') if matches!(characters.peek(), Some('"' | '\\')) => {
                word.get_or_insert_default().extend(characters.next());
            }
            (None, '|' | '&' | ';' | '<' | '>' | '`' | '(' | ')' | '\n') | (None | Some('"'), '$' | '`') => {
                return Err("needs a shell, which is not used by default; write [\"sh\", \"-c\", \"…\"] to run one");
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (Some(_) | None, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("has a quote that is not closed");
    }
    words.extend(word);
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        Some(_) | None => Err("names no program"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_like_a_shell_command() {
        for (text, words) in [
            ("pass show openai", &["pass", "show", "openai"][..]),
            ("  a   b ", &["a", "b"]),
            ("op read 'op://Private/Open AI/key'", &["op", "read", "op://Private/Open AI/key"]),
            (r#"a "b c" d"e"f"#, &["a", "b c", "def"]),
            (r#"a b\ c "d\"e" "f\n""#, &["a", "b c", "d\"e", "f\\n"]),
            ("a '' b", &["a", "", "b"]),
            ("a '$HOME' '|'", &["a", "$HOME", "|"]),
            ("~/bin/key --of=ü", &["~/bin/key", "--of=ü"]),
        ] {
            assert_eq!(split_command(text).unwrap(), words, "{text}");
        }
    }

    #[test]
    fn text_that_needs_a_shell_or_is_incomplete_is_an_error() {
        for text in ["", " ", "''", "a |b", "a; b", "a $KEY", "a \"$KEY\"", "a `b`", "a > b", "a & b"] {
            assert!(split_command(text).is_err(), "{text}");
        }
        assert_eq!(split_command("a 'b"), Err("has a quote that is not closed"));
        assert_eq!(split_command("a \\"), Err("ends with a backslash"));
        for text in ["a\0b", "a \\\0b"] {
            assert_eq!(split_command(text), Err("contains a NUL character"));
        }
    }
}
