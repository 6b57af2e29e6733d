//! Definition of a tool as its server gives it, and what the model receives of it.

use crate::chat::mcp_names::offered_name;
use crate::chat::{Digest, ReferenceUse, ToolSpec};
use crate::text::hidden_chars::{find_hidden, mark_hidden, remove_hidden};
use crate::text::truncation::{escape_beginning, truncate_end};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Maximum characters of a description that the model receives.
const MAX_DESCRIPTION_CHARS: usize = 2_000;
/// Maximum characters of a text inside a schema that the model receives.
const MAX_SCHEMA_TEXT_CHARS: usize = 1_000;
/// Maximum bytes of a schema. A tool with a larger one is not offered.
const MAX_SCHEMA_BYTES: usize = 32 << 10;

/// Definition of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Name as the server knows it.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON schema of the arguments.
    pub input_schema: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
}

impl Definition {
    /// Takes over what aye uses of a tool.
    pub(super) fn from_tool(tool: &rmcp::model::Tool) -> Self {
        Self {
            name: tool.name.clone().into_owned(),
            title: tool.title.clone(),
            description: tool.description.as_deref().map(str::to_owned),
            input_schema: Value::Object(tool.input_schema.as_ref().clone()),
            annotations: tool.annotations.as_ref().and_then(|annotations| serde_json::to_value(annotations).ok()),
        }
    }

    /// Returns the digest of the whole definition, which does not depend on the order of keys.
    pub fn digest(&self) -> Digest {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        value.sort_all_objects();
        Digest::of_bytes(value.to_string().as_bytes())
    }

    /// Returns whether the server says that the tool changes nothing.
    pub fn claims_read_only(&self) -> bool {
        self.annotations.as_ref().is_some_and(|annotations| annotations["readOnlyHint"] == true)
    }

    /// Explains why the tool cannot be offered, worded to follow its name; `None` if it can.
    pub fn explain_unusable(&self) -> Option<String> {
        if !self.input_schema.is_object() {
            return Some("has no schema".to_owned());
        }
        let bytes = self.input_schema.to_string().len();
        if bytes > MAX_SCHEMA_BYTES {
            return Some(format!("has a schema of {bytes} bytes; the limit is {MAX_SCHEMA_BYTES}"));
        }
        let key = find_hidden_key(&self.input_schema)?;
        Some(format!("has hidden characters in the argument name {key}"))
    }

    /// Returns what the model receives: without hidden characters, and bounded.
    pub fn to_spec(&self, server: &str) -> ToolSpec {
        let description = [&self.description, &self.title].into_iter().flatten().find(|text| !text.trim().is_empty());
        let description = description.map_or("No description.", |text| text.trim());
        let mut parameters = self.input_schema.clone();
        clean_texts(&mut parameters);
        if let Some(schema) = parameters.as_object_mut() {
            schema.remove("$schema");
            schema.insert("type".to_owned(), json!("object"));
            schema.entry("properties").or_insert_with(|| json!({}));
        }
        let references = find_reference_uses(&parameters);
        let spec = ToolSpec {
            name: offered_name(server, &self.name),
            description: clean_description(description, MAX_DESCRIPTION_CHARS),
            parameters: parameters.into(),
            is_custom: true,
            ..ToolSpec::default()
        };
        spec.with_file_references(&references)
    }

    /// Returns the name for a text of the program: without hidden characters, and short.
    pub fn display_name(&self) -> String {
        truncate_end(&mark_hidden(&self.name.replace(['\n', '\r', '\t'], " ")), 80)
    }

    /// Describes the definition for the user in one line: its name and the beginning of its description.
    pub fn describe_briefly(&self) -> String {
        let description = self.description.as_deref().or(self.title.as_deref()).unwrap_or_default().trim();
        let first_line = description.lines().next().unwrap_or_default();
        format!("new tool {}: {}", self.display_name(), truncate_end(&mark_hidden(first_line), 200))
    }

    /// Describes the definition for the user, one line per fact. Hidden characters are marked.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut add = |label: &str, text: &str| {
            lines.extend(mark_hidden(text).lines().map(|line| format!("{label}: {line}")));
        };
        add("name", &self.name);
        add("title", self.title.as_deref().unwrap_or_default());
        add("description", self.description.as_deref().unwrap_or_default());
        if let Some(annotations) = &self.annotations {
            add("annotations", &annotations.to_string());
        }
        add("schema", &serde_json::to_string_pretty(&self.input_schema).unwrap_or_default());
        lines
    }
}

/// Returns the arguments in which a server allows references to files, by the keyword `x-file-refs` in their schemas.
fn find_reference_uses(parameters: &Value) -> Vec<(String, ReferenceUse)> {
    let properties = parameters["properties"].as_object().into_iter().flatten();
    let declared = properties.filter_map(|(name, schema)| {
        let usage = match schema["x-file-refs"].as_str()? {
            "text" => ReferenceUse::Text,
            "structured" => ReferenceUse::Data,
            _ => return None,
        };
        Some((name.clone(), usage))
    });
    declared.collect()
}

fn clean_description(text: &str, max_chars: usize) -> String {
    truncate_end(&remove_hidden(text), max_chars)
}

/// Removes hidden characters from all texts of a schema and bounds them. Keys are left unchanged.
fn clean_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = clean_description(text, MAX_SCHEMA_TEXT_CHARS),
        Value::Array(items) => items.iter_mut().for_each(clean_texts),
        Value::Object(fields) => fields.values_mut().for_each(clean_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the beginning of a key with hidden characters, escaped, if there is any.
fn find_hidden_key(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => items.iter().find_map(find_hidden_key),
        Value::Object(fields) => fields.iter().find_map(|(key, value)| {
            let is_hidden = find_hidden(key).is_some() || key.contains(['\n', '\t']);
            if is_hidden { Some(escape_beginning(key, 40)) } else { find_hidden_key(value) }
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(value: Value) -> Definition {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn the_digest_covers_every_part_and_no_order() {
        let whole = json!({"name": "a", "title": "A", "description": "d", "input_schema": {"type": "object", "x": 1},
            "annotations": {"readOnlyHint": true}});
        let digest = definition(whole.clone()).digest();
        let reordered = json!({"annotations": {"readOnlyHint": true}, "input_schema": {"x": 1, "type": "object"},
            "description": "d", "title": "A", "name": "a"});
        assert_eq!(definition(reordered).digest(), digest);
        for (pointer, new) in [
            ("/name", json!("b")),
            ("/title", json!("B")),
            ("/description", json!("d ")),
            ("/input_schema/x", json!(2)),
            ("/annotations/readOnlyHint", json!(false)),
        ] {
            let mut changed = whole.clone();
            *changed.pointer_mut(pointer).unwrap() = new;
            assert_ne!(definition(changed).digest(), digest, "{pointer}");
        }
    }

    #[test]
    fn the_model_receives_no_hidden_characters() {
        let tool = definition(json!({
            "name": "a", "description": "\u{202E}evil\u{E0041}\u{200B} text\u{1B}[31m",
            "input_schema": {"$schema": "x", "properties": {"q": {"description": "b\u{2066}c"}}},
        }));
        let spec = tool.to_spec("s");
        assert_eq!(spec.description, "evil text[31m");
        assert_eq!(spec.parameters.to_value(), json!({"properties": {"q": {"description": "bc"}}, "type": "object"}));
        assert_eq!(tool.explain_unusable(), None);
        let shown = tool.describe().join("\n");
        assert!(shown.contains("<U+202E>evil") && shown.contains("<U+001B>"), "{shown}");
    }

    #[test]
    fn the_model_is_told_which_arguments_may_hold_references() {
        let tool = definition(json!({"name": "a", "input_schema": {"properties": {
            "a/b": {"description": "Body", "x-file-refs": "text"},
            "rows": {"x-file-refs": "structured"},
            "other": {"description": "Other", "x-file-refs": "all"},
            "broken": true,
        }}}));
        let spec = tool.to_spec("s");
        let schema = spec.parameters.to_value();
        let description = |name: &str| schema["properties"][name]["description"].as_str();
        assert_eq!(description("a/b"), Some("Body (@@file: allowed)"));
        assert_eq!(description("rows"), Some("(@@file: allowed)"));
        assert_eq!(description("other"), Some("Other"));
        let names: Vec<&str> = spec.file_references.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a/b", "rows"]);
    }

    #[test]
    fn unusable_tools_are_explained() {
        let with_schema = |schema: Value| definition(json!({"name": "a", "input_schema": schema})).explain_unusable();
        let hidden_key = with_schema(json!({"properties": {"a\u{202E}b": {}}})).unwrap();
        assert!(hidden_key.contains("hidden characters") && !hidden_key.contains('\u{202E}'), "{hidden_key}");
        assert!(with_schema(json!({"d": "x".repeat(40_000)})).unwrap().contains("the limit is 32768"));
        assert!(with_schema(json!([])).unwrap().contains("no schema"));
        let long = definition(json!({"name": "a", "description": "é".repeat(9_000), "input_schema": {}}));
        assert_eq!(
            long.to_spec("s").description.chars().count(),
            MAX_DESCRIPTION_CHARS + 1,
            "with the mark of truncation"
        );
    }
}
