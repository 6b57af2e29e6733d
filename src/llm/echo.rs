//! Data that chat providers send with a reply and require back: signatures of calls, reasoning details, and the
//! reasoning itself.
//!
//! Gemini sends `extra_content` with each call and rejects calls without it; OpenRouter and MiniMax send
//! `reasoning_details`; DeepSeek and Moonshot reject calls without the `reasoning_content` that led to them, in every
//! later request too; MiniMax expects the text between its reasoning tags. Calls are matched by position because their
//! ids are made unique after the reply.

use super::chat_events::{choices_at, non_empty_text};
use crate::chat::ToolCall;
use serde_json::{Map, Value, json};

/// Key of provider data in a call or a reply.
const EXTRA_CONTENT: &str = "extra_content";
/// Key of the reasoning in parts.
const REASONING_DETAILS: &str = "reasoning_details";
/// Keys of the reasoning as text.
const REASONING_KEYS: [&str; 2] = ["reasoning_content", "reasoning"];
/// Key under which reasoning from tags in the text is stored.
const TAGGED_REASONING: &str = "think";

/// Data collected from a reply so far.
#[derive(Debug, Default)]
pub struct EchoData {
    /// Complete `reasoning_details`.
    details: Vec<Value>,
    /// `extra_content` of the reply itself, not of its calls.
    extra: Option<Value>,
    /// Reasoning text received under each of [`REASONING_KEYS`].
    reasoning: [String; 2],
    /// Reasoning found between tags in the text.
    tagged: String,
    /// Reasoning text is collected.
    pub wants_reasoning: bool,
}

impl EchoData {
    /// Starts empty. Reasoning text is collected only if `wants_reasoning`.
    pub fn new(wants_reasoning: bool) -> Self {
        Self { wants_reasoning, ..Self::default() }
    }

    /// Collects the data in one event for the choice with this index.
    pub fn collect_event(&mut self, event: &Value, choice_index: u64) {
        let Some(message) = choices_at(event, choice_index).find_map(find_message) else { return };
        for detail in message.get(REASONING_DETAILS).and_then(Value::as_array).into_iter().flatten() {
            self.add_detail(detail);
        }
        if let Some(extra) = message.get(EXTRA_CONTENT).filter(|extra| !extra.is_null()) {
            self.extra = Some(extra.clone());
        }
        if self.wants_reasoning {
            for (name, text) in REASONING_KEYS.iter().zip(&mut self.reasoning) {
                text.extend(non_empty_text(message.get(*name)));
            }
        }
    }

    /// Collects reasoning found between tags in the text.
    pub fn collect_tagged(&mut self, reasoning: &str) {
        if self.wants_reasoning {
            self.tagged.push_str(reasoning);
        }
    }

    /// Adds a detail. A stream sends details in pieces; providers expect them back complete.
    fn add_detail(&mut self, detail: &Value) {
        let has_same_value = |other: &Value, key: &str| other.get(key) == detail.get(key);
        let is_text = |detail: &Value, key: &str| detail.get(key).is_some_and(Value::is_string);
        // The last piece of a text may have only its signature.
        let key = ["text", "summary"]
            .into_iter()
            .find(|key| is_text(detail, key) || self.details.last().is_some_and(|last| is_text(last, key)));
        match (self.details.last_mut(), key) {
            (Some(last_detail), Some(key))
                if has_same_value(last_detail, "type") && has_same_value(last_detail, "index") =>
            {
                let Value::Object(last) = last_detail else { return };
                let new_text = non_empty_text(detail.get(key)).unwrap_or_default();
                let joined = non_empty_text(last.get(key)).unwrap_or_default() + &new_text;
                for (name, value) in detail.as_object().into_iter().flatten() {
                    if !value.is_null() {
                        last.insert(name.clone(), value.clone());
                    }
                }
                last.insert(key.to_owned(), json!(joined));
            }
            _ => self.details.push(detail.clone()),
        }
    }

    /// Returns the collected data for the session log once the reply is complete, or `None` if there is none. `extras`
    /// holds the `extra_content` of each call.
    pub fn into_stored(self, calls: &[ToolCall], extras: Vec<Option<Value>>) -> Option<Value> {
        let mut stored = Map::new();
        if extras.iter().any(Option::is_some) {
            stored.insert("calls".to_owned(), extras.into_iter().collect());
        }
        stored.extend(self.extra.map(|extra| (EXTRA_CONTENT.to_owned(), extra)));
        if !self.details.is_empty() {
            // Details may refer to calls by id.
            stored.insert("ids".to_owned(), calls.iter().map(|call| json!(call.id.0)).collect());
            stored.insert(REASONING_DETAILS.to_owned(), Value::Array(self.details));
        }
        let reasoning = REASONING_KEYS.iter().zip(self.reasoning).find(|(_, text)| !text.is_empty());
        stored.extend(reasoning.map(|(name, text)| ((*name).to_owned(), json!(text))));
        if !self.tagged.is_empty() {
            stored.insert(TAGGED_REASONING.to_owned(), json!(self.tagged));
        }
        (!stored.is_empty()).then_some(Value::Object(stored))
    }
}

/// Returns the message of a choice, streamed or complete.
fn find_message(choice: &Value) -> Option<&Value> {
    ["delta", "message"].iter().filter_map(|key| choice.get(*key)).find(|message| message.is_object())
}

/// Adds the stored data to a message that is sent back. Call ids in the data are replaced by those of the message. Data
/// of calls is omitted if the number of calls differs, and reasoning text unless `wants_reasoning`.
pub fn restore_echo(message: &mut Map<String, Value>, stored: &Value, wants_reasoning: bool) {
    let mut calls = message.remove("tool_calls");
    let call_values = calls.as_mut().and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default();
    let extras = stored.get("calls").and_then(Value::as_array).filter(|list| list.len() == call_values.len());
    for (call, extra) in call_values.iter_mut().zip(extras.into_iter().flatten()) {
        if let (Value::Object(call), false) = (call, extra.is_null()) {
            call.insert(EXTRA_CONTENT.to_owned(), extra.clone());
        }
    }
    if let Some(Value::Array(details)) = stored.get(REASONING_DETAILS) {
        let mut details = details.clone();
        let ids = stored.get("ids").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for detail in &mut details {
            let call_index = detail.get("id").and_then(|id| ids.iter().position(|stored_id| stored_id == id));
            if let Some(call) = call_index.and_then(|index| call_values.get(index)) {
                detail["id"] = call["id"].clone();
            }
        }
        message.insert(REASONING_DETAILS.to_owned(), Value::Array(details));
    }
    if let Some(extra) = stored.get(EXTRA_CONTENT) {
        message.insert(EXTRA_CONTENT.to_owned(), extra.clone());
    }
    for name in REASONING_KEYS.iter().filter(|_| wants_reasoning) {
        if let Some(reasoning) = stored.get(*name) {
            message.insert((*name).to_owned(), reasoning.clone());
        }
    }
    if let (true, Some(tagged)) = (wants_reasoning, stored.get(TAGGED_REASONING).and_then(Value::as_str)) {
        let text = message.get("content").and_then(Value::as_str).unwrap_or_default();
        let content = format!("<think>\n{tagged}\n</think>\n\n{text}");
        message.insert("content".to_owned(), json!(content));
    }
    message.extend(calls.map(|calls| ("tool_calls".to_owned(), calls)));
}

/// Returns whether the data contains reasoning text.
pub fn has_reasoning(stored: &Value) -> bool {
    REASONING_KEYS.iter().chain([&TAGGED_REASONING]).any(|name| stored.get(*name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::CallId;
    use crate::llm::chat_events::REPLY_INDEX;

    fn collect_echo(events: &[Value], calls: &[&str], extras: Vec<Option<Value>>) -> Option<Value> {
        let mut echo = EchoData::new(true);
        for delta in events {
            echo.collect_event(&json!({"choices": [{"delta": delta}]}), REPLY_INDEX);
        }
        let call = |id: &&str| ToolCall { id: CallId::from(*id), name: "f".into(), arguments: "{}".into() };
        echo.into_stored(&calls.iter().map(call).collect::<Vec<_>>(), extras)
    }

    fn restore_message(stored: &Value, ids: &[&str], wants_reasoning: bool) -> Value {
        let calls: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
        let mut message = Map::new();
        message.insert("tool_calls".to_owned(), json!(calls));
        restore_echo(&mut message, stored, wants_reasoning);
        Value::Object(message)
    }

    #[test]
    fn a_reply_without_provider_data_has_no_echo() {
        assert_eq!(
            collect_echo(&[json!({"content": "a", "reasoning_details": [], "extra_content": null})], &[], vec![]),
            None
        );
        assert_eq!(collect_echo(&[json!({"tool_calls": []})], &["a"], vec![None]), None);
        let mut echo = EchoData::new(false);
        echo.collect_event(&json!({"choices": [{"delta": {"reasoning_content": "r"}}]}), REPLY_INDEX);
        assert_eq!(echo.into_stored(&[], vec![]), None, "reasoning is collected only if wanted");
        let mut echo = EchoData::new(true);
        for event in [json!({}), json!([]), json!({"choices": 3}), json!({"choices": [{"delta": []}]})] {
            echo.collect_event(&event, REPLY_INDEX);
        }
        assert_eq!(echo.into_stored(&[], vec![]), None);
    }

    #[test]
    fn signatures_are_sent_back_with_the_call_at_the_same_position() {
        let signature = |text: &str| json!({"google": {"thought_signature": text}});
        let stored =
            collect_echo(&[], &["a", "b", "c"], vec![Some(signature("x")), None, Some(signature("z"))]).unwrap();
        assert_eq!(
            restore_message(&stored, &["a-2", "b", "c"], false)["tool_calls"],
            json!([{"id": "a-2", "extra_content": signature("x")}, {"id": "b"}, {"id": "c", "extra_content": signature("z")}])
        );
        assert_eq!(restore_message(&stored, &["a"], false)["tool_calls"], json!([{"id": "a"}]), "other calls");
    }

    #[test]
    fn reasoning_details_are_sent_back_complete_with_current_call_ids() {
        let text_event = |text: &str, signature: Value| json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": text, "signature": signature}]});
        let sealed_event =
            json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "s", "id": "tool_0", "index": 1}]});
        let events = [text_event("a", Value::Null), text_event("b", json!("sig")), sealed_event.clone(), sealed_event];
        let stored = collect_echo(&events, &["tool_0"], vec![None]).unwrap();
        let sealed_detail = |id: &str| json!({"type": "reasoning.encrypted", "data": "s", "id": id, "index": 1});
        assert_eq!(
            restore_message(&stored, &["tool_0-2"], false)["reasoning_details"],
            json!([{"type": "reasoning.text", "index": 0, "text": "ab", "signature": "sig"}, sealed_detail("tool_0-2"), sealed_detail("tool_0-2")])
        );
        assert_eq!(
            restore_message(&stored, &[], false)["reasoning_details"][1],
            sealed_detail("tool_0"),
            "without a call the id stays"
        );
    }

    #[test]
    fn reasoning_is_sent_back_under_its_original_key_if_wanted() {
        for name in REASONING_KEYS {
            let stored = collect_echo(&[json!({name: "a"}), json!({name: "b"})], &[], vec![]).unwrap();
            assert_eq!(stored, json!({name: "ab"}));
            assert_eq!(restore_message(&stored, &[], true)[name], json!("ab"));
            assert_eq!(restore_message(&stored, &[], false).get(name), None);
        }
        let mut echo = EchoData::new(true);
        echo.collect_tagged("a");
        echo.collect_tagged("b");
        let stored = echo.into_stored(&[], vec![]).unwrap();
        let mut message = json!({"content": "said"}).as_object().unwrap().clone();
        restore_echo(&mut message, &stored, false);
        assert_eq!(message["content"], "said");
        restore_echo(&mut message, &stored, true);
        assert_eq!(message["content"], "<think>\nab\n</think>\n\nsaid");
        let stored = collect_echo(&[json!({"reasoning": "r", "reasoning_content": "r"})], &[], vec![]).unwrap();
        assert_eq!(stored, json!({"reasoning_content": "r"}), "the same reasoning is sent once");
    }

    #[test]
    fn a_signature_alone_completes_the_detail_before_it() {
        let event = |detail: Value| json!({"reasoning_details": [detail]});
        let events = [
            event(json!({"type": "reasoning.text", "index": 0, "text": "a"})),
            event(json!({"type": "reasoning.text", "index": 0, "signature": "sig"})),
            event(json!({"type": "reasoning.text", "index": 1, "signature": "other"})),
        ];
        assert_eq!(
            collect_echo(&events, &[], vec![]).unwrap()["reasoning_details"],
            json!([
                {"type": "reasoning.text", "index": 0, "text": "a", "signature": "sig"},
                {"type": "reasoning.text", "index": 1, "signature": "other"},
            ])
        );
    }
}
