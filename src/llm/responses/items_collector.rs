//! Collects events of the responses API into chunks. Pure: the same events give the same chunks.
//!
//! Most of a reply arrives several times: in pieces, with its complete part, with its complete item, and with the
//! complete response. Text is emitted once; text missing from the pieces is taken from a later repetition.

use super::item_writer::{ItemWriter, part_text};
use super::slots::{Kind, MAX_ITEMS};
use crate::chat::{Chunk, Echo, FinishReason, Usage};
use crate::llm::Error;
use crate::llm::chat_collector::parse_finish_reason;
use crate::llm::chat_events::{self, non_empty_text};
use crate::llm::chunk_queue::{ChunkQueue, End, is_visible};
use crate::llm::provider_error::{ProviderError, clip};
use serde_json::Value;

/// State of one reply.
#[derive(Debug, Default)]
pub struct ResponsesCollector {
    origin: String,
    pub(super) items: ItemWriter,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    has_failed: bool,
    has_ended: bool,
}

impl ResponsesCollector {
    /// Creates the state for a reply from `origin`; `wants_reasoning` means that unencrypted reasoning is sent back.
    pub fn for_origin(origin: String, wants_reasoning: bool) -> Self {
        Self { origin, items: ItemWriter::new(wants_reasoning), ..Self::default() }
    }

    /// Processes one event. Events after the end of the reply or after an error are ignored.
    pub fn collect_event(&mut self, event: &Value, out: &mut ChunkQueue) {
        if self.has_ended() {
            return;
        }
        let old_length = out.len();
        match event.get("type").and_then(Value::as_str) {
            Some("error") => self.fail_reply(event, out),
            Some(kind) => self.collect_typed(kind.strip_prefix("response.").unwrap_or(kind), event, out),
            None if super::is_reply(event) => self.collect_response(event, out),
            None if event.get("choices").is_some() => {
                self.has_failed = true;
                let message = "Cannot read the reply: its events are chat completion events. Set `api` of the profile to \"chat\".";
                out.push_back(Err(Error::InvalidReply(message.to_owned())));
            }
            None if chat_events::parse_error(event).is_some() => self.fail_reply(event, out),
            None => {}
        }
        if let (Some(message), false) = (self.items.size.excess_error(), self.has_failed) {
            self.has_failed = true;
            out.push_back(Err(Error::InvalidReply(message)));
        }
        if self.items.slots.has_too_many() && !self.has_failed {
            self.has_failed = true;
            out.push_back(Err(Error::InvalidReply(format!(
                "The reply was aborted: it has more than {MAX_ITEMS} items"
            ))));
        }
        self.items.was_shown |=
            out.iter().skip(old_length).any(|chunk| matches!(chunk, Ok(chunk) if is_visible(chunk)));
    }

    /// Skips an unreadable event that begins with `start`. Most of its content is repeated later.
    pub fn skip_event(&mut self, start: String) {
        self.items.unreadable.add_event(start);
    }

    /// Returns whether nothing can follow.
    pub fn has_ended(&self) -> bool {
        self.has_ended || self.has_failed || self.finish.is_some()
    }

    /// Ends the reply: emits its echo, calls and [`Chunk::Done`] if it is complete, otherwise an error. Only the
    /// provider's own end event completes a reply, not the end of the stream.
    pub fn finish(&mut self, end: End, out: &mut ChunkQueue) {
        if std::mem::replace(&mut self.has_ended, true) || self.has_failed {
            return;
        }
        self.items.flush_text(out);
        let finish = match (self.finish.take(), end) {
            (Some(finish), _) => finish,
            (None, End::Marked | End::Unmarked) => {
                let cause = "the provider closed it before the reply was complete";
                let connection_lost = || Error::ConnectionLost(cause.to_owned());
                out.push_back(Err(self.items.unreadable.error_without_end().unwrap_or_else(connection_lost)));
                return;
            }
            (None, End::Failed(error)) => {
                out.push_back(Err(error));
                return;
            }
        };
        let calls = self.items.finished_calls();
        // A call without the provider's completion mark was assembled from pieces, and one of them may have been in an
        // unreadable event.
        let has_unmarked_call = self.items.has_unmarked_call();
        if let Some(error) =
            self.items.unreadable.error_at_end(self.items.was_shown || !calls.is_empty(), has_unmarked_call)
        {
            out.push_back(Err(error));
            return;
        }
        if finish == FinishReason::Stop {
            if self.items.has_incomplete_call() {
                out.push_back(Err(Error::ConnectionLost("a tool call was never completed".to_owned())));
                return;
            }
            let echo = self.items.stored_items().map(|data| Echo { origin: self.origin.clone(), data });
            out.extend(echo.map(|echo| Ok(Chunk::Echo(echo))));
        }
        out.extend(calls.into_iter().map(|call| Ok(Chunk::Call(call))));
        out.push_back(Ok(Chunk::Done(finish)));
    }

    fn collect_typed(&mut self, kind: &str, event: &Value, out: &mut ChunkQueue) {
        let index_at = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or(0);
        let part_index = index_at("content_index");
        match kind {
            "output_item.added" => {
                let item = &event["item"];
                if let Some(kind) = Kind::from_item(item) {
                    let slot = self.items.slots.begin_item(kind, event);
                    self.items.update_identity(slot, item);
                    self.items.emit_call_progress(slot, out);
                }
            }
            "output_item.done" => {
                if let Some(kind) = Kind::from_item(&event["item"]) {
                    let slot = self.items.slots.find_item(kind, event, false);
                    self.items.complete_item(slot, &event["item"], out);
                }
            }
            "output_text.delta" | "refusal.delta" => {
                let (slot, text) = (self.items.slots.find_item(Kind::Message, event, true), delta_text(event));
                self.items.emit_text(slot, part_index, &text, false, out);
            }
            "output_text.done" | "refusal.done" => {
                let text = non_empty_text(event.get("text")).or_else(|| non_empty_text(event.get("refusal")));
                let slot = self.items.slots.find_item(Kind::Message, event, false);
                self.items.emit_text(slot, part_index, &text.unwrap_or_default(), true, out);
            }
            "content_part.done" => {
                let (text, is_reasoning) = part_text(&event["part"]);
                if is_reasoning {
                    let slot = self.items.slots.find_item(Kind::Reasoning, event, false);
                    self.items.emit_reasoning(slot, "content", part_index, &text, true, out);
                } else if !text.is_empty() {
                    let slot = self.items.slots.find_item(Kind::Message, event, false);
                    self.items.emit_text(slot, part_index, &text, true, out);
                }
            }
            "reasoning_summary_text.delta" | "reasoning_summary.delta" => {
                let slot = self.items.slots.find_item(Kind::Reasoning, event, true);
                self.items.emit_reasoning(slot, "summary", index_at("summary_index"), &delta_text(event), false, out);
            }
            "reasoning_summary_text.done" | "reasoning_summary_part.done" => {
                let text = non_empty_text(event.get("text")).unwrap_or_else(|| part_text(&event["part"]).0);
                let slot = self.items.slots.find_item(Kind::Reasoning, event, false);
                self.items.emit_reasoning(slot, "summary", index_at("summary_index"), &text, true, out);
            }
            "reasoning_text.delta" | "reasoning.delta" => {
                let slot = self.items.slots.find_item(Kind::Reasoning, event, true);
                self.items.emit_reasoning(slot, "content", part_index, &delta_text(event), false, out);
            }
            "reasoning_text.done" | "reasoning.done" => {
                let text = non_empty_text(event.get("text")).unwrap_or_default();
                let slot = self.items.slots.find_item(Kind::Reasoning, event, false);
                self.items.emit_reasoning(slot, "content", part_index, &text, true, out);
            }
            "function_call_arguments.delta" => {
                let slot = self.items.slots.find_item(Kind::Call, event, true);
                self.items.append_arguments(slot, &delta_text(event), out);
            }
            "function_call_arguments.done" => {
                let slot = self.items.slots.find_item(Kind::Call, event, false);
                self.items.update_identity(slot, event);
                self.items.complete_arguments(slot, event.get("arguments"));
                self.items.emit_call_progress(slot, out);
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

    /// Processes a response in its final state. `kind` is the type of its event without `response.`, or its status.
    fn collect_final(&mut self, kind: &str, response: &Value, out: &mut ChunkQueue) {
        let items = response.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (slot, item) in self.items.slots.match_items(items) {
            self.items.complete_item(slot, &item, out);
        }
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            let usage = chat_events::parse_usage(usage);
            if self.usage.replace(usage) != Some(usage) {
                out.push_back(Ok(Chunk::Usage(usage)));
            }
        }
        let status = response.get("status").and_then(Value::as_str).unwrap_or_default();
        let has_status = |name: &str| kind == name || status == name;
        if has_status("failed")
            || has_status("cancelled")
            || response.get("error").is_some_and(|error| !error.is_null())
        {
            self.fail_reply(response, out);
        } else if has_status("incomplete") {
            let reason = response.get("incomplete_details").and_then(|details| non_empty_text(details.get("reason")));
            self.finish = Some(match parse_finish_reason(reason.as_deref().unwrap_or_default()) {
                // The reply did not end normally, whatever reason is given.
                None | Some(FinishReason::Stop) => {
                    FinishReason::Filtered(clip(reason.as_deref().unwrap_or("no reason given"), 60))
                }
                Some(reason @ (FinishReason::Length | FinishReason::Filtered(_))) => reason,
            });
        } else if kind == "completed" || kind == "done" {
            self.finish = Some(FinishReason::Stop);
        }
    }

    fn fail_reply(&mut self, event: &Value, out: &mut ChunkQueue) {
        self.items.flush_text(out);
        self.has_failed = true;
        let mut fault = ProviderError::parse(event);
        // The name of the event is not an error code.
        fault.code = fault.code.filter(|code| code != "error");
        let status = fault.status.or_else(|| status_from_code(fault.code.as_deref()?));
        out.push_back(Err(match status {
            // Nothing was shown yet, so this is treated like an error response.
            Some(status) if !self.items.was_shown => fault.into_error(status, None),
            _ => Error::InStream(fault.sentence()),
        }));
    }
}

/// Returns the HTTP status that corresponds to an error code.
fn status_from_code(code: &str) -> Option<u16> {
    match code {
        "server_error" | "internal_server_error" | "internal_error" => Some(500),
        "server_is_overloaded" | "overloaded_error" | "slow_down" => Some(503),
        "rate_limit_exceeded" | "insufficient_quota" => Some(429),
        "context_length_exceeded" | "invalid_prompt" | "invalid_request_error" => Some(400),
        _ => None,
    }
}

fn delta_text(event: &Value) -> String {
    let delta = event.get("delta");
    non_empty_text(delta).or_else(|| non_empty_text(delta?.get("text"))).unwrap_or_default()
}
