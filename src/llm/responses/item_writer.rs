//! Emits the items of a reply as chunks: text and reasoning once, calls with their progress.

use super::items;
use super::slots::{Kind, MAX_ITEMS, Slots};
use crate::chat::reply_limit::ReplySize;
use crate::chat::{Chunk, ToolCall};
use crate::llm::calls::Calls;
use crate::llm::chat_collector::chunk_from_piece;
use crate::llm::chat_events::{CallPart, non_empty_text};
use crate::llm::chunk_queue::ChunkQueue;
use crate::llm::reasoning_tags::{Piece, ReasoningSplitter};
use crate::llm::unreadable_events::UnreadableEvents;
use serde_json::Value;

/// Items of one reply and what was emitted of them.
#[derive(Debug, Default)]
pub struct ItemWriter {
    pub slots: Slots,
    pub size: ReplySize,
    /// Something visible to the user has arrived.
    pub was_shown: bool,
    /// Events that could not be read.
    pub unreadable: UnreadableEvents,
    wants_reasoning: bool,
    split: ReasoningSplitter,
    /// Item that emitted text last, and whether an earlier item emitted text after it.
    last_text_slot: usize,
    is_out_of_order: bool,
    has_reasoning: bool,
}

impl ItemWriter {
    /// Starts without items; `wants_reasoning` means that unencrypted reasoning must be sent back.
    pub fn new(wants_reasoning: bool) -> Self {
        Self { wants_reasoning, ..Self::default() }
    }

    /// Emits the text that was held back because a reasoning tag may have begun.
    pub fn emit_rest(&mut self, out: &mut ChunkQueue) {
        let rest = self.split.finish().into_iter().collect();
        self.emit_pieces(self.last_text_slot, rest, out);
    }

    /// Appends a piece of the arguments of a call.
    pub fn append_arguments(&mut self, slot: usize, more: &str, out: &mut ChunkQueue) {
        let own = self.slots.slot_mut(slot);
        if !own.is_complete {
            own.arguments.push_str(more);
            self.size.add(more);
        }
        self.emit_writing(slot, out);
    }

    /// Processes an item in its final form.
    pub fn complete_item(&mut self, slot: usize, item: &Value, out: &mut ChunkQueue) {
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
                let kept = items::stored_reasoning(item, self.wants_reasoning);
                let own = self.slots.slot_mut(slot);
                own.reasoning = kept.or_else(|| own.reasoning.take());
            }
            Some(Kind::Call) if !is_incomplete_item(item) => self.complete_arguments(slot, item.get("arguments")),
            Some(Kind::Call) | None => {}
        }
        let own = self.slots.slot_mut(slot);
        own.is_complete |= own.kind != Kind::Call;
    }

    /// Takes name, id and phase from an item or event that has them.
    pub fn update_name(&mut self, slot: usize, item: &Value) {
        let own = self.slots.slot_mut(slot);
        if let Some(name) = non_empty_text(item.get("name")) {
            own.name = name;
        }
        own.call_id = non_empty_text(item.get("call_id")).or_else(|| own.call_id.take());
        own.phase = item.get("phase").filter(|phase| phase.is_string()).cloned().or_else(|| own.phase.take());
    }

    /// Sets the final arguments of a call.
    pub fn complete_arguments(&mut self, slot: usize, arguments: Option<&Value>) {
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

    /// Announces the progress of a call.
    pub fn emit_writing(&mut self, slot: usize, out: &mut ChunkQueue) {
        let own = self.slots.slot_mut(slot);
        if own.kind == Kind::Call {
            out.push_back(Ok(Chunk::CallProgress { name: own.name.clone(), bytes: own.arguments.len() }));
        }
    }

    /// Emits a piece of the text of a part, or what its final text adds.
    pub fn emit_text(&mut self, slot: usize, at: u64, text: &str, is_all: bool, out: &mut ChunkQueue) {
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

    /// Emits a piece of the reasoning of a part, or what its final text adds.
    pub fn emit_reasoning(
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

    /// Returns all complete calls.
    pub fn complete_calls(&self) -> Vec<ToolCall> {
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

    /// Returns whether a call was never completed.
    pub fn has_incomplete_call(&self) -> bool {
        self.slots.iter().any(|slot| slot.kind == Kind::Call && !slot.is_complete_call())
    }

    /// Returns whether the provider did not mark a call as complete, so that pieces of it may be missing.
    pub fn has_unmarked_call(&self) -> bool {
        self.slots.iter().any(|slot| slot.kind == Kind::Call && !slot.is_complete)
    }

    /// Returns the stored form of all items, or `None` if they add nothing to the text and the calls.
    pub fn stored_items(&self) -> Option<Value> {
        let held: Vec<Value> = self.slots.iter().filter_map(super::slots::Slot::stored_item).collect();
        let fits = !self.is_out_of_order && items::is_worth_storing(&held);
        fits.then_some(Value::Array(held))
    }
}

fn is_incomplete_item(item: &Value) -> bool {
    item.get("status").is_some_and(|status| status == "incomplete" || status == "in_progress")
}

/// Returns the text of a part, and whether it is reasoning.
pub fn part_text(part: &Value) -> (String, bool) {
    let text = non_empty_text(Some(part))
        .or_else(|| non_empty_text(part.get("text")))
        .or_else(|| non_empty_text(part.get("refusal")));
    let is_thought = part.get("type").is_some_and(|kind| kind == "reasoning_text" || kind == "summary_text");
    (text.unwrap_or_default(), is_thought)
}
