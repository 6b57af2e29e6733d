//! Reads the options of a program by a list of those that are known to be harmless.

use crate::policy::shell::Word;

/// The options of a program that only reads.
pub(super) struct Options {
    /// Letters that stand alone.
    pub(super) flags: &'static str,
    /// Letters that take a word.
    pub(super) taking: &'static str,
    /// Long ones that stand alone, or hold their word behind `=` where they end so.
    pub(super) long: &'static [&'static str],
    /// Long ones whose word is the next one, or behind `=`.
    pub(super) long_taking: &'static [&'static str],
    /// Whether `-5` is an option.
    pub(super) numbers: bool,
}

/// No options at all.
pub(super) const NONE: Options =
    Options { flags: "", taking: "", long: &[], long_taking: &[], numbers: false };

/// What a program is given.
#[derive(Default)]
pub(super) struct Given {
    /// The options: a letter as `-n`, a long one without its word, each with its word.
    pub(super) options: Vec<(String, Option<String>)>,
    /// Everything else.
    pub(super) operands: Vec<Word>,
    /// Options of grep with a pattern of files, which are what they seem where that pattern stands for no file.
    pub(super) unmatched: Vec<Word>,
}

impl Given {
    /// Whether one of these options is given.
    pub(super) fn has(&self, any: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| any.contains(&name.as_str()))
    }

    /// The words of these options.
    pub(super) fn words<'a>(&'a self, any: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let named = self.options.iter().filter(move |(name, _)| any.contains(&name.as_str()));
        named.filter_map(|(_, word)| word.as_deref())
    }
}

/// Reads them. Fails with the reason where one is not on the list or not known.
pub(super) fn read(program: &str, options: &Options, words: &[Word]) -> Result<Given, String> {
    let not_known = |option: &str| {
        let shown: String = option.chars().take(40).collect();
        Err(format!("{program} with {} may do more than read", shown.escape_debug()))
    };
    let mut given = Given::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = match word {
            Word::Known(text) => text,
            Word::Unknown(_) => return Err(super::unknown(word)),
            Word::Pattern(text)
                if matches!(program, "grep" | "egrep" | "fgrep")
                    && ["--include=", "--exclude="].iter().any(|start| text.starts_with(start)) =>
            {
                given.unmatched.push(word.clone());
                continue;
            }
            Word::Pattern(_) | Word::Home(_) => {
                given.operands.push(word.clone());
                continue;
            }
        };
        let mut next = || match words.next() {
            Some(Word::Known(text)) => Ok(text.clone()),
            Some(word) => Err(super::unknown(word)),
            None => Err(format!("{program} lacks a word behind {text}")),
        };
        if text == "--" {
            given.operands.extend(words.cloned());
            break;
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, word) = match long.split_once('=') {
                Some((name, word)) => (name, Some(word.to_owned())),
                None => (long, None),
            };
            let ends = format!("{name}=");
            if word.is_none() && options.long_taking.contains(&name) {
                given.options.push((format!("--{name}"), Some(next()?)));
            } else if options.long_taking.contains(&name)
                || (word.is_none() && options.long.contains(&name))
                || (word.is_some() && options.long.contains(&ends.as_str()))
            {
                given.options.push((format!("--{name}"), word));
            } else {
                return not_known(text);
            }
            continue;
        }
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            given.operands.push(word.clone());
            continue;
        };
        if options.numbers && letters.bytes().all(|byte| byte.is_ascii_digit()) {
            given.options.push(("-n".to_owned(), Some(letters.to_owned())));
            continue;
        }
        for (at, letter) in letters.char_indices() {
            if options.flags.contains(letter) {
                given.options.push((format!("-{letter}"), None));
            } else if options.taking.contains(letter) {
                let rest = &letters[at + letter.len_utf8()..];
                let word = if rest.is_empty() { next()? } else { rest.to_owned() };
                given.options.push((format!("-{letter}"), Some(word)));
                break;
            } else {
                return not_known(text);
            }
        }
    }
    // What stands behind `--` was not looked at.
    match given.operands.iter().find(|word| matches!(word, Word::Unknown(_))) {
        Some(word) => Err(super::unknown(word)),
        None => Ok(given),
    }
}
