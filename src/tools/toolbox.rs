//! What is offered to the model, found by name.

use super::{Error, Tool, arguments};
use super::{ask_question, bash_exec, edit_file, list_files, read_file, search_text, sub_agent, write_file};
use crate::chat::{Intent, ToolCall, ToolSpec, Walls};
use crate::project::Reader;
use std::sync::Arc;

/// What a person may set about tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Seconds a command may run where the model does not say.
    pub seconds: u64,
    /// The most seconds the model may say.
    pub seconds_at_most: u64,
    /// What holds commands back that do not ask for the network.
    pub walls: Walls,
    /// Whether a command may ask for the network.
    pub may_ask: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seconds: 30, seconds_at_most: 120, walls: Walls::Unsaid, may_ask: true }
    }
}

/// Everything that can be called.
#[derive(Clone)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
}

impl Toolbox {
    /// The tools that are always there.
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

    /// With one more.
    pub fn with(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// These tools and no other.
    pub fn of(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { tools }
    }

    /// What the model is told of all of them, always in the same order.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().filter(|tool| tool.is_offered()).map(|tool| tool.spec()).collect()
    }

    /// What a sub-agent is told of: all but what hands a task on in turn.
    pub fn specs_beneath(&self) -> Vec<ToolSpec> {
        self.tools
            .iter()
            .filter(|tool| tool.is_offered() && !tool.hands_on())
            .map(|tool| tool.spec())
            .collect()
    }

    /// The tool of that name, or an error that names the tools there are.
    pub fn find(&self, name: &str) -> Result<Arc<dyn Tool>, Error> {
        self.tools.iter().find(|tool| tool.spec().name == name).cloned().ok_or_else(|| {
            let names: Vec<String> = self.specs().into_iter().map(|spec| spec.name).collect();
            let name = super::brief::line(name, 64);
            Error::Arguments(format!("There is no tool “{name}”. The tools are: {}.", names.join(", ")))
        })
    }

    /// Lets the called tool look: from the raw text of the call to what it wants. Blocks while files are read.
    pub fn plan(&self, call: &ToolCall, files: &dyn Reader) -> Result<Intent, Error> {
        self.find(&call.name)?.plan(&arguments::parse(&call.arguments)?, files)
    }
}

#[cfg(test)]
mod tests;
