//! Losses of meaning between two versions of a tool's description: a default, a limit, a type, an allowed value or a hint
//! that the new version no longer states.

mod prose_facts;

use prose_facts::{Fact, FactKind, find_facts, is_stated, states_value};
use serde_json::{Map, Value};

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolText {
    pub name: String,
    pub description: String,
    /// JSON schema.
    pub parameters: Value,
}

/// Something that the new version no longer states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Path of the parameter, such as `questions[].options`; empty for the tool itself.
    pub place: String,
    pub kind: LossKind,
    /// What is lost, in one line.
    pub text: String,
}

/// Kind of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossKind {
    Parameter,
    Type,
    Required,
    AllowedValue,
    Default,
    Limit,
    /// Another keyword of the schema.
    Keyword,
    /// A number in a description.
    Number,
    /// A sentence with a word such as `only`, `must` or `never`.
    Rule,
    /// A quoted text, or an item after words such as `e.g.`.
    Example,
    /// The name of another tool.
    Reference,
    /// A sentence.
    Sentence,
}

impl LossKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::Type => "type",
            Self::Required => "required",
            Self::AllowedValue => "allowed value",
            Self::Default => "default",
            Self::Limit => "limit",
            Self::Keyword => "keyword",
            Self::Number => "number",
            Self::Rule => "rule",
            Self::Example => "example",
            Self::Reference => "reference",
            Self::Sentence => "sentence",
        }
    }
}

/// A parameter, or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Path such as `questions[].options`.
    pub path: String,
    pub description: String,
    /// Type and keywords, without those that have fields of their own.
    pub keywords: Map<String, Value>,
    pub is_required: bool,
}

/// Keywords whose values are fields of their own, or no constraint.
const NOT_COMPARED: [&str; 9] =
    ["description", "title", "properties", "items", "required", "anyOf", "oneOf", "allOf", "$schema"];
/// Keywords that limit a value.
const LIMITS: [&str; 11] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "multipleOf",
    "minProperties",
    "maxProperties",
];

/// Returns all parameters and their parts, in the order of the schema.
pub fn list_fields(parameters: &Value) -> Vec<Field> {
    let mut fields = Vec::new();
    push_fields(parameters, "", &mut fields);
    fields
}

fn push_fields(schema: &Value, path: &str, fields: &mut Vec<Field>) {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        push_field(property, path, required.contains(&name.as_str()), fields);
    }
    if schema["items"].is_object() {
        push_field(&schema["items"], format!("{path}[]"), false, fields);
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        for (index, variant) in schema[keyword].as_array().into_iter().flatten().enumerate() {
            push_field(variant, format!("{path}({keyword} {})", index + 1), false, fields);
        }
    }
}

/// Returns the type and the keywords of a schema.
fn read_keywords(schema: &Value) -> Map<String, Value> {
    let keywords = schema.as_object().into_iter().flatten().filter(|(key, _)| !NOT_COMPARED.contains(&key.as_str()));
    keywords.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn push_field(schema: &Value, path: String, is_required: bool, fields: &mut Vec<Field>) {
    let keywords = read_keywords(schema);
    let description = schema["description"].as_str().unwrap_or_default().to_owned();
    fields.push(Field { path: path.clone(), description, keywords, is_required });
    push_fields(schema, &path, fields);
}

/// Finds what `new` no longer states of `old`. `tool_names` are the names of all tools, whose mention is a hint.
///
/// A fact that moved from a keyword into the description, from a parameter into the description of the tool, or from there
/// into any parameter is not lost.
pub fn find_losses(old: &ToolText, new: &ToolText, tool_names: &[String]) -> Vec<Loss> {
    let (old_fields, new_fields) = (list_fields(&old.parameters), list_fields(&new.parameters));
    let all_new: Vec<String> =
        std::iter::once(new.description.clone()).chain(new_fields.iter().map(Field::all_text)).collect();
    let mut losses = Vec::new();
    let new_texts: Vec<&str> = all_new.iter().map(String::as_str).collect();
    push_lost_facts("", &old.description, &new_texts, tool_names, &mut losses);
    push_lost_keywords("", &root_keywords(&old.parameters), &root_keywords(&new.parameters), "", &mut losses);
    for field in &old_fields {
        let Some(now) = new_fields.iter().find(|other| other.path == field.path) else {
            // A part of a removed parameter is removed with it.
            if losses.iter().all(|loss| loss.kind != LossKind::Parameter || !is_part(&field.path, &loss.place)) {
                let text = "the parameter is gone".to_owned();
                losses.push(Loss { place: field.path.clone(), kind: LossKind::Parameter, text });
            }
            continue;
        };
        if field.is_required != now.is_required {
            let text = if now.is_required { "is required now" } else { "is no longer required" };
            losses.push(Loss { place: field.path.clone(), kind: LossKind::Required, text: text.to_owned() });
        }
        push_lost_keywords(&field.path, &field.keywords, &now.keywords, &now.description, &mut losses);
        let new_texts = [now.all_text(), new.description.clone()];
        let new_texts: Vec<&str> = new_texts.iter().map(String::as_str).collect();
        push_lost_facts(&field.path, &field.description, &new_texts, tool_names, &mut losses);
    }
    losses
}

fn is_part(path: &str, of: &str) -> bool {
    path.strip_prefix(of).is_some_and(|rest| rest.starts_with(['.', '[', '(']))
}

/// Returns the keywords of the whole object, such as `additionalProperties`.
fn root_keywords(parameters: &Value) -> Map<String, Value> {
    read_keywords(parameters)
}

impl Field {
    /// Returns the description and the keywords as words, in which a fact may be stated.
    fn all_text(&self) -> String {
        let words = self.keywords.iter().filter(|(key, _)| *key != "type").map(|(key, value)| match value {
            Value::Array(values) => {
                let values: Vec<String> = values.iter().map(plain_value).collect();
                format!("{key} {}", values.join(", "))
            }
            value => format!("{key} {}", plain_value(value)),
        });
        std::iter::once(self.description.clone()).chain(words).collect::<Vec<_>>().join(". ")
    }
}

/// Returns a JSON value as a description would write it.
fn plain_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn push_lost_keywords(
    place: &str,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    new_description: &str,
    losses: &mut Vec<Loss>,
) {
    let mut push = |kind, text| losses.push(Loss { place: place.to_owned(), kind, text });
    for (key, value) in old {
        let now = new.get(key);
        if now == Some(value) {
            continue;
        }
        if key == "enum" {
            let old_values = value.as_array().map(Vec::as_slice).unwrap_or_default();
            let is_allowed = |value: &Value| now.and_then(Value::as_array).is_some_and(|now| now.contains(value));
            for lost in old_values.iter().filter(|value| !is_allowed(value)) {
                // Without a list of allowed values the description may name them.
                if now.is_some() || !states_value(new_description, &plain_value(lost)) {
                    push(LossKind::AllowedValue, plain_value(lost));
                }
            }
            continue;
        }
        let kind = match key.as_str() {
            "default" => LossKind::Default,
            "type" => LossKind::Type,
            key if LIMITS.contains(&key) => LossKind::Limit,
            _ => LossKind::Keyword,
        };
        match now {
            Some(now) => push(kind, format!("{key} {} is now {}", plain_value(value), plain_value(now))),
            None if states_value(new_description, &plain_value(value)) => {}
            None => push(kind, format!("{key} {}", plain_value(value))),
        }
    }
}

/// Finds the facts of a description that the new texts do not state. A lost sentence is not named next to a lost fact in it.
fn push_lost_facts(place: &str, old: &str, new_texts: &[&str], tool_names: &[String], losses: &mut Vec<Loss>) {
    let mut last_sentence = String::new();
    for Fact { kind, text, sentence } in find_facts(old, tool_names) {
        let is_named = kind == FactKind::Sentence && last_sentence == sentence;
        if is_named || is_stated(kind, &text, &sentence, new_texts) {
            continue;
        }
        last_sentence.clone_from(&sentence);
        let kind = match kind {
            FactKind::Number => LossKind::Number,
            FactKind::Rule => LossKind::Rule,
            FactKind::Example => LossKind::Example,
            FactKind::Reference => LossKind::Reference,
            FactKind::Sentence => LossKind::Sentence,
        };
        let text = if kind == LossKind::Rule { format!("{text}: “{sentence}”") } else { text };
        let loss = Loss { place: place.to_owned(), kind, text };
        if !losses.contains(&loss) {
            losses.push(loss);
        }
    }
}

#[cfg(test)]
mod tests;
