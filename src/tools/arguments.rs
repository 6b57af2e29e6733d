//! From the text of a call to a checked value: one parse, and words that help the model to do better.

use super::Error;
use crate::chat::{ToolSpec, once};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::{Map, Value};

/// Parses what the model sent. The result is always an object. No text at all counts as `{}`, and an object that was
/// sent as a string of JSON is taken; keys given twice, text after the object and anything else are refused.
pub fn parse(text: &str) -> Result<Value, Error> {
    let value = match strict(text)? {
        Value::String(inner) => strict(&inner)?,
        value => value,
    };
    if value.is_object() {
        return Ok(value);
    }
    Err(Error::Arguments(format!("The arguments are {}; one JSON object is expected.", kind(&value))))
}

/// The arguments in the tool's own shape. The fields named in an error are those of the tool's schema.
pub fn checked<T: DeserializeOwned>(spec: &ToolSpec, arguments: &Value) -> Result<T, Error> {
    let empty = arguments.as_object().is_some_and(Map::is_empty);
    let required = spec.parameters["required"].as_array().is_some_and(|list| !list.is_empty());
    if empty && required {
        return Err(Error::Arguments(format!(
            "{} was called without arguments: the call was probably cut off by the limit on a reply's length. Call again with less in it, in several calls where it is long. {}",
            spec.name,
            fields(spec)
        )));
    }
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let at = if path == "." { String::new() } else { format!(" at “{path}”") };
        Error::Arguments(format!(
            "Wrong arguments for {}{at}: {}. {}",
            spec.name,
            error.inner(),
            fields(spec)
        ))
    })
}

/// The fields of a tool in a sentence, from its schema.
fn fields(spec: &ToolSpec) -> String {
    let required = |name: &str| {
        let list = spec.parameters["required"].as_array();
        list.is_some_and(|list| list.iter().any(|field| field == name))
    };
    let fields: Vec<String> = spec.parameters["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, schema)| {
            let kind = schema["type"].as_str().unwrap_or("any");
            format!("{name} ({kind}{})", if required(name) { ", required" } else { "" })
        })
        .collect();
    format!("The fields are: {}.", fields.join(", "))
}

fn strict(text: &str) -> Result<Value, Error> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let problem = match once::read(text) {
        Ok((value, None)) => return Ok(value),
        Ok((_, Some(error))) => format!("there is text after the end of the object ({error})"),
        Err(error) if error.is_eof() => format!("they end in the middle, probably cut off ({error})"),
        Err(error) if error.is_data() => error.to_string(),
        Err(error) => format!("they are not JSON ({error})"),
    };
    Err(Error::Arguments(format!(
        "The arguments could not be read: {problem}. Exactly one JSON object is expected, each key once."
    )))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A whole number of at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            0 => Err(serde::de::Error::custom("found 0, expected a whole number of at least 1")),
            n => Ok(Self(n)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::once::DEPTH;
    use serde_json::json;

    fn check(text: &str, expected: Result<Value, &str>) {
        match (parse(text), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
            (Err(found), Err(part)) => assert!(found.to_string().contains(part), "{text}: {found}"),
            (found, expected) => panic!("{text}: {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn r08_a_call_is_parsed_once_and_strictly() {
        check("", Ok(json!({})));
        check(" \n", Ok(json!({})));
        check(r#"{"a":[1,-2,1.5,true,null,"x"]}"#, Ok(json!({"a":[1,-2,1.5,true,null,"x"]})));
        check(r#""{\"a\":1}""#, Ok(json!({"a":1})));
        check(r#"{"a":1,"a":2}"#, Err("“a” is given twice"));
        check(r#"{"a":{"b":1,"\u0062":2}}"#, Err("“b” is given twice"));
        check(r#"{"a":1} {"b":2}"#, Err("text after the end"));
        check(r#"{"a":1}x"#, Err("text after the end"));
        check(r#"{"a":"#, Err("cut off"));
        check("{'a':1}", Err("not JSON"));
        check("[1]", Err("are a list; one JSON object is expected"));
        check(r#""\"x\"""#, Err("are a string"));
        check("null", Err("are null"));
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |lists: usize| format!("{{\"a\":{}{}}}", "[".repeat(lists), "]".repeat(lists));
        assert!(parse(&nested(DEPTH - 1)).is_ok());
        check(&nested(DEPTH), Err("nested more than 32 deep"));
        check(&nested(100_000), Err("nested more than 32 deep"));
    }
}
