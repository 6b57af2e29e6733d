//! Parses the options of a question in all the shapes that models send.

use super::{LABEL, OPTIONS, PREVIEW, SCANNED, WORDS, bounded, decoded, present, scalar};
use crate::chat::{Choice, Dropped};
use serde_json::{Map, Value};

/// Field names of an option, most likely first.
const NAMES: &[&str] =
    &["label", "title", "name", "option", "choice", "answer", "text", "value", "header", "key", "id"];
const MEANS: &[&str] = &["description", "desc", "detail", "details", "explanation", "help", "hint", "text"];
const LOOKS: &[&str] = &["preview", "example"];
const BEST: &[&str] = &["recommended", "default"];
/// Characters of one part of a list that was sent as one line.
const PART: usize = 60;

/// Returns the raw options of a field as a list.
pub(super) fn raw(value: &Value) -> Result<Vec<Value>, String> {
    let wrong = || {
        Err("'options' to be an array of strings or of objects with a 'label', such as [{\"label\": \"a\"}, {\"label\": \"b\"}]".to_owned())
    };
    match decoded(value) {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => Ok(items),
        Value::Object(one) if present(&one, NAMES).is_some() => Ok(vec![Value::Object(one)]),
        Value::Object(several) => of_object(&several).map_or_else(wrong, Ok),
        Value::String(text) => in_one_string(&text).map_or_else(wrong, Ok),
        Value::Bool(_) | Value::Number(_) => wrong(),
    }
}

/// Returns the options that are not empty or duplicate, and the recommended one: given by its index in `raw`, by its
/// label, or by a flag of its own.
pub(super) fn choices(
    raw: &[Value],
    recommended: Option<&Value>,
    dropped: &mut Dropped,
) -> Result<(Vec<Choice>, Option<usize>), String> {
    let (mut options, mut best): (Vec<Choice>, _) = (Vec::new(), None);
    dropped.options += raw.len().saturating_sub(SCANNED);
    for (at, value) in raw.iter().take(SCANNED).enumerate() {
        let Some(option) = option(value)? else { continue };
        let mut cut = Dropped::default();
        let label = bounded(&option.choice.label, LABEL, &mut cut);
        if options.iter().any(|option| option.label == label) {
            continue;
        }
        if options.len() == OPTIONS {
            dropped.options += 1;
            continue;
        }
        let advised = |wanted: &Value| {
            wanted.as_u64() == Some(at as u64) || scalar(wanted).as_ref() == Some(&option.choice.label)
        };
        if best.is_none() && (option.best || recommended.is_some_and(advised)) {
            best = Some(options.len());
        }
        dropped.shortened += cut.shortened;
        let description = bounded(&option.choice.description, WORDS, dropped);
        let preview = bounded(&option.choice.preview, PREVIEW, dropped);
        options.push(Choice { label, description, preview });
    }
    Ok((options, best))
}

/// One option before it is truncated.
struct Raw {
    choice: Choice,
    best: bool,
}

/// Parses one option; `None` if it is empty.
fn option(value: &Value) -> Result<Option<Raw>, String> {
    let fields = match decoded(value) {
        Value::Object(fields) => fields,
        Value::Array(_) => return Err("each option to be a string or an object with a 'label'".to_owned()),
        other => {
            let plain = |label: String| Raw { choice: Choice::new(&label), best: false };
            return Ok(scalar(&other).map(plain));
        }
    };
    let Some(name) = present(&fields, NAMES) else {
        let empty = fields.values().all(|value| scalar(value).is_none());
        let why = "each option to have a 'label', and optional 'description' and 'preview'";
        return if empty { Ok(None) } else { Err(why.to_owned()) };
    };
    let Some(label) = scalar(&fields[name]) else {
        return Err(format!("an option's '{name}' to be a string"));
    };
    let of = |names: &[&str]| {
        let found = names.iter().filter(|other| **other != name).find_map(|name| scalar(fields.get(*name)?));
        found.unwrap_or_default()
    };
    let best = BEST.iter().any(|name| fields.get(*name) == Some(&Value::Bool(true)));
    Ok(Some(Raw { choice: Choice { label, description: of(MEANS), preview: of(LOOKS) }, best }))
}

/// Parses an object of options by number, letter or label: `{"0": {…}}`, `{"tokio": "virtual time"}`.
fn of_object(object: &Map<String, Value>) -> Option<Vec<Value>> {
    if object.is_empty() {
        return None;
    }
    let mut named: Vec<(&String, &Value)> = object.iter().collect();
    named.sort_by_key(|(name, _)| name.parse::<u64>().unwrap_or(u64::MAX));
    let one = |(name, value): (&String, &Value)| match value {
        Value::Object(fields) if present(fields, NAMES).is_some() => Some(value.clone()),
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.insert("label".to_owned(), name.clone().into());
            Some(Value::Object(fields))
        }
        Value::String(text) if name.parse::<u64>().is_ok() => Some(text.clone().into()),
        Value::String(text) => Some(serde_json::json!({ "label": name, "description": text })),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    };
    named.into_iter().map(one).collect()
}

/// Splits a list that was sent as one string, if its parts are unambiguous: one per line, or short parts between
/// commas.
fn in_one_string(text: &str) -> Option<Vec<Value>> {
    let lines: Vec<&str> = text.lines().map(unmarked).filter(|line| !line.is_empty()).collect();
    if lines.len() > 1 {
        return Some(lines.into_iter().map(Value::from).collect());
    }
    let spaced = text.contains(", ");
    let parts: Vec<&str> = text.split(if spaced { ", " } else { "," }).map(str::trim).collect();
    let doubtful = |part: &&str| {
        let number = !spaced && part.chars().all(|c| c.is_ascii_digit());
        let joined = ["or ", "and "].iter().any(|word| part.starts_with(word));
        let sentence = part.ends_with(['.', '?', ':', ';']);
        let brackets = part.contains(['(', ')', '[', ']', '{', '}', '"', '“', '„']);
        part.is_empty()
            || part.chars().count() > PART
            || part.contains(',')
            || part.contains(" or ")
            || number
            || joined
            || sentence
            || brackets
            || (!spaced && part.contains(' '))
    };
    let plain = parts.len() > 1 && !parts.iter().any(doubtful);
    plain.then(|| parts.into_iter().map(Value::from).collect())
}

/// Removes the bullet or number from a list item.
fn unmarked(line: &str) -> &str {
    let line = line.trim();
    if let Some(rest) = ["- ", "* ", "• "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return rest.trim();
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let numbered = line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") "));
    match numbered {
        Some(rest) if digits > 0 => rest.trim(),
        Some(_) | None => line,
    }
}
