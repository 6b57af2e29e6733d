//! The list of tools: of files with their states, built-in ones, and those of MCP servers.

use super::found_tool::{FoundTool, ToolState};
use crate::chat::deferred_tools::{FIND_TOOL, exceeds_limit};
use crate::chat::message_tokens::estimate_tools;
use crate::chat::{ToolSpec, mcp_names, pluralize};
use crate::text::clean::clean_line;
use crate::text::truncation::truncate_end;
use crate::tools::Toolbox;
use serde_json::{Value, json};

/// Kind and effect of a tool that no file and no server defines.
const BUILT_IN: &str = "built-in";

/// Why the tools for documents are off.
pub(crate) const DOCS_OFF: &str = "docs.enabled is false";

/// Maximum characters of a description in the list.
const MAX_DESCRIPTION_CHARS: usize = 100;

/// A row of the list.
pub(crate) struct ToolRow {
    name: String,
    kind: &'static str,
    file: String,
    effect: &'static str,
    tokens: u64,
    state: &'static str,
    /// True if its description is not sent.
    is_deferred: bool,
    problem: Option<String>,
    /// Beginning of its description, of a tool of an MCP server.
    description: Option<String>,
}

/// Lists tools: those of files, then built-in ones and those of MCP servers in the order of `specs`. With more estimated
/// tokens than the limit of the profile, those of files and servers are deferred.
pub(crate) fn list_tools(files: &[FoundTool], specs: &[ToolSpec], limit: Option<u64>) -> Vec<ToolRow> {
    let active = files.iter().filter(|tool| tool.state == ToolState::Active).filter_map(FoundTool::spec);
    let defers = exceeds_limit(&active.chain(specs.iter().cloned()).collect::<Vec<_>>(), limit);
    let mut rows: Vec<ToolRow> = files.iter().map(file_row).chain(specs.iter().map(spec_row)).collect();
    if defers {
        rows.extend(Toolbox::search_specs().iter().map(spec_row));
    }
    for row in rows.iter_mut().filter(|row| row.kind != BUILT_IN && row.state == ToolState::Active.name()) {
        row.is_deferred = defers;
    }
    let is_off = |spec: &ToolSpec| !specs.iter().any(|sent| sent.name == spec.name);
    rows.extend(Toolbox::doc_specs().iter().filter(|spec| is_off(spec)).map(|spec| ToolRow {
        state: ToolState::Disabled.name(),
        problem: Some(DOCS_OFF.to_owned()),
        ..spec_row(spec)
    }));
    // What is off comes last, such as the search services that are not in use.
    rows.sort_by_key(|row| row.state == ToolState::Disabled.name());
    rows
}

/// Formats the list as lines; the sums come first, where a long list does not hide them.
pub(crate) fn format_rows(rows: &[ToolRow]) -> Vec<String> {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let format_row = |row: &ToolRow| {
        let ToolRow { name, kind, file, effect, tokens, state, is_deferred, problem, description } = row;
        let state = if *is_deferred { "on · deferred" } else { state };
        let line = match problem {
            Some(problem) => format!("{name:width$}  {state} · {file} · {problem}"),
            None if *kind == BUILT_IN => format!("{name:width$}  {state} · {kind} · about {tokens} tokens"),
            None => format!("{name:width$}  {state} · {kind} · {effect} · about {tokens} tokens · {file}"),
        };
        let mut lines = vec![clean_line(&line).into_owned()];
        lines.extend(description.as_ref().map(|description| format!("    {description}")));
        lines
    };
    let describe_sum = |count: String, rows: &[&ToolRow]| {
        let sum: u64 = rows.iter().map(|row| row.tokens).sum();
        format!("{count} · about {sum} tokens together (estimates)")
    };
    let usable = rows.iter().filter(|row| row.state == ToolState::Active.name());
    let (deferred, sent): (Vec<&ToolRow>, Vec<&ToolRow>) = usable.partition(|row| row.is_deferred);
    let count = match rows.len() - deferred.len() {
        all if all == sent.len() => pluralize(all, "tool"),
        all => format!("{} of {} on", sent.len(), pluralize(all, "tool")),
    };
    let mut sums = vec![describe_sum(count, &sent)];
    if !deferred.is_empty() {
        let reason = format!("above the limit tool_tokens; the model searches them with {FIND_TOOL}");
        sums.push(format!("deferred: {}, {reason}", describe_sum(pluralize(deferred.len(), "tool"), &deferred)));
    }
    sums.into_iter().chain(rows.iter().flat_map(format_row)).collect()
}

impl ToolRow {
    /// Returns the row for programs.
    pub(crate) fn to_json(&self) -> Value {
        let Self { name, kind, file, effect, tokens, state, is_deferred, problem, description } = self;
        json!({
            "name": name, "kind": kind, "file": file, "effect": effect, "tokens": tokens, "state": state,
            "deferred": is_deferred, "problem": problem, "description": description,
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
        tokens: tool.spec().as_ref().map_or(0, estimate_tokens),
        state: tool.state.name(),
        is_deferred: false,
        description: None,
        problem: tool.parsed.errors().next().map(|error| format!("line {}: {}", error.line, error.message)),
    }
}

fn spec_row(spec: &ToolSpec) -> ToolRow {
    let (kind, effect, file) = match mcp_names::server_of(&spec.name) {
        Some(server) => ("mcp", "external", mcp_names::service_name(server)),
        None => (BUILT_IN, BUILT_IN, "aye".to_owned()),
    };
    ToolRow {
        name: spec.name.clone(),
        kind,
        file,
        effect,
        tokens: estimate_tokens(spec),
        state: ToolState::Active.name(),
        is_deferred: false,
        problem: None,
        description: (kind != BUILT_IN).then(|| begin_description(&spec.description)),
    }
}

/// Returns the first sentence of a description as one clean line, truncated if it is long.
fn begin_description(description: &str) -> String {
    let line = description.trim().lines().next().unwrap_or_default();
    let is_end = |end: &usize| line[end + 2..].trim_start().starts_with(char::is_uppercase);
    let end = line.match_indices(". ").map(|(end, _)| end).find(is_end);
    let sentence = end.map_or(line, |end| &line[..=end]);
    truncate_end(&clean_line(sentence), MAX_DESCRIPTION_CHARS)
}

/// Estimates the tokens of a tool as they are counted for a request.
fn estimate_tokens(spec: &ToolSpec) -> u64 {
    estimate_tools(std::slice::from_ref(spec))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(specs: &[(&str, &str)]) -> Vec<String> {
        let spec = |(name, description): &(&str, &str)| ToolSpec {
            name: (*name).to_owned(),
            description: (*description).to_owned(),
            ..ToolSpec::default()
        };
        format_rows(&list_tools(&[], &specs.iter().map(spec).collect::<Vec<_>>(), None))
    }

    #[test]
    fn a_tool_of_a_server_is_listed_with_the_beginning_of_its_description() {
        let long = format!("{}. More", "é".repeat(300));
        let lines = list(&[
            ("read_file", "Reads a file. More"),
            ("mcp__a__one", "\n Reads e.g. \u{202E}tides. And more.\nread_file  on · built-in"),
            ("mcp__a__two", &long),
            ("mcp__a__three", "Stops. Then more."),
        ]);
        let position = |name: &str| lines.iter().position(|line| line.starts_with(name)).unwrap();
        assert_eq!(lines[position("mcp__a__one") + 1], "    Reads e.g. <U+202E>tides.");
        assert_eq!(lines[position("mcp__a__two") + 1], format!("    {}…", "é".repeat(100)));
        assert_eq!(lines[position("mcp__a__three") + 1], "    Stops.");
        assert!(lines[position("read_file") + 1].starts_with("mcp__a__one"), "{lines:#?}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("read_file")).count(), 1, "{lines:#?}");
    }
}
