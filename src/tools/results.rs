//! What a tool declares of its results, for a dry run in which its call is not done.

use super::{sample, schema};
use crate::chat::Digest;
use serde_json::{Value, json};

/// What comes of a call in life, as its tool declares it. Nothing need be declared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Results {
    /// The form of a result: a JSON schema.
    pub schema: Option<Value>,
    /// Results that such a call may well have, any of which can stand in for it.
    pub examples: Vec<Value>,
}

impl Results {
    /// The form of a result; where none is declared, a text.
    pub fn form(&self) -> Value {
        self.schema.clone().unwrap_or_else(|| json!({ "type": "string" }))
    }

    /// The example that stands in for the call of this digest, among those that have the form that is declared.
    pub fn example(&self, call: &Digest) -> Option<Value> {
        let form = self.form();
        let fits = |example: &&Value| self.schema.is_none() || schema::fits(&form, example).is_ok();
        let fitting: Vec<&Value> = self.examples.iter().filter(fits).collect();
        let at = sample::Seed::of(call).below(fitting.len());
        fitting.get(at).map(|example| (*example).clone())
    }

    /// A value of the form that is declared, always the same for the call of this digest. Nothing where no form is
    /// declared, or none that a value is found for.
    pub fn sample(&self, call: &Digest) -> Option<Value> {
        sample::sample(self.schema.as_ref()?, call)
    }
}

/// A result as the model is told it: a text as it is, anything else as JSON.
pub fn text(result: &Value) -> String {
    match result {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r30_a_tools_own_example_stands_in_where_it_has_the_form_it_declares() {
        let form =
            json!({ "type": "object", "required": ["id"], "properties": { "id": { "type": "integer" } } });
        let examples = vec![json!({ "id": "x" }), json!({ "id": 1 }), json!({}), json!({ "id": 2 })];
        let results = Results { schema: Some(form), examples };
        let mut found = std::collections::BTreeSet::new();
        for call in 0..40 {
            let call = Digest::of(&[call]);
            let example = results.example(&call).unwrap();
            assert_eq!(results.example(&call), Some(example.clone()), "the same call has the same");
            found.insert(example["id"].as_i64().unwrap());
        }
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [1, 2]);
        let call = Digest::of(b"x");
        assert_eq!(Results::default().example(&call), None);
        assert_eq!(Results::default().sample(&call), None);
        assert_eq!(text(&json!("as\nit is")), "as\nit is");
        assert_eq!(text(&json!({ "b": 1, "a": null })), r#"{"b":1,"a":null}"#);
    }
}
