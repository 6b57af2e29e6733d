//! JSON schemas of tools in the subset that every provider accepts.
//!
//! Providers reject a whole request for one schema that they do not understand. OpenAI and Anthropic reject `anyOf`, `oneOf`,
//! `allOf`, `not`, `enum` and `const` at the top and arrays without `items`; Gemini rejects unknown keywords such as `const`,
//! `$ref`, `oneOf`, `additionalProperties` and `exclusiveMinimum`, lists of types, enums that are not texts, most formats, and
//! siblings of `anyOf`; llama.cpp rejects `not` and patterns without anchors or with `\d`; Mistral rejects `$id` and
//! `$schema`. The tool itself checks the arguments, so a simpler schema loses no check.

use serde_json::{Map, Value, json};
use std::cell::Cell;

/// Types of values, without `null`.
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "object", "array"];
/// Types offered for a value of any type. An array would need `items`.
const ANY_TYPES: [&str; 4] = ["string", "number", "boolean", "object"];
/// Keywords that are moved to the description.
const HINTS: &str = "format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength \
                     minItems maxItems uniqueItems default";
/// Keywords that no provider accepts at the top of a schema.
const REFUSED_AT_TOP: [&str; 7] = ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"];
/// Maximum bytes of one hint.
const MAX_HINT_BYTES: usize = 80;
/// Maximum depth of a schema; deeper parts have only their type.
const MAX_DEPTH: usize = 16;
/// Maximum schemas inside one, with those of references. Further ones have only their type.
const MAX_SCHEMAS: usize = 2_000;

/// Returns whether the schema has a part that most providers reject.
pub fn is_widely_refused(schema: &Value) -> bool {
    schema["type"] != "object"
        || REFUSED_AT_TOP.iter().any(|key| schema.get(key).is_some())
        || has_open_array(schema, 0)
}

/// Returns whether an array without `items` is inside. `const` and `default` may look like one, which does no harm.
fn has_open_array(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(fields) => {
            let is_array = fields.get("type").is_some_and(|kind| list_types(kind).0.contains(&"array"));
            is_array && !fields.get("items").is_some_and(Value::is_object)
                || depth > MAX_DEPTH
                || fields.values().any(|value| has_open_array(value, depth + 1))
        }
        Value::Array(items) => items.iter().any(|item| has_open_array(item, depth)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Simplifies the schema of a tool's arguments. The result is an object schema; simplifying it again changes nothing.
pub fn simplify_schema(schema: &Value) -> Value {
    let simplifier = Simplifier { root: schema, remaining: Cell::new(MAX_SCHEMAS) };
    let parts = simplifier.gather(schema, &[]);
    let mut simple = simplifier.object(&parts, 0);
    if let Some(description) = describe(&parts, Vec::new()) {
        simple.insert("description".to_owned(), json!(description));
    }
    Value::Object(simple)
}

struct Simplifier<'a> {
    /// The whole schema, to which references point.
    root: &'a Value,
    /// Number of schemas that may still be simplified.
    remaining: Cell<usize>,
}

/// A schema with those that it refers to and combines. Of the same keyword in several, the first counts.
struct Parts<'a> {
    schemas: Vec<&'a Map<String, Value>>,
    /// References that lead here.
    references: Vec<&'a str>,
    /// True if a reference leads back to a schema that contains this one.
    is_cycle: bool,
}

impl<'a> Parts<'a> {
    fn field(&self, key: &str) -> Option<&'a Value> {
        self.schemas.iter().find_map(|schema| schema.get(key))
    }
}

impl<'a> Simplifier<'a> {
    /// Counts schemas; returns false if there are too many.
    fn count(&self, schemas: usize) -> bool {
        let is_within = self.remaining.get() >= schemas;
        self.remaining.set(self.remaining.get().saturating_sub(schemas));
        is_within
    }

    /// Collects a schema, the targets of its references and the members of its `allOf`.
    fn gather(&self, schema: &'a Value, references: &[&'a str]) -> Parts<'a> {
        let mut parts = Parts { schemas: Vec::new(), references: references.to_vec(), is_cycle: false };
        let mut waiting = vec![schema];
        let mut own_references: Vec<&str> = Vec::new();
        while let Some(schema) = waiting.pop() {
            let Value::Object(fields) = schema else { continue };
            parts.schemas.push(fields);
            let members = fields.get("allOf").and_then(Value::as_array);
            waiting.extend(members.into_iter().flatten().rev());
            let Some(reference) = fields.get("$ref").and_then(Value::as_str) else { continue };
            if references.contains(&reference) {
                parts.is_cycle = true;
            }
            if !own_references.contains(&reference) {
                own_references.push(reference);
                waiting.extend(reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)));
            }
        }
        parts.references.extend(own_references);
        parts
    }

    /// Simplifies a schema inside another.
    fn simplify(&self, schema: &'a Value, references: &[&'a str], depth: usize) -> Map<String, Value> {
        let parts = self.gather(schema, references);
        let is_leaf = !self.count(1) || depth > MAX_DEPTH || parts.is_cycle;
        let (mut kinds, mut is_nullable) = parts.field("type").map(list_types).unwrap_or_default();
        is_nullable |= parts.field("nullable") == Some(&json!(true));
        let values = list_values(&parts);
        let (texts, mut hints) = match &values {
            Some(values) => {
                is_nullable |= values.iter().any(|value| value.is_null());
                split_values(values)
            }
            None => (Vec::new(), Vec::new()),
        };
        if kinds.is_empty() {
            kinds = infer_types(&parts, values.as_deref());
        }
        if is_leaf {
            // An array would need `items`.
            kinds = vec![kinds.first().copied().filter(|kind| *kind != "array").unwrap_or("object")];
        }
        hints.extend(HINTS.split(' ').filter_map(|key| describe_hint(key, parts.field(key)?)));
        let description = describe(&parts, hints);
        let variants = match kinds.as_slice() {
            [] => {
                let (variants, has_null) = self.variants(&parts, depth);
                is_nullable |= has_null;
                variants
            }
            ["object"] if is_leaf => vec![typed("object")],
            [kind] => vec![self.of_type(kind, &parts, &texts, depth)],
            kinds => {
                self.count(kinds.len());
                kinds.iter().map(|kind| self.of_type(kind, &parts, &texts, depth)).collect()
            }
        };
        combine(variants, description, is_nullable)
    }

    /// Simplifies a schema as one type.
    fn of_type(&self, kind: &str, parts: &Parts<'a>, texts: &[String], depth: usize) -> Map<String, Value> {
        match kind {
            "object" => self.object(parts, depth),
            "array" => {
                let mut simple = typed(kind);
                let first = |items: &'a Value| items.as_array().map_or(Some(items), |items| items.first());
                let items = ["items", "prefixItems"].iter().find_map(|key| first(parts.field(key)?));
                let items = items
                    .map_or_else(|| self.any(depth + 1), |items| self.simplify(items, &parts.references, depth + 1));
                simple.insert("items".to_owned(), Value::Object(items));
                simple
            }
            _ => {
                let mut simple = typed(kind);
                if kind == "string" && !texts.is_empty() {
                    simple.insert("enum".to_owned(), json!(texts));
                }
                simple
            }
        }
    }

    /// Simplifies a schema as an object. Properties of alternatives are optional; a required one without a schema may be
    /// anything.
    fn object(&self, parts: &Parts<'a>, depth: usize) -> Map<String, Value> {
        let mut properties = Map::new();
        let required = parts.schemas.iter().filter_map(|schema| schema.get("required")?.as_array()).flatten();
        let mut required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let mut names = std::collections::HashSet::new();
        required.retain(|name| names.insert(*name));
        let alternatives: Vec<Parts<'a>> =
            alternatives(parts).map(|schema| self.gather(schema, &parts.references)).collect();
        let groups = std::iter::once(parts).chain(alternatives.iter().filter(|parts| !parts.is_cycle));
        for group in groups {
            for (name, schema) in
                group.schemas.iter().filter_map(|schema| schema.get("properties")?.as_object()).flatten()
            {
                // `false` forbids a property.
                let is_allowed = *schema != Value::Bool(false) || required.contains(&name.as_str());
                if is_allowed && !properties.contains_key(name) {
                    let simple = self.simplify(schema, &group.references, depth + 1);
                    properties.insert(name.clone(), Value::Object(simple));
                }
            }
        }
        for name in &required {
            properties.entry(*name).or_insert_with(|| Value::Object(self.any(depth + 1)));
        }
        let mut simple = typed("object");
        simple.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            simple.insert("required".to_owned(), json!(required));
        }
        simple
    }

    /// Simplifies the alternatives of a schema without a type. Also returns whether `null` is one. Without alternatives
    /// anything is allowed.
    fn variants(&self, parts: &Parts<'a>, depth: usize) -> (Vec<Map<String, Value>>, bool) {
        let (mut variants, mut has_null) = (Vec::new(), false);
        for schema in alternatives(parts) {
            if is_null(schema) {
                has_null = true;
                continue;
            }
            let mut simple = self.simplify(schema, &parts.references, depth + 1);
            match simple.shift_remove("anyOf") {
                Some(Value::Array(inner)) => {
                    variants.extend(inner.into_iter().filter_map(|inner| match inner {
                        Value::Object(fields) => Some(fields),
                        _ => None,
                    }));
                }
                Some(_) | None => variants.push(simple),
            }
        }
        if variants.is_empty() {
            variants = self.any_types();
        }
        (variants, has_null)
    }

    /// Returns a schema for any value.
    fn any(&self, depth: usize) -> Map<String, Value> {
        match self.count(1) && depth <= MAX_DEPTH {
            true => combine(self.any_types(), None, false),
            false => typed("object"),
        }
    }

    fn any_types(&self) -> Vec<Map<String, Value>> {
        self.count(ANY_TYPES.len());
        ANY_TYPES.map(typed).to_vec()
    }
}

/// Returns a schema that has only a type, and what that type needs.
fn typed(kind: &str) -> Map<String, Value> {
    let mut simple = Map::new();
    simple.insert("type".to_owned(), json!(kind));
    if kind == "object" {
        simple.insert("properties".to_owned(), json!({}));
    }
    simple
}

/// Combines alternatives to one schema. `anyOf` may have no siblings, so a description and `nullable` go into each.
fn combine(variants: Vec<Map<String, Value>>, description: Option<String>, is_nullable: bool) -> Map<String, Value> {
    let mut distinct: Vec<Map<String, Value>> = Vec::new();
    for mut variant in variants {
        if let (Some(text), false) = (&description, variant.contains_key("description")) {
            variant.insert("description".to_owned(), json!(text));
        }
        if is_nullable {
            variant.insert("nullable".to_owned(), json!(true));
        }
        let texts = |variant: &Map<String, Value>| variant.get("enum").and_then(Value::as_array).cloned();
        let known = distinct.iter_mut().find_map(|other| Some((texts(other)?, other)));
        match known.zip(texts(&variant)) {
            // `const` texts as alternatives are one enum.
            Some(((mut all, other), added)) => {
                let added: Vec<Value> = added.into_iter().filter(|text| !all.contains(text)).collect();
                all.extend(added);
                other.insert("enum".to_owned(), Value::Array(all));
            }
            None => {
                if !distinct.contains(&variant) {
                    distinct.push(variant);
                }
            }
        }
    }
    match distinct.len() {
        1 => distinct.swap_remove(0),
        _ => Map::from_iter([("anyOf".to_owned(), json!(distinct))]),
    }
}

/// Returns the members of `anyOf` and `oneOf`.
fn alternatives<'a>(parts: &Parts<'a>) -> impl Iterator<Item = &'a Value> {
    let lists = ["anyOf", "oneOf"].map(|key| parts.field(key).and_then(Value::as_array));
    lists.into_iter().flatten().flatten()
}

fn is_null(schema: &Value) -> bool {
    let is_null_list = |key: &str| schema.get(key).is_some_and(|value| *value == json!([null]));
    schema["type"] == "null" || is_null_list("enum") || schema.get("const").is_some_and(Value::is_null)
}

/// Returns the known types of `type`, and whether `null` is one of them.
fn list_types(kind: &Value) -> (Vec<&'static str>, bool) {
    let named: Vec<&str> = match kind {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let mut known: Vec<&'static str> = TYPES.into_iter().filter(|kind| named.contains(kind)).collect();
    if known.contains(&"number") {
        known.retain(|kind| *kind != "integer");
    }
    (known, named.contains(&"null"))
}

/// Returns the allowed values, if they are listed.
fn list_values<'a>(parts: &Parts<'a>) -> Option<Vec<&'a Value>> {
    match (parts.field("const"), parts.field("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        (None, Some(_) | None) => None,
    }
}

/// Splits allowed values into texts, and a hint if there are others. An empty text is rejected by providers.
fn split_values(values: &[&Value]) -> (Vec<String>, Vec<String>) {
    let is_simple = |value: &&&Value| value.is_null() || value.as_str().is_some_and(|text| !text.is_empty());
    if values.iter().all(|value| is_simple(&value)) {
        let mut texts: Vec<String> = Vec::new();
        for text in values.iter().filter_map(|value| value.as_str()) {
            if !texts.iter().any(|known| known == text) {
                texts.push(text.to_owned());
            }
        }
        return (texts, Vec::new());
    }
    let list: Vec<String> = values.iter().map(|value| value.to_string()).collect();
    (Vec::new(), describe_hint("one of", &json!(list.join(", "))).into_iter().collect())
}

/// Infers the type of a schema from its other keywords. Empty if they do not say it.
fn infer_types(parts: &Parts<'_>, values: Option<&[&Value]>) -> Vec<&'static str> {
    let type_of = |value: &&Value| match value {
        Value::String(_) => Some("string"),
        Value::Number(number) => Some(if number.is_f64() { "number" } else { "integer" }),
        Value::Bool(_) => Some("boolean"),
        Value::Object(_) => Some("object"),
        Value::Array(_) => Some("array"),
        Value::Null => None,
    };
    if let Some(values) = values {
        let found: Vec<&str> = values.iter().filter_map(type_of).collect();
        return list_types(&json!(found)).0;
    }
    let has = |keys: &[&str]| keys.iter().any(|key| parts.field(key).is_some());
    if has(&["properties", "additionalProperties", "patternProperties", "propertyNames"]) {
        vec!["object"]
    } else if has(&["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]) {
        vec!["array"]
    } else if has(&["pattern", "minLength", "maxLength"]) {
        vec!["string"]
    } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        vec!["number"]
    } else {
        Vec::new()
    }
}

/// Returns the description, or the title in its place, with hints about what the simple schema does not say.
fn describe(parts: &Parts<'_>, hints: Vec<String>) -> Option<String> {
    let texts = ["description", "title"].iter().filter_map(|key| parts.field(key)?.as_str());
    let text = texts.map(str::trim).find(|text| !text.is_empty()).unwrap_or_default();
    let hints = if hints.is_empty() { String::new() } else { format!("({})", hints.join(", ")) };
    let parts: Vec<&str> = [text, &hints].into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Describes a keyword; `None` if its value says nothing or is too long.
fn describe_hint(key: &str, value: &Value) -> Option<String> {
    let value = match value {
        Value::Null | Value::Object(_) => return None,
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    (value.len() <= MAX_HINT_BYTES).then(|| format!("{key}: {value}"))
}

#[cfg(test)]
mod tests;
