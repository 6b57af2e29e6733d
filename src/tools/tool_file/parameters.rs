//! Parameters of a tool file: their schema for the model, and the check of a call's arguments.

use crate::chat::{ReferenceUse, ToolSpec};
use crate::text::unique_keys::parse_unique;
use crate::tools::Error;
use crate::tools::arguments::parse_arguments;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueType {
    String,
    Number,
    Boolean,
    Object,
    Array,
}

/// A parameter that the model sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub value_type: ValueType,
    pub description: String,
    pub is_required: bool,
    /// What a reference to a file in its value stands for; `None` if it may have none.
    pub file_references: Option<ReferenceUse>,
}

/// Returns the parameters that may have references to files.
pub(super) fn reference_uses(parameters: &[Parameter]) -> Vec<(&str, ReferenceUse)> {
    parameters.iter().filter_map(|parameter| Some((parameter.name.as_str(), parameter.file_references?))).collect()
}

impl ValueType {
    /// Returns the name in a schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
        }
    }

    fn matches(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
        }
    }

    /// Converts the value of an argument to this type, if nothing is lost: a text that is a number, `true`, `false`, a list
    /// or an object becomes one; any other value in place of a text becomes its JSON; a single
    /// value in place of a list becomes a list of it. An object becomes a list of pairs, a list an object with its indexes
    /// as keys, and a single value the object `{"value": …}`. The texts and numbers 1 and 0 become booleans.
    ///
    /// # Errors
    /// What is expected, worded to follow the name of the argument.
    pub fn convert_argument(self, value: Value) -> Result<Value, String> {
        if self.matches(&value) {
            return Ok(value);
        }
        let failed =
            |value: &Value| Err(format!("must be of the type {}, and {value} cannot be converted to it", self.name()));
        match (self, &value) {
            (_, Value::Null) => failed(&value),
            (Self::String, value) => Ok(Value::String(value.to_string())),
            (Self::Number, Value::String(text)) => parse_number(text.trim()).map_or_else(|| failed(&value), Ok),
            (Self::Boolean, Value::String(text)) if text.trim().eq_ignore_ascii_case("true") || text.trim() == "1" => {
                Ok(json!(true))
            }
            (Self::Boolean, Value::String(text)) if text.trim().eq_ignore_ascii_case("false") || text.trim() == "0" => {
                Ok(json!(false))
            }
            (Self::Boolean, Value::Number(number)) if number.as_u64() == Some(1) => Ok(json!(true)),
            (Self::Boolean, Value::Number(number)) if number.as_u64() == Some(0) => Ok(json!(false)),
            (Self::Array, Value::String(text)) => match parse_unique(text) {
                Ok((list @ Value::Array(_), None)) => Ok(list),
                _ => Ok(json!([text])),
            },
            (Self::Array, Value::Object(fields)) => {
                Ok(fields.iter().map(|(name, field)| json!([name, field])).collect())
            }
            (Self::Array, value) => Ok(json!([value])),
            (Self::Object, Value::String(text)) => match parse_unique(text) {
                Ok((object @ Value::Object(_), None)) => Ok(object),
                Ok((other, None)) => Self::Object.convert_argument(other).or_else(|_| failed(&value)),
                _ => failed(&value),
            },
            (Self::Object, Value::Array(items)) => {
                Ok(items.iter().enumerate().map(|(index, item)| (index.to_string(), item.clone())).collect())
            }
            (Self::Object, value) => Ok(json!({ "value": value })),
            (Self::Number | Self::Boolean, _) => failed(&value),
        }
    }

    /// Converts the value of a preset to this type: a text that stands for a number, a boolean, a list or an object
    /// becomes one.
    ///
    /// # Errors
    /// What cannot be converted.
    pub fn convert_leniently(self, value: Value) -> Result<Value, String> {
        if self.matches(&value) {
            return Ok(value);
        }
        let text = match &value {
            Value::String(text) => text.trim().to_owned(),
            value => value.to_string(),
        };
        let failed = || format!("Cannot convert “{text}” to {}", self.name());
        match self {
            Self::String => Ok(Value::String(text)),
            Self::Boolean => match text.to_lowercase().as_str() {
                "true" | "1" | "yes" | "y" | "on" => Ok(Value::Bool(true)),
                "false" | "0" | "no" | "n" | "off" => Ok(Value::Bool(false)),
                _ => Err(failed()),
            },
            Self::Number => parse_number(&text).ok_or_else(failed),
            Self::Object | Self::Array => {
                let parsed = serde_json::from_str(&text).ok();
                parsed.filter(|value| self.matches(value)).ok_or_else(failed)
            }
        }
    }
}

/// Parses a number that is finite. An integer of 64 bits keeps all its digits.
fn parse_number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let integer = digits
        .parse::<i64>()
        .map(|number| json!(number))
        .or_else(|_| digits.parse::<u64>().map(|number| json!(number)));
    let is_integer = digits.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    match integer {
        Ok(integer) => Some(integer),
        // Digits would be lost.
        Err(_) if is_integer => None,
        // A number that is not finite becomes null.
        Err(_) => digits.parse::<f64>().ok().map(|number| json!(number)).filter(Value::is_number),
    }
}

/// Returns the schema of the arguments.
pub fn arguments_schema(parameters: &[Parameter]) -> Value {
    let mut properties = Map::new();
    for parameter in parameters {
        let mut property = json!({ "type": parameter.value_type.name() });
        if !parameter.description.is_empty() {
            property["description"] = json!(parameter.description);
        }
        match parameter.value_type {
            ValueType::Object => property["additionalProperties"] = json!(true),
            ValueType::Array => property["items"] = json!({}),
            ValueType::String | ValueType::Number | ValueType::Boolean => {}
        }
        properties.insert(parameter.name.clone(), property);
    }
    let required: Vec<&str> =
        parameters.iter().filter(|parameter| parameter.is_required).map(|parameter| &*parameter.name).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Checks the arguments of a call, and returns them without optional ones that are null. A value of another type is
/// converted if nothing is lost; the prompt shows what is sent.
///
/// # Errors
/// For the model: which argument is undeclared, missing or cannot be converted.
pub fn check_arguments(
    spec: &ToolSpec,
    parameters: &[Parameter],
    arguments: &Value,
) -> Result<Map<String, Value>, Error> {
    let mut arguments: Map<String, Value> = parse_arguments(spec, arguments)?;
    let find = |name: &str| parameters.iter().find(|parameter| parameter.name == name);
    arguments.retain(|name, value| !value.is_null() || find(name).is_none_or(|parameter| parameter.is_required));
    let declared = || {
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        if names.is_empty() { "It has none".to_owned() } else { format!("Its arguments are {}", names.join(", ")) }
    };
    let undeclared: Vec<String> =
        arguments.keys().filter(|name| find(name).is_none()).map(|name| format!("“{name}”")).collect();
    if !undeclared.is_empty() {
        let message = format!("{} has no argument {}. {}.", spec.name, undeclared.join(", "), declared());
        return Err(Error::Arguments(message));
    }
    for parameter in parameters {
        match arguments.get(&parameter.name) {
            None if parameter.is_required => {
                let message = format!("{} needs the argument “{}”. {}.", spec.name, parameter.name, declared());
                return Err(Error::Arguments(message));
            }
            Some(value) if !parameter.value_type.matches(value) => {
                let converted = parameter.value_type.convert_argument(value.clone()).map_err(|reason| {
                    let message = format!("The argument “{}” of {} {reason}.", parameter.name, spec.name);
                    Error::Arguments(message)
                })?;
                arguments.insert(parameter.name.clone(), converted);
            }
            Some(_) | None => {}
        }
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, value_type: ValueType, is_required: bool) -> Parameter {
        Parameter {
            name: name.to_owned(),
            value_type,
            description: format!("The {name}"),
            is_required,
            file_references: None,
        }
    }

    #[test]
    fn the_schema_has_every_type() {
        let types = [ValueType::String, ValueType::Number, ValueType::Boolean, ValueType::Object, ValueType::Array];
        let parameters: Vec<Parameter> = types.map(|of| parameter(of.name(), of, of != ValueType::Array)).into();
        let schema = arguments_schema(&parameters);
        assert_eq!(schema["properties"]["object"]["additionalProperties"], json!(true));
        assert_eq!(schema["properties"]["array"]["items"], json!({}));
        assert_eq!(schema["properties"]["number"], json!({ "type": "number", "description": "The number" }));
        assert_eq!(schema["required"], json!(["string", "number", "boolean", "object"]));
        assert_eq!(schema["additionalProperties"], json!(false));
    }

    #[test]
    fn arguments_are_checked_against_the_parameters() {
        let parameters = [parameter("id", ValueType::String, true), parameter("n", ValueType::Number, false)];
        let spec = ToolSpec {
            name: "find".into(),
            description: String::new(),
            parameters: arguments_schema(&parameters).into(),
            ..ToolSpec::default()
        };
        let check = |arguments| check_arguments(&spec, &parameters, &arguments).map_err(|error| error.to_string());
        assert_eq!(check(json!({ "id": "a", "n": null })).unwrap(), *json!({ "id": "a" }).as_object().unwrap());
        let converted = check(json!({ "id": 7, "n": " 1 " })).unwrap();
        assert_eq!(Value::Object(converted), json!({ "id": "7", "n": 1 }));
        for (arguments, part) in [
            (json!({ "id": "a", "customer_id": 1, "x": 2 }), "no argument “customer_id”, “x”"),
            (json!({ "n": 1 }), "needs the argument “id”"),
            (json!({ "id": null }), "must be of the type string"),
            (json!({ "id": "a", "n": "abc" }), "“n” of find must be of the type number, and \"abc\" cannot"),
            (json!({}), "without arguments"),
        ] {
            let error = check(arguments).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn arguments_are_converted_if_nothing_is_lost() {
        use ValueType::{Array, Boolean, Number, Object, String};
        for (value_type, value, expected) in [
            (Array, json!({"a": 1}), Some(json!([["a", 1]]))),
            (Array, json!("[1, 2]"), Some(json!([1, 2]))),
            (Array, json!("[1, 2"), Some(json!(["[1, 2"]))),
            (Array, json!(3), Some(json!([3]))),
            (Object, json!("{\"a\": 1}"), Some(json!({"a": 1}))),
            (Object, json!("[5]"), Some(json!({"0": 5}))),
            (Object, json!("7"), Some(json!({"value": 7}))),
            (Object, json!("text"), None),
            (Object, json!([1, 2]), Some(json!({"0": 1, "1": 2}))),
            (Object, json!(true), Some(json!({"value": true}))),
            (String, json!([1]), Some(json!("[1]"))),
            (Number, json!("18446744073709551615"), Some(json!(u64::MAX))),
            (Number, json!("18446744073709551616"), None),
            (Number, json!("1e400"), None),
            (Number, json!("abc"), None),
            (Number, json!([1, 2]), None),
            (Number, json!(true), None),
            (Boolean, json!("TRUE"), Some(json!(true))),
            (Boolean, json!("0"), Some(json!(false))),
            (Boolean, json!(1), Some(json!(true))),
            (Boolean, json!("yes"), None),
            (Boolean, json!(2), None),
            (Boolean, json!([]), None),
            (String, json!(null), None),
        ] {
            assert_eq!(value_type.convert_argument(value.clone()).ok(), expected, "{value_type:?} {value}");
        }
    }

    #[test]
    fn coerces_text_to_a_type() {
        let convert = |value_type: ValueType, text: &str| value_type.convert_leniently(json!(text)).ok();
        assert_eq!(convert(ValueType::Number, "3"), Some(json!(3)));
        assert_eq!(convert(ValueType::Number, " +3.5 "), Some(json!(3.5)));
        assert_eq!(convert(ValueType::Number, "inf"), None);
        assert_eq!(convert(ValueType::Boolean, "Yes"), Some(json!(true)));
        assert_eq!(convert(ValueType::Boolean, "off"), Some(json!(false)));
        assert_eq!(convert(ValueType::Boolean, "maybe"), None);
        assert_eq!(convert(ValueType::Object, "[1]"), None);
        assert_eq!(convert(ValueType::Array, "[1]"), Some(json!([1])));
        assert_eq!(ValueType::String.convert_leniently(json!({ "a": 1 })), Ok(json!("{\"a\":1}")));
        assert_eq!(ValueType::Object.convert_leniently(json!([1])).unwrap_err(), "Cannot convert “[1]” to object");
    }
}
