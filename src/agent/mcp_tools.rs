//! Tools of MCP servers, which change while a session is open.

use super::State;
use super::update_context::UpdateContext;
use crate::chat::mcp_names::PREFIX;
use crate::chat::{Entry, ToolSpec, UnacceptedTools};

impl State {
    /// Replaces the tools of MCP servers from the next request on. A running sub-agent keeps the ones it has.
    fn set_mcp_tools(&mut self, tools: &[ToolSpec]) {
        self.config.tools.retain(|tool| !tool.name.starts_with(PREFIX));
        self.config.tools.extend_from_slice(tools);
        self.update_fixed_estimate();
    }
}

/// Replaces the tools of MCP servers, and records those that are new or changed. In a session without entries that is only
/// shown: nothing is written before the first message.
pub(super) fn change_tools(ctx: &mut UpdateContext<'_>, tools: &[ToolSpec], unaccepted: Option<UnacceptedTools>) {
    ctx.state.set_mcp_tools(tools);
    if let Some(unaccepted) = unaccepted.filter(|_| !ctx.state.session.entries().is_empty()) {
        ctx.record_entry(Entry::UnacceptedTools(unaccepted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Effect, Event, update};
    use crate::policy::Policy;
    use serde_json::json;

    fn spec(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            parameters: json!({}).into(),
            ..ToolSpec::default()
        }
    }

    #[test]
    fn changed_tools_of_servers_replace_only_those_of_servers() {
        let built_in = vec![spec("read_file"), spec("mcp__a__old")];
        let mut state = State::new(Policy::default(), "m".to_owned(), "s".to_owned(), built_in);
        state.config.sub_agent_prompt = Some(String::new());
        let tools = vec![spec("mcp__a__new"), spec("mcp__b__x")];
        let unaccepted = UnacceptedTools { server: "a".to_owned(), tools: vec!["old".to_owned()] };
        let event = Event::ToolsChanged { tools, notices: Vec::new(), unaccepted: Some(unaccepted.clone()) };
        assert_eq!(update(&mut state, event.clone()), [], "the session has no entries");
        let names = |tools: &[ToolSpec]| tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&state.config.tools), ["read_file", "mcp__a__new", "mcp__b__x"]);
        update(&mut state, Event::SessionTitled("t".to_owned()));
        let entry = Entry::UnacceptedTools(unaccepted);
        assert_eq!(update(&mut state, event), [Effect::AppendEntry(entry)]);
        assert_eq!(
            names(&state.new_sub_agent_state().unwrap().config.tools),
            ["read_file", "mcp__a__new", "mcp__b__x"]
        );
    }
}
