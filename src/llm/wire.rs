//! What one event of a service says, whatever shape it has. Everything is optional, nothing is taken for granted.

use super::fault::Fault;
use crate::chat::Usage;
use serde_json::Value;

/// One thing that an event says.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// More text.
    Text(String),
    /// More reasoning, which the service keeps apart by itself.
    Reasoning(String),
    /// More of the calls; those of one event together.
    Calls(Vec<CallPart>),
    /// Why the reply ended, in the service's word.
    Finish(String),
    /// What was counted.
    Usage(Usage),
    /// The event is the whole reply: nothing else comes.
    Whole,
    /// An error.
    Fault(Fault),
}

/// A part of a call, or all of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallPart {
    /// Which call of the reply, where that is said.
    pub index: Option<u64>,
    /// Its id, where it is said.
    pub id: Option<String>,
    /// Its tool, where it is said.
    pub name: Option<String>,
    /// More of its arguments.
    pub arguments: String,
}

/// Everything an event says, in the order in which it is to be understood.
pub fn read(event: &Value) -> Vec<Delta> {
    let mut out = Vec::new();
    for choice in choices(event) {
        // Only the first of several alternatives is ours; nobody asked for more.
        if choice.get("index").and_then(Value::as_u64).unwrap_or(0) != 0 {
            continue;
        }
        let delta = choice.get("delta").filter(|delta| delta.is_object());
        let whole = choice.get("message").filter(|message| message.is_object());
        if let Some(message) = delta.or(whole) {
            read_message(message, &mut out);
        } else if let Some(text) = text_of(choice.get("text")) {
            out.push(Delta::Text(text));
        }
        if let Some(error) = choice.get("error").filter(|error| !error.is_null()) {
            out.push(Delta::Fault(Fault::read(error)));
        }
        if let Some(reason) = text_of(choice.get("finish_reason")) {
            out.push(Delta::Finish(reason));
        }
        if delta.is_none() && whole.is_some() {
            out.push(Delta::Whole);
        }
    }
    if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
        out.push(Delta::Usage(read_usage(usage)));
    }
    if let Some(fault) = read_fault(event) {
        out.push(Delta::Fault(fault));
    }
    out
}

/// Whether a body that came in one piece is a reply.
pub fn is_reply(body: &Value) -> bool {
    choices(body)
        .iter()
        .any(|choice| ["message", "delta", "text"].iter().any(|key| choice.get(*key).is_some()))
}

/// The error that an event or a body is, where it is one.
pub fn read_fault(event: &Value) -> Option<Fault> {
    let set =
        |key: &str| event.get(key).is_some_and(|value| !value.is_null() && value != &Value::Bool(false));
    let bare =
        choices(event).is_empty() && (set("detail") || event.get("object").is_some_and(|o| o == "error"));
    (set("error") || bare).then(|| Fault::read(event))
}

fn choices(event: &Value) -> &[Value] {
    event.get("choices").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn read_message(message: &Value, out: &mut Vec<Delta>) {
    // Some services send the same thoughts under two names; one of them is enough.
    let thoughts = ["reasoning_content", "reasoning"].iter().find_map(|key| text_of(message.get(*key)));
    let details = || parts(message.get("reasoning_details")?, &["text", "summary"]);
    out.extend(thoughts.or_else(details).map(Delta::Reasoning));
    match message.get("content") {
        Some(list @ Value::Array(_)) => {
            if let Some(text) = thinking_parts(list) {
                out.push(Delta::Reasoning(text));
            }
            out.extend(parts(list, &["text"]).map(Delta::Text));
        }
        content => out.extend(text_of(content).map(Delta::Text)),
    }
    out.extend(text_of(message.get("refusal")).map(Delta::Text));
    let mut calls: Vec<CallPart> = match message.get("tool_calls") {
        Some(Value::Array(list)) => list.iter().map(read_call).collect(),
        Some(one @ Value::Object(_)) => vec![read_call(one)],
        _ => Vec::new(),
    };
    // The older way to say the same.
    if let (true, Some(function @ Value::Object(_))) = (calls.is_empty(), message.get("function_call")) {
        calls.push(read_call(&serde_json::json!({ "function": function })));
    }
    if !calls.is_empty() {
        out.push(Delta::Calls(calls));
    }
}

fn read_call(call: &Value) -> CallPart {
    let function = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(value) => value.to_string(),
    };
    let id = match call.get("id") {
        Some(Value::Number(number)) => Some(number.to_string()),
        id => text_of(id),
    };
    CallPart {
        index: call.get("index").and_then(Value::as_u64),
        id,
        name: text_of(function.get("name")),
        arguments,
    }
}

fn read_usage(usage: &Value) -> Usage {
    let number = |keys: [&str; 2]| keys.iter().find_map(|key| count(usage.get(*key)?)).unwrap_or(0);
    let details = |key: &str| usage.get(key).and_then(|details| count(details.get("cached_tokens")?));
    Usage {
        input: number(["prompt_tokens", "input_tokens"]),
        cached: details("prompt_tokens_details")
            .or_else(|| details("input_tokens_details"))
            .unwrap_or_else(|| number(["prompt_cache_hit_tokens", "cached_tokens"])),
        output: number(["completion_tokens", "output_tokens"]),
    }
}

fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))
}

fn text_of(value: Option<&Value>) -> Option<String> {
    value?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Text that comes as a list of parts.
fn parts(list: &Value, keys: &[&str]) -> Option<String> {
    let text: String = list
        .as_array()?
        .iter()
        .filter_map(|part| part.as_str().or_else(|| keys.iter().find_map(|key| part.get(*key)?.as_str())))
        .collect();
    (!text.is_empty()).then_some(text)
}

fn thinking_parts(list: &Value) -> Option<String> {
    let text: String = list
        .as_array()?
        .iter()
        .filter_map(|part| part.get("thinking"))
        .filter_map(|thinking| thinking.as_str().map(str::to_owned).or_else(|| parts(thinking, &["text"])))
        .collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
