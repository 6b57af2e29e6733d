//! Deferred tools: their descriptions are not sent. The model finds them with `find_tool`, reads one with
//! `describe_tool` and calls it with `run_tool`.
//!
//! A call of `run_tool` is unwrapped when the reply is complete. From there on it is the call inside it, so nothing can
//! treat it differently from a direct call. Requests show it as the model made it.

use super::message_tokens::estimate_tools;
use super::{ToolCall, ToolSpec, join_first, mcp_names};
use crate::text::unique_keys::parse_unique;
use serde_json::{Value, json};

/// Name of the tool that searches deferred tools.
pub const FIND_TOOL: &str = "find_tool";
/// Name of the tool that describes one deferred tool.
pub const DESCRIBE_TOOL: &str = "describe_tool";
/// Name of the tool that calls a deferred tool.
pub const RUN_TOOL: &str = "run_tool";

/// Maximum number of servers and tools in a text that names where deferred tools come from.
const MAX_SOURCES: usize = 12;

/// Returns whether the custom tools are deferred: all tools together have more estimated tokens than the limit.
pub fn exceeds_limit(tools: &[ToolSpec], limit: Option<u64>) -> bool {
    limit.is_some_and(|limit| tools.iter().any(|tool| tool.is_custom) && estimate_tools(tools) > limit)
}

/// Names the servers of these tools with the number of tools of each, and the tools that files define:
/// `github (31 tools), weather`.
pub fn describe_sources<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut sources: Vec<(&str, usize)> = Vec::new();
    for name in names {
        let source = mcp_names::server_of(name).unwrap_or(name);
        match sources.iter_mut().find(|(known, _)| *known == source) {
            Some((_, count)) => *count += 1,
            None => sources.push((source, usize::from(mcp_names::server_of(name).is_some()))),
        }
    }
    let describe = |(source, count): &(&str, usize)| match count {
        0 => (*source).to_owned(),
        count => format!("{source} ({})", super::pluralize(*count, "tool")),
    };
    let sources: Vec<String> = sources.iter().map(describe).collect();
    join_first(&sources, MAX_SOURCES)
}

/// Describes a change of the deferred tools for the user, in one line.
pub fn describe_change(tools: &[String], tokens: u64, limit: u64) -> String {
    if tools.is_empty() {
        return "all tools are sent with each request again".to_owned();
    }
    format!(
        "{} deferred: all tools have about {tokens} tokens, the limit is {limit}. The model searches {} with find_tool; /tools lists them",
        super::pluralize(tools.len(), "tool"),
        describe_sources(tools.iter().map(String::as_str))
    )
}

/// Returns the call that a call of `run_tool` stands for; other calls, and one with invalid arguments, as they are.
pub fn unwrap_call(call: ToolCall) -> ToolCall {
    match parse_wrapped(&call) {
        Some((name, arguments)) => ToolCall { id: call.id, name, arguments },
        None => call,
    }
}

/// Parses the name and the arguments in a call of `run_tool`. Duplicate keys make it invalid, as in any call.
fn parse_wrapped(call: &ToolCall) -> Option<(String, String)> {
    let parse = |text: &str| match parse_unique(text) {
        Ok((value, None)) => Some(value),
        Ok((_, Some(_))) | Err(_) => None,
    };
    let mut value = Some(&call.arguments).filter(|_| call.name == RUN_TOOL).and_then(|text| parse(text))?;
    // Arguments sent as a JSON string are accepted in any call.
    if let Value::String(text) = &value {
        value = parse(text)?;
    }
    let Value::Object(mut fields) = value else { return None };
    let Some(Value::String(name)) = fields.shift_remove("name") else { return None };
    let arguments = match fields.shift_remove("arguments") {
        // A call of itself would only be a call again.
        _ if name == RUN_TOOL || !fields.is_empty() => return None,
        Some(Value::String(text)) => text,
        Some(Value::Null) | None => "{}".to_owned(),
        Some(arguments) => arguments.to_string(),
    };
    Some((name, arguments))
}

/// Turns a call of a deferred tool into the call of `run_tool` that stands for it.
pub fn wrap_call(call: &mut ToolCall) {
    let arguments = match parse_unique(&call.arguments) {
        // The text of the model, byte by byte.
        Ok((Value::Object(_), None)) => call.arguments.clone(),
        Ok(_) | Err(_) => json!(call.arguments).to_string(),
    };
    call.arguments = format!("{{\"name\":{},\"arguments\":{arguments}}}", json!(call.name));
    RUN_TOOL.clone_into(&mut call.name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: "c".into(), name: name.into(), arguments: arguments.into() }
    }

    /// The call that a call of `run_tool` with these arguments stands for.
    fn unwrapped(arguments: &Value) -> (String, String) {
        let ToolCall { name, arguments, .. } = unwrap_call(call(RUN_TOOL, &arguments.to_string()));
        (name, arguments)
    }

    #[test]
    fn a_wrapped_call_is_the_call_inside_it() {
        let expected = |arguments: &str| ("mcp__a__b".to_owned(), arguments.to_owned());
        let inside = json!({"x": [1, 2.5, null], "y": {"z": "é\n"}});
        assert_eq!(unwrapped(&json!({"name": "mcp__a__b", "arguments": inside})), expected(&inside.to_string()));
        assert_eq!(unwrapped(&json!({"name": "mcp__a__b", "arguments": "{ \"x\":1 }"})), expected("{ \"x\":1 }"));
        assert_eq!(unwrapped(&json!({"name": "mcp__a__b"})), expected("{}"));
        assert_eq!(unwrapped(&json!({"name": "mcp__a__b", "arguments": null})), expected("{}"));
        assert_eq!(unwrapped(&json!("{\"name\": \"mcp__a__b\", \"arguments\": [1]}")), expected("[1]"));
    }

    #[test]
    fn an_invalid_wrapped_call_stays_a_call_of_run_tool() {
        for arguments in [
            "",
            "{}",
            "[]",
            "x",
            "{\"name\": 1}",
            "{\"arguments\": {}}",
            "{\"name\": \"a\", \"name\": \"b\"}",
            "{\"name\": \"a\", \"arguments\": {\"x\": 1, \"x\": 2}}",
            "{\"name\": \"a\", \"text\": \"not in arguments\"}",
            "{\"name\": \"a\"} {\"name\": \"b\"}",
            "{\"name\": \"run_tool\", \"arguments\": {\"name\": \"a\"}}",
        ] {
            assert_eq!(unwrap_call(call(RUN_TOOL, arguments)), call(RUN_TOOL, arguments));
        }
        let direct = call("bash_exec", "{\"name\": \"a\", \"arguments\": {}}");
        assert_eq!(unwrap_call(direct.clone()), direct);
    }

    #[test]
    fn sources_are_servers_with_counts_and_tools_of_files() {
        let describe = |names: &[&str]| describe_sources(names.iter().copied());
        assert_eq!(
            describe(&["weather", "mcp__github__a", "mcp__x__a", "mcp__github__b"]),
            "weather, github (2 tools), x (1 tool)"
        );
        let many: Vec<String> = (0..20).map(|number| format!("t{number}")).collect();
        assert!(describe(&many.iter().map(String::as_str).collect::<Vec<_>>()).ends_with("t11 and 8 more"));
    }

    #[test]
    fn tools_are_deferred_above_the_limit_if_any_is_custom() {
        let tool = |is_custom| ToolSpec { name: "a".repeat(400), is_custom, ..ToolSpec::default() };
        let (built_in, custom) = ([tool(false), tool(false)], [tool(false), tool(true)]);
        let tokens = estimate_tools(&custom);
        assert!(exceeds_limit(&custom, Some(tokens - 1)) && !exceeds_limit(&custom, Some(tokens)));
        assert!(!exceeds_limit(&built_in, Some(0)) && !exceeds_limit(&custom, None));
    }

    proptest! {
        /// Whatever the arguments are, what runs is what a direct call would run.
        #[test]
        fn wrapping_and_unwrapping_changes_no_call(name in "[a-z_]{1,20}", arguments in r#"(\{("[a-z]{1,3}":("[^"\\]{0,5}"|-?[0-9]{1,25}|1e[0-9]{1,2}|null|\[1\]),?){0,3}\}?|.{0,20})"#) {
            prop_assume!(name != RUN_TOOL);
            let direct = call(&name, &arguments);
            let mut wrapped = direct.clone();
            wrap_call(&mut wrapped);
            prop_assert_eq!(&wrapped.name, RUN_TOOL);
            let again = unwrap_call(wrapped);
            prop_assert_eq!(&again.name, &direct.name);
            match serde_json::from_str::<Value>(&direct.arguments) {
                Ok(value) if value.is_object() => {
                    prop_assert_eq!(serde_json::from_str::<Value>(&again.arguments).unwrap(), value);
                }
                Ok(_) | Err(_) => prop_assert_eq!(&again.arguments, &direct.arguments),
            }
        }
    }
}
