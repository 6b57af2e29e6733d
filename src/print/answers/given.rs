//! Parsing of one answer for its question.

use crate::chat::{Given, Note, Question, Source};
use serde_json::{Map, Value};

/// Fields of an answer that is an object.
const FIELDS: &[&str] = &[
    "answer",
    "option",
    "options",
    "option_index",
    "option_indexes",
    "text",
    "skipped",
    "note",
    "notes",
    "source",
];

/// Parses the answer to a question; the error includes what was expected.
pub(super) fn given(question: &Question, value: &Value) -> Result<Given, String> {
    let Value::Object(fields) = value else {
        return Ok(Given::new(&question.keyword, of_plain(question, value)?));
    };
    let given = Given::new(&question.keyword, of_object(question, fields)?);
    Ok(Given { note: note(question, fields)?, notes: notes(question, fields)?, ..given })
}

fn of_object(question: &Question, fields: &Map<String, Value>) -> Result<Source, String> {
    if let Some(name) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(wrong(question, &format!("unknown field {name:?}")));
    }
    let there = |name: &str| fields.get(name).filter(|value| !value.is_null());
    let how = there("source").and_then(Value::as_str).unwrap_or_default();
    if how == "skipped" || there("skipped") == Some(&Value::Bool(true)) {
        return Ok(Source::Skipped);
    }
    if let Some(index) = there("option_index").or(there("option_indexes")) {
        let numbers = match index {
            Value::Array(numbers) => numbers.clone(),
            one => vec![one.clone()],
        };
        let index = |number: &Value| {
            let found = number.as_u64().and_then(|n| usize::try_from(n).ok());
            found
                .filter(|n| *n < question.options.len())
                .ok_or_else(|| wrong(question, &format!("there is no option with the index {number}")))
        };
        return picked(question, numbers.iter().map(index).collect::<Result<_, _>>()?);
    }
    if let Some(option) = there("option").or(there("options")) {
        let several = match option {
            Value::Array(several) => several.clone(),
            one => vec![one.clone()],
        };
        return picked(question, several.iter().map(|one| pick(question, one)).collect::<Result<_, _>>()?);
    }
    if let Some(text) = there("text") {
        return written(question, text);
    }
    match there("answer") {
        Some(answer) if matches!(how, "written" | "text") => written(question, answer),
        Some(answer) => of_plain(question, answer),
        None => Err(wrong(question, "the answer is empty")),
    }
}

fn note(question: &Question, fields: &Map<String, Value>) -> Result<String, String> {
    match fields.get("note") {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(note)) => Ok(note.trim().to_owned()),
        Some(_) => Err(wrong(question, "note is not a string")),
    }
}

/// Parses notes on options, which are named by label or index.
fn notes(question: &Question, fields: &Map<String, Value>) -> Result<Vec<Note>, String> {
    let of_map = |(option, text): (&String, &Value)| (Value::from(option.as_str()), text.clone());
    let of_list = |one: &Value| match &one["option_index"] {
        Value::Null => (one["option"].clone(), one["note"].clone()),
        index => (index.clone(), one["note"].clone()),
    };
    let all: Vec<(Value, Value)> = match fields.get("notes") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(map)) => map.iter().map(of_map).collect(),
        // In the format of a tool result.
        Some(Value::Array(list)) => list.iter().map(of_list).collect(),
        Some(_) => return Err(wrong(question, "notes is not a map such as {\"option\": \"note\"}")),
    };
    let mut notes = Vec::new();
    for (option, text) in &all {
        let number = option.as_str().and_then(|option| option.parse::<u64>().ok()).map(Value::from);
        let option = pick(question, option).or_else(|why| pick(question, number.as_ref().ok_or(why)?))?;
        let text = text.as_str().map(str::trim).ok_or_else(|| wrong(question, "a note is not a string"))?;
        if !text.is_empty() {
            notes.push(Note { option, text: text.to_owned() });
        }
    }
    notes.sort_by_key(|note| note.option);
    Ok(notes)
}

/// Parses an answer that is a string, a number or a list.
fn of_plain(question: &Question, value: &Value) -> Result<Source, String> {
    match value {
        Value::Array(several) => {
            picked(question, several.iter().map(|one| pick(question, one)).collect::<Result<_, _>>()?)
        }
        Value::String(_) | Value::Number(_) | Value::Bool(_) => match pick(question, value) {
            Ok(pick) => Ok(Source::Picked(vec![pick])),
            // An ambiguous number is not taken as free text.
            Err(why) if value.is_number() && !question.options.is_empty() => Err(why),
            Err(why) if question.allow_text => written(question, value).map_err(|_| why),
            Err(why) => Err(why),
        },
        Value::Null => Err(wrong(question, "the answer is empty")),
        Value::Object(_) => Err(wrong(question, "the answer is an object within an object")),
    }
}

/// Finds an option by its label, or by its index from 0.
fn pick(question: &Question, value: &Value) -> Result<usize, String> {
    let words = match value {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    let labelled = |same: &dyn Fn(&str) -> bool| {
        let mut found = question.options.iter().enumerate().filter(|(_, option)| same(option.label.trim()));
        found.next().map(|(at, _)| at).filter(|_| found.next().is_none())
    };
    let label = labelled(&|label| label == words)
        .or_else(|| labelled(&|label| label.to_lowercase() == words.to_lowercase()));
    let index = value.as_u64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n < question.options.len());
    match (label, index) {
        (Some(label), Some(index)) if label != index => Err(wrong(
            question,
            &format!(
                "{words} is ambiguous: it is the label of one option and the index of another; write {{\"option\": \"{words}\"}} or {{\"option_index\": {words}}}"
            ),
        )),
        (Some(pick), _) | (None, Some(pick)) => Ok(pick),
        (None, None) => Err(wrong(question, &format!("{words:?} is none of the options"))),
    }
}

fn picked(question: &Question, mut picks: Vec<usize>) -> Result<Source, String> {
    picks.sort_unstable();
    picks.dedup();
    match picks.len() {
        0 => Err(wrong(question, "no option is selected")),
        1 => Ok(Source::Picked(picks)),
        _ if question.multi => Ok(Source::Picked(picks)),
        n => Err(wrong(question, &format!("{n} options are selected, but only one is allowed"))),
    }
}

fn written(question: &Question, value: &Value) -> Result<Source, String> {
    let words = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    };
    if words.is_empty() {
        return Err(wrong(question, "the answer is empty"));
    }
    if !question.allow_text {
        return Err(wrong(question, "free text is not allowed"));
    }
    Ok(Source::Written(words))
}

/// Formats an error with what was expected.
fn wrong(question: &Question, why: &str) -> String {
    let labels: Vec<String> = question.options.iter().map(|option| format!("{:?}", option.label)).collect();
    let several = if question.multi { "any of " } else { "one of " };
    let expected = match (labels.is_empty(), question.allow_text) {
        (true, _) => "free text".to_owned(),
        (false, true) => format!("{several}{}, or free text", labels.join(", ")),
        (false, false) => format!("{several}{}", labels.join(", ")),
    };
    format!("{why}; expected {expected}, or {{\"skipped\": true}}")
}
