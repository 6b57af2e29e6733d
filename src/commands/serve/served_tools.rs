//! The tools that other programs may call.

use crate::tools::{ToolSettings, Toolbox};
use serde_json::{Value, json};

/// A tool that other programs may call. Every one only reads or asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServedTool {
    ReadFile,
    ListFiles,
    SearchText,
    AskQuestion,
}

impl ServedTool {
    const ALL: [Self; 4] = [Self::ReadFile, Self::ListFiles, Self::SearchText, Self::AskQuestion];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ReadFile => "read_file",
            Self::ListFiles => "list_files",
            Self::SearchText => "search_text",
            Self::AskQuestion => "ask_question",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}

/// Lists the tools for the client.
pub(super) fn list_served_tools() -> Value {
    let specs = Toolbox::with_builtin_tools(ToolSettings::default()).tool_specs();
    let tools = ServedTool::ALL.into_iter().filter_map(|tool| {
        let spec = specs.iter().find(|spec| spec.name == tool.name())?;
        Some(json!({
            "name": spec.name,
            "description": spec.description,
            "inputSchema": spec.parameters,
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
        }))
    });
    json!({ "tools": tools.collect::<Vec<_>>() })
}

/// Returns the error for the name of another tool.
pub(super) fn explain_unknown_tool() -> String {
    format!("Unknown tool. The tools are {}", ServedTool::ALL.map(ServedTool::name).join(", "))
}
