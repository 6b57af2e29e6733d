//! One text made into a program and its arguments, as a shell would read it, without a shell.

/// Splits at blanks. Quotes hold together what stands in them, a backslash takes the next letter as it is (between
/// double quotes only where that is a quote or a backslash). Nothing is expanded: what only a shell can do is refused
/// rather than passed on as if it were an argument.
///
/// # Errors
/// What is wrong with it, behind the setting's name; the text is not quoted.
pub fn split(text: &str) -> Result<Vec<String>, &'static str> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut letters = text.chars().peekable();
    let mut quote = None;
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (_, '\0') => return Err("holds a NUL"),
            (Some(end), letter) if letter == end => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '\\') => match letters.next() {
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err("ends with a backslash"),
            },
            (Some('"'), '\\') if matches!(letters.peek(), Some('"' | '\\')) => {
                word.get_or_insert_default().extend(letters.next());
            }
            (None, '|' | '&' | ';' | '<' | '>' | '`' | '(' | ')' | '\n') | (None | Some('"'), '$' | '`') => {
                return Err(
                    "wants a shell, and none is used; make it [\"sh\", \"-c\", \"…\"] if that is meant",
                );
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (Some(_) | None, letter) => word.get_or_insert_default().push(letter),
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
    fn a_text_is_split_as_a_shell_would() {
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
            assert_eq!(split(text).unwrap(), words, "{text}");
        }
    }

    #[test]
    fn what_needs_a_shell_or_is_not_whole_is_refused() {
        for text in ["", " ", "''", "a |b", "a; b", "a $KEY", "a \"$KEY\"", "a `b`", "a > b", "a & b"] {
            assert!(split(text).is_err(), "{text}");
        }
        assert_eq!(split("a 'b"), Err("has a quote that is not closed"));
        assert_eq!(split("a \\"), Err("ends with a backslash"));
        assert_eq!(split("a\0b"), Err("holds a NUL"));
    }
}
