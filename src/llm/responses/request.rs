//! Request body for the responses API, built from async-openai's types.
//!
//! Two kinds of items are JSON values instead: text of the model and its reasoning; see `items`. The parameter
//! `reasoning` is a JSON value too, because its effort is in the provider's own terms and may be any text.

use super::items::{self, InputEntry};
use crate::chat::{Image, Message, ToolSpec};
use crate::llm::prepared_request::PreparedRequest;
use crate::llm::request_body::{RequestBody, to_parameters};
use async_openai::types::responses::{
    CreateResponse, EasyInputContent, EasyInputMessage, FunctionCallOutput, FunctionCallOutputItemParam, FunctionTool,
    IncludeEnum, InputContent, InputImageContent, InputItem, InputTextContent, Item, Role, Tool,
};
use serde_json::{Value, json};

/// Minimum reply limit; providers reject a smaller one.
const MIN_REPLY_LIMIT: u64 = 16;
/// Parameters that the user's own parameters cannot change.
const FIXED: [&str; 5] = ["input", "instructions", "model", "stream", "tools"];

/// Builds the body of a request. The user's own parameters are passed on unchanged and override the defaults set here;
/// `null` removes a default. They cannot change those in `FIXED`.
pub fn build_responses_body(mut prepared: PreparedRequest<'_>) -> RequestBody {
    let tools = std::mem::take(&mut prepared.tools);
    let has_tools = !tools.is_empty();
    let mut messages = std::mem::take(&mut prepared.messages).into_iter().peekable();
    let instructions = match messages.next_if(|first| matches!(first, Message::System(_))) {
        Some(Message::System(text)) => Some(text),
        _ => None,
    };
    let mut body = to_parameters(&CreateResponse {
        store: Some(false),
        include: Some(vec![IncludeEnum::ReasoningEncryptedContent]),
        parallel_tool_calls: prepared.settings.quirks.parallel_calls,
        model: Some(std::mem::take(&mut prepared.model)),
        instructions,
        stream: Some(true),
        tools: has_tools.then(|| tools.into_iter().map(to_responses_tool).collect()),
        ..CreateResponse::default()
    });
    let effort = prepared.settings.quirks.reasoning_effort.as_ref();
    body.extend(effort.map(|effort| ("reasoning".to_owned(), json!({"effort": effort}))));
    body.extend(prepared.answer_schema.take().map(|schema| {
        let format = json!({ "type": "json_schema", "name": "answer", "schema": schema });
        ("text".to_owned(), json!({ "format": format }))
    }));
    for (name, value) in prepared.own_parameters(&FIXED) {
        match (body.get_mut(name), value) {
            // Merged, so that a user's `reasoning.summary` does not remove `reasoning.effort`.
            (Some(Value::Object(object)), Value::Object(user_object)) => {
                object.extend(user_object.iter().map(|(name, value)| (name.clone(), value.clone())));
                object.retain(|_, value| !value.is_null());
            }
            _ => {
                body.insert(name.clone(), value.clone());
            }
        }
    }
    body.extend(
        prepared.reply_limit("max_output_tokens").map(|(name, limit)| (name, json!(limit.max(MIN_REPLY_LIMIT)))),
    );
    prepared.drop_unsendable_parameters(&mut body, "input", has_tools);
    RequestBody::new(body, "input", messages.flat_map(|message| message_items(message, &prepared)))
}

/// Returns the items of a message.
fn message_items(message: Message, prepared: &PreparedRequest<'_>) -> Vec<InputEntry> {
    let input_message = |role, content| EasyInputMessage { role, content, ..EasyInputMessage::default() };
    let item: InputItem = match message {
        Message::System(text) => input_message(Role::System, EasyInputContent::Text(text)).into(),
        Message::User(text) => input_message(Role::User, user_content(text, prepared)).into(),
        Message::Tool { call, text } => output_item(call.0, text).into(),
        Message::Model { text, calls, echo } => {
            let items = echo.as_ref().and_then(|echo| items::restore_items(&echo.data, &text, &calls));
            return items.unwrap_or_else(|| items::plain_items(&text, &calls));
        }
    };
    vec![item.into()]
}

/// Returns the text of a user message with the images it mentions.
fn user_content(text: String, prepared: &PreparedRequest<'_>) -> EasyInputContent {
    let image_part = |image: &Image| {
        InputContent::from(InputImageContent { image_url: Some(image.data_url()), ..InputImageContent::default() })
    };
    let image_parts: Vec<InputContent> = prepared.images_in(&text).map(image_part).collect();
    if image_parts.is_empty() {
        return EasyInputContent::Text(text);
    }
    let text = InputTextContent { text, prompt_cache_breakpoint: None };
    EasyInputContent::ContentList(std::iter::once(text.into()).chain(image_parts).collect())
}

fn output_item(call_id: String, text: String) -> Item {
    Item::FunctionCallOutput(FunctionCallOutputItemParam {
        call_id: Some(call_id),
        output: FunctionCallOutput::Text(text),
        id: None,
        status: None,
        name: None,
        namespace: None,
        caller: None,
    })
}

/// Converts a tool. `strict` defaults to true at the provider, which then rejects most schemas.
fn to_responses_tool(tool: ToolSpec) -> Tool {
    Tool::Function(FunctionTool {
        name: tool.name,
        description: Some(tool.description),
        parameters: Some(tool.parameters.to_value()),
        strict: Some(false),
        ..FunctionTool::default()
    })
}
