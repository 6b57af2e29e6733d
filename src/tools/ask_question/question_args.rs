//! Parses the questions of a call in all the shapes that models send, or returns an error that names the expected
//! shape.

mod options;

use super::super::summary_line;
use crate::chat::{Dropped, Question, Questions};
use serde_json::{Map, Value};

/// Maximum number of questions per call.
const MAX_QUESTIONS: usize = 10;
/// Maximum number of options per question.
const MAX_OPTIONS: usize = 25;
/// Maximum number of characters of a label or a keyword.
const MAX_LABEL_CHARS: usize = 200;
/// Maximum number of characters of a question or an option's description.
const MAX_TEXT_CHARS: usize = 2_000;
/// Maximum number of characters of a preview.
const MAX_PREVIEW_CHARS: usize = 10_000;
/// Maximum number of raw items examined in any list.
const MAX_SCANNED_ITEMS: usize = 500;

/// Field names of the list of questions, and of objects that models wrap around the arguments.
const LIST_FIELDS: &[&str] = &["questions"];
const WRAPPERS: &[&str] = &["arguments", "args", "input", "parameters", "params"];
/// Field names of a question, most likely first. A header alone is the question; next to a question it is the keyword.
const TEXT_FIELDS: &[&str] = &["question", "text", "prompt", "message", "title", "label", "header"];
const KEYWORD_FIELDS: &[&str] = &["keyword", "key", "id", "name", "header"];
const OPTION_FIELDS: &[&str] = &["options", "choices", "answers", "suggestions", "follow_up"];
const MULTI_FIELDS: &[&str] =
    &["multi", "multiple", "multiSelect", "multi_select", "multiselect", "allow_multiple", "allowMultiple"];
const FREE_TEXT_FIELDS: &[&str] =
    &["allow_text", "allowText", "custom", "allow_custom", "allowCustom", "allow_other", "allowOther"];
const RECOMMENDED_INDEX_FIELDS: &[&str] = &["recommended", "default", "recommended_index"];
const DETAIL_FIELDS: &[&str] = &["description", "context", "details"];
/// Other accepted fields. Only `type` is read: it may say that several options can be selected.
const OTHER_FIELDS: &[&str] = &["required", "type", "placeholder"];

/// Parses the arguments of a call. An error continues the sentence “ask_question requires …”.
pub(super) fn parse_questions(arguments: &Value) -> Result<Questions, String> {
    let arguments = unwrap_arguments(arguments);
    let items = raw_questions(&arguments)?;
    let mut dropped = Dropped { questions: items.len().saturating_sub(MAX_SCANNED_ITEMS), ..Dropped::default() };
    // Strings next to question objects are ignored; a list of only strings is a list of questions.
    let are_all_strings = items.iter().all(Value::is_string);
    let mut list: Vec<Question> = Vec::new();
    for item in items.iter().take(MAX_SCANNED_ITEMS) {
        let fields = match item {
            Value::Object(fields) => fields.clone(),
            Value::String(text) if are_all_strings => Map::from_iter([("question".to_owned(), text.clone().into())]),
            _ => continue,
        };
        let Some(name) = first_present(&fields, TEXT_FIELDS) else { continue };
        reject_unknown_fields(&fields)?;
        if list.len() == MAX_QUESTIONS {
            dropped.questions += 1;
            continue;
        }
        list.push(parse_question(&fields, name, &list, &mut dropped)?);
    }
    if list.is_empty() {
        return Err("at least one valid question: an object with a non-empty 'question' string".to_owned());
    }
    Ok(Questions { list, dropped })
}

/// Removes an object that some models wrap around the arguments.
fn unwrap_arguments(arguments: &Value) -> Value {
    let Some((name, inner)) = arguments.as_object().and_then(|fields| fields.iter().next()) else {
        return arguments.clone();
    };
    let is_only_field = arguments.as_object().is_some_and(|fields| fields.len() == 1);
    match decode_nested(inner) {
        inner @ (Value::Object(_) | Value::Array(_)) if is_only_field && WRAPPERS.contains(&name.as_str()) => inner,
        _ => arguments.clone(),
    }
}

/// Returns the raw questions: a list of them, one in place of the list, or one without a list.
fn raw_questions(arguments: &Value) -> Result<Vec<Value>, String> {
    let missing_error = || {
        Err("a non-empty 'questions' array, such as {\"questions\": [{\"question\": \"Which?\", \"options\": [{\"label\": \"a\"}, {\"label\": \"b\"}]}]}".to_owned())
    };
    let fields = match arguments {
        Value::Array(items) if !items.is_empty() => return Ok(items.clone()),
        Value::Object(fields) => fields,
        _ => return missing_error(),
    };
    let list = first_present(fields, LIST_FIELDS).map(|name| decode_nested(&fields[name]));
    let is_single = first_present(fields, TEXT_FIELDS).is_some_and(|name| fields[name].is_string());
    match (list, is_single) {
        (Some(Value::Array(items)), _) if items.is_empty() && !is_single => missing_error(),
        (Some(Value::Array(items)), true) if items.is_empty() => Ok(vec![arguments.clone()]),
        (Some(_), true) => Err("either 'questions' or one 'question', not both".to_owned()),
        (None, true) => {
            match decode_nested(&fields[first_present(fields, TEXT_FIELDS).unwrap_or("question")]) {
                // A whole list sent in the field for one question.
                Value::Array(items) if !items.is_empty() => Ok(items),
                _ => Ok(vec![arguments.clone()]),
            }
        }
        (Some(Value::Array(items)), false) => Ok(items),
        (Some(Value::Object(object)), false) => questions_of_object(&object).map_or_else(missing_error, Ok),
        (Some(_), false) => missing_error(),
        (None, false) => match fields.get("question") {
            Some(Value::Array(items)) if !items.is_empty() => Ok(items.clone()),
            Some(Value::Object(object)) => Ok(vec![Value::Object(object.clone())]),
            _ => missing_error(),
        },
    }
}

/// Returns the questions of an object sent in place of the list: one question, or several by number or name.
fn questions_of_object(object: &Map<String, Value>) -> Option<Vec<Value>> {
    if first_present(object, TEXT_FIELDS).is_some() {
        return Some(vec![Value::Object(object.clone())]);
    }
    let mut entries: Vec<(&String, &Map<String, Value>)> = Vec::new();
    for (name, value) in object {
        entries.push((name, value.as_object()?));
    }
    entries.sort_by_key(|(name, _)| name.parse::<u64>().unwrap_or(u64::MAX));
    let with_keyword = |(name, fields): (&String, &Map<String, Value>)| {
        let mut fields = fields.clone();
        if name.parse::<u64>().is_err() && first_present(&fields, KEYWORD_FIELDS).is_none() {
            fields.insert("keyword".to_owned(), name.clone().into());
        }
        Value::Object(fields)
    };
    (!entries.is_empty()).then(|| entries.into_iter().map(with_keyword).collect())
}

/// Parses one question. `text_field` is the name of the field with its text; `earlier` are the questions before it.
fn parse_question(
    fields: &Map<String, Value>,
    text_field: &str,
    earlier: &[Question],
    dropped: &mut Dropped,
) -> Result<Question, String> {
    let mut text = scalar_text(&fields[text_field]).ok_or_else(|| format!("'{text_field}' to be a string"))?;
    if let Some(details) = first_present(fields, DETAIL_FIELDS).and_then(|name| scalar_text(&fields[name])) {
        text = format!("{text}\n\n{details}");
    }
    let raw =
        first_present(fields, OPTION_FIELDS).map_or(Ok(Vec::new()), |name| options::raw_options(&fields[name]))?;
    let recommended_value = first_present(fields, RECOMMENDED_INDEX_FIELDS).map(|name| &fields[name]);
    let allow_text = parse_bool(fields, FREE_TEXT_FIELDS)?.unwrap_or(true);
    let options::ParsedOptions { options, recommended, text_description } =
        options::parse_options(&raw, recommended_value, allow_text, dropped)?;
    let keyword =
        KEYWORD_FIELDS.iter().filter(|field| **field != text_field).find_map(|field| scalar_text(fields.get(*field)?));
    let keyword = match keyword {
        Some(keyword) => truncate_counted(&keyword, MAX_LABEL_CHARS, dropped),
        None => Question::generate_keyword(earlier.len()),
    };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    let is_multiple = matches!(kind, "multi" | "multiple" | "multiselect" | "multi_select" | "checkbox");
    Ok(Question {
        keyword: unique_keyword(keyword, earlier),
        text: truncate_counted(&text, MAX_TEXT_CHARS, dropped),
        is_multiple: parse_bool(fields, MULTI_FIELDS)?.unwrap_or(is_multiple),
        // Without options, text is the only way to answer.
        allow_text: allow_text || options.is_empty(),
        text_description,
        options,
        recommended,
    })
}

/// Rejects a question with an unknown field, because its meaning would be lost.
fn reject_unknown_fields(fields: &Map<String, Value>) -> Result<(), String> {
    let known_fields = [
        TEXT_FIELDS,
        KEYWORD_FIELDS,
        OPTION_FIELDS,
        MULTI_FIELDS,
        FREE_TEXT_FIELDS,
        RECOMMENDED_INDEX_FIELDS,
        DETAIL_FIELDS,
        OTHER_FIELDS,
        LIST_FIELDS,
    ];
    match fields.keys().find(|name| !known_fields.iter().any(|names| names.contains(&name.as_str()))) {
        None => Ok(()),
        Some(name) => Err(format!(
            "only known fields: unknown field `{}`; a question has question, options, keyword, multi, allow_text and recommended",
            summary_line::first_line(name, MAX_LABEL_CHARS)
        )),
    }
}

/// Returns the first of these names whose field is not empty.
fn first_present<'a>(fields: &Map<String, Value>, names: &[&'a str]) -> Option<&'a str> {
    let is_present = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    };
    names.iter().find(|name| fields.get(**name).is_some_and(is_present)).copied()
}

/// Decodes a value that may have been sent as a JSON string, possibly in a code fence.
fn decode_nested(value: &Value) -> Value {
    let Value::String(text) = value else { return value.clone() };
    let mut text = text.trim();
    if let Some(fenced) = text.strip_prefix("```").and_then(|text| text.strip_suffix("```")) {
        text = fenced.trim_start_matches(char::is_alphanumeric).trim();
    }
    match serde_json::from_str(text) {
        Ok(inner @ (Value::Array(_) | Value::Object(_))) => inner,
        // Encoded as a string twice.
        Ok(Value::String(inner)) => serde_json::from_str(&inner).unwrap_or_else(|_| value.clone()),
        Ok(_) | Err(_) => value.clone(),
    }
}

/// Returns a string, number or boolean as text; `None` for blank text and any other value.
fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(boolean) => Some(boolean.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Parses a boolean from the first of these fields that is not empty; `None` if there is none.
fn parse_bool(fields: &Map<String, Value>, names: &[&str]) -> Result<Option<bool>, String> {
    let Some(name) = first_present(fields, names) else { return Ok(None) };
    let value = scalar_text(&fields[name]).unwrap_or_default().to_ascii_lowercase();
    match value.as_str() {
        "true" | "yes" | "1" => Ok(Some(true)),
        "false" | "no" | "0" => Ok(Some(false)),
        _ => Err(format!("'{name}' to be true or false")),
    }
}

/// Truncates a text, and counts it in `dropped` if it was too long.
fn truncate_counted(text: &str, limit: usize, dropped: &mut Dropped) -> String {
    let (truncated, truncation) = summary_line::truncate_chars(text, limit);
    dropped.shortened += usize::from(truncation.is_some());
    truncated.to_owned()
}

fn unique_keyword(keyword: String, earlier: &[Question]) -> String {
    let is_taken = |name: &String| earlier.iter().any(|question| question.keyword == *name);
    let numbered = (1..).map(|n| format!("{keyword}-{n}"));
    std::iter::once(keyword.clone()).chain(numbered).find(|name| !is_taken(name)).unwrap_or(keyword)
}
