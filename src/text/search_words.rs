//! Words of a text for a full-text index, and of a query as an expression of FTS5, the full-text search of SQLite.
//!
//! The tokenizer of SQLite takes a run of letters as one word. Scripts that write words without spaces are therefore indexed
//! character by character, and a query asks for pairs of neighbouring characters.

use std::borrow::Cow;
use std::collections::HashSet;
use unicode_normalization::{UnicodeNormalization, is_nfkc};

/// Maximum number of terms of an expression. Further words of a query are not used.
pub const MAX_TERMS: usize = 48;
/// Maximum characters of a query that are read.
const MAX_QUERY_CHARS: usize = 4_000;
/// Maximum characters of a term.
const MAX_TERM_CHARS: usize = 64;
/// Maximum number of words of a text such as `a.b_c`, which is also searched as a phrase.
const MAX_PHRASE_WORDS: usize = 6;

/// Words that nearly every English text contains. They are used only if a query has no others.
#[rustfmt::skip]
const COMMON_WORDS: [&str; 60] = [
    "a", "about", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do",
    "does", "for", "from", "get", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no", "not",
    "of", "on", "or", "should", "so", "that", "the", "their", "there", "this", "to", "was", "we", "what", "when", "where",
    "which", "who", "why", "will", "with", "you", "your",
];

/// The words of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchWords {
    /// Terms in lower case: words, phrases of several words, and one or two characters of scripts without spaces. The
    /// characters of these are separated by a space.
    terms: Vec<String>,
    /// True if the query has more words than are used.
    pub is_truncated: bool,
}

impl SearchWords {
    /// Reads the words of any text. `None` if there is no word.
    pub fn parse(query: &str) -> Option<Self> {
        let read: String = query.chars().take(MAX_QUERY_CHARS).collect();
        let normalized = normalize(&read);
        let mut terms: Vec<String> = normalized.split_whitespace().flat_map(chunk_terms).collect();
        let is_common = |term: &String| COMMON_WORDS.contains(&term.as_str());
        if terms.iter().any(|term| !is_common(term)) {
            terms.retain(|term| !is_common(term));
        }
        let mut known = HashSet::new();
        terms.retain(|term| known.insert(term.clone()));
        let is_truncated = terms.len() > MAX_TERMS || read.len() < query.len();
        terms.truncate(MAX_TERMS);
        (!terms.is_empty()).then_some(Self { terms, is_truncated })
    }

    /// Returns whether a word in lower case is one of the terms.
    pub fn has_word(&self, word: &str) -> bool {
        self.terms.iter().any(|term| term == word)
    }

    /// Returns the expression of FTS5 that finds any of the terms. It is valid whatever the query contains: each term is
    /// quoted and consists of letters, digits and spaces.
    pub fn match_expression(&self) -> String {
        let quoted: Vec<String> = self.terms.iter().map(|term| format!("\"{term}\"")).collect();
        quoted.join(" OR ")
    }

    /// Returns the beginnings of words, in lower case, that a matching text contains. English endings are removed, as
    /// the index does, but more roughly.
    pub fn stems(&self) -> Vec<String> {
        let stem = |term: &String| match is_joined(term) {
            true => term.replace(' ', ""),
            false => remove_ending(term).to_owned(),
        };
        // The words of a phrase are terms too.
        let single = self.terms.iter().filter(|term| is_joined(term) || !term.contains(' '));
        single.map(stem).collect()
    }
}

/// Returns the text as it is indexed: compatible forms of characters are made equal, and characters of scripts without
/// spaces are separated.
pub fn index_text(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let normalized = normalize(text);
    if !normalized.chars().any(is_unspaced) {
        return normalized;
    }
    let mut separated = String::with_capacity(normalized.len() * 4 / 3);
    for c in normalized.chars() {
        match is_unspaced(c) {
            true => separated.extend([' ', c, ' ']),
            false => separated.push(c),
        }
    }
    Cow::Owned(separated)
}

fn normalize(text: &str) -> Cow<'_, str> {
    match text.is_ascii() || is_nfkc(text) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.nfkc().collect()),
    }
}

/// Returns the terms of a part of a query without spaces.
fn chunk_terms(chunk: &str) -> Vec<String> {
    let (mut terms, mut words) = (Vec::new(), Vec::new());
    let (mut word, mut unspaced) = (String::new(), Vec::new());
    // The end of the chunk ends its last word.
    for c in chunk.chars().chain(std::iter::once(' ')) {
        let is_character = is_unspaced(c) && c.is_alphanumeric();
        if !is_character && !unspaced.is_empty() {
            terms.extend(character_pairs(&std::mem::take(&mut unspaced)));
        }
        if (is_character || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if is_character {
            unspaced.push(c);
        } else if c.is_alphanumeric() && word.chars().count() < MAX_TERM_CHARS {
            word.extend(c.to_lowercase());
        }
    }
    let is_phrase = (2..=MAX_PHRASE_WORDS).contains(&words.len()) && terms.is_empty();
    terms.extend(is_phrase.then(|| words.join(" ")));
    terms.extend(words);
    terms
}

/// Returns each character with the next one; a single character alone.
fn character_pairs(characters: &[char]) -> Vec<String> {
    match characters {
        [single] => vec![single.to_string()],
        characters => characters.windows(2).map(|pair| format!("{} {}", pair[0], pair[1])).collect(),
    }
}

/// Returns whether a term consists of characters that are written without a space between them.
fn is_joined(term: &str) -> bool {
    term.chars().any(is_unspaced)
}

/// Removes an English ending of a word that stays long enough.
fn remove_ending(word: &str) -> &str {
    const MIN_STEM_BYTES: usize = 4;
    let endings = ["ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "ly", "s", "e", "y"];
    let stem = endings.iter().find_map(|ending| word.strip_suffix(ending).filter(|stem| stem.len() >= MIN_STEM_BYTES));
    stem.unwrap_or(word)
}

/// Returns whether a script writes words without spaces: Chinese, Japanese, Thai and its neighbours. Also Korean, whose words
/// have endings that no tokenizer here knows.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF | 0x2E80..=0x2FDF | 0x3005..=0x3007
        | 0x3021..=0x3029 | 0x3040..=0x318F | 0x31A0..=0x31BF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF
        | 0xA960..=0xA97F | 0xAC00..=0xD7FF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
}

#[cfg(test)]
mod tests;
