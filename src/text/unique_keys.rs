//! JSON with unique keys: a duplicate key makes a document ambiguous.

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Error, Map, Value};
use std::fmt;

/// Maximum nesting depth of arrays and objects.
pub const MAX_DEPTH: usize = 32;

/// Parses one value; also returns an error if text follows it. A duplicate key, or nesting deeper than [`MAX_DEPTH`],
/// is an error of the kind [`Error::is_data`].
pub fn parse_unique(text: &str) -> Result<(Value, Option<Error>), Error> {
    parse_unique_to_depth(text, MAX_DEPTH)
}

/// Parses as [`parse_unique`] does, with another maximum nesting depth, which is at most 127.
pub fn parse_unique_to_depth(text: &str, max_depth: usize) -> Result<(Value, Option<Error>), Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = UniqueKeys { depth: 0, max_depth }.deserialize(&mut json)?;
    Ok((value, json.end().err()))
}

/// Parses the answer of a model that is one JSON value, optionally in a code fence.
///
/// # Errors
/// What is wrong with it.
pub fn parse_json_answer(answer: &str) -> Result<Value, String> {
    let answer = answer.trim();
    if answer.is_empty() {
        return Err("its answer is empty".to_owned());
    }
    let fenced = answer.strip_prefix("```").and_then(|inner| inner.strip_suffix("```"));
    let inner = fenced.and_then(|inner| inner.split_once('\n')).map_or(answer, |(_, inner)| inner);
    match parse_unique(inner) {
        Ok((value, None)) => Ok(value),
        Ok((_, Some(_))) => Err("there is text after the JSON of its answer".to_owned()),
        Err(error) if error.is_data() => Err(format!("its answer is not valid JSON: {error}")),
        Err(_) => Err("its answer is not JSON".to_owned()),
    }
}

/// Builds a value as serde_json does, but rejects duplicate keys and nesting deeper than the maximum.
#[derive(Clone, Copy)]
struct UniqueKeys {
    depth: usize,
    max_depth: usize,
}

impl UniqueKeys {
    /// Returns the builder for values inside this one, or an error if they are nested too deep.
    fn nested<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth == self.max_depth {
            return Err(E::custom(format!("nested more than {} deep", self.max_depth)));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for UniqueKeys {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let nested = self.nested()?;
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(nested)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let nested = self.nested()?;
        let mut values = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(nested)?;
            if values.insert(key.clone(), value).is_some() {
                return Err(serde::de::Error::custom(format!("the key “{key}” is given twice")));
            }
        }
        Ok(Value::Object(values))
    }
}
