//! Request body for chat completions.

use super::echo;
use super::prepared_request::PreparedRequest;
use super::request_body::RequestBody;
use crate::chat::{Message, ToolCall, ToolSpec};
use crate::text::hidden_chars::mark_hidden;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// Builds the body of a chat completion. The user's own parameters are passed on unchanged and override the defaults
/// set here; `null` removes a default. They cannot change the messages, the tools or `stream`.
pub fn build_chat_body(ask: &PreparedRequest<'_>) -> RequestBody {
    let settings = ask.settings;
    let mut body = Map::new();
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    body.extend(settings.reasoning_effort.as_ref().map(|effort| ("reasoning_effort".to_owned(), json!(effort))));
    if let (Some(several), false) = (settings.parallel_calls, ask.tools.is_empty()) {
        body.insert("parallel_tool_calls".to_owned(), json!(several));
    }
    for (name, value) in &settings.parameters {
        body.insert(name.clone(), value.clone());
    }
    body.extend(ask.reply_limit(usual_limit(&ask.host)).map(|(name, most)| (name, json!(most))));
    body.insert("model".to_owned(), json!(ask.model));
    body.remove("messages");
    ask.finish_body(&mut body, tool_value);
    RequestBody::new(body, "messages", ask.messages.iter().map(|message| ChatMessage { message, ask }))
}

/// Returns the usual name of the reply limit: newer models of OpenAI and Azure reject the common name.
fn usual_limit(host: &str) -> &'static str {
    let azure = ["openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"];
    let is_below = |domain: &&str| host.strip_suffix(*domain).is_some_and(|rest| rest.ends_with('.'));
    if host == "api.openai.com" || azure.iter().any(is_below) { "max_completion_tokens" } else { "max_tokens" }
}

/// A message to serialize.
struct ChatMessage<'a> {
    message: &'a Message,
    ask: &'a PreparedRequest<'a>,
}

/// A message that contains only text.
#[derive(Serialize)]
struct TextMessage<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    content: &'a str,
}

/// A reply of the model.
#[derive(Serialize)]
struct ReplyMessage<'a> {
    role: &'static str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    // A provider that requires the reasoning rejects calls without it, even calls of another model.
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'static str>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl Serialize for ChatMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let words = |role, content| TextMessage { role, tool_call_id: None, content };
        match self.message {
            Message::System(text) => words("system", text).serialize(serializer),
            Message::User(text) => match self.content_parts(text) {
                Some(parts) => json!({"role": "user", "content": parts}).serialize(serializer),
                None => words("user", text).serialize(serializer),
            },
            Message::Model { text, calls, echo } => {
                let marked = mark_hidden(text);
                let written = self.reply_message(&marked, calls);
                match echo {
                    Some(echo) => self.add_echo(&written, &echo.data).serialize(serializer),
                    None => written.serialize(serializer),
                }
            }
            Message::Tool { call, text } => {
                TextMessage { role: "tool", tool_call_id: Some(&call.0), content: text }.serialize(serializer)
            }
        }
    }
}

impl ChatMessage<'_> {
    /// Returns the user message with the images it mentions, or `None` if it mentions none.
    fn content_parts(&self, text: &str) -> Option<Vec<Value>> {
        let mut shown = self.ask.images_in(text).peekable();
        shown.peek()?;
        let part = |picture: &crate::chat::Image| {
            let url = format!("data:{};base64,{}", picture.mime_type, picture.data);
            json!({"type": "image_url", "image_url": {"url": url}})
        };
        Some(std::iter::once(json!({"type": "text", "text": text})).chain(shown.map(part)).collect())
    }

    fn reply_message<'m>(&self, text: &'m str, calls: &'m [ToolCall]) -> ReplyMessage<'m> {
        let call = |call: &'m ToolCall| Call {
            id: &call.id.0,
            r#type: "function",
            function: Function { name: &call.name, arguments: &call.arguments },
        };
        ReplyMessage {
            role: "assistant",
            content: Some(text).filter(|text| !text.trim_start().is_empty()),
            tool_calls: calls.iter().map(call).collect(),
            reasoning_content: (self.ask.settings.send_reasoning_back && !calls.is_empty()).then_some(""),
        }
    }

    /// Serializes a reply with the data its provider requires back.
    fn add_echo(&self, reply: &ReplyMessage<'_>, held: &Value) -> Value {
        let mut written = json!(reply);
        if let Some(map) = written.as_object_mut() {
            if echo::has_reasoning(held) {
                map.remove("reasoning_content");
            }
            echo::restore_echo(map, held, self.ask.settings.send_reasoning_back);
        }
        written
    }
}

fn tool_value(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    })
}

#[cfg(test)]
mod tests;
