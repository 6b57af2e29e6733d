//! Tests of deferred tools: what requests contain, and that a call through `run_tool` is the call inside it.

use super::*;
use crate::chat::deferred_tools::RUN_TOOL;
use proptest::prelude::*;
use serde_json::{Value, json};

fn spec(name: &str, is_custom: bool) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "d".repeat(400),
        parameters: json!({}).into(),
        is_custom,
        ..ToolSpec::default()
    }
}

/// A session with a built-in tool and these custom ones, which are deferred from 100 tokens on.
fn state_with(custom: &[&str]) -> State {
    let mut state = idle_state();
    state.config.tools = vec![spec("read_file", false)];
    state.config.tools.extend(custom.iter().map(|name| spec(name, true)));
    state.config.search_tools = ["find_tool", "describe_tool", RUN_TOOL].map(|name| spec(name, false)).to_vec();
    state.model.tool_limit = Some(100);
    state
}

/// The request among these effects.
fn sent_request(effects: &[Effect]) -> &Request {
    let request = effects.iter().find_map(|effect| match effect {
        Effect::RequestReply { request, .. } => Some(request),
        _ => None,
    });
    request.expect("a request is sent")
}

fn offered(effects: &[Effect]) -> Vec<&str> {
    sent_request(effects).tools.iter().map(|tool| tool.name.as_str()).collect()
}

fn wrapped_call(id: &str, name: &str, arguments: &Value) -> ToolCall {
    let arguments = json!({"name": name, "arguments": arguments}).to_string();
    ToolCall { id: id.into(), name: RUN_TOOL.into(), arguments }
}

fn receive_call(state: &mut State, call: ToolCall) -> Vec<Effect> {
    receive_chunk(state, Chunk::Call(call));
    receive_chunk(state, Chunk::Done(FinishReason::Stop))
}

#[test]
fn the_section_of_a_tool_is_sent_while_the_tool_is_offered() {
    let mut state = state_with(&[]);
    let skills = ToolSpec { prompt_section: "- forms: Fill forms".repeat(20), ..spec("load_skill", false) };
    let change = |state: &mut State, removed: &[&str], added: &[ToolSpec]| {
        let removed = removed.iter().map(|name| (*name).to_owned()).collect();
        update(state, Event::ProjectToolsChanged { removed, added: added.to_vec() });
    };
    let system_prompt = |state: &mut State| {
        let effects = send_user_message(state, "go");
        let Message::System(prompt) = sent_request(&effects).messages[0].clone() else { panic!() };
        receive_reply(state, "done", &[]);
        prompt
    };
    let listed = |state: &State| state.context_parts().iter().find(|part| part.name == "list of skills").cloned();
    let without = system_prompt(&mut state);
    assert_eq!(listed(&state), None);
    let tokens = state.context_usage().tokens;
    change(&mut state, &[], std::slice::from_ref(&skills));
    assert!(state.context_usage().tokens > tokens);
    let with = system_prompt(&mut state);
    assert_eq!(with.strip_prefix(&without).map(str::trim_start), Some(skills.prompt_section.as_str()));
    assert!(listed(&state).is_some_and(|part| part.tokens > 50));
    // A model without tools cannot load any.
    state.model.tool_limit = None;
    assert_eq!(system_prompt(&mut state), without);
    state.model.tool_limit = Some(100);
    change(&mut state, &["load_skill"], &[]);
    assert_eq!(system_prompt(&mut state), without);
}

#[test]
fn custom_tools_above_the_limit_are_deferred_and_recorded_once() {
    let mut state = state_with(&["mcp__hub__a", "mcp__hub__b", "weather"]);
    let effects = send_user_message(&mut state, "go");
    assert_eq!(offered(&effects), ["read_file", "find_tool", "describe_tool", RUN_TOOL]);
    let description = &sent_request(&effects).tools[1].description;
    assert!(description.ends_with(" Available: hub (2 tools), weather."), "{description}");
    assert!(describe_effects(&effects).concat().contains("deferred mcp__hub__a mcp__hub__b weather"));
    receive_reply(&mut state, "done", &[]);
    let effects = send_user_message(&mut state, "again");
    assert!(!describe_effects(&effects).concat().contains("deferred"), "{:?}", describe_effects(&effects));
    let with_deferral = state.context_usage().tokens;
    receive_reply(&mut state, "done", &[]);

    // A profile with a higher limit sends them all.
    update(&mut state, Event::ToolLimitChanged(Some(10_000)));
    let effects = send_user_message(&mut state, "again");
    assert_eq!(offered(&effects), ["read_file", "mcp__hub__a", "mcp__hub__b", "weather"]);
    assert_eq!(state.session.deferred_tools(), [""; 0]);
    assert_ne!(state.context_usage().tokens, with_deferral);
}

#[test]
fn tools_that_a_server_adds_during_a_session_are_deferred_with_the_next_request() {
    let mut state = state_with(&[]);
    state.model.tool_limit = Some(400);
    let effects = send_user_message(&mut state, "go");
    assert_eq!(offered(&effects), ["read_file"]);
    receive_reply(&mut state, "done", &[]);
    let tools: Vec<ToolSpec> = (0..20).map(|number| spec(&format!("mcp__hub__{number}"), true)).collect();
    update(&mut state, Event::ToolsChanged { tools: tools[..1].to_vec(), notices: Vec::new(), unaccepted: None });
    assert_eq!(offered(&send_user_message(&mut state, "go")), ["read_file", "mcp__hub__0"]);
    receive_reply(&mut state, "done", &[]);
    update(&mut state, Event::ToolsChanged { tools, notices: Vec::new(), unaccepted: None });
    let effects = send_user_message(&mut state, "go");
    assert_eq!(offered(&effects), ["read_file", "find_tool", "describe_tool", RUN_TOOL]);
    assert_eq!(state.session.deferred_tools().len(), 20);
}

#[test]
fn requests_show_calls_of_deferred_tools_as_the_model_makes_them() {
    let mut state = state_with(&["mcp__hub__a"]);
    send_user_message(&mut state, "go");
    let call = wrapped_call("1", "mcp__hub__a", &json!({"b": 1, "a": [2.5]}));
    receive_call(&mut state, call.clone());
    assert_eq!(state.pending()[0].call.name, "mcp__hub__a");
    receive_plan(&mut state, "1", read_intent());
    let effects = finish_call(&mut state, "1");
    let calls: Vec<&ToolCall> = sent_request(&effects)
        .messages
        .iter()
        .flat_map(|message| if let Message::Model { calls, .. } = message { calls.as_slice() } else { &[] })
        .collect();
    assert_eq!(calls, [&call]);
}

#[test]
fn sub_agents_defer_the_same_tools_without_a_record_of_their_own() {
    let mut state = state_with(&["mcp__hub__a"]);
    state.config.sub_agent_prompt = Some(String::new());
    let sub_agent = state.new_sub_agent_state().unwrap();
    assert_eq!(sub_agent.deferred_tools().count(), 1);
    assert_eq!(sub_agent.offered_tools().len(), 4);
}

#[test]
fn sub_agents_get_no_tool_that_is_only_for_the_main_agent() {
    let mut state = state_with(&[]);
    state.config.sub_agent_prompt = Some(String::new());
    let hand_over = ToolSpec { is_main_only: true, ..spec("hand_over", true) };
    let added = vec![hand_over, spec("weather", true)];
    update(&mut state, Event::ProjectToolsChanged { removed: Vec::new(), added });
    let names = |state: &State| state.config.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&state), ["read_file", "hand_over", "weather"]);
    assert_eq!(names(&state.new_sub_agent_state().unwrap()), ["read_file", "weather"]);
}

/// Runs a call through planning, a decision if it is asked for, and its outcome; returns everything that happens.
fn run_through(mut state: State, call: ToolCall, intent: &Intent) -> (Vec<Effect>, State) {
    send_user_message(&mut state, "go");
    let mut effects = receive_call(&mut state, call);
    effects.extend(receive_plan(&mut state, "1", intent.clone()));
    if state.waiting_call().is_some() {
        effects.extend(decide_call(&mut state, "1", Decision::Once));
    }
    effects.extend(finish_call(&mut state, "1"));
    (effects, state)
}

proptest! {
    /// Mode, rules, dry run and kind of call are arbitrary: everything that happens with a call through `run_tool` happens
    /// with the direct call.
    #[test]
    fn a_call_through_run_tool_is_judged_like_the_direct_call(
        name in prop::sample::select(vec!["mcp__hub__a", "weather", "read_file", "unknown", "bash_exec"]),
        text in ".{0,8}",
        number in any::<i64>(),
        mode in prop::sample::select(vec![Mode::Plan, Mode::Ask, Mode::Auto, Mode::Full]),
        effect in prop::sample::select(vec![RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny]),
        rule_tool in prop::sample::select(vec!["mcp__hub__a", "weather", "run_tool", "none"]),
        dry_run in any::<bool>(),
        kind in 0..4,
    ) {
        let mut state = state_with(&["mcp__hub__a", "weather"]);
        state.policy.mode = mode;
        state.policy.dry_run = dry_run;
        state.rules = std::sync::Arc::new(Rules { list: vec![user_rule(effect, rule_tool)], ..Rules::default() });
        let external = ExternalAccess { request: name.into(), service: "mcp:hub".into(), page_host: None };
        let intent = match kind {
            0 => read_intent(),
            1 => write_intent(),
            2 => plan_intent(Access::External(Box::new(external))),
            _ => plan_intent(Access::Nothing),
        };
        let arguments = json!({"text": text, "number": number});
        let direct = ToolCall { id: "1".into(), name: name.into(), arguments: arguments.to_string() };
        let expected = run_through(state.clone(), direct, &intent);
        prop_assert_eq!(run_through(state, wrapped_call("1", name, &arguments), &intent), expected);
    }
}
