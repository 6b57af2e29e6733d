//! Collects a choice that becomes the reply if choice 0 never arrives: some servers count choices from one.

use super::chat_events::{self, Delta};
use super::echo::EchoData;
use crate::chat::reply_limit::ReplySize;
use serde_json::Value;

/// Memory in bytes of a delta in addition to its texts. It counts towards the size limit.
const DELTA_OVERHEAD: usize = 64;

/// The first choice that arrived with another index than 0. Nothing of it is shown until it is known to be the reply.
#[derive(Debug)]
pub struct OtherChoice {
    index: u64,
    pub deltas: Vec<Delta>,
    pub echo_data: EchoData,
    /// How much of the reply size limit the choice uses.
    pub size: ReplySize,
}

impl OtherChoice {
    /// Creates the state for a choice; `echo_data` collects the data its provider requires back.
    pub fn new(index: u64, echo_data: EchoData) -> Self {
        Self { index, deltas: Vec::new(), echo_data, size: ReplySize::default() }
    }

    /// Processes the part of an event for this choice.
    pub fn collect_event(&mut self, event: &Value) {
        self.echo_data.collect_event(event, self.index);
        for delta in chat_events::parse_deltas(event, self.index) {
            delta.add_size(&mut self.size);
            match (self.deltas.last_mut(), delta) {
                (Some(Delta::Text(text)), Delta::Text(new_text))
                | (Some(Delta::Reasoning(text)), Delta::Reasoning(new_text)) => text.push_str(&new_text),
                (_, delta) => {
                    self.size.add_bytes(DELTA_OVERHEAD);
                    self.deltas.push(delta);
                }
            }
        }
    }
}
