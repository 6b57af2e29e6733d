//! Parses the arguments of a call and checks them against the tool's schema.

use super::Error;
use crate::chat::ToolSpec;
use crate::text::unique_keys;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::{Map, Value, json};

/// Parses the arguments of a call.
///
/// The result is always an object. Empty text counts as `{}`, and an object sent as a JSON string is accepted.
/// Duplicate keys, text after the object and anything else are errors.
pub fn parse_call_arguments(text: &str) -> Result<Value, Error> {
    let value = match parse_strict(text)? {
        Value::String(inner) => parse_strict(&inner)?,
        value => value,
    };
    if value.is_object() {
        return Ok(value);
    }
    Err(Error::Arguments(format!("The arguments are {}; expected one JSON object.", describe_kind(&value))))
}

/// Creates the spec of a tool whose arguments are an object with these properties.
pub fn object_spec(name: &str, description: &str, properties: Value, required: &[&str]) -> ToolSpec {
    let mut parameters = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        parameters["required"] = json!(required);
    }
    parameters["additionalProperties"] = false.into();
    let parameters = parameters.into();
    ToolSpec { name: name.to_owned(), description: description.trim().to_owned(), parameters, ..ToolSpec::default() }
}

/// Checks that there are arguments if the tool's schema requires any. An error lists the fields of the schema.
pub fn check_not_empty(spec: &ToolSpec, arguments: &Value) -> Result<(), Error> {
    let is_empty = arguments.as_object().is_some_and(Map::is_empty);
    let has_required = || spec.parameters.to_value()["required"].as_array().is_some_and(|list| !list.is_empty());
    if is_empty && has_required() {
        return Err(Error::Arguments(format!(
            "{} was called without arguments; the call was probably cut off by the output limit. Retry with shorter arguments, in several calls if needed. {}",
            spec.name,
            list_fields(spec)
        )));
    }
    Ok(())
}

/// Deserializes the arguments. An error lists the fields of the tool's schema.
pub fn parse_arguments<T: DeserializeOwned>(spec: &ToolSpec, arguments: &Value) -> Result<T, Error> {
    check_not_empty(spec, arguments)?;
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let at_path = if path == "." { String::new() } else { format!(" at “{path}”") };
        Error::Arguments(format!(
            "Invalid arguments for {}{at_path}: {}. {}",
            spec.name,
            error.inner(),
            list_fields(spec)
        ))
    })
}

/// Lists the tool's fields with their types.
fn list_fields(spec: &ToolSpec) -> String {
    let schema = spec.parameters.to_value();
    let is_required = |name: &str| {
        let list = schema["required"].as_array();
        list.is_some_and(|list| list.iter().any(|field| field == name))
    };
    let fields: Vec<String> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, schema)| {
            let kind = schema["type"].as_str().unwrap_or("any");
            format!("{name} ({kind}{})", if is_required(name) { ", required" } else { "" })
        })
        .collect();
    format!("Fields: {}.", fields.join(", "))
}

fn parse_strict(text: &str) -> Result<Value, Error> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let problem = match unique_keys::parse_unique(text) {
        Ok((value, None)) => return Ok(value),
        Ok((_, Some(error))) => format!("there is text after the end of the object ({error})"),
        Err(error) if error.is_eof() => format!("they end early, probably cut off ({error})"),
        Err(error) if error.is_data() => error.to_string(),
        Err(error) => format!("they are not JSON ({error})"),
    };
    Err(Error::Arguments(format!(
        "Cannot parse the arguments: {problem}. Expected exactly one JSON object without duplicate keys."
    )))
}

fn describe_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// An integer of at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PositiveInt(pub u64);

impl<'de> Deserialize<'de> for PositiveInt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            0 => Err(serde::de::Error::custom("found 0, expected an integer of at least 1")),
            n => Ok(Self(n)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::unique_keys::MAX_DEPTH;
    use serde_json::json;

    fn check_arguments(text: &str, expected: Result<Value, &str>) {
        match (parse_call_arguments(text), expected) {
            (Ok(actual), Ok(expected)) => assert_eq!(actual, expected, "{text}"),
            (Err(actual), Err(part)) => assert!(actual.to_string().contains(part), "{text}: {actual}"),
            (actual, expected) => panic!("{text}: {actual:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn r08_parses_arguments_strictly() {
        check_arguments("", Ok(json!({})));
        check_arguments(" \n", Ok(json!({})));
        check_arguments(r#"{"a":[1,-2,1.5,true,null,"x"]}"#, Ok(json!({"a":[1,-2,1.5,true,null,"x"]})));
        check_arguments(r#""{\"a\":1}""#, Ok(json!({"a":1})));
        check_arguments(r#"{"a":1,"a":2}"#, Err("“a” is given twice"));
        check_arguments(r#"{"a":{"b":1,"\u0062":2}}"#, Err("“b” is given twice"));
        check_arguments(r#"{"a":1} {"b":2}"#, Err("text after the end"));
        check_arguments(r#"{"a":1}x"#, Err("text after the end"));
        check_arguments(r#"{"a":"#, Err("cut off"));
        check_arguments("{'a':1}", Err("not JSON"));
        check_arguments("[1]", Err("are an array; expected one JSON object"));
        check_arguments(r#""\"x\"""#, Err("are a string"));
        check_arguments("null", Err("are null"));
    }

    #[test]
    fn limits_nesting_depth() {
        let nested_lists = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse_call_arguments(&nested_lists(MAX_DEPTH - 1)).is_ok());
        check_arguments(&nested_lists(MAX_DEPTH), Err("nested more than 32 deep"));
        check_arguments(&nested_lists(100_000), Err("nested more than 32 deep"));
    }
}
