//! Collects events of the responses API into chunks. Pure: the same events give the same chunks.
//!
//! Most of a reply arrives several times: in pieces, with its complete part, with its complete item, and with the
//! complete response. Text is emitted once; text missing from the pieces is taken from a later repetition.

use super::slots::{Kind, MAX_ITEMS, Slots};
use crate::chat::reply_limit::ReplySize;
use crate::chat::{Chunk, Echo, FinishReason, ToolCall, Usage};
use crate::llm::Error;
use crate::llm::calls::Calls;
use crate::llm::chat_collector::{chunk_from_piece, parse_finish_reason};
use crate::llm::chat_events::{self, CallPart, non_empty_text};
use crate::llm::provider_error::{ProviderError, clip};
use crate::llm::reasoning_tags::{Piece, ReasoningSplitter};
use crate::llm::reply::{ChunkQueue, End, is_visible};
use crate::llm::unreadable_events::UnreadableEvents;
use serde_json::Value;

/// State of one reply.
#[derive(Debug, Default)]
pub struct ResponsesCollector {
    from: String,
    wants_reasoning: bool,
    split: ReasoningSplitter,
    slots: Slots,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    /// Item that emitted text last, and whether an earlier item emitted text after it.
    last_text_slot: usize,
    is_out_of_order: bool,
    has_reasoning: bool,
    pub(super) size: ReplySize,
    /// Something visible to the user has arrived.
    was_shown: bool,
    failed: bool,
    has_ended: bool,
    /// Events that could not be read.
    unreadable: UnreadableEvents,
}

impl ResponsesCollector {
    /// Creates the state for a reply from `from`; `reasoning` means that unencrypted reasoning must be sent back.
    pub fn for_origin(from: String, reasoning: bool) -> Self {
        Self { from, wants_reasoning: reasoning, ..Self::default() }
    }

    /// Processes one event. Must not be called after an error.
    pub fn collect_event(&mut self, event: &Value, out: &mut ChunkQueue) {
        if self.has_ended() {
            return;
        }
        let before = out.len();
        match event.get("type").and_then(Value::as_str) {
            Some("error") => self.fail_reply(event, out),
            Some(kind) => self.collect_typed(kind.strip_prefix("response.").unwrap_or(kind), event, out),
            None if super::is_reply(event) => self.collect_response(event, out),
            None if event.get("choices").is_some() => {
                self.failed = true;
                let words = "Cannot read the reply: its events are chat completion events. Set `api` of the profile to \"chat\".";
                out.push_back(Err(Error::InvalidReply(words.to_owned())));
            }
            None if chat_events::parse_error(event).is_some() => self.fail_reply(event, out),
            None => {}
        }
        if let (Some(excess), false) = (self.size.excess_error(), self.failed) {
            self.failed = true;
            out.push_back(Err(Error::InvalidReply(excess)));
        }
        if self.slots.has_too_many() && !self.failed {
            self.failed = true;
            out.push_back(Err(Error::InvalidReply(format!(
                "The reply was aborted: it has more than {MAX_ITEMS} items"
            ))));
        }
        self.was_shown |= out.iter().skip(before).any(|chunk| matches!(chunk, Ok(chunk) if is_visible(chunk)));
    }

    /// Skips an unreadable event that begins with `start`. Most of its content is repeated later.
    pub fn skip_event(&mut self, start: String) {
        self.unreadable.add_event(start);
    }

    /// Returns whether nothing can follow.
    pub fn has_ended(&self) -> bool {
        self.has_ended || self.failed || self.finish.is_some()
    }

    /// Ends the reply: emits its echo, calls and [`Chunk::Done`] if it is complete, otherwise an error. Only the
    /// provider's own end event completes a reply, not the end of the stream.
    pub fn finish(&mut self, end: End, out: &mut ChunkQueue) {
        if std::mem::replace(&mut self.has_ended, true) || self.failed {
            return;
        }
        let rest = self.split.finish().into_iter().collect();
        self.emit_pieces(self.last_text_slot, rest, out);
        let finish = match (self.finish.take(), end) {
            (Some(finish), _) => finish,
            (None, End::Marked | End::Unmarked) => {
                let why = "the provider closed it before the reply was complete";
                let cut = || Error::ConnectionLost(why.to_owned());
                out.push_back(Err(self.unreadable.error_without_end().unwrap_or_else(cut)));
                return;
            }
            (None, End::Failed(error)) => {
                out.push_back(Err(error));
                return;
            }
        };
        let calls = self.complete_calls();
        // A call marked as complete is complete; a call assembled from pieces may lack one.
        let in_pieces = self.slots.iter().any(|slot| slot.kind == Kind::Call && !slot.is_complete);
        if let Some(error) = self.unreadable.error_at_end(self.was_shown || !calls.is_empty(), in_pieces) {
            out.push_back(Err(error));
            return;
        }
        if finish == FinishReason::Stop {
            if self.slots.iter().any(|slot| slot.kind == Kind::Call && !slot.is_complete_call()) {
                out.push_back(Err(Error::ConnectionLost("a tool call was never completed".to_owned())));
                return;
            }
            out.extend(self.build_echo().map(|echo| Ok(Chunk::Echo(echo))));
        }
        out.extend(calls.into_iter().map(|call| Ok(Chunk::Call(call))));
        out.push_back(Ok(Chunk::Done(finish)));
    }

    fn collect_typed(&mut self, kind: &str, event: &Value, out: &mut ChunkQueue) {
        let at = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or(0);
        let part = at("content_index");
        match kind {
            "output_item.added" => {
                let item = &event["item"];
                if let Some(kind) = Kind::from_item(item) {
                    let slot = self.slots.begin_item(kind, event);
                    self.update_name(slot, item);
                    self.emit_writing(slot, out);
                }
            }
            "output_item.done" => {
                if let Some(kind) = Kind::from_item(&event["item"]) {
                    let slot = self.slots.find_item(kind, event, false);
                    self.complete_item(slot, &event["item"], out);
                }
            }
            "output_text.delta" | "refusal.delta" => {
                let (slot, text) = (self.slots.find_item(Kind::Message, event, true), delta_text(event));
                self.emit_text(slot, part, &text, false, out);
            }
            "output_text.done" | "refusal.done" => {
                let text = non_empty_text(event.get("text")).or_else(|| non_empty_text(event.get("refusal")));
                let slot = self.slots.find_item(Kind::Message, event, false);
                self.emit_text(slot, part, &text.unwrap_or_default(), true, out);
            }
            "content_part.done" => {
                let (words, is_thought) = part_text(&event["part"]);
                if is_thought {
                    let slot = self.slots.find_item(Kind::Reasoning, event, false);
                    self.emit_reasoning(slot, "content", part, &words, true, out);
                } else if !words.is_empty() {
                    let slot = self.slots.find_item(Kind::Message, event, false);
                    self.emit_text(slot, part, &words, true, out);
                }
            }
            "reasoning_summary_text.delta" | "reasoning_summary.delta" => {
                let slot = self.slots.find_item(Kind::Reasoning, event, true);
                self.emit_reasoning(slot, "summary", at("summary_index"), &delta_text(event), false, out);
            }
            "reasoning_summary_text.done" | "reasoning_summary_part.done" => {
                let text = non_empty_text(event.get("text")).unwrap_or_else(|| part_text(&event["part"]).0);
                let slot = self.slots.find_item(Kind::Reasoning, event, false);
                self.emit_reasoning(slot, "summary", at("summary_index"), &text, true, out);
            }
            "reasoning_text.delta" | "reasoning.delta" => {
                let slot = self.slots.find_item(Kind::Reasoning, event, true);
                self.emit_reasoning(slot, "content", part, &delta_text(event), false, out);
            }
            "reasoning_text.done" | "reasoning.done" => {
                let text = non_empty_text(event.get("text")).unwrap_or_default();
                let slot = self.slots.find_item(Kind::Reasoning, event, false);
                self.emit_reasoning(slot, "content", part, &text, true, out);
            }
            "function_call_arguments.delta" => {
                let slot = self.slots.find_item(Kind::Call, event, true);
                let own = self.slots.slot_mut(slot);
                if !own.is_complete {
                    let more = delta_text(event);
                    own.arguments.push_str(&more);
                    self.size.add(&more);
                }
                self.emit_writing(slot, out);
            }
            "function_call_arguments.done" => {
                let slot = self.slots.find_item(Kind::Call, event, false);
                self.update_name(slot, event);
                self.complete_arguments(slot, event.get("arguments"));
                self.emit_writing(slot, out);
            }
            "completed" | "incomplete" | "failed" | "cancelled" | "done" => {
                let response = event.get("response").unwrap_or(event);
                self.collect_final(kind, response, out);
            }
            _ => {}
        }
    }

    /// Processes the complete response.
    fn collect_response(&mut self, response: &Value, out: &mut ChunkQueue) {
        let status = response.get("status").and_then(Value::as_str).unwrap_or("completed").to_owned();
        self.collect_final(&status, response, out);
    }

    fn collect_final(&mut self, kind: &str, response: &Value, out: &mut ChunkQueue) {
        let items = response.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (slot, item) in self.slots.match_items(items) {
            self.complete_item(slot, &item, out);
        }
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            let usage = chat_events::parse_usage(usage);
            if self.usage.replace(usage) != Some(usage) {
                out.push_back(Ok(Chunk::Usage(usage)));
            }
        }
        let status = response.get("status").and_then(Value::as_str).unwrap_or_default();
        let is = |word: &str| kind == word || status == word;
        if is("failed") || is("cancelled") || response.get("error").is_some_and(|error| !error.is_null()) {
            self.fail_reply(response, out);
        } else if is("incomplete") {
            let reason = response.get("incomplete_details").and_then(|why| non_empty_text(why.get("reason")));
            self.finish = Some(match parse_finish_reason(reason.as_deref().unwrap_or_default()) {
                // The reply did not end normally, whatever reason is given.
                None | Some(FinishReason::Stop) => {
                    FinishReason::Filtered(clip(reason.as_deref().unwrap_or("no reason given"), 60))
                }
                Some(known @ (FinishReason::Length | FinishReason::Filtered(_))) => known,
            });
        } else if kind == "completed" || kind == "done" {
            self.finish = Some(FinishReason::Stop);
        }
    }

    /// Processes an item in its final form.
    fn complete_item(&mut self, slot: usize, item: &Value, out: &mut ChunkQueue) {
        self.update_name(slot, item);
        match Kind::from_item(item) {
            Some(Kind::Message) => match item.get("content") {
                Some(Value::Array(parts)) => {
                    for (at, part) in (0..).zip(parts.iter().take(MAX_ITEMS)) {
                        self.emit_text(slot, at, &part_text(part).0, true, out);
                    }
                }
                content => self.emit_text(slot, 0, &non_empty_text(content).unwrap_or_default(), true, out),
            },
            Some(Kind::Reasoning) => {
                for name in ["summary", "content"] {
                    let parts = item.get(name).and_then(Value::as_array).into_iter().flatten();
                    for (at, part) in (0..).zip(parts.take(MAX_ITEMS)) {
                        self.emit_reasoning(slot, name, at, &part_text(part).0, true, out);
                    }
                }
                let kept = super::items::stored_reasoning(item, self.wants_reasoning);
                let own = self.slots.slot_mut(slot);
                own.reasoning = kept.or_else(|| own.reasoning.take());
            }
            Some(Kind::Call) if !is_incomplete_item(item) => self.complete_arguments(slot, item.get("arguments")),
            Some(Kind::Call) | None => {}
        }
        let own = self.slots.slot_mut(slot);
        own.is_complete |= own.kind != Kind::Call;
    }

    fn update_name(&mut self, slot: usize, item: &Value) {
        let own = self.slots.slot_mut(slot);
        if let Some(name) = non_empty_text(item.get("name")) {
            own.name = name;
        }
        own.call_id = non_empty_text(item.get("call_id")).or_else(|| own.call_id.take());
        own.phase = item.get("phase").filter(|phase| phase.is_string()).cloned().or_else(|| own.phase.take());
    }

    fn complete_arguments(&mut self, slot: usize, arguments: Option<&Value>) {
        let own = self.slots.slot_mut(slot);
        let whole = match arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        if !whole.is_empty() && whole != own.arguments {
            self.size.add(&whole);
            own.arguments = whole;
        }
        own.is_complete = true;
    }

    fn emit_writing(&mut self, slot: usize, out: &mut ChunkQueue) {
        let own = self.slots.slot_mut(slot);
        if own.kind == Kind::Call {
            out.push_back(Ok(Chunk::CallProgress { name: own.name.clone(), bytes: own.arguments.len() }));
        }
    }

    fn emit_text(&mut self, slot: usize, at: u64, text: &str, is_all: bool, out: &mut ChunkQueue) {
        let own = self.slots.slot_mut(slot);
        let (more, _) = if is_all { own.complete_text("text", at, text) } else { own.append_text("text", at, text) };
        if more.is_empty() {
            return;
        }
        self.size.add(more);
        self.is_out_of_order |= slot < self.last_text_slot;
        self.last_text_slot = slot;
        // The final text has no gap to mark.
        let mark = if is_all { "" } else { self.unreadable.take_mark(self.was_shown) };
        let pieces = self.split.split_text(&format!("{mark}{more}"));
        self.emit_pieces(slot, pieces, out);
    }

    fn emit_pieces(&mut self, slot: usize, pieces: Vec<Piece>, out: &mut ChunkQueue) {
        for piece in pieces {
            if let Piece::Text(text) = &piece {
                self.slots.slot_mut(slot).bytes += text.len();
            }
            out.push_back(Ok(chunk_from_piece(piece)));
        }
    }

    fn emit_reasoning(
        &mut self,
        slot: usize,
        name: &'static str,
        at: u64,
        text: &str,
        is_all: bool,
        out: &mut ChunkQueue,
    ) {
        let own = self.slots.slot_mut(slot);
        if own.has_other_reasoning(name) || text.is_empty() {
            return;
        }
        let (more, new) = if is_all { own.complete_text(name, at, text) } else { own.append_text(name, at, text) };
        if !more.is_empty() {
            self.size.add(more);
            let gap = if new && self.has_reasoning { "\n\n" } else { "" };
            self.has_reasoning = true;
            out.push_back(Ok(Chunk::Reasoning(format!("{gap}{more}"))));
        }
    }

    fn complete_calls(&self) -> Vec<ToolCall> {
        let mut calls = Calls::default();
        let whole = self.slots.iter().filter(|slot| slot.kind == Kind::Call && slot.is_complete_call());
        for (index, slot) in (0..).zip(whole) {
            calls.add_parts(vec![CallPart {
                index: Some(index),
                id: slot.call_id.clone(),
                name: Some(slot.name.clone()),
                arguments: slot.arguments.clone(),
                provider_data: None,
            }]);
        }
        calls.take_calls()
    }

    fn build_echo(&self) -> Option<Echo> {
        let held: Vec<Value> = self.slots.iter().filter_map(super::slots::Slot::stored_item).collect();
        let fits = !self.is_out_of_order && super::items::is_worth_storing(&held);
        fits.then(|| Echo { origin: self.from.clone(), data: Value::Array(held) })
    }

    fn fail_reply(&mut self, event: &Value, out: &mut ChunkQueue) {
        let rest = self.split.finish().into_iter().collect();
        self.emit_pieces(self.last_text_slot, rest, out);
        self.failed = true;
        let mut fault = ProviderError::parse(event);
        // The name of the event is not an error code.
        fault.code = fault.code.filter(|code| code != "error");
        let status = fault.status.or_else(|| status_of_code(fault.code.as_deref()?));
        out.push_back(Err(match status {
            // Nothing was shown yet, so this is treated like an error response.
            Some(status) if !self.was_shown => fault.into_error(status, None),
            _ => Error::InStream(fault.sentence()),
        }));
    }
}

/// Returns the HTTP status that corresponds to an error code.
fn status_of_code(code: &str) -> Option<u16> {
    match code {
        "server_error" | "internal_server_error" | "internal_error" => Some(500),
        "server_is_overloaded" | "overloaded_error" | "slow_down" => Some(503),
        "rate_limit_exceeded" | "insufficient_quota" => Some(429),
        "context_length_exceeded" | "invalid_prompt" | "invalid_request_error" => Some(400),
        _ => None,
    }
}

fn is_incomplete_item(item: &Value) -> bool {
    item.get("status").is_some_and(|status| status == "incomplete" || status == "in_progress")
}

fn delta_text(event: &Value) -> String {
    let delta = event.get("delta");
    non_empty_text(delta).or_else(|| non_empty_text(delta?.get("text"))).unwrap_or_default()
}

/// Returns the text of a part, and whether it is reasoning.
fn part_text(part: &Value) -> (String, bool) {
    let text = non_empty_text(Some(part))
        .or_else(|| non_empty_text(part.get("text")))
        .or_else(|| non_empty_text(part.get("refusal")));
    let is_thought = part.get("type").is_some_and(|kind| kind == "reasoning_text" || kind == "summary_text");
    (text.unwrap_or_default(), is_thought)
}
