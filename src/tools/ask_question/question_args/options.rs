//! Parses the options of a question in all the shapes that models send.

use super::{
    MAX_LABEL_CHARS, MAX_OPTIONS, MAX_PREVIEW_CHARS, MAX_SCANNED_ITEMS, MAX_TEXT_CHARS, decode_nested, first_present,
    scalar_text, truncate_counted,
};
use crate::chat::{Dropped, QuestionOption};
use serde_json::{Map, Value};

/// Field names of an option, most likely first.
const LABEL_FIELDS: &[&str] =
    &["label", "title", "name", "option", "choice", "answer", "text", "value", "header", "key", "id"];
const DESCRIPTION_FIELDS: &[&str] =
    &["description", "desc", "detail", "details", "explanation", "help", "hint", "text"];
const PREVIEW_FIELDS: &[&str] = &["preview", "example"];
const RECOMMENDED_FIELDS: &[&str] = &["recommended", "default"];
/// Labels of options that only offer to write an answer, in lower case.
const FREE_TEXT_LABELS: &[&str] = &[
    "other",
    "other answer",
    "other option",
    "another answer",
    "another option",
    "something else",
    "anything else",
    "in my own words",
    "in your own words",
    "my own answer",
    "your own answer",
    "write an answer",
    "write my own",
    "write your own",
    "write my own answer",
    "write your own answer",
    "type my own",
    "type your own",
    "type something",
    "type something else",
    "type my own answer",
    "type your own answer",
    "custom answer",
    "free text",
    "let me explain",
    "i'll explain",
];
/// Words of which one is in an addition to such a label.
const WRITING_WORDS: &[&str] = &["specify", "describe", "explain", "write", "type", "tell", "enter", "own"];
/// Maximum number of characters of one part of a list that was sent as one line.
const MAX_PART_CHARS: usize = 60;

/// Returns the raw options of a field as a list. An error names the expected shape, to follow “expected”;
/// so do the errors below.
pub(super) fn raw_options(value: &Value) -> Result<Vec<Value>, String> {
    let invalid_error = || {
        Err("'options' to be an array of strings or of objects with a 'label', such as [{\"label\": \"a\"}, {\"label\": \"b\"}]".to_owned())
    };
    match decode_nested(value) {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => Ok(items),
        Value::Object(object) if first_present(&object, LABEL_FIELDS).is_some() => Ok(vec![Value::Object(object)]),
        Value::Object(object) => options_of_object(&object).map_or_else(invalid_error, Ok),
        Value::String(text) => split_text(&text).map_or_else(invalid_error, Ok),
        Value::Bool(_) | Value::Number(_) => invalid_error(),
    }
}

/// Options of a question.
pub(super) struct ParsedOptions {
    pub(super) options: Vec<QuestionOption>,
    /// Index of the recommended option.
    pub(super) recommended: Option<usize>,
    /// Description of an option that was removed because it stood for a free text.
    pub(super) text_description: String,
}

/// Returns the options that are not empty or duplicate. The recommended one is given by its index in `raw`, by its label,
/// or by a flag of its own. If `allow_text`, a last option such as “Other” is removed: the prompt has a row for free text.
pub(super) fn parse_options(
    raw: &[Value],
    recommended: Option<&Value>,
    allow_text: bool,
    dropped: &mut Dropped,
) -> Result<ParsedOptions, String> {
    let (mut options, mut recommended_index): (Vec<QuestionOption>, _) = (Vec::new(), None);
    dropped.options += raw.len().saturating_sub(MAX_SCANNED_ITEMS);
    for (index, value) in raw.iter().take(MAX_SCANNED_ITEMS).enumerate() {
        let Some((raw_option, is_marked)) = parse_option(value)? else { continue };
        // Added to `dropped` only if the option is kept.
        let mut label_dropped = Dropped::default();
        let label = truncate_counted(&raw_option.label, MAX_LABEL_CHARS, &mut label_dropped);
        if options.iter().any(|option| option.label == label) {
            continue;
        }
        if options.len() == MAX_OPTIONS {
            dropped.options += 1;
            continue;
        }
        let is_recommended = |recommendation: &Value| {
            recommendation.as_u64() == Some(index as u64)
                || scalar_text(recommendation).as_ref() == Some(&raw_option.label)
        };
        if recommended_index.is_none() && (is_marked || recommended.is_some_and(is_recommended)) {
            recommended_index = Some(options.len());
        }
        dropped.shortened += label_dropped.shortened;
        let description = truncate_counted(&raw_option.description, MAX_TEXT_CHARS, dropped);
        let preview = truncate_counted(&raw_option.preview, MAX_PREVIEW_CHARS, dropped);
        options.push(QuestionOption { label, description, preview });
    }
    let stands_for_text = |option: &mut QuestionOption| option.preview.is_empty() && names_free_text(&option.label);
    let text_option = if allow_text { options.pop_if(stands_for_text) } else { None };
    Ok(ParsedOptions {
        recommended: recommended_index.filter(|index| *index < options.len()),
        options,
        text_description: text_option.map(|option| option.description).unwrap_or_default(),
    })
}

/// Returns whether a label only offers to write an answer: “Other”, “Something else…”, “Other (please specify)”.
fn names_free_text(label: &str) -> bool {
    let label = label.to_lowercase().replace('’', "'");
    let (name, addition) = match label.find(['(', ':', ',', '-', '–', '—']) {
        Some(start) => label.split_at(start),
        None => (label.as_str(), ""),
    };
    let name = name.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '…' | '!'));
    // Another addition names something: “Other (Debian)”.
    let asks_for_text = addition.split(|c: char| !c.is_alphabetic()).any(|word| WRITING_WORDS.contains(&word));
    FREE_TEXT_LABELS.contains(&name) && (addition.is_empty() || asks_for_text)
}

/// Parses one option, without truncating it, and whether it is marked as recommended. `None` if it is empty.
fn parse_option(value: &Value) -> Result<Option<(QuestionOption, bool)>, String> {
    let from_label = |label: String| (QuestionOption::new(&label), false);
    let fields = match decode_nested(value) {
        Value::Object(fields) if !fields.is_empty() || value.is_object() => fields,
        // A label such as `[]` or `{}` that only looks like JSON.
        Value::Array(_) | Value::Object(_) if value.is_string() => {
            return Ok(scalar_text(value).map(from_label));
        }
        Value::Array(_) => return Err("each option to be a string or an object with a 'label'".to_owned()),
        scalar => return Ok(scalar_text(&scalar).map(from_label)),
    };
    let Some(name) = first_present(&fields, LABEL_FIELDS) else {
        let is_empty = fields.values().all(|value| scalar_text(value).is_none());
        let why = "each option to have a 'label', and optional 'description' and 'preview'";
        return if is_empty { Ok(None) } else { Err(why.to_owned()) };
    };
    let Some(label) = scalar_text(&fields[name]) else {
        return Err(format!("an option's '{name}' to be a string"));
    };
    let first_text = |names: &[&str]| {
        let text = names.iter().filter(|field| **field != name).find_map(|name| scalar_text(fields.get(*name)?));
        text.unwrap_or_default()
    };
    let is_recommended = RECOMMENDED_FIELDS.iter().any(|name| fields.get(*name) == Some(&Value::Bool(true)));
    let preview = PREVIEW_FIELDS.iter().filter(|field| **field != name).find_map(|name| block_text(fields.get(*name)?));
    let (description, preview) = (first_text(DESCRIPTION_FIELDS), preview.unwrap_or_default());
    Ok(Some((QuestionOption { label, description, preview }, is_recommended)))
}

/// Returns a text of several lines without the blank lines around it. The blanks before its first line are kept, because
/// they are part of a drawing.
fn block_text(value: &Value) -> Option<String> {
    let Value::String(text) = value else { return scalar_text(value) };
    let blanks = &text[..text.len() - text.trim_start().len()];
    let first_line = blanks.rfind('\n').map_or(0, |line_break| line_break + 1);
    Some(text[first_line..].trim_end().to_owned()).filter(|text| !text.is_empty())
}

/// Returns the raw options of an object that names them by number, letter or label: `{"0": {…}}`,
/// `{"tokio": "virtual time"}`. `None` if a value is neither an object nor a string.
fn options_of_object(object: &Map<String, Value>) -> Option<Vec<Value>> {
    if object.is_empty() {
        return None;
    }
    let mut entries: Vec<(&String, &Value)> = object.iter().collect();
    entries.sort_by_key(|(name, _)| name.parse::<u64>().unwrap_or(u64::MAX));
    let named_option = |(name, value): (&String, &Value)| match value {
        Value::Object(fields) if first_present(fields, LABEL_FIELDS).is_some() => Some(value.clone()),
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.insert("label".to_owned(), name.clone().into());
            Some(Value::Object(fields))
        }
        Value::String(text) if name.parse::<u64>().is_ok() => Some(text.clone().into()),
        Value::String(text) => Some(serde_json::json!({ "label": name, "description": text })),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    };
    entries.into_iter().map(named_option).collect()
}

/// Splits a list that was sent as one string, if its parts are unambiguous: one per line, or short parts between
/// commas.
fn split_text(text: &str) -> Option<Vec<Value>> {
    let lines: Vec<&str> = text.lines().map(strip_bullet).filter(|line| !line.is_empty()).collect();
    if lines.len() > 1 {
        return Some(lines.into_iter().map(Value::from).collect());
    }
    let has_spaces = text.contains(", ");
    let parts: Vec<&str> = text.split(if has_spaces { ", " } else { "," }).map(str::trim).collect();
    let is_ambiguous = |part: &&str| {
        let is_number = !has_spaces && part.chars().all(|c| c.is_ascii_digit());
        let has_conjunction = ["or ", "and "].iter().any(|word| part.starts_with(word));
        let ends_sentence = part.ends_with(['.', '?', ':', ';']);
        let has_brackets = part.contains(['(', ')', '[', ']', '{', '}', '"', '“', '„']);
        part.is_empty()
            || part.chars().count() > MAX_PART_CHARS
            || part.contains(',')
            || part.contains(" or ")
            || is_number
            || has_conjunction
            || ends_sentence
            || has_brackets
            || (!has_spaces && part.contains(' '))
    };
    let is_unambiguous = parts.len() > 1 && !parts.iter().any(is_ambiguous);
    is_unambiguous.then(|| parts.into_iter().map(Value::from).collect())
}

/// Removes the bullet or number from a list item.
fn strip_bullet(line: &str) -> &str {
    let line = line.trim();
    if let Some(item) = ["- ", "* ", "• "].iter().find_map(|bullet| line.strip_prefix(bullet)) {
        return item.trim();
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let numbered = line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") "));
    numbered.filter(|_| digits > 0).map_or(line, str::trim)
}
