//! Questions of an MCP server to the user: the form that it describes by a JSON schema, and the answers as the server expects
//! them.

mod secret_words;

use super::{Answer, AnswerStatus, AnswerValue, Dropped, Question, QuestionOption, Questions};
use crate::text::hidden_chars::mark_hidden;
use crate::text::truncation::truncate_end;
use secret_words::names_secret;
use serde_json::{Map, Number, Value, json};

/// Maximum number of fields.
const MAX_FIELDS: usize = 10;
/// Maximum number of values to choose from.
const MAX_VALUES: usize = 50;
/// Maximum characters of a text of the server.
const MAX_TEXT_CHARS: usize = 2_000;
/// Maximum characters of a name or a value to choose.
const MAX_NAME_CHARS: usize = 200;

/// A form.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerForm {
    /// Name of the server in the settings.
    pub server: String,
    /// One question per field; for a form without fields, one that asks for consent.
    pub questions: Questions,
    /// Empty for a form without fields.
    fields: Vec<Field>,
}

/// Reply to a form.
#[derive(Debug, Clone, PartialEq)]
pub enum FormReply {
    /// The values of the fields, a JSON object.
    Accepted(Value),
    Declined,
    Cancelled,
}

#[derive(Debug, Clone, PartialEq)]
struct Field {
    name: String,
    kind: FieldKind,
    is_required: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum FieldKind {
    /// Minimum and maximum number of characters, and the `format` of JSON Schema.
    Text {
        min: u64,
        max: u64,
        format: String,
    },
    /// Minimum and maximum.
    Number {
        is_integer: bool,
        min: f64,
        max: f64,
    },
    Flag,
    Choice(Vec<String>),
    /// Minimum and maximum number of selected values.
    Choices {
        values: Vec<String>,
        min: u64,
        max: u64,
    },
}

impl ServerForm {
    /// Parses the message and the schema of a request.
    ///
    /// # Errors
    /// Why the user is not asked, as part of a sentence: `it asks for “password”, which looks like a secret`.
    pub fn parse(server: &str, message: &str, schema: &Value) -> Result<Self, String> {
        let no_properties = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&no_properties);
        if properties.len() > MAX_FIELDS {
            return Err(format!("it asks for more than {MAX_FIELDS} values"));
        }
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut fields = Vec::new();
        let mut list = Vec::new();
        for (name, property) in properties {
            let kind = parse_kind(property).ok_or_else(|| format!("the form of “{}” is unknown", clean(name)))?;
            if is_secret(name, &kind, property) {
                return Err(format!("it asks for “{}”, which looks like a secret", clean(name)));
            }
            let is_required = required.contains(&name.as_str());
            list.push(build_question(name, &kind, property, is_required));
            fields.push(Field { name: name.clone(), kind, is_required });
        }
        let has_text =
            fields.iter().any(|field| matches!(field.kind, FieldKind::Text { .. } | FieldKind::Number { .. }));
        if has_text && names_secret(message) {
            return Err("its message asks for what looks like a secret".to_owned());
        }
        if list.is_empty() {
            list.push(Question {
                keyword: "consent".to_owned(),
                text: String::new(),
                options: vec![QuestionOption::new("Yes, continue")],
                is_multiple: false,
                allow_text: false,
                text_description: String::new(),
                recommended: None,
            });
        }
        // On one line, so that no line of it can pass for one of the program.
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        let intro = format!("MCP server {server} asks: {}", truncate_end(&message, MAX_TEXT_CHARS));
        if let Some(first) = list.first_mut() {
            first.text = if first.text.is_empty() { intro } else { format!("{intro}\n\n{}", first.text) };
        }
        let questions = Questions { list, dropped: Dropped::default() };
        Ok(Self { server: server.to_owned(), questions, fields })
    }

    /// Returns the reply with these answers.
    ///
    /// # Errors
    /// What is wrong with an answer, as a sentence without a full stop.
    pub fn to_reply(&self, answer: &Answer) -> Result<FormReply, String> {
        match answer.status {
            AnswerStatus::Answered => {}
            AnswerStatus::Declined => return Ok(FormReply::Declined),
            AnswerStatus::Deferred => return Ok(FormReply::Cancelled),
        }
        let mut content = Map::new();
        for (index, field) in self.fields.iter().enumerate() {
            // By position, because two names may look alike.
            let value = answer.answers.get(index).map_or(&AnswerValue::Skipped, |answer| &answer.value);
            match field.kind.to_json(value) {
                Ok(Some(value)) => _ = content.insert(field.name.clone(), value),
                Ok(None) if field.is_required => return Err(format!("“{}” is required", clean(&field.name))),
                Ok(None) => {}
                Err(expected) => return Err(format!("“{}” must be {expected}", clean(&field.name))),
            }
        }
        Ok(FormReply::Accepted(Value::Object(content)))
    }
}

impl FieldKind {
    /// Returns the value for the server; `None` if the question was skipped. An error says what is expected.
    fn to_json(&self, value: &AnswerValue) -> Result<Option<Value>, String> {
        let pick = |values: &[String], index: &usize| values.get(*index).cloned();
        let typed = match (self, value) {
            (_, AnswerValue::Skipped) => return Ok(None),
            (Self::Flag, AnswerValue::Selected(picks)) => return Ok(picks.first().map(|index| json!(*index == 0))),
            (Self::Choice(values), AnswerValue::Selected(picks)) => {
                return Ok(picks.first().and_then(|index| pick(values, index)).map(Value::from));
            }
            (Self::Choices { values, min, max }, AnswerValue::Selected(picks)) => {
                let count = picks.len() as u64;
                if count < *min || count > *max {
                    return Err(format!("{min} to {max} of the values"));
                }
                return Ok(Some(picks.iter().filter_map(|index| pick(values, index)).map(Value::from).collect()));
            }
            (Self::Text { .. } | Self::Number { .. }, AnswerValue::Selected(_))
            | (Self::Flag | Self::Choice(_) | Self::Choices { .. }, AnswerValue::Text(_)) => {
                return Err("one of the values".to_owned());
            }
            (Self::Text { .. } | Self::Number { .. }, AnswerValue::Text(text)) => text,
        };
        match self {
            Self::Number { is_integer, min, max } => parse_number(typed, *is_integer, (*min, *max)).map(Some),
            Self::Text { min, max, format } => {
                let count = typed.chars().count() as u64;
                if count < *min || count > *max {
                    return Err(match *max {
                        u64::MAX => format!("a text of at least {min} characters"),
                        max => format!("a text of {min} to {max} characters"),
                    });
                }
                check_format(typed, format).map(|()| Some(json!(typed)))
            }
            Self::Flag | Self::Choice(_) | Self::Choices { .. } => Err("one of the values".to_owned()),
        }
    }
}

fn parse_number(text: &str, is_integer: bool, (min, max): (f64, f64)) -> Result<Value, String> {
    let text = text.trim();
    let (number, value) = match is_integer {
        true => (text.parse::<i64>().ok().map(|number| number as f64), text.parse::<i64>().ok().map(Number::from)),
        false => (text.parse::<f64>().ok(), text.parse::<f64>().ok().and_then(Number::from_f64)),
    };
    let kind = if is_integer { "a whole number" } else { "a number" };
    match (number, value) {
        (Some(number), Some(value)) if number >= min && number <= max => Ok(Value::Number(value)),
        _ => Err(match (min.is_finite(), max.is_finite()) {
            (true, true) => format!("{kind} from {min} to {max}"),
            (true, false) => format!("{kind}, at least {min}"),
            (false, true) => format!("{kind}, at most {max}"),
            (false, false) => kind.to_owned(),
        }),
    }
}

/// Checks the formats of the protocol. The server checks the text too.
fn check_format(text: &str, format: &str) -> Result<(), String> {
    let digits_at = |ranges: &[(usize, usize)]| {
        ranges
            .iter()
            .all(|(start, end)| text.get(*start..*end).is_some_and(|part| part.bytes().all(|b| b.is_ascii_digit())))
    };
    let is_date =
        || digits_at(&[(0, 4), (5, 7), (8, 10)]) && text.get(4..5) == Some("-") && text.get(7..8) == Some("-");
    let (is_valid, expected) = match format {
        "email" => {
            let is_email = text.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'));
            (is_email && !text.contains(char::is_whitespace), "an email address")
        }
        "uri" => {
            (text.split_once(':').is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty()), "an address")
        }
        "date" => (is_date() && text.len() == 10, "a date such as 2026-01-31"),
        "date-time" => (is_date() && text.get(10..11) == Some("T"), "a time such as 2026-01-31T12:00:00Z"),
        _ => (true, ""),
    };
    if is_valid { Ok(()) } else { Err(expected.to_owned()) }
}

/// Returns the kind of a field; `None` if it is none of the protocol's.
fn parse_kind(property: &Value) -> Option<FieldKind> {
    let count = |key: &str, default: u64| property[key].as_u64().unwrap_or(default);
    let bound = |key: &str, default: f64| property[key].as_f64().unwrap_or(default);
    if let Some(values) = listed_values(property) {
        return values.map(FieldKind::Choice);
    }
    Some(match property["type"].as_str()? {
        "string" => FieldKind::Text {
            min: count("minLength", 0),
            max: count("maxLength", u64::MAX),
            format: property["format"].as_str().unwrap_or_default().to_owned(),
        },
        kind @ ("number" | "integer") => FieldKind::Number {
            is_integer: kind == "integer",
            min: bound("minimum", f64::NEG_INFINITY),
            max: bound("maximum", f64::INFINITY),
        },
        "boolean" => FieldKind::Flag,
        "array" => {
            let values = listed_values(&property["items"])??;
            let max = count("maxItems", values.len() as u64);
            FieldKind::Choices { values, min: count("minItems", 0), max }
        }
        _ => return None,
    })
}

/// Returns the values of a schema that lists them; the inner `None` if the list cannot be used.
fn listed_values(schema: &Value) -> Option<Option<Vec<String>>> {
    let titled = || schema["oneOf"].as_array().or(schema["anyOf"].as_array());
    let values: Option<Vec<String>> = match (schema["enum"].as_array(), titled()) {
        (Some(values), _) => values.iter().map(|value| value.as_str().map(str::to_owned)).collect(),
        (None, Some(items)) => items.iter().map(|item| item["const"].as_str().map(str::to_owned)).collect(),
        (None, None) => return None,
    };
    Some(values.filter(|values| (1..=MAX_VALUES).contains(&values.len())))
}

fn build_question(name: &str, kind: &FieldKind, property: &Value, is_required: bool) -> Question {
    let text = |key: &str| property[key].as_str().unwrap_or_default().trim();
    let title = if text("title").is_empty() { clean(name) } else { clean(text("title")) };
    let mut lines = vec![title];
    if !text("description").is_empty() {
        lines.push(clean_text(text("description")));
    }
    if !is_required {
        lines.push("May be skipped.".to_owned());
    }
    let (options, is_multiple) = match kind {
        FieldKind::Text { .. } | FieldKind::Number { .. } => (Vec::new(), false),
        FieldKind::Flag => (["Yes", "No"].map(QuestionOption::new).to_vec(), false),
        FieldKind::Choice(values) => (value_options(values, property), false),
        FieldKind::Choices { values, .. } => (value_options(values, &property["items"]), true),
    };
    let default = &property["default"];
    let recommended = match kind {
        FieldKind::Flag => default.as_bool().map(|flag| usize::from(!flag)),
        FieldKind::Choice(values) => values.iter().position(|value| default.as_str() == Some(value)),
        FieldKind::Text { .. } | FieldKind::Number { .. } | FieldKind::Choices { .. } => None,
    };
    Question {
        keyword: clean(name),
        text: lines.join("\n"),
        allow_text: options.is_empty(),
        text_description: String::new(),
        options,
        is_multiple,
        recommended,
    }
}

/// Returns an option per value: its title, if any, and the value that is sent.
fn value_options(values: &[String], schema: &Value) -> Vec<QuestionOption> {
    let titles = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
    let title_of = |index: usize| {
        let title = titles.and_then(|items| items.get(index)?["title"].as_str());
        title.or_else(|| schema["enumNames"][index].as_str())
    };
    let to_option = |(index, value): (usize, &String)| match title_of(index).filter(|title| title != value) {
        Some(title) => {
            QuestionOption { description: format!("sends {}", clean(value)), ..QuestionOption::new(&clean(title)) }
        }
        None => QuestionOption::new(&clean(value)),
    };
    values.iter().enumerate().map(to_option).collect()
}

/// Returns whether a field that is typed looks like one for a secret.
fn is_secret(name: &str, kind: &FieldKind, property: &Value) -> bool {
    let text = |key: &str| property[key].as_str().unwrap_or_default();
    let is_typed = matches!(kind, FieldKind::Text { .. } | FieldKind::Number { .. });
    is_typed
        && (property["writeOnly"] == true
            || [name, text("title"), text("description"), text("format")].iter().any(|text| names_secret(text)))
}

/// Makes a name or value one clean, short line.
fn clean(text: &str) -> String {
    truncate_end(&mark_hidden(&text.split_whitespace().collect::<Vec<_>>().join(" ")), MAX_NAME_CHARS)
}

fn clean_text(text: &str) -> String {
    truncate_end(&text.split_whitespace().collect::<Vec<_>>().join(" "), MAX_TEXT_CHARS)
}

#[cfg(test)]
mod tests;
