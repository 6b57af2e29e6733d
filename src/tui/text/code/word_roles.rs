//! The role of a word: keyword, type, function, constant, key.

use super::languages::{Kind, Language};
use super::syntax_role::SyntaxRole;

/// Keywords, values and types of a language with their roles, sorted for lookup.
pub struct KeywordTable(Vec<(&'static str, SyntaxRole)>);

impl KeywordTable {
    /// Collects the keywords of a language.
    pub fn from_language(language: &Language) -> Self {
        let roles = [
            (language.keywords, SyntaxRole::Keyword),
            (language.values, SyntaxRole::Number),
            (language.types, SyntaxRole::Type),
        ];
        let pair_with_role =
            |(words, role): (&'static str, SyntaxRole)| words.split_ascii_whitespace().map(move |word| (word, role));
        let mut entries: Vec<_> = roles.into_iter().flat_map(pair_with_role).collect();
        entries.sort_unstable_by_key(|(word, _)| *word);
        Self(entries)
    }

    /// Returns the role of a keyword, value or type of the language; `None` for other words.
    pub fn find_role(&self, word: &str) -> Option<SyntaxRole> {
        self.0.binary_search_by_key(&word, |(word, _)| word).ok().map(|index| self.0[index].1)
    }
}

/// Context of a word, determined by the words before it.
#[derive(Debug, Clone, Copy)]
pub struct WordContext {
    /// Role of the next word if the previous one determines it, such as a function after `fn`.
    pub expected_role: Option<SyntaxRole>,
    /// True if the next word is a called command.
    pub expects_command: bool,
    /// True up to the end of an assignment before a command of a shell: `A=1 make`.
    pub is_assignment: bool,
}

/// Returns the role of a word and the context of the next one. `following_text` is the text
/// after the word, without leading blanks.
pub fn classify_word(
    language: &Language,
    keywords: &KeywordTable,
    word: &str,
    following_text: &str,
    context: WordContext,
) -> (SyntaxRole, WordContext) {
    let lowercase;
    let lookup_word = match language.is_case_sensitive {
        true => word,
        false => {
            lowercase = word.to_ascii_lowercase();
            &lowercase
        }
    };
    let is_key =
        language.kind == Kind::Keys && following_text.starts_with([':', '=']) && !following_text.starts_with("==");
    let keyword_role = keywords.find_role(lookup_word);
    let role = match keyword_role {
        _ if is_key && keyword_role != Some(SyntaxRole::Keyword) => SyntaxRole::Type,
        Some(role) => role,
        None if word.starts_with(['$', '@', '%']) => SyntaxRole::Type,
        None if context.expected_role.is_some() => context.expected_role.unwrap_or(SyntaxRole::Plain),
        None if language.kind == Kind::Shell && context.expects_command && !following_text.starts_with('=') => {
            SyntaxRole::Function
        }
        None if language.kind == Kind::Shell && word.starts_with('-') => SyntaxRole::Number,
        None if language.kind == Kind::Shell => SyntaxRole::Plain,
        None if word.starts_with('\\') => SyntaxRole::Keyword,
        None if following_text.starts_with('(') || is_macro(language, following_text) => SyntaxRole::Function,
        None if is_constant_name(word) => SyntaxRole::Number,
        None if language.kind == Kind::Code && language.has_capital_types && word.starts_with(char::is_uppercase) => {
            SyntaxRole::Type
        }
        None => SyntaxRole::Plain,
    };
    let next_role = match word {
        "fn" | "def" | "func" | "function" | "fun" | "sub" | "defn" | "defun" | "proc" | "macro" | "rpc" => {
            Some(SyntaxRole::Function)
        }
        "class" | "struct" | "enum" | "trait" | "interface" | "typedef" | "protocol" | "message" => {
            Some(SyntaxRole::Type)
        }
        _ => None,
    };
    let next_context = WordContext {
        expected_role: next_role.filter(|_| keyword_role.is_some()),
        expects_command: keyword_role == Some(SyntaxRole::Keyword),
        is_assignment: context.is_assignment
            || language.kind == Kind::Shell && context.expects_command && following_text.starts_with('='),
    };
    (role, next_context)
}

fn is_macro(language: &Language, following_text: &str) -> bool {
    language.names.starts_with("rust")
        && following_text.strip_prefix('!').is_some_and(|text| text.trim_start().starts_with(['(', '[', '{']))
}

/// Returns whether a name is written in capitals, as constants are.
fn is_constant_name(word: &str) -> bool {
    word.len() > 1
        && word.chars().any(|c| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}
