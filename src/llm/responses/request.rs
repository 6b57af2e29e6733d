//! Request body for the responses API.

use super::items;
use crate::chat::{Message, ToolSpec};
use crate::llm::prepared_request::PreparedRequest;
use crate::llm::request_body::RequestBody;
use serde_json::{Map, Value, json};

/// Minimum reply limit; providers reject a smaller one.
const MIN_REPLY_LIMIT: u64 = 16;

/// Builds the body of a request. The user's own parameters are passed on unchanged and override the defaults set here;
/// `null` removes a default. They cannot change the input, the tools or `stream`.
pub fn build_responses_body(ask: &PreparedRequest<'_>) -> RequestBody {
    let settings = ask.settings;
    let mut body = Map::new();
    body.insert("store".to_owned(), json!(false));
    body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    if let (Some(several), false) = (settings.parallel_calls, ask.tools.is_empty()) {
        body.insert("parallel_tool_calls".to_owned(), json!(several));
    }
    body.extend(settings.reasoning_effort.as_ref().map(|effort| ("reasoning".to_owned(), json!({"effort": effort}))));
    for (name, value) in &settings.parameters {
        match (body.get_mut(name), value) {
            // Merged, so that a setting for summaries keeps the effort.
            (Some(Value::Object(ours)), Value::Object(own)) => {
                ours.extend(own.iter().map(|(name, value)| (name.clone(), value.clone())));
                ours.retain(|_, value| !value.is_null());
            }
            _ => {
                body.insert(name.clone(), value.clone());
            }
        }
    }
    body.extend(ask.reply_limit("max_output_tokens").map(|(name, most)| (name, json!(most.max(MIN_REPLY_LIMIT)))));
    body.insert("model".to_owned(), json!(ask.model));
    let (instructions, talk) = match ask.messages.split_first() {
        Some((Message::System(text), talk)) => (Some(text), talk),
        _ => (None, ask.messages.as_slice()),
    };
    body.insert("instructions".to_owned(), json!(instructions));
    body.remove("input");
    ask.finish_body(&mut body, tool_value);
    RequestBody::new(body, "input", talk.iter().flat_map(|message| message_items(message, ask)))
}

/// Returns the user message with the images it mentions.
fn user_content(text: &str, ask: &PreparedRequest<'_>) -> Value {
    let mut parts = vec![json!({"type": "input_text", "text": text})];
    for picture in ask.images_in(text) {
        let url = format!("data:{};base64,{}", picture.mime_type, picture.data);
        parts.push(json!({"type": "input_image", "image_url": url}));
    }
    if parts.len() == 1 { json!(text) } else { parts.into() }
}

/// Returns the items of a message.
fn message_items(message: &Message, ask: &PreparedRequest<'_>) -> Vec<Value> {
    match message {
        Message::System(text) => vec![json!({"role": "system", "content": text})],
        Message::User(text) => vec![json!({"role": "user", "content": user_content(text, ask)})],
        Message::Model { text, calls, echo } => {
            let held = echo.as_ref().and_then(|echo| items::restore_items(&echo.data, text, calls));
            held.unwrap_or_else(|| items::plain_items(text, calls))
        }
        Message::Tool { call, text } => {
            vec![json!({"type": "function_call_output", "call_id": call.0, "output": text})]
        }
    }
}

/// Serializes a tool. `strict` defaults to true at the provider, which then rejects most schemas.
fn tool_value(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": false,
    })
}
