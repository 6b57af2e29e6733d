//! The list of tools: of files with their states, and built-in ones.

use super::found_tool::{FoundTool, ToolState};
use crate::chat::ToolSpec;
use crate::text::clean::clean_line;
use crate::text::tokens::estimate_text;
use serde_json::{Value, json};

/// A row of the list.
pub(crate) struct ToolRow {
    name: String,
    kind: &'static str,
    file: String,
    effect: &'static str,
    tokens: u64,
    state: &'static str,
    problem: Option<String>,
}

/// Lists tools, those of files first.
pub(crate) fn list_tools(files: &[FoundTool], builtin: &[ToolSpec]) -> Vec<ToolRow> {
    files.iter().map(file_row).chain(builtin.iter().map(builtin_row)).collect()
}

/// Formats the list as lines.
pub(crate) fn format_rows(rows: &[ToolRow]) -> Vec<String> {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let format_row = |row: &ToolRow| {
        let ToolRow { name, kind, file, effect, tokens, state, problem } = row;
        let line = match problem {
            Some(problem) => format!("{name:width$}  {state} · {file} · {problem}"),
            None if effect == kind => format!("{name:width$}  {state} · {kind} · about {tokens} tokens · {file}"),
            None => format!("{name:width$}  {state} · {kind} · {effect} · about {tokens} tokens · {file}"),
        };
        clean_line(&line).into_owned()
    };
    rows.iter().map(format_row).collect()
}

impl ToolRow {
    /// Returns the row for programs.
    pub(crate) fn to_json(&self) -> Value {
        let Self { name, kind, file, effect, tokens, state, problem } = self;
        json!({
            "name": name, "kind": kind, "file": file, "effect": effect, "tokens": tokens, "state": state,
            "problem": problem,
        })
    }
}

impl ToolState {
    /// Returns the name in lists.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Active => "on",
            Self::Disabled => "off",
            Self::NotConnected => "not connected",
            Self::Untrusted => "not trusted",
            Self::Invalid => "invalid",
        }
    }
}

/// Returns the tool as a request to the model contains it.
pub(crate) fn spec_json(spec: &ToolSpec) -> Value {
    json!({ "name": spec.name, "description": spec.description, "parameters": spec.parameters })
}

fn file_row(tool: &FoundTool) -> ToolRow {
    let definition = tool.parsed.definition.as_ref();
    let name = if tool.parsed.function_name.is_empty() { "?" } else { &tool.parsed.function_name };
    ToolRow {
        name: name.to_owned(),
        kind: definition.map_or("unknown", |definition| definition.kind_name()),
        file: tool.file.clone(),
        effect: definition.map_or("unknown", |definition| definition.effect_name()),
        tokens: definition.map_or(0, |definition| estimate_tokens(&definition.head.tool_spec())),
        state: tool.state.name(),
        problem: tool.parsed.errors().next().map(|error| format!("line {}: {}", error.line, error.message)),
    }
}

fn builtin_row(spec: &ToolSpec) -> ToolRow {
    let (kind, file, tokens) = ("built-in", "aye".to_owned(), estimate_tokens(spec));
    ToolRow { name: spec.name.clone(), kind, file, effect: kind, tokens, state: "on", problem: None }
}

fn estimate_tokens(spec: &ToolSpec) -> u64 {
    estimate_text(&spec_json(spec).to_string())
}
