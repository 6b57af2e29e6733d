//! The items of a reply: as they are held in the log, and as they go back to the service.
//!
//! Held is a list in the order of the reply. Reasoning is held as it came; of a message only its id, its phase and how
//! many bytes of the reply's text it is; of a call only its id. Text and calls themselves are in the log already.

use crate::chat::ToolCall;
use crate::chat::hidden::mark_hidden;
use serde_json::{Map, Value, json};

/// Reasoning that can be sent back: what is sealed always, what can be read only where it is wanted.
pub fn reasoning(item: &Value, wants_plain: bool) -> Option<Value> {
    let sealed = item.get("encrypted_content").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let plain = item.get("content").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    let goes_back = sealed || (plain && wants_plain);
    if !goes_back {
        return None;
    }
    // Only what an input may have: a field too many is refused.
    let mut kept: Map<String, Value> = ["id", "type", "summary", "content", "encrypted_content"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), item.get(name).filter(|value| !value.is_null())?.clone())))
        .filter(|(name, value)| name != "content" || value.as_array().is_some_and(|list| !list.is_empty()))
        .collect();
    kept.insert("type".to_owned(), json!("reasoning"));
    kept.entry("summary").or_insert_with(|| json!([]));
    Some(Value::Object(kept))
}

/// A message in the list that is held.
pub fn message(id: Option<&str>, phase: Option<&Value>, bytes: usize) -> Value {
    let mut held = Map::new();
    held.insert("type".to_owned(), json!("message"));
    held.extend(id.map(|id| ("id".to_owned(), json!(id))));
    held.extend(phase.map(|phase| ("phase".to_owned(), phase.clone())));
    held.insert("bytes".to_owned(), json!(bytes));
    Value::Object(held)
}

/// A call in the list that is held.
pub fn call(id: Option<&str>) -> Value {
    let mut held = Map::new();
    held.insert("type".to_owned(), json!("function_call"));
    held.extend(id.map(|id| ("id".to_owned(), json!(id))));
    Value::Object(held)
}

/// Whether a list is worth holding: without reasoning and phases the text and the calls say it all.
pub fn is_worth_it(held: &[Value]) -> bool {
    held.iter().any(|item| item["type"] == "reasoning" || item.get("phase").is_some())
}

/// A reply without anything held.
pub fn plain(text: &str, calls: &[ToolCall]) -> Vec<Value> {
    let said = (!text.trim().is_empty()).then(|| written_message(text, &Value::Null));
    said.into_iter().chain(calls.iter().map(|call| written_call(call, &Value::Null))).collect()
}

/// A reply with everything that was held of it, in its order. Nothing where that is not of this text and these calls.
pub fn give_back(held: &Value, text: &str, calls: &[ToolCall]) -> Option<Vec<Value>> {
    let held = held.as_array()?;
    let is = |kind: &'static str| move |item: &&Value| item["type"] == kind;
    let messages = held.iter().filter(is("message")).count();
    if held.iter().filter(is("function_call")).count() != calls.len() || (messages == 0 && !text.is_empty()) {
        return None;
    }
    let (mut text, mut calls) = (text, calls.iter());
    let mut out = Vec::new();
    let mut left = messages;
    for item in held {
        match item["type"].as_str() {
            Some("message") => {
                left -= 1;
                let bytes = usize::try_from(item["bytes"].as_u64()?).ok()?;
                let (said, rest) = match left {
                    0 if messages == 1 => (text, ""),
                    _ => text.split_at_checked(bytes)?,
                };
                if left == 0 && !rest.is_empty() {
                    return None;
                }
                text = rest;
                if !said.trim().is_empty() {
                    out.push(written_message(said, item));
                }
            }
            Some("function_call") => out.push(written_call(calls.next()?, item)),
            Some("reasoning") => out.push(item.clone()),
            _ => return None,
        }
    }
    // Reasoning that leads to nothing is refused.
    while out.last().is_some_and(|item| item["type"] == "reasoning") {
        out.pop();
    }
    Some(out)
}

fn written_message(text: &str, held: &Value) -> Value {
    let text = mark_hidden(text);
    let mut item =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    if let Some(id) = held.get("id") {
        item["id"] = id.clone();
        item["status"] = json!("completed");
        item["content"][0]["annotations"] = json!([]);
    }
    if let Some(phase) = held.get("phase") {
        item["phase"] = phase.clone();
    }
    item
}

fn written_call(call: &ToolCall, held: &Value) -> Value {
    let mut item = json!({"type": "function_call", "call_id": call.id.0, "name": call.name, "arguments": call.arguments});
    if let Some(id) = held.get("id") {
        item["id"] = id.clone();
    }
    item
}
