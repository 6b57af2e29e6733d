//! Templates: text with placeholders such as `{{ path }}`, `{{ path | default }}` or `{{ path | fallback:text }}`.

use jiff::Zoned;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub(super) parts: Vec<TemplatePart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplatePart {
    Literal(String),
    Placeholder(Placeholder),
}

/// A placeholder of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placeholder {
    /// Keys joined by dots.
    path: String,
    /// Text used if there is no value or only a blank one.
    default: Option<String>,
}

/// Values for placeholders.
#[derive(Debug, Clone, Default)]
pub struct TemplateValues {
    values: Map<String, Value>,
    /// The time of `current_time` and `current_weekday`.
    now: Zoned,
}

impl TemplateValues {
    pub fn new(values: Map<String, Value>, now: Zoned) -> Self {
        Self { values, now }
    }

    /// Adds a value.
    pub fn insert(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// Returns the value at a path; `None` if there is none, or if it is null or blank.
    fn find_value(&self, path: &str) -> Option<Cow<'_, Value>> {
        if let Some(time) = self.format_time(path) {
            return Some(Cow::Owned(Value::String(time)));
        }
        let from_keys = || {
            let (first, rest) = path.split_once('.')?;
            rest.split('.').try_fold(self.values.get(first)?, |value, key| value.as_object()?.get(key))
        };
        let value = self.values.get(path).or_else(from_keys)?;
        let is_blank = value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty());
        (!is_blank).then_some(Cow::Borrowed(value))
    }

    /// Formats the time for a path such as `current_time_Europe/Berlin`.
    fn format_time(&self, path: &str) -> Option<String> {
        let (zone, format) = match (path.strip_prefix("current_time"), path.strip_prefix("current_weekday")) {
            (Some(zone), _) => (zone, "%Y-%m-%d %H:%M:%S %Z"),
            (None, Some(zone)) => (zone, "%A"),
            (None, None) => return None,
        };
        let now = match zone.strip_prefix('_') {
            // Known without the time zones of the system.
            Some("UTC") => self.now.with_time_zone(TimeZone::UTC),
            Some(name) => self.now.with_time_zone(TimeZone::get(name).ok()?),
            None => zone.is_empty().then(|| self.now.clone())?,
        };
        Some(now.strftime(format).to_string())
    }
}

impl Placeholder {
    /// Parses the text between the braces.
    fn parse(text: &str) -> Result<Self, String> {
        let (path, filter) = text.split_once('|').map_or((text, None), |(path, filter)| (path, Some(filter.trim())));
        let path = path.trim();
        let is_path_char = |c: char| c.is_alphanumeric() || "._-/+".contains(c);
        if path.is_empty() || !path.chars().all(is_path_char) || path.split('.').any(str::is_empty) {
            return Err(format!("“{{{{{text}}}}}” has no valid name"));
        }
        let default = filter.map(|filter| match filter.strip_prefix("fallback") {
            Some("") => title_case(path),
            Some(rest) => rest.trim_start().strip_prefix(':').map_or(filter, str::trim).to_owned(),
            None => filter.to_owned(),
        });
        Ok(Self { path: path.to_owned(), default })
    }

    /// Returns the value, or the default as a string; `None` if there is neither.
    pub(super) fn resolve<'a>(&self, values: &'a TemplateValues) -> Option<Cow<'a, Value>> {
        let default = || self.default.clone().map(|text| Cow::Owned(Value::String(text)));
        values.find_value(&self.path).or_else(default)
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }
}

impl Template {
    /// Parses a text. `\n` outside placeholders is a line end. Braces that are closed but not opened are text.
    ///
    /// # Errors
    /// What is wrong with a placeholder.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_with(text, |literal| Ok(literal.replace("\\n", "\n")))
    }

    /// Parses a text whose literal parts are converted by `convert`.
    pub(super) fn parse_with(text: &str, convert: impl Fn(&str) -> Result<String, String>) -> Result<Self, String> {
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((literal, after)) = rest.split_once("{{") {
            let (inner, after) = after.split_once("}}").ok_or("“{{” is not closed by “}}”")?;
            if inner.contains(['{', '}']) || after.starts_with('}') {
                return Err("braces are nested".to_owned());
            }
            if !literal.is_empty() {
                parts.push(TemplatePart::Literal(convert(literal)?));
            }
            parts.push(TemplatePart::Placeholder(Placeholder::parse(inner)?));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(TemplatePart::Literal(convert(rest)?));
        }
        Ok(Self { parts })
    }

    /// Parses a text that keeps every character outside placeholders.
    ///
    /// # Errors
    /// What is wrong with a placeholder.
    pub(super) fn parse_word(text: &str) -> Result<Self, String> {
        Self::parse_with(text, |literal| Ok(literal.to_owned()))
    }

    /// Returns the paths of all placeholders.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Placeholder(placeholder) => Some(placeholder.path()),
            TemplatePart::Literal(_) => None,
        })
    }

    /// Renders the text. A placeholder without value and default is empty. Values are not rendered again.
    pub fn render(&self, values: &TemplateValues) -> String {
        let render_part = |part: &TemplatePart| match part {
            TemplatePart::Literal(text) => text.clone(),
            TemplatePart::Placeholder(placeholder) => {
                placeholder.resolve(values).map(|value| format_value(&value)).unwrap_or_default()
            }
        };
        self.parts.iter().map(render_part).collect()
    }

    /// Renders the value: that of the placeholder with its type if there is nothing else, otherwise a text.
    pub fn render_value(&self, values: &TemplateValues) -> Value {
        match self.parts.as_slice() {
            [TemplatePart::Placeholder(placeholder)] => {
                placeholder.resolve(values).map_or_else(|| Value::String(String::new()), Cow::into_owned)
            }
            _ => Value::String(self.render(values)),
        }
    }
}

/// Writes the template with its placeholders.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                TemplatePart::Literal(text) => f.write_str(text)?,
                TemplatePart::Placeholder(Placeholder { path, default: None }) => write!(f, "{{{{{path}}}}}")?,
                TemplatePart::Placeholder(Placeholder { path, default: Some(text) }) => {
                    write!(f, "{{{{{path} | {text}}}}}")?;
                }
            }
        }
        Ok(())
    }
}

/// Formats a value as text: a string as it is, anything else as JSON.
pub fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

/// Writes every word of a path with a capital: `Customer.Name`.
fn title_case(path: &str) -> String {
    let mut is_start = true;
    let convert = |c: char| {
        let converted = if is_start { c.to_uppercase().collect() } else { c.to_string() };
        is_start = !c.is_alphanumeric();
        converted
    };
    path.chars().map(convert).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values() -> TemplateValues {
        let values = json!({
            "name": "Ada", "blank": " ", "none": null, "count": 3, "on": true, "list": [1, "a"], "path": "C:\\new",
            "initial_context": { "customer": { "name": "Eve" } }, "nested": "{{name}}",
        });
        let Value::Object(values) = values else { panic!("an object") };
        let now: jiff::Timestamp = "2026-11-27T03:04:05Z".parse().unwrap();
        TemplateValues::new(values, now.to_zoned(TimeZone::UTC))
    }

    fn render(text: &str) -> String {
        Template::parse(text).unwrap().render(&values())
    }

    #[test]
    fn renders_placeholders_with_defaults() {
        for (text, expected) in [
            ("a {{name}} b", "a Ada b"),
            ("{{ initial_context.customer.name }}", "Eve"),
            ("{{missing}}", ""),
            ("{{missing | nobody}}", "nobody"),
            ("{{missing | fallback:a b}}", "a b"),
            ("{{customer.name | fallback}}", "Customer.Name"),
            ("{{blank | x}}{{none | y}}", "xy"),
            ("{{name | x}}", "Ada"),
            ("{{count}} {{on}} {{list}}", "3 true [1,\"a\"]"),
            ("{{name.x}}{{list.0}}", ""),
            ("query { viewer { login }}", "query { viewer { login }}"),
            ("{{current_time}}", "2026-11-27 03:04:05 UTC"),
            ("{{current_weekday}} {{current_weekday_UTC}}", "Friday Friday"),
            ("{{current_time_Nowhere/City | unknown}}", "unknown"),
        ] {
            assert_eq!(render(text), expected, "{text}");
        }
    }

    #[test]
    fn values_are_neither_rendered_again_nor_unescaped() {
        assert_eq!(render("{{nested}}"), "{{name}}");
        assert_eq!(render("a\\nb {{path}}"), "a\nb C:\\new");
    }

    #[test]
    fn a_single_placeholder_keeps_its_type() {
        let value = |text: &str| Template::parse(text).unwrap().render_value(&values());
        assert_eq!(value("{{count}}"), json!(3));
        assert_eq!(value("{{list}}"), json!([1, "a"]));
        assert_eq!(value(" {{count}}"), json!(" 3"));
        assert_eq!(value("{{missing}}"), json!(""));
    }

    #[test]
    fn malformed_placeholders_are_errors() {
        for text in ["{{", "a {{name", "{{{name}}}", "{{a {{b}} }}", "{{}}", "{{ }}", "{{a b}}", "{{a..b}}", "{{a.}}"] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
    }
}
