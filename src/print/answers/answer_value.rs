//! Parsing of one answer for its question.

use crate::chat::{AnswerValue, OptionNote, Question, QuestionAnswer};
use serde_json::{Map, Value};

/// Fields of an answer that is an object.
const FIELDS: &[&str] =
    &["answer", "option", "options", "option_index", "option_indexes", "text", "skipped", "note", "notes", "source"];

/// Parses the answer to a question; the error includes what was expected.
pub(super) fn parse_answer(question: &Question, value: &Value) -> Result<QuestionAnswer, String> {
    let Value::Object(fields) = value else {
        return Ok(QuestionAnswer::new(&question.keyword, parse_plain(question, value)?));
    };
    let answer = QuestionAnswer::new(&question.keyword, parse_object(question, fields)?);
    Ok(QuestionAnswer { note: parse_note(question, fields)?, notes: parse_option_notes(question, fields)?, ..answer })
}

fn parse_object(question: &Question, fields: &Map<String, Value>) -> Result<AnswerValue, String> {
    if let Some(name) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(format_error(question, &format!("unknown field {name:?}")));
    }
    let non_null_field = |name: &str| fields.get(name).filter(|value| !value.is_null());
    let source = non_null_field("source").and_then(Value::as_str).unwrap_or_default();
    if source == "skipped" || non_null_field("skipped") == Some(&Value::Bool(true)) {
        return Ok(AnswerValue::Skipped);
    }
    if let Some(index) = non_null_field("option_index").or(non_null_field("option_indexes")) {
        let numbers = match index {
            Value::Array(numbers) => numbers.clone(),
            single => vec![single.clone()],
        };
        let indexes = numbers.iter().map(|number| parse_index(question, number));
        return select_options(question, indexes.collect::<Result<_, _>>()?);
    }
    if let Some(option) = non_null_field("option").or(non_null_field("options")) {
        let options = match option {
            Value::Array(items) => items.clone(),
            single => vec![single.clone()],
        };
        return select_options(
            question,
            options.iter().map(|option| find_option(question, option)).collect::<Result<_, _>>()?,
        );
    }
    if let Some(text) = non_null_field("text") {
        return parse_free_text(question, text);
    }
    match non_null_field("answer") {
        Some(answer) if matches!(source, "written" | "text") => parse_free_text(question, answer),
        Some(answer) => parse_plain(question, answer),
        None => Err(format_error(question, "the answer is empty")),
    }
}

fn parse_note(question: &Question, fields: &Map<String, Value>) -> Result<String, String> {
    match fields.get("note") {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(note)) => Ok(note.trim().to_owned()),
        Some(_) => Err(format_error(question, "note is not a string")),
    }
}

/// Parses notes on options, which are named by label or index.
fn parse_option_notes(question: &Question, fields: &Map<String, Value>) -> Result<Vec<OptionNote>, String> {
    // The name of a field is always a string, so an index in it is parsed.
    let find_named = |option: &Value| {
        let number = option.as_str().and_then(|option| option.parse::<u64>().ok()).map(Value::from);
        find_option(question, option).or_else(|why| find_option(question, number.as_ref().ok_or(why)?))
    };
    let from_map_entry = |(option, text): (&String, &Value)| (find_named(&Value::from(option.as_str())), text.clone());
    let from_list_item = |item: &Value| match &item["option_index"] {
        Value::Null => (find_named(&item["option"]), item["note"].clone()),
        index => (parse_index(question, index), item["note"].clone()),
    };
    let raw_notes: Vec<(Result<usize, String>, Value)> = match fields.get("notes") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(map)) => map.iter().map(from_map_entry).collect(),
        // Tool results have notes in this format.
        Some(Value::Array(list)) => list.iter().map(from_list_item).collect(),
        Some(_) => return Err(format_error(question, "notes is not a map such as {\"option\": \"note\"}")),
    };
    let mut notes = Vec::new();
    for (option, text) in raw_notes {
        let option = option?;
        let text = text.as_str().map(str::trim).ok_or_else(|| format_error(question, "a note is not a string"))?;
        if !text.is_empty() {
            notes.push(OptionNote { option, text: text.to_owned() });
        }
    }
    notes.sort_by_key(|note| note.option);
    Ok(notes)
}

/// Parses the index of an option, from 0.
fn parse_index(question: &Question, number: &Value) -> Result<usize, String> {
    let index = number.as_u64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n < question.options.len());
    index.ok_or_else(|| format_error(question, &format!("there is no option with the index {number}")))
}

/// Parses an answer that is a string, a number or a list.
fn parse_plain(question: &Question, value: &Value) -> Result<AnswerValue, String> {
    match value {
        Value::Array(items) => {
            select_options(question, items.iter().map(|item| find_option(question, item)).collect::<Result<_, _>>()?)
        }
        Value::String(_) | Value::Number(_) | Value::Bool(_) => match find_option(question, value) {
            Ok(index) => Ok(AnswerValue::Selected(vec![index])),
            // A number that matches no option, or two, is not taken as free text.
            Err(why) if value.is_number() && !question.options.is_empty() => Err(why),
            Err(why) if question.allow_text => parse_free_text(question, value).map_err(|_| why),
            Err(why) => Err(why),
        },
        Value::Null => Err(format_error(question, "the answer is empty")),
        Value::Object(_) => Err(format_error(question, "the answer is an object within an object")),
    }
}

/// Finds an option by its label, or by its index from 0.
fn find_option(question: &Question, value: &Value) -> Result<usize, String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    // Returns the index of the option if only one label matches.
    let find_label = |matches_label: &dyn Fn(&str) -> bool| {
        let mut matching = question.options.iter().enumerate().filter(|(_, option)| matches_label(option.label.trim()));
        matching.next().map(|(index, _)| index).filter(|_| matching.next().is_none())
    };
    let label =
        find_label(&|label| label == text).or_else(|| find_label(&|label| label.to_lowercase() == text.to_lowercase()));
    let index = value.as_u64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n < question.options.len());
    match (label, index) {
        (Some(label), Some(index)) if label != index => Err(format_error(
            question,
            &format!(
                "{text} is ambiguous: it is the label of one option and the index of another; write {{\"option\": \"{text}\"}} or {{\"option_index\": {text}}}"
            ),
        )),
        (Some(pick), _) | (None, Some(pick)) => Ok(pick),
        (None, None) => Err(format_error(question, &format!("{text:?} is none of the options"))),
    }
}

fn select_options(question: &Question, mut indexes: Vec<usize>) -> Result<AnswerValue, String> {
    indexes.sort_unstable();
    indexes.dedup();
    match indexes.len() {
        0 => Err(format_error(question, "no option is selected")),
        1 => Ok(AnswerValue::Selected(indexes)),
        _ if question.is_multiple => Ok(AnswerValue::Selected(indexes)),
        n => Err(format_error(question, &format!("{n} options are selected, but only one is allowed"))),
    }
}

fn parse_free_text(question: &Question, value: &Value) -> Result<AnswerValue, String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    };
    if text.is_empty() {
        return Err(format_error(question, "the answer is empty"));
    }
    if !question.allow_text {
        return Err(format_error(question, "free text is not allowed"));
    }
    Ok(AnswerValue::Text(text))
}

/// Formats an error with what was expected.
fn format_error(question: &Question, why: &str) -> String {
    let labels: Vec<String> = question.options.iter().map(|option| format!("{:?}", option.label)).collect();
    let prefix = if question.is_multiple { "any of " } else { "one of " };
    let expected = match (labels.is_empty(), question.allow_text) {
        (true, _) => "free text".to_owned(),
        (false, true) => format!("{prefix}{}, or free text", labels.join(", ")),
        (false, false) => format!("{prefix}{}", labels.join(", ")),
    };
    format!("{why}. Use {expected}, or {{\"skipped\": true}}.")
}
