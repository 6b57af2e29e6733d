//! Items of a reply, as stored in the session log and as sent back to the provider.
//!
//! The stored form is a list in the order of the reply. Reasoning is stored as received, a message as its id, its phase
//! and the number of bytes that it has of the reply text, a call as its id. Text and calls are in the log already.
//!
//! Of async-openai's types only the call is used. `OutputMessage` requires an id, which a reply of another provider
//! lacks, and adds `"logprobs": null`. `ReasoningItem` drops fields and parts that it does not know, but a provider
//! accepts encrypted reasoning only unchanged.

use crate::chat::ToolCall;
use crate::text::hidden_chars::mark_hidden;
use async_openai::types::responses::{FunctionToolCall, InputItem, Item};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// An item to serialize.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum InputEntry {
    /// An item of async-openai's types.
    Typed(Box<InputItem>),
    /// Text or reasoning of the model.
    Model(Value),
}

impl From<InputItem> for InputEntry {
    fn from(item: InputItem) -> Self {
        Self::Typed(Box::new(item))
    }
}

/// Returns reasoning in the form to send back: always if encrypted, otherwise only if `wants_plain`.
pub fn stored_reasoning(item: &Value, wants_plain: bool) -> Option<Value> {
    let is_encrypted = item.get("encrypted_content").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let has_plain_text = item.get("content").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    let is_sent_back = is_encrypted || (has_plain_text && wants_plain);
    if !is_sent_back {
        return None;
    }
    // Only fields that an input may have, because providers reject any others.
    let mut fields: Map<String, Value> = ["id", "type", "summary", "content", "encrypted_content"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), item.get(name).filter(|value| !value.is_null())?.clone())))
        .filter(|(name, value)| name != "content" || value.as_array().is_some_and(|list| !list.is_empty()))
        .collect();
    fields.insert("type".to_owned(), json!("reasoning"));
    fields.entry("summary").or_insert_with(|| json!([]));
    Some(Value::Object(fields))
}

/// Creates the stored form of a message.
pub fn stored_message(id: Option<&str>, phase: Option<&Value>, bytes: usize) -> Value {
    let mut fields = Map::new();
    fields.insert("type".to_owned(), json!("message"));
    fields.extend(id.map(|id| ("id".to_owned(), json!(id))));
    fields.extend(phase.map(|phase| ("phase".to_owned(), phase.clone())));
    fields.insert("bytes".to_owned(), json!(bytes));
    Value::Object(fields)
}

/// Creates the stored form of a call.
pub fn stored_call(id: Option<&str>) -> Value {
    let mut fields = Map::new();
    fields.insert("type".to_owned(), json!("function_call"));
    fields.extend(id.map(|id| ("id".to_owned(), json!(id))));
    Value::Object(fields)
}

/// Returns whether the list adds anything: without reasoning and phases the text and the calls are sufficient.
pub fn is_worth_storing(items: &[Value]) -> bool {
    items.iter().any(|item| item["type"] == "reasoning" || item.get("phase").is_some())
}

/// Serializes a reply without stored items.
pub fn plain_items(text: &str, calls: &[ToolCall]) -> Vec<InputEntry> {
    let message = (!text.trim().is_empty()).then(|| message_item(text, &Value::Null));
    message.into_iter().chain(calls.iter().map(|call| call_item(call, None))).collect()
}

/// Serializes a reply with its stored items, in order. Returns `None` if they do not match this text and these calls.
pub fn restore_items(stored: &Value, text: &str, calls: &[ToolCall]) -> Option<Vec<InputEntry>> {
    let stored = stored.as_array()?;
    let has_kind = |kind: &'static str| move |item: &&Value| item["type"] == kind;
    let messages = stored.iter().filter(has_kind("message")).count();
    if stored.iter().filter(has_kind("function_call")).count() != calls.len() || (messages == 0 && !text.is_empty()) {
        return None;
    }
    let (mut text, mut calls) = (text, calls.iter());
    let mut out = Vec::new();
    let mut remaining_messages = messages;
    for item in stored {
        match item["type"].as_str() {
            Some("message") => {
                remaining_messages -= 1;
                let bytes = usize::try_from(item["bytes"].as_u64()?).ok()?;
                // The only message has the whole text, whatever number of bytes is stored.
                let (message_text, remaining_text) = match remaining_messages {
                    0 if messages == 1 => (text, ""),
                    _ => text.split_at_checked(bytes)?,
                };
                if remaining_messages == 0 && !remaining_text.is_empty() {
                    return None;
                }
                text = remaining_text;
                if !message_text.trim().is_empty() {
                    out.push(message_item(message_text, item));
                }
            }
            Some("function_call") => out.push(call_item(calls.next()?, item.get("id").and_then(Value::as_str))),
            Some("reasoning") => out.push(InputEntry::Model(item.clone())),
            _ => return None,
        }
    }
    // Providers reject reasoning that is not followed by another item.
    while let Some(InputEntry::Model(item)) = out.last()
        && item["type"] == "reasoning"
    {
        out.pop();
    }
    Some(out)
}

fn message_item(text: &str, stored: &Value) -> InputEntry {
    let text = mark_hidden(text);
    let mut item = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    if let Some(id) = stored.get("id") {
        item["id"] = id.clone();
        item["status"] = json!("completed");
        item["content"][0]["annotations"] = json!([]);
    }
    if let Some(phase) = stored.get("phase") {
        item["phase"] = phase.clone();
    }
    InputEntry::Model(item)
}

fn call_item(call: &ToolCall, id: Option<&str>) -> InputEntry {
    let item = Item::FunctionCall(FunctionToolCall {
        arguments: call.arguments.clone(),
        call_id: call.id.0.clone(),
        name: call.name.clone(),
        id: id.map(str::to_owned),
        ..FunctionToolCall::default()
    });
    InputItem::from(item).into()
}
