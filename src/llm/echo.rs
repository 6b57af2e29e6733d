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
    details: Vec<Value>,
    extra: Option<Value>,
    reasoning: [String; 2],
    tagged: String,
    wants_reasoning: bool,
}

impl EchoData {
    /// Starts empty. Reasoning text is collected only if `wants_thoughts`.
    pub fn new(wants_reasoning: bool) -> Self {
        Self { wants_reasoning, ..Self::default() }
    }

    /// Returns whether reasoning text is collected.
    pub fn wants_reasoning(&self) -> bool {
        self.wants_reasoning
    }

    /// Collects the data in one event for the choice with this index.
    pub fn collect_event(&mut self, event: &Value, wanted: u64) {
        let Some(message) = choices_at(event, wanted).find_map(message_of) else { return };
        for detail in message.get(REASONING_DETAILS).and_then(Value::as_array).into_iter().flatten() {
            self.add_detail(detail);
        }
        if let Some(extra) = message.get(EXTRA_CONTENT).filter(|extra| !extra.is_null()) {
            self.extra = Some(extra.clone());
        }
        if self.wants_reasoning {
            for (name, all) in REASONING_KEYS.iter().zip(&mut self.reasoning) {
                all.extend(non_empty_text(message.get(*name)));
            }
        }
    }

    /// Collects reasoning found between tags in the text.
    pub fn collect_tagged(&mut self, thought: &str) {
        if self.wants_reasoning {
            self.tagged.push_str(thought);
        }
    }

    /// Adds a detail. A stream sends details in pieces; providers expect them back complete.
    fn add_detail(&mut self, detail: &Value) {
        let same = |one: &Value, key: &str| one.get(key) == detail.get(key);
        let grows = |key: &str| detail.get(key).is_some_and(Value::is_string);
        let key = ["text", "summary"].into_iter().find(|key| grows(key));
        match (self.details.last_mut(), key) {
            (Some(last), Some(key)) if same(last, "type") && same(last, "index") => {
                let Value::Object(last) = last else { return };
                let more = non_empty_text(detail.get(key)).unwrap_or_default();
                let all = non_empty_text(last.get(key)).unwrap_or_default() + &more;
                for (name, value) in detail.as_object().into_iter().flatten() {
                    if !value.is_null() {
                        last.insert(name.clone(), value.clone());
                    }
                }
                last.insert(key.to_owned(), json!(all));
            }
            _ => self.details.push(detail.clone()),
        }
    }

    /// Returns the collected data for the session log once the reply is complete, or `None` if there is none.
    pub fn into_stored(self, calls: &[ToolCall], extras: Vec<Option<Value>>) -> Option<Value> {
        let mut held = Map::new();
        if extras.iter().any(Option::is_some) {
            held.insert("calls".to_owned(), extras.into_iter().collect());
        }
        held.extend(self.extra.map(|extra| (EXTRA_CONTENT.to_owned(), extra)));
        if !self.details.is_empty() {
            // Details may refer to calls by id.
            held.insert("ids".to_owned(), calls.iter().map(|call| json!(call.id.0)).collect());
            held.insert(REASONING_DETAILS.to_owned(), Value::Array(self.details));
        }
        let thoughts = REASONING_KEYS.iter().zip(self.reasoning).find(|(_, all)| !all.is_empty());
        held.extend(thoughts.map(|(name, all)| ((*name).to_owned(), json!(all))));
        if !self.tagged.is_empty() {
            held.insert(TAGGED_REASONING.to_owned(), json!(self.tagged));
        }
        (!held.is_empty()).then_some(Value::Object(held))
    }
}

/// Returns the message of a choice, streamed or complete.
fn message_of(choice: &Value) -> Option<&Value> {
    ["delta", "message"].iter().filter_map(|key| choice.get(*key)).find(|message| message.is_object())
}

/// Adds the collected data to a message that is sent back, using the calls as written in it. Data that does not match
/// the calls is omitted.
pub fn restore_echo(message: &mut Map<String, Value>, held: &Value, thoughts: bool) {
    let mut calls = message.remove("tool_calls");
    let written = calls.as_mut().and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default();
    let extras = held.get("calls").and_then(Value::as_array).filter(|list| list.len() == written.len());
    for (call, extra) in written.iter_mut().zip(extras.into_iter().flatten()) {
        if let (Value::Object(call), false) = (call, extra.is_null()) {
            call.insert(EXTRA_CONTENT.to_owned(), extra.clone());
        }
    }
    if let Some(Value::Array(details)) = held.get(REASONING_DETAILS) {
        let mut details = details.clone();
        let ids = held.get("ids").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for detail in &mut details {
            let named = detail.get("id").and_then(|id| ids.iter().position(|own| own == id));
            if let Some(call) = named.and_then(|at| written.get(at)) {
                detail["id"] = call["id"].clone();
            }
        }
        message.insert(REASONING_DETAILS.to_owned(), Value::Array(details));
    }
    if let Some(extra) = held.get(EXTRA_CONTENT) {
        message.insert(EXTRA_CONTENT.to_owned(), extra.clone());
    }
    for name in REASONING_KEYS.iter().filter(|_| thoughts) {
        if let Some(all) = held.get(*name) {
            message.insert((*name).to_owned(), all.clone());
        }
    }
    if let (true, Some(tagged)) = (thoughts, held.get(TAGGED_REASONING).and_then(Value::as_str)) {
        let text = message.get("content").and_then(Value::as_str).unwrap_or_default();
        let all = format!("<think>\n{tagged}\n</think>\n\n{text}");
        message.insert("content".to_owned(), json!(all));
    }
    message.extend(calls.map(|calls| ("tool_calls".to_owned(), calls)));
}

/// Returns whether the data contains reasoning text.
pub fn has_reasoning(held: &Value) -> bool {
    REASONING_KEYS.iter().chain([&TAGGED_REASONING]).any(|name| held.get(*name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::CallId;
    use crate::llm::chat_events::REPLY_INDEX;

    fn holds(events: &[Value], calls: &[&str], extras: Vec<Option<Value>>) -> Option<Value> {
        let mut held = EchoData::new(true);
        for delta in events {
            held.collect_event(&json!({"choices": [{"delta": delta}]}), REPLY_INDEX);
        }
        let call = |id: &&str| ToolCall { id: CallId::from(*id), name: "f".into(), arguments: "{}".into() };
        held.into_stored(&calls.iter().map(call).collect::<Vec<_>>(), extras)
    }

    fn goes_back(held: &Value, ids: &[&str], thoughts: bool) -> Value {
        let calls: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
        let mut message = Map::new();
        message.insert("tool_calls".to_owned(), json!(calls));
        restore_echo(&mut message, held, thoughts);
        Value::Object(message)
    }

    #[test]
    fn a_reply_without_provider_data_has_no_echo() {
        assert_eq!(
            holds(&[json!({"content": "a", "reasoning_details": [], "extra_content": null})], &[], vec![]),
            None
        );
        assert_eq!(holds(&[json!({"tool_calls": []})], &["a"], vec![None]), None);
        let mut held = EchoData::new(false);
        held.collect_event(&json!({"choices": [{"delta": {"reasoning_content": "r"}}]}), REPLY_INDEX);
        assert_eq!(held.into_stored(&[], vec![]), None, "reasoning is collected only if wanted");
        let mut odd = EchoData::new(true);
        for event in [json!({}), json!([]), json!({"choices": 3}), json!({"choices": [{"delta": []}]})] {
            odd.collect_event(&event, REPLY_INDEX);
        }
        assert_eq!(odd.into_stored(&[], vec![]), None);
    }

    #[test]
    fn signatures_are_sent_back_with_the_call_at_the_same_position() {
        let signed = |text: &str| json!({"google": {"thought_signature": text}});
        let held = holds(&[], &["a", "b", "c"], vec![Some(signed("x")), None, Some(signed("z"))]).unwrap();
        assert_eq!(
            goes_back(&held, &["a-2", "b", "c"], false)["tool_calls"],
            json!([{"id": "a-2", "extra_content": signed("x")}, {"id": "b"}, {"id": "c", "extra_content": signed("z")}])
        );
        assert_eq!(goes_back(&held, &["a"], false)["tool_calls"], json!([{"id": "a"}]), "other calls");
    }

    #[test]
    fn reasoning_details_are_sent_back_complete_with_current_call_ids() {
        let text = |text: &str, signature: Value| json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": text, "signature": signature}]});
        let sealed =
            json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "s", "id": "tool_0", "index": 1}]});
        let events = [text("a", Value::Null), text("b", json!("sig")), sealed.clone(), sealed];
        let held = holds(&events, &["tool_0"], vec![None]).unwrap();
        let sealed = |id: &str| json!({"type": "reasoning.encrypted", "data": "s", "id": id, "index": 1});
        assert_eq!(
            goes_back(&held, &["tool_0-2"], false)["reasoning_details"],
            json!([{"type": "reasoning.text", "index": 0, "text": "ab", "signature": "sig"}, sealed("tool_0-2"), sealed("tool_0-2")])
        );
        assert_eq!(
            goes_back(&held, &[], false)["reasoning_details"][1],
            sealed("tool_0"),
            "without a call the id stays"
        );
    }

    #[test]
    fn reasoning_is_sent_back_under_its_original_key_if_wanted() {
        for name in REASONING_KEYS {
            let held = holds(&[json!({name: "a"}), json!({name: "b"})], &[], vec![]).unwrap();
            assert_eq!(held, json!({name: "ab"}));
            assert_eq!(goes_back(&held, &[], true)[name], json!("ab"));
            assert_eq!(goes_back(&held, &[], false).get(name), None);
        }
        let mut tagged = EchoData::new(true);
        tagged.collect_tagged("a");
        tagged.collect_tagged("b");
        let held = tagged.into_stored(&[], vec![]).unwrap();
        let mut message = json!({"content": "said"}).as_object().unwrap().clone();
        restore_echo(&mut message, &held, false);
        assert_eq!(message["content"], "said");
        restore_echo(&mut message, &held, true);
        assert_eq!(message["content"], "<think>\nab\n</think>\n\nsaid");
        let both = holds(&[json!({"reasoning": "r", "reasoning_content": "r"})], &[], vec![]).unwrap();
        assert_eq!(both, json!({"reasoning_content": "r"}), "the same reasoning is sent once");
    }
}
