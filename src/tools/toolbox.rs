//! The tools offered to the model, by name.

use super::{Error, Tool, arguments};
use super::{ask_question, bash_exec, edit_file, list_files, read_file, search_text, sub_agent, write_file};
use crate::chat::{Intent, ToolCall, ToolSpec, Walls};
use crate::project::Reader;
use std::sync::Arc;

/// Settings of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Default timeout of a command, in seconds.
    pub seconds: u64,
    /// Maximum timeout of a command, in seconds.
    pub seconds_at_most: u64,
    /// Sandbox of commands that do not request the network.
    pub walls: Walls,
    /// True if commands may request the network.
    pub may_ask: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seconds: 30, seconds_at_most: 120, walls: Walls::Unsaid, may_ask: true }
    }
}

#[derive(Clone)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
}

impl Toolbox {
    /// Returns the built-in tools.
    pub fn builtin(settings: Settings) -> Self {
        Self::of(vec![
            Arc::new(ask_question::AskQuestion),
            Arc::new(read_file::ReadFile),
            Arc::new(list_files::ListFiles),
            Arc::new(search_text::SearchText),
            Arc::new(edit_file::EditFile),
            Arc::new(write_file::WriteFile),
            Arc::new(bash_exec::BashExec::new(settings)),
            Arc::new(sub_agent::SubAgent),
        ])
    }

    pub fn with(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    pub fn of(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { tools }
    }

    /// Returns the specs of all offered tools, always in the same order.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().filter(|tool| tool.is_offered()).map(|tool| tool.spec()).collect()
    }

    /// Returns the specs for a sub-agent: all offered tools except those that start sub-agents.
    pub fn specs_beneath(&self) -> Vec<ToolSpec> {
        self.tools
            .iter()
            .filter(|tool| tool.is_offered() && !tool.hands_on())
            .map(|tool| tool.spec())
            .collect()
    }

    /// Returns the tool with this name, or an error that lists the available tools.
    pub fn find(&self, name: &str) -> Result<Arc<dyn Tool>, Error> {
        self.tools.iter().find(|tool| tool.spec().name == name).cloned().ok_or_else(|| {
            let names: Vec<String> = self.specs().into_iter().map(|spec| spec.name).collect();
            let name = super::brief::line(name, 64);
            Error::Arguments(format!("Unknown tool “{name}”. Available tools: {}.", names.join(", ")))
        })
    }

    /// Plans a call from its raw arguments. Blocks while files are read.
    pub fn plan(&self, call: &ToolCall, files: &dyn Reader) -> Result<Intent, Error> {
        self.find(&call.name)?.plan(&arguments::parse(&call.arguments)?, files)
    }
}

#[cfg(test)]
mod tests;
