//! Collects events of the responses API into chunks. Pure: the same events give the same chunks.
//!
//! Most of a reply arrives several times: in pieces, with its complete part, with its complete item, and with the
//! complete response. Text is emitted once; text missing from the pieces is taken from a later repetition.

use super::slots::{Kind, MOST, Slots};
use crate::chat::reply_limit::ReplySize;
use crate::chat::{Chunk, Echo, Finish, ToolCall, Usage};
use crate::llm::Error;
use crate::llm::calls::Calls;
use crate::llm::fault::{Fault, clip};
use crate::llm::gather::{chunk, finish};
use crate::llm::reply::{End, Out, is_visible};
use crate::llm::think::{Piece, Split};
use crate::llm::unreadable::Unreadable;
use crate::llm::wire::{self, CallPart, text_of};
use serde_json::Value;

/// State of one reply.
#[derive(Debug, Default)]
pub struct Gather {
    from: String,
    wants_reasoning: bool,
    split: Split,
    slots: Slots,
    usage: Option<Usage>,
    finish: Option<Finish>,
    /// Item that emitted text last, and whether an earlier item emitted text after it.
    speaker: usize,
    mixed: bool,
    thought: bool,
    pub(super) size: ReplySize,
    /// Something visible to the user has arrived.
    seen: bool,
    failed: bool,
    over: bool,
    /// Events that could not be read.
    unreadable: Unreadable,
}

impl Gather {
    /// Creates the state for a reply from `from`; `reasoning` means that unencrypted reasoning must be sent back.
    pub fn of(from: String, reasoning: bool) -> Self {
        Self { from, wants_reasoning: reasoning, ..Self::default() }
    }

    /// Processes one event. Must not be called after an error.
    pub fn take(&mut self, event: &Value, out: &mut Out) {
        if self.is_over() {
            return;
        }
        let before = out.len();
        match event.get("type").and_then(Value::as_str) {
            Some("error") => self.fail(event, out),
            Some(kind) => self.typed(kind.strip_prefix("response.").unwrap_or(kind), event, out),
            None if super::is_reply(event) => self.last(event, out),
            None if event.get("choices").is_some() => {
                self.failed = true;
                let words = "Cannot read the reply: its events are chat completion events. Set `api` of the profile to \"chat\".";
                out.push_back(Err(Error::NotAModel(words.to_owned())));
            }
            None if wire::read_fault(event).is_some() => self.fail(event, out),
            None => {}
        }
        if let (Some(excess), false) = (self.size.excess(), self.failed) {
            self.failed = true;
            out.push_back(Err(Error::NotAModel(excess)));
        }
        if self.slots.is_endless() && !self.failed {
            self.failed = true;
            out.push_back(Err(Error::NotAModel(format!(
                "The reply was aborted: it has more than {MOST} items"
            ))));
        }
        self.seen |= out.iter().skip(before).any(|chunk| matches!(chunk, Ok(chunk) if is_visible(chunk)));
    }

    /// Skips an unreadable event that begins with `start`. Most of its content is repeated later.
    pub fn skip(&mut self, start: String) {
        self.unreadable.add(start);
    }

    /// Returns whether nothing can follow.
    pub fn is_over(&self) -> bool {
        self.over || self.failed || self.finish.is_some()
    }

    /// Ends the reply: emits its echo, calls and [`Chunk::Done`] if it is complete, otherwise an error. Only the
    /// provider's own end event completes a reply, not the end of the stream.
    pub fn end(&mut self, end: End, out: &mut Out) {
        if std::mem::replace(&mut self.over, true) || self.failed {
            return;
        }
        let rest = self.split.end().into_iter().collect();
        self.pieces(self.speaker, rest, out);
        let finish = match (self.finish.take(), end) {
            (Some(finish), _) => finish,
            (None, End::Said | End::Silent) => {
                let why = "the provider closed it before the reply was complete";
                let cut = || Error::Cut(why.to_owned());
                out.push_back(Err(self.unreadable.error().unwrap_or_else(cut)));
                return;
            }
            (None, End::Broken(error)) => {
                out.push_back(Err(error));
                return;
            }
        };
        let calls = self.calls();
        // A call marked as complete is complete; a call assembled from pieces may lack one.
        let in_pieces = self.slots.iter().any(|slot| slot.kind == Kind::Call && !slot.closed);
        if let Some(error) = self.unreadable.error_at_end(self.seen || !calls.is_empty(), in_pieces) {
            out.push_back(Err(error));
            return;
        }
        if finish == Finish::Stop {
            if self.slots.iter().any(|slot| slot.kind == Kind::Call && !slot.is_whole_call()) {
                out.push_back(Err(Error::Cut("a tool call was never completed".to_owned())));
                return;
            }
            out.extend(self.echo().map(|echo| Ok(Chunk::Echo(echo))));
        }
        out.extend(calls.into_iter().map(|call| Ok(Chunk::Call(call))));
        out.push_back(Ok(Chunk::Done(finish)));
    }

    fn typed(&mut self, kind: &str, event: &Value, out: &mut Out) {
        let at = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or(0);
        let part = at("content_index");
        match kind {
            "output_item.added" => {
                let item = &event["item"];
                if let Some(kind) = Kind::of(item) {
                    let slot = self.slots.begin(kind, event);
                    self.name(slot, item);
                    self.writing(slot, out);
                }
            }
            "output_item.done" => {
                if let Some(kind) = Kind::of(&event["item"]) {
                    let slot = self.slots.find(kind, event, false);
                    self.whole(slot, &event["item"], out);
                }
            }
            "output_text.delta" | "refusal.delta" => {
                let (slot, text) = (self.slots.find(Kind::Message, event, true), delta(event));
                self.say(slot, part, &text, false, out);
            }
            "output_text.done" | "refusal.done" => {
                let text = text_of(event.get("text")).or_else(|| text_of(event.get("refusal")));
                let slot = self.slots.find(Kind::Message, event, false);
                self.say(slot, part, &text.unwrap_or_default(), true, out);
            }
            "content_part.done" => {
                let (words, is_thought) = part_text(&event["part"]);
                if is_thought {
                    let slot = self.slots.find(Kind::Reasoning, event, false);
                    self.think(slot, "content", part, &words, true, out);
                } else if !words.is_empty() {
                    let slot = self.slots.find(Kind::Message, event, false);
                    self.say(slot, part, &words, true, out);
                }
            }
            "reasoning_summary_text.delta" | "reasoning_summary.delta" => {
                let slot = self.slots.find(Kind::Reasoning, event, true);
                self.think(slot, "summary", at("summary_index"), &delta(event), false, out);
            }
            "reasoning_summary_text.done" | "reasoning_summary_part.done" => {
                let text = text_of(event.get("text")).unwrap_or_else(|| part_text(&event["part"]).0);
                let slot = self.slots.find(Kind::Reasoning, event, false);
                self.think(slot, "summary", at("summary_index"), &text, true, out);
            }
            "reasoning_text.delta" | "reasoning.delta" => {
                let slot = self.slots.find(Kind::Reasoning, event, true);
                self.think(slot, "content", part, &delta(event), false, out);
            }
            "reasoning_text.done" | "reasoning.done" => {
                let text = text_of(event.get("text")).unwrap_or_default();
                let slot = self.slots.find(Kind::Reasoning, event, false);
                self.think(slot, "content", part, &text, true, out);
            }
            "function_call_arguments.delta" => {
                let slot = self.slots.find(Kind::Call, event, true);
                let own = self.slots.at(slot);
                if !own.closed {
                    let more = delta(event);
                    own.arguments.push_str(&more);
                    self.size.add(&more);
                }
                self.writing(slot, out);
            }
            "function_call_arguments.done" => {
                let slot = self.slots.find(Kind::Call, event, false);
                self.name(slot, event);
                self.arguments(slot, event.get("arguments"));
                self.writing(slot, out);
            }
            "completed" | "incomplete" | "failed" | "cancelled" | "done" => {
                let response = event.get("response").unwrap_or(event);
                self.last_of(kind, response, out);
            }
            _ => {}
        }
    }

    /// Processes the complete response.
    fn last(&mut self, response: &Value, out: &mut Out) {
        let status = response.get("status").and_then(Value::as_str).unwrap_or("completed").to_owned();
        self.last_of(&status, response, out);
    }

    fn last_of(&mut self, kind: &str, response: &Value, out: &mut Out) {
        let items = response.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (slot, item) in self.slots.listed(items) {
            self.whole(slot, &item, out);
        }
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            let usage = wire::counted(usage);
            if self.usage.replace(usage) != Some(usage) {
                out.push_back(Ok(Chunk::Usage(usage)));
            }
        }
        let status = response.get("status").and_then(Value::as_str).unwrap_or_default();
        let is = |word: &str| kind == word || status == word;
        if is("failed") || is("cancelled") || response.get("error").is_some_and(|error| !error.is_null()) {
            self.fail(response, out);
        } else if is("incomplete") {
            let reason = response.get("incomplete_details").and_then(|why| text_of(why.get("reason")));
            self.finish = Some(match finish(reason.as_deref().unwrap_or_default()) {
                // The reply did not end normally, whatever reason is given.
                None | Some(Finish::Stop) => {
                    Finish::Filtered(clip(reason.as_deref().unwrap_or("no reason given"), 60))
                }
                Some(known @ (Finish::Length | Finish::Filtered(_))) => known,
            });
        } else if kind == "completed" || kind == "done" {
            self.finish = Some(Finish::Stop);
        }
    }

    /// Processes an item in its final form.
    fn whole(&mut self, slot: usize, item: &Value, out: &mut Out) {
        self.name(slot, item);
        match Kind::of(item) {
            Some(Kind::Message) => match item.get("content") {
                Some(Value::Array(parts)) => {
                    for (at, part) in (0..).zip(parts.iter().take(MOST)) {
                        self.say(slot, at, &part_text(part).0, true, out);
                    }
                }
                content => self.say(slot, 0, &text_of(content).unwrap_or_default(), true, out),
            },
            Some(Kind::Reasoning) => {
                for name in ["summary", "content"] {
                    let parts = item.get(name).and_then(Value::as_array).into_iter().flatten();
                    for (at, part) in (0..).zip(parts.take(MOST)) {
                        self.think(slot, name, at, &part_text(part).0, true, out);
                    }
                }
                let kept = super::items::reasoning(item, self.wants_reasoning);
                let own = self.slots.at(slot);
                own.reasoning = kept.or_else(|| own.reasoning.take());
            }
            Some(Kind::Call) if !is_cut(item) => self.arguments(slot, item.get("arguments")),
            Some(Kind::Call) | None => {}
        }
        let own = self.slots.at(slot);
        own.closed |= own.kind != Kind::Call;
    }

    fn name(&mut self, slot: usize, item: &Value) {
        let own = self.slots.at(slot);
        if let Some(name) = text_of(item.get("name")) {
            own.name = name;
        }
        own.call_id = text_of(item.get("call_id")).or_else(|| own.call_id.take());
        own.phase = item.get("phase").filter(|phase| phase.is_string()).cloned().or_else(|| own.phase.take());
    }

    fn arguments(&mut self, slot: usize, arguments: Option<&Value>) {
        let own = self.slots.at(slot);
        let whole = match arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        if !whole.is_empty() && whole != own.arguments {
            self.size.add(&whole);
            own.arguments = whole;
        }
        own.closed = true;
    }

    fn writing(&mut self, slot: usize, out: &mut Out) {
        let own = self.slots.at(slot);
        if own.kind == Kind::Call {
            out.push_back(Ok(Chunk::Writing { name: own.name.clone(), bytes: own.arguments.len() }));
        }
    }

    fn say(&mut self, slot: usize, at: u64, text: &str, is_all: bool, out: &mut Out) {
        let own = self.slots.at(slot);
        let (more, _) = if is_all { own.whole("text", at, text) } else { own.more("text", at, text) };
        if more.is_empty() {
            return;
        }
        self.size.add(more);
        self.mixed |= slot < self.speaker;
        self.speaker = slot;
        // The final text has no gap to mark.
        let mark = if is_all { "" } else { self.unreadable.take_mark(self.seen) };
        let pieces = self.split.take(&format!("{mark}{more}"));
        self.pieces(slot, pieces, out);
    }

    fn pieces(&mut self, slot: usize, pieces: Vec<Piece>, out: &mut Out) {
        for piece in pieces {
            if let Piece::Said(text) = &piece {
                self.slots.at(slot).bytes += text.len();
            }
            out.push_back(Ok(chunk(piece)));
        }
    }

    fn think(&mut self, slot: usize, name: &'static str, at: u64, text: &str, is_all: bool, out: &mut Out) {
        let own = self.slots.at(slot);
        if own.thinks_otherwise(name) || text.is_empty() {
            return;
        }
        let (more, new) = if is_all { own.whole(name, at, text) } else { own.more(name, at, text) };
        if !more.is_empty() {
            self.size.add(more);
            let gap = if new && self.thought { "\n\n" } else { "" };
            self.thought = true;
            out.push_back(Ok(Chunk::Reasoning(format!("{gap}{more}"))));
        }
    }

    fn calls(&self) -> Vec<ToolCall> {
        let mut calls = Calls::default();
        let whole = self.slots.iter().filter(|slot| slot.kind == Kind::Call && slot.is_whole_call());
        for (index, slot) in (0..).zip(whole) {
            calls.take(vec![CallPart {
                index: Some(index),
                id: slot.call_id.clone(),
                name: Some(slot.name.clone()),
                arguments: slot.arguments.clone(),
                extra: None,
            }]);
        }
        calls.finish()
    }

    fn echo(&self) -> Option<Echo> {
        let held: Vec<Value> = self.slots.iter().filter_map(super::slots::Slot::held).collect();
        let fits = !self.mixed && super::items::is_worth_it(&held);
        fits.then(|| Echo { from: self.from.clone(), held: Value::Array(held) })
    }

    fn fail(&mut self, event: &Value, out: &mut Out) {
        let rest = self.split.end().into_iter().collect();
        self.pieces(self.speaker, rest, out);
        self.failed = true;
        let mut fault = Fault::read(event);
        // The name of the event is not an error code.
        fault.code = fault.code.filter(|code| code != "error");
        let status = fault.status.or_else(|| status(fault.code.as_deref()?));
        out.push_back(Err(match status {
            // Nothing was shown yet, so this is treated like an error response.
            Some(status) if !self.seen => fault.into_error(status, None),
            _ => Error::InStream(fault.sentence()),
        }));
    }
}

/// Returns the HTTP status that corresponds to an error code.
fn status(code: &str) -> Option<u16> {
    match code {
        "server_error" | "internal_server_error" | "internal_error" => Some(500),
        "server_is_overloaded" | "overloaded_error" | "slow_down" => Some(503),
        "rate_limit_exceeded" | "insufficient_quota" => Some(429),
        "context_length_exceeded" | "invalid_prompt" | "invalid_request_error" => Some(400),
        _ => None,
    }
}

fn is_cut(item: &Value) -> bool {
    item.get("status").is_some_and(|status| status == "incomplete" || status == "in_progress")
}

fn delta(event: &Value) -> String {
    let delta = event.get("delta");
    text_of(delta).or_else(|| text_of(delta?.get("text"))).unwrap_or_default()
}

/// Returns the text of a part, and whether it is reasoning.
fn part_text(part: &Value) -> (String, bool) {
    let text =
        text_of(Some(part)).or_else(|| text_of(part.get("text"))).or_else(|| text_of(part.get("refusal")));
    let is_thought = part.get("type").is_some_and(|kind| kind == "reasoning_text" || kind == "summary_text");
    (text.unwrap_or_default(), is_thought)
}
