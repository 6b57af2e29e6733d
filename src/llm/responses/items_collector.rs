//! Collects events of the responses API into chunks.
//!
//! Most of a reply arrives several times: in pieces, with its complete part, with its complete item, and with the
//! complete response. Text is emitted once; text missing from the pieces is taken from a later repetition.

use super::item_writer::{ItemWriter, part_text};
use super::slots::{Kind, MAX_ITEMS, Update};
use crate::chat::{Chunk, Echo, FinishReason, Usage};
use crate::llm::Error;
use crate::llm::chat_collector::parse_finish_reason;
use crate::llm::chat_events::{self, non_empty_text};
use crate::llm::chunk_queue::{CLOSED_EARLY, ChunkQueue, Collector, End, has_new_visible};
use crate::llm::provider_error::{ProviderError, clip};
use serde_json::Value;

/// Maximum characters of a provider's reason for an incomplete reply.
const MAX_REASON_CHARS: usize = 60;

/// A reply of the responses API so far.
#[derive(Debug, Default)]
pub struct ResponsesCollector {
    origin: String,
    pub(super) items: ItemWriter,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    has_failed: bool,
    has_ended: bool,
}

impl Collector for ResponsesCollector {
    /// Events after the end of the reply or after an error are ignored.
    fn collect_event(&mut self, event: &Value, out: &mut ChunkQueue) {
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
        let too_many_items = || {
            self.items
                .slots
                .has_too_many()
                .then(|| format!("The reply was aborted: it has more than {MAX_ITEMS} items"))
        };
        if let (Some(message), false) = (self.items.size.excess_error().or_else(too_many_items), self.has_failed) {
            self.has_failed = true;
            out.push_back(Err(Error::InvalidReply(message)));
        }
        self.items.was_shown |= has_new_visible(out, old_length);
    }

    fn skip_event(&mut self, start: String) {
        self.items.unreadable.add_event(start);
    }

    fn has_ended(&self) -> bool {
        self.has_ended || self.has_failed || self.finish.is_some()
    }

    fn finish(&mut self, end: End, out: &mut ChunkQueue) {
        if std::mem::replace(&mut self.has_ended, true) || self.has_failed {
            return;
        }
        self.items.flush_text(out);
        if let Err(error) = self.emit_end(end, out) {
            out.push_back(Err(error));
        }
    }
}

impl ResponsesCollector {
    /// Creates the state for a reply from `origin`; `wants_reasoning` means that unencrypted reasoning is sent back.
    pub fn for_origin(origin: String, wants_reasoning: bool) -> Self {
        Self { origin, items: ItemWriter::new(wants_reasoning), ..Self::default() }
    }

    /// Emits the echo, the calls and [`Chunk::Done`] of a complete reply; returns the error of an incomplete one. Only
    /// the provider's own end event completes a reply, not the end of the stream.
    fn emit_end(&mut self, end: End, out: &mut ChunkQueue) -> Result<(), Error> {
        let finish = match (self.finish.take(), end) {
            (Some(finish), _) => finish,
            (None, End::Marked | End::Unmarked) => {
                let connection_lost = || Error::ConnectionLost(CLOSED_EARLY.to_owned());
                return Err(self.items.unreadable.error_without_end().unwrap_or_else(connection_lost));
            }
            (None, End::Failed(error)) => return Err(error),
        };
        let calls = self.items.finished_calls();
        // A call without the provider's completion mark was assembled from pieces, and one of them may have been in an
        // unreadable event.
        let has_unmarked_call = self.items.has_unmarked_call();
        self.items.unreadable.check_end(self.items.was_shown || !calls.is_empty(), has_unmarked_call)?;
        if finish == FinishReason::Stop {
            if self.items.has_incomplete_call() {
                return Err(Error::ConnectionLost("a tool call was never completed".to_owned()));
            }
            let echo = self.items.stored_items().map(|data| Echo { origin: self.origin.clone(), data });
            out.extend(echo.map(|echo| Ok(Chunk::Echo(echo))));
        }
        out.extend(calls.into_iter().map(|call| Ok(Chunk::Call(call))));
        out.push_back(Ok(Chunk::Done(finish)));
        Ok(())
    }

    fn collect_typed(&mut self, kind: &str, event: &Value, out: &mut ChunkQueue) {
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
                    let slot = self.items.slots.find_item(kind, event, Update::Complete);
                    self.items.complete_item(slot, &event["item"], out);
                }
            }
            "output_text.delta" | "refusal.delta" => self.collect_text(event, Update::Piece, out),
            "output_text.done" | "refusal.done" => self.collect_text(event, Update::Complete, out),
            "content_part.done" => {
                let (text, is_reasoning) = part_text(&event["part"]);
                if is_reasoning {
                    self.collect_reasoning("content", event, Update::Complete, out);
                } else if !text.is_empty() {
                    self.collect_text(event, Update::Complete, out);
                }
            }
            "reasoning_summary_text.delta" | "reasoning_summary.delta" => {
                self.collect_reasoning("summary", event, Update::Piece, out);
            }
            "reasoning_summary_text.done" | "reasoning_summary_part.done" => {
                self.collect_reasoning("summary", event, Update::Complete, out);
            }
            "reasoning_text.delta" | "reasoning.delta" => {
                self.collect_reasoning("content", event, Update::Piece, out);
            }
            "reasoning_text.done" | "reasoning.done" => {
                self.collect_reasoning("content", event, Update::Complete, out);
            }
            "function_call_arguments.delta" => {
                let slot = self.items.slots.find_item(Kind::Call, event, Update::Piece);
                self.items.append_arguments(slot, &event_text(event, Update::Piece), out);
            }
            "function_call_arguments.done" => {
                let slot = self.items.slots.find_item(Kind::Call, event, Update::Complete);
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

    /// Processes an event with text of a message.
    fn collect_text(&mut self, event: &Value, update: Update, out: &mut ChunkQueue) {
        let slot = self.items.slots.find_item(Kind::Message, event, update);
        let part_index = index_at(event, "content_index");
        self.items.emit_text(slot, part_index, &event_text(event, update), update, out);
    }

    /// Processes an event with reasoning. `name` is `summary` or `content`.
    fn collect_reasoning(&mut self, name: &'static str, event: &Value, update: Update, out: &mut ChunkQueue) {
        let slot = self.items.slots.find_item(Kind::Reasoning, event, update);
        let part_index = index_at(event, &format!("{name}_index"));
        self.items.emit_reasoning(slot, name, part_index, &event_text(event, update), update, out);
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
                    FinishReason::Filtered(clip(reason.as_deref().unwrap_or("no reason given"), MAX_REASON_CHARS))
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
        fault.status = fault.status.or_else(|| status_from_code(fault.code.as_deref()?));
        out.push_back(Err(fault.into_reply_error(self.items.was_shown)));
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

fn index_at(event: &Value, key: &str) -> u64 {
    event.get(key).and_then(Value::as_u64).unwrap_or(0)
}

/// Returns the text of an event: the piece that it adds, or the complete text.
fn event_text(event: &Value, update: Update) -> String {
    let text = match update {
        Update::Piece => non_empty_text(event.get("delta")).or_else(|| non_empty_text(event.get("delta")?.get("text"))),
        Update::Complete => non_empty_text(event.get("text")).or_else(|| non_empty_text(event.get("refusal"))),
    };
    text.unwrap_or_else(|| part_text(&event["part"]).0)
}
