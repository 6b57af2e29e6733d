//! A choice that is the reply only if choice 0 never comes: some servers count their only choice from one.

use super::echo::Held;
use super::wire::{self, Delta};
use crate::chat::reply_limit::ReplySize;
use serde_json::Value;

/// Counted for what each part costs in memory beyond its text.
const EACH: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// What the first other choice said so far. Nothing of it is shown before it is known to be the reply.
#[derive(Debug)]
pub struct OtherChoice {
    index: u64,
    deltas: Vec<Delta>,
    held: Held,
    size: ReplySize,
}

impl OtherChoice {
    /// A choice with this index; `held` takes what its provider wants back.
    pub fn new(index: u64, held: Held) -> Self {
        Self { index, deltas: Vec::new(), held, size: ReplySize::default() }
    }

    /// Takes what an event says of it.
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

    /// How much of the limit of a reply it takes.
    pub fn size(&self) -> ReplySize {
        self.size
    }

    /// All of it.
    pub fn into_parts(self) -> (Vec<Delta>, Held) {
        (self.deltas, self.held)
    }
}
