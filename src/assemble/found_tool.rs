//! A tool file that was found, and whether its tool can be used.

use crate::chat::ToolSpec;
use crate::tools::tool_file::ParsedTool;

/// A tool file that was found.
pub(crate) struct FoundTool {
    /// Name of the file as displayed.
    pub(crate) file: String,
    pub(crate) parsed: ParsedTool,
    pub(crate) state: ToolState,
}

/// State of a tool file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolState {
    Active,
    /// Turned off in the settings, or not chosen there.
    Disabled,
    /// Its credential is missing.
    NotConnected,
    /// Of a project, and not trusted in its current version.
    Untrusted,
    /// Cannot be used; its problems say why.
    Invalid,
}

impl FoundTool {
    /// Adds the folder of the file to its name, also in its problems.
    pub(crate) fn show_in_folder(&mut self, folder: &str) {
        self.file = format!("{folder}/{}", self.file);
        for problem in &mut self.parsed.problems {
            problem.file.clone_from(&self.file);
        }
    }

    /// Returns what the model receives; `None` if the file cannot be used.
    pub(crate) fn spec(&self) -> Option<ToolSpec> {
        Some(self.parsed.definition.as_ref()?.head.tool_spec())
    }

    /// Returns the notice for the user if the file cannot be used.
    pub(super) fn error_notice(&self) -> Option<String> {
        let error = self
            .parsed
            .errors()
            .next()
            .filter(|_| matches!(self.state, ToolState::Invalid | ToolState::NotConnected))?;
        let more = self.parsed.errors().count() - 1;
        let hint = if more > 0 { format!(" ({more} more: aye tools check)") } else { String::new() };
        Some(format!("Tool not used: {error}{hint}."))
    }
}
