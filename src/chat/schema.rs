//! Schema of a tool's arguments.

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// JSON schema of the arguments of a tool, as compact JSON: it is kept as long as a session, and values take about six times
/// the memory of their text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema(Box<str>);

impl Schema {
    /// Returns the text: compact JSON.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses the text. Takes microseconds for a schema of usual size, so it is meant for a call and not for a frame.
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.0).expect("the text was made of a value")
    }
}

impl From<Value> for Schema {
    fn from(schema: Value) -> Self {
        Self(schema.to_string().into())
    }
}

/// The schema of nothing: `null`.
impl Default for Schema {
    fn default() -> Self {
        Value::Null.into()
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn any_schema() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Neither the text nor what a request contains differs from the value.
        #[test]
        fn a_schema_is_the_value_that_it_was_made_of(value in any_schema()) {
            let schema = Schema::from(value.clone());
            prop_assert_eq!(schema.to_value(), value.clone());
            prop_assert_eq!(serde_json::to_string(&schema).unwrap(), value.to_string());
            prop_assert_eq!(json!({ "parameters": schema }), json!({ "parameters": value }));
        }
    }
}
