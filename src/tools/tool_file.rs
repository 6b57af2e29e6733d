//! Tools that a user defines in a file: definitions, their templates and parameters, and import from other programs.

pub mod answer_schema;
mod command_fields;
pub mod definition;
mod definition_fields;
pub mod definition_parser;
pub mod exported_tool;
mod file_problems;
mod http_fields;
pub mod parameters;
pub(super) mod presets;
mod prompt_fields;
pub mod result_list;
pub mod template;
mod turn_end_fields;
pub(super) mod url_template;
mod value_template;
pub mod web_search;

pub use definition::{
    CommandDefinition, Destination, EndDefinition, HttpDefinition, PromptDefinition, QueryArray, ToolDefinition,
    ToolHead, ToolKind, TransferDefinition,
};
pub use definition_fields::FileKind;
pub use definition_parser::{ParsedTool, parse_tool};
pub use file_problems::FileProblem;

use serde_json::{Map, json};
use std::path::Path;
use template::TemplateValues;

/// Returns a commented file to start from, for the name `NAME`.
pub fn starter_file(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Http => include_str!("tool_file/starters/http_api.toml"),
        FileKind::Command => include_str!("tool_file/starters/command.toml"),
        FileKind::EndConversation => include_str!("tool_file/starters/end_conversation.toml"),
        FileKind::Transfer => include_str!("tool_file/starters/transfer.toml"),
        FileKind::Prompt => include_str!("tool_file/starters/prompt.toml"),
    }
}

/// Returns the values of templates that come from the project, and the time.
pub(super) fn project_values(project: &Path) -> TemplateValues {
    let name = project.file_name().map(|name| name.to_string_lossy());
    let project = json!({ "folder": project.to_string_lossy(), "name": name });
    TemplateValues::new(Map::from_iter([("project".to_owned(), project)]), jiff::Zoned::now())
}
