//! Assembles tool calls from parts. Providers differ in how a part identifies its call.

use super::arguments;
use super::chat_events::CallPart;
use crate::chat::{CallId, ToolCall};
use serde_json::Value;
use std::collections::HashSet;

/// Tool calls of one reply so far.
#[derive(Debug, Default)]
pub struct Calls {
    slots: Vec<Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    /// Index that the provider gave the call, if any.
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: arguments::Pieces,
    provider_data: Option<Value>,
}

impl Calls {
    /// Adds the parts of one event. Returns the name and the number of argument bytes of the call that changed last.
    pub fn add_parts(&mut self, parts: Vec<CallPart>) -> Option<(String, usize)> {
        let mut changed_call = None;
        // Two parts of one event belong to different calls, unless they have the same index or id.
        let mut changed_slots = Vec::new();
        for part in parts {
            let slot_index = match self.find_slot(&part, &changed_slots) {
                Some(slot_index) => slot_index,
                None => {
                    self.slots.push(Slot::default());
                    self.slots.len() - 1
                }
            };
            let slot = &mut self.slots[slot_index];
            slot.add_part(part);
            changed_slots.push(slot_index);
            changed_call = Some((slot.name.clone(), slot.arguments.as_text().len()));
        }
        changed_call
    }

    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Returns the index of the slot of the call this part belongs to, or `None` if it begins a new call.
    fn find_slot(&self, part: &CallPart, changed_slots: &[usize]) -> Option<usize> {
        let find_last = |matches_slot: &dyn Fn(&Slot) -> bool| self.slots.iter().rposition(matches_slot);
        let by_id = part.id.as_ref().and_then(|id| find_last(&|slot| slot.id.as_ref() == Some(id)));
        match (part.index, &part.id) {
            (Some(index), _) => {
                let slot_index = find_last(&|slot| slot.index == Some(index))?;
                // Some providers give every call the same index; then the id or a second set of arguments distinguishes
                // them.
                let is_same_id = match (&part.id, &self.slots[slot_index].id) {
                    (Some(new), Some(old)) if new != old && part.name.is_some() => return by_id,
                    (Some(new), Some(old)) => new == old,
                    _ => false,
                };
                self.continue_slot(slot_index, part, is_same_id)
            }
            (None, Some(_)) if by_id.is_some() => {
                let is_same_id = true;
                by_id.and_then(|slot_index| self.continue_slot(slot_index, part, is_same_id))
            }
            // Some providers give every part a new id. A part with a name, or without arguments, begins a call; any
            // other part continues the last one.
            (None, Some(_)) if part.name.is_some() || part.arguments.is_empty() => None,
            (None, _) => {
                let last_slot = self.slots.len().checked_sub(1).filter(|index| !changed_slots.contains(index))?;
                let is_same_id = false;
                self.continue_slot(last_slot, part, is_same_id)
            }
        }
    }

    /// Returns `slot_index` unless the part begins another call. A part with the same id begins another call only if it
    /// has another name and the arguments so far are complete.
    fn continue_slot(&self, slot_index: usize, part: &CallPart, is_same_id: bool) -> Option<usize> {
        let slot = &self.slots[slot_index];
        let begins_call = if is_same_id { slot.is_complete_and_renamed(part) } else { slot.is_followed_by(part) };
        (!begins_call).then_some(slot_index)
    }

    /// Returns the provider data of each call, in the order of `Calls::take_calls`.
    pub fn extras(&self) -> Vec<Option<Value>> {
        self.slots.iter().filter(|slot| slot.has_content()).map(|slot| slot.provider_data.clone()).collect()
    }

    /// Returns all calls in the order in which they began. Ids are unique within the reply: a missing or duplicate id
    /// is replaced by one from a counter.
    pub fn take_calls(&mut self) -> Vec<ToolCall> {
        let slots: Vec<Slot> = std::mem::take(&mut self.slots).into_iter().filter(Slot::has_content).collect();
        let provider_ids: HashSet<String> = slots.iter().filter_map(|slot| slot.id.clone()).collect();
        let mut used = HashSet::new();
        let mut counter = 0;
        let mut next_id = |used: &HashSet<String>| loop {
            counter += 1;
            let id = format!("call_{counter}");
            if !provider_ids.contains(&id) && !used.contains(&id) {
                return id;
            }
        };
        let mut calls = Vec::new();
        for slot in slots {
            let id = slot.id.filter(|id| !used.contains(id)).unwrap_or_else(|| next_id(&used));
            used.insert(id.clone());
            calls.push(ToolCall { id: CallId(id), name: slot.name, arguments: slot.arguments.into_arguments() });
        }
        calls
    }
}

impl Slot {
    fn add_part(&mut self, part: CallPart) {
        self.index = self.index.or(part.index);
        self.id = self.id.take().or(part.id);
        self.provider_data = part.provider_data.or_else(|| self.provider_data.take());
        if let Some(name) = part.name {
            // Most providers send the name once; some repeat it in every part, extend it, or send it in pieces.
            if self.name.is_empty() || name.starts_with(&self.name) {
                self.name = name;
            } else if self.arguments.as_text().is_empty() {
                self.name.push_str(&name);
            }
        }
        self.arguments.push_piece(&part.arguments);
    }

    /// Returns whether the part begins another call and cannot belong to this one.
    fn is_followed_by(&self, part: &CallPart) -> bool {
        let has_arguments = !self.arguments.as_text().is_empty();
        match &part.name {
            // A late name belongs to the call that began without one.
            Some(_) if self.name.is_empty() => false,
            Some(_) if has_arguments && !part.arguments.is_empty() && self.arguments.is_complete() => true,
            Some(name) => has_arguments && *name != self.name,
            None => false,
        }
    }

    fn is_complete_and_renamed(&self, part: &CallPart) -> bool {
        let is_renamed = part.name.as_ref().is_some_and(|name| !self.name.is_empty() && *name != self.name);
        is_renamed && self.arguments.is_complete()
    }

    fn has_content(&self) -> bool {
        self.id.is_some() || !self.name.is_empty() || !self.arguments.as_text().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses index, id, name and arguments; `-` means absent.
    fn part(text: &str) -> CallPart {
        let mut fields = text.splitn(4, ' ').map(|field| (field != "-").then(|| field.to_owned()));
        let mut next_field = || fields.next().flatten();
        CallPart {
            index: next_field().map(|index| index.parse().unwrap()),
            id: next_field(),
            name: next_field(),
            arguments: next_field().unwrap_or_default(),
            provider_data: None,
        }
    }

    /// Feeds events with parts and checks the calls, formatted as `id name arguments`.
    fn check_calls(case: &str, events: &[&[&str]], expected: &[&str]) {
        let mut calls = Calls::default();
        for event in events {
            calls.add_parts(event.iter().map(|text| part(text)).collect());
        }
        let actual: Vec<String> = calls
            .take_calls()
            .into_iter()
            .map(|call| format!("{} {} {}", call.id, call.name, call.arguments))
            .collect();
        assert_eq!(actual, expected, "{case}");
    }

    #[test]
    fn r48_calls_are_assembled_from_all_known_formats() {
        check_calls("by index", &[&["0 a f {\"x\":"], &["0 - - 1}"], &["1 b g {}"]], &["a f {\"x\":1}", "b g {}"]);
        check_calls(
            "interleaved",
            &[&["0 a f -", "1 b g -"], &["0 - - {", "1 - - {"], &["1 - - }", "0 - - }"]],
            &["a f {}", "b g {}"],
        );
        check_calls("no index", &[&["- a f {"], &["- a - }"], &["- b g {}"]], &["a f {}", "b g {}"]);
        check_calls("no index, id once", &[&["- a f {"], &["- - - }"], &["- b g {}"]], &["a f {}", "b g {}"]);
        check_calls("no id", &[&["0 - f {}"], &["1 - f {}"]], &["call_1 f {}", "call_2 f {}"]);
        check_calls("neither", &[&["- - f {"], &["- - - }"], &["- - g {}"]], &["call_1 f {}", "call_2 g {}"]);
        check_calls(
            "several complete calls in one event",
            &[&["- - f {}", "- - f {}", "- - g -"]],
            &["call_1 f {}", "call_2 f {}", "call_3 g {}"],
        );
        check_calls(
            "several calls without arguments in one event",
            &[&["- - f -", "- - f -"]],
            &["call_1 f {}", "call_2 f {}"],
        );
        check_calls("the same complete call twice", &[&["- - f {}"], &["- - f {}"]], &["call_1 f {}", "call_2 f {}"]);
        check_calls("always index 0, own ids", &[&["0 a f {}"], &["0 b f {}"]], &["a f {}", "b f {}"]);
        check_calls("always index 0, no ids", &[&["0 - f {}"], &["0 - f {}"]], &["call_1 f {}", "call_2 f {}"]);
        check_calls("new id with each part", &[&["0 a f {"], &["0 b - }"]], &["a f {}"]);
        check_calls("new id, no index", &[&["- a f {"], &["- b - }"]], &["a f {}"]);
        check_calls("name repeated", &[&["0 a f {"], &["0 a f }"], &["0 a f -"]], &["a f {}"]);
        check_calls("name repeated, no ids", &[&["- - f {"], &["- - f }"]], &["call_1 f {}"]);
        check_calls("name in pieces", &[&["0 a read_ -"], &["0 - file {}"]], &["a read_file {}"]);
        check_calls("name grows", &[&["0 a read -"], &["0 - read_file {}"]], &["a read_file {}"]);
        check_calls("arguments before name", &[&["0 a - {"], &["0 a f }"]], &["a f {}"]);
        check_calls("arguments before name, nothing else", &[&["- - - {"], &["- - f }"]], &["call_1 f {}"]);
        check_calls("same index, same id, other name", &[&["0 a f {}"], &["0 a g {}"]], &["a f {}", "call_1 g {}"]);
        check_calls("same id, other name, no index", &[&["- a f {}"], &["- a g {}"]], &["a f {}", "call_1 g {}"]);
        check_calls("id before name", &[&["- a - -"], &["- a f {}"]], &["a f {}"]);
        check_calls("index from 1, gaps", &[&["1 a f {}"], &["5 b g {}"]], &["a f {}", "b g {}"]);
        check_calls("an empty slot is ignored", &[&["0 a f {}", "1 - - -"]], &["a f {}"]);
        check_calls(
            "duplicate ids",
            &[&["0 a f {}"], &["1 a g {}"], &["2 call_1 h {}"]],
            &["a f {}", "call_2 g {}", "call_1 h {}"],
        );
    }
}
