//! Tests that a sample matches its schema and is the same for the same call.

use super::*;
use proptest::prelude::*;

fn call_digest(text: &str) -> Digest {
    Digest::of_bytes(text.as_bytes())
}

#[test]
fn r30_sample_matches_schema_and_is_deterministic() {
    let weather = json!({
        "type": "object",
        "required": ["city", "celsius", "at", "days"],
        "additionalProperties": false,
        "properties": {
            "city": { "type": "string" },
            "celsius": { "type": "number", "minimum": -40, "maximum": 50 },
            "at": { "type": "string", "format": "date-time" },
            "sky": { "enum": ["clear", "rain"] },
            "days": { "type": "array", "minItems": 2, "maxItems": 3, "items": { "$ref": "#/$defs/day" } },
        },
        "$defs": { "day": { "type": "object", "required": ["wind"], "properties": { "wind": { "type": "integer", "minimum": 0 } } } },
    });
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..50 {
        let call = call_digest(&format!("call {number}"));
        let one = generate_sample(&weather, &call).unwrap();
        assert_eq!(schema::check_value(&weather, &one), Ok(()), "{one}");
        assert_eq!(generate_sample(&weather, &call), Some(one.clone()));
        seen.insert(one.to_string());
    }
    assert!(seen.len() > 10, "other calls have other samples: {}", seen.len());
    // Identical to the byte on every machine and in every run.
    assert_eq!(
        generate_sample(&weather, &call_digest("a")).unwrap().to_string(),
        r#"{"city":"sample city 26","celsius":12.5,"at":"2024-01-25T12:20:00Z","sky":"clear","days":[{"wind":24},{"wind":7}]}"#
    );
}

#[test]
fn every_kind_of_schema_has_a_sample() {
    for schema in [
        json!({}),
        json!(true),
        json!({ "type": "string", "minLength": 300 }),
        json!({ "type": "string", "maxLength": 3 }),
        json!({ "type": "string", "pattern": "^[a-z]+$" }),
        json!({ "type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}$" }),
        json!({ "type": "string", "format": "uuid" }),
        json!({ "type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5 }),
        json!({ "type": "integer", "minimum": -9, "maximum": -9 }),
        json!({ "type": "integer", "multipleOf": 7, "minimum": 8 }),
        json!({ "type": "number", "minimum": 0.1, "maximum": 0.2 }),
        json!({ "type": ["null", "boolean"] }),
        json!({ "type": "null" }),
        json!({ "const": { "a": [] } }),
        json!({ "type": "array", "uniqueItems": true, "minItems": 3, "items": { "type": "integer" } }),
        json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "null" }], "items": false }),
        json!({ "type": "array", "maxItems": 0 }),
        json!({ "required": ["a", "b"] }),
        json!({ "type": "object", "minProperties": 3, "additionalProperties": { "type": "integer" } }),
        json!({ "anyOf": [{ "type": "string", "pattern": "(" }, { "type": "integer" }] }),
        json!({ "oneOf": [{ "type": "number" }, { "type": "string" }] }),
        json!({ "allOf": [{ "properties": { "a": { "type": "integer" } } }, { "required": ["a", "b"] }] }),
        json!({ "type": "object", "properties": { "next": { "$ref": "#" } } }),
        json!({ "type": "integer", "default": 4, "examples": [5] }),
        json!({ "type": "string", "examples": ["as it is"] }),
    ] {
        let made = generate_sample(&schema, &call_digest("x"));
        assert!(made.is_some(), "{schema}");
    }
    let object = json!({ "type": "object", "properties": { "n": { "type": "integer", "default": 4 } } });
    assert_eq!(generate_sample(&object, &call_digest("x")), Some(json!({ "n": 4 })));
}

#[test]
fn unsatisfiable_schema_has_no_sample_and_terminates() {
    for schema in [
        json!(false),
        json!("string"),
        json!({ "$ref": "#" }),
        json!({ "$ref": "https://example.com/schema" }),
        json!({ "type": "string", "pattern": "^(never|written){7}$" }),
        json!({ "type": "string", "pattern": "(?=x)" }),
        json!({ "type": "integer", "minimum": 2, "maximum": 1 }),
        json!({ "type": "string", "minLength": 1_000_000_000 }),
        json!({ "type": "array", "minItems": 1_000_000_000_u64 }),
        json!({ "type": "object", "minProperties": 1_000_000_000_u64 }),
        json!({ "type": "array", "minItems": 4, "uniqueItems": true, "items": { "type": "boolean" } }),
        json!({ "type": "object", "required": ["next"], "properties": { "next": { "$ref": "#" } } }),
        json!({ "type": "array", "minItems": 9, "items": { "type": "array", "minItems": 999, "items": {} } }),
        json!({ "type": "integer", "default": "four" }),
        json!({ "enum": [1], "type": "string" }),
        json!({ "not": {} }),
        json!({ "type": "picture" }),
    ] {
        assert_eq!(generate_sample(&schema, &call_digest("x")), None, "{schema}");
    }
}

/// Random nested schemas, satisfiable or not.
fn schemas() -> impl Strategy<Value = Value> {
    let number = -50_i64..50;
    let leaf = prop_oneof![
        (number.clone(), number.clone()).prop_map(|(a, b)| json!({ "type": "integer", "minimum": a, "maximum": b })),
        (0_u64..30, 0_u64..30).prop_map(|(a, b)| json!({ "type": "string", "minLength": a, "maxLength": b })),
        (1_i64..9, number).prop_map(|(step, a)| json!({ "type": "number", "multipleOf": step, "exclusiveMinimum": a })),
        Just(json!({ "type": "boolean" })),
        Just(json!({ "$ref": "#" })),
        Just(json!({ "type": ["integer", "null"] })),
        Just(json!({ "enum": ["a", 1, null] })),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0_u64..4, any::<bool>())
                .prop_map(|(items, least, unique)| json!({ "type": "array", "items": items, "minItems": least, "uniqueItems": unique })),
            (proptest::collection::vec(inner.clone(), 0..4), any::<bool>()).prop_map(|(forms, closed)| {
                let names = ["a", "b", "c", "d"];
                let fields: Map<String, Value> = names.iter().map(|name| (*name).to_owned()).zip(forms).collect();
                let required: Vec<&String> = fields.keys().take(2).collect();
                json!({ "type": "object", "properties": fields, "required": required, "additionalProperties": !closed })
            }),
            (proptest::collection::vec(inner, 1..3), any::<bool>())
                .prop_map(|(forms, one)| if one { json!({ "oneOf": forms }) } else { json!({ "anyOf": forms }) }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("AYE_TEST_THOROUGH").is_some() { 5_000 } else { 200 }))]
    #[test]
    fn any_sample_matches_its_schema(schema in schemas(), seed in any::<u64>()) {
        let call = Digest::of_bytes(&seed.to_le_bytes());
        let made = generate_sample(&schema, &call);
        prop_assert_eq!(&generate_sample(&schema, &call), &made);
        if let Some(made) = made {
            prop_assert_eq!(schema::check_value(&schema, &made), Ok(()));
        }
    }
}

/// Random satisfiable schemas: no part excludes what another part requires.
fn satisfiable() -> impl Strategy<Value = Value> {
    let number = -50_i64..50;
    let leaf = prop_oneof![
        (number.clone(), 0_i64..30)
            .prop_map(|(a, more)| json!({ "type": "integer", "minimum": a, "maximum": a + more })),
        (0_u64..30, 0_u64..30).prop_map(|(a, more)| json!({ "type": "string", "minLength": a, "maxLength": a + more })),
        (1_i64..9, number).prop_map(|(step, a)| json!({ "type": "number", "multipleOf": step, "exclusiveMinimum": a })),
        Just(json!({ "type": "boolean" })),
        Just(json!({ "type": ["integer", "null"] })),
        Just(json!({ "enum": ["a", 1, null] })),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), 0_u64..4)
                .prop_map(|(items, least)| json!({ "type": "array", "items": items, "minItems": least })),
            (proptest::collection::vec(inner.clone(), 1..4), any::<bool>()).prop_map(|(forms, closed)| {
                let names = ["a", "b", "c"].map(str::to_owned);
                let fields: Map<String, Value> = names.into_iter().zip(forms).collect();
                let required: Vec<&String> = fields.keys().take(2).collect();
                json!({ "type": "object", "properties": fields, "required": required, "additionalProperties": !closed })
            }),
            proptest::collection::vec(inner, 1..3).prop_map(|forms| json!({ "anyOf": forms })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("AYE_TEST_THOROUGH").is_some() { 5_000 } else { 200 }))]
    #[test]
    fn satisfiable_schema_has_a_sample(schema in satisfiable(), seed in any::<u64>()) {
        let made = generate_sample(&schema, &Digest::of_bytes(&seed.to_le_bytes()));
        prop_assert!(made.is_some(), "{schema}");
    }
}
