//! Parses and checks the text of a tool file.

use super::command_fields::build_command;
use super::definition::{ToolDefinition, ToolHead, ToolKind};
use super::definition_fields::{FileKind, KeyLines, ToolFields, line_at};
use super::file_problems::{FileProblem, Problems, is_context_path};
use super::http_fields::build_http;
use super::parameters::Parameter;
use super::presets::Preset;
use super::prompt_fields::build_prompt;
use super::template::Template;
use super::turn_end_fields::{build_end, build_transfer};
use crate::text::clean::clean_text;
use std::collections::BTreeSet;

/// Maximum length of a tool's name in a file, in characters.
const MAX_NAME_CHARS: usize = 255;
/// Maximum length of a tool's name for the model, in characters.
const MAX_FUNCTION_CHARS: usize = 64;
/// Maximum length of a description in bytes.
const MAX_DESCRIPTION_BYTES: usize = 4 << 10;

/// A tool file after parsing.
#[derive(Debug, Clone)]
pub struct ParsedTool {
    /// Name for the model, as far as the file has one.
    pub function_name: String,
    /// `None` if there is a problem that is more than a warning.
    pub definition: Option<ToolDefinition>,
    pub problems: Vec<FileProblem>,
}

impl ParsedTool {
    /// Iterates over the problems because of which the tool cannot be used.
    pub fn errors(&self) -> impl Iterator<Item = &FileProblem> {
        self.problems.iter().filter(|problem| !problem.is_warning)
    }
}

/// Parses a tool file. `file` is its name as displayed.
pub fn parse_tool(file: &str, text: &str) -> ParsedTool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut problems = Problems::new(file);
    let mut function_name = String::new();
    let built = match KeyLines::parse(text) {
        Ok(lines) => match toml::from_str::<ToolFields>(text) {
            Ok(fields) => {
                function_name = to_function_name(&fields.name);
                build_definition(&fields, &lines, &mut problems)
            }
            Err(error) => {
                let message = error.message().lines().next().unwrap_or("invalid value").to_owned();
                problems.report(line_at(text, error.span().map_or(0, |span| span.start)), message);
                None
            }
        },
        Err((line, message)) => {
            problems.report(line, message);
            None
        }
    };
    let problems = problems.into_sorted();
    let is_usable = problems.iter().all(|problem| problem.is_warning);
    ParsedTool { function_name, definition: built.filter(|_| is_usable), problems }
}

fn build_definition(fields: &ToolFields, lines: &KeyLines<'_>, problems: &mut Problems<'_>) -> Option<ToolDefinition> {
    let file_kind = match FileKind::parse_name(&fields.kind) {
        Ok(kind) => kind,
        Err(expected) => {
            let message = match fields.kind.as_str() {
                "" => format!("type is missing. Use {expected}"),
                "calculator" => "type \"calculator\" needs no file: the tool calculator is built in".to_owned(),
                kind => format!("type {kind:?} is not supported. Use {expected}"),
            };
            problems.report(lines.line_of_key("type"), message);
            return None;
        }
    };
    let known_keys = file_kind.keys();
    for key in lines.keys().filter(|key| !known_keys.contains(key)) {
        let distance = |known: &&str| strsim::osa_distance(key, known);
        let nearest = known_keys.iter().copied().min_by_key(distance).filter(|known| distance(known) <= 2);
        let hint = nearest.map(|nearest| format!(". Did you mean {nearest}?")).unwrap_or_default();
        problems.report(lines.line_of_key(key), format!("{key} is not a key of a tool of type {}{hint}", fields.kind));
    }
    let ignored_keys: Vec<&str> = lines.keys().filter(|key| file_kind.ignored_keys().contains(key)).collect();
    if let [first, ..] = ignored_keys.as_slice() {
        let message = format!("{} has no effect: aye does not speak", ignored_keys.join(", "));
        problems.warn(lines.line_of_key(first), message);
    }
    if fields.category.as_ref().is_some_and(|category| *category != fields.kind) {
        problems.report(lines.line_of_key("category"), "category must match type");
    }
    if fields.schema_version.is_some_and(|version| version != 1) {
        problems.report(lines.line_of_key("schema_version"), "schema_version must be 1");
    }
    let mut head = build_head(fields, lines, problems);
    let kind = match file_kind {
        FileKind::Http => ToolKind::Http(Box::new(build_http(fields, lines, problems)?)),
        FileKind::Command => ToolKind::Command(build_command(fields, lines, problems)?),
        FileKind::Prompt => ToolKind::Prompt(Box::new(build_prompt(fields, lines, problems)?)),
        FileKind::EndConversation => ToolKind::EndConversation(build_end(fields, lines, problems, &mut head)),
        FileKind::Transfer => ToolKind::Transfer(build_transfer(fields, lines, problems, &mut head)?),
    };
    Some(ToolDefinition { head, kind })
}

/// Makes the name for the model: lower case, with `_` for every other character, none doubled or at an end.
pub fn to_function_name(name: &str) -> String {
    let lower: String = name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '_' })
        .collect();
    lower.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

fn build_head(fields: &ToolFields, lines: &KeyLines<'_>, problems: &mut Problems<'_>) -> ToolHead {
    let name_line = lines.line_of_key("name");
    let function_name = to_function_name(&fields.name);
    if fields.name.trim().is_empty() {
        problems.report(name_line, "name is missing");
    } else if fields.name.chars().count() > MAX_NAME_CHARS {
        problems.report(name_line, format!("name is longer than {MAX_NAME_CHARS} characters"));
    } else if !function_name.starts_with(|c: char| c.is_ascii_lowercase()) {
        problems.report(name_line, format!("name becomes {function_name:?}, which does not begin with a letter"));
    } else if function_name.len() > MAX_FUNCTION_CHARS {
        problems.report(name_line, format!("name is longer than {MAX_FUNCTION_CHARS} characters for the model"));
    }
    if fields.description.as_ref().is_some_and(|description| description.len() > MAX_DESCRIPTION_BYTES) {
        let message = format!("description is longer than {MAX_DESCRIPTION_BYTES} bytes");
        problems.report(lines.line_of_key("description"), message);
    }
    let mut names = BTreeSet::new();
    let mut check_name = |key: &str, index: usize, name: &str, problems: &mut Problems<'_>| {
        let line = lines.line_of_item(key, index);
        let is_name = (1..=64).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        if !is_name {
            problems.report(line, format!("the name {name:?} may have letters, digits, _, - and . only"));
        } else if !names.insert(name.to_owned()) {
            problems.report(line, format!("two parameters have the name {name}"));
        }
    };
    for (index, parameter) in fields.parameters.iter().enumerate() {
        check_name("parameters", index, &parameter.name, problems);
        if parameter.file_references.is_some() && fields.kind == FileKind::Command.name() {
            let line = lines.line_of_item("parameters", index);
            problems.report(line, "file_references is not allowed for commands: a command reads its files itself");
        }
    }
    let mut presets = Vec::new();
    for (index, preset) in fields.preset_parameters.iter().enumerate() {
        check_name("preset_parameters", index, &preset.name, problems);
        let line = lines.line_of_item("preset_parameters", index);
        match Template::parse(&preset.value_template) {
            Ok(template) => {
                for path in template.paths().filter(|path| !is_context_path(path)) {
                    problems.warn(line, format!("{path} has no value in a preset"));
                }
                let (name, value_type) = (preset.name.clone(), preset.value_type);
                presets.push(Preset { name, value_type, template, is_required: preset.required });
            }
            Err(error) => problems.report(line, format!("value_template of {}: {error}", preset.name)),
        }
    }
    let description = fields.description.as_deref().map(clean_text);
    let description = description.as_deref().map(str::trim).filter(|description| !description.is_empty());
    ToolHead {
        function_name,
        description: description.map_or_else(|| format!("Execute {} tool", fields.name), str::to_owned),
        parameters: fields
            .parameters
            .iter()
            .map(|parameter| Parameter {
                name: parameter.name.clone(),
                value_type: parameter.value_type,
                description: clean_text(parameter.description.trim()).into_owned(),
                is_required: parameter.required,
                file_references: parameter.file_references,
            })
            .collect(),
        presets,
        example: fields.example.as_ref().map(|example| match example {
            serde_json::Value::String(text) => text.clone(),
            value => serde_json::to_string_pretty(value).unwrap_or_default(),
        }),
    }
}

#[cfg(test)]
mod tests;
