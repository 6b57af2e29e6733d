//! The role of a word: keyword, type, function, constant, key.

use super::languages::{Kind, Language};
use super::syntax_role::SyntaxRole;

/// Keywords of a language, sorted for lookup.
pub struct KeywordTable(Vec<(&'static str, SyntaxRole)>);

impl KeywordTable {
    /// Collects the keywords of a language.
    pub fn from_language(language: &Language) -> Self {
        let roles = [
            (language.keywords, SyntaxRole::Keyword),
            (language.values, SyntaxRole::Number),
            (language.types, SyntaxRole::Type),
        ];
        let each =
            |(words, role): (&'static str, SyntaxRole)| words.split_ascii_whitespace().map(move |word| (word, role));
        let mut all: Vec<_> = roles.into_iter().flat_map(each).collect();
        all.sort_unstable_by_key(|(word, _)| *word);
        Self(all)
    }

    /// Returns the role of a keyword; `None` for other words.
    pub fn find_role(&self, word: &str) -> Option<SyntaxRole> {
        self.0.binary_search_by_key(&word, |(word, _)| word).ok().map(|at| self.0[at].1)
    }
}

/// What the words before a word say about it.
#[derive(Debug, Clone, Copy)]
pub struct WordContext {
    /// Role of the previous word, if it determines the role of the next one.
    pub previous_role: Option<SyntaxRole>,
    /// True if the next word is a called command.
    pub expects_command: bool,
}

/// Returns the role of a word and the context of the next one. `after` is the text after the word, without blanks.
pub fn classify_word(
    language: &Language,
    keywords: &KeywordTable,
    word: &str,
    after: &str,
    context: WordContext,
) -> (SyntaxRole, WordContext) {
    let lower;
    let known = match language.is_case_sensitive {
        true => word,
        false => {
            lower = word.to_ascii_lowercase();
            &lower
        }
    };
    let is_key = language.kind == Kind::Keys && after.starts_with([':', '=']) && !after.starts_with("==");
    let known = keywords.find_role(known);
    let role = match known {
        _ if is_key && known != Some(SyntaxRole::Keyword) => SyntaxRole::Type,
        Some(role) => role,
        None if word.starts_with(['$', '@', '%']) => SyntaxRole::Type,
        None if context.previous_role.is_some() => context.previous_role.unwrap_or(SyntaxRole::Plain),
        None if language.kind == Kind::Shell && context.expects_command && !after.starts_with('=') => {
            SyntaxRole::Function
        }
        None if language.kind == Kind::Shell && word.starts_with('-') => SyntaxRole::Number,
        None if language.kind == Kind::Shell => SyntaxRole::Plain,
        None if word.starts_with('\\') => SyntaxRole::Keyword,
        None if after.starts_with('(') || is_macro(language, after) => SyntaxRole::Function,
        None if is_constant_name(word) => SyntaxRole::Number,
        None if language.has_capital_types && word.starts_with(char::is_uppercase) => SyntaxRole::Type,
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
    let next = WordContext {
        previous_role: next_role.filter(|_| known.is_some()),
        expects_command: known == Some(SyntaxRole::Keyword) || language.kind == Kind::Shell && after.starts_with('='),
    };
    (role, next)
}

fn is_macro(language: &Language, after: &str) -> bool {
    language.names.starts_with("rust")
        && after.strip_prefix('!').is_some_and(|after| after.trim_start().starts_with(['(', '[', '{']))
}

/// Returns whether a name is written in capitals, as constants are.
fn is_constant_name(word: &str) -> bool {
    word.len() > 1
        && word.chars().any(|c| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}
