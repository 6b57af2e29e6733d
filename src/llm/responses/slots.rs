//! Items of a reply in progress, and the mapping of events to them.

use super::items;
use crate::llm::chat_events::non_empty_text;
use crate::llm::tolerant_json::is_json_object;
use serde_json::Value;

/// Kind of an item. All other kinds are ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    #[default]
    Message,
    /// Tool call.
    Call,
    /// Reasoning.
    Reasoning,
}

impl Kind {
    /// Returns the kind of an item.
    pub fn from_item(item: &Value) -> Option<Self> {
        match item.get("type")?.as_str()? {
            "message" => Some(Self::Message),
            "function_call" => Some(Self::Call),
            "reasoning" => Some(Self::Reasoning),
            _ => None,
        }
    }
}

/// Content of an event about an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// A further piece.
    Piece,
    /// Everything, including the pieces that have arrived.
    Complete,
}

/// One item so far.
#[derive(Debug, Default)]
pub struct Slot {
    pub kind: Kind,
    /// Index in the reply, if the provider gave one.
    index: Option<u64>,
    id: Option<String>,
    /// The provider marked the item as complete.
    pub is_complete: bool,
    /// Parts received: name, index and text.
    parts: Vec<(&'static str, u64, String)>,
    /// Tool of a call.
    pub name: String,
    /// Id of a call.
    pub call_id: Option<String>,
    /// Arguments of a call.
    pub arguments: String,
    /// Reasoning in the form to send back.
    pub reasoning: Option<Value>,
    /// Phase of a message.
    pub phase: Option<Value>,
    /// Length of this message in bytes, as a part of the reply text.
    pub bytes: usize,
}

impl Slot {
    /// Adds text to a part. Returns the text that was not received before, and whether the part is new.
    pub fn update_text<'a>(
        &mut self,
        name: &'static str,
        part_index: u64,
        text: &'a str,
        update: Update,
    ) -> (&'a str, bool) {
        let (part, is_new) = self.part_text(name, part_index);
        let new_text = match update {
            Update::Piece => text,
            // A complete text that does not begin with the pieces is ignored.
            Update::Complete => text.strip_prefix(part.as_str()).unwrap_or_default(),
        };
        part.push_str(new_text);
        (new_text, is_new)
    }

    /// Returns the text of a part, and whether the part is new. Parts beyond the limit share the text of the last one.
    fn part_text(&mut self, name: &'static str, part_index: u64) -> (&mut String, bool) {
        let existing = self.parts.iter().rposition(|(part_name, index, _)| *part_name == name && *index == part_index);
        let existing = existing.or((self.parts.len() >= MAX_ITEMS).then_some(MAX_ITEMS - 1));
        let position = existing.unwrap_or_else(|| {
            self.parts.push((name, part_index, String::new()));
            self.parts.len() - 1
        });
        (&mut self.parts[position].2, existing.is_none())
    }

    /// Returns whether the item already has reasoning under another name: the same reasoning may be sent twice.
    pub fn has_other_reasoning(&self, name: &str) -> bool {
        self.parts.first().is_some_and(|(part_name, ..)| *part_name != name)
    }

    /// Returns whether a call is complete: it was marked as such, or its arguments are a complete JSON object.
    pub fn is_complete_call(&self) -> bool {
        !self.name.is_empty() && (self.is_complete || is_json_object(&self.arguments))
    }

    /// Returns the stored form of the item; `None` for reasoning that is not sent back.
    pub fn stored_item(&self) -> Option<Value> {
        match self.kind {
            Kind::Message => Some(items::stored_message(self.id.as_deref(), self.phase.as_ref(), self.bytes)),
            Kind::Call => Some(items::stored_call(self.id.as_deref())),
            Kind::Reasoning => self.reasoning.clone(),
        }
    }
}

/// All items of a reply, in the order in which they began.
#[derive(Debug, Default)]
pub struct Slots(Vec<Slot>);

/// Maximum number of items of a reply, and of parts of an item. Real replies have a few dozen.
pub const MAX_ITEMS: usize = 1000;

impl Slots {
    /// Returns whether the reply has too many items.
    pub fn has_too_many(&self) -> bool {
        self.0.len() > MAX_ITEMS
    }

    pub fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.0.iter()
    }

    /// Returns the item at a position returned by the other functions.
    pub fn slot_mut(&mut self, position: usize) -> &mut Slot {
        &mut self.0[position]
    }

    /// Returns the position of the item that begins with this event. Adds the item unless one with its id is open.
    pub fn begin_item(&mut self, kind: Kind, event: &Value) -> usize {
        let (index, id) = item_index_and_id(event);
        let has_same_id = |slot: &Slot| slot.kind == kind && !slot.is_complete && slot.id.is_some() && slot.id == id;
        self.0.iter().position(has_same_id).unwrap_or_else(|| self.push_slot(kind, index, id))
    }

    /// Returns the position of the item an event belongs to, and adds the item if there is none. Ids and indexes may
    /// both be wrong: some providers use a new id in every event, some the same index for every item, and some send
    /// neither. A piece matches a complete item only by its id.
    pub fn find_item(&mut self, kind: Kind, event: &Value, update: Update) -> usize {
        let (index, id) = item_index_and_id(event);
        let find_last = |matches_slot: &dyn Fn(&Slot) -> bool| {
            self.0.iter().rposition(|slot| slot.kind == kind && matches_slot(slot))
        };
        let belongs_to_other_index =
            |slot: &Slot| slot.is_complete && index.is_some() && slot.index.is_some() && slot.index != index;
        let by_id = id.as_ref().and_then(|_| find_last(&|slot| slot.id == id && !belongs_to_other_index(slot)));
        let is_open_to_update = |slot: &Slot| update == Update::Complete || !slot.is_complete;
        let by_index = || index.and_then(|_| find_last(&|slot| slot.index == index && is_open_to_update(slot)));
        let by_missing_index = || find_last(&|slot| !slot.is_complete && (index.is_none() || slot.index.is_none()));
        by_id.or_else(by_index).or_else(by_missing_index).unwrap_or_else(|| self.push_slot(kind, index, id))
    }

    /// Returns the items listed in the complete response with their positions. An item with an unknown id matches the
    /// first item of its kind whose id is not listed, because some providers use a new id in every event. If there is
    /// none, the item is added.
    pub fn match_items(&mut self, items: &[Value]) -> Vec<(usize, Value)> {
        let item_id = |item: &Value| non_empty_text(item.get("id"));
        // One item more than allowed, so that `has_too_many` detects it.
        let ids: Vec<Option<String>> = items.iter().take(MAX_ITEMS + 1).map(item_id).collect();
        let mut matches = Vec::new();
        let mut is_free = vec![true; self.0.len()];
        for item in items.iter().take(MAX_ITEMS + 1) {
            let Some(kind) = Kind::from_item(item) else { continue };
            let id = item_id(item);
            let find_first = |matches_slot: &dyn Fn(&Slot) -> bool| {
                (0..is_free.len()).find(|position| {
                    is_free[*position] && self.0[*position].kind == kind && matches_slot(&self.0[*position])
                })
            };
            let with_same_id = find_first(&|slot| slot.id.is_some() && slot.id == id);
            let with_unknown_id = || find_first(&|slot| slot.id.is_none() || !ids.contains(&slot.id));
            let position = match with_same_id.or_else(with_unknown_id) {
                Some(position) => {
                    is_free[position] = false;
                    position
                }
                None => self.push_slot(kind, None, id),
            };
            matches.push((position, item.clone()));
        }
        matches
    }

    fn push_slot(&mut self, kind: Kind, index: Option<u64>, id: Option<String>) -> usize {
        self.0.push(Slot { kind, index, id, ..Slot::default() });
        self.0.len() - 1
    }
}

/// Returns the index and id of the item an event names.
fn item_index_and_id(event: &Value) -> (Option<u64>, Option<String>) {
    let id = non_empty_text(event.get("item_id")).or_else(|| non_empty_text(event.get("item")?.get("id")));
    (event.get("output_index").and_then(Value::as_u64), id)
}
