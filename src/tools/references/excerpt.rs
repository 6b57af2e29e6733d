//! Excerpts of long texts and data, to be shown in a prompt. Each says how much is left out, and has the type of what it is
//! an excerpt of, so that a tool can plan with it.

use crate::text::byte_size::format_bytes;
use crate::text::truncation::truncate_at_line;
use serde_json::{Map, Value, json};

/// Maximum bytes of an excerpt of a text.
const MAX_TEXT_BYTES: usize = 1_500;
/// Maximum lines of an excerpt of a text.
const MAX_LINES: usize = 20;
/// Maximum items of an excerpt of a list or an object.
const MAX_ITEMS: usize = 10;

/// Returns the first lines of a text.
pub(super) fn cut_text(text: &str) -> String {
    let lines: usize = text.split_inclusive('\n').take(MAX_LINES).map(str::len).sum();
    let shown = truncate_at_line(&text[..lines], MAX_TEXT_BYTES);
    if shown.len() == text.len() {
        return text.to_owned();
    }
    let left_out = &text[shown.len()..];
    let line_break = if shown.ends_with('\n') { "" } else { "\n" };
    let (lines, bytes) = (left_out.lines().count(), format_bytes(left_out.len() as u64));
    let word = if lines == 1 { "line" } else { "lines" };
    format!("{shown}{line_break}[… {lines} more {word}, {bytes}]\n")
}

/// Returns a value with the first items of its lists and objects, and the beginnings of its texts.
pub(super) fn cut_value(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(cut_text(text)),
        Value::Array(items) => {
            let mut shown: Vec<Value> = items.iter().take(MAX_ITEMS).map(cut_value).collect();
            if items.len() > MAX_ITEMS {
                shown.push(mark_omission(&items[0], items.len() - MAX_ITEMS));
            }
            Value::Array(shown)
        }
        Value::Object(fields) => {
            let cut = |(name, field): (&String, &Value)| (name.clone(), cut_value(field));
            let mut shown: Map<String, Value> = fields.iter().take(MAX_ITEMS).map(cut).collect();
            if fields.len() > MAX_ITEMS {
                shown.insert("…".to_owned(), json!(format!("{} more", fields.len() - MAX_ITEMS)));
            }
            Value::Object(shown)
        }
        other => other.clone(),
    }
}

/// Returns an item of the same type as the others that says how many are left out.
fn mark_omission(sample: &Value, count: usize) -> Value {
    let text = format!("… {count} more");
    match sample {
        Value::Array(_) => json!([text]),
        Value::Object(_) => json!({ "…": text }),
        _ => json!(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn excerpts_say_what_is_left_out() {
        assert_eq!(cut_text("one\ntwo"), "one\ntwo");
        let lines = "line\n".repeat(30);
        assert_eq!(cut_text(&lines), format!("{}[… 10 more lines, 50 bytes]\n", "line\n".repeat(20)));
        let long = "é".repeat(1000);
        assert_eq!(cut_text(&long), format!("{}\n[… 1 more line, 500 bytes]\n", "é".repeat(750)));
        let rows: Vec<Value> = (0..12).map(|number| json!([number])).collect();
        assert_eq!(cut_value(&json!(rows))[10], json!(["… 2 more"]));
        let fields: Map<String, Value> = (0..12).map(|number| (number.to_string(), json!(number))).collect();
        assert_eq!(cut_value(&json!(fields))["…"], json!("2 more"));
    }

    proptest! {
        #[test]
        fn an_excerpt_is_short_and_begins_like_the_text(text in "[aé\n]{0,3000}") {
            let excerpt = cut_text(&text);
            let shown = excerpt.split("[… ").next().unwrap();
            prop_assert!(text.starts_with(shown) || text.starts_with(shown.trim_end_matches('\n')));
            prop_assert!(excerpt.len() <= MAX_TEXT_BYTES + 80);
        }
    }
}
