//! Collects a choice that becomes the reply if choice 0 never arrives: some servers count choices from one.

use super::echo::Held;
use super::wire::{self, Delta};
use crate::chat::reply_limit::ReplySize;
use serde_json::Value;

/// Text counted for the memory overhead of each part.
const EACH: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// First other choice so far. Nothing of it is shown until it is known to be the reply.
#[derive(Debug)]
pub struct OtherChoice {
    index: u64,
    deltas: Vec<Delta>,
    held: Held,
    size: ReplySize,
}

impl OtherChoice {
    /// Creates the state for a choice; `held` collects the data its provider requires back.
    pub fn new(index: u64, held: Held) -> Self {
        Self { index, deltas: Vec::new(), held, size: ReplySize::default() }
    }

    /// Processes the part of an event for this choice.
    pub fn take(&mut self, event: &Value) {
        self.held.take(event, self.index);
        for delta in wire::read(event, self.index) {
            delta.count(&mut self.size);
            match (self.deltas.last_mut(), delta) {
                (Some(Delta::Text(all)), Delta::Text(more))
                | (Some(Delta::Reasoning(all)), Delta::Reasoning(more)) => all.push_str(&more),
                (_, delta) => {
                    self.size.add(EACH);
                    self.deltas.push(delta);
                }
            }
        }
    }

    /// Returns how much of the reply size limit the choice uses.
    pub fn size(&self) -> ReplySize {
        self.size
    }

    pub fn into_parts(self) -> (Vec<Delta>, Held) {
        (self.deltas, self.held)
    }
}
