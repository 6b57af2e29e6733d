//! Facts in the prose of a description: numbers, rules, examples, names of tools, and whole sentences.

/// Kind of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactKind {
    Number,
    Rule,
    Example,
    Reference,
    Sentence,
}

/// A fact, and the sentence that states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    pub kind: FactKind,
    /// The number with its unit, the word of the rule, the example, the name, or the sentence.
    pub text: String,
    pub sentence: String,
}

/// Words that make a sentence a rule. Replacing one by another word of its row is not a loss.
const RULES: &[&[&str]] = &[
    &["only", "just", "solely"],
    &["must", "required", "requires", "has to", "have to"],
    &["never", "not", "no", "cannot", "don't", "without"],
    &["always", "every", "each"],
    &["default", "defaults", "omitted", "omit"],
    &["at most", "maximum", "max", "up to", "capped", "limit", "limited", "no more than", "maxlength", "maxitems"],
    &["at least", "minimum", "min", "minlength", "minitems"],
    &["before", "first", "earlier"],
    &["after", "afterwards", "then", "once"],
    &["instead", "prefer", "rather"],
    &["unless", "except", "until"],
];
/// Words before a list of examples.
const EXAMPLE_MARKS: [&str; 6] = ["e.g.", "such as", "for example", "for instance", "including", "like "];
/// Pairs of quotes. A `'` after a letter or digit is an apostrophe and opens no quote.
const QUOTES: [(char, char); 4] = [('“', '”'), ('"', '"'), ('`', '`'), ('\'', '\'')];
/// Units, each with its short form.
const UNITS: [(&str, &str); 24] = [
    ("s", "s"),
    ("sec", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("ms", "ms"),
    ("milliseconds", "ms"),
    ("min", "min"),
    ("minute", "min"),
    ("minutes", "min"),
    ("h", "h"),
    ("hour", "h"),
    ("hours", "h"),
    ("day", "d"),
    ("days", "d"),
    ("byte", "B"),
    ("bytes", "B"),
    ("kb", "kB"),
    ("mb", "MB"),
    ("character", "chars"),
    ("characters", "chars"),
    ("chars", "chars"),
    ("tokens", "tokens"),
    ("lines", "lines"),
    ("%", "%"),
];
/// Words of four letters or more that say nothing by themselves.
const FILLERS: [&str; 32] = [
    "this",
    "that",
    "with",
    "from",
    "into",
    "your",
    "will",
    "when",
    "what",
    "which",
    "them",
    "they",
    "then",
    "than",
    "have",
    "been",
    "also",
    "such",
    "these",
    "those",
    "their",
    "used",
    "using",
    "tool",
    "value",
    "parameter",
    "want",
    "wants",
    "should",
    "would",
    "here",
    "there",
];
/// Minimum percentage of the content words of a sentence that the new texts must contain.
const MIN_KEPT_PERCENT: usize = 34;

/// Finds the facts of a text.
pub fn find_facts(text: &str, tool_names: &[String]) -> Vec<Fact> {
    let mut facts = Vec::new();
    for sentence in split_sentences(text) {
        let mut push = |kind, text: String| facts.push(Fact { kind, text, sentence: sentence.to_owned() });
        for (number, unit) in find_numbers(sentence) {
            push(FactKind::Number, if unit.is_empty() { number } else { format!("{number} {unit}") });
        }
        for words in RULES {
            if let Some(word) = words.iter().find(|word| has_phrase(sentence, word)) {
                push(FactKind::Rule, (*word).to_owned());
            }
        }
        let examples = find_quoted(sentence).into_iter().chain(find_listed_examples(sentence));
        examples.for_each(|example| push(FactKind::Example, example));
        for name in tool_names.iter().filter(|name| has_phrase(sentence, name)) {
            push(FactKind::Reference, name.clone());
        }
        if subject_words(sentence).len() >= 2 {
            push(FactKind::Sentence, sentence.to_owned());
        }
    }
    facts
}

/// Returns whether one of the texts states a fact.
pub fn is_stated(kind: FactKind, fact: &str, sentence: &str, texts: &[&str]) -> bool {
    match kind {
        FactKind::Number => {
            let (number, unit) = fact.split_once(' ').unwrap_or((fact, ""));
            let numbers: Vec<(String, String)> = texts.iter().flat_map(|text| find_numbers(text)).collect();
            numbers.iter().any(|(known, known_unit)| known == number && (unit.is_empty() || known_unit == unit))
        }
        FactKind::Rule => {
            let same = RULES.iter().find(|words| words.contains(&fact)).copied().unwrap_or_default();
            let subjects = subject_words(sentence);
            let is_same_rule = |candidate: &str| {
                same.iter().any(|word| has_phrase(candidate, word))
                    && (subjects.is_empty() || subject_words(candidate).iter().any(|word| subjects.contains(word)))
            };
            texts.iter().flat_map(|text| split_sentences(text)).any(is_same_rule)
        }
        FactKind::Example => texts.iter().any(|text| states_value(text, fact)),
        FactKind::Reference => texts.iter().any(|text| has_phrase(text, fact)),
        FactKind::Sentence => {
            let words = subject_words(sentence);
            let known: Vec<String> = texts.iter().flat_map(|text| subject_words(text)).collect();
            let kept = words.iter().filter(|word| known.contains(word)).count();
            kept * 100 >= words.len() * MIN_KEPT_PERCENT
        }
    }
}

/// Returns whether a text contains a value: the value itself at word boundaries, or all of its content words.
pub fn states_value(text: &str, value: &str) -> bool {
    let wanted = content_words(value);
    has_phrase(text, value.trim()) || {
        let known = content_words(text);
        !wanted.is_empty() && wanted.iter().all(|word| known.contains(word))
    }
}

/// Splits a text into sentences, also at semicolons and line breaks. A period inside a word, or after `e.g`, `i.e` or `etc`, does
/// not end a sentence.
fn split_sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let (before, after) = (&text[..at], &text[at + c.len_utf8()..]);
        let is_period = matches!(c, '.' | '!' | '?') && after.chars().next().is_none_or(char::is_whitespace);
        let is_abbreviation =
            ["e.g", "i.e", "etc"].iter().any(|word| before.ends_with(word)) && !after.trim().is_empty();
        if is_period && !is_abbreviation || matches!(c, ';' | '\n') {
            sentences.push(text[start..at].trim());
            start = at + c.len_utf8();
        }
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Finds numbers with the short form of their units, if any. Commas between thousands are dropped; a digit after a letter
/// belongs to a name.
fn find_numbers(text: &str) -> Vec<(String, String)> {
    let mut numbers = Vec::new();
    let bytes = text.as_bytes();
    let mut position = 0;
    while position < bytes.len() {
        if !bytes[position].is_ascii_digit() {
            position += 1;
            continue;
        }
        let is_part_of_name = text[..position].ends_with(|c: char| c.is_alphabetic() || c == '_');
        let start = position;
        let is_inside = |at: usize| {
            bytes[at].is_ascii_digit()
                || matches!(bytes[at], b',' | b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
        };
        while position < bytes.len() && is_inside(position) {
            position += 1;
        }
        if is_part_of_name {
            continue;
        }
        let after = text[position..].trim_start_matches([' ', '-', '\u{a0}']);
        let unit: String = match after.strip_prefix('%') {
            Some(_) => "%".to_owned(),
            None => after.chars().take_while(|c| c.is_alphabetic()).collect::<String>().to_lowercase(),
        };
        let unit = UNITS.iter().find(|(long, _)| *long == unit).map_or("", |(_, short)| short);
        numbers.push((text[start..position].replace(',', ""), unit.to_owned()));
    }
    numbers
}

fn find_quoted(sentence: &str) -> Vec<String> {
    let mut quoted = Vec::new();
    for (open, close) in QUOTES {
        let mut rest = sentence;
        while let Some(start) = rest.find(open) {
            let inner = &rest[start + open.len_utf8()..];
            let is_apostrophe = open == '\'' && rest[..start].ends_with(char::is_alphanumeric);
            match inner.find(close).filter(|_| !is_apostrophe) {
                Some(end) => {
                    quoted.push(inner[..end].trim().to_owned());
                    rest = &inner[end + close.len_utf8()..];
                }
                None => rest = inner,
            }
        }
    }
    quoted.retain(|text| !text.is_empty());
    quoted
}

/// Finds the items after the first occurrence of each phrase such as `e.g.`, up to `)`, `:` or the end of the sentence.
fn find_listed_examples(sentence: &str) -> Vec<String> {
    let lower = sentence.to_ascii_lowercase();
    let mut examples = Vec::new();
    for mark in EXAMPLE_MARKS {
        let Some(start) = lower.find(mark).map(|at| at + mark.len()) else { continue };
        let list = sentence[start..].split([')', ':']).next().unwrap_or_default();
        let list = list.replace(" or ", ",").replace(" and ", ",");
        let items = list.split(',').map(|item| item.trim_matches(|c: char| c.is_whitespace() || "\"“”`'".contains(c)));
        examples.extend(items.filter(|item| !item.is_empty()).map(str::to_owned));
    }
    examples.sort();
    examples.dedup();
    examples
}

/// Returns whether the text contains the phrase at word boundaries, ignoring case.
fn has_phrase(text: &str, phrase: &str) -> bool {
    let (text, phrase) = (text.to_lowercase(), phrase.to_lowercase());
    let is_inside_word = |c: char| c.is_alphanumeric() || c == '_';
    !phrase.is_empty()
        && text.match_indices(&phrase).any(|(at, _)| {
            let starts = !phrase.starts_with(is_inside_word) || !text[..at].ends_with(is_inside_word);
            let ends = !phrase.ends_with(is_inside_word) || !text[at + phrase.len()..].starts_with(is_inside_word);
            starts && ends
        })
}

/// Returns what a sentence is about: its numbers, and its words except those that make it a rule.
fn subject_words(sentence: &str) -> Vec<String> {
    let rule_words: Vec<String> =
        RULES.iter().flat_map(|words| words.iter().flat_map(|word| content_words(word))).collect();
    let words = content_words(sentence).into_iter().filter(|word| !rule_words.contains(word));
    words.chain(find_numbers(sentence).into_iter().map(|(number, _)| number)).collect()
}

/// Returns the beginnings of the words that carry meaning, in lower case.
fn content_words(text: &str) -> Vec<String> {
    const MIN_CHARS: usize = 4;
    /// Characters of a word that are compared, so that `deleted` and `deletes` are the same.
    const STEM_CHARS: usize = 5;
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let words = words.filter(|word| word.chars().count() >= MIN_CHARS && !FILLERS.contains(&word.as_str()));
    let mut stems: Vec<String> = words.map(|word| word.chars().take(STEM_CHARS).collect()).collect();
    stems.sort();
    stems.dedup();
    stems
}
