//! Reads a set of tools to compare: from a file, a tool set, or a commit of aye.

use crate::chat::message_tokens::estimate_tools;
use crate::chat::schema_diff::ToolText;
use crate::chat::token_budgets::{Budgets, TokenCounts};
use crate::chat::{ToolSpec, pluralize};
use crate::cli::UsageError;
use crate::config::settings_file::read_bounded_text;
use crate::text::tokens::estimate_text;
use crate::tools::Toolbox;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// The file of a commit that has the schemas of all built-in tools and the system prompts.
const SCHEMAS: &str = "docs/tool-schemas.jsonl";
/// Maximum size of a file in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// Begins the names of system prompts, so that no tool has the same name.
const PROMPT_PREFIX: &str = "system prompt ";
/// The form of a file, for errors.
const EXPECTED_FORM: &str =
    "Expected the output of aye tokens --json, or a JSON list of tools with name, description and parameters";

/// A tool or system prompt, with its tokens.
pub(super) struct CountedTool {
    pub(super) text: ToolText,
    pub(super) counts: TokenCounts,
    /// True if the tokens were not measured.
    pub(super) is_estimated: bool,
}

/// A set of tools and where it is from.
pub(super) struct SchemaSet {
    /// Where it is from: `tool set core`.
    pub(super) source: String,
    pub(super) tools: Vec<CountedTool>,
}

impl SchemaSet {
    /// Returns the set in one line.
    pub(super) fn describe(&self) -> String {
        let prompts = self.tools.iter().filter(|tool| tool.text.name.starts_with(PROMPT_PREFIX)).count();
        let tools = pluralize(self.tools.len() - prompts, "tool");
        match prompts {
            0 => format!("{} · {tools}", self.source),
            prompts => format!("{} · {tools} · {}", self.source, pluralize(prompts, "system prompt")),
        }
    }
}

/// Reads the set that a name means: a file if one has this name, else a tool set, else a commit of the repository in
/// `folder`.
pub(super) fn load(name: &str, folder: &Path) -> Result<SchemaSet, UsageError> {
    let failed = |reason: String| UsageError(format!("Cannot compare {name:?}: {reason}."));
    let path = folder.join(name);
    if path.is_file() {
        let text = read_bounded_text(&path, MAX_FILE_BYTES).map_err(failed)?.unwrap_or_default();
        let tools = parse_tools(&text).map_err(failed)?;
        return Ok(SchemaSet { source: format!("file {name}"), tools });
    }
    let budgets = Budgets::built_in();
    if let Some(profile) = budgets.profiles.get(name) {
        let groups =
            Toolbox::spec_groups().into_iter().filter(|(group, _)| profile.groups.iter().any(|name| name == group));
        let tools = groups.flat_map(|(_, specs)| specs).map(|spec| count_tool(spec, &budgets)).collect();
        return Ok(SchemaSet { source: format!("tool set {name}"), tools });
    }
    let Some(commit) =
        run_git(folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])
    else {
        let profiles: Vec<&str> = budgets.profiles.keys().map(String::as_str).collect();
        return Err(failed(format!(
            "it is neither a file nor a tool set nor a commit of the repository in this folder. Use a file of aye tokens --json, one of {}, or a commit of aye",
            profiles.join(", ")
        )));
    };
    let commit = commit.trim().to_owned();
    let Some(text) = run_git(folder, &["cat-file", "blob", &format!("{commit}:{SCHEMAS}")]) else {
        return Err(failed(format!(
            "this commit has no file {SCHEMAS}. Only commits of aye that contain it can be compared; of others, compare files of aye tokens --json"
        )));
    };
    let tools = parse_tools(&text).map_err(failed)?;
    Ok(SchemaSet { source: format!("commit {}", &commit[..commit.len().min(12)]), tools })
}

/// Runs a git command that only reads objects, and returns its output; `None` if it fails.
fn run_git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(folder)
        .args(["--no-pager", "-c", "core.fsmonitor=false"])
        .args(arguments.iter().map(OsStr::new));
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1").stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

fn count_tool(spec: ToolSpec, budgets: &Budgets) -> CountedTool {
    let measured = budgets.measured_tool(&spec);
    let estimate = estimate_tools(std::slice::from_ref(&spec));
    let counts = measured.unwrap_or(TokenCounts { cl100k: estimate, o200k: estimate });
    let ToolSpec { name, description, parameters, .. } = spec;
    CountedTool {
        text: ToolText { name, description, parameters: parameters.to_value() },
        counts,
        is_estimated: measured.is_none(),
    }
}

/// Parses a file: one JSON object per line, or one JSON list. Parts that are not sent, and rows that are neither a tool nor a
/// system prompt, are skipped. Tokens that the file states are used; otherwise they are estimated.
fn parse_tools(text: &str) -> Result<Vec<CountedTool>, String> {
    let rows = match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(rows)) => rows,
        Ok(mut whole) if whole["tools"].is_array() => match whole["tools"].take() {
            Value::Array(rows) => rows,
            _ => Vec::new(),
        },
        Ok(row) => vec![row],
        Err(_) => {
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            let parse_line = |(index, line): (usize, &str)| {
                serde_json::from_str(line).map_err(|error| format!("line {}: {error}. {EXPECTED_FORM}", index + 1))
            };
            lines.map(parse_line).collect::<Result<Vec<Value>, String>>()?
        }
    };
    let mut tools = Vec::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| row["sent"] != false) {
        let is_known_part = matches!(row["part"].as_str(), None | Some("tool" | "system_prompt"));
        if is_known_part {
            let tool = parse_tool(row).ok_or_else(|| format!("object {} is no tool. {EXPECTED_FORM}", index + 1))?;
            tools.push(tool);
        }
    }
    match tools.is_empty() {
        true => Err(format!("it contains no tool. {EXPECTED_FORM}")),
        false => Ok(tools),
    }
}

/// Parses a row of `aye tokens --json`, or a tool in the form of the chat completions, responses or messages API or of MCP.
fn parse_tool(row: &Value) -> Option<CountedTool> {
    let tool = if row["function"].is_object() { &row["function"] } else { row };
    let name = tool["name"].as_str()?.to_owned();
    let description = tool["description"].as_str().or(tool["text"].as_str()).unwrap_or_default().to_owned();
    let parameters = ["parameters", "input_schema", "inputSchema"].into_iter().find_map(|key| tool.get(key)).cloned();
    let is_prompt = row["part"] == "system_prompt";
    let spec = ToolSpec { name, description, parameters: parameters.unwrap_or_default().into(), ..ToolSpec::default() };
    let counts = row["cl100k"].as_u64().zip(row["o200k"].as_u64()).map(|(cl100k, o200k)| TokenCounts { cl100k, o200k });
    let estimate =
        if is_prompt { estimate_text(&spec.description) } else { estimate_tools(std::slice::from_ref(&spec)) };
    let ToolSpec { name, description, parameters, .. } = spec;
    let name = if is_prompt { format!("{PROMPT_PREFIX}{name}") } else { name };
    Some(CountedTool {
        text: ToolText { name, description, parameters: parameters.to_value() },
        counts: counts.unwrap_or(TokenCounts { cl100k: estimate, o200k: estimate }),
        is_estimated: counts.is_none(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_read_in_the_forms_of_all_apis() {
        let schema = r#"{"type":"object","properties":{}}"#;
        for text in [
            format!(r#"[{{"type":"function","function":{{"name":"a","description":"D","parameters":{schema}}}}}]"#),
            format!(r#"{{"tools":[{{"name":"a","description":"D","inputSchema":{schema}}}]}}"#),
            format!("{{\"name\":\"a\",\"description\":\"D\",\"input_schema\":{schema}}}\n\n"),
            format!(
                "{{\"part\":\"tool\",\"name\":\"a\",\"description\":\"D\",\"parameters\":{schema},\"sent\":true}}\n{{\"part\":\"total\"}}\n"
            ),
        ] {
            let tools = parse_tools(&text).unwrap();
            assert_eq!(tools.len(), 1, "{text}");
            assert_eq!((tools[0].text.name.as_str(), tools[0].text.description.as_str()), ("a", "D"));
            assert!(tools[0].text.parameters["properties"].is_object() && tools[0].is_estimated);
        }
        let counted = parse_tools(r#"{"part":"system_prompt","name":"s","text":"T","cl100k":3,"o200k":4}"#).unwrap();
        assert_eq!((counted[0].counts, counted[0].is_estimated), (TokenCounts { cl100k: 3, o200k: 4 }, false));
        let problem = |text: &str| parse_tools(text).err().unwrap();
        assert!(problem("{}\n{").starts_with("line 2: "), "{}", problem("{}\n{"));
        assert!(problem("[1]").starts_with("object 1 is no tool"), "{}", problem("[1]"));
        assert!(problem("[]").starts_with("it contains no tool"));
    }
}
