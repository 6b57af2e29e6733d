//! Request body for chat completions.

use super::ask::Ask;
use super::echo;
use super::written::Written;
use crate::chat::hidden::mark_hidden;
use crate::chat::{Message, ToolCall, ToolSpec};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// Builds the body of a chat completion. The user's own parameters are passed on unchanged and override the defaults
/// set here; `null` removes a default. They cannot change the messages, the tools or `stream`.
pub fn body(ask: &Ask<'_>) -> Written {
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
    body.remove("messages");
    ask.finish(&mut body, tool);
    Written::new(body, "messages", ask.messages.iter().map(|message| Turn { message, ask }))
}

/// Returns the usual name of the reply limit: newer models of OpenAI and Azure reject the common name.
fn usual_limit(host: &str) -> &'static str {
    let azure = ["openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"];
    let is_below = |domain: &&str| host.strip_suffix(*domain).is_some_and(|rest| rest.ends_with('.'));
    if host == "api.openai.com" || azure.iter().any(is_below) {
        "max_completion_tokens"
    } else {
        "max_tokens"
    }
}

/// A message to serialize.
struct Turn<'a> {
    message: &'a Message,
    ask: &'a Ask<'a>,
}

/// A message that contains only text.
#[derive(Serialize)]
struct Words<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    content: &'a str,
}

/// A reply of the model.
#[derive(Serialize)]
struct Replied<'a> {
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

impl Serialize for Turn<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let words = |role, content| Words { role, tool_call_id: None, content };
        match self.message {
            Message::System(text) => words("system", text).serialize(serializer),
            Message::Person(text) => match self.pictures(text) {
                Some(parts) => json!({"role": "user", "content": parts}).serialize(serializer),
                None => words("user", text).serialize(serializer),
            },
            Message::Model { text, calls, echo } => {
                let marked = mark_hidden(text);
                let written = self.replied(&marked, calls);
                match echo {
                    Some(echo) => self.with_echo(&written, &echo.held).serialize(serializer),
                    None => written.serialize(serializer),
                }
            }
            Message::Tool { call, text } => {
                Words { role: "tool", tool_call_id: Some(&call.0), content: text }.serialize(serializer)
            }
        }
    }
}

impl Turn<'_> {
    /// Returns the user message with the images it mentions, or `None` if it mentions none.
    fn pictures(&self, text: &str) -> Option<Vec<Value>> {
        let mut shown = self.ask.shown(text).peekable();
        shown.peek()?;
        let part = |picture: &crate::chat::Picture| {
            let url = format!("data:{};base64,{}", picture.kind, picture.data);
            json!({"type": "image_url", "image_url": {"url": url}})
        };
        Some(std::iter::once(json!({"type": "text", "text": text})).chain(shown.map(part)).collect())
    }

    fn replied<'m>(&self, text: &'m str, calls: &'m [ToolCall]) -> Replied<'m> {
        let call = |call: &'m ToolCall| Call {
            id: &call.id.0,
            r#type: "function",
            function: Function { name: &call.name, arguments: &call.arguments },
        };
        Replied {
            role: "assistant",
            content: Some(text).filter(|text| !text.trim_start().is_empty()),
            tool_calls: calls.iter().map(call).collect(),
            reasoning_content: (self.ask.settings.reasoning_back && !calls.is_empty()).then_some(""),
        }
    }

    /// Serializes a reply with the data its provider requires back.
    fn with_echo(&self, reply: &Replied<'_>, held: &Value) -> Value {
        let mut written = json!(reply);
        if let Some(map) = written.as_object_mut() {
            if echo::has_thoughts(held) {
                map.remove("reasoning_content");
            }
            echo::give_back(map, held, self.ask.settings.reasoning_back);
        }
        written
    }
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    })
}

#[cfg(test)]
mod tests;
