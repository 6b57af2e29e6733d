//! The items of a reply while they are being written, and which of them an event speaks of.

use super::items;
use crate::llm::wire::text_of;
use serde_json::Value;

/// What kind of item it is; of all others nothing is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Message,
    /// A call.
    Call,
    /// Thoughts.
    Reasoning,
}

impl Kind {
    /// The kind that an item says it is.
    pub fn of(item: &Value) -> Option<Self> {
        match item.get("type")?.as_str()? {
            "message" => Some(Self::Message),
            "function_call" => Some(Self::Call),
            "reasoning" => Some(Self::Reasoning),
            _ => None,
        }
    }
}

/// One item so far.
#[derive(Debug)]
pub struct Slot {
    /// What it is.
    pub kind: Kind,
    index: Option<u64>,
    id: Option<String>,
    /// It was said to be whole.
    pub closed: bool,
    /// What was sent of its parts, by where they are and under which name.
    parts: Vec<(&'static str, u64, String)>,
    /// A call's tool.
    pub name: String,
    /// A call's own id.
    pub call_id: Option<String>,
    /// A call's arguments.
    pub arguments: String,
    /// The reasoning as it goes back.
    pub reasoning: Option<Value>,
    /// A message's phase.
    pub phase: Option<Value>,
    /// How many bytes of the reply's text it is.
    pub bytes: usize,
}

impl Slot {
    /// Takes more of a part and gives it back; also whether it is the first of this part.
    pub fn more<'a>(&mut self, name: &'static str, at: u64, text: &'a str) -> (&'a str, bool) {
        let (all, new) = self.part(name, at);
        all.push_str(text);
        (text, new)
    }

    /// Takes a part as it is in the end and gives what was not sent of it. What was sent otherwise stays as it is.
    pub fn whole<'a>(&mut self, name: &'static str, at: u64, text: &'a str) -> (&'a str, bool) {
        let (all, new) = self.part(name, at);
        let rest = text.strip_prefix(all.as_str()).unwrap_or_default();
        all.push_str(rest);
        (rest, new)
    }

    fn part(&mut self, name: &'static str, at: u64) -> (&mut String, bool) {
        let found = self.parts.iter().rposition(|(own, place, _)| *own == name && *place == at);
        let found = found.or((self.parts.len() >= MOST).then_some(MOST - 1));
        let place = found.unwrap_or_else(|| {
            self.parts.push((name, at, String::new()));
            self.parts.len() - 1
        });
        (&mut self.parts[place].2, found.is_none())
    }

    /// Whether it already thinks under another name than this: one of two tellings of the same is enough.
    pub fn thinks_otherwise(&self, name: &str) -> bool {
        self.parts.first().is_some_and(|(own, ..)| *own != name)
    }

    /// A call of which all is there: it was said to be whole, or what there is of it can only be all.
    pub fn is_whole_call(&self) -> bool {
        !self.name.is_empty()
            && (self.closed
                || serde_json::from_str::<serde_json::Map<String, Value>>(&self.arguments).is_ok())
    }

    /// The item in the list that is held of a reply.
    pub fn held(&self) -> Option<Value> {
        match self.kind {
            Kind::Message => Some(items::message(self.id.as_deref(), self.phase.as_ref(), self.bytes)),
            Kind::Call => Some(items::call(self.id.as_deref())),
            Kind::Reasoning => self.reasoning.clone(),
        }
    }
}

/// All items of a reply, in the order in which they were begun.
#[derive(Debug, Default)]
pub struct Slots(Vec<Slot>);

/// The most items that a reply may have, and the most parts that are told apart in one. Real ones have a few dozen.
pub const MOST: usize = 1000;

impl Slots {
    /// Whether there are more than anybody means.
    pub fn is_endless(&self) -> bool {
        self.0.len() > MOST
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.0.iter()
    }

    /// One of them, by the place that the other functions give.
    pub fn at(&mut self, at: usize) -> &mut Slot {
        &mut self.0[at]
    }

    /// An item that was said to begin.
    pub fn begin(&mut self, kind: Kind, event: &Value) -> usize {
        let (index, id) = place(event);
        let same = |slot: &Slot| slot.kind == kind && !slot.closed && slot.id.is_some() && slot.id == id;
        self.0.iter().position(same).unwrap_or_else(|| self.push(kind, index, id))
    }

    /// The item that an event is about. Ids and places are both wrong at times: some services have a new id in every
    /// event, some the same place for every item, some neither. Nothing is added to what was said to be whole.
    pub fn find(&mut self, kind: Kind, event: &Value, adds: bool) -> usize {
        let (index, id) = place(event);
        let last =
            |fits: &dyn Fn(&Slot) -> bool| self.0.iter().rposition(|slot| slot.kind == kind && fits(slot));
        let elsewhere =
            |slot: &Slot| slot.closed && index.is_some() && slot.index.is_some() && slot.index != index;
        let by_id = id.as_ref().and_then(|_| last(&|slot| slot.id == id && !elsewhere(slot)));
        let by_index = || index.and_then(|_| last(&|slot| slot.index == index && !(adds && slot.closed)));
        let nameless = || last(&|slot| !slot.closed && (index.is_none() || slot.index.is_none()));
        by_id.or_else(by_index).or_else(nameless).unwrap_or_else(|| self.push(kind, index, id))
    }

    /// The items that are listed at the end, each in a place of its own; of one that is not known, nothing has come
    /// or its ids are new each time.
    pub fn listed(&mut self, items: &[Value]) -> Vec<(usize, Value)> {
        let id = |item: &Value| text_of(item.get("id"));
        let ids: Vec<Option<String>> = items.iter().take(MOST + 1).map(id).collect();
        let mut used = Vec::new();
        let mut free = vec![true; self.0.len()];
        for item in items.iter().take(MOST + 1) {
            let Some(kind) = Kind::of(item) else { continue };
            let own = id(item);
            let first = |fits: &dyn Fn(&Slot) -> bool| {
                (0..free.len()).find(|at| free[*at] && self.0[*at].kind == kind && fits(&self.0[*at]))
            };
            let same = first(&|slot| slot.id.is_some() && slot.id == own);
            let other = || first(&|slot| slot.id.is_none() || !ids.contains(&slot.id));
            let at = match same.or_else(other) {
                Some(at) => {
                    free[at] = false;
                    at
                }
                None => self.push(kind, None, own),
            };
            used.push((at, item.clone()));
        }
        used
    }

    fn push(&mut self, kind: Kind, index: Option<u64>, id: Option<String>) -> usize {
        self.0.push(Slot {
            kind,
            index,
            id,
            closed: false,
            parts: Vec::new(),
            name: String::new(),
            call_id: None,
            arguments: String::new(),
            reasoning: None,
            phase: None,
            bytes: 0,
        });
        self.0.len() - 1
    }
}

/// Where an event says its item is, and what it is called.
fn place(event: &Value) -> (Option<u64>, Option<String>) {
    let id = text_of(event.get("item_id")).or_else(|| text_of(event.get("item")?.get("id")));
    (event.get("output_index").and_then(Value::as_u64), id)
}
