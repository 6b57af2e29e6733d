//! Parses chat completion events of all known formats. Every field is optional.

use super::provider_error::ProviderError;
use crate::chat::Usage;
use crate::chat::reply_limit::ReplySize;
use serde_json::Value;

/// A piece of information in an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// More text.
    Text(String),
    /// More reasoning, sent separately by the provider.
    Reasoning(String),
    /// Parts of tool calls; all parts of one event together.
    Calls(Vec<CallPart>),
    /// Finish reason in the provider's terms.
    Finish(String),
    /// Token usage.
    Usage(Usage),
    /// The event is the complete reply; nothing follows.
    Complete,
    /// An error of the provider, in the event or in the choice.
    Fault(ProviderError),
}

impl Delta {
    /// Adds the size of the text to the size of the reply.
    pub fn add_size(&self, size: &mut ReplySize) {
        match self {
            Self::Text(text) | Self::Reasoning(text) => size.add(text),
            Self::Calls(parts) => parts.iter().flat_map(CallPart::texts).for_each(|text| size.add(text)),
            Self::Finish(_) | Self::Usage(_) | Self::Complete | Self::Fault(_) => {}
        }
    }
}

/// A part of a tool call, or all of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallPart {
    /// Index of the call in the reply, if given.
    pub index: Option<u64>,
    /// Id of the call, if given.
    pub id: Option<String>,
    /// Name of the tool, if given.
    pub name: Option<String>,
    /// More of the arguments.
    pub arguments: String,
    /// Provider data that must be sent back with the call, such as Gemini's thought signature.
    pub provider_data: Option<Value>,
}

impl CallPart {
    /// Iterates over the texts in the part.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.id.as_deref().into_iter().chain(self.name.as_deref()).chain([self.arguments.as_str()])
    }
}

/// Index of the choice that is the reply. aye never requests others.
pub const REPLY_INDEX: u64 = 0;

/// Parses the information about the choice with this index and about the reply as a whole, in processing order.
pub fn parse_deltas(event: &Value, choice_index: u64) -> Vec<Delta> {
    let mut out = Vec::new();
    let mut ends = Vec::new();
    for choice in choices_at(event, choice_index) {
        let deltas = list_objects(choice.get("delta"));
        let full_message = choice.get("message").filter(|message| message.is_object());
        for message in deltas.iter().copied().chain(full_message.filter(|_| deltas.is_empty())) {
            parse_message(message, &mut out);
        }
        if let (true, None, Some(text)) = (deltas.is_empty(), full_message, non_empty_text(choice.get("text"))) {
            out.push(Delta::Text(text));
        }
        if let Some(error) = choice.get("error").filter(|error| !error.is_null()) {
            out.push(Delta::Fault(ProviderError::parse(error)));
        }
        let reason = choice.get("finish_reason");
        ends.extend(non_empty_text(reason).or_else(|| non_empty_text(reason?.get("type"))).map(Delta::Finish));
        if deltas.is_empty() && full_message.is_some() {
            ends.push(Delta::Complete);
        }
    }
    out.extend(parse_event_usage(event).map(Delta::Usage));
    out.extend(parse_error(event).map(Delta::Fault));
    out.extend(ends);
    out
}

/// Iterates over the indexes of the choices in an event. The default index of a choice is its position.
pub fn choice_indexes(event: &Value) -> impl Iterator<Item = u64> {
    (0..).zip(list_choices(event)).map(|(position, choice)| parse_integer(choice.get("index")).unwrap_or(position))
}

/// Iterates over the choices with this index.
pub fn choices_at(event: &Value, choice_index: u64) -> impl Iterator<Item = &Value> {
    choice_indexes(event)
        .zip(list_choices(event))
        .filter(move |(index, _)| *index == choice_index)
        .map(|(_, choice)| choice)
}

/// Returns whether a complete body is a reply.
pub fn is_reply(body: &Value) -> bool {
    list_choices(body).iter().any(|choice| ["message", "delta", "text"].iter().any(|key| choice.get(*key).is_some()))
}

/// Returns whether the value is a chunk of a streamed reply.
pub fn is_chunk(event: &Value) -> bool {
    list_choices(event).iter().any(|choice| choice.get("delta").is_some())
}

/// Returns whether the event has content but belongs to another API than chat completions.
pub fn is_foreign(event: &Value) -> bool {
    let Value::Object(map) = event else { return false };
    let chat_keys = ["choices", "usage", "error", "x_groq", "prompt_filter_results"];
    let is_keep_alive = map.get("type").is_some_and(|kind| kind == "ping" || kind == "keepalive");
    !map.is_empty() && !is_keep_alive && !chat_keys.iter().any(|key| map.contains_key(*key))
}

/// Parses the error in an event or a body, if any.
pub fn parse_error(event: &Value) -> Option<ProviderError> {
    let event = event.as_array().map_or(event, |list| list.first().unwrap_or(event));
    let is_set = |key: &str| match event.get(key) {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(_) => true,
    };
    let is_error_kind =
        |key: &str| event.get(key).and_then(Value::as_str).is_some_and(|kind| kind.eq_ignore_ascii_case("error"));
    let has_message = event.get("message").is_some_and(Value::is_string);
    let is_error_object = ["detail", "errors", "error_message", "error_code"].iter().any(|key| is_set(key))
        || is_error_kind("object")
        || is_error_kind("type")
        || (has_message && ["code", "status", "error_type"].iter().any(|key| is_set(key)));
    let nested_value = |key: &str, inner: &str| event.get(key).and_then(|outer| outer.get(inner));
    let has_failed = nested_value("base_resp", "status_code").and_then(Value::as_i64).is_some_and(|code| code != 0);
    if has_failed || is_set("error") || (list_choices(event).is_empty() && is_error_object) {
        return Some(ProviderError::parse(event));
    }
    nested_value("x_groq", "error").filter(|error| !error.is_null()).map(ProviderError::parse)
}

fn list_choices(event: &Value) -> Vec<&Value> {
    list_objects(event.get("choices"))
}

/// Returns the objects in a list, or a single object as a list.
fn list_objects(value: Option<&Value>) -> Vec<&Value> {
    match value {
        Some(Value::Array(list)) => list.iter().filter(|item| item.is_object()).collect(),
        Some(object @ Value::Object(_)) => vec![object],
        _ => Vec::new(),
    }
}

/// Parses a non-negative integer from a number or a string.
fn parse_integer(value: Option<&Value>) -> Option<u64> {
    match value? {
        Value::Number(number) => {
            number.as_u64().or_else(|| number.as_f64().filter(|n| *n >= 0.0 && n.fract() == 0.0).map(|n| n as u64))
        }
        Value::String(text) => text.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn parse_message(message: &Value, out: &mut Vec<Delta>) {
    // Some providers send the same reasoning under two keys; only one is used.
    let reasoning = ["reasoning_content", "reasoning"].iter().find_map(|key| non_empty_text(message.get(*key)));
    let join_details = || join_parts(message.get("reasoning_details")?, &["text", "summary"]);
    out.extend(reasoning.or_else(join_details).map(Delta::Reasoning));
    match message.get("content") {
        Some(list @ Value::Array(_)) => {
            if let Some(text) = join_thinking_parts(list) {
                out.push(Delta::Reasoning(text));
            }
            out.extend(join_parts(list, &["text"]).map(Delta::Text));
        }
        Some(part @ Value::Object(_)) => out.extend(non_empty_text(part.get("text")).map(Delta::Text)),
        content => out.extend(non_empty_text(content).map(Delta::Text)),
    }
    out.extend(non_empty_text(message.get("refusal")).map(Delta::Text));
    let mut calls: Vec<CallPart> = match message.get("tool_calls") {
        Some(Value::Array(list)) => list.iter().map(parse_call).collect(),
        Some(object @ Value::Object(_)) => vec![parse_call(object)],
        _ => Vec::new(),
    };
    // The older format of tool calls.
    if let (true, Some(function @ Value::Object(_))) = (calls.is_empty(), message.get("function_call")) {
        calls.push(parse_call(&serde_json::json!({ "function": function })));
    }
    if !calls.is_empty() {
        out.push(Delta::Calls(calls));
    }
}

fn parse_call(call: &Value) -> CallPart {
    let inner = ["function", "custom"].iter().find_map(|key| call.get(*key).filter(|inner| inner.is_object()));
    let function = inner.unwrap_or(call);
    let arguments = match function.get("arguments").or_else(|| function.get("input")) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(value) => value.to_string(),
    };
    let id = match call.get("id") {
        Some(Value::Number(number)) => Some(number.to_string()),
        id => non_empty_text(id),
    };
    // Some providers send the string "null" for a missing name.
    let name = non_empty_text(function.get("name")).filter(|name| name != "null");
    let extra = call.get("extra_content").filter(|extra| !extra.is_null()).cloned();
    CallPart { index: parse_integer(call.get("index")), id, name, arguments, provider_data: extra }
}

/// Parses the token usage in an event, if any.
fn parse_event_usage(event: &Value) -> Option<Usage> {
    let groq = event.get("x_groq").and_then(|extension| extension.get("usage"));
    let usage = [event.get("usage"), groq].into_iter().flatten().find(|usage| usage.is_object());
    let usage = match usage {
        Some(usage) => parse_usage(usage),
        None => parse_timings(event.get("timings")?),
    };
    (usage != Usage::default()).then_some(usage)
}

/// Parses token usage with any of the known keys.
pub fn parse_usage(usage: &Value) -> Usage {
    let first_count = |keys: [&str; 2]| keys.iter().find_map(|key| parse_count(usage.get(*key)?)).unwrap_or(0);
    let cached_count = |key: &str| usage.get(key).and_then(|details| parse_count(details.get("cached_tokens")?));
    Usage {
        input: first_count(["prompt_tokens", "input_tokens"]),
        cached: cached_count("prompt_tokens_details")
            .or_else(|| cached_count("input_tokens_details"))
            .unwrap_or_else(|| first_count(["prompt_cache_hit_tokens", "cached_tokens"])),
        output: first_count(["completion_tokens", "output_tokens"]),
    }
}

/// Parses llama.cpp's timings, which replace token usage if it was not requested. `prompt_n` excludes cached tokens.
fn parse_timings(timings: &Value) -> Usage {
    let count = |key: &str| timings.get(key).and_then(parse_count).unwrap_or(0);
    let cached = count("cache_n");
    Usage { input: count("prompt_n").saturating_add(cached), cached, output: count("predicted_n") }
}

/// Parses a plausible token count.
fn parse_count(value: &Value) -> Option<u64> {
    value.as_f64().filter(|n| (0.0..1e12).contains(n)).map(|n| n as u64)
}

/// Returns a non-empty string.
pub fn non_empty_text(value: Option<&Value>) -> Option<String> {
    value?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Concatenates text that is sent as a list of parts.
fn join_parts(list: &Value, keys: &[&str]) -> Option<String> {
    let text: String = list
        .as_array()?
        .iter()
        .filter_map(|part| part.as_str().or_else(|| keys.iter().find_map(|key| part.get(*key)?.as_str())))
        .collect();
    (!text.is_empty()).then_some(text)
}

fn join_thinking_parts(list: &Value) -> Option<String> {
    let text: String = list
        .as_array()?
        .iter()
        .filter_map(|part| part.get("thinking"))
        .filter_map(|thinking| thinking.as_str().map(str::to_owned).or_else(|| join_parts(thinking, &["text"])))
        .collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
