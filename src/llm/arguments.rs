//! Arguments of one tool call as providers send them: in pieces, repeated, wrapped, or next to an empty object.

use super::tolerant_json::{self, SurrogateJoiner};
use serde_json::Value;

/// Arguments of one call received so far.
#[derive(Debug, Default)]
pub struct Pieces {
    all: String,
    /// Last piece, if every piece so far started with the previous one: it may then be the complete arguments.
    last: Option<String>,
}

impl Pieces {
    /// Appends a piece.
    pub fn push_piece(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let grows = self.all.is_empty() || self.last.as_ref().is_some_and(|last| piece.starts_with(last));
        self.last = grows.then(|| piece.to_owned());
        self.all.push_str(piece);
    }

    /// Returns all pieces, concatenated.
    pub fn as_text(&self) -> &str {
        &self.all
    }

    /// Returns whether the text received is a complete JSON object.
    pub fn is_complete(&self) -> bool {
        self.all.trim_end().ends_with('}') && is_object(&self.all)
    }

    /// Returns the arguments as a JSON object if the text can be read as one, otherwise the text itself, which every
    /// tool rejects. An incomplete object is never completed. No arguments become `{}`.
    pub fn into_arguments(self) -> String {
        let all = SurrogateJoiner::convert_all(&self.all);
        if is_object(&all) {
            return all;
        }
        if matches!(all.trim(), "" | "null") {
            return "{}".to_owned();
        }
        if let Some(one) = find_single_object(&all) {
            return one;
        }
        match self.last {
            Some(last) if is_object(&last) => last,
            _ => {
                // Repairs the text, not a parsed value, so that duplicate keys remain visible.
                let mended = tolerant_json::repair_json(&all);
                if is_object(&mended) { SurrogateJoiner::convert_all(&mended) } else { all }
            }
        }
    }
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<_, _>>(text).is_ok()
}

/// Returns the only object in the text if everything else repeats it, packs it into a string, or is empty.
fn find_single_object(text: &str) -> Option<String> {
    let mut found: Option<(Value, String)> = None;
    let mut empty = None;
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut from = 0;
    while let Some(value) = values.next() {
        let own = text.get(from..values.byte_offset())?.trim();
        from = values.byte_offset();
        let (value, own) = match value.ok()? {
            Value::String(packed) => (serde_json::from_str(&packed).ok()?, packed),
            value => (value, own.to_owned()),
        };
        match &value {
            Value::Object(map) if map.is_empty() => empty = Some(own),
            Value::Object(_) if found.as_ref().is_none_or(|(first, _)| *first == value) => {
                found.get_or_insert((value, own));
            }
            _ => return None,
        }
    }
    found.map(|(_, own)| own).or(empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(pieces: &[&str]) -> String {
        let mut all = Pieces::default();
        pieces.iter().for_each(|piece| all.push_piece(piece));
        all.into_arguments()
    }

    #[test]
    fn r48_arguments_are_normalized_to_one_object() {
        for (pieces, meant) in [
            (&[r#"{"a":"#, "1}"][..], r#"{"a":1}"#),
            (&[], "{}"),
            (&["", " "], "{}"),
            (&["null"], "{}"),
            (&["{}", r#"{"a""#, ":1}"], r#"{"a":1}"#),
            (&[r#"{}{"a":1}"#], r#"{"a":1}"#),
            (&[r#"{"a":1}"#, "{}"], r#"{"a":1}"#),
            (&["{}", "{}"], "{}"),
            (&[r#"{"a":1}{"a": 1}"#], r#"{"a":1}"#),
            (&[r#""{\"a\":1}""#], r#"{"a":1}"#),
            (&[r#"{"a":1}"{\"a\":1}""#], r#"{"a":1}"#),
            (&[r#"{"a"#, r#"{"a":1"#, r#"{"a":1}"#], r#"{"a":1}"#),
            (&[r#"{"a":"#, r#"{"a":1}}"#], r#"{"a":{"a":1}}"#),
            (&["{\"a\":\"1\n2\"}"], r#"{"a":"1\n2"}"#),
            (&[r#"{"a":NaN}"#], r#"{"a":null}"#),
            (&[r#"{"a":"\d"}"#], r#"{"a":"\\d"}"#),
        ] {
            assert_eq!(settle(pieces), meant, "{pieces:?}");
        }
    }

    #[test]
    fn r08_duplicate_keys_are_preserved() {
        for (pieces, text) in [
            (&[r#"{"a":1,"a":2}"#][..], r#"{"a":1,"a":2}"#),
            (&[r#"{"a":1,"a":2,"b":NaN}"#], r#"{"a":1,"a":2,"b":null}"#),
            (&[r#"{"a":1,"a":2}{}"#], r#"{"a":1,"a":2}"#),
            (&[r#"{"a":1,"a":2}{"a":2}"#], r#"{"a":1,"a":2}"#),
            (&[r#""{\"a\":1,\"a\":2}""#], r#"{"a":1,"a":2}"#),
        ] {
            assert_eq!(settle(pieces), text, "{pieces:?}");
        }
    }

    #[test]
    fn r48_arguments_that_are_not_one_object_stay_unchanged() {
        for pieces in [
            &[r#"{"a":1}"#, r#"{"a":2}"#][..],
            &[r#"{"a":"#],
            &[r#"{"a":1}{"a":"#],
            &[r#"{}{"a":"#],
            &[r#"{"a"#, r#"{"a":"#],
            &["[1]"],
            &["[1]", "{}"],
            &["7"],
            &["words"],
            &[r#""words""#],
        ] {
            assert_eq!(settle(pieces), pieces.concat(), "{pieces:?}");
        }
    }
}
