//! Generates a value that matches a JSON schema, always the same for the same call.

use super::schema::{self, resolve_ref};
use crate::chat::Digest;
use serde_json::{Map, Value, json};

/// Values generated for one sample.
const VALUES: usize = 2_000;
/// Nesting depth of a sample.
const DEPTH: usize = 24;
/// From this depth on only required fields are generated.
const SPARSE: usize = 6;
/// Longest list or text that is generated because a schema requires it.
const MAX_LENGTH: u64 = 5_000;
/// Texts tried for a `pattern`.
const PATTERN_CANDIDATES: [&str; 20] = [
    "",
    "a",
    "A",
    "abc",
    "Abc",
    "ABC",
    "ABC-123",
    "abc_1",
    "a1",
    "0",
    "1",
    "42",
    "123456",
    "1.0.0",
    "v1.0.0",
    "2024-01-15",
    "#a1b2c3",
    "a1b2c3d4",
    "a@example.com",
    "https://example.com/a",
];

/// Generates a value that matches the schema; `None` if none was found.
pub fn generate_sample(schema: &Value, call: &Digest) -> Option<Value> {
    let mut making = Generator { root: schema, seed: Seed::from_digest(call), left: VALUES };
    let value = making.generate(schema, "sample", DEPTH)?;
    // Generation covers only part of JSON schema, so the result is checked.
    schema::check_value(schema, &value).is_ok().then_some(value)
}

/// Pseudo-random numbers that depend only on a digest.
pub struct Seed(u64);

impl Seed {
    pub fn from_digest(call: &Digest) -> Self {
        Self(u64::from_str_radix(call.as_str().get(..16).unwrap_or("0"), 16).unwrap_or_default())
    }

    /// Returns the next number below `most`; 0 if `most` is 0.
    pub fn next_below(&mut self, most: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let number = usize::try_from((mixed ^ (mixed >> 31)) >> 1).unwrap_or(usize::MAX);
        if most == 0 { 0 } else { number % most }
    }
}

struct Generator<'a> {
    root: &'a Value,
    seed: Seed,
    left: usize,
}

impl Generator<'_> {
    fn generate(&mut self, form: &Value, name: &str, depth: usize) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        let below = depth.checked_sub(1)?;
        let rules = match form {
            Value::Bool(true) => return Some(json!(format!("sample {name}"))),
            Value::Object(rules) => rules,
            _ => return None,
        };
        if rules.contains_key("$ref") {
            return self.generate(&resolve_ref(self.root, form)?.clone(), name, below);
        }
        if let Some(only) = rules.get("const").or_else(|| rules.get("default")) {
            return Some(only.clone());
        }
        for known in ["examples", "enum"] {
            if let Some(Value::Array(known)) = rules.get(known)
                && !known.is_empty()
            {
                return Some(known[self.seed.next_below(known.len())].clone());
            }
        }
        if rules.contains_key("allOf") {
            let whole = self.merge_all_of(rules)?;
            return self.generate(&whole, name, below);
        }
        for choice in ["anyOf", "oneOf"] {
            if let Some(Value::Array(forms)) = rules.get(choice)
                && !forms.is_empty()
            {
                let first = self.seed.next_below(forms.len());
                let mut rest = rules.clone();
                rest.remove(choice);
                let round = (0..forms.len()).map(|at| &forms[(first + at) % forms.len()]);
                return round.into_iter().find_map(|form| {
                    let whole = merge_schemas(rest.clone(), resolve_ref(self.root, form)?)?;
                    let value = self.generate(&Value::Object(whole), name, below)?;
                    (choice == "anyOf"
                        || schema::check_value(&with_definitions(self.root, choice_schema(choice, forms)), &value)
                            .is_ok())
                    .then_some(value)
                });
            }
        }
        match schema_type(rules) {
            "null" => Some(Value::Null),
            "boolean" => Some(json!(self.seed.next_below(2) == 1)),
            "integer" => self.generate_number(rules, true),
            "number" => self.generate_number(rules, false),
            "array" => self.generate_list(rules, name, below),
            "object" => self.generate_object(rules, below),
            "string" => self.generate_text(rules, name),
            _ => None,
        }
    }

    /// Merges the schemas of `allOf` into one.
    fn merge_all_of(&self, rules: &Map<String, Value>) -> Option<Value> {
        let mut whole = rules.clone();
        let Some(Value::Array(forms)) = whole.remove("allOf") else { return None };
        for form in &forms {
            whole = merge_schemas(whole, resolve_ref(self.root, form)?)?;
        }
        Some(Value::Object(whole))
    }

    fn generate_number(&mut self, rules: &Map<String, Value>, whole: bool) -> Option<Value> {
        let bound = |name: &str| rules.get(name).and_then(Value::as_f64);
        let usual = if whole { 1.0 } else { 0.5 };
        let step = bound("multipleOf").filter(|step| *step > 0.0).unwrap_or(usual);
        let step = if whole && step.fract() != 0.0 { 1.0 } else { step };
        let least = bound("minimum").or_else(|| bound("exclusiveMinimum"));
        let most = bound("maximum").or_else(|| bound("exclusiveMaximum"));
        let (least, most) = match (least, most) {
            (Some(least), Some(most)) => (least, most),
            (Some(least), None) => (least, least + 100.0 * step),
            (None, Some(most)) => (most - 100.0 * step, most),
            (None, None) => (step, 100.0 * step),
        };
        let (mut from, mut to) = ((least / step).ceil(), (most / step).floor());
        if bound("exclusiveMinimum").is_some_and(|bound| from * step <= bound) {
            from += 1.0;
        }
        if bound("exclusiveMaximum").is_some_and(|bound| to * step >= bound) {
            to -= 1.0;
        }
        if from > to {
            // No multiple lies between the bounds; if none is required, the midpoint is used.
            let middle = f64::midpoint(least, most);
            return (!whole && !rules.contains_key("multipleOf")).then(|| json!(middle));
        }
        let count = (to - from).min(1_000.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 1000")]
        let steps = self.seed.next_below(count as usize + 1);
        let number = (from + f64::from(u32::try_from(steps).unwrap_or_default())) * step;
        #[expect(clippy::cast_possible_truncation, reason = "the final check rejects a value that does not fit")]
        Some(if whole { json!(number as i64) } else { json!(number) })
    }

    fn generate_list(&mut self, rules: &Map<String, Value>, name: &str, depth: usize) -> Option<Value> {
        let count = |name: &str| rules.get(name).and_then(Value::as_u64);
        let first = rules.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
        let least = count("minItems").unwrap_or(0);
        let usual = if DEPTH - depth > SPARSE { least } else { least.max(1 + self.seed.next_below(2) as u64) };
        let most = count("maxItems").unwrap_or(u64::MAX);
        let wanted = usual.max(first.len() as u64).min(most);
        if wanted > MAX_LENGTH {
            return None;
        }
        let unique = rules.get("uniqueItems") == Some(&Value::Bool(true));
        let any = Value::Bool(true);
        let mut items: Vec<Value> = Vec::new();
        for index in 0..usize::try_from(wanted).ok()? {
            let form = first.get(index).or_else(|| rules.get("items")).unwrap_or(&any);
            if *form == Value::Bool(false) {
                break;
            }
            let mut item = self.generate(form, name, depth);
            for _ in 0..20 {
                if unique && item.as_ref().is_some_and(|item| items.contains(item)) {
                    item = self.generate(form, name, depth);
                }
            }
            match item {
                Some(item) if unique && items.contains(&item) && items.len() as u64 >= least => break,
                Some(item) => items.push(item),
                None if items.len() as u64 >= least => break,
                None => return None,
            }
        }
        Some(Value::Array(items))
    }

    fn generate_object(&mut self, rules: &Map<String, Value>, depth: usize) -> Option<Value> {
        let required: Vec<&str> =
            rules.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let mut fields = Map::new();
        let known = rules.get("properties").and_then(Value::as_object);
        for (name, form) in known.into_iter().flatten() {
            let must = required.contains(&name.as_str());
            if !must && DEPTH - depth > SPARSE {
                continue;
            }
            match self.generate(form, name, depth) {
                Some(value) => drop(fields.insert(name.clone(), value)),
                None if must => return None,
                None => {}
            }
        }
        for name in required {
            if !fields.contains_key(name) {
                let any = Value::Bool(true);
                let form = rules.get("additionalProperties").filter(|form| **form != Value::Bool(false));
                fields.insert(name.to_owned(), self.generate(form.unwrap_or(&any), name, depth)?);
            }
        }
        let least = rules.get("minProperties").and_then(Value::as_u64).unwrap_or(0).min(MAX_LENGTH);
        let any = Value::Bool(true);
        while (fields.len() as u64) < least {
            let form = rules.get("additionalProperties").unwrap_or(&any);
            let name = format!("sample_{}", fields.len() + 1);
            let value = self.generate(form, &name, depth)?;
            fields.insert(name, value);
        }
        Some(Value::Object(fields))
    }

    fn generate_text(&mut self, rules: &Map<String, Value>, name: &str) -> Option<Value> {
        let number = 1 + self.seed.next_below(99);
        if rules.contains_key("pattern") {
            let alone = json!({ "pattern": rules.get("pattern"), "minLength": rules.get("minLength").unwrap_or(&json!(0)),
                "maxLength": rules.get("maxLength").unwrap_or(&json!(MAX_LENGTH)) });
            let tried = PATTERN_CANDIDATES.iter().map(|text| json!(text));
            return tried.into_iter().find(|text| schema::check_value(&alone, text).is_ok());
        }
        let day = 1 + number % 28;
        let text = match rules.get("format").and_then(Value::as_str).unwrap_or_default() {
            "date" => format!("2024-01-{day:02}"),
            "time" => format!("12:{:02}:00Z", number % 60),
            "date-time" => format!("2024-01-{day:02}T12:{:02}:00Z", number % 60),
            "duration" => format!("PT{number}S"),
            "email" | "idn-email" => format!("sample{number}@example.com"),
            "hostname" | "idn-hostname" => format!("host{number}.example.com"),
            "ipv4" => format!("192.0.2.{number}"),
            "ipv6" => format!("2001:db8::{number:x}"),
            "uri" | "url" | "iri" => format!("https://example.com/sample/{number}"),
            "uri-reference" | "iri-reference" => format!("/sample/{number}"),
            "uuid" => format!("00000000-0000-4000-8000-{number:012}"),
            _ if name == "sample" => format!("sample {number}"),
            _ => format!("sample {name} {number}"),
        };
        let bound = |name: &str| rules.get(name).and_then(Value::as_u64);
        let (least, most) = (bound("minLength").unwrap_or(0), bound("maxLength").unwrap_or(MAX_LENGTH));
        if least > MAX_LENGTH || least > most {
            return None;
        }
        let (least, most) = (usize::try_from(least).ok()?, usize::try_from(most).ok()?);
        let long = text.chars().count().max(least).min(most);
        Some(json!(text.chars().chain(std::iter::repeat('.')).take(long).collect::<String>()))
    }
}

/// Returns the type of a schema, or the type that its keywords apply to. Of several types it is the first that is not
/// null.
fn schema_type(rules: &Map<String, Value>) -> &str {
    let said = match rules.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => {
            let mut names = names.iter().filter_map(Value::as_str);
            let first = names.clone().find(|name| *name != "null");
            first.or_else(|| names.next())
        }
        Some(_) => Some(""),
        None => None,
    };
    let has = |names: &[&str]| names.iter().any(|name| rules.contains_key(*name));
    said.unwrap_or_else(|| {
        if has(&["properties", "required", "additionalProperties", "minProperties"]) {
            "object"
        } else if has(&["items", "prefixItems", "minItems"]) {
            "array"
        } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
            "number"
        } else {
            "string"
        }
    })
}

/// Merges two schemas: properties and required names are combined, anything else comes from the second.
fn merge_schemas(mut whole: Map<String, Value>, form: &Value) -> Option<Map<String, Value>> {
    for (name, value) in form.as_object()? {
        match (whole.get_mut(name), value) {
            (Some(Value::Object(fields)), Value::Object(more)) if name == "properties" => {
                fields.extend(more.clone());
            }
            (Some(Value::Array(names)), Value::Array(more)) if name == "required" || name == "allOf" => {
                names.extend(more.iter().cloned());
            }
            _ => drop(whole.insert(name.clone(), value.clone())),
        }
    }
    Some(whole)
}

fn choice_schema(choice: &str, forms: &[Value]) -> Value {
    json!({ choice: forms })
}

/// Copies the root's definitions into a subschema.
fn with_definitions(root: &Value, mut form: Value) -> Value {
    for name in ["$defs", "definitions"] {
        if let Some(definitions) = root.get(name) {
            form[name] = definitions.clone();
        }
    }
    form
}

#[cfg(test)]
mod tests;
