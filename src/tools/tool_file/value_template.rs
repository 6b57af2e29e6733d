//! Templates of JSON values: every text in them, also a name, may have placeholders.

use super::template::{Template, TemplateValues};
use serde_json::{Map, Value};

/// The template of a JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueTemplate {
    /// A number, a boolean or null.
    Constant(Value),
    Text(Template),
    Array(Vec<Self>),
    Object(Vec<(Template, Self)>),
}

impl ValueTemplate {
    /// Parses every text of a value.
    ///
    /// # Errors
    /// What is wrong with a placeholder.
    pub fn parse(value: &Value) -> Result<Self, String> {
        Ok(match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::Constant(value.clone()),
            Value::String(text) => Self::Text(Template::parse(text)?),
            Value::Array(items) => Self::Array(items.iter().map(Self::parse).collect::<Result<_, _>>()?),
            Value::Object(fields) => {
                let parse_field = |(name, value): (&String, &Value)| Ok((Template::parse(name)?, Self::parse(value)?));
                Self::Object(fields.iter().map(parse_field).collect::<Result<_, String>>()?)
            }
        })
    }

    /// Renders the value. A text that is a single placeholder has the type of its value.
    ///
    /// # Errors
    /// If two names of an object become equal.
    pub fn render(&self, values: &TemplateValues) -> Result<Value, String> {
        Ok(match self {
            Self::Constant(value) => value.clone(),
            Self::Text(template) => template.render_value(values),
            Self::Array(items) => Value::Array(items.iter().map(|item| item.render(values)).collect::<Result<_, _>>()?),
            Self::Object(fields) => {
                let mut rendered = Map::new();
                for (name, value) in fields {
                    let name = name.render(values);
                    if rendered.insert(name.clone(), value.render(values)?).is_some() {
                        return Err(format!("body_template has two fields with the name “{name}”"));
                    }
                }
                Value::Object(rendered)
            }
        })
    }

    /// Calls `visit` with the path of every placeholder.
    pub fn visit_paths(&self, visit: &mut impl FnMut(&str)) {
        match self {
            Self::Constant(_) => {}
            Self::Text(template) => template.paths().for_each(visit),
            Self::Array(items) => items.iter().for_each(|item| item.visit_paths(visit)),
            Self::Object(fields) => {
                for (name, value) in fields {
                    name.paths().for_each(&mut *visit);
                    value.visit_paths(visit);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keeps_types_and_renders_names() {
        let template =
            json!({ "{{name}}": "{{count}}", "fixed": [1, "n={{count}}", { "list": "{{list}}" }], "none": null });
        let mut values = TemplateValues::default();
        for (name, value) in [("name", json!("n")), ("count", json!(3)), ("list", json!([1]))] {
            values.insert(name, value);
        }
        let rendered = ValueTemplate::parse(&template).unwrap().render(&values).unwrap();
        assert_eq!(rendered, json!({ "n": 3, "fixed": [1, "n=3", { "list": [1] }], "none": null }));
        let equal = ValueTemplate::parse(&json!({ "{{name}}": 1, "n": 2 })).unwrap().render(&values);
        assert!(equal.unwrap_err().contains("“n”"));
        assert!(ValueTemplate::parse(&json!([{ "a": "{{" }])).is_err());
    }
}
