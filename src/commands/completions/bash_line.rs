//! Splits the text of a command line as bash does, and quotes words for it.

/// Value of `COMP_TYPE` if bash lists candidates and inserts none.
const LISTING: &str = "63";

/// A command line up to the cursor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BashLine {
    /// The words without their quotes; the last one is at the cursor and may be empty.
    pub(super) words: Vec<String>,
    /// Start of the part of the last word that bash replaces, in bytes: it splits words also at characters such as `=`
    /// and `:`.
    pub(super) replaced_from: usize,
    /// Whether the last word has quotation marks, so that the part which bash replaces is uncertain.
    pub(super) is_quoted: bool,
    /// Whether bash lists candidates and inserts none.
    pub(super) is_listing: bool,
    /// Columns of the terminal.
    pub(super) columns: usize,
}

impl BashLine {
    /// Parses the arguments of the script: the line, the cursor in bytes, the kind of completion, the characters at which
    /// bash splits words, and the columns of the terminal.
    pub(super) fn parse(arguments: &[String]) -> Option<Self> {
        let [line, cursor, kind, separators, columns] = arguments else { return None };
        let text = cursor.parse().ok().and_then(|cursor: usize| line.get(..cursor)).unwrap_or(line);
        let mut parsed = Self {
            words: Vec::new(),
            replaced_from: 0,
            is_quoted: false,
            is_listing: kind == LISTING,
            columns: columns.parse().unwrap_or(80),
        };
        parsed.split(text, separators);
        Some(parsed)
    }

    fn split(&mut self, text: &str, separators: &str) {
        let (mut word, mut is_word, mut quote) = (String::new(), false, None);
        let mut characters = text.chars();
        while let Some(c) = characters.next() {
            match quote {
                Some(mark) if c == mark => quote = None,
                Some('"') if c == '\\' => word.extend(characters.next()),
                Some(_) => word.push(c),
                None if c.is_whitespace() => {
                    if is_word {
                        self.words.push(std::mem::take(&mut word));
                    }
                    (is_word, self.replaced_from, self.is_quoted) = (false, 0, false);
                    continue;
                }
                None if c == '"' || c == '\'' => (quote, self.is_quoted) = (Some(c), true),
                None if c == '\\' => word.extend(characters.next()),
                None => {
                    word.push(c);
                    if separators.contains(c) {
                        self.replaced_from = word.len();
                    }
                }
            }
            is_word = true;
        }
        self.words.push(word);
    }
}

/// Quotes a word without control characters, so that bash reads it as one word and expands nothing in it.
pub(super) fn quote(word: &str) -> String {
    let mut quoted = String::with_capacity(word.len());
    for (index, c) in word.char_indices() {
        let is_plain = c.is_alphanumeric() || "_-./:=@%+,".contains(c) || (c == '~' && index > 0);
        if !is_plain {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SEPARATORS: &str = " \t\n\"'><=;|&(:";

    fn parse(line: &str) -> BashLine {
        let arguments = [line, &line.len().to_string(), "9", SEPARATORS, "80"].map(str::to_owned);
        BashLine::parse(&arguments).unwrap()
    }

    #[test]
    fn words_are_split_and_unquoted() {
        for (line, words, replaced_from) in [
            ("aye ", &["aye", ""][..], 0),
            ("aye ses", &["aye", "ses"], 0),
            ("aye --profile=wo", &["aye", "--profile=wo"], 10),
            ("aye -m llama3:8", &["aye", "-m", "llama3:8"], 7),
            ("aye --profile=x ses", &["aye", "--profile=x", "ses"], 0),
            (r"aye my\ wo", &["aye", "my wo"], 0),
            (r#"aye "a \" b" 'c d' e"#, &["aye", "a \" b", "c d", "e"], 0),
            ("aye '' x", &["aye", "", "x"], 0),
            ("aye \\", &["aye", ""], 0),
        ] {
            let parsed = parse(line);
            assert_eq!(
                (parsed.words.iter().map(String::as_str).collect::<Vec<_>>(), parsed.replaced_from),
                (words.to_vec(), replaced_from),
                "{line}"
            );
        }
        assert!(parse("aye \"my w").is_quoted && !parse("aye \"my w\" ").is_quoted);
    }

    #[test]
    fn the_cursor_ends_the_line() {
        let parse = |cursor: &str| {
            let arguments = ["aye é sessions", cursor, "63", "=", "80"].map(str::to_owned);
            BashLine::parse(&arguments).unwrap()
        };
        assert_eq!(parse("10").words, ["aye", "é", "ses"]);
        assert_eq!(parse("5").words, ["aye", "é", "sessions"], "inside a character");
        assert_eq!(parse("x").words.len(), 3);
        assert!(parse("10").is_listing);
        assert_eq!(BashLine::parse(&["aye".to_owned()]), None);
    }

    proptest! {
        #[test]
        fn a_quoted_word_is_read_back(word in "[ -~é漢]{1,20}") {
            let line = format!("aye {}", quote(&word));
            prop_assert_eq!(&parse(&line).words[1..], std::slice::from_ref(&word));
            let split = shlex::split(&line).unwrap();
            prop_assert_eq!(&split[1], &word);
        }
    }
}
