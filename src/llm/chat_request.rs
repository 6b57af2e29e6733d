//! Request body for chat completions, built from async-openai's types.
//!
//! Three parts are added to the types because they have no place for them: parameters in the provider's own terms
//! (`reasoning_effort` has only OpenAI's seven values there, and the name of the reply limit is a setting), `content:
//! null` and `reasoning_content` of a reply, and the data of `echo`, which providers attach even to single calls.

use super::echo;
use super::prepared_request::PreparedRequest;
use super::request_body::{RequestBody, parameters_of};
use crate::chat::{Message, ToolCall, ToolSpec};
use crate::text::hidden_chars::mark_hidden;
use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage,
    ChatCompletionRequestMessage, ChatCompletionRequestMessageContentPartImage,
    ChatCompletionRequestMessageContentPartText, ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage,
    ChatCompletionRequestUserMessage, ChatCompletionRequestUserMessageContent,
    ChatCompletionRequestUserMessageContentPart as UserPart, ChatCompletionStreamOptions, ChatCompletionTool,
    ChatCompletionTools, CreateChatCompletionRequest, FunctionCall, FunctionObject, ImageUrl,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Parameters that the user's own cannot change.
const FIXED: [&str; 4] = ["messages", "model", "stream", "tools"];

/// Builds the body of a chat completion. The user's own parameters are passed on unchanged and override the defaults
/// set here; `null` removes a default. They cannot change the messages, the tools or `stream`.
pub fn build_chat_body(mut ask: PreparedRequest<'_>) -> RequestBody {
    let tools = std::mem::take(&mut ask.tools);
    let has_tools = !tools.is_empty();
    let mut body = parameters_of(&CreateChatCompletionRequest {
        model: std::mem::take(&mut ask.model),
        stream: Some(true),
        stream_options: Some(ChatCompletionStreamOptions { include_usage: Some(true), include_obfuscation: None }),
        parallel_tool_calls: ask.settings.quirks.parallel_calls,
        tools: has_tools.then(|| tools.into_iter().map(to_chat_tool).collect()),
        ..CreateChatCompletionRequest::default()
    });
    let effort = ask.settings.quirks.reasoning_effort.as_ref();
    body.extend(effort.map(|effort| ("reasoning_effort".to_owned(), json!(effort))));
    body.extend(ask.own_parameters(&FIXED).map(|(name, value)| (name.clone(), value.clone())));
    body.extend(ask.reply_limit(usual_limit(&ask.host)).map(|(name, most)| (name, json!(most))));
    ask.remove_unsent(&mut body, "messages", has_tools);
    let messages = std::mem::take(&mut ask.messages);
    RequestBody::new(body, "messages", messages.into_iter().map(|message| ChatMessage::new(message, &ask)))
}

/// Returns the usual name of the reply limit: newer models of OpenAI and Azure reject the common name.
fn usual_limit(host: &str) -> &'static str {
    let azure = ["openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"];
    let is_below = |domain: &&str| host.strip_suffix(*domain).is_some_and(|rest| rest.ends_with('.'));
    if host == "api.openai.com" || azure.iter().any(is_below) { "max_completion_tokens" } else { "max_tokens" }
}

/// A message to serialize.
#[derive(Serialize)]
#[serde(untagged)]
enum ChatMessage {
    /// async-openai's message, with fields that its type lacks.
    Typed {
        #[serde(flatten)]
        message: ChatCompletionRequestMessage,
        #[serde(flatten)]
        more: Map<String, Value>,
    },
    /// A reply with the data that its provider requires back, which may belong inside its calls.
    WithEcho(Map<String, Value>),
}

impl ChatMessage {
    /// Converts a message. Its texts are moved: a long conversation takes megabytes.
    fn new(message: Message, ask: &PreparedRequest<'_>) -> Self {
        let message = match message {
            Message::System(text) => ChatCompletionRequestSystemMessage { content: text.into(), name: None }.into(),
            Message::User(text) => {
                ChatCompletionRequestUserMessage { content: user_content(text, ask), name: None }.into()
            }
            Message::Tool { call, text } => {
                ChatCompletionRequestToolMessage { content: text.into(), tool_call_id: call.0 }.into()
            }
            Message::Model { text, calls, echo } => return Self::reply(text, calls, echo.map(|echo| echo.data), ask),
        };
        Self::Typed { message, more: Map::new() }
    }

    fn reply(text: String, calls: Vec<ToolCall>, echo: Option<Value>, ask: &PreparedRequest<'_>) -> Self {
        let mut more = Map::new();
        let said = Some(mark_text(text)).filter(|text| !text.trim_start().is_empty());
        if said.is_none() {
            // Strict providers require the key even if the reply consists of calls.
            more.insert("content".to_owned(), Value::Null);
        }
        let wants_reasoning = ask.settings.quirks.send_reasoning;
        if wants_reasoning && !calls.is_empty() && !echo.as_ref().is_some_and(echo::has_reasoning) {
            // A provider that requires the reasoning rejects calls without it, even calls of another model.
            more.insert("reasoning_content".to_owned(), json!(""));
        }
        let message = ChatCompletionRequestMessage::Assistant(ChatCompletionRequestAssistantMessage {
            content: said.map(Into::into),
            tool_calls: (!calls.is_empty()).then(|| calls.into_iter().map(to_chat_call).collect()),
            ..ChatCompletionRequestAssistantMessage::default()
        });
        match echo {
            None => Self::Typed { message, more },
            Some(held) => {
                let mut written = parameters_of(&Self::Typed { message, more });
                echo::restore_echo(&mut written, &held, wants_reasoning);
                Self::WithEcho(written)
            }
        }
    }
}

/// Returns the text of a user message with the images it mentions.
fn user_content(text: String, ask: &PreparedRequest<'_>) -> ChatCompletionRequestUserMessageContent {
    let image = |picture: &crate::chat::Image| {
        let url = format!("data:{};base64,{}", picture.mime_type, picture.data);
        UserPart::ImageUrl(ChatCompletionRequestMessageContentPartImage {
            image_url: ImageUrl { url, detail: None },
            prompt_cache_breakpoint: None,
        })
    };
    let images: Vec<UserPart> = ask.images_in(&text).map(image).collect();
    if images.is_empty() {
        return text.into();
    }
    let text = UserPart::Text(ChatCompletionRequestMessageContentPartText { text, prompt_cache_breakpoint: None });
    ChatCompletionRequestUserMessageContent::Array(std::iter::once(text).chain(images).collect())
}

/// Makes hidden characters of a reply visible.
fn mark_text(text: String) -> String {
    match mark_hidden(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(marked) => marked,
    }
}

fn to_chat_call(call: ToolCall) -> ChatCompletionMessageToolCalls {
    let function = FunctionCall { name: call.name, arguments: call.arguments };
    ChatCompletionMessageToolCalls::Function(ChatCompletionMessageToolCall { id: call.id.0, function })
}

fn to_chat_tool(tool: ToolSpec) -> ChatCompletionTools {
    let function = FunctionObject {
        name: tool.name,
        description: Some(tool.description),
        parameters: Some(tool.parameters),
        strict: None,
    };
    ChatCompletionTools::Function(ChatCompletionTool { function })
}

#[cfg(test)]
mod tests;
