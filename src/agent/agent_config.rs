//! Configuration of an agent, set when its session opens. Only the instructions and the tools change afterwards.

use super::reviewers::Reviewers;
use crate::chat::{Instructions, ToolSpec};
use std::sync::Arc;

/// Configuration of an agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentConfig {
    /// System prompt, with facts about the project.
    pub system_prompt: String,
    /// Trusted instructions of the project; [`super::State::set_instructions`] changes them.
    pub instructions: Arc<Vec<Instructions>>,
    /// Tools the model may call. Those of MCP servers are replaced by [`super::Event::ToolsChanged`].
    pub tools: Vec<ToolSpec>,
    /// Tools that find and call deferred tools. Empty: no tool is deferred.
    pub search_tools: Vec<ToolSpec>,
    /// Tools for background commands, until the session has one; then they are among `tools`.
    pub background_tools: Vec<ToolSpec>,
    /// System prompt of sub-agents; `None` in a sub-agent, which cannot start others.
    pub sub_agent_prompt: Option<String>,
    /// Hooks and model reviewer that check a call before it starts.
    pub reviewers: Reviewers,
    /// True if the model may be asked for a session title.
    pub requests_titles: bool,
    pub dry_run: DryRunConfig,
}

/// Simulation of results in a dry run, and what the model learns of it. Without effect in a live session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DryRunConfig {
    /// True if every rehearsed result is labelled as rehearsed in requests.
    pub labels_results: bool,
    /// True if the model must not learn that the session is a dry run.
    pub is_hidden: bool,
    /// Reason why commands are not run, if they are not. Follows “no overlay sandbox: ”.
    pub no_sandbox_reason: Option<String>,
    /// Name of the model that simulates results, if any; one line.
    pub simulator: Option<String>,
}
