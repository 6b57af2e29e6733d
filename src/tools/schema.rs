//! Checks a value against a JSON schema: the subset with which tools declare their results.

use grep_regex::RegexMatcher;
use grep_searcher::{SearcherBuilder, sinks::Bytes};
use serde_json::{Map, Value};

/// Subschemas visited for one value, because a schema may refer to itself.
const MAX_STEPS: usize = 20_000;
/// Nesting depth of subschemas.
const MAX_DEPTH: usize = 64;

/// Checks the value. The error is one line with what does not match and what is expected.
pub fn check_value(schema: &Value, value: &Value) -> Result<(), String> {
    Check { root: schema, steps: MAX_STEPS }.check_schema(schema, value, "it", MAX_DEPTH)
}

/// Resolves a `$ref`. Only references within the schema are supported.
pub(super) fn resolve_ref<'a>(root: &'a Value, form: &'a Value) -> Option<&'a Value> {
    match form.get("$ref") {
        Some(Value::String(to)) => root.pointer(to.strip_prefix('#')?),
        Some(_) => None,
        None => Some(form),
    }
}

/// State of one check.
struct Check<'a> {
    root: &'a Value,
    steps: usize,
}

impl Check<'_> {
    fn check_schema(&mut self, form: &Value, value: &Value, at: &str, depth: usize) -> Result<(), String> {
        self.steps = self.steps.checked_sub(1).ok_or("the schema is too large to check")?;
        let Some(below) = depth.checked_sub(1) else {
            return Err("the schema refers to itself".to_owned());
        };
        let rules = match form {
            Value::Bool(true) => return Ok(()),
            Value::Object(rules) => rules,
            _ => return Err(format!("{at} is not allowed")),
        };
        if rules.contains_key("$ref") {
            let to = resolve_ref(self.root, form).ok_or("the schema has an unresolved $ref")?.clone();
            self.check_schema(&to, value, at, below)?;
        }
        if let Some(expected) = rules.get("const").filter(|expected| !is_equal(expected, value)) {
            return Err(format!("{at} is not {expected}"));
        }
        if let Some(Value::Array(known)) = rules.get("enum")
            && !known.iter().any(|known| is_equal(known, value))
        {
            return Err(format!("{at} is none of {}", Value::Array(known.clone())));
        }
        check_type(rules, value, at)?;
        self.check_choices(rules, value, at, below)?;
        match value {
            Value::String(text) => check_text(rules, text, at),
            Value::Number(_) => check_number(rules, value.as_f64().unwrap_or_default(), at),
            Value::Array(items) => self.check_list(rules, items, at, below),
            Value::Object(fields) => self.check_object(rules, fields, at, below),
            Value::Null | Value::Bool(_) => Ok(()),
        }
    }

    fn check_choices(
        &mut self,
        rules: &Map<String, Value>,
        value: &Value,
        at: &str,
        depth: usize,
    ) -> Result<(), String> {
        let list = |name: &str| rules.get(name).and_then(Value::as_array).cloned();
        for form in list("allOf").unwrap_or_default() {
            self.check_schema(&form, value, at, depth)?;
        }
        for (name, one) in [("anyOf", false), ("oneOf", true)] {
            let Some(forms) = list(name) else { continue };
            let fitting = forms.iter().filter(|form| self.check_schema(form, value, at, depth).is_ok()).count();
            if fitting == 0 || one && fitting > 1 {
                return Err(format!("{at} matches {fitting} of the {} allowed schemas", forms.len()));
            }
        }
        match rules.get("not") {
            Some(form) if self.check_schema(form, value, at, depth).is_ok() => {
                Err(format!("{at} matches a forbidden schema"))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn check_list(
        &mut self,
        rules: &Map<String, Value>,
        items: &[Value],
        at: &str,
        depth: usize,
    ) -> Result<(), String> {
        check_count(rules, ("minItems", "maxItems"), items.len(), at, "entries")?;
        if rules.get("uniqueItems") == Some(&Value::Bool(true)) {
            let twice = |at: usize| items[..at].iter().any(|before| is_equal(before, &items[at]));
            if (0..items.len().min(1000)).any(twice) {
                return Err(format!("{at} has an entry twice"));
            }
        }
        let first = rules.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            if let Some(form) = first.get(index).or_else(|| rules.get("items")) {
                self.check_schema(form, item, &format!("{at}[{index}]"), depth)?;
            }
        }
        Ok(())
    }

    fn check_object(
        &mut self,
        rules: &Map<String, Value>,
        fields: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Result<(), String> {
        check_count(rules, ("minProperties", "maxProperties"), fields.len(), at, "fields")?;
        let required = rules.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return Err(format!("{at} lacks “{name}”"));
            }
        }
        let known = rules.get("properties").and_then(Value::as_object);
        for (name, value) in fields {
            let form = known.and_then(|known| known.get(name)).or_else(|| rules.get("additionalProperties"));
            match form {
                Some(Value::Bool(false)) => return Err(format!("{at} has “{name}”, which is not expected")),
                Some(form) => self.check_schema(form, value, &format!("“{name}”"), depth)?,
                None => {}
            }
        }
        Ok(())
    }
}

/// Returns whether two values are equal; `1` equals `1.0`.
fn is_equal(one: &Value, other: &Value) -> bool {
    one == other || one.is_number() && other.is_number() && one.as_f64() == other.as_f64()
}

fn check_type(rules: &Map<String, Value>, value: &Value, at: &str) -> Result<(), String> {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|it| it.fract() == 0.0),
        _ => false,
    };
    let nullable = rules.get("nullable") == Some(&Value::Bool(true)) && value.is_null();
    let (fits, expected) = match rules.get("type") {
        None => (true, String::new()),
        Some(Value::String(name)) => (is(name), name.clone()),
        Some(Value::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            (names.iter().any(|name| is(name)), names.join(" or "))
        }
        Some(_) => (false, "unknown".to_owned()),
    };
    if fits || nullable { Ok(()) } else { Err(format!("{at} is not of the type {expected}")) }
}

fn check_text(rules: &Map<String, Value>, text: &str, at: &str) -> Result<(), String> {
    check_count(rules, ("minLength", "maxLength"), text.chars().count(), at, "characters")?;
    match rules.get("pattern").and_then(Value::as_str) {
        Some(pattern) if !pattern_matches(pattern, text) => Err(format!("{at} does not match {pattern}")),
        Some(_) | None => Ok(()),
    }
}

/// Returns whether a pattern matches a text of one line. An invalid pattern matches nothing.
fn pattern_matches(pattern: &str, text: &str) -> bool {
    let Ok(matcher) = RegexMatcher::new(pattern) else { return false };
    let mut found = false;
    // The searcher reads lines, and empty input has none.
    let line = format!("{text}\n");
    let sink = Bytes(|_, _| {
        found = true;
        Ok(false)
    });
    let searched = SearcherBuilder::new().line_number(true).build().search_slice(matcher, line.as_bytes(), sink);
    searched.is_ok() && found
}

fn check_number(rules: &Map<String, Value>, number: f64, at: &str) -> Result<(), String> {
    let bound = |name: &str| rules.get(name).and_then(Value::as_f64);
    // Tolerates the rounding error of the division.
    let whole = |times: f64| (times - times.round()).abs() < 1e-9;
    let low = bound("minimum").is_some_and(|least| number < least)
        || bound("exclusiveMinimum").is_some_and(|least| number <= least);
    let high = bound("maximum").is_some_and(|most| number > most)
        || bound("exclusiveMaximum").is_some_and(|most| number >= most);
    let odd = bound("multipleOf").is_some_and(|step| step > 0.0 && !whole(number / step));
    match (low, high, odd) {
        (false, false, false) => Ok(()),
        (true, _, _) => Err(format!("{at} is too small")),
        (_, true, _) => Err(format!("{at} is too large")),
        (_, _, true) => Err(format!("{at} is not an allowed multiple")),
    }
}

fn check_count(
    rules: &Map<String, Value>,
    (least, most): (&str, &str),
    count: usize,
    at: &str,
    what: &str,
) -> Result<(), String> {
    let bound =
        |name: &str| rules.get(name).and_then(Value::as_u64).map(|it| usize::try_from(it).unwrap_or(usize::MAX));
    match (bound(least), bound(most)) {
        (Some(least), _) if count < least => Err(format!("{at} has {count} {what}; at least {least} are expected")),
        (_, Some(most)) if count > most => Err(format!("{at} has {count} {what}; at most {most} are expected")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check_examples(schema: Value, good: &[Value], bad: &[(Value, &str)]) {
        for value in good {
            assert_eq!(check_value(&schema, value), Ok(()), "{value} of {schema}");
        }
        for (value, part) in bad {
            let why = check_value(&schema, value).expect_err(&format!("{value} of {schema}"));
            assert!(why.contains(part), "{value}: {why}");
        }
    }

    #[test]
    fn error_names_mismatch_and_expectation() {
        check_examples(
            json!({ "type": "object", "required": ["exit"], "additionalProperties": false,
                "properties": { "exit": { "type": "integer", "minimum": 0, "maximum": 255 }, "output": { "type": "string" } } }),
            &[json!({ "exit": 0 }), json!({ "exit": 2.0, "output": "" })],
            &[
                (json!("exit 0"), "it is not of the type object"),
                (json!({}), "it lacks “exit”"),
                (json!({ "exit": "0" }), "“exit” is not of the type integer"),
                (json!({ "exit": 1.5 }), "“exit” is not of the type integer"),
                (json!({ "exit": -1 }), "“exit” is too small"),
                (json!({ "exit": 256 }), "“exit” is too large"),
                (json!({ "exit": 0, "more": 1 }), "“more”, which is not expected"),
            ],
        );
        check_examples(
            json!({ "type": "array", "minItems": 1, "maxItems": 2, "uniqueItems": true, "items": { "enum": ["a", "b", 1] } }),
            &[json!(["a"]), json!([1.0, "b"])],
            &[
                (json!([]), "at least 1 are expected"),
                (json!(["a", "b", 1]), "at most 2 are expected"),
                (json!(["a", "a"]), "twice"),
                (json!(["c"]), "it[0] is none of"),
            ],
        );
        check_examples(
            json!({ "type": ["string", "null"], "minLength": 2, "maxLength": 3, "pattern": "^[a-zß]+$" }),
            &[json!("ab"), json!("ßßß"), json!(null)],
            &[
                (json!("a"), "at least 2"),
                (json!("abcd"), "at most 3"),
                (json!("A1"), "does not match"),
                (json!(1), "string or null"),
            ],
        );
        check_examples(
            json!({ "anyOf": [{ "const": 1 }, { "type": "string" }], "not": { "const": "x" } }),
            &[json!(1), json!("y")],
            &[(json!(2), "matches 0 of the 2"), (json!("x"), "forbidden")],
        );
        check_examples(
            json!({ "oneOf": [{ "type": "number" }, { "type": "integer" }] }),
            &[json!(1.5)],
            &[(json!(1), "matches 2 of the 2")],
        );
        check_examples(
            json!({ "type": "number", "multipleOf": 0.1, "exclusiveMinimum": 0 }),
            &[json!(0.3)],
            &[(json!(0.35), "multiple"), (json!(0), "small")],
        );
        check_examples(
            json!({ "prefixItems": [{ "type": "string" }], "items": false }),
            &[json!(["a"])],
            &[(json!(["a", 1]), "not allowed")],
        );
    }

    #[test]
    fn broken_or_recursive_schema_matches_nothing() {
        let tree = json!({ "$defs": { "tree": { "type": "object", "properties": { "below": { "type": "array", "items": { "$ref": "#/$defs/tree" } } } } }, "$ref": "#/$defs/tree" });
        check_examples(
            tree,
            &[json!({ "below": [{}, { "below": [] }] })],
            &[(json!({ "below": [1] }), "“below”[0] is not of the type object")],
        );
        for schema in [
            json!({ "$ref": "#" }),
            json!({ "$ref": "https://example.com/x" }),
            json!({ "$ref": "#/nowhere" }),
            json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }, { "$ref": "#" }] }),
            json!({ "type": "text" }),
            json!({ "type": 5 }),
            json!("string"),
            json!({ "pattern": "(" }),
            json!(false),
        ] {
            assert!(check_value(&schema, &json!("x")).is_err(), "{schema}");
        }
        assert_eq!(check_value(&json!(true), &json!("x")), Ok(()));
        assert_eq!(check_value(&json!({}), &json!([{}])), Ok(()));
    }
}
