//! Tests of simple schemas: a table by provider, hostile schemas, and properties.

use super::*;
use proptest::prelude::*;

/// Keywords of a simple schema.
const KEYWORDS: [&str; 8] = ["type", "description", "enum", "items", "properties", "required", "anyOf", "nullable"];

/// Simplifies the schema of one property.
fn simplify_property(schema: Value) -> Value {
    simplify_schema(&json!({"type": "object", "properties": {"x": schema}}))["properties"]["x"].clone()
}

fn any_value() -> Value {
    json!({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "object", "properties": {}}]})
}

/// Checks that a schema has only keywords and forms that every provider accepts.
fn check_simple(schema: &Value) -> Result<(), String> {
    let Some(fields) = schema.as_object() else { return Err(format!("no object: {schema}")) };
    if let Some(key) = fields.keys().find(|key| !KEYWORDS.contains(&key.as_str())) {
        return Err(format!("{key} in {schema}"));
    }
    if let Some(variants) = fields.get("anyOf") {
        let variants = variants.as_array().filter(|list| list.len() > 1 && fields.len() == 1);
        return variants.ok_or_else(|| format!("anyOf in {schema}"))?.iter().try_for_each(|variant| {
            if variant.get("anyOf").is_some() { Err(format!("nested in {schema}")) } else { check_simple(variant) }
        });
    }
    let kind = fields.get("type").and_then(Value::as_str).filter(|kind| TYPES.contains(kind));
    let kind = kind.ok_or_else(|| format!("no type: {schema}"))?;
    for (key, owner) in [("enum", "string"), ("items", "array"), ("properties", "object"), ("required", "object")] {
        if fields.contains_key(key) && kind != owner {
            return Err(format!("{key} of {kind} in {schema}"));
        }
    }
    if let Some(values) = fields.get("enum").and_then(Value::as_array)
        && (values.is_empty() || !values.iter().all(|value| value.as_str().is_some_and(|text| !text.is_empty())))
    {
        return Err(format!("enum in {schema}"));
    }
    if kind == "array" {
        return check_simple(&schema["items"]);
    }
    let properties = fields.get("properties").and_then(Value::as_object);
    if kind == "object" && properties.is_none() {
        return Err(format!("no properties: {schema}"));
    }
    for name in fields.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !properties.is_some_and(|known| name.as_str().is_some_and(|name| known.contains_key(name))) {
            return Err(format!("{name} is required and not defined: {schema}"));
        }
    }
    properties.into_iter().flatten().try_for_each(|(_, schema)| check_simple(schema))
}

#[test]
fn keywords_that_a_provider_rejects_are_replaced() {
    let table = [
        // Gemini: no list of types, no `null` type.
        (json!({"type": ["string", "null"]}), json!({"type": "string", "nullable": true})),
        (json!({"type": ["integer", "string"]}), json!({"anyOf": [{"type": "string"}, {"type": "integer"}]})),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null}),
            json!({"type": "string", "nullable": true}),
        ),
        // Gemini: no `const`, no `oneOf`, no siblings of `anyOf`.
        (json!({"const": "a"}), json!({"type": "string", "enum": ["a"]})),
        (json!({"oneOf": [{"const": "a"}, {"const": "b"}]}), json!({"type": "string", "enum": ["a", "b"]})),
        (
            json!({"oneOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}], "description": "d"}),
            json!({"anyOf": [{"type": "integer", "description": "d"}, {"type": "array", "items": {"type": "string"}, "description": "d"}]}),
        ),
        // Gemini: enums are texts, and none is empty.
        (json!({"enum": ["a", "b", null]}), json!({"type": "string", "enum": ["a", "b"], "nullable": true})),
        (json!({"type": "integer", "enum": [1, 2]}), json!({"type": "integer", "description": "(one of: 1, 2)"})),
        (json!({"enum": ["", "a"]}), json!({"type": "string", "description": "(one of: \"\", \"a\")"})),
        (json!({"const": true}), json!({"type": "boolean", "description": "(one of: true)"})),
        // Gemini: no `additionalProperties`, `propertyNames`, `$schema`, `title`.
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}, "propertyNames": {"pattern": "a"}, "title": "T"}),
            json!({"type": "object", "properties": {}, "description": "T"}),
        ),
        // Gemini: few formats and no exclusive bounds. Mistral: no boolean ones.
        (
            json!({"type": "string", "format": "uri", "description": "d"}),
            json!({"type": "string", "description": "d (format: uri)"}),
        ),
        (
            json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true}),
            json!({"type": "integer", "description": "(minimum: 0, exclusiveMinimum: true)"}),
        ),
        // llama.cpp: no pattern without anchors, no `\d`, no `not`.
        (json!({"pattern": "\\d"}), json!({"type": "string", "description": "(pattern: \\d)"})),
        (json!({"not": {"type": "string"}}), any_value()),
        // OpenAI: no array without `items`, also as a tuple.
        (json!({"type": "array"}), json!({"type": "array", "items": any_value()})),
        (
            json!({"type": "array", "prefixItems": [{"type": "number"}]}),
            json!({"type": "array", "items": {"type": "number"}}),
        ),
        (
            json!({"items": [{"type": "number"}, {"type": "string"}]}),
            json!({"type": "array", "items": {"type": "number"}}),
        ),
        // Boolean and invalid schemas.
        (json!(true), any_value()),
        (json!({}), any_value()),
        (json!(7), any_value()),
        (json!({"type": "any"}), any_value()),
        // `allOf` is merged.
        (
            json!({"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": true}, "required": ["b", "a"]}]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": any_value()}, "required": ["a", "b"]}),
        ),
        // Alternatives of an object: required ones of each are optional.
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "anyOf": [{"required": ["b"], "properties": {"b": {"type": "number"}}}]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}}, "required": ["a"]}),
        ),
        // Gemini: a required property must be defined.
        (
            json!({"type": "object", "required": ["a", 1, "a"], "properties": {"b": false}}),
            json!({"type": "object", "properties": {"a": any_value()}, "required": ["a"]}),
        ),
    ];
    for (schema, expected) in table {
        let simple = simplify_property(schema.clone());
        assert_eq!(simple, expected, "{schema}");
        check_simple(&simple).unwrap();
    }
}

#[test]
fn the_top_is_always_an_object() {
    let empty = json!({"type": "object", "properties": {}});
    for schema in
        [json!(true), json!({}), json!({"type": "string"}), json!({"$ref": "#"}), json!({"$ref": "https://h/x"})]
    {
        assert_eq!(simplify_schema(&schema), empty, "{schema}");
    }
    let union = json!({"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {"type": "string"}}}]});
    let simple = simplify_schema(&union);
    assert_eq!(simple, json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}));
}

#[test]
fn references_are_inlined_up_to_a_cycle() {
    let schema = json!({
        "type": "object",
        "properties": {"point": {"$ref": "#/$defs/p", "description": "Where"}, "tree": {"$ref": "#/definitions/t"}, "lost": {"$ref": "#/$defs/none"}},
        "$defs": {"p": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"], "description": "Point"}},
        "definitions": {"t": {"type": "object", "properties": {"left": {"$ref": "#/definitions/t"}, "name": {"type": "string"}}}},
    });
    let tree = json!({"type": "object", "properties": {"left": {"type": "object", "properties": {}}, "name": {"type": "string"}}});
    assert_eq!(
        simplify_schema(&schema)["properties"],
        json!({
            "point": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"], "description": "Where"},
            "tree": tree,
            "lost": any_value(),
        })
    );
}

#[test]
fn hostile_schemas_are_bounded() {
    // Each definition has two of the next: a million copies if all were inlined.
    let mut definitions = Map::new();
    for number in 0..20 {
        let next = json!({"$ref": format!("#/$defs/{}", number + 1)});
        let combined = json!({"allOf": [next.clone(), next.clone()], "properties": {"a": next.clone(), "b": next}});
        definitions.insert(number.to_string(), combined);
    }
    let simple = simplify_schema(&json!({"$ref": "#/$defs/0", "$defs": definitions}));
    assert!(simple.to_string().len() < 200 * MAX_SCHEMAS, "{} bytes", simple.to_string().len());
    check_simple(&simple).unwrap();
    let mut deep = json!({"type": "string"});
    for level in 0..100 {
        deep = if level % 2 == 0 { json!({"items": deep}) } else { json!({"anyOf": [deep, {"type": "number"}]}) };
    }
    let simple = simplify_schema(&json!({"properties": {"x": deep}}));
    check_simple(&simple).unwrap();
    assert_eq!(simplify_schema(&simple), simple);
    for pointer in ["#/properties/x", "#/properties", "#/x/y/~2", "#", "#a", ""] {
        check_simple(&simplify_schema(
            &json!({"properties": {"x": {"$ref": pointer}, "y": {"allOf": [{"$ref": pointer}]}}}),
        ))
        .unwrap();
    }
}

#[test]
fn parts_that_most_providers_reject_are_recognized() {
    let property = |schema: Value| json!({"type": "object", "properties": {"x": schema}});
    for schema in [
        json!({"type": "object", "anyOf": []}),
        json!({"type": "object", "enum": []}),
        json!({"properties": {}}),
        property(json!({"type": "array"})),
        property(json!({"anyOf": [{"type": ["array", "null"], "prefixItems": []}]})),
    ] {
        assert!(is_widely_refused(&schema), "{schema}");
        assert!(!is_widely_refused(&simplify_schema(&schema)), "{schema}");
    }
    for schema in [
        property(json!({"oneOf": [{"const": 1}], "pattern": "a"})),
        property(json!({"type": "array", "items": {"$ref": "#/$defs/a"}})),
        property(json!({"not": {}, "type": ["string", "null"]})),
    ] {
        assert!(!is_widely_refused(&schema), "{schema}");
    }
}

/// Schemas with every keyword, valid or not.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({})),
        Just(json!(null)),
        prop::sample::select(vec!["string", "null", "integer", "array", "object", "file"])
            .prop_map(|kind| json!({"type": kind})),
        prop::sample::select(vec!["#", "#/properties/a", "#/$defs/a", "#/none", "x"])
            .prop_map(|to| json!({"$ref": to, "description": "r"})),
        prop::sample::select(vec![
            json!(["a", "b"]),
            json!([1, "a", null]),
            json!([]),
            json!(["", null]),
            json!([null])
        ])
        .prop_map(|values| json!({"enum": values, "title": "t"})),
        prop::sample::select(vec![json!("a"), json!(null), json!(1.5), json!({"a": 1})])
            .prop_map(|value| json!({"const": value})),
        Just(json!({"type": ["string", "array", "null"], "minimum": 1, "enum": ["a"]})),
        Just(json!({"nullable": true, "format": "uri", "description": " d "})),
    ];
    leaf.prop_recursive(5, 60, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..3);
        let named = prop::collection::btree_map("[ab$]", inner.clone(), 0..3);
        prop_oneof![
            (named, prop::sample::subsequence(vec!["a", "b", "c"], 0..3))
                .prop_map(|(properties, required)| json!({"properties": properties, "required": required, "$defs": properties})),
            (prop::sample::select(vec!["anyOf", "oneOf", "allOf", "prefixItems", "items"]), list.clone())
                .prop_map(|(key, list)| json!({key: list, "description": "l"})),
            (prop::sample::select(vec!["items", "not", "additionalProperties", "properties"]), inner.clone())
                .prop_map(|(key, schema)| json!({key: schema, "type": ["array", "object"]})),
            (list, inner).prop_map(|(list, schema)| json!({"type": "object", "oneOf": list, "properties": {"a": schema}, "required": ["a"]})),
        ]
    })
}

proptest! {
    #[test]
    fn simple_schemas_stay_and_have_only_accepted_keywords(schema in any_schema()) {
        let simple = simplify_schema(&schema);
        prop_assert_eq!(check_simple(&simple), Ok(()));
        prop_assert!(!is_widely_refused(&simple), "{}", simple);
        prop_assert_eq!(&simplify_schema(&simple), &simple);
        // Required properties are kept.
        let names = |schema: &Value| -> Vec<Value> { schema["required"].as_array().cloned().unwrap_or_default() };
        for name in names(&schema) {
            prop_assert!(names(&simple).contains(&name), "{} in {}", name, simple);
        }
    }
}
