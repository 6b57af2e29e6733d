//! Placeholders in the texts of a script: `{{edit.first_line}}` is the first line of a call's result, `{{ask.note}}` the note and
//! `{{ask.answer}}` the answer of a question.

use super::call_result;
use crate::text::truncation::truncate_end;

/// Most characters that a placeholder becomes.
const MAX_CHARS: usize = 160;

/// What a placeholder takes of a result.
const FIELDS: [&str; 3] = ["first_line", "note", "answer"];

/// Checks the placeholders of a text. The error is one sentence.
pub(super) fn check(text: &str, calls: &[&str]) -> Result<(), String> {
    for (placeholder, _) in placeholders(text) {
        let is_known =
            placeholder.split_once('.').is_some_and(|(call, field)| calls.contains(&call) && FIELDS.contains(&field));
        if !is_known {
            let expected = "write the id of a call before this step, a dot, and first_line, note or answer";
            return Err(format!("the placeholder {{{{{placeholder}}}}} is not known: {expected}"));
        }
    }
    Ok(())
}

/// Replaces the placeholders. `find_result` returns the result of a call as the model received it.
pub(super) fn fill(text: &str, find_result: &dyn Fn(&str) -> Option<String>) -> String {
    let mut filled = String::new();
    let mut end = 0;
    for (placeholder, start) in placeholders(text) {
        filled.push_str(&text[end..start]);
        end = start + placeholder.len() + 4;
        let value = placeholder.split_once('.').and_then(|(call, field)| {
            let result = find_result(call)?;
            match field {
                "first_line" => result.lines().next().map(str::to_owned),
                "note" => call_result::find_note(&result),
                "answer" => call_result::find_answer(&result),
                _ => None,
            }
        });
        filled.push_str(&truncate_end(value.unwrap_or_default().trim(), MAX_CHARS));
    }
    filled.push_str(&text[end..]);
    filled
}

/// Returns each placeholder without its braces, and where it begins.
fn placeholders(text: &str) -> impl Iterator<Item = (&str, usize)> {
    text.match_indices("{{").filter_map(|(start, _)| {
        let inner = &text[start + 2..];
        Some((inner.split_once("}}")?.0, start))
    })
}
