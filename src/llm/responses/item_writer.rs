//! Emits the items of a reply as chunks: text and reasoning once, calls with their progress.

use super::items;
use super::slots::{Kind, MAX_ITEMS, Slot, Slots, Update};
use crate::chat::reply_limit::ReplySize;
use crate::chat::{Chunk, ToolCall};
use crate::llm::calls::Calls;
use crate::llm::chat_events::{CallPart, non_empty_text};
use crate::llm::chunk_queue::ChunkQueue;
use crate::llm::reasoning_tags::ReasoningSplitter;
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
    splitter: ReasoningSplitter,
    /// Index of the slot that emitted text last.
    last_text_index: usize,
    /// Text of an item arrived after text of a later item. The stored items hold only the lengths of their texts, which
    /// would then not match the text of the reply.
    is_out_of_order: bool,
    has_reasoning: bool,
}

impl ItemWriter {
    /// Starts without items; `wants_reasoning` means that unencrypted reasoning must be sent back.
    pub fn new(wants_reasoning: bool) -> Self {
        Self { wants_reasoning, ..Self::default() }
    }

    /// Emits the text that was held back because a reasoning tag may have begun.
    pub fn flush_text(&mut self, out: &mut ChunkQueue) {
        let held_back = self.splitter.finish();
        self.emit_chunks(self.last_text_index, held_back, out);
    }

    /// Appends a piece of the arguments of a call.
    pub fn append_arguments(&mut self, index: usize, text: &str, out: &mut ChunkQueue) {
        let slot = self.slots.slot_mut(index);
        if !slot.is_complete {
            slot.arguments.push_str(text);
            self.size.add(text);
        }
        self.emit_call_progress(index, out);
    }

    /// Processes an item in its final form.
    pub fn complete_item(&mut self, index: usize, item: &Value, out: &mut ChunkQueue) {
        self.update_identity(index, item);
        match Kind::from_item(item) {
            Some(Kind::Message) => match item.get("content") {
                Some(Value::Array(parts)) => {
                    for (part_index, part) in (0..).zip(parts.iter().take(MAX_ITEMS)) {
                        self.emit_text(index, part_index, &part_text(part).0, Update::Complete, out);
                    }
                }
                content => {
                    self.emit_text(index, 0, &non_empty_text(content).unwrap_or_default(), Update::Complete, out)
                }
            },
            Some(Kind::Reasoning) => {
                for name in ["summary", "content"] {
                    let parts = item.get(name).and_then(Value::as_array).into_iter().flatten();
                    for (part_index, part) in (0..).zip(parts.take(MAX_ITEMS)) {
                        self.emit_reasoning(index, name, part_index, &part_text(part).0, Update::Complete, out);
                    }
                }
                let stored = items::stored_reasoning(item, self.wants_reasoning);
                let slot = self.slots.slot_mut(index);
                slot.reasoning = stored.or_else(|| slot.reasoning.take());
            }
            Some(Kind::Call) if !is_incomplete_item(item) => self.complete_arguments(index, item.get("arguments")),
            Some(Kind::Call) | None => {}
        }
        let slot = self.slots.slot_mut(index);
        slot.is_complete |= slot.kind != Kind::Call;
    }

    /// Takes name, id and phase from an item or event that has them.
    pub fn update_identity(&mut self, index: usize, item: &Value) {
        let slot = self.slots.slot_mut(index);
        if let Some(name) = non_empty_text(item.get("name")) {
            slot.name = name;
        }
        slot.call_id = non_empty_text(item.get("call_id")).or_else(|| slot.call_id.take());
        slot.phase = item.get("phase").filter(|phase| phase.is_string()).cloned().or_else(|| slot.phase.take());
    }

    /// Sets the final arguments of a call.
    pub fn complete_arguments(&mut self, index: usize, arguments: Option<&Value>) {
        let slot = self.slots.slot_mut(index);
        let final_arguments = match arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        if !final_arguments.is_empty() && final_arguments != slot.arguments {
            self.size.add(&final_arguments);
            slot.arguments = final_arguments;
        }
        slot.is_complete = true;
    }

    /// Announces the progress of a call.
    pub fn emit_call_progress(&mut self, index: usize, out: &mut ChunkQueue) {
        let slot = self.slots.slot_mut(index);
        if slot.kind == Kind::Call {
            out.push_back(Ok(Chunk::CallProgress { name: slot.name.clone(), bytes: slot.arguments.len() }));
        }
    }

    /// Emits the text of a part that was not received before.
    pub fn emit_text(&mut self, index: usize, part_index: u64, text: &str, update: Update, out: &mut ChunkQueue) {
        let (new_text, _) = self.slots.slot_mut(index).update_text("text", part_index, text, update);
        if new_text.is_empty() {
            return;
        }
        self.size.add(new_text);
        self.is_out_of_order |= index < self.last_text_index;
        self.last_text_index = index;
        let mark = match update {
            Update::Piece => self.unreadable.take_mark(self.was_shown),
            // Complete text has no gap to mark.
            Update::Complete => "",
        };
        let chunks = self.splitter.split_text(&format!("{mark}{new_text}"));
        self.emit_chunks(index, chunks, out);
    }

    fn emit_chunks(&mut self, index: usize, chunks: impl IntoIterator<Item = Chunk>, out: &mut ChunkQueue) {
        for chunk in chunks {
            if let Chunk::Text(text) = &chunk {
                self.slots.slot_mut(index).bytes += text.len();
            }
            out.push_back(Ok(chunk));
        }
    }

    /// Emits the reasoning of a part that was not received before. `name` is `summary` or `content`; of an item that
    /// has both, only the one that arrives first is emitted.
    pub fn emit_reasoning(
        &mut self,
        index: usize,
        name: &'static str,
        part_index: u64,
        text: &str,
        update: Update,
        out: &mut ChunkQueue,
    ) {
        let slot = self.slots.slot_mut(index);
        if slot.has_other_reasoning(name) || text.is_empty() {
            return;
        }
        let (new_text, is_new_part) = slot.update_text(name, part_index, text, update);
        if !new_text.is_empty() {
            self.size.add(new_text);
            let gap = if is_new_part && self.has_reasoning { "\n\n" } else { "" };
            self.has_reasoning = true;
            out.push_back(Ok(Chunk::Reasoning(format!("{gap}{new_text}"))));
        }
    }

    /// Returns all complete calls.
    pub fn finished_calls(&self) -> Vec<ToolCall> {
        let mut calls = Calls::default();
        let complete = self.slots.iter().filter(|slot| slot.kind == Kind::Call && slot.is_complete_call());
        for (index, slot) in (0..).zip(complete) {
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

    /// Returns whether the provider did not mark a call as complete. Pieces of such a call may be missing.
    pub fn has_unmarked_call(&self) -> bool {
        self.slots.iter().any(|slot| slot.kind == Kind::Call && !slot.is_complete)
    }

    /// Returns the stored form of all items, or `None` if they add nothing to the text and the calls.
    pub fn stored_items(&self) -> Option<Value> {
        let stored: Vec<Value> = self.slots.iter().filter_map(Slot::stored_item).collect();
        let is_useful = !self.is_out_of_order && items::is_worth_storing(&stored);
        is_useful.then_some(Value::Array(stored))
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
    let is_reasoning = part.get("type").is_some_and(|kind| kind == "reasoning_text" || kind == "summary_text");
    (text.unwrap_or_default(), is_reasoning)
}
