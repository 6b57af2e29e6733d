//! Request body for chat completions, built from async-openai's types.
//!
//! The types lack three things, which are added to their JSON:
//! - parameters with other values or names than OpenAI's: any `reasoning_effort`, and the configured name of the reply
//!   limit;
//! - `content: null` and `reasoning_content` in a reply;
//! - provider data that must be sent back (`echo`), in a reply or in one of its calls.

use super::echo;
use super::prepared_request::PreparedRequest;
use super::request_body::{RequestBody, to_parameters};
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

/// Parameters that the user's own parameters cannot change.
const FIXED: [&str; 4] = ["messages", "model", "stream", "tools"];

/// Builds the body of a chat completion. The user's own parameters are passed on unchanged and override the defaults
/// set here; `null` removes a default. They cannot change those in `FIXED`.
pub fn build_chat_body(mut prepared: PreparedRequest<'_>) -> RequestBody {
    let tools = std::mem::take(&mut prepared.tools);
    let has_tools = !tools.is_empty();
    let mut body = to_parameters(&CreateChatCompletionRequest {
        model: std::mem::take(&mut prepared.model),
        stream: Some(true),
        stream_options: Some(ChatCompletionStreamOptions { include_usage: Some(true), include_obfuscation: None }),
        parallel_tool_calls: prepared.settings.quirks.parallel_calls,
        tools: has_tools.then(|| tools.into_iter().map(to_chat_tool).collect()),
        ..CreateChatCompletionRequest::default()
    });
    let effort = prepared.settings.quirks.reasoning_effort.as_ref();
    body.extend(effort.map(|effort| ("reasoning_effort".to_owned(), json!(effort))));
    body.extend(prepared.answer_schema.take().map(|schema| {
        let format = json!({ "name": "answer", "schema": schema });
        ("response_format".to_owned(), json!({ "type": "json_schema", "json_schema": format }))
    }));
    body.extend(prepared.own_parameters(&FIXED).map(|(name, value)| (name.clone(), value.clone())));
    body.extend(prepared.reply_limit(default_limit_name(&prepared.host)).map(|(name, limit)| (name, json!(limit))));
    prepared.drop_unsendable_parameters(&mut body, "messages", has_tools);
    let messages = std::mem::take(&mut prepared.messages);
    RequestBody::new(body, "messages", messages.into_iter().map(|message| ChatMessage::new(message, &prepared)))
}

/// Returns the usual name of the reply limit: newer models of OpenAI and Azure reject the common name.
fn default_limit_name(host: &str) -> &'static str {
    let azure = ["openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"];
    let is_subdomain = |domain: &&str| host.strip_suffix(*domain).is_some_and(|rest| rest.ends_with('.'));
    if host == "api.openai.com" || azure.iter().any(is_subdomain) { "max_completion_tokens" } else { "max_tokens" }
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
        extra_fields: Map<String, Value>,
    },
    /// A reply with the data that its provider requires back, which may belong inside its calls.
    WithEcho(Map<String, Value>),
}

impl ChatMessage {
    /// Converts a message. Its texts are moved: a long conversation takes megabytes.
    fn new(message: Message, prepared: &PreparedRequest<'_>) -> Self {
        let message = match message {
            Message::System(text) => ChatCompletionRequestSystemMessage { content: text.into(), name: None }.into(),
            Message::User(text) => {
                ChatCompletionRequestUserMessage { content: user_content(text, prepared), name: None }.into()
            }
            Message::Tool { call, text } => {
                ChatCompletionRequestToolMessage { content: text.into(), tool_call_id: call.0 }.into()
            }
            Message::Model { text, calls, echo } => {
                return Self::reply(text, calls, echo.map(|echo| echo.data), prepared);
            }
        };
        Self::Typed { message, extra_fields: Map::new() }
    }

    fn reply(text: String, calls: Vec<ToolCall>, echo: Option<Value>, prepared: &PreparedRequest<'_>) -> Self {
        let mut extra_fields = Map::new();
        let content = Some(mark_text(text)).filter(|text| !text.trim_start().is_empty());
        if content.is_none() {
            // Strict providers require the key even if the reply consists of calls.
            extra_fields.insert("content".to_owned(), Value::Null);
        }
        let wants_reasoning = prepared.settings.quirks.send_reasoning;
        if wants_reasoning && !calls.is_empty() && !echo.as_ref().is_some_and(echo::has_reasoning) {
            // A provider that requires the reasoning rejects calls without it, even calls of another model.
            extra_fields.insert("reasoning_content".to_owned(), json!(""));
        }
        let message = ChatCompletionRequestMessage::Assistant(ChatCompletionRequestAssistantMessage {
            content: content.map(Into::into),
            tool_calls: (!calls.is_empty()).then(|| calls.into_iter().map(to_chat_call).collect()),
            ..ChatCompletionRequestAssistantMessage::default()
        });
        match echo {
            None => Self::Typed { message, extra_fields },
            Some(data) => {
                let mut fields = to_parameters(&Self::Typed { message, extra_fields });
                echo::restore_echo(&mut fields, &data, wants_reasoning);
                Self::WithEcho(fields)
            }
        }
    }
}

/// Returns the text of a user message with the images it mentions.
fn user_content(text: String, prepared: &PreparedRequest<'_>) -> ChatCompletionRequestUserMessageContent {
    let image_part = |image: &crate::chat::Image| {
        UserPart::ImageUrl(ChatCompletionRequestMessageContentPartImage {
            image_url: ImageUrl { url: image.data_url(), detail: None },
            prompt_cache_breakpoint: None,
        })
    };
    let image_parts: Vec<UserPart> = prepared.images_in(&text).map(image_part).collect();
    if image_parts.is_empty() {
        return text.into();
    }
    let text = UserPart::Text(ChatCompletionRequestMessageContentPartText { text, prompt_cache_breakpoint: None });
    ChatCompletionRequestUserMessageContent::Array(std::iter::once(text).chain(image_parts).collect())
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
        parameters: Some(tool.parameters.to_value()),
        strict: None,
    };
    ChatCompletionTools::Function(ChatCompletionTool { function })
}

#[cfg(test)]
mod tests;
