//! The tools of a request: all tools, or without the deferred ones if they have too many tokens.

use super::State;
use super::update_context::UpdateContext;
use crate::chat::deferred_tools::{FIND_TOOL, describe_sources, exceeds_limit, wrap_call};
use crate::chat::instructions::append_instructions;
use crate::chat::message_tokens::estimate_tools;
use crate::chat::{Entry, Message, ToolSpec};

impl State {
    /// Returns the tools that are deferred.
    pub(super) fn deferred_tools(&self) -> impl Iterator<Item = &ToolSpec> {
        let defers = !self.config.search_tools.is_empty() && exceeds_limit(&self.config.tools, self.model.tool_limit);
        self.config.tools.iter().filter(move |tool| defers && tool.is_custom)
    }

    /// Returns the tools that a request describes. If tools are deferred, those that find and call them are included.
    pub(super) fn offered_tools(&self) -> Vec<ToolSpec> {
        let sources = describe_sources(self.deferred_tools().map(|tool| tool.name.as_str()));
        if sources.is_empty() {
            return self.config.tools.clone();
        }
        let mut search_tools = self.config.search_tools.clone();
        for tool in search_tools.iter_mut().filter(|tool| tool.name == FIND_TOOL) {
            tool.description.push_str(&format!(" Available: {sources}."));
        }
        self.config.tools.iter().filter(|tool| !tool.is_custom).cloned().chain(search_tools).collect()
    }

    /// Returns the parts of the system prompt that tools need, by tool. A model without tools gets none.
    pub(super) fn prompt_sections(&self) -> impl Iterator<Item = &ToolSpec> {
        let has_tools = self.model.tool_limit.is_some();
        self.config.tools.iter().filter(move |tool| has_tools && !tool.prompt_section.is_empty())
    }

    /// Returns the system prompt with the sections of tools, and the instructions of the user and the project.
    pub(super) fn full_system_prompt(&self) -> String {
        let sections = self.prompt_sections().map(|tool| tool.prompt_section.as_str());
        let parts: Vec<&str> = std::iter::once(self.config.system_prompt.as_str()).chain(sections).collect();
        append_instructions(&parts.join("\n\n"), &self.config.instructions)
    }

    /// Updates the token estimate after a change of the system prompt, the tools or their limit.
    pub(super) fn update_fixed_estimate(&mut self) {
        let is_counted = self.session.token_count().is_some();
        self.estimate.update_fixed(&self.full_system_prompt(), &self.offered_tools(), is_counted);
    }

    /// Shows the calls of deferred tools as calls of `run_tool`, which is how the model must make them.
    pub(super) fn wrap_deferred_calls(&self, messages: &mut [Message]) {
        let deferred: Vec<&str> = self.deferred_tools().map(|tool| tool.name.as_str()).collect();
        for message in messages {
            if let Message::Model { calls, .. } = message {
                calls.iter_mut().filter(|call| deferred.contains(&call.name.as_str())).for_each(wrap_call);
            }
        }
    }
}

/// Records which tools are deferred if that differs from the last record. Sub-agents have the tools of their turn.
pub(super) fn record_deferred_tools(ctx: &mut UpdateContext<'_>) {
    let tools: Vec<String> = ctx.state.deferred_tools().map(|tool| tool.name.clone()).collect();
    if ctx.parent_session.is_none() && tools != ctx.state.session.deferred_tools() {
        let tokens = estimate_tools(&ctx.state.config.tools);
        let limit = ctx.state.model.tool_limit.unwrap_or(u64::MAX);
        ctx.record_entry(Entry::ToolsDeferred { tools, tokens, limit });
    }
}
