//! A request as services read it.

use crate::chat::{Message, Request, ToolCall, ToolSpec};
use serde_json::{Map, Value, json};

/// The body of a chat completion. `extra` is passed on as it is, and wins over what is only a default here; a `null` in
/// it leaves a parameter out. The talk itself, the tools and `stream` cannot be changed by it.
pub fn body(request: &Request, extra: &Map<String, Value>) -> Value {
    let mut body = Map::new();
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    for (name, value) in extra {
        body.insert(name.clone(), value.clone());
    }
    body.insert("model".to_owned(), json!(request.model));
    body.insert("messages".to_owned(), request.messages.iter().map(message).collect());
    body.insert("stream".to_owned(), json!(true));
    if request.tools.is_empty() {
        body.remove("tools");
        body.remove("tool_choice");
    } else {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    body.retain(|_, value| !value.is_null());
    Value::Object(body)
}

fn message(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::Person(text) => json!({"role": "user", "content": text}),
        Message::Model { text, calls } if calls.is_empty() => json!({"role": "assistant", "content": text}),
        Message::Model { text, calls } => {
            let content = if text.is_empty() { Value::Null } else { json!(text) };
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::Tool { call, text } => json!({"role": "tool", "tool_call_id": call.0, "content": text}),
    }
}

fn call(call: &ToolCall) -> Value {
    json!({
        "id": call.id.0,
        "type": "function",
        "function": {"name": fit_name(&call.name), "arguments": fit_arguments(&call.arguments)},
    })
}

/// Services refuse a talk in which a call's arguments are not an object, and with it every request that follows.
fn fit_arguments(arguments: &str) -> &str {
    match serde_json::from_str::<Map<String, Value>>(arguments) {
        Ok(_) => arguments,
        Err(_) => "{}",
    }
}

/// The same goes for a name that a model made up.
fn fit_name(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = name.chars().map(|c| if fits(c) { c } else { '_' }).take(64).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(messages: Vec<Message>, tools: Vec<ToolSpec>) -> Request {
        Request { model: "m".into(), messages, tools }
    }

    fn calls(name: &str, arguments: &str) -> Vec<ToolCall> {
        vec![ToolCall { id: "c1".into(), name: name.into(), arguments: arguments.into() }]
    }

    #[test]
    fn every_message_is_written_as_services_read_it() {
        let check = |message: Message, wire: Value| {
            let body = body(&request(vec![message], vec![]), &Map::new());
            assert_eq!(body["messages"], json!([wire]));
        };
        check(Message::System("s".into()), json!({"role": "system", "content": "s"}));
        check(Message::Person("p".into()), json!({"role": "user", "content": "p"}));
        check(Message::Model { text: "".into(), calls: vec![] }, json!({"role": "assistant", "content": ""}));
        check(
            Message::Tool { call: "c1".into(), text: "t".into() },
            json!({"role": "tool", "tool_call_id": "c1", "content": "t"}),
        );
        let echoed = |content: Value, name: &str, arguments: &str| {
            json!({"role": "assistant", "content": content, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}]})
        };
        for (name, arguments, name_out, arguments_out) in [
            ("f", r#"{"a": 1.50}"#, "f", r#"{"a": 1.50}"#),
            ("f", "", "f", "{}"),
            ("f", r#"{"a": "#, "f", "{}"),
            ("f", "[1]", "f", "{}"),
            ("a b.c", "{}", "a_b_c", "{}"),
            ("", "{}", "unknown", "{}"),
        ] {
            let message = Message::Model { text: "".into(), calls: calls(name, arguments) };
            check(message, echoed(Value::Null, name_out, arguments_out));
        }
        check(Message::Model { text: "t".into(), calls: calls("f", "{}") }, echoed(json!("t"), "f", "{}"));
    }

    #[test]
    fn tools_are_offered_only_where_there_are_some() {
        let none = body(&request(vec![], vec![]), &Map::new());
        assert_eq!(none.get("tools"), None);
        let spec =
            ToolSpec { name: "f".into(), description: "d".into(), parameters: json!({"type": "object"}) };
        assert_eq!(
            body(&request(vec![], vec![spec]), &Map::new())["tools"],
            json!([{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}])
        );
    }

    #[test]
    fn extra_parameters_pass_through_but_cannot_change_the_talk() {
        let extra = json!({"temperature": 0.2, "stream": false, "model": "x", "messages": [], "stream_options": null});
        let body = body(&request(vec![], vec![]), extra.as_object().unwrap());
        assert_eq!(body, json!({"temperature": 0.2, "model": "m", "messages": [], "stream": true}));
        let plain = super::body(&request(vec![], vec![]), &Map::new());
        assert_eq!(plain["stream_options"], json!({"include_usage": true}));
    }
}
