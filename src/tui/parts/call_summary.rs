//! Summary of a call from its arguments alone, before its tool has planned it.

use crate::text::width;
use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// Maximum bytes of arguments that are parsed. The identifying argument is near the beginning.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;
/// Maximum cells kept of one value.
const MAX_VALUE_CELLS: usize = 2000;
/// Names of the argument that identifies a call, most specific first.
const IDENTIFYING_NAMES: [&str; 8] = ["path", "command", "url", "pattern", "query", "task", "file", "name"];

/// Arguments of a call as far as they could be parsed. The values are not sanitized.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSummary {
    /// Value of the argument that identifies the call. If there is none, all arguments as text; if they cannot be
    /// parsed, the raw text.
    pub subject: String,
    /// Other arguments by name, in the model's order.
    pub others: Vec<(String, String)>,
}

/// Parses arguments. They may be cut or not be JSON at all: everything before the fault is used.
pub fn summarize_arguments(arguments: &str) -> CallSummary {
    let mut others = Vec::new();
    let mut json = serde_json::Deserializer::from_str(parsed_prefix(arguments));
    // An error only ends the parse: the arguments before it are already collected.
    drop((&mut json).deserialize_map(ArgumentCollector(&mut others)));
    let subject_index =
        IDENTIFYING_NAMES.iter().find_map(|name| others.iter().position(|(argument, _)| argument == name));
    let subject = match (subject_index, others.len()) {
        (Some(index), _) => others.remove(index).1,
        (None, 0) => width::cut_to_width(arguments, MAX_VALUE_CELLS).to_owned(),
        (None, 1) => others.remove(0).1,
        (None, _) => {
            let parts: Vec<String> = others.drain(..).map(|(name, value)| format!("{name} {value}")).collect();
            parts.join(" · ")
        }
    };
    CallSummary { subject, others }
}

/// Returns the beginning of the arguments, which is all that is parsed: at most `MAX_ARGUMENT_BYTES`.
pub fn parsed_prefix(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_ARGUMENT_BYTES)]
}

/// Collects each argument as soon as it is parsed, so that a later fault does not lose it.
struct ArgumentCollector<'a>(&'a mut Vec<(String, String)>);

impl<'de> Visitor<'de> for ArgumentCollector<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("arguments by their names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            let text = match map.next_value::<Value>()? {
                Value::String(text) => text,
                value => first_question(&name, &value).unwrap_or_else(|| value.to_string()),
            };
            self.0.push((name, width::cut_to_width(&text, MAX_VALUE_CELLS).to_owned()));
        }
        Ok(())
    }
}

/// Returns the text of the first question of a call that asks the user.
fn first_question(name: &str, value: &Value) -> Option<String> {
    let question = value.as_array().filter(|_| name == "questions")?.first()?;
    question.get("question")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_summary(arguments: &str, subject: &str, others: &[(&str, &str)]) {
        let others = others.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(summarize_arguments(arguments), CallSummary { subject: subject.to_owned(), others }, "{arguments}");
    }

    #[test]
    fn the_path_identifies_a_call_and_its_content_is_secondary() {
        check_summary(r##"{"path": "a.md", "content": "# A\n"}"##, "a.md", &[("content", "# A\n")]);
        check_summary(
            r#"{"old_text": "hi", "path": "a", "new_text": "ho"}"#,
            "a",
            &[("old_text", "hi"), ("new_text", "ho")],
        );
        check_summary(r#"{"command": "make", "timeout": 5}"#, "make", &[("timeout", "5")]);
    }

    #[test]
    fn arguments_of_an_unknown_tool_are_shown_without_braces() {
        check_summary(r#"{"x": 1}"#, "1", &[]);
        check_summary(r#"{"x": 1, "y": "two", "z": [3]}"#, "x 1 · y two · z [3]", &[]);
    }

    #[test]
    fn the_first_question_identifies_a_call_that_asks() {
        check_summary(r#"{"questions": [{"question": "Which?", "options": []}, {"question": "x"}]}"#, "Which?", &[]);
        check_summary(r#"{"questions": [1]}"#, "[1]", &[]);
    }

    #[test]
    fn cut_or_invalid_json_is_parsed_as_far_as_possible() {
        check_summary(r#"{"path": "a.md", "content": "and no e"#, "a.md", &[]);
        let long = format!(r#"{{"path": "a.md", "content": "{}"}}"#, "é".repeat(MAX_ARGUMENT_BYTES));
        check_summary(&long, "a.md", &[]);
        for text in ["", "no json", "[1]", "{}", "7"] {
            check_summary(text, text, &[]);
        }
        let deep = format!(r#"{{"path": "a", "x": {}"#, "[".repeat(5000));
        check_summary(&deep, "a", &[]);
    }

    #[test]
    fn a_long_value_is_cut_to_its_beginning() {
        let long = format!(r#"{{"path": "a", "content": "{}"}}"#, "b".repeat(9000));
        assert_eq!(summarize_arguments(&long).others[0].1.len(), MAX_VALUE_CELLS);
    }
}
