//! A request as chat completions read it.

use super::ask::Ask;
use super::echo;
use crate::chat::{Message, ToolCall, ToolSpec};
use serde_json::{Map, Value, json};

/// The body of a chat completion. The person's own parameters are passed on as they are, and win over what is only a
/// default here; a `null` in them leaves one of ours out. The talk itself, the tools and `stream` cannot be changed by
/// them.
pub fn body(ask: &Ask<'_>) -> Value {
    let settings = ask.settings;
    let mut body = Map::new();
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    body.extend(settings.effort.as_ref().map(|effort| ("reasoning_effort".to_owned(), json!(effort))));
    if let (Some(several), false) = (settings.parallel_calls, ask.tools.is_empty()) {
        body.insert("parallel_tool_calls".to_owned(), json!(several));
    }
    for (name, value) in &settings.extra {
        body.insert(name.clone(), value.clone());
    }
    body.extend(ask.limit(usual_limit(&ask.host)).map(|(name, most)| (name, json!(most))));
    body.insert("model".to_owned(), json!(ask.model));
    let messages = ask.messages.iter().map(|one| message(one, ask));
    body.insert("messages".to_owned(), messages.collect());
    body.insert("stream".to_owned(), json!(true));
    if ask.tools.is_empty() {
        body.remove("tools");
        body.remove("tool_choice");
        body.remove("parallel_tool_calls");
    } else {
        body.insert("tools".to_owned(), ask.tools.iter().map(tool).collect());
    }
    body.retain(|_, value| !value.is_null());
    Value::Object(body)
}

/// What a limit for the reply is called: OpenAI's and Azure's newer models refuse the name that all others know.
fn usual_limit(host: &str) -> &'static str {
    let azure = ["openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"];
    let is_below = |domain: &&str| host.strip_suffix(*domain).is_some_and(|rest| rest.ends_with('.'));
    if host == "api.openai.com" || azure.iter().any(is_below) {
        "max_completion_tokens"
    } else {
        "max_tokens"
    }
}

/// What the person said, with the pictures they named.
fn person(text: &str, ask: &Ask<'_>) -> Value {
    let mut parts = vec![json!({"type": "text", "text": text})];
    for picture in ask.shown(text) {
        let url = format!("data:{};base64,{}", picture.kind, picture.data);
        parts.push(json!({"type": "image_url", "image_url": {"url": url}}));
    }
    if parts.len() == 1 { json!(text) } else { parts.into() }
}

fn message(message: &Message, ask: &Ask<'_>) -> Value {
    let reasoning_back = ask.settings.reasoning_back;
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::Person(text) => json!({"role": "user", "content": person(text, ask)}),
        Message::Model { text, calls, echo } => {
            let content = if text.trim().is_empty() { Value::Null } else { json!(text) };
            let mut written = Map::new();
            written.insert("role".to_owned(), json!("assistant"));
            written.insert("content".to_owned(), content);
            if !calls.is_empty() {
                written.insert("tool_calls".to_owned(), calls.iter().map(call).collect());
            }
            if let Some(echo) = echo {
                echo::give_back(&mut written, &echo.held, reasoning_back);
            }
            // Who demands the reasoning refuses calls without any, also those of another model.
            let thought = echo.as_ref().is_some_and(|echo| echo::has_thoughts(&echo.held));
            if reasoning_back && !thought && !calls.is_empty() {
                written.insert("reasoning_content".to_owned(), json!(""));
            }
            Value::Object(written)
        }
        Message::Tool { call, text } => json!({"role": "tool", "tool_call_id": call.0, "content": text}),
    }
}

fn call(call: &ToolCall) -> Value {
    json!({
        "id": call.id.0,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    })
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    })
}

#[cfg(test)]
mod tests;
