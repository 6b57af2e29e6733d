//! Checks the keys of a tool that asks a model.

use super::answer_schema::AnswerSchema;
use super::definition::PromptDefinition;
use super::definition_fields::{KeyLines, ToolFields};
use super::file_problems::{Problems, check_path, check_timeout};
use super::template::Template;
use crate::text::clean::clean_text;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Default time limit of each attempt in milliseconds.
const DEFAULT_TIMEOUT_MS: u64 = 60_000;
/// Default maximum tokens of an answer.
const DEFAULT_MAX_TOKENS: u32 = 4_000;
/// Allowed maximum tokens of an answer.
const MAX_TOKENS: RangeInclusive<i64> = 1..=32_000;
/// Maximum bytes of a template, and of a system prompt.
const MAX_TEXT_BYTES: usize = 32 << 10;

/// Builds the prompt from its keys; `None` without a template.
pub(super) fn build_prompt(
    fields: &ToolFields,
    lines: &KeyLines<'_>,
    problems: &mut Problems<'_>,
) -> Option<PromptDefinition> {
    let line = lines.line_of_key("template");
    let text = fields.template.as_deref().unwrap_or_default();
    for (key, text) in [("template", text), ("system", fields.system.as_deref().unwrap_or_default())] {
        if text.len() > MAX_TEXT_BYTES {
            problems.report(lines.line_of_key(key), format!("{key} is longer than {MAX_TEXT_BYTES} bytes"));
        }
    }
    let template = match Template::parse_word(text) {
        _ if text.trim().is_empty() => {
            problems.report(line, "template is missing. Use the text for the model");
            None
        }
        Ok(template) => {
            template.paths().for_each(|path| check_path(path, fields, line, problems));
            Some(template)
        }
        Err(error) => {
            problems.report(line, format!("template: {error}"));
            None
        }
    };
    let max_tokens = match fields.max_tokens {
        None => DEFAULT_MAX_TOKENS,
        Some(tokens) => {
            if !MAX_TOKENS.contains(&tokens) {
                let message = format!("max_tokens is {tokens}. Use 1 to {} tokens", MAX_TOKENS.end());
                problems.report(lines.line_of_key("max_tokens"), message);
            }
            u32::try_from(tokens).unwrap_or(DEFAULT_MAX_TOKENS)
        }
    };
    let schema = fields.answer_schema.as_ref().and_then(|schema| match AnswerSchema::parse(schema) {
        Ok(schema) => Some(schema),
        Err(error) => {
            problems.report(lines.line_of_key("answer_schema"), error);
            None
        }
    });
    let mut name_of = |key: &str, name: &Option<String>| {
        let name = name.as_ref().map(|name| clean_text(name.trim()).into_owned());
        if name.as_ref().is_some_and(String::is_empty) {
            problems.report(lines.line_of_key(key), format!("{key} is empty"));
        }
        name
    };
    let (profile, model) = (name_of("profile", &fields.profile), name_of("model", &fields.model));
    let timeout_ms = check_timeout(fields, lines, problems).unwrap_or(DEFAULT_TIMEOUT_MS);
    Some(PromptDefinition {
        template: template?,
        system: fields.system.clone().unwrap_or_default(),
        profile,
        model,
        profile_line: lines.line_of_key("profile"),
        max_tokens,
        timeout: Duration::from_millis(timeout_ms),
        schema,
    })
}
