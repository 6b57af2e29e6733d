//! Languages of syntax highlighting: keywords, comments and strings.

mod large;
mod small;

/// Syntax of a language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Language {
    /// Names in a fence, file extensions and whole file names; lowercase, separated by spaces.
    pub(super) names: &'static str,
    pub(super) kind: Kind,
    /// Starts of line comments, separated by spaces.
    pub(super) line_comments: &'static str,
    /// Start and end of a block comment; may be empty.
    pub(super) block_comment: (&'static str, &'static str),
    /// String delimiters, separated by spaces, longer ones first.
    pub(super) strings: &'static str,
    /// Delimiters whose strings may span lines, besides triple quotes and backquotes.
    pub(super) multiline_strings: &'static str,
    /// Keywords, separated by spaces.
    pub(super) keywords: &'static str,
    /// Keywords that are values, such as `true`.
    pub(super) values: &'static str,
    /// Types that start with a lowercase letter.
    pub(super) types: &'static str,
    /// Characters allowed in a name, in addition to letters, digits and `_`.
    pub(super) name_characters: &'static str,
    /// True if a name that starts with a capital letter is a type; only for `Kind::Code`.
    pub(super) has_capital_types: bool,
    /// True if keywords are case-sensitive.
    pub(super) is_case_sensitive: bool,
}

/// Kind of tokenizer for a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Keywords, strings, comments.
    Code,
    /// Like code, but the first word of a command is a function, and strings in single quotes have no escapes.
    Shell,
    /// Names before a colon or an equals sign are keys.
    Keys,
    /// HTML, XML and templates: tags, and text between them.
    Tags,
    /// Diffs and Markdown: the first characters of a line determine the role of the whole line.
    Lines,
}

/// Defaults of languages with C-like comments.
const CODE: Language = Language {
    names: "",
    kind: Kind::Code,
    line_comments: "//",
    block_comment: ("/*", "*/"),
    strings: "\" '",
    multiline_strings: "",
    keywords: "",
    values: "true false null",
    types: "",
    name_characters: "",
    has_capital_types: true,
    is_case_sensitive: true,
};
/// Defaults of languages with `#` comments.
const HASH: Language = Language { line_comments: "#", block_comment: ("", ""), ..CODE };

/// Returns the language named by the info string of a fence, or by the extension or name of a file. In an info string,
/// text after the first comma, space or brace (`rust,ignore`) is ignored.
pub(super) fn find_language(fence_or_path: &str) -> Option<&'static Language> {
    let file = fence_or_path.rsplit(['/', '\\']).next().unwrap_or(fence_or_path);
    let word = fence_or_path.split([',', ' ', '{']).next().unwrap_or(fence_or_path);
    let extension = file.rsplit_once('.').map(|(_, extension)| extension);
    [Some(word), Some(file), extension].into_iter().flatten().find_map(|name| {
        let name = name.to_ascii_lowercase();
        [large::LANGUAGES, small::LANGUAGES].into_iter().flatten().find(|language| has_word(language.names, &name))
    })
}

/// Returns whether a space-separated list contains a word.
pub(super) fn has_word(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|listed| listed == word)
}

/// Returns all names of all languages.
#[cfg(test)]
pub(super) fn all_names() -> impl Iterator<Item = &'static str> {
    let languages = [large::LANGUAGES, small::LANGUAGES].into_iter().flatten();
    languages.flat_map(|language| language.names.split_ascii_whitespace())
}
