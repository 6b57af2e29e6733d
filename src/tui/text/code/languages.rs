//! The languages whose code is coloured: their words, their comments and their strings.

mod large;
mod small;

/// What there is to know of a language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Language {
    /// What stands after a fence, the endings of its files, and whole file names; lower case, blanks between.
    pub(super) names: &'static str,
    pub(super) kind: Kind,
    /// What begins a comment that ends with its line; blanks between.
    pub(super) comments: &'static str,
    /// What begins and ends a comment that may span lines; may be empty.
    pub(super) block: (&'static str, &'static str),
    /// What begins a string and ends it; blanks between. Longer ones stand first.
    pub(super) strings: &'static str,
    /// Of these, those that may span lines.
    pub(super) long: &'static str,
    /// Its words; blanks between.
    pub(super) words: &'static str,
    /// Words that are values, such as `true`.
    pub(super) values: &'static str,
    /// Words that are types though they are written small.
    pub(super) types: &'static str,
    /// Letters a name may hold beside letters, digits and `_`.
    pub(super) letters: &'static str,
    /// Whether a name with a large first letter is a type.
    pub(super) large: bool,
    /// Whether the case of words matters.
    pub(super) case: bool,
}

/// How a language is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Words, strings, comments.
    Code,
    /// As code, but the first word of a command is what is called, and `#` begins a comment only before a blank.
    Shell,
    /// Names before a colon or an equals sign are keys.
    Keys,
    /// Tags and text.
    Tags,
    /// Each line is told by its first letters.
    Lines,
}

/// What most have in common.
const CODE: Language = Language {
    names: "",
    kind: Kind::Code,
    comments: "//",
    block: ("/*", "*/"),
    strings: "\" '",
    long: "",
    words: "",
    values: "true false null",
    types: "",
    letters: "",
    large: true,
    case: true,
};
/// What those have in common whose comments begin with `#`.
const HASH: Language = Language { comments: "#", block: ("", ""), ..CODE };

/// The language of a word after a fence or of a file: by name, by ending, or by the whole file name. What comes after
/// a comma or a blank (`rust,ignore`) is no name.
pub(super) fn language(written: &str) -> Option<&'static Language> {
    let file = written.rsplit(['/', '\\']).next().unwrap_or(written);
    let word = written.split([',', ' ', '{']).next().unwrap_or(written);
    let ending = file.rsplit_once('.').map(|(_, ending)| ending);
    [Some(word), Some(file), ending].into_iter().flatten().find_map(|name| {
        let name = name.to_ascii_lowercase();
        [large::LANGUAGES, small::LANGUAGES].into_iter().flatten().find(|language| has(language.names, &name))
    })
}

/// Whether a word is among words with blanks between.
pub(super) fn has(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|other| other == word)
}

/// All names of all languages.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let all = [large::LANGUAGES, small::LANGUAGES].into_iter().flatten();
    all.flat_map(|language| language.names.split_ascii_whitespace())
}
