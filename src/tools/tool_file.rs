//! Tools that a user defines in a file: definitions, their templates and parameters, and import from other programs.

mod command_fields;
pub mod definition;
mod definition_fields;
pub mod definition_parser;
pub mod exported_tool;
mod http_fields;
pub mod parameters;
pub(super) mod presets;
pub mod template;
pub(super) mod url_template;
mod value_template;

pub use definition::{CommandDefinition, HttpDefinition, QueryArray, ToolDefinition, ToolHead, ToolKind};
pub use definition_parser::{FileProblem, ParsedTool, parse_tool};

use serde_json::{Map, json};
use std::path::Path;
use template::TemplateValues;

/// A commented file to start from, for the name `NAME`.
pub const STARTER_FILE: &str = include_str!("tool_file/starter.toml");

/// Returns the values of templates that come from the project, and the time.
pub(super) fn project_values(project: &Path) -> TemplateValues {
    let name = project.file_name().map(|name| name.to_string_lossy());
    let project = json!({ "folder": project.to_string_lossy(), "name": name });
    TemplateValues::new(Map::from_iter([("project".to_owned(), project)]), jiff::Zoned::now())
}
