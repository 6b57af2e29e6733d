//! Arguments of one tool call as providers send them: in pieces, repeated, wrapped, or next to an empty object.

use super::tolerant_json::{self, SurrogateJoiner, is_json_object};
use serde_json::Value;

/// Arguments of one call received so far.
#[derive(Debug, Default)]
pub struct Pieces {
    text: String,
    /// Last piece, if every piece so far started with the previous one: it may then be the complete arguments.
    last: Option<String>,
}

impl Pieces {
    /// Appends a piece.
    pub fn push_piece(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let is_cumulative = self.text.is_empty() || self.last.as_ref().is_some_and(|last| piece.starts_with(last));
        self.last = is_cumulative.then(|| piece.to_owned());
        self.text.push_str(piece);
    }

    /// Returns all pieces, concatenated.
    pub fn as_text(&self) -> &str {
        &self.text
    }

    /// Returns whether the text received is a complete JSON object.
    pub fn is_complete(&self) -> bool {
        self.text.trim_end().ends_with('}') && is_json_object(&self.text)
    }

    /// Returns the arguments as a JSON object if the text can be read as one, otherwise the text itself, which every
    /// tool rejects. An incomplete object is never completed. No arguments become `{}`.
    pub fn into_arguments(self) -> String {
        let text = SurrogateJoiner::convert_all(&self.text);
        if is_json_object(&text) {
            return text;
        }
        if matches!(text.trim(), "" | "null") {
            return "{}".to_owned();
        }
        if let Some(object) = find_single_object(&text) {
            return object;
        }
        match self.last {
            Some(last) if is_json_object(&last) => last,
            _ => {
                // Repairs the text, not a parsed value, so that duplicate keys remain visible.
                let repaired = tolerant_json::repair_json(&text);
                if is_json_object(&repaired) { SurrogateJoiner::convert_all(&repaired) } else { text }
            }
        }
    }
}

/// Returns the only object in the text if everything else repeats it, packs it into a string, or is empty.
fn find_single_object(text: &str) -> Option<String> {
    let mut first_object: Option<(Value, String)> = None;
    let mut empty_object = None;
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut start = 0;
    while let Some(value) = values.next() {
        let source = text.get(start..values.byte_offset())?.trim();
        start = values.byte_offset();
        let (value, source) = match value.ok()? {
            Value::String(packed) => (serde_json::from_str(&packed).ok()?, packed),
            value => (value, source.to_owned()),
        };
        match &value {
            Value::Object(map) if map.is_empty() => empty_object = Some(source),
            Value::Object(_) if first_object.as_ref().is_none_or(|(first, _)| *first == value) => {
                first_object.get_or_insert((value, source));
            }
            _ => return None,
        }
    }
    first_object.map(|(_, source)| source).or(empty_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join_pieces(pieces: &[&str]) -> String {
        let mut joined = Pieces::default();
        pieces.iter().for_each(|piece| joined.push_piece(piece));
        joined.into_arguments()
    }

    #[test]
    fn r48_arguments_are_normalized_to_one_object() {
        for (pieces, expected) in [
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
            assert_eq!(join_pieces(pieces), expected, "{pieces:?}");
        }
    }

    #[test]
    fn r08_duplicate_keys_are_preserved() {
        for (pieces, expected) in [
            (&[r#"{"a":1,"a":2}"#][..], r#"{"a":1,"a":2}"#),
            (&[r#"{"a":1,"a":2,"b":NaN}"#], r#"{"a":1,"a":2,"b":null}"#),
            (&[r#"{"a":1,"a":2}{}"#], r#"{"a":1,"a":2}"#),
            (&[r#"{"a":1,"a":2}{"a":2}"#], r#"{"a":1,"a":2}"#),
            (&[r#""{\"a\":1,\"a\":2}""#], r#"{"a":1,"a":2}"#),
        ] {
            assert_eq!(join_pieces(pieces), expected, "{pieces:?}");
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
            assert_eq!(join_pieces(pieces), pieces.concat(), "{pieces:?}");
        }
    }
}
