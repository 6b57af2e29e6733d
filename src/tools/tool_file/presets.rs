//! Preset parameters: arguments that the tool file sets. The model neither sees nor sets them.

use super::parameters::ValueType;
use super::template::{Template, TemplateValues};
use crate::tools::Error;
use serde_json::{Map, Value};

/// A parameter that the file sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preset {
    pub name: String,
    pub value_type: ValueType,
    pub template: Template,
    pub is_required: bool,
}

/// Adds the presets to the arguments of a call. A preset replaces an argument of the same name.
///
/// # Errors
/// If a required preset is empty, or a value is not of its type.
pub fn apply_presets(
    presets: &[Preset],
    values: &TemplateValues,
    arguments: &mut Map<String, Value>,
) -> Result<(), Error> {
    for preset in presets {
        let value = preset.template.render_value(values);
        arguments.remove(&preset.name);
        if value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty()) {
            if preset.is_required {
                let message = format!("Preset parameter '{}' resolved to an empty value", preset.name);
                return Err(Error::Failed(format!("{message}. The user must correct the tool file.")));
            }
            continue;
        }
        let coerced = preset.value_type.convert_leniently(value).map_err(|error| {
            Error::Failed(format!("Preset parameter '{}': {error}. The user must correct the tool file.", preset.name))
        })?;
        arguments.insert(preset.name.clone(), coerced);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn apply(template: &str, value_type: ValueType, is_required: bool) -> Result<Value, String> {
        let template = Template::parse(template).unwrap();
        let preset = Preset { name: "id".into(), value_type, template, is_required };
        let mut arguments = json!({ "id": "model", "other": 1 }).as_object().unwrap().clone();
        apply_presets(&[preset], &TemplateValues::default(), &mut arguments).map_err(|error| error.to_string())?;
        Ok(Value::Object(arguments))
    }

    #[test]
    fn a_preset_wins_over_an_argument() {
        assert_eq!(apply("3", ValueType::Number, true), Ok(json!({ "other": 1, "id": 3 })));
        assert_eq!(apply("{{none}}", ValueType::String, false), Ok(json!({ "other": 1 })));
        assert_eq!(apply("{\"a\":1}", ValueType::Object, true), Ok(json!({ "other": 1, "id": { "a": 1 } })));
    }

    #[test]
    fn an_empty_or_invalid_preset_is_an_error() {
        let error = apply("{{initial_context.phone}}", ValueType::String, true).unwrap_err();
        assert!(error.starts_with("Preset parameter 'id' resolved to an empty value"), "{error}");
        assert!(apply("maybe", ValueType::Boolean, true).is_err());
        assert!(apply("[1]", ValueType::Object, true).is_err());
    }
}
