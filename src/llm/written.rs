//! The body of a request. Its parameters are values, which can still be looked at and left out; the talk, which may
//! be megabytes, is written once, message by message, and never stands in memory as a tree.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A body that only has to be sent. Cheap to clone but for its tools.
#[derive(Debug, Clone)]
pub struct Written {
    /// Everything but the talk.
    pub parameters: Map<String, Value>,
    /// What the talk is called, such as `messages`.
    name: &'static str,
    talk: Arc<RawValue>,
}

impl Written {
    /// These parameters with a talk under this name, of the items that `messages` hands out.
    pub fn new<T: Serialize>(
        parameters: Map<String, Value>,
        name: &'static str,
        items: impl Iterator<Item = T> + Clone,
    ) -> Self {
        let talk = to_raw_value(&List(items)).expect("what is made of text can be written");
        Self { parameters, name, talk: talk.into() }
    }
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.parameters.len() + 1))?;
        for (name, value) in &self.parameters {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry(self.name, &*self.talk)?;
        map.end()
    }
}

/// What an iterator hands out, as a list.
struct List<I>(I);

impl<T: Serialize, I: Iterator<Item = T> + Clone> Serialize for List<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for item in self.0.clone() {
            list.serialize_element(&item)?;
        }
        list.end()
    }
}
