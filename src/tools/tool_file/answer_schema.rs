//! Schemas of answers: the part of JSON Schema that is checked here. A keyword that is not checked is an error.

use serde_json::{Map, Value, json};

/// Maximum depth of a schema.
const MAX_DEPTH: usize = 16;
/// Maximum items of a list in a sample, with the lists inside it.
const MAX_SAMPLE_ITEMS: usize = 100;
/// Types of values.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];
/// Keywords that describe and do not restrict.
const NOTES: [&str; 4] = ["title", "description", "default", "examples"];

/// A schema whose every keyword is checked.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerSchema(Value);

impl AnswerSchema {
    /// Checks a schema.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(schema: &Value) -> Result<Self, String> {
        check_schema(schema, "answer_schema", 0)?;
        Ok(Self(schema.clone()))
    }

    /// Returns the schema as the file has it.
    pub fn as_value(&self) -> &Value {
        &self.0
    }

    /// Checks a value.
    ///
    /// # Errors
    /// The first thing that does not match, and where.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        check_value(&self.0, value, "the answer")
    }

    /// Returns a value that has the form of the schema, if its limits are not unusual.
    pub fn sample(&self) -> Value {
        build_sample(&self.0, MAX_SAMPLE_ITEMS)
    }
}

fn types_of(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn check_schema(schema: &Value, path: &str, depth: usize) -> Result<(), String> {
    let Value::Object(keywords) = schema else { return Err(format!("{path} must be a table")) };
    if depth == MAX_DEPTH {
        return Err(format!("{path} is nested more than {MAX_DEPTH} deep"));
    }
    for (keyword, value) in keywords {
        let expect = |is_valid: bool, expected: &str| match is_valid {
            true => Ok(()),
            false => Err(format!("{path}.{keyword} must be {expected}")),
        };
        match keyword.as_str() {
            "type" => {
                let names = types_of(schema);
                let count = value.as_array().map_or(1, Vec::len);
                let is_known = names.len() == count && count > 0 && names.iter().all(|name| TYPES.contains(name));
                expect(is_known, &format!("one of {}", TYPES.join(", ")))?;
            }
            "properties" => {
                let Value::Object(properties) = value else { return expect(false, "a table") };
                for (name, property) in properties {
                    check_schema(property, &format!("{path}.properties.{name}"), depth + 1)?;
                }
            }
            "items" => check_schema(value, &format!("{path}.items"), depth + 1)?,
            "required" => {
                let names = value.as_array().map(|names| names.iter().all(Value::is_string));
                expect(names == Some(true), "a list of names")?;
            }
            "additionalProperties" => expect(value.is_boolean(), "true or false")?,
            "enum" => expect(value.as_array().is_some_and(|values| !values.is_empty()), "a list of values")?,
            "const" => {}
            "minimum" | "maximum" => expect(value.is_number(), "a number")?,
            "minLength" | "maxLength" | "minItems" | "maxItems" => expect(value.as_u64().is_some(), "a whole number")?,
            note if NOTES.contains(&note) => {}
            _ => return Err(format!("{path}.{keyword} is not supported, so it would not be checked")),
        }
    }
    Ok(())
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => false,
    }
}

fn check_value(schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    let types = types_of(schema);
    if !types.is_empty() && !types.iter().any(|name| has_type(value, name)) {
        return Err(format!("{path} is not of the type {}", types.join(" or ")));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Err(format!("{path} is none of {}", Value::Array(allowed.clone())));
    }
    if let Some(expected) = schema.get("const")
        && expected != value
    {
        return Err(format!("{path} is not {expected}"));
    }
    match value {
        Value::Number(number) => check_number(schema, number.as_f64().unwrap_or_default(), path),
        Value::String(text) => check_length(schema, "Length", text.chars().count(), "characters", path),
        Value::Array(items) => {
            check_length(schema, "Items", items.len(), "items", path)?;
            let Some(item_schema) = schema.get("items") else { return Ok(()) };
            let mut items = items.iter().enumerate();
            items.try_for_each(|(index, item)| check_value(item_schema, item, &format!("{path}[{index}]")))
        }
        Value::Object(fields) => check_fields(schema, fields, path),
        Value::Bool(_) | Value::Null => Ok(()),
    }
}

fn check_number(schema: &Value, number: f64, path: &str) -> Result<(), String> {
    match (schema["minimum"].as_f64(), schema["maximum"].as_f64()) {
        (Some(minimum), _) if number < minimum => Err(format!("{path} is less than {minimum}")),
        (_, Some(maximum)) if number > maximum => Err(format!("{path} is more than {maximum}")),
        _ => Ok(()),
    }
}

fn check_length(schema: &Value, limit: &str, count: usize, unit: &str, path: &str) -> Result<(), String> {
    let count = count as u64;
    match (schema[format!("min{limit}")].as_u64(), schema[format!("max{limit}")].as_u64()) {
        (Some(minimum), _) if count < minimum => Err(format!("{path} has fewer than {minimum} {unit}")),
        (_, Some(maximum)) if count > maximum => Err(format!("{path} has more than {maximum} {unit}")),
        _ => Ok(()),
    }
}

fn check_fields(schema: &Value, fields: &Map<String, Value>, path: &str) -> Result<(), String> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !fields.contains_key(*name)) {
        return Err(format!("{path} has no “{missing}”"));
    }
    for (name, value) in fields {
        match schema["properties"].get(name) {
            Some(property) => check_value(property, value, &format!("{path}.{name}"))?,
            None if schema["additionalProperties"] == Value::Bool(false) => {
                return Err(format!("{path} has the unknown field “{name}”"));
            }
            None => {}
        }
    }
    Ok(())
}

/// Builds a sample. Nested lists share `max_items`, which is at least 1: each level may ask for many.
fn build_sample(schema: &Value, max_items: usize) -> Value {
    if let Some(value) = schema.get("const").or_else(|| schema["enum"].get(0)).or_else(|| schema.get("default")) {
        return value.clone();
    }
    let minimum = |name: &str| schema[name].as_u64().unwrap_or_default() as usize;
    match types_of(schema).first().copied() {
        Some("string") => json!("x".repeat(minimum("minLength").clamp(1, 1_000))),
        Some("number" | "integer") => schema.get("minimum").cloned().unwrap_or(json!(0)),
        Some("boolean") => json!(false),
        Some("array") => {
            let count = minimum("minItems").clamp(1, max_items);
            let item = schema.get("items").map_or(json!("x"), |items| build_sample(items, max_items / count));
            Value::Array(vec![item; count])
        }
        Some("null") => Value::Null,
        _ => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let samples = properties.map(|(name, property)| (name.clone(), build_sample(property, max_items)));
            Value::Object(samples.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(value: Value) -> AnswerSchema {
        AnswerSchema::parse(&value).unwrap()
    }

    #[test]
    fn keywords_that_would_not_be_checked_are_errors() {
        for (value, part) in [
            (json!("string"), "answer_schema must be a table"),
            (json!({ "type": "text" }), "answer_schema.type must be one of"),
            (json!({ "type": [] }), "answer_schema.type must be one of"),
            (json!({ "pattern": "a" }), "answer_schema.pattern is not supported"),
            (json!({ "$ref": "#/a" }), "answer_schema.$ref is not supported"),
            (json!({ "properties": { "a": { "format": "date" } } }), "answer_schema.properties.a.format is not"),
            (json!({ "items": { "enum": [] } }), "answer_schema.items.enum must be a list"),
            (json!({ "required": [1] }), "answer_schema.required must be"),
            (json!({ "additionalProperties": {} }), "answer_schema.additionalProperties must be"),
            (json!({ "maxLength": -1 }), "answer_schema.maxLength must be"),
        ] {
            let error = AnswerSchema::parse(&value).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        let nested = (0..20).fold(json!({}), |inner, _| json!({ "items": inner }));
        assert!(AnswerSchema::parse(&nested).unwrap_err().contains("nested more than 16"));
    }

    #[test]
    fn a_value_is_checked_with_its_place() {
        let list = schema(json!({
            "type": "object",
            "properties": {
                "issues": { "type": "array", "maxItems": 2, "items": {
                    "type": "object",
                    "properties": { "line": { "type": "integer", "minimum": 1 }, "kind": { "enum": ["a", "b"] } },
                    "required": ["line"],
                    "additionalProperties": false,
                } },
                "note": { "type": ["string", "null"], "maxLength": 3 },
            },
            "required": ["issues"],
        }));
        assert_eq!(list.check(&json!({ "issues": [{ "line": 1, "kind": "a" }], "note": null, "more": 1 })), Ok(()));
        assert_eq!(list.check(&json!({ "issues": [{ "line": 2.0 }] })), Ok(()));
        for (value, expected) in [
            (json!([]), "the answer is not of the type object"),
            (json!({}), "the answer has no “issues”"),
            (json!({ "issues": [{ "line": 1 }, { "line": 0 }] }), "the answer.issues[1].line is less than 1"),
            (json!({ "issues": [{ "line": 1.5 }] }), "the answer.issues[0].line is not of the type integer"),
            (json!({ "issues": [{ "line": 1, "kind": "c" }] }), "the answer.issues[0].kind is none of [\"a\",\"b\"]"),
            (json!({ "issues": [{ "line": 1, "x": 1 }] }), "the answer.issues[0] has the unknown field “x”"),
            (json!({ "issues": [{}, {}, {}] }), "the answer.issues has more than 2 items"),
            (json!({ "issues": [], "note": "long" }), "the answer.note has more than 3 characters"),
            (json!({ "issues": [], "note": 1 }), "the answer.note is not of the type string or null"),
        ] {
            assert_eq!(list.check(&value).unwrap_err(), expected);
        }
    }

    #[test]
    fn a_sample_matches_its_schema() {
        for value in [
            json!({ "type": "string", "minLength": 3 }),
            json!({ "type": "integer", "minimum": 4 }),
            json!({ "enum": ["b", "c"] }),
            json!({ "type": "array", "minItems": 2, "items": { "type": "boolean" } }),
            json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "number" } }, "additionalProperties": false }),
            json!({}),
        ] {
            let schema = schema(value);
            assert_eq!(schema.check(&schema.sample()), Ok(()), "{schema:?}");
        }
    }

    #[test]
    fn nested_lists_do_not_multiply_in_a_sample() {
        let list_of = |items: Value| json!({ "type": "array", "minItems": 100, "items": items });
        let nested = schema(list_of(list_of(list_of(json!({ "type": "string" })))));
        assert_eq!(nested.sample().to_string().matches('x').count(), 100);
    }
}
