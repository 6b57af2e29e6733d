//! Declares the results of a tool, so that a dry run can simulate its calls.

use super::{sample, schema};
use crate::chat::Digest;
use serde_json::{Value, json};

/// Declared results of a live call. Every field is optional.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SimulatedResults {
    /// JSON schema of a result.
    pub schema: Option<Value>,
    /// Plausible results; any of them can be the simulated result.
    pub examples: Vec<Value>,
}

impl SimulatedResults {
    /// Returns the schema; that of a string if none is declared.
    pub fn schema_or_string(&self) -> Value {
        self.schema.clone().unwrap_or_else(|| json!({ "type": "string" }))
    }

    /// Returns the example for the call with this digest, among those that match the schema.
    pub fn pick_example(&self, call: &Digest) -> Option<Value> {
        let form = self.schema_or_string();
        let fits = |example: &&Value| self.schema.is_none() || schema::check_value(&form, example).is_ok();
        let fitting: Vec<&Value> = self.examples.iter().filter(fits).collect();
        let at = sample::Seed::from_digest(call).next_below(fitting.len());
        fitting.get(at).map(|example| (*example).clone())
    }

    /// Returns a value that matches the schema, always the same for the same call. `None` if no schema is declared, or
    /// if no value was found for it.
    pub fn generate_sample(&self, call: &Digest) -> Option<Value> {
        sample::generate_sample(self.schema.as_ref()?, call)
    }
}

/// Formats a result for the model: a string as it is, anything else as JSON.
pub fn format_result(result: &Value) -> String {
    match result {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r30_uses_declared_example_that_matches_schema() {
        let form = json!({ "type": "object", "required": ["id"], "properties": { "id": { "type": "integer" } } });
        let examples = vec![json!({ "id": "x" }), json!({ "id": 1 }), json!({}), json!({ "id": 2 })];
        let results = SimulatedResults { schema: Some(form), examples };
        let mut found = std::collections::BTreeSet::new();
        for call in 0..40 {
            let call = Digest::of_bytes(&[call]);
            let example = results.pick_example(&call).unwrap();
            assert_eq!(results.pick_example(&call), Some(example.clone()), "the same call gets the same example");
            found.insert(example["id"].as_i64().unwrap());
        }
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [1, 2]);
        let call = Digest::of_bytes(b"x");
        assert_eq!(SimulatedResults::default().pick_example(&call), None);
        assert_eq!(SimulatedResults::default().generate_sample(&call), None);
        assert_eq!(format_result(&json!("as\nit is")), "as\nit is");
        assert_eq!(format_result(&json!({ "b": 1, "a": null })), r#"{"b":1,"a":null}"#);
    }
}
